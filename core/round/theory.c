/* theory.c - measures both sides of the convergence bound while a run goes on. */
#include "theory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/streams.h"
#include "client_objective.h"
#include "engine_state.h"
#include "osafl/random.h"
#include "plugin/pool.h"
#include "theory_bound.h"
#include "theory_constants.h"
#include "theory_server.h"

#define TABLE "theory.csv"

/* A server's step may differ from the theorem's by rounding. */
static const double MOST_GAP = 1e-3;
/* Standard errors beyond which the bound counts as broken. */
static const double DOUBT = 3.0;

static const char header[] =
    "round,clients,kappa,eta_lo,eta_gl,eta_ef,sum_score,beta,q,sigma2,varpi2,v,step_gap,value,"
    "expected,expected_se,lhs,descent,omega_sigma,omega_sigma_printed,omega_varpi,rhs,rhs_printed,"
    "rhs_se,step_small,rate_small,slack,scores_small,t6,repaired_applies,t6_repaired,rhs_repaired,"
    "drift_data,drift_scores,q_measured,expected_rescored,expected_rescored_se,descent_rescored,"
    "lhs_sum,descent_sum,drift_sum,rhs_sum";

/* One client that trained in the round, by its task. */
struct measured {
    double value;    /* f_u(w^t) on D^t */
    double variance; /* of one sample's gradient */
    double beta;
    double at;        /* f_u at the parameters in hand */
    float *gradient;  /* [dim], of f_u at w^t */
    float *direction; /* [dim]: Q(d_u) as decoded; of a replica, or of the round itself */
    bool arrives;
    double code_error; /* sum of |Q(d) - d|^2 / |d|^2 over `coded` replicas */
    uint32_t coded;
    struct error error;
};

/* Of values over the replicas. */
struct moments {
    double sum;
    double squares;
    uint32_t n;
};

/* Sums over the rounds that were measured (THEORY.md). */
struct telescope {
    double lhs;
    double descent; /* 2 (f^t(w^t) - f^t(w^{t+1})) / (eta_gl eta_lo), w^{t+1} of the run itself */
    double drift;   /* 2 Phi^t / (eta_gl eta_lo), known one round later */
    double omega;
    /* Of the round before; NAN: there was none. */
    double after;      /* f^t(w^{t+1}) on the stores after arrivals */
    double drift_data; /* of it */
    double step;       /* eta_gl eta_lo */
};

struct theory {
    struct theory_options o;
    const struct results *results;
    struct csv_writer *table;
    struct theory_constants known;
    uint64_t dim;
    uint32_t clients;
    float *before;                /* w^t */
    float *other;                 /* w^{t+1} of a replica */
    struct train_result *replica; /* [clients], by task */
    struct theory_server server;
    double *step;                 /* [dim] */
    struct measured *m;           /* [clients] */
    struct theory_client *client; /* [clients], by task */
    uint32_t *of;                 /* [clients]: the client of each task; [n] are in use */
    uint32_t n;
    /* Of the round in hand. */
    bool has_round;
    struct theory_facts facts;
    struct theory_bound bound;
    double expected_se;
    struct moments rescored; /* with scores and step of each replica's own */
    double q_measured;
    double gap;
    double drift_scores;
    /* Of all rounds. */
    uint32_t rounds;
    uint32_t holding;  /* all printed conditions hold */
    uint32_t broken;   /* of them, where the bound is broken beyond doubt */
    uint32_t repaired; /* rounds to which the repaired form applies */
    uint32_t repaired_broken;
    double least; /* rhs / lhs */
    double most;
    struct telescope sum;
};

/* ---- in parallel over the clients ---------------------------------------------------------- */

/* What is done with each task; at: parameters. */
struct sweep {
    struct theory *t;
    struct engine *e;
    const float *at;
    osafl_status (*one)(const struct sweep *s, uint32_t k, struct worker *w);
};

static osafl_status sweep_chunk(void *arg, uint64_t begin, uint64_t end, unsigned thread)
{
    const struct sweep *s = arg;
    for (uint64_t k = begin; k < end; k++) {
        struct worker *w = s->e->workers[thread];
        w->error.text[0] = '\0';
        const osafl_status status = s->one(s, (uint32_t)k, w);
        if (status != OSAFL_OK) {
            memcpy(s->t->m[k].error.text, w->error.text, sizeof w->error.text);
            return status;
        }
    }
    return OSAFL_OK;
}

