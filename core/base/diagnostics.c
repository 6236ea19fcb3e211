/* diagnostics.c - the list of errors and warnings. */
#include "diagnostics.h"

#include <stdlib.h>
#include <string.h>

/* Nobody reads more; and a file that is no experiment at all has an error in every line. */
enum { MOST_ERRORS = 200, MOST_WARNINGS = 200 };

struct message {
    char *file; /* NULL: no place */
    unsigned line;
    bool warning;
    char *text;
};

struct diagnostics {
    struct message *messages;
    size_t n;
    size_t capacity;
    size_t errors; /* added, known ones included */
    size_t errors_kept;
    size_t warnings_kept;
    bool more_errors; /* than are kept */
    size_t lost;      /* messages for which there was no memory */
    bool no_memory;
};

struct diagnostics *diagnostics_create(void)
{
    return calloc(1, sizeof(struct diagnostics));
}

void diagnostics_destroy(struct diagnostics *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < d->n; i++) {
        free(d->messages[i].file);
        free(d->messages[i].text);
    }
    free(d->messages);
    free(d);
}

static bool same_place(const struct message *m, const char *file, unsigned line)
{
    if (m->line != line || (m->file == NULL) != (file == NULL))
        return false;
    return file == NULL || strcmp(m->file, file) == 0;
}

/* The cells of a grid repeat what is wrong with the file they share. */
static bool is_known(const struct diagnostics *d, const char *file, unsigned line, bool warning,
                     const char *text)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct message *m = &d->messages[i];
        if (m->warning == warning && same_place(m, file, line) && strcmp(m->text, text) == 0)
            return true;
    }
    return false;
}

static bool grow(struct diagnostics *d)
{
    if (d->n < d->capacity)
        return true;
    const size_t capacity = d->capacity == 0 ? 16 : 2 * d->capacity;
    struct message *grown = reallocarray(d->messages, capacity, sizeof *grown);
    if (grown == NULL)
        return false;
    d->messages = grown;
    d->capacity = capacity;
    return true;
}

/* Texts quote what stands in a file, and that may be anything; a message stays one line. */
static void make_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

OSAFL_PRINTF(5, 0)
static void add(struct diagnostics *d, const char *file, unsigned line, bool warning,
                const char *fmt, va_list args)
{
    struct message m = {.line = line, .warning = warning};
    size_t *kept = warning ? &d->warnings_kept : &d->errors_kept;
    /* Callers compare counts to see whether something failed, so that an error counts even when it
     * is known or its words are lost. */
    if (!warning)
        d->errors++;
    if (vasprintf(&m.text, fmt, args) < 0)
        m.text = NULL;
    else
        make_one_line(m.text);
    if (m.text != NULL && is_known(d, file, line, warning, m.text)) {
        free(m.text);
        return;
    }
    if (*kept >= (warning ? MOST_WARNINGS : MOST_ERRORS)) {
        d->more_errors = d->more_errors || !warning;
        free(m.text);
        return;
    }
    (*kept)++;
    if (file != NULL)
        m.file = strdup(file);
    if (m.text == NULL || (file != NULL && m.file == NULL) || !grow(d)) {
        free(m.text);
        free(m.file);
        d->lost++;
        return;
    }
    d->messages[d->n++] = m;
}

void diagnostics_error(struct diagnostics *d, const char *file, unsigned line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, file, line, false, fmt, args);
    va_end(args);
}

void diagnostics_warn(struct diagnostics *d, const char *file, unsigned line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, file, line, true, fmt, args);
    va_end(args);
}

void diagnostics_no_memory(struct diagnostics *d)
{
    d->no_memory = true;
    diagnostics_error(d, NULL, 0, "out of memory");
}

void diagnostics_failure(struct diagnostics *d, osafl_status status, const char *reason)
{
    d->no_memory = d->no_memory || status == OSAFL_E_NOMEM;
    diagnostics_error(d, NULL, 0, "%s", reason);
}

bool diagnostics_lack_memory(const struct diagnostics *d)
{
    return d->no_memory || d->lost > 0;
}

size_t diagnostics_errors(const struct diagnostics *d)
{
    return d->errors;
}

void diagnostics_print(const struct diagnostics *d, FILE *to)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct message *m = &d->messages[i];
        if (m->file != NULL)
            fprintf(to, "%s:", m->file);
        if (m->file != NULL && m->line != 0)
            fprintf(to, "%u:", m->line);
        fprintf(to, "%s%s%s\n", m->file != NULL ? " " : "", m->warning ? "warning: " : "", m->text);
    }
    if (d->more_errors)
        fprintf(to, "there are more errors; these %d are the first\n", MOST_ERRORS);
    if (d->lost != 0)
        fprintf(to, "out of memory: %zu further messages are lost\n", d->lost);
}

char *diagnostics_text(const struct diagnostics *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL)
        return NULL;
    diagnostics_print(d, memory);
    if (fclose(memory) != 0) {
        free(text);
        return NULL;
    }
    while (size > 0 && text[size - 1] == '\n')
        text[--size] = '\0';
    return text;
}
