/* Result files: numbers as text, columns, metrics, lengths after a resume, faults of the disk. */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/csv_writer.h"
#include "base/records.h"
#include "plugin/loader.h"
#include "results/results.h"

#define NOT_MEASURED ((double)NAN)

static char folder_path[256];

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder_path, sizeof folder_path, "%s/osafl-results-XXXXXX",
             base == NULL ? "/tmp" : base);
    return mkdtemp(folder_path) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder_path);
    return system(command);
}

static char *read_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder_path, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    char *text = calloc(1, 1 << 20);
    const size_t n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    text[n] = '\0';
    return text;
}

static void expect_file(const char *name, const char *expected)
{
    char *text = read_file(name);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- CSV ---- */

static void expect_real(double v, const char *expected)
{
    char text[CSV_REAL_BYTES];
    csv_format_real(v, text);
    assert_string_equal(text, expected);
}

static void test_reals(void **state)
{
    (void)state;
    expect_real(0.0, "0");
    expect_real(-0.0, "-0");
    expect_real(0.1, "0.1");
    expect_real(1.0 / 3.0, "0.3333333333333333");
    expect_real(0.1 + 0.2, "0.30000000000000004");
    expect_real(12.0, "12");
    expect_real(1e300, "1e+300");
    expect_real(5e-324, "4.94065645841247e-324");
    expect_real(NOT_MEASURED, "");
    expect_real((double)INFINITY, "inf");
    expect_real((double)-INFINITY, "-inf");
    /* Whatever the number, the text reads back as it. */
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        double v;
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        char text[CSV_REAL_BYTES];
        csv_format_real(v, text);
        assert_true(strtod(text, NULL) == v);
    }
}

/* Makes a locale of the C library's sources in the test's folder and switches to it. */
static bool use_locale(const char *name)
{
    char command[700];
    snprintf(command, sizeof command,
             "localedef -i %s -f UTF-8 '%s/%s.UTF-8' >/dev/null 2>&1 || test -f "
             "'%s/%s.UTF-8/LC_NUMERIC'",
             name, folder_path, name, folder_path, name);
    if (system(command) != 0)
        return false;
    snprintf(command, sizeof command, "%s.UTF-8", name);
    setenv("LOCPATH", folder_path, 1);
    return setlocale(LC_ALL, command) != NULL;
}

static void test_reals_in_other_locales(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE", "ps_AF"}; /* a comma; a sign of two bytes */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!use_locale(names[i])) {
            print_message("localedef or its sources are missing\n");
            skip();
        }
        char text[CSV_REAL_BYTES];
        snprintf(text, sizeof text, "%g", 0.5);
        assert_string_not_equal(text, "0.5");
        expect_real(0.1, "0.1");
        expect_real(1234567.25, "1234567.25");
        expect_real(-1.5e-300, "-1.5e-300");
        expect_real((double)INFINITY, "inf");
        setlocale(LC_ALL, "C");
    }
}

static struct csv_writer *open_csv(const char *name, uint64_t length, osafl_status expected,
                                   const char *word)
{
    char path[512];
    struct error error = {0};
    struct csv_writer *w = NULL;
    snprintf(path, sizeof path, "%s/%s", folder_path, name);
    assert_int_equal(csv_writer_open(path, "a,b", length, &w, &error), expected);
    if (word != NULL && strstr(error.text, word) == NULL)
        fail_msg("\"%s\" is not in: %s", word, error.text);
    return w;
}

static void test_csv(void **state)
{
    (void)state;
    struct error error;
    struct csv_writer *w = open_csv("a.csv", 0, OSAFL_OK, NULL);
    csv_text(w, "plain");
    csv_text(w, "with, comma and \"quotes\"");
    csv_end_row(w);
    csv_real(w, NOT_MEASURED);
    csv_text(w, NULL);
    csv_end_row(w);
    assert_int_equal(csv_sync(w, &error), OSAFL_OK);
    const uint64_t length = csv_length(w);
    csv_count(w, UINT64_MAX);
    csv_text(w, "two\nlines");
    csv_end_row(w);
    assert_int_equal(csv_flush(w, &error), OSAFL_OK);
    expect_file("a.csv", "a,b\nplain,\"with, comma and \"\"quotes\"\"\"\n,\n"
                         "18446744073709551615,\"two\nlines\"\n");
    csv_writer_close(w);

    /* A resume forgets what came after the checkpoint. */
    w = open_csv("a.csv", length, OSAFL_OK, NULL);
    assert_int_equal(csv_length(w), length);
    csv_count(w, 1);
    csv_count(w, 2);
    csv_end_row(w);
    assert_int_equal(csv_flush(w, &error), OSAFL_OK);
    expect_file("a.csv", "a,b\nplain,\"with, comma and \"\"quotes\"\"\"\n,\n1,2\n");
    csv_writer_close(w);

    assert_null(open_csv("a.csv", 1000, OSAFL_E_STATE, "was changed"));
    assert_null(open_csv("a.csv", 3, OSAFL_E_STATE, "other columns"));
    assert_null(open_csv("missing/a.csv", 0, OSAFL_E_IO, "missing/a.csv: No such file"));
    csv_writer_close(NULL);
}

