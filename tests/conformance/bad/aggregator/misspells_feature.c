/* misspells_feature.c - declares a law by an unknown name.  Caught by describe.features. */
#include "template_with.h"

static const char *const misspelt[] = {"scalefree", NULL};

CHANGE(p.features = misspelt;)
