/* tune_command.c - "osafl tune": the settings with which each case of an experiment learns best. */
#include "tune_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/text.h"
#include "cell_print.h"
#include "results/measures.h"
#include "results/round_values.h"
#include "tune_trial.h"

/* Parts of the rounds after which settings are compared. */
static const double cuts[] = {0.25, 0.5, 1.0};
enum { CUTS = sizeof cuts / sizeof cuts[0] };

struct tuning {
    const struct grid *grid;
    const struct tune_options *o;
    struct loader *loader;
    struct trial *trial; /* [trials], problem by problem */
    size_t trials;
    struct cell_run *run; /* room for all cells */
    double started_s;
};

/* The first evaluation at or after the cut. */
static uint32_t rounds_at(const struct trial *t, size_t cut)
{
    const double rounds = (double)t->cell[0]->general.rounds;
    const double every = (double)t->cell[0]->evaluation.every;
    return (uint32_t)fmin(rounds, every * ceil(ceil(cuts[cut] * rounds) / every));
}

/* ---- running --------------------------------------------------------------------------------- */

/* The best value of the first measure in a run's first rounds. */
static osafl_status read_best(const char *folder, uint32_t rounds, struct trial *t, double *best,
                              struct error *error)
{
    struct round_values v = {0};
    OSAFL_TRY(round_values_read(folder, NULL, rounds, &v, error));
    memcpy(t->measure, v.measure, sizeof t->measure);
    const bool higher = measure_higher_is_better(t->measure);
    *best = (double)NAN;
    for (size_t i = 0; i < v.rounds; i++) {
        const double x = v.value[i];
        if (isfinite(x) && (isnan(*best) || (higher ? x > *best : x < *best)))
            *best = x;
    }
    round_values_free(&v);
    if (isnan(*best))
        return error_set(error, OSAFL_E_DATA, "no finite value in %u rounds", rounds);
    return OSAFL_OK;
}

/* The mean over the seeds; a seed that failed ends the trial. */
static void judge(struct trial *t, const struct cell_run *run, uint32_t rounds)
{
    double sum = 0.0;
    for (size_t i = 0; i < t->cells; i++) {
        double best = 0.0;
        if (run[i].fate == FATE_FAILED)
            t->failure = run[i].outcome.error;
        else if (read_best(run[i].outcome.folder, rounds, t, &best, &t->failure) == OSAFL_OK)
            t->failure.text[0] = '\0';
        if (t->failure.text[0] != '\0') {
            t->goes_on = false;
            return;
        }
        sum += best;
    }
    t->value = sum / (double)t->cells;
    t->rounds = rounds;
}

/* Brings all trials that go on to the cut. */
static int run_to(struct tuning *u, size_t cut)
{
    size_t n = 0;
    for (size_t k = 0; k < u->trials; k++) {
        const struct trial *t = &u->trial[k];
        for (size_t i = 0; i < t->cells && t->goes_on; i++)
            u->run[n++] = (struct cell_run){.e = t->cell[i], .until_round = rounds_at(t, cut)};
    }
    struct cell_runner_options o = u->o->runner;
    if (o.run.max_time_s > 0.0) /* of the whole command; what is left is at least a moment */
        o.run.max_time_s = fmax(1e-3, u->started_s + o.run.max_time_s - now_s());
    const int status = cells_run(u->run, n, u->loader, &o);
    if (status == EXIT_INTERRUPTED) {
        cells_print_end(u->run, n, status, &u->o->runner.run);
        return status;
    }
    n = 0;
    for (size_t k = 0; k < u->trials; k++) {
        struct trial *t = &u->trial[k];
        if (!t->goes_on)
            continue;
        judge(t, &u->run[n], rounds_at(t, cut));
        n += t->cells;
    }
    return EXIT_RUN_OK;
}

/* The number of trials from `begin` on that are of one problem. */
static size_t problem_trials(const struct tuning *u, size_t begin)
{
    size_t end = begin;
    while (end < u->trials && u->trial[end].problem == u->trial[begin].problem)
        end++;
    return end - begin;
}

/* Lets the better ones of each problem go on. */
static void cut_trials(struct tuning *u, size_t cut)
{
    for (size_t begin = 0, n; begin < u->trials; begin += n) {
        struct trial *t = &u->trial[begin];
        n = problem_trials(u, begin);
        if (rounds_at(t, cut) == rounds_at(t, cut + 1)) /* one evaluation, one judgement */
            continue;
        size_t going = 0;
        for (size_t i = 0; i < n; i++)
            going += t[i].goes_on;
        const size_t kept = (size_t)ceil(u->o->keep * (double)going);
        for (size_t i = 0; i < n; i++) {
            if (t[i].goes_on && trial_rank(t, n, i) >= kept)
                t[i].goes_on = false;
        }
        fputs("osafl: ", stderr);
        trial_print_problem(u->grid, t, stderr);
        fprintf(stderr, ": after %" PRIu32 " round%s %zu of %zu settings continue%s\n",
                rounds_at(t, cut), text_plural(rounds_at(t, cut)), kept, n, kept == 1 ? "s" : "");
    }
}

/* ---- trials ---------------------------------------------------------------------------------- */

/* Seeds are innermost in a grid, so that the cells of a trial stand side by side. */
static bool collect_trials(struct tuning *u)
{
    const struct grid *g = u->grid;
    u->trial = calloc(g->n + 1, sizeof *u->trial);
    u->run = calloc(g->n + 1, sizeof *u->run);
    if (u->trial == NULL || u->run == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return false;
    }
    for (size_t i = 0; i < g->n; i++) {
        struct trial *last = u->trials > 0 ? &u->trial[u->trials - 1] : NULL;
        if (last != NULL && last->problem == g->places[i].problem &&
            last->setting == g->places[i].setting) {
            last->cells++;
            continue;
        }
        u->trial[u->trials++] = (struct trial){.problem = g->places[i].problem,
                                               .setting = g->places[i].setting,
                                               .cell = &g->cells[i],
                                               .cells = 1,
                                               .value = (double)NAN,
                                               .goes_on = true};
    }
    return true;
}

static int print_results(const struct tuning *u)
{
    int status = EXIT_RUN_OK;
    for (size_t begin = 0, n; begin < u->trials; begin += n) {
        n = problem_trials(u, begin);
        printf("%s", begin > 0 ? "\n" : "");
        if (!trial_print_results(u->grid, &u->trial[begin], n, u->o->key, u->o->n_keys, stdout))
            status = EXIT_RUN_FAILED;
    }
    return status;
}

int tune_command(const struct grid *g, struct loader *l, const struct tune_options *o)
{
    struct tuning u = {.grid = g, .o = o, .loader = l, .started_s = now_s()};
    int status = collect_trials(&u) ? EXIT_RUN_OK : EXIT_RUN_FAILED;
    for (size_t cut = o->keep < 1.0 ? 0 : CUTS - 1; cut < CUTS && status == EXIT_RUN_OK; cut++) {
        status = run_to(&u, cut);
        if (status == EXIT_RUN_OK && cut + 1 < CUTS)
            cut_trials(&u, cut);
    }
    if (status == EXIT_RUN_OK)
        status = print_results(&u);
    free(u.trial);
    free(u.run);
    return status;
}
