/* label_mix.h - how the labels of a client's samples are distributed, ALGORITHMS.md 1.
 *
 * A mix is an array of `labels` probabilities that sum to 1.  All functions are pure. */
#ifndef OSAFL_CORE_LABEL_MIX_H
#define OSAFL_CORE_LABEL_MIX_H

#include <stdint.h>

/* Running sums of a mix, as label_mix_pick() needs them. */
void label_mix_accumulate(const double *mix, uint32_t labels, double *cumulative);
/* The label that two random words choose; never one of probability 0. */
int32_t label_mix_pick(const double *cumulative, uint32_t labels, const uint32_t word[2]);

/* Total variation distance, 0 .. 1, between a histogram and a mix; 0 for an empty histogram. */
double label_mix_distance(const uint32_t *histogram, const double *mix, uint32_t labels);
/* Entropy of a histogram in nats; 0 for an empty one. */
double label_mix_entropy(const uint32_t *histogram, uint32_t labels);

#endif
