/* plugin_verify.c - does what a plugin says about itself keep the rules of the interface? */
#include "plugin_verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "kinds.h"
#include "osafl/osafl.h"
#include "plugin_file.h"

/* No honest table comes near these; they bound what a damaged one can make us read. */
enum { MOST_PARAMS = 1000, MOST_METRICS = 1000, MOST_CHOICES = 1000, MOST_FEATURES = 100 };
#define MOST_CONFIG_BYTES (UINT32_C(1) << 20)

#define REBUILD                                                                                    \
    "; rebuild it with the headers of osafl " OSAFL_VERSION                                        \
    " (ABI " OSAFL_STR(OSAFL_ABI_MAJOR) "." OSAFL_STR(OSAFL_ABI_MINOR) ")"

/* Plugins of this minor and of all later ones are taken; before it the interface was in the making.
 */
enum { OLDEST_MINOR = 2 };

/* Where a struct ended in OLDEST_MINOR, by its last member then. */
#define END_OF(T, m) ((uint32_t)(offsetof(T, m) + sizeof((const T *)NULL)->m))

/* Whether a plugin of this minor can have a struct of this size, which ended at `least` in
 * OLDEST_MINOR and has `own` bytes here: as large for the same minor, no larger for an older one,
 * no smaller for a newer one. */
static bool size_fits(const osafl_plugin *p, uint32_t size, uint32_t least, size_t own)
{
    if (p->abi_minor == OSAFL_ABI_MINOR)
        return size == own;
    return size >= least && (p->abi_minor < OSAFL_ABI_MINOR ? size <= own : size >= own);
}

/* rule: the number in sdk/RULES.md of what is broken. */
static OSAFL_PRINTF(3, 4) bool refuse(struct error *error, unsigned rule, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(error->text, sizeof error->text, fmt, args);
    va_end(args);
    text_append(error->text, sizeof error->text, " (rule R%u)", rule);
    return false;
}

/* ---- operations ---------------------------------------------------------------------------- */

enum slot_rule {
    SLOT_REQUIRED = 1,
    SLOT_OPTIONAL,
    SLOT_WITH_NEXT, /* both this and the one after it, or neither */
};

struct slot {
    const char *name;
    uint32_t offset;
    uint32_t rule;
};

#define SLOT(T, m, r)                                                                              \
    {                                                                                              \
        .name = #m, .offset = (uint32_t)offsetof(T, m), .rule = (r)                                \
    }

