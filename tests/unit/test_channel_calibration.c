/* Channel and resource policy together: the share of client-rounds that manage all five local
 * rounds, in worlds whose shares are known from an independent simulation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/streams.h"
#include "osafl/channel.h"
#include "osafl/random.h"
#include "osafl/resource.h"
#include "plugin_fixture.h"

enum { CLIENTS = 4000, ROUNDS = 10 };

static void get_gains(struct fixture *f, uint32_t round, double *gain)
{
    const osafl_channel_vt *vt = fixture_vtable(f);
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, round);
    assert_int_equal(fixture_end(f, vt->gains(f->instance.self, c, round, gain)), OSAFL_OK);
}

static osafl_link get_link(struct fixture *f)
{
    const osafl_channel_vt *vt = fixture_vtable(f);
    osafl_link link = {.struct_size = sizeof link};
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->describe(f->instance.self, c, &link)), OSAFL_OK);
    return link;
}

struct population {
    double gain[CLIENTS];
    double bandwidth_hz[CLIENTS];
    double cycles_per_bit[CLIENTS];
    double energy_budget_j[CLIENTS];
    double clock_max_hz[CLIENTS];
    double power_max_w[CLIENTS];
    double payload_bits[CLIENTS];
    uint8_t present[CLIENTS];
    uint64_t samples[CLIENTS];
};

static double draw(uint32_t client, uint32_t stream, double lo, double hi)
{
    uint32_t word[2];
    streams_fill(1, 0, 1000 + stream, client, 0, 0, word, 2);
    return lo + osafl_uniform(word) * (hi - lo);
}

/* Clients as in ALGORITHMS.md 2; `tight`: the ranges that come closest to the paper's figures. */
static void draw_population(struct population *p, bool tight)
{
    for (uint32_t u = 0; u < CLIENTS; u++) {
        p->bandwidth_hz[u] = 540e3;
        p->cycles_per_bit[u] = tight ? floor(draw(u, 0, 25.0, 40.0)) : draw(u, 0, 25.0, 40.0);
        p->energy_budget_j[u] = tight ? 1.2 : draw(u, 1, 1.2, 2.5);
        p->clock_max_hz[u] = draw(u, 2, 1e9, 1.8e9);
        p->power_max_w[u] = pow(10.0, draw(u, 3, 20.0, 30.0) / 10.0 - 3.0);
        p->present[u] = 1;
        p->samples[u] = 200;
    }
}

/* P(kappa > 4) over clients and rounds. */
static double share_of_all_rounds(struct fixture *channel, struct fixture *resource,
                                  struct population *p, double payload_bits, double deadline_s)
{
    static uint32_t local_rounds[CLIENTS];
    static uint32_t reason[CLIENTS];
    static double number[7][CLIENTS];
    const osafl_link link = get_link(channel);
    const osafl_resource_vt *vt = fixture_vtable(resource);
    uint32_t all = 0;
    for (uint32_t u = 0; u < CLIENTS; u++)
        p->payload_bits[u] = payload_bits;
    for (uint32_t t = 0; t < ROUNDS; t++) {
        get_gains(channel, t, p->gain);
        const osafl_resource_problem problem = {
            .struct_size = sizeof problem,
            .clients = CLIENTS,
            .round = t,
            .max_local_rounds = 5,
            .cost_steps = 8,
            .batch = 16,
            .deadline_s = deadline_s,
            .payload_bits = p->payload_bits,
            .noise_w_per_hz = link.noise_w_per_hz,
            .capacitance = 2e-28,
            .sample_bits = 3.0 * 128.0 * 128.0 * 32.0,
            .present = p->present,
            .gain = p->gain,
            .bandwidth_hz = p->bandwidth_hz,
            .cycles_per_bit = p->cycles_per_bit,
            .energy_budget_j = p->energy_budget_j,
            .clock_max_hz = p->clock_max_hz,
            .power_max_w = p->power_max_w,
            .samples = p->samples,
        };
        const osafl_resource_answer out = {
            .struct_size = sizeof out,
            .clients = CLIENTS,
            .local_rounds = local_rounds,
            .reason = reason,
            .clock_hz = number[0],
            .power_w = number[1],
            .bandwidth_hz = number[2],
            .compute_s = number[3],
            .upload_s = number[4],
            .compute_j = number[5],
            .upload_j = number[6],
        };
        osafl_call *c = fixture_begin(resource, OSAFL_NO_CLIENT, t);
        assert_int_equal(
            fixture_end(resource, vt->solve(resource->instance.self, c, &problem, &out)), OSAFL_OK);
        for (uint32_t u = 0; u < CLIENTS; u++)
            all += local_rounds[u] > 4;
    }
    return all / (double)(CLIENTS * ROUNDS);
}

/* The figures of ALGORITHMS.md 2, from an independent simulation; the tolerance is what two draws
 * of so many clients may differ by. */
static void shares_of_all_local_rounds_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *scenario;
        const char *radius_m;
        bool tight;
        double share[6];
    } worlds[] = {
        {"uma", "500", false, {.894, .843, .873, .787, .947, .754}},
        {"umi", "600", false, {.862, .785, .826, .715, .867, .648}},
        {"uma", "500", true, {.640, .571, .610, .505, .896, .588}},
    };
    static const struct {
        double parameters;
        double bits; /* per parameter: 1 + lg s */
        double deadline_s;
    } payloads[] = {
        {727626.0, 2.0, 60.0},  {727626.0, 5.0, 60.0},    {1206090.0, 2.0, 60.0},
        {1206090.0, 5.0, 60.0}, {11181642.0, 2.0, 180.0}, {11181642.0, 5.0, 180.0},
    };
    const osafl_facts facts = {
        .struct_size = sizeof facts, .clients = CLIENTS, .max_local_rounds = 5};
    static struct population population;
    struct fixture *resource = fixture_open("resource", "iterative");
    assert_int_equal(fixture_create(resource, &facts), OSAFL_OK);
    for (size_t w = 0; w < sizeof worlds / sizeof worlds[0]; w++) {
        struct fixture *channel = fixture_open("channel", "tr38901");
        fixture_set(channel, "scenario", worlds[w].scenario);
        fixture_set(channel, "radius_m", worlds[w].radius_m);
        assert_int_equal(fixture_create(channel, &facts), OSAFL_OK);
        draw_population(&population, worlds[w].tight);
        for (size_t i = 0; i < 6; i++) {
            const double payload_bits = payloads[i].parameters * payloads[i].bits + 32.0;
            const double share = share_of_all_rounds(channel, resource, &population, payload_bits,
                                                     payloads[i].deadline_s);
            print_message("%s %s m%s: %.3f, known %.3f\n", worlds[w].scenario, worlds[w].radius_m,
                          worlds[w].tight ? ", tight" : "", share, worlds[w].share[i]);
            assert_true(fabs(share - worlds[w].share[i]) <= 0.025);
        }
        fixture_close(channel);
    }
    fixture_close(resource);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_all_local_rounds_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
