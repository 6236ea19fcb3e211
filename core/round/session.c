/* session.c - the plugins of one experiment, created in order and checked to fit together. */
#include "session.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/error.h"
#include "confusion.h"
#include "results/weights.h"
#include "worker.h"
#include "world/world.h"

/* Further vectors of one client; more than any method uses, and a bound for what we allocate. */
#define MAX_VECTORS 64

#define VTABLE(kind_type, kind_constant)                                                           \
    ((const kind_type *)(const void *)s->instance[kind_constant].plugin->vtable)

const osafl_dataset_vt *session_dataset(const struct session *s)
{
    return VTABLE(osafl_dataset_vt, OSAFL_KIND_DATASET);
}

const osafl_model_vt *session_model(const struct session *s)
{
    return VTABLE(osafl_model_vt, OSAFL_KIND_MODEL);
}

const osafl_channel_vt *session_channel(const struct session *s)
{
    return VTABLE(osafl_channel_vt, OSAFL_KIND_CHANNEL);
}

const osafl_resource_vt *session_resource(const struct session *s)
{
    return VTABLE(osafl_resource_vt, OSAFL_KIND_RESOURCE);
}

const osafl_optimizer_vt *session_optimizer(const struct session *s)
{
    return VTABLE(osafl_optimizer_vt, OSAFL_KIND_OPTIMIZER);
}

static const osafl_quantizer_vt *session_quantizer(const struct session *s)
{
    return VTABLE(osafl_quantizer_vt, OSAFL_KIND_QUANTIZER);
}

const osafl_aggregator_vt *session_aggregator(const struct session *s)
{
    return VTABLE(osafl_aggregator_vt, OSAFL_KIND_AGGREGATOR);
}

const osafl_selection_vt *session_selection(const struct session *s)
{
    return VTABLE(osafl_selection_vt, OSAFL_KIND_SELECTION);
}

const osafl_filter_vt *session_filter(const struct session *s)
{
    static const osafl_filter_vt none = {.life = {.struct_size = sizeof none}};
    return session_has_link(s) ? VTABLE(osafl_filter_vt, OSAFL_KIND_FILTER) : &none;
}

bool session_has_link(const struct session *s)
{
    return !s->pooled;
}

uint32_t session_trainees(const struct session *s)
{
    return session_has_link(s) ? s->facts.clients : 1;
}

const struct instance *session_uplink(const struct session *s)
{
    return s->codec.quantizer != NULL ? s->codec.quantizer : &s->instance[OSAFL_KIND_AGGREGATOR];
}

osafl_status session_rate(const struct session *s, uint32_t round, double *rate,
                          struct error *error)
{
    const struct instance *optimizer = &s->instance[OSAFL_KIND_OPTIMIZER];
    osafl_call c;
    *rate = 0.0;
    call_begin(&c, optimizer, OSAFL_NO_CLIENT, round);
    osafl_status status = session_optimizer(s)->rate(optimizer->self, &c, round, rate);
    if (status == OSAFL_OK && !(*rate > 0.0 && isfinite(*rate)))
        status = core_host.fail(&c, OSAFL_E_BUG, "the learning rate is %g", *rate);
    return call_end_named(&c, status, error);
}

uint64_t session_workspace_bytes(const struct session *s, uint32_t batch)
{
    const struct instance *model = &s->instance[OSAFL_KIND_MODEL];
    const struct instance *before = operation_begin(model);
    const uint64_t bytes = session_model(s)->workspace_bytes(model->self, batch, EVALUATION_BATCH);
    operation_end(before);
    return bytes;
}

uint32_t session_evaluation_split(const struct session *s)
{
    return s->experiment->evaluation.split.index == 0 ? OSAFL_SPLIT_TEST : OSAFL_SPLIT_VALIDATION;
}

