/* plugin_new.c - starts the project of a new plugin. */
#include "plugin_new.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/loader.h"
#include "plugin/plugin_file.h"
#include "plugin_template.h"

/* What an experiment uses where the new plugin is not meant: simple, quick, without files. */
static const char *const usual[LOADER_KINDS + 1] = {
    [OSAFL_KIND_DATASET] = "glyphs",      [OSAFL_KIND_MODEL] = "logistic",
    [OSAFL_KIND_CHANNEL] = "logdistance", [OSAFL_KIND_RESOURCE] = "iterative",
    [OSAFL_KIND_OPTIMIZER] = "sgd",       [OSAFL_KIND_QUANTIZER] = "qsgd",
    [OSAFL_KIND_DELETION] = "fifo",       [OSAFL_KIND_AGGREGATOR] = "fedavg",
    [OSAFL_KIND_PARTITION] = "dirichlet", [OSAFL_KIND_DRIFT] = "none",
    [OSAFL_KIND_ARRIVAL] = "steady",      [OSAFL_KIND_SELECTION] = "all",
    [OSAFL_KIND_FILTER] = "none",
};

/* A file of the project and the template it is made from; a NULL part stands for the kind or the
 * name. */
static const struct project_file {
    const char *template_name; /* NULL: KIND.c */
    const char *name;          /* NULL: NAME and the suffix */
    const char *suffix;
    mode_t mode;
} project_files[] = {
    {NULL, NULL, ".c", 0666},
    {"CMakeLists.txt", "CMakeLists.txt", "", 0666},
    {"experiment.cfg", NULL, ".cfg", 0666},
    {"README.md", "README.md", "", 0666},
    {"ci.sh", "ci.sh", "", 0777},
};
enum { N_FILES = sizeof project_files / sizeof project_files[0] };

/* What is being made. */
struct project {
    uint32_t kind;
    const char *name;
    const char *dir;
    char options[128]; /* by which a run uses what no experiment names */
};

static void find_options(uint32_t kind, const char *name, char *out, size_t size)
{
    if (kind_is_of_experiments(kind))
        out[0] = '\0';
    else
        snprintf(out, size, " --transport %s --ranks 3", name);
}

static const struct plugin_template *find_template(const struct project *p,
                                                   const struct project_file *f)
{
    char name[64];
    if (f->template_name != NULL)
        snprintf(name, sizeof name, "%s", f->template_name);
    else
        snprintf(name, sizeof name, "%s.c", kind_name(p->kind));
    for (size_t i = 0; i < plugin_n_templates; i++) {
        if (strcmp(plugin_templates[i].name, name) == 0)
            return &plugin_templates[i];
    }
    return NULL;
}

/* "0.9" of "0.9.0": what a project asks for. */
static const char *wanted_version(void)
{
    static char text[] = OSAFL_VERSION;
    char *patch = strrchr(text, '.');
    if (patch != NULL && patch != strchr(text, '.'))
        *patch = '\0';
    return text;
}

/* What stands for the n characters of a key between two '@'; NULL: it is no key. */
static const char *replacement(const struct project *p, const char *key, size_t n)
{
    char word[16] = "";
    if (n >= sizeof word)
        return NULL;
    memcpy(word, key, n);
    if (strcmp(word, "name") == 0)
        return p->name;
    if (strcmp(word, "kind") == 0)
        return kind_name(p->kind);
    if (strcmp(word, "options") == 0)
        return p->options;
    if (strcmp(word, "version") == 0)
        return wanted_version();
    const uint32_t kind = kind_from_name(word);
    if (kind == 0)
        return NULL;
    return kind == p->kind ? p->name : usual[kind];
}

/* Writes a template with its @keys@ replaced. */
static void fill_in(const struct project *p, const struct plugin_template *t, FILE *to)
{
    const char *at = (const char *)t->text; /* ends with 0 */
    for (;;) {
        const size_t plain = strcspn(at, "@");
        fwrite(at, 1, plain, to);
        at += plain;
        if (*at == '\0')
            return;
        const size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz");
        const char *text = at[1 + n] == '@' ? replacement(p, at + 1, n) : NULL;
        fputs(text != NULL ? text : "@", to);
        at += text != NULL ? n + 2 : 1;
    }
}

/* False: the path is too long. */
static bool path_of(const struct project *p, const struct project_file *f, char path[PATH_MAX])
{
    const int n =
        snprintf(path, PATH_MAX, "%s/%s%s", p->dir, f->name != NULL ? f->name : p->name, f->suffix);
    return n > 0 && n < PATH_MAX;
}

