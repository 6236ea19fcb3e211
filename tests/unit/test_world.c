/* The world: sizes and limits of clients, stores, arrivals, dealing without repetition, deletion,
 * independence of everything that is no part of it. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/records.h"
#include "osafl/arrival.h"
#include "osafl/drift.h"
#include "osafl/partition.h"
#include "plugin/pool.h"
#include "plugin_fixture.h"
#include "world/world.h"

#define LABELS 10

/* ---- plugins of our own: a data set, deletion policies, a drift, and some that err ---- */

struct toy {
    uint64_t n;
    uint32_t owners;   /* samples belong to client i % owners */
    int32_t bad_label; /* of sample 5; -2: none */
    bool skip_four;    /* no sample has label 4 */
    bool fail_label;   /* operations that answer with an error */
    bool fail_sample;
    bool fail_client;
    const double *time; /* of each sample */
};

static int32_t label_in(const struct toy *t, uint64_t i)
{
    const int32_t label = (int32_t)(i % LABELS);
    if (i == 5 && t->bad_label != -2)
        return t->bad_label;
    return t->skip_four && label == 4 ? 5 : label;
}

static osafl_status toy_label(void *self, osafl_call *c, uint64_t i, int32_t *label)
{
    const struct toy *t = self;
    if (t->fail_label)
        return (core_host.fail)(c, OSAFL_E_IO, "the labels cannot be read");
    *label = label_in(t, i);
    return OSAFL_OK;
}

static uint64_t toy_sample(int32_t label, uint64_t k)
{
    return k * LABELS + (uint64_t)label;
}

static osafl_status toy_sample_of(void *self, osafl_call *c, int32_t label, uint64_t k,
                                  uint64_t *sample)
{
    const struct toy *t = self;
    if (t->fail_sample)
        return (core_host.fail)(c, OSAFL_E_IO, "the sample cannot be found");
    *sample = toy_sample(label, k);
    return OSAFL_OK;
}

static osafl_status toy_client_of(void *self, osafl_call *c, uint64_t i, uint32_t *client)
{
    const struct toy *t = self;
    if (t->fail_client)
        return (core_host.fail)(c, OSAFL_E_IO, "the owners cannot be read");
    *client = (uint32_t)(i % t->owners);
    return OSAFL_OK;
}

static osafl_status toy_time_of(void *self, osafl_call *c, uint64_t i, double *when)
{
    const struct toy *t = self;
    (void)c;
    *when = t->time[i];
    return OSAFL_OK;
}

static osafl_status refuse(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                           uint32_t *position)
{
    (void)self, (void)v, (void)n, (void)position;
    return (core_host.fail)(c, OSAFL_E_NUMERIC, "no taste");
}

static osafl_status oldest(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                           uint32_t *position)
{
    (void)self, (void)c, (void)v;
    for (uint32_t k = 0; k < n; k++)
        position[k] = n - 1 - k;
    return OSAFL_OK;
}

static osafl_status newest(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                           uint32_t *position)
{
    (void)self, (void)c;
    for (uint32_t k = 0; k < n; k++)
        position[k] = v->stored + k;
    return OSAFL_OK;
}

static osafl_status twice(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                          uint32_t *position)
{
    (void)self, (void)c, (void)v;
    memset(position, 0, n * sizeof *position);
    return OSAFL_OK;
}

static osafl_status outside(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                            uint32_t *position)
{
    OSAFL_TRY(oldest(self, c, v, n, position));
    position[0] = v->stored + v->arrived;
    return OSAFL_OK;
}

static osafl_status too_few(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                            uint32_t *position)
{
    return oldest(self, c, v, n - 1, position);
}

/* Toward a mix of its own at the end of every round, all the way with weight 1. */
struct toy_drift {
    double weight;
};

static osafl_status drift_at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                             osafl_drift_mix *out)
{
    const struct toy_drift *d = self;
    (void)c, (void)client;
    out->draw_a = 0;
    out->draw_b = round + 1;
    out->weight = d->weight;
    return OSAFL_OK;
}

static osafl_status describe_mix(void *self, osafl_call *c, osafl_partition_info *out)
{
    (void)self, (void)c;
    out->gives = OSAFL_PARTITION_MIX;
    return OSAFL_OK;
}

static osafl_status describe_unknown(void *self, osafl_call *c, osafl_partition_info *out)
{
    (void)self, (void)c;
    out->gives = OSAFL_PARTITION_OWNER + 1;
    return OSAFL_OK;
}

/* The mix that stands in its config: LABELS values. */
static osafl_status mix_as_told(void *self, osafl_call *c, uint32_t client, uint32_t draw,
                                double *mix)
{
    (void)c, (void)client, (void)draw;
    memcpy(mix, self, LABELS * sizeof *mix);
    return OSAFL_OK;
}

static osafl_status refuse_mix(void *self, osafl_call *c, uint32_t client, uint32_t draw,
                               double *mix)
{
    (void)self, (void)client, (void)draw, (void)mix;
    return (core_host.fail)(c, OSAFL_E_NUMERIC, "no taste");
}

static osafl_status one_too_many(void *self, osafl_call *c, const osafl_arrival_problem *p,
                                 uint32_t *n, uint8_t *present)
{
    (void)self, (void)c, (void)present;
    n[7] = (uint32_t)p->capacity[7] + 1;
    return OSAFL_OK;
}

static osafl_status half_present(void *self, osafl_call *c, const osafl_arrival_problem *p,
                                 uint32_t *n, uint8_t *present)
{
    (void)self, (void)c, (void)p, (void)n;
    present[3] = 2;
    return OSAFL_OK;
}

/* ---- fixture ---- */

/* A plugin of this file, with self = config. */
struct own {
    osafl_plugin plugin;
    struct instance instance;
};

struct setup {
    struct experiment e;
    struct toy toy;
    struct toy_drift drifting;
    osafl_dataset_vt dataset_vt;
    osafl_deletion_vt deletion_vt;
    osafl_drift_vt drift_vt;
    osafl_partition_vt partition_vt;
    osafl_arrival_vt arrival_vt;
    struct own dataset;
    struct own deletion;
    struct own drift;
    struct own bad_partition;
    struct own bad_arrival;
    /* Built-in plugins. */
    struct fixture *partition;
    struct fixture *no_drift;
    struct fixture *arrival;
    bool by_client; /* the partition goes by owners */
    osafl_dataset_info info;
    double share[LABELS];
    osafl_facts facts;
    struct host_context context;
    struct world_plugins plugins;
    struct error error;
};

static void make_own(struct setup *s, struct own *o, uint32_t kind, const char *name,
                     const osafl_lifecycle *vt, void *self)
{
    o->plugin = (osafl_plugin){.kind = kind, .name = name, .vtable = vt};
    o->instance = (struct instance){
        .plugin = &o->plugin, .host = &core_host, .context = &s->context, .self = self};
}

static void set_partition(struct setup *s, const char *name, const char *key, const char *value)
{
    fixture_close(s->partition);
    s->partition = fixture_open("partition", name);
    if (key != NULL)
        fixture_set(s->partition, key, value);
    s->plugins.partition = &s->partition->instance;
    s->by_client = strcmp(name, "natural") == 0;
}

static void set_arrival(struct setup *s, const char *name, const char *key, const char *value)
{
    fixture_close(s->arrival);
    s->arrival = fixture_open("arrival", name);
    if (key != NULL)
        fixture_set(s->arrival, key, value);
    s->plugins.arrival = &s->arrival->instance;
}

