/* run_folder.h - the folder that holds the results of one run, owned by one process at a time. */
#ifndef OSAFL_CORE_RUN_FOLDER_H
#define OSAFL_CORE_RUN_FOLDER_H

#include "base/error.h"
#include "experiment/experiment.h"

struct run_folder {
    char *path;  /* owned */
    int lock_fd; /* holds flock(2) on PATH/.lock, which says who: "HOST, process PID" */
};

/* Every file of a run but its manifest, in the order in which run_folder_clear() removes them; ends
 * with NULL. */
extern const char *const run_folder_files[];

/* BASE/NAME/CASE/seed-N-HASH8, HASH8 being the first half of the identity's first 64 bits.  Owned
 * by the caller, free(); NULL: out of memory. */
char *run_folder_path(const char *base, const struct experiment *e);

/* BASE/NAME, in which an experiment's runs lie; as run_folder_path(). */
char *experiment_folder_path(const char *base, const char *name);

/* A name from an experiment file as one component of a path, whatever it holds: letters, digits,
 * "-", "_" and "." stay.  free(); NULL: out of memory. */
char *path_component(const char *name);

/* Creates path with its parents where missing and locks it.  OSAFL_E_IO when it cannot be created
 * or written, or when another process has it. */
osafl_status run_folder_claim(const char *path, struct run_folder *out, struct error *error);
/* Writes into the lock who has it.  Once something is to be done: a folder with nothing to do keeps
 * every file as it is. */
void run_folder_sign(const struct run_folder *f);
void run_folder_release(struct run_folder *f); /* a zeroed struct with lock_fd -1 is allowed */

/* Removes one file, which need not be there; all files of a run but its manifest, lastingly.  After
 * a crash amidst, what is left of a run still says how far it is whole. */
osafl_status run_folder_remove(const struct run_folder *f, const char *name, struct error *error);
osafl_status run_folder_clear(const struct run_folder *f, struct error *error);

/* Appends a line to PATH/NAME, on the disk. */
osafl_status run_folder_append(const struct run_folder *f, const char *name, const char *line,
                               struct error *error);

/* Replaces PATH/NAME by size bytes of data so that, at every instant and after a crash, a reader
 * sees either the whole old file or the whole new one (temporary file, fsync, rename, fsync of the
 * folder). */
osafl_status run_folder_replace(const struct run_folder *f, const char *name, const void *data,
                                size_t size, struct error *error);

/* The same in a folder that several processes, of several machines too, may write at a time: the
 * last one's data stay. */
osafl_status shared_file_replace(const char *folder, const char *name, const void *data,
                                 size_t size, struct error *error);

#endif
