/* executable_stack.c - is linked with -z execstack.  Caught by file.stack. */
#include "template_with.h"

CHANGE()
