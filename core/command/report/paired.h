/* paired.h - what differences between paired runs show.
 *
 * Under one seed every algorithm meets the same data, channel and clients, so that two rows of runs
 * are pairs by their seeds, and what they share cancels out in the differences.  Sources: Colas et
 * al. 1806.08295 (tests over seeds), Bouthillier et al. 2103.03098 (probability of outperforming);
 * Holm 1979. */
#ifndef OSAFL_REPORT_PAIRED_H
#define OSAFL_REPORT_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

enum interval_kind {
    INTERVAL_STUDENT,   /* mean +- t s / sqrt(n): exact for normal differences */
    INTERVAL_BOOTSTRAP, /* percentiles of the means of 10000 resamples; the same at every call */
};

struct interval {
    double low; /* NAN: there is none, because fewer than two differences differ */
    double high;
};

/* Up to so many differences have an exact p: the work grows as 2^(n/2). */
#define PAIRED_MOST_EXACT 40

/* Fewer differences prove nothing: no p can be below 2 / 2^4. */
#define PAIRED_FEWEST 5

/* Whether n > 0 differences are equal but for rounding: they do not show how far they scatter, so
 * that their mean has no interval. */
bool paired_all_equal(const double *difference, size_t n);

/* The 95 % interval of the mean of n finite differences. */
struct interval paired_interval(const double *difference, size_t n, enum interval_kind kind);

/* The interval of Student's t with another probability than 0.95. */
struct interval paired_student(const double *difference, size_t n, double probability);

/* Two-sided p of the sign-flip test: the share of the 2^n ways to choose the signs whose sum is as
 * far from 0 as the one found, or farther.  NAN for n < 2 and n > PAIRED_MOST_EXACT. */
double paired_sign_flip(const double *difference, size_t n);

/* Share of the positive differences; a difference of 0 counts half.  n > 0 */
double paired_share_above(const double *difference, size_t n);

/* Replaces n p-values by those of Holm's step-down method; a NAN is no test and stays. */
void holm_adjust(double *p, size_t n);

/* The t that Student's distribution with so many degrees of freedom (> 0) leaves on either side
 * with probability 0.025. */
double student_t_975(size_t freedom);
/* The t, at most 1024, within which it lies with this probability on both sides together. */
double student_t_within(double probability, size_t freedom);

#endif
