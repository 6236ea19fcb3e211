/* trial_channel.c - channels at work, and their laws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "instance_under_test.h"

static const osafl_channel_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_channel_vt *)(const void *)s->instance.plugin->vtable;
}

static osafl_status ask_link(struct instance_under_test *s, struct caller *t)
{
    const osafl_link blank = {.struct_size = sizeof blank};
    osafl_link *link = arena_inout(&t->arena, "link", &blank, 1, sizeof blank, 8);
    osafl_call *c = caller_begin(t, "describe()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->describe(s->instance.self, c, link)));
    transcript_doubles(&t->transcript, "bandwidth of describe()", t->round, t->task,
                       &link->bandwidth_hz, 1);
    transcript_doubles(&t->transcript, "noise of describe()", t->round, t->task,
                       &link->noise_w_per_hz, 1);
    return OSAFL_OK;
}

static osafl_status ask_gains(struct instance_under_test *s, struct caller *t, double **gain)
{
    *gain = arena_output(&t->arena, "gain", s->world.clients, sizeof **gain, 8);
    osafl_call *c = caller_begin(t, "gains()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->gains(s->instance.self, c, t->round, *gain)));
    transcript_doubles(&t->transcript, "a gain of gains()", t->round, 0, *gain, s->world.clients);
    return OSAFL_OK;
}

static osafl_status ask_places(struct instance_under_test *s, struct caller *t)
{
    if (vtable(s)->place == NULL)
        return OSAFL_OK;
    osafl_place *place = arena_output(&t->arena, "places", s->world.clients, sizeof *place, 8);
    for (uint32_t u = 0; u < s->world.clients; u++)
        place[u].reserved = 0;
    osafl_call *c = caller_begin(t, "place()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->place(s->instance.self, c, t->round, sizeof *place, place)));
    for (uint32_t u = 0; u < s->world.clients; u++) {
        const double at[2] = {place[u].x_m, place[u].y_m};
        transcript_bytes(&t->transcript, "a place", t->round, u, at, sizeof at);
        transcript_bytes(&t->transcript, "a line of sight", t->round, u, &place[u].line_of_sight,
                         sizeof place[u].line_of_sight);
    }
    return OSAFL_OK;
}

static osafl_status run_round(struct instance_under_test *s, struct caller *t)
{
    double *gain;
    OSAFL_TRY(ask_gains(s, t, &gain));
    return ask_places(s, t);
}

const struct kind_calls channel_calls = {
    .kind = OSAFL_KIND_CHANNEL,
    .tasks = 4,
    .begin = ask_link,
    .round = run_round,
    .task = ask_link, /* [any]: beside other threads too */
};

/* ---- laws ---------------------------------------------------------------------------------- */

void check_channel_gains(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    for (uint32_t round = 0; round < TRIAL_ROUNDS; round++) {
        double *gain;
        struct caller t = caller_open(&s);
        t.round = round;
        const osafl_status status = ask_gains(&s, &t, &gain);
        if (status != OSAFL_OK)
            caller_fail(&t, "fails with %s: %s", status_name(status), t.error.text);
        for (uint32_t u = 0; u < s.world.clients; u++) {
            if (!(gain[u] >= 0.0 && isfinite(gain[u])))
                caller_fail(&t, "the gain of client %u is %g", (unsigned)u, gain[u]);
        }
        caller_close(&t);
    }
    transcript_free(&answers);
    struct caller t = caller_open(&s);
    osafl_link link = {.struct_size = sizeof link};
    const osafl_status status = caller_end(
        &t, vtable(&s)->describe(s.instance.self, caller_begin(&t, "describe()", OSAFL_NO_CLIENT),
                                 &link));
    if (status != OSAFL_OK || !(link.bandwidth_hz > 0.0 && isfinite(link.bandwidth_hz)) ||
        !(link.noise_w_per_hz > 0.0 && isfinite(link.noise_w_per_hz)))
        caller_fail(&t, "bandwidth %g Hz and noise %g W/Hz must be positive and finite",
                    link.bandwidth_hz, link.noise_w_per_hz);
}

/* Each round twice, and rounds left out: the same gains as when each was asked for once. */
void check_channel_repeatable(struct conform *c)
{
    double *all[TRIAL_ROUNDS];
    struct instance_under_test steady;
    struct instance_under_test leaping;
    struct transcript answers = {0};
    under_test_must_open(&steady, c, &answers);
    under_test_must_open(&leaping, c, &answers);
    const size_t bytes = steady.world.clients * sizeof(double);
    struct caller t[TRIAL_ROUNDS];
    for (uint32_t round = 0; round < TRIAL_ROUNDS; round++) {
        double *again;
        t[round] = caller_open(&steady);
        t[round].round = round;
        if (ask_gains(&steady, &t[round], &all[round]) != OSAFL_OK ||
            ask_gains(&steady, &t[round], &again) != OSAFL_OK)
            caller_fail(&t[round], "fails: %s", t[round].error.text);
        if (memcmp(all[round], again, bytes) != 0)
            caller_fail(&t[round], "a round asked for twice has other gains the second time");
    }
    for (uint32_t round = 1; round < TRIAL_ROUNDS; round += 3) {
        double *gain;
        struct caller leap = caller_open(&leaping);
        leap.round = round;
        if (ask_gains(&leaping, &leap, &gain) != OSAFL_OK)
            caller_fail(&leap, "fails when rounds before it were not asked for: %s",
                        leap.error.text);
        if (memcmp(all[round], gain, bytes) != 0)
            caller_fail(&leap, "the gains depend on which rounds were asked for before");
        caller_close(&leap);
    }
}
