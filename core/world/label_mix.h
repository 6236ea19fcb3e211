/* label_mix.h - how the labels of a client's samples are distributed, ALGORITHMS.md 1.
 *
 * A mix is an array of `labels` probabilities that sum to 1.  `share` is the mix of the training
 * split itself; labels with share 0 have no sample and get probability 0 in every mix, which is the
 * same as renormalising.  At least one share is positive.  All functions are pure. */
#ifndef OSAFL_CORE_LABEL_MIX_H
#define OSAFL_CORE_LABEL_MIX_H

#include <stdint.h>

/* Which random numbers: streams.h. */
struct mix_stream {
    uint64_t seed;
    uint32_t purpose; /* STREAM_LABELS or STREAM_DRIFT */
    uint32_t client;
    uint32_t round;
};

/* A draw of the symmetric Dirichlet distribution over the labels that have samples.  Right for
 * every concentration > 0: small ones give all weight to one label, never NaN. */
void label_mix_dirichlet(const struct mix_stream *s, double concentration, const double *share,
                         uint32_t labels, double *mix);

/* Equal weight on `n` labels chosen uniformly among those with samples, of which there are at
 * least n. */
void label_mix_shards(const struct mix_stream *s, uint32_t n, const double *share, uint32_t labels,
                      double *mix);

/* Running sums of a mix, as label_mix_pick() needs them. */
void label_mix_accumulate(const double *mix, uint32_t labels, double *cumulative);
/* The label that two random words choose; never one of probability 0. */
int32_t label_mix_pick(const double *cumulative, uint32_t labels, const uint32_t word[2]);

/* Total variation distance, 0 .. 1, between a histogram and a mix; 0 for an empty histogram. */
double label_mix_distance(const uint32_t *histogram, const double *mix, uint32_t labels);
/* Entropy of a histogram in nats; 0 for an empty one. */
double label_mix_entropy(const uint32_t *histogram, uint32_t labels);

#endif
