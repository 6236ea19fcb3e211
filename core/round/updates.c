/* updates.c - the update algebra. */
#include "updates.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of decoded blocks that one thread holds at a time in each_block(). */
#define BLOCK_BUDGET ((uint64_t)4 << 20)

static const struct update_set *set_of(const struct osafl_updates *u)
{
    return u->priv;
}

static osafl_status check_slot(const struct osafl_updates *u, uint32_t slot)
{
    const uint32_t slots = set_of(u)->slots;
    if (set_of(u)->source != NULL)
        return core_host.fail(u->call, OSAFL_E_BUG,
                              "asked the updates for more than the one sum that it describes "
                              "(one_sum)");
    if (slot < slots)
        return OSAFL_OK;
    return core_host.fail(u->call, OSAFL_E_BUG, "asked for slot %u of updates with %u", slot,
                          slots);
}

static uint64_t count_blocks(uint64_t dim)
{
    return dim / UPDATES_BLOCK + (dim % UPDATES_BLOCK != 0);
}

static uint64_t block_end(uint64_t dim, uint64_t block)
{
    const uint64_t end = (block + 1) * UPDATES_BLOCK;
    return end < dim ? end : dim;
}

static osafl_status no_memory(const struct osafl_updates *u)
{
    return core_host.fail(u->call, OSAFL_E_NOMEM, "out of memory for an operation on updates");
}

/* A weighted sum of n codes.  base: what is added to it, or NULL. */
struct combination {
    const struct codec *codec;
    const struct code *const *code;
    const double *weight;
    uint64_t n;
    const float *base;
    float *out;
    double *sum; /* of updates_fold(), instead of base and out */
    atomic_uint_fast64_t *bad;
};

static osafl_status add_codes(const struct combination *m, osafl_call *sub, uint64_t first,
                              uint64_t stop, double *acc)
{
    for (uint64_t k = 0; k < m->n; k++)
        if (m->weight[k] != 0.0)
            OSAFL_TRY(codec_axpy(m->codec, sub, m->code[k], first, stop, m->weight[k], acc));
    return OSAFL_OK;
}

static osafl_status combine_blocks(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    const struct combination *m = arg;
    for (uint64_t block = begin; block < end; block++) {
        double acc[UPDATES_BLOCK];
        const uint64_t first = block * UPDATES_BLOCK;
        const uint64_t stop = block_end(m->codec->dim, block);
        for (uint64_t i = first; i < stop; i++)
            acc[i - first] = m->base != NULL ? (double)m->base[i] : 0.0;
        OSAFL_TRY(add_codes(m, sub, first, stop, acc));
        for (uint64_t i = first; i < stop; i++)
            m->out[i] = (float)acc[i - first];
    }
    return OSAFL_OK;
}

/* Blocks are done in no order: the first place of all counts. */
static void note_not_finite(const struct combination *m, uint64_t first, uint64_t stop)
{
    uint64_t i = first;
    while (i < stop && isfinite(m->sum[i]))
        i++;
    uint_fast64_t known = atomic_load(m->bad);
    while (i < stop && i < known && !atomic_compare_exchange_weak(m->bad, &known, i))
        continue;
}

static osafl_status fold_blocks(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    const struct combination *m = arg;
    for (uint64_t block = begin; block < end; block++) {
        const uint64_t first = block * UPDATES_BLOCK;
        const uint64_t stop = block_end(m->codec->dim, block);
        OSAFL_TRY(add_codes(m, sub, first, stop, m->sum + first));
        note_not_finite(m, first, stop);
    }
    return OSAFL_OK;
}

osafl_status updates_fold(const struct codec *codec, osafl_call *call,
                          const struct code *const *code, uint32_t n, const double *weight,
                          double *sum, uint64_t *bad)
{
    atomic_uint_fast64_t first_bad = codec->dim;
    struct combination m = {
        .codec = codec, .code = code, .weight = weight, .n = n, .sum = sum, .bad = &first_bad};
    OSAFL_TRY(core_host.parallel(call, count_blocks(codec->dim), 1, fold_blocks, &m));
    *bad = atomic_load(&first_bad);
    return OSAFL_OK;
}

static osafl_status combine_codes(const struct osafl_updates *u, const struct code *const *code,
                                  uint64_t n, const double *weight, const float *base, float *out)
{
    struct combination m = {.codec = set_of(u)->codec,
                            .code = code,
                            .weight = weight,
                            .n = n,
                            .base = base,
                            .out = out};
    return core_host.parallel(u->call, count_blocks(u->dim), 1, combine_blocks, &m);
}

