/* cell_finder.c - finds the result folders below the folders that a user names. */
#include "cell_finder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "checked_alloc.h"
#include "result_text.h"

/* Notes the folder or record; false when it was noted before. */
static bool note_folder(struct found_cells *f, const char *folder)
{
    struct stat here;
    if (stat(folder, &here) != 0)
        return true; /* reading it reports what is wrong */
    for (size_t i = 0; i < f->n_seen; i++) {
        if (f->seen[i].device == here.st_dev && f->seen[i].number == here.st_ino)
            return false;
    }
    f->seen = checked_grow(f->seen, f->n_seen, sizeof *f->seen);
    f->seen[f->n_seen++] = (struct folder_id){here.st_dev, here.st_ino};
    return true;
}

static void add_unreadable(struct found_cells *f, const char *path, osafl_status status,
                           const char *message)
{
    f->unreadable = checked_grow(f->unreadable, f->n_unreadable, sizeof *f->unreadable);
    f->unreadable[f->n_unreadable++] = (struct unreadable_cell){.folder = checked_copy(path),
                                                                .message = checked_copy(message),
                                                                .damaged = status == OSAFL_E_DATA};
}

static void take(struct found_cells *f, const char *folder)
{
    struct error error;
    struct result_cell *cell = NULL;
    if (!note_folder(f, folder))
        return;
    const osafl_status status = result_cell_read(folder, &cell, &error);
    if (status == OSAFL_OK) {
        f->cell = checked_grow(f->cell, f->cells, sizeof(struct result_cell *));
        f->cell[f->cells++] = cell;
    } else {
        add_unreadable(f, folder, status, error.text);
    }
}

/* Folders and records within a folder; hidden ones are none of ours. */
static int is_candidate(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN ||
                                       is_grid_record(entry->d_name));
}

static void take_record(struct found_cells *f, const char *path)
{
    struct error error;
    if (!note_folder(f, path))
        return;
    const osafl_status status = planned_runs_read(path, &f->planned, &error);
    if (status != OSAFL_OK)
        add_unreadable(f, path, status, error.text);
}

/* Whatever runs there may be in it are left out. */
static void warn_of_folder(const char *folder, const char *problem)
{
    char *text = checked_format("warning: %s cannot be searched for runs: %s; runs in it are left "
                                "out",
                                folder, problem);
    result_say("osafl", text);
    free(text);
}

static size_t walk(struct found_cells *f, const char *folder)
{
    char *manifest = checked_format("%s/manifest.json", folder);
    struct stat here;
    const int problem = stat(manifest, &here) == 0 ? 0 : errno;
    const bool dangles = problem == ENOENT && lstat(manifest, &here) == 0;
    free(manifest);
    if (problem == 0) {
        take(f, folder);
        return 1;
    }
    if (dangles) {
        warn_of_folder(folder, "its manifest.json is a link to nothing");
        return 0;
    }
    struct dirent **entry = NULL;
    int entries = -1;
    if (problem == ENOENT)
        entries = scandir(folder, &entry, is_candidate, versionsort);
    if (entries < 0)
        warn_of_folder(folder, strerror(problem == ENOENT ? errno : problem));
    size_t found = 0;
    for (int i = 0; i < entries; i++) {
        char *path = checked_format("%s/%s", folder, entry[i]->d_name);
        const bool there = lstat(path, &here) == 0;
        if (!there && errno != ENOENT)
            warn_of_folder(path, strerror(errno));
        if (there && S_ISDIR(here.st_mode))
            found += walk(f, path);
        else if (there && S_ISREG(here.st_mode) && is_grid_record(entry[i]->d_name))
            take_record(f, path);
        free(path);
        free(entry[i]);
    }
    free(entry);
    return found;
}

/* Settings that the program got since some of the runs: these have in effect what was done before,
 * and are compared with the others by it. */
static void complete_settings(struct found_cells *f)
{
    struct cell_setting *later = NULL; /* the strings are the cells' */
    size_t n = 0;
    for (size_t i = 0; i < f->cells; i++) {
        for (size_t k = 0; k < f->cell[i]->settings; k++) {
            const struct cell_setting *s = &f->cell[i]->setting[k];
            size_t known = 0;
            while (known < n && strcmp(later[known].key, s->key) != 0)
                known++;
            if (s->earlier == NULL || known < n)
                continue;
            later = checked_grow(later, n, sizeof *later);
            later[n++] = *s;
        }
    }
    for (size_t i = 0; i < f->cells; i++) {
        for (size_t k = 0; k < n; k++)
            result_cell_assume(f->cell[i], &later[k]);
    }
    free(later);
}

