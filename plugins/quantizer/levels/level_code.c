/* level_code.c - stochastic quantization to s levels of the norm, and its codes. */
#include "level_code.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osafl/random.h"
#include "packing/bit_stream.h"

#define DENSE UINT64_MAX
#define CHUNK 1024 /* entries that are rounded together */
#define GROUP 64   /* of them, entries that are found to be 0 together */

/* Random streams of slot k: 2k + ROUNDING holds one word for every entry, 2k + TIE further words
 * for the entries whose first word did not decide. */
enum { STREAM_ROUNDING = 1, STREAM_TIE = 2 };

bool level_code_create(struct level_code *q, const osafl_host *h, const osafl_model_info *model,
                       bool per_tensor)
{
    const uint64_t n_blocks = per_tensor ? model->n_tensors : 1;
    struct norm_block *block = calloc(n_blocks, sizeof *block);
    if (block == NULL)
        return false;
    for (uint64_t b = 0; b < n_blocks; b++) {
        if (per_tensor) {
            const osafl_tensor *t = OSAFL_AT(osafl_tensor, model->tensors, model->tensor_size, b);
            block[b] = (struct norm_block){t->offset, t->offset + t->size};
        } else {
            block[b] = (struct norm_block){0, model->n_parameters};
        }
    }
    *q = (struct level_code){
        .host = h, .dim = model->n_parameters, .n_blocks = n_blocks, .block = block};
    return true;
}

void level_code_set(struct level_code *q, uint32_t levels)
{
    q->levels = levels;
    q->level_bits = bits_for(levels);
    q->dense_bits = bits_for(2 * (uint64_t)levels + 1);
    q->sparse_bits = bits_for(q->dim) + 1 + q->level_bits;
}

void level_code_destroy(struct level_code *q)
{
    free(q->block);
}

/* --- sizes ---------------------------------------------------------------------------------- */

/* The paper's Upsilon: N (1 + ceil(log2 s)) + 32, with 32 bits for each further norm. */
double level_code_payload_bits(const struct level_code *q)
{
    return (double)q->dim * (1 + q->level_bits) + 32.0 * (double)q->n_blocks;
}

static uint64_t stream_offset(const struct level_code *q)
{
    return 8 + (q->n_blocks * sizeof(float) + 7) / 8 * 8;
}

/* A sparse code of more entries would be as long as the dense one. */
static uint64_t max_sparse_entries(const struct level_code *q)
{
    return (q->dim * q->dense_bits - 1) / q->sparse_bits;
}

uint64_t level_code_max_bytes(const struct level_code *q)
{
    return stream_offset(q) + 8 * bit_stream_words(q->dim, q->dense_bits);
}

/* --- encoding ------------------------------------------------------------------------------- */

/* Sum of squares in double.  Eight partial sums keep the adder busy; their order is fixed. */
static double sum_of_squares(const float *x, uint64_t n)
{
    double part[8] = {0};
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (unsigned k = 0; k < 8; k++)
            part[k] += (double)x[i + k] * (double)x[i + k];
    }
    for (; i < n; i++)
        part[i & 7] += (double)x[i] * (double)x[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) +
           ((part[1] + part[5]) + (part[3] + part[7]));
}

/* The norm that is sent.  Rounding is monotone, so it is no smaller than any |x_i| and no level
 * can exceed s.  A norm that float32 cannot hold is sent as the largest float: any norm at or above
 * max |x_i| keeps the code unbiased. */
static float norm_of(const float *x, uint64_t n)
{
    const double norm = sqrt(sum_of_squares(x, n));
    return norm < (double)FLT_MAX ? (float)norm : FLT_MAX;
}

/* Goes on comparing random bits with a fraction of [0, 1) where the first 32 bits were equal.
 * rest: the fraction's remaining bits, as a fraction; it has finitely many, so this ends. */
static bool round_up_after_tie(const struct level_code *q, osafl_call *c, const osafl_packet *p,
                               uint64_t element, double rest)
{
    uint32_t word[40]; /* a double has no bits beyond 2^-1074 */
    q->host->random_fill(c, 2 * p->slot + STREAM_TIE, p->client, p->round, element, word, 40);
    for (unsigned k = 0; k < 40 && rest > 0.0; k++) {
        rest *= 0x1p32;
        const double digit = floor(rest);
        if ((double)word[k] != digit)
            return (double)word[k] < digit;
        rest -= digit;
    }
    return false;
}

/* bound of all_become_0(): 2^24 scale, and more than what roundings to float may take off. */
static float bound_of(double scale)
{
    return (float)(scale * 0x1p24 * (1.0 + 0x1p-22));
}