/* A misfit or a broken declaration of one plugin, by name. */
static osafl_status refuse(const struct session *s, uint32_t kind, struct diagnostics *d,
                           osafl_status status, const char *text)
{
    diagnostics_error(d, NULL, 0, "%s/%s: %s", kind_name(kind), s->instance[kind].plugin->name,
                      text);
    return status;
}

static osafl_status create_instance(struct session *s, uint32_t kind, const osafl_facts *facts,
                                    struct diagnostics *d)
{
    struct error error;
    const struct chosen_plugin *chosen = &s->experiment->chosen[kind];
    assert(chosen->loaded != NULL);
    struct instance *i = &s->instance[kind];
    *i = (struct instance){
        .plugin = chosen->loaded->plugin,
        .host = &core_host,
        .context = &s->context,
        .config = chosen->config,
    };
    const osafl_status status = instance_create(i, facts, &error);
    return status == OSAFL_OK ? OSAFL_OK : refuse(s, kind, d, status, error.text);
}

/* Ends a describing call of a kind; a failure goes to d. */
static osafl_status end_describe(struct osafl_call *c, osafl_status status, struct diagnostics *d)
{
    struct error error;
    status = call_end_named(c, status, &error);
    if (status != OSAFL_OK)
        diagnostics_error(d, NULL, 0, "%s", error.text);
    return status;
}

/* Names the remedy: a data set whose validation split is a matter of its settings calls the setting
 * "validation". */
static osafl_status refuse_empty_split(const struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_DATASET;
    const osafl_plugin *p = s->instance[kind].plugin;
    char text[ERROR_BYTES];
    if (session_evaluation_split(s) == OSAFL_SPLIT_TEST)
        return refuse(s, kind, d, OSAFL_E_CONFIG,
                      "has no test samples; set evaluation.split = \"validation\"");
    for (uint32_t i = 0; i < p->n_params; i++) {
        if (strcmp(OSAFL_AT(osafl_param, p->params, p->param_size, i)->name, "validation") != 0)
            continue;
        snprintf(text, sizeof text,
                 "has no validation samples; say how many with dataset.%s.validation, or set "
                 "evaluation.split = \"test\"",
                 p->name);
        return refuse(s, kind, d, OSAFL_E_CONFIG, text);
    }
    return refuse(s, kind, d, OSAFL_E_CONFIG,
                  "has no validation samples; set evaluation.split = \"test\"");
}

static bool has_extent(const osafl_dataset_info *info)
{
    double values = info->rank >= 1 && info->rank <= OSAFL_SAMPLE_RANK ? 1.0 : 0.0;
    for (uint32_t i = 0; i < info->rank && values > 0.0; i++)
        values *= info->shape[i];
    return values >= 1.0 && values < 0x1p31;
}

static osafl_status create_dataset(struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_DATASET;
    OSAFL_TRY(create_instance(s, kind, &s->dataset_facts, d));
    osafl_call c;
    s->dataset = (osafl_dataset_info){.struct_size = sizeof s->dataset};
    call_begin(&c, &s->instance[kind], OSAFL_NO_CLIENT, 0);
    OSAFL_TRY(
        end_describe(&c, session_dataset(s)->describe(s->instance[kind].self, &c, &s->dataset), d));

    const osafl_dataset_info *info = &s->dataset;
    /* 2^31 values a sample and 2^24 labels: bounds that keep every later product in range. */
    if (!has_extent(info) || info->labels < 1 || info->labels > 1u << 24)
        return refuse(s, kind, d, OSAFL_E_DATA,
                      "describe() gives samples without extent, without labels, or absurdly many");
    if (info->x_type != OSAFL_X_FLOAT && info->x_type != OSAFL_X_INT32)
        return refuse(
            s, kind, d, OSAFL_E_UNSUPPORTED,
            "describe() gives an unknown type of values; it must set x_type to OSAFL_X_*");
    if (info->target_type != OSAFL_TARGET_CLASS && info->target_type != OSAFL_TARGET_REAL)
        return refuse(s, kind, d, OSAFL_E_UNSUPPORTED, "describe() gives an unknown target type");
    if (info->target_size < 1 || info->target_size > 1u << 24 ||
        (info->target_type == OSAFL_TARGET_CLASS && info->target_size != info->labels))
        return refuse(s, kind, d, OSAFL_E_BUG,
                      "describe() gives a target size that does not fit its labels");
    s->sample_size = osafl_sample_size(info);

    const bool test = session_evaluation_split(s) == OSAFL_SPLIT_TEST;
    const uint64_t available = test ? info->n_test : info->n_validation;
    const uint64_t asked = (uint64_t)s->experiment->evaluation.samples;
    if (available == 0)
        return refuse_empty_split(s, d);
    if (available == OSAFL_ENDLESS && asked == 0)
        return refuse(s, kind, d, OSAFL_E_CONFIG,
                      "has an endless split to evaluate on; set evaluation.samples");
    s->evaluation_samples = asked != 0 && asked < available ? asked : available;
    s->model_facts.dataset = s->facts.dataset = info;
    return OSAFL_OK;
}

