/* keeps_rules.c - breaks nothing, so that the others are known to fail for their own fault. */
#define BASE_NAME "keeps_rules"
#include "deletion_base.h"
