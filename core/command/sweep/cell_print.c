/* cell_print.c - what the user sees of the cells of a grid. */
#include "cell_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "base/stop.h"
#include "base/text.h"
#include "command/run/progress.h"
#include "command/run/run_print.h"
#include "experiment/experiment.h"

enum { LABEL_BYTES = 320 };

/* "model.plugin=cnn" becomes "cnn", "quantizer.qsgd.levels=2" as "levels 2". */
static void add_part(FILE *to, const char *part, size_t n)
{
    const char *sign = memchr(part, '=', n);
    const char *key = sign != NULL ? sign : part;
    while (key > part && key[-1] != '.')
        key--;
    const size_t skipped = (size_t)(key - part);
    if (sign == NULL)
        fprintf(to, ", %.*s", (int)n, part);
    else if (strncmp(key, "plugin=", 7) == 0)
        fprintf(to, ", %.*s", (int)(part + n - sign - 1), sign + 1);
    else
        fprintf(to, ", %.*s %.*s", (int)(sign - key), key,
                (int)(n - skipped - 1) - (int)(sign - key), sign + 1);
}

void cell_label(const struct experiment *e, char *out, size_t size)
{
    memset(out, 0, size); /* a label that is cut has its end too */
    FILE *to = fmemopen(out, size - 1, "w");
    if (to == NULL)
        return;
    fputs(e->general.name, to);
    for (const char *part = e->case_name; *part != '\0';) {
        const size_t n = strcspn(part, ",");
        add_part(to, part, n);
        part += n + (part[n] == ',');
    }
    fprintf(to, ", seed %" PRId64, e->general.seed);
    fclose(to);
}

/* ---- while cells run ------------------------------------------------------------------------- */

static void print_line(const struct cell_run *cell, const char *line)
{
    char label[LABEL_BYTES];
    cell_label(cell->e, label, sizeof label);
    fprintf(stderr, "%s: %s\n", label, line);
}

static void print_stop(size_t running)
{
    fprintf(stderr, "osafl: %s; %zu cell%s being saved\n", stop_reason(), running,
            running == 1 ? " is" : "s are");
}

/* "4:05", "1:02:03". */
static void format_time(double seconds, char *out, size_t size)
{
    const uint64_t s = (uint64_t)ceil(seconds);
    if (s >= 3600)
        snprintf(out, size, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, size, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
}

static void print_cell_end(const struct cell_run *cell, const struct cell_progress *p)
{
    const struct run_outcome *out = &cell->outcome;
    char label[LABEL_BYTES];
    char summary[512];
    char time[48];
    cell_label(cell->e, label, sizeof label);
    format_time(cell->seconds, time, sizeof time);
    progress_format_summary(summary, sizeof summary, out->split, out->measure, &out->summary);
    if (!p->quiet || cell->fate == FATE_FAILED)
        fprintf(stderr, "[%zu/%zu] %s: ", p->ended, p->cells, label);
    if (cell->fate == FATE_FAILED)
        fprintf(stderr, "failed: %s\n", out->error.text);
    else if (p->quiet)
        return;
    else if (cell->fate == FATE_INTERRUPTED && out->rounds == 0)
        fputs("stopped\n", stderr);
    else if (cell->fate == FATE_INTERRUPTED)
        fprintf(stderr, "stopped, %" PRIu32 " of %" PRIu32 " round%s saved\n", out->saved,
                out->rounds, out->rounds == 1 ? " is" : "s are");
    else if (cell->fate == FATE_LEFT_ALONE)
        fputs("was complete\n", stderr);
    else if (out->saved < out->rounds)
        fprintf(stderr, "%" PRIu32 " of %" PRIu32 " round%s, %s (%s)\n", out->saved, out->rounds,
                text_plural(out->rounds), summary, time);
    else
        fprintf(stderr, "%s (%s)\n", summary[0] != '\0' ? summary : "done", time);
}

/* For scripts. */
static void print_folder(const struct cell_run *cell)
{
    if (cell->fate != FATE_DONE && cell->fate != FATE_LEFT_ALONE)
        return;
    printf("%s\n", cell->outcome.folder);
    fflush(stdout);
}

static void print_cell_and_folder(const struct cell_run *cell, const struct cell_progress *p)
{
    print_cell_end(cell, p);
    print_folder(cell);
}

const struct cell_watcher *cells_printer(bool with_folders)
{
    static const struct cell_watcher plain = {
        .line = print_line, .stop = print_stop, .end = print_cell_end};
    static const struct cell_watcher folders = {
        .line = print_line, .stop = print_stop, .end = print_cell_and_folder};
    return with_folders ? &folders : &plain;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* "osafl report DIR" for the folder that holds all cells' results. */
static void suggest_report(const struct cell_run *run, size_t n, const char *base)
{
    bool one = true;
    for (size_t i = 1; i < n; i++)
        one = one && strcmp(run[i].e->general.name, run[0].e->general.name) == 0;
    fprintf(stderr, "osafl: all %zu cells are done; osafl report %s%s%s prints their tables\n", n,
            base, one ? "/" : "", one ? run[0].e->general.name : "");
}

/* Cells that were complete stay as another program, plugin, machine or other data made them. */
static void print_changes(const struct cell_run *run, size_t n)
{
    const struct cell_run *first = NULL;
    char label[LABEL_BYTES];
    size_t changed = 0;
    for (size_t i = 0; i < n; i++) {
        if (run[i].fate != FATE_LEFT_ALONE || run[i].outcome.changes[0] == '\0')
            continue;
        first = first != NULL ? first : &run[i];
        changed++;
    }
    if (first == NULL)
        return;
    cell_label(first->e, label, sizeof label);
    fprintf(stderr,
            "osafl: warning: %zu of the cells that were complete would differ if run now; %s: "
            "%s; --force runs them again\n",
            changed, label, first->outcome.changes);
}

void cells_print_end(const struct cell_run *run, size_t n, int status, const struct run_options *o)
{
    size_t count[FATE_FAILED + 1] = {0};
    char label[LABEL_BYTES];
    for (size_t i = 0; i < n; i++)
        count[run[i].fate]++;
    const size_t done = count[FATE_DONE] + count[FATE_LEFT_ALONE];
    if (count[FATE_FAILED] > 0)
        fprintf(stderr, "osafl: %zu of %zu cells failed:\n", count[FATE_FAILED], n);
    for (size_t i = 0; i < n; i++) {
        cell_label(run[i].e, label, sizeof label);
        if (run[i].fate == FATE_FAILED)
            fprintf(stderr, "  %s: %s\n", label, run[i].outcome.error.text);
    }
    for (size_t i = 0; i < n; i++) {
        cell_label(run[i].e, label, sizeof label);
        if (run[i].fate == FATE_DONE && run[i].outcome.summary.participations == 0)
            fprintf(stderr, "osafl: warning: %s: " NOBODY_TOOK_PART "\n", label);
    }
    print_changes(run, n);
    if (status == EXIT_INTERRUPTED)
        fprintf(stderr,
                "osafl: %zu of %zu cells are done, %zu stopped and are saved, %zu have not begun; "
                "run the same command again to resume\n",
                done, n, count[FATE_INTERRUPTED], count[FATE_NOT_BEGUN]);
    else if (count[FATE_FAILED] > 0)
        fprintf(stderr, "osafl: the same command runs them again and leaves the others alone\n");
    else if (n > 0 && !o->quiet)
        suggest_report(run, n, o->base != NULL ? o->base : RUN_BASE);
}