/* A mix of one label cannot change. */
static osafl_status check_drift(const struct session *s, struct diagnostics *d)
{
    const struct chosen_plugin *chosen = &s->experiment->chosen[OSAFL_KIND_DRIFT];
    const char *drift = chosen->loaded->plugin->name;
    uint32_t label = 0;
    uint32_t with_samples = 0;
    for (uint32_t l = 0; l < s->dataset.labels; l++) {
        if (s->label_share[l] > 0.0) {
            label = l;
            with_samples++;
        }
    }
    if (with_samples > 1 || strcmp(drift, kind_default(OSAFL_KIND_DRIFT)) == 0)
        return OSAFL_OK;
    diagnostics_error(d, chosen->file, chosen->line,
                      "drift.plugin = \"%s\" has nothing to change: all training samples of "
                      "dataset \"%s\" have label %" PRIu32 "; leave drift out",
                      drift, s->instance[OSAFL_KIND_DATASET].plugin->name, label);
    return OSAFL_E_CONFIG;
}

/* The label mix of the training split, which partitions and others go by. */
static osafl_status count_labels(struct session *s, struct diagnostics *d)
{
    struct error error;
    s->label_share = calloc(s->dataset.labels, sizeof *s->label_share);
    if (s->label_share == NULL) {
        diagnostics_no_memory(d);
        return OSAFL_E_NOMEM;
    }
    const osafl_status status =
        world_label_share(&s->instance[OSAFL_KIND_DATASET], &s->dataset, s->label_share, &error);
    if (status != OSAFL_OK)
        diagnostics_error(d, NULL, 0, "%s", error.text);
    s->model_facts.label_share = s->facts.label_share = s->label_share;
    return status == OSAFL_OK ? check_drift(s, d) : status;
}

/* Tensors must tile the parameters in order; measures must have names. */
static osafl_status check_model(const struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_MODEL;
    const osafl_model_info *info = &s->model;
    uint64_t offset = 0;
    for (uint32_t t = 0; t < info->n_tensors; t++) {
        const osafl_tensor *tensor = OSAFL_AT(osafl_tensor, info->tensors, info->tensor_size, t);
        if (tensor->name == NULL || tensor->offset != offset || tensor->size == 0 ||
            tensor->size > info->n_parameters - offset || tensor->rank > OSAFL_MAX_RANK)
            return refuse(s, kind, d, OSAFL_E_BUG,
                          "describe() gives tensors that do not tile the parameters");
        offset += tensor->size;
    }
    if (offset != info->n_parameters || info->n_parameters == 0 ||
        info->n_parameters > (uint64_t)1 << 40)
        return refuse(s, kind, d, OSAFL_E_BUG,
                      "describe() gives tensors that do not tile the parameters");
    if (info->n_measures == 0 || info->n_measures > SESSION_MAX_MEASURES || info->measures == NULL)
        return refuse(s, kind, d, OSAFL_E_BUG, "describe() gives no measures, or too many");
    if (info->n_sample_measures > SESSION_MAX_MEASURES ||
        (info->n_sample_measures > 0 &&
         (info->sample_measures == NULL || session_model(s)->score == NULL)))
        return refuse(s, kind, d, OSAFL_E_BUG,
                      "describe() gives sample measures without a table or without score(), or too "
                      "many");
    return OSAFL_OK;
}

