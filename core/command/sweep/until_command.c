/* until_command.c - "osafl run FILE --until ...": seeds are added until an interval is narrow. */
#include "until_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/text.h"
#include "cell_print.h"
#include "command/report/paired.h"
#include "experiment/experiment.h"
#include "results/measures.h"
#include "results/round_values.h"
#include "results/run_folder.h"
#include "until_check.h"

/* What a run came to. */
struct until_value {
    char cell[256]; /* "osafl", "osafl,quantizer.qsgd.levels=2" */
    int64_t seed;
    double value;
};

struct until {
    const struct until_options *o;
    struct loader *loader;
    struct diagnostics *d;
    int64_t first_seed;
    double start_s;
    struct until_value *value; /* [values] */
    size_t values;
};

/* ---- running ------------------------------------------------------------------------------- */

/* "seeds=[1, 2, 3]"; free(). */
static char *seeds_setting(int64_t first, uint32_t n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        fprintf(memory, "%s%" PRId64, i > 0 ? ", " : "seeds=[", first + i);
    fputs("]", memory);
    return fclose(memory) == 0 ? text : NULL;
}

/* The cells of so many seeds; NULL with errors in u->d. */
static struct grid *load_seeds(const struct until *u, uint32_t n)
{
    const struct until_options *o = u->o;
    const char **set = calloc(o->n_set + 1, sizeof *set);
    char *seeds = seeds_setting(u->first_seed, n);
    struct grid *g = NULL;
    if (set == NULL || seeds == NULL) {
        diagnostics_no_memory(u->d);
    } else {
        memcpy(set, o->set, o->n_set * sizeof *set);
        set[o->n_set] = seeds;
        const struct experiment_options e = {
            .set = set, .n_set = o->n_set + 1, .loader = u->loader};
        g = grid_load(o->file, &o->request, &e, u->d);
    }
    free(seeds);
    free(set);
    return g;
}

/* A measure in the last round.  The loss of a run that diverged is refused. */
static osafl_status read_last(const struct cell_run *run, const char *measure, bool classifies,
                              double *out, struct error *error)
{
    const char *folder = run->outcome.folder;
    const uint32_t rounds = (uint32_t)run->e->general.rounds;
    struct round_values v;
    OSAFL_TRY(round_values_read(folder, measure, rounds, &v, error));
    uint32_t first = 0;
    while (first < v.rounds && isnan(v.value[first]))
        first++;
    const double last = v.rounds > 0 ? v.value[v.rounds - 1] : (double)NAN;
    const double limit =
        strcmp(measure, "loss") == 0
            ? measure_loss_limit(classifies, first < v.rounds ? v.value[first] : (double)NAN)
            : HUGE_VAL;
    osafl_status status = OSAFL_OK;
    if (v.measure[0] == '\0' || v.rounds < rounds)
        status = error_set(error, OSAFL_E_DATA, "%s has no %s in its last round", folder, measure);
    else if (isnan(last) || last > limit)
        status = error_set(error, OSAFL_E_DATA,
                           "%s diverged: its last %s is not finite, or a loss above %g; a smaller "
                           "learning rate may help",
                           folder, measure, MEASURE_LOSS_LIMIT);
    *out = last;
    round_values_free(&v);
    return status;
}

static bool has_measure(const struct cell_run *run, const char *measure)
{
    struct error error;
    struct round_values v;
    if (round_values_read(run->outcome.folder, measure, 1, &v, &error) != OSAFL_OK)
        return false;
    const bool has = v.measure[0] != '\0';
    round_values_free(&v);
    return has;
}

/* The value of the last round.  An accuracy beside a loss that diverged is refused too. */
static osafl_status read_value(const struct until *u, const struct cell_run *run,
                               struct until_value *out, struct error *error)
{
    const bool classifies = has_measure(run, "accuracy");
    OSAFL_TRY(read_last(run, u->o->plan.measure, classifies, &out->value, error));
    if (has_measure(run, "loss")) {
        double loss;
        OSAFL_TRY(read_last(run, "loss", classifies, &loss, error));
    }
    snprintf(out->cell, sizeof out->cell, "%s", run->e->case_name);
    out->seed = run->e->general.seed;
    return OSAFL_OK;
}

static int note_values(struct until *u, const struct cell_run *run, size_t n)
{
    struct error error;
    struct until_value *longer = realloc(u->value, (u->values + n) * sizeof *longer);
    if (longer == NULL) {
        diagnostics_no_memory(u->d);
        return EXIT_RUN_FAILED;
    }
    u->value = longer;
    for (size_t i = 0; i < n; i++) {
        const osafl_status status = read_value(u, &run[i], &u->value[u->values], &error);
        if (status != OSAFL_OK) {
            diagnostics_error(u->d, NULL, 0, "%s", error.text);
            return run_exit_status(status);
        }
        u->values++;
    }
    return EXIT_RUN_OK;
}

