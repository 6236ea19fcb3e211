/* Resource policies: right answers computed elsewhere, limits, the fixed point, optimality. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/streams.h"
#include "osafl/random.h"
#include "osafl/resource.h"
#include "plugin_fixture.h"

/* A problem of one client and its answer. */
struct case1 {
    double gain, bandwidth_hz, cycles_per_bit, energy_budget_j, clock_max_hz, power_max_w;
    double payload_bits, deadline_s, noise_w_per_hz, capacitance, sample_bits;
    uint32_t minibatches, batch, max_local_rounds;
};

struct answer1 {
    uint32_t local_rounds, reason;
    double clock_hz, power_w, bandwidth_hz, compute_s, upload_s, compute_j, upload_j;
};

static struct answer1 solve(struct fixture *f, const struct case1 *k, uint8_t present)
{
    const uint64_t samples = 200;
    const osafl_resource_problem problem = {
        .struct_size = sizeof problem,
        .clients = 1,
        .max_local_rounds = k->max_local_rounds,
        .cost_steps = k->minibatches,
        .batch = k->batch,
        .deadline_s = k->deadline_s,
        .payload_bits = &k->payload_bits,
        .noise_w_per_hz = k->noise_w_per_hz,
        .capacitance = k->capacitance,
        .sample_bits = k->sample_bits,
        .present = &present,
        .gain = &k->gain,
        .bandwidth_hz = &k->bandwidth_hz,
        .cycles_per_bit = &k->cycles_per_bit,
        .energy_budget_j = &k->energy_budget_j,
        .clock_max_hz = &k->clock_max_hz,
        .power_max_w = &k->power_max_w,
        .samples = &samples,
    };
    struct answer1 a = {.bandwidth_hz = k->bandwidth_hz};
    const osafl_resource_answer out = {
        .struct_size = sizeof out,
        .clients = 1,
        .local_rounds = &a.local_rounds,
        .reason = &a.reason,
        .clock_hz = &a.clock_hz,
        .power_w = &a.power_w,
        .bandwidth_hz = &a.bandwidth_hz,
        .compute_s = &a.compute_s,
        .upload_s = &a.upload_s,
        .compute_j = &a.compute_j,
        .upload_j = &a.upload_j,
    };
    const osafl_resource_vt *vt = fixture_vtable(f);
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->solve(f->instance.self, c, &problem, &out)), OSAFL_OK);
    assert_true((a.local_rounds == 0) == (a.reason != 0));
    assert_true(a.local_rounds <= k->max_local_rounds);
    return a;
}

static struct fixture *open_policy(const char *name, const char *parameter, const char *value)
{
    const osafl_facts facts = {
        .struct_size = sizeof facts, .clients = 1, .rounds = 1, .max_local_rounds = 5};
    struct fixture *f = fixture_open("resource", name);
    if (parameter != NULL)
        fixture_set(f, parameter, value);
    assert_int_equal(fixture_create(f, &facts), OSAFL_OK);
    return f;
}

/* The formulas once more, from the paper and in the simplest form. */
static double upload_time(const struct case1 *k, double power_w)
{
    const double snr = k->gain * power_w / (k->bandwidth_hz * k->noise_w_per_hz);
    return k->payload_bits / (k->bandwidth_hz * log2(1.0 + snr));
}

static double round_cycles(const struct case1 *k)
{
    return (double)k->minibatches * k->batch * k->cycles_per_bit * k->sample_bits;
}

static void check_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static json_t *load_cases(void)
{
    json_error_t error;
    json_t *cases =
        json_load_file(OSAFL_TEST_SOURCE_DIR "/tests/golden/cases/resource.json", 0, &error);
    assert_non_null(cases);
    assert_int_equal(json_array_size(cases), 150);
    return cases;
}

