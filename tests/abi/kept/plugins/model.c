/* kept.c - a model: what are loss and gradient of the parameters w on a batch?
 *
 * As generated it is multinomial logistic regression with an L2 penalty:
 *
 *     z = W x + b,   loss = -log softmax(z)[label] + decay / 2 * ||W||^2,
 *
 * with w holding the C rows of W and then b.
 *
 * To make it yours, change describe(), init(), gradient() and evaluate(); osafl/model.h tells more,
 * and which operations can be added. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <osafl/model.h>
#include <osafl/random.h>

/* The settings, and the table from which the program reads, checks and explains them. */
struct config {
    double decay;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, decay, 1e-4, 0.0, 10.0, "Weight of the L2 penalty"),
};

/* What evaluate() tells of each sample; runs are compared by the first. */
enum { MEASURE_ACCURACY, MEASURE_LOSS, MEASURES };
static const osafl_metric measures[MEASURES] = {
    {.name = "accuracy",
     .doc = "Share of the samples whose class is the most probable one",
     .scope = OSAFL_PER_ROUND,
     .better = OSAFL_HIGHER},
    {.name = "loss", .doc = "Mean cross-entropy", .scope = OSAFL_PER_ROUND, .better = OSAFL_LOWER},
};

/* Streams of random numbers, in the plugin's own numbering. */
enum { STREAM_INIT = 1 };

/* One instance.  gradient() and evaluate() run on several threads at once, each with a workspace of
 * its own, so that nothing here changes in them. */
struct model {
    const osafl_host *host;
    const struct config *config;
    uint64_t inputs;
    uint64_t classes;
    osafl_tensor tensor[2];
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const osafl_dataset_info *data = facts->dataset;
    if (data->target_type != OSAFL_TARGET_CLASS || data->x_type != OSAFL_X_FLOAT)
        return h->fail(c, OSAFL_E_UNSUPPORTED,
                       "this model needs samples of real numbers, with classes");
    struct model *m = malloc(sizeof *m);
    if (m == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    const uint64_t inputs = osafl_sample_size(data);
    const uint64_t classes = data->target_size;
    *m = (struct model){.host = h, .config = config, .inputs = inputs, .classes = classes};
    m->tensor[0] = (osafl_tensor){
        .name = "weight", .size = classes * inputs, .shape = {classes, inputs}, .rank = 2};
    m->tensor[1] = (osafl_tensor){
        .name = "bias", .offset = classes * inputs, .size = classes, .shape = {classes}, .rank = 1};
    *self = m;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    free(self);
}

static osafl_status describe(void *self, osafl_call *c, osafl_model_info *out)
{
    (void)c;
    const struct model *m = self;
    out->n_parameters = m->classes * m->inputs + m->classes;
    out->n_tensors = 2;
    out->tensors = m->tensor;
    out->tensor_size = sizeof(osafl_tensor);
    out->n_measures = MEASURES;
    out->measures = measures;
    out->measure_size = sizeof(osafl_metric);
    return OSAFL_OK;
}

/* Memory for one batch: the classes' scores of one sample at a time will do. */
static uint64_t workspace_bytes(void *self, uint32_t batch, uint32_t evaluation_batch)
{
    (void)batch;
    (void)evaluation_batch;
    const struct model *m = self;
    return m->classes * sizeof(double);
}

/* Uniform in +-1/sqrt(inputs). */
static osafl_status init(void *self, osafl_call *c, float *w)
{
    const struct model *m = self;
    const uint64_t n = m->classes * m->inputs + m->classes;
    const float bound = (float)(1.0 / sqrt((double)m->inputs));
    for (uint64_t i = 0; i < n; i++) {
        uint32_t word;
        m->host->random_fill(c, STREAM_INIT, OSAFL_NO_CLIENT, 0, i, &word, 1);
        w[i] = bound * (2.0f * osafl_uniform_float(word) - 1.0f);
    }
    return OSAFL_OK;
}

/* p becomes softmax(W x + b); returns the cross-entropy of the label. */
static double predict(const struct model *m, const float *w, const float *x, int32_t label,
                      double *p)
{
    const float *bias = w + m->classes * m->inputs;
    double top = -HUGE_VAL;
    for (uint64_t k = 0; k < m->classes; k++) {
        double z = (double)bias[k];
        for (uint64_t j = 0; j < m->inputs; j++)
            z += (double)w[k * m->inputs + j] * (double)x[j];
        p[k] = z;
        top = z > top ? z : top;
    }
    const double score = p[label] - top;
    double sum = 0.0;
    for (uint64_t k = 0; k < m->classes; k++) {
        p[k] = exp(p[k] - top);
        sum += p[k];
    }
    for (uint64_t k = 0; k < m->classes; k++)
        p[k] /= sum;
    return log(sum) - score;
}

/* Mean loss of the batch, and its gradient in grad[0..N). */
static osafl_status gradient(void *self, osafl_call *c, void *workspace, const float *w,
                             const osafl_batch *b, const osafl_step *step, float *grad,
                             double *loss)
{
    (void)c;
    (void)step; /* client, round and step: for random numbers such as dropout's */
    const struct model *m = self;
    const uint64_t weights = m->classes * m->inputs;
    const double decay = m->config->decay;
    double *p = workspace;
    double norm2 = 0.0;
    for (uint64_t i = 0; i < weights; i++) {
        grad[i] = (float)(decay * (double)w[i]);
        norm2 += (double)w[i] * (double)w[i];
    }
    memset(grad + weights, 0, m->classes * sizeof *grad);

    double sum = 0.0;
    for (uint32_t s = 0; s < b->n; s++) {
        const float *x = b->x + (size_t)s * m->inputs;
        sum += predict(m, w, x, b->label[s], p);
        for (uint64_t k = 0; k < m->classes; k++) {
            const double target = k == (uint64_t)b->label[s] ? 1.0 : 0.0;
            const float error = (float)((p[k] - target) / b->n); /* of the mean loss in z_k */
            for (uint64_t j = 0; j < m->inputs; j++)
                grad[k * m->inputs + j] += error * x[j];
            grad[weights + k] += error;
        }
    }
    *loss = sum / b->n + 0.5 * decay * norm2;
    return OSAFL_OK;
}

/* value[i * MEASURES + m]: measure m of sample i. */
static osafl_status evaluate(void *self, osafl_call *c, void *workspace, const float *w,
                             const osafl_batch *b, double *value)
{
    (void)c;
    const struct model *m = self;
    double *p = workspace;
    for (uint32_t s = 0; s < b->n; s++) {
        const int32_t label = b->label[s];
        const double loss = predict(m, w, b->x + (size_t)s * m->inputs, label, p);
        bool best = true;
        for (uint64_t k = 0; k < m->classes; k++)
            best = best && (k == (uint64_t)label || p[k] < p[label]);
        value[(size_t)s * MEASURES + MEASURE_ACCURACY] = best ? 1.0 : 0.0;
        value[(size_t)s * MEASURES + MEASURE_LOSS] = loss;
    }
    return OSAFL_OK;
}

static const osafl_model_vt vtable = {
    .life = {.struct_size = sizeof(osafl_model_vt), .create = create, .destroy = destroy},
    .describe = describe,
    .workspace_bytes = workspace_bytes,
    .init = init,
    .gradient = gradient,
    .evaluate = evaluate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_MODEL,
    .name = "kept",
    .version = "0.1.0",
    .summary = "Multinomial logistic regression with an L2 penalty",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
