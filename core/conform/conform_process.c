/* conform_process.c - a check in a process of its own: limits, verdicts, crashes. */
#include "conform_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"
#include "guarded_memory.h"
#include "plugin_host.h"

/* A sanitizer maps terabytes of shadow memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LIMIT_MEMORY 0
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY 1
#endif
#define MEMORY_BYTES ((rlim_t)6 << 30)

/* Of this process, when it is the one that tries something. */
static int verdict_fd = -1;
static _Thread_local char doing[160];

/* ---- verdicts ------------------------------------------------------------------------------ */

static _Noreturn void end_with(const struct verdict *v)
{
    if (verdict_fd >= 0) {
        /* Shorter than a pipe's buffer: never blocks. */
        const bool sent = write(verdict_fd, v, sizeof *v) == (ssize_t)sizeof *v;
        _exit(sent ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    static const char *const words[] = {
        [OUTCOME_PASS] = "pass", [OUTCOME_SKIP] = "skip", [OUTCOME_FAIL] = "FAIL"};
    printf("%s %s\n", words[v->outcome], v->message);
    fflush(stdout);
    _exit(v->outcome == OUTCOME_FAIL ? EXIT_FAILURE : EXIT_SUCCESS);
}

static OSAFL_PRINTF(2, 0) void format_verdict(struct verdict *v, const char *fmt, va_list args)
{
    vsnprintf(v->message, sizeof v->message, fmt, args);
}

_Noreturn void conform_fail(const struct conform *c, const char *fmt, ...)
{
    (void)c;
    struct verdict v = {.outcome = OUTCOME_FAIL};
    va_list args;
    va_start(args, fmt);
    format_verdict(&v, fmt, args);
    va_end(args);
    end_with(&v);
}

_Noreturn void conform_skip(const struct conform *c, const char *fmt, ...)
{
    (void)c;
    struct verdict v = {.outcome = OUTCOME_SKIP};
    va_list args;
    va_start(args, fmt);
    format_verdict(&v, fmt, args);
    va_end(args);
    end_with(&v);
}

void conform_doing(const char *text)
{
    snprintf(doing, sizeof doing, "%s", text);
}

/* ---- crashes ------------------------------------------------------------------------------- */

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* Ends the process, so that functions which are not made for handlers can do no more harm than
 * hang, and the parent sees to that. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)context;
    static volatile sig_atomic_t crashed;
    if (crashed)
        _exit(128 + number); /* in this handler itself */
    crashed = 1;
    struct verdict v = {.outcome = OUTCOME_FAIL};
    char where[200];
    const struct osafl_call *call = call_current();
    snprintf(where, sizeof where, "%s", doing[0] != '\0' ? doing : "the plugin's code");
    if ((number == SIGSEGV || number == SIGBUS) &&
        guarded_memory_explain(info->si_addr, v.message, sizeof v.message)) {
        const size_t n = strlen(v.message);
        snprintf(v.message + n, sizeof v.message - n, " in %s", where);
    } else {
        snprintf(v.message, sizeof v.message, "crashed with signal %d (%s) in %s", number,
                 strsignal(number), where);
    }
    if (call != NULL && call->round != NO_ROUND) {
        const size_t n = strlen(v.message);
        snprintf(v.message + n, sizeof v.message - n, ", round %u", (unsigned)call->round);
    }
    end_with(&v);
}

static void catch_crashes(void)
{
    static unsigned char stack[65536]; /* so that a stack that overflows can be told */
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = on_crash;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof crash_signals / sizeof crash_signals[0]; i++)
        sigaction(crash_signals[i], &action, NULL);
}

/* ---- children ------------------------------------------------------------------------------ */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void begin_child(int fd)
{
    guard_end();
    setpgid(0, 0); /* so that the parent ends what a plugin may start, too */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (LIMIT_MEMORY)
        setrlimit(RLIMIT_AS, &(struct rlimit){MEMORY_BYTES, MEMORY_BYTES});
    /* What is printed is counted by the check that looks for it, and disturbs no other. */
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int to = STDIN_FILENO; null >= 0 && to <= STDERR_FILENO; to++)
        dup2(null, to);
    verdict_fd = fd;
    catch_crashes();
}