static const struct slot life_slots[] = {
    SLOT(osafl_lifecycle, check, SLOT_OPTIONAL),   SLOT(osafl_lifecycle, create, SLOT_WITH_NEXT),
    SLOT(osafl_lifecycle, destroy, SLOT_OPTIONAL), SLOT(osafl_lifecycle, save, SLOT_WITH_NEXT),
    SLOT(osafl_lifecycle, load, SLOT_OPTIONAL),    SLOT(osafl_lifecycle, extension, SLOT_OPTIONAL),
};
static const struct slot dataset_slots[] = {
    SLOT(osafl_dataset_vt, describe, SLOT_REQUIRED),
    SLOT(osafl_dataset_vt, label, SLOT_REQUIRED),
    SLOT(osafl_dataset_vt, read, SLOT_REQUIRED),
    SLOT(osafl_dataset_vt, sample_of, SLOT_OPTIONAL),
    SLOT(osafl_dataset_vt, client_of, SLOT_OPTIONAL),
    SLOT(osafl_dataset_vt, time_of, SLOT_OPTIONAL),
};
static const struct slot model_slots[] = {
    SLOT(osafl_model_vt, describe, SLOT_REQUIRED),
    SLOT(osafl_model_vt, workspace_bytes, SLOT_REQUIRED),
    SLOT(osafl_model_vt, init, SLOT_REQUIRED),
    SLOT(osafl_model_vt, gradient, SLOT_REQUIRED),
    SLOT(osafl_model_vt, evaluate, SLOT_REQUIRED),
    SLOT(osafl_model_vt, sgd_step, SLOT_OPTIONAL),
    SLOT(osafl_model_vt, export_tensor, SLOT_WITH_NEXT),
    SLOT(osafl_model_vt, import_tensor, SLOT_OPTIONAL),
    SLOT(osafl_model_vt, score, SLOT_OPTIONAL),
};
static const struct slot channel_slots[] = {
    SLOT(osafl_channel_vt, describe, SLOT_REQUIRED),
    SLOT(osafl_channel_vt, gains, SLOT_REQUIRED),
    SLOT(osafl_channel_vt, place, SLOT_OPTIONAL),
};
static const struct slot resource_slots[] = {
    SLOT(osafl_resource_vt, solve, SLOT_REQUIRED),
};
static const struct slot optimizer_slots[] = {
    SLOT(osafl_optimizer_vt, describe, SLOT_REQUIRED),
    SLOT(osafl_optimizer_vt, rate, SLOT_REQUIRED),
    SLOT(osafl_optimizer_vt, step, SLOT_REQUIRED),
    SLOT(osafl_optimizer_vt, begin, SLOT_OPTIONAL),
    SLOT(osafl_optimizer_vt, finish, SLOT_OPTIONAL),
    SLOT(osafl_optimizer_vt, received, SLOT_OPTIONAL),
    SLOT(osafl_optimizer_vt, start, SLOT_OPTIONAL),
    SLOT(osafl_optimizer_vt, leave, SLOT_OPTIONAL),
    SLOT(osafl_optimizer_vt, personal, SLOT_OPTIONAL),
};
static const struct slot quantizer_slots[] = {
    SLOT(osafl_quantizer_vt, describe, SLOT_REQUIRED),
    SLOT(osafl_quantizer_vt, encode, SLOT_REQUIRED),
    SLOT(osafl_quantizer_vt, verify, SLOT_REQUIRED),
    SLOT(osafl_quantizer_vt, decode, SLOT_REQUIRED),
    SLOT(osafl_quantizer_vt, axpy, SLOT_OPTIONAL),
    SLOT(osafl_quantizer_vt, dot, SLOT_OPTIONAL),
    SLOT(osafl_quantizer_vt, packet_bits, SLOT_OPTIONAL),
};
static const struct slot deletion_slots[] = {
    SLOT(osafl_deletion_vt, select, SLOT_REQUIRED),
    SLOT(osafl_deletion_vt, describe, SLOT_OPTIONAL),
};
static const struct slot aggregator_slots[] = {
    SLOT(osafl_aggregator_vt, describe, SLOT_REQUIRED),
    SLOT(osafl_aggregator_vt, aggregate, SLOT_REQUIRED),
    SLOT(osafl_aggregator_vt, broadcast, SLOT_OPTIONAL),
};

static const struct slot partition_slots[] = {
    SLOT(osafl_partition_vt, describe, SLOT_REQUIRED),
    SLOT(osafl_partition_vt, mix, SLOT_OPTIONAL),
    SLOT(osafl_partition_vt, owner, SLOT_OPTIONAL),
};
static const struct slot drift_slots[] = {
    SLOT(osafl_drift_vt, at, SLOT_REQUIRED),
};
static const struct slot arrival_slots[] = {
    SLOT(osafl_arrival_vt, arrive, SLOT_REQUIRED),
    SLOT(osafl_arrival_vt, fill, SLOT_OPTIONAL),
};
static const struct slot selection_slots[] = {
    SLOT(osafl_selection_vt, choose, SLOT_REQUIRED),
    SLOT(osafl_selection_vt, describe, SLOT_OPTIONAL),
};
static const struct slot filter_slots[] = {
    SLOT(osafl_filter_vt, touches, SLOT_OPTIONAL),
    SLOT(osafl_filter_vt, labels, SLOT_OPTIONAL),
    SLOT(osafl_filter_vt, update, SLOT_OPTIONAL),
    SLOT(osafl_filter_vt, end_round, SLOT_OPTIONAL),
};

static const struct slot transport_slots[] = {
    SLOT(osafl_transport_vt, start, SLOT_REQUIRED),
    SLOT(osafl_transport_vt, host_name, SLOT_REQUIRED),
    SLOT(osafl_transport_vt, exchange, SLOT_REQUIRED),
    SLOT(osafl_transport_vt, stop, SLOT_REQUIRED),
};

/* A table of n operations in a vtable of `size` bytes, which had `least` in OLDEST_MINOR. */
struct slots {
    const struct slot *slot;
    uint32_t n;
    uint32_t size;
    uint32_t least;
};

