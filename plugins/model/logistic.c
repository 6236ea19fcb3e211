/* logistic.c - multinomial logistic regression: one linear layer and a softmax. */
#include "nn/classifier.h"

struct config {
    struct classifier_settings nn;
};

static const osafl_param params[] = {CLASSIFIER_PARAMS(struct config)};

static void describe_network(struct network *net, const void *config)
{
    (void)config;
    network_linear(net, NETWORK_PICTURE,
                   &(struct convolution){.name = "linear",
                                         .channels = net->classes,
                                         .init = INIT_UNIFORM_FAN_IN,
                                         .bias_init = INIT_UNIFORM_FAN_IN});
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    return classifier_create(h, c, facts, "logistic", describe_network, config, self);
}

static const osafl_model_vt vtable = {
    .life = {.struct_size = sizeof(osafl_model_vt),
             .state_version = 1,
             .create = create,
             .destroy = classifier_destroy},
    CLASSIFIER_FUNCTIONS,
};

static const char *const features[] = {"fused", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_MODEL,
    .name = "logistic",
    .version = "1.0.0",
    .summary = "Multinomial logistic regression",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
