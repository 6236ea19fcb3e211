/* result_cell.c - one run's result folder, read back. */
#include "result_cell.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "base/folder.h"
#include "base/text.h"
#include "checked_alloc.h"
#include "experiment/experiment.h"
#include "experiment/old_keys.h"
#include "result_text.h"

/* ---- manifest ---- */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct cell_setting *)a)->key, ((const struct cell_setting *)b)->key);
}

/* A setting's value as reports show it: owned by the caller. */
static char *shown_value(const char *text)
{
    char *plain = result_plain_value(text);
    char *shown = result_printable(plain);
    free(plain);
    return shown;
}

const char *result_cell_setting(const struct result_cell *c, const char *key)
{
    char name[256];
    if (c->settings == 0 || strlen(key) >= sizeof name)
        return NULL;
    strcpy(name, key);
    const struct cell_setting *found = bsearch(&(struct cell_setting){.key = name}, c->setting,
                                               c->settings, sizeof *c->setting, by_key);
    return found == NULL ? NULL : found->value;
}

/* Whether the group of a key is one of this run's: that of the core, or of a plugin it chose. */
static bool has_group(const struct result_cell *c, const char *key)
{
    const char *kind_end = strchr(key, '.');
    const char *plugin_end = kind_end == NULL ? NULL : strchr(kind_end + 1, '.');
    if (plugin_end == NULL)
        return true;
    char *choice = checked_format("%.*s.plugin", (int)(kind_end - key), key);
    char *plugin = checked_format("%.*s", (int)(plugin_end - kind_end - 1), kind_end + 1);
    const char *chosen = result_cell_setting(c, choice);
    const bool same = chosen != NULL && strcmp(chosen, plugin) == 0;
    free(choice);
    free(plugin);
    return same;
}

/* Whether a key is that of a plugin beside which another was chosen. */
static bool is_idle(const struct result_cell *c, const char *key)
{
    char *choice = checked_format("%.*s.plugin", (int)strcspn(key, "."), key);
    const bool idle = result_cell_setting(c, choice) != NULL && !has_group(c, key);
    free(choice);
    return idle;
}

/* Drops the settings of plugins that were not chosen: before they were plugins, their settings were
 * recorded all the same. */
static void drop_idle_settings(struct result_cell *c)
{
    bool *idle = checked_alloc(c->settings + 1, sizeof *idle);
    for (size_t i = 0; i < c->settings; i++)
        idle[i] = is_idle(c, c->setting[i].key);
    size_t kept = 0;
    for (size_t i = 0; i < c->settings; i++) {
        if (!idle[i]) {
            c->setting[kept++] = c->setting[i];
            continue;
        }
        free(c->setting[i].key);
        free(c->setting[i].value);
        free(c->setting[i].origin);
        free(c->setting[i].earlier);
    }
    c->settings = kept;
    free(idle);
}

static osafl_status read_settings(struct result_cell *c, struct error *error)
{
    const char *key;
    json_t *setting;
    json_object_foreach(json_object_get(c->manifest, "settings"), key, setting)
    {
        /* Published numbers, which earlier versions kept as settings, change no result. */
        if (strncmp(key, "paper.", strlen("paper.")) == 0)
            continue;
        const char *value = json_string_value(json_object_get(setting, "value"));
        const char *origin = json_string_value(json_object_get(setting, "origin"));
        const char *earlier = json_string_value(json_object_get(setting, "earlier"));
        if (value == NULL)
            return error_set(error, OSAFL_E_DATA,
                             "%s/manifest.json: setting %.80s has no text \"value\"; the file is "
                             "damaged or of another version of osafl",
                             c->folder, key);
        const char *name = key;
        old_keys_translate(&name, &value);
        c->setting = checked_grow(c->setting, c->settings, sizeof *c->setting);
        c->setting[c->settings++] = (struct cell_setting){
            .key = result_printable(name),
            .value = shown_value(value),
            .origin = result_printable(origin == NULL ? "" : origin),
            .earlier = earlier == NULL ? NULL : shown_value(earlier),
        };
    }
    if (c->settings > 0)
        qsort(c->setting, c->settings, sizeof *c->setting, by_key);
    drop_idle_settings(c);
    return OSAFL_OK;
}

