/* confusion_record.h - confusion.json: which labels the model of a run takes for which. */
#ifndef OSAFL_CORE_CONFUSION_RECORD_H
#define OSAFL_CORE_CONFUSION_RECORD_H

#include "results/run_folder.h"
#include "round/confusion.h"

#define CONFUSION_FILE "confusion.json"

/* Writes FOLDER/confusion.json.  rounds: after which the model is that. */
osafl_status confusion_record_write(const struct run_folder *folder, const struct session *s,
                                    const struct confusion *c, uint32_t rounds,
                                    struct error *error);

#endif
