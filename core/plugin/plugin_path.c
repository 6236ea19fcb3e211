/* plugin_path.c - the folders in which plugins are looked for. */
#include "plugin_path.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "plugin_file.h"

/* realpath() writes as much as that. */
_Static_assert(PLUGIN_PATH_BYTES >= PATH_MAX, "a canonical path must fit");

/* Appends a copy of path; false: out of memory. */
static bool add_folder(struct plugin_path *p, const char *path, const char *origin)
{
    struct plugin_folder *grown = realloc(p->folders, (p->n + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    p->folders = grown;
    char *copy = strdup(path);
    if (copy == NULL)
        return false;
    p->folders[p->n++] = (struct plugin_folder){.path = copy, .origin = origin};
    return true;
}

static bool add_extra_folders(struct plugin_path *p, const char *const *dirs, size_t n,
                              struct diagnostics *d)
{
    for (size_t i = 0; i < n; i++) {
        char real[PLUGIN_PATH_BYTES];
        struct stat s;
        if (realpath(dirs[i], real) == NULL || stat(real, &s) != 0) {
            diagnostics_error(d, NULL, 0, "--plugin-dir %s: %s", dirs[i], strerror(errno));
            return false;
        }
        if (!S_ISDIR(s.st_mode)) {
            diagnostics_error(d, NULL, 0, "--plugin-dir %s: is not a folder", dirs[i]);
            return false;
        }
        if (!add_folder(p, real, "--plugin-dir")) {
            diagnostics_no_memory(d);
            return false;
        }
    }
    return true;
}

/* Folders of the variable may be missing, as those of PATH may; but each must be absolute, so that
 * the working directory never decides which code runs. */
static bool add_environment_folders(struct plugin_path *p, struct diagnostics *d)
{
    const char *at = getenv("OSAFL_PLUGIN_PATH");
    if (at == NULL || at[0] == '\0')
        return true;
    for (;;) {
        const size_t length = strcspn(at, ":");
        char path[PLUGIN_PATH_BYTES];
        if (at[0] != '/' || length >= sizeof path) {
            diagnostics_error(d, NULL, 0,
                              "OSAFL_PLUGIN_PATH holds \"%.*s\"; it must be a list of absolute "
                              "folders, separated by ':'",
                              (int)(length < 200 ? length : 200), at);
            return false;
        }
        memcpy(path, at, length);
        path[length] = '\0';
        if (!add_folder(p, path, "OSAFL_PLUGIN_PATH")) {
            diagnostics_no_memory(d);
            return false;
        }
        if (at[length] == '\0')
            return true;
        at += length + 1;
    }
}

/* Beside the program (build tree), below its prefix (installed and moved), compiled in. */
static bool add_own_folders(struct plugin_path *p, struct diagnostics *d)
{
    char exe[PLUGIN_PATH_BYTES];
    const ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    bool ok = true;
    if (length > 0) {
        exe[length] = '\0';
        *strrchr(exe, '/') = '\0';
        char path[PLUGIN_PATH_BYTES + 256];
        snprintf(path, sizeof path, "%s/plugins", exe);
        ok = add_folder(p, path, "next to the program");
        snprintf(path, sizeof path, "%s/../%s", exe, OSAFL_PLUGIN_SUBDIR);
        ok = ok && add_folder(p, path, "below the program's prefix");
    }
    ok = ok && add_folder(p, OSAFL_INSTALLED_PLUGIN_DIR, "as installed");
    if (!ok)
        diagnostics_no_memory(d);
    return ok;
}

bool plugin_path_build(struct plugin_path *p, const char *const *extra_dirs, size_t n_extra_dirs,
                       struct diagnostics *d)
{
    *p = (struct plugin_path){0};
    return add_extra_folders(p, extra_dirs, n_extra_dirs, d) && add_environment_folders(p, d) &&
           add_own_folders(p, d);
}

void plugin_path_free(struct plugin_path *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->folders[i].path);
    free(p->folders);
    *p = (struct plugin_path){0};
}

const struct plugin_folder *plugin_path_find(const struct plugin_path *p, const char *kind,
                                             const char *name, char real[PLUGIN_PATH_BYTES])
{
    for (size_t i = 0; i < p->n; i++) {
        char path[PLUGIN_PATH_BYTES + 512];
        snprintf(path, sizeof path, "%s/%s/%s.so", p->folders[i].path, kind, name);
        if (realpath(path, real) != NULL)
            return &p->folders[i];
        struct stat s;
        if ((errno != ENOENT && errno != ENOTDIR) || lstat(path, &s) == 0) {
            /* Something is there; going on would put another file in its place unseen. */
            snprintf(real, PLUGIN_PATH_BYTES, "%.*s", PLUGIN_PATH_BYTES - 1, path);
            return &p->folders[i];
        }
    }
    real[0] = '\0';
    return NULL;
}

/* True when dir/KIND/NAME.so is a file. */
static bool has_plugin(const char *dir, const char *kind, const char *name)
{
    char path[PLUGIN_PATH_BYTES + 512];
    struct stat s;
    snprintf(path, sizeof path, "%s/%s/%s.so", dir, kind, name);
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

bool plugin_path_near(const struct plugin_path *p, const char *kind, const char *name,
                      char dir[PLUGIN_PATH_BYTES])
{
    static const char *const below[] = {"..", "plugins", "build/plugins"};
    enum { N_BELOW = sizeof below / sizeof below[0] };
    char wanted[PLUGIN_PATH_BYTES];
    for (size_t i = 0; i < p->n && strcmp(p->folders[i].origin, "--plugin-dir") == 0; i++) {
        for (size_t k = 0; k < N_BELOW; k++) {
            snprintf(wanted, sizeof wanted, "%.3000s/%s", p->folders[i].path, below[k]);
            if (has_plugin(wanted, kind, name) && realpath(wanted, dir) != NULL)
                return true;
        }
    }
    snprintf(dir, PLUGIN_PATH_BYTES, "build/plugins");
    if (has_plugin(dir, kind, name))
        return true;
    snprintf(dir, PLUGIN_PATH_BYTES, "%.64s/build/plugins", name);
    return has_plugin(dir, kind, name);
}

/* Appends the names of the plugins in one folder; false: out of memory. */
static bool list_folder(const char *path, struct names *names)
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
        if (plugin_name_is_valid(name))
            ok = names_add(names, name);
    }
    closedir(dir);
    return ok;
}

osafl_status plugin_path_names(const struct plugin_path *p, const char *kind, struct names *names)
{
    *names = (struct names){0};
    for (size_t i = 0; i < p->n; i++) {
        char path[PLUGIN_PATH_BYTES + 512];
        snprintf(path, sizeof path, "%s/%s", p->folders[i].path, kind);
        if (!list_folder(path, names)) {
            names_free(names);
            return OSAFL_E_NOMEM;
        }
    }
    names_sort(names);
    return OSAFL_OK;
}
