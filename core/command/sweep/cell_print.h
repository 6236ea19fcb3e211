/* cell_print.h - what the user sees of the cells of a grid. */
#ifndef OSAFL_CORE_CELL_PRINT_H
#define OSAFL_CORE_CELL_PRINT_H

#include "cell_runner.h"

/* Prints each cell's lines, warnings and end on stderr; with_folders: and the folders of cells that
 * are done on stdout. */
const struct cell_watcher *cells_printer(bool with_folders);

/* Lists on stderr what failed and why, and how many cells are done when not all are. */
void cells_print_end(const struct cell_run *run, size_t n, int status, const struct run_options *o);

/* "quickstart, osafl, levels 2, seed 1": a cell for people. */
void cell_label(const struct experiment *e, char *out, size_t size);

#endif
