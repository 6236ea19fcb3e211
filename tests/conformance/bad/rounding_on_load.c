/* rounding_on_load.c - switches rounding when it is mapped, as a link with -ffast-math switches
 * flush-to-zero on.  Such a library is used, and what it did is undone. */
#include <fenv.h>

#define BASE_NAME "rounding_on_load"
#include "deletion_base.h"

__attribute__((constructor)) static void change(void)
{
    fesetround(FE_UPWARD);
}
