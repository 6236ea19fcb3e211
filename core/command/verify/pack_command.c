/* pack_command.c - "osafl pack DIR... --out ARCHIVE": runs with what others need to verify them. */
#include "pack_command.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/folder.h"
#include "base/json_print.h"
#include "command/report/cell_finder.h"
#include "command/report/checked_alloc.h"
#include "command/report/result_text.h"

/* What is being packed: a folder of symbolic links, which tar follows. */
struct packing {
    const struct pack_options *o;
    const struct found_cells *found;
    char *name;      /* of the one folder in the archive */
    char *stage;     /* FOLDER/NAME */
    json_t *plugins; /* list for plugins.json */
};

/* STAGE/INSIDE becomes a link to target, which exists; the same one twice is one. */
static osafl_status add_link(const struct packing *p, const char *target, const char *inside,
                             struct error *error)
{
    char before[PATH_MAX] = "";
    char *link = checked_format("%s/%s", p->stage, inside);
    char *above = checked_format("%.*s", (int)(strrchr(link, '/') - link), link);
    char *real = realpath(target, NULL);
    osafl_status status = folder_create(above, error);
    if (status == OSAFL_OK && real == NULL)
        status = error_io(error, errno, "read", target);
    else if (status == OSAFL_OK && symlink(real, link) != 0 &&
             (errno != EEXIST || readlink(link, before, sizeof before - 1) < 0 ||
              strcmp(before, real) != 0))
        status = error_set(error, OSAFL_E_CONFIG,
                           "%s and %s would both be %s in the archive; pack them apart, or the "
                           "folder that holds both",
                           before, real, inside);
    free(real);
    free(above);
    free(link);
    return status;
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* The folder that was named and holds the run, without slashes at its end: its length. */
static size_t named_above(const struct packing *p, const struct result_cell *c)
{
    for (size_t i = 0; i < p->o->folders; i++) {
        const char *folder = p->o->folder[i];
        size_t n = strlen(folder);
        while (n > 1 && folder[n - 1] == '/')
            n--;
        if (strncmp(c->folder, folder, n) == 0 && (c->folder[n] == '/' || c->folder[n] == '\0'))
            return n;
    }
    return strlen(c->folder);
}

/* The records of grids in a folder, with which a report says what is missing. */
static osafl_status add_records(const struct packing *p, const char *folder, const char *inside,
                                struct error *error)
{
    osafl_status status = OSAFL_OK;
    glob_t found = {0};
    char *pattern = checked_format("%s/grid-*.json", folder);
    const bool any = glob(pattern, 0, NULL, &found) == 0;
    for (size_t i = 0; any && i < found.gl_pathc && status == OSAFL_OK; i++) {
        char *as = checked_format("%s%s", inside, strrchr(found.gl_pathv[i], '/'));
        status = add_link(p, found.gl_pathv[i], as, error);
        free(as);
    }
    globfree(&found);
    free(pattern);
    return status;
}

static osafl_status add_run(const struct packing *p, const struct result_cell *c,
                            struct error *error)
{
    const size_t n = named_above(p, c);
    char *folder = checked_copy(c->folder);
    char *named = checked_format("%.*s", (int)n, folder);
    char *real = realpath(named, NULL);
    const char *base = real != NULL ? strrchr(real, '/') + 1 : named;
    char *inside = checked_format("results/%s%s", base, folder + n);
    osafl_status status = add_link(p, folder, inside, error);
    /* The folders between, up to the one that was named. */
    while (status == OSAFL_OK && strlen(folder) > n) {
        *strrchr(folder, '/') = '\0';
        *strrchr(inside, '/') = '\0';
        status = add_records(p, folder, inside, error);
    }
    free(inside);
    free(real);
    free(named);
    free(folder);
    return status;
}

/* The file that was run, where it still is. */
static osafl_status add_experiment(const struct packing *p, const struct result_cell *c,
                                   struct error *error)
{
    const char *file = json_string_value(json_object_get(c->environment, "experiment_file"));
    const char *folder = json_string_value(json_object_get(c->environment, "working_folder"));
    if (file == NULL)
        return OSAFL_OK;
    char *path = file[0] == '/' || folder == NULL ? checked_copy(file)
                                                  : checked_format("%s/%s", folder, file);
    const char *slash = strrchr(path, '/');
    char *inside = checked_format("experiments/%s", slash != NULL ? slash + 1 : path);
    const osafl_status status = is_file(path) ? add_link(p, path, inside, error) : OSAFL_OK;
    free(inside);
    free(path);
    return status;
}

/* ---- plugins ------------------------------------------------------------------------------- */

/* DIR/KIND/NAME.c or DIR/NAME.c; NULL: neither is there. */
static char *source_in(const char *dir, const char *kind, const char *name)
{
    char *path = checked_format("%s/%s/%s.c", dir, kind, name);
    if (is_file(path))
        return path;
    free(path);
    path = checked_format("%s/%s.c", dir, name);
    if (is_file(path))
        return path;
    free(path);
    return NULL;
}

/* In the folders that are named, beside the plugin's file, and where a build tree has its sources.
 */
static char *find_source(const struct packing *p, const json_t *environment, const char *kind,
                         const char *name)
{
    static const char *const from[] = {"", "/..", "/../../../plugins", "/../../../../plugins"};
    const char *file =
        json_string_value(json_object_get(json_object_get(environment, "plugin_files"), kind));
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;
    char *found = NULL;
    for (size_t i = 0; i < p->o->sources && found == NULL; i++)
        found = source_in(p->o->source[i], kind, name);
    for (size_t i = 0; i < sizeof from / sizeof from[0] && slash != NULL && found == NULL; i++) {
        char *dir = checked_format("%.*s%s", (int)(slash - file), file, from[i]);
        found = source_in(dir, kind, name);
        free(dir);
    }
    return found;
}

/* Says which plugins have no source in the archive. */
static void tell_missing_sources(const struct packing *p)
{
    struct checked_stream list;
    size_t i;
    size_t missing = 0;
    json_t *entry;
    checked_stream_open(&list);
    json_array_foreach(p->plugins, i, entry)
    {
        if (!json_is_null(json_object_get(entry, "source")))
            continue;
        fprintf(list.file, "%s%s/%s", missing > 0 ? ", " : "",
                json_string_value(json_object_get(entry, "kind")),
                json_string_value(json_object_get(entry, "name")));
        missing++;
    }
    char *names = checked_stream_text(&list);
    if (missing > 0)
        fprintf(stderr,
                "osafl pack: without a source: %s; name folders that hold them with --sources\n",
                names);
    free(names);
}

/* Whether plugins.json has this file of a plugin already. */
static bool is_listed(const struct packing *p, const json_t *plugin)
{
    size_t i;
    json_t *entry;
    json_array_foreach(p->plugins, i, entry)
    {
        bool same = true;
        static const char *const key[] = {"kind", "name", "version", "file_xxh3"};
        for (size_t k = 0; k < sizeof key / sizeof key[0]; k++)
            same =
                same && json_equal(json_object_get(entry, key[k]), json_object_get(plugin, key[k]));
        if (same)
            return true;
    }
    return false;
}

static osafl_status add_plugin(const struct packing *p, const struct result_cell *c,
                               const json_t *plugin, struct error *error)
{
    const char *kind = json_string_value(json_object_get(plugin, "kind"));
    const char *name = json_string_value(json_object_get(plugin, "name"));
    if (kind == NULL || name == NULL || strchr(kind, '/') != NULL || strchr(name, '/') != NULL)
        return error_set(error, OSAFL_E_DATA, "%s/manifest.json has a plugin without a name",
                         c->folder);
    if (is_listed(p, plugin))
        return OSAFL_OK;
    json_t *entry = json_deep_copy(plugin);
    char *inside = checked_format("sources/%s/%s.c", kind, name);
    char *source = find_source(p, c->environment, kind, name);
    osafl_status status = source != NULL ? add_link(p, source, inside, error) : OSAFL_OK;
    if (json_object_set_new(entry, "source", source != NULL ? json_string(inside) : json_null()) !=
            0 ||
        json_array_append_new(p->plugins, entry) != 0)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for plugins.json");
    free(source);
    free(inside);
    return status;
}

static osafl_status add_plugins(const struct packing *p, const struct result_cell *c,
                                struct error *error)
{
    size_t i;
    json_t *plugin;
    json_array_foreach(json_object_get(c->manifest, "plugins"), i, plugin)
        OSAFL_TRY(add_plugin(p, c, plugin, error));
    return OSAFL_OK;
}

/* ---- what is written anew ------------------------------------------------------------------ */

static osafl_status write_file(const struct packing *p, const char *name, const char *text,
                               struct error *error)
{
    char *path = checked_format("%s/%s", p->stage, name);
    FILE *file = fopen(path, "w");
    const bool written = file != NULL && fputs(text, file) >= 0;
    const bool closed = file != NULL && fclose(file) == 0;
    const osafl_status status =
        written && closed ? OSAFL_OK : error_io(error, errno, "write", path);
    free(path);
    return status;
}

/* The versions of the program that made the runs: "0.10.0, 0.9.0". */
static char *versions_of(const struct packing *p)
{
    char list[256] = "";
    for (size_t i = 0; i < p->found->cells; i++) {
        const json_t *program = json_object_get(p->found->cell[i]->manifest, "program");
        const char *version = json_string_value(json_object_get(program, "version"));
        if (version != NULL && strstr(list, version) == NULL)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.40s",
                     list[0] != '\0' ? ", " : "", version);
    }
    return checked_copy(list);
}

