/* model_case.h - a model plugin with a batch, weights and memory to call it with. */
#ifndef OSAFL_TEST_MODEL_CASE_H
#define OSAFL_TEST_MODEL_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "osafl/model.h"
#include "plugin_fixture.h"

struct model_case {
    struct fixture *f;
    const osafl_model_vt *vt;
    osafl_dataset_info data;
    osafl_facts facts;
    osafl_model_info info;
    osafl_batch batch;
    void *self;
    void *workspace;
    float *w;
    float *grad;
    double *value; /* of evaluate() */
};

/* u(seed, t, i) of tests/golden/cases: in [-1, 1), exact in float. */
static inline float case_number(uint64_t seed, uint64_t t, uint64_t i)
{
    uint64_t z = i + (t << 32) + seed * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (float)((double)(z >> 40) * 0x1p-23 - 1.0);
}

/* Zeroed, 4096-byte aligned. */
static inline void *case_memory(uint64_t bytes)
{
    void *p = aligned_alloc(4096, (bytes / 4096 + 1) * 4096);
    assert_non_null(p);
    return memset(p, 0, bytes);
}

static inline struct model_case *case_open(const char *model)
{
    struct model_case *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->f = fixture_open("model", model);
    m->vt = fixture_vtable(m->f);
    return m;
}

static inline osafl_status case_create(struct model_case *m, uint32_t channels, uint32_t height,
                                       uint32_t width, uint32_t classes)
{
    m->data = (osafl_dataset_info){.struct_size = sizeof m->data,
                                   .rank = 3,
                                   .shape = {channels, height, width},
                                   .x_type = OSAFL_X_FLOAT,
                                   .target_type = OSAFL_TARGET_CLASS,
                                   .target_size = classes,
                                   .labels = classes};
    m->facts = (osafl_facts){.struct_size = sizeof m->facts, .batch = 16, .dataset = &m->data};
    const osafl_status status = fixture_create(m->f, &m->facts);
    m->self = m->f->instance.self;
    if (status == OSAFL_OK)
        m->vt->describe(m->self, fixture_begin(m->f, OSAFL_NO_CLIENT, 0), &m->info);
    return status;
}

/* Memory and a batch of n samples, x = 2 u(seed, 0, i), labels 3 i mod classes. */
static inline void case_batch(struct model_case *m, uint32_t n, uint64_t seed)
{
    const uint64_t picture = osafl_sample_size(&m->data);
    m->batch = (osafl_batch){.struct_size = sizeof m->batch, .n = n};
    m->batch.x = case_memory(n * picture * sizeof(float));
    m->batch.label = case_memory(n * sizeof(int32_t));
    m->w = case_memory(m->info.n_parameters * sizeof(float));
    m->grad = case_memory(m->info.n_parameters * sizeof(float));
    m->value = case_memory(n * 2 * sizeof(double));
    m->workspace = case_memory(m->vt->workspace_bytes(m->self, n, n));
    for (uint64_t i = 0; i < n * picture; i++)
        m->batch.x[i] = 2 * case_number(seed, 0, i);
    for (uint32_t i = 0; i < n; i++)
        m->batch.label[i] = (int32_t)(3 * i % m->data.target_size);
}

static inline void case_init(struct model_case *m)
{
    osafl_call *c = fixture_begin(m->f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(m->f, m->vt->init(m->self, c, m->w)), OSAFL_OK);
}

static inline double case_gradient(struct model_case *m, const osafl_step *step)
{
    double loss;
    osafl_call *c = fixture_begin(m->f, step->client, step->round);
    memset(m->grad, 0xff, m->info.n_parameters * sizeof *m->grad); /* all must be written */
    assert_int_equal(fixture_end(m->f, m->vt->gradient(m->self, c, m->workspace, m->w, &m->batch,
                                                       step, m->grad, &loss)),
                     OSAFL_OK);
    return loss;
}

static inline double case_sgd_step(struct model_case *m, const osafl_step *step, double rate)
{
    double loss;
    osafl_call *c = fixture_begin(m->f, step->client, step->round);
    assert_int_equal(fixture_end(m->f, m->vt->sgd_step(m->self, c, m->workspace, m->w, &m->batch,
                                                       step, rate, &loss)),
                     OSAFL_OK);
    return loss;
}

static inline void case_evaluate(struct model_case *m)
{
    osafl_call *c = fixture_begin(m->f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(
        fixture_end(m->f, m->vt->evaluate(m->self, c, m->workspace, m->w, &m->batch, m->value)),
        OSAFL_OK);
}

static inline void case_close(struct model_case *m)
{
    fixture_close(m->f);
    free(m->batch.x);
    free(m->batch.label);
    free(m->w);
    free(m->grad);
    free(m->value);
    free(m->workspace);
    free(m);
}

#endif
