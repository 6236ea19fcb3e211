/* table_columns.c - which column of a table is what. */
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static osafl_status no_memory(const struct table *t)
{
    return io_fail(t->message, OSAFL_E_NOMEM, "%s: out of memory", t->path);
}

char *table_trim(char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        text[--n] = '\0';
    return text;
}

bool table_missing(const char *field)
{
    static const char *const words[] = {"",     "?",   "na",   "n/a",  "#n/a",
                                        "<na>", "nan", "null", "none", NULL};
    field += strspn(field, " \t");
    size_t n = strlen(field);
    while (n > 0 && (field[n - 1] == ' ' || field[n - 1] == '\t'))
        n--;
    for (size_t i = 0; words[i] != NULL; i++)
        if (strlen(words[i]) == n && strncasecmp(field, words[i], n) == 0)
            return true;
    return false;
}

/* --- The first row */

/* Of a header the name, else the first sample's field; either was read with the first row. */
static const char *first_field(const struct table *t, uint32_t column)
{
    return t->csv.name != NULL ? t->csv.name[column] : t->csv.field[column];
}

static bool is_header(struct table *t)
{
    if (t->config->header.index != HEADER_AUTO)
        return t->config->header.index == HEADER_YES;
    /* Samples hold numbers and names do not, as a rule; the settings are for the exceptions. */
    double value = 0.0;
    t->guessed = true;
    for (uint32_t i = 0; i < t->csv.n_fields; i++)
        if (csv_field_number(&t->csv, i, &value))
            return false;
    return true;
}

/* True when the fields, but that of column `without`, are numbers from *first on in steps of 1. */
static bool counts_on(const struct table *t, uint32_t without, double *first)
{
    double next = 0.0;
    for (uint32_t i = 0, n = 0; i < t->csv.n_fields; i++) {
        double value = 0.0;
        if (i == without)
            continue;
        if (!csv_field_number(&t->csv, i, &value) || (n > 0 && value != next))
            return false;
        if (n++ == 0)
            *first = value;
        next = value + 1.0;
    }
    return *first == floor(*first);
}

/* True when every field but that of column `without` is the number of its column, from 0. */
static bool counts_columns(const struct table *t, uint32_t without)
{
    for (uint32_t i = 0; i < t->csv.n_fields; i++) {
        double value = 0.0;
        if (i != without && (!csv_field_number(&t->csv, i, &value) || value != i))
            return false;
    }
    return true;
}

static enum first_row look_at_first_row(const struct table *t)
{
    double first = 0.0;
    if (t->n_columns >= 4 && counts_columns(t, UINT32_MAX))
        return FIRST_COUNTS_WITH_LABEL;
    const bool on = counts_on(t, t->label_column, &first);
    if (counts_columns(t, t->label_column) || (on && first == 0.0))
        return FIRST_COUNTS;
    return on && t->n_columns >= 3 ? FIRST_COUNTS_ON : FIRST_ANY;
}

/* True when no other sample has the first one's label; *alone: it is the only such label, and there
 * are others. */
static bool first_label_is_unique(const struct table *t, bool *alone)
{
    const struct samples *samples = t->samples;
    uint64_t *count = calloc(t->labels.n + 1, sizeof *count); /* targets have no label but 0 */
    *alone = t->labels.n >= 3;
    if (count == NULL)
        return false;
    for (uint64_t i = 0; i < samples->n; i++)
        count[samples->label[i]]++;
    const bool unique = count[samples->label[0]] == 1;
    for (uint32_t l = 0; l < t->labels.n; l++)
        *alone = *alone && (count[l] > 1 || (int32_t)l == samples->label[0]);
    free(count);
    return unique;
}