static osafl_status write_readme(const struct packing *p, struct error *error)
{
    char *versions = versions_of(p);
    char *text = checked_format(
        "%zu run%s of osafl %s, packed by osafl " OSAFL_VERSION ".\n"
        "\n"
        "    osafl report results                    prints their tables\n"
        "    osafl verify results                    computes them again and compares the bytes\n"
        "    osafl verify results --rounds 3         the same for a few rounds of each\n"
        "    osafl verify results --set dataset.idx.path=DIR    where the data lie elsewhere\n"
        "\n"
        "The data are not here; the manifest.json of a run has their hashes. plugins.json lists "
        "the\n"
        "plugins with the hashes of their files, and sources/ what was found of their sources,\n"
        "which was not compared with those files. Plugins that do not come with osafl are built\n"
        "from there, and found with --plugin-dir. The same bytes come from the same program on a\n"
        "processor with the same instruction sets.\n",
        p->found->cells, p->found->cells == 1 ? "" : "s", versions);
    const osafl_status status = write_file(p, "README.txt", text, error);
    free(text);
    free(versions);
    return status;
}

static osafl_status write_plugins(const struct packing *p, struct error *error)
{
    char *printed = json_print(p->plugins, JSON_INDENT(2));
    if (printed == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for plugins.json");
    char *text = checked_format("%s\n", printed);
    const osafl_status status = write_file(p, "plugins.json", text, error);
    free(text);
    free(printed);
    return status;
}

/* ---- the archive --------------------------------------------------------------------------- */

static osafl_status call_tar(const struct packing *p, struct error *error)
{
    char *above =
        checked_format("--directory=%.*s", (int)(strrchr(p->stage, '/') - p->stage), p->stage);
    char *file = checked_format("--file=%s", p->o->archive);
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        execlp("tar", "tar", "--create", file, "--auto-compress", "--dereference", "--sort=name",
               "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX",
               "--exclude=.lock", "--exclude=checkpoint.[01]", above, p->name, (char *)NULL);
        dprintf(STDERR_FILENO, "osafl pack: cannot start tar: %s\n", strerror(errno));
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    free(file);
    free(above);
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return OSAFL_OK;
    unlink(p->o->archive);
    return error_set(error, OSAFL_E_IO,
                     "tar could not write %s; it needs GNU tar, xz or gzip, and enough disk space",
                     p->o->archive);
}

static osafl_status pack(struct packing *p, struct error *error)
{
    OSAFL_TRY(folder_create(p->stage, error));
    for (size_t i = 0; i < p->found->cells; i++) {
        const struct result_cell *c = p->found->cell[i];
        OSAFL_TRY(add_run(p, c, error));
        OSAFL_TRY(add_experiment(p, c, error));
        OSAFL_TRY(add_plugins(p, c, error));
    }
    OSAFL_TRY(write_plugins(p, error));
    OSAFL_TRY(write_readme(p, error));
    return call_tar(p, error);
}

/* Before anything is collected: the archive's folder is there.  slash: the last one in its name. */
static osafl_status check_target(const char *archive, const char *slash, struct error *error)
{
    struct stat here;
    if (slash == NULL)
        return OSAFL_OK;
    char *folder = checked_format("%.*s", slash == archive ? 1 : (int)(slash - archive), archive);
    const bool good = stat(folder, &here) == 0 && S_ISDIR(here.st_mode);
    const osafl_status status =
        good ? OSAFL_OK
             : error_set(error, OSAFL_E_CONFIG, "--out %s: there is no folder %s; create it first",
                         archive, folder);
    free(folder);
    return status;
}

static osafl_status pack_found(const struct pack_options *o, const struct found_cells *found,
                               struct error *error)
{
    if (found->n_unreadable > 0)
        return error_set(error, OSAFL_E_DATA, "%s", found->unreadable[0].message);
    if (access(o->archive, F_OK) == 0)
        return error_set(error, OSAFL_E_CONFIG,
                         "%s is there already; remove it, or give another name with --out",
                         o->archive);
    const char *slash = strrchr(o->archive, '/');
    OSAFL_TRY(check_target(o->archive, slash, error));
    char *folder = folder_temporary(error);
    if (folder == NULL)
        return OSAFL_E_IO;
    const char *base = slash != NULL ? slash + 1 : o->archive;
    struct packing p = {.o = o, .found = found, .plugins = json_array()};
    p.name = checked_format("%.*s", (int)(strlen(base) - strlen(".tar.xz")), base);
    p.stage = checked_format("%s/%s", folder, p.name);
    const osafl_status status = pack(&p, error);
    if (status == OSAFL_OK)
        tell_missing_sources(&p);
    folder_remove(folder);
    json_decref(p.plugins);
    free(p.stage);
    free(p.name);
    free(folder);
    return status;
}

int pack_command(const struct pack_options *o)
{
    struct found_cells found = {.cells = 0};
    struct error error;
    osafl_status status = find_all_cells(o->folder, o->folders, &found, &error);
    if (status == OSAFL_OK)
        status = keep_only(&found, o->only, o->n_only, &error);
    if (status == OSAFL_OK)
        status = pack_found(o, &found, &error);
    if (status == OSAFL_OK)
        printf("%s: %zu run%s\n", o->archive, found.cells, found.cells == 1 ? "" : "s");
    else
        result_say("osafl pack", error.text);
    found_cells_free(&found);
    return status == OSAFL_OK                                   ? EXIT_RUN_OK
           : status == OSAFL_E_CONFIG || status == OSAFL_E_DATA ? EXIT_USAGE
                                                                : EXIT_RUN_FAILED;
}
