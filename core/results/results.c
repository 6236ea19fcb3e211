/* results.c - the tables of a run: rounds.csv, clients.csv and timing.csv. */
#include "results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "experiment/experiment.h"
#include "plugin/loader.h"

enum { TABLE_ROUNDS, TABLE_CLIENTS, TABLE_TIMING, TABLES = RESULT_TABLES };

const char *const result_table_name[RESULT_TABLES] = {"rounds.csv", "clients.csv", "timing.csv"};

#define MEASURES "SPLIT_MEASURE" /* where a run's own columns stand, one for each measure */

#define LEARNING_RATE "learning_rate"
#define ARRIVED "arrived_samples"
#define PREQUENTIAL "prequential_MEASURE" /* one for each measure of the model */

#define MIX "mix_"         /* what the names of evaluation.mixes begin with */
#define AGE "mean_age_"    /* those of results.ages, */
#define RECEIVE "receive_" /* of downlink.enabled, */
#define PLACE "place_"     /* and of results.places */

#define ESTIMATED "estimated_gain"

#define SPREAD "client_" /* what the names of the spread's columns begin with */

/* Each table begins with its columns of this list; metrics of plugins follow. */
static const struct column {
    const char *name;
    const char *unit; /* "": a number without one */
    const char *doc;
} columns[TABLES][27] = {
    [TABLE_ROUNDS] =
        {
            {"round", "", "Global round, counted from 0; the row is the state after it"},
            {"simulated_s", "s", "Simulated time at the end of the round"},
            {MEASURES, "",
             "The global model's test_accuracy, test_loss, ...; empty: not evaluated"},
            {"train_loss", "", "Mean loss of the participants while they trained"},
            {"participants", "clients", "Clients whose update arrived"},
            {"mean_local_rounds", "local rounds", "Mean over the participants"},
            {"uplink_payload_bits", "bit",
             "Payload in the resource problem, of all clients that sent, lost updates included"},
            {"uplink_air_bits", "bit", "Size of what was sent, as coded, lost updates included"},
            {"compute_j", "J",
             "Energy for computing, of all clients that trained, lost updates included, and for "
             "measuring samples if the deletion policy uses measures"},
            {"upload_j", "J",
             "Energy for sending, of all clients that sent, lost updates included"},
            {"energy_j", "J", "Sum of both, and of receive_j"},
            {LEARNING_RATE, "",
             "Learning rate of the optimizer in this round; with results.learning_rate"},
            {SPREAD "mean", "",
             "With evaluation.client_spread: mean of the accuracies that the clients would find"},
            {SPREAD "deviation", "", "The same: their standard deviation"},
            {SPREAD "worst_tenth", "", "The same: mean of the worst tenth of the clients"},
            {SPREAD "jain", "", "The same: Jain's fairness index, 1 where all are equal"},
            {ARRIVED, "samples",
             "Samples that arrived in this round; this and the next with evaluation.prequential"},
            {PREQUENTIAL, "",
             "Mean over these samples by the model with which the round began; empty: none"},
            {MIX "present", "",
             "With evaluation.mixes: the first measure, its labels weighted as they arrive now"},
            {MIX "worst", "", "The same: the worst on the mixes of all rounds evaluated so far"},
            {MIX "forgetting", "",
             "The same: mean over these of what the value has lost since its best; empty: first"},
            {RECEIVE "j", "J",
             "Energy for receiving the model, of all clients that trained; with downlink.enabled"},
            {AGE "stored", "rounds",
             "With results.ages: rounds since they came, of all samples stored after the round"},
            {AGE "updates", "rounds",
             "The same: rounds since they began, of the updates that arrived; empty: none"},
        },
    [TABLE_CLIENTS] =
        {
            {"round", "", "Global round, counted from 0"},
            {"client", "", "Number of the client, from 0; results.clients says who has rows"},
            {"participates", "",
             "1: its update arrived, late ones included; 0: none did, for the reason given"},
            {"reason", "", "Why no update arrived (see below); empty: one did"},
            {"gain", "", "Channel gain to the base station, linear"},
            {"local_rounds", "local rounds", "Chosen by the resource policy; 0: sits out"},
            {"clock_hz", "Hz", "CPU clock"},
            {"power_w", "W", "Transmit power"},
            {"compute_s", "s", "Time of computing"},
            {"upload_s", "s", "Time of sending"},
            {"compute_j", "J", "Energy for computing"},
            {"upload_j", "J", "Energy for sending"},
            {"samples", "samples", "Stored samples in this round"},
            {"train_loss", "", "Mean loss while it trained; empty: it did not"},
            {"label_entropy", "nat", "Entropy of the labels that it stores"},
            {MEASURES, "", "With evaluation.per_client: the accuracy as this client would find it"},
            {RECEIVE "s", "s",
             "Time of receiving the model, before computing; with downlink.enabled"},
            {RECEIVE "j", "J", "Energy for it"},
            {ESTIMATED, "",
             "Gain as server and policies know it; with uplink.gain_error_db or gain_margin_db"},
            {PLACE "x_m", "m", "With results.places: east of the base station"},
            {PLACE "y_m", "m", "The same: north of it"},
            {PLACE "distance_m", "m", "The same: from it, on the ground"},
            {PLACE "line_of_sight", "", "The same: 1: in sight of it; 0: not"},
        },
    [TABLE_TIMING] =
        {
            {"round", "", "Global round, counted from 0"},
            {"resource_s", "s", "Wall clock: channel and resource policy"},
            {"train_s", "s", "Wall clock: local training"},
            {"aggregate_s", "s", "Wall clock: aggregation"},
            {"world_s", "s", "Wall clock: arrivals and deletion"},
            {"evaluate_s", "s", "Wall clock: evaluation"},
            {"total_s", "s", "Wall clock: the whole round, with results and checkpoints"},
        },
};

