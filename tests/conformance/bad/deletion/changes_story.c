/* changes_story.c - describes itself otherwise each time.  Caught by describe.constant. */
#include "template_with.h"

static int times;

CHANGE(p.summary = ++times % 2 == 0 ? "Deletes the oldest samples" : "Deletes the youngest";)
