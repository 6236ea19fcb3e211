/* best_model.h - the model of the round with the best first measure, while a run goes on. */
#ifndef OSAFL_CORE_BEST_MODEL_H
#define OSAFL_CORE_BEST_MODEL_H

#include "base/records.h"
#include "results/results.h"

struct best_model {
    uint64_t dim;
    float *w;       /* [dim]; NULL: it is not wanted */
    uint32_t round; /* of w */
    bool is_set;    /* a round was evaluated */
};

osafl_status best_model_create(struct best_model *b, uint64_t dim, struct error *error);
void best_model_free(struct best_model *b); /* a zeroed struct is allowed */

/* After results_end_round(): keeps w where its round is the best so far. */
void best_model_note(struct best_model *b, const struct results *r, uint32_t round, const float *w);

/* A section of a checkpoint; none where it is not wanted.  A failure of saving also makes
 * record_writer_finish() fail. */
void best_model_save(const struct best_model *b, struct record_writer *to);
osafl_status best_model_load(struct best_model *b, const struct record_set *from,
                             struct error *error);

#endif
