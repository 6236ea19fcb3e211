/* beams.c - which beam of a base station serves a client best, or is the client in sight, from
 * where the client believes to be: samples that clients meet on their way through a cell.
 *
 * The geometry is that of the channels (cell.h): clients move between random waypoints, and the
 * line of sight is that of the place (3GPP TR 38.901, urban micro cell).  The array is uniform,
 * along the y axis, with half a wavelength between its antennas: it tells directions by s =
 * sin(angle) = y / d, and its beams divide [-1, 1) into equal parts.  In sight, the best beam is
 * the one in which the client is; out of it, the strongest way is over a reflection, whose s is off
 * by a random field of the place.  A client's samples have its name and a time, so that
 * partition/natural and arrival/timed give it what lies on its way: its movement is the drift.
 *
 * Places are functions of the variant and the settings alone, never of the run's seed. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <Random123/philox.h>

#include "field.h"
#include "movement.h"
#include "osafl/dataset.h"
#include "osafl/random.h"

enum { TARGET_BEAM, TARGET_BLOCKAGE };
enum { FEATURES = 4 };

struct beams_config {
    int64_t variant;
    int64_t clients;
    int64_t samples;
    int64_t test;
    int64_t validation;
    osafl_choice target;
    int64_t beams;
    double radius_m;
    osafl_range speed_m_per_s;
    osafl_range pause_s;
    double interval_s;
    double noise_m;
    double reflection;
};

static const char *const targets[] = {"beam", "blockage", NULL};

static const osafl_param params[] = {
    OSAFL_INT(struct beams_config, variant, 0, 0, INT64_MAX,
              "Number of the set: each number gives another cell and other ways"),
    OSAFL_INT(struct beams_config, clients, 25, 1, 1000000,
              "Clients that have samples; a run with partition/natural needs as many as "
              "clients.count",
              .unit = "clients"),
    OSAFL_INT(struct beams_config, samples, 3000, 1, 10000000,
              "Training samples of each client, one after the other on its way", .unit = "samples"),
    OSAFL_INT(struct beams_config, test, 2000, 1, 10000000,
              "Size of the test split, at places all over the cell", .unit = "samples"),
    OSAFL_INT(struct beams_config, validation, 0, 0, 10000000,
              "Size of the validation split, likewise", .unit = "samples"),
    OSAFL_CHOICE(struct beams_config, target, TARGET_BEAM, targets,
                 "What is to be told: the best beam, or whether the line of sight is blocked"),
    OSAFL_INT(struct beams_config, beams, 8, 2, 1024, "Beams of the array", .unit = "beams"),
    OSAFL_REAL(struct beams_config, radius_m, 100.0, 20.0, 5000.0, "Radius of the cell",
               .unit = "m"),
    OSAFL_RANGE(struct beams_config, speed_m_per_s, 0.5, 1.5, 0.0, 1e3,
                "Speed of a client on its way to each random waypoint, drawn uniformly",
                .unit = "m/s", .flags = OSAFL_P_LO_OPEN),
    OSAFL_RANGE(struct beams_config, pause_s, 0.0, 30.0, 0.0, 1e6,
                "Pause at each waypoint, drawn uniformly", .unit = "s"),
    OSAFL_REAL(struct beams_config, interval_s, 1.0, 0.0, 1e6,
               "Time between two samples of a client; their times are in seconds", .unit = "s",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_REAL(struct beams_config, noise_m, 5.0, 0.0, 1e4,
               "Standard deviation of the error of a position, in x and in y", .unit = "m"),
    OSAFL_REAL(struct beams_config, reflection, 0.5, 0.0, 2.0,
               "Standard deviation of the sine of the angle by which a reflection is off the "
               "direct way"),
};

/* Streams beside those of a channel (cell.h). */
enum { STREAM_REFLECTION = 100, STREAM_NOISE, STREAM_SPLIT_PLACE };

/* Places nearer to the base station than that are not drawn. */
#define LEAST_DISTANCE_M 10.0
#define SIGHT_DECORRELATION_M 50.0 /* TR 38.901, table 7.6.3.1-2 */