static struct case1 read_case(const json_t *client)
{
    return (struct case1){
        .gain = number(client, "gain"),
        .bandwidth_hz = number(client, "bandwidth_hz"),
        .cycles_per_bit = number(client, "cycles_per_bit"),
        .energy_budget_j = number(client, "energy_budget_j"),
        .clock_max_hz = number(client, "clock_max_hz"),
        .power_max_w = number(client, "power_max_w"),
        .payload_bits = number(client, "payload_bits"),
        .deadline_s = number(client, "deadline_s"),
        .noise_w_per_hz = number(client, "noise_psd_w_per_hz"),
        .capacitance = number(client, "capacitance"),
        .sample_bits = number(client, "sample_bits"),
        .minibatches = (uint32_t)number(client, "minibatches"),
        .batch = (uint32_t)number(client, "batch"),
        .max_local_rounds = (uint32_t)number(client, "max_local_rounds"),
    };
}

static void check_answer(const struct answer1 *a, const json_t *expected)
{
    if (json_is_null(expected)) {
        assert_int_equal(a->local_rounds, 0);
        return;
    }
    assert_int_equal(a->local_rounds, number(expected, "local_rounds"));
    check_close(a->clock_hz, number(expected, "clock_hz"), 1e-9);
    check_close(a->power_w, number(expected, "power_w"), 1e-9);
    check_close(a->compute_s, number(expected, "compute_s"), 1e-9);
    check_close(a->upload_s, number(expected, "upload_s"), 1e-9);
    check_close(a->compute_j, number(expected, "compute_j"), 1e-9);
    check_close(a->upload_j, number(expected, "upload_j"), 1e-9);
}

static void iterative_gives_the_right_answers(void **state)
{
    (void)state;
    json_t *cases = load_cases();
    struct fixture *at_max = open_policy("iterative", "initial_power", "max");
    struct fixture *at_tenth = open_policy("iterative", NULL, NULL);
    size_t i = 0;
    const json_t *entry = NULL;
    json_array_foreach(cases, i, entry)
    {
        const struct case1 k = read_case(json_object_get(entry, "client"));
        const json_t *answer = json_object_get(entry, "answer");
        struct answer1 a = solve(at_max, &k, 1);
        check_answer(&a, json_object_get(answer, "power_max"));
        a = solve(at_tenth, &k, 1);
        check_answer(&a, json_object_get(answer, "power_tenth"));
    }
    fixture_close(at_max);
    fixture_close(at_tenth);
    json_decref(cases);
}

static void optimal_and_search_find_the_most_local_rounds(void **state)
{
    (void)state;
    json_t *cases = load_cases();
    struct fixture *policies[] = {
        open_policy("optimal", NULL, NULL),
        open_policy("optimal", "objective", "energy"),
        open_policy("iterative", "initial_power", "search"),
    };
    size_t i = 0;
    const json_t *entry = NULL;
    json_array_foreach(cases, i, entry)
    {
        const struct case1 k = read_case(json_object_get(entry, "client"));
        const double most = number(json_object_get(entry, "answer"), "optimal_local_rounds");
        for (size_t p = 0; p < 3; p++)
            assert_int_equal(solve(policies[p], &k, 1).local_rounds, most);
    }
    for (size_t p = 0; p < 3; p++)
        fixture_close(policies[p]);
    json_decref(cases);
}

/* Number i of a stream of this test, in [lo, hi], uniform or uniform in the logarithm. */
static double uniform(uint64_t i, uint32_t stream, double lo, double hi)
{
    uint32_t word[2];
    streams_fill(1, 0, 1000 + stream, 0, 0, i, word, 2);
    return lo + osafl_uniform(word) * (hi - lo);
}

static double log_uniform(uint64_t i, uint32_t stream, double lo, double hi)
{
    return exp(uniform(i, stream, log(lo), log(hi)));
}

/* Wider than any experiment: links from hopeless to perfect, deadlines from hurried to idle. */
static struct case1 random_case(uint64_t i)
{
    return (struct case1){
        .gain = log_uniform(i, 0, 1e-16, 1e-7),
        .bandwidth_hz = log_uniform(i, 1, 1e5, 1e7),
        .cycles_per_bit = uniform(i, 2, 25.0, 40.0),
        .energy_budget_j = log_uniform(i, 3, 1e-3, 1e1),
        .clock_max_hz = uniform(i, 4, 1e9, 1.8e9),
        .power_max_w = log_uniform(i, 5, 0.01, 1.0),
        .payload_bits = log_uniform(i, 6, 1e4, 1e8),
        .deadline_s = log_uniform(i, 7, 1.0, 500.0),
        .noise_w_per_hz = 3.981071705534986e-21,
        .capacitance = 2e-28,
        .sample_bits = log_uniform(i, 8, 1e4, 2e6),
        .minibatches = 8,
        .batch = 16,
        .max_local_rounds = 5,
    };
}

