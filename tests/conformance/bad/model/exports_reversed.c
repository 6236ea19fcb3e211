/* exports_reversed.c - imports tensors otherwise than it exports them.  Caught by model.export. */
#include "template_with.h"

static void export_reversed(void *self, uint32_t t, const float *w, float *out)
{
    const osafl_tensor *tensor = &((const struct model *)self)->tensor[t];
    for (uint64_t i = 0; i < tensor->size; i++)
        out[i] = w[tensor->offset + tensor->size - 1 - i];
}

static void import_straight(void *self, uint32_t t, const float *in, float *w)
{
    const osafl_tensor *tensor = &((const struct model *)self)->tensor[t];
    memcpy(w + tensor->offset, in, tensor->size * sizeof *w);
}

CHANGE(vt.export_tensor = export_reversed; vt.import_tensor = import_straight;)
