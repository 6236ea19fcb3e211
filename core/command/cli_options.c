/* cli_options.c - options of the commands that read experiments or look for plugins. */
#include "cli_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_status.h"
#include "base/text.h"
#include "cli.h"
#include "command/sweep/until_plan.h"
#include "plugin/launcher.h"
#include "plugin/ranks.h"
#include "round/theory.h"

/* Keys of options without a short form. */
enum {
    KEY_SET = 's',
    KEY_QUIET = 'q',
    KEY_THREADS = 't',
    KEY_OUT = 'o',
    KEY_CASE = 'c',
    KEY_JOBS = 'j',
    KEY_SEED = 256,
    KEY_RESULTS,
    KEY_PLUGIN_DIR,
    KEY_MAX_TIME,
    KEY_FORCE,
    KEY_ACCEPT_CHANGES,
    KEY_DROP_CHECKPOINTS,
    KEY_ONLY,
    KEY_OVERLAY,
    KEY_SHARD,
    KEY_LIST,
    KEY_OVER,
    KEY_KEEP,
    KEY_ROUNDS,
    KEY_SOURCES,
    KEY_UNTIL,
    KEY_MAX_SEEDS,
    KEY_MEASURE,
    KEY_SMOOTHNESS,
    KEY_TRANSPORT,
    KEY_RANKS,
    KEY_RANK_LIMIT,
};

static const struct argp_option thread_options[] = {
    {"threads", KEY_THREADS, "N", 0,
     "Threads that work (default: all CPUs of the job); no effect on results", 1},
    {0},
};

static const struct argp_option run_options[] = {
    {"jobs", KEY_JOBS, "N", 0,
     "Run this many cells of a grid at a time; they share the threads (default: 1)", 1},
    {"out", KEY_OUT, "DIR", 0,
     "Folder of the run (default: results/NAME/CASE/seed-N-HASH); of several cells, and of tune, "
     "as --results",
     1},
    {"results", KEY_RESULTS, "DIR", 0,
     "Put results into DIR/NAME/CASE/seed-N-HASH, however many cells there are (default: results; "
     "of tune: tuning)",
     1},
    {"max-time", KEY_MAX_TIME, "TIME", 0,
     "Stop after this many seconds (or 90s, 15m, 2h); the run can be resumed", 1},
    {"force", KEY_FORCE, NULL, 0, "Overwrite the results of another run in the folder", 1},
    {"accept-changes", KEY_ACCEPT_CHANGES, NULL, 0,
     "Resume although the program, a plugin, the data, the CPU type or the BLAS kernel changed", 1},
    {"drop-checkpoints", KEY_DROP_CHECKPOINTS, NULL, 0,
     "Remove a run's checkpoints once it is complete: they are only needed for a run of more "
     "rounds",
     1},
    {"quiet", KEY_QUIET, NULL, 0, "Show no progress", 1},
    {0},
};

static const struct argp_option grid_options[] = {
    {"shard", KEY_SHARD, "I/N", 0,
     "Run the I-th of N shares of a grid, I from 1; the others can run elsewhere at the same time",
     1},
    {"list", KEY_LIST, NULL, 0, "List the cells that would run, without running them", 1},
    {"until", KEY_UNTIL, "WIDTH", 0,
     "Add seeds until the interval of a mean difference, paired by seeds, is narrow, as in "
     "'width(accuracy, osafl - fedavg) < 0.005', with the names of two cases; values are those of "
     "the last round, and the interval is widened for repeated looks",
     1},
    {"rounds", KEY_ROUNDS, "N", 0,
     "Run N rounds; if a shorter run of the same settings, in a folder next to this one's, has its "
     "checkpoints, continue from its end, provided that nothing depends on the number of rounds",
     1},
    {"measure", KEY_MEASURE, "theory[=N]", 0,
     "Measure both sides of the convergence bound in every round, with N replicas of it (32), and "
     "write theory.csv; the run itself does not change",
     1},
    {"smoothness", KEY_SMOOTHNESS, "BETA", 0,
     "With --measure: a number with which every client's loss is BETA-smooth; that of the model "
     "logistic is computed",
     1},
    {"max-seeds", KEY_MAX_SEEDS, "N", 0, "With --until: no more than N seeds (5 to 1000)", 1},
    {"transport", KEY_TRANSPORT, "NAME", 0,
     "How the processes of one run exchange updates: mpi, or none (default: mpi if mpirun or srun "
     "started several processes); no effect on results",
     1},
    {"ranks", KEY_RANKS, "N", 0,
     "With a transport: so many processes, which it starts if it can; else there must be as many",
     1},
    {"rank-limit", KEY_RANK_LIMIT, "TIME", 0,
     "With a transport: end all ranks if one gives no sign of life for this long (default: 60s)",
     1},
    {0},
};

