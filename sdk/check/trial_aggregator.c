/* trial_aggregator.c - aggregators at work, and their laws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "instance_under_test.h"
#include "round/updates.h"

#define MOST_CLIENTS 16
#define RATE 0.05

/* What the host keeps: the model, and the updates that the rule retained. */
struct aggregator_host {
    osafl_aggregator_info info;
    struct codec codec; /* plain floats */
    struct kept_updates updates;
    float *w;
    bool folds; /* updates are made when their sum is asked for */
};

/* One client's round. */
struct participant {
    uint32_t client;
    uint32_t local_rounds;
    double alpha;
    const float *delta;        /* [dim]: w_k - w_0 */
    const float *further;      /* [dim]: what goes up beside it */
    const uint32_t *histogram; /* [labels] */
};

static const osafl_aggregator_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_aggregator_vt *)(const void *)s->instance.plugin->vtable;
}

static struct aggregator_host *kept_of(const struct instance_under_test *s)
{
    return s->kept;
}

static void *allocate(uint64_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (p == NULL)
        _exit(70);
    return p;
}

static osafl_status describe(struct instance_under_test *s, struct caller *t,
                             osafl_aggregator_info *info)
{
    *info = (osafl_aggregator_info){.struct_size = sizeof *info};
    osafl_aggregator_info *out = arena_inout(&t->arena, "info", info, 1, sizeof *info, 8);
    osafl_call *c = caller_begin(t, "describe()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->describe(s->instance.self, c, out)));
    *info = *out;
    transcript_bytes(&t->transcript, "describe()", t->round, 0, &info->sends,
                     offsetof(osafl_aggregator_info, optimizer) -
                         offsetof(osafl_aggregator_info, sends));
    transcript_bytes(&t->transcript, "describe()", t->round, 1, &info->one_sum,
                     sizeof info->one_sum);
    return OSAFL_OK;
}

/* Of an aggregator that trains at one place. */
static osafl_status ask_steps(struct instance_under_test *s, struct caller *t)
{
    const osafl_pooled *pooled = instance_extension(&s->instance, OSAFL_POOLED_ID);
    if (pooled == NULL)
        return OSAFL_OK;
    uint64_t *steps = arena_output(&t->arena, "steps", 1, sizeof *steps, 8);
    osafl_call *c = caller_begin(t, "steps()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, pooled->steps(s->instance.self, c, steps)));
    transcript_bytes(&t->transcript, "steps()", t->round, 0, steps, sizeof *steps);
    return OSAFL_OK;
}

static osafl_status begin(struct instance_under_test *s, struct caller *t)
{
    struct aggregator_host *k = kept_of(s);
    k->codec.dim = s->world.dim;
    k->w = allocate(s->world.dim, sizeof(float));
    trial_floats(s, 90, 0, 0.3, k->w, s->world.dim);
    OSAFL_TRY(ask_steps(s, t));
    return describe(s, t, &k->info);
}

/* describe() is [any]: beside other threads too. */
static osafl_status declare_again(struct instance_under_test *s, struct caller *t)
{
    osafl_aggregator_info info;
    return describe(s, t, &info);
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* The vector that the aggregator asked for, as a code of plain floats. */
static struct code sent_by(const struct instance_under_test *s, struct caller *t,
                           const struct participant *p)
{
    const struct aggregator_host *k = kept_of(s);
    const uint64_t dim = s->world.dim;
    double factor = 1.0;
    if (k->info.sends == OSAFL_SENDS_PER_ROUND)
        factor = -1.0 / p->local_rounds;
    else if (k->info.sends == OSAFL_SENDS_PER_RATE)
        factor = -1.0 / (p->local_rounds * RATE);
    float *x = allocate(dim, sizeof *x);
    for (uint64_t i = 0; i < dim; i++)
        x[i] = (float)(factor * (double)p->delta[i]);
    float *code = arena_inout(&t->arena, "an update", x, dim, sizeof *x, 64);
    arena_protect(&t->arena, code, true);
    free(x);
    return (struct code){.data = (uint8_t *)code, .bytes = dim * sizeof *x};
}

static const void *guarded_copy(struct caller *t, const char *name, const void *data, uint32_t n,
                                size_t size)
{
    return arena_input(&t->arena, name, data, n, size, 8);
}

/* The arrays of the view, each in a guarded buffer of its own. */
static osafl_updates guard_view(struct caller *t, const osafl_updates *u)
{
    osafl_updates v = *u;
    v.client = guarded_copy(t, "client", u->client, u->n, sizeof *u->client);
    v.local_rounds = guarded_copy(t, "local_rounds", u->local_rounds, u->n, sizeof *u->client);
    v.steps = guarded_copy(t, "steps", u->steps, u->n, sizeof *u->steps);
    v.rate = guarded_copy(t, "rate", u->rate, u->n, sizeof *u->rate);
    v.samples = guarded_copy(t, "samples", u->samples, u->n, sizeof *u->samples);
    v.alpha = guarded_copy(t, "alpha", u->alpha, u->n, sizeof *u->alpha);
    v.train_loss = guarded_copy(t, "train_loss", u->train_loss, u->n, sizeof *u->train_loss);
    v.start_round = guarded_copy(t, "start_round", u->start_round, u->n, sizeof *u->start_round);
    v.arrived_s = guarded_copy(t, "arrived_s", u->arrived_s, u->n, sizeof *u->arrived_s);
    v.gain = guarded_copy(t, "gain", u->gain, u->n, sizeof *u->gain);
    v.power_w = guarded_copy(t, "power_w", u->power_w, u->n, sizeof *u->power_w);
    v.compute_s = guarded_copy(t, "compute_s", u->compute_s, u->n, sizeof *u->compute_s);
    v.upload_s = guarded_copy(t, "upload_s", u->upload_s, u->n, sizeof *u->upload_s);
    v.joules = guarded_copy(t, "joules", u->joules, u->n, sizeof *u->joules);
    v.channel_gain =
        guarded_copy(t, "channel_gain", u->channel_gain, u->n, sizeof *u->channel_gain);
    const uint32_t *rows[MOST_CLIENTS];
    for (uint32_t k = 0; k < u->n; k++)
        rows[k] = guarded_copy(t, "histogram", u->histogram[k], u->labels, sizeof *rows[k]);
    v.histogram = guarded_copy(t, "histogram", rows, u->n, sizeof rows[0]);
    return v;
}

/* The one sum of a rule that describes itself so, as the program folds it. */
struct sum_in_turn {
    const struct codec *codec;
    const struct update *update;
    uint32_t n;
    const float *w; /* the model, and what it was before */
    const float *start;
    bool asked;
};

static osafl_status sum_in_turn(void *arg, osafl_call *c, const double *weight, const float *base,
                                float *out)
{
    struct sum_in_turn *m = arg;
    const uint64_t dim = m->codec->dim;
    if (m->asked)
        return core_host.fail(c, OSAFL_E_BUG, "asks for a second sum, and describes one");
    if (memcmp(m->w, m->start, dim * sizeof *m->w) != 0)
        return core_host.fail(c, OSAFL_E_BUG, "changes w before it asks for the sum");
    m->asked = true;
    double *sum = allocate(dim, sizeof *sum);
    osafl_status status = OSAFL_OK;
    for (uint64_t i = 0; base != NULL && i < dim; i++)
        sum[i] = (double)base[i];
    for (uint32_t k = 0; status == OSAFL_OK && k < m->n; k++) {
        uint64_t bad = 0; /* whoever called looks at w */
        const struct code *code = &m->update[k].code[0];
        status = updates_fold(m->codec, c, &code, 1, &weight[k], sum, &bad);
    }
    for (uint64_t i = 0; i < dim; i++)
        out[i] = (float)sum[i];
    free(sum);
    return status;
}

static osafl_status call_aggregate(struct instance_under_test *s, struct caller *t,
                                   const struct update *update, uint32_t n, float *w)
{
    struct aggregator_host *k = kept_of(s);
    const struct update_round facts = {.round = t->round,
                                       .rounds = TRIAL_ROUNDS,
                                       .clients = s->world.clients,
                                       .labels = s->world.data.labels,
                                       .slots = 1 + k->info.uplink_vectors,
                                       .noise_w = 2e-15};
    struct sum_in_turn sum = {.codec = &k->codec, .update = update, .n = n, .w = w, .start = k->w};
    const struct update_source source = {.sum = sum_in_turn, .arg = &sum};
    struct update_set set;
    osafl_call *c = caller_begin(t, "aggregate()", OSAFL_NO_CLIENT);
    osafl_status status = updates_open(&set, &k->codec, &facts, update, n, &k->updates, c);
    if (status == OSAFL_OK) {
        set.source = k->folds ? &source : NULL;
        const osafl_updates *view = &set.view;
        const osafl_updates guarded = guard_view(t, view);
        const osafl_updates *shown =
            arena_input(&t->arena, "updates", &guarded, 1, sizeof guarded, 8);
        status = vtable(s)->aggregate(s->instance.self, c, shown, w);
        updates_close(&set);
    }
    return caller_end(t, status);
}

/* One round of these participants, clients ascending: w becomes the next model. */
static osafl_status aggregate(struct instance_under_test *s, struct caller *t,
                              const struct participant *p, uint32_t n, float *w)
{
    struct aggregator_host *k = kept_of(s);
    const uint64_t dim = s->world.dim;
    const uint32_t slots = 1 + k->info.uplink_vectors;
    struct update update[MOST_CLIENTS];
    struct code *code = allocate((uint64_t)n * slots, sizeof *code);
    if (n == 0 && k->info.wants_empty_rounds == 0) {
        free(code);
        return OSAFL_OK;
    }
    for (uint32_t j = 0; j < n; j++) {
        struct code *mine = &code[(size_t)j * slots];
        mine[0] = sent_by(s, t, &p[j]);
        for (uint32_t slot = 1; slot < slots; slot++) {
            float *x = arena_inout(&t->arena, "a further vector", p[j].further, dim, sizeof *x, 64);
            arena_protect(&t->arena, x, true);
            mine[slot] = (struct code){.data = (uint8_t *)x, .bytes = dim * sizeof *x};
        }
        update[j] =
            (struct update){.client = p[j].client,
                            .local_rounds = p[j].local_rounds,
                            .steps = 8 * p[j].local_rounds,
                            .rate = RATE,
                            .samples = 100,
                            .alpha = p[j].alpha,
                            .train_loss = k->folds ? (double)NAN : 1.0 / (1.0 + p[j].client),
                            .start_round = t->round,
                            .arrived_s = t->round + 0.5,
                            .gain = 1e-10 / (1.0 + p[j].client),
                            .channel_gain = 1.2e-10 / (1.0 + p[j].client),
                            .power_w = 0.2,
                            .compute_s = 0.3,
                            .upload_s = 0.2,
                            .joules = 0.9,
                            .histogram = p[j].histogram,
                            .code = mine};
    }
    float *model = arena_inout(&t->arena, "w", w, dim, sizeof *w, 64);
    const osafl_status status = call_aggregate(s, t, update, n, model);
    free(code);
    if (status != OSAFL_OK)
        return status;
    transcript_floats(&t->transcript, "w after aggregate()", t->round, 0, model, dim);
    memcpy(w, model, dim * sizeof *w);
    return OSAFL_OK;
}

static osafl_status ask_broadcast(struct instance_under_test *s, struct caller *t)
{
    const uint64_t floats = kept_of(s)->info.broadcast_floats;
    if (floats == 0)
        return OSAFL_OK;
    float *x = arena_output(&t->arena, "out of broadcast()", floats, sizeof *x, 64);
    osafl_call *c = caller_begin(t, "broadcast()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->broadcast(s->instance.self, c, x)));
    transcript_floats(&t->transcript, "out of broadcast()", t->round, 0, x, floats);
    return OSAFL_OK;
}

/* ---- clients ------------------------------------------------------------------------------- */

/* Random updates around a common direction. */
struct crowd {
    uint32_t n;
    struct participant client[MOST_CLIENTS];
    float *delta[MOST_CLIENTS];
    float *further[MOST_CLIENTS];
    uint32_t *histogram[MOST_CLIENTS];
};

static struct crowd crowd_make(const struct instance_under_test *s, uint32_t round)
{
    const uint64_t dim = s->world.dim;
    const bool pooled = instance_extension(&s->instance, OSAFL_POOLED_ID) != NULL;
    struct crowd crowd = {.n = pooled ? 1 : s->world.clients};
    float *common = allocate(dim, sizeof *common);
    double total = 0.0;
    trial_floats(s, round, 99, 0.1, common, dim);
    for (uint32_t u = 0; u < crowd.n; u++)
        total += 100.0 + 10.0 * u;
    for (uint32_t u = 0; u < crowd.n; u++) {
        crowd.delta[u] = allocate(dim, sizeof(float));
        crowd.further[u] = allocate(dim, sizeof(float));
        crowd.histogram[u] = allocate(s->world.data.labels, sizeof(uint32_t));
        trial_floats(s, round, u, 0.05, crowd.delta[u], dim);
        trial_floats(s, round, 50 + u, 1.0, crowd.further[u], dim);
        for (uint64_t i = 0; i < dim; i++)
            crowd.delta[u][i] += common[i];
        for (uint32_t l = 0; l < s->world.data.labels; l++)
            crowd.histogram[u][l] = (u * 7 + l * l * (u + 1)) % 23;
        crowd.client[u] = (struct participant){.client = u,
                                               .local_rounds = 1 + (u + round) % 5,
                                               .alpha = (100.0 + 10.0 * u) / total,
                                               .delta = crowd.delta[u],
                                               .further = crowd.further[u],
                                               .histogram = crowd.histogram[u]};
    }
    free(common);
    return crowd;
}

static void crowd_free(struct crowd *crowd)
{
    for (uint32_t u = 0; u < crowd->n; u++) {
        free(crowd->delta[u]);
        free(crowd->further[u]);
        free(crowd->histogram[u]);
    }
}

/* Who takes part: a changing two thirds, once nobody, once a single client. */
static uint32_t choose_participants(const struct crowd *crowd, uint32_t round,
                                    struct participant *out)
{
    uint32_t n = 0;
    for (uint32_t u = 0; u < crowd->n; u++) {
        const bool sits_out =
            crowd->n > 1 && ((u + round) % 3 == 0 || round == 3 || (round == 4 && u != 1));
        if (!sits_out)
            out[n++] = crowd->client[u];
    }
    return n;
}

static osafl_status run_round(struct instance_under_test *s, struct caller *t)
{
    struct participant client[MOST_CLIENTS] = {{0}};
    OSAFL_TRY(ask_broadcast(s, t));
    struct crowd crowd = crowd_make(s, t->round);
    const uint32_t n = choose_participants(&crowd, t->round, client);
    const osafl_status status = aggregate(s, t, client, n, kept_of(s)->w);
    crowd_free(&crowd);
    return status;
}

static void copy_kept(struct instance_under_test *to, const struct instance_under_test *from)
{
    struct aggregator_host *k = kept_of(to);
    const struct aggregator_host *other = kept_of(from);
    memcpy(k->w, other->w, to->world.dim * sizeof *k->w);
    kept_updates_free(&k->updates);
    k->updates = other->updates;
    k->updates.capacity = k->updates.n;
    k->updates.list = allocate(k->updates.n, sizeof *k->updates.list);
    for (uint64_t i = 0; i < k->updates.n; i++) {
        const struct kept_update *source = &other->updates.list[i];
        k->updates.list[i] = *source;
        k->updates.list[i].code.data = allocate(source->code.bytes, 1);
        memcpy(k->updates.list[i].code.data, source->code.data, source->code.bytes);
    }
}

static void free_kept(struct instance_under_test *s)
{
    kept_updates_free(&kept_of(s)->updates);
    free(kept_of(s)->w);
}

const struct kind_calls aggregator_calls = {
    .kind = OSAFL_KIND_AGGREGATOR,
    .kept_bytes = sizeof(struct aggregator_host),
    .tasks = 4,
    .begin = begin,
    .round = run_round,
    .task = declare_again,
    .copy_kept = copy_kept,
    .free_kept = free_kept,
};

/* ---- laws ---------------------------------------------------------------------------------- */

void check_aggregator_describe(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    const osafl_aggregator_info *info = &kept_of(&s)->info;
    if (info->sends < OSAFL_SENDS_DELTA || info->sends > OSAFL_SENDS_PER_RATE)
        conform_fail(c,
                     "declares the unknown kind of update %u; set sends to OSAFL_SENDS_DELTA or "
                     "another of osafl/aggregator.h",
                     (unsigned)info->sends);
    if (info->optimizer == NULL || info->optimizer[0] == '\0')
        conform_fail(c,
                     "declares no optimizer; set optimizer to the one that clients use where the "
                     "experiment names none, such as \"sgd\"");
    if (info->broadcast_floats > 0 && vtable(&s)->broadcast == NULL)
        conform_fail(c, "declares %g floats to send down and has no broadcast()",
                     (double)info->broadcast_floats);
    if (info->broadcast_floats > 8 * s.world.dim || info->uplink_vectors > 8)
        conform_fail(c, "declares %g floats down and %u vectors up, more than any method uses",
                     (double)info->broadcast_floats, (unsigned)info->uplink_vectors);
    if (info->optimizer_is_fixed > 1 || info->wants_empty_rounds > 1 || info->one_sum > 1)
        conform_fail(c, "declares a flag that is neither 0 nor 1");
}

void check_aggregator_one_sum(struct conform *c)
{
    struct instance_under_test s;
    struct transcript together = {0};
    struct transcript in_turn = {0};
    under_test_must_open(&s, c, &together);
    if (kept_of(&s)->info.one_sum == 0)
        conform_skip(c, "does not describe itself by one_sum");
    under_test_must_run(&s, 0, TRIAL_ROUNDS, &together);
    under_test_close(&s);
    under_test_must_open(&s, c, &in_turn);
    kept_of(&s)->folds = true;
    under_test_must_run(&s, 0, TRIAL_ROUNDS, &in_turn);
    under_test_close(&s);
    const char *difference = transcript_difference(&together, &in_turn);
    if (difference != NULL)
        conform_fail(c,
                     "answers otherwise where losses are not known and updates are not there until "
                     "they are added: %s; leave out one_sum",
                     difference);
}

static void require_finite(const struct conform *c, const float *w)
{
    for (uint64_t i = 0; i < usual_world.dim; i++) {
        if (!isfinite(w[i]))
            conform_fail(c, "makes parameter %u a number that is not finite", (unsigned)i);
    }
}

/* A round from w = 0 with an instance of its own; w becomes the step. */
static void step_from_zero(struct conform *c, uint32_t round, struct participant *p, uint32_t n,
                           float *w)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    struct caller t = caller_open(&s);
    t.round = round;
    memset(w, 0, s.world.dim * sizeof *w);
    const osafl_status status = aggregate(&s, &t, p, n, w);
    if (status != OSAFL_OK)
        caller_fail(&t, "fails with %s: %s", status_name(status), t.error.text);
    caller_close(&t);
    transcript_free(&answers);
    under_test_close(&s);
}

/* A law that does not hold is mended, or not declared. */
#define OR_UNDECLARED "; a rule that is not meant to do so leaves out the feature \"%s\""

static void require_step(const struct conform *c, const float *w, const float *wanted)
{
    double most = 0.0;
    require_finite(c, w);
    for (uint64_t i = 0; i < usual_world.dim; i++)
        if (fabs((double)wanted[i]) > most) /* fmax() here ends gcc 12 for aarch64 */
            most = fabs((double)wanted[i]);
    for (uint64_t i = 0; i < usual_world.dim; i++) {
        if (!(fabs((double)w[i] - (double)wanted[i]) <= 1e-5 * most))
            conform_fail(c, "moves parameter %u by %.7g instead of %.7g" OR_UNDECLARED, (unsigned)i,
                         (double)w[i], (double)wanted[i], c->check->feature);
    }
}

/* The clients of a round, made with an instance that is only asked what it declares. */
static struct crowd crowd_of(struct conform *c, uint32_t round)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    const struct crowd crowd = crowd_make(&s, round);
    transcript_free(&answers);
    under_test_close(&s);
    return crowd;
}

void check_aggregator_sole(struct conform *c)
{
    float *w = allocate(usual_world.dim, sizeof *w);
    for (uint32_t round = 0; round < 3; round++) {
        struct crowd crowd = crowd_of(c, round);
        struct participant *only = &crowd.client[(2 + round) % crowd.n];
        step_from_zero(c, round, only, 1, w);
        require_step(c, w, only->delta);
    }
}

void check_aggregator_mean(struct conform *c)
{
    float *w = allocate(usual_world.dim, sizeof *w);
    struct crowd crowd = crowd_of(c, 1);
    for (uint32_t u = 0; u < crowd.n; u++)
        crowd.client[u].delta = crowd.delta[0];
    step_from_zero(c, 0, crowd.client, crowd.n, w);
    require_step(c, w, crowd.delta[0]);
}

/* Three rounds from w = 0. */
static void three_rounds(struct conform *c, bool reverse, double alpha_factor, float *w)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    memset(w, 0, s.world.dim * sizeof *w);
    for (uint32_t round = 0; round < 3; round++) {
        struct participant client[MOST_CLIENTS];
        struct crowd crowd = crowd_make(&s, round);
        for (uint32_t u = 0; u < crowd.n; u++) {
            /* Clients stand in the order of their numbers; reversing renames them. */
            client[u] = crowd.client[reverse ? crowd.n - 1 - u : u];
            client[u].client = u;
            client[u].alpha *= alpha_factor;
        }
        struct caller t = caller_open(&s);
        t.round = round;
        const osafl_status status = aggregate(&s, &t, client, crowd.n, w);
        if (status != OSAFL_OK)
            caller_fail(&t, "fails with %s: %s", status_name(status), t.error.text);
        caller_close(&t);
        crowd_free(&crowd);
    }
    under_test_close(&s);
}

static void require_unchanged(struct conform *c, bool reverse, double alpha_factor,
                              const char *what)
{
    const uint64_t dim = usual_world.dim;
    float *plain = allocate(dim, sizeof *plain);
    float *changed = allocate(dim, sizeof *changed);
    double norm2 = 0.0;
    double error2 = 0.0;
    three_rounds(c, false, 1.0, plain);
    three_rounds(c, reverse, alpha_factor, changed);
    require_finite(c, plain);
    require_finite(c, changed);
    for (uint64_t i = 0; i < dim; i++) {
        const double difference = (double)plain[i] - (double)changed[i];
        norm2 += (double)plain[i] * (double)plain[i];
        error2 += difference * difference;
    }
    if (!(norm2 > 0.0))
        conform_fail(c, "does not move the model in three rounds");
    if (!(sqrt(error2) <= 1e-4 * sqrt(norm2)))
        conform_fail(c,
                     "gives another model when %s: they differ by %.3g of the step" OR_UNDECLARED,
                     what, sqrt(error2 / norm2), c->check->feature);
}

void check_aggregator_permutation(struct conform *c)
{
    require_unchanged(c, true, 1.0, "the clients are numbered the other way round");
}

void check_aggregator_scale(struct conform *c)
{
    require_unchanged(c, false, 0.01, "every alpha is multiplied by 0.01");
}

/* How far the model moves when one client sends a vector of this size instead of its own. */
static double moved_by_attack(struct conform *c, float size)
{
    float *w = allocate(usual_world.dim, sizeof *w);
    struct crowd crowd = crowd_of(c, 5);
    double norm2 = 0.0;
    for (uint64_t i = 0; crowd.n > 1 && i < usual_world.dim; i++)
        crowd.delta[crowd.n / 2][i] = i % 2 == 0 ? size : -size;
    step_from_zero(c, 0, crowd.client, crowd.n, w);
    for (uint64_t i = 0; i < usual_world.dim; i++)
        norm2 += (double)w[i] * (double)w[i];
    return sqrt(norm2);
}

/* "Bounded": an update a million times larger moves the model no farther. */
void check_aggregator_robust(struct conform *c)
{
    const double large = moved_by_attack(c, 1e6f);
    const double huge = moved_by_attack(c, 1e12f);
    if (!(huge <= 2.0 * large + 1.0))
        conform_fail(c,
                     "moves the model by %.3g when one of %u clients sends entries of 1e6, and by "
                     "%.3g when it sends entries of 1e12" OR_UNDECLARED,
                     large, (unsigned)usual_world.clients, huge, c->check->feature);
}
