/* checks_numbers.c - what is read, written and returned; and on which thread. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "elf_file.h"
#include "instance_under_test.h"
#include "plugin/pool.h"
#include "plugin_statics.h"
#include "shifted_clock.h"

#define THREADS 8
#define OTHER_TIME_S 100000007 /* some years: another second, hour, weekday and season */

/* A whole life in a world: opens with defaults, plays, closes. */
static osafl_status live(struct conform *c, const struct trial_world *world, bool guarded,
                         unsigned char fill, unsigned threads, struct pool *pool,
                         struct instance_under_test *s, struct transcript *t)
{
    const struct trial_settings settings = settings_default(c);
    osafl_status status = under_test_open(s, c, world, &settings, guarded, fill, t);
    s->context.pool = pool;
    if (status == OSAFL_OK)
        status = under_test_run(s, 0, TRIAL_ROUNDS, threads, t);
    under_test_close(s);
    return status;
}

static void must_live(struct conform *c, const struct trial_world *world, bool guarded,
                      unsigned char fill, unsigned threads, struct pool *pool, struct transcript *t)
{
    struct instance_under_test s;
    const osafl_status status = live(c, world, guarded, fill, threads, pool, &s, t);
    if (status != OSAFL_OK)
        under_test_fail(&s, status);
}

/* ---- threads ------------------------------------------------------------------------------- */

void check_threads_workers(struct conform *c)
{
    struct transcript serial = {0};
    conform_load(c);
    const struct trial_world world = world_for(c);
    if (!workers_call(c->plugin))
        conform_skip(c, "is never called by workers");
    must_live(c, &world, false, 0, 0, NULL, &serial);
    struct transcript backwards = {0};
    must_live(c, &world, false, 0, TRIAL_BACKWARDS, NULL, &backwards);
    const char *mixed = transcript_difference(&serial, &backwards);
    if (mixed != NULL)
        conform_fail(c,
                     "answers otherwise when other clients come before: %s; what a client needs "
                     "is kept in its own state",
                     mixed);
    for (unsigned k = 0; k < 3; k++) {
        struct transcript parallel = {0};
        must_live(c, &world, false, 0, THREADS, NULL, &parallel);
        const char *difference = transcript_difference(&serial, &parallel);
        if (difference != NULL)
            conform_fail(c, "answers otherwise on %d threads than on one: %s", THREADS, difference);
        transcript_free(&parallel);
    }
}

/* Kinds of the coordinator may use host->parallel(). */
void check_threads_parallel(struct conform *c)
{
    static const unsigned threads[] = {1, 2, 7};
    struct transcript serial = {0};
    conform_load(c);
    struct trial_world world = world_for(c);
    if (c->plugin->kind == OSAFL_KIND_MODEL || c->plugin->kind == OSAFL_KIND_DATASET)
        conform_skip(c, "is of a kind that only workers call");
    world.dim = 9001; /* some blocks of coordinates */
    must_live(c, &world, false, 0, 0, NULL, &serial);
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        struct transcript parallel = {0};
        struct pool *pool = pool_create(threads[k], NULL);
        if (pool == NULL)
            conform_skip(c, "cannot be tried: no threads");
        must_live(c, &world, false, 0, 0, pool, &parallel);
        pool_destroy(pool);
        const char *difference = transcript_difference(&serial, &parallel);
        if (difference != NULL)
            conform_fail(c, "answers otherwise when parallel() has %u threads: %s", threads[k],
                         difference);
        transcript_free(&parallel);
    }
}

/* Words in files that count their coverage (GCC, clang), or guard what lies between variables. */
static bool is_instrumented(const struct conform *c)
{
    static const char *const marks[] = {"GCOV_PREFIX", "LLVM_PROFILE_FILE",
                                        "__asan_version_mismatch_check"};
    struct elf_file file;
    struct error error;
    bool found = false;
    if (elf_open(&file, c->path, &error) != OSAFL_OK)
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        found = found || memmem(file.data, file.bytes, marks[i], strlen(marks[i])) != NULL;
    elf_close(&file);
    return found;
}

/* Tables that are made once are there after the first life.  The second, with other numbers and
 * draws, changes nothing: what it did would be seen by calls that run beside it. */