/* 0: none. */
static void set_drift(struct setup *s, double weight)
{
    s->drifting.weight = weight;
    s->plugins.drift = weight > 0.0 ? &s->drift.instance : &s->no_drift->instance;
}

static struct setup *make_setup(void)
{
    struct setup *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->e.general.seed = 1;
    s->e.clients = (struct client_settings){
        .count = 25,
        .storage = 400,
        .arrivals = 40,
        .activity = {0.3, 0.8},
        .cycles_per_bit = {25.0, 40.0},
        .energy_budget_j = {1.2, 2.5},
        .clock_max_hz = {1e9, 1.8e9},
        .power_max_dbm = {20.0, 30.0},
    };
    s->toy = (struct toy){.n = 60000, .owners = 25, .bad_label = -2};
    s->dataset_vt = (osafl_dataset_vt){.life = {.struct_size = sizeof(osafl_dataset_vt)},
                                       .label = toy_label,
                                       .client_of = toy_client_of};
    s->deletion_vt =
        (osafl_deletion_vt){.life = {.struct_size = sizeof(osafl_deletion_vt)}, .select = oldest};
    s->drift_vt = (osafl_drift_vt){.life = {.struct_size = sizeof(osafl_drift_vt)}, .at = drift_at};
    s->partition_vt = (osafl_partition_vt){.life = {.struct_size = sizeof(osafl_partition_vt)},
                                           .describe = describe_mix,
                                           .mix = mix_as_told};
    s->arrival_vt = (osafl_arrival_vt){.life = {.struct_size = sizeof(osafl_arrival_vt)}};
    make_own(s, &s->dataset, OSAFL_KIND_DATASET, "toy", &s->dataset_vt.life, &s->toy);
    make_own(s, &s->deletion, OSAFL_KIND_DELETION, "picky", &s->deletion_vt.life, NULL);
    make_own(s, &s->drift, OSAFL_KIND_DRIFT, "restless", &s->drift_vt.life, &s->drifting);
    make_own(s, &s->bad_partition, OSAFL_KIND_PARTITION, "odd", &s->partition_vt.life, NULL);
    make_own(s, &s->bad_arrival, OSAFL_KIND_ARRIVAL, "odd", &s->arrival_vt.life, NULL);
    s->info =
        (osafl_dataset_info){.struct_size = sizeof s->info, .labels = LABELS, .n_train = s->toy.n};
    s->no_drift = fixture_open("drift", "none");
    s->plugins = (struct world_plugins){.dataset = &s->dataset.instance,
                                        .info = &s->info,
                                        .label_share = s->share,
                                        .deletion = &s->deletion.instance};
    set_partition(s, "dirichlet", NULL, NULL);
    set_arrival(s, "steady", NULL, NULL);
    set_drift(s, 0.0);
    return s;
}

static void close_setup(struct setup *s)
{
    fixture_close(s->partition);
    fixture_close(s->no_drift);
    fixture_close(s->arrival);
    free(s);
}

static osafl_status create_built_in(struct setup *s, struct fixture *f)
{
    f->context.seed = s->context.seed;
    const osafl_status status = fixture_create(f, &s->facts);
    memcpy(s->error.text, f->error.text, sizeof s->error.text);
    return status;
}

/* Creates the plugins in the order of a session, then the world. */
static osafl_status try_world(struct setup *s, struct world **out)
{
    s->context.seed = (uint64_t)s->e.general.seed;
    s->facts = (osafl_facts){.struct_size = sizeof s->facts,
                             .clients = (uint32_t)s->e.clients.count,
                             .rounds = 100,
                             .dataset = &s->info,
                             .label_share = s->share};
    OSAFL_TRY(world_label_share(&s->dataset.instance, &s->info, s->share, &s->error));
    OSAFL_TRY(create_built_in(s, s->partition));
    OSAFL_TRY(create_built_in(s, s->no_drift));
    OSAFL_TRY(create_built_in(s, s->arrival));
    return world_create(&s->e, &s->plugins, out, &s->error);
}

static struct world *make_world(struct setup *s)
{
    struct world *w = NULL;
    if (try_world(s, &w) != OSAFL_OK)
        fail_msg("%s", s->error.text);
    return w;
}

static void refuse_world(struct setup *s, osafl_status expected, const char *const *words)
{
    struct world *w = NULL;
    assert_int_equal(try_world(s, &w), expected);
    assert_null(w);
    for (; *words != NULL; words++)
        if (strstr(s->error.text, *words) == NULL)
            fail_msg("\"%s\" is not in: %s", *words, s->error.text);
}
#define REFUSE(s, status, ...) refuse_world(s, status, (const char *const[]){__VA_ARGS__, NULL})

static void advance(struct setup *s, struct world *w, uint32_t from, uint32_t to)
{
    for (uint32_t t = from; t < to; t++)
        if (world_begin_round(w, t, NULL, &s->error) != OSAFL_OK ||
            world_advance(w, t, &s->error) != OSAFL_OK)
            fail_msg("%s", s->error.text);
}

/* Store, label, histogram and share agree. */
static void check_contents(const struct setup *s, const struct world *w)
{
    const struct population *p = world_population(w);
    uint64_t total = 0;
    for (uint32_t u = 0; u < p->clients; u++)
        total += world_stored(w)[u];
    for (uint32_t u = 0; u < p->clients; u++) {
        const struct store_samples store = world_store(w, u);
        uint32_t histogram[LABELS] = {0};
        assert_int_equal(store.n, world_stored(w)[u]);
        assert_true(store.n <= p->capacity[u]);
        assert_true(world_alpha(w, u) == (total > 0 ? (double)store.n / (double)total : 0.0));
        for (uint64_t k = 0; k < store.n; k++) {
            assert_true(store.sample[k] < s->info.n_train);
            assert_int_equal(store.label[k], label_in(&s->toy, store.sample[k]));
            histogram[store.label[k]]++;
        }
        assert_memory_equal(histogram, world_histogram(w, u), sizeof histogram);
    }
}

/* The same of full stores. */
static void check_stores(const struct setup *s, const struct world *w)
{
    check_contents(s, w);
    for (uint32_t u = 0; u < world_population(w)->clients; u++)
        assert_int_equal(world_stored(w)[u], world_population(w)->capacity[u]);
}

static void check_same(const struct world *a, const struct world *b)
{
    for (uint32_t u = 0; u < world_population(a)->clients; u++) {
        const struct store_samples x = world_store(a, u);
        const struct store_samples y = world_store(b, u);
        assert_int_equal(x.n, y.n);
        assert_memory_equal(x.sample, y.sample, x.n * sizeof *x.sample);
        assert_memory_equal(x.label, y.label, x.n * sizeof *x.label);
    }
}

/* A world's records as a block of bytes, owned by the writer. */
static struct record_writer *save(const struct world *w, const void **data, size_t *size)
{
    struct error error;
    struct record_writer *writer = record_writer_create();
    assert_int_equal(world_save(w, record_writer_section(writer, "world", 1)), OSAFL_OK);
    assert_int_equal(record_writer_finish(writer, data, size, &error), OSAFL_OK);
    return writer;
}

static osafl_status load(struct setup *s, struct world *w, const void *data, size_t size)
{
    struct record_set *set = NULL;
    struct record_reader reader;
    assert_int_equal(record_set_open(data, size, &set, &s->error), OSAFL_OK);
    assert_int_equal(record_reader_open(set, "world", &reader, &s->error), OSAFL_OK);
    const osafl_status status = world_load(w, &reader, &s->error);
    record_set_destroy(set);
    return status;
}

