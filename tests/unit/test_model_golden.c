/* Loss, logits and gradients of the models against tests/golden/cases/models.json, which was
 * computed in double precision by another program; its README states weights and tolerances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "model_fixture.h"

/* u(seed, t, i) of the cases: in [-1, 1), exact in float. */
static float case_number(uint64_t seed, uint64_t t, uint64_t i)
{
    uint64_t z = i + (t << 32) + seed * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (float)((double)(z >> 40) * 0x1p-23 - 1.0);
}

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s);
    const size_t m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static void case_tensor(const osafl_tensor *t, uint64_t seed, uint64_t number, float *out)
{
    double fan_in = 1;
    for (uint32_t d = 1; d < t->rank; d++)
        fan_in *= (double)t->shape[d];
    for (uint64_t i = 0; i < t->size; i++) {
        const double u = (double)case_number(seed, number, i);
        if (t->rank > 1)
            out[i] = (float)(u * sqrt(6 / fan_in));
        else
            out[i] = (float)(0.1 * u + (ends_with(t->name, ".weight") ? 1 : 0));
    }
}

static json_t *load_cases(void)
{
    json_error_t error;
    json_t *cases = json_load_file(OSAFL_TEST_SOURCE_DIR "/tests/golden/cases/models.json", 0,
                                   &error);
    if (cases == NULL)
        fail_msg("models.json:%d: %s", error.line, error.text);
    return cases;
}

/* One gradient tensor against the case; worst[] collects errors as shares of the tolerance. */
static void check_gradient(const json_t *expected, const osafl_tensor *t, const float *g)
{
    const double norm = json_number_value(json_object_get(expected, "norm"));
    double sum = 0;
    double square = 0;
    for (uint64_t i = 0; i < t->size; i++) {
        sum += (double)g[i];
        square += (double)g[i] * (double)g[i];
    }
    if (fabs(sqrt(square) - norm) > 1e-4 * norm)
        fail_msg("%s: norm %.9g, expected %.9g", t->name, sqrt(square), norm);
    const double expected_sum = json_number_value(json_object_get(expected, "sum"));
    if (fabs(sum - expected_sum) > 1e-4 * norm * sqrt((double)t->size))
        fail_msg("%s: sum %.9g, expected %.9g", t->name, sum, expected_sum);
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(expected, "sample"), i, entry)
    {
        const json_int_t at = json_integer_value(json_array_get(entry, 0));
        const double value = json_number_value(json_array_get(entry, 1));
        if (fabs((double)g[at] - value) > 1e-4 * norm)
            fail_msg("%s[%lld]: %.9g, expected %.9g", t->name, (long long)at, (double)g[at], value);
    }
}

/* The loss of each sample, and whether it was classified correctly, from the case's logits. */
static void check_evaluation(const json_t *logits, const int32_t *label, const double *value)
{
    for (size_t n = 0; n < json_array_size(logits); n++) {
        const json_t *row = json_array_get(logits, n);
        double sum = 0;
        double largest = -INFINITY;
        size_t best = 0;
        for (size_t j = 0; j < json_array_size(row); j++) {
            const double z = json_number_value(json_array_get(row, j));
            sum += exp(z);
            best = z > largest ? j : best;
            largest = fmax(largest, z);
        }
        const double loss = log(sum) - json_number_value(json_array_get(row, (size_t)label[n]));
        assert_true(fabs(value[2 * n + 1] - loss) < 2e-4 * fmax(1, fabs(largest)));
        assert_true(value[2 * n] == ((size_t)label[n] == best));
    }
}

struct run {
    struct model_fixture *f;
    uint64_t seed;
    osafl_batch batch;
    float *w;
    float *grad;
    float *tensor; /* room for the largest */
    void *workspace;
};

