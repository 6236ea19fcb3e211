/* main.c - the osafl program. */
#include "base/exit_status.h"
#include "base/json_memory.h"
#include "cli.h"
#include "cli_options.h"
#include "plugin/guard.h"
#include "plugin/kinds.h"
#include "plugin/plugin_host.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* A standard stream that the caller closed would give its number to the first file that is opened,
 * and what is said to the user would end in the results.  The mode is the one that makes its use
 * fail, as it would without a stream. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            exit(EXIT_RUN_FAILED);
    }
}

/* Plugins and the libraries below them may call exit(), as ones that were made for programs of
 * their own do; a run that is cut off in this way did not succeed, whatever status they gave. */
static void refuse_early_exit(void)
{
    const struct osafl_call *call = call_current();
    const struct instance *operation = operation_current();
    const char *loading = guard_is_loading();
    char where[512];
    if (call != NULL)
        call_describe(call, where, sizeof where);
    else if (operation != NULL)
        snprintf(where, sizeof where, "%s/%s", kind_name(operation->plugin->kind),
                 operation->plugin->name);
    else if (loading != NULL)
        snprintf(where, sizeof where, "%s", loading);
    else
        return;
    dprintf(STDERR_FILENO,
            "osafl: %s called exit(), which belongs to the program; what was saved is whole\n",
            where);
    _exit(EXIT_RUN_FAILED);
}

/* Each thread that calls exit() runs a handler of its own; one that found none left would end the
 * program with the plugin's status before another thread's handler is through. */
static bool watch_early_exits(void)
{
    for (unsigned i = 0; i <= CLI_MAX_THREADS; i++) {
        if (atexit(refuse_early_exit) != 0)
            return false;
    }
    return true;
}

/* A stack that overflows ends the program without a word. */
static void require_stack(void)
{
    enum { STACK_LEAST = 128 << 10 };
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= STACK_LEAST)
        return;
    dprintf(STDERR_FILENO, "osafl: the stack may have %lu KiB, and %d are needed: ulimit -s 8192\n",
            (unsigned long)(stack.rlim_cur >> 10), STACK_LEAST >> 10);
    exit(EXIT_RUN_FAILED);
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    require_stack();
    /* A file that may not grow further (ulimit -f) is an error with a name, as a full disk is. */
    signal(SIGXFSZ, SIG_IGN);
    if (!watch_early_exits()) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    json_memory_end_on_failure();
    const int status = cli_main(argc, argv);
    fflush(NULL);
#ifndef OSAFL_SANITIZED /* whose reports come at exit() */
    /* Destructors of plugins have nothing to add, and could crash, wait or change the status. */
    _exit(status);
#else
    return status;
#endif
}
