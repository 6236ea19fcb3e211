/* test_checkpoint.c - the two checkpoint files of a run: which one is read, and which is passed
 * over; and the updates that an aggregator keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin_fixture.h"
#include "results/checkpoint.h"
#include "round/updates.h"

#define IDENTITY "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"

struct bench {
    char folder_name[64];
    struct run_folder folder;
    struct checkpoint_slots slots;
    struct checkpoint found;
    char warning[ERROR_BYTES];
    struct error error;
};

static int open_bench(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    snprintf(b->folder_name, sizeof b->folder_name, "%s", "/tmp/osafl-checkpoint-XXXXXX");
    assert_non_null(mkdtemp(b->folder_name));
    b->folder = (struct run_folder){.path = b->folder_name, .lock_fd = -1};
    *state = b;
    return 0;
}

static void path_of(const struct bench *b, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", b->folder_name, name);
}

static int close_bench(void **state)
{
    struct bench *b = *state;
    char path[128];
    const char *const names[] = {"checkpoint.0", "checkpoint.1"};
    checkpoint_free(&b->found);
    for (int slot = 0; slot < 2; slot++) {
        path_of(b, names[slot], path, sizeof path);
        unlink(path);
        rmdir(path);
    }
    assert_int_equal(rmdir(b->folder_name), 0); /* nothing else was left there */
    free(b);
    return 0;
}

/* A checkpoint of round t, which says so in a section of its own. */
static void write_round(struct bench *b, uint32_t round)
{
    struct record_writer *w = record_writer_create();
    const uint64_t value = 1000 + round;
    osafl_writer *section = record_writer_section(w, "test", 1);
    assert_int_equal(section->u64(section, "value", &value, 1), OSAFL_OK);
    if (checkpoint_write(&b->folder, IDENTITY, round, w, &b->slots, &b->error) != OSAFL_OK)
        fail_msg("%s", b->error.text);
    record_writer_destroy(w);
}

static osafl_status read_newest(struct bench *b, const char *identity)
{
    checkpoint_free(&b->found);
    return checkpoint_read(&b->folder, identity, &b->slots, &b->found, b->warning, &b->error);
}

static void assert_round(struct bench *b, uint32_t round)
{
    struct record_reader r;
    uint64_t value = 0;
    assert_non_null(b->found.set);
    assert_int_equal(b->found.round, round);
    assert_int_equal(record_reader_open(b->found.set, "test", &r, &b->error), OSAFL_OK);
    assert_int_equal(r.base.u64(&r.base, "value", &value, 1), OSAFL_OK);
    assert_int_equal(value, 1000 + round);
}

static void damage(const struct bench *b, const char *name, long at)
{
    char path[128];
    path_of(b, name, path, sizeof path);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x10, file);
    fclose(file);
}

static void test_empty_folder_has_none(void **state)
{
    struct bench *b = *state;
    assert_int_equal(read_newest(b, IDENTITY), OSAFL_OK);
    assert_null(b->found.set);
    assert_string_equal(b->warning, "");
    assert_int_equal(checkpoint_remove(&b->folder, &b->error), OSAFL_OK);
}

static void test_newest_is_read_and_two_are_kept(void **state)
{
    struct bench *b = *state;
    for (uint32_t round = 3; round <= 12; round += 3) {
        write_round(b, round);
        assert_int_equal(read_newest(b, IDENTITY), OSAFL_OK);
        assert_round(b, round);
    }
    /* The next one must not go where the newest lies: damage that one, and the other serves. */
    write_round(b, 15);
    assert_int_equal(read_newest(b, IDENTITY), OSAFL_OK);
    assert_round(b, 15);
    const unsigned newest = 1 - b->slots.next;
    damage(b, newest == 0 ? "checkpoint.0" : "checkpoint.1", 40);
    assert_int_equal(read_newest(b, IDENTITY), OSAFL_OK);
    assert_round(b, 12);
    assert_non_null(strstr(b->warning, newest == 0 ? "checkpoint.0" : "checkpoint.1"));
    assert_int_equal(b->slots.next, newest); /* the damaged one is written over */
}

static void test_damage_is_seen_wherever_it_is(void **state)
{
    struct bench *b = *state;
    char path[128];
    struct stat st;
    write_round(b, 1);
    path_of(b, "checkpoint.0", path, sizeof path);
    assert_int_equal(stat(path, &st), 0);
    for (long at = 0; at < st.st_size; at++) {
        damage(b, "checkpoint.0", at);
        assert_int_equal(read_newest(b, IDENTITY), OSAFL_E_STATE);
        assert_null(b->found.set);
        assert_non_null(strstr(b->error.text, "--force"));
        damage(b, "checkpoint.0", at); /* puts it right again */
    }
    for (off_t size = st.st_size - 1; size >= 0; size -= 7) {
        assert_int_equal(truncate(path, size), 0);
        assert_int_equal(read_newest(b, IDENTITY), OSAFL_E_STATE);
    }
}

