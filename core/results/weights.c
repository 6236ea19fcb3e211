/* weights.c - reads the tensors of a safetensors file into a model. */
#include "weights.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

enum { LENGTH_BYTES = 8, MOST_FAULTS = 8 };

/* A file in memory: its header and the bytes behind it. */
struct weights_file {
    unsigned char *bytes; /* all of it */
    json_t *header;
    const unsigned char *body;
    uint64_t body_bytes;
};

/* What does not fit, for one message. */
struct faults {
    char text[1024];
    size_t used;
    size_t n;
};

OSAFL_PRINTF(2, 3)
static void add_fault(struct faults *f, const char *fmt, ...)
{
    va_list args;
    if (f->n++ >= MOST_FAULTS || f->used >= sizeof f->text - 1)
        return;
    if (f->n > 1)
        f->used += (size_t)snprintf(f->text + f->used, sizeof f->text - f->used, "; ");
    if (f->used >= sizeof f->text - 1)
        return;
    va_start(args, fmt);
    f->used += (size_t)vsnprintf(f->text + f->used, sizeof f->text - f->used, fmt, args);
    va_end(args);
}

/* ---- types ---- */

static float from_half(uint16_t h)
{
    const int exponent = h >> 10 & 31;
    const float fraction = (float)(h & 1023);
    float v;
    if (exponent == 31)
        v = fraction > 0 ? NAN : INFINITY;
    else if (exponent == 0)
        v = ldexpf(fraction, -24);
    else
        v = ldexpf(1024 + fraction, exponent - 25);
    return h >> 15 != 0 ? -v : v;
}

