/* loader.c - finds, checks and loads plugins by kind and name. */
#include "loader.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/suggest.h"
#include "base/text.h"
#include "child_process.h"
#include "cpu.h"
#include "guard.h"
#include "plugin_adapt.h"
#include "plugin_file.h"
#include "plugin_host.h"
#include "plugin_path.h"
#include "plugin_verify.h"
#include "process_watch.h"

#define LOAD_LIMIT_S 120.0

struct loader {
    struct plugin_path path;
    bool tries_first;
};

/* What this process has loaded.  Shared objects cannot be unloaded safely (destructors of threads
 * may still be in them), so the records live as long as the process, whatever loader asked. */
struct registered {
    struct registered *next;
    struct loaded_plugin loaded;
    struct adapted_plugin adapted;
};
static struct registered *registry;

struct loader *loader_create(const char *const *extra_dirs, size_t n_extra_dirs,
                             struct diagnostics *d)
{
    if (getauxval(AT_SECURE) != 0) {
        diagnostics_error(d, NULL, 0,
                          "this program loads code by name and must not run with privileges of "
                          "another user; remove its set-user-id or set-group-id bit");
        return NULL;
    }
    const enum cpu_isa isa = cpu_isa_chosen(d);
    if (isa == 0)
        return NULL;
    struct loader *l = calloc(1, sizeof *l);
    if (l == NULL || !cpu_set_environment(isa)) {
        free(l);
        diagnostics_no_memory(d);
        return NULL;
    }
    if (plugin_path_build(&l->path, extra_dirs, n_extra_dirs, d))
        return l;
    loader_destroy(l);
    return NULL;
}

void loader_destroy(struct loader *l)
{
    if (l == NULL)
        return;
    plugin_path_free(&l->path);
    free(l);
}

const struct plugin_path *loader_path(const struct loader *l)
{
    return &l->path;
}

osafl_status loader_names(struct loader *l, uint32_t kind, struct names *names)
{
    return plugin_path_names(&l->path, kind_name(kind), names);
}

/* ---- finding ------------------------------------------------------------------------------- */

/* Appends the plugin that an impossible name, such as "CNN", may stand for. */
static void suggest_plugin(const struct plugin_path *path, const char *kind, const char *name,
                           char *why, size_t size)
{
    char lower[64] = "";
    struct names names;
    for (size_t i = 0; name[i] != '\0' && i + 1 < sizeof lower; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    struct suggestion close = suggest_begin(lower);
    if (plugin_path_names(path, kind, &names) != OSAFL_OK)
        return;
    for (size_t i = 0; i < names.n; i++)
        suggest_offer(&close, names.name[i]);
    if (close.best != NULL)
        text_append(why, size, "; did you mean \"%s\"?", close.best);
    names_free(&names);
}

/* Says that nobody has the file, where it was looked for, and what there is instead. */
static void explain_missing(const struct plugin_path *path, const char *kind, const char *name,
                            char *why, size_t size)
{
    struct names names;
    snprintf(why, size, "no %s plugin is called \"%s\"", kind, name);
    if (plugin_path_names(path, kind, &names) == OSAFL_OK && names.n > 0) {
        struct suggestion close = suggest_begin(name);
        for (size_t i = 0; i < names.n; i++)
            suggest_offer(&close, names.name[i]);
        if (close.best != NULL)
            text_append(why, size, "; did you mean \"%s\"?", close.best);
        text_append(why, size, "%s there are: ", close.best != NULL ? "" : ";");
        for (size_t i = 0; i < names.n; i++)
            text_append(why, size, "%s%s", i > 0 ? ", " : "", names.name[i]);
    } else {
        text_append(why, size, "; there is no %s plugin at all", kind);
    }
    text_append(why, size, " (looked for %s/%s.so in ", kind, name);
    for (size_t i = 0; i < path->n; i++)
        text_append(why, size, "%s%s (%s)", i > 0 ? ", " : "", path->folders[i].path,
                    path->folders[i].origin);
    text_append(why, size, ")");
    char dir[PLUGIN_PATH_BYTES];
    if (plugin_path_near(path, kind, name, dir))
        text_append(why, size, "; it lies elsewhere: give --plugin-dir %s", dir);
    names_free(&names);
}

/* The file, the folder it lies in, and the folder of the search path must all be safe. */
static osafl_status check_place(const struct plugin_folder *folder, const char *kind,
                                const char *real, struct diagnostics *d, struct error *error)
{
    char own[PLUGIN_PATH_BYTES];
    snprintf(own, sizeof own, "%s", real);
    *strrchr(own, '/') = '\0';
    char of_kind[PLUGIN_PATH_BYTES + 512];
    snprintf(of_kind, sizeof of_kind, "%s/%s", folder->path, kind);
    const char *const paths[] = {real, own, of_kind, folder->path};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        bool group_writable = false;
        OSAFL_TRY(plugin_path_check(paths[i], &group_writable, error));
        if (group_writable)
            diagnostics_warn(d, NULL, 0,
                             "plugins: a whole group, or a user of its access list, may write %s",
                             paths[i]);
    }
    return OSAFL_OK;
}

