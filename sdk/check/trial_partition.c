/* trial_partition.c - partitions at work, and their laws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "instance_under_test.h"

#define SAMPLES_ASKED 32

static const osafl_partition_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_partition_vt *)(const void *)s->instance.plugin->vtable;
}

static osafl_status describe(struct instance_under_test *s, struct caller *t,
                             osafl_partition_info *info)
{
    *info = (osafl_partition_info){.struct_size = sizeof *info};
    osafl_call *c = caller_begin(t, "describe()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->describe(s->instance.self, c, info)));
    transcript_bytes(&t->transcript, "what describe() gives", t->round, 0, info, sizeof *info);
    return OSAFL_OK;
}

static osafl_status ask_mix(struct instance_under_test *s, struct caller *t, uint32_t client,
                            uint32_t draw, double **mix)
{
    *mix = arena_output(&t->arena, "mix", s->world.data.labels, sizeof **mix, 8);
    osafl_call *c = caller_begin(t, "mix()", client);
    OSAFL_TRY(caller_end(t, vtable(s)->mix(s->instance.self, c, client, draw, *mix)));
    transcript_doubles(&t->transcript, "a mix", t->round, client, *mix, s->world.data.labels);
    return OSAFL_OK;
}

static osafl_status ask_owners(struct instance_under_test *s, struct caller *t)
{
    for (uint64_t i = 0; i < SAMPLES_ASKED; i++) {
        uint32_t *client = arena_inout(&t->arena, "owner", NULL, 1, sizeof *client, 4);
        osafl_call *c = caller_begin(t, "owner()", OSAFL_NO_CLIENT);
        OSAFL_TRY(caller_end(t, vtable(s)->owner(s->instance.self, c, i, client)));
        transcript_bytes(&t->transcript, "an owner", t->round, (uint32_t)i, client, sizeof *client);
    }
    return OSAFL_OK;
}

static osafl_status begin(struct instance_under_test *s, struct caller *t)
{
    return describe(s, t, s->kept);
}

static uint32_t gives(const struct instance_under_test *s)
{
    return ((const osafl_partition_info *)s->kept)->gives;
}

static osafl_status run_round(struct instance_under_test *s, struct caller *t)
{
    return gives(s) == OSAFL_PARTITION_OWNER ? ask_owners(s, t) : OSAFL_OK;
}

/* Draws as a drift asks for them: a further one each round. */
static osafl_status ask_client(struct instance_under_test *s, struct caller *t)
{
    double *mix;
    if (gives(s) != OSAFL_PARTITION_MIX || t->task >= s->world.clients)
        return OSAFL_OK;
    return ask_mix(s, t, t->task, t->round, &mix);
}

const struct kind_calls partition_calls = {
    .kind = OSAFL_KIND_PARTITION,
    .kept_bytes = sizeof(osafl_partition_info),
    .tasks = 7,
    .worker_feature = "concurrent",
    .begin = begin,
    .round = run_round,
    .task = ask_client,
};

/* ---- laws ---------------------------------------------------------------------------------- */

static void require_mix(const struct instance_under_test *s, const struct caller *t,
                        uint32_t client, const double *mix)
{
    double sum = 0.0;
    for (uint32_t l = 0; l < s->world.data.labels; l++) {
        if (!(mix[l] >= 0.0 && isfinite(mix[l])))
            caller_fail(t, "client %u: the probability of label %u is %g", client, l, mix[l]);
        if (mix[l] > 0.0 && s->facts.label_share[l] == 0.0)
            caller_fail(t, "client %u: label %u has no sample, but probability %g", client, l,
                        mix[l]);
        sum += mix[l];
    }
    if (fabs(sum - 1.0) > 1e-9)
        caller_fail(t, "client %u: the probabilities sum to %.12g", client, sum);
}

/* Sound mixes, the same ones in whatever order they are asked for. */
void check_partition_mixes(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    struct caller t = caller_open(&s);
    osafl_partition_info info;
    if (describe(&s, &t, &info) != OSAFL_OK)
        caller_fail(&t, "fails: %s", t.error.text);
    if (info.gives < OSAFL_PARTITION_MIX || info.gives > OSAFL_PARTITION_OWNER)
        caller_fail(&t, "gives is %u, which is no OSAFL_PARTITION_*", (unsigned)info.gives);
    if ((info.gives == OSAFL_PARTITION_MIX && vtable(&s)->mix == NULL) ||
        (info.gives == OSAFL_PARTITION_OWNER && vtable(&s)->owner == NULL))
        caller_fail(&t, "the operation that it says it answers with is missing");
    if (info.gives != OSAFL_PARTITION_MIX)
        return;
    for (uint32_t u = 0; u < s.world.clients; u++) {
        double *first;
        double *other;
        double *again;
        if (ask_mix(&s, &t, u, 0, &first) != OSAFL_OK ||
            ask_mix(&s, &t, u, 5, &other) != OSAFL_OK || ask_mix(&s, &t, u, 0, &again) != OSAFL_OK)
            caller_fail(&t, "fails: %s", t.error.text);
        require_mix(&s, &t, u, first);
        require_mix(&s, &t, u, other);
        if (memcmp(first, again, s.world.data.labels * sizeof *first) != 0)
            caller_fail(&t, "client %u: draw 0 is another one after draw 5", (unsigned)u);
    }
}
