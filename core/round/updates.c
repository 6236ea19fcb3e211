/* updates.c - the update algebra. */
#include "updates.h"

#include <assert.h>
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
};

static osafl_status combine_blocks(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    (void)sub;
    const struct combination *m = arg;
    for (uint64_t block = begin; block < end; block++) {
        double acc[UPDATES_BLOCK];
        const uint64_t first = block * UPDATES_BLOCK;
        const uint64_t stop = block_end(m->codec->dim, block);
        for (uint64_t i = first; i < stop; i++)
            acc[i - first] = m->base != NULL ? (double)m->base[i] : 0.0;
        for (uint64_t k = 0; k < m->n; k++)
            if (m->weight[k] != 0.0)
                codec_axpy(m->codec, m->code[k], first, stop, m->weight[k], acc);
        for (uint64_t i = first; i < stop; i++)
            m->out[i] = (float)acc[i - first];
    }
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

static double product_in_block(const struct products *m, uint32_t k, uint64_t first, uint64_t stop)
{
    if (m->other != NULL)
        return codec_dense_dot(m->v + first, m->other + first, stop - first);
    const struct update_set *s = set_of(m->u);
    const struct code *x = &s->update[k].code[m->slot];
    if (m->v != NULL)
        return codec_dot(s->codec, x, first, stop, m->v + first);
    /* A squared norm is the product with the decoded vector itself; a sparse code's dot() then
     * touches the entries only that are not zero. */
    float tile[UPDATES_BLOCK];
    codec_decode(s->codec, x, first, stop, tile);
    return codec_dot(s->codec, x, first, stop, tile);
}

static osafl_status product_blocks(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    (void)sub;
    const struct products *m = arg;
    for (uint64_t block = begin; block < end; block++)
        for (uint32_t k = 0; k < m->n; k++)
            m->partial[block * m->n + k] =
                product_in_block(m, k, block * UPDATES_BLOCK, block_end(m->u->dim, block));
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

static osafl_status op_norm2(const struct osafl_updates *u, uint32_t slot, double *out)
{
    OSAFL_TRY(check_slot(u, slot));
    struct products m = {.u = u, .slot = slot, .n = u->n};
    return products_of(&m, out);
}

static osafl_status op_dot2(const struct osafl_updates *u, const float *a, const float *b,
                            double *out)
{
    struct products m = {.u = u, .n = 1, .v = a, .other = b};
    return products_of(&m, out);
}

struct gram {
    const struct osafl_updates *u;
    uint32_t slot;
    double *out;
};

/* Rows k of the lower triangle: a row needs one decoded block at a time, and no partial sums of
 * all blocks. */
static osafl_status gram_rows(void *arg, uint64_t begin, uint64_t end, osafl_call *sub)
{
    (void)sub;
    const struct gram *m = arg;
    const struct update_set *s = set_of(m->u);
    for (uint64_t k = begin; k < end; k++) {
        double *row = m->out + k * m->u->n;
        for (uint64_t l = 0; l <= k; l++)
            row[l] = 0.0;
        for (uint64_t block = 0; block < count_blocks(m->u->dim); block++) {
            float tile[UPDATES_BLOCK];
            const uint64_t first = block * UPDATES_BLOCK;
            const uint64_t stop = block_end(m->u->dim, block);
            codec_decode(s->codec, &s->update[k].code[m->slot], first, stop, tile);
            for (uint64_t l = 0; l <= k; l++)
                row[l] += codec_dot(s->codec, &s->update[l].code[m->slot], first, stop, tile);
        }
    }
    return OSAFL_OK;
}

static osafl_status op_gram(const struct osafl_updates *u, uint32_t slot, double *out)
{
    OSAFL_TRY(check_slot(u, slot));
    struct gram m = {.u = u, .slot = slot, .out = out};
    OSAFL_TRY(core_host.parallel(u->call, u->n, 1, gram_rows, &m));
    for (uint64_t k = 0; k < u->n; k++)
        for (uint64_t l = k + 1; l < u->n; l++)
            out[k * u->n + l] = out[l * u->n + k];
    return OSAFL_OK;
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
        for (uint32_t k = 0; k < n; k++) {
            float *to = decoded + k * block;
            codec_decode(s->codec, &s->update[k].code[m->slot], first, stop, to);
            x[k] = to;
        }
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

/* Position of an id, or the position at which it would stand. */
static uint64_t find_kept(const struct kept_updates *kept, uint64_t id)
{
    uint64_t low = 0;
    uint64_t high = kept->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (kept->list[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_kept(const struct kept_updates *kept, uint64_t position, uint64_t id)
{
    return position < kept->n && kept->list[position].id == id;
}

static bool reserve_kept(struct kept_updates *kept, uint64_t n)
{
    if (n <= kept->capacity)
        return true;
    if (n > SIZE_MAX / 2 / sizeof(struct kept_update))
        return false;
    const uint64_t capacity = n > 2 * kept->capacity ? n : 2 * kept->capacity;
    struct kept_update *list = realloc(kept->list, (size_t)capacity * sizeof(struct kept_update));
    if (list == NULL)
        return false;
    kept->list = list;
    kept->capacity = capacity;
    return true;
}

static osafl_status op_retain(const struct osafl_updates *u, uint32_t slot, uint32_t k,
                              uint64_t *id)
{
    OSAFL_TRY(check_slot(u, slot));
    if (k >= u->n)
        return core_host.fail(u->call, OSAFL_E_BUG, "asked to keep update %u of %u", k, u->n);
    struct kept_updates *kept = set_of(u)->kept;
    const struct code *from = &set_of(u)->update[k].code[slot];
    uint8_t *copy = malloc(from->bytes > 0 ? (size_t)from->bytes : 1);
    if (copy == NULL || !reserve_kept(kept, kept->n + 1)) {
        free(copy);
        return no_memory(u);
    }
    memcpy(copy, from->data, (size_t)from->bytes);
    if (kept->next_id == 0)
        kept->next_id = 1;
    *id = kept->next_id++;
    kept->list[kept->n++] = (struct kept_update){
        .id = *id,
        .code = {.data = copy, .bytes = from->bytes, .air_bits = from->air_bits},
    };
    return OSAFL_OK;
}

static osafl_status unknown_id(const struct osafl_updates *u, uint64_t id)
{
    return core_host.fail(u->call, OSAFL_E_BUG, "update %llu is not kept", (unsigned long long)id);
}

static osafl_status op_release(const struct osafl_updates *u, uint64_t id)
{
    struct kept_updates *kept = set_of(u)->kept;
    const uint64_t at = find_kept(kept, id);
    if (!is_kept(kept, at, id))
        return unknown_id(u, id);
    code_free(&kept->list[at].code);
    kept->n--;
    memmove(&kept->list[at], &kept->list[at + 1],
            (size_t)(kept->n - at) * sizeof(struct kept_update));
    return OSAFL_OK;
}

static osafl_status op_combine_kept(const struct osafl_updates *u, uint32_t n, const uint64_t *id,
                                    const double *weight, float *out)
{
    const struct kept_updates *kept = set_of(u)->kept;
    const struct code **code = calloc((size_t)n + 1, sizeof(struct code *));
    if (code == NULL)
        return no_memory(u);
    osafl_status status = OSAFL_OK;
    for (uint32_t j = 0; status == OSAFL_OK && j < n; j++) {
        const uint64_t at = find_kept(kept, id[j]);
        if (is_kept(kept, at, id[j]))
            code[j] = &kept->list[at].code;
        else
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
    .norm2 = op_norm2,
    .gram = op_gram,
    .each_block = op_each_block,
    .dot2 = op_dot2,
    .retain = op_retain,
    .release = op_release,
    .combine_kept = op_combine_kept,
};

/* The arrays behind osafl_updates, widest types first so that each is aligned. */
struct update_arrays {
    double *rate;
    double *alpha;
    double *train_loss;
    uint64_t *samples;
    const uint32_t **histogram;
    uint32_t *client;
    uint32_t *local_rounds;
    uint32_t *steps;
};

static void *allocate_arrays(struct update_arrays *a, uint32_t n)
{
    const size_t count = (size_t)n + 1;
    const size_t wide = 4 * sizeof(double) + sizeof(uint32_t *);
    char *memory = calloc(count, wide + 3 * sizeof(uint32_t));
    if (memory == NULL)
        return NULL;
    a->rate = (double *)(void *)memory;
    a->alpha = a->rate + count;
    a->train_loss = a->alpha + count;
    a->samples = (uint64_t *)(void *)(a->train_loss + count);
    a->histogram = (const uint32_t **)(void *)(a->samples + count);
    a->client = (uint32_t *)(void *)(a->histogram + count);
    a->local_rounds = a->client + count;
    a->steps = a->local_rounds + count;
    return memory;
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
    for (uint32_t k = 0; k < n; k++) {
        assert(k == 0 || update[k].client > update[k - 1].client);
        a.client[k] = update[k].client;
        a.local_rounds[k] = update[k].local_rounds;
        a.steps[k] = update[k].steps;
        a.rate[k] = update[k].rate;
        a.samples[k] = update[k].samples;
        a.alpha[k] = update[k].alpha;
        a.train_loss[k] = update[k].train_loss;
        a.histogram[k] = update[k].histogram;
    }
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
    };
    return OSAFL_OK;
}

void updates_close(struct update_set *s)
{
    free(s->arrays);
    *s = (struct update_set){0};
}

void kept_updates_free(struct kept_updates *kept)
{
    for (uint64_t j = 0; j < kept->n; j++)
        code_free(&kept->list[j].code);
    free(kept->list);
    *kept = (struct kept_updates){0};
}

/* Four records: the next id; ids and sizes; and all codes in one piece. */
osafl_status kept_updates_save(const struct kept_updates *kept, osafl_writer *w)
{
    uint64_t total = 0;
    for (uint64_t j = 0; j < kept->n; j++)
        total += kept->list[j].code.bytes;
    uint64_t *word = calloc((size_t)kept->n + 1, 2 * sizeof(uint64_t));
    double *air_bits = calloc((size_t)kept->n + 1, sizeof(double));
    uint8_t *all = malloc((size_t)total + 1);
    osafl_status status = OSAFL_E_NOMEM;
    if (word != NULL && air_bits != NULL && all != NULL) {
        uint64_t at = 0;
        for (uint64_t j = 0; j < kept->n; j++) {
            const struct kept_update *one = &kept->list[j];
            word[2 * j] = one->id;
            word[2 * j + 1] = one->code.bytes;
            air_bits[j] = one->code.air_bits;
            memcpy(all + at, one->code.data, (size_t)one->code.bytes);
            at += one->code.bytes;
        }
        status = w->u64(w, "kept.next_id", &kept->next_id, 1);
        if (status == OSAFL_OK)
            status = w->u64(w, "kept.id_and_bytes", word, 2 * kept->n);
        if (status == OSAFL_OK)
            status = w->f64(w, "kept.air_bits", air_bits, kept->n);
        if (status == OSAFL_OK)
            status = w->bytes(w, "kept.code", all, total);
    }
    free(all);
    free(air_bits);
    free(word);
    return status;
}

/* What kept_updates_load() reads before it believes any of it. */
struct kept_records {
    uint64_t n;
    uint64_t total;
    uint64_t *word;
    double *air_bits;
    uint8_t *all;
};

static osafl_status read_kept_records(struct kept_records *k, osafl_call *c, osafl_reader *r)
{
    OSAFL_TRY(r->count(r, "kept.air_bits", &k->n));
    OSAFL_TRY(r->count(r, "kept.code", &k->total));
    if (k->n > SIZE_MAX / 4 / sizeof(uint64_t) || k->total > SIZE_MAX / 2)
        return core_host.fail(c, OSAFL_E_STATE, "the number of kept updates is absurd");
    k->word = calloc((size_t)k->n + 1, 2 * sizeof(uint64_t));
    k->air_bits = calloc((size_t)k->n + 1, sizeof(double));
    k->all = malloc((size_t)k->total + 1);
    if (k->word == NULL || k->air_bits == NULL || k->all == NULL)
        return core_host.fail(c, OSAFL_E_NOMEM, "out of memory for kept updates");
    OSAFL_TRY(r->u64(r, "kept.id_and_bytes", k->word, 2 * k->n));
    OSAFL_TRY(r->f64(r, "kept.air_bits", k->air_bits, k->n));
    return r->bytes(r, "kept.code", k->all, k->total);
}

static osafl_status unpack_kept(struct kept_updates *kept, const struct kept_records *k,
                                const struct codec *codec, osafl_call *c)
{
    uint64_t at = 0;
    uint64_t last_id = 0;
    if (!reserve_kept(kept, k->n))
        return core_host.fail(c, OSAFL_E_NOMEM, "out of memory for kept updates");
    for (uint64_t j = 0; j < k->n; j++) {
        const uint64_t id = k->word[2 * j];
        const uint64_t bytes = k->word[2 * j + 1];
        if (id <= last_id || id >= kept->next_id || bytes > k->total - at)
            return core_host.fail(c, OSAFL_E_STATE, "kept update %llu is out of order or too long",
                                  (unsigned long long)id);
        uint8_t *copy = malloc(bytes > 0 ? (size_t)bytes : 1);
        if (copy == NULL)
            return core_host.fail(c, OSAFL_E_NOMEM, "out of memory for kept updates");
        memcpy(copy, k->all + at, (size_t)bytes);
        kept->list[kept->n++] = (struct kept_update){
            .id = id, .code = {.data = copy, .bytes = bytes, .air_bits = k->air_bits[j]}};
        if (codec_verify(codec, c, copy, bytes) != OSAFL_OK)
            return OSAFL_E_STATE; /* whatever the quantizer calls it, the checkpoint is damaged */
        last_id = id;
        at += bytes;
    }
    if (at != k->total)
        return core_host.fail(c, OSAFL_E_STATE, "codes of kept updates have %llu bytes too many",
                              (unsigned long long)(k->total - at));
    return OSAFL_OK;
}

osafl_status kept_updates_load(struct kept_updates *kept, const struct codec *codec, osafl_call *c,
                               osafl_reader *r)
{
    struct kept_records k = {0};
    *kept = (struct kept_updates){0};
    osafl_status status = r->u64(r, "kept.next_id", &kept->next_id, 1);
    if (status == OSAFL_OK)
        status = read_kept_records(&k, c, r);
    if (status == OSAFL_OK)
        status = unpack_kept(kept, &k, codec, c);
    free(k.all);
    free(k.air_bits);
    free(k.word);
    if (status != OSAFL_OK)
        kept_updates_free(kept);
    return status;
}
