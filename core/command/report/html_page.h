/* html_page.h - a report as one self-contained HTML page: tables, figures as inline SVG, settings,
 * environment.  No script and no resource from elsewhere; readable on a screen and in print. */
#ifndef OSAFL_REPORT_HTML_PAGE_H
#define OSAFL_REPORT_HTML_PAGE_H

#include "base/error.h"
#include "figure_list.h"
#include "pivot_table.h"
#include "report_tables.h"

/* What --by and --compute ask of a page. */
struct html_extras {
    const struct pivot *pivot;       /* its tables instead of those of rows, and no figures; NULL */
    const struct found_cells *tuned; /* also what it took to compute, with these runs for tuning;
                                      * NULL */
};

/* Writes the page atomically to path.  Figures are drawn by gnuplot in a temporary folder; without
 * gnuplot the page has none and says so.  OSAFL_E_IO with a message (error.h), or what drawing
 * answers. */
osafl_status html_page_write(const char *path, const struct found_cells *f,
                             const struct result_grid *g, const struct summary_question *q,
                             const struct html_extras *extras, struct error *error);

#endif
