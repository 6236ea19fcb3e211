/* fuzz_engine.c - a whole checkpoint with some records changed, into an engine of toy plugins: it
 * is refused, or the run goes on from it, and saves what it would load again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "plugin/pool.h"
#include "round/engine.h"
#include "toy_plugins.h"

#define CLIENTS 3
#define ROUNDS 4
#define SAMPLES 48 /* few, because every input makes a world of its own */

static struct session session;

static struct engine *open_engine(struct world **world)
{
    struct error error;
    struct engine *e = NULL;
    const struct world_plugins plugins = session_world_plugins(&session);
    FUZZ_REQUIRE(world_create(session.experiment, &plugins, world, &error) == OSAFL_OK);
    FUZZ_REQUIRE(engine_create(&session, *world, &e, &error) == OSAFL_OK);
    return e;
}

static void close_engine(struct engine *e, struct world *world)
{
    engine_destroy(e);
    world_destroy(world);
}

/* What it saves, which belongs to the writer. */
static struct record_writer *save(const struct engine *e, const void **data, size_t *size)
{
    struct error error;
    struct record_writer *w = record_writer_create();
    FUZZ_REQUIRE(w != NULL && engine_save(e, w, &error) == OSAFL_OK);
    FUZZ_REQUIRE(record_writer_finish(w, data, size, &error) == OSAFL_OK);
    return w;
}

/* ---- the whole checkpoint ---- */

static const uint8_t *whole;
static size_t whole_size;

/* The session and a checkpoint of it after two rounds; both last. */
static void prepare(void)
{
    struct toy *toy = toy_open(CLIENTS, ROUNDS);
    toy->vectors = 1;
    toy->quantizer_floats = 1;
    toy->local_rounds[2] = 0; /* never trains, and has no vectors to keep */
    toy->e.clients.storage = 8;
    toy->e.clients.arrivals = 2;
    toy_session(toy, &session);
    session.dataset.n_train = SAMPLES;
    session.context.pool = pool_create(1, NULL);
    struct world *world = NULL;
    struct engine *e = open_engine(&world);
    struct error error;
    struct round_report report;
    for (int round = 0; round < 2; round++)
        FUZZ_REQUIRE(engine_run_round(e, NULL, NULL, &report, &error) == OSAFL_OK);
    const void *data = NULL;
    struct record_writer *w = save(e, &data, &whole_size);
    uint8_t *copy = malloc(whole_size);
    FUZZ_REQUIRE(copy != NULL);
    memcpy(copy, data, whole_size);
    whole = copy;
    record_writer_destroy(w);
    close_engine(e, world);
}

/* ---- changing it ---- */

/* The parts of a block (records.h), as far as they must be known to copy one record by record. */
struct part {
    char name[RECORD_NAME_BYTES];
    uint32_t word; /* state version or type */
    uint64_t n;    /* bytes of the section or elements of the record */
    const uint8_t *content;
};

static const uint8_t *take_part(const uint8_t *at, struct part *out)
{
    uint32_t length = 0;
    memcpy(&length, at, 4);
    memcpy(&out->word, at + 4, 4);
    memcpy(&out->n, at + 8, 8);
    memcpy(out->name, at + 16, length);
    out->name[length] = '\0';
    out->content = at + 16 + (length + 7) / 8 * 8;
    return out->content;
}

static uint64_t width_of(uint32_t type)
{
    return type <= 2 ? 8 : type == 3 ? 4 : 1;
}

enum change { KEEP, VALUES, COUNT, TYPE, DROP, CHANGES };

/* Some elements get other values. */
static void change_values(uint32_t type, void *elements, uint64_t n, struct fuzz_input *in)
{
    for (uint32_t k = fuzz_below(in, 3) + 1; n > 0 && k > 0; k--) {
        const uint64_t i = (fuzz_byte(in) | (uint64_t)fuzz_byte(in) << 8) % n;
        if (type == 1)
            ((uint64_t *)elements)[i] = fuzz_u64(in);
        else if (type == 2)
            ((double *)elements)[i] = fuzz_f64(in);
        else if (type == 3)
            ((float *)elements)[i] = fuzz_f32(in);
        else
            ((uint8_t *)elements)[i] = fuzz_byte(in);
    }
}

