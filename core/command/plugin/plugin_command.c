/* plugin_command.c - "osafl plugin new", "check" and "list": for authors of plugins. */
#include "plugin_command.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/exit_status.h"
#include "base/suggest.h"
#include "base/text.h"
#include "check/conformance.h"
#include "command/cli.h"
#include "command/cli_options.h"
#include "plugin/cpu.h"
#include "plugin/loader.h"
#include "plugin_new.h"

/* ---- new ---- */

struct new_arguments {
    const char *word[3]; /* KIND NAME [DIR] */
    unsigned n;
};

static error_t parse_new(int key, char *arg, struct argp_state *state)
{
    struct new_arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (a->n == 3)
            argp_error(state, "\"%s\" is one argument too many", arg);
        a->word[a->n++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (a->n < 2)
            argp_error(state, "an argument is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A plugin of the same name that is found already: which of the two is used depends on the order of
 * folders, and results of both are called the same. */
static void warn_of_namesake(uint32_t kind, const char *name)
{
    struct diagnostics *d = diagnostics_create();
    struct loader *l = d != NULL ? loader_create(NULL, 0, d) : NULL;
    struct names names;
    if (l != NULL && loader_names(l, kind, &names) == OSAFL_OK) {
        if (names_have(&names, name))
            fprintf(stderr,
                    "osafl: warning: there is a plugin %s/%s already; with --plugin-dir, yours "
                    "takes its place\n",
                    kind_name(kind), name);
        names_free(&names);
    }
    loader_destroy(l);
    diagnostics_destroy(d);
}

static int command_new(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_new,
        .args_doc = "KIND NAME [DIR]",
        .doc = "Start the project of a plugin in DIR (default: NAME): a working, commented plugin "
               "that builds, checks and runs at once.\v"
               "KIND is one of those that osafl help lists. No file that exists is touched.",
    };
    struct new_arguments a = {.n = 0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    const uint32_t kind = kind_from_name(a.word[0]);
    if (kind == 0) {
        struct suggestion s = suggest_begin(a.word[0]);
        for (uint32_t k = 1; k <= LOADER_KINDS; k++)
            suggest_offer(&s, kind_name(k));
        fprintf(stderr, "osafl: \"%s\" is not a kind of plugin%s%s%s\n", a.word[0],
                s.best != NULL ? "; did you mean \"" : "; see osafl plugin new --help",
                s.best != NULL ? s.best : "", s.best != NULL ? "\"?" : "");
        return EXIT_USAGE;
    }
    const char *dir = a.n == 3 ? a.word[2] : a.word[1];
    struct error error;
    if (plugin_new(kind, a.word[1], dir, &error) != OSAFL_OK) {
        fprintf(stderr, "osafl: %s\n", error.text);
        return EXIT_RUN_FAILED;
    }
    plugin_new_print(kind, a.word[1], dir, stdout);
    warn_of_namesake(kind, a.word[1]);
    return EXIT_RUN_OK;
}

/* ---- check ---- */

enum {
    KEY_ONLY = 'o',
    KEY_SET = 's',
    KEY_QUIET = 'q',
    KEY_LIST = 256,
    KEY_SEED,
    KEY_TAP,
    KEY_LIMIT,
    KEY_SKIP,
    KEY_SHAPE,
    KEY_TARGET,
    KEY_INTEGERS,
    KEY_IN_PROCESS
};

static const struct argp_option check_options[] = {
    {"only", KEY_ONLY, "ID", 0, "Run only this check or group of checks; may be repeated", 0},
    {"skip", KEY_SKIP, "ID", 0, "Leave this check or group out, and say so; may be repeated", 0},
    {"list", KEY_LIST, NULL, 0, "List all checks, each with the rule that it enforces", 0},
    {"set", KEY_SET, "KEY=VALUE", 0,
     "A setting of the plugin during the checks; needed for files that it reads", 0},
    {"shape", KEY_SHAPE, "CxHxW", 0,
     "Try a model on samples of this shape (1 to 4 sizes) instead of a few usual ones", 0},
    {"target", KEY_TARGET, "class:N|real:N", 0,
     "Try a model with N classes, or N real numbers to predict (default: class:5)", 0},
    {"integers", KEY_INTEGERS, NULL, 0, "The values of these samples are whole numbers, 0 and 1",
     0},
    {"seed", KEY_SEED, "N", 0, "Seed of all random numbers in the checks (default: 1)", 0},
    {"tap", KEY_TAP, NULL, 0, "Print in the Test Anything Protocol", 0},
    {"quiet", KEY_QUIET, NULL, 0, "Print only failures and totals", 0},
    {"time-limit", KEY_LIMIT, "SECONDS", 0,
     "Of each check, which may compute so long; the load of the machine does not count (default: "
     "60)",
     0},
    {"in-process", KEY_IN_PROCESS, NULL, 0,
     "Run the one check of --only in this process, for a debugger", 0},
    {0},
};

struct check_arguments {
    struct conform_options options;
    struct trial_samples samples;
    const char **only;
    const char **skip;
    const char **set;
    char **files;
    size_t n_files;
    bool list;
};

static double parse_limit(const char *text, struct argp_state *state)
{
    double seconds = 0.0;
    if (!text_real(text, &seconds) || !(seconds > 0.0 && seconds < 1e6))
        argp_error(state, "--time-limit %s: must be a number of seconds above 0", text);
    return seconds;
}

/* Reads a whole number of 1 .. 2^24 and moves *text behind it; 0: there is none. */
static uint32_t take_size(const char **text)
{
    uint32_t size = 0;
    while (**text >= '0' && **text <= '9' && size <= 1u << 24)
        size = 10 * size + (uint32_t)(*(*text)++ - '0');
    return size <= 1u << 24 ? size : 0;
}

static void parse_shape(struct trial_samples *x, const char *text, struct argp_state *state)
{
    const char *at = text;
    for (x->rank = 0; x->rank < OSAFL_SAMPLE_RANK; at++) {
        const uint32_t size = take_size(&at);
        if (size == 0)
            break;
        x->shape[x->rank++] = size;
        if (*at == '\0')
            return;
        if (*at != 'x')
            break;
    }
    argp_error(state, "--shape %s: must be 1 to %d sizes, such as 3x32x32 or 12", text,
               OSAFL_SAMPLE_RANK);
}

static void parse_target(struct trial_samples *x, const char *text, struct argp_state *state)
{
    const char *at = text + 5 * (strncmp(text, "real:", 5) == 0);
    x->target_type = at != text ? OSAFL_TARGET_REAL : OSAFL_TARGET_CLASS;
    at += 6 * (strncmp(text, "class:", 6) == 0);
    x->target_size = at != text ? take_size(&at) : 0;
    if (x->target_size == 0 || *at != '\0')
        argp_error(state, "--target %s: must be class:N or real:N", text);
}

/* Samples are tried as they are asked for; what is not said of them is usual. */
static void end_samples(struct check_arguments *a, struct argp_state *state)
{
    struct trial_samples *x = &a->samples;
    if (x->rank == 0 && x->x_type != 0)
        argp_error(state, "--integers: needs --shape");
    if (x->rank == 0 && x->target_type == 0)
        return;
    if (x->rank == 0)
        *x = (struct trial_samples){.rank = 3,
                                    .shape = {1, 28, 28},
                                    .target_type = x->target_type,
                                    .target_size = x->target_size};
    if (x->x_type == 0)
        x->x_type = OSAFL_X_FLOAT;
    if (x->target_type == 0) {
        x->target_type = OSAFL_TARGET_CLASS;
        x->target_size = 5;
    }
    a->options.samples = x;
}

static void end_check(struct check_arguments *a, struct argp_state *state)
{
    if (a->n_files == 0 && !a->list)
        argp_error(state, "a file is missing");
    if (a->options.tap && a->n_files > 1)
        argp_error(state, "--tap: takes one file at a time");
    if (a->options.in_process && (a->options.n_only != 1 || a->n_files != 1))
        argp_error(state, "--in-process: takes one file and one check (--only)");
    end_samples(a, state);
}

static void parse_samples(int key, struct trial_samples *samples, char *arg,
                          struct argp_state *state)
{
    if (key == KEY_SHAPE)
        parse_shape(samples, arg, state);
    else if (key == KEY_TARGET)
        parse_target(samples, arg, state);
    else
        samples->x_type = OSAFL_X_INT32;
}

static error_t parse_check(int key, char *arg, struct argp_state *state)
{
    struct check_arguments *a = state->input;
    switch (key) {
    case KEY_ONLY:
        if (!conform_knows(arg))
            argp_error(state, "--only %s: there is no such check or group; see --list", arg);
        a->only[a->options.n_only++] = arg;
        return 0;
    case KEY_SKIP:
        if (!conform_knows(arg))
            argp_error(state, "--skip %s: there is no such check or group; see --list", arg);
        a->skip[a->options.n_skip++] = arg;
        return 0;
    case KEY_SET:
        if (strchr(arg, '=') == NULL)
            argp_error(state, "--set %s: must be KEY=VALUE", arg);
        a->set[a->options.n_set++] = arg;
        return 0;
    case KEY_SHAPE:
    case KEY_TARGET:
    case KEY_INTEGERS:
        parse_samples(key, &a->samples, arg, state);
        return 0;
    case KEY_SEED:
        a->options.seed = cli_whole_number("seed", arg, 0, UINT64_MAX, state);
        return 0;
    case KEY_LIMIT:
        a->options.limit_s = parse_limit(arg, state);
        return 0;
    case KEY_LIST:
        a->list = true;
        return 0;
    case KEY_TAP:
        a->options.tap = true;
        return 0;
    case KEY_QUIET:
        a->options.quiet = true;
        return 0;
    case KEY_IN_PROCESS:
        a->options.in_process = true;
        return 0;
    case ARGP_KEY_ARG:
        a->files[a->n_files++] = arg;
        return 0;
    case ARGP_KEY_END:
        end_check(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* BLAS kernels are chosen before any plugin is loaded, as for a run. */
static bool choose_kernels(void)
{
    struct diagnostics *d = diagnostics_create();
    const enum cpu_isa isa = d != NULL ? cpu_isa_chosen(d) : 0;
    if (isa != 0)
        cpu_set_environment(isa);
    else if (d != NULL)
        diagnostics_print(d, stderr);
    diagnostics_destroy(d);
    return isa != 0;
}

static int check_files(const struct check_arguments *a)
{
    bool good = true;
    if (a->list)
        conform_list(stdout);
    if (!choose_kernels())
        return EXIT_USAGE;
    for (size_t i = 0; i < a->n_files; i++)
        good = conform_file(a->files[i], &a->options, stdout) && good;
    return good ? EXIT_RUN_OK : EXIT_RUN_FAILED;
}

static int command_check(int argc, char **argv)
{
    static const struct argp argp = {
        .options = check_options,
        .parser = parse_check,
        .args_doc = "FILE.so...",
        .doc = "Test whether plugins keep the rules of the plugin interface, each check in a "
               "process of its own.\v"
               "Exit status: 0 no check failed, 1 one failed, 2 wrong usage.",
    };
    const size_t n = (size_t)argc + 1;
    struct check_arguments a = {.only = calloc(n, sizeof *a.only),
                                .skip = calloc(n, sizeof *a.skip),
                                .set = calloc(n, sizeof *a.set),
                                .files = calloc(n, sizeof *a.files),
                                .options = {.seed = 1, .limit_s = 60.0}};
    if (a.only == NULL || a.skip == NULL || a.set == NULL || a.files == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    a.options.only = a.only;
    a.options.skip = a.skip;
    a.options.set = a.set;
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    const int status = check_files(&a);
    free(a.only);
    free(a.skip);
    free(a.set);
    free(a.files);
    return status;
}

/* ---- both ---- */

static const struct {
    const char *name;
    const char *args;
    const char *doc;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"new", "KIND NAME [DIR]", "Start the project of a plugin.", command_new},
    {"check", "FILE.so...", "Test whether plugins keep the rules of the interface.", command_check},
    {"list", "[KIND]", "List the plugins that are found, as \"osafl plugins\" does.",
     cli_list_plugins},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *to)
{
    fputs("Usage: osafl plugin COMMAND [OPTION...] ARGUMENT...\nFor authors of plugins.\n\n", to);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-6s %-18s %s\n", commands[i].name, commands[i].args, commands[i].doc);
    fputs("\nosafl plugin COMMAND --help says more.\n", to);
}

int plugin_command(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return EXIT_RUN_OK;
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            char name[32];
            snprintf(name, sizeof name, "osafl plugin %s", commands[i].name);
            argv[1] = name; /* as argp names the program in messages */
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    struct suggestion s = suggest_begin(argv[1]);
    for (size_t i = 0; i < N_COMMANDS; i++)
        suggest_offer(&s, commands[i].name);
    if (s.best != NULL)
        fprintf(stderr, "osafl: unknown command \"plugin %s\"; did you mean \"plugin %s\"?\n",
                argv[1], s.best);
    else
        fprintf(stderr, "osafl: unknown command \"plugin %s\"; see osafl plugin --help\n", argv[1]);
    return EXIT_USAGE;
}
