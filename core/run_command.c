/* run_command.c - one run in its folder: from its pieces to its results, and on from a
 * checkpoint. */
#include "run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "checkpoint.h"
#include "cli.h"
#include "cpu.h"
#include "diagnostics.h"
#include "engine.h"
#include "experiment.h"
#include "manifest.h"
#include "message.h"
#include "pool.h"
#include "progress.h"
#include "safetensors.h"
#include "stop.h"

#define MODEL_FILE "model.safetensors"
#define CHANGES_FILE "changes.txt"
#define RESULTS_SECTION "results"
#define RESULTS_VERSION 1

/* Everything that a run has open, in the order in which it was opened. */
struct run {
    struct experiment *e;
    const struct run_options *o;
    struct diagnostics *d;
    struct session session;
    bool has_session;
    struct blas_report blas;
    struct machine_identity machine;
    struct run_folder folder;
    struct pool *pool;
    struct world *world;
    struct engine *engine;
    struct results *results;
    struct progress *progress;
    struct checkpoint_slots slots;
    uint32_t first_round; /* of this process */
    uint32_t saved_round; /* rounds that a rerun would not have to repeat */
    bool complete;        /* nothing was left to do */
    char started[32];
    double start_s;
    double mark_s; /* end of the last row of timing.csv */
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void utc_now(char *out, size_t size)
{
    const time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* The exit status for a failure: 2 for what the user has to change in experiment or command, 1
 * for a run that failed. */
static int exit_status(osafl_status status)
{
    switch (status) {
    case OSAFL_OK:
        return EXIT_RUN_OK;
    case OSAFL_E_CONFIG:
    case OSAFL_E_DATA:
    case OSAFL_E_UNSUPPORTED:
        return EXIT_USAGE;
    case OSAFL_E_CANCELLED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_RUN_FAILED;
    }
}

static void show_log(void *arg, int32_t level, const char *line)
{
    struct run *r = arg;
    (void)level;
    if (r->progress != NULL)
        progress_clear(r->progress);
    fprintf(stderr, "%s\n", line);
}

static void show_progress(void *arg, uint32_t round, uint64_t done, uint64_t all)
{
    const struct run *r = arg;
    progress_step(r->progress, round, done, all);
}

/* ---- pieces -------------------------------------------------------------------------------- */

/* All plugins are loaded before the first thread exists: threads inherit the floating-point mode
 * that loading may disturb. */
static osafl_status open_session(struct run *r, struct loader *l)
{
    const struct host_context context = {
        .seed = (uint64_t)r->e->general.seed,
        .cancelled = stop_flag(),
        .log_level = r->o->quiet ? OSAFL_LOG_ERROR : OSAFL_LOG_WARN,
        .log = show_log,
        .log_arg = r,
    };
    OSAFL_TRY(session_create(&r->session, r->e, l, &context, r->d));
    r->has_session = true;
    cpu_read_blas(&r->blas);
    if (r->blas.loaded && !r->blas.correct) {
        diagnostics_error(r->d, NULL, 0,
                          "the BLAS library (%s, kernels %s) gives a wrong product; set "
                          "OPENBLAS_CORETYPE to another kernel set or install another release",
                          r->blas.version, r->blas.core);
        return OSAFL_E_UNSUPPORTED;
    }
    r->machine = (struct machine_identity){
        .cpu_features = cpu_isa_name(cpu_isa_chosen(r->d)),
        .blas_kernel = r->blas.loaded ? r->blas.core : NULL,
    };
    return diagnostics_errors(r->d) > 0 ? OSAFL_E_CONFIG : OSAFL_OK;
}

static osafl_status open_engine(struct run *r, char *message)
{
    r->pool = pool_create(r->o->threads);
    if (r->pool == NULL)
        return message_fail(message, OSAFL_E_NOMEM, "cannot start %u threads; try fewer (--threads)",
                            r->o->threads);
    r->session.context.pool = r->pool;
    OSAFL_TRY(world_create(r->e, &r->session.instance[OSAFL_KIND_DATASET], &r->session.dataset,
                           &r->world, message));
    return engine_create(&r->session, r->world, &r->engine, message);
}

/* Instances whose metrics become columns: all that there are. */
static osafl_status open_results(struct run *r, osafl_reader *resume, char *message)
{
    struct instance *listen[LOADER_KINDS];
    const osafl_metric *first =
        OSAFL_AT(osafl_metric, r->session.model.measures, r->session.model.measure_size, 0);
    struct results_layout layout = {
        .clients = r->session.facts.clients,
        .split = session_evaluation_split(&r->session) == OSAFL_SPLIT_TEST ? "test" : "validation",
        .measures = engine_measures(r->engine, &layout.n_measures),
        .higher_is_better = first->better != OSAFL_LOWER,
        .per_client = r->e->evaluation.per_client,
        .listen = listen,
    };
    (void)engine_measures(r->engine, &layout.n_measures);
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        if (r->session.instance[kind].plugin != NULL)
            listen[layout.n_listen++] = &r->session.instance[kind];
    return results_open(&r->folder, &layout, resume, &r->results, message);
}

static osafl_status open_progress(struct run *r, char *message)
{
    char label[256];
    const osafl_metric *first =
        OSAFL_AT(osafl_metric, r->session.model.measures, r->session.model.measure_size, 0);
    const bool cell = strcmp(r->e->case_name, "main") != 0;
    snprintf(label, sizeof label, "%.100s%s%.100s seed %lld", r->e->general.name, cell ? " " : "",
             cell ? r->e->case_name : "", (long long)r->e->general.seed);
    const struct progress_options options = {
        .to = stderr,
        .label = label,
        .measure = first->name,
        .rounds = r->session.facts.rounds,
        .first_round = r->first_round,
        .clients = r->session.aggregator.centralised ? 1 : r->session.facts.clients,
        .quiet = r->o->quiet,
    };
    r->progress = progress_create(&options);
    return r->progress != NULL ? OSAFL_OK : message_fail(message, OSAFL_E_NOMEM, "out of memory");
}

/* ---- the folder ---------------------------------------------------------------------------- */

/* One line in FOLDER/changes.txt for each time that a run went on although its program, plugins or
 * machine had changed. */
static osafl_status record_change(const struct run *r, const char *what, char *message)
{
    char *path = NULL;
    if (asprintf(&path, "%s/" CHANGES_FILE, r->folder.path) < 0)
        return message_fail(message, OSAFL_E_NOMEM, "out of memory");
    FILE *file = fopen(path, "a");
    const bool written =
        file != NULL && fprintf(file, "%s: %s\n", r->started, what) > 0 && fflush(file) == 0;
    const int error = errno;
    if (file != NULL)
        fclose(file);
    const osafl_status status =
        written ? OSAFL_OK : message_io(message, error, "write", path);
    free(path);
    return status;
}

static osafl_status remove_file(const struct run *r, const char *name, char *message)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", r->folder.path, name) < 0)
        return message_fail(message, OSAFL_E_NOMEM, "out of memory");
    const bool failed = unlink(path) != 0 && errno != ENOENT;
    const osafl_status status = failed ? message_io(message, errno, "remove", path) : OSAFL_OK;
    free(path);
    return status;
}

static osafl_status start_anew(struct run *r, char *message)
{
    OSAFL_TRY(checkpoint_remove(&r->folder, message));
    OSAFL_TRY(remove_file(r, MODEL_FILE, message));
    OSAFL_TRY(remove_file(r, CHANGES_FILE, message));
    return manifest_write(&r->folder, r->e, &r->machine, message);
}

static bool has_model(const struct run *r)
{
    return faccessat(AT_FDCWD, r->folder.path, F_OK, 0) == 0 &&
           run_folder_has(&r->folder, MODEL_FILE);
}

/* Decides, from what the folder holds, whether this run may use it. */
static osafl_status claim_folder(struct run *r, char *message)
{
    char found_message[CALL_MESSAGE_BYTES] = "";
    enum manifest_found found = MANIFEST_NONE;
    char *path = r->o->out != NULL ? strdup(r->o->out) : run_folder_path("results", r->e);
    if (path == NULL)
        return message_fail(message, OSAFL_E_NOMEM, "out of memory");
    const osafl_status claimed = run_folder_claim(path, &r->folder, message);
    free(path);
    OSAFL_TRY(claimed);
    if (r->o->force)
        return start_anew(r, message);
    OSAFL_TRY(manifest_compare(&r->folder, r->e, &r->machine, &found, found_message));
    switch (found) {
    case MANIFEST_SAME:
        return OSAFL_OK;
    case MANIFEST_CHANGED:
        if (!r->o->accept_changes)
            return message_fail(message, OSAFL_E_CONFIG,
                                "%.*s; --accept-changes goes on all the same, --force starts anew",
                                CALL_MESSAGE_BYTES - 128, found_message);
        OSAFL_TRY(record_change(r, found_message, message));
        return manifest_write(&r->folder, r->e, &r->machine, message);
    case MANIFEST_OTHER:
        return message_fail(message, OSAFL_E_CONFIG,
                            "%.*s; choose another folder with --out, or overwrite it with --force",
                            CALL_MESSAGE_BYTES - 128, found_message);
    case MANIFEST_NONE:
        break;
    }
    return manifest_write(&r->folder, r->e, &r->machine, message);
}