/* A limit of time is one of all looks together. */
static struct cell_runner_options runner_in_time(const struct until *u)
{
    struct cell_runner_options runner = u->o->runner;
    if (runner.run.max_time_s > 0.0)
        runner.run.max_time_s = fmax(1e-3, runner.run.max_time_s - (now_s() - u->start_s));
    return runner;
}

/* Runs the seeds from number `done` on, up to number n. */
static int run_seeds(struct until *u, uint32_t done, uint32_t n)
{
    struct grid *g = load_seeds(u, n);
    if (g == NULL)
        return EXIT_USAGE;
    struct cell_run *run = calloc(g->n + 1, sizeof *run);
    int status = EXIT_RUN_FAILED;
    size_t cells = 0;
    if (run == NULL) {
        diagnostics_no_memory(u->d);
    } else {
        for (size_t i = 0; i < g->n; i++) {
            if (g->cells[i]->general.seed >= u->first_seed + (int64_t)done)
                run[cells++].e = g->cells[i];
        }
        const struct cell_runner_options runner = runner_in_time(u);
        status = cells_run(run, cells, u->loader, &runner);
        if (status == EXIT_RUN_OK)
            status = note_values(u, run, cells);
        else
            cells_print_end(run, cells, status, &u->o->runner.run);
    }
    free(run);
    grid_destroy(g);
    return status;
}

/* ---- looking ------------------------------------------------------------------------------- */

/* The part of a cell's name behind its case; NULL: it is of another case. */
static const char *behind_case(const char *cell, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(cell, name, n) == 0 && (cell[n] == '\0' || cell[n] == ',') ? cell + n : NULL;
}

/* Differences of a pair of cells, in the order of the seeds; their number. */
static size_t collect_pair(const struct until *u, const char *behind, double *difference)
{
    size_t n = 0;
    for (size_t i = 0; i < u->values; i++) {
        const struct until_value *a = &u->value[i];
        const char *of = behind_case(a->cell, u->o->plan.plus);
        for (size_t k = 0; of != NULL && strcmp(of, behind) == 0 && k < u->values; k++) {
            const struct until_value *b = &u->value[k];
            const char *other = behind_case(b->cell, u->o->plan.minus);
            if (other != NULL && strcmp(other, behind) == 0 && a->seed == b->seed)
                difference[n++] = a->value - b->value;
        }
    }
    return n;
}

/* Why differences have no interval; NULL: they have one. */
static const char *no_interval(const double *difference, size_t n)
{
    if (n < UNTIL_FEWEST_SEEDS)
        return "no interval: fewer than 5 pairs prove nothing";
    if (!paired_all_equal(difference, n))
        return NULL;
    return difference[0] == 0.0 ? "no interval: every pair is a tie"
                                : "no interval: all differences are equal";
}

/* Prints the interval of a pair; its width, HUGE_VAL: it has none. */
static double look_at_pair(const struct until *u, const char *behind, double *difference)
{
    const struct until_plan *p = &u->o->plan;
    const size_t n = collect_pair(u, behind, difference);
    const char *why = no_interval(difference, n);
    const double probability = until_plan_probability(p);
    double width = HUGE_VAL;
    printf("%zu seed%s: %s, %s - %s%s: ", n, n == 1 ? "" : "s", p->measure, p->plus, p->minus,
           behind);
    if (why != NULL) {
        puts(why);
    } else {
        const struct interval found = paired_student(difference, n, probability);
        width = found.high - found.low;
        printf("mean %+.6g, %.2f %% interval %+.6g to %+.6g, width %.4g\n",
               (found.low + found.high) / 2, 100 * probability, found.low, found.high, width);
    }
    fflush(stdout);
    return width;
}

/* The greatest width over all pairs. */
static double look(const struct until *u)
{
    double *difference = calloc(u->values + 1, sizeof *difference);
    double widest = difference != NULL ? 0.0 : HUGE_VAL;
    for (size_t i = 0; difference != NULL && i < u->values; i++) {
        const char *behind = behind_case(u->value[i].cell, u->o->plan.plus);
        if (behind == NULL || u->value[i].seed != u->first_seed)
            continue;
        if (collect_pair(u, behind, difference) > 0)
            widest = fmax(widest, look_at_pair(u, behind, difference));
    }
    free(difference);
    return widest;
}

static int run_looks(struct until *u)
{
    const struct until_plan *p = &u->o->plan;
    double width = HUGE_VAL;
    for (size_t i = 0; i < p->looks; i++) {
        const int status = run_seeds(u, i > 0 ? p->look[i - 1] : 0, p->look[i]);
        if (status != EXIT_RUN_OK)
            return status;
        width = look(u);
        if (width < p->width) {
            printf("narrow enough after %" PRIu32 " seed%s\n", p->look[i], text_plural(p->look[i]));
            return EXIT_RUN_OK;
        }
    }
    if (isfinite(width))
        fprintf(stderr,
                "osafl: after all %" PRIu32 " seeds of the plan the width is %.4g, not below %g\n",
                p->max_seeds, width, p->width);
    else
        fprintf(stderr,
                "osafl: after all %" PRIu32 " seeds of the plan a pair has no interval: are its "
                "cases the same under two names?\n",
                p->max_seeds);
    return EXIT_RUN_FAILED;
}

