/* unknown_feature.c - declares a law that its kind does not know.  Caught by describe.features. */
#include "template_with.h"

static const char *const lofty[] = {"keeps_arrivals", "optimal", NULL};

CHANGE(p.features = lofty;)
