/* world_advance.c - the end of a round: arrivals come, other samples leave.  ALGORITHMS.md 1, 7. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/streams.h"
#include "label_mix.h"
#include "world_state.h"

/* One mix of a client, checked. */
static osafl_status ask_mix(struct world *w, uint32_t client, uint32_t draw, double *mix,
                            struct error *error)
{
    const struct instance *p = w->plugins.partition;
    const osafl_partition_vt *vt = (const osafl_partition_vt *)(const void *)p->plugin->vtable;
    struct osafl_call c;
    call_begin(&c, p, client, NO_ROUND);
    OSAFL_TRY(call_end_named(&c, vt->mix(p->self, &c, client, draw, mix), error));
    double sum = 0.0;
    bool sound = true;
    for (uint32_t l = 0; l < w->labels; l++) {
        sound = sound && mix[l] >= 0.0 && (mix[l] == 0.0 || w->share[l] > 0.0);
        sum += mix[l];
    }
    if (sound && fabs(sum - 1.0) <= 1e-6)
        return OSAFL_OK;
    return error_set(error, OSAFL_E_BUG,
                     "partition/%s, client %" PRIu32 ": mix() must give probabilities that sum to "
                     "1, of labels that have samples; this is a bug of the plugin",
                     p->plugin->name, client);
}

osafl_status world_set_mix(struct world *w, struct turn *t, uint32_t client,
                           const osafl_drift_mix *wanted, struct error *error)
{
    double *mix = w->mix + (size_t)client * w->labels;
    w->drawn[client] = *wanted;
    OSAFL_TRY(ask_mix(w, client, wanted->draw_a, mix, error));
    if (wanted->weight == 0.0)
        return OSAFL_OK;
    OSAFL_TRY(ask_mix(w, client, wanted->draw_b, t->other_mix, error));
    for (uint32_t l = 0; l < w->labels; l++)
        mix[l] = (1.0 - wanted->weight) * mix[l] + wanted->weight * t->other_mix[l];
    return OSAFL_OK;
}

/* Mixes are asked for again only where the drift's answer changes. */
osafl_status world_drift(struct world *w, struct turn *t, uint32_t client, uint32_t round,
                         struct error *error)
{
    const struct instance *p = w->plugins.drift;
    const osafl_drift_vt *vt = (const osafl_drift_vt *)(const void *)p->plugin->vtable;
    osafl_drift_mix wanted = {.struct_size = sizeof wanted};
    struct osafl_call c;
    call_begin(&c, p, client, round);
    OSAFL_TRY(call_end_named(&c, vt->at(p->self, &c, client, round, &wanted), error));
    if (!(wanted.weight >= 0.0 && wanted.weight <= 1.0))
        return error_set(error, OSAFL_E_BUG,
                         "drift/%s, round %" PRIu32 ", client %" PRIu32
                         ": at() gives a weight outside 0 .. 1; this is a bug of the plugin",
                         p->plugin->name, round, client);
    const osafl_drift_mix *now = &w->drawn[client];
    if (wanted.weight == 0.0)
        wanted.draw_b = 0;
    if (wanted.draw_a == now->draw_a && wanted.draw_b == now->draw_b &&
        wanted.weight == now->weight)
        return OSAFL_OK;
    return world_set_mix(w, t, client, &wanted, error);
}

static osafl_status check_arrivals(const struct world *w, uint32_t round, struct error *error)
{
    const struct population *p = &w->population;
    for (uint32_t u = 0; u < p->clients; u++) {
        if (w->arrivals[u] <= p->capacity[u] && w->present[u] <= 1)
            continue;
        return error_set(error, OSAFL_E_BUG,
                         "arrival/%s, round %" PRIu32 ", client %" PRIu32
                         ": arrive() gives %" PRIu32 " samples where at most %" PRIu64
                         " fit, or present = %u; this is a bug of the plugin",
                         w->plugins.arrival->plugin->name, round, u, w->arrivals[u], p->capacity[u],
                         (unsigned)w->present[u]);
    }
    return OSAFL_OK;
}

