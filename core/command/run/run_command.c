/* run_command.c - one run in its folder: from its pieces to its results, and on from a
 * checkpoint. */
#include "run_command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/exit_status.h"
#include "base/folder.h"
#include "base/message.h"
#include "base/stop.h"
#include "experiment/experiment.h"
#include "experiment/experiment_tree.h"
#include "plugin/cpu.h"
#include "plugin/guard.h"
#include "plugin/plugin_file.h"
#include "plugin/pool.h"
#include "progress.h"
#include "results/checkpoint.h"
#include "results/manifest.h"
#include "results/safetensors.h"
#include "round/attack.h"
#include "round/engine.h"
#include "round/forecast.h"
#include "round/inputs.h"

#define MODEL_FILE "model.safetensors"
#define CHANGES_FILE "changes.txt"
#define ROUNDS_FILE "rounds.csv"
#define RESULTS_SECTION "results"
#define RESULTS_VERSION 2

/* Everything that a run has open, in the order in which it was opened. */
struct run {
    struct experiment *e;
    const struct run_options *o;
    struct diagnostics *d;
    struct session session;
    bool has_session;
    struct blas_report blas;
    struct surroundings surroundings;
    char program_hash[PLUGIN_HASH_BYTES];
    char changes[MESSAGE_BYTES]; /* since the run in the folder began; "": none */
    bool has_other_data;         /* among them */
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
    bool told_by_caller;  /* how it ended */
    char started[32];
    char label[256];
    double start_s;
    double mark_s; /* end of the last row of timing.csv */
};

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
    const osafl_status status = session_create(&r->session, r->e, l, &context, r->d);
    /* A file that cannot be read, as one that is malformed, is one that the experiment names. */
    OSAFL_TRY(status == OSAFL_E_IO ? OSAFL_E_DATA : status);
    r->has_session = true;
    cpu_read_blas(&r->blas);
    if (r->blas.loaded && !r->blas.correct) {
        diagnostics_error(r->d, NULL, 0,
                          "the BLAS library (%s, kernels %s) gives a wrong product; set "
                          "OPENBLAS_CORETYPE to another kernel set or install another release",
                          r->blas.version, r->blas.core);
        return OSAFL_E_UNSUPPORTED;
    }
    char why[128];
    if (!program_file_hash(r->program_hash, why, sizeof why)) {
        diagnostics_error(r->d, NULL, 0,
                          "the program's own file, /proc/self/exe, %s; mount /proc, so that a run "
                          "goes on with the program with which it began",
                          why);
        return OSAFL_E_UNSUPPORTED;
    }
    r->surroundings = (struct surroundings){
        .program_hash = r->program_hash,
        .cpu_features = cpu_isa_name(cpu_isa_chosen(r->d)),
        .blas_kernel = r->blas.loaded ? r->blas.core : NULL,
    };
    return diagnostics_errors(r->d) > 0 ? OSAFL_E_CONFIG : OSAFL_OK;
}

static osafl_status open_engine(struct run *r, char *message)
{
    r->pool = pool_create(r->o->threads, &guard_pool_hooks);
    if (r->pool == NULL)
        return message_fail(message, OSAFL_E_NOMEM,
                            "no memory or no processes for %u threads; try fewer (--threads)",
                            r->o->threads);
    r->session.context.pool = r->pool;
    OSAFL_TRY(world_create(r->e, &r->session.instance[OSAFL_KIND_DATASET], &r->session.dataset,
                           &r->world, message));
    return engine_create(&r->session, r->world, &r->engine, message);
}

static const char *split_name(const struct run *r)
{
    return session_evaluation_split(&r->session) == OSAFL_SPLIT_TEST ? "test" : "validation";
}

/* The measure by which runs are compared. */
static const osafl_metric *first_measure(const struct run *r)
{
    return OSAFL_AT(osafl_metric, r->session.model.measures, r->session.model.measure_size, 0);
}

