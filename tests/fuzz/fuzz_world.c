/* fuzz_world.c - a world from any records: they are refused, or the world is one in which rounds go
 * on, and saves what it would load again. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "world/world.h"
#include "world/world_state.h"

#define CLIENTS 3
#define LABELS 4
#define SAMPLES 60

/* ---- a data set: finite with owners, or endless; a drift ---- */

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)h, (void)c, (void)facts, (void)config, (void)self;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    (void)self;
}

static osafl_status label_of(void *self, osafl_call *c, uint64_t i, int32_t *label)
{
    (void)self, (void)c;
    *label = (int32_t)(i % LABELS);
    return OSAFL_OK;
}

static osafl_status sample_of(void *self, osafl_call *c, int32_t label, uint64_t k,
                              uint64_t *sample)
{
    (void)self, (void)c;
    *sample = k * LABELS + (uint64_t)label;
    return OSAFL_OK;
}

static osafl_status client_of(void *self, osafl_call *c, uint64_t i, uint32_t *client)
{
    (void)self, (void)c;
    *client = (uint32_t)(i / LABELS % CLIENTS);
    return OSAFL_OK;
}

static osafl_status time_of(void *self, osafl_call *c, uint64_t i, double *when)
{
    (void)self, (void)c;
    *when = (double)(i * 7 % SAMPLES) / 10.0;
    return OSAFL_OK;
}

static const osafl_dataset_vt dataset_vt = {
    .life = {.struct_size = sizeof dataset_vt, .create = create, .destroy = destroy},
    .label = label_of,
    .sample_of = sample_of,
    .client_of = client_of,
    .time_of = time_of,
};
static const osafl_plugin dataset_plugin = {OSAFL_PLUGIN_HEAD, .kind = OSAFL_KIND_DATASET,
                                            .name = "small", .version = "1.0.0",
                                            .vtable = &dataset_vt.life};

/* A quarter of the way to a fresh mix, in every round. */
static osafl_status drift_at(void *self, osafl_call *c, uint32_t client, uint32_t round,
                             osafl_drift_mix *out)
{
    (void)self, (void)c, (void)client;
    out->draw_b = round + 1;
    out->weight = 0.25;
    return OSAFL_OK;
}

static const osafl_drift_vt drift_vt = {
    .life = {.struct_size = sizeof drift_vt, .create = create, .destroy = destroy},
    .at = drift_at,
};
static const osafl_plugin drift_plugin = {OSAFL_PLUGIN_HEAD, .kind = OSAFL_KIND_DRIFT,
                                          .name = "restless", .version = "1.0.0",
                                          .vtable = &drift_vt.life};

/* ---- the world ---- */

static const struct client_settings few_clients = {
    .count = CLIENTS,
    .storage = 8,
    .arrivals = 3,
    .activity = {0.3, 0.8},
    .cycles_per_bit = {25.0, 40.0},
    .energy_budget_j = {1.2, 2.5},
    .clock_max_hz = {1e9, 1.8e9},
    .power_max_dbm = {20.0, 30.0},
};

struct scene {
    struct experiment e;
    osafl_dataset_info info;
    osafl_facts facts;
    double share[LABELS];
    struct host_context context;
    struct instance dataset;
    struct instance drift;
    struct world_plugins plugins;
};

static void set_scene(struct scene *s, uint32_t choice)
{
    *s = (struct scene){
        .e = {.general = {.name = "x", .seed = 3, .rounds = 5}, .clients = few_clients},
        .info = {.struct_size = sizeof s->info,
                 .rank = 1,
                 .shape = {1},
                 .x_type = OSAFL_X_FLOAT,
                 .target_type = OSAFL_TARGET_CLASS,
                 .target_size = LABELS,
                 .labels = LABELS,
                 .n_train = SAMPLES,
                 .n_test = 1},
    };
    if (choice == 2)
        s->info.n_train = OSAFL_ENDLESS;
    for (uint32_t l = 0; l < LABELS; l++)
        s->share[l] = 1.0 / LABELS;
    s->facts = (osafl_facts){.struct_size = sizeof s->facts,
                             .clients = CLIENTS,
                             .rounds = 5,
                             .dataset = &s->info,
                             .label_share = s->share};
    s->context = (struct host_context){.seed = 3};
    s->dataset =
        (struct instance){.plugin = &dataset_plugin, .host = &core_host, .context = &s->context};
    s->drift =
        (struct instance){.plugin = &drift_plugin, .host = &core_host, .context = &s->context};
    s->plugins = (struct world_plugins){
        .dataset = &s->dataset,
        .info = &s->info,
        .label_share = s->share,
        .partition =
            fuzz_instance(fuzz_plugin(OSAFL_KIND_PARTITION, choice == 1 ? "natural" : "dirichlet"),
                          &s->facts, NULL),
        .drift = choice == 0
                     ? &s->drift
                     : fuzz_instance(fuzz_plugin(OSAFL_KIND_DRIFT, "none"), &s->facts, NULL),
        .arrival = fuzz_instance(fuzz_plugin(OSAFL_KIND_ARRIVAL, "steady"), &s->facts, NULL),
        .deletion = fuzz_instance(fuzz_plugin(OSAFL_KIND_DELETION, "topk"), &s->facts, NULL),
    };
}

