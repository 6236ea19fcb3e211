/* fuzz_results.c - a result folder as the report reads it, and the tables made of what is
 * accepted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/report/report_tables.h"
#include "command/report/summary_csv.h"
#include "fuzz.h"

static FILE *nowhere(void)
{
    static FILE *null;
    if (null == NULL)
        null = fopen("/dev/null", "we");
    FUZZ_REQUIRE(null != NULL);
    return null;
}

static void write_table(const struct grid_experiment *e, const struct grid_table *t)
{
    const struct summary_question question = {.measure = NULL, .target = 0.5};
    struct summarized_table *s = summarize_table(e, t, &question);
    summary_csv_rows(s, nowhere());
    if (s->measure != NULL) {
        struct text_table *tables[] = {performance_table(s), cost_table(s), target_table(s)};
        for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
            text_table_write(tables[i], (enum table_format)i, nowhere());
            text_table_free(tables[i]);
        }
    }
    size_t items = 0;
    char **missing = missing_runs(s, &items);
    text_list_write("Missing", missing, items, FORMAT_LATEX, nowhere());
    for (size_t i = 0; i < items; i++)
        free(missing[i]);
    free(missing);
    free(shared_facts(t));
    summarized_table_free(s);
}

static void report(struct result_cell **cells, size_t n)
{
    const struct found_cells found = {.cell = cells, .cells = n};
    struct result_grid *g = result_grid_create(&found, &(struct grid_layout){.along = NULL});
    for (size_t i = 0; i < g->experiments; i++)
        for (size_t k = 0; k < g->experiment[i].tables; k++)
            write_table(&g->experiment[i], &g->experiment[i].table[k]);
    result_grid_free(g);
}

static struct result_cell *read_cell(const char *folder)
{
    static const char *const wanted[] = {"round", "client", "reason", "gain", NULL};
    struct error error = {0};
    struct result_cell *cell = NULL;
    const osafl_status status = result_cell_read(folder, &cell, &error);
    FUZZ_REQUIRE(status == OSAFL_OK || error.text[0] != '\0');
    if (status != OSAFL_OK)
        return NULL;
    struct csv_table *clients = NULL;
    (void)result_cell_clients(cell, wanted, &clients, &error);
    csv_table_free(clients);
    return cell;
}

/* The bytes up to the next zero byte, or all that is left. */
static const char *write_part(const char *name, const uint8_t **data, size_t *size)
{
    const uint8_t *zero = *size > 0 ? memchr(*data, 0, *size) : NULL;
    const size_t n = zero != NULL ? (size_t)(zero - *data) : *size;
    const char *folder = fuzz_folder_file(name, *data, n);
    const size_t taken = n + (zero != NULL);
    *data += taken;
    *size -= taken;
    return folder;
}

/* One folder or two: the contents of the four files in this order, each ended by a zero byte. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct result_cell *cells[2];
    size_t n = 0;
    for (int i = 0; i < 2 && (i == 0 || size > 0); i++) {
        const char *folder = write_part("manifest.json", &data, &size);
        (void)write_part("rounds.csv", &data, &size);
        (void)write_part("environment.json", &data, &size);
        (void)write_part("clients.csv", &data, &size);
        cells[n] = read_cell(folder);
        n += cells[n] != NULL;
    }
    if (n > 0)
        report(cells, n);
    for (size_t i = 0; i < n; i++)
        result_cell_free(cells[i]);
    return 0;
}
