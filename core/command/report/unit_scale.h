/* unit_scale.h - which multiple of a unit suits a column or an axis. */
#ifndef OSAFL_REPORT_UNIT_SCALE_H
#define OSAFL_REPORT_UNIT_SCALE_H

struct unit_scale {
    double divisor;   /* value / divisor is in `unit` */
    const char *unit; /* static: "Gbit" */
};

/* For values up to `most`, which then are at least 1 where a unit allows it. */
struct unit_scale unit_scale_bits(double most);    /* bit ... Tbit */
struct unit_scale unit_scale_joules(double most);  /* mJ ... GJ */
struct unit_scale unit_scale_seconds(double most); /* s, min, h, days */

#endif
