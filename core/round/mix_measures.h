/* mix_measures.h - how good is the model for the labels that come now, and for those that came
 * before?  (ALGORITHMS.md 8)
 *
 * The first measure of the model, by labels of the evaluation split, weighted by a mix: of the
 * round in hand and of every earlier round in which the model was evaluated. */
#ifndef OSAFL_CORE_MIX_MEASURES_H
#define OSAFL_CORE_MIX_MEASURES_H

#include <stdbool.h>

#include "base/error.h"
#include "evaluate.h"
#include "results/results.h"
#include "world/world.h"

struct mix_measures {
    double *mix;  /* [rounds][labels]: the first n are those so far; NULL: nobody asks */
    double *best; /* [rounds]: the best value of each so far */
    uint64_t n;
    uint64_t rounds; /* for which there is room */
    uint32_t labels;
    double value[MIXES];
};

/* false: out of memory. */
bool mix_measures_create(const struct session *s, struct mix_measures *m);
void mix_measures_destroy(struct mix_measures *m);

/* Adds the world's present mix and judges the model that was evaluated last: m->value. */
void mix_measures_add(const struct session *s, const struct world *world,
                      const struct evaluation *e, struct mix_measures *m);

osafl_status mix_measures_save(const struct mix_measures *m, osafl_writer *w);
/* Any failure: the record is damaged. */
osafl_status mix_measures_load(struct mix_measures *m, osafl_reader *r);

#endif
