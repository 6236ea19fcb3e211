/* @name@.c - a deletion policy: which stored samples are deleted when new ones arrive?
 *
 * As generated it deletes the oldest samples of the store; of equally old ones those that stand
 * first, and arrivals only when the store is not enough.
 *
 * To make it yours, change select_samples(); osafl/deletion.h tells what it gets. */
#include <stdlib.h>

#include <osafl/deletion.h>

/* One instance.  Policies run on one thread, so that it may keep what it likes between calls; what
 * must outlast an interruption of the run is saved by life.save and life.load (osafl/plugin.h).
 * One that keeps nothing, like this, may declare the feature "concurrent" and run on all. */
struct policy {
    const osafl_host *host;
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;  /* number of clients and rounds, the data set, the model: osafl/plugin.h */
    (void)config; /* NULL: this plugin has no settings */
    struct policy *policy = malloc(sizeof *policy);
    if (policy == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    policy->host = h;
    *self = policy;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

/* A sample that may leave. */
struct candidate {
    uint32_t age; /* rounds since it came; 0 for an arrival */
    uint32_t position;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;
    if (x->age != y->age)
        return x->age > y->age ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Writes n distinct positions in [0, stored + arrived): these samples leave. */
static osafl_status select_samples(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    const struct policy *policy = self;
    const osafl_host *h = policy->host;
    const uint64_t all = (uint64_t)v->stored + v->arrived;
    if (n > all)
        return h->fail(c, OSAFL_E_BUG, "%u of %llu samples cannot leave", (unsigned)n,
                       (unsigned long long)all);

    /* Memory of the host, which takes it back when this call returns. */
    struct candidate *candidate = h->scratch(c, all * sizeof *candidate);
    if (candidate == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t i = 0; i < all; i++)
        candidate[i] = (struct candidate){.age = v->age[i], .position = i};
    if (all > 0)
        qsort(candidate, all, sizeof *candidate, compare_candidates);
    for (uint32_t i = 0; i < n; i++)
        position[i] = candidate[i].position;
    return OSAFL_OK;
}

static const osafl_deletion_vt vtable = {
    .life = {.struct_size = sizeof(osafl_deletion_vt), .create = create, .destroy = destroy},
    .select = select_samples,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DELETION,
    .name = "@name@",
    .version = "0.1.0",
    .summary = "Deletes the oldest samples",
    .license = "MIT",
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
