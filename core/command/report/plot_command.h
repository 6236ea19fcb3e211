/* plot_command.h - "osafl plot DIR...": the figures of results.  Reads result folders, writes below
 * its --out folder, and lets gnuplot draw. */
#ifndef OSAFL_REPORT_PLOT_COMMAND_H
#define OSAFL_REPORT_PLOT_COMMAND_H

/* argv[0] is the name of the command; the rest its own arguments.  Returns an exit status of
 * cli.h, as report_command() does. */
int plot_command(int argc, char **argv);

#endif