void result_cell_assume(struct result_cell *c, const struct cell_setting *of)
{
    if (result_cell_setting(c, of->key) != NULL || !has_group(c, of->key))
        return;
    c->setting = checked_grow(c->setting, c->settings, sizeof *c->setting);
    c->setting[c->settings++] = (struct cell_setting){
        .key = checked_copy(of->key),
        .value = checked_copy(of->earlier),
        .origin = checked_copy("default"),
        .earlier = checked_copy(of->earlier),
    };
    qsort(c->setting, c->settings, sizeof *c->setting, by_key);
}

double result_cell_number(const struct result_cell *c, const char *key, double fallback)
{
    const char *text = result_cell_setting(c, key);
    double value = fallback;
    if (text != NULL)
        (void)text_real(text, &value);
    return value;
}

const char *result_cell_value(const struct result_cell *c, const char *key,
                              char seed[CELL_SEED_BYTES])
{
    if (strcmp(key, "case") == 0)
        return c->case_name;
    if (strcmp(key, "experiment") == 0)
        return c->experiment;
    if (strcmp(key, "seed") == 0) {
        snprintf(seed, CELL_SEED_BYTES, "%lld", (long long)c->seed);
        return seed;
    }
    return result_cell_setting(c, key);
}

static osafl_status required(const struct result_cell *c, const json_t *in, const char *key,
                             char **out, struct error *error)
{
    const char *text = json_string_value(json_object_get(in, key));
    if (text == NULL || text[0] == '\0')
        return error_set(error, OSAFL_E_DATA,
                         "%s/manifest.json: no text \"%s\"; the file is damaged or of another "
                         "version of osafl",
                         c->folder, key);
    *out = result_printable(text);
    return OSAFL_OK;
}

bool result_cell_varies(const struct result_cell *c, const char *key)
{
    return result_varied_value(c->varied, key) != NULL;
}

static osafl_status read_json_of(const struct result_cell *c, const char *name, json_t **out,
                                 struct error *error)
{
    char *path = checked_format("%s/%s", c->folder, name);
    const osafl_status status = result_read_json(path, out, error);
    free(path);
    return status;
}

static osafl_status read_manifest(struct result_cell *c, struct error *error)
{
    OSAFL_TRY(read_json_of(c, "manifest.json", &c->manifest, error));
    const json_t *run = json_object_get(c->manifest, "experiment");
    OSAFL_TRY(required(c, c->manifest, "identity", &c->identity, error));
    OSAFL_TRY(required(c, run, "name", &c->experiment, error));
    char *name = NULL;
    OSAFL_TRY(required(c, run, "case", &name, error));
    result_split_case(name, &c->case_name, &c->varied);
    free(name);
    const json_t *seed = json_object_get(run, "seed");
    if (!json_is_integer(seed))
        return error_set(error, OSAFL_E_DATA,
                         "%s/manifest.json: no whole number \"seed\"; the file is damaged or of "
                         "another version of osafl",
                         c->folder);
    c->seed = json_integer_value(seed);
    const json_t *place = json_object_get(run, "case_index");
    c->case_index = json_is_integer(place) ? json_integer_value(place) : -1;
    OSAFL_TRY(read_settings(c, error));
    const double rounds = result_cell_number(c, "rounds", 0);
    if (!(rounds >= 1 && rounds <= UINT32_MAX))
        return error_set(error, OSAFL_E_DATA,
                         "%s/manifest.json: no setting \"rounds\"; the file is damaged or of "
                         "another version of osafl",
                         c->folder);
    c->planned_rounds = (uint32_t)rounds;
    return OSAFL_OK;
}

/* ---- tables ---- */

/* Checks the columns on which everything rests and finds the measures, which stand between
 * simulated_s and train_loss as SPLIT_NAME. */
static osafl_status check_columns(struct result_cell *c, const char *path, struct error *error)
{
    struct csv_table *t = c->rounds;
    const size_t end = csv_table_column(t, "train_loss");
    static const char *const needed[] = {"participants",        "mean_local_rounds",
                                         "uplink_payload_bits", "uplink_air_bits",
                                         "compute_j",           "upload_j"};
    if (csv_table_column(t, "round") != 0 || csv_table_column(t, "simulated_s") != 1 ||
        end == CSV_NO_COLUMN || end <= CELL_FIRST_MEASURE)
        return error_set(error, OSAFL_E_DATA,
                         "%s:1: the header is not \"round,simulated_s,MEASURES,train_loss,...\"",
                         path);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (csv_table_column(t, needed[i]) == CSV_NO_COLUMN)
            return error_set(error, OSAFL_E_DATA, "%s:1: no column \"%s\"", path, needed[i]);
    }
    const char *first = t->name[CELL_FIRST_MEASURE];
    const char *underscore = strchr(first, '_');
    if (underscore == NULL)
        return error_set(error, OSAFL_E_DATA,
                         "%s:1: column \"%s\" should be a measure of a split, such as "
                         "test_accuracy",
                         path, first);
    c->split = checked_format("%.*s", (int)(underscore - first), first);
    c->n_measures = end - CELL_FIRST_MEASURE;
    for (size_t m = 0; m < c->n_measures; m++) {
        const char *name = t->name[CELL_FIRST_MEASURE + m];
        if (strncmp(name, first, strlen(c->split) + 1) != 0)
            return error_set(error, OSAFL_E_DATA,
                             "%s:1: column \"%s\" should begin with "
                             "\"%s_\"",
                             path, name, c->split);
    }
    return OSAFL_OK;
}