osafl_status table_doubt_first_row(const struct table *t)
{
    bool alone = false;
    if (t->counts == FIRST_ANY || t->dropped > 0)
        return OSAFL_OK;
    const bool unique = first_label_is_unique(t, &alone);
    if (t->counts != FIRST_COUNTS_WITH_LABEL && !(unique && alone) &&
        !(unique && t->counts == FIRST_COUNTS && t->n_columns >= 3))
        return OSAFL_OK;
    return io_fail(t->message, OSAFL_E_DATA,
                   "%s: is the first row a header? Its numbers count the columns%s; set "
                   "dataset.csv.header = \"yes\", or \"no\" if it is a sample",
                   t->path, unique ? ", and no other row has its label" : "");
}

/* --- Columns by name and by number */

/* A number of a column, counted from 1; -1 if the text is none. */
static int64_t column_number(const struct table *t, const char *text)
{
    double number = 0.0;
    if (csv_number(text, &number) && number >= 1.0 && number <= t->n_columns &&
        number == floor(number))
        return (int64_t)number - 1;
    return -1;
}

static bool has_number_as_name(const struct table *t)
{
    double value = 0.0;
    for (uint32_t i = 0; i < t->csv.n_names; i++)
        if (csv_number(t->csv.name[i], &value))
            return true;
    return false;
}

static osafl_status refuse_column(const struct table *t, const char *name, const char *setting)
{
    if (t->csv.name != NULL && t->n_columns == 1)
        return io_fail(
            t->message, OSAFL_E_CONFIG,
            "%s: dataset.csv.%s: no column is named \"%s\": the header, \"%.60s\", is one "
            "column; is dataset.csv.separator right, or is it a comment "
            "(dataset.csv.comment)?",
            t->path, setting, name, t->csv.name[0]);
    if (t->csv.name != NULL)
        return io_fail(t->message, OSAFL_E_CONFIG,
                       "%s: dataset.csv.%s: no column is named \"%s\"; the third of %" PRIu32
                       " columns would be \"#3\"",
                       t->path, setting, name, t->n_columns);
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->csv.field[i], name) == 0)
            return io_fail(t->message, OSAFL_E_CONFIG,
                           "%s: dataset.csv.%s: \"%s\" is in the first row, which is taken for "
                           "a sample; if it is a header, set dataset.csv.header = \"yes\"",
                           t->path, setting, name);
    return io_fail(t->message, OSAFL_E_CONFIG,
                   "%s: dataset.csv.%s: \"%s\" is not a column number (1 .. %" PRIu32
                   "), and the table has no header",
                   t->path, setting, name, t->n_columns);
}

static osafl_status find_column(struct table *t, const char *name, const char *setting,
                                uint32_t *out)
{
    const int64_t by_name = csv_find(&t->csv, name);
    int64_t column = by_name;
    if (column < 0 && name[0] == '#')
        column = column_number(t, name + 1);
    else if (column < 0 && !has_number_as_name(t))
        column = column_number(t, name);
    if (column < 0)
        return refuse_column(t, name, setting);
    for (int64_t i = by_name + 1; by_name >= 0 && i < t->csv.n_names; i++)
        if (strcmp(t->csv.name[i], t->csv.name[by_name]) == 0)
            return io_fail(t->message, OSAFL_E_CONFIG,
                           "%s: dataset.csv.%s: columns %" PRId64 " and %" PRId64
                           " are both named \"%s\"; say which one: \"#%" PRId64 "\"",
                           t->path, setting, by_name + 1, i + 1, name, by_name + 1);
    t->named = t->named || by_name >= 0;
    *out = (uint32_t)column;
    return OSAFL_OK;
}

/* Gives a column a role. */
static osafl_status assign(struct table *t, const char *name, enum column_role role,
                           const char *setting, uint32_t *column)
{
    OSAFL_TRY(find_column(t, name, setting, column));
    if (t->role[*column] != ROLE_FEATURE)
        return io_fail(t->message, OSAFL_E_CONFIG,
                       "%s: dataset.csv.%s: column \"%s\" has another role already", t->path,
                       setting, name);
    t->role[*column] = (uint8_t)role;
    return OSAFL_OK;
}

static struct feature *feature_of(const struct table *t, uint32_t column)
{
    for (uint32_t k = 0; k < t->n_features; k++)
        if (t->feature[k].column == column)
            return &t->feature[k];
    return NULL;
}

