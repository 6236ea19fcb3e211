/* checkpoint.h - the saved states of a run in its folder.
 *
 * Two files, "checkpoint.0" and "checkpoint.1", are written in turn and each in one step
 * (run_folder_replace()), so that at any instant one whole checkpoint exists once the first has
 * been written, and a damaged newest one leaves the one before. */
#ifndef OSAFL_CORE_CHECKPOINT_H
#define OSAFL_CORE_CHECKPOINT_H

#include "base/error.h"
#include "base/records.h"
#include "run_folder.h"

enum { CHECKPOINT_SLOTS = 2 };
extern const char *const checkpoint_file[CHECKPOINT_SLOTS];

/* Which file the next checkpoint goes to. */
struct checkpoint_slots {
    unsigned next;
};

/* A checkpoint in memory. */
struct checkpoint {
    struct record_set *set; /* NULL: there is none */
    void *data;
    uint32_t round; /* rounds that had been done */
};

/* Reads the newest whole checkpoint.  identity: experiment.identity; a checkpoint of another run
 * counts as damaged.  None at all is OSAFL_OK with set NULL.  OSAFL_E_STATE: there are some, and
 * all are damaged.  warning[ERROR_BYTES]: what was passed over, or "". */
osafl_status checkpoint_read(const struct run_folder *folder, const char *identity,
                             struct checkpoint_slots *slots, struct checkpoint *out, char *warning,
                             struct error *error);
void checkpoint_free(struct checkpoint *c);

/* One file; set NULL: there is none. */
osafl_status checkpoint_read_slot(const struct run_folder *folder, unsigned slot,
                                  const char *identity, struct checkpoint *out,
                                  struct error *error);

/* The round of each file; CHECKPOINT_NONE where there is none that serves this run. */
#define CHECKPOINT_NONE UINT32_MAX
void checkpoint_rounds(const struct run_folder *folder, const char *identity,
                       uint32_t round[CHECKPOINT_SLOTS]);

/* Adds the section by which checkpoint_read() knows a checkpoint, finishes the block and writes it.
 * The writer can be cleared and used again. */
osafl_status checkpoint_write(const struct run_folder *folder, const char *identity, uint32_t round,
                              struct record_writer *w, struct checkpoint_slots *slots,
                              struct error *error);

/* Removes both files, of a run that is complete. */
osafl_status checkpoint_remove(const struct run_folder *folder, struct error *error);

#endif
