/* checks_load.c - what loading and using a plugin does to the process. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checks.h"
#include "instance_under_test.h"
#include "plugin/cpu.h"
#include "plugin/kinds.h"
#include "plugin/plugin_file.h"

extern char **environ;

#define MOST_SIGNALS 64
#define MOST_DESCRIPTORS 1024
#define RANDOM_SEED 20240229u

/* What belongs to the whole program. */
struct process_snapshot {
    uint64_t fp_mode;
    char locale[256];
    struct sigaction action[MOST_SIGNALS];
    sigset_t mask;
    char folder[4096];
    mode_t umask;
    bool open[MOST_DESCRIPTORS];
    unsigned threads;
    uint64_t environment; /* hash */
    int random;           /* next number of rand() */
};

static unsigned count_threads(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/task");
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        closedir(dir);
    return n;
}

static uint64_t hash_environment(void)
{
    uint64_t hash = 0;
    for (char **at = environ; at != NULL && *at != NULL; at++)
        hash = XXH3_64bits_withSeed(*at, strlen(*at), hash);
    return hash;
}

/* The number that rand() gives next is looked at, and the generator put back to its start: the
 * caller has put it there before the first snapshot. */
static void take_snapshot(struct process_snapshot *s)
{
    memset(s, 0, sizeof *s);
    s->fp_mode = cpu_fp_mode();
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    for (int i = 1; i < MOST_SIGNALS; i++)
        sigaction(i, NULL, &s->action[i]);
    sigprocmask(SIG_SETMASK, NULL, &s->mask);
    if (getcwd(s->folder, sizeof s->folder) == NULL)
        s->folder[0] = '\0';
    s->umask = umask(0);
    umask(s->umask);
    for (int fd = 0; fd < MOST_DESCRIPTORS; fd++)
        s->open[fd] = fcntl(fd, F_GETFD) >= 0;
    s->threads = count_threads();
    s->environment = hash_environment();
    s->random = rand();
    srand(RANDOM_SEED);
}

static void compare_signals(const struct conform *c, const struct process_snapshot *before,
                            const struct process_snapshot *after, const char *when)
{
    for (int i = 1; i < MOST_SIGNALS; i++) {
        const struct sigaction *a = &before->action[i];
        const struct sigaction *b = &after->action[i];
        if (a->sa_handler != b->sa_handler || a->sa_flags != b->sa_flags)
            conform_fail(c, "changes what signal %d (%s) does %s", i, strsignal(i), when);
        if (sigismember(&before->mask, i) != sigismember(&after->mask, i))
            conform_fail(c, "changes the mask of signals %s", when);
    }
}

/* What a library of the plugin may keep from its first use on. */
static void compare_resources(const struct conform *c, const struct process_snapshot *before,
                              const struct process_snapshot *after, const char *when)
{
    for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
        if (before->open[fd] != after->open[fd])
            conform_fail(c, "%s descriptor %d %s", after->open[fd] ? "leaves open" : "closes", fd,
                         when);
    }
    if (before->threads != after->threads)
        conform_fail(c, "leaves %d more threads running %s",
                     (int)after->threads - (int)before->threads, when);
}

static void compare(const struct conform *c, const struct process_snapshot *before,
                    const struct process_snapshot *after, const char *when)
{
    if (before->fp_mode != after->fp_mode)
        conform_fail(c,
                     "changes the floating-point environment %s (rounding, exceptions or "
                     "flush-to-zero; was it linked with -ffast-math?)",
                     when);
    if (strcmp(before->locale, after->locale) != 0)
        conform_fail(c, "changes the locale %s", when);
    if (kind_is_of_experiments(c->plugin->kind)) /* else the loader undoes it */
        compare_signals(c, before, after, when);
    if (strcmp(before->folder, after->folder) != 0)
        conform_fail(c, "changes the working folder %s", when);
    if (before->umask != after->umask)
        conform_fail(c, "changes the umask %s", when);
    if (before->environment != after->environment)
        conform_fail(c, "changes the environment %s", when);
    if (before->random != after->random)
        conform_fail(c, "uses rand() or srand() %s", when);
}

/* The file is one that the program would load. */
void check_load_entry(struct conform *c)
{
    char hash[PLUGIN_HASH_BYTES];
    struct error error;
    if (plugin_file_check(c->path, hash, &error) != OSAFL_OK)
        conform_fail(c, "%s", error.text);
    void *handle = dlopen(c->path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        conform_fail(c, "cannot be mapped: %s", dlerror());
    if (dlsym(handle, OSAFL_ENTRY_SYMBOL) == NULL)
        conform_fail(c, "exports no " OSAFL_ENTRY_SYMBOL);
}

static void use(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    under_test_must_run(&s, 0, TRIAL_ROUNDS, &answers);
    under_test_close(&s);
    transcript_free(&answers);
}

void check_load_output(struct conform *c)
{
    const int out = memfd_create("osafl-output", MFD_CLOEXEC);
    if (out < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        conform_skip(c, "cannot be tried: no place for its output");
    conform_load(c);
    use(c);
    fflush(NULL);
    char text[200];
    const ssize_t n = pread(out, text, sizeof text - 1, 0);
    if (n <= 0)
        return;
    text[n] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    conform_fail(c, "prints: \"%s\"; use host->log()", text);
}

void check_load_process(struct conform *c)
{
    static struct process_snapshot before;
    static struct process_snapshot after;
    srand(RANDOM_SEED);
    take_snapshot(&before);
    conform_load(c);
    take_snapshot(&after);
    compare(c, &before, &after, "when it is loaded");
    compare_resources(c, &before, &after, "when it is loaded");
}

/* Threads and descriptors are counted from the second life on: libraries of the plugin may make
 * some at their first use. */
void check_load_use(struct conform *c)
{
    static struct process_snapshot unused;
    static struct process_snapshot used;
    static struct process_snapshot used_again;
    struct blas_report blas_before;
    struct blas_report blas_after;
    conform_load(c);
    srand(RANDOM_SEED);
    take_snapshot(&unused);
    use(c);
    take_snapshot(&used);
    compare(c, &unused, &used, "when it is used");
    cpu_read_blas(&blas_before);
    use(c);
    take_snapshot(&used_again);
    cpu_read_blas(&blas_after);
    compare(c, &used, &used_again, "when it is used");
    compare_resources(c, &used, &used_again, "when it is used");
    if (blas_before.threads != blas_after.threads)
        conform_fail(c, "changes the number of threads of BLAS");
}
