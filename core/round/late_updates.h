/* late_updates.h - updates under way (uplink.late = "carry"): made in one round, delivered in a
 * later one.  All functions belong to the coordinator. */
#ifndef OSAFL_CORE_LATE_UPDATES_H
#define OSAFL_CORE_LATE_UPDATES_H

#include "updates.h"

struct late_updates {
    uint32_t labels;
    uint32_t slots;
    uint32_t n;
    struct late_update {
        struct update facts; /* without code */
        uint32_t *histogram; /* [labels]: that of the facts */
        uint32_t due;        /* the round in which it arrives */
        uint64_t first;      /* its codes are kept as first, first + 1, ...; 0: it has none */
    } * list;
    struct kept_updates codes;
    struct code *shown; /* codes of those that are due, as late_updates_due() gave them */
};

/* Takes a copy of everything.  False: out of memory. */
bool late_updates_add(struct late_updates *l, const struct update *update, uint32_t due);
/* Appends those that are due in this round to out[*n]; valid until late_updates_drop().  False: out
 * of memory. */
bool late_updates_due(struct late_updates *l, uint32_t round, struct update *out, uint32_t *n);
/* Forgets those that were due in this round or before. */
void late_updates_drop(struct late_updates *l, uint32_t round);
void late_updates_free(struct late_updates *l);

/* Into and from a section of a checkpoint. */
osafl_status late_updates_save(const struct late_updates *l, osafl_writer *w);

/* The most bytes that each update takes in memory while it is under way. */
uint64_t late_updates_held_bytes(const struct codec *codec, uint32_t slots, uint32_t labels);
/* The most bytes that a checkpoint takes for each. */
uint64_t late_updates_saved_bytes(const struct codec *codec, uint32_t slots, uint32_t labels);

/* What a list can be after `round` rounds. */
struct late_bounds {
    uint32_t round;
    uint32_t clients;
    uint32_t max_staleness;
    const uint32_t *free_from; /* [clients]: as struct participation has it */
    bool has_codes;            /* false: nobody trains */
};

/* Into an empty list.  Checks all that it reads, every code by the codec; after a failure the list
 * may only be freed.  c receives the message. */
osafl_status late_updates_load(struct late_updates *l, const struct late_bounds *b,
                               const struct codec *codec, osafl_call *c, osafl_reader *r);

#endif
