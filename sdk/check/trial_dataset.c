/* trial_dataset.c - data sets at work, and their laws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "instance_under_test.h"

#define BATCH 5
/* Samples of an endless split that are looked at. */
#define REACH UINT64_C(100000)

/* What the host keeps: the description. */
struct dataset_host {
    osafl_dataset_info info;
};

static const osafl_dataset_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_dataset_vt *)(const void *)s->instance.plugin->vtable;
}

static const osafl_dataset_info *info_of(const struct instance_under_test *s)
{
    return &((const struct dataset_host *)s->kept)->info;
}

/* Bytes of the values of a sample, floats or integers. */
static uint64_t sample_bytes(const struct instance_under_test *s)
{
    return osafl_sample_size(info_of(s)) * sizeof(float);
}

/* The values of sample i of a batch. */
static const void *values_of(const struct instance_under_test *s, const osafl_batch *b, uint64_t i)
{
    const char *first = b->x != NULL ? (const char *)b->x : (const char *)b->x_int;
    return first + i * sample_bytes(s);
}

static uint64_t split_size(const struct instance_under_test *s, uint32_t split)
{
    const osafl_dataset_info *info = info_of(s);
    const uint64_t n = split == OSAFL_SPLIT_TRAIN        ? info->n_train
                       : split == OSAFL_SPLIT_VALIDATION ? info->n_validation
                                                         : info->n_test;
    return n < REACH ? n : REACH;
}

/* Of a description with which nothing can be tried. */
static const char *absurdity(const osafl_dataset_info *info)
{
    if (info->rank < 1 || info->rank > OSAFL_SAMPLE_RANK)
        return "samples have no dimension, or too many";
    double values = 1.0;
    for (uint32_t i = 0; i < info->rank; i++)
        values *= info->shape[i];
    if (!(values >= 1.0 && values < 0x1p31))
        return "samples have no extent, or an absurd one";
    if (info->x_type != OSAFL_X_FLOAT && info->x_type != OSAFL_X_INT32)
        return "the type of the values is unknown";
    if (info->labels < 1 || info->labels > 1u << 24)
        return "there are no labels, or absurdly many";
    if (info->target_type != OSAFL_TARGET_CLASS && info->target_type != OSAFL_TARGET_REAL)
        return "the type of the targets is unknown";
    if (info->target_size < 1 || info->target_size > 1u << 24)
        return "the size of the targets is 0 or absurd";
    if (info->target_type == OSAFL_TARGET_CLASS && info->target_size != info->labels)
        return "there are other numbers of classes and of labels";
    if (info->n_train == 0)
        return "there are no training samples";
    return NULL;
}