/* last: the last operation of the kind in OLDEST_MINOR. */
#define SLOTS(table, T, last)                                                                      \
    {                                                                                              \
        .slot = (table), .n = sizeof(table) / sizeof((table)[0]), .size = sizeof(T),               \
        .least = END_OF(T, last)                                                                   \
    }

static const struct slots slots_of_kind[LOADER_KINDS + 1] = {
    [OSAFL_KIND_DATASET] = SLOTS(dataset_slots, osafl_dataset_vt, time_of),
    [OSAFL_KIND_MODEL] = SLOTS(model_slots, osafl_model_vt, score),
    [OSAFL_KIND_CHANNEL] = SLOTS(channel_slots, osafl_channel_vt, place),
    [OSAFL_KIND_RESOURCE] = SLOTS(resource_slots, osafl_resource_vt, solve),
    [OSAFL_KIND_OPTIMIZER] = SLOTS(optimizer_slots, osafl_optimizer_vt, personal),
    [OSAFL_KIND_QUANTIZER] = SLOTS(quantizer_slots, osafl_quantizer_vt, packet_bits),
    [OSAFL_KIND_DELETION] = SLOTS(deletion_slots, osafl_deletion_vt, describe),
    [OSAFL_KIND_AGGREGATOR] = SLOTS(aggregator_slots, osafl_aggregator_vt, broadcast),
    [OSAFL_KIND_PARTITION] = SLOTS(partition_slots, osafl_partition_vt, owner),
    [OSAFL_KIND_DRIFT] = SLOTS(drift_slots, osafl_drift_vt, at),
    [OSAFL_KIND_ARRIVAL] = SLOTS(arrival_slots, osafl_arrival_vt, fill),
    [OSAFL_KIND_SELECTION] = SLOTS(selection_slots, osafl_selection_vt, describe),
    [OSAFL_KIND_FILTER] = SLOTS(filter_slots, osafl_filter_vt, end_round),
    [OSAFL_KIND_TRANSPORT] = SLOTS(transport_slots, osafl_transport_vt, stop),
};

/* An operation that the plugin's headers did not have is empty.  Null pointers of functions are all
 * zero bits on every machine of this program. */
static bool slot_is_empty(const osafl_lifecycle *vtable, const struct slot *slot)
{
    static const unsigned char zero[sizeof(void (*)(void))];
    if (slot->offset + sizeof zero > vtable->struct_size)
        return true;
    return memcmp((const unsigned char *)(const void *)vtable + slot->offset, zero, sizeof zero) ==
           0;
}

static bool verify_slots(const osafl_lifecycle *vtable, const struct slot *slot, uint32_t n,
                         struct error *error)
{
    for (uint32_t i = 0; i < n; i++) {
        const bool empty = slot_is_empty(vtable, &slot[i]);
        if (slot[i].rule == SLOT_REQUIRED && empty)
            return refuse(error, 10,
                          "lacks the operation %s, which its kind requires; set .%s in its vtable",
                          slot[i].name, slot[i].name);
        if (slot[i].rule == SLOT_WITH_NEXT && empty != slot_is_empty(vtable, &slot[i + 1]))
            return refuse(error, 10, "has %s without %s; both or neither must be there",
                          slot[i + (empty ? 1 : 0)].name, slot[i + (empty ? 0 : 1)].name);
    }
    return true;
}

/* Nobody would fill a config, or make an instance. */
static bool verify_lack(const osafl_plugin *p, struct error *error)
{
    if (kind_is_of_experiments(p->kind) ||
        (p->n_params == 0 && p->n_metrics == 0 && p->vtable->create == NULL))
        return true;
    return refuse(error, 10,
                  "has settings, metrics or create(), and no experiment names a %s; leave them out",
                  kind_name(p->kind));
}

static bool verify_vtable(const osafl_plugin *p, struct error *error)
{
    const struct slots *slots = &slots_of_kind[p->kind];
    if (p->vtable == NULL)
        return refuse(error, 10, "has no vtable; set .vtable = &VTABLE.life");
    const char *kind = kind_name(p->kind);
    if (!size_fits(p, p->vtable->struct_size, slots->least, slots->size))
        return refuse(error, 1,
                      "has a vtable of %u bytes where the one of kind %s has %u; set "
                      ".life.struct_size = sizeof(osafl_%s_vt), or .kind if it is of another kind",
                      (unsigned)p->vtable->struct_size, kind, (unsigned)slots->size, kind);
    const uint32_t n_life = sizeof life_slots / sizeof life_slots[0];
    return verify_slots(p->vtable, life_slots, n_life, error) &&
           verify_slots(p->vtable, slots->slot, slots->n, error) && verify_lack(p, error);
}

