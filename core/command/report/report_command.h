/* report_command.h - "osafl report DIR...": the tables of results.  Reads result folders and
 * nothing else; runs may go on meanwhile. */
#ifndef OSAFL_REPORT_REPORT_COMMAND_H
#define OSAFL_REPORT_REPORT_COMMAND_H

/* argv[0] is the name of the command; the rest its own arguments.  Returns an exit status of
 * cli.h: EXIT_USAGE for a wrong command line or folders without results, EXIT_RUN_FAILED when
 * results could not be read or something could not be written. */
int report_command(int argc, char **argv);

#endif
