/* run.c - one run in its folder: from its pieces to its results, and on from a checkpoint. */
#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/energy_meter.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/folder.h"
#include "base/json_print.h"
#include "base/stop.h"
#include "base/text.h"
#include "best_model.h"
#include "confusion_record.h"
#include "experiment/experiment.h"
#include "experiment/experiment_tree.h"
#include "longer_run.h"
#include "plugin/guard.h"
#include "plugin/pool.h"
#include "plugin/ranks.h"
#include "results/checkpoint.h"
#include "results/data_record.h"
#include "results/manifest.h"
#include "results/resume_decision.h"
#include "results/resume_facts.h"
#include "results/safetensors.h"
#include "round/engine.h"
#include "round/inputs.h"
#include "round/participation.h"
#include "round/theory.h"
#include "run_ranks.h"
#include "run_session.h"

#define CHANGES_FILE "changes.txt"

/* Everything that a run has open, in the order in which it was opened. */
struct run {
    struct experiment *e;
    const struct run_options *o;
    const struct run_watcher *watcher;
    struct diagnostics *d;
    struct run_session s;
    struct data_record data; /* what the data set says of its samples */
    struct resume_findings found;
    struct run_folder folder;
    struct pool *pool;
    struct world *world;
    struct engine *engine;
    struct best_model best;
    struct results *results;
    struct longer_run shorter; /* with which this one begins */
    uint32_t first_round;      /* of this process */
    uint32_t saved_round;      /* rounds that a rerun would not have to repeat */
    bool knows_inputs;         /* s.around.inputs are read */
    bool complete;             /* nothing was left to do */
    bool finished;
    bool has_failed_beginning; /* nothing is to be written into the folder any more */
    char note[ERROR_BYTES];
    struct error changes; /* since the run that is repeated */
    char started[32];
    double start_s;
    struct energy_meter energy;
    double mark_s; /* end of the last row of timing.csv */
};

