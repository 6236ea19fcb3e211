/* world_state.h - inside of a world, shared by the files world*.c. */
#ifndef OSAFL_CORE_WORLD_STATE_H
#define OSAFL_CORE_WORLD_STATE_H

#include "base/error.h"
#include "dealer.h"
#include "plugin/plugin_host.h"
#include "world.h"

/* What a thread works with while it has one client after the other in hand. */
struct turn {
    struct osafl_call call; /* of the data set, for label() and its like */
    double *cumulative;     /* [labels] */
    double *other_mix;      /* [labels] */
    uint32_t *words;        /* [2 * largest store] */
    uint32_t *position;     /* [largest store] */
    int32_t *view_label;    /* [2 * largest store]: stored and arrived */
    uint32_t *view_age;
    uint8_t *leaves;
    uint64_t grown; /* by how many samples stores have grown, modulo 2^64 */
    osafl_status status;
    uint32_t failed; /* the client for which status is no OSAFL_OK */
    struct error error;
};

/* Clients of a round that are advanced together, at most. */
#define SPAN_CLIENTS 16384

struct world {
    uint64_t seed;
    const struct client_settings *settings;
    struct world_plugins plugins;
    const struct instance *dataset; /* plugins.dataset */
    uint32_t gives;                 /* OSAFL_PARTITION_* */
    uint32_t labels;                /* C */
    uint64_t n_train;               /* or OSAFL_ENDLESS */
    uint32_t round;                 /* the next one to advance */
    struct population population;
    struct dealer *dealer;  /* pools: labels, or clients where samples have owners */
    double *time;           /* of the samples in the dealer's order; NULL: they have none */
    const double *share;    /* [labels]: mix of the training split */
    double *mix;            /* [clients][labels]: pi_u in force; NULL where samples have owners */
    osafl_drift_mix *drawn; /* [clients]: from which draws mix was made */
    uint32_t *arrivals;     /* [clients]: of the round begun */
    uint8_t *present;       /* [clients]: of the round begun */
    uint32_t *histogram;    /* [clients][labels] */
    uint64_t *stored;       /* [clients]: samples in the store, at most its capacity */
    uint64_t total_stored;

    /* All stores, client after client; client u has room in [offset[u], offset[u + 1]) and fills
     * it from the front. */
    uint64_t *offset; /* [clients + 1] */
    uint64_t *sample;
    int32_t *label;
    uint32_t *born; /* first round in which the sample was in the store */

    struct osafl_call *call; /* of world_call_begin() */

    struct pool *pool; /* of the plugins when the world was made; NULL: none */
    struct turn *turn; /* [threads] */
    uint32_t threads;

    /* Arrivals of the clients of a span, client after client: the k-th has
     * [arrived_at[k], arrived_at[k] + arrivals). */
    uint32_t *arrived_at; /* [SPAN_CLIENTS] */
    uint64_t *arrived;    /* [arrived_room]: samples */
    int32_t *arrived_label;
    uint32_t arrived_room;

    world_measure *measure; /* NULL: the deletion policy goes by none */
    void *measure_arg;
    uint64_t *candidate;  /* [measured]: stored, then arrived samples */
    double *view_measure; /* [measured] */
    uint32_t measured;
    world_watch *watch; /* NULL: nobody looks at arrivals */
    void *watch_arg;
};

/* Clients [first, end) at the end of a round, or when the world is made (NO_ROUND). */
struct span {
    struct world *w;
    uint32_t round;
    uint32_t first;
    uint32_t end;
    osafl_status status; /* of client `end`, once one has failed */
    struct error error;
};

/* What is done for a client. */
typedef osafl_status client_step(const struct span *s, struct turn *t, uint32_t client);

/* Does a step for each client of the span: in parallel, or in ascending order on this thread.  The
 * span then ends before the first client that failed, whatever the number of threads, so that steps
 * that follow find out whether one of those before fails as well. */
void span_each(struct span *s, bool parallel, client_step *step);
/* Its status and error. */
osafl_status span_end(const struct span *s, struct error *error);

/* The plugin's calls for different clients may run at the same time: its feature "concurrent". */
bool world_is_concurrent(const struct instance *i);

/* Memory for the turns of as many threads as the pool has. */
bool turns_create(struct world *w, uint64_t largest_store);
void turns_destroy(struct world *w);

/* Samples come to a client in three steps.  Labels are drawn from its mix; not where samples have
 * owners.  purpose and round: the stream. */
void world_draw_labels(const struct world *w, struct turn *t, uint32_t client, uint32_t purpose,
                       uint32_t round, uint32_t n, int32_t *label);
/* The next numbers of those labels, or of the client's own samples, are dealt, client after client.
 * *n becomes smaller where each is dealt once and too few are left. */
void world_deal_numbers(struct world *w, uint32_t client, uint32_t *n, uint64_t *number,
                        int32_t *label);
/* The data set says which samples and labels those are. */
osafl_status world_find_samples(const struct world *w, struct osafl_call *c, uint32_t n,
                                uint64_t *sample, int32_t *label, struct error *error);

/* The data set's label(), by w->call. */
osafl_status world_label(const struct world *w, uint64_t i, int32_t *label, struct error *error);

/* What an arrival plugin is asked. */
osafl_arrival_problem world_arrival_problem(const struct world *w, uint32_t round,
                                            const osafl_history *history);

/* The partition says to whom samples belong. */
bool world_has_owners(const struct world *w);
/* False where the arrival has numbers of its own: clients.arrivals is of no effect. */
bool world_uses_arrivals(const struct world *w);

/* To whom training sample i belongs; OSAFL_NO_CLIENT: to nobody. */
osafl_status world_owner(const struct world *w, uint64_t i, uint32_t *client, struct error *error);

/* Puts the mix of a client into w->mix that the drift asks for; a mix that holds no probabilities
 * is OSAFL_E_BUG. */
osafl_status world_set_mix(struct world *w, struct turn *t, uint32_t client,
                           const osafl_drift_mix *wanted, struct error *error);

/* Asks the drift for the mix of a client at the end of a round, and puts it in force. */
osafl_status world_drift(struct world *w, struct turn *t, uint32_t client, uint32_t round,
                         struct error *error);

/* label() and its like, which are asked once for each sample, are lent one call for all of them.
 * Ending it returns a failed status with the error that it has, or what the plugin did wrong. */
void world_call_begin(struct world *w, struct osafl_call *call, uint32_t round);
osafl_status world_end_call(struct osafl_call *call, osafl_status status, struct error *error);

/* Where samples have owners: training samples that belong to one of the clients. */
uint64_t world_owned_samples(const struct world *w);

#endif
