/* How many samples come and who is there: laws of the arrivals, and every way in which a trace is
 * wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "osafl/arrival.h"
#include "plugin_fixture.h"

enum { CLIENTS = 400, ROUNDS = 240, E = 6, D = 60 };

struct bench {
    struct fixture *f;
    uint32_t arrivals[CLIENTS];
    uint64_t capacity[CLIENTS];
    double activity[CLIENTS];
    const uint64_t *time_first;
    const double *time;
    uint32_t n[ROUNDS][CLIENTS];
    uint8_t present[ROUNDS][CLIENTS];
};

static osafl_arrival_problem problem_of(const struct bench *b, uint32_t clients, uint32_t round)
{
    return (osafl_arrival_problem){.struct_size = sizeof(osafl_arrival_problem),
                                   .clients = clients,
                                   .round = round,
                                   .arrivals = b->arrivals,
                                   .capacity = b->capacity,
                                   .activity = b->activity,
                                   .time_first = b->time_first,
                                   .time = b->time};
}

static struct bench *open_bench(const char *name)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->f = fixture_open("arrival", name);
    for (uint32_t u = 0; u < CLIENTS; u++) {
        b->arrivals[u] = E;
        b->capacity[u] = D;
        b->activity[u] = 0.3 + 0.5 * u / CLIENTS;
    }
    return b;
}

static void close_bench(struct bench *b)
{
    fixture_close(b->f);
    free(b);
}

static osafl_status create(struct bench *b, uint32_t clients, uint32_t rounds)
{
    const osafl_facts facts = {.struct_size = sizeof facts, .clients = clients, .rounds = rounds};
    return fixture_create(b->f, &facts);
}

static void ask_round(struct bench *b, uint32_t clients, uint32_t round)
{
    const osafl_arrival_vt *vt = fixture_vtable(b->f);
    const osafl_arrival_problem p = problem_of(b, clients, round);
    osafl_call *c = fixture_begin(b->f, OSAFL_NO_CLIENT, round);
    memset(b->n[round], 0, sizeof b->n[round]);
    memset(b->present[round], 1, sizeof b->present[round]);
    assert_int_equal(
        fixture_end(b->f, vt->arrive(b->f->instance.self, c, &p, b->n[round], b->present[round])),
        OSAFL_OK);
    for (uint32_t u = 0; u < clients; u++)
        assert_true(b->n[round][u] <= b->capacity[u] && b->present[round][u] <= 1);
}

static void play(struct bench *b)
{
    if (create(b, CLIENTS, ROUNDS) != OSAFL_OK)
        fail_msg("%s", b->f->error.text);
    for (uint32_t t = 0; t < ROUNDS; t++)
        ask_round(b, CLIENTS, t);
}

/* Mean over clients of a round. */
static double mean_of(const struct bench *b, uint32_t round)
{
    double sum = 0.0;
    for (uint32_t u = 0; u < CLIENTS; u++)
        sum += b->n[round][u];
    return sum / CLIENTS;
}

/* E (n_t - mean)(n_{t + lag} - mean) over clients and rounds, of numbers whose mean is known. */
static double covariance(const struct bench *b, double mean, uint32_t lag)
{
    double sum = 0.0;
    for (uint32_t t = 0; t + lag < ROUNDS; t++)
        for (uint32_t u = 0; u < CLIENTS; u++)
            sum += (b->n[t][u] - mean) * (b->n[t + lag][u] - mean);
    return sum / ((double)(ROUNDS - lag) * CLIENTS);
}

static void close_to(double x, double expected, double tolerance)
{
    if (!(fabs(x - expected) <= tolerance))
        fail_msg("%g is not within %g of %g", x, tolerance, expected);
}

static double overall_mean(const struct bench *b)
{
    double sum = 0.0;
    for (uint32_t t = 0; t < ROUNDS; t++)
        sum += mean_of(b, t);
    return sum / ROUNDS;
}

