/* kept_updates.c - updates that an aggregator keeps beyond their round. */
#include "kept_updates.h"

#include <stdlib.h>
#include <string.h>

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

bool kept_updates_add(struct kept_updates *kept, const struct code *from, uint64_t *id)
{
    uint8_t *copy = malloc(from->bytes > 0 ? (size_t)from->bytes : 1);
    if (copy == NULL || !reserve_kept(kept, kept->n + 1)) {
        free(copy);
        return false;
    }
    memcpy(copy, from->data, (size_t)from->bytes);
    if (kept->next_id == 0)
        kept->next_id = 1;
    *id = kept->next_id++;
    kept->list[kept->n++] = (struct kept_update){
        .id = *id,
        .code = {.data = copy, .bytes = from->bytes, .air_bits = from->air_bits},
    };
    return true;
}

const struct code *kept_updates_find(const struct kept_updates *kept, uint64_t id)
{
    const uint64_t at = find_kept(kept, id);
    return is_kept(kept, at, id) ? &kept->list[at].code : NULL;
}

bool kept_updates_remove(struct kept_updates *kept, uint64_t id)
{
    const uint64_t at = find_kept(kept, id);
    if (!is_kept(kept, at, id))
        return false;
    code_free(&kept->list[at].code);
    kept->n--;
    memmove(&kept->list[at], &kept->list[at + 1],
            (size_t)(kept->n - at) * sizeof(struct kept_update));
    return true;
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

uint64_t kept_updates_saved_bytes(const struct codec *codec)
{
    return 2 * sizeof(uint64_t) + sizeof(double) + codec_max_bytes(codec);
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
