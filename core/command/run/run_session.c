/* run_session.c - the plugins of a run, created, and what they stand on. */
#include "run_session.h"

#include "base/diagnostics.h"
#include "round/inputs.h"

osafl_status run_session_open(struct run_session *s, struct experiment *e, struct loader *l,
                              const struct host_context *context, struct diagnostics *d)
{
    const osafl_status status = session_create(&s->session, e, l, context, d);
    /* A file that cannot be read, as one that is malformed, is one that the experiment names. */
    OSAFL_TRY(status == OSAFL_E_IO ? OSAFL_E_DATA : status);
    s->is_open = true;
    cpu_read_blas(&s->blas);
    if (s->blas.loaded && !s->blas.correct) {
        diagnostics_error(d, NULL, 0,
                          "the BLAS library (%s, kernels %s) gives a wrong product; set "
                          "OPENBLAS_CORETYPE to another kernel set or install another release",
                          s->blas.version, s->blas.core);
        return OSAFL_E_UNSUPPORTED;
    }
    struct error error;
    const osafl_status hashed = program_file_hash(s->program_hash, &error);
    if (hashed == OSAFL_E_NOMEM)
        diagnostics_no_memory(d);
    if (hashed != OSAFL_OK) {
        diagnostics_error(d, NULL, 0,
                          "the program's own file, /proc/self/exe, %s; mount /proc, so that a run "
                          "is resumed only by the program that began it",
                          error.text);
        return hashed == OSAFL_E_NOMEM ? hashed : OSAFL_E_UNSUPPORTED;
    }
    cpu_mathematics(s->mathematics, sizeof s->mathematics);
    s->around = (struct surroundings){
        .program_hash = s->program_hash,
        .mathematics = s->mathematics,
        .cpu_features = cpu_isa_name(cpu_isa_chosen(d)),
        .blas_kernel = s->blas.loaded ? s->blas.core : NULL,
    };
    return diagnostics_errors(d) > 0 ? OSAFL_E_CONFIG : OSAFL_OK;
}

void run_session_close(struct run_session *s)
{
    if (s->is_open)
        session_destroy(&s->session);
    inputs_free(&s->around.inputs);
    s->is_open = false;
}
