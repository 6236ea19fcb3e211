/* figure.c - what a figure shows, before anything is drawn. */
#include "figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"

/* Replaces what a file name or a shell word had better not hold: "levels = 2" becomes "levels-2".
 */
static char *file_name(char *text)
{
    enum { MOST = 200 }; /* with suffixes a name of a file may have 255 bytes */
    size_t n = 0;
    for (const char *at = text; *at != '\0' && n < MOST; at++) {
        const bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                           (*at >= '0' && *at <= '9') || *at == '_' || (*at == '.' && n > 0);
        if (plain)
            text[n++] = *at;
        else if (n > 0 && text[n - 1] != '-')
            text[n++] = '-';
    }
    text[n] = '\0';
    return text;
}

struct figure *figure_create(enum figure_kind kind, char *stem, char *title, char *x_label,
                             char *y_label)
{
    struct figure *f = checked_alloc(1, sizeof *f);
    *f = (struct figure){
        .kind = kind,
        .stem = file_name(stem),
        .title = title,
        .x_label = x_label,
        .y_label = y_label,
        .x_from = (double)NAN,
        .x_to = (double)NAN,
        .y_from = (double)NAN,
        .y_to = (double)NAN,
    };
    return f;
}

struct figure_series *figure_series_add(struct figure *f, char *label, size_t style)
{
    f->series = checked_grow(f->series, f->n_series, sizeof *f->series);
    struct figure_series *s = &f->series[f->n_series++];
    *s = (struct figure_series){.label = label, .style = style};
    return s;
}

void figure_point_add(struct figure_series *s, double x, double y, double low, double high)
{
    s->x = checked_grow(s->x, s->n, sizeof *s->x);
    s->y = checked_grow(s->y, s->n, sizeof *s->y);
    s->low = checked_grow(s->low, s->n, sizeof *s->low);
    s->high = checked_grow(s->high, s->n, sizeof *s->high);
    s->x[s->n] = x;
    s->y[s->n] = y;
    s->low[s->n] = low;
    s->high[s->n] = high;
    s->n++;
}

double figure_least_positive(const struct figure *f)
{
    double least = (double)NAN;
    for (size_t i = 0; i < f->n_series; i++) {
        for (size_t k = 0; k < f->series[i].n; k++) {
            if (f->series[i].y[k] > 0)
                least = fmin(least, f->series[i].y[k]); /* of a number and NAN the number */
        }
    }
    return least;
}

static void free_series(struct figure_series *s)
{
    free(s->label);
    free(s->x);
    free(s->y);
    free(s->low);
    free(s->high);
}

void figure_series_drop_empty(struct figure *f)
{
    if (f->series[f->n_series - 1].n == 0)
        free_series(&f->series[--f->n_series]);
}

static bool equal_values(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
            return false;
    }
    return true;
}

static bool equal_points(const struct figure_series *a, const struct figure_series *b)
{
    return a->n == b->n && equal_values(a->x, b->x, a->n) && equal_values(a->y, b->y, a->n) &&
           equal_values(a->low, b->low, a->n) && equal_values(a->high, b->high, a->n);
}

void figure_series_merge_equal(struct figure *f)
{
    struct figure_series *last = &f->series[f->n_series - 1];
    for (size_t i = 0; i + 1 < f->n_series; i++) {
        struct figure_series *s = &f->series[i];
        if (!equal_points(s, last))
            continue;
        /* Three names are enough for a key; the rest are counted. */
        if (s->merged++ < 2) {
            char *label = checked_format("%s, %s", s->label, last->label);
            free(s->label);
            s->label = label;
        }
        free_series(last);
        f->n_series--;
        return;
    }
}

char *figure_series_name(const struct figure_series *s)
{
    if (s->merged <= 2)
        return checked_copy(s->label);
    return checked_format("%s and %zu more", s->label, s->merged - 2);
}

void figure_free(struct figure *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->n_series; i++)
        free_series(&f->series[i]);
    free(f->series);
    free(f->stem);
    free(f->title);
    free(f->x_label);
    free(f->y_label);
    free(f);
}
