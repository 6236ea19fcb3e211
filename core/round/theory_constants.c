/* theory_constants.c - of which runs the convergence bound says something. */
#include "theory_constants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "train.h"

/* A setting of the chosen plugins: "optimizer.sgd", "momentum". */
struct wanted {
    const char *group;
    const char *key;
    double value; /* NAN: there is none, or it is not a number */
    char text[64];
};

static osafl_status look_at_setting(void *arg, const struct setting *s)
{
    struct wanted *w = arg;
    if (strcmp(s->group, w->group) != 0 || strcmp(s->key, w->key) != 0)
        return OSAFL_OK;
    char *end = NULL;
    w->value = strtod(s->text, &end);
    if (end == s->text)
        w->value = (double)NAN;
    snprintf(w->text, sizeof w->text, "%s", s->text);
    return OSAFL_OK;
}

static struct wanted find_setting(const struct session *s, const char *group, const char *key)
{
    struct wanted w = {.group = group, .key = key, .value = (double)NAN};
    (void)experiment_visit(s->experiment, look_at_setting, &w);
    return w;
}

/* The q of the quantizer: NAN where it is biased or unknown. */
static double find_q(const struct session *s)
{
    const char *name = codec_name(&s->codec);
    const double n = (double)s->codec.dim;
    if (strcmp(name, "none") == 0)
        return 0.0;
    const struct wanted norm = find_setting(s, "quantizer.qsgd", "norm");
    const struct wanted levels = find_setting(s, "quantizer.qsgd", "levels");
    if (strcmp(name, "qsgd") != 0 || strcmp(norm.text, "\"whole\"") != 0)
        return (double)NAN;
    return fmin(n / (levels.value * levels.value), sqrt(n) / levels.value);
}

static osafl_status check_run(const struct session *s, struct error *error)
{
    const char *optimizer = s->instance[OSAFL_KIND_OPTIMIZER].plugin->name;
    const struct wanted momentum = find_setting(s, "optimizer.sgd", "momentum");
    const char *why = NULL;
    if (!s->experiment->training.enabled)
        why = "nobody trains";
    else if (!session_has_link(s))
        why = "the aggregator trains at one place";
    else if (strcmp(optimizer, "sgd") != 0 || momentum.value != 0.0)
        why = "clients take other steps than those of plain SGD (optimizer sgd, momentum 0)";
    else if (client_state_floats(s) > 0 || s->slots != 1 || s->aggregator.broadcast_floats > 0)
        why = "clients or quantizer keep vectors, or more than one is sent";
    else if (strcmp(s->instance[OSAFL_KIND_FILTER].plugin->name, "none") != 0)
        why = "a filter changes labels or updates";
    else if (s->experiment->uplink.late.index != LATE_ACCEPT)
        why = "updates may arrive in later rounds";
    if (why != NULL)
        return error_set(error, OSAFL_E_CONFIG,
                         "--measure theory: the theorem does not speak of this run: %s", why);
    return OSAFL_OK;
}

osafl_status theory_constants_find(const struct session *s, struct theory_constants *out,
                                   struct error *error)
{
    OSAFL_TRY(check_run(s, error));
    *out = (struct theory_constants){
        .weight_decay = find_setting(s, "optimizer.sgd", "weight_decay").value,
        .q = find_q(s),
        .is_linear = strcmp(s->instance[OSAFL_KIND_MODEL].plugin->name, "logistic") == 0,
    };
    return OSAFL_OK;
}
