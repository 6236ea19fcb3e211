/* trial_resource.c - resource policies at work, and their laws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "instance_under_test.h"

/* What the header allows beyond a limit. */
#define TOLERANCE 1e-9
/* Times and energies against the formulas of the header. */
#define ACCOUNT_TOLERANCE 1e-6

static const osafl_resource_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_resource_vt *)(const void *)s->instance.plugin->vtable;
}

static const double *doubles(struct caller *t, const char *name, const double *x, uint32_t n)
{
    return arena_input(&t->arena, name, x, n, sizeof *x, 8);
}

/* Clients from strong to hopeless, some absent. */
static osafl_resource_problem make_problem(struct instance_under_test *s, struct caller *t)
{
    enum { GAIN, BANDWIDTH, CYCLES, ENERGY, CLOCK, POWER, PAYLOAD, RECEIVE, ARRAYS };
    const uint32_t n = s->world.clients;
    struct draws d = {.seed = s->conform->seed, .purpose = 4, .index = (uint64_t)t->round << 32};
    double *x = calloc((size_t)ARRAYS * n, sizeof *x);
    uint8_t *present = calloc(n, 1);
    uint64_t *samples = calloc(n, sizeof *samples);
    if (x == NULL || present == NULL || samples == NULL)
        abort();
    for (uint32_t u = 0; u < n; u++) {
        present[u] = draw_below(&d, 6) != 0;
        samples[u] = 1 + draw_below(&d, 400);
        const double gain_db = -140.0 + 70.0 * draw_uniform(&d);
        x[GAIN * n + u] = draw_below(&d, 8) == 0 ? 0.0 : pow(10.0, gain_db / 10.0);
        x[BANDWIDTH * n + u] = 540e3;
        x[RECEIVE * n + u] = 0.05 * s->facts.deadline_s * ((t->round + u) % 3);
        x[PAYLOAD * n + u] = 2e5 * (1.0 + (t->round + u) % 4);
        x[CYCLES * n + u] = 25.0 + 15.0 * draw_uniform(&d);
        x[ENERGY * n + u] = 0.01 + 2.5 * draw_uniform(&d);
        x[CLOCK * n + u] = 1e9 + 0.8e9 * draw_uniform(&d);
        x[POWER * n + u] = 0.1 + 0.9 * draw_uniform(&d);
    }
    const osafl_resource_problem p = {
        .struct_size = sizeof p,
        .clients = n,
        .round = t->round,
        .max_local_rounds = s->facts.max_local_rounds,
        .cost_steps = s->facts.cost_steps,
        .batch = s->facts.batch,
        .deadline_s = t->round % 3 == 2 ? 0.3 : s->facts.deadline_s,
        .payload_bits = doubles(t, "payload_bits", x + PAYLOAD * n, n),
        .noise_w_per_hz = 3.98e-21,
        .capacitance = 2e-28,
        .sample_bits = 128.0 * 128.0 * 32.0 / (1.0 + t->round % 2),
        .present = arena_input(&t->arena, "present", present, n, 1, 1),
        .gain = doubles(t, "gain", x + GAIN * n, n),
        .bandwidth_hz = doubles(t, "bandwidth_hz", x + BANDWIDTH * n, n),
        .cycles_per_bit = doubles(t, "cycles_per_bit", x + CYCLES * n, n),
        .energy_budget_j = doubles(t, "energy_budget_j", x + ENERGY * n, n),
        .clock_max_hz = doubles(t, "clock_max_hz", x + CLOCK * n, n),
        .power_max_w = doubles(t, "power_max_w", x + POWER * n, n),
        .samples = arena_input(&t->arena, "samples", samples, n, sizeof *samples, 8),
        .history = trial_history(s, t),
        .receive_s = t->round % 2 == 0 ? doubles(t, "receive_s", x + RECEIVE * n, n) : NULL,
    };
    free(x);
    free(present);
    free(samples);
    return p;
}

