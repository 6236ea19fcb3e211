/* Channel trace: layouts, units, what follows the end, and every way in which a table is wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "osafl/channel.h"
#include "plugin_fixture.h"

static char path[64];

static int make_file(void **state)
{
    (void)state;
    strcpy(path, "/tmp/osafl-trace-XXXXXX");
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static struct fixture *open_trace(const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    struct fixture *f = fixture_open("channel", "trace");
    fixture_set(f, "path", path);
    return f;
}

static osafl_status create(struct fixture *f, uint32_t clients, uint32_t rounds)
{
    const osafl_facts facts = {.struct_size = sizeof facts, .clients = clients, .rounds = rounds};
    return fixture_create(f, &facts);
}

static void check_gains(struct fixture *f, uint32_t round, double first, double second)
{
    const osafl_channel_vt *vt = fixture_vtable(f);
    double gain[2] = {-1.0, -1.0};
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, round);
    assert_int_equal(fixture_end(f, vt->gains(f->instance.self, c, round, gain)), OSAFL_OK);
    assert_true(fabs(gain[0] - first) <= 1e-12 * first);
    assert_true(fabs(gain[1] - second) <= 1e-12 * second);
}

static void expect_refusal(const char *text, const char *layout, osafl_status status,
                           const char *message)
{
    struct fixture *f = open_trace(text);
    fixture_set(f, "layout", layout);
    assert_int_equal(create(f, 2, 2), status);
    if (strstr(f->error.text, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, f->error.text);
    fixture_close(f);
}

static void reads_a_row_per_round(void **state)
{
    (void)state;
    /* A header, an empty line, spaces, line ends of DOS, a third client that is not needed. */
    struct fixture *f = open_trace("a,b,c\r\n1e-9, 2e-9 ,7\r\n\r\n3e-9,0,7");
    assert_int_equal(create(f, 2, 2), OSAFL_OK);
    check_gains(f, 0, 1e-9, 2e-9);
    check_gains(f, 1, 3e-9, 0.0);
    check_gains(f, 0, 1e-9, 2e-9);
    const osafl_channel_vt *vt = fixture_vtable(f);
    osafl_link link = {.struct_size = sizeof link};
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->describe(f->instance.self, c, &link)), OSAFL_OK);
    assert_true(link.bandwidth_hz == 540e3);
    assert_null(vt->place);
    fixture_close(f);

    f = open_trace("-90,-100\n");
    fixture_set(f, "unit", "db");
    assert_int_equal(create(f, 2, 1), OSAFL_OK);
    check_gains(f, 0, 1e-9, 1e-10);
    fixture_close(f);
}

static void reads_a_row_per_round_and_client(void **state)
{
    (void)state;
    /* As clients.csv has them: other columns beside, any order of rows, rounds not needed. */
    struct fixture *f = open_trace("\xef\xbb\xbfround,client,\"note, long\",gain\n"
                                   "1,0,\"a \"\"b\"\"\",3e-9\n0,1,,2e-9\n0,0,x,1e-9\n1,1,,4e-9\n"
                                   "0,7,,9\n2,0,,9\n");
    fixture_set(f, "layout", "long");
    assert_int_equal(create(f, 2, 2), OSAFL_OK);
    check_gains(f, 0, 1e-9, 2e-9);
    check_gains(f, 1, 3e-9, 4e-9);
    fixture_close(f);

    f = open_trace("gain_db,client,round\n-90,0,0\n-80,1,0\n");
    fixture_set(f, "layout", "long");
    fixture_set(f, "column", "gain_db");
    fixture_set(f, "unit", "db");
    assert_int_equal(create(f, 2, 1), OSAFL_OK);
    check_gains(f, 0, 1e-9, 1e-8);
    fixture_close(f);
}

static void ends_as_the_setting_says(void **state)
{
    (void)state;
    struct fixture *f = open_trace("1,2\n3,4\n");
    fixture_set(f, "at_end", "cycle");
    assert_int_equal(create(f, 2, 50), OSAFL_OK);
    check_gains(f, 1, 3, 4);
    check_gains(f, 2, 1, 2);
    check_gains(f, 49, 3, 4);
    /* The memory of the table, not of the experiment. */
    assert_int_equal(create(f, 2, INT32_MAX), OSAFL_OK);
    check_gains(f, INT32_MAX - 1, 1, 2);
    fixture_set(f, "at_end", "hold");
    assert_int_equal(create(f, 2, 50), OSAFL_OK);
    check_gains(f, 0, 1, 2);
    check_gains(f, 2, 3, 4);
    check_gains(f, 48, 3, 4);
    fixture_set(f, "at_end", "stop");
    assert_int_equal(create(f, 2, 2), OSAFL_OK);
    assert_int_equal(create(f, 2, 3), OSAFL_E_DATA);
    assert_non_null(strstr(f->error.text, "holds 2 rounds, the experiment needs 3"));
    assert_non_null(strstr(f->error.text, "channel.trace.at_end"));
    fixture_close(f);
}