static const struct argp_option tune_options[] = {
    {"over", KEY_OVER, "KEY=VALUES", 0,
     "Try these values of a setting: 0.01,0.02,0.04, or 0.005..0.08/5 for five values at equal "
     "ratios; with several, every combination",
     1},
    {"keep", KEY_KEEP, "SHARE", 0,
     "Share of the settings that continue after a quarter of the rounds, and of those again after "
     "half of them (default: 0.5); 1: all, to the end",
     1},
    {0},
};

static const struct argp_option kept_options[] = {
    {"only", KEY_ONLY, "KEY=VALUE", 0,
     "Take only the runs with this case, experiment, seed or setting; may be repeated", 1},
    {0},
};

static const struct argp_option verify_options[] = {
    {"rounds", KEY_ROUNDS, "K", 0,
     "Check only K rounds, drawn at random from those that the start and the stored checkpoints "
     "reach; without checkpoints the first K",
     1},
    {"set", KEY_SET, "KEY.PATH=VALUE", 0,
     "Override a value of the run, such as the place of its data: dataset.idx.path=DIR", 1},
    {"quiet", KEY_QUIET, NULL, 0, "Show no progress", 1},
    {0},
};

static const struct argp_option pack_options[] = {
    {"out", KEY_OUT, "ARCHIVE", 0, "The archive: a name that ends in .tar.xz or .tar.gz", 1},
    {"sources", KEY_SOURCES, "DIR", 0,
     "Take plugins' sources from DIR/KIND/NAME.c or DIR/NAME.c; may be repeated", 1},
    {0},
};

static const struct argp_option experiment_options[] = {
    {"set", KEY_SET, "KEY.PATH=VALUE", 0,
     "Override a value of the file, such as aggregator.plugin=fedavg; KIND.plugin=help lists "
     "the plugins",
     2},
    {"seed", KEY_SEED, "N", 0, "Short for --set seed=N", 2},
    {"only", KEY_ONLY, "KEY=VALUE", 0,
     "Take only the cells of a grid with this case, seed or setting, such as case=osafl; with "
     "several, one of each key must hold",
     2},
    {"case", KEY_CASE, "NAME", 0, "Short for --only case=NAME", 2},
    {"overlay", KEY_OVERLAY, "FILE", 0, "Apply the settings in FILE on top of the experiments", 2},
    {0},
};

static const struct argp_option plugin_options[] = {
    {"plugin-dir", KEY_PLUGIN_DIR, "DIR", 0,
     "Look for plugins in DIR/KIND/NAME.so first; may be repeated", 3},
    {0},
};

struct parsing {
    struct cli_options *o;
    size_t at_least;
    size_t at_most;
    size_t n_children;
    bool takes_weights;
};

static unsigned available_cpus(void)
{
    const unsigned n = launch_processors();
    return n > CLI_MAX_THREADS ? CLI_MAX_THREADS : n;
}

uint64_t cli_whole_number(const char *option, const char *text, uint64_t least, uint64_t most,
                          struct argp_state *state)
{
    uint64_t n = 0;
    if (!text_whole(text, least, most, &n))
        argp_error(state, "--%s %s: must be a whole number from %" PRIu64 " to %" PRIu64, option,
                   text, least, most);
    return n;
}

static unsigned parse_count(const char *option, const char *text, struct argp_state *state)
{
    return (unsigned)cli_whole_number(option, text, 1, CLI_MAX_THREADS, state);
}

/* Without the slashes at its end. */
static const char *parse_folder(const char *option, char *name, struct argp_state *state)
{
    size_t n = strlen(name);
    if (n == 0)
        argp_error(state, "%s: a folder is missing", option);
    while (n > 1 && name[n - 1] == '/')
        name[--n] = '\0';
    return name;
}

