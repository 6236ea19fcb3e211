/* level_code.h - stochastic quantization to s levels of the norm (ALGORITHMS.md 5; Alistarh et al.
 * 2017), shared by the quantizers that differ in how they choose s.
 *
 * Q(d)_i = ||d|| * sign(d_i) * zeta_i with x = |d_i| * s / ||d||, l = floor(x), and zeta_i =
 * (l + 1) / s with probability x - l, else l / s.  The norm of d is taken over the whole vector
 * (what the paper's payload counts) or over each tensor; x uses the float32 norm that is sent, so
 * E Q(d) = d.
 *
 * With few levels and a norm over millions of entries almost all levels are 0, so a code has two
 * forms, and the shorter one is sent:
 *   sparse  the non-zero entries in ascending order, each with index, sign and level - 1
 *   dense   level + s of every entry
 * Code: one word (the number of sparse entries, or DENSE), the norms as float32, a bit stream of
 * entries of fixed width.  Fixed widths let a range be found by binary search, so decoding,
 * accumulating and products of a range cost what its entries cost. */
#ifndef OSAFL_QUANTIZER_LEVEL_CODE_H
#define OSAFL_QUANTIZER_LEVEL_CODE_H

#include "osafl/quantizer.h"

#define MAX_LEVELS 65535

/* [begin, end) of the vector has a norm of its own. */
struct norm_block {
    uint64_t begin;
    uint64_t end;
};

struct level_code {
    const osafl_host *host;
    uint32_t levels; /* s */
    unsigned dense_bits;
    unsigned sparse_bits;
    unsigned level_bits; /* of sparse_bits, for level - 1 */
    uint64_t dim;        /* N */
    uint64_t n_blocks;
    struct norm_block *block;
};

/* False: out of memory.  Levels are not set. */
bool level_code_create(struct level_code *q, const osafl_host *h, const osafl_model_info *model,
                       bool per_tensor);
void level_code_destroy(struct level_code *q);

/* 1 <= levels <= MAX_LEVELS.  A copy of the struct with other levels may be used beside it. */
void level_code_set(struct level_code *q, uint32_t levels);

/* The operations of a quantizer. */
double level_code_payload_bits(const struct level_code *q);
uint64_t level_code_max_bytes(const struct level_code *q);
osafl_status level_code_encode(const struct level_code *q, osafl_call *c, const osafl_packet *p,
                               const float *x, uint8_t *code, uint64_t *bytes, double *air_bits);
void level_code_decode(const struct level_code *q, const uint8_t *code, uint64_t begin,
                       uint64_t end, float *out);
void level_code_axpy(const struct level_code *q, const uint8_t *code, uint64_t begin, uint64_t end,
                     double a, double *acc);
double level_code_dot(const struct level_code *q, const uint8_t *code, uint64_t begin, uint64_t end,
                      const float *v);

/* What is wrong with a code; NULL: nothing. */
const char *level_code_wrong(const struct level_code *q, const uint8_t *code, uint64_t bytes);

#endif
