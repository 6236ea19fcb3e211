/* round_values.h - a measure of a run, round by round, read back from its rounds.csv. */
#ifndef OSAFL_CORE_ROUND_VALUES_H
#define OSAFL_CORE_ROUND_VALUES_H

#include <stdint.h>

#include "base/error.h"
#include "osafl/base.h"

struct round_values {
    double *value; /* [rounds]; NAN: not evaluated, or no finite number */
    uint32_t rounds;
    char measure[64]; /* "accuracy"; "" where the table has no such measure */
    uint32_t field;   /* that holds it, from 0 */
};

/* Reads the first rows, at most `most` of them, of FOLDER/rounds.csv.  measure: "loss"; NULL: the
 * first one, by which runs are compared.  A last line without its end
 * belongs to a run that is writing it, and is left out.  OSAFL_E_IO, OSAFL_E_DATA with
 * "FILE:LINE: ...", OSAFL_E_NOMEM; error: error.h.  Free *out after success. */
osafl_status round_values_read(const char *folder, const char *measure, uint32_t most,
                               struct round_values *out, struct error *error);
void round_values_free(struct round_values *v);

#endif