/* ---- loading ------------------------------------------------------------------------------- */

/* Maps the file without letting its constructors keep the floating-point mode: a library that is
 * linked with -ffast-math switches the thread that maps it to flush-to-zero.  Libraries below MPICH
 * catch signals, which is undone without a word: nobody could change that. */
static void *map_file(uint32_t kind, const char *real, struct diagnostics *d)
{
    fenv_t environment;
    struct process_state before;
    struct process_watch watch;
    process_state_read(&before);
    fegetenv(&environment);
    process_watch_begin(&watch);
    guard_loading(real);
    void *handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    guard_loading(NULL);
    const char *other = process_watch_end(&watch);
    const char *changed = process_state_restore(&before);
    fesetenv(&environment);
    if (other != NULL && kind_is_of_experiments(kind))
        diagnostics_warn(d, NULL, 0, "%s changed %s when it was loaded; this was undone", real,
                         other);
    if (changed != NULL)
        diagnostics_warn(d, NULL, 0,
                         "%s changed %s when it was loaded; this was undone (was it linked with "
                         "-ffast-math?)",
                         real, changed);
    return handle;
}

/* Says why a mapped file has no entry point of ours. */
static void explain_no_entry(void *handle, struct error *error)
{
    for (int major = 0; major < 10; major++) {
        char symbol[64];
        snprintf(symbol, sizeof symbol, "osafl_plugin_entry_v%d", major);
        if (dlsym(handle, symbol) == NULL)
            continue;
        error_set(
            error, OSAFL_E_UNSUPPORTED,
            "was built for ABI %d (it exports %s), this program has ABI %d.%d (" OSAFL_ENTRY_SYMBOL
            "); rebuild it with the headers of osafl " OSAFL_VERSION,
            major, symbol, OSAFL_ABI_MAJOR, OSAFL_ABI_MINOR);
        return;
    }
    error_set(error, OSAFL_E_UNSUPPORTED,
              "exports no " OSAFL_ENTRY_SYMBOL
              ", so it is not a plugin of osafl; declare that function "
              "with OSAFL_EXPORT (rule R13)");
}

