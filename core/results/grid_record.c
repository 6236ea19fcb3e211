/* grid_record.c - which runs an experiment file asks for, kept next to their results. */
#include "grid_record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/folder.h"
#include "base/json_print.h"
#include "run_folder.h"

enum { LONGEST_STEM = 200 }; /* so that the name is one that file systems take */

/* Adds the cell's seed to those of its case. */
static bool add_cell(json_t *cells, const struct experiment *e)
{
    json_t *seeds = json_object_get(cells, e->case_name);
    if (seeds == NULL) {
        json_t *none = json_array();
        if (json_object_set_new(cells, e->case_name, none) != 0)
            return false;
        seeds = none;
    }
    return json_array_append_new(seeds, json_integer((json_int_t)e->general.seed)) == 0;
}

static json_t *describe_cells(const struct grid *g, const char *name)
{
    json_t *cells = json_object();
    bool complete = cells != NULL;
    for (size_t i = 0; i < g->n && complete; i++) {
        if (strcmp(g->cells[i]->general.name, name) == 0)
            complete = add_cell(cells, g->cells[i]);
    }
    if (complete)
        return cells;
    json_decref(cells);
    return NULL;
}

/* The record of the experiment called name; NULL: out of memory. */
static char *describe(const struct grid *g, const char *name)
{
    json_t *record = json_pack("{s:i, s:o, s:o}", "grid", GRID_RECORD_FORMAT, "experiment",
                               json_text(name), "cells", describe_cells(g, name));
    char *printed = record != NULL ? json_print(record, JSON_INDENT(2)) : NULL;
    char *text = NULL;
    if (printed != NULL && asprintf(&text, "%s\n", printed) < 0)
        text = NULL;
    free(printed);
    json_decref(record);
    return text;
}

/* Whether FOLDER/NAME is a file of exactly this text. */
static bool has_text(const char *folder, const char *name, const char *text, size_t size)
{
    char *path = NULL;
    struct stat st;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return false;
    bool same = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)size;
    FILE *file = same ? fopen(path, "rb") : NULL;
    free(path);
    same = file != NULL;
    for (size_t i = 0; same && i < size; i++)
        same = getc(file) == (unsigned char)text[i];
    if (file != NULL)
        fclose(file);
    return same;
}

static osafl_status write_record(const struct grid *g, const char *name, const char *file_name,
                                 const char *base, struct error *error)
{
    char *folder = experiment_folder_path(base, name);
    if (folder == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for %s", file_name);
    osafl_status status = OSAFL_OK;
    if (g->n > 1 || folder_has(folder, file_name)) {
        char *text = describe(g, name);
        status = text == NULL ? error_set(error, OSAFL_E_NOMEM, "out of memory for %s", file_name)
                              : folder_create(folder, error);
        if (status == OSAFL_OK && !has_text(folder, file_name, text, strlen(text)))
            status = shared_file_replace(folder, file_name, text, strlen(text), error);
        free(text);
    }
    free(folder);
    return status;
}

/* "grid-FILE.json", of a very long FILE its beginning.  free(); NULL: out of memory. */
static char *record_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash != NULL ? slash + 1 : file;
    const size_t n = strlen(base);
    const size_t stem = n > 4 && strcmp(base + n - 4, ".cfg") == 0 ? n - 4 : n;
    char *name = NULL;
    if (asprintf(&name, GRID_RECORD_PREFIX "%.*s" GRID_RECORD_SUFFIX,
                 (int)(stem < LONGEST_STEM ? stem : LONGEST_STEM), base) < 0)
        return NULL;
    char *plain = path_component(name);
    free(name);
    return plain;
}

osafl_status grid_record_write(const struct grid *g, const char *file, const char *base,
                               struct error *error)
{
    char *name = record_name(file);
    if (name == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the record of a grid");
    osafl_status status = OSAFL_OK;
    for (size_t i = 0; i < g->n && status == OSAFL_OK; i++) {
        const char *of = g->cells[i]->general.name;
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(g->cells[k]->general.name, of) != 0;
        if (first)
            status = write_record(g, of, name, base, error);
    }
    free(name);
    return status;
}
