/* trace.c - arrivals and presence read from a table: measured ones, or another simulator's.
 *
 * Columns: round and client, both from 0, samples, and present (0 or 1).  Rounds ascend; clients of
 * a round stand in any order.  Where a round has no row for a client, nothing reaches it and it is
 * there. */
#include <inttypes.h>
#include <stdlib.h>

#include "counts/counts.h"
#include "whole_table.h"

enum { ROUND, CLIENT, SAMPLES, PRESENT, COLUMNS };
static const char *const columns[] = {"round", "client", "samples", "present"};

enum { END_STOP, END_CYCLE, END_NOTHING };
static const char *const ends[] = {"stop", "cycle", "nothing", NULL};

struct config {
    double fill;
    const char *path;
    osafl_choice at_end;
};

static const osafl_param params[] = {
    OSAFL_PATH(struct config, path, NULL,
               "Table with the columns round, client, samples and present: CSV, plain or gzip",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_CHOICE(
        struct config, at_end, END_STOP, ends,
        "After the table's last round: an error, the first round again, or no more arrivals"),
    COUNTS_FILL(struct config, 0),
};

struct trace {
    const struct config *config;
    struct whole_table table;
    uint32_t rounds; /* of the table */
};

static const uint32_t *row_of(const struct trace *t, uint64_t k)
{
    return t->table.value + k * COLUMNS;
}

/* last[u]: the row of client u that was seen last, counted from 1; 0: none. */
static osafl_status check_row(const struct trace *t, uint64_t k, uint32_t clients, uint64_t *last,
                              struct io_message *m)
{
    const uint32_t *row = row_of(t, k);
    const char *name = t->table.name;
    const uint32_t line = t->table.line[k];
    if (k > 0 && row[ROUND] < row_of(t, k - 1)[ROUND])
        return io_fail(m, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": round %" PRIu32 " comes after round %" PRIu32
                       "; sort the rows by round",
                       name, line, row[ROUND], row_of(t, k - 1)[ROUND]);
    if (row[CLIENT] >= clients)
        return io_fail(m, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": client %" PRIu32 " is unknown, there are 0 .. %" PRIu32
                       "; raise clients.count or remove the row",
                       name, line, row[CLIENT], clients - 1);
    if (row[PRESENT] > 1)
        return io_fail(m, OSAFL_E_DATA, "%s:%" PRIu32 ": present is %" PRIu32 "; write 0 or 1",
                       name, line, row[PRESENT]);
    const uint64_t before = last[row[CLIENT]];
    if (before > 0 && row_of(t, before - 1)[ROUND] == row[ROUND])
        return io_fail(m, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": round %" PRIu32 " of client %" PRIu32 " is in line %" PRIu32
                       " already; remove one of them",
                       name, line, row[ROUND], row[CLIENT], t->table.line[before - 1]);
    last[row[CLIENT]] = k + 1;
    return OSAFL_OK;
}

static osafl_status read_trace(struct trace *t, const osafl_facts *facts, struct io_message *m)
{
    OSAFL_TRY(whole_table_read(&t->table, t->config->path, columns, COLUMNS, m));
    uint64_t *last = calloc(facts->clients, sizeof *last);
    if (last == NULL)
        return io_fail(m, OSAFL_E_NOMEM, "out of memory");
    osafl_status status = OSAFL_OK;
    for (uint64_t k = 0; status == OSAFL_OK && k < t->table.rows; k++)
        status = check_row(t, k, facts->clients, last, m);
    free(last);
    OSAFL_TRY(status);
    if (t->table.rows == 0)
        return io_fail(m, OSAFL_E_DATA, "%s: has no rows below its header; write at least one",
                       t->table.name);
    t->rounds = row_of(t, t->table.rows - 1)[ROUND] + 1;
    if (t->config->at_end.index == END_STOP && facts->rounds > t->rounds)
        return io_fail(
            m, OSAFL_E_DATA,
            "%s: holds %" PRIu32 " rounds, the experiment needs %" PRIu32
            "; set arrival.trace.at_end to \"cycle\" or \"nothing\", or run fewer rounds",
            t->table.name, t->rounds, facts->rounds);
    return OSAFL_OK;
}

static void destroy(void *self)
{
    struct trace *t = self;
    whole_table_free(&t->table);
    free(t);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct io_message message = {0};
    struct trace *t = calloc(1, sizeof *t);
    if (t == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    t->config = config;
    const osafl_status status = read_trace(t, facts, &message);
    if (status != OSAFL_OK) {
        destroy(t);
        return h->fail(c, status, "%s", message.text);
    }
    *self = t;
    return OSAFL_OK;
}

/* The first row of a round or a later one. */
static uint64_t find_round(const struct trace *t, uint32_t round)
{
    uint64_t low = 0;
    uint64_t high = t->table.rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (row_of(t, middle)[ROUND] < round)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static osafl_status arrive(void *self, osafl_call *c, const osafl_arrival_problem *p, uint32_t *n,
                           uint8_t *present)
{
    (void)c;
    const struct trace *t = self;
    const bool cycle = t->config->at_end.index == END_CYCLE;
    const uint32_t round = cycle ? p->round % t->rounds : p->round;
    for (uint64_t k = find_round(t, round); k < t->table.rows && row_of(t, k)[ROUND] == round;
         k++) {
        n[row_of(t, k)[CLIENT]] = row_of(t, k)[SAMPLES];
        present[row_of(t, k)[CLIENT]] = (uint8_t)row_of(t, k)[PRESENT];
    }
    return OSAFL_OK;
}

/* Before the first round, so that no run ends because a later row does not fit.  The row that needs
 * the most is named: what it takes is enough for all. */
static osafl_status fill(void *self, osafl_call *c, const osafl_arrival_problem *p, uint64_t *n)
{
    const struct trace *t = self;
    char room[COUNTS_ROOM_BYTES];
    double most = 0.0;
    uint64_t worst = 0;
    for (uint64_t k = 0; k < t->table.rows; k++) {
        const uint32_t *row = row_of(t, k);
        if (row[SAMPLES] <= p->capacity[row[CLIENT]])
            continue;
        const double storage = counts_storage_for(p, row[CLIENT], row[SAMPLES]);
        worst = storage > most ? k : worst;
        most = fmax(storage, most);
    }
    const uint32_t *row = row_of(t, worst);
    if (most > 0.0)
        return c->host->fail(c, OSAFL_E_DATA,
                             "%s:%" PRIu32 ": %" PRIu32 " samples for client %" PRIu32
                             ", which has %s",
                             t->table.name, t->table.line[worst], row[SAMPLES], row[CLIENT],
                             counts_room(p, row[CLIENT], row[SAMPLES], room));
    counts_fill_stores(t->config->fill, p, n);
    return OSAFL_OK;
}

static const osafl_arrival_vt vtable = {
    .life = {.struct_size = sizeof(osafl_arrival_vt), .create = create, .destroy = destroy},
    .arrive = arrive,
    .fill = fill,
};

static const char *const features[] = {"own_numbers", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_ARRIVAL,
    .name = "trace",
    .version = "1.0.0",
    .summary = "Arrivals and presence from a table, such as a measurement",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
