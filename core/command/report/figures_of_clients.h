/* figures_of_clients.h - figures made from clients.csv.  Rows that come out equal share a curve or
 * a panel. */
#ifndef OSAFL_REPORT_FIGURES_OF_CLIENTS_H
#define OSAFL_REPORT_FIGURES_OF_CLIENTS_H

#include "base/error.h"
#include "figures_of_rounds.h"

/* P(local rounds > k) over all clients and rounds of all seeds; a client that sits out has 0.
 * *out stays NULL when no row has a link.  OSAFL_E_IO or OSAFL_E_DATA with a message (error.h),
 * here and below. */
osafl_status figure_of_ccdf(const struct grid_experiment *e, const struct grid_table *t,
                            struct figure **out, struct error *error);

/* How label histograms change: entropy of the clients' stores against the round, mean over clients
 * and seeds, with the band from the tenth to the ninetieth percentile. */
osafl_status figure_of_drift(const struct grid_experiment *e, const struct grid_table *t,
                             struct figure **out, struct error *error);

/* A column of clients.csv as a colour for each client and round, of each row's first seed;
 * "local_rounds" shows who took part.  *out stays NULL when no row has values in it. */
osafl_status figure_of_clients(const struct grid_experiment *e, const struct grid_table *t,
                               const char *column, struct figure **out, struct error *error);

#endif