/* One column of a list: to be ignored, or of categories. */
static osafl_status take_listed(struct table *t, const char *name, bool categorical)
{
    uint32_t column = 0;
    if (name[0] == '\0')
        return io_fail(t->message, OSAFL_E_CONFIG,
                       "%s: dataset.csv.%s: there is nothing before or after a comma; a column "
                       "without a name is called by its number, such as \"#1\"",
                       t->path, categorical ? "categorical" : "ignore");
    if (!categorical)
        return assign(t, name, ROLE_IGNORED, "ignore", &column);
    if (strcmp(name, "*") == 0) {
        t->any_text = true;
        return OSAFL_OK;
    }
    OSAFL_TRY(find_column(t, name, "categorical", &column));
    struct feature *feature = feature_of(t, column);
    if (feature == NULL)
        return io_fail(t->message, OSAFL_E_CONFIG,
                       "%s: dataset.csv.categorical: column \"%s\" has another role already",
                       t->path, name);
    feature->categorical = true;
    return OSAFL_OK;
}

/* Columns with commas between. */
static osafl_status take_list(struct table *t, const char *list, bool categorical)
{
    char *names = list[0] != '\0' ? strdup(list) : NULL;
    if (list[0] != '\0' && names == NULL)
        return no_memory(t);
    osafl_status status = OSAFL_OK;
    for (char *next = names; status == OSAFL_OK && next != NULL;)
        status = take_listed(t, table_trim(strsep(&next, ",")), categorical);
    free(names);
    return status;
}

/* --- Roles */

/* What stands between the parts of a text that should have been cut; NULL: nothing known. */
static const char *separator_within(const struct table *t, const char *text)
{
    static const char *const names[] = {"semicolon", "tab", "comma"};
    static const char characters[] = ";\t,";
    for (size_t i = 0; i < 3; i++)
        if (characters[i] != t->csv.separator && strchr(text, characters[i]) != NULL &&
            !(characters[i] == ',' && t->csv.decimal_comma))
            return names[i];
    return NULL;
}

static osafl_status refuse_no_features(const struct table *t)
{
    const char *text = first_field(t, 0);
    const char *separator = separator_within(t, text);
    if (text[0] == '#')
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": has no column of features; it begins with \"#\": to leave "
                       "comments out, set dataset.csv.comment = \"#\"",
                       t->path, t->csv.line);
    return io_fail(t->message, OSAFL_E_DATA,
                   "%s: has no column of features; is the separator right?%s%s%s", t->path,
                   separator != NULL ? " dataset.csv.separator = \"" : "",
                   separator != NULL ? separator : "", separator != NULL ? "\"" : "");
}

static osafl_status refuse_trailing_separator(const struct table *t)
{
    return io_fail(t->message, OSAFL_E_DATA,
                   "%s:%" PRIu32 ": its last field is empty: does the row end in a separator? Say "
                   "where the labels are and leave that column out: dataset.csv.label = \"#%" PRIu32
                   "\", dataset.csv.ignore = \"#%" PRIu32 "\"",
                   t->path, t->csv.line, t->n_columns - 1, t->n_columns);
}

static osafl_status list_features(struct table *t)
{
    t->feature = calloc(t->n_columns, sizeof *t->feature);
    if (t->feature == NULL)
        return no_memory(t);
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (t->role[i] == ROLE_FEATURE)
            t->feature[t->n_features++].column = i;
    return t->n_features > 0 ? OSAFL_OK : refuse_no_features(t);
}

/* pandas and R write an index without a name, and pandas reads it back as "Unnamed: 0". */
static void warn_of_index(const struct table *t)
{
    for (uint32_t k = 0; t->csv.name != NULL && t->train == NULL && k < t->n_features; k++) {
        const uint32_t i = t->feature[k].column;
        const char *name = t->csv.name[i];
        if (name[strspn(name, " \t")] != '\0' && strncmp(name, "Unnamed: ", 9) != 0)
            continue;
        sample_set_warn(t->set,
                        "%s: column %" PRIu32 " has no name of its own and is a feature; if it is "
                        "an index that was saved with the table, leave it out: dataset.csv.ignore "
                        "= \"#%" PRIu32 "\"",
                        t->path, i + 1, i + 1);
        return;
    }
}

