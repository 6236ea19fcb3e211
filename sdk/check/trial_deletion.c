/* trial_deletion.c - deletion policies at work, and their laws. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "instance_under_test.h"

static const osafl_deletion_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_deletion_vt *)(const void *)s->instance.plugin->vtable;
}

/* Measures with ties, where the policy names one; NULL else. */
static const double *make_measures(struct instance_under_test *s, struct caller *t, struct draws *d,
                                   uint32_t n)
{
    osafl_deletion_info *info = arena_inout(&t->arena, "info", NULL, 1, sizeof *info, 8);
    *info = (osafl_deletion_info){.struct_size = sizeof *info};
    if (vtable(s)->describe == NULL)
        return NULL;
    osafl_call *c = caller_begin(t, "describe()", OSAFL_NO_CLIENT);
    if (caller_end(t, vtable(s)->describe(s->instance.self, c, info)) != OSAFL_OK)
        caller_fail(t, "fails: %s", t->error.text);
    if (info->measure == NULL)
        return NULL;
    double *measure = calloc((size_t)n + 1, sizeof *measure);
    if (measure == NULL)
        abort();
    for (uint32_t i = 0; i < n; i++)
        measure[i] = draw_below(d, 9) == 0 ? DBL_MAX : 0.25 * draw_below(d, 9);
    const double *guarded = arena_input(&t->arena, "measures", measure, n, sizeof *measure, 8);
    free(measure);
    return guarded;
}

/* A client's samples; arrays of the caller. */
static osafl_store_view make_view(struct instance_under_test *s, struct caller *t, uint32_t client,
                                  uint32_t stored, uint32_t arrived)
{
    const uint32_t n = stored + arrived;
    struct draws d = {.seed = s->conform->seed,
                      .purpose = 3,
                      .index = (uint64_t)t->round << 40 | (uint64_t)client << 20};
    int32_t *label = calloc(n + 1, sizeof *label);
    uint32_t *age = calloc(n + 1, sizeof *age);
    if (label == NULL || age == NULL)
        abort();
    for (uint32_t i = 0; i < n; i++) {
        label[i] = (int32_t)draw_below(&d, s->world.data.labels);
        age[i] = i < stored ? 1 + draw_below(&d, t->round + 3) : 0;
    }
    const osafl_store_view view = {
        .struct_size = sizeof view,
        .client = client,
        .round = t->round,
        .labels = s->world.data.labels,
        .stored = stored,
        .arrived = arrived,
        .label = arena_input(&t->arena, "labels", label, n, sizeof *label, 4),
        .age = arena_input(&t->arena, "ages", age, n, sizeof *age, 4),
        .measure = make_measures(s, t, &d, n),
    };
    free(label);
    free(age);
    return view;
}

/* Asks for n positions. */
static osafl_status choose(struct instance_under_test *s, struct caller *t,
                           const osafl_store_view *v, uint32_t n, uint32_t **position)
{
    const osafl_store_view *view =
        arena_input(&t->arena, "the view of the store", v, 1, sizeof *v, 8);
    *position = arena_output(&t->arena, "positions", n, sizeof **position, 4);
    osafl_call *c = caller_begin(t, "select()", v->client);
    OSAFL_TRY(caller_end(t, vtable(s)->select(s->instance.self, c, view, n, *position)));
    transcript_bytes(&t->transcript, "the positions of select()", t->round, v->client, *position,
                     n * sizeof **position);
    return OSAFL_OK;
}

/* As in a run, a store keeps its size: as many leave as have come. */
static osafl_status choose_of_client(struct instance_under_test *s, struct caller *t)
{
    uint32_t *position;
    const uint32_t client = t->task;
    const uint32_t arrived = 1 + (client + t->round) % 5;
    if (client >= s->world.clients)
        return OSAFL_OK;
    const osafl_store_view v = make_view(s, t, client, 12 + 3 * client, arrived);
    return choose(s, t, &v, arrived, &position);
}

const struct kind_calls deletion_calls = {
    .kind = OSAFL_KIND_DELETION,
    .tasks = 7,
    .worker_feature = "concurrent",
    .task = choose_of_client,
};

/* ---- laws ---------------------------------------------------------------------------------- */

static void require_distinct(const struct caller *t, const osafl_store_view *v,
                             const uint32_t *position, uint32_t n)
{
    const uint32_t all = v->stored + v->arrived;
    bool *taken = calloc(all + 1, sizeof *taken);
    for (uint32_t i = 0; taken != NULL && i < n; i++) {
        if (position[i] >= all)
            caller_fail(t, "position %u is beyond the %u samples (%u stored, %u arrived, %u leave)",
                        (unsigned)position[i], (unsigned)all, (unsigned)v->stored,
                        (unsigned)v->arrived, (unsigned)n);
        if (taken[position[i]])
            caller_fail(t, "position %u is chosen twice (%u stored, %u arrived, %u leave)",
                        (unsigned)position[i], (unsigned)v->stored, (unsigned)v->arrived,
                        (unsigned)n);
        taken[position[i]] = true;
    }
    free(taken);
}

/* Every count from none to all, of stores from empty to larger than what arrives.  A policy may say
 * that it does not offer a count that no run with its stores asks for. */
void check_deletion_positions(struct conform *c)
{
    static const uint32_t sizes[][2] = {{0, 1}, {1, 0}, {1, 1}, {3, 9}, {10, 4}, {17, 17}};
    struct instance_under_test s;
    struct transcript answers = {0};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const uint32_t stored = sizes[k][0];
        const uint32_t arrived = sizes[k][1];
        for (uint32_t n = 0; n <= stored + arrived; n++) {
            uint32_t *position;
            under_test_must_open(&s, c, &answers);
            struct caller t = caller_open(&s);
            t.round = (uint32_t)k;
            const osafl_store_view v = make_view(&s, &t, n % s.world.clients, stored, arrived);
            const osafl_status status = choose(&s, &t, &v, n, &position);
            const bool usual = n == arrived && arrived <= stored;
            if (status == OSAFL_E_UNSUPPORTED && !usual) {
                caller_close(&t);
                under_test_close(&s);
                continue;
            }
            if (status != OSAFL_OK)
                caller_fail(&t, "%u of %u stored and %u arrived samples: %s, %s", (unsigned)n,
                            (unsigned)stored, (unsigned)arrived, status_name(status), t.error.text);
            require_distinct(&t, &v, position, n);
            caller_close(&t);
            under_test_close(&s);
        }
    }
}

/* Feature "keeps_arrivals", while the store has enough samples to give. */
void check_deletion_arrivals(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    for (uint32_t round = 0; round < 3 * TRIAL_ROUNDS; round++) {
        for (uint32_t u = 0; u < s.world.clients; u++) {
            uint32_t *position;
            struct caller t = caller_open(&s);
            t.round = round;
            const uint32_t arrived = 1 + (u + round) % 6;
            const osafl_store_view v = make_view(&s, &t, u, 9 + u, arrived);
            if (choose(&s, &t, &v, arrived, &position) != OSAFL_OK)
                caller_fail(&t, "fails: %s", t.error.text);
            for (uint32_t i = 0; i < arrived; i++) {
                if (position[i] >= v.stored)
                    caller_fail(&t, "position %u is an arrival, although the store has %u samples",
                                (unsigned)position[i], (unsigned)v.stored);
            }
            caller_close(&t);
        }
    }
}
