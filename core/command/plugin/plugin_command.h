/* plugin_command.h - "osafl plugin new" and "osafl plugin check": for authors of plugins. */
#ifndef OSAFL_CORE_PLUGIN_COMMAND_H
#define OSAFL_CORE_PLUGIN_COMMAND_H

/* argv[0] is the name of the command; the rest its own arguments.  Returns an exit status of
 * cli.h: EXIT_USAGE for a wrong command line, EXIT_RUN_FAILED when a project could not be written
 * or a plugin breaks a rule. */
int plugin_command(int argc, char **argv);

#endif
