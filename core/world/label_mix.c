/* label_mix.c - how the labels of a client's samples are distributed. */
#include "label_mix.h"

#include <float.h>
#include <math.h>

#include "base/streams.h"
#include "osafl/random.h"

/* Attempts of a rejection loop.  One succeeds with probability above 0.95, so that all fail with
 * probability 1e-83; the mode of the distribution is taken then. */
#define ATTEMPTS 64

/* Logarithm of a Gamma(shape, 1) variate: Marsaglia and Tsang 2000.  A shape below 1 is raised by
 * one and pulled back by U^(1/shape), here in the logarithm, because for small shapes the variate
 * itself underflows to 0 with all its companions. */
static double log_gamma_variate(const struct mix_stream *s, uint32_t label, double shape)
{
    const double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0;
    const double c = 1.0 / sqrt(9.0 * d);
    double log_v = 0.0;
    double boost = 0.0;
    for (uint64_t attempt = 0; attempt < ATTEMPTS; ++attempt) {
        uint32_t word[8];
        streams_fill(s->seed, 0, s->purpose, s->client, s->round,
                     label * (uint64_t)ATTEMPTS + attempt, word, 8);
        if (attempt == 0 && shape < 1.0)
            boost = log(osafl_uniform(word + 6) + 0x1p-54) / shape;
        const double x = osafl_normal(word);
        const double root = 1.0 + c * x;
        if (root <= 0.0)
            continue;
        const double candidate = 3.0 * log(root);
        const double bound = 0.5 * x * x + d * (1.0 - root * root * root + candidate);
        if (log(osafl_uniform(word + 4)) < bound) {
            log_v = candidate;
            break;
        }
    }
    return fmax(log(d) + log_v + boost, -DBL_MAX);
}

void label_mix_dirichlet(const struct mix_stream *s, double concentration, const double *share,
                         uint32_t labels, double *mix)
{
    double largest = -HUGE_VAL;
    for (uint32_t l = 0; l < labels; ++l) {
        if (share[l] <= 0.0)
            continue;
        mix[l] = log_gamma_variate(s, l, concentration);
        largest = fmax(largest, mix[l]);
    }
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; ++l) {
        mix[l] = share[l] > 0.0 ? exp(mix[l] - largest) : 0.0;
        sum += mix[l]; /* at least 1: the largest one is exp(0) */
    }
    for (uint32_t l = 0; l < labels; ++l)
        mix[l] /= sum;
}

void label_mix_shards(const struct mix_stream *s, uint32_t n, const double *share, uint32_t labels,
                      double *mix)
{
    uint32_t candidates = 0;
    for (uint32_t l = 0; l < labels; ++l)
        candidates += share[l] > 0.0;
    /* Selection sampling (Knuth, TAOCP 3.4.2, algorithm S): exactly n of the candidates. */
    uint32_t wanted = n;
    for (uint32_t l = 0; l < labels; ++l) {
        mix[l] = 0.0;
        if (share[l] <= 0.0)
            continue;
        uint32_t word[2];
        streams_fill(s->seed, 0, s->purpose, s->client, s->round, l, word, 2);
        if (osafl_below(word, candidates) < wanted) {
            mix[l] = 1.0 / n;
            --wanted;
        }
        --candidates;
    }
}

void label_mix_accumulate(const double *mix, uint32_t labels, double *cumulative)
{
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; ++l) {
        sum += mix[l];
        cumulative[l] = sum;
    }
}

int32_t label_mix_pick(const double *cumulative, uint32_t labels, const uint32_t word[2])
{
    /* Rounding may bring the product up to the total, which belongs to no label. */
    const double total = cumulative[labels - 1];
    const double x = fmin(osafl_uniform(word) * total, nextafter(total, 0.0));
    uint32_t low = 0;
    uint32_t high = labels - 1;
    while (low < high) { /* the first label whose running sum is above x */
        const uint32_t middle = low + (high - low) / 2;
        if (cumulative[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return (int32_t)low;
}

static double histogram_total(const uint32_t *histogram, uint32_t labels)
{
    uint64_t total = 0;
    for (uint32_t l = 0; l < labels; ++l)
        total += histogram[l];
    return (double)total;
}

double label_mix_distance(const uint32_t *histogram, const double *mix, uint32_t labels)
{
    const double total = histogram_total(histogram, labels);
    if (total == 0.0)
        return 0.0;
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; ++l)
        sum += fabs(histogram[l] / total - mix[l]);
    return 0.5 * sum;
}

double label_mix_entropy(const uint32_t *histogram, uint32_t labels)
{
    const double total = histogram_total(histogram, labels);
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; ++l) {
        if (histogram[l] > 0)
            sum -= histogram[l] / total * log(histogram[l] / total);
    }
    return sum + 0.0; /* -0 for a single label becomes 0 */
}