/* ---- parameters ---------------------------------------------------------------------------- */

/* [a-z][a-z0-9_]*, short enough for a message. */
static bool word_is_valid(const char *word)
{
    return word != NULL && plugin_name_is_valid(word);
}

static bool text_is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

struct member {
    uint32_t size;
    uint32_t alignment;
};

/* What a parameter of a type occupies in the config struct. */
static struct member member_of(uint32_t type)
{
    switch (type) {
    case OSAFL_T_BOOL:
        return (struct member){sizeof(bool), _Alignof(bool)};
    case OSAFL_T_INT:
        return (struct member){sizeof(int64_t), _Alignof(int64_t)};
    case OSAFL_T_REAL:
        return (struct member){sizeof(double), _Alignof(double)};
    case OSAFL_T_TEXT:
    case OSAFL_T_PATH:
        return (struct member){sizeof(const char *), _Alignof(const char *)};
    case OSAFL_T_CHOICE:
        return (struct member){sizeof(osafl_choice), _Alignof(osafl_choice)};
    case OSAFL_T_RANGE:
        return (struct member){sizeof(osafl_range), _Alignof(osafl_range)};
    case OSAFL_T_REALS:
        return (struct member){sizeof(osafl_reals), _Alignof(osafl_reals)};
    case OSAFL_T_ROWS:
        return (struct member){sizeof(osafl_rows), _Alignof(osafl_rows)};
    default:
        return (struct member){0, 1};
    }
}

static bool real_is_inside(const osafl_param *q, double value)
{
    return isfinite(value) && value >= q->lo.r && value <= q->hi.r &&
           !((q->flags & OSAFL_P_LO_OPEN) != 0 && value == q->lo.r) &&
           !((q->flags & OSAFL_P_HI_OPEN) != 0 && value == q->hi.r);
}

static bool int_is_inside(const osafl_param *q, int64_t value)
{
    return value >= q->lo.i && value <= q->hi.i &&
           !((q->flags & OSAFL_P_LO_OPEN) != 0 && value == q->lo.i) &&
           !((q->flags & OSAFL_P_HI_OPEN) != 0 && value == q->hi.i);
}

static bool verify_words(const osafl_param *q, int64_t n, struct error *error)
{
    if (q->lo.i < 0 || q->lo.i > q->hi.i)
        return refuse(error, 18, "has parameter %s with words for numbers below 0 in its range",
                      q->name);
    const bool has_default = (q->flags & OSAFL_P_REQUIRED) == 0;
    if (has_default && (q->def.i < 0 ? q->def.i < -n : !int_is_inside(q, q->def.i)))
        return refuse(error, 18, "has parameter %s with default %lld outside its range", q->name,
                      (long long)q->def.i);
    return true;
}

static bool verify_choices(const osafl_param *q, struct error *error)
{
    if (q->choices == NULL || q->choices[0] == NULL)
        return refuse(error, 18, "has parameter %s without choices", q->name);
    int64_t n = 0;
    for (; q->choices[n] != NULL; n++) {
        if (n == MOST_CHOICES || q->choices[n][0] == '\0')
            return refuse(error, 18, "has parameter %s with an empty choice or an endless list",
                          q->name);
        for (int64_t i = 0; i < n; i++) {
            if (strcmp(q->choices[i], q->choices[n]) == 0)
                return refuse(error, 18, "has parameter %s with the choice \"%s\" twice", q->name,
                              q->choices[n]);
        }
    }
    if (q->type == OSAFL_T_INT) /* words for -1, -2, ... */
        return verify_words(q, n, error);
    if ((q->flags & OSAFL_P_REQUIRED) == 0 && (q->def.i < 0 || q->def.i >= n))
        return refuse(error, 18, "has parameter %s with default number %lld of %lld choices",
                      q->name, (long long)q->def.i, (long long)n);
    return true;
}

static bool verify_table(const osafl_plugin *p, const osafl_row_type *t, bool of_rows,
                         struct error *error);

