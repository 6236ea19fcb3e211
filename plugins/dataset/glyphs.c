/* glyphs.c - hand-drawn digits without a file: 28x28 grey pictures, drawn when they are read.
 *
 * A digit is a few strokes through given points.  Each sample moves the points a little, bends the
 * whole by a random affine map, draws it with a round pen of random width and ink, scatters short
 * scratches over it and adds noise.  Sample i is a function of (variant, split, i) alone, through
 * Philox4x32-10 keyed by the variant: the same in every run and on every thread, and on every
 * machine, since only correctly rounded operations are used.  The training split has no end. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <Random123/philox.h>

#include "osafl/dataset.h"
#include "osafl/random.h"

#define SIDE 28
#define PIXELS (SIDE * SIDE)
#define DIGITS 10

struct glyphs_config {
    int64_t variant;
    int64_t test;
    int64_t validation;
    double distortion;
    double scratches;
    double noise;
};

static const osafl_param params[] = {
    OSAFL_INT(struct glyphs_config, variant, 0, 0, INT64_MAX,
              "Number of the set: each number gives different samples"),
    OSAFL_INT(struct glyphs_config, test, 2000, 1, 10000000, "Size of the test split",
              .unit = "samples"),
    OSAFL_INT(struct glyphs_config, validation, 0, 0, 10000000, "Size of the validation split",
              .unit = "samples"),
    OSAFL_REAL(struct glyphs_config, distortion, 1.0, 0.0, 2.0,
               "Strength of shift, turn, stretch, slant and bend"),
    OSAFL_REAL(struct glyphs_config, scratches, 1.0, 0.0, 1.0,
               "Probability of each of two short scratches"),
    OSAFL_REAL(struct glyphs_config, noise, 0.2, 0.0, 1.0,
               "Amplitude of the uniform noise, against ink 1 on paper 0"),
};

/* Digits in a box of 100x100, y downwards.  A smooth stroke is a Catmull-Rom spline through its
 * points, any other a chain of straight lines. */
#define MAX_POINTS 12
#define MAX_STROKES 3

struct stroke {
    uint8_t n;
    bool smooth;
    int8_t point[MAX_POINTS][2];
};

struct shape {
    uint8_t n;
    struct stroke stroke[MAX_STROKES];
};

/* Two ways to write each digit. */
/* clang-format off */
static const struct shape shapes[DIGITS][2] = {
    {{1, {{8, true, {{50, 0}, {82, 18}, {86, 55}, {70, 94}, {40, 99}, {15, 70}, {17, 25}, {50, 0}}}}},
     {1, {{8, true, {{60, 2}, {30, 5}, {12, 45}, {25, 92}, {60, 97}, {88, 60}, {80, 15}, {52, 3}}}}}},
    {{1, {{3, false, {{28, 22}, {55, 0}, {55, 100}}}}},
     {2,
      {{3, false, {{30, 18}, {52, 0}, {52, 100}}}, {2, false, {{28, 100}, {76, 100}}}}}},
    {{2,
      {{6, true, {{14, 26}, {30, 4}, {66, 3}, {80, 30}, {52, 66}, {14, 99}}},
       {2, false, {{14, 99}, {88, 98}}}}},
     {1,
      {{9, true,
        {{16, 22}, {45, 0}, {80, 18}, {70, 50}, {40, 82}, {20, 97}, {16, 82}, {45, 86}, {90, 98}}}}}},
    {{1, {{8, true, {{16, 12}, {45, 0}, {78, 16}, {68, 42}, {44, 48}, {84, 66}, {66, 98}, {14, 90}}}}},
     {2,
      {{3, false, {{16, 2}, {80, 2}, {44, 40}}},
       {5, true, {{44, 40}, {80, 52}, {82, 82}, {50, 100}, {14, 90}}}}}},
    {{1, {{4, false, {{66, 100}, {66, 0}, {10, 68}, {92, 68}}}}},
     {2,
      {{3, false, {{24, 0}, {16, 56}, {88, 56}}}, {2, false, {{70, 8}, {66, 100}}}}}},
    {{2,
      {{3, false, {{82, 1}, {24, 2}, {20, 46}}},
       {6, true, {{20, 46}, {52, 36}, {84, 58}, {76, 90}, {44, 100}, {12, 88}}}}},
     {1,
      {{9, true,
        {{84, 4}, {50, 2}, {26, 8}, {24, 40}, {56, 40}, {84, 62}, {74, 92}, {42, 100}, {14, 90}}}}}},
    {{1, {{8, true, {{74, 2}, {38, 24}, {16, 64}, {32, 96}, {68, 96}, {82, 68}, {56, 48}, {20, 66}}}}},
     {1, {{8, true, {{56, 0}, {26, 40}, {20, 78}, {46, 100}, {76, 86}, {74, 58}, {46, 52}, {22, 72}}}}}},
    {{1, {{3, false, {{12, 2}, {88, 2}, {40, 100}}}}},
     {2, {{3, false, {{14, 6}, {84, 2}, {44, 100}}}, {2, false, {{34, 50}, {80, 48}}}}}},
    {{1,
      {{9, true,
        {{50, 46}, {20, 24}, {48, 0}, {80, 22}, {50, 46}, {16, 74}, {48, 100}, {84, 76}, {50, 46}}}}},
     {1,
      {{9, true,
        {{78, 14}, {46, 0}, {20, 22}, {76, 72}, {52, 100}, {20, 80}, {52, 46}, {80, 26}, {70, 8}}}}}},
    {{1, {{8, true, {{80, 34}, {48, 52}, {18, 30}, {44, 2}, {80, 22}, {82, 40}, {68, 80}, {36, 100}}}}},
     {2,
      {{6, true, {{78, 26}, {46, 52}, {18, 28}, {44, 0}, {74, 10}, {78, 26}}},
       {2, false, {{78, 26}, {72, 100}}}}}},
};
/* clang-format on */

