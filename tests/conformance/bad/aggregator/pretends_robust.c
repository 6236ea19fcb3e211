/* pretends_robust.c - says that it is robust, and is the mean.  Caught by aggregator.robust. */
#include "template_with.h"

static const char *const pretended[] = {"robust", NULL};

CHANGE(p.features = pretended;)
