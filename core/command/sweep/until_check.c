/* until_check.c - whether cells have the measure that "osafl run --until" asks for. */
#include "until_check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/exit_status.h"
#include "base/stop.h"
#include "base/text.h"
#include "cell_print.h"
#include "command/run/run_print.h"
#include "command/run/run_session.h"

static osafl_status find_measure(const struct session *s, const char *name, struct error *error)
{
    const osafl_model_info *model = &s->model;
    char list[512] = "";
    if (!s->experiment->training.enabled)
        return error_set(error, OSAFL_E_CONFIG,
                         "--until needs a measure, and training.enabled = false measures none");
    for (uint32_t m = 0; m < model->n_measures; m++) {
        const char *one = OSAFL_AT(osafl_metric, model->measures, model->measure_size, m)->name;
        if (strcmp(one, name) == 0)
            return OSAFL_OK;
        text_append_item(list, sizeof list, ", ", one);
    }
    return error_set(error, OSAFL_E_CONFIG, "--until: model/%s has no measure %s; it has %s",
                     s->instance[OSAFL_KIND_MODEL].plugin->name, name, list);
}

/* A cell_body. */
static void check_cell(struct experiment *e, struct loader *l, const struct run_options *o,
                       bool with_progress, struct run_outcome *out)
{
    const struct host_context context = {.seed = (uint64_t)e->general.seed,
                                         .log_level = OSAFL_LOG_ERROR};
    struct run_session s = {.is_open = false};
    struct diagnostics *d = diagnostics_create();
    (void)with_progress;
    *out = (struct run_outcome){.status = EXIT_RUN_FAILED, .error = {"out of memory"}};
    if (d == NULL)
        return;
    stop_begin(0.0);
    stop_allow_end(false);
    osafl_status status = run_session_open(&s, e, l, &context, d);
    if (status == OSAFL_OK)
        status = find_measure(&s.session, o->measure, &out->error);
    else
        run_join_errors(d, out->error.text);
    out->status = run_exit_status(status);
    run_session_close(&s);
    stop_end();
    diagnostics_destroy(d);
}

static void ignore_line(const struct cell_run *cell, const char *line)
{
    (void)cell;
    (void)line;
}

static void ignore_stop(size_t running)
{
    (void)running;
}

static void ignore_end(const struct cell_run *cell, const struct cell_progress *p)
{
    (void)cell;
    (void)p;
}

/* The first cell that failed stands for those of the same fault. */
static void report_failures(const struct cell_run *run, size_t n, struct diagnostics *d)
{
    char label[320];
    for (size_t i = 0; i < n; i++) {
        bool first = run[i].fate == FATE_FAILED;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(run[k].outcome.error.text, run[i].outcome.error.text) != 0;
        if (!first)
            continue;
        cell_label(run[i].e, label, sizeof label);
        diagnostics_error(d, NULL, 0, "%s: %s", label, run[i].outcome.error.text);
    }
}

int until_check(struct experiment *const *cell, size_t n, struct loader *l,
                const struct cell_runner_options *o, struct diagnostics *d)
{
    static const struct cell_watcher silent = {
        .line = ignore_line, .stop = ignore_stop, .end = ignore_end};
    struct cell_runner_options options = *o;
    options.body = check_cell;
    options.watcher = &silent;
    struct cell_run *run = calloc(n + 1, sizeof *run);
    if (run == NULL) {
        diagnostics_no_memory(d);
        return EXIT_RUN_FAILED;
    }
    for (size_t i = 0; i < n; i++)
        run[i].e = cell[i];
    const int status = cells_run(run, n, l, &options);
    report_failures(run, n, d);
    if (status == EXIT_INTERRUPTED)
        fprintf(stderr, "osafl: %s before any further run; run the same command again to resume\n",
                stop_reason());
    free(run);
    return status;
}