static void test_steady_and_binomial(void **state)
{
    (void)state;
    struct bench *b = open_bench("steady");
    play(b);
    for (uint32_t t = 0; t < ROUNDS; t++)
        for (uint32_t u = 0; u < CLIENTS; u++)
            assert_true(b->n[t][u] == E && b->present[t][u] == 1);
    close_bench(b);

    b = open_bench("binomial");
    fixture_set(b->f, "probability", "0.4");
    play(b);
    close_to(overall_mean(b), 0.4 * E, 5 * sqrt(0.24 * E / (ROUNDS * CLIENTS)));
    close_to(covariance(b, 0.4 * E, 0), 0.24 * E, 0.05);
    close_to(covariance(b, 0.4 * E, 1), 0.0, 0.03);
    close_bench(b);
}

/* Mean = variance, nothing from one round to the next, and the probability of none, e^-mean; also
 * for many samples, where more than one block of random words is needed. */
static void test_poisson(void **state)
{
    (void)state;
    const double rates[] = {0.25, 1.0, 20.0};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct bench *b = open_bench("poisson");
        char text[16];
        const double mean = rates[i] * E;
        uint32_t none = 0;
        snprintf(text, sizeof text, "%g", rates[i]);
        fixture_set(b->f, "rate", text);
        for (uint32_t u = 0; u < CLIENTS; u++)
            b->capacity[u] = 400;
        play(b);
        const double draws = (double)ROUNDS * CLIENTS;
        for (uint32_t t = 0; t < ROUNDS; t++)
            for (uint32_t u = 0; u < CLIENTS; u++)
                none += b->n[t][u] == 0;
        close_to(overall_mean(b), mean, 5 * sqrt(mean / draws));
        close_to(covariance(b, mean, 0), mean, 5 * sqrt((mean + 2 * mean * mean) / draws));
        close_to(covariance(b, mean, 1), 0.0, 5 * mean / sqrt(draws));
        close_to(none / draws, exp(-mean), 5 * sqrt(exp(-mean) / draws) + 1e-9);
        close_bench(b);
    }
}

/* No more than a store holds, and nothing of nothing. */
static void test_poisson_bounds(void **state)
{
    (void)state;
    struct bench *b = open_bench("poisson");
    fixture_set(b->f, "rate", "1000");
    b->arrivals[1] = 0;
    play(b);
    for (uint32_t t = 0; t < ROUNDS; t++) {
        assert_int_equal(b->n[t][0], D);
        assert_int_equal(b->n[t][1], 0);
    }
    close_bench(b);
}

/* The numbers that onoff.c states, from the first round on. */
static void test_bursts(void **state)
{
    (void)state;
    const double lengths[][2] = {{4, 12}, {2, 2}, {10, 5}, {1.5, 30}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct bench *b = open_bench("onoff");
        const double end = 1.0 / lengths[i][0];
        const double begin = 1.0 / lengths[i][1];
        const double share = begin / (begin + end);
        const double peak = nearbyint(E / share);
        const double mean = share * peak;
        const double variance = share * (1.0 - share) * peak * peak;
        char text[2][16];
        for (size_t k = 0; k < 2; k++)
            snprintf(text[k], sizeof text[k], "%g", lengths[i][k]);
        fixture_set(b->f, "burst", text[0]);
        fixture_set(b->f, "pause", text[1]);
        for (uint32_t u = 0; u < CLIENTS; u++)
            b->capacity[u] = 1000;
        play(b);
        close_to(mean_of(b, 0), mean, 5 * sqrt(variance / CLIENTS));
        close_to(mean_of(b, ROUNDS - 1), mean, 5 * sqrt(variance / CLIENTS));
        for (uint32_t lag = 0; lag < 6; lag++)
            close_to(covariance(b, mean, lag) / variance, pow(1.0 - begin - end, lag), 0.06);
        for (uint32_t t = 0; t < ROUNDS; t++)
            for (uint32_t u = 0; u < CLIENTS; u++)
                assert_true(b->n[t][u] == 0 || b->n[t][u] == (uint32_t)peak);
        close_bench(b);
    }
}