/* What is reported by class needs classes. */
static osafl_status check_measures(const struct session *s, struct diagnostics *d)
{
    uint32_t accuracy = 0;
    const struct experiment *e = s->experiment;
    const bool by_class = !e->evaluation.per_class || s->dataset.labels > 1;
    const bool confusion = !e->results.confusion || confusion_measure(s, &accuracy);
    if (!by_class)
        diagnostics_error(d, NULL, 0,
                          "evaluation.per_class: the samples of dataset/%s have no classes; leave "
                          "it out",
                          s->instance[OSAFL_KIND_DATASET].plugin->name);
    if (!confusion)
        diagnostics_error(d, NULL, 0,
                          "results.confusion: model/%s reports no accuracy, so that there is no "
                          "confusion matrix; leave it out",
                          s->instance[OSAFL_KIND_MODEL].plugin->name);
    return by_class && confusion ? OSAFL_OK : OSAFL_E_CONFIG;
}

static osafl_status create_model(struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_MODEL;
    OSAFL_TRY(create_instance(s, kind, &s->model_facts, d));
    osafl_call c;
    s->model = (osafl_model_info){.struct_size = sizeof s->model};
    call_begin(&c, &s->instance[kind], OSAFL_NO_CLIENT, 0);
    OSAFL_TRY(
        end_describe(&c, session_model(s)->describe(s->instance[kind].self, &c, &s->model), d));
    OSAFL_TRY(check_model(s, d));
    s->codec.dim = s->model.n_parameters;
    s->facts.model = &s->model;
    s->facts.dim = s->model.n_parameters;
    return OSAFL_OK;
}

/* No method keeps or sends more; a bound for what we allocate. */
static bool floats_are_few(const struct session *s, uint64_t floats)
{
    return floats <= MAX_VECTORS * s->codec.dim;
}

/* Does the aggregator ask for centralised training? */
static osafl_status ask_for_pooling(struct session *s, struct diagnostics *d)
{
    const struct instance *i = &s->instance[OSAFL_KIND_AGGREGATOR];
    const osafl_pooled *pooled = instance_extension(i, OSAFL_POOLED_ID);
    if (pooled == NULL)
        return OSAFL_OK;
    if (!OSAFL_HAS(pooled, osafl_pooled, steps) || pooled->steps == NULL)
        return refuse(s, OSAFL_KIND_AGGREGATOR, d, OSAFL_E_BUG,
                      "has the extension " OSAFL_POOLED_ID " without steps()");
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, 0);
    s->pooled = true;
    return end_describe(&c, pooled->steps(i->self, &c, &s->pooled_steps), d);
}

static osafl_status create_aggregator(struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_AGGREGATOR;
    OSAFL_TRY(create_instance(s, kind, &s->facts, d));
    osafl_call c;
    s->aggregator = (osafl_aggregator_info){.struct_size = sizeof s->aggregator};
    call_begin(&c, &s->instance[kind], OSAFL_NO_CLIENT, 0);
    OSAFL_TRY(end_describe(
        &c, session_aggregator(s)->describe(s->instance[kind].self, &c, &s->aggregator), d));
    const osafl_aggregator_info *info = &s->aggregator;
    if (info->sends < OSAFL_SENDS_DELTA || info->sends > OSAFL_SENDS_PER_RATE)
        return refuse(
            s, kind, d, OSAFL_E_UNSUPPORTED,
            "declares an unknown kind of update; describe() must set sends to OSAFL_SENDS_*");
    if (info->optimizer == NULL)
        return refuse(s, kind, d, OSAFL_E_BUG,
                      "declares no optimizer; describe() must set optimizer to a name such as sgd");
    if (info->uplink_vectors > MAX_VECTORS || !floats_are_few(s, info->broadcast_floats))
        return refuse(s, kind, d, OSAFL_E_BUG, "declares more vectors than are sent");
    if (info->broadcast_floats > 0 && session_aggregator(s)->broadcast == NULL)
        return refuse(s, kind, d, OSAFL_E_BUG,
                      "declares floats to send down, but has no broadcast()");
    s->slots = 1 + info->uplink_vectors;
    return ask_for_pooling(s, d);
}

