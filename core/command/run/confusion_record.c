/* confusion_record.c - confusion.json: which labels the model of a run takes for which. */
#include "confusion_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "base/json_print.h"

static json_t *share(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *describe_label(const struct session *s, const struct confusion *c, uint32_t label)
{
    json_t *taken = json_array();
    uint64_t samples = 0;
    for (uint32_t k = 0; k < c->labels; k++) {
        const uint64_t n = c->count[(uint64_t)label * c->labels + k];
        json_array_append_new(taken, json_integer((json_int_t)n));
        samples += n;
    }
    const char *const *names = s->dataset.label_names;
    return json_pack("{s:i, s:o, s:I, s:o, s:o, s:o, s:o}", "label", (int)label, "name",
                     json_text(names != NULL ? names[label] : NULL), "samples", (json_int_t)samples,
                     "precision", share(confusion_precision(c, label)), "recall",
                     share(confusion_recall(c, label)), "f1", share(confusion_f1(c, label)),
                     "taken_for", taken);
}

/* A line for each label. */
static bool write_labels(const struct session *s, const struct confusion *c, FILE *to)
{
    for (uint32_t label = 0; label < c->labels; label++) {
        json_t *of = describe_label(s, c, label);
        char *text = of != NULL ? json_print(of, JSON_REAL_PRECISION(17)) : NULL;
        json_decref(of);
        if (text == NULL)
            return false;
        fprintf(to, "  %s%s\n", text, label + 1 < c->labels ? "," : "");
        free(text);
    }
    return true;
}

osafl_status confusion_record_write(const struct run_folder *folder, const struct session *s,
                                    const struct confusion *c, uint32_t rounds, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    bool whole = memory != NULL;
    if (whole) {
        fprintf(memory,
                "{\n \"split\": \"%s\",\n \"rounds\": %u,\n \"balanced_accuracy\": %.17g,\n"
                " \"macro_f1\": %.17g,\n \"classes\": [\n",
                session_evaluation_split(s) == OSAFL_SPLIT_TEST ? "test" : "validation", rounds,
                confusion_balanced_accuracy(c), confusion_macro_f1(c));
        whole = write_labels(s, c, memory);
        fputs(" ]\n}\n", memory);
        whole = fclose(memory) == 0 && whole;
    }
    const osafl_status status =
        whole ? run_folder_replace(folder, CONFUSION_FILE, text, size, error)
              : error_set(error, OSAFL_E_NOMEM, "out of memory for " CONFUSION_FILE);
    free(text);
    return status;
}
