/* figure.h - what a figure shows, before anything is drawn. */
#ifndef OSAFL_REPORT_FIGURE_H
#define OSAFL_REPORT_FIGURE_H

#include "osafl/base.h"

enum figure_kind {
    FIGURE_CURVES, /* lines, with a band where the series has one */
    FIGURE_STEPS,  /* a function that jumps at its points */
    FIGURE_POINTS, /* points with error bars, joined by a thin line */
    FIGURE_MAPS,   /* one panel a series: a colour for each x (round) and y (client) */
};

/* One row of a table. */
struct figure_series {
    char *label;
    size_t merged; /* equal series that were dropped; the first two are named in label */
    size_t style;  /* place in the palette: the same row looks the same in every figure */
    size_t n;
    double *x; /* [n] */
    double *y; /* [n]; maps: the client */
    /* Bounds of the band or error bar; NAN: none at that point.  Maps: low is the value, NAN: no
     * value, and high is not used. */
    double *low;
    double *high;
};

struct figure {
    enum figure_kind kind;
    char *stem;  /* of its files' names: [A-Za-z0-9._-] */
    char *title; /* one line each; labels carry the unit */
    char *x_label;
    char *y_label;
    struct figure_series *series; /* [n_series] */
    size_t n_series;
    unsigned x_log_base; /* 2 or 10; 0: the axis is linear */
    bool y_is_log;       /* base 10 */
    bool whole_x;        /* x has whole numbers alone */
    bool x_from_zero;
    double x_from; /* ends of the axes, in their units; NAN: as the data have it */
    double x_to;
    double y_from;
    double y_to;
    bool whole_values; /* a map's values are whole numbers, 0 standing apart */
};

/* Takes the ownership of the texts; stem is made fit for a file name. */
struct figure *figure_create(enum figure_kind kind, char *stem, char *title, char *x_label,
                             char *y_label);
/* Adds an empty series and takes the label. */
struct figure_series *figure_series_add(struct figure *f, char *label, size_t style);
void figure_point_add(struct figure_series *s, double x, double y, double low, double high);
/* The least positive y of all series; NAN: there is none. */
double figure_least_positive(const struct figure *f);
/* Drops the last series when it has no point. */
void figure_series_drop_empty(struct figure *f);
/* When the last series equals an earlier one point by point, drops it and adds its label to the
 * earlier one: all cases of an experiment see the same world, and often the same decisions. */
void figure_series_merge_equal(struct figure *f);
/* The label as a key shows it: "A, B, C and 2 more"; free(). */
char *figure_series_name(const struct figure_series *s);
void figure_free(struct figure *f); /* NULL is allowed */

#endif