/* ---- tests ---- */

static void test_ceil(void **state)
{
    (void)state;
    assert_int_equal(population_ceil(40, 0.55), 22); /* the product is 22.000000000000004 */
    assert_int_equal(population_ceil(400, 0.3), 120);
    assert_int_equal(population_ceil(400, 0.30001), 121);
    assert_int_equal(population_ceil(400, 1.0), 400);
    assert_int_equal(population_ceil(0, 0.7), 0);
    assert_int_equal(population_ceil(1, 1e-6), 1);
    assert_int_equal(population_ceil(10, 0.7), 7);
    assert_int_equal(population_ceil(25, 1e-12), 1);
    assert_int_equal(population_ceil(2000000000, 0.3), 600000000);
    assert_int_equal(population_ceil(1000000001, 0.5), 500000001);
    for (int64_t n = 1; n <= 1000; n++) /* every share with two decimals */
        for (int64_t percent = 1; percent <= 100; percent++)
            assert_int_equal(population_ceil(n, (double)percent / 100), (n * percent + 99) / 100);
}

static void test_population(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->e.clients.count = 2000;
    s->e.clients.storage = 40;
    s->e.clients.arrivals = 4;
    struct world *w = make_world(s);
    const struct population *p = world_population(w);
    double activity = 0.0;
    double alpha = 0.0;
    double power_dbm = 0.0;
    for (uint32_t u = 0; u < p->clients; u++) {
        assert_true(p->activity[u] >= 0.3 && p->activity[u] < 0.8);
        assert_int_equal(p->capacity[u], (uint64_t)ceil(40 * p->activity[u]));
        assert_int_equal(p->arrivals[u], (uint32_t)ceil(4 * p->activity[u]));
        assert_true(p->cycles_per_bit[u] >= 25.0 && p->cycles_per_bit[u] <= 40.0);
        assert_true(p->energy_budget_j[u] >= 1.2 && p->energy_budget_j[u] <= 2.5);
        assert_true(p->clock_max_hz[u] >= 1e9 && p->clock_max_hz[u] <= 1.8e9);
        assert_true(p->power_max_w[u] >= 0.1 && p->power_max_w[u] <= 1.0);
        assert_true(world_alpha(w, u) == (double)p->capacity[u] / (double)p->total_capacity);
        activity += p->activity[u];
        alpha += world_alpha(w, u);
        power_dbm += 10.0 * log10(p->power_max_w[u]) + 30.0;
    }
    assert_true(fabs(alpha - 1.0) < 1e-12);
    /* Means of uniform draws, within 5 standard errors. */
    assert_true(fabs(activity / 2000 - 0.55) < 5 * 0.5 / sqrt(12.0 * 2000));
    assert_true(fabs(power_dbm / 2000 - 25.0) < 5 * 10.0 / sqrt(12.0 * 2000));
    world_destroy(w);
    close_setup(s);
}

/* Groups of 2 and 1 of 4 clients: what a group sets holds, the rest is drawn as without it. */
static void test_groups(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->e.clients.count = 4;
    struct world *plain = make_world(s);
    const osafl_range none = {0.0, 0.0};
    struct client_group groups[] = {
        {2, {100, 100}, {0, 0}, none, {5, 5}, none, {2e9, 2e9}, {-200, -200}},
        {1, none, {-1, -1}, {1, 1}, none, {7, 7}, none, {10, 10}},
    };
    const osafl_origin at[] = {{"a.cfg", 3, 0}, {"a.cfg", 4, 0}};
    s->e.clients.groups = (osafl_rows){.v = groups, .at = at, .n = 2};
    struct world *w = make_world(s);
    const struct population *a = world_population(plain);
    const struct population *b = world_population(w);
    for (uint32_t u = 0; u < 4; u++) {
        const bool first = u < 2;
        const bool second = u == 2;
        assert_int_equal(b->capacity[u], first ? 100 : second ? 400 : a->capacity[u]);
        assert_int_equal(b->arrivals[u], first ? 0 : second ? 40 : a->arrivals[u]);
        assert_true(b->activity[u] == (second ? 1.0 : a->activity[u]));
        assert_true(b->cycles_per_bit[u] == (first ? 5.0 : a->cycles_per_bit[u]));
        assert_true(b->energy_budget_j[u] == (second ? 7.0 : a->energy_budget_j[u]));
        assert_true(b->clock_max_hz[u] == (first ? 2e9 : a->clock_max_hz[u]));
        assert_true(b->power_max_w[u] == (second ? pow(10.0, -2.0) : a->power_max_w[u]));
    }
    world_destroy(plain);
    world_destroy(w);
    groups[1].clients = 3;
    REFUSE(s, OSAFL_E_CONFIG, "a.cfg:4: clients.groups[1] ends with client 4",
           "clients.count is 4");
    groups[1].clients = 1;
    groups[1].storage = (osafl_range){30, 30};
    REFUSE(s, OSAFL_E_CONFIG, "client 2 stores 30 samples and would receive 40", "its group");
    groups[0].storage = (osafl_range){0.5, 100};
    REFUSE(s, OSAFL_E_CONFIG, "a.cfg:3: clients.groups[0].storage begins with 0.5");
    groups[0].storage = (osafl_range){100, 100};
    groups[0].arrivals = (osafl_range){-0.5, 100};
    REFUSE(s, OSAFL_E_CONFIG, "groups[0].arrivals begins with -0.5");
    close_setup(s);
}

/* Sizes of a group are whole numbers of its range, drawn apart from the activity. */
static void test_sizes_of_groups(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->e.clients.count = 2000;
    struct client_group group = {
        .clients = 2000, .storage = {100, 300}, .arrivals = {0, 20}, .power_max_dbm = {-200, -200}};
    const osafl_origin at = {"a.cfg", 3, 0};
    s->e.clients.groups = (osafl_rows){.v = &group, .at = &at, .n = 1};
    struct world *w = make_world(s);
    const struct population *p = world_population(w);
    double storage = 0.0;
    double arrivals = 0.0;
    double together = 0.0;
    for (uint32_t u = 0; u < 2000; u++) {
        assert_in_range(p->capacity[u], 100, 300);
        assert_in_range(p->arrivals[u], 0, 20);
        storage += (double)p->capacity[u] / 2000;
        arrivals += p->arrivals[u] / 2000.0;
        together += ((double)p->capacity[u] - 200) * (p->activity[u] - 0.55) / 2000;
    }
    /* Within 5 standard errors of uniform draws; the covariance with the activity is 0. */
    assert_true(fabs(storage - 200) < 5 * 200 / sqrt(12.0 * 2000));
    assert_true(fabs(arrivals - 10) < 5 * 20 / sqrt(12.0 * 2000));
    assert_true(fabs(together) < 5 * 200 / sqrt(12.0) * 0.5 / sqrt(12.0) / sqrt(2000.0));
    world_destroy(w);
    close_setup(s);
}

