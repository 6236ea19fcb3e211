/* runs_csv.c - every run of a report as a line of comma-separated values. */
#include "runs_csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "checked_alloc.h"
#include "csv_field.h"

struct keys {
    const char **key; /* [n], each once */
    size_t n;
};

static void add_key(struct keys *k, const char *key)
{
    for (size_t i = 0; i < k->n; i++) {
        if (strcmp(k->key[i], key) == 0)
            return;
    }
    k->key = checked_grow(k->key, k->n, sizeof *k->key);
    k->key[k->n++] = key;
}

static void write_run(const struct grid_experiment *e, const struct result_cell *c,
                      const struct keys *k, const struct summary_question *q, FILE *to)
{
    static const char *const state[] = {"complete", "unfinished", "failed"};
    struct result_cell *cell = NULL;
    const struct grid_row row = {.cell = &cell, .cells = 1};
    memcpy(&cell, &c, sizeof cell); /* a row has cells that are not const */
    struct row_summary s = row_summarize(&row, q);
    csv_field_text(e->name, to);
    fputc(',', to);
    csv_field_text(c->case_name, to);
    for (size_t i = 0; i < k->n; i++) {
        const char *value = result_cell_setting(c, k->key[i]);
        fputc(',', to);
        /* A number is no formula. */
        double number;
        if (value != NULL && text_real(value, &number))
            fputs(value, to);
        else if (value != NULL)
            csv_field_text(value, to);
    }
    fprintf(to, ",%" PRId64 ",%s,%zu,%s", c->seed, state[c->state], c->rounds->rows,
            s.measure == NULL ? "" : s.measure);
    for (size_t i = 0; i < ROW_STATISTICS; i++) {
        const struct statistic *of = (const void *)((const char *)&s + row_statistics[i].offset);
        csv_field_real(of->n == 0 ? (double)NAN : of->mean, to);
    }
    fputc('\n', to);
    row_summary_free(&s);
}

void runs_csv_write(const struct result_grid *g, const struct summary_question *q, FILE *to)
{
    struct keys k = {NULL, 0};
    for (size_t i = 0; i < g->experiments; i++) {
        for (size_t a = 0; a < g->experiment[i].axes; a++)
            add_key(&k, g->experiment[i].axis[a]);
    }
    fputs("experiment,case", to);
    for (size_t i = 0; i < k.n; i++) {
        fputc(',', to);
        csv_field_text(k.key[i], to);
    }
    fputs(",seed,state,rounds,measure", to);
    for (size_t i = 0; i < ROW_STATISTICS; i++)
        fprintf(to, ",%s", row_statistics[i].name);
    fputc('\n', to);
    for (size_t i = 0; i < g->experiments; i++) {
        const struct grid_experiment *e = &g->experiment[i];
        for (size_t t = 0; t < e->tables; t++) {
            for (size_t r = 0; r < e->table[t].rows; r++) {
                for (size_t c = 0; c < e->table[t].row[r].cells; c++)
                    write_run(e, e->table[t].row[r].cell[c], &k, q, to);
            }
        }
    }
    free(k.key);
}
