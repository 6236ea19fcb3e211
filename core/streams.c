/* streams.c - random streams as pure functions of their names.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011) is a keyed bijection of 128-bit counters.  A stream's name is longer than one counter,
 * so it is used twice: once to turn (seed, kind, purpose, client, round) into the key of the
 * stream, then under that key for the words themselves. */
#include "streams.h"

#include <string.h>

#include <Random123/philox.h>

/* Upper half of the word that holds the kind: "OS", so that no other use of Philox under the same
 * key meets our counters by accident. */
#define DOMAIN_WORD UINT32_C(0x4f530000)

void streams_fill(uint64_t seed, uint32_t kind, uint32_t purpose, uint32_t client, uint32_t round,
                  uint64_t index, uint32_t *out, uint64_t n)
{
    const philox4x32_key_t seed_key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    const philox4x32_ctr_t name = {{client, round, purpose, kind | DOMAIN_WORD}};
    const philox4x32_ctr_t derived = philox4x32(name, seed_key);
    const philox4x32_key_t key = {{derived.v[0], derived.v[1]}};

    philox4x32_ctr_t counter = {{0, 0, (uint32_t)index, (uint32_t)(index >> 32)}};
    const uint64_t whole = n / 4;
    for (uint64_t block = 0; block < whole; block++) {
        counter.v[0] = (uint32_t)block;
        counter.v[1] = (uint32_t)(block >> 32);
        const philox4x32_ctr_t words = philox4x32(counter, key);
        memcpy(out + 4 * block, words.v, sizeof words.v);
    }
    if (n % 4 != 0) {
        counter.v[0] = (uint32_t)whole;
        counter.v[1] = (uint32_t)(whole >> 32);
        const philox4x32_ctr_t words = philox4x32(counter, key);
        memcpy(out + 4 * whole, words.v, (size_t)(n % 4) * sizeof words.v[0]);
    }
}