struct sample {
    float x_m;
    float y_m;
    int32_t label;
};

struct beams {
    struct cell_source source; /* first */
    const struct beams_config *config;
    struct cell_settings cell;
    struct field sight;
    struct field reflection;
    struct sample *train; /* client after client, each in the order of time */
};

/* Philox, keyed by the variant. */
static void fill(const struct cell_source *s, uint32_t stream, uint32_t client, uint64_t index,
                 uint32_t *out, uint32_t n)
{
    const uint64_t variant = (uint64_t)((const struct beams *)(const void *)s)->config->variant;
    const philox4x32_key_t key = {{(uint32_t)variant, (uint32_t)(variant >> 32)}};
    for (uint32_t i = 0; i < n; i += 4) {
        const philox4x32_ctr_t counter = {{i / 4, stream, client, (uint32_t)index}};
        const philox4x32_ctr_t block = philox4x32(counter, key);
        for (uint32_t k = 0; k < 4 && i + k < n; k++)
            out[i + k] = block.v[k];
    }
}

static int32_t label_at(const struct beams *b, double x_m, double y_m)
{
    const double d = fmax(hypot(x_m, y_m), 1e-3);
    const double near = fmin(18.0 / d, 1.0);
    const bool in_sight =
        field_uniform_at(&b->sight, x_m, y_m) < near + exp(-d / 36.0) * (1.0 - near);
    if (b->config->target.index == TARGET_BLOCKAGE)
        return !in_sight;
    double s = y_m / d;
    if (!in_sight)
        s += b->config->reflection * field_at(&b->reflection, x_m, y_m);
    const double beams = (double)b->config->beams;
    return (int32_t)fmin(fmax(floor(0.5 * (s + 1.0) * beams), 0.0), beams - 1.0);
}

static struct sample sample_at(const struct beams *b, double x_m, double y_m)
{
    return (struct sample){(float)x_m, (float)y_m, label_at(b, x_m, y_m)};
}

static void walk(struct beams *b)
{
    const struct mover mover = {.source = &b->source, .settings = &b->cell};
    struct sample *next = b->train;
    for (uint32_t u = 0; u < (uint32_t)b->config->clients; u++) {
        struct leg leg = movement_start(&mover, u);
        for (int64_t k = 0; k < b->config->samples; k++) {
            osafl_place place;
            movement_place(&mover, u, (double)k * b->config->interval_s, &leg, &place);
            *next++ = sample_at(b, place.x_m, place.y_m);
        }
    }
}

/* More samples would take gigabytes, and more ways minutes. */
#define MOST_SAMPLES 1e8
#define MOST_WAYS 1e8