static void names_file_and_line_of_what_is_wrong(void **state)
{
    (void)state;
    char line2[96];
    (void)snprintf(line2, sizeof line2, "%s:2: ", path);
    expect_refusal("1,2\n3\n", "wide", OSAFL_E_DATA, line2);
    expect_refusal("1,2\n3\n", "wide", OSAFL_E_DATA, "has 1 column for 2 clients");
    expect_refusal("1,2\n3,x\n", "wide", OSAFL_E_DATA, line2);
    expect_refusal("1,2\n3,x\n", "wide", OSAFL_E_DATA, "column 2 holds \"x\"");
    expect_refusal("1,2\n3,\n", "wide", OSAFL_E_DATA, "column 2 holds \"\"");
    expect_refusal("1,2\nnan,3\n", "wide", OSAFL_E_DATA, "column 1 holds \"nan\"");
    expect_refusal("1,2\n0x10,3\n", "wide", OSAFL_E_DATA, "column 1 holds \"0x10\"");
    expect_refusal("1,2\n1e999,3\n", "wide", OSAFL_E_DATA, "column 1 holds \"1e999\"");
    expect_refusal("1,2\n-90,3\n", "wide", OSAFL_E_DATA, "decibels need unit = \"db\"");
    expect_refusal("", "wide", OSAFL_E_DATA, "holds no gain");
    expect_refusal("a,b\n", "wide", OSAFL_E_DATA, "holds no gain");
    expect_refusal("1,2\n\"3,4\n", "wide", OSAFL_E_DATA, "quote that is not closed");
    expect_refusal("1,2\n\"3\"4,5\n", "wide", OSAFL_E_DATA, "text after a closing quote");

    expect_refusal("", "long", OSAFL_E_DATA, "holds no gain");
    expect_refusal("round,gain\n0,1\n", "long", OSAFL_E_DATA, "no column is named \"client\"");
    expect_refusal("round,client,gain\n0,0\n", "long", OSAFL_E_DATA, "has 2 columns, the header 3");
    expect_refusal("round,client,gain\n0,0,1\n0,0,1\n", "long", OSAFL_E_DATA,
                   "round 0 of client 0 is in the table twice");
    expect_refusal("round,client,gain\n0,0,1\n1,0,1\n1,1,1\n", "long", OSAFL_E_DATA,
                   "round 0 lacks client 1");
    expect_refusal("round,client,gain\n-1,0,1\n", "long", OSAFL_E_DATA, "-1 is not a round");
    expect_refusal("round,client,gain\n0.5,0,1\n", "long", OSAFL_E_DATA, "0.5 is not a round");
    expect_refusal("round,client,gain\n1e12,0,1\n", "long", OSAFL_E_DATA, "is not a round");
}

static void names_files_that_cannot_be_read(void **state)
{
    (void)state;
    struct fixture *f = open_trace("1,2\n");
    fixture_set(f, "path", "/nonexistent/gains.csv");
    assert_int_equal(create(f, 2, 1), OSAFL_E_IO);
    assert_non_null(strstr(f->error.text, "/nonexistent/gains.csv: cannot be opened"));
    fixture_set(f, "path", "/tmp");
    assert_int_equal(create(f, 2, 1), OSAFL_E_IO);
    assert_non_null(strstr(f->error.text, "/tmp: is not a regular file"));
    fixture_close(f);
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("1,2\n3,\0004\n", 1, 9, file), 9);
    assert_int_equal(fclose(file), 0);
    struct fixture *f = fixture_open("channel", "trace");
    fixture_set(f, "path", path);
    assert_int_equal(create(f, 2, 1), OSAFL_E_DATA);
    assert_non_null(strstr(f->error.text, ":2: holds a byte 0"));
    fixture_close(f);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(reads_a_row_per_round),           WITH_FILE(reads_a_row_per_round_and_client),
        WITH_FILE(ends_as_the_setting_says),        WITH_FILE(names_file_and_line_of_what_is_wrong),
        WITH_FILE(names_files_that_cannot_be_read), WITH_FILE(refuses_what_is_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
