/* forecast.c - who will take part in a run. */
#include "forecast.h"

#include <math.h>

#include "base/error.h"
#include "base/text.h"
#include "engine.h"
#include "folding.h"
#include "late_updates.h"
#include "participation.h"
#include "results/results.h"

/* More client-rounds are not asked for, so that a check stays a matter of seconds. */
#define CLIENT_ROUNDS_MAX 200000

struct forecast {
    uint32_t rounds;
    uint32_t empty_rounds;   /* nobody takes part */
    uint32_t unasked_rounds; /* nobody is even asked */
    uint64_t client_rounds;
    uint64_t taking_part;
    uint64_t with_most; /* with max_local_rounds of them */
    uint64_t local_rounds;
    uint64_t steps;                             /* of SGD */
    uint64_t most_steps;                        /* in one round */
    uint64_t late;                              /* deliver in a later round */
    uint64_t outages;                           /* the true gain does not carry the upload */
    uint64_t stale;                             /* too late for the aggregator */
    uint64_t busy;                              /* under way from an earlier round */
    uint64_t most_under_way;                    /* in one round */
    uint64_t sitting_out[OSAFL_OUT_POLICY + 1]; /* by OSAFL_OUT_* */
    double compute_j;
    double upload_j;
    double receive_j;
    double payload_bits;
};

static void count_round(struct forecast *f, const struct participation *p, uint32_t most)
{
    const osafl_resource_answer *a = &p->answer;
    const uint64_t before = f->taking_part;
    const uint64_t under_way = f->busy + f->late;
    uint64_t steps = 0;
    for (uint32_t u = 0; u < a->clients; u++) {
        f->client_rounds++;
        if (p->busy[u]) {
            f->busy++;
            continue;
        }
        if (a->local_rounds[u] == 0) {
            f->sitting_out[a->reason[u]]++;
            continue;
        }
        f->outages += p->outage[u];
        f->stale += participation_is_stale(p, u);
        f->late += p->late[u] > 0 && !participation_is_stale(p, u);
        f->taking_part++;
        f->local_rounds += a->local_rounds[u];
        steps += engine_client_steps(p->session, a->local_rounds[u], world_stored(p->world)[u]);
        f->with_most += a->local_rounds[u] == most;
        f->compute_j += a->compute_j[u];
        f->upload_j += a->upload_j[u];
        f->receive_j += p->receive_j[u];
        f->payload_bits += p->payload_bits[u];
    }
    f->steps += steps;
    f->most_steps = steps > f->most_steps ? steps : f->most_steps;
    const uint64_t now = f->busy + f->late - under_way;
    f->most_under_way = now > f->most_under_way ? now : f->most_under_way;
    f->empty_rounds += f->taking_part == before;
    f->rounds++;
}

/* As if every update arrived that is not lost by an outage, and at once. */
static void note_history(struct participation *p, uint32_t round)
{
    const osafl_resource_answer *a = &p->answer;
    for (uint32_t u = 0; u < a->clients; u++) {
        if (a->local_rounds[u] == 0)
            continue;
        const struct history_update update = {
            .client = u,
            .start_round = round,
            .histogram = world_histogram(p->world, u),
            .train_loss = (double)NAN,
            .update_norm = (double)NAN,
            .seconds = p->receive_s[u] + a->compute_s[u] + a->upload_s[u],
        };
        history_note_joules(&p->history, u, p->receive_j[u] + a->compute_j[u] + a->upload_j[u]);
        if (!p->outage[u])
            history_note_update(&p->history, &update);
    }
}

static double percent(uint64_t part, uint64_t whole)
{
    return 100.0 * (double)part / (double)whole;
}

static void print_sitting_out(const struct forecast *f, FILE *to)
{
    const char *separator = "";
    if (f->taking_part + f->busy == f->client_rounds)
        return;
    fprintf(to, "%-22s ", "sitting out");
    for (uint32_t reason = 1; reason <= OSAFL_OUT_POLICY; reason++) {
        if (f->sitting_out[reason] == 0)
            continue;
        fprintf(to, "%s%s %.4g %%", separator, results_reason(reason),
                percent(f->sitting_out[reason], f->client_rounds));
        separator = ", ";
    }
    if (f->empty_rounds > 0)
        fprintf(to, "; %u round%s without anybody", f->empty_rounds, text_plural(f->empty_rounds));
    if (f->unasked_rounds > 0)
        fprintf(to, "; %u round%s in which no client is selected", f->unasked_rounds,
                text_plural(f->unasked_rounds));
    fputc('\n', to);
}

static void print_outages(const struct forecast *f, FILE *to)
{
    if (f->outages > 0)
        fprintf(to, "%-22s %.4g %% of those that take part, as their gains are lower than known\n",
                "lost by outage", percent(f->outages, f->taking_part));
}

