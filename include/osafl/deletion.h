/* osafl/deletion.h - which stored samples are deleted when new ones arrive? */
#ifndef OSAFL_DELETION_H
#define OSAFL_DELETION_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A client's samples: positions 0 .. stored - 1 are in the store, stored .. stored + arrived - 1
 * have just come.  Arrays have stored + arrived elements. */
typedef struct osafl_store_view {
    uint32_t struct_size;
    uint32_t client;
    uint32_t round;
    uint32_t labels; /* number of labels, C */
    uint32_t stored;
    uint32_t arrived;
    const int32_t *label;
    const uint32_t *age; /* rounds since the sample came; 0 for one that has just come */
    /* The measure that describe() names, of each sample under w^t, the model of the round that
     * ends; DBL_MAX where that is not finite.  NULL where none is named. */
    const double *measure;
} osafl_store_view;

typedef struct osafl_deletion_info {
    uint32_t struct_size;
    uint32_t reserved;
    /* A measure of the model (model.h), by name, that the policy uses; NULL: none.  It costs
     * the client the computing of a forward pass on each sample. */
    const char *measure;
} osafl_deletion_info;

/* Features: "keeps_arrivals": no arrival is ever chosen.  "concurrent": select() may run for
 * different clients at the same time and in any order of them, each client's rounds in order: the
 * instance keeps nothing between calls but what is a client's own. */
typedef struct osafl_deletion_vt {
    osafl_lifecycle life;
    /* REQUIRED.  Writes n distinct positions, n <= stored + arrived, in any order: those samples
     * leave.  n is how many there are beyond what the store has room for, so that a full store
     * gives up as many as arrive.  Called once per client and round in which n > 0, clients
     * ascending.  [coord], or [worker] with the feature "concurrent" */
    osafl_status (*select)(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                           uint32_t *position);
    /* The same answer every time; out is filled with 0.  (optional) [coord] */
    osafl_status (*describe)(void *self, osafl_call *c, osafl_deletion_info *out);
} osafl_deletion_vt;

#ifdef __cplusplus
}
#endif
#endif