/* Geometric lengths: the mean length of bursts that begin and end in sight, and who is away. */
static void test_burst_lengths(void **state)
{
    (void)state;
    struct bench *b = open_bench("onoff");
    fixture_set(b->f, "away", "true");
    play(b);
    double bursts = 0.0;
    double rounds = 0.0;
    for (uint32_t u = 0; u < CLIENTS; u++) {
        for (uint32_t t = 1; t < ROUNDS / 2; t++) { /* from the beginning of a burst to its end */
            assert_int_equal(b->present[t][u], b->n[t][u] > 0);
            if (b->n[t][u] == 0 || b->n[t - 1][u] > 0)
                continue;
            bursts++;
            for (uint32_t k = t; k < ROUNDS && b->n[k][u] > 0; k++)
                rounds++;
        }
    }
    close_to(rounds / bursts, 4.0, 5 * sqrt(12.0 / bursts));
    close_bench(b);

    b = open_bench("onoff");
    fixture_set(b->f, "burst", "1");
    assert_int_equal(create(b, CLIENTS, ROUNDS), OSAFL_E_CONFIG);
    assert_non_null(strstr(b->f->error.text, "raise one of them"));
    close_bench(b);
}

/* With one clock for all the mean of each hour is the stated one; over a day it is E_u. */
/* A client is there from round j on, j in 10 .. 19, for 30 .. 49 rounds, but for a quarter of them:
 * of 400 clients the first and last rounds are uniform, and 0.75 of those between are awake. */
static void test_turnover(void **state)
{
    (void)state;
    struct bench *b = open_bench("turnover");
    fixture_set(b->f, "join", "10, 19");
    fixture_set(b->f, "stay", "30, 49");
    fixture_set(b->f, "sleep", "0.25");
    play(b);
    double rounds = 0.0;
    for (uint32_t t = 0; t < ROUNDS; t++)
        for (uint32_t u = 0; u < CLIENTS; u++) {
            assert_int_equal(b->n[t][u], b->present[t][u] ? E : 0);
            assert_true(!b->present[t][u] || (t >= 10 && t <= 19 + 48));
            rounds += b->present[t][u];
        }
    /* 39.5 rounds on average, of which 29.6; a client's number has variance 0.5625 * 33.25 + 7.4.
     */
    close_to(rounds / CLIENTS, 0.75 * 39.5, 5 * sqrt(26.1 / CLIENTS));
    fixture_set(b->f, "sleep", "0");
    play(b);
    uint32_t joined[10] = {0};
    for (uint32_t u = 0; u < CLIENTS; u++) {
        uint32_t first = 0;
        uint32_t last = ROUNDS - 1;
        while (!b->present[first][u])
            first++;
        while (!b->present[last][u])
            last--;
        assert_in_range(last - first + 1, 30, 49);
        for (uint32_t t = first; t <= last; t++)
            assert_int_equal(b->present[t][u], 1);
        joined[first - 10]++;
    }
    for (uint32_t j = 0; j < 10; j++)
        close_to(joined[j], CLIENTS / 10.0, 5 * 6);
    fixture_set(b->f, "join", "3");
    fixture_set(b->f, "stay", "0");
    play(b);
    for (uint32_t t = 0; t < ROUNDS; t++)
        assert_int_equal(b->present[t][0], t >= 3);
    fixture_set(b->f, "join", "0.2, 0.8");
    assert_int_equal(create(b, CLIENTS, ROUNDS), OSAFL_E_CONFIG);
    close_bench(b);
}

