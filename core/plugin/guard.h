/* guard.h - a plugin that crashes, or does not return, ends the program under its own name.
 *
 * A fault inside a call is reported as "aggregator/osafl, round 3: the plugin crashed (...)" and
 * ends the program with EXIT_RUN_FAILED; what the run has saved is whole.  A fault of the program's
 * own code is left to the system.  Handlers run on stacks of their own, so that a stack overflow is
 * reported too.  Which call a thread is in: call_current(). */
#ifndef OSAFL_CORE_GUARD_H
#define OSAFL_CORE_GUARD_H

#include "pool.h"

/* Takes over the signals of faults, for the whole process, and guards the calling thread.  The
 * main thread, once. */
void guard_begin(void);
/* Gives the signals back, as in a child process that is to die of its faults.
 * Also where nothing was begun. */
void guard_end(void);

/* What ends the program is written to this file too, for the process that waits for it; -1: to
 * none. */
void guard_print_also(int fd);

/* Guards the threads of a pool that may call plugins. */
extern const struct pool_hooks guard_pool_hooks;

/* Names the file that is about to be mapped, whose code may then run and must be done within two
 * minutes; NULL: it is done. */
void guard_loading(const char *path);
/* The file that is being mapped; NULL: none. */
const char *guard_is_loading(void);

/* Starts a thread that ends the program when one call lasts longer than limit_s; 0: no limit.
 * Time during which the whole program stands still does not count.  Without memory for a thread
 * there is no limit. */
void guard_watch(double limit_s);
void guard_unwatch(void); /* also where nothing is watched */

#endif
