/* process_watch.c - notices and undoes what a plugin changes of the process. */
#include "process_watch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_status.h"

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static bool has_timer(void)
{
    struct itimerval timer;
    return getitimer(ITIMER_REAL, &timer) == 0 &&
           (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0);
}

static mode_t current_umask(void)
{
    const mode_t mask = umask(S_IRWXG | S_IRWXO);
    umask(mask);
    return mask;
}

/* Whether two descriptors are the same file, or both closed. */
static bool is_same_file(int a, int b)
{
    struct stat x;
    struct stat y;
    const bool has_x = a >= 0 && fstat(a, &x) == 0;
    const bool has_y = fstat(b, &y) == 0;
    return has_x == has_y && (!has_x || (x.st_dev == y.st_dev && x.st_ino == y.st_ino));
}

void process_watch_begin(struct process_watch *w)
{
    memset(w, 0, sizeof *w);
    w->process = getpid();
    w->has_children = has_children();
    w->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    w->umask = current_umask();
    sigprocmask(SIG_SETMASK, NULL, &w->blocked);
    for (int i = 1; i < WATCHED_SIGNALS; i++)
        sigaction(i, NULL, &w->action[i]);
    w->has_timer = has_timer();
    for (int i = 0; i < WATCHED_STREAMS; i++)
        w->stream[i] = fcntl(i, F_DUPFD_CLOEXEC, WATCHED_STREAMS);
}

static bool restore_folder(const struct process_watch *w)
{
    struct stat before;
    struct stat now;
    if (w->folder < 0 || fstat(w->folder, &before) != 0 ||
        (stat(".", &now) == 0 && now.st_dev == before.st_dev && now.st_ino == before.st_ino))
        return false;
    (void)!fchdir(w->folder);
    return true;
}

static bool restore_streams(const struct process_watch *w)
{
    bool changed = false;
    for (int i = 0; i < WATCHED_STREAMS; i++) {
        if (is_same_file(w->stream[i], i))
            continue;
        changed = true;
        if (w->stream[i] < 0)
            close(i);
        else
            dup2(w->stream[i], i);
    }
    return changed;
}

static bool restore_signals(const struct process_watch *w)
{
    bool changed = false;
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, &w->blocked, &blocked);
    for (int i = 1; i < WATCHED_SIGNALS; i++) {
        struct sigaction now;
        changed = changed || sigismember(&blocked, i) != sigismember(&w->blocked, i);
        if (sigaction(i, NULL, &now) != 0 || now.sa_handler == w->action[i].sa_handler)
            continue;
        sigaction(i, &w->action[i], NULL);
        changed = true;
    }
    return changed;
}

static bool restore_timer(const struct process_watch *w)
{
    static const struct itimerval none;
    if (w->has_timer || !has_timer())
        return false;
    setitimer(ITIMER_REAL, &none, NULL);
    return true;
}

const char *process_watch_end(struct process_watch *w)
{
    if (getpid() != w->process)
        _exit(EXIT_RUN_FAILED); /* the plugin's create() has returned in its copy, too */
    const char *changed = NULL;
    if (!w->has_children && has_children())
        changed = "the process, by starting another one";
    if (umask(w->umask) != w->umask)
        changed = "the umask";
    if (restore_timer(w))
        changed = "the interval timer";
    if (restore_signals(w))
        changed = "what signals do";
    if (restore_folder(w))
        changed = "the working folder";
    if (restore_streams(w))
        changed = "the standard streams";
    for (int i = 0; i < WATCHED_STREAMS; i++)
        if (w->stream[i] >= 0)
            close(w->stream[i]);
    if (w->folder >= 0)
        close(w->folder);
    return changed;
}
