/* squeezenet.c - SqueezeNet 1.1 (Iandola et al., 2016), as torchvision defines it. */
#include <stdio.h>

#include "nn/classifier.h"

struct config {
    struct classifier_settings nn;
    double dropout;
};

static const osafl_param params[] = {
    OSAFL_REAL(struct config, dropout, 0.5, 0, 1,
               "Probability with which a value before the classifier is dropped in training",
               .flags = OSAFL_P_HI_OPEN),
    CLASSIFIER_CONVOLUTION_PARAMS(struct config),
    CLASSIFIER_PARAMS(struct config),
};

/* Squeezes to few channels, then expands with 1x1 and 3x3 kernels side by side. */
static int fire(struct network *net, int x, int number, uint32_t squeeze, uint32_t expand)
{
    char name[3][40];
    snprintf(name[0], sizeof name[0], "features.%d.squeeze", number);
    snprintf(name[1], sizeof name[1], "features.%d.expand1x1", number);
    snprintf(name[2], sizeof name[2], "features.%d.expand3x3", number);
    const struct convolution squeeze1x1 = {
        .name = name[0], .channels = squeeze, .kernel = 1, .relu = true, .init = INIT_HE_UNIFORM};
    const struct convolution expand1x1 = {
        .name = name[1], .channels = expand, .kernel = 1, .relu = true, .init = INIT_HE_UNIFORM};
    const struct convolution expand3x3 = {.name = name[2],
                                          .channels = expand,
                                          .kernel = 3,
                                          .padding = 1,
                                          .relu = true,
                                          .init = INIT_HE_UNIFORM};
    const int squeezed = network_convolution(net, x, &squeeze1x1);
    const int both = network_concatenation(net, squeezed, 2 * expand);
    network_convolution_into(net, squeezed, &expand1x1, both, 0);
    network_convolution_into(net, squeezed, &expand3x3, both, expand);
    return both;
}

static int pool(struct network *net, int x)
{
    return network_max_pool(net, x, 3, 2, 0, true);
}

static void describe_network(struct network *net, const void *config)
{
    int x = network_convolution(net, NETWORK_PICTURE,
                                &(struct convolution){.name = "features.0",
                                                      .channels = 64,
                                                      .kernel = 3,
                                                      .stride = 2,
                                                      .relu = true,
                                                      .init = INIT_HE_UNIFORM});
    x = pool(net, x);
    x = fire(net, x, 3, 16, 64);
    x = fire(net, x, 4, 16, 64);
    x = pool(net, x);
    x = fire(net, x, 6, 32, 128);
    x = fire(net, x, 7, 32, 128);
    x = pool(net, x);
    x = fire(net, x, 9, 48, 192);
    x = fire(net, x, 10, 48, 192);
    x = fire(net, x, 11, 64, 256);
    x = fire(net, x, 12, 64, 256);
    x = network_dropout(net, x, ((const struct config *)config)->dropout);
    x = network_convolution(net, x,
                            &(struct convolution){.name = "classifier.1",
                                                  .channels = net->classes,
                                                  .kernel = 1,
                                                  .relu = true,
                                                  .init = INIT_NORMAL_001});
    network_average(net, x);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    return classifier_create(h, c, facts, "squeezenet", describe_network, config, self);
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
    .name = "squeezenet",
    .version = "1.0.0",
    .summary = "SqueezeNet 1.1",
    .cite = "Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters, 2016",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
