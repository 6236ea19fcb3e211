/* theory_server.h - the server's step on other updates than those of the round: by a copy of the
 * aggregator as it was before the round, whose scores are then those of the updates it gets. */
#ifndef OSAFL_CORE_THEORY_SERVER_H
#define OSAFL_CORE_THEORY_SERVER_H

#include "base/error.h"
#include "base/records.h"
#include "engine.h"
#include "train.h"

struct theory_server {
    struct record_writer *writer;
    struct record_set *state; /* of the aggregator; NULL: it keeps updates, which are not copied */
    struct update *update;    /* [clients] */
};

/* Before aggregate(). */
osafl_status theory_server_keep(struct theory_server *t, const struct engine *e,
                                struct error *error);

/* w: w^t, which becomes w^{t+1} of the updates result[k] of those tasks that have a code. */
osafl_status theory_server_step(const struct theory_server *t, const struct engine *e,
                                const struct train_result *result, float *w, struct error *error);

void theory_server_free(struct theory_server *t);

#endif
