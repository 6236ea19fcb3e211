/* cli.h - command line of the osafl program. */
#ifndef OSAFL_CORE_CLI_H
#define OSAFL_CORE_CLI_H

/* Exit statuses of the program. */
enum {
    EXIT_RUN_OK = 0,
    EXIT_RUN_FAILED = 1,  /* the run failed */
    EXIT_USAGE = 2,       /* the command line or the experiment is wrong */
    EXIT_INTERRUPTED = 3, /* stopped, can be resumed */
};

int cli_main(int argc, char **argv);

/* The command "osafl plugins", which is "osafl plugin list" too; argv[0] is its name. */
int cli_list_plugins(int argc, char **argv);

#endif
