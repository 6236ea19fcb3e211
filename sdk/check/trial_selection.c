/* trial_selection.c - selections at work, and their laws. */
#include <string.h>

#include "checks.h"
#include "instance_under_test.h"

static const osafl_selection_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_selection_vt *)(const void *)s->instance.plugin->vtable;
}

static void *array(struct caller *t, const char *name, uint32_t n, size_t size)
{
    void *p = arena_inout(&t->arena, name, NULL, n, size, 8);
    memset(p, 0, n * size);
    return p;
}

/* One client is not there. */
static osafl_selection_problem make_problem(struct instance_under_test *s, struct caller *t)
{
    const uint32_t n = s->world.clients;
    uint8_t *present = array(t, "present", n, 1);
    double *gain = array(t, "gain", n, sizeof *gain);
    uint64_t *samples = array(t, "samples", n, sizeof *samples);
    double *budget = array(t, "budget", n, sizeof *budget);
    for (uint32_t u = 0; u < n; u++) {
        present[u] = n < 4 || u % 4 != 3;
        gain[u] = 1e-11 * (1 + (u * 7 + t->round) % 5);
        samples[u] = 10 + u;
        budget[u] = 1.2 + 0.1 * u;
    }
    return (osafl_selection_problem){.struct_size = sizeof(osafl_selection_problem),
                                     .clients = n,
                                     .round = t->round,
                                     .present = present,
                                     .gain = gain,
                                     .samples = samples,
                                     .energy_budget_j = budget,
                                     .history = trial_history(s, t)};
}

static osafl_status run_round(struct instance_under_test *s, struct caller *t)
{
    const uint32_t n = s->world.clients;
    const osafl_selection_problem p = make_problem(s, t);
    uint8_t *asked = array(t, "asked", n, 1);
    osafl_call *c = caller_begin(t, "choose()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->choose(s->instance.self, c, &p, asked)));
    transcript_bytes(&t->transcript, "who is asked", t->round, 0, asked, n);
    for (uint32_t u = 0; u < n; u++) {
        if (asked[u] > p.present[u])
            caller_fail(t, "client %u: asked = %u, and the client is%s there", (unsigned)u,
                        (unsigned)asked[u], p.present[u] ? "" : " not");
    }
    return OSAFL_OK;
}

const struct kind_calls selection_calls = {.kind = OSAFL_KIND_SELECTION, .round = run_round};

/* ---- laws ---------------------------------------------------------------------------------- */

/* From one client to five, only those that are there are asked; run_round() looks. */
void check_selection_present(struct conform *c)
{
    if (c->plugin == NULL)
        conform_load(c);
    const struct trial_settings settings = settings_default(c);
    for (uint32_t clients = 1; clients <= 5; clients++) {
        struct instance_under_test s;
        struct transcript answers = {0};
        struct trial_world world = usual_world;
        world.clients = clients;
        const osafl_status status = under_test_open(&s, c, &world, &settings, false, 0, &answers);
        if (status != OSAFL_OK)
            under_test_fail(&s, status);
        under_test_must_run(&s, 0, TRIAL_ROUNDS, &answers);
        under_test_close(&s);
        transcript_free(&answers);
    }
}