/* Codes of one slot, in order of the updates; NULL: out of memory. */
static const struct code **codes_of_slot(const struct osafl_updates *u, uint32_t slot)
{
    const struct code **code = calloc((size_t)u->n + 1, sizeof(struct code *));
    for (uint32_t k = 0; code != NULL && k < u->n; k++)
        code[k] = &set_of(u)->update[k].code[slot];
    return code;
}

static osafl_status combine_slot(const struct osafl_updates *u, uint32_t slot, const double *weight,
                                 const float *base, float *out)
{
    const struct update_source *source = set_of(u)->source;
    if (source != NULL && slot == 0)
        return source->sum(source->arg, u->call, weight, base, out);
    OSAFL_TRY(check_slot(u, slot));
    const struct code **code = codes_of_slot(u, slot);
    if (code == NULL)
        return no_memory(u);
    const osafl_status status = combine_codes(u, code, u->n, weight, base, out);
    free(code);
    return status;
}

static osafl_status op_combine(const struct osafl_updates *u, uint32_t slot, const double *weight,
                               float *out)
{
    return combine_slot(u, slot, weight, NULL, out);
}

static osafl_status op_add(const struct osafl_updates *u, uint32_t slot, const double *weight,
                           float *w)
{
    return combine_slot(u, slot, weight, w, w);
}

/* Inner products per update (v given), squared norms (v NULL), or one product of two dense vectors
 * (v and other given).  partial[block * n + k] are summed in ascending block afterwards. */
struct products {
    const struct osafl_updates *u;
    uint32_t slot;
    uint32_t n;
    const float *v;
    const float *other;
    double *partial;
};

static osafl_status product_in_block(const struct products *m, osafl_call *c, uint32_t k,
                                     uint64_t first, uint64_t stop, double *out)
{
    if (m->other != NULL) {
        *out = codec_dense_dot(m->v + first, m->other + first, stop - first);
        return OSAFL_OK;
    }
    const struct update_set *s = set_of(m->u);
    const struct code *x = &s->update[k].code[m->slot];
    if (m->v != NULL)
        return codec_dot(s->codec, c, x, first, stop, m->v + first, out);
    /* A squared norm is the product with the decoded vector itself; a sparse code's dot() then
     * touches the entries only that are not zero. */
    float tile[UPDATES_BLOCK];
    OSAFL_TRY(codec_decode(s->codec, c, x, first, stop, tile));
    return codec_dot(s->codec, c, x, first, stop, tile, out);
}

static osafl_status product_blocks(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    const struct products *m = arg;
    for (uint64_t block = begin; block < end; block++)
        for (uint32_t k = 0; k < m->n; k++)
            OSAFL_TRY(product_in_block(m, sub, k, block * UPDATES_BLOCK,
                                       block_end(m->u->dim, block), &m->partial[block * m->n + k]));
    return OSAFL_OK;
}

static osafl_status products_of(struct products *m, double *out)
{
    const struct osafl_updates *u = m->u;
    const uint64_t blocks = count_blocks(u->dim);
    for (uint32_t k = 0; k < m->n; k++)
        out[k] = 0.0;
    if (m->n == 0)
        return OSAFL_OK;
    m->partial = calloc((size_t)blocks * m->n, sizeof(double));
    if (m->partial == NULL)
        return no_memory(u);
    const osafl_status status = core_host.parallel(u->call, blocks, 1, product_blocks, m);
    for (uint64_t block = 0; block < blocks; block++)
        for (uint32_t k = 0; k < m->n; k++)
            out[k] += m->partial[block * m->n + k];
    free(m->partial);
    return status;
}

static osafl_status op_dot(const struct osafl_updates *u, uint32_t slot, const float *v,
                           double *out)
{
    OSAFL_TRY(check_slot(u, slot));
    struct products m = {.u = u, .slot = slot, .n = u->n, .v = v};
    return products_of(&m, out);
}

static osafl_status op_squared_norms(const struct osafl_updates *u, uint32_t slot, double *out)
{
    OSAFL_TRY(check_slot(u, slot));
    struct products m = {.u = u, .slot = slot, .n = u->n};
    return products_of(&m, out);
}

