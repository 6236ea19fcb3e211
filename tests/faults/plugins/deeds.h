/* deeds.h - what a saboteur does, and where, as the environment says:
 *
 *     OSAFL_DEED=crash OSAFL_DEED_AT=aggregate OSAFL_DEED_ROUND=3 OSAFL_DEED_CLIENT=2
 *
 * Round and client may be left out; without OSAFL_DEED a saboteur is the plugin that it includes.
 * The settings stay the same, so that an honest run can go on with what a saboteur left. */
#ifndef OSAFL_TESTS_DEEDS_H
#define OSAFL_TESTS_DEEDS_H

#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "osafl/osafl.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define ANY UINT32_MAX /* place without a round or a client */

static inline bool deed_matches(const char *variable, uint32_t value)
{
    const char *wanted = getenv(variable);
    return wanted == NULL || value == ANY || strtoul(wanted, NULL, 10) == value;
}

static volatile uintptr_t deed_nowhere = 8;

/* Not a tail call, and never optimised away.  Endless recursion is meant. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
static unsigned deed_recurse(volatile char *above) /* NOLINT(misc-no-recursion) */
{
    volatile char frame[512];
    frame[0] = above != NULL ? above[0] : 1;
    return deed_recurse(frame) + (unsigned)frame[0];
}
#pragma GCC diagnostic pop

static inline void deed_flush_to_zero(void)
{
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | 0x8040u);
#else
    fesetround(FE_UPWARD);
#endif
}

/* Does the deed where it is due.  True: the caller is to spoil its answer. */
static inline bool deed(const char *place, uint32_t round, uint32_t client)
{
    const char *what = getenv("OSAFL_DEED");
    const char *where = getenv("OSAFL_DEED_AT");
    if (what == NULL || where == NULL || strcmp(where, place) != 0 ||
        !deed_matches("OSAFL_DEED_ROUND", round) || !deed_matches("OSAFL_DEED_CLIENT", client))
        return false;
    const char *file = getenv("OSAFL_DEED_FILE"); /* comes into being before the deed */
    if (file != NULL)
        (void)!mkdir(file, 0700);
    if (strcmp(what, "crash") == 0)
        *(volatile int *)deed_nowhere = 1; /* NOLINT(performance-no-int-to-ptr) */
    else if (strcmp(what, "abort") == 0)
        abort();
    else if (strcmp(what, "overflow") == 0)
        deed_nowhere = deed_recurse(NULL);
    else if (strcmp(what, "trap") == 0)
        raise(SIGILL);
    else if (strcmp(what, "hang") == 0)
        for (;;)
            pause();
    else if (strcmp(what, "spin") == 0)
        while (deed_nowhere != 0)
            continue;
    else if (strcmp(what, "deaf") == 0) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        for (;;)
            pause();
    } else if (strcmp(what, "rounding") == 0)
        fesetround(FE_UPWARD);
    else if (strcmp(what, "flush") == 0)
        deed_flush_to_zero();
    else if (strcmp(what, "exit") == 0)
        exit(0);
    else if (strcmp(what, "chdir") == 0)
        (void)!chdir("/");
    else if (strcmp(what, "umask") == 0)
        (void)umask(0777);
    else if (strcmp(what, "block") == 0) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &one, NULL);
    } else if (strcmp(what, "handler") == 0)
        (void)signal(SIGTERM, SIG_IGN);
    else if (strcmp(what, "alarm") == 0)
        (void)alarm(1000);
    else if (strcmp(what, "close") == 0)
        close(STDERR_FILENO);
    else if (strcmp(what, "redirect") == 0)
        (void)dup2(STDIN_FILENO, STDOUT_FILENO);
    else if (strcmp(what, "fork") == 0)
        (void)!fork();
    else if (strcmp(what, "locale") == 0)
        setlocale(LC_ALL, "C.UTF-8");
    return strcmp(what, "nan") == 0;
}

/* The included plugin under the name "saboteur", with another vtable. */
#define SABOTEUR(vtable_of_kind)                                                                   \
    OSAFL_EXPORT const osafl_plugin *osafl_plugin_entry_v0(void);                                  \
    OSAFL_EXPORT const osafl_plugin *osafl_plugin_entry_v0(void)                                   \
    {                                                                                              \
        static osafl_plugin saboteur;                                                              \
        (void)honest_entry;                                                                        \
        saboteur = plugin;                                                                         \
        saboteur.name = "saboteur";                                                                \
        saboteur.vtable = &(vtable_of_kind)->life;                                                 \
        return &saboteur;                                                                          \
    }

#endif
