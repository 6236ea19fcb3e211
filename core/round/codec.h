/* codec.h - vectors as they travel: codes of the experiment's quantizer, or plain floats where
 * there is no link (pooled.h).
 *
 * Everything that stores or combines updates goes through here, so that neither the engine nor an
 * aggregator knows how an update is kept. */
#ifndef OSAFL_CORE_CODEC_H
#define OSAFL_CORE_CODEC_H

#include "osafl/quantizer.h"
#include "plugin/plugin_host.h"

struct codec {
    const struct instance *quantizer; /* NULL: a code is the dim floats themselves */
    uint64_t dim;
    osafl_quantizer_info info; /* where there is a quantizer */
};

/* One encoded vector; data is 8-byte aligned and owned by the holder of the struct. */
struct code {
    uint8_t *data;
    uint64_t bytes;
    double air_bits; /* size as really packed */
};

/* Name of the quantizer, "none" without one. */
const char *codec_name(const struct codec *k);

/* Bytes that codec_encode() may write.  [any] */
uint64_t codec_max_bytes(const struct codec *k);

/* The most that one vector costs in the resource problem, the paper's Upsilon in bits, and what
 * this one does; 0 without a quantizer.  [any] */
double codec_payload_bits(const struct codec *k);
osafl_status codec_packet_bits(const struct codec *k, osafl_call *c, const osafl_packet *p,
                               double *bits);

/* The quantizer's codes depend on client and round. */
bool codec_adapts(const struct codec *k);

/* Encodes x[0..dim), all finite, by way of buffer[codec_max_bytes()], verifies the code and keeps
 * a copy of its own in *out.  state: the quantizer's info.client_floats of this client and
 * slot, read and written.  On failure *out is empty and c holds the error.  [worker] */
osafl_status codec_encode(const struct codec *k, osafl_call *c, const osafl_packet *p,
                          const float *x, float *state, uint8_t *buffer, struct code *out);

/* Refuses what codec_encode() cannot have made, for codes that come from a file.  [any] */
osafl_status codec_verify(const struct codec *k, osafl_call *c, const uint8_t *data,
                          uint64_t bytes);

/* The operations on codes borrow a call, which may be another plugin's (call_lend()).
 *
 * out[i - begin] = decoded x[i], begin <= i < end <= dim.  [any] */
osafl_status codec_decode(const struct codec *k, osafl_call *c, const struct code *x,
                          uint64_t begin, uint64_t end, float *out);

/* acc[i - begin] += a * decoded x[i], in double.  [any] */
osafl_status codec_axpy(const struct codec *k, osafl_call *c, const struct code *x, uint64_t begin,
                        uint64_t end, double a, double *acc);

/* *out = sum of decoded x[i] * v[i - begin], in double and in a fixed order.  [any] */
osafl_status codec_dot(const struct codec *k, osafl_call *c, const struct code *x, uint64_t begin,
                       uint64_t end, const float *v, double *out);

/* <a, b> of two dense vectors of n floats, in double and in a fixed order.  [any] */
double codec_dense_dot(const float *a, const float *b, uint64_t n);

void code_free(struct code *x);

#endif
