/* model.safetensors: bytes, alignment, order of the exported tensors, and what an independent
 * reader makes of the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "results/safetensors.h"

static char folder_path[256];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder_path, sizeof folder_path, "/tmp/osafl-safetensors-XXXXXX");
    return mkdtemp(folder_path) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder_path);
    return system(command);
}

/* What a command prints; "" and status 127 where it cannot be run. */
static char *output_of(const char *command, int *status)
{
    char *text = calloc(1, 1 << 16);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    const size_t n = fread(text, 1, (1 << 16) - 1, pipe);
    text[n] = '\0';
    *status = pclose(pipe);
    return text;
}

/* A model whose first tensor lies transposed in w. */
static void export_tensor(void *self, uint32_t t, const float *w, float *out)
{
    (void)self;
    if (t == 0) {
        for (int row = 0; row < 2; row++)
            for (int column = 0; column < 3; column++)
                out[row * 3 + column] = w[column * 2 + row];
    } else {
        memcpy(out, w + 6, 2 * sizeof *out);
    }
}

static const osafl_tensor tensors[] = {
    {.name = "classifier.weight", .offset = 0, .size = 6, .shape = {2, 3}, .rank = 2},
    {.name = "classifier.bias",
     .offset = 6,
     .size = 2,
     .shape = {1, 1, 1, 1, 1, 1, 1, 2},
     .rank = 8},
};

static const osafl_model_info info = {.struct_size = sizeof info,
                                      .n_tensors = 2,
                                      .n_parameters = 8,
                                      .tensors = tensors,
                                      .tensor_size = sizeof *tensors};

static const float w[8] = {1, 2, 3, 4, 5, 6, -0.5F, 0.25F};

static osafl_status write_model(const osafl_model_info *of, bool transposed, struct error *error)
{
    const osafl_model_vt vt = {.life = {.struct_size = sizeof vt},
                               .export_tensor = transposed ? export_tensor : NULL};
    const osafl_plugin plugin = {.kind = OSAFL_KIND_MODEL, .name = "toy", .vtable = &vt.life};
    const struct instance model = {.plugin = &plugin};
    const struct run_folder folder = {.path = folder_path, .lock_fd = -1};
    const char *const metadata[] = {"program", "osafl", "round", "30", NULL};
    return safetensors_write(&folder, MODEL_FILE, &model, of, w, metadata, error);
}

static void test_bytes(void **state)
{
    (void)state;
    struct error error;
    char path[300];
    unsigned char file[1024];
    assert_int_equal(write_model(&info, true, &error), OSAFL_OK);
    snprintf(path, sizeof path, "%s/model.safetensors", folder_path);
    FILE *f = fopen(path, "rb");
    const size_t size = fread(file, 1, sizeof file, f);
    fclose(f);
    uint64_t header;
    memcpy(&header, file, sizeof header);
    assert_int_equal(header % 8, 0);
    assert_int_equal(size, 8 + header + 32);
    assert_true(strncmp((char *)file + 8, "{\"__metadata__\":{\"program\":\"osafl\"", 33) == 0);
    const float expected[8] = {1, 3, 5, 2, 4, 6, -0.5F, 0.25F};
    assert_memory_equal(file + 8 + header, expected, sizeof expected);

    assert_int_equal(write_model(&info, false, &error), OSAFL_OK); /* w has that order already */
    FILE *again = fopen(path, "rb");
    assert_int_equal(fread(file, 1, sizeof file, again), size);
    fclose(again);
    assert_memory_equal(file + 8 + header, w, sizeof w);
}

static void test_independent_reader(void **state)
{
    (void)state;
    struct error error;
    char command[512];
    int status;
    char *text = output_of("python3 -c 'print(1)' 2>/dev/null", &status);
    free(text);
    if (status != 0) {
        print_message("python3 is missing\n");
        skip();
    }
    assert_int_equal(write_model(&info, true, &error), OSAFL_OK);
    snprintf(command, sizeof command,
             "python3 %s/tests/support/read_safetensors.py %s/model.safetensors 2>&1",
             OSAFL_TEST_SOURCE_DIR, folder_path);
    text = output_of(command, &status);
    assert_string_equal(text, "metadata program osafl\n"
                              "metadata round 30\n"
                              "classifier.weight 2x3 1.0 6.0 21.0\n"
                              "classifier.bias 1x1x1x1x1x1x1x2 -0.5 0.25 -0.25\n");
    assert_int_equal(status, 0);
    free(text);
}

static void test_refusals(void **state)
{
    (void)state;
    struct error error;
    osafl_tensor bad[2] = {tensors[0], tensors[1]};
    osafl_model_info of = info;
    of.tensors = bad;
    bad[1].name = "classifier.weight";
    assert_int_equal(write_model(&of, true, &error), OSAFL_E_BUG);
    assert_non_null(strstr(error.text, "toy"));
    bad[1].name = "\xff\xfe";
    assert_int_equal(write_model(&of, true, &error), OSAFL_E_BUG);

    char path[300];
    snprintf(path, sizeof path, "%s", folder_path);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(write_model(&info, true, &error), OSAFL_E_IO);
    assert_non_null(strstr(error.text, "model.safetensors"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bytes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_independent_reader, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_refusals, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
