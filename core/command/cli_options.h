/* cli_options.h - options of the commands that read experiments or look for plugins. */
#ifndef OSAFL_CORE_CLI_OPTIONS_H
#define OSAFL_CORE_CLI_OPTIONS_H

#include <argp.h>
#include <stddef.h>

#include "command/run/run.h"

struct cli_options {
    const char **set; /* of --set and its shorthands, in order */
    size_t n_set;
    const char **only; /* conditions on cells, in order */
    size_t n_only;
    const char *overlay; /* NULL: none */
    const char **plugin_dirs;
    size_t n_plugin_dirs;
    const char *weights; /* the first word of a command of CLI_WEIGHTS */
    char **arguments;    /* FILE..., KIND, ... */
    size_t n_arguments;
    struct run_options run;
    unsigned jobs;  /* cells side by side */
    unsigned shard; /* 1 .. shards: which share of the cells; 0: all */
    unsigned shards;
    bool list;             /* only name the cells */
    const char *until;     /* run: a width of an interval (until_plan.h); NULL */
    uint32_t max_seeds;    /* 0: not given */
    const char *transport; /* run: its name, or "none"; NULL: as the launcher says */
    uint32_t n_ranks;      /* of --ranks; 0: not given */
    double rank_limit_s;
    const char **over; /* what is tuned (tune_range.h); [n_over] */
    size_t n_over;
    double keep;         /* share of the settings that go on at a cut */
    uint32_t rounds;     /* of --rounds; 0: all */
    const char *archive; /* what is packed */
    const char **source; /* folders of plugins' sources; [n_source] */
    size_t n_source;
    char **owned; /* strings made here */
    size_t n_owned;
};

/* The largest number that --threads takes. */
enum { CLI_MAX_THREADS = 1024 };

/* Which groups of options a command knows. */
enum {
    CLI_PLUGINS = 1 << 0,    /* --plugin-dir */
    CLI_EXPERIMENT = 1 << 1, /* --set, seed--, case--, only--, --overlay */
    CLI_RUN = 1 << 2,        /* --out, --jobs, ... */
    CLI_GRID = 1 << 3,       /* --shard, --list */
    CLI_TUNE = 1 << 4,       /* --over, --keep */
    CLI_THREADS = 1 << 5,    /* --threads */
    CLI_WEIGHTS = 1 << 6,    /* no option: the first word names weights, before the arguments */
    CLI_KEPT = 1 << 7,       /* --only, of runs that are kept */
    CLI_VERIFY = 1 << 8,     /* --rounds, --set, --quiet */
    CLI_PACK = 1 << 9,       /* --out, --sources */
};

/* Parses the words of one command, argv[0] being "osafl COMMAND".  A wrong word ends the program
 * with EXIT_USAGE and a message, --help ends it with 0, as argp does.  at_least, at_most: number
 * of arguments.  args_doc, doc: for --help. */
void cli_options_parse(struct cli_options *o, int argc, char **argv, unsigned groups,
                       const char *args_doc, const char *doc, size_t at_least, size_t at_most);
void cli_options_free(struct cli_options *o);

/* The value of a command's --option; one that is not within [least, most] ends the program as any
 * wrong word does. */
uint64_t cli_whole_number(const char *option, const char *text, uint64_t least, uint64_t most,
                          struct argp_state *state);

#endif
