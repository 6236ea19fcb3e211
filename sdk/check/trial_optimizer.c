/* trial_optimizer.c - optimizers at work on quadratic bowls, and their laws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "instance_under_test.h"

#define MOST_VECTORS 8
#define MOST_FLOATS(s) (MOST_VECTORS * (s)->world.dim)
#define STEPS 3

/* What the host keeps: the floats of each client. */
struct optimizer_host {
    osafl_optimizer_info info;
    float *state; /* [tasks][info.client_floats] */
};

/* One client's training: loss curvature / 2 * ||w - target||^2. */
struct toy_training {
    osafl_local local;
    float *w;
    float *gradient;
    float *uplink[MOST_VECTORS];
    const float *target;
    double curvature;
};

static const osafl_optimizer_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_optimizer_vt *)(const void *)s->instance.plugin->vtable;
}

static struct optimizer_host *kept_of(const struct instance_under_test *s)
{
    return s->kept;
}

static uint64_t kept_floats(const struct instance_under_test *s)
{
    return (uint64_t)optimizer_calls.tasks * kept_of(s)->info.client_floats;
}

static osafl_status begin(struct instance_under_test *s, struct caller *t)
{
    struct optimizer_host *k = kept_of(s);
    k->info = (osafl_optimizer_info){.struct_size = sizeof k->info};
    osafl_optimizer_info *info = arena_inout(&t->arena, "info", &k->info, 1, sizeof k->info, 8);
    osafl_call *c = caller_begin(t, "describe()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->describe(s->instance.self, c, info)));
    k->info = *info;
    if (info->client_floats > MOST_FLOATS(s) || info->round_floats > MOST_FLOATS(s) ||
        info->broadcast_floats > MOST_FLOATS(s) || info->uplink_vectors > MOST_VECTORS)
        caller_fail(t, "asks for more than %d vectors", MOST_VECTORS);
    transcript_bytes(&t->transcript, "describe()", 0, 0, info, sizeof *info);
    k->state = calloc(kept_floats(s) + 1, sizeof(float));
    if (k->state == NULL)
        _exit(70);
    return OSAFL_OK;
}

static osafl_status ask_rate(struct instance_under_test *s, struct caller *t, double *rate)
{
    osafl_call *c = caller_begin(t, "rate()", OSAFL_NO_CLIENT);
    return caller_end(t, vtable(s)->rate(s->instance.self, c, t->round, rate));
}

/* The same where a failure fails the check. */
static double rate_of(struct instance_under_test *s, struct caller *t)
{
    double rate = 0.0;
    if (ask_rate(s, t, &rate) != OSAFL_OK)
        caller_fail(t, "fails: %s", t->error.text);
    return rate;
}

static osafl_status run_round(struct instance_under_test *s, struct caller *t)
{
    double rate = 0.0;
    OSAFL_TRY(ask_rate(s, t, &rate));
    transcript_doubles(&t->transcript, "rate()", t->round, 0, &rate, 1);
    return OSAFL_OK;
}

static void fill_gradient(const struct toy_training *g, const float *w, float *gradient)
{
    for (uint64_t i = 0; i < g->local.dim; i++)
        gradient[i] = (float)(g->curvature * ((double)w[i] - (double)g->target[i]));
}

static osafl_status store_gradient(const struct osafl_local *l, osafl_call *c, const float *w,
                                   float *gradient)
{
    (void)c;
    fill_gradient(l->priv, w, gradient);
    return OSAFL_OK;
}

static void make_vectors(struct instance_under_test *s, struct caller *t, struct toy_training *g,
                         uint32_t client)
{
    const struct optimizer_host *k = kept_of(s);
    const uint64_t dim = s->world.dim;
    float *x = calloc(dim, sizeof *x);
    if (x == NULL)
        _exit(70);
    g->local.client_state =
        arena_inout(&t->arena, "client_state", k->state + client * k->info.client_floats,
                    k->info.client_floats, sizeof(float), 64);
    arena_protect(&t->arena, g->local.client_state, true);
    g->local.round_state =
        arena_inout(&t->arena, "round_state", NULL, k->info.round_floats, sizeof(float), 64);
    for (uint32_t j = 0; j < k->info.uplink_vectors; j++)
        g->uplink[j] = arena_output(&t->arena, "an uplink vector", dim, sizeof(float), 64);
    float *down = calloc(k->info.broadcast_floats + 1, sizeof *down);
    if (down == NULL)
        _exit(70);
    trial_floats(s, t->round, 70, 0.01, down, k->info.broadcast_floats);
    g->local.broadcast =
        arena_input(&t->arena, "broadcast", down, k->info.broadcast_floats, sizeof(float), 64);
    free(down);
    trial_floats(s, t->round, client, 0.5, x, dim);
    g->target = arena_input(&t->arena, "the target", x, dim, sizeof(float), 64);
    trial_floats(s, t->round, 80, 0.5, x, dim);
    g->local.w_start = arena_input(&t->arena, "w_start", x, dim, sizeof(float), 64);
    g->w = arena_inout(&t->arena, "w", x, dim, sizeof(float), 64);
    g->gradient = arena_output(&t->arena, "grad", dim, sizeof(float), 64);
    free(x);
}

/* Fills *g, which must not move afterwards. */
static void training_make(struct instance_under_test *s, struct caller *t, struct toy_training *g,
                          uint32_t client, double curvature)
{
    *g = (struct toy_training){.curvature = curvature};
    g->local = (osafl_local){.struct_size = sizeof g->local,
                             .client = client,
                             .round = t->round,
                             .dim = s->world.dim,
                             .rate = rate_of(s, t),
                             .priv = g,
                             .store_gradient = store_gradient};
    make_vectors(s, t, g, client);
    g->local.uplink = arena_input(&t->arena, "uplink", g->uplink, kept_of(s)->info.uplink_vectors,
                                  sizeof g->uplink[0], 8);
}

static osafl_status do_step(struct instance_under_test *s, struct caller *t, struct toy_training *g)
{
    fill_gradient(g, g->w, g->gradient);
    osafl_call *c = caller_begin(t, "step()", g->local.client);
    OSAFL_TRY(caller_end(t, vtable(s)->step(s->instance.self, c, &g->local, g->w, g->gradient)));
    g->local.step++;
    return OSAFL_OK;
}

/* start() or leave(), if there is one. */
static osafl_status
do_change(struct instance_under_test *s, struct caller *t, struct toy_training *g, const char *what,
          osafl_status (*change)(void *, osafl_call *, const osafl_local *, float *))
{
    if (change == NULL)
        return OSAFL_OK;
    osafl_call *c = caller_begin(t, what, g->local.client);
    OSAFL_TRY(caller_end(t, change(s->instance.self, c, &g->local, g->w)));
    transcript_floats(&t->transcript, what, t->round, t->task, g->w, s->world.dim);
    return OSAFL_OK;
}

static osafl_status do_begin(struct instance_under_test *s, struct caller *t,
                             struct toy_training *g)
{
    if (vtable(s)->begin != NULL) {
        osafl_call *c = caller_begin(t, "begin()", g->local.client);
        OSAFL_TRY(caller_end(t, vtable(s)->begin(s->instance.self, c, &g->local)));
    }
    return do_change(s, t, g, "start()", vtable(s)->start);
}

/* The client's own model after the round. */
static osafl_status do_personal(struct instance_under_test *s, struct caller *t,
                                struct toy_training *g)
{
    const uint64_t dim = s->world.dim;
    if (vtable(s)->personal == NULL)
        return OSAFL_OK;
    float *out = arena_output(&t->arena, "out of personal()", dim, sizeof(float), 64);
    osafl_call *c = caller_begin(t, "personal()", g->local.client);
    OSAFL_TRY(
        caller_end(t, vtable(s)->personal(s->instance.self, c, &g->local, g->local.w_start, out)));
    transcript_floats(&t->transcript, "out of personal()", t->round, t->task, out, dim);
    return OSAFL_OK;
}

/* What reaches the server is what was sent; the update is w - w_start. */
static osafl_status do_received(struct instance_under_test *s, struct caller *t,
                                struct toy_training *g)
{
    const struct optimizer_host *k = kept_of(s);
    const uint64_t dim = s->world.dim;
    if (vtable(s)->received == NULL)
        return OSAFL_OK;
    float *update = arena_inout(&t->arena, "update", g->w, dim, sizeof(float), 64);
    for (uint64_t i = 0; i < dim; i++)
        update[i] -= g->local.w_start[i];
    arena_protect(&t->arena, update, true);
    const float *sent[MOST_VECTORS];
    for (uint32_t j = 0; j < k->info.uplink_vectors; j++)
        sent[j] = arena_input(&t->arena, "a received vector", g->uplink[j], dim, sizeof(float), 64);
    arena_protect(&t->arena, g->local.client_state, false);
    osafl_call *c = caller_begin(t, "received()", g->local.client);
    OSAFL_TRY(caller_end(t, vtable(s)->received(s->instance.self, c, &g->local, update, sent)));
    const uint64_t floats = k->info.client_floats;
    memcpy(k->state + g->local.client * floats, g->local.client_state, floats * sizeof(float));
    transcript_floats(&t->transcript, "client_state after received()", t->round, t->task,
                      g->local.client_state, floats);
    return OSAFL_OK;
}

static osafl_status run_task(struct instance_under_test *s, struct caller *t)
{
    const uint64_t dim = s->world.dim;
    struct toy_training g;
    training_make(s, t, &g, t->task, 0.7);
    OSAFL_TRY(do_begin(s, t, &g));
    for (unsigned k = 0; k < STEPS; k++)
        OSAFL_TRY(do_step(s, t, &g));
    transcript_floats(&t->transcript, "w after step()", t->round, t->task, g.w, dim);
    if (vtable(s)->finish != NULL) {
        osafl_call *c = caller_begin(t, "finish()", t->task);
        const float *w = arena_input(&t->arena, "w of finish()", g.w, dim, sizeof(float), 64);
        OSAFL_TRY(caller_end(t, vtable(s)->finish(s->instance.self, c, &g.local, w)));
    }
    for (uint32_t j = 0; j < kept_of(s)->info.uplink_vectors; j++)
        transcript_floats(&t->transcript, "an uplink vector of finish()", t->round, t->task,
                          g.uplink[j], dim);
    OSAFL_TRY(do_change(s, t, &g, "leave()", vtable(s)->leave));
    OSAFL_TRY(do_received(s, t, &g));
    return do_personal(s, t, &g);
}

static void copy_kept(struct instance_under_test *to, const struct instance_under_test *from)
{
    memcpy(kept_of(to)->state, kept_of(from)->state, kept_floats(to) * sizeof(float));
}

static void free_kept(struct instance_under_test *s)
{
    free(kept_of(s)->state);
}

const struct kind_calls optimizer_calls = {
    .kind = OSAFL_KIND_OPTIMIZER,
    .kept_bytes = sizeof(struct optimizer_host),
    .tasks = 8,
    .begin = begin,
    .round = run_round,
    .task = run_task,
    .copy_kept = copy_kept,
    .free_kept = free_kept,
};

/* ---- laws ---------------------------------------------------------------------------------- */

void check_optimizer_description(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    const osafl_optimizer_info *info = &kept_of(&s)->info;
    const osafl_optimizer_vt *vt = vtable(&s);
    if (info->is_plain > 1)
        conform_fail(c, "answers is_plain = %u, which is neither 0 nor 1",
                     (unsigned)info->is_plain);
    if (info->uplink_vectors > 0 && vt->finish == NULL)
        conform_fail(c, "sends %u further vectors and has no finish()",
                     (unsigned)info->uplink_vectors);
    if (info->client_floats > 0 && vt->received == NULL)
        conform_fail(c, "keeps %g floats of each client and has no received() to fill them",
                     (double)info->client_floats);
    for (uint32_t round = 0; round < 10 * TRIAL_ROUNDS; round++) {
        struct caller t = caller_open(&s);
        t.round = round;
        const double rate = rate_of(&s, &t);
        if (!(rate > 0.0 && isfinite(rate)))
            conform_fail(c, "has the learning rate %g in round %u", rate, (unsigned)round);
    }
}

/* is_plain: a step is w - rate * grad, and further vectors are none of its business. */
void check_optimizer_plain(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    struct toy_training g;
    under_test_must_open(&s, c, &answers);
    if (kept_of(&s)->info.is_plain == 0)
        conform_skip(c, "is not plain with these settings");
    struct caller t = caller_open(&s);
    training_make(&s, &t, &g, 0, 0.7);
    float *before = calloc(s.world.dim, sizeof *before);
    if (before == NULL || do_begin(&s, &t, &g) != OSAFL_OK)
        caller_fail(&t, "fails: %s", t.error.text);
    memcpy(before, g.w, s.world.dim * sizeof *before);
    if (do_step(&s, &t, &g) != OSAFL_OK)
        caller_fail(&t, "fails: %s", t.error.text);
    for (uint64_t i = 0; i < s.world.dim; i++) {
        const double gradient = 0.7 * ((double)before[i] - (double)g.target[i]);
        const double wanted = (double)before[i] - g.local.rate * gradient;
        const double allowed = 1e-6 * (fabs((double)before[i]) + fabs(g.local.rate * gradient));
        if (!(fabs((double)g.w[i] - wanted) <= allowed))
            caller_fail(&t, "says that it is plain and moves parameter %u to %.8g instead of %.8g",
                        (unsigned)i, (double)g.w[i], wanted);
    }
}

static double distance2(const struct toy_training *g)
{
    double sum = 0.0;
    for (uint64_t i = 0; i < g->local.dim; i++) {
        const double x = (double)g->w[i] - (double)g->target[i];
        sum += x * x;
    }
    return sum;
}

/* Steps down a bowl that is shallow for this learning rate bring it lower. */
void check_optimizer_descends(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    struct toy_training g;
    under_test_must_open(&s, c, &answers);
    struct caller t = caller_open(&s);
    const double rate = rate_of(&s, &t);
    training_make(&s, &t, &g, 1, 0.05 / rate);
    if (do_begin(&s, &t, &g) != OSAFL_OK)
        caller_fail(&t, "fails: %s", t.error.text);
    const double before = distance2(&g);
    for (unsigned k = 0; k < 10; k++) {
        if (do_step(&s, &t, &g) != OSAFL_OK)
            caller_fail(&t, "fails: %s", t.error.text);
    }
    if (!(distance2(&g) < before))
        caller_fail(&t,
                    "ten steps with learning rate %g on a bowl of curvature %g lead from "
                    "distance %.4g to %.4g",
                    rate, 0.05 / rate, sqrt(before), sqrt(distance2(&g)));
}

/* How the first step of a round moves w, all else being equal. */
static void first_step(struct instance_under_test *s, uint32_t round, double *rate, float *moved)
{
    struct toy_training g;
    struct caller t = caller_open(s);
    training_make(s, &t, &g, 0, 0.7);
    g.local.round = t.round = round;
    g.local.rate = *rate = rate_of(s, &t);
    if (do_begin(s, &t, &g) != OSAFL_OK)
        caller_fail(&t, "fails: %s", t.error.text);
    for (uint64_t i = 0; i < s->world.dim; i++)
        moved[i] = -g.w[i];
    if (do_step(s, &t, &g) != OSAFL_OK)
        caller_fail(&t, "fails: %s", t.error.text);
    for (uint64_t i = 0; i < s->world.dim; i++)
        moved[i] += g.w[i];
    caller_close(&t);
}

/* With settings that change the rate from round to round, the steps change too. */
void check_optimizer_rate(struct conform *c)
{
    enum { TRIES = 100, LAST = TRIAL_ROUNDS - 1 };
    conform_load(c);
    const struct trial_world world = world_for(c);
    float *moved = calloc(2 * world.dim, sizeof *moved);
    if (moved == NULL)
        _exit(70);
    for (uint32_t k = 0; k < TRIES; k++) {
        struct instance_under_test s;
        struct transcript answers = {0};
        double rate[2] = {0.0, 0.0};
        const struct trial_settings settings = k > 0 ? settings_random(c, k) : settings_default(c);
        if (under_test_open(&s, c, &world, &settings, false, 0, &answers) == OSAFL_OK) {
            first_step(&s, 0, &rate[0], moved);
            first_step(&s, LAST, &rate[1], moved + world.dim);
        }
        under_test_close(&s);
        transcript_free(&answers);
        if (fabs(rate[1] - rate[0]) <= 1e-3 * rate[0])
            continue;
        if (memcmp(moved, moved + world.dim, world.dim * sizeof *moved) == 0)
            conform_fail(c,
                         "makes the same first step in rounds 0 and %d, whose learning rates are "
                         "%g and %g%s%s; local->rate is that of the round",
                         LAST, rate[0], rate[1], settings.text[0] != '\0' ? ", with " : "",
                         settings.text);
        return;
    }
    conform_skip(c, "has one learning rate for all rounds, with every setting that was tried");
}
