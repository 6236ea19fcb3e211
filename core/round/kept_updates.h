/* kept_updates.h - updates that an aggregator keeps beyond their round, as the codes in which they
 * arrived. */
#ifndef OSAFL_CORE_KEPT_UPDATES_H
#define OSAFL_CORE_KEPT_UPDATES_H

#include "codec.h"

/* Updates that an aggregator keeps beyond their round (osafl_update_ops.retain). */
struct kept_updates {
    uint64_t next_id; /* 0 means 1: ids start at 1 and are never used twice */
    uint64_t n;
    uint64_t capacity;
    struct kept_update {
        uint64_t id;
        struct code code;
    } * list; /* ids ascending */
};

/* Copies a code in; *id is its number.  False: out of memory. */
bool kept_updates_add(struct kept_updates *kept, const struct code *from, uint64_t *id);
/* The code of an id; NULL: it is not kept.  Valid until the next change. */
const struct code *kept_updates_find(const struct kept_updates *kept, uint64_t id);
/* False: it is not kept. */
bool kept_updates_remove(struct kept_updates *kept, uint64_t id);
void kept_updates_free(struct kept_updates *kept);
/* save, then load into an empty struct, gives the same ids and codes.  load verifies every code;
 * on failure kept is empty.  c receives the error.  [coord] */
osafl_status kept_updates_save(const struct kept_updates *kept, osafl_writer *w);
/* The most bytes that saving takes for each. */
uint64_t kept_updates_saved_bytes(const struct codec *codec);
osafl_status kept_updates_load(struct kept_updates *kept, const struct codec *codec, osafl_call *c,
                               osafl_reader *r);

#endif