static const struct {
    uint32_t reason;
    const char *name;
    const char *doc;
} reasons[] = {
    {OSAFL_OUT_ABSENT, "absent",
     "The client was not available, or the server did not ask it (arrival, selection)"},
    {OSAFL_OUT_DEADLINE, "deadline", "The upload alone takes longer than the deadline"},
    {OSAFL_OUT_CLOCK, "clock", "The deadline requires a clock above the client's maximum"},
    {OSAFL_OUT_POWER, "power", "The deadline requires a power above the client's maximum"},
    {OSAFL_OUT_ENERGY, "energy", "No choice stays within the client's energy budget"},
    {OSAFL_OUT_POLICY, "policy", "The resource policy left it out for a reason of its own"},
    {OUT_LOST, "lost", "The update was lost on its way (uplink.loss_probability)"},
    {OUT_DIVERGED, "diverged", "The update was not finite (on_divergence = \"drop\")"},
    {OUT_LATE, "late", "Its update arrives in a later round (uplink.late = \"carry\")"},
    {OUT_STALE, "stale", "Its update would be later than the aggregator's max_staleness allows"},
    {OUT_OUTAGE, "outage",
     "The gain was lower than known, and did not carry the upload (uplink.gain_error_db)"},
    {OUT_BUSY, "busy", "It was still computing or sending its update from an earlier round"},
};

/* The metrics of one instance, and where their values go. */
struct listener {
    struct results *results;
    struct instance *instance;
    uint32_t *column; /* [n_metrics], within the metrics of its scope */
};

struct results {
    struct csv_writer *table[TABLES];
    struct listener *listener; /* [n_listen] */
    uint32_t n_listen;
    uint32_t clients;
    uint32_t n_measures;
    uint32_t n_label_measures;
    bool higher_is_better;
    bool per_client;
    bool learning_rate;
    bool prequential;
    bool mixes;
    bool ages;
    bool downlink;
    bool estimates;
    bool places;
    int32_t client_rows;
    bool client_spread;
    uint32_t n_round_metrics;
    uint32_t n_client_metrics;
    double *round_metric;  /* [n_round_metrics]; NAN: not heard in this round */
    double *client_metric; /* [clients][n_client_metrics] */
    struct results_summary summary;
};

static const osafl_metric *metric_of(const struct instance *i, uint32_t m)
{
    return OSAFL_AT(osafl_metric, i->plugin->metrics, i->plugin->metric_size, m);
}

/* The metric sink of all instances. */
static void on_metric(void *arg, uint32_t metric, uint32_t client, double value)
{
    const struct listener *l = arg;
    struct results *r = l->results;
    if (metric >= l->instance->plugin->n_metrics)
        return;
    const uint32_t column = l->column[metric];
    if (metric_of(l->instance, metric)->scope == OSAFL_PER_ROUND)
        r->round_metric[column] = value;
    else if (client < r->clients)
        r->client_metric[(size_t)client * r->n_client_metrics + column] = value;
}