/* p*(f*(p)) = p: whatever the initial power, Algorithm 2 ends where it started, to 1e-9 for
 * payloads and deadlines of the paper's size. */
static void algorithm_2_is_a_fixed_point(void **state)
{
    (void)state;
    const char *const fractions[] = {"1e-6", "0.001", "0.1", "0.37", "1"};
    uint32_t took_part = 0;
    for (size_t j = 0; j < sizeof fractions / sizeof fractions[0]; j++) {
        struct fixture *f = open_policy("iterative", "fraction", fractions[j]);
        for (uint64_t i = 0; i < 2000; i++) {
            struct case1 k = random_case(i);
            k.bandwidth_hz = 540e3;
            k.payload_bits = log_uniform(i, 6, 1e6, 6e7);
            k.deadline_s = uniform(i, 7, 45.0, 360.0);
            const struct answer1 a = solve(f, &k, 1);
            if (a.local_rounds == 0)
                continue;
            took_part++;
            check_close(a.power_w, strtod(fractions[j], NULL) * k.power_max_w, 1e-9);
            check_close(a.compute_s + a.upload_s, k.deadline_s, 1e-9);
        }
        fixture_close(f);
    }
    assert_true(took_part > 1000);
}

/* What the feature "meets_limits" declares, and that the costs told are those of the choice. */
static void check_limits(const struct case1 *k, const struct answer1 *a)
{
    const double cycles = a->local_rounds * round_cycles(k);
    check_close(a->compute_s, cycles / a->clock_hz, 1e-9);
    check_close(a->upload_s, upload_time(k, a->power_w), 1e-6); /* log2(1 + small) loses digits */
    check_close(a->compute_j, 0.5 * k->capacitance * cycles * a->clock_hz * a->clock_hz, 1e-9);
    check_close(a->upload_j, a->upload_s * a->power_w, 1e-9);
    assert_true(a->clock_hz > 0.0 && a->clock_hz <= k->clock_max_hz * (1.0 + 1e-9));
    assert_true(a->power_w > 0.0 && a->power_w <= k->power_max_w * (1.0 + 1e-9));
    assert_true(a->compute_s + a->upload_s <= k->deadline_s * (1.0 + 1e-9));
    assert_true(a->compute_j + a->upload_j <= k->energy_budget_j * (1.0 + 1e-9));
    assert_true(a->bandwidth_hz == k->bandwidth_hz);
}

static void declared_policies_meet_the_limits(void **state)
{
    (void)state;
    const char *const policies[][3] = {
        {"iterative", "initial_power", "max"},    {"iterative", "initial_power", "fraction"},
        {"iterative", "initial_power", "search"}, {"optimal", "objective", "printed"},
        {"optimal", "objective", "energy"},
    };
    for (size_t j = 0; j < sizeof policies / sizeof policies[0]; j++) {
        struct fixture *f = open_policy(policies[j][0], policies[j][1], policies[j][2]);
        assert_true(plugin_has_feature(f->plugin, "meets_limits"));
        uint32_t took_part = 0;
        uint32_t reasons[OSAFL_OUT_POLICY + 1] = {0};
        for (uint64_t i = 0; i < 5000; i++) {
            const struct case1 k = random_case(i);
            const struct answer1 a = solve(f, &k, 1);
            if (a.local_rounds > 0) {
                check_limits(&k, &a);
                took_part++;
            } else {
                assert_in_range(a.reason, OSAFL_OUT_DEADLINE, OSAFL_OUT_ENERGY);
                reasons[a.reason]++;
            }
        }
        assert_true(took_part > 500);
        assert_true(reasons[OSAFL_OUT_DEADLINE] > 0 && reasons[OSAFL_OUT_CLOCK] > 0 &&
                    reasons[OSAFL_OUT_ENERGY] > 0);
        fixture_close(f);
    }
}