static void print_late(const struct forecast *f, const struct session *s, FILE *to)
{
    if (f->late + f->stale == 0)
        return;
    fprintf(to,
            "%-22s %.4g %% of those that take part deliver in a later round, %.4g %% too late for "
            "the aggregator (at most %u round%s); busy in %.4g %% of the client-rounds\n",
            "late", percent(f->late, f->taking_part), percent(f->stale, f->taking_part),
            s->aggregator.max_staleness, text_plural(s->aggregator.max_staleness),
            percent(f->busy, f->client_rounds));
    if (f->late > 0 && s->experiment->training.enabled)
        fprintf(to, "%-22s at most %.1f MiB in memory, for up to %llu at a time\n", "  under way",
                (double)f->most_under_way / (1024.0 * 1024.0) *
                    (double)late_updates_held_bytes(&s->codec, s->slots, s->dataset.labels),
                (unsigned long long)f->most_under_way);
}

/* What the updates of a round take in memory. */
static void print_updates(const struct forecast *f, const struct session *s, FILE *to)
{
    const double mib = 1024.0 * 1024.0;
    const double clients = (double)f->taking_part / (double)f->rounds;
    const double one = s->slots * codec_payload_bits(&s->codec) / (8.0 * mib);
    const bool folds = folding_is_possible(s) && clients > FOLDING_PER_THREAD;
    if (folds)
        fprintf(to,
                "%-22s %.1f MiB for each thread, where %d at a time are added up as they are made, "
                "and %.1f MiB for the sum\n",
                "updates of a round", FOLDING_PER_THREAD * one, FOLDING_PER_THREAD,
                (double)s->codec.dim * sizeof(double) / mib);
    else
        fprintf(to,
                "%-22s %.1f MiB in memory until they are aggregated, as many bits as go over "
                "the link\n",
                "updates of a round", clients * one);
    fprintf(to,
            "%-22s %.1f MiB for tasks, results and what the aggregator is told of each client\n",
            "  their tables", clients * (double)engine_trainee_bytes(s, !folds) / mib);
}

static void print(const struct forecast *f, const struct session *s, FILE *to)
{
    const double rounds = (double)f->rounds;
    fprintf(to, "%-22s %.4g %% of the %llu client-round%s", "taking part",
            percent(f->taking_part, f->client_rounds), (unsigned long long)f->client_rounds,
            text_plural(f->client_rounds));
    if (f->rounds < s->facts.rounds)
        fprintf(to, " of the first %u round%s", f->rounds, text_plural(f->rounds));
    fputc('\n', to);
    print_sitting_out(f, to);
    if (f->taking_part == 0) {
        fputs("warning: no client can take part in these rounds, so the model would stay as it is; "
              "raise deadline_s or what the reasons above name\n",
              to);
        return;
    }
    fprintf(to, "%-22s mean %.2f; all %u in %.4g %% of the client-rounds\n", "local rounds",
            (double)f->local_rounds / (double)f->taking_part, s->facts.max_local_rounds,
            percent(f->with_most, f->client_rounds));
    print_late(f, s, to);
    print_outages(f, to);
    if (s->experiment->training.enabled)
        fprintf(to, "%-22s mean %.0f, at most %llu\n", "steps of a round",
                (double)f->steps / rounds, (unsigned long long)f->most_steps);
    if (s->experiment->downlink.enabled)
        fprintf(to, "%-22s %.4g J of receiving, %.4g Mbit for all\n", "downlink",
                f->receive_j / rounds, 1e-6 * participation_downlink_bits(s));
    fprintf(to, "%-22s %.4g J of computing, %.4g J of sending, %.4g Mbit of payload\n",
            "a round's mean cost", f->compute_j / rounds, f->upload_j / rounds,
            1e-6 * f->payload_bits / rounds);
    if (s->experiment->training.enabled)
        print_updates(f, s, to);
}

osafl_status forecast_print(const struct session *s, struct world *world, FILE *to,
                            struct error *error)
{
    struct forecast f = {0};
    struct participation p;
    osafl_status status = OSAFL_OK;
    if (!participation_create(s, world, &p))
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for %u clients", s->facts.clients);
    while (status == OSAFL_OK && f.rounds < s->facts.rounds &&
           (f.rounds == 0 || f.client_rounds + s->facts.clients <= CLIENT_ROUNDS_MAX)) {
        status = world_begin_round(world, f.rounds, participation_begin(&p, f.rounds), error);
        if (status == OSAFL_OK)
            status = participation_decide(&p, f.rounds, error);
        if (status != OSAFL_OK)
            break;
        count_round(&f, &p, s->facts.max_local_rounds);
        f.unasked_rounds += p.n_asked == 0;
        note_history(&p, f.rounds - 1);
        status = world_count_arrivals(world, f.rounds - 1, error);
        history_note_arrivals(&p.history, world_arrivals(world));
    }
    participation_destroy(&p);
    if (status == OSAFL_OK)
        print(&f, s, to);
    return status;
}