static osafl_status cannot_write(struct error *error, const char *path, int problem)
{
    return error_set(error, OSAFL_E_IO, "%s cannot be written: %s", path, strerror(problem));
}

static osafl_status write_file(const struct project *p, const struct project_file *f,
                               struct error *error)
{
    char path[PATH_MAX];
    FILE *to = NULL;
    const int fd =
        path_of(p, f, path) ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, f->mode) : -1;
    if (fd >= 0)
        to = fdopen(fd, "w");
    if (to == NULL) {
        const int problem = errno;
        if (fd >= 0)
            close(fd);
        return cannot_write(error, path, problem);
    }
    fill_in(p, find_template(p, f), to);
    const bool failed = ferror(to) != 0;
    if (fclose(to) == 0 && !failed)
        return OSAFL_OK;
    return cannot_write(error, path, errno);
}

osafl_status plugin_new(uint32_t kind, const char *name, const char *dir, struct error *error)
{
    struct project p = {.kind = kind, .name = name, .dir = dir};
    if (!plugin_name_is_valid(name))
        return error_set(
            error, OSAFL_E_CONFIG,
            "\"%.64s\" is not a plugin name: a name is [a-z][a-z0-9_]*, at most 48 long", name);
    if (!kind_is_of_experiments(kind) && strcmp(name, "none") == 0)
        return error_set(error, OSAFL_E_CONFIG,
                         "a transport cannot be called \"none\": --transport none is a run of one "
                         "process; choose another name");
    find_options(kind, name, p.options, sizeof p.options);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return error_set(error, OSAFL_E_CONFIG, "the folder %s cannot be made: %s", dir,
                         strerror(errno));
    for (size_t i = 0; i < N_FILES; i++) {
        char path[PATH_MAX];
        struct stat s;
        if (path_of(&p, &project_files[i], path) && lstat(path, &s) == 0)
            return error_set(error, OSAFL_E_CONFIG,
                             "%s exists; name another folder, or remove the file", path);
    }
    for (size_t i = 0; i < N_FILES; i++) {
        OSAFL_TRY(write_file(&p, &project_files[i], error));
    }
    return OSAFL_OK;
}

/* The prefix below which this program is installed; false: it is not installed. */
static bool own_prefix(char prefix[PATH_MAX])
{
    char exe[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0)
        return false;
    exe[n] = '\0';
    for (int up = 0; up < 2; up++) { /* PREFIX/bin/osafl */
        char *slash = strrchr(exe, '/');
        if (slash == NULL)
            return false;
        *slash = '\0';
    }
    char package[PATH_MAX + 64];
    snprintf(package, sizeof package, "%s/" OSAFL_PACKAGE_SUBDIR "/osafl-config.cmake", exe);
    memcpy(prefix, exe, sizeof exe);
    return access(package, R_OK) == 0;
}

void plugin_new_print(uint32_t kind, const char *name, const char *dir, FILE *to)
{
    char prefix[PATH_MAX] = "";
    char options[128];
    const bool installed = own_prefix(prefix);
    find_options(kind, name, options, sizeof options);
    const bool usual_prefix =
        prefix[0] == '\0' || strcmp(prefix, "/usr") == 0 || strcmp(prefix, "/usr/local") == 0;
    fprintf(to, "%s holds the %s plugin \"%s\": %s.c works as it is; change it as you like.\n", dir,
            kind_name(kind), name, name);
    if (!installed)
        fprintf(to, "This program is not installed; first, where it was built:\n"
                    "    cmake --install . --prefix PREFIX\n"
                    "and give the next command -DCMAKE_PREFIX_PATH=PREFIX.\n");
    fprintf(to, "Build it, check it, and run an experiment with it:\n");
    if (installed && !usual_prefix)
        fprintf(to, "    cmake -S %s -B %s/build -DCMAKE_PREFIX_PATH=%s\n", dir, dir, prefix);
    else
        fprintf(to, "    cmake -S %s -B %s/build\n", dir, dir);
    fprintf(to,
            "    cmake --build %s/build\n"
            "    osafl plugin check %s/build/plugins/%s/%s.so\n"
            "    osafl run %s/%s.cfg%s --plugin-dir %s/build/plugins\n",
            dir, dir, kind_name(kind), name, dir, name, options, dir);
}
