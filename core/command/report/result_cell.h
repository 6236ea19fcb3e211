/* result_cell.h - one run's result folder, read back: what it was (manifest.json), how far it came
 * (rounds.csv), where it ran (environment.json). */
#ifndef OSAFL_REPORT_RESULT_CELL_H
#define OSAFL_REPORT_RESULT_CELL_H

#include <jansson.h>

#include "base/error.h"
#include "csv_table.h"
#include "results/measures.h"

enum cell_state {
    CELL_COMPLETE,   /* has all its rounds */
    CELL_UNFINISHED, /* goes on, or was interrupted */
    CELL_FAILED,     /* environment.json names a failure */
};

/* One effective setting, as text: "quantizer.qsgd.levels", "2". */
struct cell_setting {
    char *key;
    char *value;
    char *origin;  /* "quickstart.cfg:5", "default", "--set" */
    char *earlier; /* the value of runs that are older than the setting; NULL: there are none */
};

struct result_cell {
    char *folder; /* as it was found, for messages */
    char *experiment;
    char *case_name; /* without the varied settings: "osafl" of "osafl,quantizer.qsgd.levels=2" */
    char *varied;    /* those settings: "quantizer.qsgd.levels=2"; "" */
    int64_t seed;
    int64_t case_index; /* place among the experiment's cases; -1: not recorded */
    char *identity;
    struct cell_setting *setting; /* [settings], by key */
    size_t settings;
    json_t *manifest;
    json_t *environment; /* NULL: none yet */

    enum cell_state state;
    char *failure;            /* NULL: none */
    uint32_t planned_rounds;  /* the setting `rounds`, unless first_rounds says otherwise */
    uint32_t first_rounds;    /* so many count, of every run: result_cell_take_first(); 0: all */
    size_t recorded_rounds;   /* rows of rounds.csv */
    struct csv_table *rounds; /* every column of rounds.csv */
    char *split;              /* "test" or "validation" */
    size_t n_measures;        /* their columns begin at CELL_FIRST_MEASURE */
};

/* Column of the first measure in rounds.csv: round and simulated_s stand before it. */
#define CELL_FIRST_MEASURE 2

/* Reads a folder that holds a manifest.json.  OSAFL_E_IO or OSAFL_E_DATA with a message (error.h)
 * that names file and line. */
osafl_status result_cell_read(const char *folder, struct result_cell **out, struct error *error);
void result_cell_free(struct result_cell *c); /* NULL is allowed */

/* Takes the first n rounds (n > 0) for the whole run; one that has fewer is unfinished. */
void result_cell_take_first(struct result_cell *c, uint32_t n);

/* NULL when the cell has no such setting. */
const char *result_cell_setting(const struct result_cell *c, const char *key);
/* The setting as a number; fallback when there is none or it is not a number. */
double result_cell_number(const struct result_cell *c, const char *key, double fallback);

/* Gives a cell that is older than a setting, which `of` is in another cell, the value that it had
 * in effect.  A cell with the setting, or of another plugin, stays as it is. */
void result_cell_assume(struct result_cell *c, const struct cell_setting *of);

/* What a condition KEY=VALUE compares: of the keys case, experiment and seed (written to the room
 * that is given), or of a setting.  NULL: the cell has no such setting. */
#define CELL_SEED_BYTES 32
const char *result_cell_value(const struct result_cell *c, const char *key,
                              char seed[CELL_SEED_BYTES]);

/* Whether the experiment file varies the setting ("vary"). */
bool result_cell_varies(const struct result_cell *c, const char *key);

/* Name of measure m without its split: "accuracy". */
const char *result_cell_measure(const struct result_cell *c, size_t m);
/* Column of a measure in rounds.csv; CSV_NO_COLUMN when there is none. */
size_t result_cell_measure_column(const struct result_cell *c, const char *measure);

/* The same, also of an online measure (results/measures.h). */
size_t result_cell_compared_column(const struct result_cell *c, const char *measure);

/* Whether a measure is a share between 0 and 1: accuracies and F1. */
bool measure_is_share(const char *measure);

/* Whether the cell's folder holds a clients.csv with rows: results can be kept without. */
bool result_cell_has_clients(const struct result_cell *c);
/* clients.csv of the cell, the wanted columns; like csv_table_read().  The columns "round" and
 * "client" are checked to run through every round's clients in order, or, as results.clients says,
 * to ascend. */
osafl_status result_cell_clients(const struct result_cell *c, const char *const *wanted,
                                 struct csv_table **out, struct error *error);
/* How many clients, over all rounds, have no row in t because they were not asked. */
size_t result_cell_absent(const struct result_cell *c, const struct csv_table *t);
/* The setting clients.count; 0: the manifest has none. */
uint32_t result_cell_count(const struct result_cell *c);

#endif
