/* until_plan.c - how many seeds are run: until the interval of a difference is narrow enough. */
#include "until_plan.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "base/file_read.h"
#include "base/folder.h"
#include "base/json_print.h"
#include "base/text.h"
#include "results/run_folder.h"

/* ---- reading ------------------------------------------------------------------------------- */

/* The text before `end`, without blanks around it; NULL: there is none, or no room.  Returns what
 * follows. */
static const char *take(const char *from, const char *end, char *out, size_t size)
{
    const char *stop = from != NULL ? strstr(from, end) : NULL;
    if (stop == NULL)
        return NULL;
    const char *begin = from + strspn(from, " ");
    const char *last = stop;
    while (last > begin && last[-1] == ' ')
        last--;
    if (last <= begin || (size_t)(last - begin) >= size)
        return NULL;
    snprintf(out, size, "%.*s", (int)(last - begin), begin);
    return stop + strlen(end);
}

static void lay_looks(struct until_plan *p)
{
    uint32_t n = UNTIL_FEWEST_SEEDS;
    while (n < p->max_seeds) {
        p->look[p->looks++] = n;
        n += (n + 3) / 4;
    }
    p->look[p->looks++] = p->max_seeds;
}

osafl_status until_plan_read(const char *text, uint32_t max_seeds, struct until_plan *out,
                             struct error *error)
{
    char word[8];
    char width[32] = "";
    *out = (struct until_plan){.max_seeds = max_seeds};
    const char *rest = take(text, "(", word, sizeof word);
    bool good = rest != NULL && strcmp(word, "width") == 0;
    rest = take(rest, ",", out->measure, sizeof out->measure);
    rest = take(rest, " - ", out->plus, sizeof out->plus);
    rest = take(rest, ")", out->minus, sizeof out->minus);
    rest = rest != NULL ? rest + strspn(rest, " ") : NULL;
    good = good && rest != NULL && *rest == '<';
    if (good)
        snprintf(width, sizeof width, "%s", rest + 1 + strspn(rest + 1, " "));
    if (!good || !text_real(width, &out->width) || !(out->width > 0.0))
        return error_set(error, OSAFL_E_CONFIG,
                         "--until \"%s\": must be as in \"width(accuracy, osafl - fedavg) < "
                         "0.005\", with the names of two cases",
                         text);
    if (strcmp(out->plus, out->minus) == 0)
        return error_set(error, OSAFL_E_CONFIG,
                         "--until \"%s\": the difference of %s and itself is 0", text, out->plus);
    lay_looks(out);
    return OSAFL_OK;
}

double until_plan_probability(const struct until_plan *p)
{
    return 1.0 - 0.05 / (double)p->looks;
}

/* ---- the record ---------------------------------------------------------------------------- */

static char *describe(const struct until_plan *p, int64_t first_seed)
{
    json_t *looks = json_array();
    for (size_t i = 0; i < p->looks; i++)
        json_array_append_new(looks, json_integer((json_int_t)p->look[i]));
    json_t *plan = json_pack("{s:i, s:s, s:s, s:s, s:s, s:f, s:I, s:i, s:o, s:f, s:s}", "until", 1,
                             "measure", p->measure, "value", "of the last round", "plus", p->plus,
                             "minus", p->minus, "width", p->width, "first_seed",
                             (json_int_t)first_seed, "max_seeds", (int)p->max_seeds, "looks", looks,
                             "probability_of_each_interval", until_plan_probability(p), "bounds",
                             "Student's t; union bound over the looks: together 0.95");
    char *text = plan != NULL ? json_print(plan, JSON_INDENT(2)) : NULL;
    json_decref(plan);
    return text;
}

/* Whether a file has this text, but for a line break at its end. */
static bool is_recorded(const char *path, const char *text)
{
    size_t size = 0;
    int error = 0;
    char *found = file_read(path, 1 << 20, &size, &error);
    const size_t n = strlen(text);
    const bool same = found != NULL && size == n + 1 && memcmp(found, text, n) == 0;
    free(found);
    return same;
}

static osafl_status record_text(const char *text, const char *folder, const char *name,
                                struct error *error)
{
    char *path = NULL;
    char *line = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for a plan");
    osafl_status status = OSAFL_OK;
    const int size = asprintf(&line, "%s\n", text);
    if (folder_has(folder, name)) {
        if (!is_recorded(path, text))
            status = error_set(error, OSAFL_E_CONFIG,
                               "%s is another plan, and a plan that changes after its first look "
                               "is not valid; use the original one, or choose another "
                               "folder with --results",
                               path);
    } else if (size < 0) {
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for a plan");
    } else {
        status = folder_create(folder, error);
        if (status == OSAFL_OK)
            status = shared_file_replace(folder, name, line, (size_t)size, error);
    }
    if (size >= 0)
        free(line);
    free(path);
    return status;
}

osafl_status until_plan_record(const struct until_plan *p, int64_t first_seed, const char *folder,
                               const char *file, struct error *error)
{
    const char *slash = strrchr(file, '/');
    char *name = NULL;
    char *text = describe(p, first_seed);
    if (text == NULL ||
        asprintf(&name, "until-%.100s.json", slash != NULL ? slash + 1 : file) < 0) {
        free(text);
        return error_set(error, OSAFL_E_NOMEM, "out of memory for a plan");
    }
    char *plain = path_component(name);
    const osafl_status status = plain != NULL ? record_text(text, folder, plain, error)
                                              : error_set(error, OSAFL_E_NOMEM, "out of memory");
    free(plain);
    free(name);
    free(text);
    return status;
}
