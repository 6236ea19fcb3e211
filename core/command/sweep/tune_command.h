/* tune_command.h - "osafl tune": the settings with which each case of an experiment learns best.
 *
 * All settings are tried in the same world, on the validation split, with the experiment's seeds.
 * Those that are hopeless stop early, by successive halving: after a quarter of the rounds, and
 * again after half of them, the better ones go on and the others end.  A setting's value is the
 * best validation measure up to there, mean over seeds.  Everything is read from result folders, so
 * the same command goes on after an interruption, and gives the same answer. */
#ifndef OSAFL_CORE_TUNE_COMMAND_H
#define OSAFL_CORE_TUNE_COMMAND_H

#include "cell_runner.h"
#include "experiment/grid.h"

/* Where runs go when nobody says otherwise: not among the results, from which reports are made. */
#define TUNE_BASE "tuning"

struct tune_options {
    struct cell_runner_options runner;
    const char *const *key; /* that are tuned, [n_keys] */
    size_t n_keys;
    double keep; /* share of the settings that go on at each cut, (0, 1]; 1: no early end */
};

/* g: a grid that varies the keys beside what its file varies (grid_request.also), on the validation
 * split.  Prints for each case a table and a block to paste into an experiment file, on stdout.
 * Returns an exit status (exit_status.h). */
int tune_command(const struct grid *g, struct loader *l, const struct tune_options *o);

#endif
