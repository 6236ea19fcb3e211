/* checks_state.c - saving and loading.
 *
 * Records are kept here as a list, not as the bytes of a checkpoint: the program has proved a
 * block's lengths and checksum before a plugin sees it, so that what is tried is what a plugin can
 * meet, such as a state of another version of itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "instance_under_test.h"

enum record_type { RECORD_U64 = 1, RECORD_F64, RECORD_F32, RECORD_BYTES };

static const size_t element_bytes[] = {
    [RECORD_U64] = 8, [RECORD_F64] = 8, [RECORD_F32] = 4, [RECORD_BYTES] = 1};

#define MOST_RECORDS 256

struct record {
    char key[128];
    enum record_type type;
    uint64_t n;
    void *data;
};

struct state {
    struct record record[MOST_RECORDS];
    uint32_t n;
    bool too_many;
    bool refused; /* a reader found no such record */
};

/* ---- writer and reader --------------------------------------------------------------------- */

static osafl_status keep(osafl_writer *w, const char *key, enum record_type type, const void *v,
                         uint64_t n)
{
    struct state *s = w->priv;
    if (s->n == MOST_RECORDS) {
        s->too_many = true;
        return OSAFL_E_STATE;
    }
    struct record *r = &s->record[s->n++];
    snprintf(r->key, sizeof r->key, "%s", key);
    r->type = type;
    r->n = n;
    r->data = malloc(n * element_bytes[type] + 1);
    if (r->data == NULL)
        _exit(70);
    if (n > 0)
        memcpy(r->data, v, n * element_bytes[type]);
    return OSAFL_OK;
}

static osafl_status keep_u64(osafl_writer *w, const char *key, const uint64_t *v, uint64_t n)
{
    return keep(w, key, RECORD_U64, v, n);
}

static osafl_status keep_f64(osafl_writer *w, const char *key, const double *v, uint64_t n)
{
    return keep(w, key, RECORD_F64, v, n);
}

static osafl_status keep_f32(osafl_writer *w, const char *key, const float *v, uint64_t n)
{
    return keep(w, key, RECORD_F32, v, n);
}

static osafl_status keep_bytes(osafl_writer *w, const char *key, const void *v, uint64_t n)
{
    return keep(w, key, RECORD_BYTES, v, n);
}

static struct record *find(struct state *s, const char *key)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (strcmp(s->record[i].key, key) == 0)
            return &s->record[i];
    }
    s->refused = true;
    return NULL;
}

static osafl_status give_count(osafl_reader *r, const char *key, uint64_t *n)
{
    const struct record *record = find(r->priv, key);
    if (record == NULL)
        return OSAFL_E_STATE;
    *n = record->n;
    return OSAFL_OK;
}

static osafl_status give(osafl_reader *r, const char *key, enum record_type type, void *v,
                         uint64_t n)
{
    struct state *s = r->priv;
    const struct record *record = find(s, key);
    if (record == NULL || record->type != type || record->n != n) {
        s->refused = true;
        return OSAFL_E_STATE;
    }
    if (n > 0)
        memcpy(v, record->data, n * element_bytes[type]);
    return OSAFL_OK;
}

static osafl_status give_u64(osafl_reader *r, const char *key, uint64_t *v, uint64_t n)
{
    return give(r, key, RECORD_U64, v, n);
}

static osafl_status give_f64(osafl_reader *r, const char *key, double *v, uint64_t n)
{
    return give(r, key, RECORD_F64, v, n);
}

static osafl_status give_f32(osafl_reader *r, const char *key, float *v, uint64_t n)
{
    return give(r, key, RECORD_F32, v, n);
}

static osafl_status give_bytes(osafl_reader *r, const char *key, void *v, uint64_t n)
{
    return give(r, key, RECORD_BYTES, v, n);
}

static void state_free(struct state *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->record[i].data);
    free(s);
}

static struct state *state_copy(const struct state *s)
{
    struct state *copy = calloc(1, sizeof *copy);
    if (copy == NULL)
        _exit(70);
    *copy = *s;
    for (uint32_t i = 0; i < s->n; i++) {
        const size_t bytes = s->record[i].n * element_bytes[s->record[i].type];
        copy->record[i].data = malloc(bytes + 16); /* room to grow by an element */
        if (copy->record[i].data == NULL)
            _exit(70);
        memcpy(copy->record[i].data, s->record[i].data, bytes);
        memset((unsigned char *)copy->record[i].data + bytes, 0, 16);
    }
    return copy;
}

static bool has_state(const struct conform *c)
{
    return c->plugin->vtable->save != NULL;
}