static void utc_now(char *out, size_t size)
{
    const time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

int run_exit_status(osafl_status status)
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

static void pass_log(void *arg, int32_t level, const char *line)
{
    const struct run *r = arg;
    (void)level;
    r->watcher->log(r->watcher->arg, line);
}

/* ---- pieces -------------------------------------------------------------------------------- */

static osafl_status open_session(struct run *r, struct loader *l)
{
    const struct host_context context = {
        .seed = (uint64_t)r->e->general.seed,
        .cancelled = stop_flag(),
        .log_level = r->o->quiet ? OSAFL_LOG_ERROR : OSAFL_LOG_WARN,
        .log = pass_log,
        .log_arg = r,
        .fact = data_record_add,
        .fact_arg = &r->data,
        .ranks = r->o->ranks,
    };
    return run_session_open(&r->s, r->e, l, &context, r->d);
}

static osafl_status open_engine(struct run *r, struct error *error)
{
    r->pool = pool_create(r->o->threads, &guard_pool_hooks);
    if (r->pool == NULL)
        return error_set(error, OSAFL_E_NOMEM,
                         "no memory or no processes for %u thread%s; try fewer (--threads)",
                         r->o->threads, text_plural(r->o->threads));
    r->s.session.context.pool = r->pool;
    const struct world_plugins plugins = session_world_plugins(&r->s.session);
    OSAFL_TRY(world_create(r->e, &plugins, &r->world, error));
    if (r->e->results.keep.index != KEEP_LAST)
        OSAFL_TRY(best_model_create(&r->best, r->s.session.model.n_parameters, error));
    return engine_create(&r->s.session, r->world, &r->engine, error);
}

static const char *split_name(const struct run *r)
{
    return session_evaluation_split(&r->s.session) == OSAFL_SPLIT_TEST ? "test" : "validation";
}

/* The measure by which runs are compared. */
static const osafl_metric *first_measure(const struct run *r)
{
    return OSAFL_AT(osafl_metric, r->s.session.model.measures, r->s.session.model.measure_size, 0);
}

/* Instances whose metrics become columns: all that there are. */
static osafl_status open_results(struct run *r, struct record_reader *resume, struct error *error)
{
    struct instance *listen[LOADER_KINDS];
    uint32_t measures = 0;
    const char *const *names = engine_measures(r->engine, &measures);
    struct results_layout layout = {
        .clients = r->s.session.facts.clients,
        .split = split_name(r),
        .measures = names,
        .n_measures = measures,
        .n_label_measures = measures - r->s.session.model.n_measures,
        .higher_is_better = first_measure(r)->better != OSAFL_LOWER,
        .per_client = r->e->evaluation.per_client,
        .client_spread = r->e->evaluation.client_spread,
        .learning_rate = r->e->results.learning_rate,
        .prequential = r->e->evaluation.prequential,
        .mixes = r->e->evaluation.mixes,
        .ages = r->e->results.ages,
        .downlink = r->e->downlink.enabled && session_has_link(&r->s.session),
        .estimates = participation_estimates(&r->s.session) && session_has_link(&r->s.session),
        .places = r->e->results.places && session_has_link(&r->s.session),
        .client_rows = experiment_client_rows(r->e),
        .listen = listen,
    };
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        if (r->s.session.instance[kind].plugin != NULL)
            listen[layout.n_listen++] = &r->s.session.instance[kind];
    OSAFL_TRY(results_open(&r->folder, &layout, resume, &r->results, error));
    if (results_client_rows(r->results) != layout.client_rows) /* as an older run began */
        r->e->results.clients.index = results_client_rows(r->results);
    return OSAFL_OK;
}

static void announce_start(const struct run *r)
{
    const struct run_start start = {
        .experiment = r->e,
        .measure = first_measure(r)->name,
        .rounds = r->s.session.facts.rounds,
        .first_round = r->first_round,
        .clients = session_trainees(&r->s.session),
    };
    r->watcher->start(r->watcher->arg, &start);
}

/* ---- the folder ---------------------------------------------------------------------------- */

/* One line in FOLDER/changes.txt for each time that a run went on although its program, plugins,
 * machine or data had changed. */
static osafl_status record_changes(const struct run *r, struct error *error)
{
    char *line = NULL;
    if (asprintf(&line, "%s: %s\n", r->started, r->found.manifest.text) < 0)
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    const osafl_status status = run_folder_append(&r->folder, CHANGES_FILE, line, error);
    free(line);
    return status;
}

static osafl_status claim_folder(struct run *r, struct error *error)
{
    const char *base = r->o->base != NULL ? r->o->base : RUN_BASE;
    char *path = r->o->out != NULL ? strdup(r->o->out) : run_folder_path(base, r->e);
    if (path == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    if (r->o->out == NULL && manifest_is_in(base)) {
        free(path);
        return error_set(error, OSAFL_E_CONFIG,
                         "%s is the folder of a run, which cannot hold others; choose another "
                         "folder with --out or --results",
                         base);
    }
    const osafl_status claimed = run_folder_claim(path, &r->folder, error);
    free(path);
    return claimed;
}

static osafl_status compare_with_repeated(struct run *r, struct error *error)
{
    enum manifest_found found;
    const osafl_status status =
        manifest_compare_kept(r->o->repeats, r->e, &r->s.around, &found, &r->changes);
    if (status != OSAFL_OK || found == MANIFEST_NONE)
        return error_set(error, status == OSAFL_OK ? OSAFL_E_DATA : status, "%s",
                         status == OSAFL_OK ? "it has no manifest.json" : r->changes.text);
    return found == MANIFEST_OTHER_DATA ? error_set(error, OSAFL_E_DATA, "%s", r->changes.text)
                                        : OSAFL_OK;
}

static osafl_status know_inputs(struct run *r, struct error *error)
{
    if (r->knows_inputs)
        return OSAFL_OK;
    r->knows_inputs = true;
    return inputs_read(&r->s.session, &r->s.around.inputs, error);
}

/* What the folder holds, and what is done with it; nothing is changed yet. */
static osafl_status decide(struct run *r, struct resume_decision *out, struct error *error)
{
    const struct resume_wish wish = {.force = r->o->force, .accept_changes = r->o->accept_changes};
    OSAFL_TRY(know_inputs(r, error));
    if (r->o->repeats != NULL)
        OSAFL_TRY(compare_with_repeated(r, error));
    if (!wish.force)
        OSAFL_TRY(resume_look(&r->folder, r->e, &r->s.around, r->s.session.facts.rounds,
                              r->s.session.model.n_parameters, &r->found, error));
    *out = resume_decide(&r->found.facts, wish);
    return out->action == RESUME_REFUSE ? resume_explain(&r->folder, &r->found, out, error)
                                        : OSAFL_OK;
}

static void warn(const struct run *r, const char *what, const char *that)
{
    char line[ERROR_BYTES + 128];
    snprintf(line, sizeof line, "%s%s", what, that);
    r->watcher->warn(r->watcher->arg, line);
}

/* Said when a run begins, not when it goes on. */
static void warn_of_left_out(const struct run *r)
{
    char line[256];
    world_describe_left_out(r->world, line, sizeof line);
    if (line[0] != '\0')
        warn(r, line, "");
}

/* Rows of an earlier run never stand under the manifest of a later one: they go first. */
static osafl_status start(struct run *r, const struct resume_decision *d, struct error *error)
{
    if (d->rows_are_lost)
        warn(r, r->folder.path,
             " has rows but no checkpoint to resume from; the run starts at round 0 again");
    OSAFL_TRY(open_engine(r, error)); /* or what is there stays */
    OSAFL_TRY(run_folder_clear(&r->folder, error));
    OSAFL_TRY(manifest_write(&r->folder, r->e, &r->s.around, error));
    OSAFL_TRY(open_results(r, NULL, error));
    const struct theory_options measure = {.replicas = r->o->replicas,
                                           .smoothness = r->o->smoothness > 0.0 ? r->o->smoothness
                                                                                : (double)NAN};
    return measure.replicas == 0
               ? OSAFL_OK
               : theory_create(r->engine, r->results, r->folder.path, &measure, error);
}

/* Begins with the state of a shorter run shortly before its end. */
static osafl_status start_behind(struct run *r, struct error *error)
{
    const struct longer_run *l = &r->shorter;
    struct run_folder from = {.path = l->folder, .lock_fd = -1};
    struct checkpoint c;
    struct record_reader reader;
    char line[ERROR_BYTES];
    OSAFL_TRY(open_engine(r, error));
    OSAFL_TRY(run_folder_clear(&r->folder, error));
    OSAFL_TRY(manifest_write(&r->folder, r->e, &r->s.around, error));
    OSAFL_TRY(longer_run_copy(l, &r->folder, error));
    OSAFL_TRY(checkpoint_read_slot(&from, l->slot, l->identity, &c, error));
    osafl_status status = engine_load(r->engine, c.set, error);
    if (status == OSAFL_OK)
        status = best_model_load(&r->best, c.set, error);
    if (status == OSAFL_OK)
        status = record_reader_open(c.set, RESULTS_SECTION, &reader, error);
    if (status == OSAFL_OK)
        status = open_results(r, &reader, error);
    checkpoint_free(&c);
    r->first_round = l->from;
    snprintf(line, sizeof line, "going on from the run of %u round%s in %.800s", l->rounds,
             text_plural(l->rounds), l->folder);
    if (status == OSAFL_OK && !r->o->quiet)
        r->watcher->log(r->watcher->arg, line);
    return status;
}

static osafl_status go_on(struct run *r, const struct resume_decision *d, struct error *error)
{
    const struct checkpoint *c = &r->found.checkpoint;
    struct record_reader reader;
    if (r->found.checkpoints[0] != '\0')
        warn(r, r->found.checkpoints, "; the previous one is used");
    r->first_round = r->saved_round = c->round;
    OSAFL_TRY(open_engine(r, error));
    OSAFL_TRY(engine_load(r->engine, c->set, error));
    OSAFL_TRY(best_model_load(&r->best, c->set, error));
    if (engine_round(r->engine) != c->round)
        return error_set(error, OSAFL_E_STATE,
                         "the checkpoint is damaged: it says round %u and holds round %u", c->round,
                         engine_round(r->engine));
    OSAFL_TRY(record_reader_open(c->set, RESULTS_SECTION, &reader, error));
    if (d->record_changes) {
        OSAFL_TRY(record_changes(r, error));
        OSAFL_TRY(manifest_write(&r->folder, r->e, &r->s.around, error));
    }
    OSAFL_TRY(open_results(r, &reader, error));
    checkpoint_free(&r->found.checkpoint); /* large, and done with */
    return OSAFL_OK;
}

/* A run that came to its end with its measurements. */
static bool is_measured(const struct run *r, const struct resume_decision *d)
{
    return d->action == RESUME_COMPLETE && folder_has(r->folder.path, "theory.csv");
}

static osafl_status resume_or_start(struct run *r, struct error *error)
{
    struct resume_decision d;
    OSAFL_TRY(decide(r, &d, error));
    if (r->o->replicas > 0 && d.action != RESUME_START && !is_measured(r, &d))
        return error_set(error, OSAFL_E_CONFIG,
                         "--measure theory: %s holds rounds of this run without their "
                         "measurements, and a run is measured from its first round on; --force "
                         "runs it again, or choose another folder with --out or --results",
                         r->folder.path);
    if (d.action != RESUME_COMPLETE)
        run_folder_sign(&r->folder);
    switch (d.action) {
    case RESUME_START:
        if (r->o->longer && r->o->replicas == 0)
            OSAFL_TRY(longer_run_find(&r->folder, r->e, &r->s.around, &r->shorter, error));
        OSAFL_TRY(r->shorter.folder != NULL ? start_behind(r, error) : start(r, &d, error));
        warn_of_left_out(r);
        return OSAFL_OK;
    case RESUME_GO_ON:
        return go_on(r, &d, error);
    default:
        r->complete = true;
        r->saved_round = r->s.session.facts.rounds;
        return OSAFL_OK;
    }
}

/* Rows first, then the checkpoint that counts them. */
static osafl_status save(struct run *r, struct error *error)
{
    struct record_writer *w = record_writer_create();
    if (w == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for a checkpoint");
    osafl_status status = engine_collect(r->engine, error);
    if (status == OSAFL_OK)
        status = results_save(r->results,
                              record_writer_section(w, RESULTS_SECTION, RESULTS_VERSION), error);
    if (status == OSAFL_OK)
        status = engine_save(r->engine, w, error);
    best_model_save(&r->best, w);
    if (status == OSAFL_OK)
        status = checkpoint_write(&r->folder, r->e->identity, engine_round(r->engine), w,
                                  &r->found.slots, error);
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
    const uint32_t all = r->s.session.facts.rounds;
    return until > 0 && until < all ? until : all;
}

static bool save_is_due(const struct run *r)
{
    const int64_t every = r->e->general.checkpoint_every;
    const uint32_t done = engine_round(r->engine);
    if (done < r->shorter.rounds) /* it is not known yet whether the beginning serves */
        return false;
    return done == last_round(r) || ranks_stopping(r->o->ranks) ||
           (every > 0 && done % (uint64_t)every == 0);
}

/* A folder whose beginning does not serve is left empty. */
static osafl_status prove_beginning(struct run *r, struct error *error)
{
    struct error ignored;
    const osafl_status status = longer_run_compare(&r->shorter, &r->folder, error);
    if (status == OSAFL_OK)
        return OSAFL_OK;
    (void)run_folder_clear(&r->folder, &ignored);
    (void)run_folder_remove(&r->folder, "manifest.json", &ignored);
    r->has_failed_beginning = true;
    return status;
}

/* The rest of a round on another rank than the first. */
static osafl_status follow_round(struct run *r, struct error *error)
{
    if (!save_is_due(r))
        return OSAFL_OK;
    OSAFL_TRY(engine_collect(r->engine, error));
    r->saved_round = engine_round(r->engine);
    return OSAFL_OK;
}

static osafl_status run_one_round(struct run *r, struct error *error)
{
    struct round_report report;
    const uint32_t round = engine_round(r->engine);
    /* Giving up inside a round loses nothing when its beginning is on the disk. */
    stop_allow_abandon(r->saved_round == round);
    OSAFL_TRY(engine_run_round(r->engine, r->watcher->step, r->watcher->arg, &report, error));
    stop_allow_abandon(false);
    if (!ranks_lead(r->o->ranks))
        return follow_round(r, error);
    report.timing.total_s = now_s() - r->mark_s;
    r->mark_s = now_s();
    energy_sample(&r->energy);
    OSAFL_TRY(results_end_round(r->results, &report.row, &report.clients, &report.timing, error));
    best_model_note(&r->best, r->results, round, engine_model(r->engine));
    if (engine_round(r->engine) == r->shorter.rounds)
        OSAFL_TRY(prove_beginning(r, error));
    if (save_is_due(r))
        OSAFL_TRY(save(r, error));
    r->watcher->round(r->watcher->arg, round, report.row.participants,
                      report.row.measure != NULL ? report.row.measure[0] : (double)NAN);
    return OSAFL_OK;
}

static osafl_status run_rounds(struct run *r, struct error *error)
{
    r->mark_s = now_s();
    while (engine_round(r->engine) < last_round(r)) {
        if (ranks_stopping(r->o->ranks))
            return error_set(error, OSAFL_E_CANCELLED, "the run was stopped");
        OSAFL_TRY(run_one_round(r, error));
    }
    return OSAFL_OK;
}

static osafl_status write_environment(const struct run *r, bool ended, const char *failure,
                                      struct error *error)
{
    char end[32];
    struct table_state tables[RESULT_TABLES];
    utc_now(end, sizeof end);
    results_state(r->results, tables);
    const struct run_environment environment = {
        .experiment_file = tree_root(r->e->tree)->file,
        .threads = r->o->threads,
        .started = r->started,
        .ended = ended ? end : NULL,
        .failure = failure,
        .seconds = now_s() - r->start_s,
        .energy_j = r->energy.packages > 0 ? r->energy.joules : (double)NAN,
        .resumed_at = r->first_round,
        .ranks = r->o->ranks,
        .tables = ended && failure == NULL ? tables : NULL,
    };
    return environment_write(&r->folder, r->e, &environment, error);
}

static osafl_status write_model(const struct run *r, const char *file, const float *w,
                                struct error *error)
{
    json_t *data = data_record_describe(r->e->chosen[OSAFL_KIND_DATASET].loaded->plugin->name,
                                        &r->s.session.dataset, &r->data);
    char *text = data != NULL ? json_print(data, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(data);
    if (text == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for " MODEL_FILE);
    const char *const metadata[] = {
        "format",      "pt", /* tensors are as PyTorch has them */
        "program",     "osafl " OSAFL_VERSION,
        "experiment",  r->e->general.name,
        "identity",    r->e->identity,
        "model",       r->e->chosen[OSAFL_KIND_MODEL].loaded->plugin->name,
        METADATA_DATA, text,
        NULL};
    const osafl_status status =
        safetensors_write(&r->folder, file, &r->s.session.instance[OSAFL_KIND_MODEL],
                          &r->s.session.model, w, metadata, error);
    free(text);
    return status;
}

static osafl_status write_confusion(const struct run *r, const float *w, uint32_t rounds,
                                    struct error *error)
{
    struct confusion c;
    OSAFL_TRY(engine_confusion(r->engine, w, &c, error));
    const osafl_status status =
        confusion_record_write(&r->folder, &r->s.session, &c, rounds, error);
    confusion_free(&c);
    return status;
}

/* model.safetensors, and what else is said of it or kept beside it. */
static osafl_status write_models(const struct run *r, struct error *error)
{
    const bool has_best = r->best.w != NULL && r->best.is_set;
    const bool is_best = has_best && r->e->results.keep.index == KEEP_BEST;
    const float *w = is_best ? r->best.w : engine_model(r->engine);
    if (has_best && !is_best)
        OSAFL_TRY(write_model(r, BEST_MODEL_FILE, r->best.w, error));
    if (r->e->results.confusion)
        OSAFL_TRY(
            write_confusion(r, w, is_best ? r->best.round + 1 : engine_round(r->engine), error));
    return write_model(r, MODEL_FILE, w, error);
}

static osafl_status finish(struct run *r, struct error *error)
{
    /* The model comes last: with it a run counts as complete. */
    OSAFL_TRY(write_environment(r, true, NULL, error));
    OSAFL_TRY(data_record_write(&r->folder, r->e->chosen[OSAFL_KIND_DATASET].loaded->plugin->name,
                                &r->s.session.dataset, &r->data, error));
    OSAFL_TRY(write_models(r, error));
    if (r->o->drop_checkpoints)
        OSAFL_TRY(checkpoint_remove(&r->folder, error));
    world_describe_dealing(r->world, r->note, sizeof r->note);
    char theory[ERROR_BYTES];
    theory_describe(r->engine, theory, sizeof theory);
    if (theory[0] != '\0' && !r->o->quiet)
        r->watcher->log(r->watcher->arg, theory);
    r->finished = true;
    return OSAFL_OK;
}

/* For reports: why, and what it has cost.  That it cannot be written does not matter beside the
 * failure itself. */
static void record_failure(const struct run *r, osafl_status status, const char *failure)
{
    struct error error;
    const bool stopped = status == OSAFL_E_CANCELLED && stop_requested();
    if (r->has_failed_beginning)
        return;
    (void)write_environment(r, !stopped, stopped ? NULL : failure, &error);
}

/* ---- with ranks ---------------------------------------------------------------------------- */

/* The plugins of all ranks, the same on all. */
static osafl_status meet(struct run *r, struct loader *l, struct error *error)
{
    osafl_status status = open_session(r, l);
    if (r->o->ranks == NULL)
        return status;
    OSAFL_TRY(run_ranks_agree(r->o->ranks, status, r->d, error));
    status = know_inputs(r, error);
    return run_ranks_compare(r->o->ranks, status, r->e, &r->s.around, r->o, error);
}

/* The first rank tells where the run begins, or that there is nothing to do. */
static osafl_status lead_in(struct run *r, osafl_status status, struct error *error)
{
    const struct run_beginning begin = {
        .is_complete = r->complete, .round = r->first_round, .not_saved_before = r->shorter.rounds};
    return run_ranks_tell(r->o->ranks, status, &begin, r->engine, error);
}

/* Another rank hears it. */
static osafl_status follow_in(struct run *r, struct error *error)
{
    struct run_beginning begin = {0};
    const osafl_status status = open_engine(r, error);
    OSAFL_TRY(run_ranks_hear(r->o->ranks, status, &begin, r->engine, error));
    r->complete = begin.is_complete;
    r->first_round = r->saved_round = begin.round;
    r->shorter.rounds = begin.not_saved_before;
    return OSAFL_OK;
}

static osafl_status begin(struct run *r, struct error *error)
{
    if (!ranks_lead(r->o->ranks))
        return follow_in(r, error);
    osafl_status status = claim_folder(r, error);
    if (status == OSAFL_OK)
        status = resume_or_start(r, error);
    return r->o->ranks != NULL ? lead_in(r, status, error) : status;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static osafl_status lead(struct run *r, struct error *error)
{
    announce_start(r);
    OSAFL_TRY(write_environment(r, false, NULL, error));
    stop_forbid_end();
    const osafl_status status = run_rounds(r, error);
    if (status != OSAFL_OK) {
        record_failure(r, status, error->text);
        return status;
    }
    r->s.session.context.ranks = NULL; /* the others have done their part */
    if (engine_round(r->engine) == r->s.session.facts.rounds)
        return finish(r, error);
    return write_environment(r, false, NULL, error); /* paused: what it has cost so far */
}

static osafl_status follow(struct run *r, struct error *error)
{
    stop_forbid_end();
    return run_rounds(r, error);
}

static osafl_status run_here(struct run *r, struct loader *l, struct error *error)
{
    OSAFL_TRY(meet(r, l, error));
    OSAFL_TRY(begin(r, error));
    if (r->complete)
        return OSAFL_OK;
    return ranks_lead(r->o->ranks) ? lead(r, error) : follow(r, error);
}

/* What has failed on one rank alone is told to the others, which wait for it to share something. */
static osafl_status run_all(struct run *r, struct loader *l, struct error *error)
{
    const osafl_status status = run_here(r, l, error);
    if (status != OSAFL_OK)
        return ranks_share(r->o->ranks, status, NULL, 0, NULL, error);
    return OSAFL_OK;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void describe_outcome(const struct run *r, osafl_status status, const struct error *error,
                             struct run_outcome *out)
{
    memset(out, 0, sizeof *out);
    out->status = run_exit_status(status);
    out->was_complete = r->complete;
    out->finished = r->finished;
    out->stopped = status == OSAFL_E_CANCELLED && stop_requested();
    out->saved = r->saved_round;
    out->rounds = r->s.is_open ? r->s.session.facts.rounds : 0;
    out->done = r->engine != NULL ? engine_round(r->engine) : 0;
    if (r->folder.path != NULL)
        snprintf(out->folder, sizeof out->folder, "%s", r->folder.path);
    if (r->results != NULL) {
        out->summary = results_summary(r->results);
        snprintf(out->split, sizeof out->split, "%s", split_name(r));
        snprintf(out->measure, sizeof out->measure, "%s", first_measure(r)->name);
    }
    const struct error *changes = r->complete ? &r->found.manifest : &r->changes;
    memcpy(out->changes, changes->text, sizeof out->changes);
    memcpy(out->note, r->note, sizeof out->note);
    if (status != OSAFL_OK)
        out->error = *error;
}

static void close_run(struct run *r)
{
    results_close(r->results);
    engine_destroy(r->engine);
    best_model_free(&r->best);
    longer_run_free(&r->shorter);
    world_destroy(r->world);
    pool_destroy(r->pool);
    resume_findings_free(&r->found);
    run_session_close(&r->s);
    data_record_free(&r->data);
    run_folder_release(&r->folder);
}

int run_experiment(struct experiment *e, struct loader *l, const struct run_options *o,
                   const struct run_watcher *watcher, struct diagnostics *d,
                   struct run_outcome *out)
{
    struct error error = {0};
    struct run r = {
        .e = e, .o = o, .watcher = watcher, .d = d, .folder = {.lock_fd = -1}, .start_s = now_s()};
    utc_now(r.started, sizeof r.started);
    energy_begin(&r.energy, ENERGY_ROOT);
    guard_watch(e->general.call_limit_s);
    const osafl_status status = run_all(&r, l, &error);
    stop_forbid_end();
    describe_outcome(&r, status, &error, out);
    close_run(&r);
    guard_unwatch();
    return out->status;
}
