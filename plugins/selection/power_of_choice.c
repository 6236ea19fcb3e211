/* power_of_choice.c - draws candidates in proportion to their data and asks those of the largest
 * training loss.
 *
 * Cho, Wang and Joshi, "Towards understanding biased client selection in federated learning",
 * AISTATS 2022 (arXiv:2010.01243), in the variant rpow-d, which costs no extra messages: the loss
 * is the mean over the steps of the client's last participation, and counts as infinite before the
 * first. */
#include "shared/pick.h"

struct settings {
    PICK_SIZE_MEMBERS
    int64_t candidates;
};

static const osafl_param params[] = {
    PICK_SIZE_PARAMS(struct settings),
    OSAFL_INT(struct settings, candidates, 0, 0, INT32_MAX,
              "Candidates d of a round; 0: twice as many as are asked", .unit = "clients"),
};

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const struct settings *s = config;
    if (s->candidates == 0 || s->candidates >= s->count)
        return OSAFL_OK;
    return h->fail(c, OSAFL_E_CONFIG,
                   "candidates = %lld are fewer than count = %lld; raise candidates",
                   (long long)s->candidates, (long long)s->count);
}

static osafl_status choose(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked)
{
    const struct settings *s = self;
    const uint32_t wanted = pick_size(p, s->count, s->share);
    struct pick *list = c->host->scratch(c, ((uint64_t)p->clients + 1) * sizeof *list);
    if (list == NULL)
        return OSAFL_E_NOMEM;
    uint32_t n = 0;
    for (uint32_t u = 0; u < p->clients; u++)
        if (p->present[u])
            list[n++] = (struct pick){
                .key = pick_random_key(c, 0, u, p->round, (double)p->samples[u]), .client = u};
    pick_sort(list, n);
    const uint64_t d = s->candidates > 0 ? (uint64_t)s->candidates : 2 * (uint64_t)wanted;
    if (d < n)
        n = d > wanted ? (uint32_t)d : wanted;
    for (uint32_t k = 0; k < n; k++) {
        const double loss = p->history->train_loss[list[k].client];
        list[k].key = isnan(loss) ? HUGE_VAL : loss;
    }
    pick_sort(list, n);
    pick_ask(list, wanted, asked);
    return OSAFL_OK;
}

static const osafl_selection_vt vtable = {
    .life = {.struct_size = sizeof(osafl_selection_vt), .check = check},
    .choose = choose,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_SELECTION,
    .name = "power_of_choice",
    .version = "1.0.0",
    .summary = "Asks the random candidates with the largest last training loss",
    .cite = "Cho, Wang and Joshi, AISTATS 2022 (arXiv:2010.01243), rpow-d",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
