/* cell.c - receiver noise and the clients of one cell. */
#include "cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osafl/random.h"

#define TWO_PI 6.283185307179586476925

double cell_from_db(double db)
{
    return pow(10.0, db / 10.0);
}

void cell_link(osafl_link *out, double bandwidth_hz, double noise_dbm_per_hz,
               double noise_figure_db)
{
    out->bandwidth_hz = bandwidth_hz;
    /* A noise figure of 3 dB doubles the noise at the receiver; 30 dBm are 1 W. */
    out->noise_w_per_hz = cell_from_db(noise_dbm_per_hz + noise_figure_db - 30.0);
}

osafl_status cell_create(const osafl_host *h, osafl_call *c, uint32_t clients,
                         const struct cell_shape *shape, struct cell **out)
{
    struct cell *cell = calloc(1, sizeof *cell);
    if (cell == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    osafl_link link;
    cell_link(&link, shape->bandwidth_hz, shape->noise_dbm_per_hz, shape->noise_figure_db);
    *cell = (struct cell){
        .host = h,
        .clients = clients,
        .bandwidth_hz = link.bandwidth_hz,
        .noise_w_per_hz = link.noise_w_per_hz,
        .place = calloc(clients, sizeof *cell->place),
        .mean_gain_db = calloc(clients, sizeof *cell->mean_gain_db),
        .shadowing_db = calloc(clients, sizeof *cell->shadowing_db),
    };
    if (cell->place == NULL || cell->mean_gain_db == NULL || cell->shadowing_db == NULL) {
        cell_destroy(cell);
        return h->fail(c, OSAFL_E_NOMEM, "out of memory for %u clients", (unsigned)clients);
    }
    for (uint32_t u = 0; u < clients; u++) {
        uint32_t word[4];
        h->random_fill(c, CELL_STREAM_PLACE, u, 0, 0, word, 4);
        /* The area within a distance grows with its square. */
        const double inner = shape->min_distance_m * shape->min_distance_m;
        const double outer = shape->radius_m * shape->radius_m;
        const double distance_m = sqrt(inner + osafl_uniform(word) * (outer - inner));
        const double angle = TWO_PI * osafl_uniform(word + 2);
        cell->place[u].x_m = distance_m * cos(angle);
        cell->place[u].y_m = distance_m * sin(angle);
    }
    *out = cell;
    return OSAFL_OK;
}

void cell_destroy(void *self)
{
    struct cell *cell = self;
    free(cell->place);
    free(cell->mean_gain_db);
    free(cell->shadowing_db);
    free(cell);
}

double cell_distance(const struct cell *cell, uint32_t client)
{
    return hypot(cell->place[client].x_m, cell->place[client].y_m);
}

double cell_uniform(const struct cell *cell, osafl_call *c, uint32_t stream, uint32_t client)
{
    uint32_t word[2];
    cell->host->random_fill(c, stream, client, 0, 0, word, 2);
    return osafl_uniform(word);
}

osafl_status cell_describe_link(void *self, osafl_call *c, osafl_link *out)
{
    (void)c;
    const struct cell *cell = self;
    out->bandwidth_hz = cell->bandwidth_hz;
    out->noise_w_per_hz = cell->noise_w_per_hz;
    return OSAFL_OK;
}

osafl_status cell_gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    const struct cell *cell = self;
    /* Drawn from the round's own numbers, so that rounds may be asked for in any order. */
    for (uint32_t u = 0; u < cell->clients; u++) {
        double gain_db = cell->mean_gain_db[u];
        if (cell->shadowing_db[u] > 0.0) {
            uint32_t word[4];
            cell->host->random_fill(c, CELL_STREAM_SHADOWING, u, round, 0, word, 4);
            gain_db -= cell->shadowing_db[u] * osafl_normal(word);
        }
        gain[u] = cell_from_db(gain_db);
    }
    return OSAFL_OK;
}

osafl_status cell_places(void *self, osafl_call *c, uint32_t round, uint32_t place_size,
                         osafl_place *out)
{
    (void)c;
    (void)round;
    const struct cell *cell = self;
    const size_t known = place_size < sizeof *out ? place_size : sizeof *out;
    unsigned char *row = (unsigned char *)out;
    for (uint32_t u = 0; u < cell->clients; u++, row += place_size)
        memcpy(row, &cell->place[u], known);
    return OSAFL_OK;
}
