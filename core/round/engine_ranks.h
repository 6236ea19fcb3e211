/* engine_ranks.h - the ranks of a run share what training made (plugin/ranks.h); for the engine. */
#ifndef OSAFL_CORE_ENGINE_RANKS_H
#define OSAFL_CORE_ENGINE_RANKS_H

#include "base/error.h"
#include "session.h"

struct engine;

/* SGD steps of task k. */
typedef uint64_t engine_task_steps(const struct engine *e, uint32_t k);

/* What the engine needs for it; nothing without ranks.  False: out of memory. */
bool engine_ranks_create(struct engine *e);
void engine_ranks_destroy(struct engine *e);

/* The rank on which a client trains that keeps something. */
uint32_t engine_home(const struct session *s, uint32_t client);

/* Of the tasks at places [first, stop) of e->order, which has the longest first, leaves those of
 * this rank there, and returns how many they are: all of them without ranks. */
uint32_t engine_own_tasks(struct engine *e, uint32_t first, uint32_t stop,
                          engine_task_steps *steps);

/* Gives the results of so many tasks from place first on, or why there are none, and takes those of
 * the others.  Returns what all ranks come to: without ranks the status. */
osafl_status engine_share_results(struct engine *e, uint32_t first, uint32_t own,
                                  osafl_status status, struct error *error);

#endif
