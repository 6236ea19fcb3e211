/* until_plan.h - how many seeds are run: until the interval of a difference is narrow enough.
 *
 * After some numbers of seeds, fixed in advance, the mean of the paired differences gets an
 * interval of Student's t.  Looking L times costs: each look has the probability 1 - 0.05 / L, so
 * that by the union bound all L intervals hold together with at least 95 %, and the last one with
 * them, whenever the seeds end.  As everywhere, t takes the differences for normal. */
#ifndef OSAFL_CORE_UNTIL_PLAN_H
#define OSAFL_CORE_UNTIL_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "osafl/base.h"

enum { UNTIL_FEWEST_SEEDS = 5, UNTIL_MOST_SEEDS = 1000, UNTIL_MOST_LOOKS = 64 };

struct until_plan {
    char measure[64]; /* "accuracy" */
    char plus[128];   /* the case from which the other is subtracted */
    char minus[128];
    double width; /* from one end of the interval to the other */
    uint32_t max_seeds;
    uint32_t look[UNTIL_MOST_LOOKS]; /* numbers of seeds: 5, and then a quarter more each time */
    size_t looks;
};

/* Reads "width(MEASURE, CASE - CASE) < NUMBER" and lays the looks.  max_seeds: from
 * UNTIL_FEWEST_SEEDS on.  OSAFL_E_CONFIG. */
osafl_status until_plan_read(const char *text, uint32_t max_seeds, struct until_plan *out,
                             struct error *error);

/* The probability of the interval of one look. */
double until_plan_probability(const struct until_plan *p);

/* Writes FOLDER/until-FILE.json, or finds it there.  OSAFL_E_CONFIG: there is another plan. */
osafl_status until_plan_record(const struct until_plan *p, int64_t first_seed, const char *folder,
                               const char *file, struct error *error);

#endif
