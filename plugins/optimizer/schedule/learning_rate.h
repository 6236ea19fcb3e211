/* learning_rate.h - the learning rate of a round, for every optimizer of this folder.
 *
 * The rate is a function of the round alone, so a resumed run goes on where it stopped. */
#ifndef OSAFL_OPTIMIZER_LEARNING_RATE_H
#define OSAFL_OPTIMIZER_LEARNING_RATE_H

#include <math.h>

#include "osafl/plugin.h"

enum { SCHEDULE_CONSTANT, SCHEDULE_STEP, SCHEDULE_COSINE, SCHEDULE_LINEAR };

static const char *const learning_rate_schedules[] = {"constant", "step", "cosine", "linear", NULL};

/* First member of an optimizer's config struct, so that the rows below, which bind to this struct,
 * hold for the whole one. */
struct learning_rate_config {
    double learning_rate;
    osafl_choice schedule;
    int64_t step_rounds;
    double step_factor;
    double final_factor;
};

#define LEARNING_RATE_PARAMS                                                                       \
    OSAFL_REAL(struct learning_rate_config, learning_rate, 0, 0, 1e6,                              \
               "Learning rate of a local SGD step in round 0",                                     \
               .flags = OSAFL_P_REQUIRED | OSAFL_P_LO_OPEN),                                       \
        OSAFL_CHOICE(struct learning_rate_config, schedule, SCHEDULE_CONSTANT,                     \
                     learning_rate_schedules,                                                      \
                     "How the learning rate changes from round to round"),                         \
        OSAFL_INT(struct learning_rate_config, step_rounds, 10, 1, INT32_MAX,                      \
                  "Schedule step: rounds after which the rate is multiplied by step_factor again", \
                  .unit = "rounds"),                                                               \
        OSAFL_REAL(struct learning_rate_config, step_factor, 0.5, 0, 1,                            \
                   "Schedule step: factor of each step", .flags = OSAFL_P_LO_OPEN),                \
        OSAFL_REAL(struct learning_rate_config, final_factor, 0.01, 0, 1,                          \
                   "Schedules cosine and linear: rate of the last round over that of round 0",     \
                   .flags = OSAFL_P_LO_OPEN)

/* Rate of round t of `rounds` rounds; the last round is rounds - 1. */
static inline double learning_rate_of_round(const struct learning_rate_config *config,
                                            uint32_t rounds, uint32_t round)
{
    const double progress = rounds > 1 ? (double)round / (double)(rounds - 1) : 0.0;
    const double span = 1.0 - config->final_factor;
    double factor = 1.0;

    switch (config->schedule.index) {
    case SCHEDULE_STEP:
        factor = pow(config->step_factor, (double)((int64_t)round / config->step_rounds));
        break;
    case SCHEDULE_COSINE: /* Loshchilov and Hutter 2017, without restarts */
        factor = config->final_factor + span * 0.5 * (1.0 + cos(3.14159265358979323846 * progress));
        break;
    case SCHEDULE_LINEAR:
        factor = 1.0 - span * progress;
        break;
    default:
        break;
    }
    return config->learning_rate * factor;
}

/* A rate that shrinks below what float32 can hold would train nothing without a word: refuse it
 * before the first round.  OSAFL_E_CONFIG. */
static inline osafl_status learning_rate_check(const osafl_host *host, osafl_call *c,
                                               const struct learning_rate_config *config,
                                               uint32_t rounds)
{
    const double last = learning_rate_of_round(config, rounds, rounds > 0 ? rounds - 1 : 0);
    if ((float)last > 0.0f)
        return OSAFL_OK;
    return host->fail(c, OSAFL_E_CONFIG,
                      "the learning rate has shrunk to %g in the last of %u rounds: raise "
                      "learning_rate, step_rounds, step_factor or final_factor",
                      last, rounds);
}

#endif
