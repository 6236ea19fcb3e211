/* classifier.c - the model interface over a network. */
#include "classifier.h"

#include <stdlib.h>
#include <string.h>

#include "compute/backend.h"
#include "osafl/layers.h"

const char *const classifier_conv_choices[] = {"auto", "direct", NULL};
const char *const classifier_fused_choices[] = {"auto", "off", NULL};
const char *const classifier_gemm_choices[] = {"auto", "openblas", NULL};
const char *const classifier_loss_choices[] = {"cross_entropy", "squared_error",
                                               "binary_cross_entropy", NULL};

struct classifier {
    const osafl_host *host;
    bool fused;
    struct network net;
    osafl_metric measures[2];
    uint32_t n_measures;
    osafl_tensor tensor[NETWORK_MAX_PARAMETERS];
};

static const osafl_metric measures[] = {
    {.name = "accuracy",
     .doc = "Share of samples whose label got the largest logit",
     .scope = OSAFL_PER_ROUND,
     .better = OSAFL_HIGHER},
    {.name = "loss",
     .unit = "nat",
     .doc = "Cross-entropy",
     .scope = OSAFL_PER_ROUND,
     .better = OSAFL_LOWER},
};

static const osafl_metric sample_measures[] = {
    {.name = "entropy",
     .unit = "nat",
     .doc = "Entropy of the probabilities of the labels",
     .scope = OSAFL_PER_CLIENT},
    {.name = "margin",
     .doc = "Largest probability of a label less the second largest",
     .scope = OSAFL_PER_CLIENT},
};

/* Accuracy is one of classes; the name of the loss is the same, whatever it is. */
static void list_measures(struct classifier *m)
{
    static const char *const words[] = {"Cross-entropy", "Mean squared error",
                                        "Mean binary cross-entropy"};
    const bool real = m->net.real_targets;
    m->n_measures = real ? 1 : 2;
    memcpy(m->measures, measures + (real ? 1 : 0), m->n_measures * sizeof measures[0]);
    osafl_metric *loss = &m->measures[m->n_measures - 1];
    loss->doc = words[m->net.options.loss];
    if (m->net.options.loss == LOSS_SQUARED_ERROR)
        loss->unit = NULL;
}

static void list_tensors(struct classifier *m)
{
    for (int i = 0; i < m->net.n_parameters; i++) {
        const struct parameter *p = &m->net.parameter[i];
        m->tensor[i] = (osafl_tensor){.name = p->name,
                                      .offset = p->offset,
                                      .size = p->out * p->in * p->spatial,
                                      .rank = p->rank};
        memcpy(m->tensor[i].shape, p->shape, sizeof p->shape);
    }
}

/* Whether layer i is the last that writes a part of what several layers give side by side. */
static bool completes_concatenation(const struct network *net, int i)
{
    const struct layer *l = &net->layer[i];
    if (l->output < 0 || l->out_channels >= net->activation[l->output].channels)
        return false;
    for (int k = i + 1; k < net->n_layers; k++)
        if (net->layer[k].output == l->output)
            return false;
    return true;
}

static void record_concatenation(const osafl_layers *to, osafl_call *c, const struct activation *a)
{
    to->record(c, &(osafl_layer){.struct_size = sizeof(osafl_layer),
                                 .name = "",
                                 .kind = "concatenation",
                                 .shape = {a->channels, a->height, a->width}});
}

/* Says what the network consists of where the host asks for it. */
static void record_layers(const struct classifier *m, osafl_call *c)
{
    const osafl_layers *to =
        m->host->extension != NULL ? m->host->extension(m->host, OSAFL_LAYERS_ID) : NULL;
    for (int i = 0; to != NULL && i < m->net.n_layers; i++) {
        const struct layer *l = &m->net.layer[i];
        const struct network_layer r = network_layer_of(&m->net, i);
        if (l->type != LAYER_COPY) /* a part of a concatenation */
            to->record(c, &(osafl_layer){.struct_size = sizeof(osafl_layer),
                                         .name = r.name,
                                         .kind = r.kind,
                                         .shape = {l->out_channels, l->out_height, l->out_width},
                                         .parameters = r.parameters,
                                         .operations = r.operations});
        if (completes_concatenation(&m->net, i))
            record_concatenation(to, c, &m->net.activation[l->output]);
    }
}

