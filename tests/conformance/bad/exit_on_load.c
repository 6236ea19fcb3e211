/* exit_on_load.c - ends the program while it is mapped. */
#include <unistd.h>

#define BASE_NAME "exit_on_load"
#include "deletion_base.h"

__attribute__((constructor)) static void leave(void)
{
    _exit(3);
}
