/* cell_shard.c - splits the cells of a grid among machines that do not talk to each other. */
#include "cell_shard.h"

#include <stdlib.h>
#include <string.h>

struct ranked {
    struct experiment *e;
    size_t place; /* in the grid */
};

/* Cells of one identity keep their order. */
static int by_identity(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;
    const int order = strcmp(a->e->identity, b->e->identity);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static int by_place(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

bool cells_shard(struct experiment **cell, size_t *n, unsigned shard, unsigned shards)
{
    struct ranked *all = calloc(*n + 1, sizeof *all);
    size_t kept = 0;
    if (all == NULL)
        return false;
    for (size_t i = 0; i < *n; i++)
        all[i] = (struct ranked){.e = cell[i], .place = i};
    qsort(all, *n, sizeof *all, by_identity);
    for (size_t i = shard - 1; i < *n; i += shards)
        all[kept++] = all[i];
    qsort(all, kept, sizeof *all, by_place);
    for (size_t i = 0; i < kept; i++)
        cell[i] = all[i].e;
    *n = kept;
    free(all);
    return true;
}
