/* data_record.c - data.json: what the samples of a run are and how the data set made them. */
#include "data_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_print.h"

/* Whole numbers without a fraction: they may be numbers of samples. */
static json_t *number(double value)
{
    if (!isfinite(value))
        return json_null(); /* against the rule, and nothing that JSON could hold */
    return value == floor(value) && fabs(value) < 0x1p53 ? json_integer((json_int_t)value)
                                                         : json_real(value);
}

static json_t *fact_value(const osafl_fact *fact, uint64_t i)
{
    return fact->text != NULL ? json_text(fact->text[i]) : number(fact->real[i]);
}

static json_t *fact_list(const osafl_fact *fact)
{
    json_t *list = json_array();
    bool complete = list != NULL;
    for (uint64_t i = 0; complete && i < fact->n; i++)
        complete = json_array_append_new(list, fact_value(fact, i)) == 0;
    if (complete)
        return list;
    json_decref(list);
    return NULL;
}

void data_record_add(void *record, const osafl_fact *fact)
{
    struct data_record *r = record;
    json_t *value = fact->single != 0 ? fact_value(fact, 0) : fact_list(fact);
    if (r->facts == NULL)
        r->facts = json_object();
    if (r->facts == NULL || json_object_set_new(r->facts, fact->key, value) != 0)
        r->incomplete = true;
}

void data_record_free(struct data_record *record)
{
    json_decref(record->facts);
    *record = (struct data_record){0};
}

static json_t *shape_list(const osafl_dataset_info *info)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < info->rank; i++)
        if (json_array_append_new(list, json_integer(info->shape[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *data_record_describe(const char *plugin, const osafl_dataset_info *info,
                             const struct data_record *record)
{
    const osafl_fact names = {.n = info->label_names != NULL ? info->labels : 0,
                              .text = info->label_names};
    const bool real = info->target_type == OSAFL_TARGET_REAL;
    json_t *classes = info->label_names != NULL
                          ? fact_list(&names)
                          : json_integer(real ? info->target_size : info->labels);
    json_t *all = json_pack("{s:s, s:o, s:o, s:o*}", "dataset", plugin, "shape", shape_list(info),
                            real ? "targets" : "classes", classes, "values",
                            info->x_type == OSAFL_X_INT32 ? json_string("int32") : NULL);
    if (all == NULL || record->incomplete ||
        (record->facts != NULL && json_object_update(all, record->facts) != 0)) {
        json_decref(all);
        return NULL;
    }
    return all;
}

osafl_status data_record_write(const struct run_folder *folder, const char *plugin,
                               const osafl_dataset_info *info, const struct data_record *record,
                               struct error *error)
{
    json_t *all = data_record_describe(plugin, info, record);
    char *text = all != NULL ? json_print(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(all);
    if (text == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for data.json");
    const osafl_status status = run_folder_replace(folder, DATA_FILE, text, strlen(text), error);
    free(text);
    return status;
}
