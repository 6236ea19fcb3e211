/* verify_command.c - "osafl verify DIR...": computes kept runs again and compares the bytes. */
#include "verify_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diagnostics.h"
#include "base/exit_status.h"
#include "base/file_read.h"
#include "base/folder.h"
#include "base/text.h"
#include "command/report/cell_finder.h"
#include "command/report/checked_alloc.h"
#include "command/report/result_text.h"
#include "command/run/run_print.h"
#include "command/sweep/cell_print.h"
#include "command/sweep/cell_runner.h"
#include "kept_compare.h"
#include "kept_experiment.h"
#include "results/checkpoint.h"

enum { MOST_STARTS = CHECKPOINT_SLOTS + 1 };

/* Rounds [first, until) of a run, that are computed from its start or from a checkpoint. */
struct stretch {
    int slot; /* of the checkpoint; -1: the start */
    uint32_t first;
    uint32_t until;
};

/* One kept run that is computed again. */
struct verification {
    const struct verify_options *o;
    struct loader *loader;
    const struct result_cell *cell;
    struct experiment *e;
    char *again; /* folder in which a stretch is computed */
    struct stretch stretch[MOST_STARTS];
    size_t stretches;
    bool
        start_only; /* of the rounds that --rounds asks for, as there is no checkpoint among them */
};

static void say(const struct verification *v, const char *what, const char *why)
{
    printf("%s: %s%s%s\n", v->cell->folder, what, why[0] != '\0' ? ": " : "", why);
    fflush(stdout);
}

/* ---- which rounds -------------------------------------------------------------------------- */

/* Where a computation can begin, in the order of the rounds. */
static void find_starts(struct verification *v, uint32_t kept)
{
    struct run_folder folder = {.path = checked_copy(v->cell->folder), .lock_fd = -1};
    uint32_t round[CHECKPOINT_SLOTS];
    v->stretch[0] = (struct stretch){.slot = -1};
    v->stretches = 1;
    checkpoint_rounds(&folder, v->e->identity, round);
    for (int slot = 0; slot < CHECKPOINT_SLOTS; slot++) {
        if (round[slot] >= kept)
            continue;
        size_t at = v->stretches++;
        for (; at > 1 && v->stretch[at - 1].first > round[slot]; at--)
            v->stretch[at] = v->stretch[at - 1];
        v->stretch[at] = (struct stretch){.slot = slot, .first = round[slot]};
    }
    free(folder.path);
}

/* Draws so many rounds of those that the stretches hold; each then ends with the last one that was
 * drawn from it. */
static void draw_rounds(struct verification *v, uint32_t wanted)
{
    struct timespec now;
    uint32_t left = 0;
    size_t n = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned seed = (unsigned)now.tv_nsec;
    for (size_t i = 0; i < v->stretches; i++)
        left += v->stretch[i].until - v->stretch[i].first;
    for (size_t i = 0; i < v->stretches; i++) {
        struct stretch s = v->stretch[i];
        const uint32_t end = s.until;
        s.until = s.first;
        for (uint32_t round = s.first; round < end; round++, left--) {
            if ((uint32_t)rand_r(&seed) % left >= wanted)
                continue;
            wanted--;
            s.until = round + 1;
        }
        if (s.until > s.first)
            v->stretch[n++] = s;
    }
    v->stretches = n;
}

/* All rounds; or so many of those that the start and the checkpoints reach, each as far as the next
 * checkpoint was, and without checkpoints the first ones. */
static void choose_rounds(struct verification *v)
{
    const uint32_t kept = (uint32_t)v->cell->recorded_rounds;
    const uint32_t wanted = v->o->rounds;
    v->stretch[0] = (struct stretch){.slot = -1, .until = kept};
    v->stretches = 1;
    if (wanted == 0 || wanted >= kept)
        return;
    find_starts(v, kept);
    v->start_only = v->stretches == 1;
    uint32_t reach = (uint32_t)v->e->general.checkpoint_every;
    reach = v->start_only || reach < wanted ? wanted : reach;
    for (size_t i = 0; i < v->stretches; i++) {
        struct stretch *s = &v->stretch[i];
        const uint32_t end = i + 1 < v->stretches ? v->stretch[i + 1].first : kept;
        s->until = end - s->first > reach ? s->first + reach : end;
    }
    draw_rounds(v, wanted);
}