struct glyphs {
    const struct glyphs_config *config;
};

/* Words of one sample, in order. */
struct words {
    philox4x32_key_t key;
    philox4x32_ctr_t counter; /* {block, split, i, i >> 32} */
    philox4x32_ctr_t block;
    uint32_t used;
};

static struct words words_of(uint64_t variant, uint32_t split, uint64_t i)
{
    return (struct words){
        .key = {{(uint32_t)variant, (uint32_t)(variant >> 32)}},
        .counter = {{0, split, (uint32_t)i, (uint32_t)(i >> 32)}},
        .used = 4,
    };
}

static uint32_t next_word(struct words *w)
{
    if (w->used == 4) {
        w->block = philox4x32(w->counter, w->key);
        w->counter.v[0]++;
        w->used = 0;
    }
    return w->block.v[w->used++];
}

/* Uniform in [-a, a). */
static float spread(struct words *w, float a)
{
    return a * (2.0f * osafl_uniform_float(next_word(w)) - 1.0f);
}

/* Uniform in [lo, hi). */
static float between(struct words *w, float lo, float hi)
{
    return lo + (hi - lo) * osafl_uniform_float(next_word(w));
}

/* x' = xx x + xy y + x0, in pixels, from the box centred at 0. */
struct affine {
    float xx, xy, x0;
    float yx, yy, y0;
};

static struct affine draw_affine(struct words *w, float distortion)
{
    /* A turn by 2 atan(t) needs no sine. */
    const float t = spread(w, 0.14f * distortion);
    const float cosine = (1.0f - t * t) / (1.0f + t * t);
    const float sine = 2.0f * t / (1.0f + t * t);
    const float slant = spread(w, 0.24f * distortion);
    const float height = 19.0f + spread(w, 2.4f * distortion);
    const float width = 15.0f + spread(w, 3.2f * distortion);
    const float x0 = 0.5f * SIDE + spread(w, 2.8f * distortion);
    const float y0 = 0.5f * SIDE + spread(w, 2.4f * distortion);
    /* First stretch and slant, then turn; the box is 100 wide. */
    const float sx = width / 100.0f;
    const float sy = height / 100.0f;
    return (struct affine){.xx = cosine * sx,
                           .xy = (cosine * slant - sine) * sy,
                           .x0 = x0,
                           .yx = sine * sx,
                           .yy = (sine * slant + cosine) * sy,
                           .y0 = y0};
}