static void test_other_runs_and_odd_files_are_refused(void **state)
{
    struct bench *b = *state;
    char path[128];
    write_round(b, 1);
    assert_int_equal(read_newest(b, OTHER), OSAFL_E_STATE);
    assert_non_null(strstr(b->error.text, "it belongs to another run (identity " IDENTITY ")"));
    assert_int_equal(checkpoint_remove(&b->folder, &b->error), OSAFL_OK);
    path_of(b, "checkpoint.0", path, sizeof path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(read_newest(b, IDENTITY) != OSAFL_OK);
    assert_non_null(strstr(b->error.text, path));
}

/* ---- kept updates ---- */

static osafl_status refuse_code(void *self, osafl_call *c, const uint8_t *code, uint64_t bytes)
{
    (void)self;
    (void)code;
    (void)bytes;
    return (core_host.fail)(c, OSAFL_E_DATA, "this is no code of mine");
}

static const osafl_quantizer_vt refusing_vtable = {
    .life = {.struct_size = sizeof(osafl_quantizer_vt)}, .verify = refuse_code};
static const osafl_plugin refusing_plugin = {.name = "refusing", .vtable = &refusing_vtable.life};

/* save(), load(), save() gives the same bytes; ids go on where they were. */
static void test_kept_updates_survive(void **state)
{
    (void)state;
    enum { DIM = 10 };
    struct error error;
    const struct codec codec = {.dim = DIM};
    struct kept_updates kept = {.next_id = 9};
    struct kept_updates loaded = {0};
    struct record_set *set = NULL;
    struct record_reader r;
    const void *data[2];
    size_t size[2];
    struct fixture *f = fixture_open("aggregator", "fedavg");
    kept.list = calloc(2, sizeof *kept.list);
    kept.n = kept.capacity = 2;
    for (uint32_t j = 0; j < 2; j++) {
        kept.list[j].id = 3 + 4 * j;
        kept.list[j].code.bytes = DIM * sizeof(float);
        kept.list[j].code.air_bits = j;
        kept.list[j].code.data = calloc(DIM, sizeof(float));
        kept.list[j].code.data[5] = (uint8_t)(j + 1);
    }
    struct record_writer *w[2] = {record_writer_create(), record_writer_create()};
    assert_int_equal(kept_updates_save(&kept, record_writer_section(w[0], "engine", 1)), OSAFL_OK);
    assert_int_equal(record_writer_finish(w[0], &data[0], &size[0], &error), OSAFL_OK);
    assert_int_equal(record_set_open(data[0], size[0], &set, &error), OSAFL_OK);
    assert_int_equal(record_reader_open(set, "engine", &r, &error), OSAFL_OK);
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(kept_updates_load(&loaded, &codec, c, &r.base), OSAFL_OK);
    assert_int_equal(loaded.next_id, 9);
    assert_int_equal(kept_updates_save(&loaded, record_writer_section(w[1], "engine", 1)),
                     OSAFL_OK);
    assert_int_equal(record_writer_finish(w[1], &data[1], &size[1], &error), OSAFL_OK);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(data[0], data[1], size[0]);

    /* Ids out of order, ids from the future and codes of a wrong size are refused. */
    for (int fault = 0; fault < 3; fault++) {
        kept.list[0].id = fault == 0 ? 7 : 3;
        kept.list[1].id = fault == 1 ? 9 : 7;
        kept.list[1].code.bytes = fault == 2 ? 4 * DIM - 1 : 4 * DIM;
        record_set_destroy(set);
        record_writer_destroy(w[0]);
        w[0] = record_writer_create();
        assert_int_equal(kept_updates_save(&kept, record_writer_section(w[0], "engine", 1)),
                         OSAFL_OK);
        assert_int_equal(record_writer_finish(w[0], &data[0], &size[0], &error), OSAFL_OK);
        assert_int_equal(record_set_open(data[0], size[0], &set, &error), OSAFL_OK);
        assert_int_equal(record_reader_open(set, "engine", &r, &error), OSAFL_OK);
        kept_updates_free(&loaded);
        assert_int_equal(kept_updates_load(&loaded, &codec, c, &r.base), OSAFL_E_STATE);
        assert_int_equal(loaded.n, 0);
    }
    /* A code that its quantizer refuses is a damaged checkpoint, whatever the quantizer calls it.
     */
    const struct instance refusing = {.plugin = &refusing_plugin, .host = &core_host};
    const struct codec picky = {.dim = DIM, .quantizer = &refusing};
    kept.list[0].id = 3;
    kept.list[1].id = 7;
    record_set_destroy(set);
    record_writer_destroy(w[0]);
    w[0] = record_writer_create();
    assert_int_equal(kept_updates_save(&kept, record_writer_section(w[0], "engine", 1)), OSAFL_OK);
    assert_int_equal(record_writer_finish(w[0], &data[0], &size[0], &error), OSAFL_OK);
    assert_int_equal(record_set_open(data[0], size[0], &set, &error), OSAFL_OK);
    assert_int_equal(record_reader_open(set, "engine", &r, &error), OSAFL_OK);
    kept_updates_free(&loaded);
    assert_int_equal(kept_updates_load(&loaded, &picky, c, &r.base), OSAFL_E_STATE);
    (void)fixture_end(f, OSAFL_OK);
    record_set_destroy(set);
    record_writer_destroy(w[0]);
    record_writer_destroy(w[1]);
    kept_updates_free(&kept);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_empty_folder_has_none, open_bench, close_bench),
        cmocka_unit_test_setup_teardown(test_newest_is_read_and_two_are_kept, open_bench,
                                        close_bench),
        cmocka_unit_test_setup_teardown(test_damage_is_seen_wherever_it_is, open_bench,
                                        close_bench),
        cmocka_unit_test_setup_teardown(test_other_runs_and_odd_files_are_refused, open_bench,
                                        close_bench),
        cmocka_unit_test(test_kept_updates_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
