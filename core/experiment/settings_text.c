/* settings_text.c - settings as text: values for the resolved file, ranges and help for people. */
#include "settings_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

/* Appends to a buffer of fixed size and counts what it would have needed. */
struct text {
    char *out;
    size_t size;
    size_t length;
};

OSAFL_PRINTF(2, 3)
static void print(struct text *t, const char *fmt, ...)
{
    const size_t room = t->length < t->size ? t->size - t->length : 0;
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(room > 0 ? t->out + t->length : NULL, room, fmt, args);
    va_end(args);
    if (n > 0)
        t->length += (size_t)n;
}

/* 1.8e9: a mantissa without trailing zeros, an exponent without plus and zeros. */
static void print_scientific(struct text *t, int precision, double v)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.*e", precision - 1, v);
    char *exponent = strchr(digits, 'e');
    const long power = strtol(exponent + 1, NULL, 10);
    char *end = exponent;
    while (precision > 1 && end[-1] == '0')
        end--;
    if (end[-1] == '.')
        end--;
    *end = '\0';
    print(t, "%se%ld", digits, power);
}

/* The shortest decimal that reads back as the same double, and as a real number to libconfig. */
static void print_real(struct text *t, double v)
{
    char digits[40];
    const double size = v < 0.0 ? -v : v;
    int precision = 15;
    for (;; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, v);
        if (precision == 17 || strtod(digits, NULL) == v)
            break;
    }
    if (size >= 1e6 || (size > 0.0 && size < 1e-4))
        print_scientific(t, precision, v);
    else
        print(t, "%s%s", digits, strchr(digits, '.') == NULL ? ".0" : "");
}

/* Integers that do not fit 32 bits carry libconfig's suffix. */
static void print_integer(struct text *t, int64_t v)
{
    print(t, "%" PRId64 "%s", v, v > INT32_MAX || v < INT32_MIN ? "L" : "");
}

static void print_string(struct text *t, const char *s)
{
    print(t, "\"");
    for (; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\')
            print(t, "\\%c", *s);
        else if (iscntrl((unsigned char)*s))
            print(t, "\\x%02x", (unsigned)(unsigned char)*s);
        else
            print(t, "%c", *s);
    }
    print(t, "\"");
}

static void print_integer_or_word(struct text *t, const osafl_param *p, int64_t v)
{
    if (p->choices != NULL && v < 0)
        print_string(t, p->choices[-1 - v]);
    else
        print_integer(t, v);
}

static void print_reals(struct text *t, const double *v, uint64_t n)
{
    print(t, "[");
    for (uint64_t i = 0; i < n; i++) {
        print(t, "%s", i > 0 ? ", " : "");
        print_real(t, v[i]);
    }
    print(t, "]");
}

static const void *member(const osafl_param *p, const void *config)
{
    return (const unsigned char *)config + p->offset;
}

static void print_rows(struct text *t, const osafl_param *p, const osafl_rows *r);

static void print_value(struct text *t, const osafl_param *p, const void *config)
{
    const void *m = member(p, config);
    switch (p->type) {
    case OSAFL_T_BOOL:
        print(t, "%s", *(const bool *)m ? "true" : "false");
        break;
    case OSAFL_T_INT:
        print_integer_or_word(t, p, *(const int64_t *)m);
        break;
    case OSAFL_T_REAL:
        print_real(t, *(const double *)m);
        break;
    case OSAFL_T_TEXT:
    case OSAFL_T_PATH: {
        const char *s = *(const char *const *)m;
        print_string(t, s != NULL ? s : "");
        break;
    }
    case OSAFL_T_CHOICE:
        print_string(t, p->choices[((const osafl_choice *)m)->index]);
        break;
    case OSAFL_T_RANGE: {
        const osafl_range *r = m;
        print_reals(t, (const double[]){r->lo, r->hi}, 2);
        break;
    }
    case OSAFL_T_REALS: {
        const osafl_reals *r = m;
        print_reals(t, r->v, r->n);
        break;
    }
    case OSAFL_T_ROWS:
        print_rows(t, p, m);
        break;
    default:
        break;
    }
}

static bool is_default(const osafl_param *p, const void *config)
{
    const void *m = member(p, config);
    if ((p->flags & OSAFL_P_REQUIRED) != 0)
        return false;
    switch (p->type) {
    case OSAFL_T_BOOL:
        return *(const bool *)m == (p->def.i != 0);
    case OSAFL_T_INT:
        return *(const int64_t *)m == p->def.i;
    case OSAFL_T_REAL:
        return *(const double *)m == p->def.r;
    case OSAFL_T_TEXT:
        return strcmp(*(const char *const *)m, p->def.s != NULL ? p->def.s : "") == 0;
    case OSAFL_T_CHOICE:
        return ((const osafl_choice *)m)->index == (int32_t)p->def.i;
    case OSAFL_T_RANGE:
        return ((const osafl_range *)m)->lo == p->def.r &&
               ((const osafl_range *)m)->hi == p->def_hi.r;
    case OSAFL_T_REALS:
        return ((const osafl_reals *)m)->n == 0;
    default:
        return false;
    }
}

