/* osafl/quantizer.h - what does a vector look like after the uplink, and how many bits does it
 * cost?
 *
 * A code is a sequence of bytes of the quantizer's own making; the host stores it as it is and
 * hands it back 8-byte aligned. */
#ifndef OSAFL_QUANTIZER_H
#define OSAFL_QUANTIZER_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which vector this is: the identity under which a quantizer draws its randomness, and the link
 * over which it will go. */
typedef struct osafl_packet {
    uint32_t struct_size;
    uint32_t client;
    uint32_t round;
    uint32_t slot; /* 0: the model update; 1, 2, ...: further vectors of the same client */
    double gain;   /* of the client's channel in this round, linear */
    /* bandwidth * log2(1 + gain * power / (bandwidth * noise)) at the client's greatest power. */
    double most_bits_per_s;
} osafl_packet;

/* The vector's dimension is facts->model->n_parameters, its tensors facts->model->tensors.
 *
 * Features: "unbiased": E decode(encode(x)) = x.  "lossless": decode(encode(x)) = x. */
typedef struct osafl_quantizer_vt {
    osafl_lifecycle life;
    /* REQUIRED.  What one vector costs on the air in the resource problem, known before any vector
     * is (the paper's Upsilon); with packet_bits(), the most that it can cost.  [any] */
    double (*payload_bits)(void *self);
    /* REQUIRED.  No code is longer.  [any] */
    uint64_t (*max_bytes)(void *self);
    /* Vectors of dim floats that it keeps for every client and slot over rounds, zero at first
     * (error feedback).  OPTIONAL; NULL: none.  [any] */
    uint32_t (*client_vectors)(void *self);
    /* REQUIRED.  Encodes x[0..dim) into code[0..*bytes).  x is finite.  state: client_vectors
     * vectors, read and written.  *air_bits: size of the code as really packed, header included;
     * at most 8 * *bytes.  [worker] */
    osafl_status (*encode)(void *self, osafl_call *c, const osafl_packet *p, const float *x,
                           float *const *state, uint8_t *code, uint64_t *bytes, double *air_bits);
    /* REQUIRED.  Refuses a code that encode() cannot have made; every code passes here once before
     * the operations below are used on it.  [any] */
    osafl_status (*verify)(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes);
    /* REQUIRED.  out[i - begin] = decoded x[i] for begin <= i < end.  [any] */
    void (*decode)(void *self, const uint8_t *code, uint64_t bytes, uint64_t begin, uint64_t end,
                   float *out);
    /* OPTIONAL: acc[i - begin] += a * (double)decoded x[i]; must equal what decode() and that loop
     * give, byte for byte, but for the sign of a zero in acc: entries that are 0 may be skipped.
     * a is finite.  NULL: the host does that.  [any] */
    void (*axpy)(void *self, const uint8_t *code, uint64_t bytes, uint64_t begin, uint64_t end,
                 double a, double *acc);
    /* OPTIONAL: sum over i of decoded x[i] * v[i - begin], in double and in ascending i, omitting
     * at most terms whose decoded x[i] is 0; NULL: the host uses decode().  [any] */
    double (*dot)(void *self, const uint8_t *code, uint64_t bytes, uint64_t begin, uint64_t end,
                  const float *v);
    /* OPTIONAL: what this vector costs in the resource problem, for codes that depend on client and
     * round: a pure function of the packet, in (0, payload_bits()].  encode() gets the same packet.
     * NULL: payload_bits().  [any] */
    double (*packet_bits)(void *self, const osafl_packet *p);
} osafl_quantizer_vt;

#ifdef __cplusplus
}
#endif
#endif
