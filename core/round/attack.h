/* attack.h - clients that do harm, so that robust aggregators can be tried: the experiment's
 * `attack` settings.
 *
 * Attackers are the same clients in all rounds: those whose draw from STREAM_ATTACK is among the
 * round(share * U) smallest. */
#ifndef OSAFL_CORE_ATTACK_H
#define OSAFL_CORE_ATTACK_H

#include <stdio.h>

#include "experiment/experiment.h"

enum { ATTACK_NONE, ATTACK_SIGN_FLIP, ATTACK_SCALE, ATTACK_NOISE, ATTACK_SHUFFLE_LABELS };

struct attack {
    uint64_t seed;
    int32_t method; /* ATTACK_*, as attack.method counts */
    double strength;
    uint8_t *attacks; /* [clients]: 1 for an attacker; NULL: nobody attacks */
};

/* OSAFL_E_NOMEM without a message. */
osafl_status attack_create(struct attack *a, const struct experiment *e);
void attack_destroy(struct attack *a);

/* Tells people who attacks, and warns where the settings ask for an attack that nobody makes. */
void attack_print(const struct attack *a, const struct experiment *e, FILE *to);

bool attack_by(const struct attack *a, uint32_t client);

/* What an attacker does to its update x[0..dim) before the uplink: x <- -strength * x, x <-
 * strength * x, or Gaussian noise of expected squared norm (strength * ||x||)^2.  Others, and the
 * other methods, leave x alone.  Further vectors, such as SCAFFOLD's, go up as they are.  [any] */
void attack_update(const struct attack *a, uint32_t client, uint32_t round, float *x, uint64_t dim);

/* What an attacker takes for the label of a training sample: with "shuffle_labels" one drawn
 * uniformly per client and sample, the same in every round.  [any] */
int32_t attack_label(const struct attack *a, uint32_t client, uint64_t sample, int32_t label,
                     uint32_t labels);

#endif