static void test_days(void **state)
{
    (void)state;
    struct bench *b = open_bench("diurnal");
    fixture_set(b->f, "spread", "0");
    fixture_set(b->f, "night", "0.25");
    play(b);
    close_to(overall_mean(b), E, 5 * sqrt((double)E / (ROUNDS * CLIENTS)));
    for (uint32_t hour = 0; hour < 24; hour++) {
        const double mean = E * (1.0 + 0.8 * cos(2.0 * acos(-1.0) * hour / 24));
        double sum = 0.0;
        for (uint32_t t = hour; t < ROUNDS; t += 24)
            sum += mean_of(b, t) / (ROUNDS / 24);
        close_to(sum, mean, 5 * sqrt(mean * 24 / (ROUNDS * CLIENTS)));
        /* Away for 6 of 24 hours around hour 12: from 9 to 15, which are both at its edge. */
        assert_int_equal(b->present[24 + hour][7], hour <= 9 || hour >= 15);
    }
    close_bench(b);

    /* With clocks all over the day every round is alike in the mean over clients. */
    b = open_bench("diurnal");
    play(b);
    for (uint32_t t = 0; t < ROUNDS; t++)
        close_to(mean_of(b, t), E, 5 * sqrt((E + 0.32 * E * E) / CLIENTS));
    close_bench(b);
}

static void test_fill(void **state)
{
    (void)state;
    static const char *const names[] = {"binomial", "diurnal", "onoff",
                                        "poisson",  "steady",  "turnover"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int part = 0; part <= 4; part++) {
            struct bench *b = open_bench(names[i]);
            const osafl_arrival_vt *vt = fixture_vtable(b->f);
            const osafl_arrival_problem p = problem_of(b, CLIENTS, 0);
            uint64_t n[CLIENTS];
            char text[16];
            snprintf(text, sizeof text, "%g", part / 4.0);
            if (part < 4) /* all by default */
                fixture_set(b->f, "fill", text);
            assert_int_equal(create(b, CLIENTS, ROUNDS), OSAFL_OK);
            osafl_call *c = fixture_begin(b->f, OSAFL_NO_CLIENT, 0);
            assert_int_equal(fixture_end(b->f, vt->fill(b->f->instance.self, c, &p, n)), OSAFL_OK);
            for (uint32_t u = 0; u < CLIENTS; u++)
                assert_int_equal(n[u], D / 4 * part);
            close_bench(b);
        }
    }
}

/* ---- times of the samples ---- */

static char warnings[512];

static void keep_warning(void *arg, int32_t level, const char *line)
{
    (void)arg, (void)level;
    snprintf(warnings + strlen(warnings), sizeof warnings - strlen(warnings), "%s\n", line);
}

static struct bench *open_timed(const char *start, const char *period)
{
    struct bench *b = open_bench("timed");
    fixture_set(b->f, "start", start);
    fixture_set(b->f, "period", period);
    b->f->context.log = keep_warning;
    warnings[0] = '\0';
    return b;
}

/* fill() of three clients, of whom the second has no sample. */
static osafl_status fill_timed(struct bench *b, uint64_t *n)
{
    static const uint64_t first[] = {0, 4, 4, 7};
    static const double time[] = {-3.0, 0.0, 0.5, 2.5, 0.999, 1.0, 8.0};
    const osafl_arrival_vt *vt = fixture_vtable(b->f);
    b->time_first = first;
    b->time = time;
    const osafl_arrival_problem p = problem_of(b, 3, 0);
    osafl_call *c = fixture_begin(b->f, OSAFL_NO_CLIENT, 0);
    return fixture_end(b->f, vt->fill(b->f->instance.self, c, &p, n));
}

/* A round begins with its first moment and ends before the next one. */
static void test_times(void **state)
{
    (void)state;
    uint64_t n[3];
    struct bench *b = open_timed("0", "0.5");
    assert_int_equal(create(b, 3, 17), OSAFL_OK);
    assert_int_equal(fill_timed(b, n), OSAFL_OK);
    assert_true(n[0] == 1 && n[1] == 0 && n[2] == 0);
    static const uint32_t first[17] = {[0] = 1, [1] = 1, [5] = 1};
    static const uint32_t third[17] = {[1] = 1, [2] = 1, [16] = 1};
    for (uint32_t t = 0; t < 17; t++) {
        ask_round(b, 3, t);
        assert_int_equal(b->n[t][0], first[t]);
        assert_int_equal(b->n[t][1], 0);
        assert_int_equal(b->n[t][2], third[t]);
    }
    assert_string_equal(warnings, "");
    assert_int_equal(create(b, 3, 16), OSAFL_OK);
    assert_int_equal(fill_timed(b, n), OSAFL_OK);
    assert_non_null(strstr(warnings, "the last sample comes in round 5 of 0 .. 15"));
    assert_non_null(strstr(warnings, "1 sample comes after the last round and is left out"));
    close_bench(b);

    b = open_timed("-1.76e18", "8.64e13"); /* days in nanoseconds */
    assert_int_equal(create(b, 3, 20371), OSAFL_OK);
    assert_int_equal(fill_timed(b, n), OSAFL_OK);
    close_bench(b);
}

