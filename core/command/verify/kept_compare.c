/* kept_compare.c - are the results of a kept run those that were computed again? */
#include "kept_compare.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_read.h"
#include "base/folder.h"
#include "base/text.h"

/* ---- tables -------------------------------------------------------------------------------- */

/* A table that is read row by row. */
struct table_reader {
    FILE *file;
    char *line; /* cut into fields */
    size_t room;
    char **field; /* [fields] of [columns] */
    size_t fields;
    size_t columns;
    size_t number; /* of the line, from 1 */
};

static bool open_reader(struct table_reader *t, const char *folder, const char *name)
{
    *t = (struct table_reader){.file = file_open_in(folder, name)};
    return t->file != NULL;
}

static void close_reader(struct table_reader *t)
{
    if (t->file != NULL)
        fclose(t->file);
    free(t->line);
    free(t->field);
}

/* A whole line; one without its end is what a killed run leaves.  The first row tells how many
 * columns there are. */
static bool next_row(struct table_reader *t)
{
    const ssize_t n = getline(&t->line, &t->room, t->file);
    t->fields = 0;
    t->number++;
    if (n <= 0 || t->line[n - 1] != '\n')
        return false;
    t->line[n - 1] = '\0';
    if (t->field == NULL) {
        t->columns = 1;
        for (const char *c = t->line; *c != '\0'; c++)
            t->columns += *c == ',';
        t->field = calloc(t->columns, sizeof(char *));
    }
    char *rest = t->line;
    while (t->field != NULL && rest != NULL && t->fields < t->columns)
        t->field[t->fields++] = strsep(&rest, ",");
    return t->field != NULL && rest == NULL;
}

/* Two tables of one name. */
struct table_pair {
    const char *name;
    struct table_reader kept;
    struct table_reader again;
    char **column;   /* names of the kept columns; [kept.columns] */
    size_t *place;   /* of each in the other table */
    bool has_client; /* rows are those of clients */
    bool whole;
};

/* False: a kept column is none of the other table's. */
static bool find_columns(struct table_pair *p, struct kept_verdict *out)
{
    for (size_t i = 0; i < p->kept.columns; i++) {
        p->column[i] = strdup(p->kept.field[i]);
        while (p->place[i] < p->again.columns &&
               strcmp(p->kept.field[i], p->again.field[p->place[i]]) != 0)
            p->place[i]++;
        if (p->place[i] == p->again.columns) {
            snprintf(out->difference, sizeof out->difference,
                     "%s has a column %.200s, which this program does not write", p->name,
                     p->kept.field[i]);
            return false;
        }
    }
    p->has_client = p->kept.columns > 1 && strcmp(p->kept.field[1], "client") == 0;
    return true;
}

/* "rounds.csv, round 3"; "clients.csv, round 3, client 7". */
static void name_row(const struct table_pair *p, const struct table_reader *row, char *out,
                     size_t size)
{
    const char *client = p->has_client && row->fields > 1 ? row->field[1] : NULL;
    snprintf(out, size, "%s, round %.40s%s%.40s", p->name, row->field[0],
             client != NULL ? ", client " : "", client != NULL ? client : "");
}

static void compare_row(const struct table_pair *p, struct kept_verdict *out)
{
    char where[160];
    name_row(p, &p->again, where, sizeof where);
    if (p->kept.fields != p->kept.columns)
        snprintf(out->difference, sizeof out->difference,
                 "%s:%zu: the row kept has %zu of %zu fields; the table is damaged", p->name,
                 p->kept.number, p->kept.fields, p->kept.columns);
    for (size_t i = 0; i < p->kept.columns && out->difference[0] == '\0'; i++) {
        const char *now = p->again.field[p->place[i]];
        if (strcmp(p->kept.field[i], now) != 0)
            snprintf(out->difference, sizeof out->difference,
                     "%s: %.80s was kept as \"%.80s\" and is \"%.80s\"", where,
                     p->column[i] != NULL ? p->column[i] : "a column", p->kept.field[i], now);
    }
}

static void compare_rows(struct table_pair *p, struct kept_verdict *out)
{
    char where[160];
    while (out->difference[0] == '\0') {
        const bool kept = next_row(&p->kept);
        const bool again = next_row(&p->again);
        if (kept && again) {
            compare_row(p, out);
            continue;
        }
        if (kept && p->whole) {
            name_row(p, &p->kept, where, sizeof where);
            snprintf(out->difference, sizeof out->difference, "%s: the run has no such row", where);
        } else if (again && p->kept.fields > 0) {
            snprintf(out->difference, sizeof out->difference,
                     "%s:%zu: the row kept is damaged or without its end", p->name, p->kept.number);
        } else if (again) {
            name_row(p, &p->again, where, sizeof where);
            snprintf(out->difference, sizeof out->difference, "%s: the row is not kept", where);
        }
        return;
    }
}

