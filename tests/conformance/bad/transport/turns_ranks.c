/* turns_ranks.c - gives the pieces of the ranks in reverse order.  Caught by transport.ranks. */
#include "template_with.h"

static osafl_status exchange_reversed(const void *head, uint64_t head_bytes, const void *body,
                                      uint64_t body_bytes, uint32_t to, const void **data,
                                      uint64_t *bytes)
{
    OSAFL_TRY(exchange(head, head_bytes, body, body_bytes, to, data, bytes));
    for (uint32_t r = 0; r < own.ranks / 2; r++) {
        const uint32_t other = own.ranks - 1 - r;
        const void *piece = data[r];
        const uint64_t n = bytes[r];
        data[r] = data[other];
        bytes[r] = bytes[other];
        data[other] = piece;
        bytes[other] = n;
    }
    return OSAFL_OK;
}

CHANGE(vt.exchange = exchange_reversed;)