static osafl_status copy_file(const struct verification *v, const char *name, const char *as,
                              struct error *error)
{
    char *from = checked_format("%s/%s", v->cell->folder, name);
    struct run_folder to = {.path = v->again, .lock_fd = -1};
    size_t size = 0;
    int problem = 0;
    void *data = file_read(from, SIZE_MAX - 1, &size, &problem);
    const osafl_status status = data == NULL ? error_io(error, problem, "read", from)
                                             : run_folder_replace(&to, as, data, size, error);
    free(data);
    free(from);
    return status;
}

/* What a run goes on from. */
static osafl_status copy_start(const struct verification *v, int slot, struct error *error)
{
    OSAFL_TRY(folder_create(v->again, error));
    if (slot < 0)
        return OSAFL_OK;
    OSAFL_TRY(copy_file(v, "manifest.json", "manifest.json", error));
    for (int i = 0; i < RESULT_TABLES; i++)
        OSAFL_TRY(copy_file(v, result_table_name[i], result_table_name[i], error));
    return copy_file(v, checkpoint_file[slot], checkpoint_file[0], error);
}

/* ---- running and comparing ----------------------------------------------------------------- */

static void hear_line(const struct cell_run *cell, const char *line)
{
    (void)cell;
    fprintf(stderr, "%s\n", line);
}

static void hear_stop(size_t running)
{
    (void)running;
}

static void hear_end(const struct cell_run *cell, const struct cell_progress *p)
{
    (void)cell;
    (void)p;
}

static const struct cell_watcher watcher = {.line = hear_line, .stop = hear_stop, .end = hear_end};

static void run_again(const struct verification *v, uint32_t until, struct cell_run *run)
{
    const struct cell_runner_options o = {.run = {.threads = v->o->threads,
                                                  .out = v->again,
                                                  .accept_changes = true,
                                                  .quiet = v->o->quiet,
                                                  .repeats = v->cell->folder},
                                          .jobs = 1,
                                          .body = run_cell_and_print,
                                          .watcher = &watcher};
    *run = (struct cell_run){.e = v->e, .until_round = until};
    (void)cells_run(run, 1, v->loader, &o);
}

/* The program, plugins or machine that are others now, the first of them. */
static void print_changes(const char *changes)
{
    const int n = (int)strcspn(changes, ";");
    if (n > 0)
        printf("  made otherwise: %.*s%s\n", n, changes, changes[n] != '\0' ? "; ..." : "");
    fflush(stdout);
}

/* EXIT_RUN_OK, or what is different has been said. */
static int judge(const struct verification *v, const struct stretch *s,
                 struct kept_verdict *verdict)
{
    struct error error;
    const struct kept_folders f = {.kept = v->cell->folder,
                                   .again = v->again,
                                   .whole = s->first == 0 && s->until == v->cell->planned_rounds};
    if (kept_compare(&f, verdict, &error) != OSAFL_OK) {
        say(v, "cannot be compared", error.text);
        return EXIT_RUN_FAILED;
    }
    if (verdict->difference[0] == '\0')
        return EXIT_RUN_OK;
    say(v, "differs", verdict->difference);
    return EXIT_RUN_FAILED;
}

static int compute_and_judge(const struct verification *v, const struct stretch *s,
                             struct cell_run *run, struct kept_verdict *verdict)
{
    struct error error;
    if (copy_start(v, s->slot, &error) != OSAFL_OK) {
        say(v, "cannot be computed", error.text);
        return EXIT_RUN_FAILED;
    }
    run_again(v, s->until, run);
    if (run->fate == FATE_INTERRUPTED || run->fate == FATE_NOT_BEGUN)
        return EXIT_INTERRUPTED;
    /* A run that failed once fails again, behind the rounds that are kept. */
    if (run->outcome.status != EXIT_RUN_OK) {
        say(v, run->outcome.status == EXIT_USAGE ? "lacks something" : "cannot be computed",
            run->outcome.error.text);
        return run->outcome.status;
    }
    const int status = judge(v, s, verdict);
    if (status != EXIT_RUN_OK)
        print_changes(run->outcome.changes);
    return status;
}