static osafl_status sweep_tasks(struct sweep *s, struct error *error)
{
    for (uint32_t k = 0; k < s->t->n; k++)
        s->t->m[k].error.text[0] = '\0';
    const osafl_status status = pool_run(s->e->session->context.pool, s->t->n, 1, sweep_chunk, s);
    for (uint32_t k = 0; status != OSAFL_OK && k < s->t->n; k++)
        if (s->t->m[k].error.text[0] != '\0')
            return error_set(error, status, "%s", s->t->m[k].error.text);
    return status == OSAFL_OK ? OSAFL_OK : error_set(error, status, "measuring failed");
}

static struct client_objective objective_of(const struct sweep *s, uint32_t k, struct worker *w)
{
    return (struct client_objective){.session = s->e->session,
                                     .worker = w,
                                     .store = world_store(s->e->world, s->t->of[k]),
                                     .client = s->t->of[k],
                                     .round = s->e->round,
                                     .weight_decay = s->t->known.weight_decay};
}

static osafl_status find_value(const struct sweep *s, uint32_t k, struct worker *w)
{
    const struct client_objective o = objective_of(s, k, w);
    return objective_value(&o, s->at, &s->t->m[k].at, NULL);
}

static osafl_status find_all(const struct sweep *s, uint32_t k, struct worker *w)
{
    struct theory *t = s->t;
    struct measured *m = &t->m[k];
    const struct client_objective o = objective_of(s, k, w);
    OSAFL_TRY(objective_value(&o, s->at, &m->value, m->gradient));
    OSAFL_TRY(objective_variance(&o, s->at, m->gradient, &m->variance));
    m->beta = t->o.smoothness;
    return t->known.is_linear && isnan(m->beta) ? objective_linear_smoothness(&o, &m->beta)
                                                : OSAFL_OK;
}

/* ---- directions ---------------------------------------------------------------------------- */

/* An update as Q(d_u): the mean gradient over its steps times eta_lo. */
static osafl_status decode_direction(const struct engine *e, const struct train_task *task,
                                     const struct train_result *r, float *out, struct error *error)
{
    const struct session *s = e->session;
    double factor = (double)task->local_rounds / (double)r->steps;
    osafl_call c;
    call_begin(&c, session_uplink(s), task->client, task->round);
    const osafl_status status = codec_decode(&s->codec, &c, &r->code[0], 0, s->codec.dim, out);
    OSAFL_TRY(call_end_named(&c, status, error));
    if (s->aggregator.sends == OSAFL_SENDS_DELTA)
        factor = -1.0 / (double)r->steps;
    else if (s->aggregator.sends == OSAFL_SENDS_PER_RATE)
        factor *= r->rate;
    for (uint64_t i = 0; i < s->codec.dim; i++)
        out[i] = (float)(factor * (double)out[i]);
    return OSAFL_OK;
}

/* Whether a replica loses the update. */
static bool replica_loses(const struct engine *e, uint32_t client)
{
    const double probability = e->session->experiment->uplink.loss_probability;
    uint32_t word[2];
    streams_fill(e->session->context.seed, 0, STREAM_UPLINK_LOSS, client, e->round, 0, word, 2);
    return osafl_uniform(word) < probability;
}

/* Trains once more from w^t, under the seed that is set. */
static osafl_status train_replica(const struct sweep *s, uint32_t k, struct worker *w)
{
    struct engine *e = s->e;
    struct measured *m = &s->t->m[k];
    struct client_state state = {0};
    struct train_task task = e->task[k];
    struct train_result *result = &s->t->replica[k];
    task.w = s->at;
    task.state = &state;
    task.lost = false;
    task.measure_error = true;
    m->arrives = !replica_loses(e, task.client);
    if (!m->arrives)
        return OSAFL_OK;
    osafl_status status = train_client(e->session, &task, w, result);
    if (status == OSAFL_OK && result->outcome != TRAIN_ARRIVED)
        status = error_set(&w->error, OSAFL_E_NUMERIC, "a replica of round %u diverged", e->round);
    if (status == OSAFL_OK)
        status = decode_direction(e, &task, result, m->direction, &w->error);
    if (status == OSAFL_OK && !isnan(result->code_error)) {
        m->code_error += result->code_error;
        m->coded++;
    }
    client_state_free(&state);
    return status;
}

