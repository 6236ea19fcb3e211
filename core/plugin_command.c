/* plugin_command.c - "osafl plugin new" and "osafl plugin check": for authors of plugins. */
#include "plugin_command.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "loader.h"
#include "plugin_new.h"
#include "suggest.h"

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

static int command_new(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_new,
        .args_doc = "KIND NAME [DIR]",
        .doc = "Start the project of a plugin in DIR (default: NAME): a working, commented plugin "
               "that builds, checks and runs at once.\v"
               "KIND is dataset, model, channel, resource, optimizer, quantizer, deletion or "
               "aggregator. No file that exists is touched.",
    };
    struct new_arguments a = {.n = 0};
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    const uint32_t kind = kind_from_name(a.word[0]);
    if (kind == 0) {
        struct suggestion s = suggest_begin(a.word[0]);
        for (uint32_t k = 1; k <= LOADER_KINDS; k++)
            suggest_offer(&s, kind_name(k));
        fprintf(stderr, "osafl: \"%s\" is no kind of plugin%s%s%s\n", a.word[0],
                s.best != NULL ? "; did you mean \"" : "; see osafl plugin new --help",
                s.best != NULL ? s.best : "", s.best != NULL ? "\"?" : "");
        return EXIT_USAGE;
    }
    const char *dir = a.n == 3 ? a.word[2] : a.word[1];
    char why[8192];
    if (!plugin_new(kind, a.word[1], dir, why, sizeof why)) {
        fprintf(stderr, "osafl: %s\n", why);
        return EXIT_RUN_FAILED;
    }
    plugin_new_tell(kind, a.word[1], dir, stdout);
    return EXIT_RUN_OK;
}

/* ---- both ---- */

static const struct {
    const char *name;
    const char *args;
    const char *doc;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"new", "KIND NAME [DIR]", "Start the project of a plugin.", command_new},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *to)
{
    fputs("Usage: osafl plugin COMMAND [OPTION...] ARGUMENT...\nFor authors of plugins.\n\n", to);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-6s %-18s %s\n", commands[i].name, commands[i].args, commands[i].doc);
    fputs("\nosafl plugin COMMAND --help tells more.\n", to);
}

int plugin_command(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "-?") == 0) {
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
    fprintf(stderr, "osafl: unknown command \"plugin %s\"; see osafl plugin --help\n", argv[1]);
    return EXIT_USAGE;
}