/* Instances whose metrics become columns: all that there are. */
static osafl_status open_results(struct run *r, struct record_reader *resume, char *message)
{
    struct instance *listen[LOADER_KINDS];
    uint32_t measures = 0;
    const char *const *names = engine_measures(r->engine, &measures);
    struct results_layout layout = {
        .clients = r->session.facts.clients,
        .split = split_name(r),
        .measures = names,
        .n_measures = measures,
        .n_label_measures = measures - r->session.model.n_measures,
        .higher_is_better = first_measure(r)->better != OSAFL_LOWER,
        .per_client = r->e->evaluation.per_client,
        .listen = listen,
    };
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        if (r->session.instance[kind].plugin != NULL)
            listen[layout.n_listen++] = &r->session.instance[kind];
    return results_open(&r->folder, &layout, resume, &r->results, message);
}

static osafl_status open_progress(struct run *r, char *message)
{
    const bool cell = strcmp(r->e->case_name, "main") != 0;
    snprintf(r->label, sizeof r->label, "%.100s%s%.100s seed %lld", r->e->general.name,
             cell ? " " : "", cell ? r->e->case_name : "", (long long)r->e->general.seed);
    const struct progress_options options = {
        .to = stderr,
        .label = r->label,
        .measure = first_measure(r)->name,
        .rounds = r->session.facts.rounds,
        .first_round = r->first_round,
        .clients = r->session.aggregator.centralised ? 1 : r->session.facts.clients,
        .bar = progress_wants_bar(stderr),
        .quiet = r->o->quiet || r->o->no_progress,
    };
    r->progress = progress_create(&options);
    return r->progress != NULL ? OSAFL_OK : message_fail(message, OSAFL_E_NOMEM, "out of memory");
}

/* ---- the folder ---------------------------------------------------------------------------- */

/* One line in FOLDER/changes.txt for each time that a run went on although its program, plugins,
 * machine or data had changed. */
static osafl_status record_changes(const struct run *r, char *message)
{
    char *path = NULL;
    if (asprintf(&path, "%s/" CHANGES_FILE, r->folder.path) < 0)
        return message_fail(message, OSAFL_E_NOMEM, "out of memory");
    FILE *file = fopen(path, "a");
    const bool written =
        file != NULL && fprintf(file, "%s: %s\n", r->started, r->changes) > 0 && fflush(file) == 0;
    const int error = errno;
    if (file != NULL)
        fclose(file);
    const osafl_status status = written ? OSAFL_OK : message_io(message, error, "write", path);
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
    return manifest_write(&r->folder, r->e, &r->surroundings, message);
}

/* Decides, from what the folder holds, whether this run may use it. */
static osafl_status claim_folder(struct run *r, char *message)
{
    char found_message[MESSAGE_BYTES] = "";
    enum manifest_found found = MANIFEST_NONE;
    const char *base = r->o->base != NULL ? r->o->base : RUN_BASE;
    char *path = r->o->out != NULL ? strdup(r->o->out) : run_folder_path(base, r->e);
    if (path == NULL)
        return message_fail(message, OSAFL_E_NOMEM, "out of memory");
    if (r->o->out == NULL && manifest_is_in(base)) {
        free(path);
        return message_fail(message, OSAFL_E_CONFIG,
                            "%s is the folder of a run, which cannot hold others; choose another "
                            "folder with --out or --results",
                            base);
    }
    const osafl_status claimed = run_folder_claim(path, &r->folder, message);
    free(path);
    OSAFL_TRY(claimed);
    OSAFL_TRY(inputs_read(&r->session, &r->surroundings.inputs, message));
    if (r->o->force)
        return start_anew(r, message);
    const osafl_status compared =
        manifest_compare(&r->folder, r->e, &r->surroundings, &found, found_message);
    if (compared != OSAFL_OK)
        return message_fail(message, compared, "%s", found_message);
    switch (found) {
    case MANIFEST_SAME:
        return OSAFL_OK;
    case MANIFEST_CHANGED:
    case MANIFEST_OTHER_DATA:
        r->has_other_data = found == MANIFEST_OTHER_DATA;
        memcpy(r->changes, found_message, sizeof r->changes);
        return OSAFL_OK;
    case MANIFEST_OTHER:
        return message_fail(message, OSAFL_E_CONFIG, "%s", found_message);
    case MANIFEST_NONE:
        break;
    }
    if (folder_has(r->folder.path, ROUNDS_FILE))
        return message_fail(message, OSAFL_E_CONFIG,
                            "%s holds " ROUNDS_FILE
                            " without a manifest of its run; choose another "
                            "folder with --out or --results, or overwrite it with --force",
                            r->folder.path);
    return manifest_write(&r->folder, r->e, &r->surroundings, message);
}