/* ({ key = value; ... }, ...): of a row only what differs from the default, so that a setting more
 * in a later version changes no text. */
static void print_rows(struct text *t, const osafl_param *p, const osafl_rows *r)
{
    const osafl_row_type *type = p->def.row;
    print(t, "(");
    for (uint64_t i = 0; i < r->n; i++) {
        const unsigned char *row = (const unsigned char *)r->v + i * type->size;
        print(t, "%s{ ", i > 0 ? ", " : "");
        for (uint32_t k = 0; k < type->n_params; k++) {
            const osafl_param *q = OSAFL_AT(osafl_param, type->params, type->param_size, k);
            if (is_default(q, row))
                continue;
            print(t, "%s = ", q->name);
            print_value(t, q, row);
            print(t, "; ");
        }
        print(t, "}");
    }
    print(t, ")");
}

int settings_format(const osafl_param *p, const void *config, char *out, size_t size)
{
    struct text t = {.out = out, .size = size};
    print_value(&t, p, config);
    return (int)t.length;
}

char *settings_text(const osafl_param *p, const void *config)
{
    const int n = settings_format(p, config, NULL, 0);
    char *out = malloc((size_t)n + 1);
    if (out != NULL)
        settings_format(p, config, out, (size_t)n + 1);
    return out;
}

static void print_default(struct text *t, const osafl_param *p)
{
    switch (p->type) {
    case OSAFL_T_BOOL:
        print(t, "%s", p->def.i != 0 ? "true" : "false");
        break;
    case OSAFL_T_INT:
        print_integer_or_word(t, p, p->def.i);
        break;
    case OSAFL_T_REAL:
        print_real(t, p->def.r);
        break;
    case OSAFL_T_TEXT:
    case OSAFL_T_PATH:
        print_string(t, p->def.s != NULL ? p->def.s : "");
        break;
    case OSAFL_T_CHOICE:
        print_string(t, p->choices[p->def.i]);
        break;
    case OSAFL_T_RANGE:
        print_reals(t, (const double[]){p->def.r, p->def_hi.r}, 2);
        break;
    default:
        print(t, "%s", p->type == OSAFL_T_ROWS ? "()" : "[]");
        break;
    }
}

char *settings_default_text(const osafl_param *p)
{
    struct text t = {0};
    print_default(&t, p);
    const size_t size = t.length + 1;
    t = (struct text){.out = malloc(size), .size = size};
    if (t.out != NULL)
        print_default(&t, p);
    return t.out;
}

static bool is_integer(const osafl_param *p)
{
    return p->type == OSAFL_T_INT || p->type == OSAFL_T_ROWS;
}

static bool has_lower_bound(const osafl_param *p)
{
    return is_integer(p) ? p->lo.i != INT64_MIN : p->lo.r > -__DBL_MAX__;
}

static bool has_upper_bound(const osafl_param *p)
{
    return is_integer(p) ? p->hi.i != INT64_MAX : p->hi.r < __DBL_MAX__;
}

static void print_bound(struct text *t, const osafl_param *p, const osafl_value *v)
{
    if (is_integer(p))
        print(t, "%" PRId64, v->i);
    else if (v->r > -1e6 && v->r < 1e6)
        print(t, "%.15g", v->r);
    else
        print_real(t, v->r);
}

/* "[0, 0.5)", "> 0", or nothing. */
static void print_interval(struct text *t, const osafl_param *p)
{
    const bool lo_open = (p->flags & OSAFL_P_LO_OPEN) != 0;
    const bool hi_open = (p->flags & OSAFL_P_HI_OPEN) != 0;
    if (has_lower_bound(p) && has_upper_bound(p)) {
        print(t, "%s", lo_open ? "(" : "[");
        print_bound(t, p, &p->lo);
        print(t, ", ");
        print_bound(t, p, &p->hi);
        print(t, "%s", hi_open ? ")" : "]");
    } else if (has_lower_bound(p)) {
        print(t, "%s ", lo_open ? ">" : ">=");
        print_bound(t, p, &p->lo);
    } else if (has_upper_bound(p)) {
        print(t, "%s ", hi_open ? "<" : "<=");
        print_bound(t, p, &p->hi);
    }
}

