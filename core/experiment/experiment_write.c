/* experiment_write.c - writes a resolved experiment as an experiment file. */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "experiment.h"

enum { ORIGIN_COLUMN = 56 };

struct writer {
    FILE *to;
    char path[128]; /* of the open group, "" at the top level */
    int depth;
    bool failed; /* a stream in memory that cannot grow reports it once, and not by ferror() */
};

/* As fprintf(). */
static OSAFL_PRINTF(2, 3) int print(struct writer *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int n = vfprintf(w->to, fmt, args);
    va_end(args);
    w->failed = w->failed || n < 0;
    return n;
}

static int indent(const struct writer *w)
{
    return 4 * w->depth;
}

static void close_groups(struct writer *w)
{
    while (w->depth > 0) {
        w->depth--;
        print(w, "%*s};\n", indent(w), "");
    }
}

/* Closes and opens groups until path is the open one; the visit never returns to a group. */
static void move_to(struct writer *w, const char *path)
{
    const size_t n = strlen(w->path);
    const char *inner = path;
    if (strcmp(path, w->path) == 0)
        return;
    if (n > 0 && strncmp(path, w->path, n) == 0 && path[n] == '.')
        inner = path + n + 1;
    else
        close_groups(w);
    while (*inner != '\0') {
        const size_t length = strcspn(inner, ".");
        print(w, "%*s%.*s: {\n", indent(w), "", (int)length, inner);
        w->depth++;
        inner += length + (inner[length] == '.');
    }
    snprintf(w->path, sizeof w->path, "%s", path);
}

/* A name of a file could hold a line break, which would end the comment. */
static void write_comment(struct writer *w, const char *text)
{
    print(w, "  # ");
    for (; *text != '\0'; text++)
        print(w, "%c", iscntrl((unsigned char)*text) ? '?' : *text);
    print(w, "\n");
}

static osafl_status write_setting(void *arg, const struct setting *s)
{
    struct writer *w = arg;
    move_to(w, s->group);
    const int column = print(w, "%*s%s = %s;", indent(w), "", s->key, s->text);
    if (column < ORIGIN_COLUMN)
        print(w, "%*s", ORIGIN_COLUMN - column, "");
    write_comment(w, s->origin);
    return w->failed ? OSAFL_E_IO : OSAFL_OK;
}

osafl_status experiment_write(const struct experiment *e, void *file)
{
    struct writer w = {.to = file};
    print(&w, "# Experiment %s, case %s, identity %s\n", e->general.name, e->case_name,
          e->identity);
    OSAFL_TRY(experiment_visit(e, write_setting, &w));
    close_groups(&w);
    return w.failed || ferror(w.to) != 0 ? OSAFL_E_IO : OSAFL_OK;
}
