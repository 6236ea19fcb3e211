/* osafl/partition.h - which labels, or which samples, does a client see?
 *
 * A partition answers in one of three ways (osafl_partition_info.gives).  It gives mixes: the
 * probabilities of the labels that reach a client; the host then draws labels and deals samples of
 * them.  Or the data set's own owners, or owners of its own: each client then gets its own samples,
 * in an order that the host shuffles, or by their times where the data set has them.
 *
 * facts->label_share is the mix of the training split itself.  A label with share 0 has no sample:
 * no mix may give it a positive probability. */
#ifndef OSAFL_PARTITION_H
#define OSAFL_PARTITION_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    OSAFL_PARTITION_MIX = 1, /* mix() */
    OSAFL_PARTITION_NATURAL, /* the data set says to whom a sample belongs (client_of) */
    OSAFL_PARTITION_OWNER,   /* owner() */
};

typedef struct osafl_partition_info {
    uint32_t struct_size;
    uint32_t gives; /* OSAFL_PARTITION_* */
} osafl_partition_info;

/* Features: "concurrent": mix() may run for different clients at the same time, as in [worker]. */
typedef struct osafl_partition_vt {
    osafl_lifecycle life;
    /* REQUIRED.  The same answer every time.  [any] */
    osafl_status (*describe)(void *self, osafl_call *c, osafl_partition_info *out);
    /* mix[0..labels): probabilities that sum to 1, the draw-th mix of a client.  A pure function of
     * client and draw: clients' draws are independent and all of one distribution, so that a drift
     * from one draw to another keeps it, or, as the partition's summary then says, they are a
     * sequence.  Without drift there is only draw 0.  REQUIRED for OSAFL_PARTITION_MIX.  [coord],
     * or [worker] with the feature "concurrent" */
    osafl_status (*mix)(void *self, osafl_call *c, uint32_t client, uint32_t draw, double *mix);
    /* *client: to whom training sample i belongs; OSAFL_NO_CLIENT: to nobody.  A pure function of
     * i.  REQUIRED for OSAFL_PARTITION_OWNER.  [coord] */
    osafl_status (*owner)(void *self, osafl_call *c, uint64_t i, uint32_t *client);
} osafl_partition_vt;

#ifdef __cplusplus
}
#endif
#endif
