/* check_command.h - "osafl check": everything of a run but training. */
#ifndef OSAFL_CORE_CHECK_COMMAND_H
#define OSAFL_CORE_CHECK_COMMAND_H

struct experiment;
struct loader;

/* Data files, every plugin's create(), how the pieces fit, who will take part, and an estimate of
 * memory and work, on stdout; what is wrong on stderr.  Returns an exit status (exit_status.h). */
int check_command(struct experiment *e, struct loader *l);

#endif
