/* model/network: networks of rows are the built-in ones to the byte, have the published numbers of
 * parameters, the gradients that PyTorch has (tests/golden/cases/networks.json) and that their loss
 * has; errors name file, line and layer. */
#include <jansson.h>
#include <math.h>

#include "golden_case.h"
#include "network_case.h"

static const osafl_step training = {
    .struct_size = sizeof training, .client = 3, .round = 5, .step = 7, .training = 1};

/* ---- the same numbers as the built-in models ---- */

static void same_tensors(const struct model_case *a, const struct model_case *b)
{
    assert_int_equal(a->info.n_parameters, b->info.n_parameters);
    assert_int_equal(a->info.n_tensors, b->info.n_tensors);
    for (uint32_t t = 0; t < a->info.n_tensors; t++) {
        assert_string_equal(a->info.tensors[t].name, b->info.tensors[t].name);
        assert_int_equal(a->info.tensors[t].rank, b->info.tensors[t].rank);
        assert_memory_equal(a->info.tensors[t].shape, b->info.tensors[t].shape,
                            sizeof a->info.tensors[t].shape);
    }
}

static void check_same(const char *name, uint32_t channels, uint32_t height, uint32_t width)
{
    struct model_case *ours = network_of_file(name);
    struct model_case *built_in = case_open(name);
    struct model_case *both[] = {ours, built_in};
    double loss[2][2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(case_create(both[i], channels, height, width, 10), OSAFL_OK);
        case_batch(both[i], 5, 3);
        case_init(both[i]);
        loss[i][0] = case_gradient(both[i], &training);
        loss[i][1] = case_sgd_step(both[i], &training, 0.01);
        case_evaluate(both[i]);
    }
    const size_t bytes = ours->info.n_parameters * sizeof(float);
    same_tensors(ours, built_in);
    assert_memory_equal(loss[0], loss[1], sizeof loss[0]);
    assert_memory_equal(ours->grad, built_in->grad, bytes);
    assert_memory_equal(ours->w, built_in->w, bytes);
    assert_memory_equal(ours->value, built_in->value, 5 * 2 * sizeof(double));
    assert_int_equal(ours->vt->workspace_bytes(ours->self, 5, 5),
                     built_in->vt->workspace_bytes(built_in->self, 5, 5));
    case_close(ours);
    case_close(built_in);
    close_trees();
}

static void the_built_in_networks_are_the_same(void **state)
{
    (void)state;
    check_same("cnn", 1, 28, 28);
    check_same("cnn", 3, 32, 32);
    check_same("squeezenet", 3, 32, 32);
    check_same("resnet18", 1, 28, 28);
    check_same("resnet18", 3, 32, 32);
}

/* ---- numbers of parameters ---- */

static void expect_parameters(const char *file, uint32_t channels, uint32_t height, uint32_t width,
                              uint32_t classes, uint64_t expected)
{
    struct model_case *m = network_of_file(file);
    assert_int_equal(case_create(m, channels, height, width, classes), OSAFL_OK);
    assert_int_equal(m->info.n_parameters, expected);
    case_close(m);
    close_trees();
}

static void parameters_are_as_published(void **state)
{
    (void)state;
    expect_parameters("mcmahan-mnist", 1, 28, 28, 10, 1663370);
    expect_parameters("mcmahan-cifar10", 3, 24, 24, 10, 1068298);
    expect_parameters("lenet5", 1, 28, 28, 10, 61706);
    expect_parameters("mobilenetv2", 3, 32, 32, 10, 2236682); /* torchvision's with 10 classes */
    expect_parameters("shakespeare-lstm", 1, 1, 80, 80, 817872 + 2048);
    expect_parameters("transformer", 1, 1, 80, 80, 115536);
}

/* ---- PyTorch's numbers ---- */

