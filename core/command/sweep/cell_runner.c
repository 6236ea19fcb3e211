/* cell_runner.c - runs the cells of grids, each in a process of its own, several side by side. */
#include "cell_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit_status.h"
#include "base/stop.h"
#include "experiment/experiment.h"
#include "plugin/guard.h"

enum { LINE_BYTES = 1200, TICK_MS = 200 };

/* A process that runs a cell. */
struct worker_process {
    struct cell_run *cell; /* NULL: the place is free */
    pid_t pid;
    unsigned threads;
    double start_s;
    int outcome_fd; /* its struct run_outcome, or the words of a crash */
    char outcome[sizeof(struct run_outcome)];
    size_t outcome_bytes;
    int stderr_fd; /* -1: it has ours */
    char line[LINE_BYTES];
    size_t line_bytes;
};

struct runner {
    const struct cell_runner_options *o;
    struct loader *loader;
    struct cell_run *run;
    size_t n;
    size_t next; /* the first cell that has not begun */
    size_t ended;
    unsigned free_threads;
    struct worker_process *place; /* [places] */
    size_t places;
    size_t busy;
    bool stopping;
};

/* ---- in the new process ---------------------------------------------------------------------- */

static bool write_all(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(fd, (const char *)data + done, size - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The terminal's Ctrl-C is the parent's, which passes it on.  When the parent dies, its cells stop
 * as if terminated. */
static void belong_to(pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_INTERRUPTED);
}

_Noreturn static void be_cell(const struct runner *r, const struct cell_run *cell, unsigned threads,
                              int outcome_fd)
{
    static struct run_outcome outcome;
    struct run_options options = r->o->run;
    options.threads = threads;
    options.max_time_s = 0.0; /* the parent keeps the time */
    options.until_round = cell->until_round;
    guard_print_also(outcome_fd);
    r->o->body(cell->e, r->loader, &options, r->places == 1, &outcome);
    fflush(NULL);
    /* Nothing of the parent's is to be taken down by exit(). */
    _exit(write_all(outcome_fd, &outcome, sizeof outcome) ? outcome.status : EXIT_RUN_FAILED);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* Signals that come before the new process is ready for them wait until stop_begin(). */
static void block_stop_signals(sigset_t *old)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, STOP_GENTLY);
    sigprocmask(SIG_BLOCK, &stop, old);
}

static void close_pair(const int fd[2])
{
    const int error = errno;
    for (int i = 0; i < 2; i++) {
        if (fd[i] >= 0)
            close(fd[i]);
    }
    errno = error;
}

/* The parent's pipes to other cells are not this one's, and count among its open files. */
static void close_others(const struct runner *r)
{
    for (size_t i = 0; i < r->places; i++) {
        const struct worker_process *w = &r->place[i];
        if (w->cell != NULL && w->outcome_fd >= 0)
            close(w->outcome_fd);
        if (w->cell != NULL && w->stderr_fd >= 0)
            close(w->stderr_fd);
    }
}

/* False, with errno: no process could be made. */
static bool begin_process(const struct runner *r, struct worker_process *w)
{
    int outcome[2] = {-1, -1};
    int error[2] = {-1, -1};
    sigset_t old;
    if (pipe2(outcome, O_CLOEXEC) != 0)
        return false;
    if (r->places > 1 && pipe2(error, O_CLOEXEC) != 0) {
        close_pair(outcome);
        return false;
    }
    const pid_t parent = getpid();
    fflush(NULL);
    block_stop_signals(&old);
    w->pid = fork();
    if (w->pid == 0) {
        belong_to(parent);
        close_others(r);
        close(outcome[0]);
        if (error[1] >= 0)
            dup2(error[1], STDERR_FILENO);
        close_pair(error);
        be_cell(r, w->cell, w->threads, outcome[1]);
    }
    const int fork_error = errno;
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (w->pid < 0) {
        close_pair(outcome);
        close_pair(error);
        errno = fork_error;
        return false;
    }
    close(outcome[1]);
    if (error[1] >= 0)
        close(error[1]);
    w->outcome_fd = outcome[0];
    w->stderr_fd = error[0];
    return true;
}

static void announce_end(const struct runner *r, const struct cell_run *cell)
{
    const struct cell_progress p = {.ended = r->ended, .cells = r->n, .quiet = r->o->run.quiet};
    r->o->watcher->end(cell, &p);
}

