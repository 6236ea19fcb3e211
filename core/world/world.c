/* world.c - who the clients are and which samples they hold. */
#include "world.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/streams.h"
#include "dealer.h"
#include "label_mix.h"
#include "plugin/kinds.h"
#include "world_state.h"

static const osafl_dataset_vt *dataset_vt(const struct world *w)
{
    return (const osafl_dataset_vt *)(const void *)w->dataset->plugin->vtable;
}

bool world_has_owners(const struct world *w)
{
    return w->gives != OSAFL_PARTITION_MIX;
}

static const osafl_partition_vt *partition_vt(const struct world *w)
{
    return (const osafl_partition_vt *)(const void *)w->plugins.partition->plugin->vtable;
}

static double *mix_of(const struct world *w, uint32_t client)
{
    return w->mix + (size_t)client * w->labels;
}

static uint32_t *histogram_of(const struct world *w, uint32_t client)
{
    return w->histogram + (size_t)client * w->labels;
}

/* ---- creation ---- */

/* One question to the data set ends; a failure names it. */
static osafl_status end_question(const struct instance *dataset, osafl_call *c,
                                 const struct loan *loan, osafl_status status, struct error *error)
{
    status = call_take_back(c, loan, status);
    if (status == OSAFL_OK)
        return OSAFL_OK;
    return error_set(error, status, "dataset/%s: %s", dataset->plugin->name, c->error.text);
}

static osafl_status ask_label(const struct instance *dataset, osafl_call *c, uint64_t i,
                              int32_t *label, struct error *error)
{
    const osafl_dataset_vt *vt = (const osafl_dataset_vt *)(const void *)dataset->plugin->vtable;
    const struct loan loan = call_lend(c, dataset);
    return end_question(dataset, c, &loan, vt->label(dataset->self, c, i, label), error);
}

osafl_status world_label(const struct world *w, uint64_t i, int32_t *label, struct error *error)
{
    return ask_label(w->dataset, w->call, i, label, error);
}

osafl_status world_owner(const struct world *w, uint64_t i, uint32_t *client, struct error *error)
{
    const struct instance *p = w->plugins.partition;
    *client = OSAFL_NO_CLIENT;
    if (w->gives == OSAFL_PARTITION_NATURAL) {
        const struct loan loan = call_lend(w->call, w->dataset);
        return end_question(w->dataset, w->call, &loan,
                            dataset_vt(w)->client_of(w->dataset->self, w->call, i, client), error);
    }
    struct osafl_call c;
    call_begin(&c, p, OSAFL_NO_CLIENT, NO_ROUND);
    return call_end_named(&c, partition_vt(w)->owner(p->self, &c, i, client), error);
}

/* What pool_by_client() and pool_by_label() work on. */
struct pools {
    const struct world *w;
    struct error *error;
    osafl_status status; /* of the first failure */
};

static uint32_t pool_by_client(void *arg, uint64_t i)
{
    struct pools *p = arg;
    uint32_t client = OSAFL_NO_CLIENT;
    if (p->status == OSAFL_OK)
        p->status = world_owner(p->w, i, &client, p->error);
    return client < p->w->population.clients ? client : DEALER_NO_POOL;
}

static uint32_t pool_by_label(void *arg, uint64_t i)
{
    struct pools *p = arg;
    int32_t label = 0;
    if (p->status == OSAFL_OK)
        p->status = world_label(p->w, i, &label, p->error);
    return p->status == OSAFL_OK ? (uint32_t)label : DEALER_NO_POOL;
}