static struct model_case *open_case(const json_t *c)
{
    const char *file = json_string_value(json_object_get(c, "file"));
    const char *loss = json_string_value(json_object_get(c, "minimise"));
    if (file != NULL)
        return network_of_file(file);
    char *text = NULL;
    assert_true(asprintf(&text, "layers = ( %s );\nloss = \"%s\";",
                         json_string_value(json_object_get(c, "layers")),
                         loss != NULL ? loss : "cross_entropy") > 0);
    struct model_case *m = network_of(text);
    free(text);
    return m;
}

/* Samples that are tokens. */
static void make_tokens(struct model_case *m, uint64_t tokens)
{
    const uint64_t n = m->batch.n * osafl_sample_size(&m->data);
    for (uint64_t i = 0; tokens > 0 && i < n; i++)
        m->batch.x[i] = floorf((float)tokens * (m->batch.x[i] / 2 + 1) / 2);
}

static void set_up_case(struct model_case *m, const json_t *c, float *exported)
{
    const uint64_t seed = case_integer(c, "seed");
    make_tokens(m, case_integer(c, "tokens"));
    for (uint32_t t = 0; t < m->info.n_tensors; t++) {
        case_tensor(&m->info.tensors[t], seed, t + 1, exported);
        m->vt->import_tensor(m->self, t, exported, m->w);
    }
}

static double plain_loss(struct model_case *m)
{
    return case_gradient(m, &(osafl_step){.struct_size = sizeof(osafl_step)});
}

/* The slope of the loss along a direction is that of the gradient. */
static void check_slope(struct model_case *m, const char *name)
{
    const uint64_t n = m->info.n_parameters;
    const float h = 1e-3f;
    float *w = case_memory(n * sizeof *w);
    double expected = 0;
    double norm = 0;
    memcpy(w, m->w, n * sizeof *w);
    for (uint64_t i = 0; i < n; i++)
        norm += (double)m->grad[i] * (double)m->grad[i];
    /* Along the gradient itself, disturbed; of length about 1. */
    float *d = case_memory(n * sizeof *d);
    for (uint64_t i = 0; i < n; i++) {
        d[i] = m->grad[i] / (float)sqrt(norm) + case_number(7, 7, i) / sqrtf((float)n);
        expected += (double)d[i] * (double)m->grad[i];
    }
    for (uint64_t i = 0; i < n; i++)
        m->w[i] = w[i] + h * d[i];
    const double above = plain_loss(m);
    for (uint64_t i = 0; i < n; i++)
        m->w[i] = w[i] - h * d[i];
    const double below = plain_loss(m);
    const double slope = (above - below) / (2 * (double)h);
    if (!(fabs(slope - expected) <= 0.02 * fabs(expected)))
        fail_msg("%s: slope %.9g, gradient %.9g", name, slope, expected);
    memcpy(m->w, w, n * sizeof *w);
    free(w);
    free(d);
}

static void check_network(const json_t *c)
{
    const char *name = json_string_value(json_object_get(c, "name"));
    const json_t *gradients = json_object_get(c, "gradients");
    struct model_case *m = open_case(c);
    print_message("%s\n", name);
    assert_int_equal(case_create(m, (uint32_t)case_integer(c, "channels"),
                                 (uint32_t)case_integer(c, "height"),
                                 (uint32_t)case_integer(c, "width"), 10),
                     OSAFL_OK);
    assert_int_equal(case_integer(c, "parameters"), m->info.n_parameters);
    assert_int_equal(json_array_size(gradients), m->info.n_tensors);
    float *exported = case_memory(m->info.n_parameters * sizeof(float));
    case_batch(m, (uint32_t)case_integer(c, "batch"), case_integer(c, "seed"));
    set_up_case(m, c, exported);
    const double loss = plain_loss(m);
    const double expected = json_number_value(json_object_get(c, "loss"));
    if (!(fabs(loss - expected) <= 2e-5 * expected))
        fail_msg("%s: loss %.9g, expected %.9g", name, loss, expected);
    for (uint32_t t = 0; t < m->info.n_tensors; t++) {
        const json_t *e = json_array_get(gradients, t);
        assert_string_equal(json_string_value(json_object_get(e, "name")), m->info.tensors[t].name);
        check_shape(e, &m->info.tensors[t]);
        m->vt->export_tensor(m->self, t, m->grad, exported);
        check_gradient(e, &m->info.tensors[t], exported, 1e-4);
    }
    check_slope(m, name);
    if (json_object_get(c, "minimise") == NULL) {
        case_evaluate(m);
        check_evaluation(json_object_get(c, "logits"), m->batch.label, m->value);
    }
    free(exported);
    case_close(m);
    close_trees();
}

