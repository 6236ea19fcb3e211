/* child_process.h - a question that is answered in a process of its own, because the code that
 * answers it may crash, hang, or end the program. */
#ifndef OSAFL_CORE_CHILD_PROCESS_H
#define OSAFL_CORE_CHILD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* How the process ended. */
struct child_end {
    bool answered; /* the whole answer was read */
    bool late;     /* it was killed, because its time was up */
    int status;    /* as waitpid() gives it */
};

/* Runs in the child: writes its answer to fd and ends the process.  It has no guard (guard.h), no
 * core dump, and standard streams that lead nowhere; what it starts ends with it. */
typedef void child_work(const void *arg, int fd);

/* Forks, so that no other thread may exist, and waits until `size` bytes of answer have come, the
 * child has ended, or limit_s seconds have passed (longer while the child computes on a processor
 * that it has to share, until it has computed so long); then nothing of the child is left.  The
 * answer must be shorter than a pipe's buffer (65,536 bytes), so that writing it never blocks;
 * where it did not come whole, `answer` holds the part that came, and zeros.  False, with errno: no
 * process could be made. */
bool child_ask(child_work *work, const void *arg, double limit_s, void *answer, size_t size,
               struct child_end *end);

#endif
