/* measures.c - what the names of measures say. */
#include "measures.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const struct online_measure online_measures[ONLINE_MEASURES] = {
    {"prequential_accuracy", true, true}, {"prequential_loss", false, false},
    {"mix_present", true, true},          {"mix_worst", true, true},
    {"mix_forgetting", false, true},      {"client_mean", true, true},
    {"client_deviation", false, true},    {"client_worst_tenth", true, true},
    {"client_jain", true, false},         {"mean_age_stored", false, false},
    {"mean_age_updates", false, false},
};

const struct online_measure *online_measure_of(const char *name)
{
    for (size_t i = 0; i < ONLINE_MEASURES; i++) {
        if (strcmp(online_measures[i].name, name) == 0)
            return &online_measures[i];
    }
    return NULL;
}

bool measure_higher_is_better(const char *measure)
{
    const struct online_measure *online = online_measure_of(measure);
    if (online != NULL)
        return online->higher_is_better;
    static const char *const lower[] = {"loss", "error"};
    const size_t length = strlen(measure);
    for (size_t i = 0; i < 2; i++) {
        const size_t tail = strlen(lower[i]);
        if (length >= tail && strcmp(measure + length - tail, lower[i]) == 0)
            return false;
    }
    return true;
}

double measure_loss_limit(bool classifies, double first_loss)
{
    const double scale = classifies || !isfinite(first_loss) ? 1.0 : fmax(1.0, first_loss);
    return MEASURE_LOSS_LIMIT * scale;
}
