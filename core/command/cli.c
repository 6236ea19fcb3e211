/* cli.c - command line of the osafl program. */
#include "cli.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli_help.h"
#include "cli_options.h"
#include "command/bench/bench_command.h"
#include "command/plugin/plugin_command.h"
#include "command/report/plot_command.h"
#include "command/report/report_command.h"
#include "command/run/check_command.h"
#include "command/run/evaluate_command.h"
#include "command/run/resolve_command.h"
#include "command/run/run_print.h"
#include "command/sweep/cell_print.h"
#include "command/sweep/tune_command.h"
#include "command/sweep/tune_range.h"
#include "command/sweep/until_command.h"
#include "command/verify/pack_command.h"
#include "command/verify/verify_command.h"
#include "experiment/cell_shard.h"
#include "experiment/grid.h"
#include "plugin/guard.h"
#include "plugin/launcher.h"
#include "plugin/ranks.h"
#include "results/grid_record.h"
#include "results/manifest.h"

struct command {
    const char *name;
    const char *args; /* for help */
    const char *doc;  /* one sentence; after \v what follows the options */
    int (*run)(const struct command *self, int argc, char **argv);
    unsigned groups; /* of options, CLI_* */
    size_t at_least; /* arguments */
    size_t at_most;
};

/* What a command works with; zero, then work_begin(). */
struct work {
    struct cli_options options;
    struct diagnostics *d;
    struct loader *loader;
    struct grid **grid;  /* of each file, [options.n_arguments]; NULL before they are loaded */
    struct ranks *ranks; /* of a run; NULL: this process alone */
};

static bool work_begin(struct work *w, const struct command *c, int argc, char **argv)
{
    cli_options_parse(&w->options, argc, argv, c->groups, c->args, c->doc, c->at_least, c->at_most);
    w->d = diagnostics_create();
    if (w->d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return false;
    }
    w->loader = loader_create(w->options.plugin_dirs, w->options.n_plugin_dirs, w->d);
    return w->loader != NULL;
}

/* Prints what there is to say and returns the exit status. */
static int work_end(struct work *w, int status)
{
    int result = status;
    struct error told = {0};
    const bool leads = ranks_lead(w->ranks);
    if (w->ranks != NULL)
        run_join_errors(w->d, told.text);
    if (w->d != NULL) {
        if (leads)
            diagnostics_print(w->d, stderr);
        if (diagnostics_errors(w->d) > 0 && status == EXIT_RUN_OK)
            result = EXIT_USAGE;
    }
    if (w->d == NULL || diagnostics_lack_memory(w->d))
        result = EXIT_RUN_FAILED;
    if (w->loader != NULL)
        loader_destroy(w->loader);
    diagnostics_destroy(w->d);
    cli_options_free(&w->options);
    const osafl_status all =
        ranks_close(w->ranks, result == EXIT_RUN_OK ? OSAFL_OK : OSAFL_E_STATE, &told);
    if (result != EXIT_RUN_OK || all == OSAFL_OK)
        return result;
    if (leads)
        fprintf(stderr, "osafl: %s\n", told.text);
    return EXIT_RUN_FAILED;
}

/* The kind of "KIND.plugin=help"; 0: it is none. */
static uint32_t asks_for_plugins(const char *assignment)
{
    static const char rest[] = ".plugin=help";
    const size_t n = strcspn(assignment, ".");
    char kind[16] = "";
    if (n >= sizeof kind || strcmp(assignment + n, rest) != 0)
        return 0;
    memcpy(kind, assignment, n);
    return kind_from_name(kind);
}

static bool answer_questions(const struct work *w)
{
    bool asked = false;
    for (size_t i = 0; i < w->options.n_set; i++) {
        const uint32_t kind = asks_for_plugins(w->options.set[i]);
        if (kind != 0)
            help_list_plugins(w->loader, kind, stdout, w->d);
        asked = asked || kind != 0;
    }
    return asked;
}

