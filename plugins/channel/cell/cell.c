/* cell.c - receiver noise and the clients of one cell. */
#include "cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fading.h"
#include "field.h"
#include "movement.h"
#include "osafl/random.h"

const char *const cell_fadings[] = {"none", "rayleigh", "rician", "sight", NULL};

struct cell {
    const osafl_host *host;
    uint32_t clients;
    const struct cell_settings *settings;
    cell_law *law;
    double round_s;
    struct fading fading;
    struct field *field; /* [CELL_FIELDS]; NULL: nothing is spatially consistent */
    uint32_t round;      /* of which place and path are */
    osafl_place *place;  /* of every client */
    struct cell_path *path;
    double *uniform; /* of every client, for its line of sight */
    struct leg *leg; /* of every client, on its way */
};

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

osafl_status cell_check(const osafl_host *h, osafl_call *c, const char *name,
                        const struct cell_settings *s)
{
    if (s->min_distance_m >= s->radius_m)
        return h->fail(c, OSAFL_E_CONFIG,
                       "channel.%s: min_distance_m = %g must be below radius_m = %g", name,
                       s->min_distance_m, s->radius_m);
    if (s->speed_m_per_s.hi > 0.0 && s->speed_m_per_s.lo <= 0.0)
        return h->fail(c, OSAFL_E_CONFIG,
                       "channel.%s: speed_m_per_s begins with 0, with which no client would ever "
                       "arrive; raise its lower end, or set both ends to 0 for clients that stay",
                       name);
    return OSAFL_OK;
}

void cell_draw_place(const struct cell_settings *s, const uint32_t word[4], double place_m[2])
{
    /* The area within a distance grows with its square. */
    const double inner = s->min_distance_m * s->min_distance_m;
    const double outer = s->radius_m * s->radius_m;
    const double distance_m = sqrt(inner + osafl_uniform(word) * (outer - inner));
    const double angle = CELL_TWO_PI * osafl_uniform(word + 2);
    place_m[0] = distance_m * cos(angle);
    place_m[1] = distance_m * sin(angle);
}

/* The streams of the run. */
struct run_source {
    struct cell_source base; /* first */
    const osafl_host *host;
    osafl_call *call;
};

static void fill_from_run(const struct cell_source *s, uint32_t stream, uint32_t client,
                          uint64_t index, uint32_t *out, uint32_t n)
{
    const struct run_source *from = (const void *)s;
    from->host->random_fill(from->call, stream, client, 0, index, out, n);
}

static struct run_source source_of(const struct cell *cell, osafl_call *c)
{
    return (struct run_source){.base.fill = fill_from_run, .host = cell->host, .call = c};
}

static bool moves(const struct cell *cell)
{
    return cell->settings->speed_m_per_s.hi > 0.0;
}

/* Uniform in [0, 1), for the line of sight. */
static double sight_uniform(const struct cell *cell, uint32_t client)
{
    const osafl_place *p = &cell->place[client];
    if (cell->field == NULL)
        return cell->uniform[client];
    return field_uniform_at(&cell->field[CELL_FIELD_SIGHT], p->x_m, p->y_m);
}

/* Brings places and paths to a round. */
static void go_to_round(struct cell *cell, osafl_call *c, uint32_t round)
{
    const struct run_source source = source_of(cell, c);
    const struct mover mover = {.source = &source.base, .settings = cell->settings};
    const double time_s = (double)round * cell->round_s;
    for (uint32_t u = 0; u < cell->clients; u++) {
        osafl_place *place = &cell->place[u];
        if (moves(cell))
            movement_place(&mover, u, time_s, &cell->leg[u], place);
        double distance_m = hypot(place->x_m, place->y_m);
        if (moves(cell)) /* a way may lead by the base station */
            distance_m = fmax(distance_m, cell->settings->min_distance_m);
        cell->law(cell->settings, distance_m, sight_uniform(cell, u), &cell->path[u]);
        place->line_of_sight = cell->path[u].in_sight;
    }
    cell->round = round;
}

static bool cell_allocate(struct cell *cell, uint32_t clients, bool consistent)
{
    cell->place = calloc(clients, sizeof *cell->place);
    cell->path = calloc(clients, sizeof *cell->path);
    cell->uniform = calloc(clients, sizeof *cell->uniform);
    cell->leg = calloc(clients, sizeof *cell->leg);
    if (consistent)
        cell->field = calloc(CELL_FIELDS, sizeof *cell->field);
    return cell->place != NULL && cell->path != NULL && cell->uniform != NULL &&
           cell->leg != NULL && (!consistent || cell->field != NULL);
}

/* More ways than that would take minutes to follow. */
#define MOST_WAYS 1e9

