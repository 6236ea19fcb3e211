/* other_name.c - calls itself something else than its file. */
#define BASE_NAME "another_name"
#include "deletion_base.h"
