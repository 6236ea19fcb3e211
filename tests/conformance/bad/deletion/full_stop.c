/* full_stop.c - ends its summary with a full stop.  Caught by describe.texts. */
#include "template_with.h"

CHANGE(p.summary = "Deletes the oldest samples.";)
