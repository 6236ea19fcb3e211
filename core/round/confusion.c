/* confusion.c - which labels a classifier takes for which. */
#include "confusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

bool confusion_measure(const struct session *s, uint32_t *measure)
{
    for (uint32_t m = 0; m < s->model.n_measures; m++) {
        const osafl_metric *of =
            OSAFL_AT(osafl_metric, s->model.measures, s->model.measure_size, m);
        if (strcmp(of->name, "accuracy") == 0) {
            *measure = m;
            return true;
        }
    }
    return false;
}

osafl_status confusion_count(const struct session *s, struct worker *const *workers, const float *w,
                             struct evaluation *room, struct confusion *out, struct error *error)
{
    const uint32_t labels = s->dataset.labels;
    uint32_t measure = 0;
    if (!confusion_measure(s, &measure))
        return error_set(error, OSAFL_E_CONFIG,
                         "model/%s reports no accuracy, so that there is no confusion matrix",
                         s->instance[OSAFL_KIND_MODEL].plugin->name);
    *out = (struct confusion){.labels = labels,
                              .count = calloc((size_t)labels * labels, sizeof(uint64_t))};
    if (out->count == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for a confusion matrix");
    for (uint32_t taken = 0; taken < labels; taken++) {
        const osafl_status status = evaluate_as_label(s, workers, w, taken, room, error);
        if (status != OSAFL_OK) {
            confusion_free(out);
            return status;
        }
        for (uint64_t i = 0; i < s->evaluation_samples; i++) {
            if (room->value[i * s->model.n_measures + measure] > 0.5)
                out->count[(uint64_t)(uint32_t)room->label[i] * labels + taken]++;
        }
    }
    return OSAFL_OK;
}

void confusion_free(struct confusion *c)
{
    free(c->count);
    *c = (struct confusion){0};
}

static double row_sum(const struct confusion *c, uint32_t label)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < c->labels; k++)
        sum += (double)c->count[(uint64_t)label * c->labels + k];
    return sum;
}

static double column_sum(const struct confusion *c, uint32_t label)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < c->labels; k++)
        sum += (double)c->count[(uint64_t)k * c->labels + label];
    return sum;
}

static double right(const struct confusion *c, uint32_t label)
{
    return (double)c->count[(uint64_t)label * c->labels + label];
}

/* 0 / 0 is the NAN that is promised. */
double confusion_recall(const struct confusion *c, uint32_t label)
{
    return right(c, label) / row_sum(c, label);
}

double confusion_precision(const struct confusion *c, uint32_t label)
{
    return right(c, label) / column_sum(c, label);
}

double confusion_f1(const struct confusion *c, uint32_t label)
{
    return 2.0 * right(c, label) / (row_sum(c, label) + column_sum(c, label));
}

static double mean_over_labels(const struct confusion *c,
                               double (*of)(const struct confusion *, uint32_t))
{
    double sum = 0.0;
    uint32_t n = 0;
    for (uint32_t label = 0; label < c->labels; label++) {
        if (row_sum(c, label) > 0.0) {
            sum += of(c, label);
            n++;
        }
    }
    return sum / (double)n;
}

double confusion_balanced_accuracy(const struct confusion *c)
{
    return mean_over_labels(c, confusion_recall);
}

double confusion_macro_f1(const struct confusion *c)
{
    return mean_over_labels(c, confusion_f1);
}
