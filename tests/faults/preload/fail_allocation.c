/* fail_allocation.c - LD_PRELOAD: one allocation of a program fails.
 *
 * Allocations are told apart by their call stacks: the first time that a stack asks for memory is a
 * site, numbered from 1 in order of appearance.  OSAFL_FAIL_SITE=N lets site N fail, and with
 * OSAFL_FAIL_ON=1 everything after it too.  OSAFL_SITES=FILE writes the number of sites at exit,
 * and OSAFL_SHOW_SITE=1 the failing stack to standard error.
 *
 * Libraries that end the process themselves when memory is short (libconfig, OpenBLAS, the loader
 * of shared objects) get theirs: there is nothing to be learnt from them. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAMES 48
#define SLOTS 65536 /* far more than there are sites */

/* The C library's own, which this file stands in front of. */
extern void *__libc_malloc(size_t size);                     /* NOLINT */
extern void *__libc_calloc(size_t n, size_t size);           /* NOLINT */
extern void *__libc_realloc(void *p, size_t size);           /* NOLINT */
extern void *__libc_memalign(size_t alignment, size_t size); /* NOLINT */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool ready;
static bool fail_on;
static bool failing;
static bool show;
static unsigned long fail_site;
static unsigned long sites;
static uint64_t seen[SLOTS];
static _Thread_local bool inside;

static bool is_exempt(const char *module)
{
    static const char *const exempt[] = {"libconfig", "libopenblas", "libgfortran", "ld-linux"};
    const char *slash = strrchr(module, '/');
    const char *name = slash != NULL ? slash + 1 : module;
    for (size_t i = 0; i < sizeof exempt / sizeof exempt[0]; i++)
        if (strncmp(name, exempt[i], strlen(exempt[i])) == 0)
            return true;
    return false;
}

/* A number for the stack outside of this library, the same in every run; 0: an exempt one. */
static uint64_t hash_stack(void)
{
    void *frame[FRAMES];
    uint64_t hash = 14695981039346656037u;
    const int n = backtrace(frame, FRAMES);
    struct dl_find_object own;
    (void)_dl_find_object((void *)(uintptr_t)is_exempt, &own);
    for (int i = 0; i < n; i++) {
        struct dl_find_object object;
        if (_dl_find_object(frame[i], &object) != 0 || object.dlfo_map_start == own.dlfo_map_start)
            continue;
        const char *module = object.dlfo_link_map->l_name;
        if (is_exempt(module))
            return 0;
        const uint64_t offset = (uintptr_t)frame[i] - (uintptr_t)object.dlfo_map_start;
        hash = (hash ^ offset) * 1099511628211u; /* FNV-1a, by words */
    }
    return hash != 0 ? hash : 1;
}

/* Whether this stack asks for the first time. */
static bool is_new(uint64_t hash)
{
    size_t at = hash % SLOTS;
    while (seen[at] != 0 && seen[at] != hash)
        at = (at + 1) % SLOTS;
    const bool new = seen[at] == 0;
    seen[at] = hash;
    return new;
}

static __attribute__((noinline)) bool must_fail(void)
{
    if (!ready || inside)
        return false;
    inside = true;
    const uint64_t hash = hash_stack();
    pthread_mutex_lock(&lock);
    bool fail = false;
    if (hash != 0) {
        fail = is_new(hash) && ++sites == fail_site;
        failing = failing || (fail && fail_on);
        fail = fail || failing;
    }
    pthread_mutex_unlock(&lock);
    if (fail && sites == fail_site && show) {
        void *frame[FRAMES];
        backtrace_symbols_fd(frame, backtrace(frame, FRAMES), STDERR_FILENO);
    }
    inside = false;
    if (fail)
        errno = ENOMEM;
    return fail;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return must_fail() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    return must_fail() ? NULL : __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t size)
{
    return must_fail() ? NULL : __libc_realloc(p, size);
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size)
{
    return must_fail() ? NULL : __libc_memalign(alignment, size);
}

__attribute__((visibility("default"))) int posix_memalign(void **p, size_t alignment, size_t size)
{
    void *memory = must_fail() ? NULL : __libc_memalign(alignment, size);
    if (memory == NULL)
        return ENOMEM;
    *p = memory;
    return 0;
}

static void write_sites(void)
{
    const char *path = getenv("OSAFL_SITES");
    if (path == NULL)
        return;
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd >= 0) {
        dprintf(fd, "%lu\n", sites);
        close(fd);
    }
}

/* The program ends by _exit() once all is written, so that no destructor of a plugin runs. */
__attribute__((visibility("default"))) void _exit(int status)
{
    write_sites();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

/* Everything that the libraries need before main() has been allocated by now. */
__attribute__((constructor)) static void begin(void)
{
    void *frame[FRAMES];
    const char *site = getenv("OSAFL_FAIL_SITE");
    (void)backtrace(frame, FRAMES); /* brings its own library, once */
    fail_site = site != NULL ? strtoul(site, NULL, 10) : 0;
    fail_on = getenv("OSAFL_FAIL_ON") != NULL;
    show = getenv("OSAFL_SHOW_SITE") != NULL;
    atexit(write_sites);
    ready = true;
}