static void test_stores_follow_mix(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    struct world *w = make_world(s);
    check_stores(s, w);
    double entropy = 0.0;
    for (uint32_t u = 0; u < 25; u++)
        entropy += world_entropy(w, u) / 25;
    assert_true(entropy > 1.1 && entropy < 1.7); /* digamma(4) - digamma(1.3) = 1.39 on average */
    world_destroy(w);

    set_partition(s, "iid", NULL, NULL);
    struct world *iid = make_world(s);
    for (uint32_t u = 0; u < 25; u++)
        assert_true(world_entropy(iid, u) > 2.2); /* ln 10 = 2.303 */
    world_destroy(iid);

    set_partition(s, "shards", NULL, NULL);
    struct world *shards = make_world(s);
    advance(s, shards, 0, 5);
    check_stores(s, shards);
    for (uint32_t u = 0; u < 25; u++) {
        uint32_t labels = 0;
        for (uint32_t l = 0; l < LABELS; l++)
            labels += world_histogram(shards, u)[l] > 0;
        assert_int_equal(labels, 2);
    }
    world_destroy(shards);
    close_setup(s);
}

/* Every label's samples are dealt in a shuffled order, none twice before all were. */
static void test_no_repetition(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->deletion_vt.select = newest; /* what arrives is what was dealt, and leaves at once */
    s->toy.n = s->info.n_train = 6000;
    struct world *w = make_world(s);
    uint8_t *seen = calloc(6000, 1);
    uint64_t dealt[LABELS] = {0};
    bool shuffled = false;
    for (uint32_t u = 0; u < 25; u++) {
        const struct store_samples store = world_store(w, u);
        for (uint64_t k = 0; k < store.n; k++) {
            const uint64_t sample = store.sample[k];
            shuffled = shuffled || sample / LABELS != dealt[store.label[k]];
            assert_true(seen[sample] == dealt[store.label[k]] / 600);
            seen[sample]++;
            dealt[store.label[k]]++;
        }
    }
    uint64_t restarts = 0;
    for (uint32_t l = 0; l < LABELS; l++)
        restarts += dealt[l] == 0 ? 0 : (dealt[l] - 1) / 600;
    assert_true(shuffled && restarts > 0);
    assert_int_equal(world_restarts(w), restarts);
    char text[ERROR_BYTES];
    world_describe_dealing(w, text, sizeof text);
    assert_non_null(strstr(text, " time"));
    free(seen);
    world_destroy(w);
    close_setup(s);
}

/* Marks what arrives; no sample may be marked twice. */
static osafl_status mark(void *arg, uint32_t client, uint32_t n, const uint64_t *sample,
                         struct error *error)
{
    uint8_t *seen = arg;
    (void)client;
    (void)error;
    for (uint32_t k = 0; k < n; k++)
        assert_int_equal(seen[sample[k]]++, 0);
    return OSAFL_OK;
}

/* With deal_once no sample comes twice: 10,000 are not enough for stores of some 5,600 and ten
 * rounds of some 560 arrivals, where some labels are rarer in the mixes than others. */
static void test_deal_once(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->e.clients.deal_once = true;
    s->toy.n = s->info.n_train = 10000;
    struct world *w = make_world(s);
    uint8_t *seen = calloc(10000, 1);
    uint64_t asked = world_population(w)->total_capacity;
    uint64_t came = 0;
    for (uint32_t u = 0; u < 25; u++) {
        const struct store_samples store = world_store(w, u);
        assert_int_equal(mark(seen, u, (uint32_t)store.n, store.sample, NULL), OSAFL_OK);
    }
    world_watch_arrivals(w, mark, seen);
    for (uint32_t t = 0; t < 10; t++) {
        assert_int_equal(world_begin_round(w, t, NULL, &s->error), OSAFL_OK);
        for (uint32_t u = 0; u < 25; u++)
            asked += world_arrivals(w)[u];
        assert_int_equal(world_advance(w, t, &s->error), OSAFL_OK);
        check_stores(s, w);
    }
    for (uint32_t i = 0; i < 10000; i++)
        came += seen[i];
    assert_true(world_missing(w) > 0);
    assert_int_equal(world_missing(w), asked - came);
    assert_int_equal(world_restarts(w), 0);
    char text[ERROR_BYTES];
    world_describe_dealing(w, text, sizeof text);
    assert_non_null(strstr(text, "did not arrive, as each is dealt once"));
    free(seen);
    world_destroy(w);
    close_setup(s);
}

static void test_arrivals(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    struct world *w = make_world(s);
    struct world *still = make_world(s);
    advance(s, w, 0, 1);
    check_stores(s, w);
    for (uint32_t u = 0; u < 25; u++) {
        /* fifo on the first round: the first E_u have left, the rest moved up in order. */
        const uint32_t n = world_population(w)->arrivals[u];
        const struct store_samples before = world_store(still, u);
        const struct store_samples after = world_store(w, u);
        assert_memory_equal(after.sample, before.sample + n,
                            (before.n - n) * sizeof *before.sample);
    }
    advance(s, w, 1, 60);
    check_stores(s, w);
    world_destroy(w);

    /* A policy that refuses all arrivals leaves the stores as they were. */
    s->deletion_vt.select = newest;
    struct world *same = make_world(s);
    advance(s, same, 0, 10);
    check_same(same, still);
    world_destroy(same);
    world_destroy(still);
    close_setup(s);
}

static uint64_t arrivals_seen;

static osafl_status count_and_check_ages(void *self, osafl_call *c, const osafl_store_view *v,
                                         uint32_t n, uint32_t *position)
{
    assert_int_equal(n, v->arrived);
    arrivals_seen += n;
    for (uint32_t k = 0; k < v->stored; k++) {
        assert_in_range(v->age[k], 1, v->round + 1);
        if (k > 0)
            assert_true(v->age[k] <= v->age[k - 1]); /* oldest first, as oldest() takes them */
    }
    for (uint32_t k = v->stored; k < v->stored + v->arrived; k++)
        assert_int_equal(v->age[k], 0);
    return oldest(self, c, v, n, position);
}

static void test_binomial_and_ages(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->deletion_vt.select = count_and_check_ages;
    set_arrival(s, "binomial", "probability", "0.25");
    struct world *w = make_world(s);
    uint64_t most = 0;
    for (uint32_t u = 0; u < 25; u++)
        most += world_population(w)->arrivals[u];
    arrivals_seen = 0;
    advance(s, w, 0, 40);
    check_stores(s, w);
    const double trials = 40.0 * (double)most;
    assert_true(fabs((double)arrivals_seen - 0.25 * trials) < 5 * sqrt(trials * 0.25 * 0.75));
    world_destroy(w);
    close_setup(s);
}

static void test_drift(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->deletion_vt.select = oldest;
    set_drift(s, 1.0); /* a fresh distribution each round */
    set_partition(s, "dirichlet", "concentration", "1e-6");
    struct world *w = make_world(s);
    const uint64_t n = world_population(w)->capacity[0];
    for (uint32_t t = 0; t < 30; t++)
        advance(s, w, t, t + 1);
    /* One label a round; ten rounds of arrivals fill a store. */
    assert_true(world_entropy(w, 0) > 0.8 && n > 0);
    check_stores(s, w);
    world_destroy(w);

    set_drift(s, 0.0);
    struct world *fixed = make_world(s);
    advance(s, fixed, 0, 30);
    assert_true(world_entropy(fixed, 0) == 0.0);
    world_destroy(fixed);
    close_setup(s);
}

