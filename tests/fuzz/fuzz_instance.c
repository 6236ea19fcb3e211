/* fuzz_instance.c - load() of every built-in plugin that keeps state, from any records: it refuses
 * them, or the instance goes on for two rounds and saves what it would load again. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "plugin/plugin_state.h"
#include "round/updates.h"

#define CLIENTS 4
#define ROUNDS 10
#define LABELS 3
#define DIM 5
#define MOST_PLUGINS 64

static const osafl_plugin *with_state[MOST_PLUGINS];
static uint32_t n_with_state;

static void find_plugins(void)
{
    const osafl_plugin *p;
    for (uint32_t i = 0; (p = fuzz_plugin_at(i)) != NULL; i++) {
        if (p->vtable->load == NULL)
            continue;
        FUZZ_REQUIRE(n_with_state < MOST_PLUGINS);
        /* A kind that gets state must be put to work below. */
        FUZZ_REQUIRE(p->kind == OSAFL_KIND_AGGREGATOR || p->kind == OSAFL_KIND_DELETION ||
                     p->kind == OSAFL_KIND_SELECTION || p->kind == OSAFL_KIND_FILTER);
        with_state[n_with_state++] = p;
    }
}

static osafl_status load(struct instance *i, struct fuzz_input *in)
{
    static struct fuzz_records records;
    fuzz_records_open(&records, in, i->plugin->vtable->state_version);
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
    const osafl_status status =
        call_end(&c, i->plugin->vtable->load(i->self, &c, &records.reader.base));
    FUZZ_REQUIRE(status == OSAFL_OK || status == OSAFL_E_STATE);
    return status;
}

/* ---- going on ---- */

/* Some updates that earlier rounds left with the host, ids 1 .. CLIENTS. */
static void keep_updates(struct kept_updates *kept)
{
    *kept = (struct kept_updates){.next_id = CLIENTS + 1, .n = CLIENTS, .capacity = CLIENTS};
    kept->list = calloc(CLIENTS, sizeof *kept->list);
    FUZZ_REQUIRE(kept->list != NULL);
    for (uint64_t k = 0; k < CLIENTS; k++)
        kept->list[k] = (struct kept_update){
            .id = k + 1,
            .code = {.data = calloc(DIM, sizeof(float)), .bytes = DIM * sizeof(float)}};
}

static void aggregate(struct instance *i, struct fuzz_input *in)
{
    const osafl_aggregator_vt *vt = (const osafl_aggregator_vt *)(const void *)i->plugin->vtable;
    const struct codec codec = {.dim = DIM};
    static const uint32_t histogram[LABELS] = {5, 0, 7};
    struct kept_updates kept;
    float vector[CLIENTS][2][DIM];
    struct code code[CLIENTS][2];
    struct update update[CLIENTS];
    _Alignas(64) float w[DIM] = {0.5f, -1.0f, 0.0f, 3.0f, 1e-3f};
    keep_updates(&kept);
    for (uint32_t round = 0; round < 2; round++) {
        const uint8_t present = fuzz_byte(in);
        uint32_t n = 0;
        for (uint32_t u = 0; u < CLIENTS; u++) {
            if ((present >> u & 1) != 0)
                continue;
            for (uint32_t slot = 0; slot < 2; slot++) {
                for (uint32_t j = 0; j < DIM; j++)
                    vector[n][slot][j] = (float)((int)fuzz_byte(in) - 128) / 16.0f;
                code[n][slot] = (struct code){.data = (uint8_t *)(void *)vector[n][slot],
                                              .bytes = sizeof vector[n][slot]};
            }
            update[n] = (struct update){.client = u,
                                        .local_rounds = 1 + u,
                                        .steps = 8,
                                        .rate = 0.1,
                                        .samples = 12,
                                        .alpha = 0.25,
                                        .train_loss = 1.0,
                                        .start_round = round,
                                        .arrived_s = round + 0.5,
                                        .histogram = histogram,
                                        .code = code[n]};
            n++;
        }
        const struct update_round facts = {
            .round = round, .rounds = ROUNDS, .clients = CLIENTS, .labels = LABELS, .slots = 2};
        struct update_set set;
        osafl_call c;
        call_begin(&c, i, OSAFL_NO_CLIENT, round);
        FUZZ_REQUIRE(updates_open(&set, &codec, &facts, update, n, &kept, &c) == OSAFL_OK);
        osafl_status status = OSAFL_OK;
        if (n > 0)
            status = vt->aggregate(i->self, &c, &set.view, w);
        updates_close(&set);
        if (call_end(&c, status) != OSAFL_OK)
            break;
    }
    kept_updates_free(&kept);
}

static void select_leaving(struct instance *i, struct fuzz_input *in)
{
    enum { STORED = 6, ARRIVED = 3 };
    const osafl_deletion_vt *vt = (const osafl_deletion_vt *)(const void *)i->plugin->vtable;
    int32_t label[STORED + ARRIVED];
    uint32_t age[STORED + ARRIVED] = {4, 4, 2, 1, 1, 1};
    for (uint32_t k = 0; k < STORED + ARRIVED; k++)
        label[k] = (int32_t)fuzz_below(in, LABELS);
    for (uint32_t call = 0; call < 2 * CLIENTS; call++) {
        const uint32_t client = call % CLIENTS;
        const uint32_t round = call / CLIENTS;
        const osafl_store_view view = {.struct_size = sizeof view,
                                       .client = client,
                                       .round = round,
                                       .labels = LABELS,
                                       .stored = STORED,
                                       .arrived = ARRIVED,
                                       .label = label,
                                       .age = age};
        uint32_t position[ARRIVED];
        osafl_call c;
        call_begin(&c, i, client, round);
        FUZZ_REQUIRE(call_end(&c, vt->select(i->self, &c, &view, ARRIVED, position)) == OSAFL_OK);
        unsigned gone = 0;
        for (uint32_t k = 0; k < ARRIVED; k++) {
            FUZZ_REQUIRE(position[k] < STORED + ARRIVED && (gone >> position[k] & 1) == 0);
            gone |= 1u << position[k];
        }
    }
}

