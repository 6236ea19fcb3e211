/* transport_saboteur.c - the template, of which a rank may be told something wrong: at "start", or
 * in what the exchange brings; the round of a deed is the number of the exchange, its client the
 * rank. */
#define osafl_plugin_entry_v0 honest_entry
#include "transport_forked.c"
#undef osafl_plugin_entry_v0
#include "deeds.h"

static osafl_status bad_start(const osafl_transport_wish *wish, osafl_transport_place *place)
{
    OSAFL_TRY(start(wish, place));
    if (deed("beyond", ANY, own.rank))
        place->rank = place->ranks;
    if (deed("nobody", ANY, own.rank))
        place->ranks = 0;
    if (deed("twice", ANY, own.rank))
        place->rank = 0;
    return OSAFL_OK;
}

static osafl_status bad_exchange(const void *head, uint64_t head_bytes, const void *body,
                                 uint64_t body_bytes, uint32_t to, const void **data,
                                 uint64_t *bytes)
{
    static uint32_t number;
    OSAFL_TRY(exchange(head, head_bytes, body, body_bytes, to, data, bytes));
    number++;
    const uint32_t of = own.ranks - 1;
    if (bytes[of] == 0)
        return OSAFL_OK;
    if (deed("damaged", number, own.rank))
        own.data[of][bytes[of] - 1] ^= 64;
    if (deed("shortened", number, own.rank))
        bytes[of]--;
    if (deed("lengthened", number, own.rank))
        bytes[of] += (uint64_t)1 << 40;
    if (deed("missing", number, own.rank))
        data[of] = NULL;
    if (deed("swapped", number, own.rank)) {
        data[of] = own.data[0];
        bytes[of] = bytes[0];
    }
    return OSAFL_OK;
}

static const osafl_transport_vt bad = {
    .life = {.struct_size = sizeof(osafl_transport_vt)},
    .start = bad_start,
    .host_name = host_name,
    .exchange = bad_exchange,
    .stop = stop,
};

SABOTEUR(&bad)
