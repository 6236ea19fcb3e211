/* network.c - the network that the experiment file describes, layer by layer. */
#include "nn/classifier.h"
#include "nn/rows.h"

struct config {
    struct classifier_settings nn;
    osafl_rows layers;
};

static const osafl_param params[] = {
    OSAFL_ROWS(struct config, layers, &network_row_type, 1, ROWS_MOST,
               "The layers, in order; each names its kind and may name what it reads",
               .flags = OSAFL_P_REQUIRED),
    CLASSIFIER_LOSS_PARAMS(struct config),
    CLASSIFIER_CONVOLUTION_PARAMS(struct config),
    CLASSIFIER_PARAMS(struct config),
};

static void describe_network(struct network *net, const void *config)
{
    network_of_rows(net, &((const struct config *)config)->layers);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    return classifier_create(h, c, facts, "network", describe_network, config, self);
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
    .name = "network",
    .version = "1.0.0",
    .summary = "Any network, described in the experiment file",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

const osafl_plugin *osafl_plugin_entry_v0(void)
{
    return &plugin;
}
