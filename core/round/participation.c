/* participation.c - who takes part in a round, and with what effort. */
#include "participation.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decibels.h"
#include "base/error.h"
#include "base/streams.h"
#include "osafl/random.h"

static uint32_t count_clients(const struct participation *p)
{
    return p->session->facts.clients;
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Of a client's part in the resource policy's answer. */
#define ANSWER_BYTES (8 * sizeof(double))

static bool make_answer(struct participation *p)
{
    const size_t n = count_clients(p);
    double *memory = calloc(n, ANSWER_BYTES);
    if (memory == NULL)
        return false;
    uint32_t *counts = (uint32_t *)(void *)(memory + 7 * n);
    p->answer_memory = memory;
    p->answer = (osafl_resource_answer){
        .struct_size = sizeof p->answer,
        .clients = (uint32_t)n,
        .clock_hz = memory,
        .power_w = memory + n,
        .bandwidth_hz = memory + 2 * n,
        .compute_s = memory + 3 * n,
        .upload_s = memory + 4 * n,
        .compute_j = memory + 5 * n,
        .upload_j = memory + 6 * n,
        .local_rounds = counts,
        .reason = counts + n,
    };
    return true;
}

bool participation_create(const struct session *s, const struct world *world,
                          struct participation *out)
{
    *out = (struct participation){.session = s, .world = world};
    const size_t n = count_clients(out);
    out->carries = s->experiment->uplink.late.index == LATE_CARRY;
    out->asked = calloc(n, sizeof *out->asked);
    out->there = calloc(n, sizeof *out->there);
    out->busy = calloc(n, sizeof *out->busy);
    out->late = calloc(n, sizeof *out->late);
    out->free_from = calloc(n, sizeof *out->free_from);
    out->gain = calloc(n, sizeof *out->gain);
    out->known_gain = calloc(n, sizeof *out->known_gain);
    out->outage = calloc(n, sizeof *out->outage);
    out->receive_s = calloc(n, sizeof *out->receive_s);
    out->receive_j = calloc(n, sizeof *out->receive_j);
    out->energy_left_j = calloc(n, sizeof *out->energy_left_j);
    const bool places = s->experiment->results.places;
    if (places)
        out->place = calloc(n, sizeof *out->place);
    out->most_bits_per_s = calloc(n, sizeof *out->most_bits_per_s);
    out->payload_bits = calloc(n, sizeof *out->payload_bits);
    return make_answer(out) && (!places || out->place != NULL) && out->asked != NULL &&
           out->there != NULL && out->busy != NULL && out->late != NULL && out->free_from != NULL &&
           out->gain != NULL && out->known_gain != NULL && out->receive_s != NULL &&
           out->receive_j != NULL && out->energy_left_j != NULL && out->outage != NULL &&
           out->most_bits_per_s != NULL && out->payload_bits != NULL &&
           history_create(&out->history, count_clients(out), s->dataset.labels);
}

uint64_t participation_bytes(uint32_t clients, uint32_t labels)
{
    const size_t client = ANSWER_BYTES + 7 * sizeof(double) + 2 * sizeof(uint32_t) + 4;
    return clients * (uint64_t)client + history_bytes(clients, labels);
}

void participation_destroy(struct participation *p)
{
    free(p->asked);
    free(p->there);
    free(p->busy);
    free(p->late);
    free(p->free_from);
    free(p->gain);
    free(p->receive_s);
    free(p->receive_j);
    free(p->energy_left_j);
    free(p->known_gain);
    free(p->outage);
    free(p->place);
    free(p->most_bits_per_s);
    free(p->payload_bits);
    history_destroy(&p->history);
    free(p->answer_memory);
    *p = (struct participation){0};
}

/* ---- channel ------------------------------------------------------------------------------- */

static osafl_status ask_channel(struct participation *p, uint32_t round, struct error *error)
{
    const struct instance *channel = &p->session->instance[OSAFL_KIND_CHANNEL];
    osafl_call c;
    call_begin(&c, channel, OSAFL_NO_CLIENT, round);
    osafl_status status = session_channel(p->session)->gains(channel->self, &c, round, p->gain);
    for (uint32_t u = 0; status == OSAFL_OK && u < count_clients(p); u++)
        if (!(p->gain[u] >= 0.0 && isfinite(p->gain[u])))
            status = core_host.fail(&c, OSAFL_E_NUMERIC, "gains() gives client %u a gain of %g", u,
                                    p->gain[u]);
    return call_end_named(&c, status, error);
}

/* ---- what is known of the gains ------------------------------------------------------------ */

bool participation_estimates(const struct session *s)
{
    const struct uplink_settings *uplink = &s->experiment->uplink;
    return uplink->gain_error_db > 0.0 || uplink->gain_margin_db > 0.0;
}

static void estimate_gains(struct participation *p, uint32_t round)
{
    const struct uplink_settings *uplink = &p->session->experiment->uplink;
    memcpy(p->known_gain, p->gain, count_clients(p) * sizeof *p->gain);
    for (uint32_t u = 0; participation_estimates(p->session) && u < count_clients(p); u++) {
        uint32_t word[4];
        streams_fill(p->session->context.seed, 0, STREAM_GAIN_ERROR, u, round, 0, word, 4);
        const double error_db = uplink->gain_error_db * osafl_normal(word) - uplink->gain_margin_db;
        p->known_gain[u] = fmin(p->gain[u] * pow(10.0, error_db / 10.0), DBL_MAX);
    }
}

/* The capacity of a link, bit/s. */
static double capacity(double bandwidth_hz, double snr)
{
    return bandwidth_hz * log1p(snr) / log(2.0);
}

/* A policy's answer may keep a limit, and a rate be met, up to rounding. */
#define TOLERANCE 1e-9

/* The client sends at the rate that the policy planned; whatever is above the capacity that the
 * true gain leaves is lost, but for what is sent without a code. */
static void note_outages(struct participation *p)
{
    const osafl_resource_answer *a = &p->answer;
    const bool may_lose =
        participation_estimates(p->session) &&
        !plugin_has_feature(p->session->instance[OSAFL_KIND_AGGREGATOR].plugin, "analog");
    for (uint32_t u = 0; may_lose && u < count_clients(p); u++) {
        const double noise_w = a->bandwidth_hz[u] * p->session->link.noise_w_per_hz;
        const double bits_per_s =
            capacity(a->bandwidth_hz[u], p->gain[u] * a->power_w[u] / noise_w);
        const double carried = bits_per_s * a->upload_s[u] * (1.0 + TOLERANCE);
        p->outage[u] =
            a->local_rounds[u] > 0 && a->upload_s[u] > 0.0 && !(p->payload_bits[u] <= carried);
    }
}

static osafl_status ask_places(struct participation *p, uint32_t round, struct error *error)
{
    const struct instance *channel = &p->session->instance[OSAFL_KIND_CHANNEL];
    osafl_call c;
    if (p->place == NULL)
        return OSAFL_OK;
    call_begin(&c, channel, OSAFL_NO_CLIENT, round);
    osafl_status status =
        session_channel(p->session)->place(channel->self, &c, round, sizeof *p->place, p->place);
    for (uint32_t u = 0; status == OSAFL_OK && u < count_clients(p); u++)
        if (p->place[u].line_of_sight > 1)
            status = core_host.fail(&c, OSAFL_E_BUG,
                                    "place() gives client %u a line of sight of %u, where 1 is in "
                                    "sight and 0 is not",
                                    u, p->place[u].line_of_sight);
    return call_end_named(&c, status, error);
}

/* ---- downlink ------------------------------------------------------------------------------ */

double participation_downlink_bits(const struct session *s)
{
    const double set = s->experiment->downlink.bits;
    const double numbers = (double)s->facts.dim + (double)s->aggregator.broadcast_floats;
    return set > 0.0 ? set : 32.0 * numbers;
}

/* The base station sends to all with its whole power and bandwidth, and each client listens for as
 * long as its own link needs. */
static void note_downlink(struct participation *p)
{
    const struct downlink_settings *d = &p->session->experiment->downlink;
    const double snr =
        watts_of_dbm(d->power_dbm) / (d->bandwidth_hz * watts_of_dbm(d->noise_dbm_per_hz));
    const double *budget_j = world_population(p->world)->energy_budget_j;
    memcpy(p->energy_left_j, budget_j, count_clients(p) * sizeof *budget_j);
    for (uint32_t u = 0; d->enabled && u < count_clients(p); u++) {
        const double bits_per_s = capacity(d->bandwidth_hz, p->gain[u] * snr);
        p->receive_s[u] = fmin(participation_downlink_bits(p->session) / bits_per_s, DBL_MAX);
        p->receive_j[u] = fmin(p->receive_s[u] * d->receive_power_w, DBL_MAX);
        p->energy_left_j[u] = fmax(budget_j[u] - p->receive_j[u], 0.0);
    }
}

/* ---- payload ------------------------------------------------------------------------------- */

static osafl_packet packet_of(const struct participation *p, uint32_t client, uint32_t slot)
{
    return (osafl_packet){.struct_size = sizeof(osafl_packet),
                          .client = client,
                          .round = p->round,
                          .slot = slot,
                          .gain = p->known_gain[client],
                          .most_bits_per_s = p->most_bits_per_s[client]};
}

static void note_links(struct participation *p)
{
    const osafl_link *link = &p->session->link;
    const double noise_w = link->bandwidth_hz * link->noise_w_per_hz;
    for (uint32_t u = 0; u < count_clients(p); u++) {
        const double power_w = world_population(p->world)->power_max_w[u];
        p->most_bits_per_s[u] = capacity(link->bandwidth_hz, p->known_gain[u] * power_w / noise_w);
    }
}

/* What each client's update costs, by the quantizer's word. */
static osafl_status ask_payload(struct participation *p, struct error *error)
{
    const struct session *s = p->session;
    const double most = codec_payload_bits(&s->codec);
    for (uint32_t u = 0; u < count_clients(p); u++) {
        p->payload_bits[u] = s->slots * most;
        if (!codec_adapts(&s->codec))
            continue;
        p->payload_bits[u] = 0.0;
        for (uint32_t slot = 0; slot < s->slots; slot++) {
            const osafl_packet packet = packet_of(p, u, slot);
            double bits = 0.0;
            osafl_call c;
            call_begin(&c, session_uplink(s), u, p->round);
            osafl_status status = codec_packet_bits(&s->codec, &c, &packet, &bits);
            if (status == OSAFL_OK && !(bits > 0.0 && bits <= most))
                status = core_host.fail(&c, OSAFL_E_BUG,
                                        "packet_bits() gives %g, which is not in (0, %g]; this is "
                                        "a bug of the plugin",
                                        bits, most);
            OSAFL_TRY(call_end_named(&c, status, error));
            p->payload_bits[u] += bits;
        }
    }
    return OSAFL_OK;
}

/* ---- selection ----------------------------------------------------------------------------- */

/* Who is busy cannot be asked. */
static void note_there(struct participation *p, uint32_t round)
{
    for (uint32_t u = 0; u < count_clients(p); u++) {
        p->busy[u] = p->free_from[u] > round;
        p->there[u] = world_present(p->world)[u] && !p->busy[u];
    }
}

bool participation_has_candidates(const struct participation *p)
{
    return memchr(p->there, 1, count_clients(p)) != NULL;
}

static osafl_status check_asked(struct participation *p, osafl_call *c)
{
    p->n_asked = 0;
    for (uint32_t u = 0; u < count_clients(p); u++) {
        if (p->asked[u] > 1)
            return core_host.fail(c, OSAFL_E_BUG,
                                  "choose() gives client %u a %u, where 1 is asked and 0 is not", u,
                                  (unsigned)p->asked[u]);
        if (p->asked[u] && !p->there[u])
            return core_host.fail(c, OSAFL_E_BUG, "choose() asks client %u, which is not there", u);
        p->n_asked += p->asked[u];
    }
    return OSAFL_OK;
}

static osafl_status ask_selection(struct participation *p, uint32_t round, struct error *error)
{
    const struct session *s = p->session;
    const struct population *population = world_population(p->world);
    const struct instance *selection = &s->instance[OSAFL_KIND_SELECTION];
    const osafl_selection_problem problem = {
        .struct_size = sizeof problem,
        .clients = population->clients,
        .round = round,
        .present = p->there,
        .gain = p->known_gain,
        .samples = world_stored(p->world),
        .energy_budget_j = population->energy_budget_j,
        .history = &p->history.view,
    };
    memset(p->asked, 0, count_clients(p));
    osafl_call c;
    call_begin(&c, selection, OSAFL_NO_CLIENT, round);
    osafl_status status = session_selection(s)->choose(selection->self, &c, &problem, p->asked);
    if (status == OSAFL_OK)
        status = check_asked(p, &c);
    OSAFL_TRY(call_end_named(&c, status, error));
    history_note_asked(&p->history, p->asked);
    return OSAFL_OK;
}

/* ---- resource policy ----------------------------------------------------------------------- */

static void clear_answer(struct participation *p)
{
    const size_t n = count_clients(p);
    memset(p->answer_memory, 0, n * ANSWER_BYTES);
    for (size_t u = 0; u < n; u++)
        p->answer.bandwidth_hz[u] = p->session->link.bandwidth_hz;
}

static bool is_amount(double x)
{
    return x >= 0.0 && isfinite(x);
}

/* An answer that the rest of the round can rely on. */
static osafl_status check_answer(const struct participation *p, osafl_call *c)
{
    const osafl_resource_answer *a = &p->answer;
    for (uint32_t u = 0; u < count_clients(p); u++) {
        const bool in = a->local_rounds[u] > 0;
        if (a->local_rounds[u] > p->session->facts.max_local_rounds)
            return core_host.fail(c, OSAFL_E_BUG, "solve() gives client %u %u local rounds", u,
                                  a->local_rounds[u]);
        if (a->reason[u] > OSAFL_OUT_POLICY || in == (a->reason[u] != 0))
            return core_host.fail(c, OSAFL_E_BUG,
                                  "solve() gives client %u %u local rounds with reason %u", u,
                                  a->local_rounds[u], a->reason[u]);
        if (in && !p->asked[u])
            return core_host.fail(c, OSAFL_E_BUG, "solve() lets client %u in, who was not asked",
                                  u);
        if (!is_amount(a->clock_hz[u]) || !is_amount(a->power_w[u]) ||
            !is_amount(a->bandwidth_hz[u]) || !is_amount(a->compute_s[u]) ||
            !is_amount(a->upload_s[u]) || !is_amount(a->compute_j[u]) || !is_amount(a->upload_j[u]))
            return core_host.fail(c, OSAFL_E_NUMERIC,
                                  "solve() gives client %u a value that is negative or not finite",
                                  u);
    }
    return OSAFL_OK;
}

double participation_sample_bits(const struct session *s)
{
    const double set = s->experiment->clients.sample_bits;
    /* The paper's cost model takes 128 x 128 samples of 32 bits a channel, whatever the network
     * really trains on: ALGORITHMS.md 2. */
    const double channels = s->dataset.rank >= 3 ? (double)s->dataset.shape[0] : 1.0;
    return set > 0.0 ? set : channels * 128.0 * 128.0 * 32.0;
}

static osafl_status ask_resource_policy(struct participation *p, uint32_t round,
                                        struct error *error)
{
    const struct session *s = p->session;
    const struct population *population = world_population(p->world);
    const struct instance *policy = &s->instance[OSAFL_KIND_RESOURCE];
    clear_answer(p);
    const osafl_resource_problem problem = {
        .struct_size = sizeof problem,
        .clients = population->clients,
        .round = round,
        .max_local_rounds = s->facts.max_local_rounds,
        .cost_steps = s->facts.cost_steps,
        .batch = s->facts.batch,
        .deadline_s = s->facts.deadline_s,
        .payload_bits = p->payload_bits,
        .noise_w_per_hz = s->link.noise_w_per_hz,
        .capacitance = s->experiment->clients.capacitance,
        .sample_bits = participation_sample_bits(s),
        .present = p->asked,
        .gain = p->known_gain,
        .bandwidth_hz = p->answer.bandwidth_hz,
        .cycles_per_bit = population->cycles_per_bit,
        .energy_budget_j = p->energy_left_j,
        .clock_max_hz = population->clock_max_hz,
        .power_max_w = population->power_max_w,
        .samples = world_stored(p->world),
        .history = &p->history.view,
        .receive_s = p->receive_s,
    };
    osafl_call c;
    call_begin(&c, policy, OSAFL_NO_CLIENT, round);
    osafl_status status = session_resource(s)->solve(policy->self, &c, &problem, &p->answer);
    if (status == OSAFL_OK)
        status = check_answer(p, &c);
    return call_end_named(&c, status, error);
}

/* ---- late updates -------------------------------------------------------------------------- */

/* Far later than any run lasts. */
#define NEVER INT32_MAX

static uint32_t rounds_late(double seconds, double deadline_s)
{
    const double rounds = ceil(seconds / deadline_s * (1.0 - TOLERANCE));
    if (rounds <= 1.0)
        return 0;
    return rounds < (double)NEVER ? (uint32_t)rounds - 1 : NEVER;
}

static void note_late(struct participation *p, uint32_t round)
{
    const osafl_resource_answer *a = &p->answer;
    for (uint32_t u = 0; p->carries && u < count_clients(p); u++) {
        p->late[u] = 0;
        if (a->local_rounds[u] == 0)
            continue;
        p->late[u] = rounds_late(p->receive_s[u] + a->compute_s[u] + a->upload_s[u],
                                 p->session->facts.deadline_s);
        p->free_from[u] = round + 1 + p->late[u];
    }
}

bool participation_is_stale(const struct participation *p, uint32_t client)
{
    return p->late[client] > p->session->aggregator.max_staleness;
}

const osafl_history *participation_begin(struct participation *p, uint32_t round)
{
    history_begin(&p->history, round, world_histogram(p->world, 0));
    return &p->history.view;
}

osafl_status participation_decide(struct participation *p, uint32_t round, struct error *error)
{
    p->round = round;
    note_there(p, round);
    OSAFL_TRY(ask_channel(p, round, error));
    OSAFL_TRY(ask_places(p, round, error));
    estimate_gains(p, round);
    note_downlink(p);
    note_links(p);
    OSAFL_TRY(ask_payload(p, error));
    OSAFL_TRY(ask_selection(p, round, error));
    OSAFL_TRY(ask_resource_policy(p, round, error));
    note_outages(p);
    note_late(p, round);
    return OSAFL_OK;
}
