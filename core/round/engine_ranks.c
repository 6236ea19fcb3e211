/* engine_ranks.c - the ranks of a run share what training made: each trains some of the clients,
 * and all go on with all updates, as one process does. */
#include "engine_ranks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parcel.h"
#include "engine_state.h"

static struct ranks *ranks_of(const struct engine *e)
{
    return e->session->context.ranks;
}

/* ---- who trains whom ----------------------------------------------------------------------- */

uint32_t engine_home(const struct session *s, uint32_t client)
{
    return client % ranks_count(s->context.ranks);
}

/* A client that keeps something trains where it is kept; any other goes to the rank with the least
 * to do, longest tasks first, the lowest rank among equals. */
static void assign_tasks(struct engine *e, uint32_t first, uint32_t stop, engine_task_steps *steps)
{
    const uint32_t ranks = ranks_count(ranks_of(e));
    const bool keeps = client_state_floats(e->session) > 0;
    memset(e->rank_steps, 0, ranks * sizeof *e->rank_steps);
    for (uint32_t j = first; j < stop; j++) {
        const uint32_t k = (uint32_t)(e->order[j] & UINT32_MAX);
        uint32_t rank = keeps ? engine_home(e->session, e->task[k].client) : 0;
        for (uint32_t r = keeps ? ranks : 1; r < ranks; r++)
            if (e->rank_steps[r] < e->rank_steps[rank])
                rank = r;
        e->rank_steps[rank] += steps(e, k);
        e->trainer[k] = rank;
    }
}

uint32_t engine_own_tasks(struct engine *e, uint32_t first, uint32_t stop, engine_task_steps *steps)
{
    uint32_t n = 0;
    if (ranks_of(e) == NULL)
        return stop - first;
    assign_tasks(e, first, stop, steps);
    for (uint32_t j = first; j < stop; j++)
        if (e->trainer[e->order[j] & UINT32_MAX] == ranks_own(ranks_of(e)))
            e->order[first + n++] = e->order[j];
    return n;
}

/* ---- metrics ------------------------------------------------------------------------------- */

/* What a plugin reports of a client where it trains belongs to the tables, which rank 0 writes.  A
 * metric_sink. */
static void hear_metric(void *arg, uint32_t metric, uint32_t client, double value)
{
    const struct heard_from *from = arg;
    struct engine *e = from->engine;
    const struct heard_metric heard = {
        .kind = from->kind, .metric = metric, .client = client, .value = value};
    pthread_mutex_lock(&e->progress_lock);
    if (e->is_training)
        parcel_add(&e->heard, &heard, sizeof heard);
    pthread_mutex_unlock(&e->progress_lock);
}

bool engine_ranks_create(struct engine *e)
{
    const struct ranks *ranks = ranks_of(e);
    if (ranks == NULL)
        return true;
    e->trainer = calloc(e->trainees, sizeof *e->trainer);
    e->rank_steps = calloc(ranks_count(ranks), sizeof *e->rank_steps);
    for (uint32_t kind = 1; !ranks_lead(ranks) && kind <= LOADER_KINDS; kind++) {
        struct instance *i = &e->session->instance[kind];
        e->heard_from[kind] = (struct heard_from){.engine = e, .kind = kind};
        i->metric = hear_metric;
        i->metric_arg = &e->heard_from[kind];
    }
    return e->trainer != NULL && e->rank_steps != NULL;
}

void engine_ranks_destroy(struct engine *e)
{
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        if (e->heard_from[kind].engine != NULL)
            e->session->instance[kind].metric = NULL;
    free(e->trainer);
    free(e->rank_steps);
    parcel_free(&e->heard);
}

/* Into the tables of rank 0, as if they had been reported here. */
static bool take_metrics(const struct engine *e, struct parcel_reader *from)
{
    uint64_t bytes = 0;
    struct heard_metric heard;
    if (!parcel_take(from, &bytes, sizeof bytes) || bytes > from->left)
        return false;
    struct parcel_reader list = {.at = parcel_look(from, (size_t)bytes), .left = (size_t)bytes};
    while (parcel_take(&list, &heard, sizeof heard)) {
        const struct instance *i = &e->session->instance[heard.kind];
        if (ranks_lead(ranks_of(e)) && i->metric != NULL)
            i->metric(i->metric_arg, heard.metric, heard.client, heard.value);
    }
    return list.left == 0;
}

/* ---- results ------------------------------------------------------------------------------- */

/* Of a task, as it travels. */
struct result_head {
    uint32_t task;
    uint32_t outcome;
    uint32_t steps;
    uint32_t why_bytes;
    uint32_t has_code;
    uint32_t reserved;
    double rate;
    double train_loss;
    double air_bits;
    double norm;
    double code_error;
};

static void pack_result(const struct engine *e, uint32_t k, struct parcel *to)
{
    const struct train_result *r = &e->result[k];
    const struct result_head head = {
        .task = k,
        .outcome = (uint32_t)r->outcome,
        .steps = r->steps,
        .why_bytes = r->why != NULL ? (uint32_t)strlen(r->why) + 1 : 0,
        .has_code = r->code != NULL,
        .rate = r->rate,
        .train_loss = r->train_loss,
        .air_bits = r->air_bits,
        .norm = r->norm,
        .code_error = r->code_error,
    };
    parcel_add(to, &head, sizeof head);
    parcel_add(to, r->why, head.why_bytes);
    for (uint32_t slot = 0; r->code != NULL && slot < e->session->slots; slot++) {
        parcel_add(to, &r->code[slot].bytes, sizeof r->code[slot].bytes);
        parcel_add(to, &r->code[slot].air_bits, sizeof r->code[slot].air_bits);
        parcel_add(to, r->code[slot].data, (size_t)r->code[slot].bytes);
    }
}

