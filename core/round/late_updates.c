/* late_updates.c - updates under way. */
#include "late_updates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Room for one more, with a histogram of zeros.  NULL: out of memory. */
static struct late_update *append(struct late_updates *l, const struct update *facts)
{
    struct late_update *list = realloc(l->list, ((size_t)l->n + 1) * sizeof *list);
    if (list == NULL)
        return NULL;
    l->list = list;
    struct late_update *one = &list[l->n];
    *one = (struct late_update){.facts = *facts};
    one->histogram = calloc((size_t)l->labels + 1, sizeof *one->histogram);
    if (one->histogram == NULL)
        return NULL;
    one->facts.code = NULL;
    one->facts.histogram = one->histogram;
    l->n++;
    return one;
}

bool late_updates_add(struct late_updates *l, const struct update *update, uint32_t due)
{
    struct late_update *one = append(l, update);
    if (one == NULL)
        return false;
    one->due = due;
    memcpy(one->histogram, update->histogram, l->labels * sizeof *one->histogram);
    for (uint32_t slot = 0; update->code != NULL && slot < l->slots; slot++) {
        uint64_t id = 0;
        if (!kept_updates_add(&l->codes, &update->code[slot], &id))
            return false;
        if (slot == 0)
            one->first = id;
    }
    return true;
}

bool late_updates_due(struct late_updates *l, uint32_t round, struct update *out, uint32_t *n)
{
    free(l->shown);
    l->shown = calloc((size_t)l->n * l->slots + 1, sizeof *l->shown);
    if (l->shown == NULL)
        return false;
    struct code *next = l->shown;
    for (uint32_t j = 0; j < l->n; j++) {
        const struct late_update *one = &l->list[j];
        if (one->due != round)
            continue;
        struct update *to = &out[(*n)++];
        *to = one->facts;
        if (one->first == 0)
            continue;
        to->code = next;
        for (uint32_t slot = 0; slot < l->slots; slot++)
            *next++ = *kept_updates_find(&l->codes, one->first + slot);
    }
    return true;
}

static void forget(struct late_updates *l, struct late_update *one)
{
    for (uint32_t slot = 0; one->first != 0 && slot < l->slots; slot++)
        kept_updates_remove(&l->codes, one->first + slot);
    free(one->histogram);
}

void late_updates_drop(struct late_updates *l, uint32_t round)
{
    uint32_t left = 0;
    for (uint32_t j = 0; j < l->n; j++) {
        if (l->list[j].due <= round)
            forget(l, &l->list[j]);
        else
            l->list[left++] = l->list[j];
    }
    l->n = left;
    free(l->shown);
    l->shown = NULL;
}

void late_updates_free(struct late_updates *l)
{
    late_updates_drop(l, UINT32_MAX);
    free(l->list);
    kept_updates_free(&l->codes);
    l->list = NULL;
}

/* ---- checkpoints --------------------------------------------------------------------------- */

static const size_t double_at[] = {
    offsetof(struct update, rate),
    offsetof(struct update, alpha),
    offsetof(struct update, arrived_s),
    offsetof(struct update, gain),
    offsetof(struct update, channel_gain),
    offsetof(struct update, power_w),
    offsetof(struct update, receive_s),
    offsetof(struct update, compute_s),
    offsetof(struct update, upload_s),
    offsetof(struct update, joules),
    offsetof(struct update, train_loss) /* this and the next may be NaN */,
    offsetof(struct update, norm),
};
enum { DOUBLES = sizeof double_at / sizeof double_at[0], MEASURED = 10 };

static const size_t word_at[] = {
    offsetof(struct update, client),
    offsetof(struct update, start_round),
    offsetof(struct update, local_rounds),
    offsetof(struct update, steps),
};
/* And the due round, the samples and the first code. */
enum { SMALL = sizeof word_at / sizeof word_at[0], WORDS = SMALL + 3 };

static void *member(struct late_update *one, size_t at)
{
    return (unsigned char *)&one->facts + at;
}

/* The numbers of a list as they are recorded. */
struct late_numbers {
    uint64_t *word;      /* [n][WORDS] */
    uint64_t *histogram; /* [n][labels] */
    double *real;        /* [n][DOUBLES] */
};

static bool make_numbers(struct late_numbers *x, uint64_t n, uint64_t labels)
{
    x->word = calloc((size_t)n + 1, WORDS * sizeof *x->word);
    x->histogram = calloc((size_t)(n * labels) + 1, sizeof *x->histogram);
    x->real = calloc((size_t)n + 1, DOUBLES * sizeof *x->real);
    return x->word != NULL && x->histogram != NULL && x->real != NULL;
}

static void free_numbers(struct late_numbers *x)
{
    free(x->word);
    free(x->histogram);
    free(x->real);
}

static void take_numbers(const struct late_updates *l, struct late_numbers *x)
{
    for (uint32_t j = 0; j < l->n; j++) {
        struct late_update *one = &l->list[j];
        uint64_t *word = x->word + (size_t)j * WORDS;
        for (unsigned k = 0; k < SMALL; k++)
            word[k] = *(uint32_t *)member(one, word_at[k]);
        word[SMALL] = one->due;
        word[SMALL + 1] = one->facts.samples;
        word[SMALL + 2] = one->first;
        for (unsigned k = 0; k < DOUBLES; k++)
            x->real[(size_t)j * DOUBLES + k] = *(double *)member(one, double_at[k]);
        for (uint32_t label = 0; label < l->labels; label++)
            x->histogram[(size_t)j * l->labels + label] = one->histogram[label];
    }
}

