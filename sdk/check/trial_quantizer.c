/* trial_quantizer.c - quantizers at work, and their laws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "instance_under_test.h"

#define SLOTS 2       /* vectors that each client sends */
#define MOST_STATES 8 /* models that are kept of a client and slot */

/* What the host keeps: the quantizer's floats of each client and slot. */
struct quantizer_host {
    osafl_quantizer_info info;
    float *state; /* [tasks][SLOTS][info.client_floats] */
};

static const osafl_quantizer_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_quantizer_vt *)(const void *)s->instance.plugin->vtable;
}

static struct quantizer_host *kept_of(const struct instance_under_test *s)
{
    return s->kept;
}

/* Of one client and slot. */
static uint64_t own_floats(const struct instance_under_test *s)
{
    return kept_of(s)->info.client_floats;
}

static uint64_t state_floats(const struct instance_under_test *s)
{
    return (uint64_t)quantizer_calls.tasks * SLOTS * own_floats(s);
}

static osafl_status describe(struct instance_under_test *s, struct caller *t,
                             osafl_quantizer_info *info)
{
    *info = (osafl_quantizer_info){.struct_size = sizeof *info};
    osafl_quantizer_info *out = arena_inout(&t->arena, "info", info, 1, sizeof *info, 8);
    osafl_call *c = caller_begin(t, "describe()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->describe(s->instance.self, c, out)));
    *info = *out;
    transcript_bytes(&t->transcript, "describe()", t->round, 0, info, sizeof *info);
    return OSAFL_OK;
}

static osafl_status begin(struct instance_under_test *s, struct caller *t)
{
    struct quantizer_host *k = kept_of(s);
    OSAFL_TRY(describe(s, t, &k->info));
    if (k->info.client_floats > MOST_STATES * s->world.dim)
        conform_fail(s->conform, "keeps %g floats for each client", (double)k->info.client_floats);
    if (k->info.max_bytes > (uint64_t)1 << 40)
        conform_fail(s->conform, "says that a code of %u numbers may have %g bytes",
                     (unsigned)s->world.dim, (double)k->info.max_bytes);
    k->state = calloc(state_floats(s) + 1, sizeof *k->state);
    if (k->state == NULL)
        _exit(70);
    return OSAFL_OK;
}

/* A packet over a link of its own: from none at all to one that carries anything. */
static osafl_packet make_packet(uint32_t client, uint32_t round, uint32_t slot)
{
    const uint32_t link = (3 * client + round) % 12;
    return (osafl_packet){.struct_size = sizeof(osafl_packet),
                          .client = client,
                          .round = round,
                          .slot = slot,
                          .gain = link == 0 ? 0.0 : pow(10.0, (double)link - 16.0),
                          .most_bits_per_s = link == 0 ? 0.0 : pow(10.0, (double)link - 2.0)};
}

static osafl_status ask_bits(struct instance_under_test *s, struct caller *t,
                             const osafl_packet *packet, double *bits)
{
    osafl_call *c = caller_begin(t, "packet_bits()", packet->client);
    return caller_end(t, vtable(s)->packet_bits(s->instance.self, c, packet, bits));
}

/* What a packet costs; packet_bits() gives the same twice, and no more than payload_bits. */
static osafl_status bits_of(struct instance_under_test *s, struct caller *t, const osafl_packet *p,
                            double *bits)
{
    const struct quantizer_host *k = kept_of(s);
    double again = 0.0;
    *bits = k->info.payload_bits;
    if (vtable(s)->packet_bits == NULL)
        return OSAFL_OK;
    const osafl_packet *packet = arena_input(&t->arena, "packet", p, 1, sizeof *p, 8);
    OSAFL_TRY(ask_bits(s, t, packet, bits));
    OSAFL_TRY(ask_bits(s, t, packet, &again));
    if (!(*bits > 0.0 && *bits <= k->info.payload_bits) || *bits != again)
        caller_fail(t, "gives %g where payload_bits is %g, or not the same twice", *bits,
                    k->info.payload_bits);
    return OSAFL_OK;
}

/* One encoded vector, in buffers of the caller. */
struct encoded {
    uint8_t *code;
    uint64_t bytes;
    double air_bits;
};

static osafl_status encode(struct instance_under_test *s, struct caller *t, const osafl_packet *p,
                           const float *x, float *kept_state, struct encoded *out)
{
    const struct quantizer_host *k = kept_of(s);
    const uint64_t dim = s->world.dim;
    const uint64_t floats = own_floats(s);
    float *state = arena_inout(&t->arena, "state", kept_state, floats, sizeof *state, 64);
    const float *in = arena_input(&t->arena, "x", x, dim, sizeof *x, 64);
    const osafl_packet *packet = arena_input(&t->arena, "packet", p, 1, sizeof *p, 8);
    out->code = arena_output(&t->arena, "code", k->info.max_bytes, 1, 8);
    out->bytes = UINT64_MAX;
    out->air_bits = -1.0;
    osafl_call *c = caller_begin(t, "encode()", p->client);
    OSAFL_TRY(caller_end(t, vtable(s)->encode(s->instance.self, c, packet, in, state, out->code,
                                              &out->bytes, &out->air_bits)));
    if (out->bytes > k->info.max_bytes)
        caller_fail(t, "made a code of %g bytes where max_bytes is %g", (double)out->bytes,
                    (double)k->info.max_bytes);
    memcpy(kept_state, state, floats * sizeof *state);
    return OSAFL_OK;
}

static osafl_status verify(struct instance_under_test *s, struct caller *t, const uint8_t *code,
                           uint64_t bytes)
{
    osafl_call *c = caller_begin(t, "verify()", OSAFL_NO_CLIENT);
    return caller_end(t, vtable(s)->verify(s->instance.self, c, code, bytes));
}

/* Entries [first, end) of a code that verify() accepted. */
struct range {
    const uint8_t *code;
    uint64_t bytes;
    uint64_t first;
    uint64_t end;
};

static osafl_status decode(struct instance_under_test *s, struct caller *t, const struct range *r,
                           float *out)
{
    osafl_call *c = caller_begin(t, "decode()", OSAFL_NO_CLIENT);
    return caller_end(
        t, vtable(s)->decode(s->instance.self, c, r->code, r->bytes, r->first, r->end, out));
}

static osafl_status axpy(struct instance_under_test *s, struct caller *t, const struct range *r,
                         double a, double *sum)
{
    osafl_call *c = caller_begin(t, "axpy()", OSAFL_NO_CLIENT);
    return caller_end(
        t, vtable(s)->axpy(s->instance.self, c, r->code, r->bytes, r->first, r->end, a, sum));
}

static osafl_status dot(struct instance_under_test *s, struct caller *t, const struct range *r,
                        const float *v, double *out)
{
    osafl_call *c = caller_begin(t, "dot()", OSAFL_NO_CLIENT);
    return caller_end(
        t, vtable(s)->dot(s->instance.self, c, r->code, r->bytes, r->first, r->end, v, out));
}

static osafl_status use_code(struct instance_under_test *s, struct caller *t, const uint8_t *code,
                             uint64_t bytes, uint64_t first, uint64_t end, float *out)
{
    const uint64_t n = end - first;
    const struct range range = {.code = code, .bytes = bytes, .first = first, .end = end};
    float *decoded = arena_output(&t->arena, "out of decode()", n, sizeof *decoded, 4);
    OSAFL_TRY(decode(s, t, &range, decoded));
    memcpy(out, decoded, n * sizeof *out);
    transcript_floats(&t->transcript, "out of decode()", t->round, t->task, decoded, n);
    if (vtable(s)->axpy != NULL) {
        double *sum = arena_inout(&t->arena, "acc of axpy()", NULL, n, sizeof *sum, 8);
        OSAFL_TRY(axpy(s, t, &range, 0.75, sum));
        transcript_doubles(&t->transcript, "acc of axpy()", t->round, t->task, sum, n);
    }
    if (vtable(s)->dot != NULL) {
        const float *v = arena_input(&t->arena, "v of dot()", decoded, n, sizeof *v, 4);
        double *product = arena_output(&t->arena, "out of dot()", 1, sizeof *product, 8);
        OSAFL_TRY(dot(s, t, &range, v, product));
        transcript_doubles(&t->transcript, "dot()", t->round, t->task, product, 1);
    }
    return OSAFL_OK;
}

/* Sends x and uses its code. */
static osafl_status send_and_use(struct instance_under_test *s, struct caller *t, uint32_t slot,
                                 const float *x, float *out)
{
    const uint64_t dim = s->world.dim;
    const osafl_packet p = make_packet(t->task, t->round, slot);
    float *state = kept_of(s)->state + (t->task * SLOTS + slot) * own_floats(s);
    struct encoded e;
    double bits;
    OSAFL_TRY(bits_of(s, t, &p, &bits));
    transcript_doubles(&t->transcript, "packet_bits()", t->round, t->task, &bits, 1);
    OSAFL_TRY(encode(s, t, &p, x, state, &e));
    transcript_bytes(&t->transcript, "a code of encode()", t->round, t->task, e.code, e.bytes);
    transcript_doubles(&t->transcript, "air_bits of encode()", t->round, t->task, &e.air_bits, 1);
    const uint8_t *code = arena_input(&t->arena, "a code", e.code, e.bytes, 1, 8);
    OSAFL_TRY(verify(s, t, code, e.bytes));
    OSAFL_TRY(use_code(s, t, code, e.bytes, 0, dim, out));
    OSAFL_TRY(use_code(s, t, code, e.bytes, dim / 3, dim - dim / 4, out));
    return use_code(s, t, code, e.bytes, dim / 2, dim / 2, out);
}

static osafl_status run_task(struct instance_under_test *s, struct caller *t)
{
    const uint64_t dim = s->world.dim;
    float *x = calloc(dim, sizeof *x);
    float *out = calloc(dim, sizeof *out);
    osafl_status status = x != NULL && out != NULL ? OSAFL_OK : OSAFL_E_NOMEM;
    for (uint32_t slot = 0; slot < SLOTS && status == OSAFL_OK; slot++) {
        trial_floats(s, t->round, t->task * SLOTS + slot, 0.1, x, dim);
        if (t->task == 1 && slot == 1)
            memset(x, 0, dim * sizeof *x); /* an update that is zero */
        status = send_and_use(s, t, slot, x, out);
    }
    free(x);
    free(out);
    return status;
}

static void copy_kept(struct instance_under_test *to, const struct instance_under_test *from)
{
    memcpy(kept_of(to)->state, kept_of(from)->state, state_floats(to) * sizeof(float));
}

static void free_kept(struct instance_under_test *s)
{
    free(kept_of(s)->state);
}

const struct kind_calls quantizer_calls = {
    .kind = OSAFL_KIND_QUANTIZER,
    .kept_bytes = sizeof(struct quantizer_host),
    .tasks = 8,
    .begin = begin,
    .task = run_task,
    .copy_kept = copy_kept,
    .free_kept = free_kept,
};

/* ---- laws ---------------------------------------------------------------------------------- */

/* A quantizer with one vector to send, and the memory for it. */
struct sender {
    struct instance_under_test tested;
    struct transcript answers;
    float *x;
    float *state;
    float *decoded;
    float *part;
};

static void sender_open(struct sender *r, struct conform *c)
{
    *r = (struct sender){.x = NULL};
    under_test_must_open(&r->tested, c, &r->answers);
    const uint64_t dim = r->tested.world.dim;
    r->x = calloc(dim, sizeof(float));
    r->decoded = calloc(dim, sizeof(float));
    r->part = calloc(dim, sizeof(float));
    r->state = calloc(MOST_STATES * dim, sizeof(float));
    if (r->x == NULL || r->decoded == NULL || r->part == NULL || r->state == NULL)
        _exit(70);
}

static void must(const struct caller *t, osafl_status status)
{
    if (status != OSAFL_OK)
        caller_fail(t, "fails with %s: %s", status_name(status), t->error.text);
}

/* Sends r->x as this client's and round's; the code is the caller's. */
static struct encoded send(struct sender *r, struct caller *t, uint32_t client)
{
    const osafl_packet p = make_packet(client, t->round, 0);
    struct encoded e;
    double bits;
    must(t, bits_of(&r->tested, t, &p, &bits));
    must(t, encode(&r->tested, t, &p, r->x, r->state, &e));
    must(t, verify(&r->tested, t, e.code, e.bytes));
    const struct range all = {.code = e.code, .bytes = e.bytes, .end = r->tested.world.dim};
    must(t, decode(&r->tested, t, &all, r->decoded));
    return e;
}

void check_quantizer_sizes(struct conform *c)
{
    struct sender r;
    sender_open(&r, c);
    const struct quantizer_host *k = kept_of(&r.tested);
    if (!(k->info.payload_bits > 0.0 && isfinite(k->info.payload_bits)))
        conform_fail(c, "states a payload of %g bits", k->info.payload_bits);
    for (uint32_t round = 0; round < 20; round++) {
        struct caller t = caller_open(&r.tested);
        t.round = round;
        trial_floats(&r.tested, round, 1, pow(10.0, (int)round - 10), r.x, r.tested.world.dim);
        const struct encoded e = send(&r, &t, round % 5);
        if (!(e.air_bits > 0.0 && e.air_bits <= 8.0 * (double)e.bytes))
            caller_fail(&t, "states %g bits on the air for a code of %g bytes", e.air_bits,
                        (double)e.bytes);
        caller_close(&t);
    }
}

/* Of n independent normal numbers, a code by which they are known up to a share `lost` of their
 * variance has n / 2 * log2(1 / lost) bits at least (rate and distortion), whatever the quantizer.
 */
void check_quantizer_bits(struct conform *c)
{
    enum { PACKETS = 64 };
    struct sender r;
    sender_open(&r, c);
    const uint64_t dim = r.tested.world.dim;
    double product = 0.0;
    double sent = 0.0;
    double got = 0.0;
    double bits = 0.0;
    for (uint32_t n = 0; n < PACKETS; n++) {
        struct caller t = caller_open(&r.tested);
        t.round = n / 8;
        trial_floats(&r.tested, n, 6, 0.1, r.x, dim);
        memset(r.state, 0, MOST_STATES * dim * sizeof *r.state);
        bits += send(&r, &t, n % 8).air_bits / PACKETS;
        for (uint64_t i = 0; i < dim; i++) {
            product += (double)r.x[i] * (double)r.decoded[i];
            sent += (double)r.x[i] * (double)r.x[i];
            got += (double)r.decoded[i] * (double)r.decoded[i];
        }
        caller_close(&t);
    }
    /* What a float distinguishes at most. */
    const double lost = got > 0.0 ? fmax(1.0 - product * product / (sent * got), 0x1p-40) : 1.0;
    const double least = (double)dim / 2.0 * -log2(lost);
    if (bits < 0.95 * least - 64.0)
        conform_fail(c,
                     "states %.4g bits on the air, where the vectors that decode agree with those "
                     "that were sent as closely as %.4g bits allow at best",
                     bits, least);
}

static void require_same(const struct caller *t, const char *what, uint64_t i, double got,
                         double wanted)
{
    if (!(got == wanted)) /* +0 and -0 are the same */
        caller_fail(t, "%s of entry %u is %.17g where decode() of the whole makes it %.17g", what,
                    (unsigned)i, got, wanted);
}

/* axpy() and dot() of a range are what decode() and a loop give. */
static void check_sums(struct sender *r, struct caller *t, const struct range *range)
{
    struct instance_under_test *s = &r->tested;
    const uint64_t first = range->first;
    double *sum = calloc(s->world.dim, sizeof *sum);
    double product = 0.0;
    double got = 0.0;
    if (sum == NULL)
        _exit(70);
    for (uint64_t i = first; i < range->end; i++) {
        sum[i - first] = 0.01 * (double)i;
        product += (double)r->decoded[i] * (double)r->x[i];
    }
    if (vtable(s)->axpy != NULL)
        must(t, axpy(s, t, range, -1.5, sum));
    for (uint64_t i = first; vtable(s)->axpy != NULL && i < range->end; i++)
        require_same(t, "axpy()", i, sum[i - first],
                     0.01 * (double)i + -1.5 * (double)r->decoded[i]);
    if (vtable(s)->dot != NULL) {
        must(t, dot(s, t, range, r->x + first, &got));
        require_same(t, "dot()", first, got, product);
    }
    free(sum);
}

/* Any range decodes as the whole does. */
void check_quantizer_ranges(struct conform *c)
{
    struct sender r;
    sender_open(&r, c);
    const uint64_t dim = r.tested.world.dim;
    struct draws d = {.seed = c->seed, .purpose = 5};
    for (uint32_t round = 0; round < 40; round++) {
        struct caller t = caller_open(&r.tested);
        t.round = round;
        trial_floats(&r.tested, round, 2, 0.1, r.x, dim);
        const struct encoded e = send(&r, &t, 0);
        struct range range = {.code = e.code, .bytes = e.bytes};
        range.first = draw_below(&d, (uint32_t)dim);
        range.end = range.first + draw_below(&d, (uint32_t)(dim - range.first) + 1);
        must(&t, decode(&r.tested, &t, &range, r.part));
        for (uint64_t i = range.first; i < range.end; i++)
            require_same(&t, "a range", i, (double)r.part[i - range.first], (double)r.decoded[i]);
        check_sums(&r, &t, &range);
        caller_close(&t);
    }
}

/* A code that a damaged file might hold: random bytes, or a true code with some bits turned or its
 * length changed. */
static uint64_t damage(struct draws *d, uint8_t *code, uint64_t bytes, uint64_t max_bytes)
{
    switch (draw_below(d, 5)) {
    case 0:
        for (uint64_t i = 0; i < max_bytes; i++)
            code[i] = (uint8_t)draw_bits(d);
        return draw_bits(d) % (max_bytes + 1);
    case 1:
        return bytes > 0 ? draw_bits(d) % bytes : 0;
    case 2:
        return max_bytes;
    default:
        for (uint32_t k = 1 + draw_below(d, 8); bytes > 0 && k > 0; k--)
            code[draw_bits(d) % bytes] ^= (uint8_t)(1u << draw_below(d, 8));
        return bytes;
    }
}

/* A damaged code is refused, or decodes to finite numbers within its memory. */
static void try_damaged(struct sender *r, struct caller *t, const uint8_t *code, uint64_t bytes)
{
    const uint64_t dim = r->tested.world.dim;
    const uint8_t *given = arena_input(&t->arena, "a damaged code", code, bytes, 1, 8);
    const osafl_status status = verify(&r->tested, t, given, bytes);
    if (status == OSAFL_E_BUG)
        caller_fail(t, "blames the host for a damaged code: %s", t->error.text);
    if (status == OSAFL_OK) {
        must(t, use_code(&r->tested, t, given, bytes, 0, dim, r->part));
        if (t->transcript.not_finite[0] != '\0')
            caller_fail(t, "accepts a damaged code, of which %s", t->transcript.not_finite);
    }
    const char *beside = arena_damage(&t->arena);
    if (beside != NULL)
        caller_fail(t, "%s for a damaged code", beside);
}

/* Puts NaN and infinity, as float and as double, where a number may lie: bits that are turned at
 * random rarely make one. */
static void try_not_finite(struct sender *r)
{
    static const float floats[] = {NAN, INFINITY, -INFINITY};
    static const double doubles[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};
    uint8_t *code = calloc(kept_of(&r->tested)->info.max_bytes + 1, 1);
    uint64_t bytes = 1;
    if (code == NULL)
        _exit(70);
    for (uint64_t at = 0; at < bytes; at += 4)
        for (uint32_t k = 0; k < 6; k++) {
            struct caller t = caller_open(&r->tested);
            trial_floats(&r->tested, 0, 3, 0.1, r->x, r->tested.world.dim);
            const struct encoded e = send(r, &t, 0);
            const size_t size = k < 3 ? sizeof floats[0] : sizeof doubles[0];
            bytes = e.bytes;
            memcpy(code, e.code, bytes);
            if (at + size <= bytes && at % size == 0) {
                memcpy(code + at, k < 3 ? (const void *)&floats[k] : &doubles[k - 3], size);
                try_damaged(r, &t, code, bytes);
            }
            caller_close(&t);
        }
    free(code);
}

void check_quantizer_garbage(struct conform *c)
{
    struct sender r;
    sender_open(&r, c);
    r.tested.guarded = true;
    const uint64_t max_bytes = kept_of(&r.tested)->info.max_bytes;
    struct draws d = {.seed = c->seed, .purpose = 6};
    uint8_t *code = calloc(max_bytes + 1, 1);
    if (code == NULL)
        _exit(70);
    for (uint32_t round = 0; round < 600; round++) {
        struct caller t = caller_open(&r.tested);
        t.round = round;
        trial_floats(&r.tested, round, 3, 0.1, r.x, r.tested.world.dim);
        const struct encoded e = send(&r, &t, 0);
        memcpy(code, e.code, e.bytes);
        try_damaged(&r, &t, code, damage(&d, code, e.bytes, max_bytes));
        caller_close(&t);
    }
    try_not_finite(&r);
}

/* The product of what decodes with the vector itself, over many packets: its mean shows a bias that
 * is too small to be seen in any single entry. */
struct projection {
    double mean;
    double spread; /* sum of squares about it (Welford) */
    uint32_t n;
};

static void project(struct projection *p, const struct sender *r)
{
    double product = 0.0;
    for (uint64_t i = 0; i < r->tested.world.dim; i++)
        product += (double)r->x[i] * (double)r->decoded[i];
    const double before = product - p->mean;
    p->n++;
    p->mean += before / p->n;
    p->spread += before * (product - p->mean);
}

static void require_unbiased(const struct conform *c, const struct projection *p,
                             const struct sender *r)
{
    double norm2 = 0.0;
    for (uint64_t i = 0; i < r->tested.world.dim; i++)
        norm2 += (double)r->x[i] * (double)r->x[i];
    const double error = sqrt(p->spread / p->n / p->n);
    if (fabs(p->mean - norm2) > 6.0 * error + 1e-6 * norm2)
        conform_fail(c,
                     "decodes to %.5f times the vector on the mean of %u packets, with a standard "
                     "error of %.5f",
                     p->mean / norm2, (unsigned)p->n, error / norm2);
}

/* Whether clients draw random numbers of their own. */
struct twins {
    float *first;  /* what client 0 sent in this round */
    float *before; /* and in the round before */
    bool known;    /* first is filled */
    bool varies;   /* from round to round */
    bool differ;   /* client 1 has sent something else than client 0 */
};

static void compare_twins(struct twins *t, const struct sender *r, uint32_t client)
{
    const size_t bytes = r->tested.world.dim * sizeof *r->decoded;
    if (client == 0) {
        memcpy(t->before, t->first, bytes);
        memcpy(t->first, r->decoded, bytes);
        t->varies = t->varies || (t->known && memcmp(t->first, t->before, bytes) != 0);
        t->known = true;
    } else if (client == 1) {
        t->differ = t->differ || memcmp(t->first, r->decoded, bytes) != 0;
    }
}

/* Feature "unbiased": the mean over many packets, within five and a half standard errors; events so
 * rare that none may have been seen are allowed for. */
void check_quantizer_unbiased(struct conform *c)
{
    enum { PACKETS = 4000 };
    struct sender r;
    sender_open(&r, c);
    const uint64_t dim = r.tested.world.dim;
    double *sum = calloc(2 * dim, sizeof *sum);
    double *sum2 = sum + dim;
    double largest = 0.0;
    if (sum == NULL)
        _exit(70);
    trial_floats(&r.tested, 0, 4, 0.1, r.x, dim);
    for (uint64_t i = 0; i < dim; i += 3)
        r.x[i] *= 0.01f;
    struct projection along = {0};
    struct twins twins = {.first = calloc(2 * dim, sizeof *twins.first)};
    if (twins.first == NULL)
        _exit(70);
    twins.before = twins.first + dim;
    for (uint32_t n = 0; n < PACKETS; n++) {
        struct caller t = caller_open(&r.tested);
        t.round = n / 8;
        memset(r.state, 0, MOST_STATES * dim * sizeof *r.state);
        send(&r, &t, n % 8);
        project(&along, &r);
        compare_twins(&twins, &r, n % 8);
        for (uint64_t i = 0; i < dim; i++) {
            sum[i] += (double)r.decoded[i];
            sum2[i] += (double)r.decoded[i] * (double)r.decoded[i];
            if (fabs((double)r.decoded[i]) > largest) /* fmax() here ends gcc 12 for aarch64 */
                largest = fabs((double)r.decoded[i]);
        }
        caller_close(&t);
    }
    for (uint64_t i = 0; i < dim; i++) {
        const double mean = sum[i] / PACKETS;
        const double variance = fmax(sum2[i] / PACKETS - mean * mean, 0.0);
        const double allowed = 5.5 * sqrt(variance / PACKETS) + 12.0 * largest / PACKETS;
        if (!(fabs(mean - (double)r.x[i]) <= allowed))
            conform_fail(c, "decodes entry %u, which is %.6g, to %.6g on the mean of %d packets",
                         (unsigned)i, (double)r.x[i], mean, PACKETS);
    }
    require_unbiased(c, &along, &r);
    if (twins.varies && !twins.differ)
        conform_fail(c, "sends the same code for two clients with the same vector, in every round; "
                        "host->random_fill() takes the client");
}

void check_quantizer_lossless(struct conform *c)
{
    struct sender r;
    sender_open(&r, c);
    const uint64_t dim = r.tested.world.dim;
    for (uint32_t round = 0; round < 10; round++) {
        struct caller t = caller_open(&r.tested);
        t.round = round;
        trial_floats(&r.tested, round, 5, pow(10.0, 4.0 * round - 20.0), r.x, dim);
        send(&r, &t, round);
        if (memcmp(r.x, r.decoded, dim * sizeof *r.x) != 0)
            caller_fail(&t, "decode(encode(x)) is not x");
        caller_close(&t);
    }
}

/* What has come before each packet and with it, less what decodes, is kept. */
static void require_kept(const struct caller *t, const struct sender *r, const float *before)
{
    for (uint64_t i = 0; i < r->tested.world.dim; i++) {
        const double in = (double)before[i] + (double)r->x[i];
        const double out = (double)r->decoded[i] + (double)r->state[i];
        const double size = fabs((double)before[i]) + fabs((double)r->x[i]) +
                            fabs((double)r->decoded[i]) + fabs((double)r->state[i]);
        if (!(fabs(in - out) <= 1e-6 * size))
            caller_fail(t,
                        "entry %u: %.9g was kept and %.9g came, but %.9g decodes and %.9g is kept",
                        (unsigned)i, (double)before[i], (double)r->x[i], (double)r->decoded[i],
                        (double)r->state[i]);
    }
}

void check_quantizer_feedback(struct conform *c)
{
    struct sender r;
    sender_open(&r, c);
    const uint64_t dim = r.tested.world.dim;
    const uint64_t floats = own_floats(&r.tested);
    if (floats != 0 && floats != dim)
        conform_fail(c, "keeps %g floats of a client for vectors of %g", (double)floats,
                     (double)dim);
    float *before = calloc(dim, sizeof *before);
    if (before == NULL)
        _exit(70);
    for (uint32_t round = 0; floats > 0 && round < 20; round++) {
        struct caller t = caller_open(&r.tested);
        t.round = round;
        trial_floats(&r.tested, round, 6, 0.1, r.x, dim);
        memcpy(before, r.state, dim * sizeof *before);
        send(&r, &t, 0);
        require_kept(&t, &r, before);
        caller_close(&t);
    }
    free(before);
}
