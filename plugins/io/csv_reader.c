/* csv_reader.c - rows of a table in text. */
#include "csv_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void csv_open(struct csv_reader *r, struct byte_source *source, char separator)
{
    *r = (struct csv_reader){.source = source, .separator = separator, .comment = ""};
}

void csv_close(struct csv_reader *r)
{
    free(r->field);
    free(r->text);
    free(r->name);
    free(r->name_text);
    *r = (struct csv_reader){0};
}

static osafl_status line_fail(const struct csv_reader *r, const char *text)
{
    return io_fail(r->source->message, OSAFL_E_DATA, "%s:%" PRIu32 ": %s", r->source->name, r->line,
                   text);
}

static osafl_status no_memory(const struct csv_reader *r)
{
    return io_fail(r->source->message, OSAFL_E_NOMEM, "%s: out of memory", r->source->name);
}

/* A byte order mark, as some programs write it, is no part of the first field. */
static const char mark[] = "\xef\xbb\xbf";

/* Whether a quote that follows the first n bytes of the present row opens a field. */
static bool opens_field(const struct csv_reader *r, size_t n)
{
    const size_t comment = strlen(r->comment);
    if (comment > 0 && n >= comment && strncmp(r->text, r->comment, comment) == 0)
        return false;
    if (n == 0 || (r->line == 1 && n == 3 && memcmp(r->text, mark, 3) == 0))
        return true;
    const char before = r->text[n - 1];
    return before == r->separator || (r->separator == ' ' && before == '\t');
}

/* Adds a byte to the n of the present row. */
static osafl_status add_byte(struct csv_reader *r, size_t n, int byte)
{
    if (byte == '\0')
        return line_fail(r, "holds a byte 0; this is no text file, or one in UTF-16: save it as "
                            "UTF-8");
    if (n + 1 >= CSV_ROW_BYTES)
        return line_fail(r, r->breaks == 0 ? "is longer than 16 MiB; this is no table"
                                           : "has a quote that is not closed within 16 MiB");
    if (n + 1 >= r->text_capacity) {
        const size_t capacity = r->text_capacity == 0 ? 4096 : 2 * r->text_capacity;
        char *text = realloc(r->text, capacity);
        if (text == NULL)
            return no_memory(r);
        r->text = text;
        r->text_capacity = capacity;
    }
    r->text[n] = (char)byte;
    return OSAFL_OK;
}

/* Reads a row into text, without the end of its line; line breaks within quotes belong to it.
 * *found is false at the end of the source. */
static osafl_status read_row(struct csv_reader *r, size_t *length, bool *found)
{
    size_t n = 0;
    bool quoted = false;
    bool closed = false; /* by the byte before: another quote is one of the field */
    int byte = byte_source_get(r->source);
    *found = byte != BYTE_SOURCE_END;
    for (; byte >= 0 && (byte != '\n' || quoted); byte = byte_source_get(r->source)) {
        const bool opens = byte == '"' && !quoted && (closed || opens_field(r, n));
        closed = byte == '"' && quoted;
        quoted = opens || (quoted && !closed);
        OSAFL_TRY(add_byte(r, n++, byte));
        r->breaks += byte == '\n';
    }
    if (byte == BYTE_SOURCE_FAILED)
        return OSAFL_E_DATA;
    if (n > 0 && r->text[n - 1] == '\r') /* written on another system */
        n--;
    if (n > 0)
        r->text[n] = '\0';
    *length = n;
    return OSAFL_OK;
}

static osafl_status add_field(struct csv_reader *r, char *field)
{
    if (r->n_fields == r->field_capacity) {
        const uint32_t capacity = r->field_capacity == 0 ? 64 : 2 * r->field_capacity;
        char **grown = realloc(r->field, capacity * sizeof *grown);
        if (grown == NULL)
            return no_memory(r);
        r->field = grown;
        r->field_capacity = capacity;
    }
    r->field[r->n_fields++] = field;
    return OSAFL_OK;
}

/* Cuts the quoted field that begins at text[0] == '"': closes it with a 0 and moves *rest behind
 * its last quote.  NULL: the quote is never closed. */
static char *unquote(char *text, char **rest)
{
    char *to = text;
    for (char *from = text + 1; *from != '\0'; from++) {
        if (*from == '"') {
            if (from[1] != '"') {
                *rest = from + 1;
                *to = '\0';
                return text;
            }
            from++;
        }
        *to++ = *from;
    }
    return NULL;
}

/* The end of the field at text, which is not quoted. */
static char *field_end(const struct csv_reader *r, char *text)
{
    const char separators[] = {r->separator, r->separator == ' ' ? '\t' : '\0', '\0'};
    return text + strcspn(text, separators);
}

/* Cuts a row into its fields; one of blanks alone has none where blanks separate. */
static osafl_status split(struct csv_reader *r, char *text)
{
    const bool blanks = r->separator == ' ';
    r->n_fields = 0;
    if (blanks)
        text += strspn(text, " \t");
    if (blanks && *text == '\0')
        return OSAFL_OK;
    for (;;) {
        char *field = text;
        char *end = NULL;
        if (*text == '"') {
            field = unquote(text, &end);
            if (field == NULL)
                return line_fail(r, "has a quote that is not closed");
            if (end != field_end(r, end))
                return line_fail(r, "has text after a closing quote");
        } else {
            end = field_end(r, text);
        }
        /* The separator gives way to the field's final 0, so look first what follows. */
        text = *end == '\0' ? end : end + 1;
        if (blanks)
            text += strspn(text, " \t");
        const bool last = *end == '\0' || (blanks && *text == '\0');
        *end = '\0';
        OSAFL_TRY(add_field(r, field));
        if (last)
            return OSAFL_OK;
    }
}

