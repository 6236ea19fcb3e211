/* label_names.h - what cases and settings are called in tables and figures. */
#ifndef OSAFL_REPORT_LABEL_NAMES_H
#define OSAFL_REPORT_LABEL_NAMES_H

#include "result_grid.h"

/* "OLD=NEW" words, as the user gave them. */
struct label_names {
    const char *const *word; /* [n] */
    size_t n;
};

/* Whether a word has the form OLD=NEW. */
bool label_name_is_good(const char *word);

/* The parts of a label between `separator` that are called OLD, or "OLD = VALUE", with NEW in place
 * of OLD.  free() */
char *label_renamed(const struct label_names *names, const char *label, const char *separator);

/* Renames the rows and the tables of a grid. */
void labels_rename(struct result_grid *g, const struct label_names *names);

#endif
