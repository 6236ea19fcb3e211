/* fuzz_whole_table.c - tables of whole numbers: arrivals, and owners of samples. */
#include <stdlib.h>

#include "fuzz.h"

#define CLIENTS 3
#define ROUNDS 4
#define SAMPLES 20

static const uint32_t usual[CLIENTS] = {2, 3, 4};
static const uint64_t capacity[CLIENTS] = {5, 60, 7};
static const double activity[CLIENTS] = {0.3, 0.5, 0.8};

static struct instance *try_table(uint32_t kind, const char *name, const char *path, void **config)
{
    static const double share[2] = {0.5, 0.5};
    static const osafl_dataset_info info = {
        .struct_size = sizeof info, .labels = 2, .n_train = SAMPLES};
    static const osafl_facts facts = {.struct_size = sizeof facts,
                                      .clients = CLIENTS,
                                      .rounds = ROUNDS,
                                      .dataset = &info,
                                      .label_share = share};
    enum { END_CYCLE = 1 };
    const osafl_plugin *p = fuzz_plugin(kind, name);
    *config = fuzz_defaults(p);
    *(const char **)fuzz_setting(p, *config, "path") = path;
    if (kind == OSAFL_KIND_ARRIVAL)
        *(osafl_choice *)fuzz_setting(p, *config, "at_end") = (osafl_choice){END_CYCLE};
    return fuzz_instance_try(p, &facts, *config);
}

/* Where fill() accepts the table, no round brings more than there is room for. */
static void play(struct instance *i)
{
    const osafl_arrival_vt *vt = (const osafl_arrival_vt *)(const void *)i->plugin->vtable;
    osafl_arrival_problem problem = {.struct_size = sizeof problem,
                                     .clients = CLIENTS,
                                     .arrivals = usual,
                                     .capacity = capacity,
                                     .activity = activity};
    uint64_t stored[CLIENTS];
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, 0);
    if (call_end(&c, vt->fill(i->self, &c, &problem, stored)) != OSAFL_OK)
        return;
    for (problem.round = 0; problem.round < 2 * ROUNDS; problem.round++) {
        uint32_t n[CLIENTS] = {0};
        uint8_t present[CLIENTS] = {1, 1, 1};
        call_begin(&c, i, OSAFL_NO_CLIENT, problem.round);
        FUZZ_REQUIRE(call_end(&c, vt->arrive(i->self, &c, &problem, n, present)) == OSAFL_OK);
        for (uint32_t u = 0; u < CLIENTS; u++)
            FUZZ_REQUIRE(n[u] <= capacity[u] && present[u] <= 1);
    }
}

static void ask_owners(struct instance *i)
{
    const osafl_partition_vt *vt = (const osafl_partition_vt *)(const void *)i->plugin->vtable;
    for (uint64_t k = 0; k < SAMPLES; k++) {
        uint32_t client = 0;
        osafl_call c;
        call_begin(&c, i, OSAFL_NO_CLIENT, 0);
        FUZZ_REQUIRE(call_end(&c, vt->owner(i->self, &c, k, &client)) == OSAFL_OK);
    }
}

/* First byte: which plugin; the rest: the table. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    const bool arrivals = (fuzz_byte(&in) & 1) == 0;
    const char *path = fuzz_file(0, in.next, in.left);
    void *config;
    struct instance *i = arrivals ? try_table(OSAFL_KIND_ARRIVAL, "trace", path, &config)
                                  : try_table(OSAFL_KIND_PARTITION, "assigned", path, &config);
    if (i != NULL && arrivals)
        play(i);
    else if (i != NULL)
        ask_owners(i);
    if (i != NULL)
        fuzz_instance_free(i);
    free(config);
    return 0;
}
