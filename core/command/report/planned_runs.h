/* planned_runs.h - the runs that experiment files ask for (grid_record.h), read back. */
#ifndef OSAFL_REPORT_PLANNED_RUNS_H
#define OSAFL_REPORT_PLANNED_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "osafl/base.h"

/* One of them, whether it has begun or not. */
struct planned_run {
    char *experiment;
    char *case_name; /* as those of result_cell.h */
    char *varied;
    int64_t seed;
};

struct planned_runs {
    struct planned_run *run; /* [n], each once */
    size_t n;
};

/* Whether a file of this name is the record of a grid. */
bool is_grid_record(const char *name);

/* Adds the runs of a record.  OSAFL_E_IO or OSAFL_E_DATA with a message that names the file. */
osafl_status planned_runs_read(const char *path, struct planned_runs *into, struct error *error);

/* Whether a condition on this key picks runs by what they are called: case, experiment, name, seed.
 */
bool planned_run_names(const char *key);

enum planned_answer { PLANNED_FAILS, PLANNED_HOLDS, PLANNED_UNKNOWN };

/* Whether KEY=VALUE holds of the run; KEY: one of those, or the path of a setting, of which a
 * record knows those that the file varies (with characters that no folder's name should hold as
 * "_"). */
enum planned_answer planned_run_check(const struct planned_run *r, const char *key,
                                      const char *value);

/* Keeps run i where keep[i]. */
void planned_runs_keep(struct planned_runs *of, const bool *keep);

void planned_runs_free(struct planned_runs *p);

#endif
