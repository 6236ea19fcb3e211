/* trial_drift.c - drifts at work, and their laws. */
#include <math.h>

#include "checks.h"
#include "instance_under_test.h"

static const osafl_drift_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_drift_vt *)(const void *)s->instance.plugin->vtable;
}

static osafl_status ask(struct instance_under_test *s, struct caller *t, uint32_t client,
                        uint32_t round, osafl_drift_mix *out)
{
    const osafl_drift_mix blank = {.struct_size = sizeof blank};
    osafl_drift_mix *mix = arena_inout(&t->arena, "the mix in force", &blank, 1, sizeof blank, 8);
    osafl_call *c = caller_begin(t, "at()", client);
    OSAFL_TRY(caller_end(t, vtable(s)->at(s->instance.self, c, client, round, mix)));
    *out = *mix;
    transcript_doubles(&t->transcript, "a weight of at()", round, client, &mix->weight, 1);
    transcript_bytes(&t->transcript, "a draw of at()", round, client, &mix->draw_a,
                     sizeof mix->draw_a);
    if (mix->weight > 0.0)
        transcript_bytes(&t->transcript, "the other draw of at()", round, client, &mix->draw_b,
                         sizeof mix->draw_b);
    return OSAFL_OK;
}

static osafl_status ask_client(struct instance_under_test *s, struct caller *t)
{
    osafl_drift_mix mix;
    return t->task < s->world.clients ? ask(s, t, t->task, t->round, &mix) : OSAFL_OK;
}

const struct kind_calls drift_calls = {
    .kind = OSAFL_KIND_DRIFT,
    .tasks = 7,
    .worker_feature = "concurrent",
    .task = ask_client,
};

/* ---- laws ---------------------------------------------------------------------------------- */

/* Weights that can be, and the same answer for a round whatever was asked before. */
void check_drift_pure(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    struct caller t = caller_open(&s);
    for (uint32_t u = 0; u < s.world.clients; u++) {
        osafl_drift_mix late, early, again;
        if (ask(&s, &t, u, TRIAL_ROUNDS - 1, &late) != OSAFL_OK ||
            ask(&s, &t, u, 0, &early) != OSAFL_OK ||
            ask(&s, &t, u, TRIAL_ROUNDS - 1, &again) != OSAFL_OK)
            caller_fail(&t, "fails: %s", t.error.text);
        if (!(late.weight >= 0.0 && late.weight <= 1.0 && early.weight >= 0.0 &&
              early.weight <= 1.0))
            caller_fail(&t, "client %u: weights %g and %g, of 0 .. 1", (unsigned)u, early.weight,
                        late.weight);
        if (late.draw_a != again.draw_a || late.weight != again.weight ||
            (late.weight > 0.0 && late.draw_b != again.draw_b))
            caller_fail(&t, "client %u: round %d is answered otherwise after round 0", (unsigned)u,
                        TRIAL_ROUNDS - 1);
    }
}
