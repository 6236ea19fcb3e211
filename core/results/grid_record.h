/* grid_record.h - which runs an experiment file asks for, kept next to their results, so that
 * reports of a part of them can say what is missing.
 *
 * BASE/NAME/grid-FILE.json, FILE being the experiment file's name without ".cfg":
 *
 *     { "grid": 1, "experiment": "NAME", "cells": { "CASE,KEY=VALUE": [1, 2, 3] } }
 *
 * with the seeds of each case and varied value, in the file's order. */
#ifndef OSAFL_CORE_GRID_RECORD_H
#define OSAFL_CORE_GRID_RECORD_H

#include "base/error.h"
#include "experiment/grid.h"

#define GRID_RECORD_PREFIX "grid-"
#define GRID_RECORD_SUFFIX ".json"
#define GRID_RECORD_FORMAT 1

/* Writes the record of each experiment of the grid, all of whose cells g holds, where it is not
 * there already.  A grid of one run gets none, but where the file had one before, which it no
 * longer is.  Several processes may write records of one file at the same time.  OSAFL_E_IO,
 * OSAFL_E_NOMEM. */
osafl_status grid_record_write(const struct grid *g, const char *file, const char *base,
                               struct error *error);

#endif
