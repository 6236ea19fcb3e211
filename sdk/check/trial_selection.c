/* trial_selection.c - selections at work, and their laws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "subject.h"

static const osafl_selection_vt *vtable(const struct subject *s)
{
    return (const osafl_selection_vt *)(const void *)s->instance.plugin->vtable;
}

/* What is known of each client, of several kinds: some never took part, one is not there. */
struct known {
    uint8_t *present;
    double *gain;
    uint64_t *samples;
    double *budget;
    uint32_t *histogram;
    uint32_t *count; /* arrivals, participations */
    uint32_t *age;
    uint32_t *asked_age;
    double *seconds;
    double *loss;
    double *norm;
    double *joules;
};

static void *array(struct take *t, const char *name, uint32_t n, size_t size)
{
    void *p = arena_inout(&t->arena, name, NULL, n, size, 8);
    memset(p, 0, n * size);
    return p;
}

static void make_known(struct subject *s, struct take *t, struct known *k)
{
    const uint32_t n = s->world.clients;
    const uint32_t labels = s->world.data.labels;
    *k = (struct known){
        .present = array(t, "present", n, 1),
        .gain = array(t, "gain", n, sizeof *k->gain),
        .samples = array(t, "samples", n, sizeof *k->samples),
        .budget = array(t, "budget", n, sizeof *k->budget),
        .histogram = array(t, "histogram", n * labels, sizeof *k->histogram),
        .count = array(t, "counts", n, sizeof *k->count),
        .age = array(t, "age", n, sizeof *k->age),
        .asked_age = array(t, "age of asking", n, sizeof *k->asked_age),
        .seconds = array(t, "seconds", n, sizeof *k->seconds),
        .loss = array(t, "loss", n, sizeof *k->loss),
        .norm = array(t, "norm", n, sizeof *k->norm),
        .joules = array(t, "joules", n, sizeof *k->joules),
    };
    for (uint32_t u = 0; u < n; u++) {
        const bool took_part = u % 3 != 0 && t->round > 0;
        k->present[u] = n < 4 || u % 4 != 3;
        k->gain[u] = 1e-11 * (1 + (u * 7 + t->round) % 5);
        k->samples[u] = 10 + u;
        k->budget[u] = 1.2 + 0.1 * u;
        for (uint32_t l = 0; l < labels; l++)
            k->histogram[(size_t)u * labels + l] = (u + l) % 4;
        k->count[u] = took_part ? 1 + u % 2 : 0;
        k->age[u] = took_part ? 1 + u % t->round : t->round + 1;
        k->asked_age[u] = k->age[u] > 1 ? k->age[u] - 1 : 1;
        k->seconds[u] = took_part ? 2.0 + u : (double)NAN;
        k->loss[u] = took_part ? 0.5 + 0.3 * u : (double)NAN;
        k->norm[u] = took_part ? 1.0 + u : (double)NAN;
        k->joules[u] = took_part ? 0.4 * u : 0.0;
    }
}

static osafl_status choose(struct subject *s, struct take *t, const struct known *k,
                           uint8_t **asked)
{
    const uint32_t n = s->world.clients;
    const osafl_history history = {
        .struct_size = sizeof history,
        .labels = s->world.data.labels,
        .histogram = k->histogram,
        .histogram_then = k->histogram,
        .arrivals = k->count,
        .participations = k->count,
        .age = k->age,
        .asked_age = k->asked_age,
        .seconds = k->seconds,
        .train_loss = k->loss,
        .update_norm = k->norm,
        .joules = k->joules,
    };
    const osafl_selection_problem problem = {
        .struct_size = sizeof problem,
        .clients = n,
        .round = t->round,
        .present = k->present,
        .gain = k->gain,
        .samples = k->samples,
        .energy_budget_j = k->budget,
        .history = &history,
    };
    *asked = array(t, "asked", n, 1);
    osafl_call *c = take_begin(t, "choose()", OSAFL_NO_CLIENT);
    OSAFL_TRY(take_end(t, vtable(s)->choose(s->instance.self, c, &problem, *asked)));
    transcript_bytes(&t->transcript, "who is asked", t->round, 0, *asked, n);
    return OSAFL_OK;
}

static osafl_status play_round(struct subject *s, struct take *t)
{
    struct known k;
    uint8_t *asked;
    make_known(s, t, &k);
    OSAFL_TRY(choose(s, t, &k, &asked));
    for (uint32_t u = 0; u < s->world.clients; u++) {
        if (asked[u] > k.present[u])
            take_fail(t, "client %u: asked = %u, and the client is%s there", (unsigned)u,
                      (unsigned)asked[u], k.present[u] ? "" : " not");
    }
    return OSAFL_OK;
}

const struct bench selection_bench = {.kind = OSAFL_KIND_SELECTION, .round = play_round};

/* ---- laws ---------------------------------------------------------------------------------- */

/* From one client to five, only those that are there are asked; play_round() looks. */
void check_selection_present(struct conform *c)
{
    if (c->plugin == NULL)
        conform_load(c);
    const struct trial_settings settings = settings_default(c);
    for (uint32_t clients = 1; clients <= 5; clients++) {
        struct subject s;
        struct transcript answers = {0};
        struct trial_world world = usual_world;
        world.clients = clients;
        const osafl_status status = subject_open(&s, c, &world, &settings, false, 0, &answers);
        if (status != OSAFL_OK)
            subject_fail(&s, status);
        subject_must_play(&s, 0, PLAY_ROUNDS, &answers);
        subject_close(&s);
        transcript_free(&answers);
    }
}
