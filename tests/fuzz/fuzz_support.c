/* fuzz_support.c - what the fuzz targets share. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

_Noreturn void fuzz_broken(const char *file, int line, const char *law)
{
    fprintf(stderr, "%s:%d: broken for this input: %s\n", file, line, law);
    abort();
}

/* ---- input --------------------------------------------------------------------------------- */

uint8_t fuzz_byte(struct fuzz_input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->next++;
}

uint32_t fuzz_below(struct fuzz_input *in, uint32_t n)
{
    return fuzz_byte(in) % n;
}

static uint64_t eight_bytes(struct fuzz_input *in)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)fuzz_byte(in) << (8 * i);
    return v;
}

uint64_t fuzz_u64(struct fuzz_input *in)
{
    static const uint64_t edges[] = {
        UINT64_MAX,
        UINT64_MAX - 1,
        INT64_MAX,
        (uint64_t)INT64_MAX + 1,
        UINT32_MAX,
        UINT32_MAX - UINT64_C(1),
        (uint64_t)UINT32_MAX + 1,
        INT32_MAX,
        (uint64_t)INT32_MAX + 1,
    };
    const uint8_t first = fuzz_byte(in);
    if (first == 255)
        return eight_bytes(in);
    if (first >= 255 - sizeof edges / sizeof edges[0])
        return edges[254 - first];
    return first;
}