static struct state *save(struct instance_under_test *s)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        _exit(70);
    osafl_writer w = {.struct_size = sizeof w,
                      .priv = state,
                      .u64 = keep_u64,
                      .f64 = keep_f64,
                      .f32 = keep_f32,
                      .bytes = keep_bytes};
    struct caller t = caller_open(s);
    osafl_call *c = caller_begin(&t, "save()", OSAFL_NO_CLIENT);
    const osafl_status status =
        caller_end(&t, s->instance.plugin->vtable->save(s->instance.self, c, &w));
    if (state->too_many)
        caller_fail(&t, "saves more than %d records", MOST_RECORDS);
    if (status != OSAFL_OK)
        caller_fail(&t, "fails with %s: %s", status_name(status), t.error.text);
    for (uint32_t i = 0; i < state->n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(state->record[i].key, state->record[j].key) == 0)
                caller_fail(&t, "saves two records called \"%s\"", state->record[i].key);
        }
    }
    caller_close(&t);
    return state;
}

/* The status of load(); s->error says why. */
static osafl_status load(struct instance_under_test *s, struct state *state, uint32_t version)
{
    osafl_reader r = {.struct_size = sizeof r,
                      .state_version = version,
                      .priv = state,
                      .count = give_count,
                      .u64 = give_u64,
                      .f64 = give_f64,
                      .f32 = give_f32,
                      .bytes = give_bytes};
    struct caller t = caller_open(s);
    state->refused = false;
    osafl_call *c = caller_begin(&t, "load()", OSAFL_NO_CLIENT);
    const osafl_status status =
        caller_end(&t, s->instance.plugin->vtable->load(s->instance.self, c, &r));
    snprintf(s->doing, sizeof s->doing, "load()");
    s->error = t.error;
    caller_close(&t);
    return status;
}

static uint32_t own_version(const struct instance_under_test *s)
{
    return s->instance.plugin->vtable->state_version;
}

/* ---- whole states -------------------------------------------------------------------------- */

/* An instance after some rounds, and its state. */
static struct state *saved_after(struct conform *c, uint32_t rounds, struct instance_under_test *s,
                                 struct transcript *t)
{
    under_test_must_open(s, c, t);
    if (!has_state(c))
        conform_skip(c, "keeps no state");
    under_test_must_run(s, 0, rounds, t);
    return save(s);
}

static void require_same_state(const struct conform *c, const struct state *a,
                               const struct state *b)
{
    if (a->n != b->n)
        conform_fail(c, "saves %u records, and %u after they were loaded", (unsigned)a->n,
                     (unsigned)b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct record *x = &a->record[i];
        const struct record *y = &b->record[i];
        if (strcmp(x->key, y->key) != 0 || x->type != y->type || x->n != y->n ||
            memcmp(x->data, y->data, x->n * element_bytes[x->type]) != 0)
            conform_fail(c, "saves another record \"%s\" after it was loaded", x->key);
    }
}

/* Before the first round, after some, after the last. */
void check_state_round_trip(struct conform *c)
{
    static const uint32_t moments[] = {0, 3, TRIAL_ROUNDS};
    conform_load(c);
    for (size_t k = 0; k < sizeof moments / sizeof moments[0]; k++) {
        struct instance_under_test s;
        struct instance_under_test fresh;
        struct transcript answers = {0};
        struct state *first = saved_after(c, moments[k], &s, &answers);
        under_test_must_open(&fresh, c, &answers);
        const osafl_status status = load(&fresh, first, own_version(&fresh));
        if (status != OSAFL_OK)
            conform_fail(c, "does not load what it saved after %u rounds: %s", (unsigned)moments[k],
                         fresh.error.text);
        struct state *second = save(&fresh);
        require_same_state(c, first, second);
        state_free(first);
        state_free(second);
        under_test_close(&s);
        under_test_close(&fresh);
    }
}

/* A fresh instance goes on from any round as the first one does; also where there is no state. */
void check_state_resume(struct conform *c)
{
    conform_load(c);
    /* Models play in their first round only. */
    const uint32_t stride = c->plugin->kind == OSAFL_KIND_MODEL ? TRIAL_ROUNDS : 2;
    for (uint32_t moment = 1; moment < TRIAL_ROUNDS; moment += stride) {
        struct instance_under_test s;
        struct instance_under_test fresh;
        struct transcript before = {0};
        struct transcript going_on = {0};
        struct transcript resumed = {0};
        under_test_must_open(&s, c, &before);
        under_test_must_run(&s, 0, moment, &before);
        under_test_must_open(&fresh, c, &before);
        if (has_state(c)) {
            struct state *state = save(&s);
            const osafl_status status = load(&fresh, state, own_version(&fresh));
            if (status != OSAFL_OK)
                under_test_fail(&fresh, status);
            state_free(state);
        }
        if (s.calls->copy_kept != NULL)
            s.calls->copy_kept(&fresh, &s);
        under_test_must_run(&s, moment, TRIAL_ROUNDS, &going_on);
        under_test_must_run(&fresh, moment, TRIAL_ROUNDS, &resumed);
        const char *difference = transcript_difference(&going_on, &resumed);
        if (difference != NULL)
            conform_fail(c, "answers otherwise when it is resumed after %u rounds: %s%s",
                         (unsigned)moment, difference,
                         has_state(c) ? "" : "; what it remembers needs life.save and life.load");
        under_test_close(&s);
        under_test_close(&fresh);
    }
}

