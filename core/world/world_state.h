/* world_state.h - inside of a world, shared by the files world*.c. */
#ifndef OSAFL_CORE_WORLD_STATE_H
#define OSAFL_CORE_WORLD_STATE_H

#include "base/error.h"
#include "dealer.h"
#include "plugin/plugin_host.h"
#include "world.h"

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

    /* Scratch memory of one client's turn. */
    double *cumulative;  /* [labels] */
    double *other_mix;   /* [labels] */
    uint32_t *words;     /* [2 * largest store] */
    uint64_t *arrived;   /* [largest store]: samples */
    uint32_t *position;  /* [largest store] */
    int32_t *view_label; /* [2 * largest store]: stored and arrived */
    uint32_t *view_age;
    uint8_t *leaves;

    world_measure *measure; /* NULL: the deletion policy goes by none */
    void *measure_arg;
    uint64_t *candidate;  /* [measured]: stored, then arrived samples */
    double *view_measure; /* [measured] */
    uint32_t measured;
    world_watch *watch; /* NULL: nobody looks at arrivals */
    void *watch_arg;
};

/* Deals *n samples to a client: labels from its mix, or its own samples where they have owners.
 * *n becomes smaller where each is dealt once and too few are left.  purpose and round: the stream
 * of the labels. */
osafl_status world_deal(struct world *w, uint32_t client, uint32_t purpose, uint32_t round,
                        uint32_t *n, uint64_t *sample, int32_t *label, struct error *error);

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
osafl_status world_set_mix(struct world *w, uint32_t client, const osafl_drift_mix *wanted,
                           struct error *error);

/* Asks the drift for the mix of a client at the end of a round, and puts it in force. */
osafl_status world_drift(struct world *w, uint32_t client, uint32_t round, struct error *error);

/* label() and its like, which are asked once for each sample, are lent one call for all of them.
 * Ending it returns a failed status with the error that it has, or what the plugin did wrong. */
void world_call_begin(struct world *w, struct osafl_call *call, uint32_t round);
osafl_status world_end_call(struct osafl_call *call, osafl_status status, struct error *error);

/* Where samples have owners: training samples that belong to one of the clients. */
uint64_t world_owned_samples(const struct world *w);

#endif
