/* manifest.h - what a run is (manifest.json, the same bytes for the same run) and where and when
 * it ran (environment.json). */
#ifndef OSAFL_CORE_MANIFEST_H
#define OSAFL_CORE_MANIFEST_H

#include "base/error.h"
#include "experiment/experiment.h"
#include "plugin/ranks.h"
#include "results.h"
#include "run_folder.h"

/* What a run reads besides its settings: samples and files, known by their hashes. */
struct input {
    char *name; /* "samples of dataset/csv", or the setting of a file: "channel.trace.path" */
    char hash[17];
};

struct inputs {
    struct input *item;
    size_t n;
};

/* What can change a result byte besides settings and plugins; strings as plugin_file.h and cpu.h
 * give them. */
struct surroundings {
    const char *program_hash; /* of the program's file */
    const char *cpu_features; /* "avx512f avx2 fma ...": instruction sets that are used */
    const char *blas_kernel;  /* "SkylakeX"; NULL: no BLAS was loaded */
    const char *mathematics;  /* "glibc 2.36, 0123456789abcdef" */
    struct inputs inputs;     /* samples and files */
};

/* Writes manifest.json: identity, name, case, seed, settings with their origins, program and
 * plugins with version and file hash, machine, hashes of the inputs.  Then writes resolved.cfg
 * (experiment_write()). */
osafl_status manifest_write(const struct run_folder *folder, const struct experiment *e,
                            const struct surroundings *around, struct error *error);

enum manifest_found {
    MANIFEST_NONE,       /* the folder holds no manifest */
    MANIFEST_DAMAGED,    /* or one of another format; error says so */
    MANIFEST_SAME,       /* the same run on the same program, plugins, machine type and data */
    MANIFEST_CHANGED,    /* the same settings, but program, plugins or machine type differ: error
                          * names both sides */
    MANIFEST_OTHER_DATA, /* the same settings, but the data differ, and maybe what is above */
    MANIFEST_OTHER,      /* another run's folder; error says how they differ */
};

/* Whether a folder holds a manifest.json: it is that of a run. */
bool manifest_is_in(const char *folder);

/* Compares FOLDER/manifest.json with what manifest_write() would write.  error is filled
 * for what differs too. */
osafl_status manifest_compare(const struct run_folder *folder, const struct experiment *e,
                              const struct surroundings *around, enum manifest_found *found,
                              struct error *error);

/* The same for the manifest of a kept run whose settings e repeats, maybe under other names or with
 * data in another place, so that its identity says nothing: never MANIFEST_OTHER or
 * MANIFEST_DAMAGED; a damaged one is a failure. */
osafl_status manifest_compare_kept(const char *folder, const struct experiment *e,
                                   const struct surroundings *around, enum manifest_found *found,
                                   struct error *error);

/* Whether the folder holds a run of fewer rounds, and everything else of its manifest is as that of
 * e: settings, program, plugins, machine, data.  identity, rounds: of it. */
bool manifest_is_shorter(const char *folder, const struct experiment *e,
                         const struct surroundings *around, char identity[33], uint32_t *rounds);

/* Wall-clock facts, no part of the results. */
struct run_environment {
    unsigned threads;
    const char *experiment_file;
    const char *started; /* ISO 8601, UTC */
    const char *ended;   /* NULL while the run goes on */
    const char *failure; /* why it ended too early; NULL: it did not, or was stopped by the user */
    double seconds;      /* of this process */
    double energy_j;     /* of the processors meanwhile (energy_meter.h); NAN: it cannot be read */
    uint32_t resumed_at; /* round; 0: started afresh */
    const struct ranks *ranks;        /* NULL: there were none */
    const struct table_state *tables; /* of a run that came to its end; NULL: of any other */
};

osafl_status environment_write(const struct run_folder *folder, const struct experiment *e,
                               const struct run_environment *env, struct error *error);

/* What environment.json says of the end of a run. */
struct run_end {
    bool ended;      /* it came to its end */
    bool has_tables; /* tables is filled: older versions did not record them */
    struct table_state tables[RESULT_TABLES];
};
/* A file that is not there, or damaged, says nothing.  OSAFL_E_NOMEM alone is a failure. */
osafl_status environment_read_end(const struct run_folder *folder, struct run_end *out,
                                  struct error *error);

#endif