osafl_arrival_problem world_arrival_problem(const struct world *w, uint32_t round,
                                            const osafl_history *history)
{
    return (osafl_arrival_problem){
        .struct_size = sizeof(osafl_arrival_problem),
        .clients = w->population.clients,
        .round = round,
        .arrivals = w->population.arrivals,
        .capacity = w->population.capacity,
        .activity = w->population.activity,
        .history = history,
        .time_first = w->time != NULL ? dealer_first(w->dealer) : NULL,
        .time = w->time,
    };
}

osafl_status world_begin_round(struct world *w, uint32_t round, const osafl_history *history,
                               struct error *error)
{
    const struct population *p = &w->population;
    const struct instance *i = w->plugins.arrival;
    const osafl_arrival_vt *vt = (const osafl_arrival_vt *)(const void *)i->plugin->vtable;
    const osafl_arrival_problem problem = world_arrival_problem(w, round, history);
    memset(w->arrivals, 0, p->clients * sizeof *w->arrivals);
    memset(w->present, 1, p->clients);
    struct osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, round);
    OSAFL_TRY(
        call_end_named(&c, vt->arrive(i->self, &c, &problem, w->arrivals, w->present), error));
    OSAFL_TRY(check_arrivals(w, round, error));
    for (uint32_t u = 0; u < p->clients; u++)
        w->present[u] = w->present[u] && w->stored[u] > 0; /* nothing to train on */
    return OSAFL_OK;
}

const uint8_t *world_present(const struct world *w)
{
    return w->present;
}

const uint32_t *world_arrivals(const struct world *w)
{
    return w->arrivals;
}

/* Where each sample is dealt once, how many arrive is known only when they are dealt. */
static osafl_status deal_to_count(struct world *w, uint32_t round, struct error *error)
{
    struct turn *t = &w->turn[0];
    for (uint32_t u = 0; u < w->population.clients; u++) {
        if (!world_has_owners(w)) {
            OSAFL_TRY(world_drift(w, t, u, round, error));
            world_draw_labels(w, t, u, STREAM_ARRIVAL_LABELS, round, w->arrivals[u], t->view_label);
        }
        world_deal_numbers(w, u, &w->arrivals[u], w->arrived, t->view_label);
    }
    return OSAFL_OK;
}

osafl_status world_count_arrivals(struct world *w, uint32_t round, struct error *error)
{
    if (w->settings->deal_once)
        OSAFL_TRY(deal_to_count(w, round, error));
    for (uint32_t u = 0; u < w->population.clients; u++) {
        const uint64_t room = w->population.capacity[u] - w->stored[u];
        const uint64_t more = w->arrivals[u] < room ? w->arrivals[u] : room;
        w->stored[u] += more;
        w->total_stored += more;
    }
    return OSAFL_OK;
}

void world_measure_with(struct world *w, world_measure *measure, void *arg)
{
    w->measure = measure;
    w->measure_arg = arg;
}

void world_watch_arrivals(struct world *w, world_watch *watch, void *arg)
{
    w->watch = watch;
    w->watch_arg = arg;
}

static osafl_status reserve_measures(struct world *w, uint32_t n, struct error *error)
{
    if (n <= w->measured)
        return OSAFL_OK;
    free(w->candidate);
    free(w->view_measure);
    w->candidate = calloc(n, sizeof *w->candidate);
    w->view_measure = calloc(n, sizeof *w->view_measure);
    w->measured = w->candidate != NULL && w->view_measure != NULL ? n : 0;
    return w->measured > 0 ? OSAFL_OK
                           : error_set(error, OSAFL_E_NOMEM,
                                       "out of memory for the measures of %" PRIu32 " samples", n);
}

/* Where the arrivals of a client of the span are, in w->arrived and w->arrived_label. */
static uint32_t arrivals_at(const struct span *s, uint32_t client)
{
    return s->w->arrived_at[client - s->first];
}

