/* longer_run.h - a run that goes on where a shorter one of the same settings ended.
 *
 * A run of more rounds is another run: plugins are told how many there are.  Most make nothing of
 * it, and then the shorter run is the beginning of the longer one.  Whether that is so is tried:
 * the longer run begins at the shorter one's last checkpoint before its end, computes its last
 * rounds again, and compares the tables byte by byte before anything is saved. */
#ifndef OSAFL_CORE_LONGER_RUN_H
#define OSAFL_CORE_LONGER_RUN_H

#include "results/checkpoint.h"
#include "results/manifest.h"

struct longer_run {
    char *folder; /* of the shorter run; NULL: there is none that serves */
    char identity[33];
    uint32_t rounds; /* that it has */
    unsigned slot;   /* of the checkpoint with which the longer one begins */
    uint32_t from;   /* its round */
};

/* The longest run beside `of` that differs in fewer rounds alone, came to its end and has such a
 * checkpoint.  OSAFL_E_NOMEM. */
osafl_status longer_run_find(const struct run_folder *of, const struct experiment *e,
                             const struct surroundings *around, struct longer_run *out,
                             struct error *error);
void longer_run_free(struct longer_run *l); /* a zeroed struct is allowed */

/* Copies the tables of the shorter run into the folder. */
osafl_status longer_run_copy(const struct longer_run *l, const struct run_folder *to,
                             struct error *error);

/* When as many rounds are done as the shorter run has: OSAFL_E_CONFIG with a remedy where the
 * tables differ from its. */
osafl_status longer_run_compare(const struct longer_run *l, const struct run_folder *of,
                                struct error *error);

#endif
