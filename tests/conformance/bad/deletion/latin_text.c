/* latin_text.c - has a summary in Latin-1.  Caught by describe.texts. */
#include "template_with.h"

CHANGE(p.summary = "L\xf6scht die \xe4ltesten";)
