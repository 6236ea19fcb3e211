/* other_kind.c - lies in the folder of another kind. */
#define BASE_NAME "other_kind"
#define BASE_KIND OSAFL_KIND_AGGREGATOR
#include "deletion_base.h"