/* Reads exactly size bytes until end_s. */
static bool read_all(int fd, void *data, size_t size, double end_s)
{
    size_t got = 0;
    while (got < size) {
        const double left_s = end_s - seconds_now();
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

/* The end of a child, which is killed when end_s passes, with all that it started. */
static int reap(pid_t child, double end_s, bool *late)
{
    int status = 0;
    *late = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (seconds_now() >= end_s) {
            *late = true;
            kill(-child, SIGKILL);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                continue;
            return status;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(-child, SIGKILL); /* what it may have left behind; the group is its own */
    return status;
}

/* How a child ended that gave no answer. */
static void explain_silence(int status, bool late, double limit_s, char *out, size_t size)
{
    if (late)
        snprintf(out, size, "did not come to an end within %g s", limit_s);
    else if (WIFSIGNALED(status))
        snprintf(out, size, "crashed with signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(out, size, "ended the program with exit status %d", WEXITSTATUS(status));
}

/* Does work(arg, fd) in a child, which writes size bytes of answer to fd.  False with the reason in
 * why. */
static bool ask_child(void (*work)(const void *arg, int fd), const void *arg, double limit_s,
                      void *answer, size_t size, char *why, size_t why_size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(why, why_size, "no pipe could be made: %s", strerror(errno));
        return false;
    }
    fflush(NULL); /* else the child would print it again */
    const double end_s = seconds_now() + limit_s;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        begin_child(ends[1]);
        work(arg, ends[1]);
        _exit(EXIT_FAILURE); /* work() does not return */
    }
    close(ends[1]);
    bool answered = false;
    if (child < 0) {
        snprintf(why, why_size, "no process could be made: %s", strerror(errno));
    } else {
        setpgid(child, child); /* parent and child both: whoever comes first */
        answered = read_all(ends[0], answer, size, end_s);
        bool late;
        const int status = reap(child, answered ? seconds_now() + 1.0 : end_s, &late);
        if (!answered)
            explain_silence(status, late, limit_s, why, why_size);
    }
    close(ends[0]);
    return answered;
}

static void run_check(struct conform *c)
{
    c->check->run(c);
    const struct verdict v = {.outcome = OUTCOME_PASS};
    end_with(&v);
}

static void check_in_child(const void *arg, int fd)
{
    (void)fd; /* end_with() knows it */
    struct conform c = *(const struct conform *)arg;
    run_check(&c);
}

struct verdict conform_in_child(const struct conform *c, double limit_s)
{
    struct verdict v = {0};
    char why[200];
    if (!ask_child(check_in_child, c, limit_s, &v, sizeof v, why, sizeof why)) {
        v.outcome = OUTCOME_FAIL;
        snprintf(v.message, sizeof v.message, "%s", why);
    }
    return v;
}

_Noreturn void conform_here(struct conform *c)
{
    guard_end(); /* a debugger wants the fault itself */
    c->check->run(c);
    const struct verdict v = {.outcome = OUTCOME_PASS};
    end_with(&v);
}

/* ---- probing ------------------------------------------------------------------------------- */

/* Checks that tell why a file cannot be loaded. */
static bool needs_no_loading(const struct check *k)
{
    return k->kind == 0 && k->feature == NULL &&
           (strncmp(k->id, "file.", 5) == 0 || strcmp(k->id, "load.entry") == 0 ||
            strcmp(k->id, "describe.tables") == 0);
}

static void probe_in_child(const void *arg, int fd)
{
    struct probe found = {0};
    const osafl_plugin *p = conform_try_load(arg, found.problem, sizeof found.problem);
    if (p != NULL) {
        found.kind = p->kind;
        snprintf(found.name, sizeof found.name, "%s", p->name);
        snprintf(found.version, sizeof found.version, "%s", p->version);
    }
    for (size_t i = 0; i < n_checks; i++) {
        const struct check *k = &checks[i];
        if (p == NULL)
            found.applies[i] = needs_no_loading(k);
        else
            found.applies[i] = (k->kind == 0 || k->kind == p->kind) &&
                               (k->feature == NULL || plugin_has_feature(p, k->feature));
    }
    const bool sent = write(fd, &found, sizeof found) == (ssize_t)sizeof found;
    _exit(sent ? EXIT_SUCCESS : EXIT_FAILURE);
}

bool conform_probe(const char *path, double limit_s, struct probe *out)
{
    struct verdict crash = {0};
    char why[200];
    *out = (struct probe){0};
    if (ask_child(probe_in_child, path, limit_s, out, sizeof *out, why, sizeof why))
        return true;
    /* A handler of crashes has sent a verdict, which is shorter. */
    memcpy(&crash, out, sizeof crash);
    *out = (struct probe){0};
    snprintf(out->problem, sizeof out->problem, "%s",
             crash.outcome == OUTCOME_FAIL ? crash.message : why);
    for (size_t i = 0; i < n_checks; i++)
        out->applies[i] = needs_no_loading(&checks[i]);
    return true;
}