static osafl_status op_inner_product(const struct osafl_updates *u, const float *a, const float *b,
                                     double *out)
{
    struct products m = {.u = u, .n = 1, .v = a, .other = b};
    return products_of(&m, out);
}

/* Products of all pairs, block by block.  The decoded block of PANEL updates is a panel, coordinate
 * by coordinate, so that the products of two panels are PANEL^2 sums side by side, each in the
 * order of the coordinates.  Coordinates in which a panel is zero, as most are of coarse codes, add
 * nothing. */
enum { PANEL = 4 };

struct panel {
    uint32_t n;                 /* coordinates that are not zero, */
    uint16_t at[UPDATES_BLOCK]; /* and which */
    float x[UPDATES_BLOCK][PANEL];
};
_Static_assert(UPDATES_BLOCK <= UINT16_MAX, "at[] holds them");

struct gram {
    const struct osafl_updates *u;
    uint32_t slot;
    uint64_t first; /* the block's coordinates */
    uint64_t stop;
    struct panel *panel;
    double *out;
};

static osafl_status fill_panels(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    const struct gram *m = arg;
    const struct update_set *s = set_of(m->u);
    const uint64_t size = m->stop - m->first;
    for (uint64_t p = begin; p < end; p++) {
        struct panel *to = &m->panel[p];
        for (uint64_t k = p * PANEL; k < m->u->n && k < (p + 1) * PANEL; k++) {
            float tile[UPDATES_BLOCK];
            OSAFL_TRY(
                codec_decode(s->codec, sub, &s->update[k].code[m->slot], m->first, m->stop, tile));
            for (uint64_t i = 0; i < size; i++)
                to->x[i][k % PANEL] = tile[i];
        }
        to->n = 0;
        for (uint64_t i = 0; i < size; i++) {
            const float *x = to->x[i];
            to->at[to->n] = (uint16_t)i;
            to->n += x[0] != 0.0f || x[1] != 0.0f || x[2] != 0.0f || x[3] != 0.0f;
        }
    }
    return OSAFL_OK;
}

static void multiply_panels(const struct panel *p, const struct panel *q, double sum[PANEL][PANEL])
{
    for (uint32_t j = 0; j < p->n; j++) {
        const float *x = p->x[p->at[j]];
        const float *y = q->x[p->at[j]];
        for (uint64_t a = 0; a < PANEL; a++)
            for (uint64_t b = 0; b < PANEL; b++)
                sum[a][b] += (double)x[a] * (double)y[b];
    }
}

/* Rows of panels of the lower triangle. */
static osafl_status gram_rows(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    (void)sub;
    const struct gram *m = arg;
    const uint64_t n = m->u->n;
    for (uint64_t p = begin; p < end; p++)
        for (uint64_t q = 0; q <= p; q++) {
            double sum[PANEL][PANEL] = {{0.0}};
            multiply_panels(&m->panel[p], &m->panel[q], sum);
            for (uint64_t a = 0; a < PANEL && p * PANEL + a < n; a++)
                for (uint64_t b = 0; b < PANEL && q * PANEL + b < n; b++)
                    m->out[(p * PANEL + a) * n + q * PANEL + b] += sum[a][b];
        }
    return OSAFL_OK;
}

static osafl_status op_gram(const struct osafl_updates *u, uint32_t slot, double *out)
{
    OSAFL_TRY(check_slot(u, slot));
    const uint64_t n = u->n;
    const uint64_t panels = n / PANEL + (n % PANEL != 0);
    struct gram m = {.u = u, .slot = slot, .out = out};
    memset(out, 0, n * n * sizeof *out);
    if (n == 0)
        return OSAFL_OK;
    m.panel = calloc(panels, sizeof *m.panel);
    if (m.panel == NULL)
        return no_memory(u);
    osafl_status status = OSAFL_OK;
    for (uint64_t block = 0; status == OSAFL_OK && block < count_blocks(u->dim); block++) {
        m.first = block * UPDATES_BLOCK;
        m.stop = block_end(u->dim, block);
        status = core_host.parallel(u->call, panels, 1, fill_panels, &m);
        if (status == OSAFL_OK)
            status = core_host.parallel(u->call, panels, 1, gram_rows, &m);
    }
    free(m.panel);
    for (uint64_t k = 0; k < n; k++)
        for (uint64_t l = k + 1; l < n; l++)
            out[k * n + l] = out[l * n + k];
    return status;
}

struct block_visit {
    const struct osafl_updates *u;
    uint32_t slot;
    osafl_block *fn;
    void *arg;
};

