/* exit_status.h - exit statuses of the program. */
#ifndef OSAFL_CORE_EXIT_STATUS_H
#define OSAFL_CORE_EXIT_STATUS_H

enum {
    EXIT_RUN_OK = 0,
    EXIT_RUN_FAILED = 1,  /* the run failed */
    EXIT_USAGE = 2,       /* the command line or the experiment is wrong */
    EXIT_INTERRUPTED = 3, /* stopped, can be resumed */
};

#endif