static osafl_status check_rounds(const struct result_cell *c, const char *path, struct error *error)
{
    for (size_t i = 0; i < c->rounds->rows; i++) {
        if (csv_table_value(c->rounds, i, 0) != (double)i)
            return error_set(error, OSAFL_E_DATA,
                             "%s:%zu: expected round %zu; rounds are missing or doubled", path,
                             i + 2, i);
        if (i >= c->planned_rounds)
            return error_set(error, OSAFL_E_DATA,
                             "%s:%zu: more rounds than the %u of manifest.json", path, i + 2,
                             c->planned_rounds);
    }
    return OSAFL_OK;
}

static osafl_status read_rounds(struct result_cell *c, struct error *error)
{
    char *path = checked_format("%s/rounds.csv", c->folder);
    osafl_status status = OSAFL_OK;
    /* A run that has just begun has no table yet. */
    if (access(path, F_OK) != 0 && errno == ENOENT)
        c->rounds = checked_alloc(1, sizeof *c->rounds);
    else
        status = csv_table_read(path, NULL, NULL, &c->rounds, error);
    if (status == OSAFL_OK && c->rounds->columns > 0)
        status = check_columns(c, path, error);
    if (status == OSAFL_OK)
        status = check_rounds(c, path, error);
    if (status == OSAFL_OK)
        c->recorded_rounds = c->rounds->rows;
    free(path);
    return status;
}

static void find_state(struct result_cell *c)
{
    const char *failure = json_string_value(json_object_get(c->environment, "failure"));
    free(c->failure);
    c->failure = NULL;
    c->state = c->rounds->rows == c->planned_rounds ? CELL_COMPLETE : CELL_UNFINISHED;
    if (c->state == CELL_UNFINISHED && failure != NULL) {
        c->state = CELL_FAILED;
        c->failure = result_printable(failure);
    }
}

static osafl_status read_state(struct result_cell *c, struct error *error)
{
    if (folder_has(c->folder, "environment.json"))
        OSAFL_TRY(read_json_of(c, "environment.json", &c->environment, error));
    find_state(c);
    return OSAFL_OK;
}

osafl_status result_cell_read(const char *folder, struct result_cell **out, struct error *error)
{
    struct result_cell *c = checked_alloc(1, sizeof *c);
    c->folder = checked_copy(folder);
    osafl_status status = read_manifest(c, error);
    if (status == OSAFL_OK)
        status = read_rounds(c, error);
    if (status == OSAFL_OK)
        status = read_state(c, error);
    if (status != OSAFL_OK) {
        result_cell_free(c);
        return status;
    }
    *out = c;
    return OSAFL_OK;
}

void result_cell_take_first(struct result_cell *c, uint32_t n)
{
    c->planned_rounds = c->first_rounds = n;
    if (c->rounds->rows > n)
        c->rounds->rows = n;
    find_state(c);
}

void result_cell_free(struct result_cell *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->settings; i++) {
        free(c->setting[i].key);
        free(c->setting[i].value);
        free(c->setting[i].origin);
        free(c->setting[i].earlier);
    }
    free(c->setting);
    free(c->folder);
    free(c->experiment);
    free(c->case_name);
    free(c->varied);
    free(c->identity);
    free(c->failure);
    free(c->split);
    csv_table_free(c->rounds);
    json_decref(c->manifest);
    json_decref(c->environment);
    free(c);
}

/* ---- measures ---- */

const char *result_cell_measure(const struct result_cell *c, size_t m)
{
    return c->rounds->name[CELL_FIRST_MEASURE + m] + strlen(c->split) + 1;
}

