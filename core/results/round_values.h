/* round_values.h - the first measure of a run, round by round, read back from its rounds.csv. */
#ifndef OSAFL_CORE_ROUND_VALUES_H
#define OSAFL_CORE_ROUND_VALUES_H

#include <stdint.h>

#include "base/error.h"
#include "osafl/base.h"

struct round_values {
    double *value; /* [rounds]; NAN: not evaluated, or no finite number */
    uint32_t rounds;
    char measure[64]; /* "accuracy"; "" where the table has no measure */
};

/* Reads the first rows, at most `most` of them, of FOLDER/rounds.csv; a last line without its end
 * belongs to a run that is writing it, and is left out.  OSAFL_E_IO, OSAFL_E_DATA with
 * "FILE:LINE: ...", OSAFL_E_NOMEM; error: error.h.  Free *out after success. */
osafl_status round_values_read(const char *folder, uint32_t most, struct round_values *out,
                               struct error *error);
void round_values_free(struct round_values *v);

#endif
