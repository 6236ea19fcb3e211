/* stop.h - SIGINT, SIGTERM, SIGHUP, a limit of time and one of CPU time (SIGXCPU) ask a run to
 * stop.
 *
 * The first request is remembered, and the run stops where nothing is lost; before its first round,
 * where there is nothing to lose, it ends the process at once with EXIT_INTERRUPTED.  So does a
 * second signal at any time: the last checkpoint serves. */
#ifndef OSAFL_CORE_STOP_H
#define OSAFL_CORE_STOP_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The signal by which a program asks a run of its own to stop: unlike the others it may come any
 * number of times, before or after one of them, and never ends the process at once. */
#define STOP_GENTLY SIGALRM

/* Takes over these signals, unless the caller ignores them, SIGXCPU and SIGALRM; max_time_s > 0: a
 * request comes after so many seconds. SIGPIPE is ignored. The main thread, with no other run in
 * hand. */
void stop_begin(double max_time_s);
/* Puts the handlers back. */
void stop_end(void);

/* From here on the first request ends the process, and says so on stderr where `print`.  For the
 * time in which all that is worth keeping is on the disk. */
void stop_allow_end(bool print);
/* Ends that time.  A second signal still ends the process at once, and says so likewise. */
void stop_forbid_end(void);

bool stop_requested(void);
/* The signal that asked first; 0: none. */
int stop_signal(void);
/* Another process of the run was asked by this signal: as if it had come here, but the process
 * never ends at once. */
void stop_adopt(int signal_number);
/* "interrupted", "terminated", "hung up", "time limit reached", "limit of CPU time reached (ulimit
 * -t)". */
const char *stop_reason(void);

/* While true, a request also raises the flag below, so that the round in hand is abandoned: to be
 * allowed only when its beginning is on the disk. */
void stop_allow_abandon(bool allowed);
/* Nonzero: give up the work in hand.  For host_context.cancelled. */
const atomic_int *stop_flag(void);

#endif
