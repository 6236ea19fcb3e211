/* loader.c - finds, checks and loads plugins by kind and name. */
#include "loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu.h"
#include "diagnostics.h"
#include "plugin_file.h"
#include "plugin_host.h"
#include "plugin_verify.h"
#include "suggest.h"

static const char *const kind_names[LOADER_KINDS + 1] = {
    [OSAFL_KIND_DATASET] = "dataset",     [OSAFL_KIND_MODEL] = "model",
    [OSAFL_KIND_CHANNEL] = "channel",     [OSAFL_KIND_RESOURCE] = "resource",
    [OSAFL_KIND_OPTIMIZER] = "optimizer", [OSAFL_KIND_QUANTIZER] = "quantizer",
    [OSAFL_KIND_DELETION] = "deletion",   [OSAFL_KIND_AGGREGATOR] = "aggregator",
};

struct folder {
    char *path;         /* absolute */
    const char *origin; /* who named it, for messages */
};

struct loader {
    struct folder *folders; /* in the order of the search */
    size_t n_folders;
};

/* What this process has loaded.  Shared objects cannot be unloaded safely (destructors of threads
 * may still be in them), so the records live as long as the process, whatever loader asked. */
struct registered {
    struct registered *next;
    struct loaded_plugin loaded;
};
static struct registered *registry;

const char *kind_name(uint32_t kind)
{
    return kind <= LOADER_KINDS ? kind_names[kind] : NULL;
}

uint32_t kind_from_name(const char *name)
{
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        if (strcmp(name, kind_names[kind]) == 0)
            return kind;
    }
    return 0;
}

/* ---- search path --------------------------------------------------------------------------- */

/* Appends a copy of path; false: out of memory. */
static bool add_folder(struct loader *l, const char *path, const char *origin)
{
    struct folder *grown = realloc(l->folders, (l->n_folders + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    l->folders = grown;
    char *copy = strdup(path);
    if (copy == NULL)
        return false;
    l->folders[l->n_folders++] = (struct folder){.path = copy, .origin = origin};
    return true;
}

static bool add_extra_folders(struct loader *l, const char *const *dirs, size_t n,
                              struct diagnostics *d)
{
    for (size_t i = 0; i < n; i++) {
        char real[PATH_MAX];
        struct stat s;
        if (realpath(dirs[i], real) == NULL || stat(real, &s) != 0) {
            diagnostics_error(d, NULL, 0, "--plugin-dir %s: %s", dirs[i], strerror(errno));
            return false;
        }
        if (!S_ISDIR(s.st_mode)) {
            diagnostics_error(d, NULL, 0, "--plugin-dir %s: is not a folder", dirs[i]);
            return false;
        }
        if (!add_folder(l, real, "--plugin-dir")) {
            diagnostics_error(d, NULL, 0, "out of memory");
            return false;
        }
    }
    return true;
}

/* Folders of the variable may be missing, as those of PATH may; but each must be absolute, so that
 * the working directory never decides which code runs. */
static bool add_environment_folders(struct loader *l, struct diagnostics *d)
{
    const char *at = getenv("OSAFL_PLUGIN_PATH");
    if (at == NULL || at[0] == '\0')
        return true;
    for (;;) {
        const size_t length = strcspn(at, ":");
        char path[PATH_MAX];
        if (at[0] != '/' || length >= sizeof path) {
            diagnostics_error(d, NULL, 0,
                              "OSAFL_PLUGIN_PATH holds \"%.*s\"; it must be a list of absolute "
                              "folders, separated by ':'",
                              (int)(length < 200 ? length : 200), at);
            return false;
        }
        memcpy(path, at, length);
        path[length] = '\0';
        if (!add_folder(l, path, "OSAFL_PLUGIN_PATH")) {
            diagnostics_error(d, NULL, 0, "out of memory");
            return false;
        }
        if (at[length] == '\0')
            return true;
        at += length + 1;
    }
}

/* Beside the program (build tree), below its prefix (installed and moved), compiled in. */
static bool add_own_folders(struct loader *l, struct diagnostics *d)
{
    char exe[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    bool ok = true;
    if (length > 0) {
        exe[length] = '\0';
        *strrchr(exe, '/') = '\0';
        char path[PATH_MAX + 256];
        snprintf(path, sizeof path, "%s/plugins", exe);
        ok = add_folder(l, path, "beside the program");
        snprintf(path, sizeof path, "%s/../%s", exe, OSAFL_PLUGIN_SUBDIR);
        ok = ok && add_folder(l, path, "below the program's prefix");
    }
    ok = ok && add_folder(l, OSAFL_INSTALLED_PLUGIN_DIR, "as installed");
    if (!ok)
        diagnostics_error(d, NULL, 0, "out of memory");
    return ok;
}

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
    cpu_choose_blas(isa);
    struct loader *l = calloc(1, sizeof *l);
    if (l == NULL) {
        diagnostics_error(d, NULL, 0, "out of memory");
        return NULL;
    }
    if (add_extra_folders(l, extra_dirs, n_extra_dirs, d) && add_environment_folders(l, d) &&
        add_own_folders(l, d))
        return l;
    loader_destroy(l);
    return NULL;
}

void loader_destroy(struct loader *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < l->n_folders; i++)
        free(l->folders[i].path);
    free(l->folders);
    free(l);
}

/* ---- names --------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends the names of the plugins in one folder; false: out of memory. */
static bool list_folder(const char *path, char ***names, size_t *n)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return true; /* most folders of the search path do not exist */
    bool ok = true;
    for (const struct dirent *entry; ok && (entry = readdir(dir)) != NULL;) {
        char name[NAME_MAX + 1];
        snprintf(name, sizeof name, "%s", entry->d_name);
        char *dot = strrchr(name, '.');
        if (dot == NULL || strcmp(dot, ".so") != 0)
            continue;
        *dot = '\0';
        if (!plugin_name_is_valid(name))
            continue;
        char **grown = realloc(*names, (*n + 1) * sizeof *grown);
        ok = grown != NULL;
        if (ok) {
            *names = grown;
            grown[*n] = strdup(name);
            ok = grown[*n] != NULL;
            *n += ok ? 1 : 0;
        }
    }
    closedir(dir);
    return ok;
}

