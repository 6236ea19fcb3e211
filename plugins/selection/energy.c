/* energy.c - asks as many clients as their long-term energy allows, by Lyapunov queues.
 *
 * Xu and Wang, "Client selection and bandwidth allocation in wireless federated learning networks:
 * a long-term perspective", IEEE Transactions on Wireless Communications 20(2), 2021
 * (arXiv:2004.04314): client u has a queue of its energy deficit,
 * q_u <- max(q_u + spent - budget_u, 0), and drift plus penalty asks it where q_u * E_u < V, E_u
 * being the energy of a participation: what the last one took, the client's energy_budget_j before
 * the first.  Over T rounds a client spends at most T * budget_u + q_u. */
#include "shared/pick.h"

struct settings {
    double budget;
    double weight;
    int64_t most;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct settings, budget, 0.5, 0.0, 1.0,
               "Energy that a client may spend on average, as a share of what it may spend in a "
               "single round (clients.energy_budget_j)",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_REAL(struct settings, weight, 1.0, 0.0, DBL_MAX,
               "Weight V of participation: a larger one asks more clients and lets their deficits "
               "grow further",
               .unit = "J^2", .flags = OSAFL_P_LO_OPEN),
    OSAFL_INT(struct settings, most, 0, 0, INT32_MAX,
              "Most clients that are asked in a round; 0: no limit", .unit = "clients"),
};

static const osafl_metric metrics[] = {
    {"energy_deficit", "J", "Mean of the clients' queues of energy spent above the budget",
     OSAFL_PER_ROUND, OSAFL_LOWER},
};

struct queues {
    const struct settings *settings;
    uint32_t clients;
    double *deficit; /* [clients]: q_u */
    double *spent;   /* [clients]: joules up to the round before */
    double *last;    /* [clients]: joules of the last participation; 0 before */
};

static void destroy(void *self)
{
    struct queues *q = self;
    free(q->deficit);
    free(q);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct queues *q = calloc(1, sizeof *q);
    double *memory = calloc(facts->clients, 3 * sizeof *memory);
    if (q == NULL || memory == NULL) {
        free(q);
        free(memory);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    }
    *q = (struct queues){.settings = config,
                         .clients = facts->clients,
                         .deficit = memory,
                         .spent = memory + facts->clients,
                         .last = memory + 2 * (size_t)facts->clients};
    *self = q;
    return OSAFL_OK;
}

/* Brings the queues from the round before to this one. */
static void update_queues(struct queues *q, const osafl_selection_problem *p)
{
    for (uint32_t u = 0; u < q->clients; u++) {
        const double joules = p->history->joules[u] - q->spent[u];
        const double budget = q->settings->budget * p->energy_budget_j[u];
        q->spent[u] = p->history->joules[u];
        q->deficit[u] = fmax(q->deficit[u] + joules - budget, 0.0);
        if (joules > 0.0)
            q->last[u] = joules;
    }
}

static osafl_status choose(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked)
{
    struct queues *q = self;
    struct pick *list = c->host->scratch(c, ((uint64_t)p->clients + 1) * sizeof *list);
    if (list == NULL)
        return OSAFL_E_NOMEM;
    update_queues(q, p);
    uint32_t n = 0;
    double sum = 0.0;
    for (uint32_t u = 0; u < p->clients; u++) {
        const double energy = q->last[u] > 0.0 ? q->last[u] : p->energy_budget_j[u];
        const double drift = q->deficit[u] * energy;
        sum += q->deficit[u];
        if (p->present[u] && drift < q->settings->weight)
            list[n++] = (struct pick){.key = -drift, .client = u};
    }
    c->host->metric(c, 0, OSAFL_NO_CLIENT, sum / (double)p->clients);
    pick_sort(list, n);
    if (q->settings->most > 0 && (uint64_t)q->settings->most < n)
        n = (uint32_t)q->settings->most;
    pick_ask(list, n, asked);
    return OSAFL_OK;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *w)
{
    (void)c;
    const struct queues *q = self;
    return w->f64(w, "queues", q->deficit, 3 * (uint64_t)q->clients);
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *r)
{
    struct queues *q = self;
    OSAFL_TRY(r->f64(r, "queues", q->deficit, 3 * (uint64_t)q->clients));
    for (size_t i = 0; i < 3 * (size_t)q->clients; i++)
        if (!(q->deficit[i] >= 0.0 && isfinite(q->deficit[i])))
            return c->host->fail(c, OSAFL_E_STATE,
                                 "a queue or an energy is negative or not finite");
    return OSAFL_OK;
}

static const osafl_selection_vt vtable = {
    .life = {.struct_size = sizeof(osafl_selection_vt),
             .state_version = 1,
             .create = create,
             .destroy = destroy,
             .save = save,
             .load = load},
    .choose = choose,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_SELECTION,
    .name = "energy",
    .version = "1.0.0",
    .summary = "Asks as many clients as their long-term energy allows, by Lyapunov queues",
    .cite = "Xu and Wang, IEEE Transactions on Wireless Communications 2021 (arXiv:2004.04314)",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    OSAFL_PLUGIN_METRICS(metrics),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
