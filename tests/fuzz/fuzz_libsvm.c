/* fuzz_libsvm.c - the data set libsvm. */
#include <stdlib.h>

#include "fuzz.h"

/* First byte: how to read; the rest: the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const osafl_facts facts = {.struct_size = sizeof facts, .clients = 2, .rounds = 2};
    struct fuzz_input in = {data, size};
    const uint8_t how = fuzz_byte(&in);
    const osafl_plugin *p = fuzz_plugin(OSAFL_KIND_DATASET, "libsvm");
    void *config = fuzz_defaults(p);
    const char *path = fuzz_file(0, in.next, in.left);
    *(const char **)fuzz_setting(p, config, "path") = path;
    *(const char **)fuzz_setting(p, config, "test_path") = (how & 1) != 0 ? path : "";
    *(int64_t *)fuzz_setting(p, config, "first_index") = how >> 1 & 1;
    *(bool *)fuzz_setting(p, config, "standardise") = (how >> 2 & 1) != 0;
    *(int64_t *)fuzz_setting(p, config, "validation") = how >> 3 & 1;
    /* Indices without a bound would only ask for memory. */
    *(int64_t *)fuzz_setting(p, config, "features") = 1 + (how >> 4) * 100;
    struct instance *i = fuzz_instance_try(p, &facts, config);
    if (i != NULL) {
        fuzz_read_samples(i);
        fuzz_instance_free(i);
    }
    free(config);
    return 0;
}
