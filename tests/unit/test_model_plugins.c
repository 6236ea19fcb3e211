/* What every model plugin owes its host: shapes, initial weights, dropout from the run's streams,
 * a fused step equal to gradient and step, evaluation, and clear refusals. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "model_case.h"

enum { N_MODELS = 5 };
static const char *const models[N_MODELS] = {"logistic", "mlp", "cnn", "squeezenet", "resnet18"};

static const osafl_step training = {
    .struct_size = sizeof training, .client = 3, .round = 5, .step = 7, .training = 1};

static const osafl_tensor *tensor_named(const struct model_case *m, const char *name)
{
    for (uint32_t t = 0; t < m->info.n_tensors; t++)
        if (strcmp(m->info.tensors[t].name, name) == 0)
            return &m->info.tensors[t];
    fail_msg("no tensor is called %s", name);
    return NULL;
}

static void tensors_tile_the_weights(void **state)
{
    (void)state;

    for (size_t i = 0; i < N_MODELS; i++) {
        struct model_case *m = case_open(models[i]);
        assert_int_equal(case_create(m, 2, 33, 17, 7), OSAFL_OK);
        uint64_t next = 0;
        for (uint32_t t = 0; t < m->info.n_tensors; t++) {
            const osafl_tensor *q = &m->info.tensors[t];
            uint64_t size = 1;
            for (uint32_t d = 0; d < q->rank; d++)
                size *= q->shape[d];
            assert_int_equal(q->offset, next);
            assert_int_equal(q->size, size);
            next += size;
        }
        assert_int_equal(next, m->info.n_parameters);
        assert_int_equal(m->info.n_measures, 2);
        assert_string_equal(m->info.measures[0].name, "accuracy");
        assert_string_equal(m->info.measures[1].name, "loss");
        case_close(m);
    }
}

static void parameter_counts(void **state)
{
    (void)state;
    struct model_case *m = case_open("logistic");
    assert_int_equal(case_create(m, 1, 28, 28, 10), OSAFL_OK);
    assert_int_equal(m->info.n_parameters, 7850);
    case_close(m);
    m = case_open("mlp"); /* "2NN": 199,210 parameters, McMahan et al., 2017 */
    assert_int_equal(case_create(m, 1, 28, 28, 10), OSAFL_OK);
    assert_int_equal(m->info.n_parameters, 199210);
    case_close(m);
    m = case_open("squeezenet");
    assert_int_equal(case_create(m, 3, 32, 32, 10), OSAFL_OK);
    assert_int_equal(m->info.n_parameters, 727626);
    assert_int_equal(tensor_named(m, "features.3.expand3x3.weight")->shape[1], 16);
    assert_int_equal(tensor_named(m, "classifier.1.bias")->size, 10);
    case_close(m);
    m = case_open("cnn");
    assert_int_equal(case_create(m, 3, 32, 32, 10), OSAFL_OK);
    assert_int_equal(m->info.n_parameters, 1206090);
    case_close(m);
    m = case_open("resnet18");
    assert_int_equal(case_create(m, 3, 32, 32, 10), OSAFL_OK);
    assert_int_equal(m->info.n_parameters, 11181642);
    assert_int_equal(tensor_named(m, "layer4.0.downsample.1.weight")->size, 512);
    case_close(m);
}

/* w - rate * gradient, and the fused step. */
static void fused_step_is_the_plain_step(void **state)
{
    (void)state;

    for (size_t i = 0; i < N_MODELS; i++) {
        struct model_case *m = case_open(models[i]);
        assert_int_equal(case_create(m, 3, 33, 17, 10), OSAFL_OK);
        case_batch(m, 5, 1);
        case_init(m);
        const double rate = 0.01;
        const double loss = case_gradient(m, &training);
        const uint64_t n = m->info.n_parameters;
        float *before = case_memory(n * sizeof *before);
        memcpy(before, m->w, n * sizeof *before);
        assert_true(case_sgd_step(m, &training, rate) == loss);
        double error = 0;
        double size = 0;
        for (uint64_t j = 0; j < n; j++) {
            const double step = rate * (double)m->grad[j];
            error = fmax(error, fabs((double)m->w[j] - ((double)before[j] - step)) -
                                    1e-6 * fabs((double)before[j]));
            size = fmax(size, fabs(step));
        }
        assert_true(size > 0);
        if (error > 1e-5 * size)
            fail_msg("%s: the fused step differs by %g of %g", models[i], error, size);
        free(before);
        case_close(m);
    }
}

