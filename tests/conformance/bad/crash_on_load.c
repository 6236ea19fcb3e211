/* crash_on_load.c - crashes while it is mapped. */
#include <signal.h>

#define BASE_NAME "crash_on_load"
#include "deletion_base.h"

__attribute__((constructor)) static void crash(void)
{
    signal(SIGSEGV, SIG_DFL); /* also where a sanitizer handles it */
    raise(SIGSEGV);
}
