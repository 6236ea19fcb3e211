/* paired.c - what differences between paired runs show. */
#include "paired.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/streams.h"
#include "checked_alloc.h"

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const double *value, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += value[i];
    return sum / (double)n;
}

/* ---- intervals ---- */

bool paired_all_equal(const double *difference, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (fabs(difference[i] - difference[0]) > 1e-9 * fabs(difference[0]))
            return false;
    return true;
}

/* P(|T| <= t) as the finite series for whole degrees of freedom (Abramowitz and Stegun 26.7.3-4).
 */
static double student_within(double t, size_t freedom)
{
    const double theta = atan(t / sqrt((double)freedom));
    const double c = cos(theta);
    const size_t first = freedom % 2 == 0 ? 0 : 1;
    double term = first == 0 ? 1 : c;
    double sum = 0;
    for (size_t k = first; k + 2 <= freedom; k += 2) {
        sum += term;
        term *= c * c * (double)(k + 1) / (double)(k + 2);
    }
    return first == 0 ? sin(theta) * sum : 2 / acos(-1) * (theta + sin(theta) * sum);
}

double student_t_975(size_t freedom)
{
    return student_t_within(0.95, freedom);
}

double student_t_within(double probability, size_t freedom)
{
    double low = 0;
    double high = 1024;
    for (int i = 0; i < 70; i++) {
        const double middle = (low + high) / 2;
        if (student_within(middle, freedom) < probability)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct interval paired_student(const double *difference, size_t n, double probability)
{
    if (n < 2 || paired_all_equal(difference, n))
        return (struct interval){(double)NAN, (double)NAN};
    const double mean = mean_of(difference, n);
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (difference[i] - mean) * (difference[i] - mean);
    const double half =
        student_t_within(probability, n - 1) * sqrt(squares / (double)(n - 1)) / sqrt((double)n);
    return (struct interval){mean - half, mean + half};
}

static struct interval bootstrap_interval(const double *difference, size_t n)
{
    enum { RESAMPLES = 10000, TAIL = RESAMPLES / 40 };
    double *mean = checked_alloc(RESAMPLES, sizeof *mean);
    uint32_t *word = checked_alloc(n, sizeof *word);
    for (size_t b = 0; b < RESAMPLES; b++) {
        streams_fill(0, 0, STREAM_BOOTSTRAP, 0, 0, b * n, word, n);
        for (size_t i = 0; i < n; i++)
            mean[b] += difference[((uint64_t)word[i] * n) >> 32];
        mean[b] /= (double)n;
    }
    qsort(mean, RESAMPLES, sizeof *mean, by_value);
    const struct interval found = {mean[TAIL], mean[RESAMPLES - 1 - TAIL]};
    free(word);
    free(mean);
    return found;
}

struct interval paired_interval(const double *difference, size_t n, enum interval_kind kind)
{
    if (n < 2 || paired_all_equal(difference, n))
        return (struct interval){(double)NAN, (double)NAN};
    return kind == INTERVAL_STUDENT ? paired_student(difference, n, 0.95)
                                    : bootstrap_interval(difference, n);
}

/* ---- sign-flip test ---- */

/* All 2^n sums of +-value, ascending. */
static double *all_sums(const double *value, size_t n)
{
    const size_t sums = (size_t)1 << n;
    double *sum = checked_alloc(sums, sizeof *sum);
    for (size_t i = 0; i < n; i++) {
        const size_t have = (size_t)1 << i;
        for (size_t k = 0; k < have; k++) {
            sum[have + k] = sum[k] + value[i];
            sum[k] -= value[i];
        }
    }
    qsort(sum, sums, sizeof *sum, by_value);
    return sum;
}

double paired_sign_flip(const double *difference, size_t n)
{
    if (n < 2 || n > PAIRED_MOST_EXACT)
        return (double)NAN;
    double size = 0;
    for (size_t i = 0; i < n; i++)
        size += fabs(difference[i]);
    /* Sums that are equal but for rounding are equal. */
    const double found = fabs(mean_of(difference, n)) * (double)n - 1e-12 * size;
    if (found <= 0)
        return 1;
    /* A sum of all is one of the first half plus one of the second: while the one grows, the least
     * of the other that is enough falls. */
    const size_t half = n / 2;
    const size_t others = (size_t)1 << (n - half);
    double *first = all_sums(difference, half);
    double *second = all_sums(difference + half, n - half);
    double reach = 0;
    size_t least = others;
    for (size_t i = 0; i < (size_t)1 << half; i++) {
        while (least > 0 && first[i] + second[least - 1] >= found)
            least--;
        reach += (double)(others - least);
    }
    free(first);
    free(second);
    /* As many sums lie as far below 0. */
    return 2 * reach / exp2((double)n);
}

double paired_share_above(const double *difference, size_t n)
{
    double above = 0;
    for (size_t i = 0; i < n; i++)
        above += difference[i] > 0 ? 1 : difference[i] == 0 ? 0.5 : 0;
    return above / (double)n;
}

void holm_adjust(double *p, size_t n)
{
    size_t tests = 0;
    for (size_t i = 0; i < n; i++)
        tests += isnan(p[i]) ? 0 : 1;
    double *raw = checked_alloc(n, sizeof *raw);
    double *scaled = checked_alloc(n, sizeof *scaled);
    /* The k-th smallest is multiplied by tests - k ... */
    for (size_t i = 0; i < n; i++) {
        size_t smaller = 0;
        for (size_t k = 0; k < n; k++)
            smaller += p[k] < p[i];
        raw[i] = p[i];
        scaled[i] = fmin(1, p[i] * (double)(tests - smaller));
    }
    /* ... and none is less than what a smaller one became. */
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n && !isnan(raw[i]); k++)
            p[i] = raw[k] <= raw[i] ? fmax(p[i], scaled[k]) : p[i];
    }
    free(scaled);
    free(raw);
}
