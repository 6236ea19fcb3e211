/* guard.c - a plugin that crashes, or does not return, ends the program under its own name. */
#include "guard.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "kinds.h"
#include "plugin_host.h"

/* The address sanitizer wants to report the fault itself.  The thread sanitizer has no more to say
 * of it, and can lock itself up when two threads crash at once. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZER_REPORTS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZER_REPORTS 1
#endif
#endif
#ifndef SANITIZER_REPORTS
#define SANITIZER_REPORTS 0
#endif

/* An overflow touches memory at most so far beside the end of its stack. */
#define NEAR_STACK_END ((uintptr_t)65536)
#define LOAD_LIMIT_S 120
#define LONGEST_TICK_S 1.0
#define TICKS_OF_LIMIT 8

static const struct {
    int number;
    const char *text;
} faults[] = {
    {SIGSEGV, "segmentation fault"}, {SIGBUS, "bus error"}, {SIGFPE, "arithmetic fault"},
    {SIGILL, "illegal instruction"}, {SIGABRT, "abort"},
};
#define N_FAULTS (sizeof faults / sizeof faults[0])
static struct sigaction before[N_FAULTS];

/* Enough for the widest registers of any processor and for one line of text. */
#define GUARD_STACK_BYTES 65536

/* One thread that calls plugins. */
struct guard_thread {
    struct guard_thread *next;
    pthread_t thread;
    const atomic_uint_fast64_t *calls; /* call_counter() of the thread */
    atomic_uint_fast64_t seen;         /* of it, at the watchdog's last look */
    unsigned ticks;                    /* looks since it changed */
    uintptr_t stack_end;               /* lowest address of the thread's stack */
    unsigned char stack[GUARD_STACK_BYTES];
};

static struct guard_thread main_thread;
static _Thread_local const struct guard_thread *own;
static const char *volatile loading;
static volatile sig_atomic_t also_to = -1;