/* Fills w->grid; NULL where a file has errors. */
static void load_all(struct work *w)
{
    const struct experiment_options o = {
        .set = w->options.set, .n_set = w->options.n_set, .loader = w->loader};
    const struct grid_request q = {
        .only = w->options.only, .n_only = w->options.n_only, .overlay = w->options.overlay};
    w->grid = calloc(w->options.n_arguments, sizeof *w->grid);
    for (size_t i = 0; w->grid != NULL && i < w->options.n_arguments; i++)
        w->grid[i] = grid_load(w->options.arguments[i], &q, &o, w->d);
    if (w->grid == NULL)
        diagnostics_no_memory(w->d);
}

/* Whether --set picks one value of what the grid varies: "seed=4". */
static bool fixes_grid(const char *assignment, const struct grid *g)
{
    const size_t n = strcspn(assignment, "=");
    bool fixes = n == strlen("seed") && strncmp(assignment, "seed", n) == 0;
    for (size_t i = 0; i < g->n_own_keys; i++)
        fixes =
            fixes || (strlen(g->own_keys[i]) == n && strncmp(assignment, g->own_keys[i], n) == 0);
    return fixes;
}

/* The grid of file i as the file gives it, whichever part of it --only picks and --set fixes; NULL
 * with the reason in d. */
static struct grid *load_whole(const struct work *w, size_t i, struct diagnostics *d)
{
    const struct cli_options *c = &w->options;
    const struct grid_request q = {.overlay = c->overlay};
    struct experiment_options o = {.loader = w->loader};
    const char **set = calloc(c->n_set + 1, sizeof *set);
    if (set == NULL) {
        diagnostics_no_memory(d);
        return NULL;
    }
    struct grid *g = grid_load(c->arguments[i], &q, &o, d);
    if (g != NULL && c->n_set > 0) {
        for (size_t k = 0; k < c->n_set; k++) {
            if (!fixes_grid(c->set[k], g))
                set[o.n_set++] = c->set[k];
        }
        o.set = set;
        grid_destroy(g);
        g = grid_load(c->arguments[i], &q, &o, d);
    }
    free(set);
    return g;
}

/* What is wrong with cells that are not asked for is reported to those who run them. */
static osafl_status record_grid(const struct work *w, size_t i, const char *base,
                                struct error *error)
{
    const struct cli_options *c = &w->options;
    if (c->n_only == 0 && c->n_set == 0)
        return grid_record_write(w->grid[i], c->arguments[i], base, error);
    struct diagnostics *d = diagnostics_create();
    struct grid *g = d != NULL ? load_whole(w, i, d) : NULL;
    osafl_status status = OSAFL_OK;
    if (g != NULL)
        status = grid_record_write(g, c->arguments[i], base, error);
    else if (d == NULL || diagnostics_lack_memory(d))
        status = error_set(error, OSAFL_E_NOMEM, "out of memory");
    grid_destroy(g);
    diagnostics_destroy(d);
    return status;
}

/* Of all grids whose runs have folders below the base; false: an error is reported. */
static bool record_grids(struct work *w)
{
    struct error error;
    const struct run_options *run = &w->options.run;
    const char *base = run->base != NULL ? run->base : RUN_BASE;
    if (run->out != NULL || manifest_is_in(base)) /* which the run refuses */
        return true;
    for (size_t i = 0; i < w->options.n_arguments; i++) {
        if (record_grid(w, i, base, &error) != OSAFL_OK) {
            diagnostics_error(w->d, NULL, 0, "%s", error.text);
            return false;
        }
    }
    return true;
}

/* ---- commands ---- */

/* Does something with the cells of all files and returns an exit status. */
typedef int cells_action(struct work *w, struct experiment *const *cell, size_t n);

static int list_cells(struct experiment *const *cell, size_t n)
{
    char label[320];
    for (size_t i = 0; i < n; i++) {
        cell_label(cell[i], label, sizeof label);
        puts(label);
    }
    return EXIT_RUN_OK;
}

static int refuse_ranks(struct work *w, const char *what)
{
    diagnostics_error(w->d, NULL, 0,
                      "%s and the ranks of a transport cannot be combined: ranks share the work of "
                      "one run; pick a cell with --only, or give --transport none and start one "
                      "process, or one for each --shard",
                      what);
    return EXIT_USAGE;
}