osafl_status csv_next(struct csv_reader *r, bool *row)
{
    for (;;) {
        size_t length = 0;
        r->line += r->breaks + 1;
        r->breaks = 0;
        OSAFL_TRY(read_row(r, &length, row));
        if (!*row)
            return OSAFL_OK;
        if (length == 0)
            continue;
        char *text = r->text;
        if (r->line == 1 && strncmp(text, mark, 3) == 0)
            text += 3;
        if (r->comment[0] != '\0' && strncmp(text, r->comment, strlen(r->comment)) == 0)
            continue;
        OSAFL_TRY(split(r, text));
        if (r->n_fields > 0)
            return OSAFL_OK;
    }
}

/* --- Names */

osafl_status csv_keep_names(struct csv_reader *r)
{
    for (uint32_t i = 0; i < r->n_fields; i++) {
        for (char *c = strpbrk(r->field[i], "\r\n"); c != NULL; c = strpbrk(c, "\r\n"))
            *c = ' ';
        if (!csv_is_text(r->field[i]))
            return csv_refuse_bytes(r, r->field[i]);
    }
    r->name = r->field;
    r->n_names = r->n_fields;
    r->name_text = r->text;
    r->field = NULL;
    r->n_fields = 0;
    r->field_capacity = 0;
    r->text = NULL;
    r->text_capacity = 0;
    return OSAFL_OK;
}

int64_t csv_find(const struct csv_reader *r, const char *name)
{
    const size_t n = strlen(name);
    for (uint32_t i = 0; i < r->n_names; i++) {
        const char *found = r->name[i] + strspn(r->name[i], " \t");
        if (strncmp(found, name, n) == 0 && found[n + strspn(found + n, " \t")] == '\0')
            return i;
    }
    return -1;
}

struct csv_place csv_place(const struct csv_reader *r, uint32_t column)
{
    struct csv_place place;
    if (column < r->n_names && r->name[column][0] != '\0')
        (void)snprintf(place.text, sizeof place.text, "column %" PRIu32 " (\"%.40s\")", column + 1,
                       r->name[column]);
    else
        (void)snprintf(place.text, sizeof place.text, "column %" PRIu32, column + 1);
    return place;
}

const char *csv_oddity(const struct csv_reader *r, uint32_t expected)
{
    if (r->field[0][0] == '#')
        return "; it begins with \"#\", as comments do";
    if (r->n_fields == expected + 1 && r->field[expected][0] == '\0')
        return "; it ends in a separator, after which there is one more empty field";
    return "; write one field for each column";
}

/* --- Characters */

/* Bytes of the character that begins at p; 0: none does (RFC 3629), or one that steers a terminal.
 */
static size_t character_bytes(const unsigned char *p)
{
    const size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if ((p[0] < 0x20 && p[0] != '\t') || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0))
        return 0;
    if (p[0] > 0xf4 || (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

static const unsigned char *after_characters(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    for (size_t n = 1; *p != 0 && n > 0; p += n)
        n = character_bytes(p);
    return p;
}

bool csv_is_text(const char *text)
{
    return *after_characters(text) == 0;
}

osafl_status csv_refuse_bytes(const struct csv_reader *r, const char *text)
{
    const unsigned char byte = *after_characters(text);
    return io_fail(r->source->message, OSAFL_E_DATA, "%s:%" PRIu32 ": the byte 0x%02x is %s",
                   r->source->name, r->line, byte,
                   byte < 0x80 || byte == 0xc2
                       ? "a control character; remove it"
                       : "not UTF-8; save the table as UTF-8, or convert it: iconv -f "
                         "WINDOWS-1252 -t UTF-8");
}

/* --- Numbers */

bool csv_number(const char *text, double *value)
{
    while (*text == ' ' || *text == '\t')
        text++;
    /* strtod() also takes hexadecimal numbers, "inf" and "nan". */
    const size_t digits = strspn(text, "+-.0123456789eE");
    char *end = NULL;
    *value = strtod(text, &end);
    if (digits == 0 || end == text || end > text + digits || !isfinite(*value))
        return false;
    while (*end == ' ' || *end == '\t')
        end++;
    return *end == '\0';
}

bool csv_field_number(const struct csv_reader *r, uint32_t column, double *value)
{
    char *field = r->field[column];
    if (!r->decimal_comma)
        return csv_number(field, value);
    if (strchr(field, '.') != NULL)
        return false; /* perhaps 1.234,5: which of the two is the decimal one is not guessed */
    char *comma = strchr(field, ',');
    if (comma == NULL)
        return csv_number(field, value);
    *comma = '.';
    const bool number = csv_number(field, value);
    *comma = ',';
    return number;
}

osafl_status csv_need_number(const struct csv_reader *r, uint32_t column, double *value)
{
    if (csv_field_number(r, column, value))
        return OSAFL_OK;
    return io_fail(r->source->message, OSAFL_E_DATA,
                   "%s:%" PRIu32 ": %s holds \"%.40s\", which is not a finite number; correct it",
                   r->source->name, r->line, csv_place(r, column).text, r->field[column]);
}