/* Calls the entry point; NULL with the reason in *error. */
static const osafl_plugin *ask_plugin(void *handle, struct error *error)
{
    const osafl_plugin *(*entry)(void) = NULL;
    void *address = dlsym(handle, OSAFL_ENTRY_SYMBOL);
    if (address == NULL) {
        explain_no_entry(handle, error);
        return NULL;
    }
    memcpy(&entry, &address, sizeof entry); /* the way from dlsym() that ISO C allows */
    struct process_state before;
    process_state_read(&before);
    const osafl_plugin *plugin = entry();
    const char *changed = process_state_restore(&before);
    if (changed != NULL) {
        error_set(error, OSAFL_E_UNSUPPORTED,
                  "changes %s in " OSAFL_ENTRY_SYMBOL "(), which must only return data (rule R9)",
                  changed);
        return NULL;
    }
    if (plugin == NULL)
        error_set(error, OSAFL_E_UNSUPPORTED, "returns NULL from " OSAFL_ENTRY_SYMBOL "()");
    return plugin;
}

/* Checks and maps one file.  NULL with the reason in *error. */
static const struct loaded_plugin *load_file(const struct plugin_folder *folder, uint32_t kind,
                                             const char *name, const char *real,
                                             struct diagnostics *d, struct error *error)
{
    char hash[PLUGIN_HASH_BYTES];
    osafl_status status = check_place(folder, kind_name(kind), real, d, error);
    if (status == OSAFL_OK)
        status = plugin_file_check(real, hash, error);
    if (status == OSAFL_E_NOMEM)
        diagnostics_no_memory(d); /* no fault of the file's */
    if (status != OSAFL_OK)
        return NULL;
    void *handle = map_file(kind, real, d);
    if (handle == NULL) {
        const char *reason = dlerror();
        if (reason == NULL)
            reason = "unknown";
        else if (strncmp(reason, real, strlen(real)) == 0)
            reason += strlen(real) + strspn(reason + strlen(real), ": "); /* is said already */
        if (strstr(reason, "out of memory") != NULL || strstr(reason, strerror(ENOMEM)) != NULL)
            diagnostics_no_memory(d);
        error_set(error, OSAFL_E_UNSUPPORTED, "cannot be loaded: %s", reason);
        return NULL;
    }
    guard_loading(real);
    const osafl_plugin *plugin = ask_plugin(handle, error);
    guard_loading(NULL);
    if (plugin == NULL || plugin_verify(plugin, kind, name, error) != OSAFL_OK)
        return NULL;
    struct libraries libraries;
    status = libraries_find(handle, &libraries, error);
    if (status != OSAFL_OK && status != OSAFL_E_NOMEM)
        return NULL;
    struct registered *entry = status == OSAFL_OK ? calloc(1, sizeof *entry) : NULL;
    if (entry == NULL) {
        diagnostics_no_memory(d);
        error_set(error, OSAFL_E_UNSUPPORTED, "cannot be loaded: out of memory");
        return NULL;
    }
    entry->loaded.plugin = plugin_adapt(plugin, &entry->adapted);
    memcpy(entry->loaded.path, real, strlen(real) + 1);
    memcpy(entry->loaded.hash, hash, sizeof hash);
    entry->loaded.libraries = libraries;
    entry->next = registry;
    registry = entry;
    return &entry->loaded;
}

static const struct loaded_plugin *find_loaded(uint32_t kind, const char *name, const char *real)
{
    for (const struct registered *at = registry; at != NULL; at = at->next) {
        const osafl_plugin *p = at->loaded.plugin;
        if (p->kind == kind && strcmp(p->name, name) == 0 && strcmp(at->loaded.path, real) == 0)
            return &at->loaded;
    }
    return NULL;
}

/* Whether a process that maps the file lives on; false with the reason in *error. */
static bool survives(const struct loader *l, uint32_t kind, const char *name, struct error *error)
{
    struct loader other = *l;
    struct probed_plugin found;
    other.tries_first = false;
    if (loader_probe(&other, kind, name, LOAD_LIMIT_S, &found) != OSAFL_OK || found.died[0] == '\0')
        return true; /* what else is wrong is found when it is mapped here */
    error_set(
        error, OSAFL_E_UNSUPPORTED,
        "ends the program that maps it (%s): the file is damaged, or code that runs then is at "
        "fault; build it again, and see osafl plugin check",
        found.died);
    return false;
}

