/* run_ranks.h - how the ranks of a run begin (plugin/ranks.h): the same program, plugins and data
 * on all, and the state with which rank 0 goes on. */
#ifndef OSAFL_CORE_RUN_RANKS_H
#define OSAFL_CORE_RUN_RANKS_H

#include "plugin/ranks.h"
#include "results/manifest.h"
#include "round/engine.h"
#include "run.h"

/* Where the run begins. */
struct run_beginning {
    bool is_complete; /* nothing is left to do */
    uint32_t round;
    uint32_t not_saved_before; /* no checkpoint before so many rounds are done */
};

/* Comes to one status.  A failure of this rank is told in d, that of another one in error. */
osafl_status run_ranks_agree(struct ranks *r, osafl_status status, const struct diagnostics *d,
                             struct error *error);

/* Whether everything that can change a byte is the same on all ranks; the first that differs from
 * rank 0 is named, with what differs. */
osafl_status run_ranks_compare(struct ranks *r, osafl_status status, const struct experiment *e,
                               const struct surroundings *around, const struct run_options *o,
                               struct error *error);

/* Rank 0 tells the others, with the state of its engine where rounds are done already. */
osafl_status run_ranks_tell(struct ranks *r, osafl_status status, const struct run_beginning *begin,
                            const struct engine *engine, struct error *error);
/* Another rank takes it into its fresh engine. */
osafl_status run_ranks_hear(struct ranks *r, osafl_status status, struct run_beginning *begin,
                            struct engine *engine, struct error *error);

#endif