/* Whether the system may have room for a process once another one has ended. */
static bool is_shortage(int error)
{
    return error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM;
}

static void fail_to_begin(struct runner *r, struct cell_run *cell, int error)
{
    cell->fate = FATE_FAILED;
    cell->outcome = (struct run_outcome){.status = EXIT_RUN_FAILED};
    snprintf(cell->outcome.error.text, sizeof cell->outcome.error.text,
             "cannot start a process: %s", strerror(error));
    r->ended++;
    announce_end(r, cell);
}

/* Gives the next cell to a free place.  Threads are divided among the cells that can still run
 * beside it.  False: there is no room for it before another one ends. */
static bool begin_next(struct runner *r, struct worker_process *w)
{
    const size_t free_places = r->places - r->busy;
    const size_t waiting = r->n - r->next;
    const size_t sharers = free_places < waiting ? free_places : waiting;
    const unsigned share = r->free_threads / (unsigned)sharers;
    *w = (struct worker_process){.cell = &r->run[r->next],
                                 .threads = share > 0 ? share : 1,
                                 .start_s = now_s(),
                                 .outcome_fd = -1,
                                 .stderr_fd = -1};
    if (!begin_process(r, w)) {
        const int error = errno;
        struct cell_run *cell = w->cell;
        w->cell = NULL;
        if (r->busy > 0 && is_shortage(error))
            return false;
        r->next++;
        fail_to_begin(r, cell, error);
        return true;
    }
    r->next++;
    /* With more jobs than threads every cell still has one. */
    r->free_threads -= w->threads < r->free_threads ? w->threads : r->free_threads;
    r->busy++;
    return true;
}

static void fill_places(struct runner *r)
{
    for (size_t i = 0; i < r->places && !stop_requested(); i++) {
        if (r->place[i].cell == NULL && r->next < r->n && !begin_next(r, &r->place[i]))
            return;
    }
}

/* Each cell takes two files while it runs, and the soft limit is often a small part of the hard
 * one. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- while cells run ------------------------------------------------------------------------- */

/* Passes whole lines on. */
static void pass_lines(const struct runner *r, struct worker_process *w, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '\n')
            w->line[w->line_bytes++] = text[i];
        if (text[i] == '\n' || w->line_bytes == sizeof w->line - 1) {
            w->line[w->line_bytes] = '\0';
            r->o->watcher->line(w->cell, w->line);
            w->line_bytes = 0;
        }
    }
}

/* False: the other end is closed. */
static bool read_stderr(const struct runner *r, struct worker_process *w)
{
    char text[4096];
    const ssize_t n = read(w->stderr_fd, text, sizeof text);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    if (n == 0 && w->line_bytes > 0)
        pass_lines(r, w, "\n", 1);
    if (n > 0)
        pass_lines(r, w, text, (size_t)n);
    return n > 0;
}

static bool read_outcome(struct worker_process *w)
{
    const size_t room = sizeof w->outcome - w->outcome_bytes;
    char further[64];
    /* More than an outcome comes from a plugin that writes where it must not. */
    const ssize_t n = room > 0 ? read(w->outcome_fd, w->outcome + w->outcome_bytes, room)
                               : read(w->outcome_fd, further, sizeof further);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    w->outcome_bytes += room > 0 ? (size_t)n : 0;
    return n > 0;
}

/* What becomes of a process that gave no outcome: it crashed, or was killed. */
static void explain_crash(struct worker_process *w, int status)
{
    struct run_outcome *out = &w->cell->outcome;
    *out = (struct run_outcome){.status = EXIT_RUN_FAILED};
    size_t n = w->outcome_bytes;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERRUPTED) {
        out->status = EXIT_INTERRUPTED; /* a second signal ended it at once */
        return;
    }
    while (n > 0 && w->outcome[n - 1] == '\n')
        n--;
    if (n > 0)
        snprintf(out->error.text, sizeof out->error.text, "%.*s", (int)n, w->outcome);
    else if (WIFSIGNALED(status))
        snprintf(out->error.text, sizeof out->error.text,
                 "the process was ended by signal %d (%s)%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)),
                 WTERMSIG(status) == SIGKILL ? "; did the system run out of memory?" : "");
    else
        snprintf(out->error.text, sizeof out->error.text, "the process ended with status %d",
                 WEXITSTATUS(status));
}

