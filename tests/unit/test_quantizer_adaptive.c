/* test_quantizer_adaptive.c - levels by the link: as many as it carries, and then qsgd's own code.
 */
#include "quantizer_bench.h"

#define DIM 1000

static osafl_packet packet_with(double most_bits_per_s)
{
    return (osafl_packet){.struct_size = sizeof(osafl_packet),
                          .client = 2,
                          .round = 3,
                          .most_bits_per_s = most_bits_per_s};
}

static void test_as_many_levels_as_the_link_carries(void **unused)
{
    (void)unused;
    static const char *const settings[] = {"least_levels", "2",   "most_levels", "64",
                                           "upload_share", "0.5", NULL};
    struct quantizer_bench *b = bench_open("adaptive_qsgd", DIM, settings);
    /* Within half a second: N (1 + log2 s) + 32 bits. */
    const struct {
        double most_bits_per_s;
        double bits;
    } cases[] = {
        {0.0, 2032.0},     {4064.0, 2032.0},  {6063.0, 2032.0}, {6064.0, 3032.0},
        {12000.0, 5032.0}, {14064.0, 7032.0}, {1e12, 7032.0},   {(double)INFINITY, 7032.0},
    };
    assert_true(b->info.payload_bits == 7032.0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const osafl_packet p = packet_with(cases[i].most_bits_per_s);
        double bits = 0.0;
        osafl_call *c = fixture_begin(b->fixture, 0, 0);
        assert_int_equal(fixture_end(b->fixture, b->vt->packet_bits(b->self, c, &p, &bits)),
                         OSAFL_OK);
        assert_true(bits == cases[i].bits);
    }
    bench_close(b);
}

static void encode(struct quantizer_bench *b, const osafl_packet *p, const float *x)
{
    osafl_call *c = fixture_begin(b->fixture, p->client, p->round);
    const osafl_status status =
        b->vt->encode(b->self, c, p, x, NULL, b->code, &b->bytes, &b->air_bits);
    assert_int_equal(fixture_end(b->fixture, status), OSAFL_OK);
}

static void test_the_code_is_that_of_qsgd(void **unused)
{
    (void)unused;
    static const char *const four[] = {"levels", "4", NULL};
    struct quantizer_bench *adaptive = bench_open("adaptive_qsgd", DIM, NULL);
    struct quantizer_bench *plain = bench_open("qsgd", DIM, four);
    const osafl_packet p = packet_with(10.0 * (3.5 * DIM));
    const uint64_t log_levels = 2;
    float x[DIM];
    bench_normal(7, DIM, 0.1f, x);
    encode(adaptive, &p, x);
    encode(plain, &p, x);
    assert_int_equal(adaptive->bytes, plain->bytes + 8);
    assert_memory_equal(adaptive->code, &log_levels, 8);
    assert_memory_equal(adaptive->code + 8, plain->code, plain->bytes);
    assert_true(adaptive->air_bits == plain->air_bits + 4.0);
    bench_close(plain);
    bench_close(adaptive);
}

static void test_codes_of_other_levels_are_refused(void **unused)
{
    (void)unused;
    struct quantizer_bench *b = bench_open("adaptive_qsgd", DIM, NULL);
    const osafl_packet p = packet_with(1e9);
    float x[DIM];
    bench_normal(8, DIM, 0.1f, x);
    encode(b, &p, x);
    assert_int_equal(bench_verify(b, b->code, b->bytes), OSAFL_OK);
    for (unsigned n = 0; n < 20; n++) {
        b->code[0] = (uint8_t)n;
        if (n != 8)
            assert_int_equal(bench_verify(b, b->code, b->bytes), OSAFL_E_DATA);
    }
    assert_int_equal(bench_verify(b, b->code, 7), OSAFL_E_DATA);
    bench_close(b);
}

static void test_settings_that_do_not_fit(void **unused)
{
    (void)unused;
    static const char *const wrong[][2] = {
        {"least_levels", "3"}, {"most_levels", "1"}, {"most_levels", "100"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct fixture *f = fixture_open("quantizer", "adaptive_qsgd");
        const osafl_facts facts = {.struct_size = sizeof facts};
        fixture_set(f, wrong[i][0], wrong[i][1]);
        assert_int_equal(fixture_create(f, &facts), OSAFL_E_CONFIG);
        fixture_close(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_levels_as_the_link_carries),
        cmocka_unit_test(test_the_code_is_that_of_qsgd),
        cmocka_unit_test(test_codes_of_other_levels_are_refused),
        cmocka_unit_test(test_settings_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