static void test_natural(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    set_partition(s, "natural", NULL, NULL);
    s->toy.n = s->info.n_train = 5000;
    struct world *w = make_world(s);
    advance(s, w, 0, 3);
    check_stores(s, w);
    for (uint32_t u = 0; u < 25; u++) {
        const struct store_samples store = world_store(w, u);
        for (uint64_t k = 0; k < store.n; k++)
            assert_int_equal(store.sample[k] % 25, u);
    }
    char text[ERROR_BYTES];
    world_describe_dealing(w, text, sizeof text);
    assert_true(world_restarts(w) > 0); /* 200 samples for stores of up to 320 */
    assert_non_null(strstr(text, "client "));
    world_destroy(w);

    s->toy.owners = 20;
    REFUSE(s, OSAFL_E_CONFIG, "belongs to client 20", "toy", "clients.count");
    s->toy.owners = 25;
    s->toy.fail_client = true;
    REFUSE(s, OSAFL_E_IO, "dataset/toy: the owners cannot be read");
    s->toy.fail_client = false;
    set_drift(s, 0.1);
    REFUSE(s, OSAFL_E_CONFIG, "drift.plugin = \"restless\"", "natural");
    set_drift(s, 0.0);
    s->dataset_vt.client_of = NULL;
    REFUSE(s, OSAFL_E_CONFIG, "partition.plugin", "natural", "toy");
    close_setup(s);
}

static void test_labels_that_cannot_be_read(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->toy.fail_label = true;
    REFUSE(s, OSAFL_E_IO, "dataset/toy: the labels cannot be read");
    close_setup(s);
}

static void test_endless(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->info.n_train = OSAFL_ENDLESS;
    REFUSE(s, OSAFL_E_BUG, "sample_of", "toy");
    s->dataset_vt.sample_of = toy_sample_of;
    s->toy.fail_sample = true;
    REFUSE(s, OSAFL_E_IO, "dataset/toy: the sample cannot be found");
    s->toy.fail_sample = false;
    struct world *w = make_world(s);
    uint64_t next[LABELS] = {0};
    for (uint32_t u = 0; u < 25; u++) {
        const struct store_samples store = world_store(w, u);
        for (uint64_t k = 0; k < store.n; k++) {
            const int32_t label = store.label[k];
            assert_int_equal(store.sample[k], toy_sample(label, next[label]++));
        }
    }
    advance(s, w, 0, 5);
    check_stores(s, w);
    assert_int_equal(world_restarts(w), 0);
    world_destroy(w);
    close_setup(s);
}

static void test_missing_label(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->toy.skip_four = true;
    set_drift(s, 0.5);
    const char *const partitions[][3] = {
        {"dirichlet", "concentration", "1e-8"}, {"iid", NULL, NULL}, {"shards", NULL, NULL}};
    for (size_t i = 0; i < sizeof partitions / sizeof *partitions; i++) {
        set_partition(s, partitions[i][0], partitions[i][1], partitions[i][2]);
        struct world *w = make_world(s);
        advance(s, w, 0, 5);
        check_stores(s, w);
        for (uint32_t u = 0; u < 25; u++)
            assert_int_equal(world_histogram(w, u)[4], 0);
        world_destroy(w);
    }
    set_partition(s, "shards", "labels", "10");
    REFUSE(s, OSAFL_E_CONFIG, "partition.shards.labels", "10", "9 labels");
    close_setup(s);
}

/* Settings that are no part of the world do not touch it; the seed does. */
static void test_independence(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    struct world *a = make_world(s);
    advance(s, a, 0, 7);
    s->e.evaluation.every = 7;
    s->e.training.batch = 3;
    s->e.uplink.loss_probability = 0.5;
    s->e.general.rounds = 1000;
    struct world *b = make_world(s);
    advance(s, b, 0, 7);
    check_same(a, b);
    world_destroy(b);

    s->e.general.seed = 2;
    struct world *c = make_world(s);
    assert_true(world_population(a)->activity[0] != world_population(c)->activity[0]);
    world_destroy(a);
    world_destroy(c);
    close_setup(s);
}

static void test_one_sample(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->e.clients.storage = 1;
    REFUSE(s, OSAFL_E_CONFIG, "clients.arrivals", "clients.storage");
    s->e.clients.arrivals = 1;
    struct world *w = make_world(s);
    advance(s, w, 0, 5);
    check_stores(s, w);
    assert_int_equal(world_store(w, 3).n, 1);
    world_destroy(w);
    s->e.clients.arrivals = 0;
    w = make_world(s);
    s->deletion_vt.select = refuse; /* is not asked where nothing arrives */
    advance(s, w, 0, 5);
    world_destroy(w);
    close_setup(s);
}

static void test_refusals(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->toy.n = s->info.n_train = 20;
    REFUSE(s, OSAFL_E_CONFIG, "clients.count is 25", "toy", "20 training samples");
    s->info.n_train = 0;
    REFUSE(s, OSAFL_E_DATA, "toy");
    s->toy.n = s->info.n_train = 60000;
    s->toy.bad_label = 10;
    REFUSE(s, OSAFL_E_DATA, "sample 5", "label 10", "0 .. 9");
    s->toy.bad_label = -1;
    REFUSE(s, OSAFL_E_DATA, "sample 5", "label -1");
    s->toy.bad_label = -2;
    s->e.clients.count = 0;
    REFUSE(s, OSAFL_E_CONFIG, "clients.count is 0");
    s->e.clients.count = 25;
    s->e.clients.storage = INT64_C(1) << 40;
    REFUSE(s, OSAFL_E_CONFIG, "clients.storage", "2^31 - 1");
    close_setup(s);
}

static void refuse_advance(struct setup *s, osafl_status expected, const char *word)
{
    struct world *w = make_world(s);
    assert_int_equal(world_begin_round(w, 0, NULL, &s->error), OSAFL_OK);
    assert_int_equal(world_advance(w, 0, &s->error), expected);
    assert_non_null(strstr(s->error.text, "deletion/picky"));
    if (strstr(s->error.text, word) == NULL)
        fail_msg("\"%s\" is not in: %s", word, s->error.text);
    world_destroy(w);
}

static void test_bad_policies(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->deletion_vt.select = refuse;
    refuse_advance(s, OSAFL_E_NUMERIC, "no taste");
    s->deletion_vt.select = twice;
    refuse_advance(s, OSAFL_E_BUG, "once more");
    s->deletion_vt.select = outside;
    refuse_advance(s, OSAFL_E_BUG, "client 0");
    s->deletion_vt.select = too_few;
    refuse_advance(s, OSAFL_E_BUG, "distinct");
    close_setup(s);
}