/* ---- from a checkpoint --------------------------------------------------------------------- */

/* Goes on with another program, plugin, machine or data only where the user says so. */
static osafl_status settle_changes(const struct run *r, char *message)
{
    if (!r->o->accept_changes)
        return message_fail(message, OSAFL_E_CONFIG,
                            "%.*s; --accept-changes goes on all the same, --force starts anew",
                            MESSAGE_BYTES - 128, r->changes);
    OSAFL_TRY(record_changes(r, message));
    return manifest_write(&r->folder, r->e, &r->surroundings, message);
}

/* Reads the newest checkpoint, unless this run may not go on from it. */
static osafl_status find_checkpoint(struct run *r, struct checkpoint *out, char *message)
{
    char warning[MESSAGE_BYTES];
    const osafl_status status =
        checkpoint_read(&r->folder, r->e->identity, &r->slots, out, warning, message);
    /* A run that has ended is left alone, whatever made it: not even its files are opened.  With
     * other data, though, its results are not those that are asked for. */
    r->complete = status == OSAFL_OK && out->set != NULL && out->round == r->session.facts.rounds &&
                  folder_has(r->folder.path, MODEL_FILE);
    /* Another program may not be able to read the checkpoint, so that this comes first. */
    if ((!r->complete || r->has_other_data) && r->changes[0] != '\0')
        OSAFL_TRY(settle_changes(r, message));
    OSAFL_TRY(status);
    if (warning[0] != '\0')
        fprintf(stderr, "osafl: warning: %s; the one before it serves\n", warning);
    r->first_round = r->saved_round = out->round;
    return OSAFL_OK;
}

/* Goes on where the newest checkpoint stands, or starts at round 0. */
static osafl_status resume_or_start(struct run *r, char *message)
{
    struct checkpoint checkpoint = {0};
    struct record_reader reader;
    osafl_status status = find_checkpoint(r, &checkpoint, message);
    if (status == OSAFL_OK && !r->complete)
        status = open_engine(r, message);
    if (status == OSAFL_OK && !r->complete && checkpoint.set != NULL) {
        status = engine_load(r->engine, checkpoint.set, message);
        if (status == OSAFL_OK && engine_round(r->engine) != checkpoint.round)
            status = message_fail(message, OSAFL_E_STATE,
                                  "the checkpoint is damaged: it says round %u and holds round %u",
                                  checkpoint.round, engine_round(r->engine));
        if (status == OSAFL_OK)
            status = record_reader_open(checkpoint.set, RESULTS_SECTION, &reader, message);
        if (status == OSAFL_OK)
            status = open_results(r, &reader, message);
        if (status == OSAFL_OK && !r->o->quiet && !r->told_by_caller)
            fprintf(stderr, "osafl: going on after round %u\n", checkpoint.round);
    } else if (status == OSAFL_OK && !r->complete) {
        status = open_results(r, NULL, message);
    }
    checkpoint_free(&checkpoint);
    return status;
}

