/* oort.c - asks the clients whose data help most for their time, and tries new ones.
 *
 * Lai, Zhu, Madhyastha and Chowdhury, "Oort: efficient federated learning via guided participant
 * selection", OSDI 2021, algorithm 1, with these readings:
 *   - the statistical utility is samples * mean training loss: a server knows the mean over the
 *     steps, not the root mean square over samples;
 *   - utilities are clipped at a quantile and divided by the largest before the term for staleness
 *     is added, as in the authors' program;
 *   - the preferred duration T is a setting, or the median of the clients' last durations, instead
 *     of the pacer's;
 *   - clients that have not taken part yet are tried uniformly at random. */
#include "shared/pick.h"

enum { DRAW_KNOWN, DRAW_NEW };

struct settings {
    PICK_SIZE_MEMBERS
    double exploration;
    double exploration_decay;
    double exploration_min;
    double cutoff;
    double clip;
    double penalty;
    double preferred_s;
};

static const osafl_param params[] = {
    PICK_SIZE_PARAMS(struct settings),
    OSAFL_REAL(struct settings, exploration, 0.9, 0.0, 1.0,
               "Share of new clients among those asked in the first round"),
    OSAFL_REAL(struct settings, exploration_decay, 0.98, 0.0, 1.0,
               "Factor by which that share falls from round to round"),
    OSAFL_REAL(struct settings, exploration_min, 0.2, 0.0, 1.0,
               "Share below which it does not fall"),
    OSAFL_REAL(struct settings, cutoff, 0.95, 0.0, 1.0,
               "Known clients are drawn from those with at least this share of the utility of the "
               "last that would have to be asked"),
    OSAFL_REAL(struct settings, clip, 0.95, 0.0, 1.0,
               "Quantile at which statistical utilities are clipped", .flags = OSAFL_P_LO_OPEN),
    OSAFL_REAL(
        struct settings, penalty, 2.0, 0.0, 1000.0,
        "Exponent alpha of the penalty (T / t_u)^alpha of a client that takes longer than T"),
    OSAFL_REAL(struct settings, preferred_s, 0.0, 0.0, DBL_MAX,
               "Preferred duration T of a participation; 0: the median of the clients' last ones",
               .unit = "s"),
};

/* Known and new clients that are there. */
struct pools {
    struct pick *known;
    struct pick *fresh;
    double *value; /* [clients], for quantiles */
    uint32_t n_known;
    uint32_t n_fresh;
};

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The nearest-rank quantile of n >= 1 values, which are sorted. */
static double quantile(double *value, uint32_t n, double share)
{
    qsort(value, n, sizeof *value, compare_values);
    const uint32_t rank = pick_ceil(n, share);
    return value[rank > 0 ? rank - 1 : 0];
}

static double preferred_duration(const struct settings *s, const osafl_selection_problem *p,
                                 const struct pools *l)
{
    if (s->preferred_s > 0.0)
        return s->preferred_s;
    for (uint32_t k = 0; k < l->n_known; k++)
        l->value[k] = p->history->seconds[l->known[k].client];
    return quantile(l->value, l->n_known, 0.5);
}

/* A training loss may be unknown, or below 0 for models whose loss is no logarithm. */
static double statistical_utility(const osafl_selection_problem *p, uint32_t u)
{
    const double loss = p->history->train_loss[u];
    return loss > 0.0 ? (double)p->samples[u] * loss : 0.0;
}

/* Utilities of the known clients into their keys. */
static void rate_known(const struct settings *s, const osafl_selection_problem *p, struct pools *l)
{
    const osafl_history *h = p->history;
    const double round = (double)p->round + 1.0;
    for (uint32_t k = 0; k < l->n_known; k++)
        l->value[k] = statistical_utility(p, l->known[k].client);
    const double most = quantile(l->value, l->n_known, s->clip);
    const double preferred = preferred_duration(s, p, l);
    for (uint32_t k = 0; k < l->n_known; k++) {
        const uint32_t u = l->known[k].client;
        const double utility = most > 0.0 ? fmin(statistical_utility(p, u) / most, 1.0) : 0.0;
        const double last = fmax(round - (double)h->age[u], 1.0);
        const double stale = sqrt(0.1 * log(round) / last);
        const double seconds = h->seconds[u];
        const double system = seconds > preferred ? pow(preferred / seconds, s->penalty) : 1.0;
        l->known[k].key = (utility + stale) * system;
    }
    pick_sort(l->known, l->n_known);
}

/* n of the known clients, drawn in proportion to their utility from those near enough to the best
 * n. */
static void ask_known(const struct settings *s, osafl_call *c, const osafl_selection_problem *p,
                      struct pools *l, uint32_t n, uint8_t *asked)
{
    if (n == 0)
        return;
    rate_known(s, p, l);
    const double floor = s->cutoff * l->known[n - 1].key;
    uint32_t near = 0;
    while (near < l->n_known && l->known[near].key >= floor)
        near++;
    for (uint32_t k = 0; k < near; k++)
        l->known[k].key =
            pick_random_key(c, DRAW_KNOWN, l->known[k].client, p->round, l->known[k].key);
    pick_sort(l->known, near);
    pick_ask(l->known, n, asked);
}

static osafl_status list_pools(osafl_call *c, const osafl_selection_problem *p, struct pools *l)
{
    const uint64_t room = (uint64_t)p->clients + 1;
    *l = (struct pools){.known = c->host->scratch(c, room * sizeof *l->known),
                        .fresh = c->host->scratch(c, room * sizeof *l->fresh),
                        .value = c->host->scratch(c, room * sizeof *l->value)};
    if (l->known == NULL || l->fresh == NULL || l->value == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t u = 0; u < p->clients; u++) {
        if (!p->present[u])
            continue;
        if (p->history->participations[u] > 0)
            l->known[l->n_known++] = (struct pick){.client = u};
        else
            l->fresh[l->n_fresh++] =
                (struct pick){.key = pick_random_key(c, DRAW_NEW, u, p->round, 1.0), .client = u};
    }
    pick_sort(l->fresh, l->n_fresh);
    return OSAFL_OK;
}

static osafl_status choose(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked)
{
    const struct settings *s = self;
    const uint32_t wanted = pick_size(p, s->count, s->share);
    const double exploration =
        fmax(s->exploration * pow(s->exploration_decay, (double)p->round), s->exploration_min);
    struct pools l;
    OSAFL_TRY(list_pools(c, p, &l));
    uint32_t fresh = (uint32_t)lround(fmin(exploration, 1.0) * (double)wanted);
    if (fresh > l.n_fresh)
        fresh = l.n_fresh;
    if (wanted - fresh > l.n_known)
        fresh = wanted - l.n_known;
    pick_ask(l.fresh, fresh, asked);
    ask_known(s, c, p, &l, wanted - fresh, asked);
    return OSAFL_OK;
}

static const osafl_selection_vt vtable = {
    .life = {.struct_size = sizeof(osafl_selection_vt)},
    .choose = choose,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_SELECTION,
    .name = "oort",
    .version = "1.0.0",
    .summary = "Asks the clients whose data help most for their time, and tries new ones",
    .cite = "Lai et al., OSDI 2021, without the pacer",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