/* save, load, save: the same bytes; and going on gives what never stopping gives. */
static void check_resume(struct setup *s)
{
    const void *data;
    const void *again;
    size_t size;
    size_t size_again;
    struct world *a = make_world(s);
    advance(s, a, 0, 7);
    struct record_writer *writer = save(a, &data, &size);
    struct world *b = make_world(s);
    if (load(s, b, data, size) != OSAFL_OK)
        fail_msg("%s", s->error.text);
    check_stores(s, b);
    check_same(a, b);
    struct record_writer *writer_again = save(b, &again, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(data, again, size);
    advance(s, a, 7, 20);
    advance(s, b, 7, 20);
    check_same(a, b);
    assert_int_equal(world_restarts(a), world_restarts(b));
    record_writer_destroy(writer);
    record_writer_destroy(writer_again);
    world_destroy(a);
    world_destroy(b);
}

static void test_resume(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->toy.n = s->info.n_train = 6000;
    check_resume(s);
    set_drift(s, 0.2);
    set_arrival(s, "binomial", NULL, NULL);
    s->deletion_vt.select = count_and_check_ages;
    check_resume(s);
    set_drift(s, 0.0);
    set_partition(s, "natural", NULL, NULL);
    check_resume(s);
    set_partition(s, "iid", NULL, NULL);
    s->info.n_train = OSAFL_ENDLESS;
    s->dataset_vt.sample_of = toy_sample_of;
    check_resume(s);
    close_setup(s);
}

/* Stores as a list of samples, client after client: "3 0 | 4 1". */
static void expect_stores(const struct world *w, const char *expected)
{
    char text[256] = "";
    for (uint32_t u = 0; u < world_population(w)->clients; u++) {
        const struct store_samples store = world_store(w, u);
        for (uint64_t k = 0; k < store.n; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%u ",
                     (unsigned)store.sample[k]);
        snprintf(text + strlen(text), sizeof text - strlen(text), "| ");
    }
    assert_string_equal(text, expected);
}

/* Three clients with eight samples each and room for three; sample i comes at 100 - i and belongs
 * to client i % 3. */
static struct setup *make_timed_setup(const double *time)
{
    struct setup *s = make_setup();
    s->e.clients.count = 3;
    s->e.clients.storage = 3;
    s->e.clients.arrivals = 1;
    s->e.clients.activity = (osafl_range){1.0, 1.0};
    s->toy.owners = 3;
    s->toy.n = s->info.n_train = 24;
    s->toy.time = time;
    s->dataset_vt.time_of = toy_time_of;
    set_partition(s, "natural", NULL, NULL);
    return s;
}

/* Round t has the samples of [85 + 6 t, 91 + 6 t); before it begins, stores have the last three
 * that came before 85. */
static void test_timed(void **state)
{
    (void)state;
    double time[24];
    for (uint32_t i = 0; i < 24; i++)
        time[i] = 100.0 - i;
    struct setup *s = make_timed_setup(time);
    set_arrival(s, "timed", "start", "85");
    fixture_set(s->arrival, "period", "6");
    struct world *w = make_world(s);
    expect_stores(w, "21 18 | 22 19 16 | 23 20 17 | ");
    advance(s, w, 0, 1);
    expect_stores(w, "18 15 12 | 16 13 10 | 17 14 11 | ");
    advance(s, w, 1, 2);
    expect_stores(w, "12 9 6 | 10 7 4 | 11 8 5 | ");
    advance(s, w, 2, 3);
    expect_stores(w, "6 3 0 | 7 4 1 | 8 5 2 | ");
    advance(s, w, 3, 5);
    expect_stores(w, "6 3 0 | 7 4 1 | 8 5 2 | ");
    assert_int_equal(world_restarts(w) + world_missing(w), 0);
    world_destroy(w);
    check_resume(s);

    /* More has come before round 0 than fits; then one sample of client 1 and one of client 0. */
    fixture_set(s->arrival, "start", "99");
    fixture_set(s->arrival, "period", "1");
    w = make_world(s);
    expect_stores(w, "9 6 3 | 10 7 4 | 8 5 2 | ");
    advance(s, w, 0, 1);
    expect_stores(w, "9 6 3 | 7 4 1 | 8 5 2 | ");
    advance(s, w, 1, 2);
    expect_stores(w, "6 3 0 | 7 4 1 | 8 5 2 | ");
    world_destroy(w);
    check_resume(s);
    close_setup(s);
}

/* Any arrival deals by time, those of one time by number; without times the order is shuffled. */
static void test_order_of_times(void **state)
{
    (void)state;
    double time[24];
    for (uint32_t i = 0; i < 24; i++)
        time[i] = i < 12 ? 7.5 : -2.0;
    struct setup *s = make_timed_setup(time);
    struct world *w = make_world(s);
    expect_stores(w, "12 15 18 | 13 16 19 | 14 17 20 | ");
    advance(s, w, 0, 2);
    expect_stores(w, "18 21 0 | 19 22 1 | 20 23 2 | ");
    world_destroy(w);

    set_arrival(s, "timed", "period", "1");
    fixture_set(s->arrival, "start", "7");
    REFUSE(s, OSAFL_E_CONFIG, "4 samples of client 0 come in round 0 (times from 7 to 8)",
           "room for 3: clients.storage times its activity of ");
    time[3] = (double)INFINITY;
    REFUSE(s, OSAFL_E_BUG, "dataset/toy: time_of() gives training sample 3 no finite time");
    time[0] = (double)NAN; /* there are no times */
    REFUSE(s, OSAFL_E_CONFIG, "arrival/timed: it needs samples that have times");
    set_arrival(s, "steady", NULL, NULL);
    struct world *shuffled = make_world(s);
    s->dataset_vt.time_of = NULL;
    struct world *same = make_world(s);
    check_same(shuffled, same);
    world_destroy(shuffled);
    world_destroy(same);
    close_setup(s);
}

/* Loads records that one of the values was changed in. */
static void refuse_load(struct setup *s, const char *key, uint64_t at, uint64_t value,
                        const char *word)
{
    enum { CLIENTS = 25 };
    struct world *w = make_world(s);
    const uint64_t total = world_population(w)->total_capacity;
    const uint32_t pools = s->by_client ? CLIENTS : LABELS;
    struct record_writer *writer = record_writer_create();
    osafl_writer *to = record_writer_section(writer, "world", 1);
    const char *const keys[] = {"round", "dealt", "stored", "sample", "born"};
    const uint64_t counts[] = {1, pools, CLIENTS, total, total};
    for (size_t k = 0; k < 5; k++) {
        uint64_t *v = calloc(total, sizeof *v);
        if (k == 2)
            memcpy(v, world_stored(w), CLIENTS * sizeof *v);
        if (k == 3) {
            for (uint32_t u = 0, n = 0; u < CLIENTS; u++)
                for (uint64_t i = 0; i < world_store(w, u).n; i++)
                    v[n++] = world_store(w, u).sample[i];
        }
        const bool changed = strcmp(keys[k], key) == 0;
        if (changed && at < counts[k])
            v[at] = value;
        to->u64(to, keys[k], v, changed && at == counts[k] ? at - 1 : counts[k]);
        free(v);
        if (changed && at == UINT64_MAX)
            break; /* the rest is missing */
    }
    const void *data;
    size_t size;
    assert_int_equal(record_writer_finish(writer, &data, &size, &s->error), OSAFL_OK);
    if (word == NULL) {
        assert_int_equal(load(s, w, data, size), OSAFL_OK);
    } else {
        assert_int_equal(load(s, w, data, size), OSAFL_E_STATE);
        if (strstr(s->error.text, word) == NULL)
            fail_msg("\"%s\" is not in: %s", word, s->error.text);
    }
    record_writer_destroy(writer);
    world_destroy(w);
}

static void test_damaged_records(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->toy.skip_four = true;
    s->toy.n = s->info.n_train = 6000;
    refuse_load(s, "none", 0, 0, NULL);
    refuse_load(s, "round", 0, UINT32_MAX, "round");
    refuse_load(s, "dealt", 3, UINT64_MAX, "dealt");
    refuse_load(s, "dealt", 3, UINT32_MAX, "dealt"); /* more than all stores hold */
    refuse_load(s, "dealt", 4, 1, "dealt");          /* a label without samples */
    refuse_load(s, "dealt", 10, 0, "dealt");         /* one pool too few */
    refuse_load(s, "stored", 3, 0, NULL);            /* an empty store */
    refuse_load(s, "stored", 3, 401, "stored");      /* more than there is room for */
    refuse_load(s, "stored", 3, UINT64_MAX, "stored");
    refuse_load(s, "sample", 0, 6000, "sample");
    refuse_load(s, "born", 0, 1, "born"); /* in the store only from a round still to come */
    refuse_load(s, "round", UINT64_MAX, 0, "dealt");
    refuse_load(s, "sample", UINT64_MAX, 0, "born");
    set_partition(s, "natural", NULL, NULL);
    refuse_load(s, "none", 0, 0, NULL);
    refuse_load(s, "sample", 0, 1, "sample"); /* belongs to client 1 */
    close_setup(s);
}

/* Partitions and arrivals that break the interface are named, each with what is wrong. */
static void test_bad_partitions(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    const double bad[] = {(double)NAN, -0.1, 1.5, (double)INFINITY, 0.123456};
    double mix[LABELS];
    s->plugins.partition = &s->bad_partition.instance;
    s->bad_partition.instance.self = mix;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        for (uint32_t l = 0; l < LABELS; l++)
            mix[l] = 1.0 / LABELS;
        mix[7] = bad[k];
        REFUSE(s, OSAFL_E_BUG, "partition/odd", "client 0", "sum to 1");
    }
    memset(mix, 0, sizeof mix);
    mix[4] = 1.0;
    world_destroy(make_world(s));
    s->toy.skip_four = true;
    REFUSE(s, OSAFL_E_BUG, "partition/odd", "labels that have samples");
    s->partition_vt.mix = refuse_mix;
    REFUSE(s, OSAFL_E_NUMERIC, "partition/odd", "client 0", "no taste");
    s->partition_vt.mix = NULL;
    REFUSE(s, OSAFL_E_BUG, "partition/odd", "lacks");
    s->partition_vt.describe = describe_unknown;
    REFUSE(s, OSAFL_E_BUG, "partition/odd", "unknown way");
    close_setup(s);
}