/* With fused = "off" the host is told to make the step itself, before anything is touched. */
static void steps_can_be_left_to_the_host(void **state)
{
    (void)state;
    struct model_case *m = case_open("logistic");
    fixture_set(m->f, "fused", "off");
    assert_int_equal(case_create(m, 1, 5, 5, 3), OSAFL_OK);
    case_batch(m, 2, 1);
    double loss = 7;
    osafl_call *c = fixture_begin(m->f, 0, 0);
    assert_int_equal(fixture_end(m->f, m->vt->sgd_step(m->self, c, m->workspace, m->w, &m->batch,
                                                       &training, 0.1, &loss)),
                     OSAFL_E_UNSUPPORTED);
    assert_true(loss == 7);
    assert_true(m->w[0] == 0);
    case_close(m);
}

static void dropout_belongs_to_client_round_and_step(void **state)
{
    (void)state;
    struct model_case *m = case_open("squeezenet");
    assert_int_equal(case_create(m, 1, 28, 28, 10), OSAFL_OK);
    case_batch(m, 4, 1);
    case_init(m);
    const double loss = case_gradient(m, &training);
    assert_true(case_gradient(m, &training) == loss);
    for (int i = 0; i < 4; i++) {
        osafl_step other = training;
        other.client += i == 0;
        other.round += i == 1;
        other.step += i == 2;
        other.training = i != 3;
        assert_true(case_gradient(m, &other) != loss);
    }
    /* Without dropout the mean of the evaluated losses is the loss. */
    osafl_step quiet = training;
    quiet.training = 0;
    const double mean = case_gradient(m, &quiet);
    case_evaluate(m);
    double sum = 0;
    for (uint32_t i = 0; i < 4; i++)
        sum += m->value[2 * i + 1];
    assert_true(fabs(sum / 4 - mean) < 1e-12);
    case_close(m);
}

/* A gradient of its own, on one instance that others use at the same time. */
struct thread_task {
    const struct model_case *m;
    void *workspace;
    float *grad;
    double loss;
    osafl_status status;
};

static void *compute_gradient(void *arg)
{
    struct thread_task *t = arg;
    struct osafl_call c;
    call_begin(&c, &t->m->f->instance, training.client, training.round);
    t->status = call_end(&c, t->m->vt->gradient(t->m->self, &c, t->workspace, t->m->w, &t->m->batch,
                                                &training, t->grad, &t->loss));
    return NULL;
}

/* Neither what lies in the workspace, nor another thread, nor an evaluation in between changes a
 * bit of a gradient. */
static void gradients_depend_on_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        struct model_case *m = case_open(models[i]);
        assert_int_equal(case_create(m, 3, 33, 17, 10), OSAFL_OK);
        case_batch(m, 3, 1);
        case_init(m);
        const double loss = case_gradient(m, &training);
        const size_t bytes = m->info.n_parameters * sizeof(float);
        const uint64_t workspace = m->vt->workspace_bytes(m->self, 3, 3);
        struct thread_task task[2];
        pthread_t thread[2];
        for (int k = 0; k < 2; k++) {
            task[k] = (struct thread_task){
                .m = m, .workspace = case_memory(workspace), .grad = case_memory(bytes)};
            memset(task[k].workspace, k == 0 ? 0xff : 0x3c, workspace);
            assert_int_equal(pthread_create(&thread[k], NULL, compute_gradient, &task[k]), 0);
        }
        for (int k = 0; k < 2; k++) {
            assert_int_equal(pthread_join(thread[k], NULL), 0);
            assert_int_equal(task[k].status, OSAFL_OK);
            assert_true(task[k].loss == loss);
            assert_memory_equal(task[k].grad, m->grad, bytes);
            free(task[k].workspace);
        }
        case_evaluate(m);
        memcpy(task[0].grad, m->grad, bytes);
        assert_true(case_gradient(m, &training) == loss);
        assert_memory_equal(task[0].grad, m->grad, bytes);
        free(task[0].grad);
        free(task[1].grad);
        case_close(m);
    }
}

static void initial_weights(void **state)
{
    (void)state;
    struct model_case *m = case_open("squeezenet");
    assert_int_equal(case_create(m, 3, 32, 32, 10), OSAFL_OK);
    case_batch(m, 1, 1);
    case_init(m);
    const osafl_tensor *t = tensor_named(m, "features.12.expand3x3.weight");
    const double bound = sqrt(6.0 / (64 * 9)); /* He uniform */
    double square = 0;
    double largest = 0;
    for (uint64_t i = 0; i < t->size; i++) {
        const double v = (double)m->w[t->offset + i];
        square += v * v;
        largest = fmax(largest, fabs(v));
    }
    assert_true(largest <= bound && largest > 0.999 * bound);
    assert_true(fabs(square / (double)t->size / (bound * bound / 3) - 1) < 0.02);
    t = tensor_named(m, "features.12.expand3x3.bias");
    for (uint64_t i = 0; i < t->size; i++)
        assert_true(m->w[t->offset + i] == 0);
    t = tensor_named(m, "classifier.1.weight");
    square = 0;
    for (uint64_t i = 0; i < t->size; i++)
        square += (double)m->w[t->offset + i] * (double)m->w[t->offset + i];
    assert_true(fabs(sqrt(square / (double)t->size) / 0.01 - 1) < 0.05);
    case_close(m);
}