static bool verify_rows(const osafl_plugin *p, const osafl_param *q, struct error *error)
{
    if (q->def.row == NULL || q->def.row->n_params == 0)
        return refuse(error, 18, "has parameter %s, whose rows hold nothing", q->name);
    if (q->lo.i < 0 || q->lo.i > q->hi.i)
        return refuse(error, 18, "has parameter %s with an empty range", q->name);
    return verify_table(p, q->def.row, true, error);
}

/* Bounds, and that a default keeps them: the table documents, checks and fuzzes. */
static bool verify_values(const osafl_plugin *p, const osafl_param *q, struct error *error)
{
    const bool has_default = (q->flags & OSAFL_P_REQUIRED) == 0;
    switch (q->type) {
    case OSAFL_T_BOOL:
        if (has_default && q->def.i != 0 && q->def.i != 1)
            return refuse(error, 18,
                          "has parameter %s with a default that is neither true nor false",
                          q->name);
        return true;
    case OSAFL_T_INT:
        if (q->choices != NULL)
            return verify_choices(q, error);
        if (q->lo.i > q->hi.i)
            return refuse(error, 18, "has parameter %s with an empty range", q->name);
        if (has_default && !int_is_inside(q, q->def.i))
            return refuse(error, 18, "has parameter %s with default %lld outside its range",
                          q->name, (long long)q->def.i);
        return true;
    case OSAFL_T_REAL:
    case OSAFL_T_RANGE:
    case OSAFL_T_REALS:
        if (!(q->lo.r <= q->hi.r)) /* also false for NaN */
            return refuse(error, 18, "has parameter %s with an empty range", q->name);
        if (q->type == OSAFL_T_REALS || !has_default)
            return true;
        if (!real_is_inside(q, q->def.r))
            return refuse(error, 18, "has parameter %s with default %g outside its range", q->name,
                          q->def.r);
        if (q->type == OSAFL_T_RANGE && (!real_is_inside(q, q->def_hi.r) || q->def.r > q->def_hi.r))
            return refuse(error, 18,
                          "has parameter %s with default [%g, %g], which is no range inside its "
                          "bounds",
                          q->name, q->def.r, q->def_hi.r);
        return true;
    case OSAFL_T_CHOICE:
        return verify_choices(q, error);
    case OSAFL_T_ROWS:
        return verify_rows(p, q, error);
    default: /* texts and paths have no bounds */
        return true;
    }
}

/* Parameter `number` of a plugin's own table, or of the rows of one of its parameters. */
static bool verify_param(const osafl_plugin *p, const osafl_row_type *t, bool of_rows,
                         uint32_t number, struct error *error)
{
    const osafl_param *q = OSAFL_AT(osafl_param, t->params, t->param_size, number);
    if (!word_is_valid(q->name))
        return refuse(error, 7,
                      "has parameter number %u with a name that is not [a-z][a-z0-9_]{0,47}",
                      (unsigned)number);
    if (!text_is_given(q->doc))
        return refuse(error, 7, "has parameter %s without a sentence that explains it", q->name);
    const struct member member = member_of(q->type);
    if (member.size == 0)
        return refuse(error, 12,
                      "has parameter %s of type %u, which this program does not know" REBUILD,
                      q->name, (unsigned)q->type);
    const uint32_t known =
        OSAFL_P_REQUIRED | OSAFL_P_LO_OPEN | OSAFL_P_HI_OPEN | OSAFL_P_NO_EFFECT | OSAFL_P_LATER;
    if ((q->flags & ~known) != 0 || q->reserved != 0)
        return refuse(error, 12,
                      "has parameter %s with flags that this program does not know" REBUILD,
                      q->name);
    if ((q->flags & OSAFL_P_LATER) != 0 && (q->flags & OSAFL_P_REQUIRED) != 0)
        return refuse(error, 18, "has parameter %s that came later and has no default", q->name);
    if (of_rows &&
        (q->type == OSAFL_T_PATH || q->type == OSAFL_T_ROWS || (q->flags & OSAFL_P_NO_EFFECT) != 0))
        return refuse(error, 18,
                      "has parameter %s in rows, which hold no paths, no rows and nothing "
                      "without effect",
                      q->name);
    if (q->offset > t->size || member.size > t->size - q->offset ||
        q->offset % member.alignment != 0)
        return refuse(error, 1,
                      "has parameter %s at offset %u, which is no place for it in a config of "
                      "%u bytes",
                      q->name, (unsigned)q->offset, (unsigned)t->size);
    for (uint32_t i = 0; i < number; i++) {
        const osafl_param *other = OSAFL_AT(osafl_param, t->params, t->param_size, i);
        if (strcmp(other->name, q->name) == 0)
            return refuse(error, 18, "has parameter %s twice", q->name);
        if (other->offset < q->offset + member.size &&
            q->offset < other->offset + member_of(other->type).size)
            return refuse(error, 18, "has parameters %s and %s in one place of its config",
                          other->name, q->name);
    }
    return verify_values(p, q, error);
}