static void networks_have_the_gradients_of_pytorch(void **state)
{
    (void)state;
    json_t *cases = load_cases("networks.json");
    size_t i;
    json_t *c;
    json_array_foreach(cases, i, c) check_network(c);
    assert_true(i >= 14);
    json_decref(cases);
}

/* A fused step is gradient and step; no result depends on what lay in the workspace. */
static void fused_steps_are_plain_steps(void **state)
{
    (void)state;
    json_t *cases = load_cases("networks.json");
    size_t i;
    json_t *c;
    json_array_foreach(cases, i, c)
    {
        struct model_case *m = open_case(c);
        assert_int_equal(case_create(m, (uint32_t)case_integer(c, "channels"),
                                     (uint32_t)case_integer(c, "height"),
                                     (uint32_t)case_integer(c, "width"), 10),
                         OSAFL_OK);
        const uint64_t n = m->info.n_parameters;
        float *w = case_memory(n * sizeof *w);
        case_batch(m, 5, 2);
        set_up_case(m, c, w);
        memset(m->workspace, 0x7f, m->vt->workspace_bytes(m->self, 5, 5));
        case_gradient(m, &training);
        for (uint64_t k = 0; k < n; k++)
            w[k] = m->w[k] - 0.25f * m->grad[k];
        case_sgd_step(m, &training, 0.25);
        for (uint64_t k = 0; k < n; k++)
            if (!(fabsf(w[k] - m->w[k]) <= 1e-5f * (1 + fabsf(w[k]))))
                fail_msg("%s: weight %d is %.9g, expected %.9g",
                         json_string_value(json_object_get(c, "name")), (int)k, (double)m->w[k],
                         (double)w[k]);
        free(w);
        case_close(m);
        close_trees();
    }
    json_decref(cases);
}

/* ---- refusals ---- */

