/* trial_settings.c - settings with which a plugin is tried. */
#include "trial_settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/streams.h"
#include "base/text.h"
#include "experiment/experiment_tree.h"
#include "experiment/settings.h"
#include "osafl/random.h"
#include "plugin/loader.h"

/* Streams of the kit: no plugin and no part of the core uses kind 0 with these purposes. */
#define DRAWS_BASE 1000

uint64_t draw_bits(struct draws *d)
{
    uint32_t word[2];
    streams_fill(d->seed, 0, DRAWS_BASE + d->purpose, 0, 0, d->index++, word, 2);
    return (uint64_t)word[0] << 32 | word[1];
}

double draw_uniform(struct draws *d)
{
    return (double)(draw_bits(d) >> 11) * 0x1p-53;
}

double draw_normal(struct draws *d)
{
    uint32_t word[4];
    streams_fill(d->seed, 0, DRAWS_BASE + d->purpose, 1, 0, d->index++, word, 4);
    return osafl_normal(word);
}

uint32_t draw_below(struct draws *d, uint32_t n)
{
    return (uint32_t)(draw_bits(d) % n);
}

static const osafl_param *param_at(const struct conform *c, uint32_t i)
{
    return OSAFL_AT(osafl_param, c->plugin->params, c->plugin->param_size, i);
}

/* ---- given values -------------------------------------------------------------------------- */

static bool is_given(const struct conform *c, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < c->n_set; i++) {
        if (strncmp(c->set[i], name, n) == 0 && c->set[i][n] == '=')
            return true;
    }
    return false;
}

static double usual_real(const osafl_param *p)
{
    if (p->lo.r <= 0.1 && 0.1 <= p->hi.r)
        return 0.1;
    return 0.5 * (p->lo.r + p->hi.r);
}

/* "name=value" for a required parameter that nobody sets. */
static void choose_required(const struct conform *c, const osafl_param *p, char *out, size_t size)
{
    switch (p->type) {
    case OSAFL_T_BOOL:
        snprintf(out, size, "%s=false", p->name);
        break;
    case OSAFL_T_INT:
        snprintf(out, size, "%s=%" PRId64, p->name,
                 p->lo.i + ((p->flags & OSAFL_P_LO_OPEN) != 0 ? 1 : 0));
        break;
    case OSAFL_T_REAL:
    case OSAFL_T_RANGE:
        snprintf(out, size, "%s=%.17g%s", p->name, usual_real(p),
                 usual_real(p) == floor(usual_real(p)) ? ".0" : "");
        break;
    case OSAFL_T_CHOICE:
        snprintf(out, size, "%s=%s", p->name, p->choices[0]);
        break;
    case OSAFL_T_REALS:
        snprintf(out, size, "%s=[%.17g]", p->name, usual_real(p));
        break;
    default:
        conform_skip(c, "needs a value for %s: give --set %s=...", p->name, p->name);
    }
}

struct trial_settings settings_default(const struct conform *c)
{
    struct trial_settings s = {0};
    char path[128];
    struct diagnostics *d = diagnostics_create();
    struct experiment_tree *tree = d != NULL ? tree_read_text("", 0, "--set", d) : NULL;
    if (tree == NULL)
        conform_fail(c, "cannot be tried: out of memory");
    for (uint32_t i = 0; i < c->plugin->n_params; i++) {
        const osafl_param *p = param_at(c, i);
        char assignment[256];
        if ((p->flags & OSAFL_P_REQUIRED) == 0 || is_given(c, p->name))
            continue;
        choose_required(c, p, assignment, sizeof assignment);
        tree_set(tree, PLACE_SET, assignment, d);
    }
    for (size_t i = 0; i < c->n_set; i++)
        tree_set(tree, PLACE_SET, c->set[i], d);
    if (c->plugin->config_size > 0)
        s.config = calloc(1, c->plugin->config_size);
    snprintf(path, sizeof path, "%s.%s", kind_name(c->plugin->kind), c->plugin->name);
    settings_bind(c->plugin->params, c->plugin->n_params, c->plugin->param_size, s.config,
                  tree_root(tree), path, NULL, d);
    if (diagnostics_errors(d) > 0) {
        char text[512] = "";
        FILE *to = fmemopen(text, sizeof text - 1, "w");
        if (to != NULL) {
            diagnostics_print(d, to);
            fclose(to);
        }
        text[strcspn(text, "\n")] = '\0';
        conform_fail(c, "cannot be tried with these settings: %s", text);
    }
    return s; /* the tree stays: strings of the config are in it */
}

/* ---- other values -------------------------------------------------------------------------- */

static void note(struct trial_settings *s, const osafl_param *p)
{
    char value[256];
    settings_format(p, s->config, value, sizeof value);
    text_append(s->text, sizeof s->text, "%s%s = %s", s->text[0] != '\0' ? ", " : "", p->name,
                value);
}

static void put(struct trial_settings *s, const osafl_param *p, const void *value, size_t bytes)
{
    memcpy((unsigned char *)s->config + p->offset, value, bytes);
    note(s, p);
}

static void put_real(struct trial_settings *s, const osafl_param *p, double v)
{
    put(s, p, &v, sizeof v);
}

