/* checks_life.c - instances, and the settings that they are made with. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "checks.h"
#include "instance_under_test.h"
#include "plugin_allocations.h"

#define CYCLES 1000
#define CYCLES_AT_LEAST 20
#define RANDOM_SETTINGS 40
#define MOST_FAILURES 400 /* requests that are made to fail, evenly spread over all */
#define BUDGET_S 4.0      /* of the checks that could go on for long */

/* Loads, and counts the plugin's memory from now on where that is possible. */
static bool load_and_watch(struct conform *c)
{
    conform_load(c);
    return allocations_watch(c->described);
}

static void require_no_leak(const struct conform *c, const char *how)
{
    if (allocations_live_blocks() > 0)
        conform_fail(c, "holds %u blocks of memory (%g bytes) after destroy()%s%s",
                     (unsigned)allocations_live_blocks(), (double)allocations_live_bytes(),
                     how[0] != '\0' ? " " : "", how);
}

void check_life_defaults(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    load_and_watch(c);
    under_test_must_open(&s, c, &answers);
    under_test_must_run(&s, 0, TRIAL_ROUNDS, &answers);
    under_test_close(&s);
    require_no_leak(c, "");
}

/* Memory may be kept by the C library after the first times; not every time. */
void check_life_cycles(struct conform *c)
{
    conform_load(c);
    const struct trial_world world = world_for(c);
    const struct trial_settings settings = settings_default(c);
    const double end_s = now_s() + BUDGET_S;
    size_t before = 0;
    unsigned counted = 0;
    for (unsigned k = 0; k < CYCLES && (k < CYCLES_AT_LEAST || now_s() < end_s); k++) {
        struct instance_under_test s;
        if (k == CYCLES_AT_LEAST / 2)
            before = mallinfo2().uordblks;
        counted += k >= CYCLES_AT_LEAST / 2;
        const osafl_status status = under_test_create(&s, c, &world, &settings);
        if (status != OSAFL_OK)
            under_test_fail(&s, status);
        under_test_close(&s);
    }
    const size_t after = mallinfo2().uordblks;
    if (after > before && after - before >= (size_t)counted * sizeof(void *))
        conform_fail(c, "grows by %.1f bytes with each create() and destroy()",
                     (double)(after - before) / counted);
}

/* Two instances in turns answer as each alone. */
void check_life_two(struct conform *c)
{
    conform_load(c);
    const struct trial_settings settings = settings_default(c);
    struct trial_world world[2] = {world_for(c), world_for(c)};
    struct transcript alone[2] = {{0}};
    struct transcript together[2] = {{0}};
    struct instance_under_test s[2];
    world[1].seed++;
    for (unsigned k = 0; k < 2; k++) {
        const osafl_status status =
            under_test_open(&s[k], c, &world[k], &settings, false, 0, &alone[k]);
        if (status != OSAFL_OK)
            under_test_fail(&s[k], status);
        under_test_must_run(&s[k], 0, TRIAL_ROUNDS, &alone[k]);
        under_test_close(&s[k]);
    }
    for (unsigned k = 0; k < 2; k++)
        (void)under_test_open(&s[k], c, &world[k], &settings, false, 0, &together[k]);
    for (uint32_t round = 0; round < TRIAL_ROUNDS; round++) {
        for (unsigned k = 0; k < 2; k++)
            under_test_must_run(&s[k], round, round + 1, &together[k]);
    }
    for (unsigned k = 0; k < 2; k++) {
        const char *difference = transcript_difference(&alone[k], &together[k]);
        if (difference != NULL)
            conform_fail(
                c,
                "answers otherwise beside a second instance: %s; what it remembers belongs "
                "into the instance, not into static variables",
                difference);
    }
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Opens and plays two rounds; the status is that of the first call that failed. */
static osafl_status short_life(struct conform *c, const struct trial_world *world,
                               const struct trial_settings *settings, struct instance_under_test *s,
                               struct transcript *t)
{
    osafl_status status = under_test_open(s, c, world, settings, false, 0, t);
    if (status == OSAFL_OK)
        status = under_test_run(s, 0, 2, 0, t);
    under_test_close(s);
    return status;
}

/* The n-th request for memory is refused, for every n: an error and no leak, or the same answers as
 * without. */
void check_life_memory(struct conform *c)
{
    struct instance_under_test s;
    struct transcript all = {0};
    char how[80];
    if (!load_and_watch(c))
        conform_skip(c, "cannot be tried on this machine");
    const struct trial_world world = world_for(c);
    const struct trial_settings settings = settings_default(c);
    allocations_fail(0);
    const osafl_status status = short_life(c, &world, &settings, &s, &all);
    if (status != OSAFL_OK)
        under_test_fail(&s, status);
    const uint64_t requests = allocations_requested();
    const double end_s = now_s() + BUDGET_S;
    const uint64_t stride = requests / MOST_FAILURES + 1;
    for (uint64_t n = 1; n <= requests && now_s() < end_s; n += stride) {
        struct transcript some = {0};
        snprintf(how, sizeof how, "when request %u of %u for memory is refused", (unsigned)n,
                 (unsigned)requests);
        allocations_fail(n);
        const osafl_status one = short_life(c, &world, &settings, &s, &some);
        allocations_fail(0);
        under_test_require_clean(&s, one, how);
        require_no_leak(c, how);
        if (one == OSAFL_OK && transcript_difference(&all, &some) != NULL)
            conform_fail(c, "goes on %s, and answers otherwise: %s", how,
                         transcript_difference(&all, &some));
        transcript_free(&some);
    }
}

/* ---- settings ------------------------------------------------------------------------------ */

/* The plugin works with these settings, or refuses them cleanly. */
static void try_settings(struct conform *c, const struct trial_world *world,
                         const struct trial_settings *settings)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    char how[sizeof settings->text + 8];
    snprintf(how, sizeof how, "with %s", settings->text);
    under_test_require_clean(&s, short_life(c, world, settings, &s, &answers), how);
    require_no_leak(c, how);
    transcript_free(&answers);
}

void check_parameters_bounds(struct conform *c)
{
    load_and_watch(c);
    const struct trial_world world = world_for(c);
    if (c->plugin->n_params == 0)
        conform_skip(c, "has no settings");
    for (uint32_t i = 0; i < c->plugin->n_params; i++) {
        struct trial_settings settings;
        for (unsigned end = 0; settings_at_end(c, i, end, &settings); end++)
            try_settings(c, &world, &settings);
    }
}

void check_parameters_random(struct conform *c)
{
    load_and_watch(c);
    const struct trial_world world = world_for(c);
    const double end_s = now_s() + BUDGET_S;
    if (c->plugin->n_params == 0)
        conform_skip(c, "has no settings");
    for (uint32_t n = 0; n < RANDOM_SETTINGS && (n < 5 || now_s() < end_s); n++) {
        const struct trial_settings settings = settings_random(c, n);
        try_settings(c, &world, &settings);
    }
}
