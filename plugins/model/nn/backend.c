/* backend.c - the arithmetic for the instruction set that the core has chosen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/backend.h"

extern const struct backend backend_baseline;
#ifdef NN_X86
extern const struct backend backend_avx2;
extern const struct backend backend_avx512;
#endif

/* Best first. */
static const struct backend *const all[] = {
#ifdef NN_X86
    &backend_avx512,
    &backend_avx2,
#endif
    &backend_baseline,
};

enum { N_BACKENDS = sizeof all / sizeof all[0] };

const struct backend *backend_named(const char *name)
{
    for (size_t i = 0; i < N_BACKENDS; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

const struct backend *backend_chosen(char *error, size_t size)
{
    const char *name = getenv("OSAFL_ISA");
    if (name == NULL || *name == '\0')
        return &backend_baseline;
    const struct backend *found = backend_named(name);
    if (found == NULL)
        snprintf(error, size, "OSAFL_ISA=%s: this plugin has no such kernels; its best are \"%s\"",
                 name, all[0]->name);
    return found;
}
