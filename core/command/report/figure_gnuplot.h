/* figure_gnuplot.h - draws figures with gnuplot: SVG, PDF, PNG, and the files they were made from.
 */
#ifndef OSAFL_REPORT_FIGURE_GNUPLOT_H
#define OSAFL_REPORT_FIGURE_GNUPLOT_H

#include "base/error.h"
#include "figure.h"

/* Bits of a set of formats. */
enum { DRAW_SVG = 1 << 0, DRAW_PDF = 1 << 1, DRAW_PNG = 1 << 2, DRAW_FORMATS = 3 };

/* "svg", "pdf", "png" for bit number i. */
const char *draw_format_name(int i);

/* OSAFL_OK when gnuplot can be run; else OSAFL_E_UNSUPPORTED with the way to get it. */
osafl_status gnuplot_is_there(struct error *error);

/* Writes FOLDER/STEM.dat and FOLDER/STEM.gp and lets gnuplot make FOLDER/STEM.FORMAT of each format
 * in the set; 0: the files alone.  "gnuplot STEM.gp" in the folder makes the SVG again, with
 * -e "format='pdf'" another format.  OSAFL_E_IO or, with gnuplot's own words, OSAFL_E_DATA. */
osafl_status figure_draw(const struct figure *f, const char *folder, unsigned formats,
                         struct error *error);

#endif
