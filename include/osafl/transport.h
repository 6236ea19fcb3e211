/* osafl/transport.h - how do the processes of one run exchange what they computed?
 *
 * A transport carries bytes between the ranks of a run and knows nothing of what they mean.  It
 * changes no byte of a result, so no experiment names it: `osafl run --transport NAME` chooses it,
 * or the launcher under which the processes were started.
 *
 * It has no settings, metrics or instances: of the lifecycle only struct_size is set.  Unlike other
 * plugins it may start threads and processes, write to standard error and end the process: a rank
 * that has lost another one cannot go on.  All operations are called from one thread, and start()
 * before any other thread of the program exists. */
#ifndef OSAFL_TRANSPORT_H
#define OSAFL_TRANSPORT_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For `to` of exchange(). */
#define OSAFL_ALL_RANKS UINT32_MAX

typedef struct osafl_transport_wish {
    uint32_t struct_size;
    uint32_t lost_status; /* exit status of all ranks when one is lost */
    double limit_s;       /* a rank without a sign of life for so long is lost */
    uint32_t ranks;       /* that the user asks for; 0: as many as the launcher has started */
    uint32_t reserved;
} osafl_transport_wish;

typedef struct osafl_transport_place {
    uint32_t struct_size;
    uint32_t rank;  /* of this process, from 0 */
    uint32_t ranks; /* of the run */
    uint32_t reserved;
    const char *text; /* of the library: "Open MPI 4.1.4"; after a failure: why */
} osafl_transport_place;

typedef struct osafl_transport_vt {
    osafl_lifecycle life;
    /* Joins the others, or starts them; once in a process.  A transport whose launcher starts the
     * ranks joins those that there are, whatever the wish says of their number: the host compares.
     * From here on the ranks watch each other. */
    osafl_status (*start)(const osafl_transport_wish *wish, osafl_transport_place *place);
    /* The computer of a rank, for messages. */
    const char *(*host_name)(uint32_t rank);
    /* Every rank gives head and body, which count as one piece, and gets the pieces of all ranks
     * in data[rank] and bytes[rank], valid until the next exchange; with to < ranks that rank alone
     * gets them, and the others get nothing (0 bytes).  Waits for all ranks, which call it in the
     * same order with the same `to`. */
    osafl_status (*exchange)(const void *head, uint64_t head_bytes, const void *body,
                             uint64_t body_bytes, uint32_t to, const void **data, uint64_t *bytes);
    /* Waits until all ranks have called it, and leaves. */
    void (*stop)(void);
} osafl_transport_vt;

#ifdef __cplusplus
}
#endif
#endif
