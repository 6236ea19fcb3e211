/* pretends_lossless.c - says that it loses nothing, with 16 bits of 32.  Caught by
 * quantizer.lossless. */
#include "template_with.h"

static const char *const pretended[] = {"lossless", NULL};

CHANGE(p.features = pretended;)
