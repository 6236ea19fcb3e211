/* test_aggregator_aircomp.c - the sum over the air: without noise it is FedAvg's mean, with noise
 * that has the variance which follows from gains and powers, and who is too weak is silent. */
#include "aggregator_bench.h"

#define DIM 8192
#define CLIENTS 5

static const uint32_t histogram[BENCH_LABELS] = {1, 2};

struct scene {
    double delta[CLIENTS][DIM];
    struct bench_client client[CLIENTS];
};

static double draw(uint32_t client, uint32_t i)
{
    uint32_t word[4];
    streams_fill(6, 0, 82, client, 0, i, word, 4);
    return osafl_normal(word);
}

static struct scene *make_scene(void)
{
    struct scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (uint32_t u = 0; u < CLIENTS; u++) {
        for (uint32_t i = 0; i < DIM; i++)
            s->delta[u][i] = 0.1 * (1.0 + u) * draw(u, i);
        s->client[u] = (struct bench_client){.client = u,
                                             .local_rounds = 1,
                                             .alpha = 0.1 + 0.05 * u,
                                             .delta = s->delta[u],
                                             .histogram = histogram,
                                             .gain = 1e-11 * (1.0 + u),
                                             .channel_gain = 1e-11 * (1.0 + u),
                                             .power_w = 0.5 - 0.1 * u};
    }
    return s;
}

static void set_gain(struct bench_client *c, double gain)
{
    c->gain = c->channel_gain = gain;
}

/* Two rounds from w = 0; w becomes what `round` alone adds. */
static void play(const char *name, const struct scene *s, uint32_t n, double noise_w,
                 uint32_t round, float *w)
{
    struct aggregator_bench *b = bench_open(name, CLIENTS, 4, DIM);
    b->noise_w = noise_w;
    bench_create(b);
    memset(w, 0, DIM * sizeof *w);
    assert_int_equal(bench_round(b, round, s->client, n, w), OSAFL_OK);
    bench_close(b);
}

static void without_noise_it_is_fedavg(void **state)
{
    (void)state;
    static float air[DIM];
    static float mean[DIM];
    struct scene *s = make_scene();
    play("aircomp", s, CLIENTS, 0.0, 0, air);
    play("fedavg", s, CLIENTS, 0.0, 0, mean);
    assert_memory_equal(air, mean, sizeof mean);
    free(s);
}

/* The definition, client by client. */
static double deviation_of(const struct scene *s, double noise_w)
{
    double alpha = 0.0;
    double lambda2 = INFINITY;
    for (uint32_t u = 0; u < CLIENTS; u++)
        alpha += s->client[u].alpha;
    for (uint32_t u = 0; u < CLIENTS; u++) {
        const struct bench_client *c = &s->client[u];
        const double share = c->alpha / alpha;
        double power = 0.0; /* of the symbols a_u x_u */
        for (uint32_t i = 0; i < DIM; i++)
            power += share * share * s->delta[u][i] * s->delta[u][i] / DIM;
        lambda2 = fmin(lambda2, c->power_w * c->gain / power);
    }
    return sqrt(noise_w / lambda2);
}

static void noise_has_the_variance_of_the_weakest_link(void **state)
{
    (void)state;
    static float air[2][DIM];
    static float mean[DIM];
    struct scene *s = make_scene();
    const double noise_w = 3e-13;
    const double want = deviation_of(s, noise_w);
    double sum[2] = {0};
    double squares[2] = {0};
    double product = 0.0;
    play("fedavg", s, CLIENTS, 0.0, 0, mean);
    for (uint32_t t = 0; t < 2; t++)
        play("aircomp", s, CLIENTS, noise_w, t, air[t]);
    for (uint32_t i = 0; i < DIM; i++) {
        const double z[] = {(double)air[0][i] - (double)mean[i],
                            (double)air[1][i] - (double)mean[i]};
        for (int t = 0; t < 2; t++) {
            sum[t] += z[t] / want;
            squares[t] += z[t] * z[t] / (want * want);
        }
        product += z[0] * z[1] / (want * want);
    }
    /* Four standard deviations of each. */
    for (int t = 0; t < 2; t++) {
        assert_true(fabs(sum[t]) < 4.0 * sqrt(DIM));
        assert_true(fabs(squares[t] - DIM) < 4.0 * sqrt(2.0 * DIM));
    }
    assert_true(fabs(product) < 4.0 * sqrt(DIM));
    free(s);
}

/* Clients invert the gains that are known; what arrives has gone through the others.  The noise
 * does not depend on these. */
static void an_error_of_the_gain_scales_what_arrives(void **state)
{
    (void)state;
    static float air[DIM];
    static float noisy[2][DIM];
    struct scene *s = make_scene();
    double alpha = 0.0;
    play("aircomp", s, CLIENTS, 3e-13, 1, noisy[0]);
    play("aircomp", s, CLIENTS, 0.0, 1, air);
    for (uint32_t i = 0; i < DIM; i++)
        noisy[0][i] -= air[i];
    for (uint32_t u = 0; u < CLIENTS; u++) {
        s->client[u].channel_gain = s->client[u].gain * (0.25 + 0.5 * u);
        alpha += s->client[u].alpha;
    }
    play("aircomp", s, CLIENTS, 3e-13, 1, noisy[1]);
    play("aircomp", s, CLIENTS, 0.0, 1, air);
    for (uint32_t i = 0; i < DIM; i++) {
        double want = 0.0;
        for (uint32_t u = 0; u < CLIENTS; u++)
            want += s->client[u].alpha / alpha * sqrt(0.25 + 0.5 * u) * s->delta[u][i];
        assert_true(fabs((double)air[i] - want) < 1e-6);
        assert_true(fabs((double)(noisy[1][i] - air[i] - noisy[0][i])) < 1e-6);
    }
    free(s);
}

static void the_weakest_are_silent(void **state)
{
    (void)state;
    static float air[DIM];
    static float mean[DIM];
    struct scene *s = make_scene();
    /* 20 dB below the median of 4, 3, 2, 1 and a little; silence is counted from below it. */
    set_gain(&s->client[CLIENTS - 1], 1.01e-2 * s->client[1].gain);
    play("aircomp", s, CLIENTS, 0.0, 0, air);
    play("fedavg", s, CLIENTS, 0.0, 0, mean);
    assert_memory_equal(air, mean, sizeof mean);
    set_gain(&s->client[CLIENTS - 1], 0.99e-2 * s->client[1].gain);
    play("aircomp", s, CLIENTS, 0.0, 0, air);
    play("fedavg", s, CLIENTS - 1, 0.0, 0, mean);
    assert_memory_equal(air, mean, sizeof mean);

    for (uint32_t u = 0; u < CLIENTS; u++)
        s->client[u].power_w = 0.0;
    play("aircomp", s, CLIENTS, 1e-13, 0, air);
    for (uint32_t i = 0; i < DIM; i++)
        assert_true(air[i] == 0.0f);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_it_is_fedavg),
        cmocka_unit_test(noise_has_the_variance_of_the_weakest_link),
        cmocka_unit_test(an_error_of_the_gain_scales_what_arrives),
        cmocka_unit_test(the_weakest_are_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
