/* round_robin.c - asks the clients in turn; who is not there is passed over. */
#include "shared/pick.h"

struct settings {
    PICK_SIZE_MEMBERS
};

static const osafl_param params[] = {PICK_SIZE_PARAMS(struct settings)};

struct turns {
    const struct settings *settings;
    uint32_t clients;
    uint64_t next; /* the client whose turn it is */
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct turns *t = calloc(1, sizeof *t);
    if (t == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    t->settings = config;
    t->clients = facts->clients;
    *self = t;
    return OSAFL_OK;
}

static osafl_status choose(void *self, osafl_call *c, const osafl_selection_problem *p,
                           uint8_t *asked)
{
    (void)c;
    struct turns *t = self;
    uint32_t wanted = pick_size(p, t->settings->count, t->settings->share);
    while (wanted > 0) {
        const uint32_t u = (uint32_t)t->next;
        t->next = (t->next + 1) % t->clients;
        asked[u] = p->present[u];
        wanted -= asked[u];
    }
    return OSAFL_OK;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *w)
{
    (void)c;
    const struct turns *t = self;
    return w->u64(w, "next", &t->next, 1);
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *r)
{
    struct turns *t = self;
    uint64_t next = 0;
    OSAFL_TRY(r->u64(r, "next", &next, 1));
    if (next >= t->clients)
        return c->host->fail(c, OSAFL_E_STATE, "the next client is none of the %u", t->clients);
    t->next = next;
    return OSAFL_OK;
}

static const osafl_selection_vt vtable = {
    .life = {.struct_size = sizeof(osafl_selection_vt),
             .state_version = 1,
             .create = create,
             .destroy = free,
             .save = save,
             .load = load},
    .choose = choose,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_SELECTION,
    .name = "round_robin",
    .version = "1.0.0",
    .summary = "Asks the clients in turn",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