static osafl_status begin(struct instance_under_test *s, struct caller *t)
{
    struct dataset_host *k = s->kept;
    k->info = (osafl_dataset_info){.struct_size = sizeof k->info};
    osafl_dataset_info *info = arena_inout(&t->arena, "info", &k->info, 1, sizeof k->info, 8);
    osafl_call *c = caller_begin(t, "describe()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->describe(s->instance.self, c, info)));
    k->info = *info;
    transcript_bytes(&t->transcript, "describe()", 0, 0, info,
                     offsetof(osafl_dataset_info, label_names));
    if (absurdity(info) != NULL)
        caller_fail(t, "%s", absurdity(info));
    return OSAFL_OK;
}

/* A batch with room for n samples. */
static osafl_batch make_batch(struct instance_under_test *s, struct caller *t, uint32_t n)
{
    const osafl_dataset_info *info = info_of(s);
    const bool integers = info->x_type == OSAFL_X_INT32;
    void *x = arena_output(&t->arena, integers ? "x_int" : "x", n * osafl_sample_size(info),
                           sizeof(float), 64);
    osafl_batch b = {
        .struct_size = sizeof b,
        .n = n,
        .x = integers ? NULL : x,
        .x_int = integers ? x : NULL,
        .label = arena_output(&t->arena, "label", n, sizeof(int32_t), 4),
    };
    if (info->target_type == OSAFL_TARGET_REAL)
        b.target =
            arena_output(&t->arena, "target", (uint64_t)n * info->target_size, sizeof(float), 4);
    return b;
}

static osafl_status read_batch(struct instance_under_test *s, struct caller *t, uint32_t split,
                               const uint64_t *index, const osafl_batch *b)
{
    const uint64_t *in = arena_input(&t->arena, "index", index, b->n, sizeof *index, 8);
    const osafl_batch *batch = arena_input(&t->arena, "batch", b, 1, sizeof *b, 8);
    osafl_call *c = caller_begin(t, "read()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->read(s->instance.self, c, split, in, batch)));
    if (b->x != NULL)
        transcript_floats(&t->transcript, "x of read()", t->round, t->task, b->x,
                          b->n * osafl_sample_size(info_of(s)));
    else
        transcript_bytes(&t->transcript, "x_int of read()", t->round, t->task, b->x_int,
                         b->n * sample_bytes(s));
    transcript_bytes(&t->transcript, "label of read()", t->round, t->task, b->label,
                     b->n * sizeof *b->label);
    if (b->target != NULL)
        transcript_floats(&t->transcript, "target of read()", t->round, t->task, b->target,
                          (uint64_t)b->n * info_of(s)->target_size);
    return OSAFL_OK;
}

static osafl_status ask_label(struct instance_under_test *s, struct caller *t, uint64_t i,
                              int32_t *label)
{
    osafl_call *c = caller_begin(t, "label()", OSAFL_NO_CLIENT);
    return caller_end(t, vtable(s)->label(s->instance.self, c, i, label));
}

static osafl_status ask_sample(struct instance_under_test *s, struct caller *t, uint32_t label,
                               uint64_t k, uint64_t *sample)
{
    osafl_call *c = caller_begin(t, "sample_of()", OSAFL_NO_CLIENT);
    return caller_end(t, vtable(s)->sample_of(s->instance.self, c, (int32_t)label, k, sample));
}

static osafl_status ask_client(struct instance_under_test *s, struct caller *t, uint64_t i,
                               uint32_t *client)
{
    osafl_call *c = caller_begin(t, "client_of()", OSAFL_NO_CLIENT);
    return caller_end(t, vtable(s)->client_of(s->instance.self, c, i, client));
}

static osafl_status ask_time(struct instance_under_test *s, struct caller *t, uint64_t i,
                             double *when)
{
    osafl_call *c = caller_begin(t, "time_of()", OSAFL_NO_CLIENT);
    return caller_end(t, vtable(s)->time_of(s->instance.self, c, i, when));
}

/* What can be asked of training samples by their numbers. */
static osafl_status ask_numbers(struct instance_under_test *s, struct caller *t,
                                const uint64_t *index)
{
    for (uint32_t k = 0; k < BATCH; k++) {
        int32_t label = -1;
        uint64_t sample = 0;
        uint32_t client = 0;
        double when = 0.0;
        OSAFL_TRY(ask_label(s, t, index[k], &label));
        transcript_bytes(&t->transcript, "label()", t->round, t->task, &label, sizeof label);
        if (vtable(s)->sample_of != NULL)
            OSAFL_TRY(ask_sample(s, t, k % info_of(s)->labels, k, &sample));
        transcript_bytes(&t->transcript, "sample_of()", t->round, t->task, &sample, sizeof sample);
        if (vtable(s)->client_of != NULL)
            OSAFL_TRY(ask_client(s, t, index[k], &client));
        transcript_bytes(&t->transcript, "client_of()", t->round, t->task, &client, sizeof client);
        if (vtable(s)->time_of != NULL)
            OSAFL_TRY(ask_time(s, t, index[k], &when));
        transcript_bytes(&t->transcript, "time_of()", t->round, t->task, &when, sizeof when);
    }
    return OSAFL_OK;
}

/* The label of a sample where a failure fails the check. */
static int32_t label_of(struct instance_under_test *s, struct caller *t, uint64_t i)
{
    int32_t label = -1;
    if (ask_label(s, t, i, &label) != OSAFL_OK)
        caller_fail(t, "fails: %s", t->error.text);
    return label;
}

/* Some samples of each split, one of them twice, and what can be asked of their numbers. */
static osafl_status run_task(struct instance_under_test *s, struct caller *t)
{
    for (uint32_t split = OSAFL_SPLIT_TRAIN; split <= OSAFL_SPLIT_TEST; split++) {
        uint64_t index[BATCH];
        const uint64_t size = split_size(s, split);
        struct draws d = {.seed = s->conform->seed,
                          .purpose = 7,
                          .index =
                              (uint64_t)t->round << 40 | (uint64_t)t->task << 20 | split << 10};
        if (size == 0)
            continue;
        for (unsigned i = 0; i < BATCH; i++)
            index[i] = draw_bits(&d) % size;
        index[BATCH - 1] = index[0];
        if (t->task == 0)
            index[1] = size - 1;
        const osafl_batch b = make_batch(s, t, BATCH);
        OSAFL_TRY(read_batch(s, t, split, index, &b));
        if (split != OSAFL_SPLIT_TRAIN)
            continue;
        OSAFL_TRY(ask_numbers(s, t, index));
    }
    return OSAFL_OK;
}

const struct kind_calls dataset_calls = {
    .kind = OSAFL_KIND_DATASET,
    .kept_bytes = sizeof(struct dataset_host),
    .tasks = 8,
    .begin = begin,
    .task = run_task,
};

/* ---- laws ---------------------------------------------------------------------------------- */

void check_dataset_description(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    under_test_must_open(&s, c, &answers); /* begin() looks for what is absurd */
    const osafl_dataset_info *info = info_of(&s);
    if (info->n_train == OSAFL_ENDLESS && vtable(&s)->sample_of == NULL)
        conform_fail(c, "has an endless training split and no sample_of()");
    if (info->n_test == 0 && info->n_validation == 0)
        conform_fail(c, "has no sample to evaluate a model on");
    for (uint32_t l = 0; info->label_names != NULL && l < info->labels; l++) {
        if (info->label_names[l] == NULL || info->label_names[l][0] == '\0')
            conform_fail(c, "has no name for label %u", (unsigned)l);
    }
    if ((vtable(&s)->client_of != NULL) != plugin_has_feature(c->plugin, "natural"))
        conform_fail(c,
                     "has a client_of() without the feature \"natural\", or the other way round");
    if ((vtable(&s)->time_of != NULL) != plugin_has_feature(c->plugin, "timed"))
        conform_fail(c, "has a time_of() without the feature \"timed\", or the other way round");
}

/* Samples that are looked at have finite times, or none has one. */
static void check_times(struct instance_under_test *s, struct caller *t)
{
    const uint64_t size = split_size(s, OSAFL_SPLIT_TRAIN);
    bool timed = false;
    for (uint64_t i = 0; i < size && i < 1000; i++) {
        double when = 0.0;
        if (ask_time(s, t, i, &when) != OSAFL_OK)
            caller_fail(t, "fails: %s", t->error.text);
        if (isinf(when))
            caller_fail(t, "is infinite for sample %u", (unsigned)i);
        if (i > 0 && timed == isnan(when))
            caller_fail(t, "gives sample %u %s, and those before it %s", (unsigned)i,
                        timed ? "no time" : "a time", timed ? "have one" : "have none");
        timed = !isnan(when);
    }
}

/* A sample is the same alone and in any batch; numbers are finite; labels agree. */
void check_dataset_samples(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    struct draws d = {.seed = c->seed, .purpose = 8};
    under_test_must_open(&s, c, &answers);
    for (uint32_t split = OSAFL_SPLIT_TRAIN; split <= OSAFL_SPLIT_TEST; split++) {
        uint64_t index[BATCH];
        const uint64_t size = split_size(&s, split);
        if (size == 0)
            continue;
        struct caller t = caller_open(&s);
        for (unsigned i = 0; i < BATCH; i++)
            index[i] = draw_bits(&d) % size;
        index[BATCH - 1] = index[1];
        const osafl_batch all = make_batch(&s, &t, BATCH);
        const osafl_batch one = make_batch(&s, &t, 1);
        if (read_batch(&s, &t, split, index, &all) != OSAFL_OK)
            caller_fail(&t, "fails: %s", t.error.text);
        for (unsigned i = 0; i < BATCH; i++) {
            if (read_batch(&s, &t, split, &index[i], &one) != OSAFL_OK)
                caller_fail(&t, "fails: %s", t.error.text);
            if (memcmp(values_of(&s, &one, 0), values_of(&s, &all, i), sample_bytes(&s)) != 0 ||
                one.label[0] != all.label[i])
                caller_fail(&t, "sample %g of split %u is another one alone than in a batch",
                            (double)index[i], (unsigned)split);
            if (all.label[i] < 0 || all.label[i] >= (int32_t)info_of(&s)->labels)
                caller_fail(&t, "sample %g has label %d of %u", (double)index[i], (int)all.label[i],
                            (unsigned)info_of(&s)->labels);
            if (split == OSAFL_SPLIT_TRAIN && all.label[i] != label_of(&s, &t, index[i]))
                caller_fail(&t, "sample %g has another label in read() than in label()",
                            (double)index[i]);
        }
        if (t.transcript.not_finite[0] != '\0')
            caller_fail(&t, "%s", t.transcript.not_finite);
        caller_close(&t);
    }
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

enum { EACH = 20, MOST_LABELS = 50 };

/* Samples of every label by sample_of(), which have that label; returns how many. */
static size_t find_samples(struct instance_under_test *s, struct caller *t, uint64_t *all)
{
    size_t n = 0;
    for (uint32_t l = 0; l < info_of(s)->labels && l < MOST_LABELS; l++) {
        for (uint64_t k = 0; k < EACH; k++) {
            if (ask_sample(s, t, l, k, &all[n]) != OSAFL_OK)
                caller_fail(t, "fails: %s", t->error.text);
            const int32_t label = label_of(s, t, all[n]);
            if (label != (int32_t)l)
                conform_fail(s->conform, "sample_of(%u, %u) is sample %g, whose label is %d",
                             (unsigned)l, (unsigned)k, (double)all[n], (int)label);
            n++;
        }
    }
    return n;
}

/* label() and sample_of() are inverse to each other, and sample_of() never gives one twice; times.
 */
void check_dataset_labels(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    uint64_t all[EACH * MOST_LABELS];
    under_test_must_open(&s, c, &answers);
    struct caller t = caller_open(&s);
    const uint32_t labels = info_of(&s)->labels;
    const uint64_t size = split_size(&s, OSAFL_SPLIT_TRAIN);
    for (uint64_t i = 0; i < size && i < 1000; i++) {
        const int32_t label = label_of(&s, &t, i);
        if (label < 0 || label >= (int32_t)labels)
            conform_fail(c, "label() of sample %u is %d of %u labels", (unsigned)i, (int)label,
                         (unsigned)labels);
    }
    if (vtable(&s)->time_of != NULL)
        check_times(&s, &t);
    if (vtable(&s)->sample_of == NULL)
        return;
    const size_t n = find_samples(&s, &t, all);
    qsort(all, n, sizeof all[0], compare_numbers);
    for (size_t i = 1; i < n; i++) {
        if (all[i] == all[i - 1])
            conform_fail(c, "sample_of() gives sample %g twice", (double)all[i]);
    }
}

/* Samples are no function of the run's seed: all runs see the same data. */
void check_dataset_seed(struct conform *c)
{
    struct transcript answers[2] = {{0}};
    conform_load(c);
    for (unsigned k = 0; k < 2; k++) {
        struct instance_under_test s;
        struct trial_world world = usual_world;
        const struct trial_settings settings = settings_default(c);
        world.seed = 1 + k;
        const osafl_status status =
            under_test_open(&s, c, &world, &settings, false, 0, &answers[k]);
        if (status != OSAFL_OK)
            under_test_fail(&s, status);
        under_test_must_run(&s, 0, 2, &answers[k]);
        under_test_close(&s);
    }
    const char *difference = transcript_difference(&answers[0], &answers[1]);
    if (difference != NULL)
        conform_fail(c, "depends on the run's seed: %s", difference);
}