/* The column of a metric; false: there is none of that name and scope. */
static bool find_metric(const struct results *r, const char *name, uint32_t scope, uint32_t *column)
{
    for (uint32_t i = 0; i < r->n_listen; i++) {
        const struct listener *l = &r->listener[i];
        for (uint32_t m = 0; m < l->instance->plugin->n_metrics; m++) {
            const osafl_metric *of = metric_of(l->instance, m);
            if (of->scope == scope && strcmp(of->name, name) == 0) {
                *column = l->column[m];
                return true;
            }
        }
    }
    return false;
}

bool results_round_metric(const struct results *r, const char *name, double *out)
{
    uint32_t column = 0;
    const bool found = find_metric(r, name, OSAFL_PER_ROUND, &column);
    if (found)
        *out = r->round_metric[column];
    return found;
}

bool results_client_metric(const struct results *r, const char *name, uint32_t client, double *out)
{
    uint32_t column = 0;
    const bool found = find_metric(r, name, OSAFL_PER_CLIENT, &column);
    if (found)
        *out = r->client_metric[(size_t)client * r->n_client_metrics + column];
    return found;
}

/* ---- columns ---- */

/* True when the comma-separated list holds this name. */
static bool has_column(const char *header, const char *name)
{
    const size_t size = strlen(name);
    for (const char *at = strstr(header, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at == header || at[-1] == ',') && (at[size] == ',' || at[size] == '\0'))
            return true;
    }
    return false;
}

/* Replaces *header by "HEADER,NAME". */
static osafl_status add_column(char **header, const char *prefix, const char *name)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s,%s%s", *header, prefix, name) < 0)
        return OSAFL_E_NOMEM;
    free(*header);
    *header = longer;
    return OSAFL_OK;
}

static osafl_status add_measures(char **header, const char *prefix,
                                 const struct results_layout *layout, uint32_t n)
{
    for (uint32_t m = 0; m < n; m++)
        OSAFL_TRY(add_column(header, prefix, layout->measures[m]));
    return OSAFL_OK;
}

/* Whether a column belongs to an option that the layout does not have. */
static bool is_left_out(const struct results_layout *l, const char *name)
{
    const struct {
        const char *begin; /* of the names of its columns */
        bool wanted;
    } option[] = {
        {LEARNING_RATE, l->learning_rate},
        {SPREAD, l->client_spread},
        {ARRIVED, l->prequential},
        {PREQUENTIAL, l->prequential},
        {MIX, l->mixes},
        {AGE, l->ages},
        {RECEIVE, l->downlink},
        {ESTIMATED, l->estimates},
        {PLACE, l->places},
    };
    for (size_t i = 0; i < sizeof option / sizeof option[0]; i++)
        if (!option[i].wanted && strncmp(name, option[i].begin, strlen(option[i].begin)) == 0)
            return true;
    return false;
}

/* The columns of a table before those of the metrics. */
static osafl_status fixed_columns(const struct results_layout *layout, int table, char **header)
{
    char prefix[64];
    uint32_t measures = layout->n_measures;
    if (table == TABLE_CLIENTS)
        measures = layout->per_client ? 1 : 0;
    snprintf(prefix, sizeof prefix, "%s_", layout->split);
    *header = strdup(columns[table][0].name);
    if (*header == NULL)
        return OSAFL_E_NOMEM;
    for (const struct column *c = &columns[table][1]; c->name != NULL; c++) {
        if (is_left_out(layout, c->name))
            continue;
        if (strcmp(c->name, MEASURES) == 0)
            OSAFL_TRY(add_measures(header, prefix, layout, measures));
        else if (strcmp(c->name, PREQUENTIAL) == 0)
            OSAFL_TRY(add_measures(header, "prequential_", layout,
                                   layout->n_measures - layout->n_label_measures));
        else
            OSAFL_TRY(add_column(header, "", c->name));
    }
    return OSAFL_OK;
}

