/* relative_run_path.c - looks for libraries in a folder relative to the working folder.  Caught by
 * file.run_path. */
#include "template_with.h"

CHANGE()
