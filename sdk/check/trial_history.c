/* trial_history.c - what a server may know of clients, of several kinds: some never took part. */
#include <math.h>
#include <string.h>

#include "instance_under_test.h"

static void *array(struct caller *t, const char *name, uint32_t n, size_t size)
{
    void *p = arena_inout(&t->arena, name, NULL, n, size, 8);
    memset(p, 0, n * size);
    return p;
}

const osafl_history *trial_history(struct instance_under_test *s, struct caller *t)
{
    const uint32_t n = s->world.clients;
    const uint32_t labels = s->world.data.labels;
    uint32_t *histogram = array(t, "histogram", n * labels, sizeof *histogram);
    uint32_t *count = array(t, "counts", n, sizeof *count); /* arrivals, participations */
    uint32_t *age = array(t, "age", n, sizeof *age);
    uint32_t *asked_age = array(t, "age of asking", n, sizeof *asked_age);
    double *seconds = array(t, "seconds", n, sizeof *seconds);
    double *loss = array(t, "loss", n, sizeof *loss);
    double *norm = array(t, "norm", n, sizeof *norm);
    double *joules = array(t, "joules", n, sizeof *joules);
    for (uint32_t u = 0; u < n; u++) {
        const bool took_part = u % 3 != 0 && t->round > 0;
        for (uint32_t l = 0; l < labels; l++)
            histogram[(size_t)u * labels + l] = (u + l) % 4;
        count[u] = took_part ? 1 + u % 2 : 0;
        age[u] = took_part ? 1 + u % t->round : t->round + 1;
        asked_age[u] = age[u] > 1 ? age[u] - 1 : 1;
        seconds[u] = took_part ? 2.0 + u : (double)NAN;
        loss[u] = took_part ? 0.5 + 0.3 * u : (double)NAN;
        norm[u] = took_part ? 1.0 + u : (double)NAN;
        joules[u] = took_part ? 0.4 * u : 0.0;
    }
    const osafl_history history = {
        .struct_size = sizeof history,
        .labels = labels,
        .histogram = histogram,
        .histogram_then = histogram,
        .arrivals = count,
        .participations = count,
        .age = age,
        .asked_age = asked_age,
        .seconds = seconds,
        .train_loss = loss,
        .update_norm = norm,
        .joules = joules,
    };
    return arena_input(&t->arena, "history", &history, 1, sizeof history, 8);
}