/* t->step = eta_ef sum alpha delta Q(d) over those whose update arrives. */
static void add_directions(struct theory *t)
{
    memset(t->step, 0, (size_t)t->dim * sizeof *t->step);
    for (uint32_t k = 0; k < t->n; k++) {
        const double weight = t->facts.eta_ef * t->client[k].alpha * t->client[k].delta;
        for (uint64_t i = 0; t->m[k].arrives && i < t->dim; i++)
            t->step[i] += weight * (double)t->m[k].direction[i];
    }
}

/* ---- the parts of the bound ---------------------------------------------------------------- */

/* delta_u and eta_ef as the aggregator reports them; without such metrics FedAvg's weights. */
static void find_scores(struct theory *t, const struct engine *e)
{
    double arrived = 0.0;
    t->n = e->n_tasks;
    for (uint32_t k = 0; k < t->n; k++) {
        const uint32_t u = e->task[k].client;
        const double alpha = world_alpha(e->world, u);
        double score = 1.0;
        t->of[k] = u;
        if (results_client_metric(t->results, "score", u, &score) && isnan(score))
            score = 0.0;
        t->m[k].arrives = e->result[k].outcome == TRAIN_ARRIVED;
        arrived += t->m[k].arrives ? alpha : 0.0;
        t->client[k] = (struct theory_client){
            .alpha = alpha,
            .delta = score,
            .v = 1.0 - e->session->experiment->uplink.loss_probability,
            .kappa = (double)e->result[k].steps,
        };
    }
    t->facts = (struct theory_facts){.client = t->client,
                                     .n = t->n,
                                     .eta_lo = e->learning_rate,
                                     .eta_ef = 1.0 / arrived,
                                     .q = t->known.q};
    (void)results_round_metric(t->results, "step_control", &t->facts.eta_ef);
}

/* eta_gl of the step that the server took, and how far it is from the theorem's. */
static osafl_status find_step(struct theory *t, const struct engine *e, struct error *error)
{
    double product = 0.0;
    double norm2 = 0.0;
    double step2 = 0.0;
    double rest2 = 0.0;
    for (uint32_t k = 0; k < t->n; k++)
        if (t->m[k].arrives)
            OSAFL_TRY(decode_direction(e, &e->task[k], &e->result[k], t->m[k].direction, error));
    add_directions(t);
    for (uint64_t i = 0; i < t->dim; i++) {
        const double taken = (double)t->before[i] - (double)e->w[i];
        product += taken * t->step[i];
        norm2 += t->step[i] * t->step[i];
        step2 += taken * taken;
    }
    t->facts.eta_gl = product / norm2;
    for (uint64_t i = 0; i < t->dim; i++) {
        const double taken = (double)t->before[i] - (double)e->w[i];
        const double rest = taken - t->facts.eta_gl * t->step[i];
        rest2 += rest * rest;
    }
    t->gap = sqrt(rest2 / step2);
    if (t->gap <= MOST_GAP || isnan(t->gap))
        return OSAFL_OK;
    return error_set(error, OSAFL_E_CONFIG,
                     "--measure theory: in round %u aggregator/%s takes another step than the "
                     "theorem's, w - eta_gl eta_ef sum alpha delta Q(d) (they are %.2g apart); "
                     "osafl takes it, and fedavg where all clients take as many SGD steps",
                     e->round, e->session->instance[OSAFL_KIND_AGGREGATOR].plugin->name, t->gap);
}

static double weighted(const struct theory *t)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < t->n; k++)
        sum += t->client[k].alpha * t->client[k].delta * t->m[k].at;
    return sum;
}

/* grad f^t, in t->step, and what the gradients of the clients say. */
static void find_gradients(struct theory *t, const struct engine *e)
{
    const double batch = (double)e->session->facts.batch;
    struct theory_facts *f = &t->facts;
    memset(t->step, 0, (size_t)t->dim * sizeof *t->step);
    for (uint32_t k = 0; k < t->n; k++) {
        const double weight = t->client[k].alpha * t->client[k].delta;
        f->value += weight * t->m[k].value;
        f->beta = fmax(f->beta, t->m[k].beta);
        if (isnan(t->m[k].beta))
            f->beta = (double)NAN;
        for (uint64_t i = 0; i < t->dim; i++)
            t->step[i] += weight * (double)t->m[k].gradient[i];
    }
    for (uint64_t i = 0; i < t->dim; i++)
        f->gradient2 += t->step[i] * t->step[i];
    for (uint32_t k = 0; k < t->n; k++) {
        const double stored = (double)e->task[k].store.n;
        const double size = fmin(batch, stored);
        double distance2 = 0.0;
        for (uint64_t i = 0; i < t->dim; i++) {
            const double d = (double)t->m[k].gradient[i] - t->step[i];
            distance2 += d * d;
        }
        f->varpi2 = fmax(f->varpi2, distance2);
        if (stored > 1.0) /* a mini-batch is drawn without replacement */
            f->sigma2 = fmax(f->sigma2, t->m[k].variance / size * (stored - size) / (stored - 1.0));
    }
}