/* Fills w->view_measure for the stored and the arrived samples. */
static osafl_status measure_candidates(const struct span *s, uint32_t client, struct error *error)
{
    struct world *w = s->w;
    const uint32_t stored = (uint32_t)w->stored[client];
    const uint32_t arrived = w->arrivals[client];
    if (w->measure == NULL)
        return OSAFL_OK;
    OSAFL_TRY(reserve_measures(w, stored + arrived, error));
    memcpy(w->candidate, w->sample + w->offset[client], stored * sizeof *w->candidate);
    memcpy(w->candidate + stored, w->arrived + arrivals_at(s, client),
           arrived * sizeof *w->candidate);
    return w->measure(w->measure_arg, client, stored + arrived, w->candidate, w->view_measure,
                      error);
}

/* Answer k of n is not a position below `positions`, or is there twice. */
static osafl_status refuse_position(const struct osafl_call *call, struct turn *t, uint32_t n,
                                    uint32_t positions, uint32_t k)
{
    char where[256];
    call_describe(call, where, sizeof where);
    return error_set(&t->error, OSAFL_E_BUG,
                     "%s: select() must name %" PRIu32 " distinct positions below %" PRIu32
                     ", but its answer %" PRIu32 " is %" PRIu32 "%s; this is a bug of the plugin",
                     where, n, positions, k, t->position[k],
                     t->position[k] < positions ? " once more" : "");
}

/* Asks the policy for n samples and checks its answer; marks in t->leaves who goes. */
static osafl_status select_leaving(const struct span *s, struct turn *t, uint32_t client,
                                   uint32_t n)
{
    const struct world *w = s->w;
    const struct instance *deletion = w->plugins.deletion;
    const uint32_t stored = (uint32_t)w->stored[client];
    const uint32_t arrived = w->arrivals[client];
    OSAFL_TRY(measure_candidates(s, client, &t->error));
    const osafl_store_view view = {
        .struct_size = sizeof view,
        .client = client,
        .round = s->round,
        .labels = w->labels,
        .stored = stored,
        .arrived = arrived,
        .label = t->view_label,
        .age = t->view_age,
        .measure = w->measure != NULL ? w->view_measure : NULL,
    };
    const osafl_deletion_vt *vt = (const osafl_deletion_vt *)(const void *)deletion->plugin->vtable;
    struct osafl_call call;
    memset(t->position, 0xff, n * sizeof *t->position); /* an unwritten place is out of range */
    call_begin(&call, deletion, client, s->round);
    OSAFL_TRY(
        call_end_named(&call, vt->select(deletion->self, &call, &view, n, t->position), &t->error));
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t position = t->position[k];
        if (position >= stored + arrived || t->leaves[position])
            return refuse_position(&call, t, n, stored + arrived, k);
        t->leaves[position] = 1;
    }
    return OSAFL_OK;
}

/* Those that stay keep their order; the arrivals follow in theirs. */
static void replace_samples(const struct span *s, struct turn *t, uint32_t client)
{
    struct world *w = s->w;
    const uint32_t stored = (uint32_t)w->stored[client];
    const uint64_t *arrived = w->arrived + arrivals_at(s, client);
    uint64_t *sample = w->sample + w->offset[client];
    int32_t *label = w->label + w->offset[client];
    uint32_t *born = w->born + w->offset[client];
    uint32_t *histogram = w->histogram + (size_t)client * w->labels;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < stored + w->arrivals[client]; k++) {
        if (k >= stored)
            histogram[t->view_label[k]]++;
        if (t->leaves[k]) {
            histogram[t->view_label[k]]--;
            continue;
        }
        sample[kept] = k < stored ? sample[k] : arrived[k - stored];
        born[kept] = k < stored ? born[k] : s->round + 1;
        label[kept] = t->view_label[k];
        kept++;
    }
    w->stored[client] = kept;
    t->grown += kept - stored;
}

/* client_step */
static osafl_status set_mix(const struct span *s, struct turn *t, uint32_t client)
{
    return world_drift(s->w, t, client, s->round, &t->error);
}

