/* backend.c - chooses the instruction set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/backend.h"

extern const struct backend backend_baseline;
#ifdef NN_X86
extern const struct backend backend_avx2;
extern const struct backend backend_avx512;
#endif

size_t backend_list(const struct backend **list, size_t capacity)
{
    const struct backend *all[3];
    size_t n = 0;
#ifdef NN_X86
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        all[n++] = &backend_avx512;
    if (avx2)
        all[n++] = &backend_avx2;
#endif
    all[n++] = &backend_baseline;
    for (size_t i = 0; i < n && i < capacity; i++)
        list[i] = all[i];
    return n < capacity ? n : capacity;
}

const struct backend *backend_select(char *error, size_t size)
{
    const struct backend *list[3];
    const size_t n = backend_list(list, 3);
    const char *forced = getenv("OSAFL_ISA");
    if (forced == NULL || *forced == '\0')
        return list[0];
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i]->name, forced) == 0)
            return list[i];
    const bool known = strcmp(forced, "avx512") == 0 || strcmp(forced, "avx2") == 0;
    snprintf(error, size, "OSAFL_ISA=%s: %s; this processor runs up to \"%s\"", forced,
             known ? "this processor or program lacks it" : "use avx512, avx2 or baseline",
             list[0]->name);
    return NULL;
}