/* Joins the other processes of the run.  False: an error is reported. */
static bool join_ranks(struct work *w)
{
    struct cli_options *o = &w->options;
    const struct ranks_wish wish = {.transport = o->transport,
                                    .limit_s = o->rank_limit_s,
                                    .ranks = o->n_ranks,
                                    .threads = o->run.threads,
                                    .loader = w->loader};
    const bool alone =
        o->transport != NULL ? strcmp(o->transport, "none") == 0 : launch_read().processes == 1;
    const char *many = o->shards > 0      ? "--shard"
                       : o->jobs > 1      ? "--jobs"
                       : o->until != NULL ? "--until"
                                          : NULL;
    if (alone && o->n_ranks > 1) {
        diagnostics_error(w->d, NULL, 0,
                          "--ranks %u: there is one process; start it by mpirun -n %u, or give a "
                          "--transport that starts the others",
                          o->n_ranks, o->n_ranks);
        return false;
    }
    if (alone || o->list)
        return true;
    if (many != NULL) {
        refuse_ranks(w, many);
        return false;
    }
    const bool joined = ranks_open(&wish, w->d, &w->ranks);
    o->run.ranks = w->ranks;
    return joined;
}

/* One status for all ranks; what is wrong on another one is reported here, too. */
static bool all_are_sound(struct work *w)
{
    struct error told = {0};
    const bool sound = diagnostics_errors(w->d) == 0;
    if (!sound)
        run_join_errors(w->d, told.text);
    const osafl_status own = sound                           ? OSAFL_OK
                             : diagnostics_lack_memory(w->d) ? OSAFL_E_NOMEM
                                                             : OSAFL_E_CONFIG;
    const osafl_status all = ranks_share(w->ranks, own, NULL, 0, NULL, &told);
    if (sound && all != OSAFL_OK)
        diagnostics_failure(w->d, all, told.text);
    return all == OSAFL_OK;
}

/* A single cell runs in this process; several in processes of their own. */
static int run_cells(struct work *w, struct experiment *const *cell, size_t n)
{
    const struct cell_runner_options o = {.run = w->options.run,
                                          .jobs = w->options.jobs,
                                          .body = run_cell_and_print,
                                          .watcher = cells_printer(!isatty(STDOUT_FILENO))};
    if (n == 0) /* there are fewer cells than shares */
        fputs("osafl: this share has no cells\n", stderr);
    if (w->options.list)
        return list_cells(cell, n);
    if (w->ranks != NULL && n > 1)
        return refuse_ranks(w, "a grid of several cells");
    if (ranks_lead(w->ranks) && !record_grids(w))
        return EXIT_RUN_FAILED;
    if (n == 1)
        return run_and_print(cell[0], w->loader, &o.run);
    struct cell_run *run = calloc(n + 1, sizeof *run);
    if (run == NULL) {
        diagnostics_no_memory(w->d);
        return EXIT_RUN_FAILED;
    }
    for (size_t i = 0; i < n; i++)
        run[i].e = cell[i];
    const int status = cells_run(run, n, w->loader, &o);
    cells_print_end(run, n, status, &o.run);
    free(run);
    return status;
}

static int check_cells(struct work *w, struct experiment *const *cell, size_t n)
{
    int status = EXIT_RUN_OK;
    for (size_t i = 0; i < n; i++) {
        if (n > 1) {
            char label[320];
            cell_label(cell[i], label, sizeof label);
            printf("%s==== %s\n", i > 0 ? "\n" : "", label);
        }
        fflush(stdout);
        const int one = check_command(cell[i], w->loader);
        if (one != EXIT_RUN_OK)
            status = one;
    }
    return status;
}

/* For a command of one experiment. */
static int refuse_grid(struct work *w, struct experiment *const *cell, size_t n)
{
    char list[1024] = "";
    for (size_t i = 0; i < n; i++) {
        char label[320];
        cell_label(cell[i], label, sizeof label);
        text_append_item(list, sizeof list, "; ", label);
    }
    diagnostics_error(w->d, w->options.arguments[0], 0,
                      "is a grid of %zu cells; pick one with --only, as in --only case=NAME --only "
                      "seed=N, of: %s",
                      n, list);
    return EXIT_USAGE;
}

