/* resolve_command.c - "osafl resolve": every setting of an experiment with its origin. */
#include "resolve_command.h"

#include <stdio.h>

#include "base/diagnostics.h"
#include "base/exit_status.h"
#include "plugin/guard.h"
#include "run.h"
#include "run_session.h"

int resolve_command(struct experiment *e, struct loader *l)
{
    const struct host_context context = {.seed = (uint64_t)e->general.seed,
                                         .log_level = OSAFL_LOG_WARN};
    struct run_session s = {0};
    struct diagnostics *d = diagnostics_create();
    if (d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    guard_watch(e->general.call_limit_s);
    osafl_status status = OSAFL_OK;
    /* The aggregator can be asked for its optimizer only where the model, and for that the data,
     * are known. */
    if (e->chosen[OSAFL_KIND_OPTIMIZER].loaded == NULL)
        status = run_session_open(&s, e, l, &context, d);
    diagnostics_print(d, stderr);
    if (status == OSAFL_OK)
        status = experiment_write(e, stdout);
    run_session_close(&s);
    diagnostics_destroy(d);
    guard_unwatch();
    return run_exit_status(status);
}
