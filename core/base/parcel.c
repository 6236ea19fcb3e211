/* parcel.c - values one after the other in a block of bytes. */
#include "parcel.h"

#include <stdlib.h>
#include <string.h>

void parcel_add(struct parcel *p, const void *value, size_t bytes)
{
    if (p->capacity - p->bytes < bytes) {
        const size_t capacity = 2 * p->capacity + bytes;
        uint8_t *data = realloc(p->data, capacity);
        if (data == NULL) {
            p->is_incomplete = true;
            return;
        }
        p->data = data;
        p->capacity = capacity;
    }
    if (bytes > 0)
        memcpy(p->data + p->bytes, value, bytes);
    p->bytes += bytes;
}

void parcel_free(struct parcel *p)
{
    free(p->data);
    *p = (struct parcel){0};
}

const uint8_t *parcel_look(struct parcel_reader *r, size_t bytes)
{
    if (r->left < bytes)
        return NULL;
    const uint8_t *at = r->at;
    r->at += bytes;
    r->left -= bytes;
    return at;
}

bool parcel_take(struct parcel_reader *r, void *value, size_t bytes)
{
    const uint8_t *at = parcel_look(r, bytes);
    if (at != NULL && bytes > 0)
        memcpy(value, at, bytes);
    return at != NULL;
}