static bool verify_table(const osafl_plugin *p, const osafl_row_type *t, bool of_rows,
                         struct error *error)
{
    if (t->params == NULL || t->n_params > MOST_PARAMS || t->size > MOST_CONFIG_BYTES)
        return refuse(error, 18,
                      "has no plausible table of parameters (%u rows, config of %u bytes)",
                      (unsigned)t->n_params, (unsigned)t->size);
    if (!size_fits(p, t->param_size, END_OF(osafl_param, reserved), sizeof(osafl_param)))
        return refuse(error, 5,
                      "has rows of %u bytes in its table of parameters, this program %u" REBUILD,
                      (unsigned)t->param_size, (unsigned)sizeof(osafl_param));
    for (uint32_t i = 0; i < t->n_params; i++) {
        if (!verify_param(p, t, of_rows, i, error))
            return false;
    }
    return true;
}

static bool verify_params(const osafl_plugin *p, struct error *error)
{
    if (p->n_params == 0) {
        if (p->config_size != 0)
            return refuse(error, 18, "has a config of %u bytes but no parameters",
                          (unsigned)p->config_size);
        return true;
    }
    const osafl_row_type table = {.params = p->params,
                                  .n_params = p->n_params,
                                  .param_size = p->param_size,
                                  .size = p->config_size};
    return verify_table(p, &table, false, error);
}

/* ---- metrics ------------------------------------------------------------------------------- */

static bool verify_metrics(const osafl_plugin *p, struct error *error)
{
    if (p->n_metrics == 0)
        return true;
    if (p->metrics == NULL || p->n_metrics > MOST_METRICS)
        return refuse(error, 18, "has no plausible table of metrics (%u rows)",
                      (unsigned)p->n_metrics);
    if (!size_fits(p, p->metric_size, END_OF(osafl_metric, better), sizeof(osafl_metric)))
        return refuse(error, 5,
                      "has rows of %u bytes in its table of metrics, this program %u" REBUILD,
                      (unsigned)p->metric_size, (unsigned)sizeof(osafl_metric));
    for (uint32_t i = 0; i < p->n_metrics; i++) {
        const osafl_metric *m = OSAFL_AT(osafl_metric, p->metrics, p->metric_size, i);
        if (!word_is_valid(m->name))
            return refuse(error, 7,
                          "has metric number %u with a name that is not [a-z][a-z0-9_]{0,47}",
                          (unsigned)i);
        if (!text_is_given(m->doc))
            return refuse(error, 7, "has metric %s without a sentence that explains it", m->name);
        if (m->scope != OSAFL_PER_ROUND && m->scope != OSAFL_PER_CLIENT)
            return refuse(error, 12, "has metric %s that is neither per round nor per client",
                          m->name);
        if (m->better > OSAFL_LOWER)
            return refuse(error, 12, "has metric %s with an unknown direction in `better`",
                          m->name);
        for (uint32_t j = 0; j < i; j++) {
            const osafl_metric *other = OSAFL_AT(osafl_metric, p->metrics, p->metric_size, j);
            if (other->scope == m->scope && strcmp(other->name, m->name) == 0)
                return refuse(error, 18, "has metric %s twice", m->name);
        }
    }
    return true;
}

/* ---- the plugin itself --------------------------------------------------------------------- */

