/* trial_arrival.c - arrivals at work, and their laws. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "instance_under_test.h"

static const osafl_arrival_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_arrival_vt *)(const void *)s->instance.plugin->vtable;
}

struct kept {
    bool no_arrivals; /* E_u is 0 */
};

/* Client u has 2 + u samples with times, in one unit of 0.05 each; all come before they fill its
 * store. */
static void add_times(struct caller *t, osafl_arrival_problem *p)
{
    const uint64_t n = p->clients * (p->clients + UINT64_C(3)) / 2;
    uint64_t *first = calloc(p->clients + UINT64_C(1), sizeof *first);
    double *time = calloc(n, sizeof *time);
    if (first == NULL || time == NULL)
        abort();
    for (uint32_t u = 0; u < p->clients; u++) {
        first[u + 1] = first[u] + 2 + u;
        for (uint64_t k = first[u]; k < first[u + 1]; k++)
            time[k] = 0.05 * (double)(k - first[u]) - 0.1;
    }
    p->time_first =
        arena_input(&t->arena, "time_first", first, p->clients + UINT64_C(1), sizeof *first, 8);
    p->time = arena_input(&t->arena, "time", time, n, sizeof *time, 8);
    free(first);
    free(time);
}

/* Clients of several sizes; arrays of the caller. */
static osafl_arrival_problem make_problem(struct instance_under_test *s, struct caller *t)
{
    const uint32_t n = s->world.clients;
    const struct kept *kept = s->kept;
    uint32_t *arrivals = calloc(n, sizeof *arrivals);
    uint64_t *capacity = calloc(n, sizeof *capacity);
    double *activity = calloc(n, sizeof *activity);
    if (arrivals == NULL || capacity == NULL || activity == NULL)
        abort();
    for (uint32_t u = 0; u < n; u++) {
        arrivals[u] = kept->no_arrivals ? 0 : u % 5;
        capacity[u] = 6 + 3 * (uint64_t)u;
        activity[u] = 0.3 + 0.1 * (u % 6);
    }
    osafl_arrival_problem p = {
        .struct_size = sizeof p,
        .clients = n,
        .round = t->round,
        .arrivals = arena_input(&t->arena, "arrivals", arrivals, n, sizeof *arrivals, 4),
        .capacity = arena_input(&t->arena, "capacity", capacity, n, sizeof *capacity, 8),
        .activity = arena_input(&t->arena, "activity", activity, n, sizeof *activity, 8),
    };
    free(arrivals);
    free(capacity);
    free(activity);
    add_times(t, &p);
    return p;
}

static osafl_status ask_fill(struct instance_under_test *s, struct caller *t)
{
    if (vtable(s)->fill == NULL)
        return OSAFL_OK;
    const osafl_arrival_problem p = make_problem(s, t);
    uint64_t *n = arena_output(&t->arena, "samples of fill()", p.clients, sizeof *n, 8);
    osafl_call *c = caller_begin(t, "fill()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->fill(s->instance.self, c, &p, n)));
    for (uint32_t u = 0; u < p.clients; u++) {
        const uint64_t timed = p.time_first[u + 1] - p.time_first[u];
        if (n[u] > p.capacity[u] && n[u] > timed)
            caller_fail(t, "client %u begins with %llu samples and has room for %llu", (unsigned)u,
                        (unsigned long long)n[u], (unsigned long long)p.capacity[u]);
    }
    transcript_bytes(&t->transcript, "the samples of fill()", 0, 0, n, p.clients * sizeof *n);
    return OSAFL_OK;
}

static osafl_status run_round(struct instance_under_test *s, struct caller *t)
{
    const osafl_arrival_problem p = make_problem(s, t);
    uint32_t *n = arena_inout(&t->arena, "samples", NULL, p.clients, sizeof *n, 4);
    uint8_t *present = arena_inout(&t->arena, "present", NULL, p.clients, 1, 1);
    memset(n, 0, p.clients * sizeof *n);
    memset(present, 1, p.clients);
    osafl_call *c = caller_begin(t, "arrive()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->arrive(s->instance.self, c, &p, n, present)));
    for (uint32_t u = 0; u < p.clients; u++) {
        if (n[u] > p.capacity[u] || present[u] > 1)
            caller_fail(t, "client %u: %u samples of at most %llu, present = %u", (unsigned)u,
                        (unsigned)n[u], (unsigned long long)p.capacity[u], (unsigned)present[u]);
    }
    transcript_bytes(&t->transcript, "the samples of arrive()", t->round, 0, n,
                     p.clients * sizeof *n);
    transcript_bytes(&t->transcript, "who is there", t->round, 0, present, p.clients);
    return OSAFL_OK;
}

const struct kind_calls arrival_calls = {
    .kind = OSAFL_KIND_ARRIVAL,
    .kept_bytes = sizeof(struct kept),
    .begin = ask_fill,
    .round = run_round,
};

/* ---- laws ---------------------------------------------------------------------------------- */

/* No more samples than fit, and clients that are there or not; run_round() looks. */
void check_arrival_counts(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    under_test_must_run(&s, 0, TRIAL_ROUNDS, &answers);
}

/* The same answers for the usual E_u and for none. */
void check_arrival_own_numbers(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++) {
        struct transcript opened = {0};
        under_test_must_open(&s, c, &opened);
        transcript_free(&opened);
        ((struct kept *)s.kept)->no_arrivals = k == 1;
        under_test_must_run(&s, 0, TRIAL_ROUNDS, &answers[k]);
    }
    const char *difference = transcript_difference(&answers[0], &answers[1]);
    if (difference != NULL)
        conform_fail(c,
                     "answers otherwise for another E_u (p->arrivals): %s; leave out the feature "
                     "\"%s\"",
                     difference, c->check->feature);
}
