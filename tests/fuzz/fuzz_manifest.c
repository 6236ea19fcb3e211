/* fuzz_manifest.c - the manifest that a run finds in its folder, compared with its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "experiment_text.h"
#include "fuzz.h"
#include "load_text.h"
#include "results/manifest.h"

static struct experiment *small_experiment(void)
{
    struct diagnostics *d = diagnostics_create();
    const struct experiment_options options = {.loader = loader_create(NULL, 0, d)};
    struct experiment *e =
        load_experiment_text(EXPERIMENT_TEXT, strlen(EXPERIMENT_TEXT), "/small.cfg", &options, d);
    FUZZ_REQUIRE(e != NULL);
    diagnostics_destroy(d);
    return e;
}

/* First byte "S": a manifest of this very run, of which the rest of the input is the rest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct surroundings machine = {.program_hash = "0123", .cpu_features = "avx2"};
    static struct experiment *e;
    static char path[128];
    char begin[128] = "";
    if (e == NULL)
        e = small_experiment();
    if (size > 0 && data[0] == 'S')
        snprintf(begin, sizeof begin, "{\"manifest\":1,\"identity\":\"%s\"", e->identity);
    const size_t n = strlen(begin);
    const size_t skipped = n > 0;
    char *text = malloc(n + size + 1);
    FUZZ_REQUIRE(text != NULL);
    memcpy(text, begin, n);
    memcpy(text + n, data + skipped, size - skipped);
    strcpy(path, fuzz_folder_file("manifest.json", text, n + size - skipped));
    free(text);

    const struct run_folder folder = {.path = path, .lock_fd = -1};
    struct error error = {0};
    enum manifest_found found = MANIFEST_NONE;
    const osafl_status status = manifest_compare(&folder, e, &machine, &found, &error);
    FUZZ_REQUIRE(status == OSAFL_OK || error.text[0] != '\0');
    FUZZ_REQUIRE(status != OSAFL_OK || found != MANIFEST_NONE);
    FUZZ_REQUIRE(status != OSAFL_OK || (found == MANIFEST_SAME) == (error.text[0] == '\0'));
    return 0;
}
