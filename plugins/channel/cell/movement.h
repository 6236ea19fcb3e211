/* movement.h - clients that move by the random-waypoint model (Johnson and Maltz 1996): straight to
 * a random point at a random speed, a pause there, and on to the next. */
#ifndef OSAFL_CHANNEL_MOVEMENT_H
#define OSAFL_CHANNEL_MOVEMENT_H

#include "cell.h"

struct mover {
    const struct cell_source *source;
    const struct cell_settings *settings;
};

/* A client's way between two waypoints. */
struct leg {
    uint32_t number;
    double from[2]; /* x and y, m */
    double to[2];
    double start_s;
    double move_s;
    double pause_s; /* at its end */
};

/* Number 0, without length: the client's first place. */
struct leg movement_start(const struct mover *m, uint32_t client);

/* The place at that time.  *leg is where the client was when asked before, and moves on; a time
 * before it starts over, so that the answer is a function of the time. */
void movement_place(const struct mover *m, uint32_t client, double time_s, struct leg *leg,
                    osafl_place *out);

#endif