static double parse_time(const char *option, const char *text, struct argp_state *state)
{
    char number[32] = "";
    double seconds = 0.0;
    const size_t digits = strcspn(text, "smh");
    const char *unit = text + digits;
    if (digits < sizeof number)
        memcpy(number, text, digits);
    if (text_real(number, &seconds))
        seconds *= *unit == 'h' ? 3600.0 : *unit == 'm' ? 60.0 : 1.0;
    if (strlen(unit) > 1 || !(seconds > 0.0 && seconds < 1e9))
        argp_error(state, "--%s %s: must be a time such as 90, 90s, 15m or 2h", option, text);
    return seconds;
}

/* "KEY=VALUE", which lives as long as o. */
static const char *own_pair(struct cli_options *o, const char *key, const char *value,
                            struct argp_state *state)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s", key, value) < 0)
        argp_failure(state, EXIT_RUN_FAILED, ENOMEM, "--%s", key);
    o->owned[o->n_owned++] = text;
    return text;
}

static void parse_shard(struct cli_options *o, const char *text, struct argp_state *state)
{
    char end;
    const int n = sscanf(text, "%5u/%5u%c", &o->shard, &o->shards, &end);
    if (n != 2 || o->shard < 1 || o->shard > o->shards)
        argp_error(state, "--shard %s: must be I/N with I from 1 to N, such as 2/4", text);
}

static error_t parse_thread_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = ((struct parsing *)state->input)->o;
    if (key != KEY_THREADS)
        return ARGP_ERR_UNKNOWN;
    o->run.threads = parse_count("threads", arg, state);
    return 0;
}

