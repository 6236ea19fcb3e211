/* dataset_fixture.c - for tests of data sets. */
#include "dataset_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

char test_folder[64];

int make_test_folder(void **state)
{
    (void)state;
    strcpy(test_folder, "/tmp/osafl-test-XXXXXX");
    return mkdtemp(test_folder) != NULL ? 0 : -1;
}

int remove_test_folder(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", test_folder);
    return system(command);
}

const char *in_folder(const char *name)
{
    static char path[8][256];
    static unsigned next;
    char *out = path[next++ % 8];
    (void)snprintf(out, sizeof path[0], "%s/%s", test_folder, name);
    return out;
}

void write_plain(const char *name, const void *data, size_t n)
{
    FILE *file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

void write_gzip(const char *name, const void *data, size_t n)
{
    gzFile gz = gzopen(in_folder(name), "wb1");
    assert_non_null(gz);
    assert_int_equal(gzwrite(gz, data, (unsigned)n), (int)n);
    assert_int_equal(gzclose(gz), Z_OK);
}

void write_text(const char *name, const char *text)
{
    write_plain(name, text, strlen(text));
}

osafl_status dataset_create(struct fixture *f)
{
    const osafl_facts facts = {.struct_size = sizeof facts, .clients = 1, .rounds = 1};
    return fixture_create(f, &facts);
}

osafl_dataset_info dataset_describe(struct fixture *f)
{
    const osafl_dataset_vt *vt = fixture_vtable(f);
    osafl_dataset_info info = {.struct_size = sizeof info};
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->describe(f->instance.self, c, &info)), OSAFL_OK);
    return info;
}

void dataset_expect_shape(const osafl_dataset_info *info, const uint32_t *shape, size_t rank)
{
    assert_int_equal(info->x_type, OSAFL_X_FLOAT);
    assert_int_equal(info->rank, rank);
    assert_memory_equal(info->shape, shape, rank * sizeof *shape);
}

void dataset_read(struct fixture *f, uint32_t split, const uint64_t *index, uint32_t n, float *x,
                  int32_t *label)
{
    const osafl_dataset_vt *vt = fixture_vtable(f);
    const osafl_batch batch = {.struct_size = sizeof batch, .n = n, .x = x, .label = label};
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->read(f->instance.self, c, split, index, &batch)), OSAFL_OK);
}

int32_t dataset_label(struct fixture *f, uint64_t i)
{
    const osafl_dataset_vt *vt = fixture_vtable(f);
    int32_t label = -1;
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->label(f->instance.self, c, i, &label)), OSAFL_OK);
    return label;
}

uint32_t dataset_client(struct fixture *f, uint64_t i)
{
    const osafl_dataset_vt *vt = fixture_vtable(f);
    uint32_t client = OSAFL_NO_CLIENT;
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->client_of(f->instance.self, c, i, &client)), OSAFL_OK);
    return client;
}

double dataset_time(struct fixture *f, uint64_t i)
{
    const osafl_dataset_vt *vt = fixture_vtable(f);
    double when = 0.0;
    osafl_call *c = fixture_begin(f, OSAFL_NO_CLIENT, 0);
    assert_int_equal(fixture_end(f, vt->time_of(f->instance.self, c, i, &when)), OSAFL_OK);
    return when;
}

static void add_warning(void *arg, int32_t level, const char *line)
{
    char *out = arg;
    const size_t used = strlen(out);
    (void)level;
    (void)snprintf(out + used, DATASET_WARNINGS - used, "%s\n", line);
}

void keep_warnings(struct fixture *f, char *out)
{
    out[0] = '\0';
    f->context.log = add_warning;
    f->context.log_arg = out;
}

void expect_refusal(struct fixture *f, osafl_status status, const char *text)
{
    const osafl_status got = dataset_create(f);
    if (got != status || strstr(f->error.text, text) == NULL)
        fail_msg("status %d instead of %d, or \"%s\" is not in \"%s\"", (int)got, (int)status, text,
                 f->error.text);
    assert_null(f->instance.self);
    fixture_close(f);
}
