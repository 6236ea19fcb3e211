/* bit_stream.h - numbers of a fixed width, packed without gaps into 64-bit words.
 *
 * A stream is whole words; bits after the last number are zero.  Number i of width b starts at bit
 * i * b, so any number can be read without reading those before it.  Codes stay on one machine,
 * so words have its byte order; memcpy keeps the accesses legal at any alignment. */
#ifndef OSAFL_QUANTIZER_BIT_STREAM_H
#define OSAFL_QUANTIZER_BIT_STREAM_H

#include <stdint.h>
#include <string.h>

struct bit_writer {
    uint8_t *out;  /* where the next word goes */
    uint64_t word; /* bits that wait for a full word */
    unsigned used; /* how many of them, < 64 */
};

static inline void bit_write(struct bit_writer *b, uint64_t value, unsigned width)
{
    b->word |= value << b->used;
    b->used += width;
    if (b->used >= 64) {
        memcpy(b->out, &b->word, 8);
        b->out += 8;
        b->used -= 64;
        b->word = b->used > 0 ? value >> (width - b->used) : 0;
    }
}

/* Writes the last, partly filled word, if there is one. */
static inline void bit_write_end(struct bit_writer *b)
{
    if (b->used > 0) {
        memcpy(b->out, &b->word, 8);
        b->out += 8;
    }
    b->word = 0;
    b->used = 0;
}

/* The `width` bits from bit `at` on; 1 <= width < 64. */
static inline uint64_t bit_read(const uint8_t *words, uint64_t at, unsigned width)
{
    const unsigned shift = (unsigned)(at & 63);
    uint64_t low;
    memcpy(&low, words + (at >> 6) * 8, 8);
    uint64_t value = low >> shift;
    if (shift + width > 64) {
        uint64_t high;
        memcpy(&high, words + (at >> 6) * 8 + 8, 8);
        value |= high << (64 - shift);
    }
    return value & ((UINT64_C(1) << width) - 1);
}

static inline uint64_t bit_stream_words(uint64_t numbers, unsigned width)
{
    return (numbers * width + 63) / 64;
}

/* True when every bit from bit `bits` to the end of the stream's last word is zero. */
static inline int bit_stream_ends_clean(const uint8_t *words, uint64_t bits)
{
    const unsigned rest = (unsigned)(bits & 63);
    return rest == 0 || bit_read(words, bits, 64 - rest) == 0;
}

/* Bits that hold every number in 0 .. n - 1: ceil(log2 n), and 0 for n = 1. */
static inline unsigned bits_for(uint64_t n)
{
    unsigned bits = 0;
    while (bits < 63 && (UINT64_C(1) << bits) < n)
        bits++;
    return bits;
}

#endif
