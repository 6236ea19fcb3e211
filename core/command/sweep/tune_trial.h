/* tune_trial.h - one setting that `osafl tune` tries, and how the results are printed. */
#ifndef OSAFL_CORE_TUNE_TRIAL_H
#define OSAFL_CORE_TUNE_TRIAL_H

#include <stdio.h>

#include "cell_runner.h"
#include "experiment/grid.h"

/* The cells of one problem (a case with values of what the file varies) and one setting, which
 * differ in their seed. */
struct trial {
    size_t problem; /* grid_place */
    size_t setting;
    struct experiment *const *cell; /* [cells] */
    size_t cells;
    bool goes_on;
    uint32_t rounds; /* up to which value is; 0: none */
    double value;    /* best measure so far, mean over the cells; NAN: none */
    char measure[64];
    struct error failure; /* "": it did not fail */
};

/* How many of n trials of one problem are better than number i: those that came farther, then those
 * with better values, then those that stand before. */
size_t trial_rank(const struct trial *t, size_t n, size_t i);

/* "fashion-mnist, OSA-FL, cnn". */
void trial_print_problem(const struct grid *g, const struct trial *t, FILE *to);

/* The table of n trials of one problem, best first, and the block to paste.  False: all failed. */
bool trial_print_results(const struct grid *g, const struct trial *t, size_t n,
                         const char *const *key, size_t n_keys, FILE *to);

#endif