static osafl_status create_link(struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_CHANNEL;
    OSAFL_TRY(create_instance(s, kind, &s->facts, d));
    osafl_call c;
    s->link = (osafl_link){.struct_size = sizeof s->link};
    call_begin(&c, &s->instance[kind], OSAFL_NO_CLIENT, 0);
    OSAFL_TRY(
        end_describe(&c, session_channel(s)->describe(s->instance[kind].self, &c, &s->link), d));
    if (!(s->link.bandwidth_hz > 0.0 && isfinite(s->link.bandwidth_hz) &&
          s->link.noise_w_per_hz > 0.0 && isfinite(s->link.noise_w_per_hz)))
        return refuse(s, kind, d, OSAFL_E_NUMERIC,
                      "describe() gives a bandwidth or a noise that is not positive and finite");
    if (s->experiment->results.places && session_channel(s)->place == NULL)
        return refuse(s, kind, d, OSAFL_E_CONFIG,
                      "it has no geometry for results.places = true; leave that out, or choose a "
                      "channel that knows where clients are");
    return create_instance(s, OSAFL_KIND_RESOURCE, &s->facts, d);
}

static osafl_status misfit(const struct session *s, struct diagnostics *d, const char *what,
                           const char *unit, uint64_t wanted, uint64_t offered)
{
    diagnostics_error(d, NULL, 0,
                      "aggregator.plugin = \"%s\" and optimizer.plugin = \"%s\" do not fit: the "
                      "aggregator %s %llu further %s and the optimizer has %llu; leave "
                      "optimizer.plugin out, or set it to \"%s\"",
                      s->instance[OSAFL_KIND_AGGREGATOR].plugin->name,
                      s->instance[OSAFL_KIND_OPTIMIZER].plugin->name, what,
                      (unsigned long long)wanted, unit, (unsigned long long)offered,
                      s->aggregator.optimizer);
    return OSAFL_E_CONFIG;
}

/* A method that is its optimizer runs with no other: it would be another method under its name. */
static osafl_status choose_optimizer(struct session *s, struct loader *l, struct diagnostics *d)
{
    const struct loaded_plugin *named = s->experiment->chosen[OSAFL_KIND_OPTIMIZER].loaded;
    const char *wanted = s->aggregator.optimizer;
    if (named == NULL) {
        const char *name = s->instance[OSAFL_KIND_AGGREGATOR].plugin->name;
        const osafl_status status = experiment_choose_optimizer(s->experiment, l, wanted, d);
        if (status == OSAFL_E_CONFIG)
            diagnostics_error(d, NULL, 0,
                              "aggregator/%s trains with the optimizer \"%s\" where the experiment "
                              "names none: its settings belong in optimizer: { %s: { ... }; }; "
                              "(osafl help optimizer/%s)",
                              name, wanted, wanted, wanted);
        if (status != OSAFL_E_UNSUPPORTED)
            return status;
        diagnostics_error(d, NULL, 0,
                          "aggregator/%s declares the optimizer \"%s\", which is used where the "
                          "experiment names none; fix its describe(), or set optimizer.plugin",
                          name, wanted);
        return OSAFL_E_CONFIG;
    }
    if (!s->aggregator.optimizer_is_fixed || strcmp(named->plugin->name, wanted) == 0)
        return OSAFL_OK;
    diagnostics_error(d, NULL, 0,
                      "aggregator.plugin = \"%s\" and optimizer.plugin = \"%s\" do not fit: the "
                      "method is the aggregator with the optimizer \"%s\"; leave optimizer.plugin "
                      "out, or set it to \"%s\"",
                      s->instance[OSAFL_KIND_AGGREGATOR].plugin->name, named->plugin->name, wanted,
                      wanted);
    return OSAFL_E_CONFIG;
}