static error_t parse_run_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = ((struct parsing *)state->input)->o;
    struct run_options *run = &o->run;
    switch (key) {
    case KEY_JOBS:
        o->jobs = parse_count("jobs", arg, state);
        return 0;
    case KEY_OUT:
        run->out = parse_folder("--out", arg, state);
        return 0;
    case KEY_RESULTS:
        run->base = parse_folder("--results", arg, state);
        return 0;
    case KEY_MAX_TIME:
        run->max_time_s = parse_time("max-time", arg, state);
        return 0;
    case KEY_FORCE:
        run->force = true;
        return 0;
    case KEY_ACCEPT_CHANGES:
        run->accept_changes = true;
        return 0;
    case KEY_DROP_CHECKPOINTS:
        run->drop_checkpoints = true;
        return 0;
    case KEY_QUIET:
        run->quiet = true;
        return 0;
    case ARGP_KEY_END:
        if (run->out != NULL && run->base != NULL)
            argp_error(state, "--out and --results cannot be combined: --out is the "
                              "folder of one run, --results holds those of many");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static uint32_t parse_measure(const char *arg, struct argp_state *state)
{
    static const char word[] = "theory";
    const size_t n = strlen(word);
    if (strncmp(arg, word, n) != 0 || (arg[n] != '\0' && arg[n] != '='))
        argp_error(state, "--measure %s: there is theory, or theory=N with N replicas", arg);
    return arg[n] == '\0'
               ? THEORY_REPLICAS
               : (uint32_t)cli_whole_number("measure theory=", arg + n + 1, 1, 100000, state);
}

static void check_until(const struct cli_options *o, struct argp_state *state)
{
    if ((o->until != NULL) != (o->max_seeds > 0))
        argp_error(state, "--until and --max-seeds belong together");
    if (o->until == NULL)
        return;
    if (o->shards > 0 || o->list || o->n_arguments > 1)
        argp_error(state, "--until is for one file as a whole: without --shard and --list");
    for (size_t i = 0; i < o->n_only; i++) {
        if (strncmp(o->only[i], "seed=", 5) == 0)
            argp_error(
                state,
                "--until adds seeds and pairs runs by them: leave out --only %s, or give the "
                "file seeds that begin there",
                o->only[i]);
    }
    for (size_t i = 0; i < o->n_set; i++) {
        if (strncmp(o->set[i], "seed=", 5) == 0 || strncmp(o->set[i], "seeds=", 6) == 0)
            argp_error(state,
                       "--until chooses the seeds, from the first of the file on: leave out "
                       "--seed and --set %s",
                       o->set[i]);
    }
}

static error_t parse_grid_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = ((struct parsing *)state->input)->o;
    switch (key) {
    case KEY_SHARD:
        parse_shard(o, arg, state);
        return 0;
    case KEY_LIST:
        o->list = true;
        return 0;
    case KEY_ROUNDS:
        (void)cli_whole_number("rounds", arg, 1, INT32_MAX, state);
        o->set[o->n_set++] = own_pair(o, "rounds", arg, state);
        o->run.longer = true;
        return 0;
    case KEY_MEASURE:
        o->run.replicas = parse_measure(arg, state);
        return 0;
    case KEY_SMOOTHNESS:
        if (!text_real(arg, &o->run.smoothness) || !(o->run.smoothness > 0.0))
            argp_error(state, "--smoothness %s: must be a number above 0", arg);
        return 0;
    case KEY_TRANSPORT:
        o->transport = arg;
        return 0;
    case KEY_RANKS:
        o->n_ranks = (uint32_t)cli_whole_number("ranks", arg, 1, 1000000, state);
        return 0;
    case KEY_RANK_LIMIT:
        o->rank_limit_s = parse_time("rank-limit", arg, state);
        return 0;
    case KEY_UNTIL:
        o->until = arg;
        return 0;
    case KEY_MAX_SEEDS:
        o->max_seeds = (uint32_t)cli_whole_number("max-seeds", arg, UNTIL_FEWEST_SEEDS,
                                                  UNTIL_MOST_SEEDS, state);
        return 0;
    case ARGP_KEY_END:
        check_until(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_tune_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = ((struct parsing *)state->input)->o;
    switch (key) {
    case KEY_OVER:
        o->over[o->n_over++] = arg;
        return 0;
    case KEY_KEEP:
        if (!text_real(arg, &o->keep) || !(o->keep > 0.0 && o->keep <= 1.0))
            argp_error(state, "--keep %s: must be a share above 0, at most 1", arg);
        return 0;
    case ARGP_KEY_END:
        if (o->n_over == 0)
            argp_error(state, "--over is missing: which setting is to be tuned?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_kept_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = ((struct parsing *)state->input)->o;
    if (key != KEY_ONLY)
        return ARGP_ERR_UNKNOWN;
    o->only[o->n_only++] = arg;
    return 0;
}

static error_t parse_verify_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = ((struct parsing *)state->input)->o;
    switch (key) {
    case KEY_ROUNDS:
        o->rounds = (uint32_t)cli_whole_number("rounds", arg, 1, INT32_MAX, state);
        return 0;
    case KEY_SET:
        o->set[o->n_set++] = arg;
        return 0;
    case KEY_QUIET:
        o->run.quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text);
    const size_t m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static error_t parse_pack_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = ((struct parsing *)state->input)->o;
    switch (key) {
    case KEY_OUT:
        o->archive = arg;
        if (!ends_in(arg, ".tar.xz") && !ends_in(arg, ".tar.gz"))
            argp_error(state, "--out %s: the name of an archive ends in .tar.xz or .tar.gz", arg);
        return 0;
    case KEY_SOURCES:
        o->source[o->n_source++] = parse_folder("--sources", arg, state);
        return 0;
    case ARGP_KEY_END:
        if (o->archive == NULL)
            argp_error(state, "--out is missing: which archive is to be written?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_experiment_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = ((struct parsing *)state->input)->o;
    switch (key) {
    case KEY_SET:
        o->set[o->n_set++] = arg;
        return 0;
    case KEY_SEED:
        o->set[o->n_set++] = own_pair(o, "seed", arg, state);
        return 0;
    case KEY_CASE:
        o->only[o->n_only++] = own_pair(o, "case", arg, state);
        return 0;
    case KEY_ONLY:
        o->only[o->n_only++] = arg;
        return 0;
    case KEY_OVERLAY:
        o->overlay = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_plugin_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *o = ((struct parsing *)state->input)->o;
    if (key != KEY_PLUGIN_DIR)
        return ARGP_ERR_UNKNOWN;
    o->plugin_dirs[o->n_plugin_dirs++] = arg;
    return 0;
}

static error_t parse_command(int key, char *arg, struct argp_state *state)
{
    const struct parsing *p = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (size_t i = 0; i < p->n_children; i++)
            state->child_inputs[i] = state->input;
        return 0;
    case ARGP_KEY_ARG:
        if (p->takes_weights && p->o->weights == NULL) {
            p->o->weights = arg;
            return 0;
        }
        if (p->o->n_arguments == p->at_most)
            argp_error(state, "\"%s\" is one argument too many", arg);
        p->o->arguments[p->o->n_arguments++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (p->o->n_arguments < p->at_least)
            argp_error(state, "an argument is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp thread_argp = {.options = thread_options, .parser = parse_thread_option};
static const struct argp run_argp = {.options = run_options, .parser = parse_run_option};
static const struct argp grid_argp = {.options = grid_options, .parser = parse_grid_option};
static const struct argp tune_argp = {.options = tune_options, .parser = parse_tune_option};
static const struct argp kept_argp = {.options = kept_options, .parser = parse_kept_option};
static const struct argp verify_argp = {.options = verify_options, .parser = parse_verify_option};
static const struct argp pack_argp = {.options = pack_options, .parser = parse_pack_option};
static const struct argp experiment_argp = {.options = experiment_options,
                                            .parser = parse_experiment_option};
static const struct argp plugin_argp = {.options = plugin_options, .parser = parse_plugin_option};

static void fail_for_memory(void)
{
    fputs("osafl: out of memory\n", stderr);
    exit(EXIT_RUN_FAILED);
}

void cli_options_parse(struct cli_options *o, int argc, char **argv, unsigned groups,
                       const char *args_doc, const char *doc, size_t at_least, size_t at_most)
{
    const size_t n = (size_t)argc + 1;
    *o = (struct cli_options){.set = calloc(n, sizeof *o->set),
                              .only = calloc(n, sizeof *o->only),
                              .over = calloc(n, sizeof *o->over),
                              .plugin_dirs = calloc(n, sizeof *o->plugin_dirs),
                              .arguments = calloc(n, sizeof *o->arguments),
                              .source = calloc(n, sizeof *o->source),
                              .owned = calloc(n, sizeof *o->owned),
                              .run = {.threads = available_cpus()},
                              .jobs = 1,
                              .rank_limit_s = RANKS_LIMIT_S,
                              .keep = 0.5};
    if (o->set == NULL || o->only == NULL || o->over == NULL || o->plugin_dirs == NULL ||
        o->arguments == NULL || o->source == NULL || o->owned == NULL)
        fail_for_memory();
    static const struct {
        unsigned group;
        const struct argp *argp;
    } known[] = {{CLI_THREADS, &thread_argp}, {CLI_RUN, &run_argp},
                 {CLI_GRID, &grid_argp},      {CLI_TUNE, &tune_argp},
                 {CLI_VERIFY, &verify_argp},  {CLI_PACK, &pack_argp},
                 {CLI_KEPT, &kept_argp},      {CLI_EXPERIMENT, &experiment_argp},
                 {CLI_PLUGINS, &plugin_argp}};
    enum { KNOWN = sizeof known / sizeof known[0] };
    struct argp_child children[KNOWN + 1] = {{0}};
    size_t n_children = 0;
    for (size_t i = 0; i < KNOWN; i++) {
        if ((groups & known[i].group) != 0)
            children[n_children++].argp = known[i].argp;
    }
    const struct argp argp = {
        .parser = parse_command, .args_doc = args_doc, .doc = doc, .children = children};
    struct parsing p = {.o = o,
                        .at_least = at_least,
                        .at_most = at_most,
                        .n_children = n_children,
                        .takes_weights = (groups & CLI_WEIGHTS) != 0};
    /* Wrong words have ended the program already. */
    if (argp_parse(&argp, argc, argv, 0, NULL, &p) != 0)
        fail_for_memory();
}

void cli_options_free(struct cli_options *o)
{
    for (size_t i = 0; i < o->n_owned; i++)
        free(o->owned[i]);
    free(o->owned);
    free(o->set);
    free(o->only);
    free(o->over);
    free(o->plugin_dirs);
    free(o->arguments);
    free(o->source);
}
