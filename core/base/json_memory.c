/* json_memory.c - jansson never sees an allocation fail. */
#include "json_memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "exit_status.h"

static void *allocate_or_end(size_t size)
{
    static const char text[] = "osafl: out of memory for JSON\n";
    void *memory = malloc(size);
    if (memory != NULL || size == 0)
        return memory;
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written; /* nothing is left to do about it */
    _exit(EXIT_RUN_FAILED);
}

void json_memory_end_on_failure(void)
{
    json_set_alloc_funcs(allocate_or_end, free);
}