static void choose(struct instance *i, struct fuzz_input *in)
{
    const osafl_selection_vt *vt = (const osafl_selection_vt *)(const void *)i->plugin->vtable;
    static const uint32_t count[CLIENTS * LABELS];
    static const uint32_t age[CLIENTS] = {1, 2, 1, 3};
    static const double value[CLIENTS] = {0.5, 2.0, 1.0, 0.25};
    static const uint64_t samples[CLIENTS] = {10, 20, 30, 40};
    const osafl_history history = {
        .struct_size = sizeof history,
        .labels = LABELS,
        .histogram = count,
        .histogram_then = count,
        .arrivals = count,
        .participations = count,
        .age = age,
        .asked_age = age,
        .train_loss = value,
        .update_norm = value,
        .seconds = value,
        .joules = value,
    };
    for (uint32_t round = 0; round < 2; round++) {
        uint8_t present[CLIENTS];
        uint8_t asked[CLIENTS] = {0};
        for (uint32_t u = 0; u < CLIENTS; u++)
            present[u] = fuzz_byte(in) & 1;
        const osafl_selection_problem problem = {
            .struct_size = sizeof problem,
            .clients = CLIENTS,
            .round = round,
            .present = present,
            .gain = value,
            .samples = samples,
            .energy_budget_j = value,
            .history = &history,
        };
        osafl_call c;
        call_begin(&c, i, OSAFL_NO_CLIENT, round);
        FUZZ_REQUIRE(call_end(&c, vt->choose(i->self, &c, &problem, asked)) == OSAFL_OK);
        for (uint32_t u = 0; u < CLIENTS; u++)
            FUZZ_REQUIRE(asked[u] <= present[u]);
    }
}

static void end_rounds(struct instance *i, struct fuzz_input *in)
{
    const osafl_filter_vt *vt = (const osafl_filter_vt *)(const void *)i->plugin->vtable;
    for (uint32_t round = 0; vt->end_round != NULL && round < 2; round++) {
        const uint32_t asked = fuzz_below(in, CLIENTS + 1);
        osafl_call c;
        call_begin(&c, i, OSAFL_NO_CLIENT, round);
        FUZZ_REQUIRE(call_end(&c, vt->end_round(i->self, &c, round, asked, asked)) == OSAFL_OK);
    }
}

/* ---- saving ---- */

static struct record_writer *save(struct instance *i, const void **data, size_t *size)
{
    struct error error;
    struct record_writer *w = record_writer_create();
    FUZZ_REQUIRE(w != NULL && instance_save(i, w, "s", &error) == OSAFL_OK);
    FUZZ_REQUIRE(record_writer_finish(w, data, size, &error) == OSAFL_OK);
    return w;
}

/* save, load into a fresh instance, save: the same bytes. */
static void check_saved(struct instance *i, const osafl_facts *facts)
{
    struct error error;
    const void *first = NULL;
    const void *second = NULL;
    size_t first_size = 0;
    size_t second_size = 0;
    struct record_writer *a = save(i, &first, &first_size);
    struct record_set *set = NULL;
    FUZZ_REQUIRE(record_set_open(first, first_size, &set, &error) == OSAFL_OK);
    struct instance *fresh = fuzz_instance(i->plugin, facts, NULL);
    FUZZ_REQUIRE(instance_load(fresh, set, "s", &error) == OSAFL_OK);
    struct record_writer *b = save(fresh, &second, &second_size);
    FUZZ_REQUIRE(first_size == second_size && memcmp(first, second, first_size) == 0);
    fuzz_instance_free(fresh);
    record_set_destroy(set);
    record_writer_destroy(a);
    record_writer_destroy(b);
}

/* First byte: which plugin; the rest: what the reader answers, then the updates or labels. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const osafl_model_info model = {.struct_size = sizeof model, .n_parameters = DIM};
    static const osafl_facts facts = {.struct_size = sizeof facts,
                                      .clients = CLIENTS,
                                      .rounds = ROUNDS,
                                      .batch = 16,
                                      .cost_steps = 8,
                                      .max_local_rounds = 5,
                                      .deadline_s = 1.0,
                                      .model = &model,
                                      .dim = DIM};
    struct fuzz_input in = {data, size};
    if (n_with_state == 0)
        find_plugins();
    const osafl_plugin *p = with_state[fuzz_below(&in, n_with_state)];
    struct instance *i = fuzz_instance(p, &facts, NULL);
    if (load(i, &in) == OSAFL_OK) {
        check_saved(i, &facts);
        if (p->kind == OSAFL_KIND_AGGREGATOR)
            aggregate(i, &in);
        else if (p->kind == OSAFL_KIND_DELETION)
            select_leaving(i, &in);
        else if (p->kind == OSAFL_KIND_SELECTION)
            choose(i, &in);
        else
            end_rounds(i, &in);
    }
    fuzz_instance_free(i);
    return 0;
}