/* client_step */
static osafl_status draw_arrivals(const struct span *s, struct turn *t, uint32_t client)
{
    const struct world *w = s->w;
    if (w->arrivals[client] > 0)
        world_draw_labels(w, t, client, STREAM_ARRIVAL_LABELS, s->round, w->arrivals[client],
                          w->arrived_label + arrivals_at(s, client));
    return OSAFL_OK;
}

/* client_step */
static osafl_status find_arrivals(const struct span *s, struct turn *t, uint32_t client)
{
    const struct world *w = s->w;
    const uint32_t at = arrivals_at(s, client);
    return world_find_samples(w, &t->call, w->arrivals[client], w->arrived + at,
                              w->arrived_label + at, &t->error);
}

/* client_step */
static osafl_status store_arrivals(const struct span *s, struct turn *t, uint32_t client)
{
    const struct world *w = s->w;
    const uint32_t at = arrivals_at(s, client);
    const uint32_t n = w->arrivals[client];
    const uint32_t stored = (uint32_t)w->stored[client];
    const uint64_t room = w->population.capacity[client] - stored;
    if (n == 0)
        return OSAFL_OK;
    if (w->watch != NULL)
        OSAFL_TRY(w->watch(w->watch_arg, client, n, w->arrived + at, &t->error));
    memcpy(t->view_label, w->label + w->offset[client], stored * sizeof *t->view_label);
    memcpy(t->view_label + stored, w->arrived_label + at, n * sizeof *t->view_label);
    for (uint32_t k = 0; k < stored; k++)
        t->view_age[k] = s->round + 1 - w->born[w->offset[client] + k];
    memset(t->view_age + stored, 0, n * sizeof *t->view_age);
    memset(t->leaves, 0, stored + n);
    if (n > room)
        OSAFL_TRY(select_leaving(s, t, client, (uint32_t)(n - room)));
    replace_samples(s, t, client);
    return OSAFL_OK;
}

/* The clients from `first` on for whose arrivals there is room. */
static struct span begin_span(struct world *w, uint32_t round, uint32_t first)
{
    struct span s = {.w = w, .round = round, .first = first, .end = first};
    uint32_t at = 0;
    while (s.end < w->population.clients && s.end - first < SPAN_CLIENTS &&
           w->arrivals[s.end] <= w->arrived_room - at) {
        w->arrived_at[s.end - first] = at;
        at += w->arrivals[s.end++];
    }
    return s;
}

/* Samples are dealt from pools of all clients, so that happens in their order.  Whoever measures
 * or watches has the threads of the pool work for one client after the other. */
static osafl_status advance_span(struct span *s, struct error *error)
{
    struct world *w = s->w;
    const bool alone = w->measure != NULL || w->watch != NULL;
    if (!world_has_owners(w)) {
        span_each(
            s, world_is_concurrent(w->plugins.drift) && world_is_concurrent(w->plugins.partition),
            set_mix);
        span_each(s, true, draw_arrivals);
    }
    for (uint32_t u = s->first; u < s->end; u++)
        world_deal_numbers(w, u, &w->arrivals[u], w->arrived + arrivals_at(s, u),
                           w->arrived_label + arrivals_at(s, u));
    span_each(s, true, find_arrivals);
    span_each(s, !alone && world_is_concurrent(w->plugins.deletion), store_arrivals);
    return span_end(s, error);
}

osafl_status world_advance(struct world *w, uint32_t round, struct error *error)
{
    assert(round == w->round);
    for (uint32_t first = 0; first < w->population.clients;) {
        struct span s = begin_span(w, round, first);
        OSAFL_TRY(advance_span(&s, error));
        first = s.end;
    }
    for (uint32_t k = 0; k < w->threads; k++) {
        w->total_stored += w->turn[k].grown; /* modulo 2^64 */
        w->turn[k].grown = 0;
    }
    w->round = round + 1;
    return OSAFL_OK;
}