/* Rows first, then the checkpoint that counts them. */
static osafl_status save(struct run *r, char *message)
{
    struct record_writer *w = record_writer_create();
    if (w == NULL)
        return message_fail(message, OSAFL_E_NOMEM, "out of memory for a checkpoint");
    osafl_status status = results_save(
        r->results, record_writer_section(w, RESULTS_SECTION, RESULTS_VERSION), message);
    if (status == OSAFL_OK)
        status = engine_save(r->engine, w, message);
    if (status == OSAFL_OK)
        status = checkpoint_write(&r->folder, r->e->identity, engine_round(r->engine), w, &r->slots,
                                  message);
    record_writer_destroy(w);
    if (status == OSAFL_OK)
        r->saved_round = engine_round(r->engine);
    return status;
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* Rounds that shall be done when this process ends. */
static uint32_t last_round(const struct run *r)
{
    const uint32_t until = r->o->until_round;
    const uint32_t all = r->session.facts.rounds;
    return until > 0 && until < all ? until : all;
}

static bool save_is_due(const struct run *r)
{
    const int64_t every = r->e->general.checkpoint_every;
    const uint32_t done = engine_round(r->engine);
    return done == last_round(r) || stop_requested() || (every > 0 && done % (uint64_t)every == 0);
}

static osafl_status run_one_round(struct run *r, char *message)
{
    struct round_report report;
    const uint32_t round = engine_round(r->engine);
    /* Giving up inside a round loses nothing when its beginning is on the disk. */
    stop_allow_abandon(r->saved_round == round);
    OSAFL_TRY(engine_run_round(r->engine, show_progress, r, &report, message));
    stop_allow_abandon(false);
    report.timing.total_s = now_s() - r->mark_s;
    r->mark_s = now_s();
    OSAFL_TRY(results_end_round(r->results, &report.row, &report.clients, &report.timing, message));
    if (save_is_due(r))
        OSAFL_TRY(save(r, message));
    progress_round(r->progress, round, report.row.participants,
                   report.row.measure != NULL ? report.row.measure[0] : (double)NAN);
    return OSAFL_OK;
}

static osafl_status run_rounds(struct run *r, char *message)
{
    r->mark_s = now_s();
    while (engine_round(r->engine) < last_round(r)) {
        if (stop_requested())
            return message_fail(message, OSAFL_E_CANCELLED, "the run was stopped");
        OSAFL_TRY(run_one_round(r, message));
    }
    return OSAFL_OK;
}

static osafl_status write_environment(const struct run *r, bool ended, const char *failure,
                                      char *message)
{
    char end[32];
    utc_now(end, sizeof end);
    const struct run_environment environment = {
        .experiment_file = tree_root(r->e->tree)->file,
        .threads = r->o->threads,
        .started = r->started,
        .ended = ended ? end : NULL,
        .failure = failure,
        .seconds = now_s() - r->start_s,
        .resumed_at = r->first_round,
    };
    return environment_write(&r->folder, r->e, &environment, message);
}

static osafl_status write_model(const struct run *r, char *message)
{
    const char *const metadata[] = {
        "program",  "osafl " OSAFL_VERSION, "experiment", r->e->general.name,
        "identity", r->e->identity,         NULL};
    return safetensors_write(&r->folder, &r->session.instance[OSAFL_KIND_MODEL], &r->session.model,
                             engine_model(r->engine), metadata, message);
}

static osafl_status finish(struct run *r, char *message)
{
    char restarts[MESSAGE_BYTES];
    /* The model comes last: with it a run counts as complete. */
    OSAFL_TRY(write_environment(r, true, NULL, message));
    OSAFL_TRY(write_model(r, message));
    world_describe_restarts(r->world, restarts, sizeof restarts);
    const struct results_summary summary = results_summary(r->results);
    progress_clear(r->progress);
    if (!r->o->quiet && !r->told_by_caller)
        progress_summary(stderr, split_name(r), first_measure(r)->name, &summary, r->folder.path,
                         restarts);
    if (summary.participations == 0 && !r->told_by_caller)
        fputs("osafl: warning: " NOBODY_TOOK_PART "\n", stderr);
    return OSAFL_OK;
}

/* What on_divergence = "drop" did in all rounds, those before a resume included. */
static void tell_divergence(const struct run *r)
{
    const struct results_summary s = results_summary(r->results);
    if (s.diverged == 0)
        return;
    progress_clear(r->progress);
    fprintf(stderr,
            "osafl: warning: %llu update%s not finite and dropped, in %u of %u rounds; clients.csv "
            "says \"diverged\" for each; a smaller learning rate may help\n",
            (unsigned long long)s.diverged, s.diverged == 1 ? " was" : "s were", s.diverged_rounds,
            engine_round(r->engine));
}

/* For reports.  That it cannot be written does not matter beside the failure itself. */
static void record_failure(const struct run *r, osafl_status status, const char *failure)
{
    char message[MESSAGE_BYTES];
    if (status != OSAFL_E_CANCELLED || !stop_requested())
        (void)write_environment(r, true, failure, message);
}

static osafl_status run_all(struct run *r, struct loader *l, char *message)
{
    OSAFL_TRY(open_session(r, l));
    OSAFL_TRY(claim_folder(r, message));
    OSAFL_TRY(resume_or_start(r, message));
    if (r->complete)
        return OSAFL_OK;
    OSAFL_TRY(open_progress(r, message));
    OSAFL_TRY(write_environment(r, false, NULL, message));
    stop_allow_end(false, false);
    const osafl_status status = run_rounds(r, message);
    tell_divergence(r);
    if (status != OSAFL_OK) {
        record_failure(r, status, message);
        return status;
    }
    return engine_round(r->engine) < r->session.facts.rounds ? OSAFL_OK : finish(r, message);
}

/* ---- the commands -------------------------------------------------------------------------- */

/* Says how the run ended; returns the exit status. */
static int tell_end(struct run *r, osafl_status status, const char *message)
{
    if (status == OSAFL_E_CANCELLED && stop_requested()) {
        fprintf(stderr,
                "osafl: %s; %u of %u rounds are saved in %s; run the same command again to go on\n",
                stop_reason(), r->saved_round, r->session.facts.rounds,
                r->folder.path != NULL ? r->folder.path : "its folder");
        return EXIT_INTERRUPTED;
    }
    if (status != OSAFL_OK && message[0] != '\0')
        diagnostics_error(r->d, NULL, 0, "%s", message);
    diagnostics_print(r->d, stderr);
    if (r->complete && status == OSAFL_OK)
        fprintf(stderr, "osafl: this run is complete%s%s; --force runs it again\n",
                r->changes[0] != '\0' ? ", but since it began " : "", r->changes);
    if (status == OSAFL_OK && !isatty(STDOUT_FILENO)) { /* for scripts; people have read it */
        printf("%s\n", r->folder.path);
        fflush(stdout); /* whatever becomes of the next run */
    }
    return exit_status(status);
}

/* All that there is to say, in one line. */
static void join_complaints(const struct run *r, char out[MESSAGE_BYTES])
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL)
        return;
    diagnostics_print(r->d, memory);
    if (fclose(memory) == 0) {
        while (size > 0 && text[size - 1] == '\n')
            text[--size] = '\0';
        for (char *c = text; *c != '\0'; c++)
            *c = *c == '\n' ? ' ' : *c;
        snprintf(out, MESSAGE_BYTES, "%s", text);
    }
    free(text);
}

