/* Loss, logits and gradients of the models against tests/golden/cases/models.json, which was
 * computed in double precision by another program; its README states weights and tolerances. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "model_case.h"
#include "plugin/cpu.h"

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
    json_t *cases =
        json_load_file(OSAFL_TEST_SOURCE_DIR "/tests/golden/cases/models.json", 0, &error);
    if (cases == NULL)
        fail_msg("models.json:%d: %s", error.line, error.text);
    return cases;
}

/* One gradient tensor against the case. */
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

static uint64_t case_integer(const json_t *c, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(c, key));
}

static void check_case(struct model_case *m, const json_t *c)
{
    const json_t *gradients = json_object_get(c, "gradients");
    assert_int_equal(json_array_size(gradients), m->info.n_tensors);
    assert_int_equal(case_integer(c, "parameters"), m->info.n_parameters);
    case_batch(m, (uint32_t)case_integer(c, "batch"), case_integer(c, "seed"));
    float *exported = case_memory(m->info.n_parameters * sizeof(float));
    for (uint32_t t = 0; t < m->info.n_tensors; t++) {
        case_tensor(&m->info.tensors[t], case_integer(c, "seed"), t + 1, exported);
        m->vt->import_tensor(m->self, t, exported, m->w);
    }
    const double loss = case_gradient(m, &(osafl_step){.struct_size = sizeof(osafl_step)});
    const double expected = json_number_value(json_object_get(c, "loss"));
    if (fabs(loss - expected) > 1e-5 * expected)
        fail_msg("loss %.9g, expected %.9g", loss, expected);
    for (uint32_t t = 0; t < m->info.n_tensors; t++) {
        const osafl_tensor *tensor = &m->info.tensors[t];
        const json_t *e = json_array_get(gradients, t);
        const json_t *shape = json_object_get(e, "shape");
        assert_int_equal(json_array_size(shape), tensor->rank);
        for (uint32_t d = 0; d < tensor->rank; d++)
            assert_int_equal(json_integer_value(json_array_get(shape, d)), tensor->shape[d]);
        m->vt->export_tensor(m->self, t, m->grad, exported);
        check_gradient(e, tensor, exported);
    }
    case_evaluate(m);
    check_evaluation(json_object_get(c, "logits"), m->batch.label, m->value);
    free(exported);
}

/* One case with given settings; false when this processor lacks the instruction set. */
static bool run_case(const char *model, const json_t *c, const char *isa, const char *conv,
                     const char *gemm)
{
    if ((strcmp(isa, "avx2") == 0 && cpu_isa_offered() < CPU_AVX2) ||
        (strcmp(isa, "avx512") == 0 && cpu_isa_offered() < CPU_AVX512)) {
        print_message("this processor has no %s: skipped\n", isa);
        return false;
    }
    struct model_case *m = case_open(model);
    fixture_set(m->f, "conv", conv);
    fixture_set(m->f, "gemm", gemm);
    if (json_object_get(c, "groups") != NULL) {
        char groups[24];
        snprintf(groups, sizeof groups, "%d", (int)case_integer(c, "groups"));
        fixture_set(m->f, "groups", groups);
    }
    const uint32_t size = (uint32_t)case_integer(c, "size");
    const uint32_t channels = (uint32_t)case_integer(c, "channels");
    assert_int_equal(setenv("OSAFL_ISA", isa, 1), 0);
    assert_int_equal(case_create(m, channels, size, size, 10), OSAFL_OK);
    check_case(m, c);
    case_close(m);
    return true;
}

/* Every way to the result on every instruction set. */
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
        assert_true(run_case(model, c, cpu_isa_name(cpu_isa_offered()), "auto", "auto"));
        assert_true(run_case(model, c, "baseline", "auto", "auto"));
        assert_true(run_case(model, c, "baseline", "direct", "openblas"));
        if (checked++ > 0)
            continue; /* one case is enough for the other ways */
        run_case(model, c, "avx2", "auto", "auto");
        run_case(model, c, "avx2", "direct", "auto");
        run_case(model, c, "avx512", "direct", "auto");
        assert_int_equal(unsetenv("OSAFL_ISA"), 0);
    }
    assert_true(checked >= 2);
    json_decref(cases);
}

static void cnn(void **state)
{
    (void)state;
    check_model("cnn");
}

static void resnet18(void **state)
{
    (void)state;
    check_model("resnet18");
}

static void squeezenet(void **state)
{
    (void)state;
    check_model("squeezenet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cnn),
        cmocka_unit_test(resnet18),
        cmocka_unit_test(squeezenet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