static int resolve_cells(struct work *w, struct experiment *const *cell, size_t n)
{
    return n == 1 ? resolve_command(cell[0], w->loader) : refuse_grid(w, cell, n);
}

static int evaluate_cells(struct work *w, struct experiment *const *cell, size_t n)
{
    const struct cli_options *o = &w->options;
    return n == 1 ? evaluate_command(cell[0], w->loader, o->weights, o->run.threads)
                  : refuse_grid(w, cell, n);
}

/* The cells of all grids in a row, without those of other shards; NULL: out of memory, reported. */
static struct experiment **collect_cells(struct work *w, size_t *n)
{
    size_t count = 0;
    for (size_t i = 0; i < w->options.n_arguments; i++)
        count += w->grid[i]->n;
    struct experiment **cell = calloc(count + 1, sizeof(struct experiment *));
    *n = 0;
    for (size_t i = 0; cell != NULL && i < w->options.n_arguments; i++) {
        memcpy(cell + *n, w->grid[i]->cells, w->grid[i]->n * sizeof(struct experiment *));
        *n += w->grid[i]->n;
    }
    /* The folder of one run, or of many: a share of a grid is where the others are. */
    struct run_options *run = &w->options.run;
    if (count > 1 && run->out != NULL) {
        run->base = run->out;
        run->out = NULL;
    }
    if (cell == NULL ||
        (w->options.shards > 0 && !cells_shard(cell, n, w->options.shard, w->options.shards))) {
        diagnostics_no_memory(w->d);
        free(cell);
        cell = NULL;
    }
    return cell;
}

static int run_until(struct work *w)
{
    struct error error;
    const struct cli_options *c = &w->options;
    struct until_options o = {
        .runner = {.run = c->run,
                   .jobs = c->jobs,
                   .body = run_cell_and_print,
                   .watcher = cells_printer(false)},
        .file = c->arguments[0],
        .request = {.only = c->only, .n_only = c->n_only, .overlay = c->overlay},
        .set = c->set,
        .n_set = c->n_set};
    o.runner.run.base = c->run.out != NULL    ? c->run.out
                        : c->run.base != NULL ? c->run.base
                                              : RUN_BASE;
    o.runner.run.out = NULL;
    if (until_plan_read(c->until, c->max_seeds, &o.plan, &error) != OSAFL_OK) {
        diagnostics_error(w->d, NULL, 0, "%s", error.text);
        return EXIT_USAGE;
    }
    return until_command(&o, w->loader, w->d);
}

/* All files are checked before anything is done with the first one. */
static int experiment_command(const struct command *self, int argc, char **argv,
                              cells_action *action)
{
    struct work w = {0};
    int status = EXIT_USAGE;
    if (!work_begin(&w, self, argc, argv))
        return work_end(&w, status);
    if (answer_questions(&w))
        return work_end(&w, EXIT_RUN_OK);
    if (action == run_cells && !join_ranks(&w))
        return work_end(&w, status);
    if (w.options.until != NULL)
        return work_end(&w, run_until(&w));
    if (action == check_cells)
        loader_try_first(w.loader);
    load_all(&w);
    if (all_are_sound(&w)) {
        size_t n;
        struct experiment **cell = collect_cells(&w, &n);
        status = cell != NULL ? action(&w, cell, n) : EXIT_RUN_FAILED;
        free(cell);
    }
    for (size_t i = 0; w.grid != NULL && i < w.options.n_arguments; i++)
        grid_destroy(w.grid[i]);
    free(w.grid);
    return work_end(&w, status);
}

static int command_run(const struct command *self, int argc, char **argv)
{
    return experiment_command(self, argc, argv, run_cells);
}

/* The settings to tune as grid_request.also wants them, and their keys; arrays of n_over, strings
 * to be freed.  False: an error is reported. */
