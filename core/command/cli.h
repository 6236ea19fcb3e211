/* cli.h - command line of the osafl program. */
#ifndef OSAFL_CORE_CLI_H
#define OSAFL_CORE_CLI_H

int cli_main(int argc, char **argv);

/* The command "osafl plugins", which is "osafl plugin list" too; argv[0] is its name. */
int cli_list_plugins(int argc, char **argv);

#endif