static void add_value(struct moments *m, double value)
{
    m->sum += value;
    m->squares += value * value;
    m->n++;
}

/* NAN: of no values, and the standard error of one. */
static double mean_of(const struct moments *m)
{
    return m->sum / (double)m->n;
}

static double error_of(const struct moments *m)
{
    const double mean = mean_of(m);
    return sqrt(fmax(0.0, m->squares / (double)m->n - mean * mean) / ((double)m->n - 1.0));
}

/* f^t at t->other. */
static osafl_status add_other(struct theory *t, struct engine *e, struct moments *m,
                              struct error *error)
{
    struct sweep judge = {.t = t, .e = e, .at = t->other, .one = find_value};
    OSAFL_TRY(sweep_tasks(&judge, error));
    add_value(m, weighted(t));
    return OSAFL_OK;
}

/* The round under the seed that is set: with the run's scores and step, and with its own. */
static osafl_status replicate(struct theory *t, struct engine *e, struct moments *held,
                              struct error *error)
{
    struct sweep train = {.t = t, .e = e, .at = t->before, .one = train_replica};
    OSAFL_TRY(sweep_tasks(&train, error));
    add_directions(t);
    for (uint64_t i = 0; i < t->dim; i++)
        t->other[i] = (float)((double)t->before[i] - t->facts.eta_gl * t->step[i]);
    OSAFL_TRY(add_other(t, e, held, error));
    if (t->server.state == NULL)
        return OSAFL_OK;
    memcpy(t->other, t->before, (size_t)t->dim * sizeof *t->other);
    OSAFL_TRY(theory_server_step(&t->server, e, t->replica, t->other, error));
    return add_other(t, e, &t->rescored, error);
}

/* The largest of the clients' mean errors of their codes. */
static double measured_q(const struct theory *t)
{
    double most = (double)NAN;
    for (uint32_t k = 0; k < t->n; k++) {
        if (t->m[k].coded > 0)
            most = fmax(most, t->m[k].code_error / (double)t->m[k].coded);
    }
    return most;
}

/* E f^t(w^{t+1}) over replicas: the round under other seeds, which hear of nothing. */
static osafl_status find_expectation(struct theory *t, struct engine *e, struct error *error)
{
    struct session *s = e->session;
    const uint64_t seed = s->context.seed;
    void (*sink[LOADER_KINDS + 1])(void *, uint32_t, uint32_t, double) = {NULL};
    struct moments held = {0};
    osafl_status status = OSAFL_OK;
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        sink[kind] = s->instance[kind].metric;
        s->instance[kind].metric = NULL;
    }
    for (uint32_t k = 0; k < t->n; k++) {
        t->m[k].coded = 0;
        t->m[k].code_error = 0.0;
    }
    t->rescored = (struct moments){0};
    for (uint32_t r = 0; status == OSAFL_OK && r < t->o.replicas; r++) {
        s->context.seed = seed ^ (0x9e3779b97f4a7c15u * ((uint64_t)r + 1));
        status = replicate(t, e, &held, error);
        for (uint32_t k = 0; k < t->n; k++)
            train_result_free(s, &t->replica[k]);
    }
    s->context.seed = seed;
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        s->instance[kind].metric = sink[kind];
    t->facts.expected = mean_of(&held);
    t->expected_se = error_of(&held);
    t->q_measured = measured_q(t);
    return status;
}

/* Adds the round to the sums; now: f^t(w^{t+1}) before arrivals. */
static void telescope(struct theory *t, double now)
{
    struct telescope *s = &t->sum;
    const struct theory_facts *f = &t->facts;
    const struct theory_bound *b = &t->bound;
    const double step = f->eta_gl * f->eta_lo;
    if (t->rounds > 1)
        s->drift += 2.0 * (s->drift_data + t->drift_scores) / s->step;
    s->lhs += b->lhs;
    s->descent += 2.0 * (f->value - now) / step;
    s->omega += b->omega_sigma + b->omega_varpi;
    s->step = step;
}