static osafl_status compare_opened(struct table_pair *p, struct kept_verdict *out,
                                   struct error *error)
{
    char words[96];
    if (!next_row(&p->kept) || !next_row(&p->again)) {
        snprintf(out->difference, sizeof out->difference, "%s has no header", p->name);
        return OSAFL_OK;
    }
    p->column = calloc(p->kept.columns, sizeof(char *));
    p->place = calloc(p->kept.columns, sizeof *p->place);
    if (p->column == NULL || p->place == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for %s", p->name);
    if (find_columns(p, out))
        compare_rows(p, out);
    if (p->kept.columns == p->again.columns)
        snprintf(words, sizeof words, "%s", p->name);
    else
        snprintf(words, sizeof words, "%zu of %zu columns of %s", p->kept.columns, p->again.columns,
                 p->name);
    text_append_item(out->compared, sizeof out->compared, ", ", words);
    return OSAFL_OK;
}

static osafl_status compare_tables(const struct kept_folders *f, const char *name,
                                   struct kept_verdict *out, struct error *error)
{
    struct table_pair p = {.name = name, .whole = f->whole};
    osafl_status status = OSAFL_OK;
    if (!open_reader(&p.kept, f->kept, name)) {
        if (errno != ENOENT) /* what is not kept is not compared */
            status = error_io(error, errno, "read", name);
    } else if (!open_reader(&p.again, f->again, name)) {
        status = error_io(error, errno, "read", name);
    } else {
        status = compare_opened(&p, out, error);
    }
    for (size_t i = 0; p.column != NULL && i < p.kept.columns; i++)
        free(p.column[i]);
    free(p.column);
    free(p.place);
    close_reader(&p.kept);
    close_reader(&p.again);
    return status;
}

/* ---- whole files --------------------------------------------------------------------------- */

#define MODEL "model.safetensors"

/* A file in memory. */
struct file_bytes {
    char *data;
    size_t size;
    int error; /* where data is NULL */
};

static struct file_bytes read_in(const char *folder, const char *name)
{
    struct file_bytes out = {.error = ENOMEM};
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return out;
    out.data = file_read(path, SIZE_MAX - 1, &out.size, &out.error);
    free(path);
    return out;
}

/* The first byte that differs; SIZE_MAX: none. */
static size_t first_difference(const struct file_bytes *a, size_t from_a,
                               const struct file_bytes *b, size_t from_b)
{
    size_t at = 0;
    while (from_a + at < a->size && from_b + at < b->size &&
           a->data[from_a + at] == b->data[from_b + at])
        at++;
    return from_a + at < a->size || from_b + at < b->size ? at : SIZE_MAX;
}

/* Where the parameters begin: behind a header that names the program's version. */
static size_t parameters_of(const struct file_bytes *model)
{
    uint64_t header = 0;
    if (model->size >= sizeof header)
        memcpy(&header, model->data, sizeof header);
    return header <= model->size ? sizeof header + (size_t)header : 0;
}

static void compare_bytes(const char *name, const struct file_bytes *kept,
                          const struct file_bytes *again, struct kept_verdict *out)
{
    const size_t at = first_difference(kept, 0, again, 0);
    const size_t begin = parameters_of(kept);
    char what[64];
    snprintf(what, sizeof what, "%s", name);
    if (at != SIZE_MAX && strstr(name, ".safetensors") != NULL && at < begin &&
        first_difference(kept, begin, again, parameters_of(again)) == SIZE_MAX)
        snprintf(what, sizeof what, "the parameters of %s", name);
    else if (at != SIZE_MAX)
        snprintf(out->difference, sizeof out->difference, "%s, at byte %zu", name, at);
    text_append_item(out->compared, sizeof out->compared, ", ", what);
}

static osafl_status compare_files(const struct kept_folders *f, const char *name,
                                  struct kept_verdict *out, struct error *error)
{
    struct file_bytes kept = read_in(f->kept, name);
    if (kept.data == NULL)
        return kept.error == ENOENT ? OSAFL_OK : error_io(error, kept.error, "read", name);
    struct file_bytes again = read_in(f->again, name);
    osafl_status status = OSAFL_OK;
    if (again.data == NULL)
        status = error_io(error, again.error, "read", name);
    else
        compare_bytes(name, &kept, &again, out);
    free(kept.data);
    free(again.data);
    return status;
}

osafl_status kept_compare(const struct kept_folders *f, struct kept_verdict *out,
                          struct error *error)
{
    static const char *const table[] = {"rounds.csv", "clients.csv"};
    static const char *const file[] = {"data.json", "confusion.json", "best.safetensors", MODEL};
    enum { TABLES = sizeof table / sizeof table[0], FILES = sizeof file / sizeof file[0] };
    *out = (struct kept_verdict){0};
    for (size_t i = 0; i < TABLES && out->difference[0] == '\0'; i++)
        OSAFL_TRY(compare_tables(f, table[i], out, error));
    for (size_t i = 0; i < FILES && f->whole && out->difference[0] == '\0'; i++)
        OSAFL_TRY(compare_files(f, file[i], out, error));
    return OSAFL_OK;
}