osafl_status classifier_create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                               const char *model, network_description *describe_network,
                               const void *config, void **self)
{
    struct classifier *m = malloc(sizeof *m);
    if (m == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "%s: out of memory", model);
    const struct classifier_settings *settings = config;
    m->host = h;
    m->fused = settings->fused.index == 0;
    network_begin(&m->net, model, facts->dataset,
                  (struct network_options){.loss = (enum loss)settings->loss.index,
                                           .direct = settings->conv.index != 0,
                                           .openblas = settings->gemm.index != 0});
    describe_network(&m->net, config);
    const osafl_status status = network_finish(&m->net);
    if (status != OSAFL_OK) {
        h->fail(c, status, "%s", m->net.error);
        free(m);
        return status;
    }
    if (h->extension != NULL)
        m->net.profile = h->extension(h, OSAFL_PROFILE_ID);
    list_measures(m);
    list_tensors(m);
    record_layers(m, c);
    h->log(c, OSAFL_LOG_DEBUG, "%s: kernels for %s", model, m->net.backend->name);
    *self = m;
    return OSAFL_OK;
}

void classifier_destroy(void *self)
{
    free(self);
}

osafl_status classifier_describe(void *self, osafl_call *c, osafl_model_info *out)
{
    const struct classifier *m = self;
    (void)c;
    out->n_tensors = (uint32_t)m->net.n_parameters;
    out->n_parameters = m->net.n_weights;
    out->tensors = m->tensor;
    out->tensor_size = sizeof m->tensor[0];
    out->n_measures = m->n_measures;
    out->measures = m->measures;
    out->measure_size = sizeof measures[0];
    if (m->net.options.loss == LOSS_CROSS_ENTROPY) {
        out->n_sample_measures = sizeof sample_measures / sizeof sample_measures[0];
        out->sample_measures = sample_measures;
    }
    return OSAFL_OK;
}

uint64_t classifier_workspace_bytes(void *self, uint32_t batch, uint32_t evaluation_batch)
{
    const struct classifier *m = self;
    return network_workspace_bytes(&m->net, batch, evaluation_batch);
}

osafl_status classifier_init(void *self, osafl_call *c, float *w)
{
    const struct classifier *m = self;
    return network_init(&m->net, m->host, c, w);
}

static struct pass pass_of(const struct classifier *m, osafl_call *c, void *workspace,
                           const float *w, const osafl_batch *b)
{
    return (struct pass){.net = &m->net,
                         .host = m->host,
                         .call = c,
                         .workspace = workspace,
                         .picture = b->x,
                         .token = b->x_int,
                         .wanted = b->target,
                         .n = b->n,
                         .w = w};
}

osafl_status classifier_gradient(void *self, osafl_call *c, void *workspace, const float *w,
                                 const osafl_batch *b, const osafl_step *step, float *grad,
                                 double *loss)
{
    struct pass pass = pass_of(self, c, workspace, w, b);
    pass.step = step;
    pass.target = grad;
    pass.scale = 1;
    return network_train(&pass, b->label, loss);
}

osafl_status classifier_evaluate(void *self, osafl_call *c, void *workspace, const float *w,
                                 const osafl_batch *b, double *value)
{
    struct pass pass = pass_of(self, c, workspace, w, b);
    return network_evaluate(&pass, b->label, value);
}

osafl_status classifier_score(void *self, osafl_call *c, void *workspace, const float *w,
                              const osafl_batch *b, double *value)
{
    struct pass pass = pass_of(self, c, workspace, w, b);
    return network_score(&pass, value);
}

osafl_status classifier_sgd_step(void *self, osafl_call *c, void *workspace, float *w,
                                 const osafl_batch *b, const osafl_step *step, double rate,
                                 double *loss)
{
    if (!((const struct classifier *)self)->fused)
        return OSAFL_E_UNSUPPORTED; /* the host makes the step from the gradient */
    struct pass pass = pass_of(self, c, workspace, w, b);
    pass.step = step;
    pass.target = w;
    pass.scale = -(float)rate;
    pass.add = true;
    return network_train(&pass, b->label, loss);
}

void classifier_export_tensor(void *self, uint32_t t, const float *w, float *out)
{
    const struct classifier *m = self;
    network_export(&m->net, (int)t, w, out);
}

void classifier_import_tensor(void *self, uint32_t t, const float *in, float *w)
{
    const struct classifier *m = self;
    network_import(&m->net, (int)t, in, w);
}