static bool read_ranges(struct work *w, char **also, char **key)
{
    struct error error;
    const size_t errors = diagnostics_errors(w->d);
    for (size_t i = 0; i < w->options.n_over; i++) {
        if (tune_range(w->options.over[i], &also[i], &error) != OSAFL_OK) {
            diagnostics_error(w->d, NULL, 0, "%s", error.text);
            continue;
        }
        key[i] = strndup(also[i], strcspn(also[i], "="));
        if (key[i] == NULL)
            diagnostics_error(w->d, NULL, 0, "out of memory");
        else if (strcmp(key[i], "rounds") == 0 || strncmp(key[i], "evaluation.", 11) == 0)
            diagnostics_error(w->d, NULL, 0,
                              "--over %s: all settings need the same rounds and the same "
                              "evaluation; give it with --set",
                              key[i]);
    }
    return diagnostics_errors(w->d) == errors;
}

static int tune_grid(struct work *w, char *const *also, char *const *key)
{
    struct cli_options *c = &w->options;
    c->set[c->n_set++] = "evaluation.split=validation";
    const struct experiment_options o = {.set = c->set, .n_set = c->n_set, .loader = w->loader};
    const struct grid_request q = {.only = c->only,
                                   .n_only = c->n_only,
                                   .overlay = c->overlay,
                                   .also = (const char *const *)also,
                                   .n_also = c->n_over};
    struct tune_options t = {.runner = {.run = c->run,
                                        .jobs = c->jobs,
                                        .body = run_cell_and_print,
                                        .watcher = cells_printer(false)},
                             .key = (const char *const *)key,
                             .n_keys = c->n_over,
                             .keep = c->keep};
    t.runner.run.base = c->run.out != NULL    ? c->run.out
                        : c->run.base != NULL ? c->run.base
                                              : TUNE_BASE;
    t.runner.run.out = NULL;
    struct grid *g = grid_load(c->arguments[0], &q, &o, w->d);
    const int status = g != NULL ? tune_command(g, w->loader, &t) : EXIT_USAGE;
    grid_destroy(g);
    return status;
}

static int command_tune(const struct command *self, int argc, char **argv)
{
    struct work w = {0};
    int status = EXIT_USAGE;
    if (!work_begin(&w, self, argc, argv))
        return work_end(&w, status);
    if (launch_read().processes > 1) {
        diagnostics_error(w.d, NULL, 0,
                          "%s says that several processes were started: tune is one, which starts "
                          "its runs itself (--jobs)",
                          launch_read().variable);
        return work_end(&w, status);
    }
    char **also = calloc(2 * w.options.n_over, sizeof(char *));
    if (also == NULL)
        diagnostics_error(w.d, NULL, 0, "out of memory");
    else if (read_ranges(&w, also, also + w.options.n_over))
        status = tune_grid(&w, also, also + w.options.n_over);
    for (size_t i = 0; also != NULL && i < 2 * w.options.n_over; i++)
        free(also[i]);
    free(also);
    return work_end(&w, status);
}

static int command_check(const struct command *self, int argc, char **argv)
{
    return experiment_command(self, argc, argv, check_cells);
}

static int command_resolve(const struct command *self, int argc, char **argv)
{
    return experiment_command(self, argc, argv, resolve_cells);
}

static int command_evaluate(const struct command *self, int argc, char **argv)
{
    return experiment_command(self, argc, argv, evaluate_cells);
}

static int command_plugins(const struct command *self, int argc, char **argv)
{
    struct work w = {0};
    if (!work_begin(&w, self, argc, argv))
        return work_end(&w, EXIT_USAGE);
    const char *name = w.options.n_arguments > 0 ? w.options.arguments[0] : NULL;
    const uint32_t kind = name != NULL ? kind_from_name(name) : 0;
    if (name != NULL && kind == 0) {
        struct suggestion s = suggest_begin(name);
        for (uint32_t k = 1; k <= LOADER_KINDS; k++)
            suggest_offer(&s, kind_name(k));
        diagnostics_error(w.d, NULL, 0, "\"%s\" is not a kind of plugin%s%s%s", name,
                          s.best != NULL ? "; did you mean \"" : "; see osafl help",
                          s.best != NULL ? s.best : "", s.best != NULL ? "\"?" : "");
        return work_end(&w, EXIT_USAGE);
    }
    help_list_plugins(w.loader, kind, stdout, w.d);
    if (kind == 0) {
        fputs("\nranks of MPI: ", stdout);
        ranks_print(loader_path(w.loader), stdout);
    }
    return work_end(&w, EXIT_RUN_OK);
}

