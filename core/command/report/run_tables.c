/* run_tables.c - what the runs of a report were. */
#include "run_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"
#include "result_text.h"

/* ---- settings ---- */

/* Whether every run of the experiment has this value. */
static bool is_shared(const struct grid_experiment *e, const struct cell_setting *s)
{
    for (size_t t = 0; t < e->tables; t++) {
        for (size_t r = 0; r < e->table[t].rows; r++) {
            const struct grid_row *row = &e->table[t].row[r];
            for (size_t c = 0; c < row->cells; c++) {
                const char *value = result_cell_setting(row->cell[c], s->key);
                if (value == NULL || strcmp(value, s->value) != 0)
                    return false;
            }
        }
    }
    return true;
}

struct text_table *shared_settings_table(const struct grid_experiment *e)
{
    struct text_table *t = text_table_create(checked_copy("Settings that all runs share"));
    text_table_column(t, checked_copy("setting"), true);
    text_table_column(t, checked_copy("value"), true);
    text_table_column(t, checked_copy("from"), true);
    const struct result_cell *any = e->table[0].row[0].cell[0];
    for (int defaults = 0; defaults < 2; defaults++) {
        for (size_t i = 0; i < any->settings; i++) {
            const struct cell_setting *s = &any->setting[i];
            if ((strcmp(s->origin, "default") == 0) != defaults || !is_shared(e, s))
                continue;
            text_table_row(t);
            text_table_set(t, 0, MARK_NONE, checked_copy(s->key));
            text_table_set(t, 1, MARK_NONE, checked_copy(s->value));
            text_table_set(t, 2, MARK_NONE, checked_copy(s->origin));
        }
    }
    return t;
}

static bool rows_differ(const struct grid_table *t, const char *key)
{
    const char *first = result_cell_setting(t->row[0].cell[0], key);
    for (size_t r = 1; r < t->rows; r++) {
        const char *value = result_cell_setting(t->row[r].cell[0], key);
        if ((value == NULL) != (first == NULL) || (value != NULL && strcmp(value, first) != 0))
            return true;
    }
    return false;
}

static bool has_row(const struct text_table *t, const char *key)
{
    for (size_t i = 0; i < t->rows; i++) {
        if (strcmp(t->entry[i * t->columns].text, key) == 0)
            return true;
    }
    return false;
}

/* The runs of a row differ in their seed, and where their files are, alone: its first one speaks
 * for it. */
static void add_differing(struct text_table *to, const struct grid_table *t, const char *key)
{
    text_table_row(to);
    text_table_set(to, 0, MARK_NONE, checked_copy(key));
    for (size_t r = 0; r < t->rows; r++) {
        const char *value = result_cell_setting(t->row[r].cell[0], key);
        text_table_set(to, r + 1, MARK_NONE, checked_copy(value == NULL ? "-" : value));
    }
}

struct text_table *differing_settings_table(const struct grid_table *t)
{
    struct text_table *to = text_table_create(checked_copy("Settings that differ"));
    text_table_column(to, checked_copy("setting"), true);
    for (size_t r = 0; r < t->rows; r++)
        text_table_column(to, checked_copy(t->row[r].label), true);
    for (size_t r = 0; r < t->rows; r++) {
        const struct result_cell *c = t->row[r].cell[0];
        for (size_t i = 0; i < c->settings; i++) {
            const char *key = c->setting[i].key;
            if (strcmp(key, "seed") != 0 && rows_differ(t, key) && !has_row(to, key))
                add_differing(to, t, key);
        }
    }
    if (to->rows > 0)
        return to;
    text_table_free(to);
    return NULL;
}

/* ---- environment ---- */

/* A member of environment.json or the manifest as text; "-" where there is none. */
static char *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value))
        return result_printable(json_string_value(value));
    if (json_is_integer(value))
        return checked_format("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value))
        return checked_format("%.1f", json_real_value(value));
    return checked_copy("-");
}

static void add_run(struct text_table *t, const struct grid_table *of, const struct grid_row *row,
                    const struct result_cell *c)
{
    const json_t *program = json_object_get(c->manifest, "program");
    const json_t *machine = json_object_get(c->manifest, "machine");
    char *version = member(program, "version");
    char *features = member(machine, "cpu_features");
    char *kernel = member(machine, "blas_kernel");
    text_table_row(t);
    text_table_set(
        t, 0, MARK_NONE,
        checked_format("%s%s%s", of->title, of->title[0] == '\0' ? "" : ": ", row->label));
    text_table_set(t, 1, MARK_NONE, checked_format("%" PRId64, c->seed));
    text_table_set(
        t, 2, MARK_NONE,
        checked_format("%zu of %.0f", c->recorded_rounds, result_cell_number(c, "rounds", 0)));
    text_table_set(t, 3, MARK_NONE, member(c->environment, "started"));
    text_table_set(t, 4, MARK_NONE, member(c->environment, "seconds"));
    text_table_set(t, 5, MARK_NONE, member(c->environment, "host"));
    text_table_set(t, 6, MARK_NONE, member(c->environment, "cpu"));
    text_table_set(t, 7, MARK_NONE, member(c->environment, "threads"));
    text_table_set(t, 8, MARK_NONE, checked_format("%s, %s", features, kernel));
    text_table_set(t, 9, MARK_NONE, checked_format("osafl %s", version));
    free(version);
    free(features);
    free(kernel);
}

struct text_table *environment_table(const struct grid_experiment *e)
{
    static const struct {
        const char *heading;
        bool is_text;
    } column[] = {{"run", true},       {"seed", false},    {"rounds", false},
                  {"started", true},   {"seconds", false}, {"host", true},
                  {"processor", true}, {"threads", false}, {"instructions, BLAS kernel", true},
                  {"program", true}};
    struct text_table *t = text_table_create(checked_copy("Where the runs ran"));
    for (size_t i = 0; i < sizeof column / sizeof column[0]; i++)
        text_table_column(t, checked_copy(column[i].heading), column[i].is_text);
    for (size_t k = 0; k < e->tables; k++) {
        for (size_t r = 0; r < e->table[k].rows; r++) {
            const struct grid_row *row = &e->table[k].row[r];
            for (size_t c = 0; c < row->cells; c++)
                add_run(t, &e->table[k], row, row->cell[c]);
        }
    }
    return t;
}
