/* trial_settings.h - settings with which a plugin is tried: its defaults, the values of --set, the
 * ends of its ranges, random ones. */
#ifndef OSAFL_CONFORM_TRIAL_SETTINGS_H
#define OSAFL_CONFORM_TRIAL_SETTINGS_H

#include "conform.h"

/* Random numbers of the kit itself: a function of the seed and of what they are for. */
struct draws {
    uint64_t seed;
    uint32_t purpose;
    uint64_t index;
};
uint64_t draw_bits(struct draws *d);
double draw_uniform(struct draws *d); /* in [0, 1) */
double draw_normal(struct draws *d);
uint32_t draw_below(struct draws *d, uint32_t n);

/* A filled config.  Strings and arrays live as long as the process. */
struct trial_settings {
    void *config;    /* NULL when the plugin has no settings */
    char text[1024]; /* what differs from the defaults: "rate = 0.5, rounds = 3"; "" for nothing */
};

/* Defaults and the values of --set.  Required numbers that nobody sets get a value near 0.1 or the
 * lowest; a required text that nobody sets makes the check be skipped. */
struct trial_settings settings_default(const struct conform *c);

/* The same with one parameter at an end of its range (or another choice, or the other truth value);
 * end counts from 0.  False: there is no such end. */
bool settings_at_end(const struct conform *c, uint32_t parameter, unsigned end,
                     struct trial_settings *out);

/* All parameters but texts, paths and those of --set drawn at random within their ranges, small
 * numbers being likelier. */
struct trial_settings settings_random(const struct conform *c, uint32_t number);

#endif
