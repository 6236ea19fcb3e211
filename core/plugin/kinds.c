/* kinds.c - the kinds of plugins and their names. */
#include "kinds.h"

#include <string.h>

static const char *const kind_names[LOADER_KINDS + 1] = {
    [OSAFL_KIND_DATASET] = "dataset",     [OSAFL_KIND_MODEL] = "model",
    [OSAFL_KIND_CHANNEL] = "channel",     [OSAFL_KIND_RESOURCE] = "resource",
    [OSAFL_KIND_OPTIMIZER] = "optimizer", [OSAFL_KIND_QUANTIZER] = "quantizer",
    [OSAFL_KIND_DELETION] = "deletion",   [OSAFL_KIND_AGGREGATOR] = "aggregator",
};

const char *kind_name(uint32_t kind)
{
    return kind <= LOADER_KINDS ? kind_names[kind] : NULL;
}

uint32_t kind_from_name(const char *name)
{
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        if (strcmp(name, kind_names[kind]) == 0)
            return kind;
    }
    return 0;
}