static osafl_status check_dataset(const struct world *w, struct error *error)
{
    const char *name = w->dataset->plugin->name;
    const uint32_t clients = w->population.clients;
    if (clients > w->n_train)
        return error_set(error, OSAFL_E_CONFIG,
                         "clients.count is %" PRIu32 ", but dataset \"%s\" has only %" PRIu64
                         " training samples; lower clients.count",
                         clients, name, w->n_train);
    if (w->n_train == OSAFL_ENDLESS && dataset_vt(w)->sample_of == NULL)
        return error_set(error, OSAFL_E_BUG, "dataset \"%s\" is endless but offers no sample_of()",
                         name);
    if (!world_has_owners(w))
        return OSAFL_OK;
    if (w->n_train == OSAFL_ENDLESS ||
        (w->gives == OSAFL_PARTITION_NATURAL && dataset_vt(w)->client_of == NULL))
        return error_set(error, OSAFL_E_CONFIG,
                         "partition.plugin is \"%s\", but dataset \"%s\" does not say to whom its "
                         "samples belong; choose another partition, such as \"%s\"",
                         w->plugins.partition->plugin->name, name,
                         kind_default(OSAFL_KIND_PARTITION));
    if (strcmp(w->plugins.drift->plugin->name, kind_default(OSAFL_KIND_DRIFT)) != 0)
        return error_set(
            error, OSAFL_E_CONFIG,
            "drift.plugin = \"%s\" has no meaning with partition.plugin = \"%s\", where "
            "each client has its own samples; leave drift out, or choose another "
            "partition",
            w->plugins.drift->plugin->name, w->plugins.partition->plugin->name);
    return OSAFL_OK;
}

/* Labels that no sample has must never be drawn. */
static osafl_status add_labels(const struct instance *dataset, osafl_call *c,
                               const osafl_dataset_info *info, double *share, struct error *error)
{
    for (uint64_t i = 0; i < info->n_train; i++) {
        int32_t label = -1;
        OSAFL_TRY(ask_label(dataset, c, i, &label, error));
        if (label < 0 || (uint32_t)label >= info->labels)
            return error_set(error, OSAFL_E_DATA,
                             "dataset \"%s\": training sample %" PRIu64 " has label %" PRId32
                             ", outside 0 .. %" PRIu32,
                             dataset->plugin->name, i, label, info->labels - 1);
        share[label] += 1.0;
    }
    for (uint32_t l = 0; l < info->labels; l++)
        share[l] /= (double)info->n_train;
    return OSAFL_OK;
}

static osafl_status check_sizes(const char *name, const osafl_dataset_info *info,
                                struct error *error)
{
    if (info->labels == 0 || info->labels > INT32_MAX || info->n_train == 0)
        return error_set(error, OSAFL_E_DATA,
                         "dataset \"%s\" has %" PRIu64 " training samples and %" PRIu32
                         " labels; at least one of each is needed",
                         name, info->n_train, info->labels);
    if (info->n_train != OSAFL_ENDLESS && info->n_train > UINT32_MAX)
        return error_set(error, OSAFL_E_DATA,
                         "dataset \"%s\" has %" PRIu64
                         " training samples; more than 2^32 - 1 are not supported",
                         name, info->n_train);
    return OSAFL_OK;
}

osafl_status world_label_share(const struct instance *dataset, const osafl_dataset_info *info,
                               double *share, struct error *error)
{
    OSAFL_TRY(check_sizes(dataset->plugin->name, info, error));
    for (uint32_t l = 0; l < info->labels; l++)
        share[l] = info->n_train == OSAFL_ENDLESS ? 1.0 / info->labels : 0.0;
    if (info->n_train == OSAFL_ENDLESS)
        return OSAFL_OK;
    struct osafl_call call;
    call_begin(&call, dataset, OSAFL_NO_CLIENT, NO_ROUND);
    return world_end_call(&call, add_labels(dataset, &call, info, share, error), error);
}

static osafl_status describe_partition(struct world *w, struct error *error)
{
    const osafl_partition_vt *vt = partition_vt(w);
    osafl_partition_info info = {.struct_size = sizeof info};
    struct osafl_call c;
    call_begin(&c, w->plugins.partition, OSAFL_NO_CLIENT, NO_ROUND);
    OSAFL_TRY(call_end_named(&c, vt->describe(w->plugins.partition->self, &c, &info), error));
    w->gives = info.gives;
    if (info.gives >= OSAFL_PARTITION_MIX && info.gives <= OSAFL_PARTITION_OWNER &&
        (info.gives != OSAFL_PARTITION_MIX || vt->mix != NULL) &&
        (info.gives != OSAFL_PARTITION_OWNER || vt->owner != NULL))
        return OSAFL_OK;
    return error_set(error, OSAFL_E_BUG,
                     "partition/%s: describe() names an unknown way, or one whose operation it "
                     "lacks; this is a bug of the plugin",
                     w->plugins.partition->plugin->name);
}

