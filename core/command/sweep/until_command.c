/* until_command.c - "osafl run FILE --until ...": seeds are added until an interval is narrow. */
#include "until_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "cell_print.h"
#include "command/report/paired.h"
#include "experiment/experiment.h"
#include "results/round_values.h"
#include "results/run_folder.h"

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

/* The value of the last round. */
static osafl_status read_value(const struct until *u, const struct cell_run *run,
                               struct until_value *out, struct error *error)
{
    const char *folder = run->outcome.folder;
    struct round_values v;
    OSAFL_TRY(round_values_read(folder, (uint32_t)run->e->general.rounds, &v, error));
    osafl_status status = OSAFL_OK;
    if (strcmp(v.measure, u->o->plan.measure) != 0)
        status = error_set(error, OSAFL_E_CONFIG,
                           "--until asks for %s, and the first measure of %s is %s",
                           u->o->plan.measure, folder, v.measure);
    else if (v.rounds == 0 || !isfinite(v.value[v.rounds - 1]))
        status = error_set(error, OSAFL_E_DATA, "%s has no finite %s in its last round", folder,
                           v.measure);
    else
        out->value = v.value[v.rounds - 1];
    round_values_free(&v);
    snprintf(out->cell, sizeof out->cell, "%s", run->e->case_name);
    out->seed = run->e->general.seed;
    return status;
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
        status = cells_run(run, cells, u->loader, &u->o->runner);
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

/* Prints the interval of a pair; its width. */
static double look_at_pair(const struct until *u, const char *behind, double *difference)
{
    const struct until_plan *p = &u->o->plan;
    const size_t n = collect_pair(u, behind, difference);
    const double probability = until_plan_probability(p);
    const struct interval found = paired_student(difference, n, probability);
    printf("%zu seeds: %s, %s - %s%s: mean %+.6g, %.2f %% interval %+.6g to %+.6g, width %.4g\n", n,
           p->measure, p->plus, p->minus, behind, (found.low + found.high) / 2, 100 * probability,
           found.low, found.high, found.high - found.low);
    fflush(stdout);
    return found.high - found.low;
}

/* The greatest width over all pairs; NAN: a case has no runs. */
static double look(const struct until *u)
{
    double *difference = calloc(u->values + 1, sizeof *difference);
    double widest = (double)NAN;
    for (size_t i = 0; difference != NULL && i < u->values; i++) {
        const char *behind = behind_case(u->value[i].cell, u->o->plan.plus);
        if (behind == NULL || u->value[i].seed != u->first_seed ||
            collect_pair(u, behind, difference) == 0)
            continue;
        widest = fmax(widest, look_at_pair(u, behind, difference));
    }
    free(difference);
    return widest;
}

static int run_looks(struct until *u)
{
    const struct until_plan *p = &u->o->plan;
    double width = (double)NAN;
    for (size_t i = 0; i < p->looks; i++) {
        const int status = run_seeds(u, i > 0 ? p->look[i - 1] : 0, p->look[i]);
        if (status != EXIT_RUN_OK)
            return status;
        width = look(u);
        if (width < p->width) {
            printf("narrow enough after %" PRIu32 " seeds\n", p->look[i]);
            return EXIT_RUN_OK;
        }
    }
    fprintf(stderr,
            "osafl: after all %" PRIu32 " seeds of the plan the width is %.4g, not below %g\n",
            p->max_seeds, width, p->width);
    return EXIT_RUN_FAILED;
}

/* ---- beginning ----------------------------------------------------------------------------- */

static bool has_case(const struct grid *g, const char *name)
{
    for (size_t i = 0; i < g->n; i++) {
        if (behind_case(g->cells[i]->case_name, name) != NULL)
            return true;
    }
    return false;
}

/* The first seed, and whether both cases are there; the plan is recorded. */
static bool begin(struct until *u)
{
    const struct until_options *o = u->o;
    struct error error;
    const struct experiment_options e = {.set = o->set, .n_set = o->n_set, .loader = u->loader};
    struct grid *g = grid_load(o->file, &o->request, &e, u->d);
    if (g == NULL)
        return false;
    const char *const name[] = {o->plan.plus, o->plan.minus};
    for (int i = 0; i < 2; i++) {
        if (!has_case(g, name[i]))
            diagnostics_error(u->d, o->file, 0, "has no case \"%s\", which --until names", name[i]);
    }
    u->first_seed = g->cells[0]->general.seed;
    char *folder = experiment_folder_path(o->runner.run.base, g->cells[0]->general.name);
    if (folder == NULL)
        diagnostics_no_memory(u->d);
    else if (diagnostics_errors(u->d) == 0 &&
             until_plan_record(&o->plan, u->first_seed, folder, o->file, &error) != OSAFL_OK)
        diagnostics_error(u->d, NULL, 0, "%s", error.text);
    free(folder);
    grid_destroy(g);
    return diagnostics_errors(u->d) == 0;
}

int until_command(const struct until_options *o, struct loader *l, struct diagnostics *d)
{
    struct until u = {.o = o, .loader = l, .d = d};
    const int status = begin(&u) ? run_looks(&u) : EXIT_USAGE;
    free(u.value);
    return status;
}