void results_describe(FILE *to)
{
    for (int table = 0; table < TABLES; table++) {
        fprintf(to, "%s\n", result_table_name[table]);
        for (const struct column *c = columns[table]; c->name != NULL; c++)
            fprintf(to, "  %-19s %-13s %s\n", c->name, c->unit, c->doc);
        fputs(table == TABLE_TIMING ? "\n"
                                    : "  and the metrics of the plugins (osafl help KIND/NAME)"
                                      "\n\n",
              to);
    }
    fputs("values of reason\n", to);
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        fprintf(to, "  %-9s %s\n", reasons[i].name, reasons[i].doc);
    fputs(
        "\nThe tables count rounds from 0.  Progress, reports and figures say \"after N rounds\":\n"
        "the row of round N - 1.  An empty field has no value.\n",
        to);
}

/* Gives every metric of an instance its column. */
static osafl_status metric_columns(struct results *r, struct listener *l, char **rounds,
                                   char **clients, struct error *error)
{
    const osafl_plugin *plugin = l->instance->plugin;
    l->column = calloc((size_t)plugin->n_metrics + 1, sizeof *l->column);
    if (l->column == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the tables of results");
    for (uint32_t m = 0; m < plugin->n_metrics; m++) {
        const osafl_metric *metric = metric_of(l->instance, m);
        const bool per_round = metric->scope == OSAFL_PER_ROUND;
        char **header = per_round ? rounds : clients;
        if (has_column(*header, metric->name))
            return error_set(error, OSAFL_E_CONFIG,
                             "%s \"%s\" reports a metric \"%s\", but %s already has a column of "
                             "that name; rename the metric",
                             kind_name(plugin->kind), plugin->name, metric->name,
                             result_table_name[per_round ? TABLE_ROUNDS : TABLE_CLIENTS]);
        l->column[m] = per_round ? r->n_round_metrics++ : r->n_client_metrics++;
        if (add_column(header, "", metric->name) != OSAFL_OK)
            return error_set(error, OSAFL_E_NOMEM, "out of memory for the tables of results");
    }
    return OSAFL_OK;
}

static void forget_metrics(struct results *r)
{
    for (uint32_t m = 0; m < r->n_round_metrics; m++)
        r->round_metric[m] = (double)NAN;
    for (size_t m = 0; m < (size_t)r->clients * r->n_client_metrics; m++)
        r->client_metric[m] = (double)NAN;
}

static osafl_status listen_to_all(struct results *r, const struct results_layout *layout,
                                  char **rounds, char **clients, struct error *error)
{
    r->listener = calloc((size_t)layout->n_listen + 1, sizeof *r->listener);
    if (r->listener == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the tables of results");
    for (uint32_t i = 0; i < layout->n_listen; i++) {
        struct listener *l = &r->listener[i];
        *l = (struct listener){.results = r, .instance = layout->listen[i]};
        r->n_listen = i + 1;
        OSAFL_TRY(metric_columns(r, l, rounds, clients, error));
    }
    r->round_metric = calloc((size_t)r->n_round_metrics + 1, sizeof *r->round_metric);
    r->client_metric =
        calloc((size_t)r->clients * r->n_client_metrics + 1, sizeof *r->client_metric);
    if (r->round_metric == NULL || r->client_metric == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the tables of results");
    forget_metrics(r);
    for (uint32_t i = 0; i < r->n_listen; i++) {
        r->listener[i].instance->metric = on_metric;
        r->listener[i].instance->metric_arg = &r->listener[i];
    }
    return OSAFL_OK;
}

/* ---- opening ---- */

static osafl_status open_table(struct results *r, int table, const char *folder, const char *header,
                               uint64_t length, struct error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, result_table_name[table]) < 0)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the tables of results");
    const osafl_status status = csv_writer_open(path, header, length, &r->table[table], error);
    free(path);
    return status;
}

osafl_status results_recorded(struct record_reader *from, struct table_state out[RESULT_TABLES],
                              struct error *error)
{
    uint64_t length[TABLES];
    uint64_t hash[TABLES] = {0};
    osafl_reader *reader = &from->base;
    const bool has_hash = reader->state_version >= RESULTS_WITH_HASHES;
    osafl_status status = reader->u64(reader, "lengths", length, TABLES);
    if (status == OSAFL_OK && has_hash)
        status = reader->u64(reader, "hashes", hash, TABLES);
    if (status != OSAFL_OK)
        return error_set(error, status, "%s", from->error.text);
    for (int table = 0; table < TABLES; table++) {
        if (length[table] == 0 || length[table] > INT64_MAX)
            return error_set(error, OSAFL_E_STATE,
                             "the checkpoint gives an impossible length for %s; it is damaged",
                             result_table_name[table]);
        out[table] =
            (struct table_state){.bytes = length[table], .hash = hash[table], .has_hash = has_hash};
    }
    return OSAFL_OK;
}

static osafl_status read_record(struct results *r, struct record_reader *from,
                                struct table_state state[TABLES], struct error *error)
{
    uint64_t count[6];
    double value[2];
    uint64_t client_rows = CLIENT_ROWS_ALL;
    osafl_reader *reader = &from->base;
    OSAFL_TRY(results_recorded(from, state, error));
    osafl_status status = reader->u64(reader, "evaluations", count, 6);
    if (status == OSAFL_OK)
        status = reader->f64(reader, "measures", value, 2);
    if (status == OSAFL_OK && reader->state_version >= RESULTS_WITH_CLIENT_ROWS)
        status = reader->u64(reader, "client_rows", &client_rows, 1);
    if (status != OSAFL_OK)
        return error_set(error, status, "%s", from->error.text);
    if (client_rows < CLIENT_ROWS_ALL || client_rows > CLIENT_ROWS_NONE)
        return error_set(error, OSAFL_E_STATE,
                         "the checkpoint's record \"client_rows\" is damaged");
    r->client_rows = (int32_t)client_rows;
    if (count[0] > UINT32_MAX || count[1] > UINT32_MAX || count[2] > UINT32_MAX ||
        count[5] > UINT32_MAX)
        return error_set(error, OSAFL_E_STATE,
                         "the checkpoint's record \"evaluations\" is damaged");
    r->summary = (struct results_summary){
        .evaluations = (uint32_t)count[0],
        .best_round = (uint32_t)count[1],
        .last_round = (uint32_t)count[2],
        .participations = count[3],
        .diverged = count[4],
        .diverged_rounds = (uint32_t)count[5],
        .best = value[0],
        .last = value[1],
    };
    return OSAFL_OK;
}

static osafl_status results_fill(struct results *r, const struct run_folder *folder,
                                 const struct results_layout *layout, struct record_reader *resume,
                                 char *header[TABLES], struct error *error)
{
    struct table_state state[TABLES] = {{0}};
    for (int table = 0; table < TABLES; table++) {
        if (fixed_columns(layout, table, &header[table]) != OSAFL_OK)
            return error_set(error, OSAFL_E_NOMEM, "out of memory for the tables of results");
    }
    OSAFL_TRY(listen_to_all(r, layout, &header[TABLE_ROUNDS], &header[TABLE_CLIENTS], error));
    if (resume != NULL)
        OSAFL_TRY(read_record(r, resume, state, error));
    for (int table = 0; table < TABLES; table++)
        OSAFL_TRY(open_table(r, table, folder->path, header[table], state[table].bytes, error));
    return OSAFL_OK;
}

osafl_status results_open(const struct run_folder *folder, const struct results_layout *layout,
                          struct record_reader *resume, struct results **out, struct error *error)
{
    struct results *r = calloc(1, sizeof *r);
    if (r == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the tables of results");
    r->clients = layout->clients;
    r->n_measures = layout->n_measures;
    r->n_label_measures = layout->n_label_measures;
    r->higher_is_better = layout->higher_is_better;
    r->per_client = layout->per_client;
    r->learning_rate = layout->learning_rate;
    r->prequential = layout->prequential;
    r->mixes = layout->mixes;
    r->ages = layout->ages;
    r->downlink = layout->downlink;
    r->estimates = layout->estimates;
    r->places = layout->places;
    r->client_rows = layout->client_rows;
    r->client_spread = layout->client_spread;
    char *header[TABLES] = {NULL};
    const osafl_status status = results_fill(r, folder, layout, resume, header, error);
    for (int table = 0; table < TABLES; table++)
        free(header[table]);
    if (status != OSAFL_OK) {
        results_close(r);
        return status;
    }
    *out = r;
    return OSAFL_OK;
}

void results_close(struct results *r)
{
    if (r == NULL)
        return;
    for (uint32_t i = 0; i < r->n_listen; i++) {
        r->listener[i].instance->metric = NULL;
        r->listener[i].instance->metric_arg = NULL;
        free(r->listener[i].column);
    }
    for (int table = 0; table < TABLES; table++)
        csv_writer_close(r->table[table]);
    free(r->listener);
    free(r->round_metric);
    free(r->client_metric);
    free(r);
}

int32_t results_client_rows(const struct results *r)
{
    return r->client_rows;
}

/* ---- rows ---- */

static void note_measure(struct results *r, uint32_t round, double value)
{
    struct results_summary *s = &r->summary;
    const bool better = r->higher_is_better ? value > s->best : value < s->best;
    if (s->evaluations == 0 || isnan(s->best) || better) {
        s->best = value;
        s->best_round = round;
    }
    s->last = value;
    s->last_round = round;
    s->evaluations++;
}

/* v[i], or an empty field for v NULL. */
static void real_of(struct csv_writer *t, const double *v, uint32_t i)
{
    if (v == NULL)
        csv_text(t, NULL);
    else
        csv_real(t, v[i]);
}

/* Unlike a value that was not measured, one that was and is not a number is shown. */
static void measure_of(struct csv_writer *t, const double *v, uint32_t i)
{
    if (v != NULL && isnan(v[i]))
        csv_text(t, "nan");
    else
        real_of(t, v, i);
}

static void write_round(struct results *r, const struct round_row *row)
{
    struct csv_writer *t = r->table[TABLE_ROUNDS];
    csv_count(t, row->round);
    csv_real(t, row->simulated_s);
    const uint32_t own = r->n_measures - r->n_label_measures;
    for (uint32_t m = 0; m < own; m++)
        measure_of(t, row->measure, m);
    for (uint32_t m = own; m < r->n_measures; m++)
        real_of(t, row->measure, m);
    csv_real(t, row->train_loss);
    csv_count(t, row->participants);
    csv_real(t, row->mean_local_rounds);
    csv_real(t, row->payload_bits);
    csv_real(t, row->air_bits);
    csv_real(t, row->compute_j);
    csv_real(t, row->upload_j);
    csv_real(t, row->compute_j + row->upload_j + row->receive_j);
    if (r->learning_rate)
        csv_real(t, row->learning_rate);
    for (int k = 0; r->client_spread && k < SPREADS; k++)
        csv_real(t, row->spread != NULL ? row->spread[k] : (double)NAN);
    if (r->prequential)
        csv_count(t, row->arrived);
    for (uint32_t m = 0; r->prequential && m < own; m++)
        measure_of(t, row->prequential, m);
    for (int k = 0; r->mixes && k < MIXES; k++)
        csv_real(t, row->mixes != NULL ? row->mixes[k] : (double)NAN);
    if (r->downlink)
        csv_real(t, row->receive_j);
    for (int k = 0; r->ages && k < AGES; k++)
        csv_real(t, row->ages[k]);
    for (uint32_t m = 0; m < r->n_round_metrics; m++)
        csv_real(t, r->round_metric[m]);
    csv_end_row(t);
}

const char *results_reason(uint32_t reason)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].reason == reason)
            return reasons[i].name;
    }
    return reason == 0 ? "" : "unknown";
}