static void test_bad_drifts(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    const double bad[] = {(double)NAN, 1.5, (double)INFINITY};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        set_drift(s, 0.5);
        s->drifting.weight = bad[k];
        struct world *w = make_world(s);
        assert_int_equal(world_begin_round(w, 0, NULL, &s->error), OSAFL_OK);
        assert_int_equal(world_advance(w, 0, &s->error), OSAFL_E_BUG);
        assert_non_null(strstr(s->error.text, "drift/restless, round 0, client 0"));
        world_destroy(w);
    }
    close_setup(s);
}

static void test_bad_arrivals(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->plugins.arrival = &s->bad_arrival.instance;
    s->arrival_vt.arrive = one_too_many;
    struct world *w = make_world(s);
    assert_int_equal(world_begin_round(w, 0, NULL, &s->error), OSAFL_E_BUG);
    assert_non_null(strstr(s->error.text, "arrival/odd, round 0, client 7"));
    s->arrival_vt.arrive = half_present;
    assert_int_equal(world_begin_round(w, 0, NULL, &s->error), OSAFL_E_BUG);
    assert_non_null(strstr(s->error.text, "client 3"));
    assert_non_null(strstr(s->error.text, "present = 2"));
    world_destroy(w);
    close_setup(s);
}

static osafl_status overfill(void *self, osafl_call *c, const osafl_arrival_problem *p, uint64_t *n)
{
    (void)self, (void)c;
    assert_null(p->history);
    n[4] = p->capacity[4] + 1;
    return OSAFL_OK;
}

static void test_bad_fill(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->plugins.arrival = &s->bad_arrival.instance;
    s->arrival_vt.fill = overfill;
    REFUSE(s, OSAFL_E_BUG, "arrival/odd, client 4", "fill()");
    close_setup(s);
}

/* Stores grow with what arrives until they are full; only then the policy is asked, and for no more
 * than there is too much. */
static void test_growing_stores(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    const char *const fills[] = {"0", "0.25", "0.97"};
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        s->deletion_vt.select = refuse;
        set_arrival(s, "steady", "fill", fills[i]);
        struct world *w = make_world(s);
        const struct population *p = world_population(w);
        check_contents(s, w);
        for (uint32_t t = 0; t < 14; t++) {
            uint64_t expected[25];
            bool full = false;
            for (uint32_t u = 0; u < 25; u++) {
                expected[u] = (uint64_t)nearbyint(strtod(fills[i], NULL) * (double)p->capacity[u]) +
                              (uint64_t)(t + 1) * p->arrivals[u];
                full = full || expected[u] > p->capacity[u];
                if (expected[u] > p->capacity[u])
                    expected[u] = p->capacity[u];
            }
            if (full)
                s->deletion_vt.select = oldest;
            advance(s, w, t, t + 1);
            check_contents(s, w);
            assert_memory_equal(world_stored(w), expected, sizeof expected);
        }
        check_stores(s, w);
        world_destroy(w);
    }
    check_resume(s);
    close_setup(s);
}

/* A client without a sample is not there, whatever the arrival says. */
static void test_empty_stores(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    set_arrival(s, "steady", "fill", "0");
    struct world *w = make_world(s);
    assert_int_equal(world_begin_round(w, 0, NULL, &s->error), OSAFL_OK);
    for (uint32_t u = 0; u < 25; u++) {
        assert_int_equal(world_present(w)[u], 0);
        assert_true(isnan(world_entropy(w, u)));
        assert_true(world_alpha(w, u) == 0.0);
    }
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    world_print(w, to);
    fclose(to);
    assert_non_null(strstr(text, "with 0 samples in stores for "));
    assert_non_null(strstr(text, "empty stores: 25"));
    assert_null(strstr(text, "nan"));
    free(text);
    advance(s, w, 0, 1);
    assert_int_equal(world_begin_round(w, 1, NULL, &s->error), OSAFL_OK);
    for (uint32_t u = 0; u < 25; u++)
        assert_int_equal(world_present(w)[u], 1);
    world_destroy(w);
    close_setup(s);
}

static void test_print(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->e.clients.count = 60;
    struct world *w = make_world(s);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    world_print(w, to);
    fclose(to);
    assert_non_null(strstr(text, "clients: 60"));
    assert_non_null(strstr(text, "smallest client"));
    assert_non_null(strstr(text, "entropy"));
    assert_non_null(strstr(text, "and 10 more"));
    assert_null(strstr(text, "nan"));
    free(text);
    assert_true(world_bytes(w) > 60 * 120 * 16);
    world_destroy(w);
    close_setup(s);
}

/* Ten thousand clients cost their stores and little else. */
static void test_many_clients(void **state)
{
    (void)state;
    struct setup *s = make_setup();
    s->e.clients.count = 10000;
    struct world *w = make_world(s);
    advance(s, w, 0, 2);
    const double per_client = (double)world_bytes(w) / 10000;
    assert_true(per_client < 16.0 * 400 + 12.0 * LABELS + 128);
    world_destroy(w);
    close_setup(s);
}

/* ---- threads ---- */

static const char *const concurrent[] = {"concurrent", NULL};

struct crowd {
    uint32_t clients;
    int64_t storage;
    int64_t arrivals;
    double drift;
    bool natural;
    bool endless;
    bool once;
};

