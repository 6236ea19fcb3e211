/* cell_finder.h - finds the result folders below the folders that a user names. */
#ifndef OSAFL_REPORT_CELL_FINDER_H
#define OSAFL_REPORT_CELL_FINDER_H

#include <sys/types.h>

#include "base/error.h"
#include "planned_runs.h"
#include "result_cell.h"

/* Which folder it is, by whatever name it is reached. */
struct folder_id {
    dev_t device;
    ino_t number;
};

/* A result folder, or the record of a grid, that could not be read, and why. */
struct unreadable_cell {
    char *folder;
    char *message;
    bool damaged; /* else it could not be opened */
};

struct found_cells {
    struct result_cell **cell; /* [cells], in the order of the walk */
    size_t cells;
    struct planned_runs planned;        /* by the records of grids that lie between the folders */
    struct unreadable_cell *unreadable; /* [n_unreadable] */
    size_t n_unreadable;
    struct folder_id *seen; /* [n_seen] */
    size_t n_seen;
};

/* Collects every folder with a manifest.json: `folder` itself, or what lies below it; nothing
 * inside a result folder, and nothing behind a symbolic link.  Records of grids are read on the
 * way.  A folder found before is not taken twice; of one that cannot be searched, a warning is
 * printed.  `folder` may be such a record alone.
 * OSAFL_E_IO when `folder` cannot be opened, OSAFL_E_DATA when it holds no result folder. */
osafl_status find_cells(const char *folder, struct found_cells *into, struct error *error);

/* The same for n folders, in their order, up to the first failure. */
osafl_status find_all_cells(const char *const *folder, size_t n, struct found_cells *into,
                            struct error *error);

/* Keeps the cells for which all of `only` hold ("KEY=VALUE"; KEY: case, experiment, seed or the
 * path of a setting), and the planned runs for which they would.  OSAFL_E_CONFIG for a malformed
 * word, a key that no cell has, or a value that no cell has. */
osafl_status keep_only(struct found_cells *of, const char *const *only, size_t n,
                       struct error *error);

/* The path of a setting that is named whole or, as tables print it, by its last part; borrowed from
 * a cell.  OSAFL_E_CONFIG, naming the option, when no cell has it or two settings have the same
 * ending. */
osafl_status find_setting(const struct found_cells *f, const char *option, const char *name,
                          const char **key, struct error *error);

/* The N of --rounds N; false: it is no whole number from 1 on. */
bool parse_rounds(const char *text, uint32_t *out);

/* result_cell_take_first() of all; n 0: of none. */
void take_first_rounds(struct found_cells *of, uint32_t n);

void found_cells_free(struct found_cells *f);

#endif