osafl_status find_cells(const char *folder, struct found_cells *into, struct error *error)
{
    struct stat here;
    const char *slash = strrchr(folder, '/');
    if (is_grid_record(slash != NULL ? slash + 1 : folder) && stat(folder, &here) == 0 &&
        S_ISREG(here.st_mode)) {
        take_record(into, folder); /* of "results/NAME/" and all that is in it */
        return OSAFL_OK;
    }
    if (folder[0] == '\0')
        return error_set(error, OSAFL_E_IO,
                         "the name of a folder is empty; name one with results, or \".\"");
    DIR *open = opendir(folder);
    if (open == NULL)
        return error_set(error, OSAFL_E_IO, "cannot open %s: %s", folder, strerror(errno));
    closedir(open);
    /* "results/" and "results" are to give the same paths. */
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    char *clean = checked_format("%.*s", (int)length, folder);
    const size_t found = walk(into, clean);
    free(clean);
    if (found == 0)
        return error_set(error, OSAFL_E_DATA,
                         "%s holds no results (no folder with a manifest.json); \"osafl run\" "
                         "makes them",
                         folder);
    complete_settings(into);
    return OSAFL_OK;
}

osafl_status find_all_cells(const char *const *folder, size_t n, struct found_cells *into,
                            struct error *error)
{
    for (size_t i = 0; i < n; i++)
        OSAFL_TRY(find_cells(folder[i], into, error));
    return OSAFL_OK;
}

/* ---- filter ---- */

static osafl_status unknown_key(const struct found_cells *f, const char *key, struct error *error)
{
    struct suggestion close = suggest_begin(key);
    suggest_offer(&close, "case");
    suggest_offer(&close, "experiment");
    suggest_offer(&close, "seed");
    for (size_t i = 0; i < f->cells; i++) {
        for (size_t k = 0; k < f->cell[i]->settings; k++)
            suggest_offer(&close, f->cell[i]->setting[k].key);
    }
    return error_set(error, OSAFL_E_CONFIG,
                     "--only %s: no run here has a setting of that name%s%s%s", key,
                     close.best == NULL ? "" : "; did you mean \"",
                     close.best == NULL ? "" : close.best, close.best == NULL ? "" : "\"?");
}

osafl_status find_setting(const struct found_cells *f, const char *option, const char *name,
                          const char **key, struct error *error)
{
    struct suggestion close = suggest_begin(name);
    *key = NULL;
    for (size_t i = 0; i < f->cells; i++) {
        for (size_t k = 0; k < f->cell[i]->settings; k++) {
            const char *path = f->cell[i]->setting[k].key;
            const char *dot = strrchr(path, '.');
            const char *last = dot == NULL ? path : dot + 1;
            suggest_offer(&close, path);
            suggest_offer(&close, last);
            if (strcmp(path, name) == 0) {
                *key = path;
                return OSAFL_OK;
            }
            if (strcmp(last, name) != 0 || (*key != NULL && strcmp(*key, path) == 0))
                continue;
            if (*key != NULL)
                return error_set(error, OSAFL_E_CONFIG, "%s %s: is it %s or %s?", option, name,
                                 *key, path);
            *key = path;
        }
    }
    if (*key != NULL)
        return OSAFL_OK;
    return error_set(error, OSAFL_E_CONFIG, "%s %s: no run here has a setting of that name%s%s%s",
                     option, name, close.best == NULL ? "" : "; did you mean \"",
                     close.best == NULL ? "" : close.best, close.best == NULL ? "" : "\"?");
}

/* Whether the run meets the condition.  If it has a row, that decides: a case need not have what
 * the file varies.  Else its record does, or what the condition says of the whole experiment. */