void check_threads_statics(struct conform *c)
{
    struct transcript answers = {0};
    conform_load(c);
    if (is_instrumented(c))
        conform_skip(c, "is compiled with instruments that use static memory themselves");
    struct trial_world world = world_for(c);
    must_live(c, &world, false, 0, 0, NULL, &answers);
    void *before = statics_copy(c->described);
    world.seed++;
    world.scale = 1.5;
    must_live(c, &world, false, 0, 0, NULL, &answers);
    const struct statics_difference d = statics_compare(c->described, before);
    if (d.bytes > 0)
        conform_fail(
            c,
            "has changed %u bytes of its static variables, from 0x%llx on (\"nm -n\" lists "
            "the file's names): what it works with belongs into the instance or "
            "host->scratch()",
            (unsigned)d.bytes, (unsigned long long)d.first);
}

/* ---- buffers ------------------------------------------------------------------------------- */

/* Inputs are read-only, and outputs end at a page that must not be touched. */
void check_numbers_guards(struct conform *c)
{
    struct transcript answers = {0};
    conform_load(c);
    const struct trial_world world = world_for(c);
    must_live(c, &world, true, 0, 0, NULL, &answers);
}

/* All of an output is written: whatever it held before, it holds the same afterwards. */
void check_numbers_written(struct conform *c)
{
    struct transcript first = {0};
    struct transcript second = {0};
    conform_load(c);
    const struct trial_world world = world_for(c);
    must_live(c, &world, false, 0x00, 0, NULL, &first);
    must_live(c, &world, false, 0xa5, 0, NULL, &second);
    const char *difference = transcript_difference(&first, &second);
    if (difference != NULL)
        conform_fail(c, "leaves a part of an output unwritten, or adds to it: %s", difference);
}

/* ---- numbers ------------------------------------------------------------------------------- */

void check_numbers_repeat(struct conform *c)
{
    struct transcript first = {0};
    struct transcript second = {0};
    conform_load(c);
    const struct trial_world world = world_for(c);
    must_live(c, &world, false, 0, 0, NULL, &first);
    /* Memory that is not set would hold other bytes now. */
    for (unsigned k = 0; k < 200; k++) {
        void *dirt = malloc(16 * (k + 1));
        if (dirt != NULL)
            memset(dirt, 0x5a + (int)k, 16 * (k + 1));
        free(dirt);
    }
    /* And a clock that is asked would show another time; where this cannot be, it has gone on. */
    (void)clock_shift(c->described, OTHER_TIME_S);
    must_live(c, &world, false, 0, 0, NULL, &second);
    const char *difference = transcript_difference(&first, &second);
    if (difference != NULL)
        conform_fail(c, "answers otherwise when all is done again at another time: %s", difference);
}

/* From zeros and denormal numbers to large ones. */
void check_numbers_finite(struct conform *c)
{
    static const double scales[] = {1.0, 0.0, 1e-42, 1e-20, 1e4};
    conform_load(c);
    struct trial_world world = world_for(c);
    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++) {
        struct instance_under_test s;
        struct transcript answers = {0};
        world.scale = scales[k];
        const osafl_status status = live(c, &world, false, 0, 0, NULL, &s, &answers);
        if (status != OSAFL_OK)
            conform_fail(c, "fails in %s with %s for inputs of size %g: %s", s.doing,
                         status_name(status), scales[k], s.error.text);
        if (answers.not_finite[0] != '\0')
            conform_fail(c, "answers numbers that are not finite for inputs of size %g: %s",
                         scales[k], answers.not_finite);
        transcript_free(&answers);
    }
}

/* Dimensions and numbers that are easily forgotten, with guarded buffers. */
static void try_size(struct conform *c, const struct trial_world *world)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    char how[100];
    snprintf(how, sizeof how, "with %u parameters, %u clients and batches of %u",
             (unsigned)world->dim, (unsigned)world->clients, (unsigned)world->batch);
    under_test_require_clean(&s, live(c, world, true, 0, 0, NULL, &s, &answers), how);
    if (answers.not_finite[0] != '\0')
        conform_fail(c, "answers numbers that are not finite %s: %s", how, answers.not_finite);
    transcript_free(&answers);
}

void check_numbers_sizes(struct conform *c)
{
    static const struct {
        uint64_t dim;
        uint32_t clients;
    } sizes[] = {{1, 1}, {1, 7}, {2, 2}, {3, 3}, {7, 1}, {64, 4}, {4096, 2}, {4097, 3}};
    static const uint32_t batches[] = {1, 3};
    conform_load(c);
    struct trial_world world = world_for(c);
    if (c->plugin->kind == OSAFL_KIND_MODEL) {
        for (size_t k = 0; k < sizeof batches / sizeof batches[0]; k++) {
            world.batch = batches[k];
            try_size(c, &world);
        }
        return;
    }
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        world.dim = sizes[k].dim;
        world.clients = sizes[k].clients;
        try_size(c, &world);
    }
}