/* Whether all entries become level 0 beyond doubt: the first 24 bits of a uniform number, rounded
 * down, exceed 2^24 x rounded up, and so x < 1.  With few levels that is so nearly everywhere, and
 * float comparisons without a branch tell it faster than the exact ones. */
static bool all_become_0(const float *x, const uint32_t *word, unsigned n, float bound)
{
    int other = 0;
    for (unsigned i = 0; i < n; i++)
        other |= !((float)(int32_t)(word[i] >> 8) > fabsf(x[i]) * bound);
    return other == 0;
}

/* Rounds n entries by the first word of each; true: a word has not decided, further bits must. */
static bool round_entries(const struct level_code *q, const float *x, const uint32_t *word,
                          unsigned n, double scale, int32_t *level)
{
    const double top = (double)q->levels - 1.0;
    int any_tie = 0;
    for (unsigned i = 0; i < n; i++) {
        const double scaled = fabs((double)x[i]) * scale;
        const int32_t low = (int32_t)(scaled < top ? scaled : top);
        const double fraction = (scaled - (double)low) * 0x1p32;
        const double uniform = (double)word[i];
        const int up = uniform + 1.0 <= fraction;
        any_tie |= (uniform < fraction) & !up;
        const int32_t magnitude = low + up;
        level[i] = x[i] < 0.0f ? -magnitude : magnitude;
    }
    return any_tie != 0;
}

/* Rounds x[0..n), the chunk that begins at entry `begin`, to levels -s .. s.  scale = s / norm.
 * Chunk boundaries are fixed, so each entry has its own random word.  The comparison of the uniform
 * number with the fraction x - l is exact: fractions are as small as s / sqrt(N), and the grid of a
 * 24-bit or 32-bit uniform number would bias them. */
static void round_chunk(const struct level_code *q, osafl_call *c, const osafl_packet *p,
                        const float *x, uint64_t begin, unsigned n, double scale, int32_t *level)
{
    uint32_t word[CHUNK];
    const double top = (double)q->levels - 1.0;
    const float bound = bound_of(scale);
    bool any_tie = false;

    q->host->random_fill(c, 2 * p->slot + STREAM_ROUNDING, p->client, p->round, begin, word, n);
    for (unsigned i = 0; i < n; i += GROUP) {
        const unsigned count = n - i < GROUP ? n - i : GROUP;
        if (all_become_0(x + i, word + i, count, bound))
            memset(level + i, 0, count * sizeof *level);
        else if (round_entries(q, x + i, word + i, count, scale, level + i))
            any_tie = true;
    }
    if (!any_tie)
        return;
    for (unsigned i = 0; i < n; i++) {
        const double scaled = fabs((double)x[i]) * scale;
        const double low = floor(scaled < top ? scaled : top);
        const double rest = (scaled - low) * 0x1p32 - (double)word[i];
        if (rest > 0.0 && rest < 1.0 && round_up_after_tie(q, c, p, begin + i, rest))
            level[i] += x[i] < 0.0f ? -1 : 1;
    }
}

/* Writes the entries of one chunk in one of the two forms.  *entries counts the non-zero ones.
 * False: the sparse code has become too long. */
static bool write_chunk(const struct level_code *q, bool dense, const int32_t *level,
                        uint64_t begin, unsigned n, struct bit_writer *out, uint64_t *entries)
{
    if (dense) {
        for (unsigned i = 0; i < n; i++)
            bit_write(out, (uint64_t)(level[i] + (int32_t)q->levels), q->dense_bits);
        return true;
    }
    int32_t any = 0;
    for (unsigned i = 0; i < n; i++)
        any |= level[i];
    for (unsigned i = 0; any != 0 && i < n; i++) {
        if (level[i] == 0)
            continue;
        if (*entries == max_sparse_entries(q))
            return false;
        (*entries)++;
        const uint64_t magnitude = (uint64_t)abs(level[i]);
        const uint64_t sign = level[i] < 0;
        bit_write(out, ((begin + i) << 1 | sign) << q->level_bits | (magnitude - 1),
                  q->sparse_bits);
    }
    return true;
}

/* Writes the bit stream in one form and returns the number of entries in it; DENSE when a sparse
 * stream would be no shorter than the dense one.  The same random words give the same levels, so
 * the dense form can be tried after the sparse one. */