/* The resource policy's answer; nothing but the number of local rounds for who sits out. */
static void write_decision(struct csv_writer *t, const osafl_resource_answer *a, uint32_t u)
{
    if (a == NULL)
        csv_text(t, NULL);
    else
        csv_count(t, a->local_rounds[u]);
    const bool takes_part = a != NULL && a->local_rounds[u] > 0;
    real_of(t, takes_part ? a->clock_hz : NULL, u);
    real_of(t, takes_part ? a->power_w : NULL, u);
    real_of(t, takes_part ? a->compute_s : NULL, u);
    real_of(t, takes_part ? a->upload_s : NULL, u);
    real_of(t, takes_part ? a->compute_j : NULL, u);
    real_of(t, takes_part ? a->upload_j : NULL, u);
}

static void write_place(struct csv_writer *t, const osafl_place *p)
{
    const bool known = isfinite(p->x_m) && isfinite(p->y_m);
    csv_real(t, p->x_m);
    csv_real(t, p->y_m);
    csv_real(t, known ? hypot(p->x_m, p->y_m) : (double)NAN);
    csv_count(t, p->line_of_sight);
}

static void write_client(struct results *r, const struct client_rows *rows, uint32_t u)
{
    struct csv_writer *t = r->table[TABLE_CLIENTS];
    csv_count(t, rows->round);
    csv_count(t, u);
    csv_count(t, rows->reason[u] == 0);
    csv_text(t, results_reason(rows->reason[u]));
    real_of(t, rows->gain, u);
    write_decision(t, rows->answer, u);
    csv_count(t, rows->samples[u]);
    csv_real(t, rows->train_loss[u]);
    csv_real(t, rows->entropy[u]);
    if (r->per_client)
        real_of(t, rows->measure, u);
    const bool receives = r->downlink && rows->answer->local_rounds[u] > 0;
    if (r->downlink) {
        real_of(t, receives ? rows->receive_s : NULL, u);
        real_of(t, receives ? rows->receive_j : NULL, u);
    }
    if (r->estimates)
        csv_real(t, rows->known_gain[u]);
    if (r->places)
        write_place(t, &rows->place[u]);
    for (uint32_t m = 0; m < r->n_client_metrics; m++)
        csv_real(t, r->client_metric[(size_t)u * r->n_client_metrics + m]);
    csv_end_row(t);
}

