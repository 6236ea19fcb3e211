/* checks_file.c - what the file of a plugin says, before any of its code runs. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "checks.h"
#include "elf_file.h"
#include "plugin/plugin_file.h"

static struct elf_file open_file(const struct conform *c)
{
    struct elf_file f;
    char hash[PLUGIN_HASH_BYTES];
    struct error error;
    if (plugin_file_check(c->path, hash, &error) != OSAFL_OK ||
        elf_open(&f, c->path, &error) != OSAFL_OK)
        conform_fail(c, "%s", error.text);
    return f;
}

void check_file_format(struct conform *c)
{
    char name[256];
    (void)open_file(c);
    if (!conform_name_of(c->path, name, sizeof name))
        conform_fail(c, "is not called NAME.so with a NAME of [a-z][a-z0-9_]{0,47}");
}

/* A list of names for a message; what does not fit is left out. */
struct symbol_names {
    char text[600];
    unsigned n;
};

static void add_name(void *arg, const char *name)
{
    struct symbol_names *list = arg;
    text_append_item(list->text, sizeof list->text, ", ", name);
    list->n++;
}

void check_file_exports(struct conform *c)
{
    struct symbol_names exported = {.n = 0};
    struct elf_file f = open_file(c);
    if (!elf_symbols(&f, true, add_name, &exported))
        conform_fail(c, "has no table of dynamic symbols; do not strip it away");
    if (exported.n != 1 || strcmp(exported.text, OSAFL_ENTRY_SYMBOL) != 0)
        conform_fail(c,
                     "exports %u symbols instead of " OSAFL_ENTRY_SYMBOL
                     " alone (compile with -fvisibility=hidden, link with the SDK's version "
                     "script): %s",
                     exported.n, exported.n > 0 ? exported.text : "none");
    elf_close(&f);
}

/* ---- symbols that it needs ----------------------------------------------------------------- */

/* The libraries that the file names. */
struct libraries {
    const struct conform *c;
    void *handle[64];
    unsigned n;
    struct symbol_names foreign; /* symbols that none of them has */
};

static void open_library(void *arg, const char *name)
{
    struct libraries *l = arg;
    void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL)
        conform_fail(l->c, "needs the library %s, which is not to be found", name);
    if (l->n == sizeof l->handle / sizeof l->handle[0])
        conform_fail(l->c, "needs more libraries than any plugin should");
    l->handle[l->n++] = handle;
}

static void find_symbol(void *arg, const char *name)
{
    struct libraries *l = arg;
    for (unsigned i = 0; i < l->n; i++) {
        if (dlsym(l->handle[i], name) != NULL)
            return;
    }
    add_name(&l->foreign, name);
}

void check_file_needs(struct conform *c)
{
    struct libraries l = {.c = c};
    struct elf_file f = open_file(c);
    elf_needed(&f, open_library, &l);
    elf_symbols(&f, false, find_symbol, &l);
    if (l.foreign.n > 0)
        conform_fail(c, "needs symbols that no library of its own has (link with -Wl,-z,defs): %s",
                     l.foreign.text);
    elf_close(&f);
}

