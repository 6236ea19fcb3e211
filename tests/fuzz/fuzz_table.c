/* fuzz_table.c - the data set csv: tables with all its ways to read them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* Reads every sample of the set, and checks what the interface promises. */
static void read_all(struct instance *i)
{
    const osafl_dataset_vt *vt = (const osafl_dataset_vt *)(const void *)i->plugin->vtable;
    osafl_dataset_info info = {.struct_size = sizeof info};
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
    FUZZ_REQUIRE(call_end(&c, vt->describe(i->self, &c, &info)) == OSAFL_OK);
    FUZZ_REQUIRE(info.n_train > 0 && info.labels > 1);
    const size_t size = (size_t)info.channels * info.height * info.width;
    const uint64_t n[] = {0, info.n_train, info.n_validation, info.n_test};
    float *x = malloc(size * sizeof *x);
    FUZZ_REQUIRE(x != NULL && size > 0);
    for (uint32_t split = OSAFL_SPLIT_TRAIN; split <= OSAFL_SPLIT_TEST; split++) {
        for (uint64_t k = 0; k < n[split]; k++) {
            int32_t label = -1;
            const osafl_batch b = {.struct_size = sizeof b, .n = 1, .x = x, .label = &label};
            call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
            FUZZ_REQUIRE(call_end(&c, vt->read(i->self, &c, split, &k, &b)) == OSAFL_OK);
            FUZZ_REQUIRE(label >= 0 && (uint32_t)label < info.labels);
            for (size_t j = 0; j < size; j++)
                FUZZ_REQUIRE(isfinite(x[j]));
            if (split == OSAFL_SPLIT_TRAIN) {
                FUZZ_REQUIRE(vt->label(i->self, k) == label);
                (void)vt->client_of(i->self, k);
            }
        }
    }
    free(x);
}

/* The settings that came later are at their defaults for a table that ends its last line. */
static void choose_later_settings(const osafl_plugin *p, void *config, uint8_t last)
{
    const uint8_t how = last ^ '\n';
    static const char *const columns[] = {"", "*", "a, #2", "3"};
    *(osafl_choice *)fuzz_setting(p, config, "missing") = (osafl_choice){(how & 3) % 3};
    *(const char **)fuzz_setting(p, config, "categorical") = columns[how >> 2 & 3];
    *(osafl_choice *)fuzz_setting(p, config, "decimal") = (osafl_choice){how >> 4 & 1};
    *(const char **)fuzz_setting(p, config, "comment") = (how >> 5 & 1) != 0 ? "#" : "";
    *(int64_t *)fuzz_setting(p, config, "classes") = how >> 6;
}

/* First byte: how to read; the rest: the table. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const osafl_facts facts = {.struct_size = sizeof facts, .clients = 2, .rounds = 2};
    struct fuzz_input in = {data, size};
    const uint8_t how = fuzz_byte(&in);
    const osafl_plugin *p = fuzz_plugin(OSAFL_KIND_DATASET, "csv");
    void *config = fuzz_defaults(p);
    const char *path = fuzz_file(0, in.next, in.left);
    *(const char **)fuzz_setting(p, config, "path") = path;
    *(osafl_choice *)fuzz_setting(p, config, "header") = (osafl_choice){(how & 3) % 3};
    *(osafl_choice *)fuzz_setting(p, config, "separator") = (osafl_choice){how >> 2 & 3};
    *(bool *)fuzz_setting(p, config, "standardise") = (how >> 4 & 1) != 0;
    *(int64_t *)fuzz_setting(p, config, "validation") = how >> 5 & 1;
    if ((how >> 6 & 1) != 0) {
        const bool named = (how & 3) % 3 == 1;
        *(const char **)fuzz_setting(p, config, "label") = named ? "label" : "1";
        *(const char **)fuzz_setting(p, config, "client") = named ? "client" : "2";
        *(const char **)fuzz_setting(p, config, "ignore") = named ? "a,b" : "3";
    }
    if (how >> 7 != 0)
        *(const char **)fuzz_setting(p, config, "test_path") = path;
    choose_later_settings(p, config, in.left > 0 ? in.next[in.left - 1] : '\n');
    struct instance *i = fuzz_instance_try(p, &facts, config);
    if (i != NULL) {
        read_all(i);
        fuzz_instance_free(i);
    }
    free(config);
    return 0;
}