/* The same for a caller that says it. */
static int report_end(struct run *r, osafl_status status, const char *message,
                      struct run_outcome *out)
{
    *out = (struct run_outcome){.status = exit_status(status),
                                .was_complete = r->complete,
                                .saved = r->saved_round,
                                .rounds = r->has_session ? r->session.facts.rounds : 0};
    if (r->folder.path != NULL)
        snprintf(out->folder, sizeof out->folder, "%s", r->folder.path);
    if (r->results != NULL) {
        out->summary = results_summary(r->results);
        snprintf(out->split, sizeof out->split, "%s", split_name(r));
        snprintf(out->measure, sizeof out->measure, "%s", first_measure(r)->name);
    }
    if (status == OSAFL_OK) {
        snprintf(out->message, sizeof out->message, "%s", r->changes);
        diagnostics_print(r->d, stderr);
        return out->status;
    }
    if (status == OSAFL_E_CANCELLED && stop_requested())
        message = stop_reason();
    if (message[0] != '\0')
        diagnostics_error(r->d, NULL, 0, "%s", message);
    join_complaints(r, out->message);
    return out->status;
}

static void close_run(struct run *r)
{
    progress_destroy(r->progress);
    r->progress = NULL;
    results_close(r->results);
    engine_destroy(r->engine);
    world_destroy(r->world);
    pool_destroy(r->pool);
    if (r->has_session)
        session_destroy(&r->session);
    inputs_free(&r->surroundings.inputs);
    run_folder_release(&r->folder);
    diagnostics_destroy(r->d);
}

int run_command(struct experiment *e, struct loader *l, const struct run_options *o,
                struct run_outcome *out)
{
    char message[MESSAGE_BYTES] = "";
    struct run r = {.e = e,
                    .o = o,
                    .folder = {.lock_fd = -1},
                    .start_s = now_s(),
                    .told_by_caller = out != NULL};
    utc_now(r.started, sizeof r.started);
    r.d = diagnostics_create();
    if (r.d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        if (out != NULL)
            *out = (struct run_outcome){.status = EXIT_RUN_FAILED, .message = "out of memory"};
        return EXIT_RUN_FAILED;
    }
    stop_begin(o->max_time_s);
    stop_allow_end(true, out == NULL);
    guard_watch(e->general.call_limit_s);
    const osafl_status status = run_all(&r, l, message);
    stop_allow_end(false, false);
    if (r.progress != NULL)
        progress_clear(r.progress);
    const int result =
        out != NULL ? report_end(&r, status, message, out) : tell_end(&r, status, message);
    stop_end();
    close_run(&r);
    guard_unwatch();
    return result;
}

