/* mlp.c - a multilayer perceptron with ReLU between its layers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "nn/classifier.h"

enum { MAX_HIDDEN_LAYERS = 16, MAX_NEURONS = 65536 };

struct config {
    struct classifier_settings nn;
    osafl_reals hidden;
};

static const osafl_param params[] = {
    OSAFL_REALS(struct config, hidden, 1, MAX_NEURONS,
                "Neurons of each hidden layer, from the input on; empty: two layers of 200",
                .unit = "neurons"),
    CLASSIFIER_PARAMS(struct config),
};

/* The "2NN" of McMahan et al., AISTATS 2017. */
static const double default_hidden[] = {200, 200};

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const osafl_reals *hidden = &((const struct config *)config)->hidden;
    if (hidden->n > MAX_HIDDEN_LAYERS)
        return h->fail(c, OSAFL_E_CONFIG,
                       "hidden names %" PRIu64 " layers; at most %d are possible", hidden->n,
                       MAX_HIDDEN_LAYERS);
    for (uint64_t i = 0; i < hidden->n; i++)
        if (hidden->v[i] != floor(hidden->v[i]))
            return h->fail(c, OSAFL_E_CONFIG, "hidden must hold whole numbers, not %g",
                           hidden->v[i]);
    return OSAFL_OK;
}

static void describe_network(struct network *net, const void *config)
{
    const osafl_reals *given = &((const struct config *)config)->hidden;
    const double *hidden = given->n > 0 ? given->v : default_hidden;
    const uint64_t n = given->n > 0 ? given->n : sizeof default_hidden / sizeof default_hidden[0];
    int x = NETWORK_PICTURE;
    for (uint64_t i = 0; i <= n; i++) {
        char name[24];
        snprintf(name, sizeof name, "fc%" PRIu64, i + 1);
        x = network_linear(
            net, x,
            &(struct convolution){.name = name,
                                  .channels = i < n ? (uint32_t)hidden[i] : net->classes,
                                  .relu = i < n,
                                  .init = INIT_UNIFORM_FAN_IN,
                                  .bias_init = INIT_UNIFORM_FAN_IN});
    }
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    OSAFL_TRY(check(h, c, config));
    return classifier_create(h, c, facts, "mlp", describe_network, config, self);
}

static const osafl_model_vt vtable = {
    .life = {.struct_size = sizeof(osafl_model_vt),
             .state_version = 1,
             .check = check,
             .create = create,
             .destroy = classifier_destroy},
    CLASSIFIER_FUNCTIONS,
};

static const char *const features[] = {"fused", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_MODEL,
    .name = "mlp",
    .version = "1.0.0",
    .summary = "Multilayer perceptron with ReLU",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