static void count_round(struct theory *t)
{
    const struct theory_bound *b = &t->bound;
    const double doubt = DOUBT * 2.0 * t->expected_se / fabs(t->facts.eta_gl * t->facts.eta_lo);
    const bool holds = theory_conditions_hold(b);
    t->rounds++;
    t->holding += holds;
    t->broken += holds && b->rhs_printed + doubt < b->lhs;
    t->repaired += b->repaired_applies > 0.0;
    t->repaired_broken +=
        b->repaired_applies > 0.0 && b->rhs_repaired + doubt < b->t6_repaired * b->lhs;
    t->least = fmin(t->least, b->rhs / b->lhs);
    t->most = fmax(t->most, b->rhs / b->lhs);
}

/* ---- for the engine ------------------------------------------------------------------------ */

osafl_status theory_keep(struct theory *t, const struct engine *e, struct error *error)
{
    memcpy(t->before, e->w, (size_t)t->dim * sizeof *t->before);
    return theory_server_keep(&t->server, e, error);
}

osafl_status theory_measure(struct theory *t, struct engine *e, struct error *error)
{
    struct sweep all = {.t = t, .e = e, .at = t->before, .one = find_all};
    t->has_round = e->n_updates > 0;
    if (!t->has_round)
        return OSAFL_OK;
    find_scores(t, e);
    OSAFL_TRY(find_step(t, e, error));
    OSAFL_TRY(sweep_tasks(&all, error));
    find_gradients(t, e);
    OSAFL_TRY(find_expectation(t, e, error));
    t->drift_scores = t->facts.value - t->sum.after;
    t->bound = theory_bound(&t->facts);
    count_round(t);
    struct sweep now = {.t = t, .e = e, .at = e->w, .one = find_value};
    OSAFL_TRY(sweep_tasks(&now, error));
    telescope(t, weighted(t));
    for (uint32_t k = 0; k < t->n; k++)
        t->m[k].value = t->m[k].at; /* f_u(w^{t+1}) on D^t, for the drift of the data */
    return OSAFL_OK;
}

static double least_probability(const struct theory *t)
{
    double least = 1.0;
    for (size_t k = 0; k < t->facts.n; k++)
        least = fmin(least, t->client[k].v);
    return least;
}

/* Empty in a round without updates. */
static void write_values(struct theory *t, const double *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_real(t->table, t->has_round ? value[i] : (double)NAN);
}

/* What the theorem leaves out, and the sums over the rounds. */
static void write_further(struct theory *t)
{
    const double rescored = mean_of(&t->rescored);
    const double step = t->facts.eta_gl * t->facts.eta_lo;
    const double value[] = {t->q_measured,
                            rescored,
                            error_of(&t->rescored),
                            2.0 * (t->facts.value - rescored) / step,
                            t->sum.lhs,
                            t->sum.descent,
                            t->sum.drift,
                            t->sum.descent + t->sum.omega};
    write_values(t, value, sizeof value / sizeof value[0]);
}

static void write_row(struct theory *t, uint32_t round, double drift_data)
{
    const struct theory_facts *f = &t->facts;
    const struct theory_bound *b = &t->bound;
    const double value[] = {b->kappa,       f->eta_lo,
                            f->eta_gl,      f->eta_ef,
                            b->sum_score,   f->beta,
                            f->q,           f->sigma2,
                            f->varpi2,      least_probability(t),
                            t->gap,         f->value,
                            f->expected,    t->expected_se,
                            b->lhs,         b->descent,
                            b->omega_sigma, b->omega_sigma_printed,
                            b->omega_varpi, b->rhs,
                            b->rhs_printed, 2.0 * t->expected_se / fabs(f->eta_gl * f->eta_lo),
                            b->step_small,  b->rate_small,
                            b->slack,       b->scores_small,
                            b->t6,          b->repaired_applies,
                            b->t6_repaired, b->rhs_repaired,
                            drift_data,     t->drift_scores};
    csv_count(t->table, round);
    csv_count(t->table, t->has_round ? f->n : 0);
    write_values(t, value, sizeof value / sizeof value[0]);
    write_further(t);
    csv_end_row(t->table);
}

osafl_status theory_end_round(struct theory *t, struct engine *e, struct error *error)
{
    double drift = 0.0;
    if (t->has_round) {
        struct sweep now = {.t = t, .e = e, .at = e->w, .one = find_value};
        OSAFL_TRY(sweep_tasks(&now, error));
        for (uint32_t k = 0; k < t->n; k++)
            drift += t->client[k].alpha * t->client[k].delta * (t->m[k].at - t->m[k].value);
        t->sum.drift_data = drift;
        t->sum.after = weighted(t);
    }
    write_row(t, e->round, drift);
    return csv_flush(t->table, error);
}