static void expect_refusal_of(const char *layers, uint32_t channels, uint32_t height,
                              uint32_t width, const char *message)
{
    char *text = NULL;
    assert_true(asprintf(&text, "layers = (\n%s\n);", layers) > 0);
    struct model_case *m = network_of(text);
    free(text);
    assert_int_equal(case_create(m, channels, height, width, 10), OSAFL_E_CONFIG);
    if (strstr(m->f->error.text, message) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", m->f->error.text, message);
    case_close(m);
    close_trees();
}

static void expect_refusal(const char *layers, const char *message)
{
    expect_refusal_of(layers, 1, 12, 12, message);
}

static void refusals_name_the_layer(void **state)
{
    (void)state;
    expect_refusal("{ linear = 3; },\n{ stride = 2; }",
                   "net.cfg:4: layers[1]: it says no kind of layer");
    expect_refusal("{ conv = 3; linear = 3; kernel = 1; }",
                   "net.cfg:3: layers[0]: it is conv and linear; each layer has a row of its own");
    expect_refusal("{ linear = 3; kernel = 2; }", "layers[0]: kernel does not belong to linear");
    expect_refusal("{ conv = 3; }", "layers[0]: conv needs kernel = ...");
    expect_refusal("{ relu = true; activation = \"tanh\"; }", "relu and activation are both given");
    expect_refusal("{ name = \"a\"; linear = 3; },\n{ name = \"a\"; linear = \"classes\"; }",
                   "net.cfg:4: layers[1] \"a\": layers[0] is called \"a\" already");
    expect_refusal("{ name = \"2\"; linear = 3; },\n{ linear = 3; }, { linear = \"classes\"; }",
                   "layers[0] is called \"2\", which is the number of this layer");
    expect_refusal("{ name = \"a b\"; linear = 3; }", "holds other characters than");
    expect_refusal("{ name = \"input\"; linear = 3; }", "\"input\" is the name of the samples");
    expect_refusal("{ linear = 3; },\n{ from = \"x\"; linear = \"classes\"; }",
                   "net.cfg:4: layers[1]: no layer before it is called \"x\"");
    expect_refusal("{ linear = 3; add = \"b\"; },\n{ name = \"b\"; linear = \"classes\"; }",
                   "layers[0]: \"b\" comes after it; a layer reads earlier ones");
    expect_refusal("{ name = \"a\"; linear = 3; }, { linear = 4; },\n"
                   "{ from = \"a\"; linear = \"classes\"; }",
                   "layers[1]: nothing reads it");
    expect_refusal(
        "{ conv = 6; kernel = 1; },\n{ conv = 9; kernel = 1; groups = 4; }",
        "net.cfg:4: layers[1]: groups = 4 does not divide the 6 channels that it reads and "
        "the 9 that it gives");
    expect_refusal(
        "{ name = \"a\"; conv = 6; kernel = 1; },\n{ conv = 5; kernel = 1; add = \"a\"; }",
        "layers[1]: it adds 6 x 12 x 12 values to 5 x 12 x 12 (channels, height, width)");
    expect_refusal("{ name = \"a\"; conv = 6; kernel = 1; },\n"
                   "{ name = \"b\"; from = \"input\"; conv = 5; kernel = 3; },\n"
                   "{ concat = \"a, b\"; }, { linear = \"classes\"; }",
                   "layers[1] \"b\": 10 x 10 values cannot be joined with 12 x 12");
    expect_refusal("{ conv = 6; kernel = 7; }, { conv = 6; kernel = 7; }",
                   "layers[1]: samples of 1 x 12 x 12 are too small");
    expect_refusal("{ conv = 6; kernel = 1; }",
                   "the network ends with 6 x 12 x 12 values; the data "
                   "set wants 10: end it with { linear");
    expect_refusal("{ linear = 11; }", "the network ends with 11 x 1 x 1 values");
    expect_refusal("{ group_norm = 4; }", "groups = 4 does not divide the 1 channels");
    expect_refusal("{ lstm = 4; }", "a sequence is one line of positions, not 12");
    expect_refusal("{ conv1d = 4; kernel = 3; }", "a 1-D convolution reads one line, not 12");
    expect_refusal("{ embedding = 4; size = 6; }, { attention = 4; }",
                   "layers[1]: attention = 4 heads do not divide the 6 channels");
    expect_refusal("{ embedding = 4; }", "an embedding needs size");
    expect_refusal("{ linear = 3; }, { embedding = 4; size = 2; }",
                   "an embedding reads the samples");
    expect_refusal("{ embedding = 4; size = 6; }, { flatten = true; }",
                   "a sequence is not flattened");
    expect_refusal("{ flatten = true; }, { conv = 3; kernel = 1; }",
                   "layers[1]: it reads a flat vector");
    expect_refusal("{ max_pool = 2; padding = 2; }", "padding = 2 is more than half of the window");
}

static void tokens_are_whole_numbers_of_the_embedding(void **state)
{
    (void)state;
    struct model_case *m = network_of(
        "layers = ( { embedding = 4; size = 3; }, { gru = 3; last = true; }, { linear = 10; } );");
    assert_int_equal(case_create(m, 1, 1, 6, 10), OSAFL_OK);
    case_batch(m, 2, 1);
    case_init(m);
    static const float wrong[] = {4, -1, 0.5f, NAN};
    for (size_t i = 0; i < 4; i++) {
        double loss;
        memset(m->batch.x, 0, 12 * sizeof(float));
        m->batch.x[7] = wrong[i];
        osafl_call *call = fixture_begin(m->f, 0, 0);
        assert_int_equal(fixture_end(m->f, m->vt->gradient(m->self, call, m->workspace, m->w,
                                                           &m->batch, &training, m->grad, &loss)),
                         OSAFL_E_DATA);
        assert_non_null(strstr(m->f->error.text, "tokens are whole numbers from 0 to 3"));
    }
    case_close(m);
    close_trees();
}

/* ---- targets that are real numbers ---- */

static void real_targets_have_a_loss_and_no_accuracy(void **state)
{
    (void)state;
    struct model_case *m =
        network_of("layers = ( { linear = \"classes\"; } ); loss = \"squared_error\";");
    m->data = (osafl_dataset_info){.struct_size = sizeof m->data,
                                   .rank = 1,
                                   .shape = {2},
                                   .x_type = OSAFL_X_FLOAT,
                                   .target_type = OSAFL_TARGET_REAL,
                                   .target_size = 2,
                                   .labels = 1};
    m->facts = (osafl_facts){.struct_size = sizeof m->facts, .batch = 1, .dataset = &m->data};
    assert_int_equal(fixture_create(m->f, &m->facts), OSAFL_OK);
    m->self = m->f->instance.self;
    m->vt->describe(m->self, fixture_begin(m->f, OSAFL_NO_CLIENT, 0), &m->info);
    assert_int_equal(m->info.n_measures, 1);
    assert_string_equal(m->info.measures[0].name, "loss");
    case_batch(m, 1, 1);
    float target[] = {3, -1};
    m->batch.target = target;
    m->batch.x[0] = 1;
    m->batch.x[1] = 2;
    for (uint64_t i = 0; i < m->info.n_parameters; i++)
        m->w[i] = 0;
    const double loss = case_gradient(m, &training); /* z = 0: (9 + 1) / 2 */
    assert_true(fabs(loss - 5) < 1e-6);
    float exported[4];
    m->vt->export_tensor(m->self, 0, m->grad, exported);
    assert_true(fabsf(exported[0] + 3) < 1e-6f && fabsf(exported[3] - 2) < 1e-6f);
    case_evaluate(m);
    assert_true(fabs(m->value[0] - 5) < 1e-6);
    case_close(m);
    close_trees();
}

static void initial_weights_are_those_of_torch(void **state)
{
    (void)state;
    struct model_case *m = network_of(
        "layers = ( { embedding = 50; size = 40; }, { layer_norm = true; }, { attention = 4; },\n"
        "{ lstm = 64; last = true; }, { linear = \"classes\"; } );");
    assert_int_equal(case_create(m, 1, 1, 6, 10), OSAFL_OK);
    case_batch(m, 1, 1);
    case_init(m);
    static const double deviation[] = {
        1,      -1,     0,              /* N(0, 1); 1; 0 */
        0.1118, 0,      0.0913, 0,      /* xavier: sqrt(6/160)/sqrt(3); zeros; 1/sqrt(3 * 40) */
        0.0722, 0.0722, 0.0722, 0.0722, /* 1/sqrt(3 * 64) */
        0.0722, 0.0722};
    for (uint32_t t = 0; t < m->info.n_tensors; t++) {
        const osafl_tensor *q = &m->info.tensors[t];
        double square = 0;
        for (uint64_t i = 0; i < q->size; i++)
            square += (double)m->w[q->offset + i] * (double)m->w[q->offset + i] / (double)q->size;
        const double expected = fabs(deviation[t]);
        if (!(fabs(sqrt(square) - expected) <= (q->size < 100 ? 0.5 : 0.12) * expected))
            fail_msg("%s: deviation %g, expected %g", q->name, sqrt(square), expected);
    }
    case_close(m);
    close_trees();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_built_in_networks_are_the_same),
        cmocka_unit_test(parameters_are_as_published),
        cmocka_unit_test(networks_have_the_gradients_of_pytorch),
        cmocka_unit_test(fused_steps_are_plain_steps),
        cmocka_unit_test(refusals_name_the_layer),
        cmocka_unit_test(tokens_are_whole_numbers_of_the_embedding),
        cmocka_unit_test(real_targets_have_a_loss_and_no_accuracy),
        cmocka_unit_test(initial_weights_are_those_of_torch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