static void print_choices(struct text *t, const osafl_param *p)
{
    for (size_t i = 0; p->choices[i] != NULL; i++)
        print(t, "%s\"%s\"", i > 0 ? ", " : "", p->choices[i]);
}

int settings_interval(const osafl_param *p, char *out, size_t size)
{
    struct text t = {.out = out, .size = size};
    if (size > 0)
        out[0] = '\0';
    print_interval(&t, p);
    return (int)t.length;
}

int settings_choices(const osafl_param *p, char *out, size_t size)
{
    struct text t = {.out = out, .size = size};
    print_choices(&t, p);
    return (int)t.length;
}

int settings_real(double v, char *out, size_t size)
{
    struct text t = {.out = out, .size = size};
    print_real(&t, v);
    return (int)t.length;
}

/* ---- help ---- */

enum { HELP_WIDTH = 100, HELP_SPEC_BYTES = 512, HELP_WIDEST_SPEC = 34 };

/* "real [0, 0.5) = 0.1", "path, required", "one of "keep", "fail" = "keep"". */
static void print_spec(struct text *t, const osafl_param *p)
{
    static const char *const names[] = {
        [OSAFL_T_BOOL] = "bool",   [OSAFL_T_INT] = "int",     [OSAFL_T_REAL] = "real",
        [OSAFL_T_TEXT] = "text",   [OSAFL_T_PATH] = "path",   [OSAFL_T_CHOICE] = "one of ",
        [OSAFL_T_RANGE] = "range", [OSAFL_T_REALS] = "reals", [OSAFL_T_ROWS] = "rows",
    };
    print(t, "%s", names[p->type]);
    if (p->type == OSAFL_T_CHOICE) {
        print_choices(t, p);
    } else if (p->type != OSAFL_T_BOOL && p->type != OSAFL_T_TEXT && p->type != OSAFL_T_PATH &&
               (has_lower_bound(p) || has_upper_bound(p))) {
        print(t, " ");
        print_interval(t, p);
    }
    if (p->type == OSAFL_T_INT && p->choices != NULL) {
        print(t, " or ");
        print_choices(t, p);
    }
    if ((p->flags & OSAFL_P_REQUIRED) != 0) {
        print(t, ", required");
    } else {
        print(t, " = ");
        print_default(t, p);
    }
}

/* Prints words from column `column` on, with line breaks before HELP_WIDTH. */
static void print_wrapped(FILE *to, const char *words, size_t column)
{
    size_t at = column;
    while (*words != '\0') {
        const size_t n = strcspn(words, " ");
        if (at > column && at + 1 + n > HELP_WIDTH) {
            fprintf(to, "\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            fputc(' ', to);
            at++;
        }
        fwrite(words, 1, n, to);
        at += n;
        words += n;
        words += strspn(words, " ");
    }
    fputc('\n', to);
}

/* The table of one setting each line, each line behind `indent` spaces. */
static void describe_table(const osafl_param *table, uint32_t n, uint32_t stride, int indent,
                           FILE *file)
{
    char spec[HELP_SPEC_BYTES];
    size_t name_width = 0;
    size_t spec_width = 0;
    for (uint32_t i = 0; i < n; i++) {
        const osafl_param *p = OSAFL_AT(osafl_param, table, stride, i);
        struct text s = {.out = spec, .size = sizeof spec};
        print_spec(&s, p);
        if (strlen(p->name) > name_width)
            name_width = strlen(p->name);
        if (s.length > spec_width && s.length <= HELP_WIDEST_SPEC)
            spec_width = s.length;
    }
    const size_t column = (size_t)indent + name_width + 2 + spec_width + 2;
    for (uint32_t i = 0; i < n; i++) {
        const osafl_param *p = OSAFL_AT(osafl_param, table, stride, i);
        char doc[1024];
        struct text s = {.out = spec, .size = sizeof spec};
        print_spec(&s, p);
        snprintf(doc, sizeof doc, "%s%s%s%s", p->doc, p->unit != NULL ? " [" : "",
                 p->unit != NULL ? p->unit : "", p->unit != NULL ? "]" : "");
        /* A long list of choices has the sentence on the next line. */
        if (s.length > spec_width)
            fprintf(file, "%*s%-*s  %s\n%*s", indent, "", (int)name_width, p->name, spec,
                    (int)column, "");
        else
            fprintf(file, "%*s%-*s  %-*s  ", indent, "", (int)name_width, p->name, (int)spec_width,
                    spec);
        print_wrapped(file, doc, column);
        if (p->type == OSAFL_T_ROWS)
            describe_table(p->def.row->params, p->def.row->n_params, p->def.row->param_size,
                           indent + 2, file);
    }
}

void settings_describe(const osafl_param *table, uint32_t n, uint32_t stride, void *file)
{
    describe_table(table, n, stride, 2, file);
}
