/* old_keys.h - settings of earlier versions and of other programs, and what they are called now. */
#ifndef OSAFL_CORE_OLD_KEYS_H
#define OSAFL_CORE_OLD_KEYS_H

#include <stddef.h>

struct diagnostics;
struct node;

/* Reports every old setting below the root with the line that stands for it now, and takes it out
 * of the tree. */
void old_keys_refuse(struct node *root, struct diagnostics *d);

/* What a setting that an earlier version recorded is called now, and its value as a text of the
 * manifest; either is left as it is where nothing has changed. */
void old_keys_translate(const char **key, const char **value);

/* What to do about a name in the group `path` ("": none) that other programs use; NULL: nothing is
 * known.  Plugins name their own settings. */
const char *old_keys_remedy(const char *path, const char *name);

#endif
