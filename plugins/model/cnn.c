/* cnn.c - a small convolutional network: two convolutions, each with a max-pool, and two fully
 * connected layers. */
#include "nn/classifier.h"

struct config {
    struct classifier_settings nn;
    bool conv_relu;
};

static const osafl_param params[] = {
    OSAFL_BOOL(struct config, conv_relu, false, "Rectify the results of the convolutions"),
    CLASSIFIER_CONVOLUTION_PARAMS(struct config),
    CLASSIFIER_PARAMS(struct config),
};

static void describe_network(struct network *net, const void *config)
{
    const bool relu = ((const struct config *)config)->conv_relu;
    struct convolution layer = {.kernel = 3,
                                .padding = 1,
                                .relu = relu,
                                .init = INIT_UNIFORM_FAN_IN,
                                .bias_init = INIT_UNIFORM_FAN_IN};
    layer.name = "conv1";
    layer.channels = 256;
    int x = network_convolution(net, NETWORK_PICTURE, &layer);
    x = network_max_pool(net, x, 2, 2, 0, false);
    layer.name = "conv2";
    layer.channels = 64;
    x = network_convolution(net, x, &layer);
    x = network_max_pool(net, x, 2, 2, 0, false);
    layer.name = "fc1";
    layer.channels = 256;
    layer.padding = 0;
    layer.relu = true;
    x = network_linear(net, x, &layer);
    layer.name = "fc2";
    layer.channels = net->classes;
    layer.relu = false;
    network_linear(net, x, &layer);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    return classifier_create(h, c, facts, "cnn", describe_network, config, self);
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
    .name = "cnn",
    .version = "1.0.0",
    .summary = "Small convolutional network: 2 convolutions, 2 fully connected layers",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
