/* trial_filter.c - filters at work, and their laws. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "subject.h"

#define LABELS_ASKED 24

static const osafl_filter_vt *vtable(const struct subject *s)
{
    return (const osafl_filter_vt *)(const void *)s->instance.plugin->vtable;
}

static osafl_status ask_labels(struct subject *s, struct take *t, uint32_t client)
{
    if (vtable(s)->labels == NULL)
        return OSAFL_OK;
    uint64_t sample[LABELS_ASKED];
    int32_t label[LABELS_ASKED];
    for (uint32_t i = 0; i < LABELS_ASKED; i++) {
        sample[i] = 3 * (uint64_t)i + client;
        label[i] = (int32_t)(sample[i] % s->world.data.labels);
    }
    const uint64_t *in = arena_input(&t->arena, "samples", sample, LABELS_ASKED, sizeof *sample, 8);
    int32_t *out = arena_inout(&t->arena, "labels", label, LABELS_ASKED, sizeof *label, 4);
    osafl_call *c = take_begin(t, "labels()", client);
    OSAFL_TRY(take_end(t, vtable(s)->labels(s->instance.self, c, client, LABELS_ASKED, in, out)));
    for (uint32_t i = 0; i < LABELS_ASKED; i++) {
        if (out[i] < 0 || (uint32_t)out[i] >= s->world.data.labels)
            take_fail(t, "label %d of a data set with %u", (int)out[i],
                      (unsigned)s->world.data.labels);
    }
    transcript_bytes(&t->transcript, "labels", t->round, client, out, sizeof label);
    return OSAFL_OK;
}

/* The update before and after. */
static osafl_status ask_update(struct subject *s, struct take *t, uint32_t client, float **before,
                               float **after)
{
    const uint64_t n = s->world.dim;
    float *x = malloc(n * sizeof *x);
    if (x == NULL)
        abort();
    trial_floats(s, t->round, 2 * client, 1.0, x, n);
    *before = arena_inout(&t->arena, "the update as it was", x, n, sizeof *x, 64);
    *after = arena_inout(&t->arena, "update", x, n, sizeof *x, 64);
    trial_floats(s, t->round, 2 * client + 1, 1.0, x, n);
    const float *w = arena_input(&t->arena, "w", x, n, sizeof *x, 64);
    free(x);
    if (vtable(s)->update == NULL)
        return OSAFL_OK;
    osafl_call *c = take_begin(t, "update()", client);
    OSAFL_TRY(take_end(t, vtable(s)->update(s->instance.self, c, client, t->round, w, *after)));
    transcript_floats(&t->transcript, "an update", t->round, client, *after, n);
    return OSAFL_OK;
}

static osafl_status do_client(struct subject *s, struct take *t)
{
    float *before;
    float *after;
    OSAFL_TRY(ask_labels(s, t, t->task % s->world.clients));
    return ask_update(s, t, t->task % s->world.clients, &before, &after);
}

static osafl_status end_round(struct subject *s, struct take *t)
{
    if (vtable(s)->end_round == NULL || t->round == 0)
        return OSAFL_OK;
    osafl_call *c = take_begin(t, "end_round()", OSAFL_NO_CLIENT);
    return take_end(t, vtable(s)->end_round(s->instance.self, c, t->round - 1, s->world.clients,
                                            s->world.clients));
}

const struct bench filter_bench = {
    .kind = OSAFL_KIND_FILTER,
    .tasks = 5,
    .round = end_round,
    .task = do_client,
};

/* ---- laws ---------------------------------------------------------------------------------- */

/* A client that touches() leaves alone keeps its update, bit for bit. */
void check_filter_touches(struct conform *c)
{
    struct subject s;
    struct transcript answers = {0};
    subject_must_open(&s, c, &answers);
    if (vtable(&s)->touches == NULL)
        conform_skip(c, "changes every client, as it has no touches()");
    for (uint32_t u = 0; u < s.world.clients; u++) {
        float *before;
        float *after;
        struct take t = take_open(&s);
        if (ask_update(&s, &t, u, &before, &after) != OSAFL_OK)
            take_fail(&t, "fails: %s", t.message);
        if (vtable(&s)->touches(s.instance.self, u) == 0 &&
            memcmp(before, after, s.world.dim * sizeof *before) != 0)
            take_fail(&t, "touches() leaves client %u alone, and update() changes it", (unsigned)u);
        take_close(&t);
    }
}
