/* safetensors.h - writes a model as a safetensors file: an 8-byte little-endian header length, a
 * JSON header, the tensors' bytes (format of https://github.com/huggingface/safetensors). */
#ifndef OSAFL_CORE_SAFETENSORS_H
#define OSAFL_CORE_SAFETENSORS_H

#include "base/error.h"
#include "osafl/model.h"
#include "plugin/plugin_host.h"
#include "run_folder.h"

#define MODEL_FILE "model.safetensors"
#define BEST_MODEL_FILE "best.safetensors"

/* Key of the metadata under which a run's model has the text of data.json. */
#define METADATA_DATA "data"

/* Writes FOLDER/FILE atomically: every tensor of info as F32 under its name, in the
 * order and shape of the reference implementation (the model's export_tensor).  w: the N
 * parameters.  metadata: NULL-terminated pairs key, value for "__metadata__"; may be NULL. */
osafl_status safetensors_write(const struct run_folder *folder, const char *file,
                               const struct instance *model, const osafl_model_info *info,
                               const float *w, const char *const *metadata, struct error *error);

#endif
