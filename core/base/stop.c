/* stop.c - SIGINT, SIGTERM, SIGHUP and limits of time ask a run to stop. */
#include "stop.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "exit_status.h"

static volatile sig_atomic_t request; /* the signal that came first; 0: none */
static volatile sig_atomic_t may_end;
static volatile sig_atomic_t prints_end;
static volatile sig_atomic_t may_abandon;
static atomic_int abandon; /* read by all threads; lock-free, so a handler may write it */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGXCPU};
#define N_SIGNALS (sizeof signals / sizeof signals[0])
static struct sigaction before[N_SIGNALS];
static struct sigaction pipe_before;

/* With functions that are made for handlers. */
static _Noreturn void end_at_once(void)
{
    char line[128];
    char *end = stpcpy(line, "osafl: ");
    end = stpcpy(end, stop_reason());
    end = stpcpy(end, " before any further round; run the same command again to resume\n");
    const bool printed = !prints_end || write(STDERR_FILENO, line, (size_t)(end - line)) >= 0;
    (void)printed; /* nothing is left to do about it */
    _exit(EXIT_INTERRUPTED);
}

/* Signals that come again and again: SIGXCPU does each second, until the hard limit kills. */
static bool is_gentle(int signal_number)
{
    return signal_number == SIGALRM || signal_number == SIGXCPU;
}

static void handle(int signal_number)
{
    if (request != 0) {
        if (!is_gentle(signal_number) && !is_gentle(request))
            end_at_once();
        if (is_gentle(signal_number))
            return;
    }
    request = signal_number;
    if (may_end)
        end_at_once();
    if (may_abandon)
        abandon = 1;
}

static void set_timer(double seconds)
{
    const double whole = floor(seconds);
    struct itimerval timer = {0};
    timer.it_value.tv_sec = (time_t)whole;
    timer.it_value.tv_usec = (suseconds_t)((seconds - whole) * 1e6);
    if (seconds > 0.0 && timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1; /* zero would mean: never */
    setitimer(ITIMER_REAL, &timer, NULL);
}

void stop_begin(double max_time_s)
{
    struct sigaction action;
    sigset_t open;
    request = may_end = prints_end = may_abandon = 0;
    atomic_store(&abandon, 0);
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigemptyset(&open);
    for (size_t i = 0; i < N_SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        /* What the caller ignores, such as nohup or a shell's "&", stays ignored. */
        if (before[i].sa_handler != SIG_IGN || signals[i] == SIGALRM)
            sigaction(signals[i], &action, NULL);
        sigaddset(&open, signals[i]);
    }
    /* Ctrl-C on "osafl run ... | tee log" ends tee first: the next line of progress must not end
     * the run before it is saved. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, &pipe_before);
    sigprocmask(SIG_UNBLOCK, &open, NULL);
    if (max_time_s > 0.0)
        set_timer(fmin(max_time_s, 1e9));
}

void stop_end(void)
{
    set_timer(0.0);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    sigaction(SIGPIPE, &pipe_before, NULL);
}

void stop_allow_end(bool print)
{
    prints_end = print;
    may_end = 1;
    /* A request that came just before the permission counts too. */
    if (request != 0)
        end_at_once();
}

void stop_forbid_end(void)
{
    may_end = 0;
}

bool stop_requested(void)
{
    return request != 0;
}

int stop_signal(void)
{
    return request;
}

void stop_adopt(int signal_number)
{
    if (request != 0)
        return;
    request = signal_number;
    if (may_abandon)
        abandon = 1;
}

const char *stop_reason(void)
{
    switch (request) {
    case SIGINT:
        return "interrupted";
    case SIGTERM:
        return "terminated";
    case SIGHUP:
        return "hung up";
    case SIGXCPU:
        return "limit of CPU time reached (ulimit -t)";
    default:
        return "time limit reached";
    }
}

void stop_allow_abandon(bool allowed)
{
    may_abandon = allowed;
    /* A request that came just before the permission counts too. */
    if (allowed && request != 0)
        abandon = 1;
}

const atomic_int *stop_flag(void)
{
    return &abandon;
}