/* Coordinates of a visited block: a function of the number of updates alone, so that memory is
 * bounded and block boundaries are the same for every number of threads. */
static uint64_t visit_block(uint32_t n)
{
    uint64_t block = BLOCK_BUDGET / sizeof(float) / (n > 0 ? n : 1) / 64 * 64;
    if (block > UPDATES_BLOCK)
        block = UPDATES_BLOCK;
    return block < 64 ? 64 : block;
}

static osafl_status visit_range(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    const struct block_visit *m = arg;
    const struct update_set *s = set_of(m->u);
    const uint32_t n = m->u->n;
    const uint64_t block = visit_block(n);
    const float **x = calloc((size_t)n + 1, sizeof(float *));
    float *decoded = aligned_alloc(64, ((size_t)n + 1) * (size_t)block * sizeof(float));
    osafl_status status = OSAFL_OK;
    if (x == NULL || decoded == NULL)
        status = core_host.fail(sub, OSAFL_E_NOMEM, "out of memory for blocks of %u updates", n);
    for (uint64_t first = begin; status == OSAFL_OK && first < end; first += block) {
        const uint64_t stop = end - first < block ? end : first + block;
        for (uint32_t k = 0; status == OSAFL_OK && k < n; k++) {
            float *to = decoded + k * block;
            status = codec_decode(s->codec, sub, &s->update[k].code[m->slot], first, stop, to);
            x[k] = to;
        }
        if (status == OSAFL_OK)
            status = m->fn(m->arg, first, stop - first, x, sub);
    }
    free(decoded);
    free(x);
    return status;
}

static osafl_status op_each_block(const struct osafl_updates *u, uint32_t slot, osafl_block *fn,
                                  void *arg)
{
    OSAFL_TRY(check_slot(u, slot));
    struct block_visit m = {.u = u, .slot = slot, .fn = fn, .arg = arg};
    return core_host.parallel(u->call, u->dim, visit_block(u->n), visit_range, &m);
}

static osafl_status op_retain(const struct osafl_updates *u, uint32_t slot, uint32_t k,
                              uint64_t *id)
{
    OSAFL_TRY(check_slot(u, slot));
    if (k >= u->n)
        return core_host.fail(u->call, OSAFL_E_BUG, "asked to keep update %u of %u", k, u->n);
    const struct code *from = &set_of(u)->update[k].code[slot];
    return kept_updates_add(set_of(u)->kept, from, id) ? OSAFL_OK : no_memory(u);
}

static osafl_status unknown_id(const struct osafl_updates *u, uint64_t id)
{
    return core_host.fail(u->call, OSAFL_E_BUG, "update %llu is not kept", (unsigned long long)id);
}

static osafl_status op_release(const struct osafl_updates *u, uint64_t id)
{
    return kept_updates_remove(set_of(u)->kept, id) ? OSAFL_OK : unknown_id(u, id);
}

static osafl_status op_combine_kept(const struct osafl_updates *u, uint32_t n, const uint64_t *id,
                                    const double *weight, float *out)
{
    const struct code **code = calloc((size_t)n + 1, sizeof(struct code *));
    if (code == NULL)
        return no_memory(u);
    osafl_status status = OSAFL_OK;
    for (uint32_t j = 0; status == OSAFL_OK && j < n; j++) {
        code[j] = kept_updates_find(set_of(u)->kept, id[j]);
        if (code[j] == NULL)
            status = unknown_id(u, id[j]);
    }
    if (status == OSAFL_OK)
        status = combine_codes(u, code, n, weight, NULL, out);
    free(code);
    return status;
}

static const osafl_update_ops operations = {
    .struct_size = sizeof(osafl_update_ops),
    .combine = op_combine,
    .add = op_add,
    .dot = op_dot,
    .squared_norms = op_squared_norms,
    .gram = op_gram,
    .each_block = op_each_block,
    .inner_product = op_inner_product,
    .retain = op_retain,
    .release = op_release,
    .combine_kept = op_combine_kept,
};

/* The arrays behind osafl_updates, widest types first so that each is aligned. */
#define DOUBLE_ARRAYS 10
#define WORD_ARRAYS 4

/* Of one update in all of them. */
#define ARRAYS_BYTES                                                                               \
    (DOUBLE_ARRAYS * sizeof(double) + sizeof(uint64_t) + sizeof(uint32_t *) +                      \
     WORD_ARRAYS * sizeof(uint32_t))

