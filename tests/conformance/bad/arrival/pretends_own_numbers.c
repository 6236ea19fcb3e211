/* pretends_own_numbers.c - declares numbers of its own and brings E_u.  Caught by
 * arrival.own_numbers. */
#include "template_with.h"

static const char *const features[] = {"own_numbers", NULL};

CHANGE(p.features = features;)
