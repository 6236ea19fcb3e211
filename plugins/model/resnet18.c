/* resnet18.c - ResNet-18 (He et al., CVPR 2016) as torchvision defines it, with GroupNorm in the
 * place of BatchNorm: batch statistics mean nothing where clients' data differ. */
#include <stdio.h>

#include "nn/classifier.h"

struct config {
    struct classifier_settings nn;
    int64_t groups;
};

static const osafl_param params[] = {
    OSAFL_INT(struct config, groups, 2, 1, 64,
              "Groups of channels that GroupNorm normalises together; must divide 64"),
    CLASSIFIER_CONVOLUTION_PARAMS(struct config),
    CLASSIFIER_PARAMS(struct config),
};

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const long long groups = ((const struct config *)config)->groups;
    if (64 % groups != 0)
        return h->fail(c, OSAFL_E_CONFIG, "groups = %lld does not divide 64; use a power of 2",
                       groups);
    return OSAFL_OK;
}

/* Name of a tensor's layer within a block: "layer1.0." and "conv1". */
struct name {
    char text[48];
};

static struct name name_in(const char *block, const char *layer)
{
    struct name n;
    snprintf(n.text, sizeof n.text, "%s%s", block, layer);
    return n;
}

static int convolve(struct network *net, int x, struct name name, uint32_t channels,
                    uint32_t kernel, uint32_t stride)
{
    return network_convolution(net, x,
                               &(struct convolution){.name = name.text,
                                                     .channels = channels,
                                                     .kernel = kernel,
                                                     .stride = stride,
                                                     .padding = kernel / 2,
                                                     .no_bias = true,
                                                     .init = INIT_HE_NORMAL_FAN_OUT});
}

/* Two 3x3 convolutions and a shortcut around them, which is a 1x1 convolution where the shape
 * changes.  Whichever branch comes last adds the other one: the sum is the same. */
static int basic_block(struct network *net, int x, const char *block, uint32_t channels,
                       uint32_t stride, uint32_t groups)
{
    int y = convolve(net, x, name_in(block, "conv1"), channels, 3, stride);
    y = network_group_norm(net, y, name_in(block, "bn1").text, groups, -1, true);
    y = convolve(net, y, name_in(block, "conv2"), channels, 3, 1);
    const struct name second_norm = name_in(block, "bn2");
    if (stride == 1)
        return network_group_norm(net, y, second_norm.text, groups, x, true);
    y = network_group_norm(net, y, second_norm.text, groups, -1, false);
    const int shortcut = convolve(net, x, name_in(block, "downsample.0"), channels, 1, stride);
    return network_group_norm(net, shortcut, name_in(block, "downsample.1").text, groups, y, true);
}

static void describe_network(struct network *net, const void *config)
{
    const uint32_t groups = (uint32_t)((const struct config *)config)->groups;
    int x = convolve(net, NETWORK_PICTURE, name_in("", "conv1"), 64, 7, 2);
    x = network_group_norm(net, x, "bn1", groups, -1, true);
    x = network_max_pool(net, x, 3, 2, 1, false);
    x = basic_block(net, x, "layer1.0.", 64, 1, groups);
    x = basic_block(net, x, "layer1.1.", 64, 1, groups);
    x = basic_block(net, x, "layer2.0.", 128, 2, groups);
    x = basic_block(net, x, "layer2.1.", 128, 1, groups);
    x = basic_block(net, x, "layer3.0.", 256, 2, groups);
    x = basic_block(net, x, "layer3.1.", 256, 1, groups);
    x = basic_block(net, x, "layer4.0.", 512, 2, groups);
    x = basic_block(net, x, "layer4.1.", 512, 1, groups);
    x = network_average(net, x);
    network_linear(net, x,
                   &(struct convolution){.name = "fc",
                                         .channels = net->classes,
                                         .init = INIT_UNIFORM_FAN_IN,
                                         .bias_init = INIT_UNIFORM_FAN_IN});
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    return classifier_create(h, c, facts, "resnet18", describe_network, config, self);
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
    .name = "resnet18",
    .version = "1.0.0",
    .summary = "ResNet-18 with GroupNorm",
    .cite = "He et al., Deep residual learning for image recognition, CVPR 2016",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
