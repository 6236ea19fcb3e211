/* forgets_head.c - carries the body of a piece, and not its head.  Caught by transport.alone. */
#include "template_with.h"

static osafl_status exchange_body(const void *head, uint64_t head_bytes, const void *body,
                                  uint64_t body_bytes, uint32_t to, const void **data,
                                  uint64_t *bytes)
{
    (void)head;
    (void)head_bytes;
    return exchange(NULL, 0, body, body_bytes, to, data, bytes);
}

CHANGE(vt.exchange = exchange_body;)