size_t result_cell_measure_column(const struct result_cell *c, const char *measure)
{
    for (size_t m = 0; m < c->n_measures; m++) {
        if (strcmp(result_cell_measure(c, m), measure) == 0)
            return CELL_FIRST_MEASURE + m;
    }
    return CSV_NO_COLUMN;
}

size_t result_cell_compared_column(const struct result_cell *c, const char *measure)
{
    return online_measure_of(measure) != NULL ? csv_table_column(c->rounds, measure)
                                              : result_cell_measure_column(c, measure);
}

bool measure_is_share(const char *measure)
{
    const struct online_measure *online = online_measure_of(measure);
    if (online != NULL)
        return online->is_share;
    return strstr(measure, "accuracy") != NULL || strstr(measure, "f1") != NULL;
}

/* ---- clients.csv ---- */

uint32_t result_cell_count(const struct result_cell *c)
{
    const double clients = result_cell_number(c, "clients.count", 0);
    return clients >= 1 && clients <= UINT32_MAX ? (uint32_t)clients : 0;
}

static int32_t client_rows(const struct result_cell *c)
{
    return experiment_kept_client_rows(result_cell_setting(c, "results.clients"),
                                       result_cell_count(c));
}

/* Row i is that of a client and round behind the row before it: the next one where all clients have
 * rows. */
static bool row_follows(const struct csv_table *t, size_t i, const size_t column[2],
                        uint32_t clients, bool all)
{
    const double round = csv_table_value(t, i, column[0]);
    const double client = csv_table_value(t, i, column[1]);
    const double place = round * clients + client;
    const double before = i == 0 ? -1
                                 : csv_table_value(t, i - 1, column[0]) * clients +
                                       csv_table_value(t, i - 1, column[1]);
    return client >= 0 && client < clients && round >= 0 &&
           (all ? place == before + 1 : place > before);
}

/* Also leaves out the rounds that do not count. */
static osafl_status check_clients(const struct result_cell *c, struct csv_table *t,
                                  const char *path, struct error *error)
{
    const size_t column[] = {csv_table_column(t, "round"), csv_table_column(t, "client")};
    if (column[0] == CSV_NO_COLUMN || column[1] == CSV_NO_COLUMN)
        return error_set(error, OSAFL_E_DATA, "%s:1: no columns \"round\" and \"client\"", path);
    const uint32_t clients = result_cell_count(c);
    if (clients == 0)
        return error_set(error, OSAFL_E_DATA, "%s/manifest.json: no setting \"clients.count\"",
                         c->folder);
    const bool all = client_rows(c) == CLIENT_ROWS_ALL;
    for (size_t i = 0; i < t->rows; i++) {
        if (row_follows(t, i, column, clients, all))
            continue;
        return all ? error_set(error, OSAFL_E_DATA,
                               "%s:%zu: expected client %zu of round %zu; rows are missing or "
                               "doubled",
                               path, i + 2, i % clients, i / clients)
                   : error_set(error, OSAFL_E_DATA,
                               "%s:%zu: clients and rounds do not ascend; rows are doubled or in "
                               "disorder",
                               path, i + 2);
    }
    while (t->rows > 0 && csv_table_value(t, t->rows - 1, column[0]) >= c->planned_rounds)
        t->rows--;
    return OSAFL_OK;
}

bool result_cell_has_clients(const struct result_cell *c)
{
    return folder_has(c->folder, "clients.csv") && client_rows(c) != CLIENT_ROWS_NONE;
}

size_t result_cell_absent(const struct result_cell *c, const struct csv_table *t)
{
    const size_t rounds = c->rounds->rows < c->planned_rounds ? c->rounds->rows : c->planned_rounds;
    const size_t all = rounds * result_cell_count(c);
    return client_rows(c) == CLIENT_ROWS_ALL || all < t->rows ? 0 : all - t->rows;
}

osafl_status result_cell_clients(const struct result_cell *c, const char *const *wanted,
                                 struct csv_table **out, struct error *error)
{
    static const char *const words[] = {"reason", NULL};
    char *path = checked_format("%s/clients.csv", c->folder);
    *out = NULL;
    osafl_status status = csv_table_read(path, wanted, words, out, error);
    if (status == OSAFL_OK && (*out)->columns > 0)
        status = check_clients(c, *out, path, error);
    free(path);
    if (status != OSAFL_OK) {
        csv_table_free(*out);
        *out = NULL;
    }
    return status;
}
