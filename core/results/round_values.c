/* round_values.c - a measure of a run, read back from its rounds.csv. */
#include "round_values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The columns "round" and "simulated_s" stand before the measures. */
#define HEADER "round,simulated_s,"

/* The name of the measure behind its split, "accuracy" of "test_accuracy"; NULL: the column is none
 * of a measure. */
static const char *measure_of(const char *column)
{
    static const char *const split[] = {"test_", "validation_"};
    for (size_t i = 0; i < sizeof split / sizeof split[0]; i++) {
        if (strncmp(column, split[i], strlen(split[i])) == 0)
            return column + strlen(split[i]);
    }
    return NULL;
}

/* Finds the measure, or the first one where none is wanted. */
static bool read_header(const char *line, const char *wanted, struct round_values *out)
{
    if (strncmp(line, HEADER, strlen(HEADER)) != 0)
        return false;
    const char *name = NULL;
    out->field = 2;
    for (const char *column = line + strlen(HEADER); (name = measure_of(column)) != NULL;) {
        const size_t n = strcspn(name, ",\n");
        if (wanted == NULL || (strlen(wanted) == n && strncmp(name, wanted, n) == 0)) {
            snprintf(out->measure, sizeof out->measure, "%.*s", (int)n, name);
            return true;
        }
        if (name[n] != ',')
            break;
        column = name + n + 1;
        out->field++;
    }
    return true;
}

/* "ROUND,SECONDS,...,VALUE,...": false unless it is the row that comes next. */
static bool read_row(const char *line, struct round_values *out)
{
    char *end = NULL;
    const unsigned long round = strtoul(line, &end, 10);
    if (end == line || *end != ',' || round != out->rounds)
        return false;
    const char *field = line;
    for (uint32_t i = 0; i < (out->measure[0] != '\0' ? out->field : 2); i++) {
        field = strchr(field, ',');
        if (field == NULL)
            return false;
        field++;
    }
    double value = (double)NAN;
    if (out->measure[0] != '\0' && field[0] != ',' && field[0] != '\n') {
        value = strtod(field, &end);
        if (end == field || (*end != ',' && *end != '\n'))
            return false;
    }
    out->value[out->rounds++] = isfinite(value) ? value : (double)NAN;
    return true;
}

static osafl_status read_lines(FILE *file, const char *path, const char *measure, uint32_t most,
                               struct round_values *out, struct error *error)
{
    char *line = NULL;
    size_t size = 0;
    bool right = true;
    uint32_t number = 0;
    errno = 0;
    while (right && out->rounds < most) {
        const ssize_t n = getline(&line, &size, file);
        if (n <= 0 || line[n - 1] != '\n')
            break;
        right = number++ == 0 ? read_header(line, measure, out) : read_row(line, out);
    }
    const int problem = ferror(file) || errno == ENOMEM ? errno : 0;
    free(line);
    if (problem != 0)
        return error_io(error, problem, "read", path);
    if (!right)
        return error_set(error, OSAFL_E_DATA,
                         "%s:%" PRIu32 ": is not a row of a run's table; --force runs it again",
                         path, number);
    return OSAFL_OK;
}

osafl_status round_values_read(const char *folder, const char *measure, uint32_t most,
                               struct round_values *out, struct error *error)
{
    char *path = NULL;
    *out = (struct round_values){.value = calloc((size_t)most + 1, sizeof *out->value)};
    if (out->value == NULL || asprintf(&path, "%s/rounds.csv", folder) < 0) {
        round_values_free(out);
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    }
    FILE *file = fopen(path, "re");
    const osafl_status status = file == NULL ? error_io(error, errno, "read", path)
                                             : read_lines(file, path, measure, most, out, error);
    if (file != NULL)
        fclose(file);
    free(path);
    if (status != OSAFL_OK)
        round_values_free(out);
    return status;
}

void round_values_free(struct round_values *v)
{
    free(v->value);
    *v = (struct round_values){0};
}