static osafl_status create_optimizer(struct session *s, struct loader *l, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_OPTIMIZER;
    OSAFL_TRY(choose_optimizer(s, l, d));
    OSAFL_TRY(create_instance(s, kind, &s->facts, d));
    osafl_call c;
    const osafl_optimizer_vt *vt = session_optimizer(s);
    osafl_optimizer_info *info = &s->optimizer;
    *info = (osafl_optimizer_info){.struct_size = sizeof *info};
    call_begin(&c, &s->instance[kind], OSAFL_NO_CLIENT, 0);
    OSAFL_TRY(end_describe(&c, vt->describe(s->instance[kind].self, &c, info), d));
    if (!floats_are_few(s, info->client_floats) || !floats_are_few(s, info->round_floats) ||
        (info->client_floats > 0 && vt->received == NULL) ||
        (info->uplink_vectors > 0 && vt->finish == NULL))
        return refuse(s, kind, d, OSAFL_E_BUG,
                      "describe() gives too many floats, or vectors that it never fills");
    if (info->broadcast_floats != s->aggregator.broadcast_floats)
        return misfit(s, d, "sends down", "floats", s->aggregator.broadcast_floats,
                      info->broadcast_floats);
    if (info->uplink_vectors != s->aggregator.uplink_vectors)
        return misfit(s, d, "wants back", "vectors", s->aggregator.uplink_vectors,
                      info->uplink_vectors);
    return OSAFL_OK;
}

static osafl_status create_quantizer(struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_QUANTIZER;
    OSAFL_TRY(create_instance(s, kind, &s->facts, d));
    osafl_call c;
    osafl_quantizer_info *info = &s->codec.info;
    *info = (osafl_quantizer_info){.struct_size = sizeof *info};
    s->codec.quantizer = &s->instance[kind];
    call_begin(&c, &s->instance[kind], OSAFL_NO_CLIENT, 0);
    OSAFL_TRY(
        end_describe(&c, session_quantizer(s)->describe(s->instance[kind].self, &c, info), d));
    if (!floats_are_few(s, info->client_floats) ||
        !(info->payload_bits > 0.0 && isfinite(info->payload_bits)))
        return refuse(s, kind, d, OSAFL_E_BUG,
                      "describe() gives more floats than any method keeps of a client, or a "
                      "payload that is not positive and finite");
    return OSAFL_OK;
}

/* The measure of this name among n; n: there is none. */
static uint32_t find_measure(const osafl_metric *measure, uint32_t n, uint32_t stride,
                             const char *name)
{
    uint32_t m = 0;
    while (m < n && strcmp(OSAFL_AT(osafl_metric, measure, stride, m)->name, name) != 0)
        m++;
    return m;
}

static osafl_status refuse_measure(const struct session *s, struct diagnostics *d)
{
    const struct chosen_plugin *chosen = &s->experiment->chosen[OSAFL_KIND_DELETION];
    const osafl_model_info *model = &s->model;
    char list[512] = "";
    size_t used = 0;
    for (uint32_t m = 0; m < model->n_measures + model->n_sample_measures; m++) {
        const bool score = m >= model->n_measures;
        const osafl_metric *one =
            OSAFL_AT(osafl_metric, score ? model->sample_measures : model->measures,
                     model->measure_size, score ? m - model->n_measures : m);
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", m == 0 ? "" : ", ",
                                     one->name);
    }
    diagnostics_error(
        d, chosen->file, chosen->line,
        "deletion.plugin = \"%s\" uses the measure \"%s\", which model/%s does not "
        "have; it has %s: choose a deletion plugin or a setting of this one that goes "
        "by one of these, or another model",
        chosen->loaded->plugin->name, s->deletion.measure,
        s->instance[OSAFL_KIND_MODEL].plugin->name, list);
    return OSAFL_E_CONFIG;
}