static int command_help(const struct command *self, int argc, char **argv)
{
    struct work w = {0};
    int status = EXIT_USAGE;
    if (work_begin(&w, self, argc, argv)) {
        const char *topic = w.options.n_arguments > 0 ? w.options.arguments[0] : "";
        status = help_topic(w.loader, topic, stdout, w.d) ? EXIT_RUN_OK : EXIT_USAGE;
    }
    return work_end(&w, status);
}

static int command_report(const struct command *self, int argc, char **argv)
{
    (void)self;
    return report_command(argc, argv);
}

static int command_verify(const struct command *self, int argc, char **argv)
{
    struct work w = {0};
    int status = EXIT_USAGE;
    if (work_begin(&w, self, argc, argv)) {
        const struct cli_options *o = &w.options;
        const struct verify_options v = {.folder = (const char *const *)o->arguments,
                                         .folders = o->n_arguments,
                                         .only = o->only,
                                         .n_only = o->n_only,
                                         .set = o->set,
                                         .n_set = o->n_set,
                                         .rounds = o->rounds,
                                         .threads = o->run.threads,
                                         .quiet = o->run.quiet};
        status = verify_command(&v, w.loader);
    }
    return work_end(&w, status);
}

static int command_pack(const struct command *self, int argc, char **argv)
{
    struct work w = {0};
    int status = EXIT_USAGE;
    if (work_begin(&w, self, argc, argv)) {
        const struct cli_options *o = &w.options;
        const struct pack_options p = {.folder = (const char *const *)o->arguments,
                                       .folders = o->n_arguments,
                                       .only = o->only,
                                       .n_only = o->n_only,
                                       .source = o->source,
                                       .sources = o->n_source,
                                       .archive = o->archive};
        status = pack_command(&p);
    }
    return work_end(&w, status);
}

static int command_plot(const struct command *self, int argc, char **argv)
{
    (void)self;
    return plot_command(argc, argv);
}

static int command_plugin(const struct command *self, int argc, char **argv)
{
    (void)self;
    return plugin_command(argc, argv);
}

static int command_bench(const struct command *self, int argc, char **argv)
{
    (void)self;
    return bench_command(argc, argv);
}