static struct {
    pthread_mutex_t lock; /* guards all of this, and every thread's seen and ticks */
    pthread_cond_t quit_or_tick;
    struct guard_thread *threads;
    pthread_t watchdog;
    bool running;
    bool quit;
    double limit_s;
    double tick_s;
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- messages, in signal handlers: no formatting functions, no memory, no locks ------------- */

struct line {
    char text[512];
    size_t n;
};

static void add_text(struct line *l, const char *text)
{
    for (; *text != '\0' && l->n < sizeof l->text; text++)
        l->text[l->n++] = *text;
}

static void add_number(struct line *l, uint64_t v)
{
    char digits[24];
    size_t n = sizeof digits;
    digits[--n] = '\0';
    do {
        digits[--n] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    add_text(l, digits + n);
}

static void write_line(int fd, const struct line *l)
{
    for (size_t done = 0; done < l->n;) {
        const ssize_t written = write(fd, l->text + done, l->n - done);
        if (written <= 0)
            return;
        done += (size_t)written;
    }
}

static void print_line(struct line *l)
{
    if (l->n == sizeof l->text)
        l->n--;
    l->text[l->n++] = '\n';
    write_line(STDERR_FILENO, l);
    if (also_to >= 0)
        write_line(also_to, l);
}

void guard_print_also(int fd)
{
    also_to = fd;
}

/* "aggregator/osafl, round 3, client 5"; false: the thread is in no plugin. */
static bool add_place(struct line *l)
{
    const struct osafl_call *c = call_current();
    const struct instance *i = operation_current();
    if (i == NULL && c != NULL)
        i = c->instance;
    if (i == NULL) {
        if (loading != NULL)
            add_text(l, loading);
        return loading != NULL;
    }
    add_text(l, kind_name(i->plugin->kind));
    add_text(l, "/");
    add_text(l, i->plugin->name);
    if (c != NULL && c->round != NO_ROUND) {
        add_text(l, ", round ");
        add_number(l, c->round);
    }
    if (c != NULL && c->client != OSAFL_NO_CLIENT) {
        add_text(l, ", client ");
        add_number(l, c->client);
    }
    return true;
}

static void add_remedy(struct line *l)
{
    if (loading != NULL)
        return;
    add_text(l, "; what the run has saved is whole: the same command goes on from there, with "
                "--accept-changes when the plugin has been fixed");
}

/* ---- faults -------------------------------------------------------------------------------- */

static bool is_overflow(int number, const siginfo_t *info)
{
    const uintptr_t address = (uintptr_t)info->si_addr;
    return (number == SIGSEGV || number == SIGBUS) && own != NULL && own->stack_end != 0 &&
           address + NEAR_STACK_END >= own->stack_end && address < own->stack_end + NEAR_STACK_END;
}

static void handle_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    struct line l = {.n = 0};
    size_t which = 0;
    while (which + 1 < N_FAULTS && faults[which].number != number)
        which++;
    add_text(&l, "osafl: ");
    const bool in_plugin = add_place(&l);
    if (in_plugin) {
        add_text(&l, ": the plugin crashed (");
        add_text(&l, is_overflow(number, info) ? "stack overflow" : faults[which].text);
        add_text(&l, ")");
        add_remedy(&l);
        print_line(&l);
        if (!SANITIZER_REPORTS)
            _exit(EXIT_RUN_FAILED);
    }
    /* Back at the faulting instruction, the signal meets whoever had it before. */
    sigaction(number, &before[which], NULL);
    if (info->si_code <= 0) /* sent, not raised by an instruction: it would not come again */
        raise(number);
}

/* ---- calls that do not return -------------------------------------------------------------- */

/* The signal by which the watchdog, or the timer of loading, interrupts a thread. */
static int late_signal(void)
{
    return SIGRTMIN;
}

static void add_limit(struct line *l)
{
    const bool short_one = guard.limit_s < 10.0;
    add_number(l, (uint64_t)(short_one ? 1e3 * guard.limit_s : guard.limit_s));
    add_text(l, short_one ? " ms (call_limit_s)" : " s (call_limit_s)");
}

static void handle_late(int number)
{
    (void)number;
    struct line l = {.n = 0};
    add_text(&l, "osafl: ");
    /* The call may have ended just now, and another begun. */
    const bool still = own == NULL || atomic_load_explicit(own->calls, memory_order_relaxed) ==
                                          atomic_load_explicit(&own->seen, memory_order_relaxed);
    if (!add_place(&l) || (loading == NULL && !still))
        return;
    if (loading != NULL) {
        add_text(&l, ": loading it is not done after ");
        add_number(&l, LOAD_LIMIT_S);
        add_text(&l, " s; the plugin hangs");
    } else {
        add_text(&l, ": the plugin has not returned from a call for ");
        add_limit(&l);
    }
    add_remedy(&l);
    print_line(&l);
    _exit(EXIT_RUN_FAILED);
}

/* Looks at all threads; true: one was reported late at an earlier look and still is. */
static bool look_at_threads(void)
{
    const unsigned late = (unsigned)ceil(guard.limit_s / guard.tick_s) + 1;
    for (struct guard_thread *t = guard.threads; t != NULL; t = t->next) {
        const uint_fast64_t calls = atomic_load_explicit(t->calls, memory_order_relaxed);
        const bool in_call = calls % 2 == 1;
        const uint_fast64_t seen = atomic_exchange_explicit(&t->seen, calls, memory_order_relaxed);
        t->ticks = in_call && calls == seen ? t->ticks + 1 : 0;
        if (t->ticks == late)
            pthread_kill(t->thread, late_signal());
        else if (t->ticks > late + TICKS_OF_LIMIT)
            return true;
    }
    return false;
}

static void *watch(void *arg)
{
    (void)arg;
    const double whole = floor(guard.tick_s);
    const struct timespec tick = {.tv_sec = (time_t)whole,
                                  .tv_nsec = (long)(1e9 * (guard.tick_s - whole))};
    pthread_mutex_lock(&guard.lock);
    while (!guard.quit) {
        struct timespec end;
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_sec += tick.tv_sec + (end.tv_nsec + tick.tv_nsec) / 1000000000;
        end.tv_nsec = (end.tv_nsec + tick.tv_nsec) % 1000000000;
        if (pthread_cond_timedwait(&guard.quit_or_tick, &guard.lock, &end) != ETIMEDOUT)
            continue;
        /* A thread that does not even receive the signal: its plugin has blocked it. */
        if (look_at_threads()) {
            struct line l = {.n = 0};
            add_text(&l, "osafl: a plugin that blocks signals has not returned from a call for ");
            add_limit(&l);
            add_remedy(&l);
            print_line(&l);
            _exit(EXIT_RUN_FAILED);
        }
    }
    pthread_mutex_unlock(&guard.lock);
    return NULL;
}

void guard_watch(double limit_s)
{
    if (guard.running || !(limit_s > 0.0))
        return;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&guard.quit_or_tick, &attr);
    pthread_condattr_destroy(&attr);
    guard.quit = false;
    guard.limit_s = limit_s;
    guard.tick_s = fmin(LONGEST_TICK_S, limit_s / TICKS_OF_LIMIT);
    /* Signals that come from outside are the main thread's. */
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    guard.running = pthread_create(&guard.watchdog, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (guard.running)
        pthread_setname_np(guard.watchdog, "osafl-watch");
    else
        pthread_cond_destroy(&guard.quit_or_tick);
}

void guard_unwatch(void)
{
    if (!guard.running)
        return;
    pthread_mutex_lock(&guard.lock);
    guard.quit = true;
    pthread_cond_signal(&guard.quit_or_tick);
    pthread_mutex_unlock(&guard.lock);
    pthread_join(guard.watchdog, NULL);
    pthread_cond_destroy(&guard.quit_or_tick);
    guard.running = false;
}

/* ---- threads and files --------------------------------------------------------------------- */

static uintptr_t find_stack_end(void)
{
    pthread_attr_t attr;
    void *address = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return 0;
    if (pthread_attr_getstack(&attr, &address, &size) != 0)
        address = NULL;
    pthread_attr_destroy(&attr);
    return (uintptr_t)address;
}

static void begin_thread(void *state)
{
    struct guard_thread *t = state;
    t->thread = pthread_self();
    t->calls = call_counter();
    atomic_init(&t->seen, 0);
    t->ticks = 0;
    t->stack_end = find_stack_end();
    const stack_t stack = {.ss_sp = t->stack, .ss_size = sizeof t->stack};
    sigaltstack(&stack, NULL);
    sigset_t heard;
    sigemptyset(&heard);
    sigaddset(&heard, late_signal());
    for (size_t i = 0; i < N_FAULTS; i++)
        sigaddset(&heard, faults[i].number);
    pthread_sigmask(SIG_UNBLOCK, &heard, NULL);
    own = t;
    pthread_mutex_lock(&guard.lock);
    t->next = guard.threads;
    guard.threads = t;
    pthread_mutex_unlock(&guard.lock);
}

static void end_thread(void *state)
{
    const struct guard_thread *t = state;
    pthread_mutex_lock(&guard.lock);
    struct guard_thread **at = &guard.threads;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    pthread_mutex_unlock(&guard.lock);
    const stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    own = NULL;
}

const struct pool_hooks guard_pool_hooks = {
    .state_bytes = sizeof(struct guard_thread),
    .begin = begin_thread,
    .end = end_thread,
};

void guard_begin(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    action.sa_sigaction = handle_fault;
    for (size_t i = 0; i < N_FAULTS; i++)
        sigaction(faults[i].number, &action, &before[i]);
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    action.sa_handler = handle_late;
    sigaction(late_signal(), &action, NULL);
    begin_thread(&main_thread);
}

void guard_end(void)
{
    if (own != &main_thread)
        return;
    for (size_t i = 0; i < N_FAULTS; i++)
        sigaction(faults[i].number, &before[i], NULL);
    end_thread(&main_thread);
}

void guard_loading(const char *path)
{
    static timer_t timer;
    static bool armed;
    if (armed)
        timer_delete(timer);
    loading = path;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = late_signal()};
    armed = path != NULL && own != NULL && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    const struct itimerspec limit = {.it_value.tv_sec = LOAD_LIMIT_S};
    if (armed)
        timer_settime(timer, 0, &limit, NULL);
}

const char *guard_is_loading(void)
{
    return loading;
}
