/* osafl/preparation.h - host extension "osafl.preparation/1": how a data set made its samples.
 *
 * A data set that finds the extension in create() may report what somebody needs who uses the
 * trained model elsewhere: how values were scaled, by which means and deviations, what the features
 * are called, which samples were held out.  `osafl check` prints the texts; a run writes all of it
 * to data.json next to the model, under the keys of the facts, in their order. */
#ifndef OSAFL_PREPARATION_H
#define OSAFL_PREPARATION_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OSAFL_PREPARATION_ID "osafl.preparation/1"

typedef struct osafl_fact {
    uint32_t struct_size;
    uint32_t single; /* 1: the one value itself, n is 1; 0: a list of n values */
    const char *key; /* [a-z][a-z0-9_]*, each once */
    uint64_t n;
    const char *const *text; /* n texts, UTF-8; or NULL, and then */
    const double *real;      /* n finite numbers */
} osafl_fact;

typedef struct osafl_preparation {
    uint32_t struct_size;
    uint32_t reserved;
    void (*record)(osafl_call *c,
                   const osafl_fact *fact); /* what it points to may then go; [coord] */
} osafl_preparation;

#ifdef __cplusplus
}
#endif
#endif
