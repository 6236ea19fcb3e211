/* weights.h - reads the tensors of a safetensors file (safetensors.h) into a model. */
#ifndef OSAFL_CORE_WEIGHTS_H
#define OSAFL_CORE_WEIGHTS_H

#include <jansson.h>

#include "osafl/model.h"
#include "plugin/plugin_host.h"

/* Fills w with the tensors of info, which the file must hold by name and shape, in the order of the
 * reference implementation, and no others; F64, F16 and BF16 become float.  metadata: NULL, or
 * gets a new reference to the object "__metadata__", NULL where there is none.  OSAFL_E_DATA: they
 * do not fit, and the message lists how; OSAFL_E_IO: the file cannot be read. */
osafl_status weights_read(const char *path, const struct instance *model,
                          const osafl_model_info *info, float *w, json_t **metadata,
                          struct error *error);

#endif