/* Energy and the printed objective at a power, with the slowest clock that keeps the deadline;
 * false where that is infeasible. */
static bool at_power(const struct case1 *k, uint32_t local_rounds, double power_w,
                     double compute_weight, double *energy_j, double *objective)
{
    const double upload_s = upload_time(k, power_w);
    const double clock_hz = local_rounds * round_cycles(k) / (k->deadline_s - upload_s);
    const double cycle_j = 0.5 * k->capacitance * clock_hz * clock_hz;
    *energy_j = local_rounds * round_cycles(k) * cycle_j + upload_s * power_w;
    *objective = compute_weight * local_rounds / (round_cycles(k) * cycle_j) +
                 (1.0 - compute_weight) * k->payload_bits / upload_s / power_w;
    return upload_s < k->deadline_s && clock_hz <= k->clock_max_hz &&
           *energy_j <= k->energy_budget_j;
}

/* No power of a fine grid beats `optimal`, neither in local rounds nor in the objective. */
static void optimal_beats_every_other_power(void **state)
{
    (void)state;
    const char *const weights[] = {"0", "0.5", "0.999", "0.99999", "1"};
    uint32_t inner = 0;
    for (size_t j = 0; j < sizeof weights / sizeof weights[0]; j++) {
        const double weight = strtod(weights[j], NULL);
        struct fixture *printed = open_policy("optimal", "compute_weight", weights[j]);
        struct fixture *least = open_policy("optimal", "objective", "energy");
        for (uint64_t i = 0; i < 300; i++) {
            const struct case1 k = random_case(i);
            const struct answer1 a = solve(printed, &k, 1);
            const struct answer1 b = solve(least, &k, 1);
            assert_int_equal(a.local_rounds, b.local_rounds);
            double energy = 0.0;
            double objective = 0.0;
            double least_energy = INFINITY;
            double best = 0.0;
            bool more = false;
            double lowest = 1.0;
            for (int step = 0; step <= 3000; step++) {
                const double power_w = k.power_max_w * exp(-0.01 * step);
                more |= a.local_rounds < k.max_local_rounds &&
                        at_power(&k, a.local_rounds + 1, power_w * (1.0 - 1e-9), weight, &energy,
                                 &objective);
                if (a.local_rounds > 0 &&
                    at_power(&k, a.local_rounds, power_w, weight, &energy, &objective)) {
                    least_energy = fmin(least_energy, energy);
                    best = fmax(best, objective);
                    lowest = power_w;
                }
            }
            assert_false(more);
            if (a.local_rounds == 0)
                continue;
            (void)at_power(&k, a.local_rounds, a.power_w, weight, &energy, &objective);
            assert_true(objective >= best * (1.0 - 1e-9));
            inner += a.power_w > 1.5 * lowest && a.power_w < 0.9 * k.power_max_w;
            (void)at_power(&k, a.local_rounds, b.power_w, weight, &energy, &objective);
            assert_true(energy <= least_energy * (1.0 + 1e-9));
        }
        fixture_close(printed);
        fixture_close(least);
    }
    print_message("best power inside its interval: %u times\n", inner);
    assert_true(inner > 0); /* the inner maximum was really tried */
}

/* The initial feasible power of "search" is the one of least energy. */
static void search_is_the_power_of_least_energy(void **state)
{
    (void)state;
    struct fixture *search = open_policy("iterative", "initial_power", "search");
    struct fixture *least = open_policy("optimal", "objective", "energy");
    for (uint64_t i = 0; i < 2000; i++) {
        const struct case1 k = random_case(i);
        const struct answer1 a = solve(search, &k, 1);
        const struct answer1 b = solve(least, &k, 1);
        assert_int_equal(a.local_rounds, b.local_rounds);
        if (a.local_rounds > 0)
            check_close(a.compute_j + a.upload_j, b.compute_j + b.upload_j, 1e-9);
    }
    fixture_close(search);
    fixture_close(least);
}

