/* measures.h - what the names of measures say. */
#ifndef OSAFL_CORE_MEASURES_H
#define OSAFL_CORE_MEASURES_H

#include <stdbool.h>

/* Columns of rounds.csv beside the measures of a split, by which runs can be compared too
 * (ALGORITHMS.md 8). */
struct online_measure {
    const char *name;
    bool higher_is_better;
    bool is_share; /* between 0 and 1 */
};
enum { ONLINE_MEASURES = 11 };
extern const struct online_measure online_measures[ONLINE_MEASURES];
const struct online_measure *online_measure_of(const char *name); /* NULL: it is none */

/* Whether more of a measure is better: all but losses and errors (osafl/model.h); online ones say
 * it themselves. */
bool measure_higher_is_better(const char *measure);

/* A run has diverged in a round whose loss is not finite or above this limit.  A classifier's, of
 * a run with the measure "accuracy", is 1000: guessing costs ln(classes).  Other losses have a
 * scale of their own: 1000 times the larger of 1 and the first loss that was evaluated; not finite:
 * none was. */
#define MEASURE_LOSS_LIMIT 1000.0
double measure_loss_limit(bool classifies, double first_loss);

#endif