/* The lowest (end 0) or highest (end 1) real inside the range. */
static double real_end(const osafl_param *p, unsigned end)
{
    if (end == 0)
        return (p->flags & OSAFL_P_LO_OPEN) != 0 ? nextafter(p->lo.r, INFINITY) : p->lo.r;
    return (p->flags & OSAFL_P_HI_OPEN) != 0 ? nextafter(p->hi.r, -INFINITY) : p->hi.r;
}

static int64_t int_end(const osafl_param *p, unsigned end)
{
    if (end == 0)
        return p->lo.i + ((p->flags & OSAFL_P_LO_OPEN) != 0 ? 1 : 0);
    return p->hi.i - ((p->flags & OSAFL_P_HI_OPEN) != 0 ? 1 : 0);
}

static uint32_t count_choices(const osafl_param *p)
{
    uint32_t n = 0;
    while (p->choices[n] != NULL)
        n++;
    return n;
}

bool settings_at_end(const struct conform *c, uint32_t parameter, unsigned end,
                     struct trial_settings *out)
{
    const osafl_param *p = param_at(c, parameter);
    const unsigned ends =
        p->type == OSAFL_T_CHOICE ? count_choices(p)
        : p->type == OSAFL_T_TEXT || p->type == OSAFL_T_PATH || p->type == OSAFL_T_ROWS ? 0
                                                                                        : 2;
    if (end >= ends)
        return false;
    *out = settings_default(c);
    switch (p->type) {
    case OSAFL_T_BOOL:
        put(out, p, &(bool){end == 1}, sizeof(bool));
        break;
    case OSAFL_T_INT:
        put(out, p, &(int64_t){int_end(p, end)}, sizeof(int64_t));
        break;
    case OSAFL_T_REAL:
        put_real(out, p, real_end(p, end));
        break;
    case OSAFL_T_CHOICE:
        put(out, p, &(osafl_choice){(int32_t)end}, sizeof(osafl_choice));
        break;
    case OSAFL_T_RANGE:
        put(out, p, &(osafl_range){real_end(p, 0), end == 0 ? real_end(p, 0) : real_end(p, 1)},
            sizeof(osafl_range));
        break;
    default: { /* OSAFL_T_REALS: one element at the end of its range */
        double *v = malloc(sizeof *v);
        if (v == NULL)
            return false;
        *v = real_end(p, end);
        put(out, p, &(osafl_reals){.v = v, .n = 1}, sizeof(osafl_reals));
        break;
    }
    }
    return true;
}

/* Uniform or, where the range spans magnitudes, uniform in the logarithm; sometimes an end. */
static double random_real(struct draws *d, const osafl_param *p)
{
    const double lo = real_end(p, 0);
    const double hi = real_end(p, 1);
    const uint32_t way = draw_below(d, 10);
    if (way == 0)
        return lo;
    if (way == 1)
        return hi;
    if (lo >= 0.0 && way < 8) {
        const double low = log(lo > 1e-6 ? lo : 1e-6);
        const double high = log(hi > 1e-6 ? hi : 1e-6);
        const double v = exp(low + draw_uniform(d) * (high - low));
        return v < lo ? lo : v > hi ? hi : v;
    }
    const double v = lo + draw_uniform(d) * (hi - lo);
    return v >= lo && v <= hi ? v : lo; /* hi - lo may overflow */
}

/* Mostly small: large counts take time and memory and show little. */
static int64_t random_int(struct draws *d, const osafl_param *p)
{
    const int64_t lo = int_end(p, 0);
    const int64_t hi = int_end(p, 1);
    const uint64_t width = (uint64_t)hi - (uint64_t)lo;
    const uint64_t limit = width < 20 ? width : draw_below(d, 4) == 0 && width > 200 ? 200 : 20;
    return lo + (int64_t)(draw_bits(d) % (limit + 1));
}

static void put_random(struct draws *d, struct trial_settings *s, const osafl_param *p)
{
    switch (p->type) {
    case OSAFL_T_BOOL:
        put(s, p, &(bool){draw_below(d, 2) == 1}, sizeof(bool));
        break;
    case OSAFL_T_INT:
        put(s, p, &(int64_t){random_int(d, p)}, sizeof(int64_t));
        break;
    case OSAFL_T_REAL:
        put_real(s, p, random_real(d, p));
        break;
    case OSAFL_T_CHOICE:
        put(s, p, &(osafl_choice){(int32_t)draw_below(d, count_choices(p))}, sizeof(osafl_choice));
        break;
    case OSAFL_T_RANGE: {
        const double a = random_real(d, p);
        const double b = random_real(d, p);
        put(s, p, &(osafl_range){a < b ? a : b, a < b ? b : a}, sizeof(osafl_range));
        break;
    }
    case OSAFL_T_REALS: {
        const uint32_t n = draw_below(d, 5);
        double *v = calloc(n + 1, sizeof *v);
        for (uint32_t i = 0; v != NULL && i < n; i++)
            v[i] = random_real(d, p);
        if (v != NULL)
            put(s, p, &(osafl_reals){.v = v, .n = n}, sizeof(osafl_reals));
        break;
    }
    default: /* texts and rows stay */
        break;
    }
}

struct trial_settings settings_random(const struct conform *c, uint32_t number)
{
    struct trial_settings s = settings_default(c);
    struct draws d = {.seed = c->seed, .purpose = 1, .index = (uint64_t)number << 32};
    for (uint32_t i = 0; i < c->plugin->n_params; i++) {
        if (!is_given(c, param_at(c, i)->name))
            put_random(&d, &s, param_at(c, i));
    }
    return s;
}