static struct case1 easy_case(void)
{
    return (struct case1){
        .gain = 1e-10,
        .bandwidth_hz = 540e3,
        .cycles_per_bit = 30.0,
        .energy_budget_j = 2.0,
        .clock_max_hz = 1.5e9,
        .power_max_w = 0.5,
        .payload_bits = 1.5e6,
        .deadline_s = 60.0,
        .noise_w_per_hz = 3.981071705534986e-21,
        .capacitance = 2e-28,
        .sample_bits = 524288.0,
        .minibatches = 8,
        .batch = 16,
        .max_local_rounds = 5,
    };
}

/* Settings may lie anywhere in a double's range: what then overflows makes a client sit out, and no
 * answer is negative or not finite. */
static void extremes_give_no_impossible_answers(void **state)
{
    (void)state;
    const char *const policies[][3] = {
        {"iterative", "initial_power", "max"},    {"iterative", "initial_power", "fraction"},
        {"iterative", "initial_power", "search"}, {"optimal", "objective", "printed"},
        {"optimal", "objective", "energy"},       {"fixed", "local_rounds", "2"},
    };
    for (size_t j = 0; j < sizeof policies / sizeof policies[0]; j++) {
        struct fixture *f = open_policy(policies[j][0], policies[j][1], policies[j][2]);
        for (uint64_t i = 0; i < 20000; i++) {
            struct case1 k = random_case(i);
            double *const settings[] = {&k.cycles_per_bit, &k.energy_budget_j, &k.clock_max_hz,
                                        &k.deadline_s,     &k.capacitance,     &k.sample_bits,
                                        &k.power_max_w};
            for (uint32_t s = 0; s < 6; s++) /* about two of them */
                if (uniform(i, 20 + s, 0.0, 1.0) < 0.33)
                    *settings[s] = log_uniform(i, 10 + s, 1e-307, 1e308);
            if (uniform(i, 26, 0.0, 1.0) < 0.33)
                *settings[6] = log_uniform(i, 16, 1e-23, 1e17); /* the bounds of power_max_dbm */
            const struct answer1 a = solve(f, &k, 1);
            if (a.local_rounds == 0)
                continue;
            const double amounts[] = {a.clock_hz, a.power_w,   a.compute_s,
                                      a.upload_s, a.compute_j, a.upload_j};
            for (size_t m = 0; m < 6; m++)
                if (!(amounts[m] >= 0.0 && isfinite(amounts[m])))
                    fail_msg("%s %s, case %u: amount %zu is %g", policies[j][0], policies[j][2],
                             (unsigned)i, m, amounts[m]);
        }
        fixture_close(f);
    }
}

static void says_why_a_client_sits_out(void **state)
{
    (void)state;
    const char *const names[] = {"iterative", "optimal"};
    for (size_t j = 0; j < 2; j++) {
        struct fixture *f = open_policy(names[j], NULL, NULL);
        struct case1 k = easy_case();
        assert_int_equal(solve(f, &k, 1).local_rounds, 5);
        assert_int_equal(solve(f, &k, 0).reason, OSAFL_OUT_ABSENT);
        k.gain = 0.0;
        assert_int_equal(solve(f, &k, 1).reason, OSAFL_OUT_DEADLINE);
        k.gain = 1e-17;
        assert_int_equal(solve(f, &k, 1).reason, OSAFL_OUT_DEADLINE);
        k = easy_case();
        k.clock_max_hz = 2e7;
        assert_int_equal(solve(f, &k, 1).reason, OSAFL_OUT_CLOCK);
        k = easy_case();
        k.energy_budget_j = 1e-6;
        assert_int_equal(solve(f, &k, 1).reason, OSAFL_OUT_ENERGY);
        fixture_close(f);
    }
}

/* A clock that is too slow by no more than the tolerance of all limits is fast enough, whatever the
 * way to look for the power. */