/* ---- damaged states ------------------------------------------------------------------------ */

/* Loads a damaged state into a fresh instance that takes the place of `whole`.  It may refuse it;
 * one that accepts it must survive being used, with whatever status.  Returns whether it was
 * accepted. */
static bool try_damaged(struct conform *c, const struct instance_under_test *whole,
                        struct state *state, uint32_t version, const char *how)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers);
    if (s.calls->copy_kept != NULL)
        s.calls->copy_kept(&s, whole);
    const osafl_status status = load(&s, state, version);
    if (status == OSAFL_OK)
        (void)under_test_run(&s, 3, TRIAL_ROUNDS, 0, &answers);
    else if (status != OSAFL_E_STATE && status != OSAFL_E_NOMEM && status != OSAFL_E_UNSUPPORTED)
        conform_fail(c, "load() %s fails with %s, not OSAFL_E_STATE: %s", how, status_name(status),
                     s.error.text);
    else if (!state->refused) /* else the reader has written the message */
        under_test_require_clean(&s, status, how);
    under_test_close(&s);
    transcript_free(&answers);
    return status == OSAFL_OK;
}

/* No record is there, or one is not; or it was written by another version. */
void check_state_missing(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    char how[200];
    conform_load(c);
    struct state *whole = saved_after(c, 3, &s, &answers);
    struct state *empty = calloc(1, sizeof *empty);
    if (empty == NULL)
        _exit(70);
    if (whole->n > 0 && try_damaged(c, &s, empty, own_version(&s), "of no record at all"))
        conform_fail(c, "load() accepts a state without any record");
    for (uint32_t i = 0; i < whole->n; i++) {
        struct state *part = state_copy(whole);
        snprintf(part->record[i].key, sizeof part->record[i].key, "no such key");
        snprintf(how, sizeof how, "without the record \"%s\"", whole->record[i].key);
        if (try_damaged(c, &s, part, own_version(&s), how))
            conform_fail(c, "load() accepts a state %s", how);
        state_free(part);
    }
    if (own_version(&s) > 0) {
        struct state *old = state_copy(whole);
        (void)try_damaged(c, &s, old, own_version(&s) - 1, "of an older version");
        state_free(old);
    }
}

/* Each record an element shorter, an element longer, and empty. */
void check_state_lengths(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    char how[200];
    conform_load(c);
    struct state *whole = saved_after(c, 3, &s, &answers);
    for (uint32_t i = 0; i < whole->n; i++) {
        const uint64_t n = whole->record[i].n;
        const uint64_t lengths[] = {n > 0 ? n - 1 : 0, n + 1, 0};
        for (size_t k = 0; k < 3; k++) {
            struct state *other = state_copy(whole);
            other->record[i].n = lengths[k];
            snprintf(how, sizeof how, "with %g instead of %g elements in \"%s\"",
                     (double)lengths[k], (double)n, whole->record[i].key);
            if (lengths[k] != n)
                (void)try_damaged(c, &s, other, own_version(&s), how);
            state_free(other);
        }
    }
}

static void spoil(struct draws *d, struct record *r)
{
    static const double numbers[] = {(double)NAN, 1e300, -1e300, -1.0, 0.0, 1e-300};
    static const uint64_t counts[] = {UINT64_MAX, (uint64_t)1 << 63, (uint64_t)1 << 32, 0, 1, 7};
    if (r->n == 0)
        return;
    const uint64_t i = draw_bits(d) % r->n;
    const uint32_t which = draw_below(d, 6);
    if (r->type == RECORD_U64)
        ((uint64_t *)r->data)[i] = draw_below(d, 4) == 0 ? draw_bits(d) : counts[which];
    else if (r->type == RECORD_F64)
        ((double *)r->data)[i] = numbers[which];
    else if (r->type == RECORD_F32)
        ((float *)r->data)[i] = (float)numbers[which];
    else
        ((unsigned char *)r->data)[i] ^= (unsigned char)(1 + draw_below(d, 255));
}

/* Any values: refused or survived. */
void check_state_values(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    struct draws d = {.seed = c->seed, .purpose = 10};
    char how[80];
    conform_load(c);
    struct state *whole = saved_after(c, 3, &s, &answers);
    for (uint32_t n = 0; whole->n > 0 && n < 150; n++) {
        struct state *other = state_copy(whole);
        for (uint32_t k = 1 + draw_below(&d, 3); k > 0; k--)
            spoil(&d, &other->record[draw_below(&d, other->n)]);
        snprintf(how, sizeof how, "with damaged values (number %u)", (unsigned)n);
        (void)try_damaged(c, &s, other, own_version(&s), how);
        state_free(other);
    }
}