static bool planned_run_meets(const struct found_cells *of, const struct planned_run *r,
                              const char *key, const char *value)
{
    const enum planned_answer said = planned_run_check(r, key, value);
    const bool of_name = planned_run_names(key);
    bool has_row = false;
    bool row = false;
    bool any = false;
    bool all = true;
    for (size_t i = 0; i < of->cells && !of_name; i++) {
        const struct result_cell *c = of->cell[i];
        if (strcmp(c->experiment, r->experiment) != 0)
            continue;
        const char *found = result_cell_setting(c, key);
        const bool meets = found != NULL && strcmp(found, value) == 0;
        const bool of_row =
            strcmp(c->case_name, r->case_name) == 0 && strcmp(c->varied, r->varied) == 0;
        any = true;
        has_row = has_row || of_row;
        row = row || (of_row && meets);
        all = all && meets;
    }
    if (has_row)
        return row;
    return said == PLANNED_UNKNOWN ? any && all : said == PLANNED_HOLDS;
}

static void keep_planned(struct found_cells *of, const char *only)
{
    const char *sign = strchr(only, '=');
    if (sign == NULL)
        return; /* keep_cells() reports it */
    char *key = checked_format("%.*s", (int)(sign - only), only);
    bool *keep = checked_alloc(of->planned.n, sizeof *keep);
    for (size_t i = 0; i < of->planned.n; i++)
        keep[i] = planned_run_meets(of, &of->planned.run[i], key, sign + 1);
    planned_runs_keep(&of->planned, keep);
    free(keep);
    free(key);
}

static osafl_status keep_cells(struct found_cells *of, const char *only, struct error *error)
{
    const char *sign = strchr(only, '=');
    if (sign == NULL || sign == only)
        return error_set(error, OSAFL_E_CONFIG,
                         "--only %s: write KEY=VALUE, such as case=OSA-FL or "
                         "quantizer.qsgd.levels=2",
                         only);
    char *key = checked_format("%.*s", (int)(sign - only), only);
    bool key_known = false;
    size_t kept = 0;
    /* A first pass only looks, so that a refusal leaves the list as it was. */
    for (size_t i = 0; i < of->cells; i++) {
        char seed[CELL_SEED_BYTES];
        const char *value = result_cell_value(of->cell[i], key, seed);
        key_known = key_known || value != NULL;
        kept += value != NULL && strcmp(value, sign + 1) == 0;
    }
    osafl_status status = OSAFL_OK;
    if (!key_known)
        status = unknown_key(of, key, error);
    else if (kept == 0)
        status = error_set(error, OSAFL_E_CONFIG, "--only %s: no run here has that value", only);
    const size_t cells = of->cells;
    for (size_t i = of->cells = 0; status == OSAFL_OK && i < cells; i++) {
        char seed[CELL_SEED_BYTES];
        const char *value = result_cell_value(of->cell[i], key, seed);
        if (value != NULL && strcmp(value, sign + 1) == 0)
            of->cell[of->cells++] = of->cell[i];
        else
            result_cell_free(of->cell[i]);
    }
    if (status != OSAFL_OK)
        of->cells = cells;
    free(key);
    return status;
}

osafl_status keep_only(struct found_cells *of, const char *const *only, size_t n,
                       struct error *error)
{
    /* Planned runs are judged by all cells. */
    for (size_t i = 0; i < n; i++)
        keep_planned(of, only[i]);
    for (size_t i = 0; i < n; i++)
        OSAFL_TRY(keep_cells(of, only[i], error));
    return OSAFL_OK;
}

bool parse_rounds(const char *text, uint32_t *out)
{
    uint64_t n = 0;
    if (!text_whole(text, 1, UINT32_MAX, &n))
        return false;
    *out = (uint32_t)n;
    return true;
}

void take_first_rounds(struct found_cells *of, uint32_t n)
{
    for (size_t i = 0; i < of->cells && n > 0; i++)
        result_cell_take_first(of->cell[i], n);
}

void found_cells_free(struct found_cells *f)
{
    for (size_t i = 0; i < f->cells; i++)
        result_cell_free(f->cell[i]);
    for (size_t i = 0; i < f->n_unreadable; i++) {
        free(f->unreadable[i].folder);
        free(f->unreadable[i].message);
    }
    planned_runs_free(&f->planned);
    free(f->cell);
    free(f->unreadable);
    free(f->seen);
    *f = (struct found_cells){.cells = 0};
}