/* Where the model has what the deletion policy goes by. */
static osafl_status choose_measure(struct session *s, struct diagnostics *d)
{
    const struct chosen_plugin *chosen = &s->experiment->chosen[OSAFL_KIND_DELETION];
    const osafl_model_info *model = &s->model;
    const char *name = s->deletion.measure;
    if (name == NULL)
        return OSAFL_OK;
    if (!s->experiment->training.enabled) {
        diagnostics_error(
            d, chosen->file, chosen->line,
            "deletion.plugin = \"%s\" measures each sample with the model, which does not learn "
            "with training.enabled = false; choose one that does not, or "
            "leave out training.enabled",
            chosen->loaded->plugin->name);
        return OSAFL_E_CONFIG;
    }
    s->measure_stride = model->n_measures;
    s->measure_index = find_measure(model->measures, model->n_measures, model->measure_size, name);
    if (s->measure_index < model->n_measures)
        return OSAFL_OK;
    s->measure_is_score = true;
    s->measure_stride = model->n_sample_measures;
    s->measure_index =
        find_measure(model->sample_measures, model->n_sample_measures, model->measure_size, name);
    return s->measure_index < model->n_sample_measures ? OSAFL_OK : refuse_measure(s, d);
}

static osafl_status create_deletion(struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_DELETION;
    OSAFL_TRY(create_instance(s, kind, &s->facts, d));
    const osafl_deletion_vt *vt = VTABLE(osafl_deletion_vt, OSAFL_KIND_DELETION);
    s->deletion = (osafl_deletion_info){.struct_size = sizeof s->deletion};
    if (vt->describe == NULL)
        return OSAFL_OK;
    osafl_call c;
    call_begin(&c, &s->instance[kind], OSAFL_NO_CLIENT, 0);
    OSAFL_TRY(end_describe(&c, vt->describe(s->instance[kind].self, &c, &s->deletion), d));
    return choose_measure(s, d);
}

static osafl_status create_selection(struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_SELECTION;
    OSAFL_TRY(create_instance(s, kind, &s->facts, d));
    s->selection = (osafl_selection_info){.struct_size = sizeof s->selection};
    if (session_selection(s)->describe == NULL)
        return OSAFL_OK;
    osafl_call c;
    call_begin(&c, &s->instance[kind], OSAFL_NO_CLIENT, 0);
    return end_describe(
        &c, session_selection(s)->describe(s->instance[kind].self, &c, &s->selection), d);
}

static osafl_status create_filter(struct session *s, struct diagnostics *d)
{
    const uint32_t kind = OSAFL_KIND_FILTER;
    OSAFL_TRY(create_instance(s, kind, &s->facts, d));
    if (!plugin_has_feature(s->instance[kind].plugin, "private"))
        return OSAFL_OK;
    if (s->experiment->uplink.late.index == LATE_CARRY)
        return refuse(s, kind, d, OSAFL_E_CONFIG,
                      "counts privacy by the round in which a client is asked, so that its updates "
                      "cannot be late; leave out uplink.late");
    if (s->aggregator.uplink_vectors == 0)
        return OSAFL_OK;
    diagnostics_error(
        d, NULL, 0,
        "filter.plugin = \"%s\" and aggregator.plugin = \"%s\" do not fit: the filter "
        "makes an update private, and the method sends %u further vectors with it; "
        "take a method that sends none, such as fedavg",
        s->instance[kind].plugin->name, s->instance[OSAFL_KIND_AGGREGATOR].plugin->name,
        s->aggregator.uplink_vectors);
    return OSAFL_E_CONFIG;
}