static void all_policies_have_one_tolerance(void **state)
{
    (void)state;
    const char *const policies[][3] = {{"iterative", "initial_power", "max"},
                                       {"iterative", "initial_power", "search"},
                                       {"optimal", "objective", "printed"},
                                       {"optimal", "objective", "energy"}};
    const double lacking[] = {0.0, 1e-12, 1e-10, 5e-10, 2e-9};
    for (size_t j = 0; j < 4; j++) {
        struct fixture *f = open_policy(policies[j][0], policies[j][1], policies[j][2]);
        for (size_t i = 0; i < 5; i++) {
            struct case1 k = easy_case();
            k.energy_budget_j = 1e3;
            const double left_s = k.deadline_s - upload_time(&k, k.power_max_w);
            k.clock_max_hz = 5.0 * round_cycles(&k) / left_s * (1.0 - lacking[i]);
            const struct answer1 a = solve(f, &k, 1);
            assert_int_equal(a.local_rounds, lacking[i] < 1e-9 ? 5 : 4);
            check_limits(&k, &a);
        }
        fixture_close(f);
    }
}

static void fixed_lets_everyone_take_part(void **state)
{
    (void)state;
    struct fixture *f = open_policy("fixed", NULL, NULL);
    struct case1 k = easy_case();
    k.deadline_s = 1e-3;
    k.energy_budget_j = 1e-9;
    struct answer1 a = solve(f, &k, 1);
    assert_int_equal(a.local_rounds, 5);
    assert_true(a.clock_hz == k.clock_max_hz && a.power_w == k.power_max_w);
    check_close(a.compute_s, 5.0 * round_cycles(&k) / k.clock_max_hz, 1e-12);
    check_close(a.upload_s, upload_time(&k, k.power_max_w), 1e-9);
    check_close(a.compute_j, 1e-28 * 5.0 * round_cycles(&k) * 2.25e18, 1e-12);
    check_close(a.upload_j, a.upload_s * 0.5, 1e-12);
    assert_int_equal(solve(f, &k, 0).reason, OSAFL_OUT_ABSENT);
    k.gain = 0.0;
    assert_int_equal(solve(f, &k, 1).reason, OSAFL_OUT_DEADLINE);
    fixture_close(f);

    k = easy_case();
    f = open_policy("fixed", "local_rounds", "3");
    assert_int_equal(solve(f, &k, 1).local_rounds, 3);
    fixture_close(f);
    f = open_policy("fixed", "power_w", "0.02");
    a = solve(f, &k, 1);
    assert_true(a.power_w == 0.02 && a.clock_hz == k.clock_max_hz);
    fixture_close(f);
    f = open_policy("fixed", "clock_hz", "5e8");
    a = solve(f, &k, 1);
    assert_true(a.clock_hz == 5e8 && a.power_w == k.power_max_w);
    check_close(a.compute_s, 5.0 * round_cycles(&k) / 5e8, 1e-12);
    fixture_close(f);
}

static void fixed_refuses_more_local_rounds_than_there_are(void **state)
{
    (void)state;
    const osafl_facts facts = {
        .struct_size = sizeof facts, .clients = 1, .rounds = 1, .max_local_rounds = 5};
    struct fixture *f = fixture_open("resource", "fixed");
    fixture_set(f, "local_rounds", "6");
    assert_int_equal(fixture_create(f, &facts), OSAFL_E_CONFIG);
    assert_non_null(strstr(f->error.text, "training.max_local_rounds = 5"));
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterative_gives_the_right_answers),
        cmocka_unit_test(optimal_and_search_find_the_most_local_rounds),
        cmocka_unit_test(algorithm_2_is_a_fixed_point),
        cmocka_unit_test(declared_policies_meet_the_limits),
        cmocka_unit_test(optimal_beats_every_other_power),
        cmocka_unit_test(search_is_the_power_of_least_energy),
        cmocka_unit_test(extremes_give_no_impossible_answers),
        cmocka_unit_test(says_why_a_client_sits_out),
        cmocka_unit_test(all_policies_have_one_tolerance),
        cmocka_unit_test(fixed_lets_everyone_take_part),
        cmocka_unit_test(fixed_refuses_more_local_rounds_than_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
