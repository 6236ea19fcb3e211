/* kept_compare.h - are the results of a kept run those that were computed again? */
#ifndef OSAFL_CORE_KEPT_COMPARE_H
#define OSAFL_CORE_KEPT_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct kept_folders {
    const char *kept;
    const char *again;
    bool whole; /* all rounds of the kept run were computed again; else it may have more rows */
};

struct kept_verdict {
    char compared[512];           /* "rounds.csv, 4 columns of clients.csv" */
    char difference[ERROR_BYTES]; /* the first one; "": none */
};

/* Compares rounds.csv and clients.csv, and with `whole` model.safetensors and data.json, as far as
 * they are kept.  Of a table that holds only some columns, those are compared.  A row is known by
 * its first columns, so that a difference names its round and client.  OSAFL_E_IO, OSAFL_E_NOMEM.
 */
osafl_status kept_compare(const struct kept_folders *f, struct kept_verdict *out,
                          struct error *error);

#endif
