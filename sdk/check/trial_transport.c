/* trial_transport.c - transports at work: alone, with ranks that they start, and when one is gone.
 *
 * A transport whose ranks a launcher starts has one rank here; what is left out then is said. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "osafl/transport.h"

enum { RANKS = 3, TRIES = 6, LOST_STATUS = 37, WENT_ON = 98, WAS_ALONE = 99 };
#define MOST_BYTES ((size_t)3 << 20)
#define LIMIT_S 2.0

static const osafl_transport_vt *vtable(const struct conform *c)
{
    return (const osafl_transport_vt *)(const void *)c->plugin->vtable;
}

static osafl_transport_place begin(const struct conform *c, uint32_t ranks)
{
    const osafl_transport_wish wish = {
        .struct_size = sizeof wish, .lost_status = LOST_STATUS, .limit_s = LIMIT_S, .ranks = ranks};
    osafl_transport_place place = {.struct_size = sizeof place};
    conform_doing("start()");
    const osafl_status status = vtable(c)->start(&wish, &place);
    if (status != OSAFL_OK)
        conform_fail(c, "fails in start(): %s", place.text != NULL ? place.text : "no reason");
    if (place.rank >= place.ranks || place.text == NULL || place.text[0] == '\0')
        conform_fail(c, "has a place that cannot be: rank %u of %u, \"%s\"", place.rank,
                     place.ranks, place.text != NULL ? place.text : "");
    for (uint32_t r = 0; r < place.ranks; r++) {
        const char *host = vtable(c)->host_name(r);
        if (host == NULL || host[0] == '\0')
            conform_fail(c, "has no host_name() of rank %u", r);
    }
    return place;
}

/* The length of a rank's piece: none, a byte, about a page, and millions of bytes. */
static size_t length(uint32_t rank, unsigned try)
{
    static const size_t lengths[TRIES] = {0, 1, 4095, 4097, MOST_BYTES, 12};
    return lengths[(try + rank) % TRIES];
}

static unsigned char byte(uint32_t rank, unsigned try, size_t i)
{
    return (unsigned char)((i + 31 * (size_t)rank + 7 * (size_t)try) % 251);
}

static void require_piece(const struct conform *c, uint32_t rank, unsigned try, const void *data,
                          uint64_t bytes, bool meant)
{
    const unsigned char *piece = data;
    const size_t expected = meant ? length(rank, try) : 0;
    if (bytes != expected)
        conform_fail(c, "gives %llu bytes of rank %u instead of %zu", (unsigned long long)bytes,
                     rank, expected);
    for (size_t i = 0; i < expected; i++) {
        if (piece[i] != byte(rank, try, i))
            conform_fail(c, "gives other bytes of rank %u, from byte %zu of %zu on", rank, i,
                         expected);
    }
}

/* To all, and to each rank alone. */
static void exchange(const struct conform *c, const osafl_transport_place *place, unsigned try,
                     uint32_t to)
{
    static unsigned char own[MOST_BYTES];
    const void *data[RANKS] = {NULL};
    uint64_t bytes[RANKS] = {0};
    const size_t n = length(place->rank, try);
    const size_t head = try % 3 == 0 ? 0 : try % 3 == 1 ? n / 2 : n;
    for (size_t i = 0; i < n; i++)
        own[i] = byte(place->rank, try, i);
    conform_doing("exchange()");
    if (vtable(c)->exchange(head > 0 ? own : NULL, head, n > head ? own + head : NULL, n - head, to,
                            data, bytes) != OSAFL_OK)
        conform_fail(c, "fails in exchange() of %zu bytes", n);
    for (uint32_t r = 0; r < place->ranks; r++)
        require_piece(c, r, try, data[r], bytes[r], to == OSAFL_ALL_RANKS || to == place->rank);
}

static void exchange_all(const struct conform *c, const osafl_transport_place *place)
{
    for (unsigned try = 0; try < TRIES; try++) {
        exchange(c, place, try, OSAFL_ALL_RANKS);
        for (uint32_t to = 0; to < place->ranks; to++)
            exchange(c, place, try, to);
    }
    conform_doing("stop()");
    vtable(c)->stop();
}

void check_transport_alone(struct conform *c)
{
    conform_load(c);
    const osafl_transport_place place = begin(c, 1);
    if (place.ranks != 1)
        conform_skip(c, "was not tried: a launcher has started %u ranks of this check",
                     place.ranks);
    exchange_all(c, &place);
}

/* Leaves if there is no other rank. */
static osafl_transport_place begin_several(const struct conform *c)
{
    const osafl_transport_place place = begin(c, RANKS);
    if (place.ranks != 1 && place.ranks != RANKS)
        conform_fail(c, "has %u ranks where %d are asked for", place.ranks, RANKS);
    return place;
}

static _Noreturn void skip_launched(const struct conform *c)
{
    conform_skip(c, "was not tried: a launcher starts its ranks, and here it has one; run it "
                    "under its launcher, and compare the results with those of one process");
}

/* What another rank finds wrong is the verdict, since rank 0 cannot go on without it. */
void check_transport_ranks(struct conform *c)
{
    conform_load(c);
    const osafl_transport_place place = begin_several(c);
    if (place.ranks == 1) {
        vtable(c)->stop();
        skip_launched(c);
    }
    exchange_all(c, &place);
    if (place.rank != 0)
        _exit(0);
}

/* Ranks of which the last is gone after the first exchange. */
static _Noreturn void lose_one(const struct conform *c)
{
    const osafl_transport_place place = begin_several(c);
    exchange(c, &place, 0, OSAFL_ALL_RANKS);
    if (place.ranks == 1) {
        vtable(c)->stop();
        _exit(WAS_ALONE);
    }
    if (place.rank == RANKS - 1)
        raise(SIGKILL);
    exchange(c, &place, 1, OSAFL_ALL_RANKS);
    _exit(WENT_ON);
}

void check_transport_loss(struct conform *c)
{
    int status = 0;
    conform_load(c);
    const pid_t child = fork();
    if (child == 0)
        lose_one(c);
    if (child < 0 || waitpid(child, &status, 0) != child)
        conform_skip(c, "was not tried: no process could be made");
    if (!WIFEXITED(status))
        conform_fail(c, "ends rank 0 by signal %d when another rank is gone", WTERMSIG(status));
    if (WEXITSTATUS(status) == WAS_ALONE)
        skip_launched(c);
    if (WEXITSTATUS(status) == WENT_ON)
        conform_fail(c, "goes on when another rank is gone");
    if (WEXITSTATUS(status) != LOST_STATUS)
        conform_fail(c, "ends rank 0 with status %d instead of %d when another rank is gone",
                     WEXITSTATUS(status), LOST_STATUS);
}
