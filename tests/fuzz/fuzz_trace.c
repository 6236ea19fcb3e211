/* fuzz_trace.c - tables of channel gains, wide and long, plain and gzip. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define CLIENTS 3
#define ROUNDS 4

/* An instance on this file, used for a few rounds beyond the table if it can be made. */
static void try_table(const char *path, int32_t layout, int32_t unit)
{
    enum { END_CYCLE = 1 };
    static const osafl_facts facts = {
        .struct_size = sizeof facts, .clients = CLIENTS, .rounds = ROUNDS};
    const osafl_plugin *p = fuzz_plugin(OSAFL_KIND_CHANNEL, "trace");
    const osafl_channel_vt *vt = (const osafl_channel_vt *)(const void *)p->vtable;
    void *config = fuzz_defaults(p);
    *(const char **)fuzz_setting(p, config, "path") = path;
    *(osafl_choice *)fuzz_setting(p, config, "layout") = (osafl_choice){layout};
    *(osafl_choice *)fuzz_setting(p, config, "unit") = (osafl_choice){unit};
    *(osafl_choice *)fuzz_setting(p, config, "at_end") = (osafl_choice){END_CYCLE};
    struct instance *i = fuzz_instance_try(p, &facts, config);
    if (i != NULL) {
        double gain[CLIENTS];
        osafl_call c;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            call_begin(&c, i, OSAFL_NO_CLIENT, round);
            FUZZ_REQUIRE(call_end(&c, vt->gains(i->self, &c, round, gain)) == OSAFL_OK);
            for (uint32_t u = 0; u < CLIENTS; u++)
                FUZZ_REQUIRE(gain[u] >= 0.0 && isfinite(gain[u]));
        }
        fuzz_instance_free(i);
    }
    free(config);
}

/* First byte: layout and unit; the rest: the table. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    const uint8_t how = fuzz_byte(&in);
    try_table(fuzz_file(0, in.next, in.left), how & 1, how >> 1 & 1);
    return 0;
}
