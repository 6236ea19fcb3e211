/* endless_in_vain.c - is endless and cannot find samples by label.  Caught by dataset.description.
 */
#include "template_with.h"

CHANGE(vt.sample_of = NULL;)
