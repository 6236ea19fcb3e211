/* trace.c - gains read from a table: measured ones, another simulator's, or those of an earlier
 * run, whose clients.csv is such a table.
 *
 *   layout = "wide"  one row per round, one column per client; a first row of names is allowed
 *   layout = "long"  one row per round and client; a header names the columns "round" (from 0),
 *                    "client" (from 0) and the gain's (setting column); others are ignored */
#include "byte_source.h"
#include "cell.h"
#include "csv_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYOUT_WIDE, LAYOUT_LONG };
enum { UNIT_LINEAR, UNIT_DB };
enum { END_STOP, END_CYCLE, END_HOLD };

struct trace_config {
    const char *path;
    osafl_choice layout;
    const char *column;
    osafl_choice unit;
    osafl_choice at_end;
    double bandwidth_hz;
    double noise_dbm_per_hz;
    double noise_figure_db;
};

static const char *const layouts[] = {"wide", "long", NULL};
static const char *const units[] = {"linear", "db", NULL};
static const char *const ends[] = {"stop", "cycle", "hold", NULL};

static const osafl_param params[] = {
    OSAFL_PATH(struct trace_config, path, NULL, "Table of gains: CSV, plain or gzip",
               .flags = OSAFL_P_REQUIRED),
    OSAFL_CHOICE(struct trace_config, layout, LAYOUT_WIDE, layouts,
                 "A row per round with a column per client, or a row per round and client"),
    OSAFL_TEXT(struct trace_config, column, "gain",
               "Name of the gain's column for layout = \"long\""),
    OSAFL_CHOICE(struct trace_config, unit, UNIT_LINEAR, units,
                 "Whether gains are power ratios or decibels"),
    OSAFL_CHOICE(struct trace_config, at_end, END_STOP, ends,
                 "After the table's last round: an error, the first round again, or the last round "
                 "repeated"),
    CELL_LINK_PARAMS(struct trace_config),
};

struct trace {
    const struct trace_config *config;
    uint32_t clients; /* of the experiment; what the table has beyond them is not used */
    uint32_t needed;  /* rounds of the experiment, as clients */
    uint32_t rounds;  /* of the table, needed at most */
    size_t capacity;  /* of gain */
    double *gain;     /* [rounds][clients], linear; NaN: not set */
    struct io_message message;
};

/* Room for the gains up to this round.  The table decides how many there are, and not the
 * experiment, which may be much longer than a trace that repeats. */
static osafl_status reserve_round(struct trace *t, uint32_t round)
{
    const size_t wanted = ((size_t)round + 1) * t->clients; /* two 32-bit numbers fit */
    if (wanted <= t->capacity)
        return OSAFL_OK;
    const size_t capacity = wanted > SIZE_MAX / 4 ? wanted : wanted + wanted / 2;
    double *gain = reallocarray(t->gain, capacity, sizeof *gain);
    if (gain == NULL)
        return io_fail(&t->message, OSAFL_E_NOMEM,
                       "out of memory for the gains of %" PRIu32 " clients in round %" PRIu32,
                       t->clients, round);
    for (size_t i = t->capacity; i < capacity; i++)
        gain[i] = NAN;
    t->gain = gain;
    t->capacity = capacity;
    return OSAFL_OK;
}

static osafl_status store_gain(struct trace *t, const struct csv_reader *r, uint32_t column,
                               uint32_t round, uint32_t client)
{
    double value = 0.0;
    OSAFL_TRY(csv_need_number(r, column, &value));
    const double gain = t->config->unit.index == UNIT_DB ? cell_from_db(value) : value;
    if (!(gain >= 0.0) || !isfinite(gain))
        return io_fail(&t->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": %s: %g is not a power gain; decibels need unit = \"db\"",
                       r->source->name, r->line, csv_place(r, column).text, value);
    /* A longer trace of more clients serves as well; what is not needed is checked all the same. */
    if (round >= t->needed || client >= t->clients)
        return OSAFL_OK;
    OSAFL_TRY(reserve_round(t, round));
    double *cell = &t->gain[(size_t)round * t->clients + client];
    if (!isnan(*cell))
        return io_fail(&t->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": round %" PRIu32 " of client %" PRIu32
                       " is in the table twice",
                       r->source->name, r->line, round, client);
    *cell = gain;
    if (round >= t->rounds)
        t->rounds = round + 1;
    return OSAFL_OK;
}

static osafl_status read_wide(struct trace *t, struct csv_reader *r)
{
    uint32_t round = 0;
    for (bool first = true;; first = false) {
        bool row = false;
        double ignored = 0.0;
        OSAFL_TRY(csv_next(r, &row));
        if (!row)
            return OSAFL_OK;
        if (first && !csv_number(r->field[0], &ignored)) {
            OSAFL_TRY(csv_keep_names(r));
            continue;
        }
        if (r->n_fields < t->clients)
            return io_fail(&t->message, OSAFL_E_DATA,
                           "%s:%" PRIu32 ": has %" PRIu32 " column%s for %" PRIu32
                           " clients; a row needs one gain per client%s",
                           r->source->name, r->line, r->n_fields, r->n_fields == 1 ? "" : "s",
                           t->clients, csv_oddity(r, t->clients));
        for (uint32_t u = 0; u < t->clients; u++)
            OSAFL_TRY(store_gain(t, r, u, round, u));
        round++;
    }
}