/* Finds, checks and loads.  NULL with the whole reason in why; d gets warnings only. */
static const struct loaded_plugin *load(struct loader *l, uint32_t kind, const char *name,
                                        struct diagnostics *d, char *why, size_t size)
{
    if (!plugin_name_is_valid(name)) {
        snprintf(why, size,
                 "\"%.64s\" is not a plugin name: a name is [a-z][a-z0-9_]*, at most 48 long, and "
                 "never a path (folders are given by --plugin-dir)",
                 name);
        suggest_plugin(&l->path, kind_name(kind), name, why, size);
        return NULL;
    }
    char real[PLUGIN_PATH_BYTES];
    const struct plugin_folder *folder = plugin_path_find(&l->path, kind_name(kind), name, real);
    if (folder == NULL) {
        explain_missing(&l->path, kind_name(kind), name, why, size);
        return NULL;
    }
    const struct loaded_plugin *loaded = find_loaded(kind, name, real);
    if (loaded != NULL)
        return loaded;
    struct error reason;
    if (!l->tries_first || survives(l, kind, name, &reason))
        loaded = load_file(folder, kind, name, real, d, &reason);
    if (loaded == NULL)
        snprintf(why, size, "%s plugin \"%s\" cannot be used: %s%s %s", kind_name(kind), name, real,
                 reason.text[0] == '/' ? ":" : "",
                 reason.text); /* which may be about a folder of it */
    return loaded;
}

void loader_try_first(struct loader *l)
{
    l->tries_first = true;
}

const struct loaded_plugin *loader_load(struct loader *l, uint32_t kind, const char *name,
                                        struct diagnostics *d, const char *file, unsigned line)
{
    char why[8192];
    const struct loaded_plugin *loaded = load(l, kind, name, d, why, sizeof why);
    if (loaded == NULL)
        diagnostics_error(d, file, line, "%s", why);
    return loaded;
}

/* ---- probing ------------------------------------------------------------------------------- */

struct probe_question {
    struct loader *loader;
    uint32_t kind;
    const char *name;
};

/* The child's part: loads, and sends what it found. */
static void probe_in_child(const void *arg, int fd)
{
    const struct probe_question *q = arg;
    struct probed_plugin found = {0};
    struct diagnostics *d = diagnostics_create();
    if (d == NULL)
        _exit(EXIT_FAILURE);
    const struct loaded_plugin *loaded =
        load(q->loader, q->kind, q->name, d, found.problem, sizeof found.problem);
    if (loaded != NULL) {
        snprintf(found.version, sizeof found.version, "%s", loaded->plugin->version);
        snprintf(found.summary, sizeof found.summary, "%s", loaded->plugin->summary);
    }
    const bool sent = write(fd, &found, sizeof found) == (ssize_t)sizeof found;
    _exit(sent ? EXIT_SUCCESS : EXIT_FAILURE);
}

osafl_status loader_probe(struct loader *l, uint32_t kind, const char *name, double limit_s,
                          struct probed_plugin *out)
{
    const struct probe_question question = {.loader = l, .kind = kind, .name = name};
    struct child_end end;
    if (!child_ask(probe_in_child, &question, limit_s, out, sizeof *out, &end))
        return OSAFL_E_IO;
    if (!end.answered) {
        memset(out, 0, sizeof *out);
        if (end.late)
            snprintf(out->died, sizeof out->died, "not loaded within %g s", limit_s);
        else if (WIFSIGNALED(end.status))
            snprintf(out->died, sizeof out->died, "signal %d", WTERMSIG(end.status));
        else
            snprintf(out->died, sizeof out->died, "ended the program, status %d",
                     WEXITSTATUS(end.status));
        snprintf(out->problem, sizeof out->problem, "BROKEN (%s)", out->died);
    }
    (void)plugin_path_find(&l->path, kind_name(kind), name, out->path);
    return OSAFL_OK;
}
