/* forecast.h - who will take part in a run, and with what effort, without training: for
 * `osafl check`. */
#ifndef OSAFL_CORE_FORECAST_H
#define OSAFL_CORE_FORECAST_H

#include <stdio.h>

#include "base/error.h"
#include "session.h"
#include "world/world.h"

/* Asks arrival, channel and resource policy for all rounds (of very large runs, for the first ones)
 * and prints the share of the client-rounds that take part, their local rounds, why the others sit
 * out, and what a round costs: what the run itself will record, losses on the uplink aside.  The
 * world only counts what arrives (world_count_arrivals()) and may then only be destroyed.  The
 * session has a link. */
osafl_status forecast_print(const struct session *s, struct world *world, FILE *to,
                            struct error *error);

#endif