/* After three rounds.  threads: 0: no pool. */
static struct world *make_crowd(struct setup *s, const struct crowd *c, unsigned threads)
{
    s->context.pool = threads > 0 ? pool_create(threads, NULL) : NULL;
    assert_true(threads == 0 || s->context.pool != NULL);
    s->deletion.plugin.features = concurrent;
    s->drift.plugin.features = concurrent;
    s->dataset_vt.sample_of = c->endless ? toy_sample_of : NULL;
    s->info.n_train = c->endless ? OSAFL_ENDLESS : s->toy.n;
    s->e.clients.count = s->toy.owners = c->clients;
    s->e.clients.storage = c->storage;
    s->e.clients.arrivals = c->arrivals;
    s->e.clients.deal_once = c->once;
    set_drift(s, c->drift);
    if (c->natural)
        set_partition(s, "natural", NULL, NULL);
    struct world *w = make_world(s);
    advance(s, w, 0, 3);
    return w;
}

static void close_crowd(struct setup *s, struct world *w)
{
    world_destroy(w);
    pool_destroy(s->context.pool);
    close_setup(s);
}

static void check_crowd(const struct crowd *c)
{
    static const unsigned threads[] = {1, 2, 7};
    struct setup *s = make_setup();
    struct world *w = make_crowd(s, c, 0);
    const void *data;
    size_t size;
    check_contents(s, w);
    struct record_writer *writer = save(w, &data, &size);
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        const void *again;
        size_t size_again;
        struct setup *other = make_setup();
        struct world *x = make_crowd(other, c, threads[k]);
        struct record_writer *writer_again = save(x, &again, &size_again);
        check_same(w, x);
        assert_int_equal(size, size_again);
        assert_memory_equal(data, again, size);
        record_writer_destroy(writer_again);
        close_crowd(other, x);
    }
    record_writer_destroy(writer);
    close_crowd(s, w);
}

/* More clients, and more arrivals, than are advanced together. */
static void test_threads(void **state)
{
    (void)state;
    static const struct crowd crowds[] = {
        {.clients = 40000, .storage = 6, .arrivals = 2},
        {.clients = 2500, .storage = 90, .arrivals = 80, .drift = 0.3},
        {.clients = 2500, .storage = 90, .arrivals = 80, .endless = true},
        {.clients = 20000, .storage = 6, .arrivals = 2, .natural = true},
        {.clients = 5000, .storage = 9, .arrivals = 4, .once = true},
    };
    for (size_t k = 0; k < sizeof crowds / sizeof crowds[0]; k++)
        check_crowd(&crowds[k]);
}

/* From which clients on something fails. */
static uint32_t bad_mixes;
static uint32_t bad_choices;

static osafl_status mix_of_some(void *self, osafl_call *c, uint32_t client, uint32_t draw,
                                double *mix)
{
    if (client >= bad_mixes && draw > 0)
        return refuse_mix(self, c, client, draw, mix);
    for (uint32_t l = 0; l < LABELS; l++)
        mix[l] = 1.0 / LABELS;
    return OSAFL_OK;
}

static osafl_status choose_for_some(void *self, osafl_call *c, const osafl_store_view *v,
                                    uint32_t n, uint32_t *position)
{
    return v->client >= bad_choices ? refuse(self, c, v, n, position)
                                    : oldest(self, c, v, n, position);
}

static void expect_failure(unsigned threads, uint32_t mixes, uint32_t choices, const char *named)
{
    struct setup *s = make_setup();
    bad_mixes = mixes;
    bad_choices = choices;
    s->context.pool = pool_create(threads, NULL);
    assert_non_null(s->context.pool);
    s->partition_vt.mix = mix_of_some;
    s->deletion_vt.select = choose_for_some;
    s->bad_partition.plugin.features = concurrent;
    s->deletion.plugin.features = concurrent;
    s->drift.plugin.features = concurrent;
    s->plugins.partition = &s->bad_partition.instance;
    s->e.clients.count = 5000;
    s->e.clients.storage = 6;
    s->e.clients.arrivals = 3;
    set_drift(s, 0.5);
    struct world *w = make_world(s);
    assert_int_equal(world_begin_round(w, 0, NULL, &s->error), OSAFL_OK);
    assert_int_equal(world_advance(w, 0, &s->error), OSAFL_E_NUMERIC);
    if (strstr(s->error.text, named) == NULL)
        fail_msg("\"%s\" is not in: %s", named, s->error.text);
    close_crowd(s, w);
}

/* The first client that fails is named, whatever fails for others. */
static void test_first_failure(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 7; threads += 2) {
        expect_failure(threads, 4700, 650, "deletion/picky, round 0, client 650:");
        expect_failure(threads, 300, 650, "partition/odd, client 300:");
        expect_failure(threads, 650, 649, "deletion/picky, round 0, client 649:");
        expect_failure(threads, 650, 650, "partition/odd, client 650:");
    }
}

static pthread_t asker;
static uint32_t askers; /* threads seen, at most 2 */
static uint32_t expected_client;
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

static uint32_t note_asker(void)
{
    pthread_mutex_lock(&asking);
    if (askers == 0)
        asker = pthread_self();
    if (askers == 0 || !pthread_equal(asker, pthread_self()))
        askers++;
    const uint32_t seen = askers;
    pthread_mutex_unlock(&asking);
    return seen;
}

/* The first waits until another thread comes. */
static osafl_status choose_with_others(void *self, osafl_call *c, const osafl_store_view *v,
                                       uint32_t n, uint32_t *position)
{
    for (uint32_t k = 0; k < 60000 && note_asker() < 2; k++)
        usleep(1000);
    return oldest(self, c, v, n, position);
}

static osafl_status choose_in_order(void *self, osafl_call *c, const osafl_store_view *v,
                                    uint32_t n, uint32_t *position)
{
    assert_int_equal(note_asker(), 1);
    assert_int_equal(v->client, expected_client++ % 5000);
    return oldest(self, c, v, n, position);
}

/* A policy that says so is asked by several threads, and another one by the coordinator. */
static void test_askers(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct setup *s = make_setup();
        askers = 0;
        s->context.pool = pool_create(3, NULL);
        assert_non_null(s->context.pool);
        s->deletion.plugin.features = k == 0 ? concurrent : NULL;
        s->deletion_vt.select = k == 0 ? choose_with_others : choose_in_order;
        s->e.clients.count = 5000;
        s->e.clients.storage = 6;
        s->e.clients.arrivals = 3;
        struct world *w = make_world(s);
        advance(s, w, 0, 2);
        assert_true(askers > 0 && (askers == 1) == (k == 1));
        assert_true(k == 0 || pthread_equal(asker, pthread_self()));
        close_crowd(s, w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ceil),
        cmocka_unit_test(test_population),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_sizes_of_groups),
        cmocka_unit_test(test_stores_follow_mix),
        cmocka_unit_test(test_no_repetition),
        cmocka_unit_test(test_deal_once),
        cmocka_unit_test(test_arrivals),
        cmocka_unit_test(test_binomial_and_ages),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_natural),
        cmocka_unit_test(test_timed),
        cmocka_unit_test(test_order_of_times),
        cmocka_unit_test(test_labels_that_cannot_be_read),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_missing_label),
        cmocka_unit_test(test_independence),
        cmocka_unit_test(test_one_sample),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_policies),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_damaged_records),
        cmocka_unit_test(test_bad_partitions),
        cmocka_unit_test(test_bad_drifts),
        cmocka_unit_test(test_bad_arrivals),
        cmocka_unit_test(test_bad_fill),
        cmocka_unit_test(test_growing_stores),
        cmocka_unit_test(test_empty_stores),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_many_clients),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_first_failure),
        cmocka_unit_test(test_askers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