/* Samples of a data set whose owners are a matter of its settings belong to nobody where these are
 * left out: the setting is called "client", as osafl/dataset.h asks. */
static osafl_status refuse_without_owners(const struct world *w, struct error *error)
{
    const osafl_plugin *p = w->dataset->plugin;
    for (uint32_t i = 0; i < p->n_params && w->gives == OSAFL_PARTITION_NATURAL; i++) {
        if (strcmp(OSAFL_AT(osafl_param, p->params, p->param_size, i)->name, "client") == 0)
            return error_set(error, OSAFL_E_CONFIG,
                             "partition.plugin is \"%s\", but no sample belongs to anybody; "
                             "say to whom with dataset.%s.client (see osafl help dataset/%s), or "
                             "choose another partition, such as \"%s\"",
                             w->plugins.partition->plugin->name, p->name, p->name,
                             kind_default(OSAFL_KIND_PARTITION));
    }
    return error_set(error, OSAFL_E_CONFIG,
                     "partition.plugin is \"%s\", but no training sample of dataset \"%s\" "
                     "belongs to a client; choose another partition, such as \"%s\"",
                     w->plugins.partition->plugin->name, p->name,
                     kind_default(OSAFL_KIND_PARTITION));
}

static osafl_status check_owners(const struct world *w, struct error *error)
{
    if (world_owned_samples(w) == 0)
        return refuse_without_owners(w, error);
    for (uint32_t u = 0; u < w->population.clients; u++) {
        if (dealer_size(w->dealer, u) == 0)
            return error_set(error, OSAFL_E_CONFIG,
                             "clients.count is %" PRIu32
                             ", but no training sample of dataset \"%s\" "
                             "belongs to client %" PRIu32 "; lower clients.count, or hold out "
                             "fewer samples for test and validation",
                             w->population.clients, w->dataset->plugin->name, u);
    }
    return OSAFL_OK;
}

uint64_t world_owned_samples(const struct world *w)
{
    uint64_t sum = 0;
    for (uint32_t u = 0; u < w->population.clients; u++)
        sum += dealer_size(w->dealer, u);
    return sum;
}

static osafl_status ask_time(const struct world *w, uint64_t i, double *when, struct error *error)
{
    const struct loan loan = call_lend(w->call, w->dataset);
    return end_question(w->dataset, w->call, &loan,
                        dataset_vt(w)->time_of(w->dataset->self, w->call, i, when), error);
}

