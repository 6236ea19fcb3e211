/* cell_runner.h - runs the cells of grids, each in a process of its own, several side by side.
 *
 * A cell that fails or crashes does not stop the others.  A request to stop (stop.h) reaches every
 * cell, each saves what it has, and none is begun any more.  Before any thread exists: the
 * processes are forks. */
#ifndef OSAFL_CORE_CELL_RUNNER_H
#define OSAFL_CORE_CELL_RUNNER_H

#include <stddef.h>

#include "command/run/run.h"

enum cell_fate {
    FATE_NOT_BEGUN,
    FATE_DONE,        /* complete, or paused at until_round */
    FATE_LEFT_ALONE,  /* it had been complete */
    FATE_INTERRUPTED, /* saved, can be resumed */
    FATE_FAILED,      /* outcome.error says why */
};

struct cell_run {
    struct experiment *e;
    uint32_t until_round; /* run_options.until_round */
    enum cell_fate fate;  /* from here on: filled by cells_run() */
    struct run_outcome outcome;
    double seconds;
};

/* Runs one cell, in a process of its own.  with_progress: no other cell runs beside it. */
typedef void cell_body(struct experiment *e, struct loader *l, const struct run_options *o,
                       bool with_progress, struct run_outcome *out);

struct cell_progress {
    size_t ended; /* cells so far */
    size_t cells;
    bool quiet;
};

/* Callbacks about the cells; each is required. */
struct cell_watcher {
    void (*line)(const struct cell_run *cell, const char *line); /* of its stderr */
    void (*stop)(size_t running);                                /* a request to stop has come */
    void (*end)(const struct cell_run *cell, const struct cell_progress *p);
};

struct cell_runner_options {
    struct run_options run; /* threads: of all cells together */
    unsigned jobs;          /* cells side by side, >= 1 */
    cell_body *body;
    const struct cell_watcher *watcher;
};

/* Runs all cells in their order.  Where fewer cells are left than could run side by side, they get
 * the others' threads.  Returns an exit status (exit_status.h): EXIT_INTERRUPTED when it was asked
 * to stop, else EXIT_RUN_OK when no cell failed, EXIT_USAGE when all failures were of that kind,
 * else EXIT_RUN_FAILED. */
int cells_run(struct cell_run *run, size_t n, struct loader *l,
              const struct cell_runner_options *o);

#endif