double fuzz_f64(struct fuzz_input *in)
{
    static const double edges[] = {
        (double)NAN,
        (double)INFINITY,
        -(double)INFINITY,
        -0.0,
        5e-324,
        1e308,
        -1e308,
        1e-30,
        3.5e38,
        1e-45,
        0.5,
        -1.0,
    };
    const uint8_t first = fuzz_byte(in);
    if (first == 255) {
        const uint64_t bits = eight_bytes(in);
        double v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    if (first >= 255 - sizeof edges / sizeof edges[0])
        return edges[254 - first];
    return first / 16.0;
}

float fuzz_f32(struct fuzz_input *in)
{
    const double v = fuzz_f64(in);
    return fabs(v) > 3.4e38 ? copysignf(INFINITY, (float)copysign(1.0, v)) : (float)v;
}

/* ---- files --------------------------------------------------------------------------------- */

const char *fuzz_file(unsigned slot, const void *data, size_t size)
{
    static int fd[4] = {-1, -1, -1, -1};
    static char name[4][32];
    FUZZ_REQUIRE(slot < 4);
    if (fd[slot] < 0) {
        fd[slot] = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(name[slot], sizeof name[slot], "/proc/self/fd/%d", fd[slot]);
    }
    FUZZ_REQUIRE(fd[slot] >= 0 && ftruncate(fd[slot], (off_t)size) == 0);
    FUZZ_REQUIRE(pwrite(fd[slot], data, size, 0) == (ssize_t)size);
    return name[slot];
}

static char folder[64];

static void remove_folder(void)
{
    static const char *const names[] = {"manifest.json", "environment.json", "rounds.csv",
                                        "clients.csv",   "checkpoint.0",     "checkpoint.1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        fuzz_folder_remove(names[i]);
    (void)rmdir(folder);
}

static const char *own_folder(void)
{
    if (folder[0] == '\0') {
        /* In memory where that is possible: a disk would make it slow. */
        snprintf(folder, sizeof folder, "%s/osafl-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        FUZZ_REQUIRE(mkdtemp(folder) != NULL);
        (void)atexit(remove_folder);
    }
    return folder;
}

const char *fuzz_folder_file(const char *name, const void *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", own_folder(), name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
    return folder;
}

void fuzz_folder_remove(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", own_folder(), name);
    (void)unlink(path);
}

/* ---- saved state --------------------------------------------------------------------------- */

enum { FUZZ_U64 = 1, FUZZ_F64, FUZZ_F32, FUZZ_BYTES };

static osafl_status refuse(struct fuzz_records *r, const char *key)
{
    if (r->reader.error.text[0] == '\0')
        snprintf(r->reader.error.text, sizeof r->reader.error.text, "record %.40s does not fit",
                 key);
    return OSAFL_E_STATE;
}

/* The record of a key, as it was asked for first; a checkpoint cannot hold more elements than it
 * has bytes, so numbers of elements are small. */
static struct fuzz_record *find_record(struct fuzz_records *r, const char *key)
{
    for (unsigned i = 0; i < r->n; i++)
        if (strcmp(r->record[i].key, key) == 0)
            return &r->record[i];
    FUZZ_REQUIRE(r->n < sizeof r->record / sizeof r->record[0]);
    struct fuzz_record *record = &r->record[r->n++];
    *record = (struct fuzz_record){.type = 0, .count = UINT64_MAX};
    snprintf(record->key, sizeof record->key, "%s", key);
    return record;
}

static osafl_status answer_count(osafl_reader *face, const char *key, uint64_t *n)
{
    struct fuzz_records *r = face->priv;
    struct fuzz_record *record = find_record(r, key);
    if (record->count == UINT64_MAX) {
        const uint8_t count = fuzz_byte(r->in);
        if (count == 255)
            return refuse(r, key);
        record->count = count < 128 ? count % 16 : count - 128;
    }
    *n = record->count;
    return OSAFL_OK;
}

/* Agrees on type and number of elements, or refuses. */
static osafl_status answer(osafl_reader *face, const char *key, uint32_t type, uint64_t n)
{
    struct fuzz_records *r = face->priv;
    struct fuzz_record *record = find_record(r, key);
    if (record->count == UINT64_MAX) {
        if (fuzz_byte(r->in) == 255)
            return refuse(r, key);
        record->count = n;
    }
    if (record->count != n || (record->type != 0 && record->type != type))
        return refuse(r, key);
    record->type = type;
    return OSAFL_OK;
}

static osafl_status answer_u64(osafl_reader *face, const char *key, uint64_t *v, uint64_t n)
{
    struct fuzz_records *r = face->priv;
    OSAFL_TRY(answer(face, key, FUZZ_U64, n));
    for (uint64_t i = 0; i < n; i++)
        v[i] = fuzz_u64(r->in);
    return OSAFL_OK;
}

static osafl_status answer_f64(osafl_reader *face, const char *key, double *v, uint64_t n)
{
    struct fuzz_records *r = face->priv;
    OSAFL_TRY(answer(face, key, FUZZ_F64, n));
    for (uint64_t i = 0; i < n; i++)
        v[i] = fuzz_f64(r->in);
    return OSAFL_OK;
}

static osafl_status answer_f32(osafl_reader *face, const char *key, float *v, uint64_t n)
{
    struct fuzz_records *r = face->priv;
    OSAFL_TRY(answer(face, key, FUZZ_F32, n));
    for (uint64_t i = 0; i < n; i++)
        v[i] = fuzz_f32(r->in);
    return OSAFL_OK;
}

static osafl_status answer_bytes(osafl_reader *face, const char *key, void *v, uint64_t n)
{
    struct fuzz_records *r = face->priv;
    OSAFL_TRY(answer(face, key, FUZZ_BYTES, n));
    for (uint64_t i = 0; i < n; i++)
        ((uint8_t *)v)[i] = fuzz_byte(r->in);
    return OSAFL_OK;
}

void fuzz_records_open(struct fuzz_records *r, struct fuzz_input *in, uint32_t state_version)
{
    r->in = in;
    r->n = 0;
    r->reader.error.text[0] = '\0';
    r->reader.base = (osafl_reader){.struct_size = sizeof(osafl_reader),
                                    .state_version = state_version,
                                    .priv = r,
                                    .count = answer_count,
                                    .u64 = answer_u64,
                                    .f64 = answer_f64,
                                    .f32 = answer_f32,
                                    .bytes = answer_bytes};
}

/* ---- plugins ------------------------------------------------------------------------------- */

static const osafl_param *param_at(const osafl_plugin *p, uint32_t i)
{
    return OSAFL_AT(osafl_param, p->params, p->param_size, i);
}

static void store_default(unsigned char *at, const osafl_param *q)
{
    switch (q->type) {
    case OSAFL_T_BOOL:
        memcpy(at, &(bool){q->def.i != 0}, sizeof(bool));
        break;
    case OSAFL_T_INT:
        memcpy(at, &q->def.i, sizeof q->def.i);
        break;
    case OSAFL_T_REAL:
        memcpy(at, &q->def.r, sizeof q->def.r);
        break;
    case OSAFL_T_TEXT:
    case OSAFL_T_PATH:
        memcpy(at, &(const char *){q->def.s != NULL ? q->def.s : ""}, sizeof(char *));
        break;
    case OSAFL_T_CHOICE:
        memcpy(at, &(osafl_choice){(int32_t)q->def.i}, sizeof(osafl_choice));
        break;
    case OSAFL_T_RANGE:
        memcpy(at, &(osafl_range){q->def.r, q->def_hi.r}, sizeof(osafl_range));
        break;
    default: /* OSAFL_T_REALS, OSAFL_T_ROWS: empty */
        break;
    }
}

void *fuzz_defaults(const osafl_plugin *p)
{
    unsigned char *config = calloc(1, p->config_size > 0 ? p->config_size : 1);
    FUZZ_REQUIRE(config != NULL);
    for (uint32_t i = 0; i < p->n_params; i++)
        store_default(config + param_at(p, i)->offset, param_at(p, i));
    return config;
}

void *fuzz_setting(const osafl_plugin *p, void *config, const char *name)
{
    uint32_t i = 0;
    while (i < p->n_params && strcmp(param_at(p, i)->name, name) != 0)
        i++;
    FUZZ_REQUIRE(i < p->n_params);
    return (unsigned char *)config + param_at(p, i)->offset;
}

static void drop_line(void *arg, int32_t level, const char *line)
{
    (void)arg, (void)level, (void)line;
}

struct instance *fuzz_instance_try(const osafl_plugin *p, const osafl_facts *facts, void *config)
{
    static struct host_context context = {
        .seed = 1, .log_level = OSAFL_LOG_ERROR, .log = drop_line};
    struct error error;
    struct instance *i = calloc(1, sizeof *i);
    FUZZ_REQUIRE(i != NULL);
    *i = (struct instance){.plugin = p, .host = &core_host, .context = &context, .config = config};
    if (config == NULL) {
        i->config = fuzz_defaults(p);
        i->metric_arg = i->config; /* nobody listens; marks what is to be freed */
    }
    if (instance_create(i, facts, &error) == OSAFL_OK)
        return i;
    FUZZ_REQUIRE(error.text[0] != '\0');
    fuzz_instance_free(i);
    return NULL;
}

struct instance *fuzz_instance(const osafl_plugin *p, const osafl_facts *facts, void *config)
{
    struct instance *i = fuzz_instance_try(p, facts, config);
    FUZZ_REQUIRE(i != NULL);
    return i;
}

void fuzz_instance_free(struct instance *i)
{
    instance_destroy(i);
    free(i->metric_arg);
    free(i);
}

void fuzz_read_samples(struct instance *i)
{
    const osafl_dataset_vt *vt = (const osafl_dataset_vt *)(const void *)i->plugin->vtable;
    osafl_dataset_info info = {.struct_size = sizeof info};
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
    FUZZ_REQUIRE(call_end(&c, vt->describe(i->self, &c, &info)) == OSAFL_OK);
    FUZZ_REQUIRE(info.n_train > 0 && info.labels > 1);
    const size_t size = (size_t)osafl_sample_size(&info);
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
                int32_t again = -1;
                uint32_t client;
                double when = 0.0;
                call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
                FUZZ_REQUIRE(vt->label(i->self, &c, k, &again) == OSAFL_OK && again == label);
                if (vt->client_of != NULL)
                    FUZZ_REQUIRE(vt->client_of(i->self, &c, k, &client) == OSAFL_OK);
                if (vt->time_of != NULL)
                    FUZZ_REQUIRE(vt->time_of(i->self, &c, k, &when) == OSAFL_OK && !isinf(when));
                FUZZ_REQUIRE(call_end(&c, OSAFL_OK) == OSAFL_OK);
            }
        }
    }
    free(x);
}
