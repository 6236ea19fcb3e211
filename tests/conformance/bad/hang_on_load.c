/* hang_on_load.c - never comes back from being mapped, and closes every file. */
#include <unistd.h>

#define BASE_NAME "hang_on_load"
#include "deletion_base.h"

__attribute__((constructor)) static void hang(void)
{
    for (int fd = 0; fd < 256; fd++)
        close(fd);
    for (;;)
        pause();
}
