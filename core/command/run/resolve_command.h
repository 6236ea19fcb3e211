/* resolve_command.h - "osafl resolve": every setting of an experiment with its origin. */
#ifndef OSAFL_CORE_RESOLVE_COMMAND_H
#define OSAFL_CORE_RESOLVE_COMMAND_H

struct experiment;
struct loader;

/* Prints e as experiment_write() does.  Where e leaves the optimizer to the aggregator, the plugins
 * are created to learn it, data files included.  Returns an exit status (exit_status.h). */
int resolve_command(struct experiment *e, struct loader *l);

#endif
