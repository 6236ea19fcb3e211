/* fuzz_kept.c - the updates that a checkpoint keeps for an aggregator, in codes of a quantizer and
 * as plain vectors: refused, or every one can be combined, released and saved again. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "round/updates.h"

#define DIM 6

static struct record_writer *save(const struct kept_updates *kept, const void **data, size_t *size)
{
    struct error error;
    struct record_writer *w = record_writer_create();
    FUZZ_REQUIRE(w != NULL);
    FUZZ_REQUIRE(kept_updates_save(kept, record_writer_section(w, "s", 1)) == OSAFL_OK);
    FUZZ_REQUIRE(record_writer_finish(w, data, size, &error) == OSAFL_OK);
    return w;
}

static void check_saved(const struct kept_updates *kept, const struct codec *codec, osafl_call *c)
{
    struct error error;
    const void *first = NULL;
    const void *second = NULL;
    size_t first_size = 0;
    size_t second_size = 0;
    struct record_writer *a = save(kept, &first, &first_size);
    struct record_set *set = NULL;
    struct record_reader reader;
    struct kept_updates again;
    FUZZ_REQUIRE(record_set_open(first, first_size, &set, &error) == OSAFL_OK);
    FUZZ_REQUIRE(record_reader_open(set, "s", &reader, &error) == OSAFL_OK);
    FUZZ_REQUIRE(kept_updates_load(&again, codec, c, &reader.base) == OSAFL_OK);
    struct record_writer *b = save(&again, &second, &second_size);
    FUZZ_REQUIRE(first_size == second_size && memcmp(first, second, first_size) == 0);
    kept_updates_free(&again);
    record_set_destroy(set);
    record_writer_destroy(a);
    record_writer_destroy(b);
}

/* Combines all that is kept, and lets go of every second one. */
static void use_kept(struct kept_updates *kept, const struct codec *codec, osafl_call *c)
{
    enum { MOST = 300 };
    const struct update_round facts = {.rounds = 2, .clients = 2, .labels = 1, .slots = 1};
    struct update_set set;
    uint64_t id[MOST];
    double weight[MOST];
    float out[DIM];
    FUZZ_REQUIRE(kept->n <= MOST);
    const uint32_t n = (uint32_t)kept->n;
    for (uint32_t j = 0; j < n; j++) {
        id[j] = kept->list[j].id;
        weight[j] = 0.5;
    }
    FUZZ_REQUIRE(updates_open(&set, codec, &facts, NULL, 0, kept, c) == OSAFL_OK);
    const osafl_update_ops *ops = set.view.ops;
    FUZZ_REQUIRE(ops->combine_kept(&set.view, n, id, weight, out) == OSAFL_OK);
    for (uint32_t j = 0; j < n; j += 2)
        FUZZ_REQUIRE(ops->release(&set.view, id[j]) == OSAFL_OK);
    FUZZ_REQUIRE(kept->n == n / 2);
    updates_close(&set);
}

/* First byte: the codec; the rest: what the reader answers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const osafl_model_info model = {.struct_size = sizeof model, .n_parameters = DIM};
    static const osafl_facts facts = {
        .struct_size = sizeof facts, .clients = 2, .rounds = 2, .dim = DIM, .model = &model};
    static struct instance *quantizer[2];
    static struct fuzz_records records;
    if (quantizer[0] == NULL) {
        quantizer[0] = fuzz_instance(fuzz_plugin(OSAFL_KIND_QUANTIZER, "qsgd"), &facts, NULL);
        quantizer[1] = fuzz_instance(fuzz_plugin(OSAFL_KIND_QUANTIZER, "none"), &facts, NULL);
    }
    struct fuzz_input in = {data, size};
    const uint32_t choice = fuzz_below(&in, 3);
    const struct codec codec = {.quantizer = choice < 2 ? quantizer[choice] : NULL, .dim = DIM};
    struct kept_updates kept;
    osafl_call c;
    fuzz_records_open(&records, &in, 1);
    call_begin(&c, quantizer[0], OSAFL_NO_CLIENT, 0);
    const osafl_status status = kept_updates_load(&kept, &codec, &c, &records.reader.base);
    FUZZ_REQUIRE(status == OSAFL_OK || kept.n == 0);
    if (status == OSAFL_OK) {
        check_saved(&kept, &codec, &c);
        use_kept(&kept, &codec, &c);
        kept_updates_free(&kept);
    }
    (void)call_end(&c, status);
    return 0;
}
