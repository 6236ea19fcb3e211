/* bench_command.h - "osafl bench": how fast the models train on this machine. */
#ifndef OSAFL_CORE_BENCH_COMMAND_H
#define OSAFL_CORE_BENCH_COMMAND_H

/* argv[0] is the name of the command; the rest its own arguments.  Returns an exit status of
 * cli.h. */
int bench_command(int argc, char **argv);

#endif
