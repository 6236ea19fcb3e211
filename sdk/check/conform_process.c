/* conform_process.c - a check in a process of its own: limits, verdicts, crashes. */
#include "conform_process.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "guarded_memory.h"
#include "plugin/child_process.h"
#include "plugin/guard.h"
#include "plugin/kinds.h"
#include "plugin/plugin_host.h"

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
    printf("%s %s\n", words[v->outcome], v->error.text);
    fflush(stdout);
    _exit(v->outcome == OUTCOME_FAIL ? EXIT_FAILURE : EXIT_SUCCESS);
}

static OSAFL_PRINTF(2, 0) void format_verdict(struct verdict *v, const char *fmt, va_list args)
{
    vsnprintf(v->error.text, sizeof v->error.text, fmt, args);
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
        guarded_memory_explain(info->si_addr, v.error.text, sizeof v.error.text)) {
        text_append(v.error.text, sizeof v.error.text, " in %s", where);
    } else {
        snprintf(v.error.text, sizeof v.error.text, "crashed with signal %d (%s) in %s", number,
                 strsignal(number), where);
    }
    if (call != NULL && call->round != NO_ROUND) {
        text_append(v.error.text, sizeof v.error.text, ", round %u", (unsigned)call->round);
    }
    if (strncmp(v.error.text, "crashed", 7) == 0) {
        text_append(v.error.text, sizeof v.error.text,
                    "; if it wrote beside its buffers, numbers.guards says where");
    }
    end_with(&v);
}

static void catch_crashes(void)
{
    static unsigned char stack[65536]; /* so that a stack that overflows is reported */
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = on_crash;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof crash_signals / sizeof crash_signals[0]; i++)
        sigaction(crash_signals[i], &action, NULL);
}

/* ---- children ------------------------------------------------------------------------------ */

static void begin_child(int fd)
{
    if (LIMIT_MEMORY)
        setrlimit(RLIMIT_AS, &(struct rlimit){MEMORY_BYTES, MEMORY_BYTES});
    verdict_fd = fd;
    catch_crashes();
}

/* Why a child gave no answer. */
struct silence {
    bool late; /* it was still at work when its time was over */
    char why[200];
};

static void explain_silence(const struct child_end *end, double limit_s, struct silence *s)
{
    s->late = end->late;
    if (end->late)
        snprintf(s->why, sizeof s->why, "did not come to an end within %g s", limit_s);
    else if (WIFSIGNALED(end->status))
        snprintf(s->why, sizeof s->why, "crashed with signal %d (%s)", WTERMSIG(end->status),
                 strsignal(WTERMSIG(end->status)));
    else
        snprintf(s->why, sizeof s->why, "ended the program with exit status %d; return a status",
                 WEXITSTATUS(end->status));
}

/* child_ask(); false with the reason in silence when no whole answer came. */
static bool ask_child(child_work *work, const void *arg, double limit_s, void *answer, size_t size,
                      struct silence *silence)
{
    struct child_end end;
    *silence = (struct silence){0};
    if (!child_ask(work, arg, limit_s, answer, size, &end)) {
        snprintf(silence->why, sizeof silence->why, "no process could be made: %s",
                 strerror(errno));
        return false;
    }
    if (!end.answered)
        explain_silence(&end, limit_s, silence);
    return end.answered;
}

static void run_check(struct conform *c)
{
    c->check->run(c);
    const struct verdict v = {.outcome = OUTCOME_PASS};
    end_with(&v);
}

static void check_in_child(const void *arg, int fd)
{
    begin_child(fd);
    struct conform c = *(const struct conform *)arg;
    run_check(&c);
}

struct verdict conform_in_child(const struct conform *c, double limit_s)
{
    struct verdict v = {0};
    struct silence silence;
    if (!ask_child(check_in_child, c, limit_s, &v, sizeof v, &silence)) {
        v = (struct verdict){.outcome = OUTCOME_FAIL, .late = silence.late};
        snprintf(v.error.text, sizeof v.error.text, "%s", silence.why);
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

/* Checks that show why a file cannot be loaded. */
static bool needs_no_loading(const struct check *k)
{
    return k->kind == 0 && k->feature == NULL && !k->of_instance &&
           (strncmp(k->id, "file.", 5) == 0 || strcmp(k->id, "load.entry") == 0 ||
            strcmp(k->id, "describe.tables") == 0);
}

static void probe_in_child(const void *arg, int fd)
{
    begin_child(fd);
    struct probe found = {0};
    const osafl_plugin *p = conform_try_load(arg, &found.problem);
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
                               (!k->of_instance || kind_is_of_experiments(p->kind)) &&
                               (k->feature == NULL || plugin_has_feature(p, k->feature));
    }
    const bool sent = write(fd, &found, sizeof found) == (ssize_t)sizeof found;
    _exit(sent ? EXIT_SUCCESS : EXIT_FAILURE);
}

bool conform_probe(const char *path, double limit_s, struct probe *out)
{
    struct verdict crash = {0};
    struct silence silence;
    *out = (struct probe){0};
    if (ask_child(probe_in_child, path, limit_s, out, sizeof *out, &silence))
        return true;
    /* A handler of crashes has sent a verdict, which is shorter. */
    memcpy(&crash, out, sizeof crash);
    *out = (struct probe){0};
    snprintf(out->problem.text, sizeof out->problem.text, "%s",
             crash.outcome == OUTCOME_FAIL ? crash.error.text : silence.why);
    for (size_t i = 0; i < n_checks; i++)
        out->applies[i] = needs_no_loading(&checks[i]);
    return true;
}
