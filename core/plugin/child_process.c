/* child_process.c - a question that is answered in a process of its own. */
#include "child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
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

/* On a machine with much else to do, a child that computes gets this many times its limit. */
#define MOST_PATIENCE 30.0

/* How long a child may still take. */
struct patience {
    pid_t child;
    double limit_s;
    double begin_s;
    double end_s;      /* so far */
    double computed_s; /* by the child, when this was set */
};

/* What the child has computed, in seconds of processor time. */
static double computed_s(pid_t child)
{
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0.0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The time is up for a child that waits for something, and for one that has computed as long as it
 * may; others had to wait for a processor, and get as much time again. */
static bool time_is_up(struct patience *p)
{
    const double now = now_s();
    const double computed = computed_s(p->child);
    if (now < p->end_s)
        return false;
    if (computed >= p->limit_s || computed - p->computed_s < 0.01 * p->limit_s ||
        now - p->begin_s >= MOST_PATIENCE * p->limit_s)
        return true;
    p->computed_s = computed;
    p->end_s = now + p->limit_s;
    return false;
}

/* Reads exactly size bytes; false: the pipe ended before, or the time was up. */
static bool read_until(int fd, void *data, size_t size, struct patience *p)
{
    size_t got = 0;
    while (got < size && !time_is_up(p)) {
        const double left_s = fmax(p->end_s - now_s(), 0.0);
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        const int n = poll(&ready, 1, (int)(1e3 * fmin(left_s, 1e6)) + 1);
        if (n == 0 || (n < 0 && errno == EINTR))
            continue;
        const ssize_t bytes = n > 0 ? read(fd, (unsigned char *)data + got, size - got) : 0;
        if (bytes <= 0)
            return false;
        got += (size_t)bytes;
    }
    return got == size;
}

/* Waits for the end of a child and kills it when its time is up. */
static void reap(struct patience *p, struct child_end *end)
{
    const pid_t child = p->child;
    while (waitpid(child, &end->status, WNOHANG) == 0) {
        if (time_is_up(p)) {
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
    struct patience p = {.limit_s = limit_s, .begin_s = now_s()};
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
        p.child = child;
        p.end_s = p.begin_s + limit_s;
        end->answered = read_until(ends[0], answer, size, &p);
        if (end->answered)
            p = (struct patience){child, TIME_TO_END_S, now_s(), now_s() + TIME_TO_END_S, 0.0};
        reap(&p, end);
    }
    close(ends[0]);
    errno = error;
    return child > 0;
}
