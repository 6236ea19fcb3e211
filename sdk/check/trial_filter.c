/* trial_filter.c - filters at work, and their laws. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "instance_under_test.h"

#define LABELS_ASKED 24

static const osafl_filter_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_filter_vt *)(const void *)s->instance.plugin->vtable;
}

static osafl_status ask_labels(struct instance_under_test *s, struct caller *t, uint32_t client)
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
    osafl_call *c = caller_begin(t, "labels()", client);
    OSAFL_TRY(caller_end(t, vtable(s)->labels(s->instance.self, c, client, LABELS_ASKED, in, out)));
    for (uint32_t i = 0; i < LABELS_ASKED; i++) {
        if (out[i] < 0 || (uint32_t)out[i] >= s->world.data.labels)
            caller_fail(t, "label %d of a data set with %u", (int)out[i],
                        (unsigned)s->world.data.labels);
    }
    transcript_bytes(&t->transcript, "labels", t->round, client, out, sizeof label);
    return OSAFL_OK;
}

static osafl_status ask_update(struct instance_under_test *s, struct caller *t, uint32_t client)
{
    const uint64_t n = s->world.dim;
    float *x = malloc(n * sizeof *x);
    if (x == NULL)
        abort();
    trial_floats(s, t->round, 2 * client, 1.0, x, n);
    float *update = arena_inout(&t->arena, "update", x, n, sizeof *x, 64);
    trial_floats(s, t->round, 2 * client + 1, 1.0, x, n);
    const float *w = arena_input(&t->arena, "w", x, n, sizeof *x, 64);
    free(x);
    if (vtable(s)->update == NULL)
        return OSAFL_OK;
    osafl_call *c = caller_begin(t, "update()", client);
    OSAFL_TRY(caller_end(t, vtable(s)->update(s->instance.self, c, client, t->round, w, update)));
    transcript_floats(&t->transcript, "an update", t->round, client, update, n);
    return OSAFL_OK;
}

static bool is_touched(const struct instance_under_test *s, uint32_t client)
{
    return vtable(s)->touches == NULL || vtable(s)->touches(s->instance.self, client) != 0;
}

static osafl_status do_client(struct instance_under_test *s, struct caller *t)
{
    const uint32_t client = t->task % s->world.clients;
    if (!is_touched(s, client)) /* it is not called for such */
        return OSAFL_OK;
    OSAFL_TRY(ask_labels(s, t, client));
    return ask_update(s, t, client);
}

static osafl_status end_round(struct instance_under_test *s, struct caller *t)
{
    if (vtable(s)->end_round == NULL || t->round == 0)
        return OSAFL_OK;
    osafl_call *c = caller_begin(t, "end_round()", OSAFL_NO_CLIENT);
    return caller_end(t, vtable(s)->end_round(s->instance.self, c, t->round - 1, s->world.clients,
                                              s->world.clients));
}

const struct kind_calls filter_calls = {
    .kind = OSAFL_KIND_FILTER,
    .tasks = 5,
    .round = end_round,
    .task = do_client,
};

/* ---- laws ---------------------------------------------------------------------------------- */

/* touches() says 0 or 1, and always the same: the host asks it in every round. */
void check_filter_touches(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    if (vtable(&s)->touches == NULL)
        conform_skip(c, "changes every client, as it has no touches()");
    uint32_t first[64] = {0};
    for (uint32_t again = 0; again < 3; again++) {
        for (uint32_t u = 0; u < s.world.clients; u++) {
            struct caller t = caller_open(&s);
            (void)caller_begin(&t, "touches()", u);
            const uint32_t now = vtable(&s)->touches(s.instance.self, u);
            (void)caller_end(&t, OSAFL_OK);
            if (now > 1 || (again > 0 && now != first[u]))
                caller_fail(&t, "client %u: %u, and %u before", (unsigned)u, (unsigned)now,
                            (unsigned)first[u]);
            first[u] = now;
            caller_close(&t);
        }
    }
}
