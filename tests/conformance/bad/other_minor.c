/* other_minor.c - was built for a later minor ABI. */
#define BASE_NAME "other_minor"
#define BASE_MINOR (OSAFL_ABI_MINOR + 1)
#include "deletion_base.h"
