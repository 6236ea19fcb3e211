/* cell_shard.h - splits the cells of a grid among machines that do not talk to each other. */
#ifndef OSAFL_CORE_CELL_SHARD_H
#define OSAFL_CORE_CELL_SHARD_H

#include <stdbool.h>

#include "experiment.h"

/* Keeps share number `shard` of `shards` (1 <= shard <= shards) of the *n cells, in their order,
 * and sets *n.  Every cell belongs to one share, and shares differ by at most one cell.  Cells are
 * dealt in the order of their identities, so that no share gets one model or one seed alone, as it
 * would when the grid's order and the number of shares have a divisor in common.  False: out of
 * memory. */
bool cells_shard(struct experiment **cell, size_t *n, unsigned shard, unsigned shards);

#endif
