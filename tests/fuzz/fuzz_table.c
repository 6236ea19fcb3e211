/* fuzz_table.c - the data set csv: tables with all its ways to read them. */
#include <stdlib.h>

#include "fuzz.h"

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
    *(const char **)fuzz_setting(p, config, "time") = how >> 6 == 3 ? "#4" : "";
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
        fuzz_read_samples(i);
        fuzz_instance_free(i);
    }
    free(config);
    return 0;
}