/* More than the buffer holds, and a file that may not grow as far. */
static void test_csv_faults(void **state)
{
    (void)state;
    struct error error = {0};
    struct csv_writer *w = open_csv("big.csv", 0, OSAFL_OK, NULL);
    for (uint64_t i = 0; i < 40000; i++) {
        csv_count(w, i);
        csv_real(w, (double)i / 3);
        csv_end_row(w);
    }
    assert_int_equal(csv_flush(w, &error), OSAFL_OK);
    const uint64_t length = csv_length(w);
    char *text = read_file("big.csv");
    assert_int_equal(strlen(text), length);
    const char *end = "39999,13333\n";
    assert_string_equal(text + length - strlen(end), end);
    free(text);
    csv_writer_close(w);

    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    w = open_csv("big.csv", length, OSAFL_OK, NULL);
    const struct rlimit tight = {.rlim_cur = length + 5, .rlim_max = old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    csv_count(w, 123456789);
    csv_count(w, 1);
    csv_end_row(w);
    assert_int_equal(csv_flush(w, &error), OSAFL_E_IO);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_non_null(strstr(error.text, "big.csv"));
    assert_non_null(strstr(error.text, strerror(EFBIG)));
    assert_int_equal(csv_flush(w, &error), OSAFL_E_IO); /* is not forgotten */
    csv_writer_close(w);
    csv_writer_close(open_csv("big.csv", length, OSAFL_OK, NULL)); /* half a row does no harm */
}

static void test_full_disk(void **state)
{
    (void)state;
    struct error error = {0};
    struct csv_writer *w = NULL;
    if (access("/dev/full", W_OK) != 0)
        skip();
    /* /dev/full answers ENOSPC to every write, the header's already. */
    assert_int_equal(csv_writer_open("/dev/full", "a,b", 0, &w, &error), OSAFL_E_IO);
    assert_non_null(strstr(error.text, "/dev/full"));
    if (strstr(error.text, "Invalid argument") == NULL) { /* some kernels refuse ftruncate first */
        assert_non_null(strstr(error.text, strerror(ENOSPC)));
        assert_non_null(strstr(error.text, "free space"));
    }
}

/* ---- folder ---- */

static void test_folder(void **state)
{
    (void)state;
    struct error error;
    char path[512];
    struct run_folder a;
    struct run_folder b;
    snprintf(path, sizeof path, "%s/new/deep/run", folder_path);
    assert_int_equal(run_folder_claim(path, &a, &error), OSAFL_OK);
    assert_int_equal(run_folder_claim(path, &b, &error), OSAFL_E_IO);
    assert_non_null(strstr(error.text, "another process"));
    assert_int_equal(run_folder_replace(&a, "x.txt", "old text", 8, &error), OSAFL_OK);
    assert_int_equal(run_folder_replace(&a, "x.txt", "new", 3, &error), OSAFL_OK);
    expect_file("new/deep/run/x.txt", "new");
    assert_null(read_file("new/deep/run/.x.txt.tmp"));
    assert_int_equal(run_folder_replace(&a, "none/x.txt", "new", 3, &error), OSAFL_E_IO);
    assert_non_null(strstr(error.text, "none/x.txt"));
    run_folder_release(&a);
    assert_int_equal(run_folder_claim(path, &a, &error), OSAFL_OK);
    run_folder_release(&a);
    run_folder_release(&a);

    snprintf(path, sizeof path, "%s/new/deep/run/x.txt/y", folder_path);
    assert_int_equal(run_folder_claim(path, &b, &error), OSAFL_E_IO);
    snprintf(path, sizeof path, "%s/new/deep/run/x.txt", folder_path);
    assert_int_equal(run_folder_claim(path, &b, &error), OSAFL_E_IO);
    assert_non_null(strstr(error.text, "a file has that name"));
    if (geteuid() != 0) {
        assert_int_equal(run_folder_claim("/osafl-not-allowed", &b, &error), OSAFL_E_IO);
        assert_non_null(strstr(error.text, "--out"));
    }
}

static void test_folder_path(void **state)
{
    (void)state;
    struct experiment e = {.case_name = "main"};
    e.general.name = "../a b/c.d";
    e.general.seed = 17;
    snprintf(e.identity, sizeof e.identity, "0123456789abcdef0123456789abcdef");
    char *path = run_folder_path("results", &e);
    assert_string_equal(path, "results/_._a_b_c.d/main/seed-17-01234567");
    free(path);
    e.general.name = "";
    e.case_name = "..";
    path = run_folder_path("/x", &e);
    assert_string_equal(path, "/x/_/_./seed-17-01234567");
    free(path);
}

/* ---- tables ---- */

static const osafl_metric metrics[] = {
    {.name = "step", .doc = "a", .scope = OSAFL_PER_ROUND},
    {.name = "score", .doc = "b", .scope = OSAFL_PER_CLIENT},
    {.name = "cosine", .doc = "c", .scope = OSAFL_PER_ROUND},
};
static const osafl_plugin aggregator = {
    .kind = OSAFL_KIND_AGGREGATOR, .name = "mean", OSAFL_PLUGIN_METRICS(metrics)};
static const osafl_plugin silent = {.kind = OSAFL_KIND_CHANNEL, .name = "quiet"};
static const osafl_metric clash_metrics[] = {
    {.name = "train_loss", .doc = "a", .scope = OSAFL_PER_ROUND}};
static const osafl_plugin clashing = {
    .kind = OSAFL_KIND_DELETION, .name = "same", OSAFL_PLUGIN_METRICS(clash_metrics)};

static const char *const measures[] = {"accuracy", "loss"};

enum { CLIENTS = 3 };

struct bench {
    struct run_folder folder;
    struct instance instance[2];
    struct instance *listen[2];
    struct results_layout layout;
    struct results *results;
    struct error error;
};

static void bench_init(struct bench *b)
{
    *b = (struct bench){.folder = {.path = folder_path, .lock_fd = -1},
                        .instance = {{.plugin = &silent}, {.plugin = &aggregator}}};
    b->listen[0] = &b->instance[0];
    b->listen[1] = &b->instance[1];
    b->layout = (struct results_layout){.clients = CLIENTS,
                                        .split = "test",
                                        .measures = measures,
                                        .n_measures = 2,
                                        .higher_is_better = true,
                                        .listen = b->listen,
                                        .n_listen = 2};
}

static void bench_open(struct bench *b, struct record_reader *resume)
{
    if (results_open(&b->folder, &b->layout, resume, &b->results, &b->error) != OSAFL_OK)
        fail_msg("%s", b->error.text);
}

static void end_round(struct bench *b, uint32_t round, const double *measure)
{
    uint32_t local_rounds[CLIENTS] = {5, 0, 2};
    uint32_t reason[CLIENTS] = {0, OSAFL_OUT_ENERGY, OUT_LOST};
    double zero[CLIENTS] = {0};
    double some[CLIENTS] = {1e9, 0.0, 1.25};
    const osafl_resource_answer answer = {.struct_size = sizeof answer,
                                          .clients = CLIENTS,
                                          .local_rounds = local_rounds,
                                          .reason = reason,
                                          .clock_hz = some,
                                          .power_w = some,
                                          .bandwidth_hz = some,
                                          .compute_s = zero,
                                          .upload_s = some,
                                          .compute_j = some,
                                          .upload_j = zero};
    const uint64_t samples[CLIENTS] = {120, 7, 1};
    const double loss[CLIENTS] = {0.5, NOT_MEASURED, 2.25};
    const double entropy[CLIENTS] = {0.0, 1.5, 0.1};
    const double gain[CLIENTS] = {1e-10, 2e-11, 3e-12};
    const struct round_row row = {.round = round,
                                  .simulated_s = 60.0 * (round + 1),
                                  .measure = measure,
                                  .diverged = round == 1 ? 3 : 0,
                                  .train_loss = 0.75,
                                  .participants = 1,
                                  .mean_local_rounds = 5.0,
                                  .payload_bits = 1455284,
                                  .air_bits = 30000,
                                  .compute_j = 1.5,
                                  .upload_j = 0.25};
    const struct client_rows rows = {.round = round,
                                     .gain = gain,
                                     .answer = &answer,
                                     .reason = reason,
                                     .samples = samples,
                                     .train_loss = loss,
                                     .entropy = entropy};
    const struct timing_row timing = {.round = round, .total_s = 0.5};
    if (results_end_round(b->results, &row, &rows, &timing, &b->error) != OSAFL_OK)
        fail_msg("%s", b->error.text);
}

#define ROUNDS_HEADER                                                                              \
    "round,simulated_s,test_accuracy,test_loss,train_loss,participants,mean_local_rounds,"         \
    "uplink_payload_bits,uplink_air_bits,compute_j,upload_j,energy_j,step,cosine\n"
#define CLIENTS_HEADER                                                                             \
    "round,client,participates,reason,gain,local_rounds,clock_hz,power_w,compute_s,upload_s,"      \
    "compute_j,upload_j,samples,train_loss,label_entropy,score\n"

static void test_tables(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_open(&b, NULL);
    assert_non_null(b.results);
    struct instance *i = &b.instance[1];
    i->metric(i->metric_arg, 0, OSAFL_NO_CLIENT, 9.0);
    i->metric(i->metric_arg, 0, OSAFL_NO_CLIENT, 0.1); /* replaces the 9 */
    i->metric(i->metric_arg, 1, 2, 7.5);
    i->metric(i->metric_arg, 1, 3, 1.0);  /* no such client */
    i->metric(i->metric_arg, 99, 0, 1.0); /* no such metric */
    const double first[2] = {0.25, NOT_MEASURED};
    end_round(&b, 0, first);
    i->metric(i->metric_arg, 2, OSAFL_NO_CLIENT, -0.5);
    end_round(&b, 1, NULL);
    results_close(b.results);
    assert_true(i->metric == NULL);
    expect_file("rounds.csv",
                ROUNDS_HEADER "0,60,0.25,nan,0.75,1,5,1455284,30000,1.5,0.25,1.75,0.1,\n"
                              "1,120,,,0.75,1,5,1455284,30000,1.5,0.25,1.75,,-0.5\n");
    expect_file("clients.csv", CLIENTS_HEADER
                "0,0,1,,1e-10,5,1000000000,1000000000,0,1000000000,1000000000,0,120,0.5,0,\n"
                "0,1,0,energy,2e-11,0,,,,,,,7,,1.5,\n"
                "0,2,0,lost,3e-12,2,1.25,1.25,0,1.25,1.25,0,1,2.25,0.1,7.5\n"
                "1,0,1,,1e-10,5,1000000000,1000000000,0,1000000000,1000000000,0,120,0.5,0,\n"
                "1,1,0,energy,2e-11,0,,,,,,,7,,1.5,\n"
                "1,2,0,lost,3e-12,2,1.25,1.25,0,1.25,1.25,0,1,2.25,0.1,\n");
    expect_file("timing.csv", "round,resource_s,train_s,aggregate_s,world_s,evaluate_s,total_s\n"
                              "0,0,0,0,0,0,0.5\n1,0,0,0,0,0,0.5\n");
}

static void test_same_names(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    b.instance[0].plugin = &clashing;
    assert_int_equal(results_open(&b.folder, &b.layout, NULL, &b.results, &b.error),
                     OSAFL_E_CONFIG);
    assert_non_null(strstr(b.error.text, "deletion \"same\""));
    assert_non_null(strstr(b.error.text, "train_loss"));
    assert_non_null(strstr(b.error.text, "rounds.csv"));
    assert_true(b.instance[0].metric == NULL);
}

static void test_summary(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_open(&b, NULL);
    assert_int_equal(results_summary(b.results).evaluations, 0);
    const double values[] = {NOT_MEASURED, 0.5, 0.7, 0.7, 0.6};
    for (uint32_t t = 0; t < 5; t++) {
        const double measure[2] = {values[t], 1.0};
        end_round(&b, t, measure);
    }
    end_round(&b, 5, NULL);
    struct results_summary s = results_summary(b.results);
    assert_int_equal(s.evaluations, 5);
    assert_true(s.diverged == 3 && s.diverged_rounds == 1);
    assert_true(s.best == 0.7 && s.best_round == 2 && s.last == 0.6 && s.last_round == 4);
    results_close(b.results);

    b.layout.higher_is_better = false;
    bench_open(&b, NULL);
    for (uint32_t t = 1; t < 5; t++)
        end_round(&b, t, (const double[2]){values[t], 1.0});
    s = results_summary(b.results);
    assert_true(s.best == 0.5 && s.best_round == 1);
    results_close(b.results);
}

static osafl_status resume(struct bench *b, const void *block, size_t size)
{
    struct record_set *set = NULL;
    struct record_reader reader;
    assert_int_equal(record_set_open(block, size, &set, &b->error), OSAFL_OK);
    assert_int_equal(record_reader_open(set, "results", &reader, &b->error), OSAFL_OK);
    const osafl_status status =
        results_open(&b->folder, &b->layout, &reader, &b->results, &b->error);
    record_set_destroy(set);
    return status;
}

static void test_resume(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_open(&b, NULL);
    const double measure[2] = {0.3, 2.0};
    end_round(&b, 0, measure);
    end_round(&b, 1, NULL);
    struct record_writer *writer = record_writer_create();
    assert_int_equal(results_save(b.results, record_writer_section(writer, "results", 1), &b.error),
                     OSAFL_OK);
    const void *block;
    size_t size;
    assert_int_equal(record_writer_finish(writer, &block, &size, &b.error), OSAFL_OK);
    end_round(&b, 2, measure); /* what a crash makes void */
    char *whole = read_file("rounds.csv");
    char *whole_clients = read_file("clients.csv");
    results_close(b.results);

    assert_int_equal(resume(&b, block, size), OSAFL_OK);
    assert_int_equal(results_summary(b.results).evaluations, 1);
    assert_true(results_summary(b.results).best == 0.3);
    assert_int_equal(results_summary(b.results).diverged, 3);
    assert_int_equal(results_summary(b.results).diverged_rounds, 1);
    end_round(&b, 2, measure);
    expect_file("rounds.csv", whole);
    expect_file("clients.csv", whole_clients);
    results_close(b.results);

    /* Another set of columns, a file cut short, a missing one: refused. */
    b.layout.n_measures = 1;
    assert_int_equal(resume(&b, block, size), OSAFL_E_STATE);
    assert_non_null(strstr(b.error.text, "rounds.csv"));
    b.layout.n_measures = 2;
    char path[512];
    snprintf(path, sizeof path, "%s/clients.csv", folder_path);
    assert_int_equal(truncate(path, 200), 0);
    assert_int_equal(resume(&b, block, size), OSAFL_E_STATE);
    assert_non_null(strstr(b.error.text, "clients.csv"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(resume(&b, block, size), OSAFL_E_STATE);
    record_writer_destroy(writer);
    free(whole);
    free(whole_clients);
}

static void test_damaged_record(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    const uint64_t lengths[2][3] = {{0, 100, 100}, {UINT64_MAX, 1, 1}};
    for (int k = 0; k < 3; k++) {
        struct record_writer *writer = record_writer_create();
        osafl_writer *to = record_writer_section(writer, "results", 1);
        to->u64(to, "lengths", lengths[k % 2], k == 2 ? 2 : 3);
        to->u64(to, "evaluations", (const uint64_t[3]){0}, 3);
        to->f64(to, "measures", (const double[2]){0}, 2);
        const void *block;
        size_t size;
        assert_int_equal(record_writer_finish(writer, &block, &size, &b.error), OSAFL_OK);
        b.error.text[0] = '\0';
        assert_int_equal(resume(&b, block, size), OSAFL_E_STATE);
        assert_true(b.error.text[0] != '\0');
        record_writer_destroy(writer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reals),
        cmocka_unit_test_setup_teardown(test_reals_in_other_locales, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_csv, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_csv_faults, make_folder, remove_folder),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test_setup_teardown(test_folder, make_folder, remove_folder),
        cmocka_unit_test(test_folder_path),
        cmocka_unit_test_setup_teardown(test_tables, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_same_names, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_summary, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_resume, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_damaged_record, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