osafl_status table_plan(struct table *t, bool *header)
{
    const struct csv_config *config = t->config;
    uint32_t column = 0;
    *header = is_header(t);
    t->n_columns = t->csv.n_fields;
    t->role = calloc(t->n_columns, sizeof *t->role);
    if (t->role == NULL)
        return no_memory(t);
    if (*header)
        OSAFL_TRY(csv_keep_names(&t->csv));
    if (config->label[0] == '\0') {
        t->label_column = t->n_columns - 1;
        t->role[t->label_column] = ROLE_LABEL;
    } else {
        OSAFL_TRY(assign(t, config->label, ROLE_LABEL, "label", &t->label_column));
    }
    if (config->client[0] != '\0')
        OSAFL_TRY(assign(t, config->client, ROLE_CLIENT, "client", &column));
    if (config->time[0] != '\0')
        OSAFL_TRY(assign(t, config->time, ROLE_TIME, "time", &column));
    OSAFL_TRY(take_list(t, config->ignore, false));
    OSAFL_TRY(list_features(t));
    if (config->label[0] == '\0' && first_field(t, t->label_column)[0] == '\0')
        return refuse_trailing_separator(t);
    if (t->guessed && !*header && t->train == NULL)
        t->counts = look_at_first_row(t);
    warn_of_index(t);
    return OSAFL_OK;
}

/* --- Columns that hold text */

/* A column as the settings name it: by its name where that is enough. */
static void column_key(const struct table *t, uint32_t column, char *out, size_t size)
{
    const char *name = t->csv.name != NULL ? t->csv.name[column] : "";
    if (name[0] != '\0' && strlen(name) <= 40 && strpbrk(name, ",\"\\") == NULL &&
        csv_find(&t->csv, name) == (int64_t)column)
        (void)snprintf(out, size, "%s", name);
    else
        (void)snprintf(out, size, "#%" PRIu32, column + 1);
}

/* Fields of one sort in a column, and the first of them. */
struct field_count {
    uint64_t n;
    uint32_t line;
    char first[41];
};

/* What the fields of each feature are, but the missing ones. */
struct text_scan {
    uint64_t rows;
    struct field_count *numbers; /* n_features */
    struct field_count *texts;   /* n_features */
};

static void count_field(struct field_count *count, const char *field, uint32_t line)
{
    if (count->n++ > 0)
        return;
    count->line = line;
    (void)snprintf(count->first, sizeof count->first, "%s", field);
}

static osafl_status scan_rows(const struct table *t, struct csv_reader *csv, struct text_scan *scan)
{
    for (bool first = t->csv.name != NULL;; first = false) {
        bool row = false;
        OSAFL_TRY(csv_next(csv, &row));
        if (!row)
            return OSAFL_OK;
        if (first || csv->n_fields != t->n_columns)
            continue; /* what is wrong with a row, its reader finds out */
        scan->rows++;
        for (uint32_t k = 0; k < t->n_features; k++) {
            const uint32_t i = t->feature[k].column;
            double value = 0.0;
            if (csv_field_number(csv, i, &value))
                count_field(&scan->numbers[k], csv->field[i], csv->line);
            else if (!table_missing(csv->field[i]))
                count_field(&scan->texts[k], csv->field[i], csv->line);
        }
    }
}