osafl_status loader_names(struct loader *l, uint32_t kind, char ***names, size_t *n)
{
    char **list = NULL;
    size_t count = 0;
    for (size_t i = 0; i < l->n_folders; i++) {
        char path[PATH_MAX + 512];
        snprintf(path, sizeof path, "%s/%s", l->folders[i].path, kind_names[kind]);
        if (!list_folder(path, &list, &count)) {
            loader_free_names(list, count);
            return OSAFL_E_NOMEM;
        }
    }
    size_t kept = 0;
    if (count > 0)
        qsort(list, count, sizeof *list, compare_names);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && strcmp(list[i], list[kept - 1]) == 0)
            free(list[i]);
        else
            list[kept++] = list[i];
    }
    *names = list;
    *n = kept;
    return OSAFL_OK;
}

void loader_free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* ---- loading ------------------------------------------------------------------------------- */

/* What is being loaded, and where complaints about it go. */
struct request {
    struct loader *loader;
    uint32_t kind;
    const char *name;
    struct diagnostics *d;
    const char *file; /* place in the experiment */
    unsigned line;
};

/* Appends to a text of a fixed size; what does not fit is cut. */
static OSAFL_PRINTF(3, 4) void append(char *text, size_t size, const char *fmt, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, size - used, fmt, args);
    va_end(args);
}

static void report_missing(const struct request *r)
{
    char hint[2048] = "";
    char searched[4096] = "";
    char **names = NULL;
    size_t n = 0;
    const char *kind = kind_names[r->kind];
    if (loader_names(r->loader, r->kind, &names, &n) == OSAFL_OK && n > 0) {
        struct suggestion close = suggest_begin(r->name);
        for (size_t i = 0; i < n; i++)
            suggest_offer(&close, names[i]);
        if (close.best != NULL)
            append(hint, sizeof hint, "; did you mean \"%s\"?", close.best);
        append(hint, sizeof hint, "%s there are: ", close.best != NULL ? "" : ";");
        for (size_t i = 0; i < n; i++)
            append(hint, sizeof hint, "%s%s", i > 0 ? ", " : "", names[i]);
    } else {
        append(hint, sizeof hint, "; there is no %s plugin at all", kind);
    }
    for (size_t i = 0; i < r->loader->n_folders; i++)
        append(searched, sizeof searched, "%s%s (%s)", i > 0 ? ", " : "",
               r->loader->folders[i].path, r->loader->folders[i].origin);
    diagnostics_error(r->d, r->file, r->line,
                      "no %s plugin is called \"%s\"%s (looked for "
                      "%s/%s.so in %s)",
                      kind, r->name, hint, kind, r->name, searched);
    loader_free_names(names, n);
}

static const struct loaded_plugin *report_refused(const struct request *r, const char *path,
                                                  const char *why)
{
    diagnostics_error(r->d, r->file, r->line, "%s plugin \"%s\" cannot be used: %s %s",
                      kind_names[r->kind], r->name, path, why);
    return NULL;
}

/* The file of the first folder that has it, canonical in real.  *folder becomes its folder;
 * false: nobody has it. */
static bool find_file(const struct request *r, char real[PATH_MAX], const struct folder **folder)
{
    for (size_t i = 0; i < r->loader->n_folders; i++) {
        char path[PATH_MAX + 512];
        snprintf(path, sizeof path, "%s/%s/%s.so", r->loader->folders[i].path, kind_names[r->kind],
                 r->name);
        if (realpath(path, real) != NULL) {
            *folder = &r->loader->folders[i];
            return true;
        }
    }
    return false;
}

