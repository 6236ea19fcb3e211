/* quantizer_bench.h - a quantizer over a model of a few tensors, for the tests of quantizers. */
#ifndef OSAFL_TESTS_QUANTIZER_BENCH_H
#define OSAFL_TESTS_QUANTIZER_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/streams.h"
#include "osafl/quantizer.h"
#include "osafl/random.h"
#include "plugin_fixture.h"

#define BENCH_TENSORS 3

struct quantizer_bench {
    struct fixture *fixture;
    const osafl_quantizer_vt *vt;
    void *self;
    uint64_t dim;
    osafl_tensor tensor[BENCH_TENSORS];
    osafl_model_info model;
    osafl_facts facts;
    osafl_quantizer_info info;
    float *state;  /* of one client and slot; NULL: the quantizer keeps none */
    uint8_t *code; /* of the last encode, 8-byte aligned */
    uint64_t bytes;
    double air_bits;
};

/* settings: name, value, name, value, ..., NULL. */
static inline struct quantizer_bench *bench_open(const char *name, uint64_t dim,
                                                 const char *const *settings)
{
    struct quantizer_bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->dim = dim;
    /* Tensors of a fifth, no element, and the rest. */
    const uint64_t bound[BENCH_TENSORS + 1] = {0, dim / 5, dim / 5, dim};
    for (unsigned t = 0; t < BENCH_TENSORS; t++)
        b->tensor[t] = (osafl_tensor){.name = "t",
                                      .offset = bound[t],
                                      .size = bound[t + 1] - bound[t],
                                      .shape = {bound[t + 1] - bound[t]},
                                      .rank = 1};
    b->model = (osafl_model_info){.struct_size = sizeof b->model,
                                  .n_tensors = BENCH_TENSORS,
                                  .n_parameters = dim,
                                  .tensors = b->tensor,
                                  .tensor_size = sizeof(osafl_tensor)};
    b->facts = (osafl_facts){.struct_size = sizeof b->facts,
                             .clients = 9,
                             .rounds = 10,
                             .deadline_s = 1.0,
                             .model = &b->model,
                             .dim = dim};
    b->fixture = fixture_open("quantizer", name);
    for (; settings != NULL && settings[0] != NULL; settings += 2)
        fixture_set(b->fixture, settings[0], settings[1]);
    assert_int_equal(fixture_create(b->fixture, &b->facts), OSAFL_OK);
    b->vt = fixture_vtable(b->fixture);
    b->self = b->fixture->instance.self;
    b->info.struct_size = sizeof b->info;
    osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(b->fixture, b->vt->describe(b->self, c, &b->info)), OSAFL_OK);
    if (b->info.client_floats > 0)
        b->state = calloc(b->info.client_floats, sizeof *b->state);
    b->code = calloc(1, b->info.max_bytes + 8);
    assert_non_null(b->code);
    return b;
}

static inline void bench_close(struct quantizer_bench *b)
{
    fixture_close(b->fixture);
    free(b->state);
    free(b->code);
    free(b);
}

/* Encodes x as the vector of one client, round and slot, and checks what every code must keep. */
static inline void bench_encode(struct quantizer_bench *b, uint32_t client, uint32_t round,
                                uint32_t slot, const float *x)
{
    /* The link carries from nothing to 16 bits of every entry within a second. */
    const osafl_packet packet = {.struct_size = sizeof packet,
                                 .client = client,
                                 .round = round,
                                 .slot = slot,
                                 .most_bits_per_s =
                                     16.0 * ((client + round) % 11) * (double)b->dim};
    memset(b->code, 0xa5, b->info.max_bytes);
    osafl_call *c = fixture_begin(b->fixture, client, round);
    const osafl_status status =
        b->vt->encode(b->self, c, &packet, x, b->state, b->code, &b->bytes, &b->air_bits);
    assert_int_equal(fixture_end(b->fixture, status), OSAFL_OK);
    assert_true(b->bytes <= b->info.max_bytes);
    assert_true(b->air_bits >= 0.0 && b->air_bits <= 8.0 * (double)b->bytes);
}

static inline osafl_status bench_verify(struct quantizer_bench *b, const uint8_t *code,
                                        uint64_t bytes)
{
    osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, 0);
    return fixture_end(b->fixture, b->vt->verify(b->self, c, code, bytes));
}

/* Entries [begin, end) of a code that verify() accepts. */
static inline void bench_decode_range(struct quantizer_bench *b, const uint8_t *code,
                                      uint64_t bytes, uint64_t begin, uint64_t end, float *out)
{
    osafl_call *c = fixture_begin(b->fixture, OSAFL_NO_CLIENT, 0);
    assert_int_equal(
        fixture_end(b->fixture, b->vt->decode(b->self, c, code, bytes, begin, end, out)), OSAFL_OK);
}

static inline void bench_decode(struct quantizer_bench *b, float *out)
{
    bench_decode_range(b, b->code, b->bytes, 0, b->dim, out);
}

/* Standard normal entries times scale, a pure function of the arguments. */
static inline void bench_normal(uint32_t seed, uint64_t dim, float scale, float *x)
{
    for (uint64_t i = 0; i < dim; i++) {
        uint32_t word[4];
        streams_fill(11, 0, 77, seed, 0, i, word, 4);
        x[i] = (float)osafl_normal(word) * scale;
    }
}

static inline double norm2(const float *x, uint64_t n)
{
    double sum = 0.0;
    for (uint64_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

#endif
