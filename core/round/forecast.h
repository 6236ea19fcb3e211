/* forecast.h - who will take part in a run, and with what effort, without training: for
 * `osafl check`. */
#ifndef OSAFL_CORE_FORECAST_H
#define OSAFL_CORE_FORECAST_H

#include <stdio.h>

#include "base/error.h"
#include "session.h"
#include "world/world.h"

/* Asks channel and resource policy for all rounds (of very large runs, for the first ones) and
 * prints the share of the client-rounds that take part, their local rounds, why the others sit
 * out, and what a round costs: what the run itself will record, losses on the uplink aside.  Prints
 * nothing for a session without a link. */
osafl_status forecast_print(const struct session *s, const struct world *world, FILE *to,
                            struct error *error);

#endif
