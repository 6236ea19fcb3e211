/* dataset_fixture.h - for tests of data sets: files in a folder of the test's own, and the
 * operations of a data set with their outcomes checked. */
#ifndef OSAFL_TESTS_DATASET_FIXTURE_H
#define OSAFL_TESTS_DATASET_FIXTURE_H

#include "osafl/dataset.h"
#include "plugin_fixture.h"

/* The present test's folder below /tmp. */
extern char test_folder[64];

/* cmocka setup and teardown: make test_folder, remove it with all that is in it. */
int make_test_folder(void **state);
int remove_test_folder(void **state);

/* FOLDER/name, from a ring of static buffers: a few may be in use at a time. */
const char *in_folder(const char *name);
void write_plain(const char *name, const void *data, size_t n);
void write_gzip(const char *name, const void *data, size_t n);
void write_text(const char *name, const char *text);

osafl_status dataset_create(struct fixture *f);
osafl_dataset_info dataset_describe(struct fixture *f);
/* Samples have exactly these dimensions. */
#define EXPECT_SHAPE(info, ...)                                                                    \
    dataset_expect_shape(&(info), (const uint32_t[]){__VA_ARGS__},                                 \
                         sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))
void dataset_expect_shape(const osafl_dataset_info *info, const uint32_t *shape, size_t rank);
void dataset_read(struct fixture *f, uint32_t split, const uint64_t *index, uint32_t n, float *x,
                  int32_t *label);
int32_t dataset_label(struct fixture *f, uint64_t i); /* of a training sample */
uint32_t dataset_client(struct fixture *f, uint64_t i);
double dataset_time(struct fixture *f, uint64_t i);

/* Adds what the plugin logs to out[DATASET_WARNINGS], which begins empty, in place of printing it.
 */
#define DATASET_WARNINGS 2048
void keep_warnings(struct fixture *f, char *out);

/* Creates, expects this failure with this text in its message, and closes the fixture. */
void expect_refusal(struct fixture *f, osafl_status status, const char *text);

#endif
