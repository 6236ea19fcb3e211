/* run_session.h - the plugins of a run, created, and what they stand on: program, processor, BLAS.
 */
#ifndef OSAFL_CORE_RUN_SESSION_H
#define OSAFL_CORE_RUN_SESSION_H

#include "plugin/cpu.h"
#include "plugin/plugin_file.h"
#include "results/manifest.h"
#include "round/session.h"

struct run_session {
    struct session session;
    struct blas_report blas;
    struct surroundings around; /* its inputs are not read yet */
    char program_hash[PLUGIN_HASH_BYTES];
    char mathematics[64];
    bool is_open;
};

/* All plugins are loaded here, so before the first thread exists: threads inherit the
 * floating-point mode that loading may disturb.  context: without a pool.  s: zeroed.  What is
 * wrong is in d. Close it after a failure too. */
osafl_status run_session_open(struct run_session *s, struct experiment *e, struct loader *l,
                              const struct host_context *context, struct diagnostics *d);
void run_session_close(struct run_session *s);

#endif