/* Reads the table for its texts alone; the caller frees scan->numbers. */
static osafl_status scan_texts(const struct table *t, struct text_scan *scan,
                               struct io_message *message)
{
    struct byte_source source;
    struct csv_reader csv;
    *scan = (struct text_scan){.numbers = calloc(t->n_features, 2 * sizeof *scan->numbers)};
    if (scan->numbers == NULL)
        return no_memory(t);
    scan->texts = scan->numbers + t->n_features;
    OSAFL_TRY(byte_source_open(&source, t->path, message));
    csv_open(&csv, &source, t->csv.separator);
    csv.decimal_comma = t->csv.decimal_comma;
    csv.comment = t->csv.comment;
    const osafl_status status = scan_rows(t, &csv, scan);
    csv_close(&csv);
    byte_source_close(&source);
    return status;
}

/* Header and samples look alike where no column holds numbers. */
static osafl_status doubt_header(const struct table *t)
{
    double value = 0.0;
    if (!t->guessed || t->csv.name == NULL || t->named || t->csv.n_fields != t->n_columns)
        return OSAFL_OK;
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (csv_field_number(&t->csv, i, &value))
            return OSAFL_OK;
    return io_fail(t->message, OSAFL_E_DATA,
                   "%s: neither of the first two rows holds a number, so a header cannot be "
                   "told from a sample; set dataset.csv.header to \"yes\" or \"no\"",
                   t->path);
}

/* A number as 1,5 where numbers have a point. */
static bool has_decimal_comma(const struct table *t, const char *field)
{
    return !t->csv.decimal_comma && strspn(field, "+-0123456789,eE") == strlen(field) &&
           strchr(field, ',') != NULL;
}

/* Numbers such as 1,5 would become categories without a word. */
static void warn_of_decimal_commas(const struct table *t, uint32_t column, const char *field)
{
    if (t->csv.separator != ',' && has_decimal_comma(t, field))
        sample_set_warn(t->set,
                        "%s: %s holds \"%s\" and is taken for categories; where numbers have a "
                        "comma, set dataset.csv.decimal = \"comma\"",
                        t->path, csv_place(&t->csv, column).text, field);
}

/* A column of numbers with a few texts, such as inf or 0x1A, is mistyped, unless the user says that
 * it holds categories. */
static osafl_status refuse_mixture(const struct table *t, uint32_t column,
                                   const struct field_count *numbers,
                                   const struct field_count *texts)
{
    const bool text_is_odd = texts->n <= numbers->n;
    const struct field_count *odd = text_is_odd ? texts : numbers;
    char key[64];
    column_key(t, column, key, sizeof key);
    if (t->csv.separator != ',' && has_decimal_comma(t, texts->first))
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": %s holds \"%s\" among numbers; where numbers have a comma, "
                       "set dataset.csv.decimal = \"comma\"",
                       t->path, texts->line, csv_place(&t->csv, column).text, texts->first);
    if (text_is_odd && t->guessed && t->csv.name == NULL && odd->line == t->csv.line)
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s:%" PRIu32 ": %s holds \"%s\" among numbers; is the first row a header? "
                       "dataset.csv.header = \"yes\"",
                       t->path, odd->line, csv_place(&t->csv, column).text, odd->first);
    return io_fail(t->message, OSAFL_E_DATA,
                   "%s:%" PRIu32 ": %s holds \"%s\" among %s; correct it, leave the field empty if "
                   "the value is unknown, or say that the column holds categories: "
                   "dataset.csv.categorical = \"*, %s\"",
                   t->path, odd->line, csv_place(&t->csv, column).text, odd->first,
                   text_is_odd ? "numbers" : "texts", key);
}

/* With "*", columns of text are categories; those that hold numbers as well need a word. */
static osafl_status find_text_columns(struct table *t)
{
    struct text_scan scan;
    osafl_status status = scan_texts(t, &scan, t->message);
    for (uint32_t k = 0; status == OSAFL_OK && k < t->n_features; k++) {
        if (t->feature[k].categorical || scan.texts[k].n == 0)
            continue;
        t->feature[k].categorical = true;
        if (scan.numbers[k].n > 0)
            status = refuse_mixture(t, t->feature[k].column, &scan.numbers[k], &scan.texts[k]);
        else
            warn_of_decimal_commas(t, t->feature[k].column, scan.texts[k].first);
    }
    free(scan.numbers);
    return status;
}

