/* Loss, logits and gradients of the models against tests/golden/cases/models.json, which was
 * computed in double precision by another program; its README states weights and tolerances. */
#include "golden_case.h"
#include "plugin/cpu.h"

static void check_case(struct model_case *m, const json_t *c, double tolerance)
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
        check_shape(e, tensor);
        m->vt->export_tensor(m->self, t, m->grad, exported);
        check_gradient(e, tensor, exported, tolerance);
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
    /* Of the three models only resnet18 has convolutions that Winograd's method takes. */
    const bool winograd = strcmp(model, "resnet18") == 0 && strcmp(conv, "auto") == 0;
    check_case(m, c, winograd ? 1e-3 : 1e-4);
    case_close(m);
    return true;
}

/* Every way to the result on every instruction set. */
static void check_model(const char *model)
{
    json_t *cases = load_cases("models.json");
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
