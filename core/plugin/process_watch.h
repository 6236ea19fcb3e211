/* process_watch.h - what belongs to the whole program and a plugin might change while it is mapped
 * or created (rule R9).  Each look costs some twenty system calls, so that other calls compare
 * struct process_state (plugin_host.h) alone. */
#ifndef OSAFL_CORE_PROCESS_WATCH_H
#define OSAFL_CORE_PROCESS_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#define WATCHED_SIGNALS 65
#define WATCHED_STREAMS 3

struct process_watch {
    pid_t process;
    bool has_children;
    int folder; /* descriptor of the working folder; -1: it cannot be opened */
    mode_t umask;
    sigset_t blocked;
    struct sigaction action[WATCHED_SIGNALS];
    bool has_timer;
    int stream[WATCHED_STREAMS]; /* copies of the standard streams; -1: closed */
};

/* Before any thread but the caller's makes files: the umask is only read by setting it. */
void process_watch_begin(struct process_watch *w);
/* What has changed, in words, after it was put back; NULL: nothing.  A process that the plugin has
 * made and that comes back here is ended. */
const char *process_watch_end(struct process_watch *w);

#endif
