/* parcel.h - values one after the other in a block of bytes, for a process of the same program. */
#ifndef OSAFL_CORE_PARCEL_H
#define OSAFL_CORE_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: empty. */
struct parcel {
    uint8_t *data;
    size_t bytes;
    size_t capacity;
    bool is_incomplete; /* memory was short */
};

void parcel_add(struct parcel *p, const void *value, size_t bytes);
void parcel_free(struct parcel *p);

/* What is left of a parcel; what goes beyond its end is not there. */
struct parcel_reader {
    const uint8_t *at;
    size_t left;
};

bool parcel_take(struct parcel_reader *r, void *value, size_t bytes);
/* The bytes where they lie; NULL: there are fewer. */
const uint8_t *parcel_look(struct parcel_reader *r, size_t bytes);

#endif