/* Export, then import, is the identity, and export is a permutation. */
static void export_and_import(void **state)
{
    (void)state;
    struct model_case *m = case_open("squeezenet");
    assert_int_equal(case_create(m, 3, 32, 32, 10), OSAFL_OK);
    case_batch(m, 1, 1);
    const uint64_t n = m->info.n_parameters;
    float *exported = case_memory(n * sizeof *exported);
    for (uint64_t i = 0; i < n; i++)
        m->w[i] = (float)i;
    for (uint32_t t = 0; t < m->info.n_tensors; t++) {
        const osafl_tensor *q = &m->info.tensors[t];
        m->vt->export_tensor(m->self, t, m->w, exported);
        double sum = 0;
        for (uint64_t i = 0; i < q->size; i++)
            sum += (double)exported[i];
        const double expected = ((double)q->offset + ((double)q->size - 1) / 2) * (double)q->size;
        assert_true(sum == expected);
        m->vt->import_tensor(m->self, t, exported, m->grad);
    }
    for (uint64_t i = 0; i < n; i++)
        assert_true(m->grad[i] == m->w[i]);
    free(exported);
    case_close(m);
}

/* More samples than are worked on at once: each sample's result is its own. */
static void evaluation_of_many_samples(void **state)
{
    (void)state;
    struct model_case *m = case_open("mlp");
    assert_int_equal(case_create(m, 1, 7, 5, 3), OSAFL_OK);
    case_batch(m, 301, 1);
    case_init(m);
    case_evaluate(m);
    const osafl_batch all = m->batch;
    double *one = case_memory(301 * 2 * sizeof *one);
    memcpy(one, m->value, 301 * 2 * sizeof *one);
    for (uint32_t i = 0; i < 301; i += 37) {
        m->batch = (osafl_batch){
            .struct_size = sizeof m->batch, .n = 1, .x = all.x + i * 35, .label = all.label + i};
        case_evaluate(m);
        assert_true(m->value[0] == one[2 * i]);
        assert_true(fabs(m->value[1] - one[2 * i + 1]) < 1e-5);
    }
    m->batch = all;
    free(one);
    case_close(m);
}

static void refusals(void **state)
{
    (void)state;
    struct model_case *m = case_open("squeezenet");
    assert_int_equal(case_create(m, 3, 32, 10, 10), OSAFL_E_CONFIG);
    assert_non_null(strstr(m->f->error.text, "32 x 10"));
    assert_non_null(strstr(m->f->error.text, "too small"));
    assert_int_equal(case_create(m, 3, 32, 32, 1), OSAFL_E_CONFIG);
    assert_non_null(strstr(m->f->error.text, "classes"));
    case_close(m);
    m = case_open("cnn");
    assert_int_equal(case_create(m, 3, 3, 32, 10), OSAFL_E_CONFIG);
    assert_non_null(strstr(m->f->error.text, "3 x 32"));
    case_close(m);
    m = case_open("resnet18");
    fixture_set(m->f, "groups", "12");
    assert_int_equal(case_create(m, 3, 32, 32, 10), OSAFL_E_CONFIG);
    assert_non_null(strstr(m->f->error.text, "groups = 12"));
    case_close(m);
    m = case_open("mlp");
    fixture_set(m->f, "hidden", "20, 2.5");
    assert_int_equal(case_create(m, 3, 32, 32, 10), OSAFL_E_CONFIG);
    assert_non_null(strstr(m->f->error.text, "2.5"));
    fixture_set(m->f, "hidden", "65536, 65536");
    assert_int_equal(case_create(m, 3, 32, 32, 10), OSAFL_E_CONFIG);
    assert_non_null(strstr(m->f->error.text, "parameters"));
    case_close(m);
    m = case_open("logistic");
    assert_int_equal(setenv("OSAFL_ISA", "mmx", 1), 0);
    assert_int_equal(case_create(m, 3, 32, 32, 10), OSAFL_E_CONFIG);
    assert_non_null(strstr(m->f->error.text, "OSAFL_ISA=mmx"));
    assert_int_equal(unsetenv("OSAFL_ISA"), 0);
    case_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_tile_the_weights),
        cmocka_unit_test(parameter_counts),
        cmocka_unit_test(fused_step_is_the_plain_step),
        cmocka_unit_test(steps_can_be_left_to_the_host),
        cmocka_unit_test(dropout_belongs_to_client_round_and_step),
        cmocka_unit_test(gradients_depend_on_nothing_else),
        cmocka_unit_test(initial_weights),
        cmocka_unit_test(export_and_import),
        cmocka_unit_test(evaluation_of_many_samples),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
