/* measures.c - what the names of measures say. */
#include "measures.h"

#include <stddef.h>
#include <string.h>

bool measure_higher_is_better(const char *measure)
{
    static const char *const lower[] = {"loss", "error"};
    const size_t length = strlen(measure);
    for (size_t i = 0; i < 2; i++) {
        const size_t tail = strlen(lower[i]);
        if (length >= tail && strcmp(measure + length - tail, lower[i]) == 0)
            return false;
    }
    return true;
}