static void refuse_times(struct bench *b, uint32_t rounds, const char *message)
{
    uint64_t n[3];
    assert_int_equal(create(b, 3, rounds), OSAFL_OK);
    assert_int_equal(fill_timed(b, n), OSAFL_E_CONFIG);
    if (strstr(b->f->error.text, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, b->f->error.text);
    close_bench(b);
}

static void test_bad_times(void **state)
{
    (void)state;
    refuse_times(open_timed("8.5", "2"), 3,
                 "no sample comes in the 3 rounds, which last from 8.5 to 14.5; the times of the "
                 "clients' samples are from -3 to 8; set arrival.timed.start and period");
    refuse_times(open_timed("-10", "1"), 7, "from -10 to -3; the times");
    struct bench *b = open_timed("-4", "3");
    b->capacity[0] = 1;
    refuse_times(
        b, 9,
        "2 samples of client 0 come in round 1 (times from -1 to 2), and its store has "
        "room for 1: clients.storage times its activity of 0.3 (clients.activity), rounded up, "
        "or what its group says; set clients.storage to 4 or more, or with "
        "clients.activity = [1.0, 1.0] to 2 or more, or shorten arrival.timed.period");

    uint64_t n[3];
    b = open_timed("0", "1");
    const osafl_arrival_vt *vt = fixture_vtable(b->f);
    const osafl_arrival_problem p = problem_of(b, 3, 0);
    assert_int_equal(create(b, 3, 9), OSAFL_OK);
    osafl_call *c = fixture_begin(b->f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(b->f, vt->fill(b->f->instance.self, c, &p, n)), OSAFL_E_CONFIG);
    assert_non_null(
        strstr(b->f->error.text, "it needs samples that have times and are dealt to the clients"));
    assert_non_null(strstr(b->f->error.text, "dataset.csv.time"));
    close_bench(b);
}

/* ---- traces -------------------------------------------------------------------------------- */

static char path[64];

static int make_file(void **state)
{
    (void)state;
    strcpy(path, "/tmp/osafl-arrivals-XXXXXX");
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static struct bench *open_trace(const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    struct bench *b = open_bench("trace");
    fixture_set(b->f, "path", path);
    return b;
}

static void expect_round(struct bench *b, uint32_t round, const char *expected)
{
    char text[64] = "";
    ask_round(b, 3, round);
    for (uint32_t u = 0; u < 3; u++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%u%s ", (unsigned)b->n[round][u],
                 b->present[round][u] ? "" : "-");
    assert_string_equal(text, expected);
}

/* Exactly its numbers; columns and clients in any order, rounds without a row. */
static void test_trace(void **state)
{
    (void)state;
    const char *table = "client,samples,round,present\n2,7,0,1\n0,1,0,0\n1,60,3,1\n";
    struct bench *b = open_trace(table);
    assert_int_equal(create(b, 3, 4), OSAFL_OK);
    expect_round(b, 0, "1- 0 7 ");
    expect_round(b, 1, "0 0 0 ");
    expect_round(b, 3, "0 60 0 ");
    expect_round(b, 0, "1- 0 7 ");
    close_bench(b);

    b = open_trace(table);
    assert_int_equal(create(b, 3, 5), OSAFL_E_DATA);
    assert_non_null(strstr(b->f->error.text, "holds 4 rounds"));
    fixture_set(b->f, "at_end", "cycle");
    assert_int_equal(create(b, 3, 10), OSAFL_OK);
    expect_round(b, 4, "1- 0 7 ");
    expect_round(b, 7, "0 60 0 ");
    fixture_set(b->f, "at_end", "nothing");
    assert_int_equal(create(b, 3, 10), OSAFL_OK);
    expect_round(b, 4, "0 0 0 ");
    close_bench(b);
}

static void refuse_trace(const char *rows, const char *message)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s",
             strncmp(rows, "round", 5) == 0 || rows[0] == '\0' ? ""
                                                               : "round,client,samples,present\n",
             rows);
    struct bench *b = open_trace(text);
    assert_int_equal(create(b, 3, 1), OSAFL_E_DATA);
    if (strstr(b->f->error.text, message) == NULL || strstr(b->f->error.text, path) == NULL)
        fail_msg("\"%s\" or the file is not in \"%s\"", message, b->f->error.text);
    close_bench(b);
}