void theory_describe(const struct engine *e, char *out, size_t size)
{
    const struct theory *t = e->theory;
    out[0] = '\0';
    if (t == NULL || t->rounds == 0)
        return;
    if (isnan(t->sum.omega)) {
        snprintf(out, size,
                 "theory: the right side of the bound and its conditions are unknown, as beta or q "
                 "is (--smoothness BETA; THEORY.md); the other columns are in theory.csv");
        return;
    }
    snprintf(out, size,
             "theory: the printed conditions held in %u of %u rounds, and the printed bound was "
             "broken in %u of them; the repaired form applied in %u, and was broken in %u; right "
             "side over left side from %.3g to %.3g, and %.3g summed over the rounds (theory.csv)",
             t->holding, t->rounds, t->broken, t->repaired, t->repaired_broken, t->least, t->most,
             (t->sum.descent + t->sum.omega) / t->sum.lhs);
}

/* ---- life ---------------------------------------------------------------------------------- */

static osafl_status check_size(const struct engine *e, const struct theory_options *o,
                               struct error *error)
{
    const struct session *s = e->session;
    if (s->codec.dim > THEORY_MOST_PARAMETERS && o->replicas > 1)
        return error_set(error, OSAFL_E_CONFIG,
                         "--measure theory: a model of %llu parameters takes %u times as long; "
                         "--measure theory=1 measures it with one replica",
                         (unsigned long long)s->codec.dim, o->replicas);
    return OSAFL_OK;
}

static bool make_arrays(struct theory *t, const struct engine *e)
{
    const uint32_t clients = e->session->facts.clients;
    t->before = memory_zeroed(t->dim, sizeof(float), VECTOR_ALIGNMENT);
    t->other = memory_zeroed(t->dim, sizeof(float), VECTOR_ALIGNMENT);
    t->step = memory_zeroed(t->dim, sizeof(double), VECTOR_ALIGNMENT);
    t->m = calloc(clients, sizeof *t->m);
    t->client = calloc(clients, sizeof *t->client);
    t->of = calloc(clients, sizeof *t->of);
    t->replica = calloc(clients, sizeof *t->replica);
    bool whole = t->before != NULL && t->other != NULL && t->step != NULL && t->m != NULL &&
                 t->client != NULL && t->of != NULL && t->replica != NULL;
    for (uint32_t u = 0; whole && u < clients; u++) {
        t->m[u].gradient = memory_zeroed(t->dim, sizeof(float), VECTOR_ALIGNMENT);
        t->m[u].direction = memory_zeroed(t->dim, sizeof(float), VECTOR_ALIGNMENT);
        whole = t->m[u].gradient != NULL && t->m[u].direction != NULL;
    }
    return whole;
}

static void free_arrays(struct theory *t, uint32_t clients)
{
    for (uint32_t u = 0; t->m != NULL && u < clients; u++) {
        memory_free(t->m[u].gradient);
        memory_free(t->m[u].direction);
    }
    memory_free(t->before);
    memory_free(t->other);
    memory_free(t->step);
    free(t->m);
    free(t->client);
    free(t->of);
    free(t->replica);
    theory_server_free(&t->server);
}

osafl_status theory_create(struct engine *e, const struct results *results, const char *folder,
                           const struct theory_options *o, struct error *error)
{
    char *path = NULL;
    struct theory_constants known;
    OSAFL_TRY(theory_constants_find(e->session, &known, error));
    OSAFL_TRY(check_size(e, o, error));
    struct theory *t = calloc(1, sizeof *t);
    if (t == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for measurements");
    *t = (struct theory){
        .o = *o,
        .results = results,
        .known = known,
        .dim = e->session->codec.dim,
        .clients = e->session->facts.clients,
        .least = HUGE_VAL,
        .sum = {.after = (double)NAN},
    };
    e->theory = t;
    if (!make_arrays(t, e) || asprintf(&path, "%s/" TABLE, folder) < 0)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for measurements");
    const osafl_status status = csv_writer_open(path, header, 0, &t->table, error);
    free(path);
    return status;
}

void theory_destroy(struct theory *t)
{
    if (t == NULL)
        return;
    csv_writer_close(t->table);
    free_arrays(t, t->clients);
    free(t);
}
