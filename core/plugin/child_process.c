/* child_process.c - a question that is answered in a process of its own. */
#include "child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "guard.h"

/* Who has answered has nothing left to do but to end. */
#define TIME_TO_END_S 1.0

static void begin_child(void)
{
    guard_end();   /* the parent wants to see the signal that ends this process */
    setpgid(0, 0); /* so that the parent ends what this process may start, too */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
}

/* Reads exactly size bytes; false: the pipe ended before, or end_s passed. */
static bool read_until(int fd, void *data, size_t size, double end_s)
{
    size_t got = 0;
    while (got < size) {
        const double left_s = end_s - now_s();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        const int n = left_s > 0.0 ? poll(&ready, 1, (int)(1e3 * left_s) + 1) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        const ssize_t bytes = n > 0 ? read(fd, (unsigned char *)data + got, size - got) : 0;
        if (bytes <= 0)
            return false;
        got += (size_t)bytes;
    }
    return true;
}

/* Waits for the end of a child and kills it when end_s passes. */
static void reap(pid_t child, double end_s, struct child_end *end)
{
    while (waitpid(child, &end->status, WNOHANG) == 0) {
        if (now_s() >= end_s) {
            end->late = true;
            kill(-child, SIGKILL);
            while (waitpid(child, &end->status, 0) < 0 && errno == EINTR)
                continue;
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(-child, SIGKILL); /* what it may have left behind; the group is its own */
}

bool child_ask(child_work *work, const void *arg, double limit_s, void *answer, size_t size,
               struct child_end *end)
{
    int ends[2];
    *end = (struct child_end){0};
    memset(answer, 0, size);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(NULL); /* else the child would print it again */
    const double end_s = now_s() + limit_s;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        begin_child();
        work(arg, ends[1]);
        _exit(EXIT_FAILURE); /* work() does not return */
    }
    const int error = errno;
    close(ends[1]);
    if (child > 0) {
        setpgid(child, child); /* parent and child both: whoever comes first */
        end->answered = read_until(ends[0], answer, size, end_s);
        reap(child, end->answered ? now_s() + TIME_TO_END_S : end_s, end);
    }
    close(ends[0]);
    errno = error;
    return child > 0;
}
