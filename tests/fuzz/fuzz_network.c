/* fuzz_network.c - rows of model/network, for samples of several shapes: they are refused with a
 * reason, or they make a network that trains and tells what it consists of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/memory.h"
#include "experiment/experiment_tree.h"
#include "experiment/settings.h"
#include "fuzz.h"

enum { SAMPLES = 2, CLASSES = 4, MOST_PARAMETERS = 200000, MOST_BYTES = 8 << 20 };

static const struct {
    uint32_t channels;
    uint32_t height;
    uint32_t width;
    bool real;
} shapes[] = {
    {1, 12, 12, false}, {3, 7, 5, false}, {1, 1, 9, false},
    {2, 1, 6, false},   {1, 1, 1, false}, {1, 4, 4, true},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void check_tensors(const osafl_model_info *info)
{
    uint64_t offset = 0;
    for (uint32_t t = 0; t < info->n_tensors; t++) {
        const osafl_tensor *tensor = OSAFL_AT(osafl_tensor, info->tensors, info->tensor_size, t);
        uint64_t size = 1;
        for (uint32_t d = 0; d < tensor->rank; d++)
            size *= tensor->shape[d];
        FUZZ_REQUIRE(tensor->name[0] != '\0' && tensor->offset == offset && tensor->size == size);
        offset += tensor->size;
    }
    FUZZ_REQUIRE(offset == info->n_parameters);
}

/* A step and an evaluation; samples that are no tokens may be refused. */
static void train(struct instance *i, const osafl_model_info *info, const osafl_batch *b)
{
    const osafl_model_vt *vt = (const osafl_model_vt *)(const void *)i->plugin->vtable;
    const uint64_t bytes = vt->workspace_bytes(i->self, SAMPLES, SAMPLES);
    if (info->n_parameters > MOST_PARAMETERS || bytes > MOST_BYTES)
        return;
    const osafl_step step = {.struct_size = sizeof step, .training = 1};
    float *w = memory_zeroed(info->n_parameters, sizeof *w, VECTOR_ALIGNMENT);
    float *grad = memory_zeroed(info->n_parameters, sizeof *grad, VECTOR_ALIGNMENT);
    void *workspace = memory_zeroed(bytes, 1, WORKSPACE_ALIGNMENT);
    FUZZ_REQUIRE(w != NULL && grad != NULL && workspace != NULL);
    double loss = 0;
    double value[2 * SAMPLES];
    osafl_call c;
    call_begin(&c, i, 0, 0);
    FUZZ_REQUIRE(call_end(&c, vt->init(i->self, &c, w)) == OSAFL_OK);
    call_begin(&c, i, 0, 0);
    osafl_status status =
        call_end(&c, vt->gradient(i->self, &c, workspace, w, b, &step, grad, &loss));
    FUZZ_REQUIRE(status == OSAFL_OK || (status == OSAFL_E_DATA && c.error.text[0] != '\0'));
    call_begin(&c, i, 0, 0);
    status = call_end(&c, vt->evaluate(i->self, &c, workspace, w, b, value));
    FUZZ_REQUIRE(status == OSAFL_OK || status == OSAFL_E_DATA);
    memory_free(w);
    memory_free(grad);
    memory_free(workspace);
}

static void try_network(const osafl_plugin *p, void *config, uint32_t shape)
{
    const bool real = shapes[shape].real;
    const osafl_dataset_info data = {
        .struct_size = sizeof data,
        .rank = 3,
        .shape = {shapes[shape].channels, shapes[shape].height, shapes[shape].width},
        .x_type = OSAFL_X_FLOAT,
        .target_type = real ? OSAFL_TARGET_REAL : OSAFL_TARGET_CLASS,
        .target_size = CLASSES,
        .labels = real ? 1 : CLASSES,
    };
    const osafl_facts facts = {.struct_size = sizeof facts, .batch = SAMPLES, .dataset = &data};
    struct instance *i = fuzz_instance_try(p, &facts, config);
    if (i == NULL)
        return;
    float x[SAMPLES * 1 * 12 * 12];
    for (size_t k = 0; k < sizeof x / sizeof x[0]; k++)
        x[k] = (float)(k * 7 % 3);
    int32_t label[SAMPLES] = {0, CLASSES - 1};
    float target[SAMPLES * CLASSES] = {1, 0, 0.5f};
    if (real)
        label[1] = 0;
    const osafl_batch b = {.struct_size = sizeof b,
                           .n = SAMPLES,
                           .x = x,
                           .label = label,
                           .target = real ? target : NULL};
    const osafl_model_vt *vt = (const osafl_model_vt *)(const void *)p->vtable;
    osafl_model_info info = {.struct_size = sizeof info};
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
    FUZZ_REQUIRE(call_end(&c, vt->describe(i->self, &c, &info)) == OSAFL_OK);
    check_tensors(&info);
    train(i, &info, &b);
    fuzz_instance_free(i);
}

/* The first byte chooses the samples; the rest stands inside of network: { ... }. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {.next = data, .left = size};
    const uint32_t shape = fuzz_below(&in, SHAPES);
    const osafl_plugin *p = fuzz_plugin(OSAFL_KIND_MODEL, "network");
    struct diagnostics *d = diagnostics_create();
    void *config = calloc(1, p->config_size);
    FUZZ_REQUIRE(d != NULL && config != NULL);
    struct experiment_tree *t = tree_read_text((const char *)in.next, in.left, "net.cfg", d);
    FUZZ_REQUIRE((t == NULL) == (diagnostics_errors(d) > 0));
    if (t != NULL)
        settings_bind(p->params, p->n_params, p->param_size, config, tree_root(t), "model.network",
                      NULL, d);
    if (t != NULL && diagnostics_errors(d) == 0)
        try_network(p, config, shape);
    if (t != NULL)
        tree_destroy(t);
    free(config);
    diagnostics_destroy(d);
    return 0;
}