static uint64_t write_stream(const struct level_code *q, osafl_call *c, const osafl_packet *p,
                             const float *x, const float *norm, bool dense, uint8_t *out)
{
    struct bit_writer writer = {.out = out};
    int32_t level[CHUNK];
    uint64_t entries = 0;

    for (uint64_t b = 0; b < q->n_blocks; b++) {
        const double scale = norm[b] > 0.0f ? (double)q->levels / (double)norm[b] : 0.0;
        const uint64_t end = q->block[b].end;
        for (uint64_t begin = q->block[b].begin; begin < end; begin += CHUNK) {
            const unsigned n = (unsigned)(end - begin < CHUNK ? end - begin : CHUNK);
            round_chunk(q, c, p, x + begin, begin, n, scale, level);
            if (!write_chunk(q, dense, level, begin, n, &writer, &entries))
                return DENSE;
        }
    }
    bit_write_end(&writer);
    return dense ? DENSE : entries;
}

osafl_status level_code_encode(const struct level_code *q, osafl_call *c, const osafl_packet *p,
                               const float *x, uint8_t *code, uint64_t *bytes, double *air_bits)
{
    const uint64_t offset = stream_offset(q);
    float *norm = q->host->scratch(c, q->n_blocks * sizeof *norm);
    if (norm == NULL)
        return OSAFL_E_NOMEM;
    for (uint64_t b = 0; b < q->n_blocks; b++)
        norm[b] = norm_of(x + q->block[b].begin, q->block[b].end - q->block[b].begin);

    uint64_t entries = write_stream(q, c, p, x, norm, false, code + offset);
    uint64_t bits = entries * q->sparse_bits;
    if (entries == DENSE) {
        write_stream(q, c, p, x, norm, true, code + offset);
        bits = q->dim * q->dense_bits;
    }
    memset(code, 0, offset);
    memcpy(code, &entries, 8);
    memcpy(code + 8, norm, q->n_blocks * sizeof *norm);
    *bytes = offset + (bits + 63) / 64 * 8;
    *air_bits = 64.0 + 32.0 * (double)q->n_blocks + (double)bits;
    return OSAFL_OK;
}

/* --- reading codes -------------------------------------------------------------------------- */

/* Walks the non-zero entries of [.., end) in ascending order. */
struct cursor {
    const struct level_code *q;
    const uint8_t *code;
    const uint8_t *stream;
    bool dense;
    uint64_t next;  /* dense: the coordinate to look at next; sparse: the entry */
    uint64_t limit; /* of next */
    uint64_t end;   /* of the range */
    uint64_t block;
    uint64_t block_end;
    double unit;    /* norm / s of the block */
    uint64_t index; /* of the entry in hand */
    int32_t level;
    float value;
};

static uint64_t code_entries(const uint8_t *code)
{
    uint64_t entries;
    memcpy(&entries, code, 8);
    return entries;
}

static float code_norm(const uint8_t *code, uint64_t block)
{
    float norm;
    memcpy(&norm, code + 8 + block * sizeof norm, sizeof norm);
    return norm;
}

static uint64_t sparse_index(const struct level_code *q, const uint8_t *stream, uint64_t entry)
{
    return bit_read(stream, entry * q->sparse_bits, q->sparse_bits) >> (q->level_bits + 1);
}

