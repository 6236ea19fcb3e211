/* fuzz.h - what the fuzz targets share.  A target is one file fuzz_NAME.c with the one function
 * below; libFuzzer calls it with inputs of its own making, replay.c with those of corpus/NAME. */
#ifndef OSAFL_TESTS_FUZZ_H
#define OSAFL_TESTS_FUZZ_H

#include "osafl/osafl.h"
#include "plugin/plugin_state.h"

/* Returns 0.  Must end in the same way for the same bytes, whatever came before. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A law that must hold for every input. */
#define FUZZ_REQUIRE(law)                                                                          \
    do {                                                                                           \
        if (!(law))                                                                                \
            fuzz_broken(__FILE__, __LINE__, #law);                                                 \
    } while (0)
_Noreturn void fuzz_broken(const char *file, int line, const char *law);

/* ---- an input, taken piece by piece; zeros once it is used up ---- */

struct fuzz_input {
    const uint8_t *next;
    size_t left;
};

uint8_t fuzz_byte(struct fuzz_input *in);
uint32_t fuzz_below(struct fuzz_input *in, uint32_t n); /* 0 .. n - 1 from one byte; n <= 256 */
/* Small numbers mostly, and those at which arithmetic breaks; any number now and then. */
uint64_t fuzz_u64(struct fuzz_input *in);
double fuzz_f64(struct fuzz_input *in);
float fuzz_f32(struct fuzz_input *in);

/* ---- files ---- */

/* A file in memory that holds the bytes, under a name that can be opened; the name and the contents
 * last until the next call with the same slot, 0 .. 3. */
const char *fuzz_file(unsigned slot, const void *data, size_t size);
/* Writes name in a folder of this process, which is removed at its end; returns the folder. */
const char *fuzz_folder_file(const char *name, const void *data, size_t size);
/* Removes it there, if it exists. */
void fuzz_folder_remove(const char *name);

/* ---- saved state ---- */

/* Answers every question of a load() from an input, in the way in which records.c would answer from
 * a damaged checkpoint: any number of elements up to a bound, any values, sometimes a refusal; but
 * one record has one type and one number of elements. */
struct fuzz_records {
    struct record_reader reader;
    struct fuzz_input *in;
    unsigned n;
    struct fuzz_record {
        char key[40];
        uint32_t type;
        uint64_t count;
    } record[64];
};
void fuzz_records_open(struct fuzz_records *r, struct fuzz_input *in, uint32_t state_version);

/* ---- plugins ---- */

/* A built-in plugin, which is linked in (linked_loader.c). */
const osafl_plugin *fuzz_plugin(uint32_t kind, const char *name);
/* Plugin number i; NULL behind the last. */
const osafl_plugin *fuzz_plugin_at(uint32_t i);
/* The defaults of a plugin's settings, from malloc(); required ones are "" or 0. */
void *fuzz_defaults(const osafl_plugin *p);
/* Where a setting lies in the struct that fuzz_defaults() made. */
void *fuzz_setting(const osafl_plugin *p, void *config, const char *name);
/* Creates an instance on facts; config may be NULL: defaults.  NULL when the plugin refuses. */
struct instance *fuzz_instance_try(const osafl_plugin *p, const osafl_facts *facts, void *config);
/* The same where the input cannot make it fail. */
struct instance *fuzz_instance(const osafl_plugin *p, const osafl_facts *facts, void *config);
/* Destroys the instance; its config is the caller's unless it was NULL. */
void fuzz_instance_free(struct instance *i);
/* Reads every sample of a finite data set, and checks what the interface promises. */
void fuzz_read_samples(struct instance *i);

#endif