/* A whole number of [0, UINT32_MAX). */
static osafl_status read_index(const struct csv_reader *r, uint32_t column, uint32_t *out)
{
    double value = 0.0;
    OSAFL_TRY(csv_need_number(r, column, &value));
    if (!(value >= 0.0 && value < UINT32_MAX) || value != floor(value))
        return io_fail(r->source->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": %s: %g is not a round or client number", r->source->name,
                       r->line, csv_place(r, column).text, value);
    *out = (uint32_t)value;
    return OSAFL_OK;
}

static osafl_status read_long(struct trace *t, struct csv_reader *r)
{
    bool row = false;
    OSAFL_TRY(csv_next(r, &row));
    if (!row)
        return OSAFL_OK;
    OSAFL_TRY(csv_keep_names(r));
    const char *const names[] = {"round", "client", t->config->column};
    uint32_t column[3];
    for (size_t i = 0; i < 3; i++) {
        const int64_t found = csv_find(r, names[i]);
        if (found < 0)
            return io_fail(&t->message, OSAFL_E_DATA,
                           "%s:%" PRIu32 ": no column is named \"%s\"; layout = \"long\" needs a "
                           "header with round, client and the gain's column",
                           r->source->name, r->line, names[i]);
        column[i] = (uint32_t)found;
    }
    for (const uint32_t fields = r->n_names;;) {
        uint32_t round = 0;
        uint32_t client = 0;
        OSAFL_TRY(csv_next(r, &row));
        if (!row)
            return OSAFL_OK;
        if (r->n_fields != fields)
            return io_fail(&t->message, OSAFL_E_DATA,
                           "%s:%" PRIu32 ": has %" PRIu32 " column%s, the header %" PRIu32 "%s",
                           r->source->name, r->line, r->n_fields, r->n_fields == 1 ? "" : "s",
                           fields, csv_oddity(r, fields));
        OSAFL_TRY(read_index(r, column[0], &round));
        OSAFL_TRY(read_index(r, column[1], &client));
        OSAFL_TRY(store_gain(t, r, column[2], round, client));
    }
}

/* A gain that is missing must not pass for one of 0. */
static osafl_status check_complete(struct trace *t, const char *name)
{
    if (t->rounds == 0)
        return io_fail(&t->message, OSAFL_E_DATA, "%s: holds no gain", name);
    for (uint32_t round = 0; round < t->rounds; round++)
        for (uint32_t u = 0; u < t->clients; u++)
            if (isnan(t->gain[(size_t)round * t->clients + u]))
                return io_fail(&t->message, OSAFL_E_DATA,
                               "%s: round %" PRIu32 " lacks client %" PRIu32, name, round, u);
    return OSAFL_OK;
}

static osafl_status read_trace(struct trace *t)
{
    struct byte_source source;
    OSAFL_TRY(byte_source_open(&source, t->config->path, &t->message));
    struct csv_reader reader;
    csv_open(&reader, &source, ',');
    osafl_status status =
        t->config->layout.index == LAYOUT_WIDE ? read_wide(t, &reader) : read_long(t, &reader);
    if (status == OSAFL_OK)
        status = check_complete(t, source.name);
    csv_close(&reader);
    byte_source_close(&source);
    return status;
}

static void destroy(void *self)
{
    struct trace *t = self;
    free(t->gain);
    free(t);
}

static osafl_status too_short(const osafl_host *h, osafl_call *c, const struct trace *t,
                              uint32_t rounds)
{
    return h->fail(c, OSAFL_E_DATA,
                   "%s: holds %" PRIu32 " rounds, the experiment needs %" PRIu32
                   "; set channel.trace.at_end to \"cycle\" or \"hold\", or run fewer rounds",
                   t->config->path, t->rounds, rounds);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    struct trace *t = calloc(1, sizeof *t);
    if (t == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    t->config = config;
    t->clients = facts->clients;
    t->needed = facts->rounds;
    osafl_status status = read_trace(t);
    if (status != OSAFL_OK)
        (void)h->fail(c, status, "%s", t->message.text);
    else if (t->config->at_end.index == END_STOP && facts->rounds > t->rounds)
        status = too_short(h, c, t, facts->rounds);
    if (status != OSAFL_OK) {
        destroy(t);
        return status;
    }
    *self = t;
    return OSAFL_OK;
}

static osafl_status describe_link(void *self, osafl_call *c, osafl_link *out)
{
    (void)c;
    const struct trace_config *settings = ((const struct trace *)self)->config;
    cell_link(out, settings->bandwidth_hz, settings->noise_dbm_per_hz, settings->noise_figure_db);
    return OSAFL_OK;
}

static osafl_status gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    (void)c;
    const struct trace *t = self;
    /* create() has seen to it that a trace that stops is long enough. */
    uint32_t row = round;
    if (round >= t->rounds)
        row = t->config->at_end.index == END_CYCLE ? round % t->rounds : t->rounds - 1;
    memcpy(gain, t->gain + (size_t)row * t->clients, t->clients * sizeof *gain);
    return OSAFL_OK;
}

static const osafl_channel_vt vtable = {
    .life = {.struct_size = sizeof(osafl_channel_vt), .create = create, .destroy = destroy},
    .describe = describe_link,
    .gains = gains,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_CHANNEL,
    .name = "trace",
    .version = "1.0.0",
    .summary = "gains from a table, such as a measurement or an earlier run",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct trace_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
