/* fedper.c - SGD with personal layers, which stay on the client (Arivazhagan et al. 2019;
 * ALGORITHMS.md 6).
 *
 * A client trains all layers.  Of the personal ones it sends a difference of 0 and keeps what it
 * has trained, to go on from there when it takes part again.  Its own model is the global one with
 * its personal layers.
 *
 * State of a client: the personal parameters in their order, and 1 once it has some. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "osafl/model.h"
#include "osafl/optimizer.h"
#include "schedule/scheduled_optimizer.h"

struct config {
    struct learning_rate_config rate;
    int64_t layers;
    const char *tensors;
};
_Static_assert(offsetof(struct config, rate) == 0, "LEARNING_RATE_PARAMS binds to the start");

/* w[offset .. offset + size) is personal. */
struct piece {
    uint64_t offset;
    uint64_t size;
};

struct fedper {
    struct scheduled_optimizer scheduled; /* first: scheduled_rate() reads it */
    uint32_t n;
    uint64_t floats; /* of all pieces */
    struct piece piece[];
};

/* Length of a tensor's name without its last part: "fc2" of "fc2.weight". */
static size_t layer_length(const char *name)
{
    const char *point = strrchr(name, '.');
    return point != NULL ? (size_t)(point - name) : strlen(name);
}

static bool same_layer(const osafl_tensor *a, const osafl_tensor *b)
{
    const size_t n = layer_length(a->name);
    return n == layer_length(b->name) && strncmp(a->name, b->name, n) == 0;
}

static const osafl_tensor *tensor_at(const osafl_model_info *model, uint32_t t)
{
    return OSAFL_AT(osafl_tensor, model->tensors, model->tensor_size, t);
}

/* The first tensor of the last `layers` layers. */
static uint32_t first_of_layers(const osafl_model_info *model, int64_t layers)
{
    uint32_t t = model->n_tensors - 1;
    for (; t > 0; t--)
        if (!same_layer(tensor_at(model, t - 1), tensor_at(model, t)) && --layers == 0)
            break;
    return t;
}

/* Whether a name matches one of the patterns, which commas separate. */
static bool matches(const char *patterns, const char *name)
{
    char pattern[256];
    while (*patterns != '\0') {
        patterns += strspn(patterns, ", ");
        const size_t n = strcspn(patterns, ", ");
        if (n > 0 && n < sizeof pattern) {
            memcpy(pattern, patterns, n);
            pattern[n] = '\0';
            if (fnmatch(pattern, name, 0) == 0)
                return true;
        }
        patterns += n;
    }
    return false;
}

static void list_pieces(struct fedper *f, const osafl_model_info *model,
                        const struct config *config)
{
    const bool named = config->tensors[0] != '\0';
    const uint32_t first = named ? 0 : first_of_layers(model, config->layers);
    for (uint32_t t = first; t < model->n_tensors; t++) {
        const osafl_tensor *tensor = tensor_at(model, t);
        if (named && !matches(config->tensors, tensor->name))
            continue;
        f->piece[f->n++] = (struct piece){.offset = tensor->offset, .size = tensor->size};
        f->floats += tensor->size;
    }
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct config *settings = config;
    const osafl_model_info *model = facts->model;
    OSAFL_TRY(learning_rate_check(h, c, config, facts->rounds));
    struct fedper *f = calloc(1, sizeof *f + model->n_tensors * sizeof f->piece[0]);
    if (f == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    f->scheduled = (struct scheduled_optimizer){.config = config, .rounds = facts->rounds};
    list_pieces(f, model, settings);
    if (f->n == 0) {
        free(f);
        return h->fail(c, OSAFL_E_CONFIG,
                       "optimizer.fedper.tensors = \"%s\" matches none of the %u tensors of the "
                       "model, the first of which is \"%s\" and the last \"%s\"; leave it out for "
                       "the last layer",
                       settings->tensors, (unsigned)model->n_tensors, tensor_at(model, 0)->name,
                       tensor_at(model, model->n_tensors - 1)->name);
    }
    *self = f;
    return OSAFL_OK;
}

static osafl_status describe(void *self, osafl_call *c, osafl_optimizer_info *out)
{
    (void)c;
    const struct fedper *f = self;
    out->is_plain = 1;
    out->client_floats = f->floats + 1;
    out->round_floats = f->floats;
    return OSAFL_OK;
}

static osafl_status step(void *self, osafl_call *c, const osafl_local *l, float *w, float *grad)
{
    (void)self;
    (void)c;
    const float rate = (float)l->rate;
    for (uint64_t i = 0; i < l->dim; i++)
        w[i] -= rate * grad[i];
    return OSAFL_OK;
}

/* Personal parameters out of a vector, and back into one. */
static void take(const struct fedper *f, const float *w, float *kept)
{
    for (uint32_t k = 0; k < f->n; kept += f->piece[k++].size)
        memcpy(kept, w + f->piece[k].offset, f->piece[k].size * sizeof *w);
}

static void put(const struct fedper *f, const float *kept, float *w)
{
    for (uint32_t k = 0; k < f->n; kept += f->piece[k++].size)
        memcpy(w + f->piece[k].offset, kept, f->piece[k].size * sizeof *w);
}

static osafl_status start(void *self, osafl_call *c, const osafl_local *l, float *w)
{
    (void)c;
    const struct fedper *f = self;
    if (l->client_state[f->floats] != 0.0f)
        put(f, l->client_state, w);
    return OSAFL_OK;
}

static osafl_status leave(void *self, osafl_call *c, const osafl_local *l, float *w)
{
    (void)c;
    const struct fedper *f = self;
    take(f, w, l->round_state);
    for (uint32_t k = 0; k < f->n; k++)
        memcpy(w + f->piece[k].offset, l->w_start + f->piece[k].offset,
               f->piece[k].size * sizeof *w);
    return OSAFL_OK;
}

static osafl_status received(void *self, osafl_call *c, const osafl_local *l, const float *update,
                             const float *const *uplink)
{
    (void)c;
    (void)update;
    (void)uplink;
    const struct fedper *f = self;
    memcpy(l->client_state, l->round_state, f->floats * sizeof(float));
    l->client_state[f->floats] = 1.0f;
    return OSAFL_OK;
}

static osafl_status personal(void *self, osafl_call *c, const osafl_local *l, const float *w,
                             float *out)
{
    memcpy(out, w, l->dim * sizeof *out);
    return start(self, c, l, out);
}

static const osafl_param params[] = {
    LEARNING_RATE_PARAMS,
    OSAFL_INT(struct config, layers, 1, 1, 1000000,
              "Layers, counted from the end, that stay on the client; tensors whose names are the "
              "same up to the last point are one layer"),
    OSAFL_TEXT(
        struct config, tensors, "",
        "Patterns for the names of the tensors that stay on the client, separated by commas, "
        "such as \"*.bn*\" for the norms of ResNet-18 (FedBN); empty: those of layers"),
};

static const osafl_optimizer_vt vtable = {
    .life = {.struct_size = sizeof(osafl_optimizer_vt), .create = create, .destroy = free},
    .describe = describe,
    .rate = scheduled_rate,
    .step = step,
    .received = received,
    .start = start,
    .leave = leave,
    .personal = personal,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_OPTIMIZER,
    .name = "fedper",
    .version = "1.0.0",
    .summary = "SGD with personal layers, which stay on the client",
    .cite = "Arivazhagan, Aggarwal, Singh, Choudhary: Federated Learning with Personalization "
            "Layers, arXiv:1912.00818, 2019",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
