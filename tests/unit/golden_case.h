/* golden_case.h - cases of tests/golden/cases that say a model's loss, logits and gradients; its
 * README states weights and tolerances. */
#ifndef OSAFL_TEST_GOLDEN_CASE_H
#define OSAFL_TEST_GOLDEN_CASE_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "model_case.h"

static inline bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s);
    const size_t m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static inline void case_tensor(const osafl_tensor *t, uint64_t seed, uint64_t number, float *out)
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

static inline json_t *load_cases(const char *file)
{
    json_error_t error;
    char path[512];
    snprintf(path, sizeof path, OSAFL_TEST_SOURCE_DIR "/tests/golden/cases/%s", file);
    json_t *cases = json_load_file(path, 0, &error);
    if (cases == NULL)
        fail_msg("%s:%d: %s", file, error.line, error.text);
    return cases;
}

static inline void check_shape(const json_t *expected, const osafl_tensor *t)
{
    const json_t *shape = json_object_get(expected, "shape");
    assert_int_equal(json_array_size(shape), t->rank);
    for (uint32_t d = 0; d < t->rank; d++)
        assert_int_equal(json_integer_value(json_array_get(shape, d)), t->shape[d]);
}

/* One gradient tensor against the case, within so much of its norm. */
static inline void check_gradient(const json_t *expected, const osafl_tensor *t, const float *g,
                                  double tolerance)
{
    const double norm = json_number_value(json_object_get(expected, "norm"));
    double sum = 0;
    double square = 0;
    for (uint64_t i = 0; i < t->size; i++) {
        sum += (double)g[i];
        square += (double)g[i] * (double)g[i];
    }
    if (fabs(sqrt(square) - norm) > tolerance * norm)
        fail_msg("%s: norm %.9g, expected %.9g", t->name, sqrt(square), norm);
    const double expected_sum = json_number_value(json_object_get(expected, "sum"));
    if (fabs(sum - expected_sum) > tolerance * norm * sqrt((double)t->size))
        fail_msg("%s: sum %.9g, expected %.9g", t->name, sum, expected_sum);
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(expected, "sample"), i, entry)
    {
        const json_int_t at = json_integer_value(json_array_get(entry, 0));
        const double value = json_number_value(json_array_get(entry, 1));
        if (fabs((double)g[at] - value) > tolerance * norm)
            fail_msg("%s[%lld]: %.9g, expected %.9g", t->name, (long long)at, (double)g[at], value);
    }
}

/* The loss of each sample, and whether it was classified correctly, from the case's logits. */
static inline void check_evaluation(const json_t *logits, const int32_t *label, const double *value)
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

static inline uint64_t case_integer(const json_t *c, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(c, key));
}

#endif