/* Where samples have times, those of a client are dealt in that order. */
static osafl_status order_by_time(struct world *w, struct error *error)
{
    double when = (double)NAN;
    OSAFL_TRY(ask_time(w, 0, &when, error));
    if (isnan(when))
        return OSAFL_OK;
    w->time = malloc(w->n_train * sizeof *w->time);
    if (w->time == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the times of the samples");
    for (uint64_t i = 0; i < w->n_train; i++) {
        OSAFL_TRY(ask_time(w, i, &w->time[i], error));
        if (!isfinite(w->time[i]))
            return error_set(error, OSAFL_E_BUG,
                             "dataset/%s: time_of() gives training sample %" PRIu64
                             " no finite time, and others have one; this is a bug of the plugin",
                             w->dataset->plugin->name, i);
    }
    if (!dealer_sort(w->dealer, w->time))
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the order of the samples");
    return OSAFL_OK;
}

static osafl_status make_dealer(struct world *w, struct error *error)
{
    struct pools pools = {.w = w, .error = error};
    if (w->n_train == OSAFL_ENDLESS)
        w->dealer = dealer_create_endless(w->labels);
    else if (world_has_owners(w))
        w->dealer =
            dealer_create(w->seed, w->population.clients, w->n_train, pool_by_client, &pools);
    else
        w->dealer = dealer_create(w->seed, w->labels, w->n_train, pool_by_label, &pools);
    OSAFL_TRY(pools.status);
    if (w->dealer == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the order of the samples");
    if (!world_has_owners(w))
        return OSAFL_OK;
    OSAFL_TRY(check_owners(w, error));
    return dataset_vt(w)->time_of != NULL ? order_by_time(w, error) : OSAFL_OK;
}

void world_draw_labels(const struct world *w, struct turn *t, uint32_t client, uint32_t purpose,
                       uint32_t round, uint32_t n, int32_t *label)
{
    label_mix_accumulate(mix_of(w, client), w->labels, t->cumulative);
    streams_fill(w->seed, 0, purpose, client, round, 0, t->words, 2 * (uint64_t)n);
    for (uint32_t k = 0; k < n; k++)
        label[k] = label_mix_pick(t->cumulative, w->labels, t->words + 2 * (size_t)k);
}

void world_deal_numbers(struct world *w, uint32_t client, uint32_t *n, uint64_t *number,
                        int32_t *label)
{
    const bool owners = world_has_owners(w);
    uint32_t dealt = 0;
    for (uint32_t k = 0; k < *n; k++) {
        const uint32_t pool = owners ? client : (uint32_t)label[k];
        const bool again = dealer_dealt(w->dealer)[pool] >= dealer_size(w->dealer, pool);
        const uint64_t next = dealer_deal(w->dealer, pool); /* counts those that are missing too */
        if (again && w->settings->deal_once)
            continue;
        number[dealt] = next;
        label[dealt] = label[k]; /* not drawn yet where samples have owners */
        dealt++;
    }
    *n = dealt;
}

static osafl_status ask_samples(const struct world *w, osafl_call *c, uint32_t n, uint64_t *sample,
                                int32_t *label)
{
    const osafl_dataset_vt *vt = dataset_vt(w);
    for (uint32_t k = 0; k < n; k++) {
        if (world_has_owners(w))
            OSAFL_TRY(vt->label(w->dataset->self, c, sample[k], &label[k]));
        else
            OSAFL_TRY(vt->sample_of(w->dataset->self, c, label[k], sample[k], &sample[k]));
    }
    return OSAFL_OK;
}

osafl_status world_find_samples(const struct world *w, struct osafl_call *c, uint32_t n,
                                uint64_t *sample, int32_t *label, struct error *error)
{
    if (!world_has_owners(w) && w->n_train != OSAFL_ENDLESS)
        return OSAFL_OK; /* numbers are samples, and labels are known */
    const struct loan loan = call_lend(c, w->dataset); /* for all samples: it is cheaper */
    return end_question(w->dataset, c, &loan, ask_samples(w, c, n, sample, label), error);
}

/* How many samples the stores begin with. */
static osafl_status ask_fill(struct world *w, struct error *error)
{
    const struct instance *i = w->plugins.arrival;
    const osafl_arrival_vt *vt = (const osafl_arrival_vt *)(const void *)i->plugin->vtable;
    const struct population *p = &w->population;
    memcpy(w->stored, p->capacity, p->clients * sizeof *w->stored);
    if (vt->fill != NULL) {
        const osafl_arrival_problem problem = world_arrival_problem(w, 0, NULL);
        struct osafl_call c;
        call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
        OSAFL_TRY(call_end_named(&c, vt->fill(i->self, &c, &problem, w->stored), error));
    }
    for (uint32_t u = 0; u < p->clients; u++) {
        const uint64_t most = w->time != NULL ? dealer_size(w->dealer, u) : p->capacity[u];
        if (w->stored[u] > most && w->stored[u] > p->capacity[u])
            return error_set(error, OSAFL_E_BUG,
                             "arrival/%s, client %" PRIu32 ": fill() gives %" PRIu64
                             " samples where %" PRIu64 " fit; this is a bug of the plugin",
                             i->plugin->name, u, w->stored[u], p->capacity[u]);
        if (w->stored[u] > p->capacity[u]) { /* the last ones that came */
            dealer_skip(w->dealer, u, w->stored[u] - p->capacity[u]);
            w->stored[u] = p->capacity[u];
        }
        w->total_stored += w->stored[u];
    }
    return OSAFL_OK;
}

/* client_step */
static osafl_status set_first_mix(const struct span *s, struct turn *t, uint32_t client)
{
    static const osafl_drift_mix first = {.struct_size = sizeof first};
    return world_set_mix(s->w, t, client, &first, &t->error);
}

/* client_step */
static osafl_status draw_store(const struct span *s, struct turn *t, uint32_t client)
{
    const struct world *w = s->w;
    world_draw_labels(w, t, client, STREAM_STORE, 0, (uint32_t)w->stored[client],
                      w->label + w->offset[client]);
    return OSAFL_OK;
}

/* client_step */
static osafl_status find_store(const struct span *s, struct turn *t, uint32_t client)
{
    struct world *w = s->w;
    const uint64_t at = w->offset[client];
    const uint32_t n = (uint32_t)w->stored[client];
    OSAFL_TRY(world_find_samples(w, &t->call, n, w->sample + at, w->label + at, &t->error));
    for (uint32_t k = 0; k < n; k++)
        histogram_of(w, client)[w->label[at + k]]++;
    return OSAFL_OK;
}

static osafl_status deal_stores(struct world *w, struct error *error)
{
    struct span all = {.w = w, .round = NO_ROUND, .end = w->population.clients};
    if (!world_has_owners(w)) {
        span_each(&all, world_is_concurrent(w->plugins.partition), set_first_mix);
        span_each(&all, true, draw_store);
    }
    for (uint32_t u = 0; u < all.end; u++) {
        uint32_t n = (uint32_t)w->stored[u];
        world_deal_numbers(w, u, &n, w->sample + w->offset[u], w->label + w->offset[u]);
        w->total_stored -= w->stored[u] - n;
        w->stored[u] = n;
    }
    span_each(&all, true, find_store);
    return span_end(&all, error);
}

/* Stores that outgrow the machine would be given out, and end the program when they are filled. */
static osafl_status check_memory(const struct world *w, struct error *error)
{
    const struct population *p = &w->population;
    const double gib = 1073741824.0;
    const double has = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double needs =
        (double)p->total_capacity * (sizeof *w->sample + sizeof *w->label + sizeof *w->born);
    if (needs <= has || has <= 0.0) /* not told */
        return OSAFL_OK;
    return error_set(error, OSAFL_E_NOMEM,
                     "out of memory: the stores of %" PRIu32 " clients, with %" PRIu64
                     " samples in all, need %.1f GiB, and this machine has %.1f GiB; lower "
                     "clients.count, clients.storage or the storage in clients.groups",
                     p->clients, p->total_capacity, needs / gib, has / gib);
}

static osafl_status allocate(struct world *w, struct error *error)
{
    const struct population *p = &w->population;
    uint64_t largest = 0;
    w->offset = calloc((size_t)p->clients + 1, sizeof *w->offset);
    for (uint32_t u = 0; u < p->clients && w->offset != NULL; u++) {
        w->offset[u + 1] = w->offset[u] + p->capacity[u];
        largest = p->capacity[u] > largest ? p->capacity[u] : largest;
    }
    w->sample = calloc(p->total_capacity, sizeof *w->sample);
    w->label = calloc(p->total_capacity, sizeof *w->label);
    w->born = calloc(p->total_capacity, sizeof *w->born);
    w->histogram = calloc((size_t)p->clients * w->labels, sizeof *w->histogram);
    w->stored = calloc(p->clients, sizeof *w->stored);
    if (!world_has_owners(w))
        w->mix = calloc((size_t)p->clients * w->labels, sizeof *w->mix);
    w->drawn = calloc(p->clients, sizeof *w->drawn);
    w->arrivals = calloc(p->clients, sizeof *w->arrivals);
    w->present = calloc(p->clients, sizeof *w->present);
    if (w->offset == NULL || w->sample == NULL || w->label == NULL || w->born == NULL ||
        w->histogram == NULL || w->stored == NULL || w->drawn == NULL || w->arrivals == NULL ||
        w->present == NULL || (!world_has_owners(w) && w->mix == NULL) || !turns_create(w, largest))
        return error_set(error, OSAFL_E_NOMEM,
                         "out of memory for the stores of %" PRIu32 " clients with %" PRIu64
                         " samples in all; lower clients.count or clients.storage",
                         p->clients, p->total_capacity);
    return OSAFL_OK;
}

bool world_uses_arrivals(const struct world *w)
{
    return !plugin_has_feature(w->plugins.arrival->plugin, "own_numbers");
}

static osafl_status world_fill(struct world *w, struct error *error)
{
    OSAFL_TRY(population_draw(w->seed, w->settings, world_uses_arrivals(w), &w->population, error));
    OSAFL_TRY(describe_partition(w, error));
    OSAFL_TRY(check_dataset(w, error));
    OSAFL_TRY(check_memory(w, error));
    OSAFL_TRY(allocate(w, error));
    OSAFL_TRY(make_dealer(w, error));
    OSAFL_TRY(ask_fill(w, error));
    memset(w->present, 1, w->population.clients);
    return deal_stores(w, error);
}

osafl_status world_create(const struct experiment *e, const struct world_plugins *plugins,
                          struct world **out, struct error *error)
{
    struct world *w = calloc(1, sizeof *w);
    if (w == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the clients");
    w->seed = (uint64_t)e->general.seed;
    w->settings = &e->clients;
    w->plugins = *plugins;
    w->dataset = plugins->dataset;
    w->pool = plugins->dataset->context->pool;
    w->share = plugins->label_share;
    w->labels = plugins->info->labels;
    w->n_train = plugins->info->n_train;
    struct osafl_call call;
    world_call_begin(w, &call, NO_ROUND);
    const osafl_status status = world_end_call(&call, world_fill(w, error), error);
    if (status != OSAFL_OK) {
        world_destroy(w);
        return status;
    }
    *out = w;
    return OSAFL_OK;
}

void world_destroy(struct world *w)
{
    if (w == NULL)
        return;
    population_free(&w->population);
    dealer_destroy(w->dealer);
    free(w->time);
    free(w->offset);
    free(w->sample);
    free(w->label);
    free(w->born);
    free(w->histogram);
    free(w->stored);
    free(w->mix);
    free(w->drawn);
    free(w->arrivals);
    free(w->present);
    turns_destroy(w);
    free(w->candidate);
    free(w->view_measure);
    free(w);
}

void world_call_begin(struct world *w, struct osafl_call *call, uint32_t round)
{
    call_begin(call, w->dataset, OSAFL_NO_CLIENT, round);
    w->call = call;
}

osafl_status world_end_call(struct osafl_call *call, osafl_status status, struct error *error)
{
    if (status == OSAFL_OK)
        return call_end_named(call, status, error);
    (void)call_end(call, status);
    return status;
}

/* ---- what the clients hold ---- */

uint32_t world_round(const struct world *w)
{
    return w->round;
}

const struct population *world_population(const struct world *w)
{
    return &w->population;
}

struct store_samples world_store(const struct world *w, uint32_t client)
{
    assert(client < w->population.clients);
    return (struct store_samples){
        .n = w->stored[client],
        .sample = w->sample + w->offset[client],
        .label = w->label + w->offset[client],
    };
}

const uint64_t *world_stored(const struct world *w)
{
    return w->stored;
}

double world_alpha(const struct world *w, uint32_t client)
{
    return w->total_stored > 0 ? (double)w->stored[client] / (double)w->total_stored : 0.0;
}

const uint32_t *world_histogram(const struct world *w, uint32_t client)
{
    assert(client < w->population.clients);
    return histogram_of(w, client);
}

double world_entropy(const struct world *w, uint32_t client)
{
    if (w->stored[client] == 0)
        return (double)NAN;
    return label_mix_entropy(world_histogram(w, client), w->labels);
}

void world_present_mix(const struct world *w, double *mix)
{
    memset(mix, 0, w->labels * sizeof *mix);
    for (uint32_t u = 0; u < w->population.clients; u++) {
        const double alpha = world_alpha(w, u);
        for (uint32_t l = 0; l < w->labels && alpha > 0.0; l++)
            mix[l] += world_has_owners(w) ? histogram_of(w, u)[l] / (double)w->total_stored
                                          : alpha * mix_of(w, u)[l];
    }
}

double world_mean_age(const struct world *w)
{
    uint64_t sum = 0;
    for (uint32_t u = 0; u < w->population.clients; u++)
        for (uint64_t k = 0; k < w->stored[u]; k++)
            sum += w->round - w->born[w->offset[u] + k];
    return (double)sum / (double)w->total_stored; /* 0 / 0 is the NAN that is promised */
}