static void write_clients(struct results *r, const struct client_rows *rows)
{
    if (r->client_rows == CLIENT_ROWS_NONE)
        return;
    for (uint32_t u = 0; u < r->clients; u++) {
        if (r->client_rows == CLIENT_ROWS_ALL || rows->reason[u] != OSAFL_OUT_ABSENT)
            write_client(r, rows, u);
    }
}

static void write_timing(struct results *r, const struct timing_row *row)
{
    struct csv_writer *t = r->table[TABLE_TIMING];
    csv_count(t, row->round);
    csv_real(t, row->resource_s);
    csv_real(t, row->train_s);
    csv_real(t, row->aggregate_s);
    csv_real(t, row->world_s);
    csv_real(t, row->evaluate_s);
    csv_real(t, row->total_s);
    csv_end_row(t);
}

osafl_status results_end_round(struct results *r, const struct round_row *round,
                               const struct client_rows *clients, const struct timing_row *timing,
                               struct error *error)
{
    if (round->measure != NULL && r->n_measures > 0)
        note_measure(r, round->round, round->measure[0]);
    r->summary.participations += round->participants;
    r->summary.diverged += round->diverged;
    r->summary.diverged_rounds += round->diverged > 0;
    write_round(r, round);
    write_clients(r, clients);
    write_timing(r, timing);
    forget_metrics(r);
    for (int table = 0; table < TABLES; table++)
        OSAFL_TRY(csv_flush(r->table[table], error));
    return OSAFL_OK;
}