/* The first sparse entry at or after coordinate `begin`. */
static uint64_t find_entry(const struct level_code *q, const uint8_t *stream, uint64_t entries,
                           uint64_t begin)
{
    uint64_t low = 0;
    uint64_t high = begin == 0 ? 0 : entries;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (sparse_index(q, stream, middle) < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct cursor cursor_at(const struct level_code *q, const uint8_t *code, uint64_t begin,
                               uint64_t end)
{
    const uint64_t entries = code_entries(code);
    struct cursor k = {
        .q = q,
        .code = code,
        .stream = code + stream_offset(q),
        .dense = entries == DENSE,
        .end = end,
    };
    if (k.dense) {
        k.next = begin;
        k.limit = end;
    } else {
        k.next = find_entry(q, k.stream, entries, begin);
        k.limit = entries;
    }
    return k;
}

/* Makes the block in hand the one that holds coordinate `index`, which never decreases. */
static void enter_block(struct cursor *k, uint64_t index)
{
    while (index >= k->q->block[k->block].end)
        k->block++;
    k->block_end = k->q->block[k->block].end;
    k->unit = (double)code_norm(k->code, k->block) / (double)k->q->levels;
}

/* Moves to the next non-zero entry: its index, level and value.  False: the range is done. */
static inline bool cursor_next(struct cursor *k)
{
    const struct level_code *q = k->q;
    for (;;) {
        if (k->next >= k->limit)
            return false;
        if (k->dense) {
            const uint64_t symbol = bit_read(k->stream, k->next * q->dense_bits, q->dense_bits);
            k->index = k->next++;
            k->level = (int32_t)symbol - (int32_t)q->levels;
            if (k->level != 0)
                break;
        } else {
            const uint64_t entry = bit_read(k->stream, k->next * q->sparse_bits, q->sparse_bits);
            const uint64_t mask = (UINT64_C(1) << q->level_bits) - 1;
            k->next++;
            k->index = entry >> (q->level_bits + 1);
            k->level = (int32_t)(entry & mask) + 1;
            if (entry >> q->level_bits & 1)
                k->level = -k->level;
            if (k->index >= k->end)
                return false;
            break;
        }
    }
    if (k->index >= k->block_end)
        enter_block(k, k->index);
    k->value = (float)(k->unit * (double)k->level);
    return true;
}

void level_code_decode(const struct level_code *q, const uint8_t *code, uint64_t begin,
                       uint64_t end, float *out)
{
    memset(out, 0, (end - begin) * sizeof *out);
    for (struct cursor k = cursor_at(q, code, begin, end); cursor_next(&k);)
        out[k.index - begin] = k.value;
}

void level_code_axpy(const struct level_code *q, const uint8_t *code, uint64_t begin, uint64_t end,
                     double a, double *acc)
{
    for (struct cursor k = cursor_at(q, code, begin, end); cursor_next(&k);)
        acc[k.index - begin] += a * (double)k.value;
}

double level_code_dot(const struct level_code *q, const uint8_t *code, uint64_t begin, uint64_t end,
                      const float *v)
{
    double sum = 0.0;
    for (struct cursor k = cursor_at(q, code, begin, end); cursor_next(&k);)
        sum += (double)k.value * (double)v[k.index - begin];
    return sum;
}

/* --- verification --------------------------------------------------------------------------- */

static const char *wrong_sparse_entry(const struct level_code *q, const uint8_t *stream,
                                      uint64_t entries)
{
    const uint64_t mask = (UINT64_C(1) << q->level_bits) - 1;
    uint64_t least = 0; /* that the next index may be */
    for (uint64_t e = 0; e < entries; e++) {
        const uint64_t entry = bit_read(stream, e * q->sparse_bits, q->sparse_bits);
        const uint64_t index = entry >> (q->level_bits + 1);
        if (index < least || index >= q->dim)
            return "its indices do not ascend within the vector";
        if ((entry & mask) >= q->levels)
            return "a level is out of range";
        least = index + 1;
    }
    return NULL;
}

static const char *wrong_dense_level(const struct level_code *q, const uint8_t *stream)
{
    uint64_t nonzero = 0;
    for (uint64_t i = 0; i < q->dim; i++) {
        const uint64_t symbol = bit_read(stream, i * q->dense_bits, q->dense_bits);
        if (symbol > 2 * (uint64_t)q->levels)
            return "a level is out of range";
        nonzero += symbol != q->levels;
    }
    return nonzero > max_sparse_entries(q) ? NULL : "it is dense, but its sparse form is shorter";
}

const char *level_code_wrong(const struct level_code *q, const uint8_t *code, uint64_t bytes)
{
    const uint64_t offset = stream_offset(q);
    if (bytes < offset)
        return "it is too short";
    const uint64_t entries = code_entries(code);
    if (entries != DENSE && entries > max_sparse_entries(q))
        return "it has more entries than a sparse code can have";
    const uint64_t bits = entries == DENSE ? q->dim * q->dense_bits : entries * q->sparse_bits;
    if (bytes != offset + (bits + 63) / 64 * 8)
        return "its length does not fit its number of entries";
    for (uint64_t b = 0; b < q->n_blocks; b++) {
        const float norm = code_norm(code, b);
        if (!(norm >= 0.0f && norm <= FLT_MAX) || signbit(norm))
            return "a norm is negative or not finite";
    }
    for (uint64_t i = 8 + q->n_blocks * sizeof(float); i < offset; i++) {
        if (code[i] != 0)
            return "its padding is not zero";
    }
    const uint8_t *stream = code + offset;
    if (!bit_stream_ends_clean(stream, bits))
        return "its padding is not zero";
    const char *wrong =
        entries == DENSE ? wrong_dense_level(q, stream) : wrong_sparse_entry(q, stream, entries);
    if (wrong != NULL)
        return wrong;
    for (struct cursor k = cursor_at(q, code, 0, q->dim); cursor_next(&k);) {
        if (k.unit == 0.0)
            return "an entry of a block with norm 0 is not 0";
    }
    return NULL;
}
