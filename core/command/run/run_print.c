/* run_print.c - a run with what the user sees of it. */
#include "run_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/exit_status.h"
#include "base/stop.h"
#include "experiment/experiment.h"
#include "plugin/ranks.h"
#include "progress.h"

/* What is on the screen of one run. */
struct screen {
    bool alone; /* no cell of many */
    bool quiet;
    bool with_progress;
    bool follows;              /* another rank than the first: it says nothing */
    struct progress *progress; /* NULL before the first round, or without memory for it */
    char *label;               /* owned */
};

static void clear(const struct screen *s)
{
    if (s->progress != NULL)
        progress_clear(s->progress);
}

static void on_start(void *arg, const struct run_start *start)
{
    struct screen *s = arg;
    const struct experiment *e = start->experiment;
    const bool cell = strcmp(e->case_name, "main") != 0;
    if (asprintf(&s->label, "%s%s%s seed %" PRId64, e->general.name, cell ? " " : "",
                 cell ? e->case_name : "", e->general.seed) < 0)
        s->label = NULL;
    const struct progress_options options = {
        .to = stderr,
        .label = s->label,
        .measure = start->measure,
        .rounds = start->rounds,
        .first_round = start->first_round,
        .clients = start->clients,
        .bar = progress_wants_bar(stderr),
        .quiet = s->quiet || !s->with_progress,
    };
    if (s->follows)
        return;
    if (start->first_round > 0 && s->alone && !s->quiet)
        fprintf(stderr, "osafl: resuming after round %" PRIu32 "\n", start->first_round);
    else if (s->alone && !s->quiet && e->results.clients.index == CLIENT_ROWS_AUTO &&
             experiment_client_rows(e) == CLIENT_ROWS_ASKED)
        fprintf(stderr,
                "osafl: clients.csv holds the clients that are asked, as there are more "
                "than %d (results.clients)\n",
                CLIENT_ROWS_LIMIT);
    if (s->label != NULL)
        s->progress = progress_create(&options);
}

static void on_step(void *arg, uint32_t round, uint64_t done, uint64_t all)
{
    const struct screen *s = arg;
    if (s->progress != NULL)
        progress_step(s->progress, round, done, all);
}

static void on_round(void *arg, uint32_t round, uint32_t participants, double measure)
{
    const struct screen *s = arg;
    if (s->progress != NULL)
        progress_round(s->progress, round, participants, measure);
}

static void on_log(void *arg, const char *line)
{
    const struct screen *s = arg;
    clear(s);
    if (!s->follows)
        fprintf(stderr, "%s\n", line);
}

static void on_warning(void *arg, const char *warning)
{
    const struct screen *s = arg;
    clear(s);
    if (!s->follows)
        fprintf(stderr, "osafl: warning: %s\n", warning);
}

/* What on_divergence = "drop" did in all rounds, those before a resume included. */
static void print_divergence(const struct run_outcome *out)
{
    const struct results_summary *s = &out->summary;
    if (out->was_complete || s->diverged == 0)
        return;
    fprintf(stderr,
            "osafl: warning: %" PRIu64 " update%s not finite and dropped, in %" PRIu32
            " of %" PRIu32 " rounds; clients.csv says \"diverged\" for each; a smaller learning "
            "rate may help\n",
            s->diverged, s->diverged == 1 ? " was" : "s were", s->diverged_rounds, out->done);
}

/* The run, with its screen cleared at its end. */
static void run_on_screen(struct screen *s, struct experiment *e, struct loader *l,
                          const struct run_options *o, struct diagnostics *d,
                          struct run_outcome *out)
{
    const struct run_watcher watcher = {.arg = s,
                                        .start = on_start,
                                        .step = on_step,
                                        .round = on_round,
                                        .log = on_log,
                                        .warn = on_warning};
    stop_begin(o->max_time_s);
    stop_allow_end(s->alone && !s->follows);
    run_experiment(e, l, o, &watcher, d, out);
    clear(s);
    if (!s->follows)
        print_divergence(out);
}

static void leave_screen(struct screen *s)
{
    stop_end();
    progress_destroy(s->progress);
    free(s->label);
}

/* ---- one run ------------------------------------------------------------------------------- */

static void print_end(const struct run_outcome *out, bool quiet, struct diagnostics *d)
{
    if (out->stopped) {
        fprintf(stderr,
                "osafl: %s; %" PRIu32 " of %" PRIu32
                " rounds are saved in %s; run the same command again to resume\n",
                stop_reason(), out->saved, out->rounds,
                out->folder[0] != '\0' ? out->folder : "its folder");
        return;
    }
    if (out->finished && !quiet)
        progress_summary(stderr, out->split, out->measure, &out->summary, out->folder, out->note);
    if (out->finished && out->summary.participations == 0)
        fputs("osafl: warning: " NOBODY_TOOK_PART "\n", stderr);
    if (out->error.text[0] != '\0')
        diagnostics_error(d, NULL, 0, "%s", out->error.text);
    diagnostics_print(d, stderr);
    if (out->was_complete && out->status == EXIT_RUN_OK)
        fprintf(stderr, "osafl: this run is complete%s%s; --force runs it again\n",
                out->changes[0] != '\0' ? ", but since it began " : "", out->changes);
    if (out->status == EXIT_RUN_OK &&
        !isatty(STDOUT_FILENO)) { /* for scripts; people have read it */
        printf("%s\n", out->folder);
        fflush(stdout); /* whatever becomes of the next run */
    }
}

int run_and_print(struct experiment *e, struct loader *l, const struct run_options *o)
{
    struct screen s = {
        .alone = true, .quiet = o->quiet, .with_progress = true, .follows = !ranks_lead(o->ranks)};
    struct run_outcome out;
    struct diagnostics *d = diagnostics_create();
    if (d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    run_on_screen(&s, e, l, o, d, &out);
    if (!s.follows)
        print_end(&out, o->quiet, d);
    leave_screen(&s);
    diagnostics_destroy(d);
    return out.status;
}

/* ---- one cell of many ---------------------------------------------------------------------- */

void run_join_errors(const struct diagnostics *d, char out[ERROR_BYTES])
{
    char *text = diagnostics_text(d);
    for (char *c = text; c != NULL && *c != '\0'; c++)
        *c = *c == '\n' ? ' ' : *c;
    snprintf(out, ERROR_BYTES, "%s", text != NULL ? text : "out of memory");
    free(text);
}

void run_cell_and_print(struct experiment *e, struct loader *l, const struct run_options *o,
                        bool with_progress, struct run_outcome *out)
{
    struct screen s = {.quiet = o->quiet, .with_progress = with_progress};
    struct diagnostics *d = diagnostics_create();
    if (d == NULL) {
        *out = (struct run_outcome){.status = EXIT_RUN_FAILED, .error = {"out of memory"}};
        return;
    }
    run_on_screen(&s, e, l, o, d, out);
    if (out->status == EXIT_RUN_OK) {
        diagnostics_print(d, stderr);
    } else {
        const char *message = out->stopped ? stop_reason() : out->error.text;
        if (message[0] != '\0')
            diagnostics_error(d, NULL, 0, "%s", message);
        run_join_errors(d, out->error.text);
    }
    leave_screen(&s);
    diagnostics_destroy(d);
}