static void test_bad_traces(void **state)
{
    (void)state;
    refuse_trace("0,0,4,1\n0,1,-3,1\n", ":3: column 3 (\"samples\"): -3 is no whole number");
    refuse_trace("0,0,4.5,1\n", ":2: column 3 (\"samples\"): 4.5 is no whole number");
    refuse_trace("0,0,4294967295,1\n", ":2: column 3");
    refuse_trace(
        "0,0,many,1\n",
        ":2: column 3 (\"samples\") holds \"many\", which is not a finite number; correct it");
    refuse_trace("-1,0,4,1\n", ":2: column 1 (\"round\")");
    refuse_trace("0,0,4,1\n0,3,4,1\n", ":3: client 3 is unknown, there are 0 .. 2");
    refuse_trace("1,0,4,1\n0,0,4,1\n", ":3: round 0 comes after round 1; sort");
    refuse_trace("0,0,4,1\n0,1,4,1\n0,0,5,1\n", ":4: round 0 of client 0 is in line 2 already");
    refuse_trace("0,0,4,2\n", ":2: present is 2; write 0 or 1");
    refuse_trace("0,0,4,1,9\n", ":2: has 5 columns, the header 4; write one field for each");
    refuse_trace("0,0,4\n", ":2: has 3 columns, the header 4");
    refuse_trace("round,client,samples,present,note\n0,0,4,1,9\n", ":1: has 5 columns; leave only");
    refuse_trace("round,client,samples\n0,0,4\n", ":1: no column is named \"present\"");
    refuse_trace("round,client,samples,present\n", "has no rows");
    refuse_trace("", "is empty");

    /* A row that fits no store is told before the first round, wherever it stands; of several the
     * one that needs the most. */
    struct bench *b = open_trace("round,client,samples,present\n0,2,61,1\n5,0,61,1\n6,1,60,1\n");
    const osafl_arrival_vt *vt = fixture_vtable(b->f);
    const osafl_arrival_problem p = problem_of(b, 3, 0);
    uint64_t n[3];
    assert_int_equal(create(b, 3, 1), OSAFL_OK);
    osafl_call *c = fixture_begin(b->f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(b->f, vt->fill(b->f->instance.self, c, &p, n)), OSAFL_E_DATA);
    assert_non_null(
        strstr(b->f->error.text,
               ":3: 61 samples for client 0, which has room for 60: clients.storage times its "
               "activity of 0.3 (clients.activity), rounded up, or what its group says; "
               "set clients.storage to 201 or more, or with clients.activity = [1.0, "
               "1.0] to 61 or more"));
    close_bench(b);
}

static void test_all_are_listed(void **state)
{
    (void)state;
    static const char *const names[] = {"binomial", "diurnal", "onoff", "poisson",
                                        "steady",   "timed",   "trace", "turnover"};
    fixture_expect_all("arrival", names, sizeof names / sizeof names[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_and_binomial),
        cmocka_unit_test(test_poisson),
        cmocka_unit_test(test_poisson_bounds),
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_burst_lengths),
        cmocka_unit_test(test_turnover),
        cmocka_unit_test(test_days),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_bad_times),
        cmocka_unit_test_setup_teardown(test_trace, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_bad_traces, make_file, remove_file),
        cmocka_unit_test(test_all_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