/* A copy of so many bytes of a piece; NULL: there are fewer, or no memory. */
static void *take_copy(struct parcel_reader *from, uint64_t bytes)
{
    const uint8_t *at = parcel_look(from, (size_t)bytes);
    void *copy = at != NULL ? malloc(bytes > 0 ? (size_t)bytes : 1) : NULL;
    if (copy != NULL)
        memcpy(copy, at, (size_t)bytes);
    return copy;
}

static bool take_codes(const struct engine *e, struct train_result *r, struct parcel_reader *from)
{
    r->code = calloc(e->session->slots, sizeof *r->code);
    for (uint32_t slot = 0; r->code != NULL && slot < e->session->slots; slot++) {
        struct code *code = &r->code[slot];
        if (!parcel_take(from, &code->bytes, sizeof code->bytes) ||
            !parcel_take(from, &code->air_bits, sizeof code->air_bits))
            return false;
        code->data = take_copy(from, code->bytes);
        if (code->data == NULL)
            return false;
    }
    return r->code != NULL;
}

static bool take_result(struct engine *e, uint32_t rank, struct parcel_reader *from)
{
    struct result_head head;
    if (!parcel_take(from, &head, sizeof head) || head.task >= e->n_tasks ||
        e->trainer[head.task] != rank)
        return false;
    struct train_result *r = &e->result[head.task];
    *r = (struct train_result){
        .outcome = (enum train_outcome)head.outcome,
        .steps = head.steps,
        .rate = head.rate,
        .train_loss = head.train_loss,
        .air_bits = head.air_bits,
        .norm = head.norm,
        .code_error = head.code_error,
    };
    if (head.why_bytes > 0 && (r->why = take_copy(from, head.why_bytes)) == NULL)
        return false;
    return head.has_code == 0 || take_codes(e, r, from);
}

static bool take_results(struct engine *e, uint32_t rank, const struct rank_piece *piece)
{
    struct parcel_reader from = {.at = piece->data, .left = piece->bytes};
    if (!take_metrics(e, &from))
        return false;
    while (from.left > 0)
        if (!take_result(e, rank, &from))
            return false;
    return true;
}

osafl_status engine_share_results(struct engine *e, uint32_t first, uint32_t own,
                                  osafl_status status, struct error *error)
{
    struct ranks *ranks = ranks_of(e);
    const struct rank_piece *all = NULL;
    struct parcel mine = {0};
    if (ranks == NULL)
        return status;
    const uint64_t heard = e->heard.bytes;
    parcel_add(&mine, &heard, sizeof heard);
    parcel_add(&mine, e->heard.data, e->heard.bytes);
    for (uint32_t j = 0; status == OSAFL_OK && j < own; j++)
        pack_result(e, (uint32_t)(e->order[first + j] & UINT32_MAX), &mine);
    if (status == OSAFL_OK && (mine.is_incomplete || e->heard.is_incomplete))
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for the updates of a round");
    e->heard.bytes = 0;
    status = ranks_share(ranks, status, mine.data, mine.bytes, &all, error);
    parcel_free(&mine);
    for (uint32_t rank = 0; status == OSAFL_OK && rank < ranks_count(ranks); rank++)
        if (rank != ranks_own(ranks) && !take_results(e, rank, &all[rank]))
            status = error_set(error, OSAFL_E_NOMEM, "out of memory for the updates of a round");
    return status;
}

/* ---- the state of the clients -------------------------------------------------------------- */

static void pack_states(const struct engine *e, struct parcel *to)
{
    const size_t bytes = (size_t)client_state_floats(e->session) * sizeof(float);
    for (uint32_t u = 0; u < e->trainees; u++) {
        if (e->state[u].floats == NULL || engine_home(e->session, u) != ranks_own(ranks_of(e)))
            continue;
        parcel_add(to, &u, sizeof u);
        parcel_add(to, e->state[u].floats, bytes);
    }
}

static bool take_states(struct engine *e, const struct rank_piece *piece)
{
    const size_t bytes = (size_t)client_state_floats(e->session) * sizeof(float);
    struct parcel_reader from = {.at = piece->data, .left = piece->bytes};
    uint32_t u = 0;
    while (parcel_take(&from, &u, sizeof u)) {
        if (u >= e->trainees ||
            (e->state[u].floats == NULL && !client_state_create(e->session, &e->state[u])) ||
            !parcel_take(&from, e->state[u].floats, bytes))
            return false;
    }
    return true;
}

osafl_status engine_collect(struct engine *e, struct error *error)
{
    struct ranks *ranks = ranks_of(e);
    const struct rank_piece *all = NULL;
    struct parcel mine = {0};
    osafl_status status = OSAFL_OK;
    if (ranks == NULL || client_state_floats(e->session) == 0)
        return OSAFL_OK;
    if (!ranks_lead(ranks))
        pack_states(e, &mine);
    if (mine.is_incomplete)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for a checkpoint");
    status = ranks_collect(ranks, status, mine.data, mine.bytes, &all, error);
    parcel_free(&mine);
    for (uint32_t rank = 1; status == OSAFL_OK && rank < ranks_count(ranks); rank++)
        if (!take_states(e, &all[rank]))
            status = error_set(error, OSAFL_E_NOMEM, "out of memory for a checkpoint");
    return status;
}
