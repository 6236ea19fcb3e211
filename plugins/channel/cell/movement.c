/* movement.c - random waypoints. */
#include "movement.h"

#include <math.h>

#include "osafl/random.h"

struct leg movement_start(const struct mover *m, uint32_t client)
{
    struct leg leg = {0};
    uint32_t word[4];
    m->source->fill(m->source, CELL_STREAM_PLACE, client, 0, word, 4);
    cell_draw_place(m->settings, word, leg.from);
    leg.to[0] = leg.from[0];
    leg.to[1] = leg.from[1];
    return leg;
}

static double uniform_in(osafl_range r, const uint32_t word[2])
{
    return r.lo + (r.hi - r.lo) * osafl_uniform(word);
}

static struct leg next_leg(const struct mover *m, uint32_t client, const struct leg *last)
{
    const struct cell_settings *s = m->settings;
    struct leg leg = {.number = last->number + 1,
                      .from = {last->to[0], last->to[1]},
                      .start_s = last->start_s + last->move_s + last->pause_s};
    uint32_t word[8];
    m->source->fill(m->source, CELL_STREAM_WAYPOINT, client, leg.number, word, 8);
    cell_draw_place(s, word, leg.to);
    const double length_m = hypot(leg.to[0] - leg.from[0], leg.to[1] - leg.from[1]);
    leg.move_s = length_m / uniform_in(s->speed_m_per_s, word + 4);
    leg.pause_s = uniform_in(s->pause_s, word + 6);
    return leg;
}

void movement_place(const struct mover *m, uint32_t client, double time_s, struct leg *leg,
                    osafl_place *out)
{
    if (time_s < leg->start_s)
        *leg = movement_start(m, client);
    while (time_s >= leg->start_s + leg->move_s + leg->pause_s)
        *leg = next_leg(m, client, leg);
    const double moved_s = time_s - leg->start_s;
    const double part = moved_s < leg->move_s ? moved_s / leg->move_s : 1.0;
    out->x_m = leg->from[0] + part * (leg->to[0] - leg->from[0]);
    out->y_m = leg->from[1] + part * (leg->to[1] - leg->from[1]);
}
