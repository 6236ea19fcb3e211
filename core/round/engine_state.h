/* engine_state.h - what an engine holds; for engine.c, engine_setup.c and engine_record.c. */
#ifndef OSAFL_CORE_ENGINE_STATE_H
#define OSAFL_CORE_ENGINE_STATE_H

#include <pthread.h>

#include "base/parcel.h"
#include "engine.h"
#include "engine_ranks.h"
#include "evaluate.h"
#include "late_updates.h"
#include "measure_samples.h"
#include "mix_measures.h"
#include "participation.h"
#include "personal.h"
#include "plugin/ranks.h"
#include "pooled.h"
#include "prequential.h"
#include "train.h"
#include "updates.h"

/* Measures, then labels' measures, in one row. */
struct measure_columns {
    uint32_t n;
    const char **name; /* [n] */
    double *value;     /* [n] */
    char *text;        /* memory of the labels' names */
};

/* A metric that was reported on another rank than the first. */
struct heard_metric {
    uint32_t kind;
    uint32_t metric;
    uint32_t client;
    uint32_t reserved;
    double value;
};

struct heard_from {
    struct engine *engine; /* NULL: nobody listens */
    uint32_t kind;
};

struct engine {
    struct session *session;
    struct world *world;
    unsigned threads;
    struct worker **workers;   /* [threads] */
    uint32_t round;            /* rounds done, t */
    bool warned_of_divergence; /* by this process, as the next */
    bool warned_of_nobody;

    float *w;                   /* w^t */
    float *w_before;            /* w^t, after w has become w^(t+1); NULL: nobody looks */
    float *broadcast;           /* [aggregator.broadcast_floats] */
    double learning_rate;       /* of the round in hand */
    uint32_t trainees;          /* session_trainees() */
    struct client_state *state; /* [trainees] */
    struct kept_updates kept;
    struct late_updates late;

    /* Of the round in hand; [clients] unless said otherwise. */
    struct participation participation;
    uint32_t *reason;
    double *train_loss;
    double *entropy;
    uint64_t *samples;           /* stored, on which was trained */
    struct train_task *task;     /* [n_tasks] of [trainees] */
    struct train_result *result; /* as task */
    uint64_t *order;             /* as task: its index in the low half, longest task first */
    uint32_t n_tasks;
    struct update *update; /* [n_updates] of [trainees]: those that arrive */
    uint32_t n_updates;
    struct pooled pooled;               /* without a link */
    const struct update_source *source; /* NULL: updates are made before they are aggregated */

    struct theory *theory; /* NULL: nothing is measured */

    struct evaluation evaluation;
    struct measure_columns columns;
    struct prequential prequential;
    struct mix_measures mixes;
    double measure_j;      /* spent on measuring samples in the round in hand */
    double *local_measure; /* evaluation.per_client, client_spread: [clients]; else NULL */
    double *sorted;        /* as local_measure: memory of measure_spread() */
    double spread[SPREADS];
    struct client_state newcomer; /* where the optimizer has personal models */

    /* With ranks; NULL and empty without. */
    uint32_t *trainer;    /* as task: the rank that has it */
    uint64_t *rank_steps; /* [ranks] */
    struct heard_from heard_from[LOADER_KINDS + 1];
    struct parcel heard; /* struct heard_metric, under progress_lock */
    bool is_training;    /* likewise */

    pthread_mutex_t progress_lock;
    engine_progress *progress;
    void *progress_arg;
    uint64_t work_done; /* SGD steps of the round's finished tasks */
    uint64_t work_all;
};

/* Frees the updates of the round in hand. */
void engine_free_results(struct engine *e);

/* Before the tasks of a round: OSAFL_E_CONFIG where one has more steps than can be counted. */
osafl_status engine_count_work(struct engine *e, struct error *error);
/* Trains for tasks [first, stop). */
osafl_status engine_train_tasks(struct engine *e, uint32_t first, uint32_t stop,
                                struct error *error);
/* After some tasks, of which one has diverged or none. */
osafl_status engine_handle_divergence(struct engine *e, struct error *error);

/* OSAFL_E_NUMERIC where parameter i became x because one of n updates decodes to such a value. */
osafl_status engine_blame_update(const struct session *s, const struct update *update, uint32_t n,
                                 uint64_t i, double x, osafl_call *c);

/* What task k came to, as an aggregator is told of it; valid as long as r and the round. */
struct update engine_client_update(const struct engine *e, uint32_t k,
                                   const struct train_result *r);

/* w^t in w becomes the w^{t+1} that an instance of the aggregator makes of n updates, clients
 * ascending.  [coord] */
osafl_status engine_aggregate(const struct engine *e, const struct instance *aggregator,
                              const struct update *update, uint32_t n, struct kept_updates *kept,
                              float *w, struct error *error);

#endif