/* The file, the folder it lies in, and the folder of the search path must all be safe. */
static bool path_is_trusted(const struct request *r, const char *real, const struct folder *folder,
                            char *why, size_t size)
{
    char own[PATH_MAX];
    snprintf(own, sizeof own, "%s", real);
    *strrchr(own, '/') = '\0';
    char of_kind[PATH_MAX + 512];
    snprintf(of_kind, sizeof of_kind, "%s/%s", folder->path, kind_names[r->kind]);
    const char *const paths[] = {real, own, of_kind, folder->path};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        bool group_writable = false;
        if (!plugin_path_is_trusted(paths[i], &group_writable, why, size))
            return false;
        if (group_writable)
            diagnostics_warn(r->d, NULL, 0, "plugins: a whole group may write %s", paths[i]);
    }
    return true;
}

/* Maps the file without letting its constructors keep the floating-point mode: a library that is
 * linked with -ffast-math switches the thread that maps it to flush-to-zero. */
static void *map_file(const struct request *r, const char *real)
{
    fenv_t environment;
    struct process_state before;
    process_state_read(&before);
    fegetenv(&environment);
    void *handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    const char *changed = process_state_settle(&before);
    fesetenv(&environment);
    if (changed != NULL)
        diagnostics_warn(r->d, NULL, 0,
                         "%s changed %s when it was loaded; this was undone (was it linked with "
                         "-ffast-math?)",
                         real, changed);
    return handle;
}

/* Says why a mapped file has no entry point of ours. */
static void explain_no_entry(void *handle, char *why, size_t size)
{
    for (int major = 0; major < 10; major++) {
        char symbol[64];
        snprintf(symbol, sizeof symbol, "osafl_plugin_entry_v%d", major);
        if (dlsym(handle, symbol) == NULL)
            continue;
        snprintf(
            why, size,
            "was built for ABI %d (it exports %s), this program has ABI %d.%d (" OSAFL_ENTRY_SYMBOL
            "); rebuild it with the headers of osafl " OSAFL_VERSION,
            major, symbol, OSAFL_ABI_MAJOR, OSAFL_ABI_MINOR);
        return;
    }
    snprintf(why, size,
             "exports no " OSAFL_ENTRY_SYMBOL
             ", so it is no plugin of osafl; declare that function "
             "with OSAFL_EXPORT");
}

/* Calls the entry point; NULL with the reason in why. */
static const osafl_plugin *ask_plugin(void *handle, char *why, size_t size)
{
    const osafl_plugin *(*entry)(void) = NULL;
    void *const address = dlsym(handle, OSAFL_ENTRY_SYMBOL);
    if (address == NULL) {
        explain_no_entry(handle, why, size);
        return NULL;
    }
    memcpy(&entry, &address, sizeof entry); /* the way from dlsym() that ISO C allows */
    struct process_state before;
    process_state_read(&before);
    const osafl_plugin *plugin = entry();
    const char *changed = process_state_settle(&before);
    if (changed != NULL) {
        snprintf(why, size, "changes %s in " OSAFL_ENTRY_SYMBOL "(), which must only return data",
                 changed);
        return NULL;
    }
    if (plugin == NULL)
        snprintf(why, size, "returns NULL from " OSAFL_ENTRY_SYMBOL "()");
    return plugin;
}

const struct loaded_plugin *loader_load(struct loader *l, uint32_t kind, const char *name,
                                        struct diagnostics *d, const char *file, unsigned line)
{
    const struct request r = {l, kind, name, d, file, line};
    if (!plugin_name_is_valid(name)) {
        diagnostics_error(d, file, line,
                          "\"%.64s\" is no name of a plugin: a name is [a-z][a-z0-9_]*, at most 48 "
                          "long, and never a path (folders are given by --plugin-dir)",
                          name);
        return NULL;
    }
    char real[PATH_MAX];
    const struct folder *folder = NULL;
    if (!find_file(&r, real, &folder)) {
        report_missing(&r);
        return NULL;
    }
    for (const struct registered *at = registry; at != NULL; at = at->next) {
        const osafl_plugin *p = at->loaded.plugin;
        if (p->kind == kind && strcmp(p->name, name) == 0 && strcmp(at->loaded.path, real) == 0)
            return &at->loaded;
    }
    char why[1024];
    struct registered *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return report_refused(&r, real, "cannot be loaded: out of memory");
    if (!path_is_trusted(&r, real, folder, why, sizeof why) ||
        !plugin_file_is_loadable(real, entry->loaded.hash, why, sizeof why)) {
        free(entry);
        return report_refused(&r, real, why);
    }
    void *handle = map_file(&r, real);
    if (handle == NULL) {
        const char *reason = dlerror();
        snprintf(why, sizeof why, "cannot be loaded: %s", reason != NULL ? reason : "unknown");
        free(entry);
        return report_refused(&r, real, why);
    }
    entry->loaded.plugin = ask_plugin(handle, why, sizeof why);
    if (entry->loaded.plugin == NULL ||
        !plugin_verify(entry->loaded.plugin, kind, name, why, sizeof why)) {
        free(entry);
        return report_refused(&r, real, why);
    }
    memcpy(entry->loaded.path, real, strlen(real) + 1);
    entry->next = registry;
    registry = entry;
    return &entry->loaded;
}
