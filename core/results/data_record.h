/* data_record.h - data.json: what the samples of a run are and how the data set made them. */
#ifndef OSAFL_CORE_DATA_RECORD_H
#define OSAFL_CORE_DATA_RECORD_H

#include <jansson.h>

#include "base/error.h"
#include "osafl/dataset.h"
#include "osafl/preparation.h"
#include "run_folder.h"

#define DATA_FILE "data.json"

/* Zeroed: empty. */
struct data_record {
    json_t *facts;
    bool incomplete; /* memory was short */
};

/* Adds what a data set reports; record: a struct data_record.  A fact_sink. */
void data_record_add(void *record, const osafl_fact *fact);

/* Plugin's name, shape, classes and the facts.  A new reference; NULL: out of memory. */
json_t *data_record_describe(const char *plugin, const osafl_dataset_info *info,
                             const struct data_record *record);

/* Writes that to FOLDER/data.json. */
osafl_status data_record_write(const struct run_folder *folder, const char *plugin,
                               const osafl_dataset_info *info, const struct data_record *record,
                               struct error *error);

void data_record_free(struct data_record *record);

#endif