struct update_arrays {
    double *rate;
    double *alpha;
    double *train_loss;
    double *arrived_s;
    double *gain;
    double *channel_gain;
    double *power_w;
    double *compute_s;
    double *upload_s;
    double *joules;
    uint64_t *samples;
    const uint32_t **histogram;
    uint32_t *client;
    uint32_t *local_rounds;
    uint32_t *steps;
    uint32_t *start_round;
};

static void *allocate_arrays(struct update_arrays *a, uint32_t n)
{
    const size_t count = (size_t)n + 1;
    char *memory = calloc(count, ARRAYS_BYTES);
    if (memory == NULL)
        return NULL;
    a->rate = (double *)(void *)memory;
    a->alpha = a->rate + count;
    a->train_loss = a->alpha + count;
    a->arrived_s = a->train_loss + count;
    a->gain = a->arrived_s + count;
    a->channel_gain = a->gain + count;
    a->power_w = a->channel_gain + count;
    a->compute_s = a->power_w + count;
    a->upload_s = a->compute_s + count;
    a->joules = a->upload_s + count;
    a->samples = (uint64_t *)(void *)(a->joules + count);
    a->histogram = (const uint32_t **)(void *)(a->samples + count);
    a->client = (uint32_t *)(void *)(a->histogram + count);
    a->local_rounds = a->client + count;
    a->steps = a->local_rounds + count;
    a->start_round = a->steps + count;
    return memory;
}

static void fill_arrays(const struct update_arrays *a, const struct update *update, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        assert(k == 0 || update[k].client > update[k - 1].client);
        a->client[k] = update[k].client;
        a->local_rounds[k] = update[k].local_rounds;
        a->steps[k] = update[k].steps;
        a->rate[k] = update[k].rate;
        a->samples[k] = update[k].samples;
        a->alpha[k] = update[k].alpha;
        a->train_loss[k] = update[k].train_loss;
        a->histogram[k] = update[k].histogram;
        a->start_round[k] = update[k].start_round;
        a->arrived_s[k] = update[k].arrived_s;
        a->gain[k] = update[k].gain;
        a->channel_gain[k] = update[k].channel_gain;
        a->power_w[k] = update[k].power_w;
        a->compute_s[k] = update[k].compute_s;
        a->upload_s[k] = update[k].upload_s;
        a->joules[k] = update[k].joules;
    }
}

static int compare_clients(const void *a, const void *b)
{
    const uint32_t x = ((const struct update *)a)->client;
    const uint32_t y = ((const struct update *)b)->client;
    return x < y ? -1 : x > y;
}

void updates_sort(struct update *update, uint32_t n)
{
    qsort(update, n, sizeof *update, compare_clients);
}

uint64_t updates_view_bytes(void)
{
    return ARRAYS_BYTES;
}

osafl_status updates_open(struct update_set *s, const struct codec *codec,
                          const struct update_round *facts, const struct update *update, uint32_t n,
                          struct kept_updates *kept, osafl_call *call)
{
    struct update_arrays a;
    *s = (struct update_set){.codec = codec, .update = update, .kept = kept, .slots = facts->slots};
    s->arrays = allocate_arrays(&a, n);
    if (s->arrays == NULL)
        return core_host.fail(call, OSAFL_E_NOMEM, "out of memory for %u updates", n);
    fill_arrays(&a, update, n);
    s->view = (osafl_updates){
        .struct_size = sizeof(osafl_updates),
        .n = n,
        .round = facts->round,
        .rounds = facts->rounds,
        .clients = facts->clients,
        .labels = facts->labels,
        .dim = codec->dim,
        .client = a.client,
        .local_rounds = a.local_rounds,
        .steps = a.steps,
        .rate = a.rate,
        .samples = a.samples,
        .alpha = a.alpha,
        .train_loss = a.train_loss,
        .histogram = a.histogram,
        .call = call,
        .ops = &operations,
        .priv = s,
        .start_round = a.start_round,
        .arrived_s = a.arrived_s,
        .gain = a.gain,
        .power_w = a.power_w,
        .compute_s = a.compute_s,
        .upload_s = a.upload_s,
        .joules = a.joules,
        .noise_w = facts->noise_w,
        .channel_gain = a.channel_gain,
    };
    return OSAFL_OK;
}

void updates_close(struct update_set *s)
{
    free(s->arrays);
    *s = (struct update_set){0};
}
