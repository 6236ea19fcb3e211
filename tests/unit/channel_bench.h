/* channel_bench.h - a channel with settings, for the tests of channels. */
#ifndef OSAFL_TESTS_CHANNEL_BENCH_H
#define OSAFL_TESTS_CHANNEL_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "osafl/channel.h"
#include "plugin_fixture.h"

/* settings: pairs of key and value up to {NULL}; NULL: none. */
static inline struct fixture *open_channel(const char *name, const char *const (*settings)[2])
{
    struct fixture *f = fixture_open("channel", name);
    for (; settings != NULL && (*settings)[0] != NULL; settings++)
        fixture_set(f, (*settings)[0], (*settings)[1]);
    return f;
}

static inline void get_gains(struct fixture *f, uint32_t round, double *gain)
{
    const osafl_channel_vt *vt = fixture_vtable(f);
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, round);
    assert_int_equal(fixture_end(f, vt->gains(f->instance.self, c, round, gain)), OSAFL_OK);
}

static inline void get_places(struct fixture *f, uint32_t round, osafl_place *place)
{
    const osafl_channel_vt *vt = fixture_vtable(f);
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, round);
    assert_int_equal(fixture_end(f, vt->place(f->instance.self, c, round, sizeof *place, place)),
                     OSAFL_OK);
}

#endif