static void copy_record(osafl_writer *to, const struct part *record, enum change change,
                        struct fuzz_input *in)
{
    const uint64_t bytes = record->n * width_of(record->word);
    uint64_t n = record->n;
    uint32_t type = record->word;
    /* Room for any type and for some elements more. */
    uint64_t *elements = calloc(n + 16, sizeof *elements);
    FUZZ_REQUIRE(elements != NULL);
    memcpy(elements, record->content, bytes);
    if (change == VALUES)
        change_values(type, elements, n, in);
    else if (change == COUNT)
        n = fuzz_byte(in) % (n + 16);
    else if (change == TYPE)
        type = 1 + fuzz_below(in, 4);
    if (type == 1)
        (void)to->u64(to, record->name, elements, n);
    else if (type == 2)
        (void)to->f64(to, record->name, (const double *)(const void *)elements, n);
    else if (type == 3)
        (void)to->f32(to, record->name, (const float *)(const void *)elements, n);
    else
        (void)to->bytes(to, record->name, elements, n);
    free(elements);
}

/* Goes through all records; the input says what becomes of each. */
static struct record_writer *change_block(struct fuzz_input *in, const void **data, size_t *size)
{
    struct error error;
    struct record_writer *w = record_writer_create();
    FUZZ_REQUIRE(w != NULL);
    const uint8_t *at = whole + 24;
    while (at < whole + whole_size - 8) {
        struct part section;
        at = take_part(at, &section);
        const uint8_t *end = at + section.n;
        osafl_writer *to = record_writer_section(w, section.name, section.word);
        while (at < end) {
            struct part record;
            at = take_part(at, &record);
            const uint8_t how = fuzz_byte(in);
            const enum change change = how < 200 ? KEEP : (enum change)(how % CHANGES);
            if (change != DROP)
                copy_record(to, &record, change, in);
            at += (record.n * width_of(record.word) + 7) / 8 * 8;
        }
    }
    FUZZ_REQUIRE(record_writer_finish(w, data, size, &error) == OSAFL_OK);
    return w;
}

/* ---- going on ---- */

static void go_on(struct engine *e)
{
    struct error error;
    struct round_report report;
    const void *data = NULL;
    const void *again = NULL;
    size_t size = 0;
    size_t again_size = 0;
    struct record_writer *first = save(e, &data, &size);
    struct record_set *set = NULL;
    FUZZ_REQUIRE(record_set_open(data, size, &set, &error) == OSAFL_OK);
    struct world *world = NULL;
    struct engine *fresh = open_engine(&world);
    FUZZ_REQUIRE(engine_load(fresh, set, &error) == OSAFL_OK);
    struct record_writer *second = save(fresh, &again, &again_size);
    FUZZ_REQUIRE(size == again_size && memcmp(data, again, size) == 0);
    record_writer_destroy(second);
    record_set_destroy(set);
    record_writer_destroy(first);
    /* Vectors may be large enough to make an update infinite, which is told. */
    if (engine_round(fresh) < ROUNDS &&
        engine_run_round(fresh, NULL, NULL, &report, &error) != OSAFL_OK)
        FUZZ_REQUIRE(error.text[0] != '\0');
    close_engine(fresh, world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (whole == NULL)
        prepare();
    struct fuzz_input in = {data, size};
    struct error error = {0};
    const void *block = NULL;
    size_t block_size = 0;
    struct record_writer *w = change_block(&in, &block, &block_size);
    struct record_set *set = NULL;
    FUZZ_REQUIRE(record_set_open(block, block_size, &set, &error) == OSAFL_OK);
    struct world *world = NULL;
    struct engine *e = open_engine(&world);
    const osafl_status status = engine_load(e, set, &error);
    FUZZ_REQUIRE(status == OSAFL_OK || (status == OSAFL_E_STATE && error.text[0] != '\0'));
    if (status == OSAFL_OK)
        go_on(e);
    close_engine(e, world);
    record_set_destroy(set);
    record_writer_destroy(w);
    return 0;
}