static osafl_status check_ways(const struct cell *cell, osafl_call *c, const osafl_facts *facts)
{
    const struct cell_settings *s = cell->settings;
    const double way_s = s->radius_m / s->speed_m_per_s.hi + s->pause_s.lo;
    const double ways = (double)facts->clients * facts->rounds * cell->round_s / way_s;
    if (!moves(cell) || ways <= MOST_WAYS)
        return OSAFL_OK;
    return cell->host->fail(c, OSAFL_E_CONFIG,
                            "clients would pass about %.1g waypoints, and %g are the limit; lower "
                            "speed_m_per_s or the time of a round, or raise radius_m",
                            ways, MOST_WAYS);
}

static void draw_clients(struct cell *cell, osafl_call *c, const struct cell_plan *plan)
{
    const struct run_source source = source_of(cell, c);
    const struct mover mover = {.source = &source.base, .settings = cell->settings};
    for (uint32_t u = 0; u < cell->clients; u++) {
        uint32_t word[2];
        cell->host->random_fill(c, CELL_STREAM_LINE_OF_SIGHT, u, 0, 0, word, 2);
        cell->uniform[u] = osafl_uniform(word);
        cell->leg[u] = movement_start(&mover, u);
        cell->place[u].x_m = cell->leg[u].from[0];
        cell->place[u].y_m = cell->leg[u].from[1];
    }
    for (uint32_t k = 0; cell->field != NULL && k < CELL_FIELDS; k++)
        field_draw(&source.base, CELL_STREAM_FIELD + k, plan->decorrelation_m[k], &cell->field[k]);
    go_to_round(cell, c, 0);
}

osafl_status cell_create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                         const struct cell_plan *plan, void **out)
{
    const struct cell_settings *s = plan->settings;
    struct cell *cell = calloc(1, sizeof *cell);
    if (cell == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    *cell = (struct cell){.host = h,
                          .clients = facts->clients,
                          .settings = s,
                          .law = plan->law,
                          .round_s = s->round_s > 0.0 ? s->round_s : facts->deadline_s};
    cell->fading = (struct fading){.host = h,
                                   .kind = s->fading.index,
                                   .k = cell_from_db(s->rician_k_db),
                                   .cycles = s->doppler_hz * cell->round_s};
    osafl_status status = check_ways(cell, c, facts);
    if (status == OSAFL_OK && !cell_allocate(cell, facts->clients, s->spatially_consistent))
        status =
            h->fail(c, OSAFL_E_NOMEM, "out of memory for %u clients", (unsigned)facts->clients);
    if (status != OSAFL_OK) {
        cell_destroy(cell);
        return status;
    }
    draw_clients(cell, c, plan);
    *out = cell;
    return OSAFL_OK;
}

void cell_destroy(void *self)
{
    struct cell *cell = self;
    free(cell->field);
    free(cell->place);
    free(cell->path);
    free(cell->uniform);
    free(cell->leg);
    free(cell);
}

osafl_status cell_describe_link(void *self, osafl_call *c, osafl_link *out)
{
    (void)c;
    const struct cell_settings *s = ((const struct cell *)self)->settings;
    cell_link(out, s->bandwidth_hz, s->noise_dbm_per_hz, s->noise_figure_db);
    return OSAFL_OK;
}

/* Standard normal: of the client and round, or of the client's place. */
static double shadow(const struct cell *cell, osafl_call *c, uint32_t client, uint32_t round)
{
    const osafl_place *p = &cell->place[client];
    uint32_t word[4];
    if (cell->field != NULL)
        return field_at(
            &cell->field[p->line_of_sight ? CELL_FIELD_IN_SIGHT : CELL_FIELD_OUT_OF_SIGHT], p->x_m,
            p->y_m);
    cell->host->random_fill(c, CELL_STREAM_SHADOWING, client, round, 0, word, 4);
    return osafl_normal(word);
}

osafl_status cell_gains(void *self, osafl_call *c, uint32_t round, double *gain)
{
    struct cell *cell = self;
    if (moves(cell) && cell->round != round)
        go_to_round(cell, c, round);
    /* Drawn from the round's own numbers, so that rounds may be asked for in any order. */
    for (uint32_t u = 0; u < cell->clients; u++) {
        const struct cell_path *path = &cell->path[u];
        double gain_db = path->mean_gain_db;
        if (path->shadowing_db > 0.0)
            gain_db -= path->shadowing_db * shadow(cell, c, u, round);
        gain[u] = cell_from_db(gain_db);
        if (cell->fading.kind != FADING_NONE)
            gain[u] *= fading_gain(&cell->fading, c, u, round, path->in_sight);
    }
    return OSAFL_OK;
}

osafl_status cell_places(void *self, osafl_call *c, uint32_t round, uint32_t place_size,
                         osafl_place *out)
{
    struct cell *cell = self;
    const size_t known = place_size < sizeof *out ? place_size : sizeof *out;
    unsigned char *row = (unsigned char *)out;
    if (moves(cell) && cell->round != round)
        go_to_round(cell, c, round);
    for (uint32_t u = 0; u < cell->clients; u++, row += place_size)
        memcpy(row, &cell->place[u], known);
    return OSAFL_OK;
}
