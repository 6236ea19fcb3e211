/* ranks.h - the processes of one run, and what they tell each other (osafl/transport.h).
 *
 * Every rank decides alike; rank 0 leads: it alone writes and prints.  Whatever the ranks share is
 * shared by all in the same order.  With each piece a rank says whether it has failed and whether
 * it was asked to stop, so that all go the same way.  A pointer to ranks that is NULL is a run of
 * one process.  Coordinator only. */
#ifndef OSAFL_CORE_RANKS_H
#define OSAFL_CORE_RANKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct diagnostics;
struct loader;
struct plugin_path;
struct ranks;

/* A rank that gives no sign of life for so long is lost. */
#define RANKS_LIMIT_S 60.0

struct ranks_wish {
    const char *transport; /* "mpi", "none"; NULL: as the launcher says */
    double limit_s;
    uint32_t ranks;   /* how many there shall be; 0: as many as there are */
    uint32_t threads; /* of this process */
    struct loader *loader;
};

/* Joins the other processes.  *out is NULL where there is one process.  Processes that were started
 * together and would not know of each other are refused; false, and the reason in d. */
bool ranks_open(const struct ranks_wish *wish, struct diagnostics *d, struct ranks **out);
/* Waits for the others, who learn whether and why this one has failed; the status of the first that
 * has.  NULL is allowed. */
osafl_status ranks_close(struct ranks *r, osafl_status status, struct error *error);

/* Whether a run can go over ranks, in one line: the transport's file, or what is missing and how to
 * get it.  Maps nothing. */
void ranks_print(const struct plugin_path *path, FILE *to);

uint32_t ranks_count(const struct ranks *r); /* 1 without ranks */
uint32_t ranks_own(const struct ranks *r);   /* 0 without */
bool ranks_lead(const struct ranks *r);      /* true without */

uint32_t ranks_threads(const struct ranks *r); /* of all ranks together */

/* So far: seconds in which this rank shared or waited for the others to, and bytes that it took. */
struct ranks_cost {
    double seconds;
    uint64_t bytes;
};
struct ranks_cost ranks_cost(const struct ranks *r);

/* What a rank gave; valid until the next time. */
struct rank_piece {
    const uint8_t *data;
    size_t bytes;
};

/* Gives status and bytes, and takes those of all ranks: *all is an array by rank.  Returns the
 * status of the first rank that has failed, with the reason in error, which then names that rank
 * where it is another one; nobody shares anything after that.  all: may be NULL. */
osafl_status ranks_share(struct ranks *r, osafl_status status, const void *own, size_t bytes,
                         const struct rank_piece **all, struct error *error);
/* The same, but rank 0 alone takes the bytes: for the others each piece is empty. */
osafl_status ranks_collect(struct ranks *r, osafl_status status, const void *own, size_t bytes,
                           const struct rank_piece **all, struct error *error);

/* Whether the run shall stop; the same for all ranks since they shared something last.  Without
 * ranks: stop_requested(). */
bool ranks_stopping(const struct ranks *r);

/* "rank 2 on NODE" */
void ranks_describe(const struct ranks *r, uint32_t rank, char *out, size_t size);

#endif
