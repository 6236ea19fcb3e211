/* codec.c - vectors as they travel. */
#include "codec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Vectors without a decoder of their own are unpacked in tiles of this many floats on the stack. */
#define TILE 2048

/* Sums run in this many interleaved lanes: enough to hide the latency of the additions.  The
 * number is part of the results. */
#define LANES 8

static const osafl_quantizer_vt *vtable(const struct codec *k)
{
    return (const osafl_quantizer_vt *)(const void *)k->quantizer->plugin->vtable;
}

const char *codec_name(const struct codec *k)
{
    return k->quantizer != NULL ? k->quantizer->plugin->name : "none";
}

uint64_t codec_max_bytes(const struct codec *k)
{
    return k->quantizer != NULL ? k->info.max_bytes : k->dim * sizeof(float);
}

double codec_payload_bits(const struct codec *k)
{
    return k->quantizer != NULL ? k->info.payload_bits : 0.0;
}

bool codec_adapts(const struct codec *k)
{
    return k->quantizer != NULL && vtable(k)->packet_bits != NULL;
}

osafl_status codec_packet_bits(const struct codec *k, osafl_call *c, const osafl_packet *p,
                               double *bits)
{
    *bits = codec_payload_bits(k);
    return codec_adapts(k) ? vtable(k)->packet_bits(k->quantizer->self, c, p, bits) : OSAFL_OK;
}

osafl_status codec_verify(const struct codec *k, osafl_call *c, const uint8_t *data, uint64_t bytes)
{
    if (k->quantizer != NULL)
        return vtable(k)->verify(k->quantizer->self, c, data, bytes);
    if (bytes == k->dim * sizeof(float))
        return OSAFL_OK;
    return core_host.fail(c, OSAFL_E_STATE, "a plain vector has %llu bytes instead of %llu",
                          (unsigned long long)bytes, (unsigned long long)(k->dim * sizeof(float)));
}

static osafl_status encode_into(const struct codec *k, osafl_call *c, const osafl_packet *p,
                                const float *x, float *state, uint8_t *buffer, uint64_t *bytes,
                                double *air_bits)
{
    if (k->quantizer == NULL) {
        *bytes = k->dim * sizeof(float);
        *air_bits = 0.0;
        memcpy(buffer, x, (size_t)*bytes);
        return OSAFL_OK;
    }
    OSAFL_TRY(vtable(k)->encode(k->quantizer->self, c, p, x, state, buffer, bytes, air_bits));
    if (*bytes > codec_max_bytes(k))
        return core_host.fail(c, OSAFL_E_BUG, "encode() made %llu bytes, more than max_bytes",
                              (unsigned long long)*bytes);
    if (!(*air_bits >= 0.0 && *air_bits <= 8.0 * (double)*bytes))
        return core_host.fail(c, OSAFL_E_BUG, "encode() reports %g bits for %llu bytes", *air_bits,
                              (unsigned long long)*bytes);
    /* Refusing what it has made itself is a mistake of the plugin, whatever it calls it. */
    return vtable(k)->verify(k->quantizer->self, c, buffer, *bytes) == OSAFL_OK ? OSAFL_OK
                                                                                : OSAFL_E_BUG;
}

osafl_status codec_encode(const struct codec *k, osafl_call *c, const osafl_packet *p,
                          const float *x, float *state, uint8_t *buffer, struct code *out)
{
    uint64_t bytes = 0;
    double air_bits = 0.0;
    *out = (struct code){0};
    OSAFL_TRY(encode_into(k, c, p, x, state, buffer, &bytes, &air_bits));
    /* The copy has the exact size: sparse codes are far below the maximum. */
    uint8_t *data = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (data == NULL)
        return core_host.fail(c, OSAFL_E_NOMEM, "out of memory for a code of %llu bytes",
                              (unsigned long long)bytes);
    memcpy(data, buffer, (size_t)bytes);
    *out = (struct code){.data = data, .bytes = bytes, .air_bits = air_bits};
    return OSAFL_OK;
}

static const float *plain(const struct code *x)
{
    return (const float *)(const void *)x->data;
}

osafl_status codec_decode(const struct codec *k, osafl_call *c, const struct code *x,
                          uint64_t begin, uint64_t end, float *out)
{
    assert(begin <= end && end <= k->dim);
    if (k->quantizer == NULL) {
        memcpy(out, plain(x) + begin, (size_t)(end - begin) * sizeof(float));
        return OSAFL_OK;
    }
    const struct loan loan = call_lend(c, k->quantizer);
    const osafl_status status =
        vtable(k)->decode(k->quantizer->self, c, x->data, x->bytes, begin, end, out);
    return call_take_back(c, &loan, status);
}

static void dense_axpy(const float *x, uint64_t n, double a, double *acc)
{
    for (uint64_t i = 0; i < n; i++)
        acc[i] += a * (double)x[i];
}

/* The end of a tile that begins at i. */
static uint64_t tile_end(uint64_t i, uint64_t end)
{
    return end - i < TILE ? end : i + TILE;
}

osafl_status codec_axpy(const struct codec *k, osafl_call *c, const struct code *x, uint64_t begin,
                        uint64_t end, double a, double *acc)
{
    assert(begin <= end && end <= k->dim);
    if (k->quantizer == NULL) {
        dense_axpy(plain(x) + begin, end - begin, a, acc);
        return OSAFL_OK;
    }
    if (vtable(k)->axpy != NULL) {
        const struct loan loan = call_lend(c, k->quantizer);
        const osafl_status status =
            vtable(k)->axpy(k->quantizer->self, c, x->data, x->bytes, begin, end, a, acc);
        return call_take_back(c, &loan, status);
    }
    for (uint64_t i = begin; i < end; i = tile_end(i, end)) {
        float tile[TILE];
        OSAFL_TRY(codec_decode(k, c, x, i, tile_end(i, end), tile));
        dense_axpy(tile, tile_end(i, end) - i, a, acc + (i - begin));
    }
    return OSAFL_OK;
}

double codec_dense_dot(const float *a, const float *b, uint64_t n)
{
    double lane[LANES] = {0.0};
    uint64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (unsigned j = 0; j < LANES; j++)
            lane[j] += (double)a[i + j] * (double)b[i + j];
    double sum = 0.0;
    for (unsigned j = 0; j < LANES; j++)
        sum += lane[j];
    for (; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

osafl_status codec_dot(const struct codec *k, osafl_call *c, const struct code *x, uint64_t begin,
                       uint64_t end, const float *v, double *out)
{
    assert(begin <= end && end <= k->dim);
    *out = 0.0;
    if (k->quantizer == NULL) {
        *out = codec_dense_dot(plain(x) + begin, v, end - begin);
        return OSAFL_OK;
    }
    if (vtable(k)->dot != NULL) {
        const struct loan loan = call_lend(c, k->quantizer);
        const osafl_status status =
            vtable(k)->dot(k->quantizer->self, c, x->data, x->bytes, begin, end, v, out);
        return call_take_back(c, &loan, status);
    }
    for (uint64_t i = begin; i < end; i = tile_end(i, end)) {
        float tile[TILE];
        OSAFL_TRY(codec_decode(k, c, x, i, tile_end(i, end), tile));
        *out += codec_dense_dot(tile, v + (i - begin), tile_end(i, end) - i);
    }
    return OSAFL_OK;
}

void code_free(struct code *x)
{
    free(x->data);
    *x = (struct code){0};
}
