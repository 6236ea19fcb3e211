/* age.c - asks the clients whose last news is oldest, so that the server's picture of all stays
 * fresh.
 *
 * Yang, Arafa, Quek and Poor, "Age-based scheduling policy for federated learning in mobile edge
 * networks", ICASSP 2020 (arXiv:1910.14648): as every increasing function of the age is served best
 * by the oldest, theirs comes down to this where all may be asked alike.  Of equal ages the client
 * with the larger gain goes first. */
#include "shared/pick.h"

static const char *const since_choices[] = {"asked", "update", NULL};
enum { SINCE_ASKED };

struct settings {
    PICK_SIZE_MEMBERS
    osafl_choice since;
};

static const osafl_param params[] = {
    PICK_SIZE_PARAMS(struct settings),
    OSAFL_CHOICE(struct settings, since, SINCE_ASKED, since_choices,
                 "Start of a client's age: when it was last asked, so that every client gets a "
                 "turn, or when its last update arrived, as in the paper, so that a client that "
                 "cannot deliver is asked again and again"),
};

struct aged {
    uint32_t age;
    uint32_t client;
    double gain;
};

static int compare(const void *a, const void *b)
{
    const struct aged *x = a;
    const struct aged *y = b;
    if (x->age != y->age)
        return x->age > y->age ? -1 : 1;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return x->client < y->client ? -1 : x->client > y->client;
}

static osafl_status choose(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked)
{
    const struct settings *s = self;
    const uint32_t *age = s->since.index == SINCE_ASKED ? p->history->asked_age : p->history->age;
    const uint32_t wanted = pick_size(p, s->count, s->share);
    struct aged *list = c->host->scratch(c, ((uint64_t)p->clients + 1) * sizeof *list);
    if (list == NULL)
        return OSAFL_E_NOMEM;
    uint32_t n = 0;
    for (uint32_t u = 0; u < p->clients; u++)
        if (p->present[u])
            list[n++] = (struct aged){.age = age[u], .client = u, .gain = p->gain[u]};
    qsort(list, n, sizeof *list, compare);
    for (uint32_t k = 0; k < wanted; k++)
        asked[list[k].client] = 1;
    return OSAFL_OK;
}

static const osafl_selection_vt vtable = {
    .life = {.struct_size = sizeof(osafl_selection_vt)},
    .choose = choose,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_SELECTION,
    .name = "age",
    .version = "1.0.0",
    .summary = "Asks the clients that have waited longest",
    .cite = "Yang et al., ICASSP 2020 (arXiv:1910.14648)",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