static void gather_facts(struct session *s)
{
    const struct experiment *e = s->experiment;
    const osafl_facts facts = {
        .struct_size = sizeof(osafl_facts),
        .clients = (uint32_t)e->clients.count,
        .rounds = (uint32_t)e->general.rounds,
        .batch = (uint32_t)e->training.batch,
        .cost_steps = (uint32_t)e->training.cost_minibatches,
        .max_local_rounds = (uint32_t)e->training.max_local_rounds,
        .deadline_s = e->general.deadline_s,
    };
    s->dataset_facts = s->model_facts = s->facts = facts;
}

static osafl_status create_all(struct session *s, struct loader *l, struct diagnostics *d)
{
    static const uint32_t others[] = {OSAFL_KIND_PARTITION, OSAFL_KIND_DRIFT, OSAFL_KIND_ARRIVAL};
    OSAFL_TRY(create_dataset(s, d));
    OSAFL_TRY(count_labels(s, d));
    OSAFL_TRY(create_model(s, d));
    OSAFL_TRY(check_measures(s, d));
    OSAFL_TRY(create_aggregator(s, d));
    if (!session_has_link(s) && !s->experiment->training.enabled)
        return refuse(s, OSAFL_KIND_AGGREGATOR, d, OSAFL_E_CONFIG,
                      "has no link to simulate, so nothing would remain of the run with "
                      "training.enabled = false");
    if (session_has_link(s))
        OSAFL_TRY(create_link(s, d));
    OSAFL_TRY(create_optimizer(s, l, d));
    if (session_has_link(s))
        OSAFL_TRY(create_quantizer(s, d));
    OSAFL_TRY(create_deletion(s, d));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        OSAFL_TRY(create_instance(s, others[i], &s->facts, d));
    OSAFL_TRY(create_selection(s, d));
    return create_filter(s, d);
}

struct world_plugins session_world_plugins(const struct session *s)
{
    return (struct world_plugins){
        .dataset = &s->instance[OSAFL_KIND_DATASET],
        .info = &s->dataset,
        .label_share = s->label_share,
        .partition = &s->instance[OSAFL_KIND_PARTITION],
        .drift = &s->instance[OSAFL_KIND_DRIFT],
        .arrival = &s->instance[OSAFL_KIND_ARRIVAL],
        .deletion = &s->instance[OSAFL_KIND_DELETION],
    };
}

osafl_status session_create(struct session *s, struct experiment *e, struct loader *l,
                            const struct host_context *context, struct diagnostics *d)
{
    *s = (struct session){.experiment = e, .context = *context};
    gather_facts(s);
    const osafl_status status = create_all(s, l, d);
    if (status != OSAFL_OK)
        session_destroy(s);
    return status;
}

void session_destroy(struct session *s)
{
    for (uint32_t kind = LOADER_KINDS; kind >= 1; kind--)
        if (s->instance[kind].plugin != NULL)
            instance_destroy(&s->instance[kind]);
    free(s->label_share);
    *s = (struct session){0};
}

/* A setting_visitor: arg[512] is where model.start stands. */
static osafl_status find_start(void *arg, const struct setting *s)
{
    if (strcmp(s->group, "model") == 0 && strcmp(s->key, "start") == 0)
        snprintf(arg, 512, "%s", s->origin);
    return OSAFL_OK;
}

osafl_status session_start_weights(const struct session *s, float *w, struct error *error)
{
    const char *path = s->experiment->model.start;
    struct error why;
    if (path == NULL || path[0] == '\0')
        return OSAFL_OK;
    const osafl_status status =
        weights_read(path, &s->instance[OSAFL_KIND_MODEL], &s->model, w, NULL, &why);
    if (status == OSAFL_OK)
        return OSAFL_OK;
    char place[512] = "";
    OSAFL_TRY(experiment_visit(s->experiment, find_start, place));
    /* A file that the experiment names, as one that is malformed. */
    return error_set(error, status == OSAFL_E_IO ? OSAFL_E_DATA : status, "%s: model.start: %s",
                     place, why.text);
}
