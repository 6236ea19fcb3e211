/* osafl/quantizer.h - what does a vector look like after the uplink, and how many bits does it
 * cost?
 *
 * A code is a sequence of bytes of the quantizer's own making; the host stores it as it is and
 * hands it back 8-byte aligned.  It may hold more than goes over the air, such as indices that the
 * receiver draws anew from the packet: air_bits of encode() counts what is sent. */
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

typedef struct osafl_quantizer_info {
    uint32_t struct_size;
    uint32_t reserved;
    /* What one vector costs on the air in the resource problem, known before any vector is (the
     * paper's Upsilon); with packet_bits(), the most that it can cost. */
    double payload_bits;
    uint64_t max_bytes; /* no code is longer */
    /* Floats that it keeps for every client and slot over rounds, zero at first (error feedback).
     * What encode() makes of them is dropped where the update is lost. */
    uint64_t client_floats;
} osafl_quantizer_info;

/* A vector has facts->dim elements; its tensors are facts->model->tensors.
 *
 * Features, laws that are tested where they are declared:
 *   "unbiased"        E decode(encode(x)) = x
 *   "lossless"        decode(encode(x)) = x
 *   "error_feedback"  client_floats is dim or 0; where it is dim, state is what codes left out:
 *                     state before + x = decode(encode(x)) + state after, up to rounding */
typedef struct osafl_quantizer_vt {
    osafl_lifecycle life;
    /* REQUIRED.  The same answer every time.  [any] */
    osafl_status (*describe)(void *self, osafl_call *c, osafl_quantizer_info *out);
    /* REQUIRED.  Encodes x[0..dim) into code[0..*bytes).  x is finite.  state[0..client_floats) of
     * this client and slot, 64-byte aligned, is read and written.  *air_bits: size of the code as
     * really packed, header included; at most 8 * *bytes.  [worker] */
    osafl_status (*encode)(void *self, osafl_call *c, const osafl_packet *p, const float *x,
                           float *state, uint8_t *code, uint64_t *bytes, double *air_bits);
    /* REQUIRED.  Refuses a code that encode() cannot have made; every code passes here once before
     * the operations below are used on it.  [any] */
    osafl_status (*verify)(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes);
    /* REQUIRED.  out[i - begin] = decoded x[i] for begin <= i < end.  [any] */
    osafl_status (*decode)(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                           uint64_t begin, uint64_t end, float *out);
    /* OPTIONAL: acc[i - begin] += a * (double)decoded x[i]; must equal what decode() and that loop
     * give, byte for byte, but for the sign of a zero in acc: entries that are 0 may be skipped.
     * a is finite.  NULL: the host does that.  [any] */
    osafl_status (*axpy)(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                         uint64_t begin, uint64_t end, double a, double *acc);
    /* OPTIONAL: *out = sum over i of decoded x[i] * v[i - begin], in double and in ascending i,
     * omitting at most terms whose decoded x[i] is 0; NULL: the host uses decode().  [any] */
    osafl_status (*dot)(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes,
                        uint64_t begin, uint64_t end, const float *v, double *out);
    /* OPTIONAL: what this vector costs in the resource problem, for codes that depend on client and
     * round: a pure function of the packet, in (0, payload_bits].  encode() gets the same packet.
     * NULL: payload_bits.  [any] */
    osafl_status (*packet_bits)(void *self, osafl_call *c, const osafl_packet *p, double *bits);
} osafl_quantizer_vt;

#ifdef __cplusplus
}
#endif
#endif