static struct run make_run(struct model_fixture *f, const json_t *c)
{
    struct run r = {.f = f, .seed = (uint64_t)json_integer_value(json_object_get(c, "seed"))};
    const uint32_t n = (uint32_t)json_integer_value(json_object_get(c, "batch"));
    const uint64_t picture = (uint64_t)f->data.channels * f->data.height * f->data.width;
    r.batch = (osafl_batch){.struct_size = sizeof r.batch, .n = n};
    r.batch.x = fixture_memory(n * picture * sizeof(float));
    r.batch.label = fixture_memory(n * sizeof(int32_t));
    r.w = fixture_memory(f->info.n_parameters * sizeof(float));
    r.grad = fixture_memory(f->info.n_parameters * sizeof(float));
    r.tensor = fixture_memory(f->info.n_parameters * sizeof(float));
    r.workspace = fixture_memory(f->vt->workspace_bytes(f->self, n, n));
    for (uint64_t i = 0; i < n * picture; i++)
        r.batch.x[i] = 2 * case_number(r.seed, 0, i);
    for (uint32_t i = 0; i < n; i++)
        r.batch.label[i] = (int32_t)(3 * i % 10);
    for (uint32_t t = 0; t < f->info.n_tensors; t++) {
        case_tensor(&f->info.tensors[t], r.seed, t + 1, r.tensor);
        f->vt->import_tensor(f->self, t, r.tensor, r.w);
    }
    return r;
}

static void free_run(struct run *r)
{
    free(r->batch.x);
    free(r->batch.label);
    free(r->w);
    free(r->grad);
    free(r->tensor);
    free(r->workspace);
}

static void check_case(struct model_fixture *f, const json_t *c)
{
    struct run r = make_run(f, c);
    const json_t *gradients = json_object_get(c, "gradients");
    assert_int_equal(json_array_size(gradients), f->info.n_tensors);
    assert_int_equal(json_integer_value(json_object_get(c, "parameters")), f->info.n_parameters);
    memset(r.grad, 0xff, f->info.n_parameters * sizeof(float)); /* all of it must be written */
    const osafl_step step = {.struct_size = sizeof step, .client = 1, .training = 0};
    double loss;
    assert_int_equal(f->vt->gradient(f->self, &f->call, r.workspace, r.w, &r.batch, &step, r.grad,
                                     &loss),
                     OSAFL_OK);
    const double expected = json_number_value(json_object_get(c, "loss"));
    if (fabs(loss - expected) > 1e-5 * expected)
        fail_msg("loss %.9g, expected %.9g", loss, expected);
    for (uint32_t t = 0; t < f->info.n_tensors; t++) {
        const osafl_tensor *tensor = &f->info.tensors[t];
        const json_t *e = json_array_get(gradients, t);
        const json_t *shape = json_object_get(e, "shape");
        assert_int_equal(json_array_size(shape), tensor->rank);
        for (uint32_t d = 0; d < tensor->rank; d++)
            assert_int_equal(json_integer_value(json_array_get(shape, d)), tensor->shape[d]);
        f->vt->export_tensor(f->self, t, r.grad, r.tensor);
        check_gradient(e, tensor, r.tensor);
    }
    double *value = fixture_memory(r.batch.n * 2 * sizeof *value);
    assert_int_equal(f->vt->evaluate(f->self, &f->call, r.workspace, r.w, &r.batch, value),
                     OSAFL_OK);
    check_evaluation(json_object_get(c, "logits"), r.batch.label, value);
    free(value);
    free_run(&r);
}

static void check_model(const char *model)
{
    json_t *cases = load_cases();
    size_t i;
    json_t *c;
    int checked = 0;
    json_array_foreach(cases, i, c)
    {
        if (strcmp(json_string_value(json_object_get(c, "model")), model) != 0)
            continue;
        struct model_fixture f;
        assert_true(fixture_load(&f, model));
        const json_t *groups = json_object_get(c, "groups");
        if (groups != NULL)
            *(int64_t *)fixture_setting(&f, "groups") = json_integer_value(groups);
        const uint32_t size = (uint32_t)json_integer_value(json_object_get(c, "size"));
        const uint32_t channels = (uint32_t)json_integer_value(json_object_get(c, "channels"));
        assert_int_equal(fixture_create(&f, channels, size, size, 10), OSAFL_OK);
        check_case(&f, c);
        fixture_destroy(&f);
        checked++;
    }
    assert_true(checked >= 2);
    json_decref(cases);
}

static void squeezenet(void **state)
{
    (void)state;
    check_model("squeezenet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squeezenet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