static osafl_status check(const osafl_host *h, osafl_call *c, const void *config)
{
    const struct beams_config *s = config;
    const double samples = (double)s->clients * (double)s->samples;
    const double ways = samples * s->interval_s * s->speed_m_per_s.hi / s->radius_m;
    if (samples > MOST_SAMPLES)
        return h->fail(c, OSAFL_E_CONFIG,
                       "dataset.beams: clients * samples = %g is above %g; lower one of them",
                       samples, MOST_SAMPLES);
    if (ways > MOST_WAYS)
        return h->fail(c, OSAFL_E_CONFIG,
                       "dataset.beams: clients would pass about %.1g waypoints, and %g are the "
                       "limit; lower interval_s, speed_m_per_s or samples",
                       ways, MOST_WAYS);
    return OSAFL_OK;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    const struct beams_config *s = config;
    struct beams *b = calloc(1, sizeof *b);
    if (b == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    b->config = s;
    b->source.fill = fill;
    b->cell = (struct cell_settings){.radius_m = s->radius_m,
                                     .min_distance_m = LEAST_DISTANCE_M,
                                     .speed_m_per_s = s->speed_m_per_s,
                                     .pause_s = s->pause_s};
    b->train = calloc((size_t)s->clients * (size_t)s->samples, sizeof *b->train);
    if (b->train == NULL) {
        free(b);
        return h->fail(c, OSAFL_E_NOMEM,
                       "out of memory for %" PRId64 " samples of %" PRId64 " clients", s->samples,
                       s->clients);
    }
    field_draw(&b->source, CELL_STREAM_FIELD, SIGHT_DECORRELATION_M, &b->sight);
    field_draw(&b->source, STREAM_REFLECTION, SIGHT_DECORRELATION_M, &b->reflection);
    walk(b);
    *self = b;
    return OSAFL_OK;
}

static void destroy(void *self)
{
    struct beams *b = self;
    free(b->train);
    free(b);
}

static osafl_status describe(void *self, osafl_call *c, osafl_dataset_info *out)
{
    (void)c;
    static const char *const sights[] = {"in sight", "blocked"};
    const struct beams_config *s = ((const struct beams *)self)->config;
    const bool blockage = s->target.index == TARGET_BLOCKAGE;
    out->rank = 1;
    out->shape[0] = FEATURES;
    out->x_type = OSAFL_X_FLOAT;
    out->target_type = OSAFL_TARGET_CLASS;
    out->labels = blockage ? 2 : (uint32_t)s->beams;
    out->target_size = out->labels;
    out->n_train = (uint64_t)s->clients * (uint64_t)s->samples;
    out->n_validation = (uint64_t)s->validation;
    out->n_test = (uint64_t)s->test;
    out->label_names = blockage ? sights : NULL;
    return OSAFL_OK;
}

static osafl_status label(void *self, osafl_call *c, uint64_t i, int32_t *out)
{
    (void)c;
    *out = ((const struct beams *)self)->train[i].label;
    return OSAFL_OK;
}

static osafl_status client_of(void *self, osafl_call *c, uint64_t i, uint32_t *client)
{
    (void)c;
    *client = (uint32_t)(i / (uint64_t)((const struct beams *)self)->config->samples);
    return OSAFL_OK;
}

static osafl_status time_of(void *self, osafl_call *c, uint64_t i, double *when)
{
    (void)c;
    const struct beams_config *s = ((const struct beams *)self)->config;
    *when = (double)(i % (uint64_t)s->samples) * s->interval_s;
    return OSAFL_OK;
}

static struct sample find(const struct beams *b, uint32_t split, uint64_t i)
{
    uint32_t word[4];
    double place_m[2];
    if (split == OSAFL_SPLIT_TRAIN)
        return b->train[i];
    fill(&b->source, STREAM_SPLIT_PLACE, split, i, word, 4);
    cell_draw_place(&b->cell, word, place_m);
    return sample_at(b, place_m[0], place_m[1]);
}

/* x and y of the position with its error, its distance (all in radii), and the sine of its angle.
 */
static osafl_status read_samples(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                                 const osafl_batch *out)
{
    (void)c;
    const struct beams *b = self;
    for (uint32_t k = 0; k < out->n; k++) {
        const struct sample sample = find(b, split, index[k]);
        uint32_t word[8];
        fill(&b->source, STREAM_NOISE, split, index[k], word, 8);
        const double x_m = (double)sample.x_m + b->config->noise_m * osafl_normal(word);
        const double y_m = (double)sample.y_m + b->config->noise_m * osafl_normal(word + 4);
        const double d = hypot(x_m, y_m);
        float *x = out->x + (size_t)k * FEATURES;
        x[0] = (float)(x_m / b->config->radius_m);
        x[1] = (float)(y_m / b->config->radius_m);
        x[2] = (float)(d / b->config->radius_m);
        x[3] = d > 0.0 ? (float)(y_m / d) : 0.0f;
        out->label[k] = sample.label;
    }
    return OSAFL_OK;
}

static const char *const features[] = {"natural", "timed", NULL};

static const osafl_dataset_vt vtable = {
    .life = {.struct_size = sizeof(osafl_dataset_vt),
             .check = check,
             .create = create,
             .destroy = destroy},
    .describe = describe,
    .label = label,
    .read = read_samples,
    .client_of = client_of,
    .time_of = time_of,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DATASET,
    .name = "beams",
    .version = "1.0.0",
    .summary = "the best beam of an antenna array, or blockage, where moving clients are",
    .cite = "3GPP TR 38.901, sections 7.4.2 and 7.6.3 (line of sight)",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct beams_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
