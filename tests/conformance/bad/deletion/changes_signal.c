/* changes_signal.c - takes over a signal when it is loaded.  Caught by load.process. */
#include "template_with.h"

#include <signal.h>

__attribute__((constructor)) static void take_over(void)
{
    signal(SIGUSR1, SIG_IGN);
}

CHANGE()