static bool verify_minor(const osafl_plugin *p, struct error *error)
{
    const unsigned minor = p->abi_minor;
    const unsigned needed = p->abi_minor_needed != 0 ? p->abi_minor_needed : minor;
    if (p->abi_major != OSAFL_ABI_MAJOR || minor < OLDEST_MINOR)
        return refuse(error, 2,
                      "was built for ABI %u.%u, this program has ABI %u.%u and takes plugins from "
                      "ABI %u.%u on" REBUILD,
                      (unsigned)p->abi_major, minor, (unsigned)OSAFL_ABI_MAJOR,
                      (unsigned)OSAFL_ABI_MINOR, (unsigned)OSAFL_ABI_MAJOR, (unsigned)OLDEST_MINOR);
    if (needed > OSAFL_ABI_MINOR)
        return refuse(error, 2,
                      "was built for ABI %u.%u and needs a program with ABI %u.%u, this program "
                      "has ABI %u.%u; install a newer osafl, or rebuild it with the headers of "
                      "osafl " OSAFL_VERSION,
                      (unsigned)p->abi_major, minor, (unsigned)p->abi_major, needed,
                      (unsigned)OSAFL_ABI_MAJOR, (unsigned)OSAFL_ABI_MINOR);
    return true;
}

static bool verify_abi(const osafl_plugin *p, struct error *error)
{
    if (p->struct_size == 0)
        return refuse(error, 1,
                      "does not state its struct_size; begin its osafl_plugin with "
                      "OSAFL_PLUGIN_HEAD, or with osafl::describe() in C++");
    /* The version numbers lie right behind the size, in every ABI there has been. */
    if (p->struct_size < offsetof(osafl_plugin, kind))
        return refuse(error, 1, "describes itself in %u bytes, this program needs %u" REBUILD,
                      (unsigned)p->struct_size, (unsigned)sizeof(osafl_plugin));
    if (!verify_minor(p, error))
        return false;
    if (!size_fits(p, p->struct_size, END_OF(osafl_plugin, vtable), sizeof(osafl_plugin)))
        return refuse(error, 1, "describes itself in %u bytes, this program needs %u" REBUILD,
                      (unsigned)p->struct_size, (unsigned)sizeof(osafl_plugin));
    if (p->fingerprint == NULL || strcmp(p->fingerprint, OSAFL_FINGERPRINT) != 0)
        return refuse(error, 2,
                      "was built with layout \"%s\", this program with \"%s\"; use the same "
                      "compiler target" REBUILD,
                      p->fingerprint != NULL ? p->fingerprint : "", OSAFL_FINGERPRINT);
    return true;
}

static bool verify_identity(const osafl_plugin *p, uint32_t kind, const char *name,
                            struct error *error)
{
    if (p->kind == 0)
        return refuse(error, 11,
                      "does not state its kind; set .kind, such as OSAFL_KIND_AGGREGATOR");
    if (kind_name(p->kind) == NULL)
        return refuse(error, 12, "is of kind %u, which this program does not know" REBUILD,
                      (unsigned)p->kind);
    if (p->kind != kind)
        return refuse(
            error, 13,
            "is of kind %s but lies in the folder of kind %s; move it to %s/, or fix .kind",
            kind_name(p->kind), kind_name(kind), kind_name(p->kind));
    if (!text_is_given(p->name))
        return refuse(error, 7, "states no name; set .name = \"%s\", as its file is called", name);
    if (!word_is_valid(p->name))
        return refuse(error, 7, "has a name that is not [a-z][a-z0-9_]{0,47}");
    if (strcmp(p->name, name) != 0)
        return refuse(error, 13, "calls itself \"%s\"; name the file %s.so", p->name, p->name);
    if (!text_is_given(p->version))
        return refuse(error, 7, "states no version; set .version = \"0.1.0\"");
    if (!text_is_given(p->summary))
        return refuse(error, 7, "states no summary; say in .summary what it does, in one line");
    if (!text_is_given(p->license))
        return refuse(error, 7,
                      "states no license; set .license to an SPDX identifier such as \"MIT\"");
    for (uint32_t i = 0; p->features != NULL && p->features[i] != NULL; i++) {
        if (i == MOST_FEATURES || !word_is_valid(p->features[i]))
            return refuse(error, 7,
                          "has a feature whose name is not [a-z][a-z0-9_]{0,47}, or a list of "
                          "features that does not end with NULL");
    }
    return true;
}

osafl_status plugin_verify(const osafl_plugin *p, uint32_t kind, const char *name,
                           struct error *error)
{
    if (p == NULL)
        refuse(error, 10, "describes itself by NULL");
    const bool keeps_rules = p != NULL && verify_abi(p, error) &&
                             verify_identity(p, kind, name, error) && verify_params(p, error) &&
                             verify_metrics(p, error) && verify_vtable(p, error);
    return keeps_rules ? OSAFL_OK : OSAFL_E_BUG;
}