/* ---- beginning ----------------------------------------------------------------------------- */

static void check_case(const struct until *u, const struct grid *g, const char *name)
{
    char list[512] = "";
    for (size_t i = 0; i < g->n; i++) {
        const char *found = g->cells[i]->case_name;
        char plain[128];
        if (behind_case(found, name) != NULL)
            return;
        snprintf(plain, sizeof plain, "%.*s", (int)strcspn(found, ","), found);
        if (i == 0 || g->cells[i]->case_index != g->cells[i - 1]->case_index)
            text_append_item(list, sizeof list, ", ", plain);
    }
    diagnostics_error(u->d, u->o->file, 0, "has no case \"%s\", which --until names%s; it has %s",
                      name, u->o->request.n_only > 0 ? ", among those of --only" : "", list);
}

/* The cell with which one of the first case makes a pair; NULL. */
static struct experiment *partner(const struct until *u, const struct grid *g,
                                  const struct experiment *e)
{
    const char *behind = behind_case(e->case_name, u->o->plan.plus);
    for (size_t i = 0; behind != NULL && i < g->n; i++) {
        const char *other = behind_case(g->cells[i]->case_name, u->o->plan.minus);
        if (other != NULL && strcmp(other, behind) == 0 &&
            g->cells[i]->general.seed == e->general.seed)
            return g->cells[i];
    }
    return NULL;
}

/* The cells of the first seed that make pairs, two for each; their number. */
static size_t collect_pairs(const struct until *u, const struct grid *g, struct experiment **out)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) {
        struct experiment *e = g->cells[i];
        struct experiment *other = partner(u, g, e);
        if (other == NULL || e->general.seed != u->first_seed)
            continue;
        if (e->general.rounds != other->general.rounds)
            diagnostics_error(u->d, u->o->file, 0,
                              "%s and %s run for %" PRId64 " and %" PRId64
                              " rounds, and --until compares their last ones",
                              e->case_name, other->case_name, e->general.rounds,
                              other->general.rounds);
        out[n++] = e;
        out[n++] = other;
    }
    if (n == 0)
        diagnostics_error(u->d, u->o->file, 0,
                          "%s and %s have no cells with the same seed and varied settings",
                          u->o->plan.plus, u->o->plan.minus);
    return n;
}

/* Both cases are there, make pairs and have the measure. */
static int check_plan(const struct until *u, const struct grid *g)
{
    const struct until_options *o = u->o;
    struct experiment **cell = calloc(2 * g->n, sizeof(struct experiment *));
    int status = EXIT_USAGE;
    if (cell == NULL) {
        diagnostics_no_memory(u->d);
        return EXIT_RUN_FAILED;
    }
    check_case(u, g, o->plan.plus);
    check_case(u, g, o->plan.minus);
    const size_t n = diagnostics_errors(u->d) == 0 ? collect_pairs(u, g, cell) : 0;
    if (diagnostics_errors(u->d) == 0) {
        struct cell_runner_options runner = runner_in_time(u);
        runner.run.measure = o->plan.measure;
        status = until_check(cell, n, u->loader, &runner, u->d);
    }
    free(cell);
    return status;
}

/* Nothing is run and no plan recorded before all that can be known of them is right. */
static int begin(struct until *u)
{
    const struct until_options *o = u->o;
    struct error error;
    const struct experiment_options e = {.set = o->set, .n_set = o->n_set, .loader = u->loader};
    struct grid *g = grid_load(o->file, &o->request, &e, u->d);
    if (g == NULL)
        return EXIT_USAGE;
    u->first_seed = g->cells[0]->general.seed;
    int status = check_plan(u, g);
    char *folder = experiment_folder_path(o->runner.run.base, g->cells[0]->general.name);
    osafl_status recorded = OSAFL_OK;
    if (folder == NULL)
        recorded = error_set(&error, OSAFL_E_NOMEM, "out of memory for a plan");
    else if (status == EXIT_RUN_OK)
        recorded = until_plan_record(&o->plan, u->first_seed, folder, o->file, &error);
    if (recorded != OSAFL_OK) {
        diagnostics_error(u->d, NULL, 0, "%s", error.text);
        status = run_exit_status(recorded);
    }
    free(folder);
    grid_destroy(g);
    return status;
}

int until_command(const struct until_options *o, struct loader *l, struct diagnostics *d)
{
    struct until u = {.o = o, .loader = l, .d = d, .start_s = now_s()};
    int status = begin(&u);
    if (status == EXIT_RUN_OK)
        status = run_looks(&u);
    free(u.value);
    return status;
}