/* A scene of each kind, made once: 0: drifting, 1: with owners, 2: endless. */
static const struct scene *scene_of(uint32_t choice)
{
    static struct scene scenes[3];
    if (scenes[choice].plugins.dataset == NULL)
        set_scene(&scenes[choice], choice);
    return &scenes[choice];
}

static struct world *make_world(const struct scene *s)
{
    struct error error;
    struct world *w = NULL;
    FUZZ_REQUIRE(world_create(&s->e, &s->plugins, &w, &error) == OSAFL_OK);
    return w;
}

static struct record_writer *save(const struct world *w, const void **data, size_t *size)
{
    struct error error;
    struct record_writer *to = record_writer_create();
    FUZZ_REQUIRE(to != NULL && world_save(w, record_writer_section(to, "s", 1)) == OSAFL_OK);
    FUZZ_REQUIRE(record_writer_finish(to, data, size, &error) == OSAFL_OK);
    return to;
}

static void check_saved(const struct world *w, const struct scene *s)
{
    struct error error;
    const void *first = NULL;
    const void *second = NULL;
    size_t first_size = 0;
    size_t second_size = 0;
    struct record_writer *a = save(w, &first, &first_size);
    struct record_set *set = NULL;
    struct record_reader reader;
    FUZZ_REQUIRE(record_set_open(first, first_size, &set, &error) == OSAFL_OK);
    FUZZ_REQUIRE(record_reader_open(set, "s", &reader, &error) == OSAFL_OK);
    struct world *again = make_world(s);
    FUZZ_REQUIRE(world_load(again, &reader, &error) == OSAFL_OK);
    struct record_writer *b = save(again, &second, &second_size);
    FUZZ_REQUIRE(first_size == second_size && memcmp(first, second, first_size) == 0);
    world_destroy(again);
    record_set_destroy(set);
    record_writer_destroy(a);
    record_writer_destroy(b);
}

/* Every sample is one of the data set, with its own label, and counted. */
static void check_stores(const struct world *w, const struct scene *s)
{
    for (uint32_t u = 0; u < CLIENTS; u++) {
        const struct store_samples store = world_store(w, u);
        uint32_t histogram[LABELS] = {0};
        for (uint64_t k = 0; k < store.n; k++) {
            FUZZ_REQUIRE(store.sample[k] < s->info.n_train);
            FUZZ_REQUIRE(store.label[k] == (int32_t)(store.sample[k] % LABELS));
            histogram[store.label[k]]++;
        }
        FUZZ_REQUIRE(memcmp(histogram, world_histogram(w, u), sizeof histogram) == 0);
    }
}

/* First byte: the kind of world; the rest: what the reader answers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_records records;
    struct error error;
    struct fuzz_input in = {data, size};
    const struct scene *scene = scene_of(fuzz_below(&in, 3));
    struct world *w = make_world(scene);
    fuzz_records_open(&records, &in, 1);
    const osafl_status status = world_load(w, &records.reader, &error);
    FUZZ_REQUIRE(status == OSAFL_OK || (status == OSAFL_E_STATE && error.text[0] != '\0'));
    if (status == OSAFL_OK) {
        check_stores(w, scene);
        check_saved(w, scene);
        FUZZ_REQUIRE(world_begin_round(w, w->round, NULL, &error) == OSAFL_OK);
        FUZZ_REQUIRE(world_advance(w, w->round, &error) == OSAFL_OK);
        check_stores(w, scene);
        world_describe_dealing(w, error.text, sizeof error.text);
    }
    world_destroy(w);
    return 0;
}