static float from_bfloat(uint16_t h)
{
    const uint32_t bits = (uint32_t)h << 16;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Bytes of a number; 0: no type that becomes a float. */
static size_t bytes_of(const char *type)
{
    if (strcmp(type, "F32") == 0)
        return 4;
    if (strcmp(type, "F64") == 0)
        return 8;
    return strcmp(type, "F16") == 0 || strcmp(type, "BF16") == 0 ? 2 : 0;
}

static float number_at(const char *type, const unsigned char *at)
{
    float single;
    double precise;
    uint16_t half;
    if (type[1] == '3') {
        memcpy(&single, at, sizeof single);
        return single;
    }
    if (type[1] == '6') {
        memcpy(&precise, at, sizeof precise);
        return (float)precise;
    }
    memcpy(&half, at, sizeof half);
    return type[0] == 'B' ? from_bfloat(half) : from_half(half);
}

/* ---- the file ---- */

static osafl_status read_bytes(const char *path, struct weights_file *f, uint64_t *size,
                               struct error *error)
{
    FILE *from = fopen(path, "rb");
    if (from == NULL)
        return error_io(error, errno, "read", path);
    long end = -1;
    struct stat facts;
    if (fstat(fileno(from), &facts) != 0 || !S_ISREG(facts.st_mode)) {
        fclose(from);
        return error_set(error, OSAFL_E_DATA, "%s is not a file; name a safetensors file", path);
    }
    if (fseek(from, 0, SEEK_END) == 0)
        end = ftell(from);
    osafl_status status = OSAFL_OK;
    if (end < 0 || fseek(from, 0, SEEK_SET) != 0)
        status = error_io(error, errno, "read", path);
    else if ((f->bytes = malloc((size_t)end + 1)) == NULL)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for %s (%ld bytes)", path, end);
    else if (fread(f->bytes, 1, (size_t)end, from) != (size_t)end)
        status = error_io(error, errno, "read", path);
    fclose(from);
    *size = (uint64_t)end;
    return status;
}

static osafl_status read_header(const char *path, struct weights_file *f, uint64_t size,
                                struct error *error)
{
    uint64_t length = 0;
    json_error_t problem;
    if (size >= LENGTH_BYTES)
        memcpy(&length, f->bytes, LENGTH_BYTES);
    if (size < LENGTH_BYTES || length > size - LENGTH_BYTES)
        return error_set(error, OSAFL_E_DATA,
                         "%s is not a safetensors file, or one that is cut short", path);
    f->header =
        json_loadb((const char *)f->bytes + LENGTH_BYTES, length, JSON_REJECT_DUPLICATES, &problem);
    if (!json_is_object(f->header))
        return error_set(error, OSAFL_E_DATA, "%s is not a safetensors file: its header is no JSON",
                         path);
    f->body = f->bytes + LENGTH_BYTES + length;
    f->body_bytes = size - LENGTH_BYTES - length;
    return OSAFL_OK;
}

/* ---- tensors ---- */

static const osafl_tensor *tensor_of(const osafl_model_info *info, uint32_t t)
{
    return OSAFL_AT(osafl_tensor, info->tensors, info->tensor_size, t);
}

static void shape_text(const osafl_tensor *t, char *out, size_t size)
{
    int n = snprintf(out, size, "[");
    for (uint32_t d = 0; d < t->rank; d++)
        n += snprintf(out + n, size - (size_t)n, "%s%" PRIu64, d > 0 ? ", " : "", t->shape[d]);
    snprintf(out + n, size - (size_t)n, "]");
}

static bool has_shape(const json_t *shape, const osafl_tensor *t)
{
    bool same = json_is_array(shape) && json_array_size(shape) == t->rank;
    for (uint32_t d = 0; same && d < t->rank; d++)
        same = json_integer_value(json_array_get(shape, d)) == (json_int_t)t->shape[d];
    return same;
}

/* Where the tensor's numbers begin; NULL with a fault when it does not fit. */
static const unsigned char *find_tensor(const struct weights_file *f, const osafl_tensor *t,
                                        const char **type, struct faults *faults)
{
    const json_t *entry = json_object_get(f->header, t->name);
    const json_t *offsets = json_object_get(entry, "data_offsets");
    char wanted[24 * OSAFL_MAX_RANK];
    shape_text(t, wanted, sizeof wanted);
    *type = json_string_value(json_object_get(entry, "dtype"));
    if (entry == NULL) {
        add_fault(faults, "\"%s\" %s is missing", t->name, wanted);
        return NULL;
    }
    if (!has_shape(json_object_get(entry, "shape"), t)) {
        char *found = json_dumps(json_object_get(entry, "shape"), JSON_ENCODE_ANY);
        add_fault(faults, "\"%s\" has the shape %.60s, not %s", t->name,
                  found != NULL ? found : "?", wanted);
        free(found);
        return NULL;
    }
    if (*type == NULL || bytes_of(*type) == 0) {
        add_fault(faults, "\"%s\" is of type %.20s; F32, F64, F16 and BF16 are read", t->name,
                  *type != NULL ? *type : "?");
        return NULL;
    }
    const json_int_t begin = json_integer_value(json_array_get(offsets, 0));
    const json_int_t end = json_integer_value(json_array_get(offsets, 1));
    if (begin < 0 || end < begin || (uint64_t)end > f->body_bytes ||
        (uint64_t)(end - begin) != t->size * bytes_of(*type)) {
        add_fault(faults, "\"%s\" lies outside the file, or its length is wrong", t->name);
        return NULL;
    }
    return f->body + begin;
}

static void find_strangers(const struct weights_file *f, const osafl_model_info *info,
                           struct faults *faults)
{
    const char *name;
    json_t *entry;
    json_object_foreach(f->header, name, entry)
    {
        bool known = strcmp(name, "__metadata__") == 0;
        for (uint32_t t = 0; !known && t < info->n_tensors; t++)
            known = strcmp(name, tensor_of(info, t)->name) == 0;
        if (!known)
            add_fault(faults, "the model has no tensor \"%.60s\"", name);
    }
}

/* Where an entry of the header lies. */
struct extent {
    const char *name;
    uint64_t begin;
    uint64_t end;
};

static int by_place(const void *a, const void *b)
{
    const struct extent *x = a;
    const struct extent *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static size_t list_extents(const struct weights_file *f, struct extent *out)
{
    const char *name;
    json_t *entry;
    size_t n = 0;
    json_object_foreach(f->header, name, entry)
    {
        const json_t *offsets = json_object_get(entry, "data_offsets");
        if (strcmp(name, "__metadata__") != 0)
            out[n++] =
                (struct extent){name, (uint64_t)json_integer_value(json_array_get(offsets, 0)),
                                (uint64_t)json_integer_value(json_array_get(offsets, 1))};
    }
    qsort(out, n, sizeof *out, by_place);
    return n;
}

/* The format's tensors fill the file without gap or overlap: otherwise it was not written whole. */
static osafl_status check_extents(const struct weights_file *f, struct faults *faults)
{
    struct extent *extent = calloc(json_object_size(f->header) + 1, sizeof *extent);
    if (extent == NULL)
        return OSAFL_E_NOMEM;
    const size_t n = list_extents(f, extent);
    uint64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (extent[i].begin < end)
            add_fault(faults, "\"%.60s\" and \"%.60s\" overlap", extent[i - 1].name,
                      extent[i].name);
        else if (extent[i].begin > end)
            add_fault(faults, "%" PRIu64 " byte%s before \"%.60s\" belong to no tensor",
                      extent[i].begin - end, text_plural(extent[i].begin - end), extent[i].name);
        end = extent[i].end;
    }
    if (end < f->body_bytes)
        add_fault(faults, "%" PRIu64 " byte%s at its end belong to no tensor", f->body_bytes - end,
                  text_plural(f->body_bytes - end));
    free(extent);
    return OSAFL_OK;
}

/* One tensor into w; its numbers in `room`, which holds `size` floats, meanwhile. */
static void put_tensor(const struct instance *model, const osafl_tensor *tensor, uint32_t t,
                       const float *room, float *w)
{
    const osafl_model_vt *vt = (const osafl_model_vt *)(const void *)model->plugin->vtable;
    const struct instance *before = operation_begin(model);
    if (vt->import_tensor != NULL)
        vt->import_tensor(model->self, t, room, w);
    else
        memcpy(w + tensor->offset, room, tensor->size * sizeof *w);
    operation_end(before);
}

static osafl_status put_tensors(const struct weights_file *f, const struct instance *model,
                                const osafl_model_info *info, float *w, struct faults *faults)
{
    float *room = malloc((info->n_parameters + 1) * sizeof *room);
    if (room == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t t = 0; t < info->n_tensors; t++) {
        const osafl_tensor *tensor = tensor_of(info, t);
        const char *type;
        const unsigned char *at = find_tensor(f, tensor, &type, faults);
        if (at == NULL)
            continue;
        bool finite = true;
        for (uint64_t i = 0; i < tensor->size; i++) {
            room[i] = number_at(type, at + i * bytes_of(type));
            finite = finite && isfinite(room[i]);
        }
        if (!finite)
            add_fault(faults, "\"%s\" holds a number that is not a finite float", tensor->name);
        put_tensor(model, tensor, t, room, w);
    }
    free(room);
    find_strangers(f, info, faults);
    return faults->n == 0 ? check_extents(f, faults) : OSAFL_OK;
}

osafl_status weights_read(const char *path, const struct instance *model,
                          const osafl_model_info *info, float *w, json_t **metadata,
                          struct error *error)
{
    struct weights_file f = {0};
    struct faults faults = {0};
    uint64_t size = 0;
    osafl_status status = read_bytes(path, &f, &size, error);
    if (status == OSAFL_OK)
        status = read_header(path, &f, size, error);
    if (status == OSAFL_OK && put_tensors(&f, model, info, w, &faults) != OSAFL_OK)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for the tensors of %s", path);
    if (status == OSAFL_OK && faults.n > 0) {
        char more[40] = "";
        if (faults.n > MOST_FAULTS)
            snprintf(more, sizeof more, "; and %zu more", faults.n - MOST_FAULTS);
        status = error_set(error, OSAFL_E_DATA, "%s does not fit model/%s: %s%s", path,
                           model->plugin->name, faults.text, more);
    }
    if (metadata != NULL)
        *metadata = json_incref(json_object_get(f.header, "__metadata__"));
    json_decref(f.header);
    free(f.bytes);
    return status;
}