struct results_summary results_summary(const struct results *r)
{
    return r->summary;
}

void results_state(const struct results *r, struct table_state out[RESULT_TABLES])
{
    for (int table = 0; table < TABLES; table++)
        out[table] = (struct table_state){.bytes = csv_length(r->table[table]),
                                          .hash = csv_hash(r->table[table]),
                                          .has_hash = true};
}

osafl_status results_save(struct results *r, osafl_writer *to, struct error *error)
{
    for (int table = 0; table < TABLES; table++)
        OSAFL_TRY(csv_sync(r->table[table], error));
    struct table_state state[TABLES];
    uint64_t length[TABLES];
    uint64_t hash[TABLES];
    results_state(r, state);
    for (int table = 0; table < TABLES; table++) {
        length[table] = state[table].bytes;
        hash[table] = state[table].hash;
    }
    const struct results_summary *s = &r->summary;
    const uint64_t count[6] = {s->evaluations,    s->best_round, s->last_round,
                               s->participations, s->diverged,   s->diverged_rounds};
    const double value[2] = {s->best, s->last};
    const uint64_t client_rows = (uint64_t)r->client_rows;
    osafl_status status = to->u64(to, "lengths", length, TABLES);
    if (status == OSAFL_OK)
        status = to->u64(to, "hashes", hash, TABLES);
    if (status == OSAFL_OK)
        status = to->u64(to, "evaluations", count, 6);
    if (status == OSAFL_OK)
        status = to->f64(to, "measures", value, 2);
    if (status == OSAFL_OK)
        status = to->u64(to, "client_rows", &client_rows, 1);
    return status == OSAFL_OK ? OSAFL_OK
                              : error_set(error, status, "out of memory for a checkpoint");
}