static osafl_resource_answer make_answer(struct caller *t, const osafl_resource_problem *p)
{
    const uint32_t n = p->clients;
    return (osafl_resource_answer){
        .struct_size = sizeof(osafl_resource_answer),
        .clients = n,
        .local_rounds = arena_inout(&t->arena, "local_rounds", NULL, n, sizeof(uint32_t), 4),
        .reason = arena_inout(&t->arena, "reason", NULL, n, sizeof(uint32_t), 4),
        .clock_hz = arena_inout(&t->arena, "clock_hz", NULL, n, sizeof(double), 8),
        .power_w = arena_inout(&t->arena, "power_w", NULL, n, sizeof(double), 8),
        .bandwidth_hz =
            arena_inout(&t->arena, "bandwidth_hz", p->bandwidth_hz, n, sizeof(double), 8),
        .compute_s = arena_inout(&t->arena, "compute_s", NULL, n, sizeof(double), 8),
        .upload_s = arena_inout(&t->arena, "upload_s", NULL, n, sizeof(double), 8),
        .compute_j = arena_inout(&t->arena, "compute_j", NULL, n, sizeof(double), 8),
        .upload_j = arena_inout(&t->arena, "upload_j", NULL, n, sizeof(double), 8),
    };
}

static osafl_status solve(struct instance_under_test *s, struct caller *t,
                          const osafl_resource_problem *p, const osafl_resource_answer *a)
{
    const uint32_t n = p->clients;
    const osafl_resource_problem *problem =
        arena_input(&t->arena, "the problem", p, 1, sizeof *p, 8);
    const osafl_resource_answer *answer = arena_input(&t->arena, "the answer", a, 1, sizeof *a, 8);
    osafl_call *c = caller_begin(t, "solve()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->solve(s->instance.self, c, problem, answer)));
    struct transcript *out = &t->transcript;
    transcript_bytes(out, "local_rounds of solve()", t->round, 0, a->local_rounds, n * 4);
    transcript_bytes(out, "reason of solve()", t->round, 0, a->reason, n * 4);
    transcript_doubles(out, "clock_hz of solve()", t->round, 0, a->clock_hz, n);
    transcript_doubles(out, "power_w of solve()", t->round, 0, a->power_w, n);
    transcript_doubles(out, "bandwidth_hz of solve()", t->round, 0, a->bandwidth_hz, n);
    transcript_doubles(out, "compute_s of solve()", t->round, 0, a->compute_s, n);
    transcript_doubles(out, "upload_s of solve()", t->round, 0, a->upload_s, n);
    transcript_doubles(out, "compute_j of solve()", t->round, 0, a->compute_j, n);
    transcript_doubles(out, "upload_j of solve()", t->round, 0, a->upload_j, n);
    return OSAFL_OK;
}

static osafl_status run_round(struct instance_under_test *s, struct caller *t)
{
    const osafl_resource_problem p = make_problem(s, t);
    const osafl_resource_answer a = make_answer(t, &p);
    return solve(s, t, &p, &a);
}

const struct kind_calls resource_calls = {.kind = OSAFL_KIND_RESOURCE, .round = run_round};

/* ---- laws ---------------------------------------------------------------------------------- */

typedef void examine(const struct caller *t, const osafl_resource_problem *p,
                     const osafl_resource_answer *a, uint32_t u);

/* Solves some problems and examines the answer of each client. */
static void examine_answers(struct conform *c, examine *look)
{
    struct trial_world world = usual_world;
    conform_load(c);
    world.clients = 40;
    struct instance_under_test s;
    struct transcript answers = {0};
    const struct trial_settings settings = settings_default(c);
    const osafl_status opened = under_test_open(&s, c, &world, &settings, false, 0, &answers);
    if (opened != OSAFL_OK)
        under_test_fail(&s, opened);
    uint32_t participants = 0;
    for (uint32_t round = 0; round < 4 * TRIAL_ROUNDS; round++) {
        struct caller t = caller_open(&s);
        t.round = round;
        const osafl_resource_problem p = make_problem(&s, &t);
        const osafl_resource_answer a = make_answer(&t, &p);
        const osafl_status status = solve(&s, &t, &p, &a);
        if (status != OSAFL_OK)
            caller_fail(&t, "fails with %s: %s", status_name(status), t.error.text);
        for (uint32_t u = 0; u < p.clients; u++) {
            participants += a.local_rounds[u] > 0;
            look(&t, &p, &a, u);
        }
        caller_close(&t);
    }
    if (participants == 0)
        conform_fail(c, "lets no client take part in any of %d problems", 4 * TRIAL_ROUNDS);
}

static bool agrees(double stated, double formula)
{
    return fabs(stated - formula) <= ACCOUNT_TOLERANCE * fabs(formula);
}

static void examine_answer(const struct caller *t, const osafl_resource_problem *p,
                           const osafl_resource_answer *a, uint32_t u)
{
    const unsigned client = u;
    const uint32_t rounds = a->local_rounds[u];
    if (rounds == 0) {
        if (a->reason[u] < OSAFL_OUT_ABSENT || a->reason[u] > OSAFL_OUT_POLICY)
            caller_fail(t, "client %u sits out for the unknown reason %u", client,
                        (unsigned)a->reason[u]);
        if ((a->reason[u] == OSAFL_OUT_ABSENT) != (p->present[u] == 0))
            caller_fail(t, "client %u is %s and sits out for reason %u", client,
                        p->present[u] ? "present" : "absent", (unsigned)a->reason[u]);
        return;
    }
    if (!p->present[u])
        caller_fail(t, "client %u is absent and takes part", client);
    if (rounds > p->max_local_rounds || a->reason[u] != 0)
        caller_fail(t, "client %u takes part with %u local rounds (at most %u) and reason %u",
                    client, (unsigned)rounds, (unsigned)p->max_local_rounds,
                    (unsigned)a->reason[u]);
    const double clock = a->clock_hz[u];
    const double power = a->power_w[u];
    if (!(clock > 0.0 && power > 0.0 && isfinite(clock) && isfinite(power)))
        caller_fail(t, "client %u takes part with clock %g Hz and power %g W", client, clock,
                    power);
    const double cycles =
        (double)p->cost_steps * p->batch * p->cycles_per_bit[u] * p->sample_bits * rounds;
    const double width = a->bandwidth_hz[u];
    const double rate = width * log1p(p->gain[u] * power / (width * p->noise_w_per_hz)) / log(2.0);
    if (!agrees(a->compute_s[u], cycles / clock) ||
        !agrees(a->compute_j[u], 0.5 * p->capacitance * cycles * clock * clock))
        caller_fail(t, "client %u: computing takes %.9g s and %.9g J, stated are %.9g s and %.9g J",
                    client, cycles / clock, 0.5 * p->capacitance * cycles * clock * clock,
                    a->compute_s[u], a->compute_j[u]);
    if (!agrees(a->upload_s[u], p->payload_bits[u] / rate) ||
        !agrees(a->upload_j[u], power * p->payload_bits[u] / rate))
        caller_fail(t,
                    "client %u: the upload takes %.9g s and %.9g J, stated are %.9g s and %.9g J",
                    client, p->payload_bits[u] / rate, power * p->payload_bits[u] / rate,
                    a->upload_s[u], a->upload_j[u]);
}

void check_resource_answers(struct conform *c)
{
    examine_answers(c, examine_answer);
}

static void require_within(const struct caller *t, uint32_t u, const char *what, double value,
                           double limit)
{
    if (!(value <= limit * (1.0 + TOLERANCE)))
        caller_fail(t, "client %u: %s %.12g is above its limit %.12g", (unsigned)u, what, value,
                    limit);
}

static void examine_limits(const struct caller *t, const osafl_resource_problem *p,
                           const osafl_resource_answer *a, uint32_t u)
{
    if (a->local_rounds[u] == 0)
        return;
    require_within(t, u, "clock", a->clock_hz[u], p->clock_max_hz[u]);
    require_within(t, u, "power", a->power_w[u], p->power_max_w[u]);
    const double receive_s = p->receive_s != NULL ? p->receive_s[u] : 0.0;
    require_within(t, u, "time", receive_s + a->compute_s[u] + a->upload_s[u], p->deadline_s);
    require_within(t, u, "energy", a->compute_j[u] + a->upload_j[u], p->energy_budget_j[u]);
}

/* Feature "meets_limits". */
void check_resource_limits(struct conform *c)
{
    examine_answers(c, examine_limits);
}