/* Bytes with a fitting unit. */
static void print_bytes(const char *what, uint64_t bytes)
{
    printf("%-22s %.1f MiB\n", what, (double)bytes / (1024.0 * 1024.0));
}

static void print_work(const struct run *r)
{
    const struct session *s = &r->session;
    const uint64_t steps = engine_steps_per_round(s, r->world);
    const double evaluations = ceil((double)s->facts.rounds / (double)r->e->evaluation.every);
    printf("%-22s %llu\n", "parameters", (unsigned long long)s->codec.dim);
    if (s->codec.quantizer != NULL)
        printf("%-22s %.0f bits for each of %u vectors\n", "payload", codec_payload_bits(&s->codec),
               s->slots);
    if (r->e->training.enabled) {
        printf("%-22s %u rounds of at most %llu steps with %u samples\n", "training",
               s->facts.rounds, (unsigned long long)steps, s->facts.batch);
        printf("%-22s %.0f times on %llu samples\n", "evaluation", evaluations,
               (unsigned long long)s->evaluation_samples);
    } else {
        printf("%-22s none (training.enabled = false), nor an evaluation\n", "training");
    }
    print_bytes("memory on one thread", engine_bytes(s, r->world, 1));
    print_bytes("  each further thread",
                engine_bytes(s, r->world, 2) - engine_bytes(s, r->world, 1));
}

static osafl_status print_attack(const struct run *r, char *message)
{
    struct attack attack;
    if (attack_create(&attack, r->e) != OSAFL_OK)
        return message_fail(message, OSAFL_E_NOMEM, "out of memory for the attackers");
    attack_print(&attack, r->e, stdout);
    attack_destroy(&attack);
    return OSAFL_OK;
}

/* What goes over the link, and from whom. */
static osafl_status print_link(const struct run *r, char *message)
{
    if (r->session.aggregator.centralised) {
        printf("%-22s none: one place trains on all stores; channel, resource, quantizer, uplink, "
               "attack and clients.sampled change nothing\n",
               "link");
        return OSAFL_OK;
    }
    OSAFL_TRY(forecast_print(&r->session, r->world, stdout, message));
    if (r->e->uplink.loss_probability > 0.0)
        printf("%-22s %.4g %% of the updates, on average\n", "lost on the way",
               100.0 * r->e->uplink.loss_probability);
    return print_attack(r, message);
}

int check_command(struct experiment *e, struct loader *l)
{
    static const struct run_options options = {.threads = 1};
    char message[MESSAGE_BYTES] = "";
    struct run r = {.e = e, .o = &options, .folder = {.lock_fd = -1}};
    r.d = diagnostics_create();
    if (r.d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    guard_watch(e->general.call_limit_s);
    osafl_status status = open_session(&r, l);
    if (status == OSAFL_OK)
        status = world_create(e, &r.session.instance[OSAFL_KIND_DATASET], &r.session.dataset,
                              &r.world, message);
    if (status == OSAFL_OK) {
        world_print(r.world, stdout);
        print_work(&r);
        status = print_link(&r, message);
    }
    if (status != OSAFL_OK && message[0] != '\0')
        diagnostics_error(r.d, NULL, 0, "%s", message);
    diagnostics_print(r.d, stderr);
    close_run(&r);
    guard_unwatch();
    return exit_status(status);
}

int resolve_command(struct experiment *e, struct loader *l)
{
    static const struct run_options options = {.threads = 1};
    struct run r = {.e = e, .o = &options, .folder = {.lock_fd = -1}};
    r.d = diagnostics_create();
    if (r.d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    guard_watch(e->general.call_limit_s);
    osafl_status status = OSAFL_OK;
    /* The aggregator can be asked for its optimizer only where the model, and for that the data,
     * are known. */
    if (e->chosen[OSAFL_KIND_OPTIMIZER].loaded == NULL)
        status = open_session(&r, l);
    diagnostics_print(r.d, stderr);
    if (status == OSAFL_OK)
        status = experiment_write(e, stdout);
    close_run(&r);
    guard_unwatch();
    return exit_status(status);
}