osafl_status table_plan_categories(struct table *t)
{
    if (t->train != NULL) {
        for (uint32_t k = 0; k < t->n_features; k++)
            t->feature[k].categorical = t->train->feature[k].categorical;
        return OSAFL_OK;
    }
    OSAFL_TRY(take_list(t, t->config->categorical, true));
    if (t->any_text)
        OSAFL_TRY(find_text_columns(t));
    return t->config->categorical[0] != '\0' ? doubt_header(t) : OSAFL_OK;
}

/* --- What is wrong with a field */

/* The columns that hold text for the most part, as a list for the setting. */
static void list_text_columns(const struct table *t, const struct text_scan *scan, char *out,
                              size_t size)
{
    size_t used = 0;
    for (uint32_t k = 0; k < t->n_features && used < size; k++) {
        char key[64];
        if (2 * scan->texts[k].n <= scan->rows)
            continue;
        column_key(t, t->feature[k].column, key, sizeof key);
        used += (size_t)snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ", ", key);
    }
    if (used >= size)
        (void)snprintf(out, size, "*");
}

/* A text among numbers is mistyped; a column of texts is one of categories. */
static osafl_status refuse_text(const struct table *t, uint32_t column, const char *what)
{
    struct text_scan scan;
    struct io_message ignored;
    char columns[256] = "";
    const struct feature *feature = feature_of(t, column);
    if (scan_texts(t, &scan, &ignored) == OSAFL_OK &&
        2 * scan.texts[feature - t->feature].n > scan.rows)
        list_text_columns(t, &scan, columns, sizeof columns);
    free(scan.numbers);
    if (columns[0] == '\0')
        return io_fail(t->message, OSAFL_E_DATA, "%s", what);
    return io_fail(t->message, OSAFL_E_DATA,
                   "%s; columns of text become one value for each of their categories with "
                   "dataset.csv.categorical = \"%s\", or are left out with dataset.csv.ignore",
                   what, columns);
}

/* True for inf and 1e999, which are numbers that cannot be used. */
static bool is_infinite(const char *field)
{
    char *end = NULL;
    const double value = strtod(field, &end);
    return end != field && *end == '\0' && isinf(value);
}

osafl_status table_refuse_field(const struct table *t, uint32_t column)
{
    const char *field = t->csv.field[column];
    const char *separator = separator_within(t, field);
    char what[256];
    (void)snprintf(what, sizeof what,
                   "%s:%" PRIu32 ": %s holds \"%.40s\", which is not a finite number", t->path,
                   t->csv.line, csv_place(&t->csv, column).text, field);
    if (field[0] == '\0' && column + 1 == t->n_columns)
        return io_fail(
            t->message, OSAFL_E_DATA,
            "%s; if rows end in a separator, leave that column out: dataset.csv.ignore = "
            "\"#%" PRIu32 "\"",
            what, column + 1);
    if (table_missing(field))
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s; dataset.csv.missing = \"drop\" leaves rows with missing values out, "
                       "\"mean\" puts the mean in%s",
                       what,
                       t->csv.separator == '\t' ? "; where runs of blanks separate, set "
                                                  "dataset.csv.separator = \"space\""
                                                : "");
    if (column == 0 && field[0] == '#')
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s; to leave comments out, set dataset.csv.comment = \"#\"", what);
    if (has_decimal_comma(t, field))
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s; where numbers have a comma, set dataset.csv.decimal = \"comma\"", what);
    if (separator != NULL)
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s; is the separator right? dataset.csv.separator = \"%s\"", what,
                       separator);
    if (t->guessed && t->samples->n == 0 && t->csv.name == NULL)
        return io_fail(t->message, OSAFL_E_DATA,
                       "%s; is the first row a header? dataset.csv.header = \"yes\"", what);
    if (is_infinite(field))
        return io_fail(t->message, OSAFL_E_DATA, "%s", what);
    return refuse_text(t, column, what);
}
