/* tune_range.c - the values of a setting that `osafl tune` tries. */
#include "tune_range.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"
#include "experiment/prescan.h"

enum { DEFAULT_POINTS = 5 };

/* What is not a number and no truth value is a text, written without quotes as after --set. */
static void put_value(FILE *to, const char *value, size_t n)
{
    char word[256];
    snprintf(word, sizeof word, "%.*s", (int)n, value);
    const bool plain = prescan_is_number(word) || strcasecmp(word, "true") == 0 ||
                       strcasecmp(word, "false") == 0 || word[0] == '"';
    fprintf(to, plain ? "%s" : "\"%s\"", word);
}

static osafl_status put_list(FILE *to, const char *list, const char *word, struct error *error)
{
    size_t values = 0;
    for (const char *v = list;; v++) {
        const size_t n = strcspn(v, ",");
        if (n == 0)
            return error_set(error, OSAFL_E_CONFIG, "--over %s: a value is missing", word);
        if (++values > TUNE_MOST_VALUES)
            return error_set(error, OSAFL_E_CONFIG, "--over %s: more than %d values", word,
                             TUNE_MOST_VALUES);
        fputs(v != list ? ", " : "", to);
        put_value(to, v, n);
        v += n;
        if (*v == '\0')
            return OSAFL_OK;
    }
}

/* Three digits are enough for a search, and make names that people can read. */
static void put_range(FILE *to, double lo, double hi, unsigned points)
{
    for (unsigned i = 0; i < points; i++) {
        char value[32];
        const double share = (double)i / (points - 1);
        snprintf(value, sizeof value, "%.3g", lo * pow(hi / lo, share));
        fprintf(to, "%s%s", i > 0 ? ", " : "", value);
    }
}

/* "0.005..0.08/5".  False: it is none. */
static bool parse_range(const char *text, double *lo, double *hi, unsigned *points)
{
    char copy[128]; /* cut at the dots: a number would take the first of them */
    uint64_t n = DEFAULT_POINTS;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return false;
    char *dots = strstr(copy, "..");
    char *slash = strchr(dots, '/');
    *dots = '\0';
    if (slash != NULL) {
        *slash = '\0';
        if (!text_whole(slash + 1, 2, TUNE_MOST_VALUES, &n))
            return false;
    }
    *points = (unsigned)n;
    return text_real(copy, lo) && text_real(dots + 2, hi) && *lo > 0.0 && *hi > *lo;
}

static osafl_status put_values(FILE *to, const char *values, const char *word, struct error *error)
{
    double lo;
    double hi;
    unsigned points;
    if (strstr(values, "..") == NULL)
        return put_list(to, values, word, error);
    if (!parse_range(values, &lo, &hi, &points))
        return error_set(error, OSAFL_E_CONFIG,
                         "--over %s: a range is LO..HI or LO..HI/N with 0 < LO < HI and N from "
                         "2 to %d, such as 0.005..0.08/5",
                         word, TUNE_MOST_VALUES);
    put_range(to, lo, hi, points);
    return OSAFL_OK;
}

osafl_status tune_range(const char *word, char **out, struct error *error)
{
    const size_t key = strcspn(word, "=");
    size_t size;
    *out = NULL;
    if (key == 0 || word[key] == '\0')
        return error_set(error, OSAFL_E_CONFIG,
                         "--over %s: must be KEY=VALUE,VALUE,... or KEY=LO..HI, such as "
                         "optimizer.sgd.learning_rate=0.005..0.08",
                         word);
    FILE *to = open_memstream(out, &size);
    if (to == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    fprintf(to, "%.*s=(", (int)key, word);
    osafl_status status = put_values(to, word + key + 1, word, error);
    fputc(')', to);
    if (fclose(to) != 0 && status == OSAFL_OK)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory");
    if (status != OSAFL_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}