osafl_status late_updates_save(const struct late_updates *l, osafl_writer *w)
{
    struct late_numbers x;
    osafl_status status = OSAFL_E_NOMEM;
    if (make_numbers(&x, l->n, l->labels)) {
        take_numbers(l, &x);
        status = w->u64(w, "late.words", x.word, (uint64_t)l->n * WORDS);
        if (status == OSAFL_OK)
            status = w->f64(w, "late.doubles", x.real, (uint64_t)l->n * DOUBLES);
        if (status == OSAFL_OK)
            status = w->u64(w, "late.histograms", x.histogram, (uint64_t)l->n * l->labels);
    }
    free_numbers(&x);
    return status == OSAFL_OK ? kept_updates_save(&l->codes, w) : status;
}

/* The list of codes has room for up to twice as many. */
uint64_t late_updates_held_bytes(const struct codec *codec, uint32_t slots, uint32_t labels)
{
    const uint64_t histogram = memory_block_bytes(((uint64_t)labels + 1) * sizeof(uint32_t));
    const uint64_t code = memory_block_bytes(codec_max_bytes(codec));
    return sizeof(struct late_update) + histogram + slots * (2 * sizeof(struct kept_update) + code);
}

uint64_t late_updates_saved_bytes(const struct codec *codec, uint32_t slots, uint32_t labels)
{
    const uint64_t numbers =
        (WORDS + (uint64_t)labels) * sizeof(uint64_t) + DOUBLES * sizeof(double);
    return numbers + slots * kept_updates_saved_bytes(codec);
}

static bool is_small(const uint64_t *word, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++)
        if (word[k] > UINT32_MAX)
            return false;
    return true;
}

static bool give_numbers(struct late_updates *l, const struct late_numbers *x, uint32_t j)
{
    struct late_update *one = &l->list[j];
    const uint64_t *word = x->word + (size_t)j * WORDS;
    const uint64_t *histogram = x->histogram + (size_t)j * l->labels;
    if (!is_small(word, SMALL + 1) || !is_small(histogram, l->labels))
        return false;
    for (unsigned k = 0; k < SMALL; k++)
        *(uint32_t *)member(one, word_at[k]) = (uint32_t)word[k];
    one->due = (uint32_t)word[SMALL];
    one->facts.samples = word[SMALL + 1];
    one->first = word[SMALL + 2];
    for (unsigned k = 0; k < DOUBLES; k++) {
        const double value = x->real[(size_t)j * DOUBLES + k];
        if (!isfinite(value) && !(k >= MEASURED && isnan(value)))
            return false;
        *(double *)member(one, double_at[k]) = value;
    }
    for (uint32_t label = 0; label < l->labels; label++)
        one->histogram[label] = (uint32_t)histogram[label];
    return true;
}

/* Its rounds fit each other, its client waits for it, and it has all of its codes. */
static bool is_sound(const struct late_updates *l, const struct late_update *one,
                     const struct late_bounds *b)
{
    const struct update *u = &one->facts;
    if (u->client >= b->clients || u->local_rounds == 0 || u->start_round >= b->round ||
        one->due < b->round || one->due - u->start_round > b->max_staleness ||
        b->free_from[u->client] != one->due + 1 || (one->first != 0) != b->has_codes)
        return false;
    for (const struct late_update *other = l->list; other < one; other++)
        if (other->facts.client == u->client)
            return false;
    for (uint32_t slot = 0; b->has_codes && slot < l->slots; slot++)
        if (kept_updates_find(&l->codes, one->first + slot) == NULL)
            return false;
    return true;
}

static osafl_status read_list(struct late_updates *l, uint64_t n, const struct late_bounds *b,
                              osafl_reader *r)
{
    struct late_numbers x;
    osafl_status status = make_numbers(&x, n, l->labels) ? OSAFL_OK : OSAFL_E_NOMEM;
    if (status == OSAFL_OK)
        status = r->u64(r, "late.words", x.word, n * WORDS);
    if (status == OSAFL_OK)
        status = r->f64(r, "late.doubles", x.real, n * DOUBLES);
    if (status == OSAFL_OK)
        status = r->u64(r, "late.histograms", x.histogram, n * l->labels);
    for (uint32_t j = 0; status == OSAFL_OK && j < n; j++) {
        if (append(l, &(struct update){0}) == NULL)
            status = OSAFL_E_NOMEM;
        else if (!give_numbers(l, &x, j) || !is_sound(l, &l->list[j], b))
            status = OSAFL_E_STATE;
    }
    free_numbers(&x);
    return status;
}

osafl_status late_updates_load(struct late_updates *l, const struct late_bounds *b,
                               const struct codec *codec, osafl_call *c, osafl_reader *r)
{
    uint64_t n = 0;
    OSAFL_TRY(kept_updates_load(&l->codes, codec, c, r));
    OSAFL_TRY(r->count(r, "late.words", &n));
    if (n % WORDS != 0 || n / WORDS > b->clients)
        return core_host.fail(c, OSAFL_E_STATE,
                              "more updates are under way than there are clients");
    const osafl_status status = read_list(l, n / WORDS, b, r);
    if (status == OSAFL_OK)
        return OSAFL_OK;
    return core_host.fail(c, status, "the updates under way are damaged");
}
