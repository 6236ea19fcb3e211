/* aggregator_bench.h - rounds of an aggregator with given updates, for the tests of aggregators. */
#ifndef OSAFL_TESTS_AGGREGATOR_BENCH_H
#define OSAFL_TESTS_AGGREGATOR_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/records.h"
#include "base/streams.h"
#include "osafl/aggregator.h"
#include "osafl/dataset.h"
#include "osafl/random.h"
#include "plugin_fixture.h"
#include "round/updates.h"

#define BENCH_SLOTS 2
#define BENCH_LABELS 10

/* What a client does in a round. */
struct bench_client {
    uint32_t client;
    uint32_t local_rounds; /* 0: it sits out */
    double alpha;
    const double *delta;       /* [dim]: w_k - w_0 */
    const float *uplink;       /* [dim]: what goes up in slot 1, or NULL */
    const uint32_t *histogram; /* [BENCH_LABELS] */
    uint32_t late;             /* rounds ago that it started */
    double arrived_s;          /* within the round */
    double gain;
    double channel_gain;
    double power_w;
};

struct aggregator_bench {
    struct fixture *fixture;
    const osafl_aggregator_vt *vt;
    osafl_aggregator_info info;
    osafl_dataset_info dataset;
    osafl_model_info model;
    osafl_facts facts;
    struct codec codec; /* plain floats */
    struct kept_updates kept;
    double rate; /* learning rate of the clients */
    double noise_w;
};

/* Opens the plugin with its defaults; the caller may set parameters before bench_create(). */
static inline struct aggregator_bench *bench_open(const char *name, uint32_t clients,
                                                  uint32_t rounds, uint64_t dim)
{
    struct aggregator_bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->model = (osafl_model_info){.struct_size = sizeof b->model, .n_parameters = dim};
    b->dataset = (osafl_dataset_info){.struct_size = sizeof b->dataset,
                                      .target_type = OSAFL_TARGET_CLASS,
                                      .target_size = BENCH_LABELS,
                                      .labels = BENCH_LABELS};
    b->facts = (osafl_facts){.struct_size = sizeof b->facts,
                             .dataset = &b->dataset,
                             .clients = clients,
                             .rounds = rounds,
                             .batch = 16,
                             .cost_steps = 8,
                             .max_local_rounds = 5,
                             .deadline_s = 1.0,
                             .dim = dim,
                             .model = &b->model};
    b->codec.dim = dim;
    b->rate = 0.05;
    b->fixture = fixture_open("aggregator", name);
    b->vt = fixture_vtable(b->fixture);
    return b;
}

static inline void bench_create(struct aggregator_bench *b)
{
    if (fixture_create(b->fixture, &b->facts) != OSAFL_OK)
        fail_msg("%s: %s", b->fixture->plugin->name, b->fixture->error.text);
    b->info = (osafl_aggregator_info){.struct_size = sizeof b->info};
    osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, 0);
    assert_int_equal(
        fixture_end(b->fixture, b->vt->describe(b->fixture->instance.self, c, &b->info)), OSAFL_OK);
    assert_true(b->info.sends >= OSAFL_SENDS_DELTA && b->info.sends <= OSAFL_SENDS_PER_RATE);
    assert_non_null(b->info.optimizer);
    assert_true(1 + b->info.uplink_vectors <= BENCH_SLOTS);
}

static inline void bench_close(struct aggregator_bench *b)
{
    kept_updates_free(&b->kept);
    fixture_close(b->fixture);
    free(b);
}

/* The vector that the aggregator asked for, from the change of the model. */
static inline void bench_sent(const struct aggregator_bench *b, const struct bench_client *from,
                              float *out)
{
    double factor = 1.0;
    if (b->info.sends == OSAFL_SENDS_PER_ROUND)
        factor = -1.0 / from->local_rounds;
    else if (b->info.sends == OSAFL_SENDS_PER_RATE)
        factor = -1.0 / (from->local_rounds * b->rate);
    for (uint64_t i = 0; i < b->codec.dim; i++)
        out[i] = (float)(from->delta[i] * factor);
}

/* One round: w becomes the next model.  Clients that sit out are left out. */
static inline osafl_status bench_round(struct aggregator_bench *b, uint32_t round,
                                       const struct bench_client *from, uint32_t n, float *w)
{
    const uint64_t bytes = b->codec.dim * sizeof(float);
    const uint32_t slots = 1 + b->info.uplink_vectors;
    struct update *update = calloc(n + 1, sizeof *update);
    struct code *code = calloc((size_t)(n + 1) * BENCH_SLOTS, sizeof *code);
    uint32_t arrived = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (from[k].local_rounds == 0)
            continue;
        struct code *mine = &code[arrived * BENCH_SLOTS];
        for (uint32_t slot = 0; slot < slots; slot++)
            mine[slot] = (struct code){.data = calloc(1, bytes), .bytes = bytes};
        bench_sent(b, &from[k], (float *)(void *)mine[0].data);
        if (slots > 1)
            memcpy(mine[1].data, from[k].uplink, bytes);
        update[arrived++] = (struct update){.client = from[k].client,
                                            .local_rounds = from[k].local_rounds,
                                            .steps = 8 * from[k].local_rounds,
                                            .rate = b->rate,
                                            .samples = 100,
                                            .alpha = from[k].alpha,
                                            .train_loss = 1.0,
                                            .start_round = round - from[k].late,
                                            .arrived_s = round + from[k].arrived_s,
                                            .gain = from[k].gain,
                                            .channel_gain = from[k].channel_gain,
                                            .power_w = from[k].power_w,
                                            .histogram = from[k].histogram,
                                            .code = mine};
    }
    osafl_status status = OSAFL_OK;
    if (arrived > 0 || b->info.wants_empty_rounds) {
        const struct update_round facts = {.round = round,
                                           .rounds = b->facts.rounds,
                                           .clients = b->facts.clients,
                                           .labels = BENCH_LABELS,
                                           .slots = slots,
                                           .noise_w = b->noise_w};
        struct update_set set;
        osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, round);
        assert_int_equal(updates_open(&set, &b->codec, &facts, update, arrived, &b->kept, c),
                         OSAFL_OK);
        status = b->vt->aggregate(b->fixture->instance.self, c, &set.view, w);
        updates_close(&set);
        status = fixture_end(b->fixture, status);
    }
    for (uint32_t k = 0; k < (n + 1) * BENCH_SLOTS; k++)
        code_free(&code[k]);
    free(code);
    free(update);
    return status;
}

#endif