/* What changes, or hangs on, the state of the whole program. */
static const struct taboo {
    const char *instead;
    const char *const *symbols; /* NULL-terminated */
    bool transports_may;        /* osafl/transport.h */
} taboos[] = {
    {"report by host->log()",
     (const char *const[]){"printf", "vprintf", "puts", "putchar", "putc", "__printf_chk",
                           "__vprintf_chk", "stdout", "_ZSt4cout", NULL},
     false},
    {"report by host->log()",
     (const char *const[]){"stderr", "perror", "psignal", "_ZSt4cerr", "_ZSt4clog", NULL}, true},
    {"return a status by host->fail()",
     (const char *const[]){"exit", "_exit", "_Exit", "quick_exit", "abort", "longjmp", "_longjmp",
                           "siglongjmp", "__longjmp_chk", NULL},
     true},
    {"clean up in destroy()", (const char *const[]){"atexit", "at_quick_exit", NULL}, false},
    {"leave signals and processes alone",
     (const char *const[]){"signal", "sigaction", "sigprocmask", "pthread_sigmask", "raise", "kill",
                           "alarm", "setitimer", "fork", "vfork", "system", "popen", "execve",
                           "execv", "execvp", "posix_spawn", "posix_spawnp", NULL},
     true},
    {"work on threads by host->parallel()",
     (const char *const[]){"pthread_create", "thrd_create", NULL}, true},
    {"leave locale, environment, folder and limits alone",
     (const char *const[]){"setlocale", "uselocale", "setenv", "putenv", "unsetenv", "clearenv",
                           "chdir", "fchdir", "chroot", "umask", "setrlimit", "prlimit", NULL},
     false},
    {"draw by host->random_fill()", /* generators with a hidden seed or with none */
     (const char *const[]){"rand", "srand", "rand_r", "random", "srandom", "initstate", "drand48",
                           "erand48", "lrand48", "nrand48", "mrand48", "jrand48", "srand48",
                           "arc4random", "arc4random_buf", "arc4random_uniform", "getrandom",
                           "getentropy", NULL},
     false},
    {"leave the arithmetic and the threads of BLAS alone",
     (const char *const[]){"fesetround", "fesetenv", "feupdateenv", "feenableexcept",
                           "fedisableexcept", "openblas_set_num_threads", "goto_set_num_threads",
                           "omp_set_num_threads", "mkl_set_num_threads", NULL},
     false},
};
enum { N_TABOOS = sizeof taboos / sizeof taboos[0] };

/* The symbols that a file needs, by what they break. */
struct breaches {
    struct symbol_names symbols[N_TABOOS];
};

static void find_breach(void *arg, const char *name)
{
    struct breaches *b = arg;
    for (size_t k = 0; k < N_TABOOS; k++) {
        for (const char *const *s = taboos[k].symbols; *s != NULL; s++) {
            if (strcmp(*s, name) == 0)
                add_name(&b->symbols[k], name);
        }
    }
}

void check_file_calls(struct conform *c)
{
    static struct breaches found;
    char text[800] = "";
    struct elf_file f = open_file(c);
    elf_symbols(&f, false, find_breach, &found);
    struct error ignored;
    const osafl_plugin *p = conform_try_load(c->path, &ignored);
    const bool is_transport = p != NULL && p->kind == OSAFL_KIND_TRANSPORT;
    for (size_t k = 0; k < N_TABOOS; k++) {
        if (found.symbols[k].n > 0 && !(is_transport && taboos[k].transports_may))
            text_append(text, sizeof text, "%s%s (%s)", text[0] != '\0' ? ", " : "",
                        found.symbols[k].text, taboos[k].instead);
    }
    if (text[0] != '\0')
        conform_fail(c, "uses what belongs to the whole program: %s", text);
    elf_close(&f);
}

/* ---- how it is linked ---------------------------------------------------------------------- */

void check_file_relocations(struct conform *c)
{
    struct elf_file f = open_file(c);
    if (f.text_relocations)
        conform_fail(c, "has relocations in its code; compile it with -fPIC");
    elf_close(&f);
}

void check_file_stack(struct conform *c)
{
    struct elf_file f = open_file(c);
    if (!f.has_stack_note || f.executable_stack)
        conform_fail(c, "asks for an executable stack; link it with -Wl,-z,noexecstack");
    elf_close(&f);
}

/* Folders beside the plugin, or where nobody else may put a library. */
void check_file_run_path(struct conform *c)
{
    struct elf_file f = open_file(c);
    for (const char *at = f.run_path; at != NULL && *at != '\0';) {
        char folder[4096];
        struct error error = {"is not absolute"};
        bool group_writable;
        const size_t n = strcspn(at, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)n, at);
        const bool beside =
            strncmp(folder, "$ORIGIN", 7) == 0 || strncmp(folder, "${ORIGIN}", 9) == 0;
        const bool trusted =
            folder[0] == '/' && (access(folder, F_OK) != 0 ||
                                 plugin_path_check(folder, &group_writable, &error) == OSAFL_OK);
        if (!beside && !trusted)
            conform_fail(c, "looks for libraries in \"%s\" (RUNPATH), which %s", folder,
                         error.text);
        at += n + (at[n] == ':');
    }
    elf_close(&f);
}