static const struct command commands[] = {
    {"run", "FILE...", "Run experiments, or resume interrupted runs.", command_run,
     CLI_THREADS | CLI_RUN | CLI_GRID | CLI_EXPERIMENT | CLI_PLUGINS, 1, SIZE_MAX},
    {"tune", "FILE",
     "Try settings on the validation split, and print the best ones for each case.\vHalf of the "
     "settings end after a quarter of the rounds, and half of the others after half of them "
     "(--keep).  All runs are kept below tuning/; the same command resumes after an interruption.",
     command_tune, CLI_TUNE | CLI_THREADS | CLI_RUN | CLI_EXPERIMENT | CLI_PLUGINS, 1, 1},
    {"check", "FILE...",
     "Check experiments with everything but training: settings, plugins, data files.",
     command_check, CLI_EXPERIMENT | CLI_PLUGINS, 1, SIZE_MAX},
    {"resolve", "FILE", "Print every setting of one experiment with its origin.", command_resolve,
     CLI_EXPERIMENT | CLI_PLUGINS, 1, 1},
    {"evaluate", "RUN_OR_WEIGHTS FILE",
     "Measure a run's model, or weights from elsewhere, on an experiment's data.\v"
     "RUN_OR_WEIGHTS is the folder of a run that has ended, or a safetensors file, such as one "
     "written by PyTorch. FILE gives the data set, model and split (evaluation.split, samples, "
     "per_class); a run's "
     "own is resolved.cfg in its folder.",
     command_evaluate, CLI_WEIGHTS | CLI_THREADS | CLI_EXPERIMENT | CLI_PLUGINS, 1, 1},
    {"plugins", "[KIND]", "List the plugins that are found, or those of one kind.", command_plugins,
     CLI_PLUGINS, 0, 1},
    {"help", "[GROUP | KIND | KIND/NAME]",
     "Explain the settings of a group or of a plugin, grids, or results.", command_help,
     CLI_PLUGINS, 0, 1},
    {"report", "DIR...", "Print the tables of results, finished or not.", command_report, 0, 0, 0},
    {"plot", "DIR...", "Draw the figures of results.", command_plot, 0, 0, 0},
    {"verify", "DIR...",
     "Recompute stored runs, and compare the bytes.\vEach run is computed in a temporary folder, "
     "from the settings in its manifest.json, and rounds.csv, clients.csv and the model are "
     "compared with what is stored of them.  Exit status: 0 all are the same, 1 one differs, 2 "
     "something is missing, such as the data.",
     command_verify, CLI_THREADS | CLI_VERIFY | CLI_KEPT | CLI_PLUGINS, 1, SIZE_MAX},
    {"pack", "DIR...",
     "Put runs into one archive, with what others need to verify them.\vThe archive holds the runs "
     "without their checkpoints, the experiment files, the hashes of the plugins with the sources "
     "that are found, and a README.  \"osafl verify\" works on the unpacked archive.",
     command_pack, CLI_PACK | CLI_KEPT, 1, SIZE_MAX},
    {"plugin", "new | check | list ...", "Start the project of a plugin, or check a plugin's file.",
     command_plugin, 0, 0, 0},
    {"bench", "", "Time the models on this machine.", command_bench, 0, 0, 0},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

int cli_list_plugins(int argc, char **argv)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (commands[i].run == command_plugins)
            return command_plugins(&commands[i], argc, argv);
    }
    return EXIT_USAGE;
}

/* ---- the program ---- */

static void print_usage(FILE *to)
{
    fputs("Usage: osafl COMMAND [OPTION...] [ARGUMENT...]\n"
          "Federated learning on resource-constrained wireless clients.\n\n",
          to);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-8s %-27s %.*s\n", commands[i].name, commands[i].args,
                (int)strcspn(commands[i].doc, "\v"), commands[i].doc);
    fputs("\nosafl COMMAND --help lists a command's options, osafl --version prints the version.\n"
          "Exit status: 0 success, 1 the run failed, 2 wrong usage or experiment, 3 interrupted, "
          "can be resumed.\n",
          to);
}

static void print_version(void)
{
    printf("osafl %s (plugin interface %d.%d)\n", OSAFL_VERSION, OSAFL_ABI_MAJOR, OSAFL_ABI_MINOR);
}

static int unknown_command(const char *word)
{
    struct suggestion s = suggest_begin(word);
    for (size_t i = 0; i < N_COMMANDS; i++)
        suggest_offer(&s, commands[i].name);
    if (s.best != NULL)
        fprintf(stderr, "osafl: unknown command \"%s\"; did you mean \"%s\"?\n", word, s.best);
    else
        fprintf(stderr, "osafl: unknown command \"%s\"; see osafl --help\n", word);
    return EXIT_USAGE;
}

/* Whether all that was printed has got out; says so where it has not. */
static bool output_arrived(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return true;
    fprintf(stderr, "osafl: cannot write to standard output%s%s\n", errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return false;
}

static int run_named_command(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return EXIT_RUN_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        print_version();
        return EXIT_RUN_OK;
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            char name[32];
            snprintf(name, sizeof name, "osafl %s", commands[i].name);
            argv[1] = name; /* as argp names the program in messages */
            return commands[i].run(&commands[i], argc - 1, argv + 1);
        }
    }
    return unknown_command(argv[1]);
}

int cli_main(int argc, char **argv)
{
    argp_err_exit_status = EXIT_USAGE;
    guard_begin();
    const int status = run_named_command(argc, argv);
    const bool arrived = output_arrived();
    return status == EXIT_RUN_OK && !arrived ? EXIT_RUN_FAILED : status;
}