static enum cell_fate fate_of(const struct run_outcome *out)
{
    switch (out->status) {
    case EXIT_RUN_OK:
        return out->was_complete ? FATE_LEFT_ALONE : FATE_DONE;
    case EXIT_INTERRUPTED:
        return FATE_INTERRUPTED;
    default:
        return FATE_FAILED;
    }
}

static void end_process(struct runner *r, struct worker_process *w)
{
    struct cell_run *cell = w->cell;
    int status = 0;
    while (w->stderr_fd >= 0 && read_stderr(r, w))
        continue;
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (w->outcome_bytes == sizeof w->outcome)
        memcpy(&cell->outcome, w->outcome, sizeof cell->outcome);
    else
        explain_crash(w, status);
    cell->fate = fate_of(&cell->outcome);
    cell->seconds = now_s() - w->start_s;
    close(w->outcome_fd);
    if (w->stderr_fd >= 0)
        close(w->stderr_fd);
    r->free_threads += w->threads;
    if (r->free_threads > r->o->run.threads)
        r->free_threads = r->o->run.threads;
    r->busy--;
    r->ended++;
    w->cell = NULL;
    announce_end(r, cell);
}

static void stop_cells(struct runner *r)
{
    r->stopping = true;
    r->o->watcher->stop(r->busy);
    for (size_t i = 0; i < r->places; i++) {
        if (r->place[i].cell != NULL)
            kill(r->place[i].pid, STOP_GENTLY);
    }
}

/* Which file of which place an entry of poll() is for. */
struct listening {
    struct pollfd *fd; /* [2 * places]; no gaps: their number is limited as that of open files is */
    struct worker_process **of;
    nfds_t n;
};

static void listen_to(struct listening *l, struct worker_process *w, int fd)
{
    if (fd < 0)
        return;
    l->of[l->n] = w;
    l->fd[l->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

/* Waits a moment for something to read, and reads it. */
static void listen_to_cells(struct runner *r, struct listening *l)
{
    l->n = 0;
    for (size_t i = 0; i < r->places; i++) {
        struct worker_process *w = &r->place[i];
        if (w->cell == NULL)
            continue;
        listen_to(l, w, w->stderr_fd); /* before the outcome, which ends the process */
        listen_to(l, w, w->outcome_fd);
    }
    if (poll(l->fd, l->n, TICK_MS) <= 0)
        return;
    for (nfds_t i = 0; i < l->n; i++) {
        struct worker_process *w = l->of[i];
        if (l->fd[i].revents == 0)
            continue;
        if (l->fd[i].fd == w->outcome_fd) {
            if (!read_outcome(w))
                end_process(r, w);
        } else if (!read_stderr(r, w)) {
            close(w->stderr_fd);
            w->stderr_fd = -1;
        }
    }
}

static int overall_status(const struct runner *r)
{
    int status = EXIT_RUN_OK;
    for (size_t i = 0; i < r->n; i++) {
        if (r->run[i].fate == FATE_INTERRUPTED || r->run[i].fate == FATE_NOT_BEGUN)
            return EXIT_INTERRUPTED;
        if (r->run[i].fate == FATE_FAILED && status != EXIT_RUN_FAILED)
            status = r->run[i].outcome.status;
    }
    return status;
}

int cells_run(struct cell_run *run, size_t n, struct loader *l, const struct cell_runner_options *o)
{
    struct runner r = {.o = o, .loader = l, .run = run, .n = n, .free_threads = o->run.threads};
    r.places = o->jobs < n ? o->jobs : n;
    r.place = calloc(r.places + 1, sizeof *r.place);
    struct listening heard = {.fd = calloc(2 * r.places + 1, sizeof *heard.fd),
                              .of = calloc(2 * r.places + 1, sizeof(struct worker_process *))};
    for (size_t i = 0; i < n; i++) {
        run[i].fate = FATE_NOT_BEGUN;
        run[i].outcome = (struct run_outcome){.status = EXIT_INTERRUPTED};
        run[i].seconds = 0.0;
    }
    if (r.place == NULL || heard.fd == NULL || heard.of == NULL) {
        free(r.place);
        free(heard.fd);
        free(heard.of);
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    raise_file_limit();
    stop_begin(o->run.max_time_s);
    while (r.busy > 0 || (r.next < n && !r.stopping)) {
        fill_places(&r);
        if (stop_requested() && !r.stopping)
            stop_cells(&r);
        listen_to_cells(&r, &heard);
    }
    stop_end();
    free(r.place);
    free(heard.fd);
    free(heard.of);
    return overall_status(&r);
}
