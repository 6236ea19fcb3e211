/* world_record.c - checkpoint records of a world. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "world_state.h"

osafl_status world_save(const struct world *w, osafl_writer *to)
{
    const uint64_t total = w->population.total_capacity;
    const uint64_t round = w->round;
    uint64_t *born = malloc(total * sizeof *born); /* records know 64-bit integers only */
    if (born == NULL)
        return OSAFL_E_NOMEM;
    for (uint64_t k = 0; k < total; k++)
        born[k] = w->born[k];
    osafl_status status = to->u64(to, "round", &round, 1);
    if (status == OSAFL_OK)
        status = to->u64(to, "dealt", dealer_dealt(w->dealer), dealer_pools(w->dealer));
    if (status == OSAFL_OK)
        status = to->u64(to, "stored", w->stored, w->population.clients);
    if (status == OSAFL_OK)
        status = to->u64(to, "sample", w->sample, total);
    if (status == OSAFL_OK)
        status = to->u64(to, "born", born, total);
    free(born);
    return status;
}

static osafl_status damaged(struct error *error, const char *what)
{
    return error_set(error, OSAFL_E_STATE,
                     "the checkpoint's record \"%s\" does not fit this experiment; it is damaged "
                     "or of another run",
                     what);
}

/* What can have been dealt by now: a full store for every client, at first and in every round, and
 * where samples have times those that came before. */
static uint64_t most_dealt(const struct world *w)
{
    uint64_t most = 0;
    if (__builtin_mul_overflow(w->population.total_capacity, (uint64_t)w->round + 1, &most))
        return INT64_MAX;
    return most + (w->time != NULL ? world_owned_samples(w) : 0);
}

static osafl_status load_pools(struct world *w, struct record_reader *from, struct error *error)
{
    const uint32_t pools = dealer_pools(w->dealer);
    uint64_t *dealt = calloc(pools, sizeof *dealt);
    if (dealt == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for a checkpoint");
    osafl_status status = from->base.u64(&from->base, "dealt", dealt, pools);
    uint64_t left = most_dealt(w);
    for (uint32_t p = 0; status == OSAFL_OK && p < pools; p++) {
        if (dealt[p] > left || (dealt[p] > 0 && dealer_size(w->dealer, p) == 0))
            status = damaged(error, "dealt");
        left -= dealt[p];
    }
    if (status == OSAFL_OK)
        dealer_set_dealt(w->dealer, dealt);
    free(dealt);
    return status;
}

/* A client's samples: in the training split, its own where samples have owners. */
static osafl_status load_store(struct world *w, uint32_t client, struct error *error)
{
    uint32_t *histogram = w->histogram + (size_t)client * w->labels;
    memset(histogram, 0, w->labels * sizeof *histogram);
    if (w->stored[client] > w->population.capacity[client])
        return damaged(error, "stored");
    w->total_stored += w->stored[client];
    for (uint64_t k = w->offset[client]; k < w->offset[client] + w->stored[client]; k++) {
        const uint64_t sample = w->sample[k];
        if (sample >= w->n_train)
            return damaged(error, "sample");
        uint32_t owner = client;
        if (world_has_owners(w))
            OSAFL_TRY(world_owner(w, sample, &owner, error));
        if (owner != client)
            return damaged(error, "sample");
        int32_t label = -1;
        OSAFL_TRY(world_label(w, sample, &label, error));
        if (label < 0 || (uint32_t)label >= w->labels)
            return damaged(error, "sample");
        w->label[k] = label;
        histogram[label]++;
    }
    return OSAFL_OK;
}

static osafl_status load_stores(struct world *w, struct record_reader *from, struct error *error)
{
    const uint64_t total = w->population.total_capacity;
    uint64_t *born = malloc(total * sizeof *born);
    if (born == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for a checkpoint");
    osafl_status status = from->base.u64(&from->base, "born", born, total);
    for (uint64_t k = 0; status == OSAFL_OK && k < total; k++) {
        if (born[k] > w->round)
            status = damaged(error, "born");
        else
            w->born[k] = (uint32_t)born[k];
    }
    free(born);
    OSAFL_TRY(status);
    OSAFL_TRY(from->base.u64(&from->base, "sample", w->sample, total));
    OSAFL_TRY(from->base.u64(&from->base, "stored", w->stored, w->population.clients));
    w->total_stored = 0;
    for (uint32_t u = 0; u < w->population.clients; u++)
        OSAFL_TRY(load_store(w, u, error));
    return OSAFL_OK;
}

/* Which mix is in force follows from the round: the drift answered last at its end. */
static osafl_status restore_mixes(struct world *w, struct error *error)
{
    for (uint32_t u = 0; w->round > 0 && u < w->population.clients; u++)
        OSAFL_TRY(world_drift(w, &w->turn[0], u, w->round - 1, error));
    return OSAFL_OK;
}

static osafl_status load_records(struct world *w, struct record_reader *from, struct error *error)
{
    uint64_t round;
    OSAFL_TRY(from->base.u64(&from->base, "round", &round, 1));
    if (round >= UINT32_MAX)
        return damaged(error, "round");
    w->round = (uint32_t)round;
    OSAFL_TRY(load_pools(w, from, error));
    OSAFL_TRY(load_stores(w, from, error));
    return world_has_owners(w) ? OSAFL_OK : restore_mixes(w, error);
}

osafl_status world_load(struct world *w, struct record_reader *from, struct error *error)
{
    struct osafl_call call;
    error->text[0] = '\0';
    world_call_begin(w, &call, NO_ROUND);
    const osafl_status status = world_end_call(&call, load_records(w, from, error), error);
    if (status != OSAFL_OK && error->text[0] == '\0') /* the reader refused a record */
        error_set(error, status, "%s", from->error.text);
    return status;
}