/* Squared distances of the pixels' centres from what was drawn so far. */
struct canvas {
    float reach; /* how far from a line a pixel may be and still take ink */
    float distance2[PIXELS];
};

static int clamp_pixel(float v)
{
    return v < 0.0f ? 0 : v > SIDE ? SIDE : (int)v;
}

/* Draws a straight line from a to b. */
static void draw_line(struct canvas *canvas, const float a[2], const float b[2])
{
    const float dx = b[0] - a[0];
    const float dy = b[1] - a[1];
    const float length2 = dx * dx + dy * dy;
    const float inverse = length2 > 0.0f ? 1.0f / length2 : 0.0f;
    const int x0 = clamp_pixel((a[0] < b[0] ? a[0] : b[0]) - canvas->reach);
    const int x1 = clamp_pixel((a[0] < b[0] ? b[0] : a[0]) + canvas->reach + 1.0f);
    const int y0 = clamp_pixel((a[1] < b[1] ? a[1] : b[1]) - canvas->reach);
    const int y1 = clamp_pixel((a[1] < b[1] ? b[1] : a[1]) + canvas->reach + 1.0f);
    for (int y = y0; y < y1; y++) {
        const float py = (float)y + 0.5f - a[1];
        float *restrict row = canvas->distance2 + y * SIDE;
        for (int x = x0; x < x1; x++) {
            const float px = (float)x + 0.5f - a[0];
            float along = (px * dx + py * dy) * inverse;
            along = along < 0.0f ? 0.0f : along;
            along = along > 1.0f ? 1.0f : along;
            const float ex = px - along * dx;
            const float ey = py - along * dy;
            const float distance2 = ex * ex + ey * ey;
            row[x] = distance2 < row[x] ? distance2 : row[x];
        }
    }
}

/* A point of the Catmull-Rom spline between p[1] and p[2], at s in (0, 1). */
static float spline(const float *p0, const float *p1, const float *p2, const float *p3, int axis,
                    float s)
{
    const float a = -p0[axis] + 3.0f * p1[axis] - 3.0f * p2[axis] + p3[axis];
    const float b = 2.0f * p0[axis] - 5.0f * p1[axis] + 4.0f * p2[axis] - p3[axis];
    const float c = p2[axis] - p0[axis];
    return p1[axis] + 0.5f * s * (c + s * (b + s * a));
}

static void draw_stroke(struct canvas *canvas, const struct stroke *stroke,
                        const struct affine *map, struct words *w, float jitter)
{
    float point[MAX_POINTS][2];
    for (int i = 0; i < stroke->n; i++) {
        const float x = (float)stroke->point[i][0] - 50.0f + spread(w, jitter);
        const float y = (float)stroke->point[i][1] - 50.0f + spread(w, jitter);
        point[i][0] = map->xx * x + map->xy * y + map->x0;
        point[i][1] = map->yx * x + map->yy * y + map->y0;
    }
    for (int i = 0; i + 1 < stroke->n; i++) {
        if (!stroke->smooth) {
            draw_line(canvas, point[i], point[i + 1]);
            continue;
        }
        const float *before = point[i > 0 ? i - 1 : 0];
        const float *after = point[i + 2 < stroke->n ? i + 2 : i + 1];
        float from[2] = {point[i][0], point[i][1]};
        for (int piece = 1; piece <= 3; piece++) {
            float to[2];
            for (int axis = 0; axis < 2; axis++)
                to[axis] = piece == 3 ? point[i + 1][axis]
                                      : spline(before, point[i], point[i + 1], after, axis,
                                               (float)piece / 3.0f);
            draw_line(canvas, from, to);
            memcpy(from, to, sizeof from);
        }
    }
}

