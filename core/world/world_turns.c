/* world_turns.c - clients take their turns, several at a time where that changes no byte. */
#include <stdlib.h>

#include "plugin/pool.h"
#include "world_state.h"

/* Clients that a thread takes at a time. */
#define GRAIN 64

/* Arrivals of a span that are held at a time, unless one client alone has more. */
#define ARRIVED_ROOM 65536

struct pass {
    struct span *span;
    client_step *step;
};

/* pool_body.  A data set that breaks a rule which is found when its call ends fails for the last
 * client. */
static osafl_status take_turns(void *arg, uint64_t begin, uint64_t end, unsigned worker)
{
    const struct pass *p = arg;
    const struct span *s = p->span;
    struct turn *t = &s->w->turn[worker];
    uint32_t client = s->first + (uint32_t)begin;
    osafl_status status = OSAFL_OK;
    call_begin(&t->call, s->w->dataset, OSAFL_NO_CLIENT, s->round);
    for (; status == OSAFL_OK && client < s->first + end; client++)
        status = p->step(s, t, client);
    status = world_end_call(&t->call, status, &t->error);
    if (status != OSAFL_OK) {
        t->status = status;
        t->failed = client - 1;
    }
    return status;
}

/* Chunks are taken in ascending order and none is left out below one that failed, and each thread
 * stops at its first failure. */
void span_each(struct span *s, bool parallel, client_step *step)
{
    struct world *w = s->w;
    struct pass pass = {.span = s, .step = step};
    const uint32_t n = s->end - s->first;
    for (uint32_t k = 0; k < w->threads; k++)
        w->turn[k].status = OSAFL_OK;
    if (parallel && w->pool != NULL)
        (void)pool_run(w->pool, n, GRAIN, take_turns, &pass);
    else
        (void)take_turns(&pass, 0, n, 0);
    for (uint32_t k = 0; k < w->threads; k++) {
        const struct turn *t = &w->turn[k];
        if (t->status == OSAFL_OK || t->failed >= s->end)
            continue;
        s->end = t->failed;
        s->status = t->status;
        s->error = t->error;
    }
}

osafl_status span_end(const struct span *s, struct error *error)
{
    if (s->status != OSAFL_OK)
        *error = s->error;
    return s->status;
}

bool world_is_concurrent(const struct instance *i)
{
    return plugin_has_feature(i->plugin, "concurrent");
}

static bool make_turn(struct turn *t, uint32_t labels, uint64_t largest)
{
    t->cumulative = calloc(labels, sizeof *t->cumulative);
    t->other_mix = calloc(labels, sizeof *t->other_mix);
    t->words = calloc(largest, 2 * sizeof *t->words);
    t->position = calloc(largest, sizeof *t->position);
    t->view_label = calloc(largest, 2 * sizeof *t->view_label);
    t->view_age = calloc(largest, 2 * sizeof *t->view_age);
    t->leaves = calloc(largest, 2 * sizeof *t->leaves);
    return t->cumulative != NULL && t->other_mix != NULL && t->words != NULL &&
           t->position != NULL && t->view_label != NULL && t->view_age != NULL && t->leaves != NULL;
}

bool turns_create(struct world *w, uint64_t largest_store)
{
    const uint64_t total = w->population.total_capacity;
    const uint64_t room = largest_store > ARRIVED_ROOM ? largest_store : ARRIVED_ROOM;
    w->threads = w->pool != NULL ? pool_threads(w->pool) : 1;
    w->turn = calloc(w->threads, sizeof *w->turn);
    w->arrived_room = (uint32_t)(total < room ? total : room);
    w->arrived = calloc(w->arrived_room, sizeof *w->arrived);
    w->arrived_label = calloc(w->arrived_room, sizeof *w->arrived_label);
    w->arrived_at = calloc(SPAN_CLIENTS, sizeof *w->arrived_at);
    bool made =
        w->turn != NULL && w->arrived != NULL && w->arrived_label != NULL && w->arrived_at != NULL;
    for (uint32_t k = 0; made && k < w->threads; k++)
        made = make_turn(&w->turn[k], w->labels, largest_store);
    return made;
}

void turns_destroy(struct world *w)
{
    for (uint32_t k = 0; w->turn != NULL && k < w->threads; k++) {
        struct turn *t = &w->turn[k];
        free(t->cumulative);
        free(t->other_mix);
        free(t->words);
        free(t->position);
        free(t->view_label);
        free(t->view_age);
        free(t->leaves);
    }
    free(w->turn);
    free(w->arrived);
    free(w->arrived_label);
    free(w->arrived_at);
}
