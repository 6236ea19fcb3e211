/* safetensors.c - writes a model as a safetensors file. */
#include "safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "base/json_print.h"

/* Numbers go into the file as they lie in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

static const osafl_tensor *tensor_of(const osafl_model_info *info, uint32_t t)
{
    return OSAFL_AT(osafl_tensor, info->tensors, info->tensor_size, t);
}

/* Adds {"dtype": "F32", "shape": [...], "data_offsets": [begin, end]} under the tensor's name;
 * nonzero: out of memory. */
static int add_tensor(json_t *header, const osafl_tensor *t)
{
    json_t *shape = json_array();
    int failed = shape == NULL;
    for (uint32_t d = 0; d < t->rank && !failed; d++)
        failed = json_array_append_new(shape, json_integer((json_int_t)t->shape[d]));
    if (failed) {
        json_decref(shape);
        return -1;
    }
    const uint64_t begin = t->offset * sizeof(float);
    const uint64_t end = begin + t->size * sizeof(float);
    return json_object_set_new(header, t->name,
                               json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape,
                                         "data_offsets", (json_int_t)begin, (json_int_t)end));
}

static int add_metadata(json_t *header, const char *const *metadata)
{
    if (metadata == NULL || metadata[0] == NULL)
        return 0;
    json_t *object = json_object();
    int failed = object == NULL;
    for (; metadata[0] != NULL && !failed; metadata += 2)
        failed = json_object_set_new(object, metadata[0], json_string(metadata[1]));
    if (failed) {
        json_decref(object);
        return -1;
    }
    return json_object_set_new(header, "__metadata__", object);
}

/* Compact JSON; owned by the caller, free().  NULL: out of memory, or a name that is no UTF-8 or
 * there twice. */
static char *make_header(const osafl_model_info *info, const char *const *metadata)
{
    json_t *header = json_object();
    int failed = header == NULL || add_metadata(header, metadata);
    for (uint32_t t = 0; t < info->n_tensors && !failed; t++) {
        const osafl_tensor *tensor = tensor_of(info, t);
        failed = json_object_get(header, tensor->name) != NULL || add_tensor(header, tensor);
    }
    char *text = failed ? NULL : json_print(header, JSON_COMPACT);
    json_decref(header);
    return text;
}

static void export_tensors(const struct instance *model, const osafl_model_info *info,
                           const float *w, float *out)
{
    const osafl_model_vt *vt = (const osafl_model_vt *)(const void *)model->plugin->vtable;
    const struct instance *before = operation_begin(model);
    for (uint32_t t = 0; t < info->n_tensors; t++) {
        const osafl_tensor *tensor = tensor_of(info, t);
        if (vt->export_tensor != NULL)
            vt->export_tensor(model->self, t, w, out + tensor->offset);
        else
            memcpy(out + tensor->offset, w + tensor->offset, tensor->size * sizeof *out);
    }
    operation_end(before);
}

osafl_status safetensors_write(const struct run_folder *folder, const char *name,
                               const struct instance *model, const osafl_model_info *info,
                               const float *w, const char *const *metadata, struct error *error)
{
    char *header = make_header(info, metadata);
    if (header == NULL)
        return error_set(error, OSAFL_E_BUG,
                         "model \"%s\": its tensors' names must be UTF-8 and differ, or memory is "
                         "short; %s is not written",
                         model->plugin->name, name);
    const size_t used = strlen(header);
    const uint64_t padded = (used + 7) / 8 * 8; /* so that the tensors are 8-byte aligned */
    const size_t size = sizeof padded + padded + info->n_parameters * sizeof *w;
    unsigned char *file = malloc(size);
    osafl_status status;
    if (file == NULL) {
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for %s (%zu bytes)", name, size);
    } else {
        memcpy(file, &padded, sizeof padded);
        memcpy(file + sizeof padded, header, used);
        memset(file + sizeof padded + used, ' ', padded - used);
        export_tensors(model, info, w, (float *)(void *)(file + sizeof padded + padded));
        status = run_folder_replace(folder, name, file, size, error);
    }
    free(file);
    free(header);
    return status;
}