/* Draws sample i of a split into x, paper -1 and ink 1. */
static void draw_sample(const struct glyphs_config *config, uint32_t split, uint64_t i, float *x)
{
    struct words w = words_of((uint64_t)config->variant, split, i);
    const float distortion = (float)config->distortion;
    const struct shape *shape = &shapes[i % DIGITS][next_word(&w) >> 31];
    const struct affine map = draw_affine(&w, distortion);
    const float pen = between(&w, 0.7f, 1.7f); /* half the stroke's width, in pixels */
    const float ink = between(&w, 0.6f, 1.0f);
    struct canvas canvas = {.reach = pen + 0.5f};
    for (int j = 0; j < PIXELS; j++)
        canvas.distance2[j] = canvas.reach * canvas.reach;
    for (int s = 0; s < shape->n; s++)
        draw_stroke(&canvas, &shape->stroke[s], &map, &w, 4.0f * distortion);
    for (int s = 0; s < 2; s++) {
        const bool scratch = osafl_uniform_float(next_word(&w)) < (float)config->scratches;
        const float from[2] = {between(&w, 0.0f, SIDE), between(&w, 0.0f, SIDE)};
        const float to[2] = {from[0] + spread(&w, 7.0f), from[1] + spread(&w, 7.0f)};
        if (scratch)
            draw_line(&canvas, from, to);
    }
    uint8_t grain[PIXELS];
    for (int j = 0; j < PIXELS; j += 4) {
        const uint32_t word = next_word(&w);
        for (int k = 0; k < 4; k++)
            grain[j + k] = (uint8_t)(word >> (8 * k));
    }
    const float noise = 2.0f * (float)config->noise / 255.0f;
    for (int j = 0; j < PIXELS; j++) {
        const float cover = canvas.reach - sqrtf(canvas.distance2[j]);
        x[j] = 2.0f * (ink * (cover < 1.0f ? cover : 1.0f)) - 1.0f +
               noise * ((float)grain[j] - 127.5f);
    }
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    struct glyphs *g = malloc(sizeof *g);
    if (g == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    g->config = config;
    *self = g;
    return OSAFL_OK;
}

static uint64_t split_size(const struct glyphs *g, uint32_t split)
{
    return split == OSAFL_SPLIT_TRAIN        ? OSAFL_ENDLESS
           : split == OSAFL_SPLIT_VALIDATION ? (uint64_t)g->config->validation
                                             : (uint64_t)g->config->test;
}

static osafl_status describe(void *self, osafl_call *c, osafl_dataset_info *out)
{
    (void)c;
    static const char *const names[DIGITS] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    const struct glyphs *g = self;
    out->rank = 3;
    out->shape[0] = 1;
    out->shape[1] = SIDE;
    out->shape[2] = SIDE;
    out->x_type = OSAFL_X_FLOAT;
    out->target_type = OSAFL_TARGET_CLASS;
    out->target_size = DIGITS;
    out->labels = DIGITS;
    out->n_train = split_size(g, OSAFL_SPLIT_TRAIN);
    out->n_validation = split_size(g, OSAFL_SPLIT_VALIDATION);
    out->n_test = split_size(g, OSAFL_SPLIT_TEST);
    out->label_names = names;
    return OSAFL_OK;
}

/* The digits take turns, in every split. */
static osafl_status label(void *self, osafl_call *c, uint64_t i, int32_t *digit)
{
    (void)self;
    (void)c;
    *digit = (int32_t)(i % DIGITS);
    return OSAFL_OK;
}

static osafl_status sample_of(void *self, osafl_call *c, int32_t digit, uint64_t k,
                              uint64_t *sample)
{
    (void)self;
    (void)c;
    *sample = k * DIGITS + (uint64_t)digit;
    return OSAFL_OK;
}

static osafl_status read_samples(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                                 const osafl_batch *b)
{
    const struct glyphs *g = self;
    for (uint32_t k = 0; k < b->n; k++) {
        assert(index[k] < split_size(g, split));
        draw_sample(g->config, split, index[k], b->x + (size_t)k * PIXELS);
        OSAFL_TRY(label(self, c, index[k], &b->label[k]));
    }
    return OSAFL_OK;
}

static const osafl_dataset_vt vtable = {
    .life = {.struct_size = sizeof(osafl_dataset_vt), .create = create, .destroy = free},
    .describe = describe,
    .label = label,
    .read = read_samples,
    .sample_of = sample_of,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DATASET,
    .name = "glyphs",
    .version = "1.0.0",
    .summary = "hand-drawn digits without a file, as many as needed",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct glyphs_config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
