/* cli_options.c - options of the commands that read experiments or look for plugins. */
#include "cli_options.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MAX_THREADS = 1024 };

/* Keys of options without a short form. */
enum {
    KEY_SET = 's',
    KEY_QUIET = 'q',
    KEY_THREADS = 't',
    KEY_OUT = 'o',
    KEY_CASE = 'c',
    KEY_SEED = 256,
    KEY_PLUGIN_DIR,
    KEY_MAX_TIME,
    KEY_FORCE,
    KEY_ACCEPT_CHANGES,
};

static const struct argp_option run_options[] = {
    {"threads", KEY_THREADS, "N", 0, "Threads that work (default: all CPUs); no effect on results",
     1},
    {"out", KEY_OUT, "DIR", 0, "Folder of the results (default: results/NAME/CASE/seed-N-HASH)", 1},
    {"max-time", KEY_MAX_TIME, "TIME", 0,
     "Stop, ready to be resumed, after so many seconds, or 90s, 15m, 2h", 1},
    {"force", KEY_FORCE, NULL, 0, "Overwrite the results of another run in the folder", 1},
    {"accept-changes", KEY_ACCEPT_CHANGES, NULL, 0,
     "Go on although the program, a plugin, the CPU type or the BLAS kernel changed", 1},
    {"quiet", KEY_QUIET, NULL, 0, "Show no progress", 1},
    {0},
};

static const struct argp_option experiment_options[] = {
    {"set", KEY_SET, "KEY.PATH=VALUE", 0,
     "Set a value over that of the file, such as aggregator.plugin=fedavg; KIND.plugin=help lists "
     "the plugins",
     2},
    {"seed", KEY_SEED, "N", 0, "Short for --set seed=N", 2},
    {"case", KEY_CASE, "NAME", 0, "Take only this case of a grid", 2},
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
};

static unsigned available_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    const int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static unsigned parse_threads(const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || n < 1 || n > MAX_THREADS)
        argp_error(state, "--threads %s: must be a whole number from 1 to %d", text, MAX_THREADS);
    return (unsigned)n;
}

static double parse_time(const char *text, struct argp_state *state)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end != text && (*end == 's' || *end == 'm' || *end == 'h')) {
        seconds *= *end == 's' ? 1.0 : *end == 'm' ? 60.0 : 3600.0;
        end++;
    }
    if (end == text || *end != '\0' || !(seconds > 0.0 && seconds < 1e9))
        argp_error(state, "--max-time %s: must be a time such as 90, 90s, 15m or 2h", text);
    return seconds;
}

static void add_seed(struct cli_options *o, const char *seed, struct argp_state *state)
{
    char *text = NULL;
    if (asprintf(&text, "seed=%s", seed) < 0)
        argp_failure(state, EXIT_RUN_FAILED, ENOMEM, "--seed");
    o->owned[o->n_owned++] = text;
    o->set[o->n_set++] = text;
}

static error_t parse_run_option(int key, char *arg, struct argp_state *state)
{
    struct run_options *run = &((struct parsing *)state->input)->o->run;
    switch (key) {
    case KEY_THREADS:
        run->threads = parse_threads(arg, state);
        return 0;
    case KEY_OUT:
        if (arg[0] == '\0')
            argp_error(state, "--out: a folder is missing");
        run->out = arg;
        return 0;
    case KEY_MAX_TIME:
        run->max_time_s = parse_time(arg, state);
        return 0;
    case KEY_FORCE:
        run->force = true;
        return 0;
    case KEY_ACCEPT_CHANGES:
        run->accept_changes = true;
        return 0;
    case KEY_QUIET:
        run->quiet = true;
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
        add_seed(o, arg, state);
        return 0;
    case KEY_CASE:
        o->only_case = arg;
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

static const struct argp run_argp = {.options = run_options, .parser = parse_run_option};
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
    *o = (struct cli_options){.set = calloc(n, sizeof(*o->set)),
                              .plugin_dirs = calloc(n, sizeof(*o->plugin_dirs)),
                              .arguments = calloc(n, sizeof(*o->arguments)),
                              .owned = calloc(n, sizeof(*o->owned)),
                              .run = {.threads = available_cpus()}};
    if (o->set == NULL || o->plugin_dirs == NULL || o->arguments == NULL || o->owned == NULL)
        fail_for_memory();
    struct argp_child children[4] = {{0}};
    size_t n_children = 0;
    if ((groups & CLI_RUN) != 0)
        children[n_children++].argp = &run_argp;
    if ((groups & CLI_EXPERIMENT) != 0)
        children[n_children++].argp = &experiment_argp;
    if ((groups & CLI_PLUGINS) != 0)
        children[n_children++].argp = &plugin_argp;
    const struct argp argp = {
        .parser = parse_command, .args_doc = args_doc, .doc = doc, .children = children};
    struct parsing p = {.o = o, .at_least = at_least, .at_most = at_most, .n_children = n_children};
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
    free(o->plugin_dirs);
    free(o->arguments);
}