static void print_same(const struct verification *v, const struct kept_verdict *verdict,
                       const char *changes)
{
    char words[700];
    char rounds[128] = "";
    for (size_t i = 0; i < v->stretches; i++) {
        char range[40];
        snprintf(range, sizeof range, "%" PRIu32 " to %" PRIu32, v->stretch[i].first,
                 v->stretch[i].until - 1);
        text_append_item(rounds, sizeof rounds, " and ", range);
    }
    snprintf(words, sizeof words, "rounds %s, %s", rounds, verdict->compared);
    say(v, "the same", words);
    if (v->start_only)
        puts("  only its first rounds: there is no checkpoint from which others could be computed");
    print_changes(changes);
}

static int verify_stretches(const struct verification *v)
{
    static struct cell_run run; /* large */
    struct kept_verdict verdict;
    for (size_t i = 0; i < v->stretches; i++) {
        const int status = compute_and_judge(v, &v->stretch[i], &run, &verdict);
        folder_remove(v->again);
        if (status != EXIT_RUN_OK)
            return status;
    }
    print_same(v, &verdict, run.outcome.changes);
    return EXIT_RUN_OK;
}

/* ---- one run after the other --------------------------------------------------------------- */

static void print_lacks(const struct verification *v, const struct diagnostics *d)
{
    char *text = diagnostics_text(d);
    if (text != NULL)
        say(v, "lacks something", text);
    free(text);
}

static int verify_run(struct verification *v, const char *folder)
{
    if (v->cell->recorded_rounds == 0) {
        say(v, "lacks something", "no round of it is kept");
        return EXIT_USAGE;
    }
    if (v->cell->recorded_rounds < v->cell->planned_rounds &&
        folder_has(v->cell->folder, "model.safetensors")) {
        say(v, "differs", "rounds.csv ends early; the run came to its end, since it has a model");
        return EXIT_RUN_FAILED;
    }
    struct diagnostics *d = diagnostics_create();
    if (d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    int status = EXIT_USAGE;
    v->e = kept_experiment(v->cell->manifest, v->o->set, v->o->n_set, v->loader, d);
    if (v->e == NULL) {
        print_lacks(v, d);
    } else {
        choose_rounds(v);
        v->again = checked_format("%s/run", folder);
        status = verify_stretches(v);
        free(v->again);
    }
    experiment_destroy(v->e);
    diagnostics_destroy(d);
    return status;
}

static int verify_runs(const struct found_cells *found, const struct verify_options *o,
                       struct loader *l)
{
    struct error error;
    char *folder = folder_temporary(&error);
    if (folder == NULL) {
        result_say("osafl verify", error.text);
        return EXIT_RUN_FAILED;
    }
    size_t count[EXIT_INTERRUPTED + 1] = {0};
    for (size_t i = 0; i < found->cells && count[EXIT_INTERRUPTED] == 0; i++) {
        struct verification v = {.o = o, .loader = l, .cell = found->cell[i]};
        count[verify_run(&v, folder)]++;
    }
    folder_remove(folder);
    free(folder);
    for (size_t i = 0; i < found->n_unreadable; i++) {
        const struct unreadable_cell *u = &found->unreadable[i];
        printf("%s: %s: %s\n", u->folder, u->damaged ? "damaged" : "lacks something", u->message);
        count[u->damaged ? EXIT_RUN_FAILED : EXIT_USAGE]++;
    }
    if (found->cells + found->n_unreadable > 1)
        printf("%zu runs: %zu the same, %zu different or damaged, %zu lacking something\n",
               found->cells + found->n_unreadable, count[EXIT_RUN_OK], count[EXIT_RUN_FAILED],
               count[EXIT_USAGE]);
    if (count[EXIT_INTERRUPTED] > 0)
        return EXIT_INTERRUPTED;
    return count[EXIT_RUN_FAILED] > 0 ? EXIT_RUN_FAILED
           : count[EXIT_USAGE] > 0    ? EXIT_USAGE
                                      : EXIT_RUN_OK;
}

int verify_command(const struct verify_options *o, struct loader *l)
{
    struct found_cells found = {.cells = 0};
    struct error error;
    osafl_status status = find_all_cells(o->folder, o->folders, &found, &error);
    if (status == OSAFL_OK)
        status = keep_only(&found, o->only, o->n_only, &error);
    int result = EXIT_USAGE;
    if (status == OSAFL_OK)
        result = verify_runs(&found, o, l);
    else
        result_say("osafl verify", error.text);
    found_cells_free(&found);
    return result;
}
