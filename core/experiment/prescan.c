/* prescan.c - reads the text of an experiment file before libconfig does. */
#include "prescan.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diagnostics.h"
#include "base/file_read.h"

struct prescan_source {
    char *file;
    char *text; /* NUL-terminated */
    size_t size;
};

/* What the last token was, for the few rules of libconfig's grammar that are checked here because
 * its own message would only be "syntax error". */
enum token { AT_START, AT_NAME, AT_ASSIGN, AT_VALUE, AT_STRING, AT_COMMA, AT_END };

struct bracket {
    char open;
    unsigned line;
};

/* State over a file and all that it includes. */
struct scan {
    struct prescan *out;
    struct diagnostics *d;
    struct bracket brackets[PRESCAN_MAX_DEPTH];
    size_t depth;
    size_t settings;
    size_t input_bytes;
    size_t nesting;
    size_t comma; /* offset of the last comma in the prepared text */
    enum token last;
    bool no_memory;
};

/* Position in one text. */
struct text_cursor {
    const char *file;
    const char *p;
    const char *end;
    const char *line_start;
    unsigned line;
    size_t base_depth; /* brackets that were open when the file began */
};

static void scan_source(struct scan *s, const struct prescan_source *source);

/* ---- output ---- */

static void put(struct scan *s, const char *bytes, size_t n)
{
    struct prescan *out = s->out;
    if (s->no_memory)
        return;
    if (out->size + n + 1 > out->capacity) {
        const size_t capacity = 2 * (out->size + n + 1) + 4096;
        char *grown = realloc(out->text, capacity);
        if (grown == NULL) {
            s->no_memory = true;
            return;
        }
        out->text = grown;
        out->capacity = capacity;
    }
    memcpy(out->text + out->size, bytes, n);
    out->size += n;
    out->text[out->size] = '\0';
}

/* Notes that the next line of the prepared text comes from the cursor's line. */
static void begin_line(struct scan *s, const struct text_cursor *c)
{
    struct prescan *out = s->out;
    if (s->no_memory)
        return;
    if ((out->n_lines & (out->n_lines - 1)) == 0) {
        const size_t capacity = out->n_lines == 0 ? 1 : 2 * out->n_lines;
        struct prescan_line *grown = reallocarray(out->lines, capacity, sizeof *grown);
        if (grown == NULL) {
            s->no_memory = true;
            return;
        }
        out->lines = grown;
    }
    out->lines[out->n_lines++] = (struct prescan_line){
        .file = c->file, .source = c->line_start, .line = c->line, .depth = (unsigned)s->depth};
}

static void newline(struct scan *s, struct text_cursor *c)
{
    c->p++;
    c->line++;
    c->line_start = c->p;
    put(s, "\n", 1);
    begin_line(s, c);
}

/* ---- numbers ---- */

enum number { NOT_A_NUMBER, NUMBER_INT, NUMBER_HEX, NUMBER_REAL };

static size_t count_digits(const char *p)
{
    size_t n = 0;
    while (isdigit((unsigned char)p[n]))
        n++;
    return n;
}

static bool ends_as_integer(const char *p)
{
    if (*p == 'L')
        p++;
    if (*p == 'L')
        p++;
    return *p == '\0';
}

static enum number classify(const char *word)
{
    const char *p = word;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        size_t n = 0;
        while (isxdigit((unsigned char)p[2 + n]))
            n++;
        return n > 0 && ends_as_integer(p + 2 + n) ? NUMBER_HEX : NOT_A_NUMBER;
    }
    if (*p == '+' || *p == '-')
        p++;
    const size_t whole = count_digits(p);
    p += whole;
    if (whole > 0 && ends_as_integer(p))
        return NUMBER_INT;
    size_t fraction = 0;
    if (*p == '.') {
        fraction = count_digits(p + 1);
        p += 1 + fraction;
    }
    if (whole + fraction == 0)
        return NOT_A_NUMBER;
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        const size_t exponent = count_digits(p);
        if (exponent == 0)
            return NOT_A_NUMBER;
        p += exponent;
    }
    return *p == '\0' ? NUMBER_REAL : NOT_A_NUMBER;
}

bool prescan_is_number(const char *word)
{
    return classify(word) != NOT_A_NUMBER;
}

static bool is_word_char(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_' || ch == '.';
}

/* Bytes of the word that begins at p with a digit, a sign or a point. */
static size_t number_bytes(const char *p, const char *end)
{
    const bool hex = end - p >= 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    size_t n = 1;
    while (p + n < end) {
        const bool exponent_sign =
            (p[n] == '+' || p[n] == '-') && !hex && (p[n - 1] == 'e' || p[n - 1] == 'E');
        if (!is_word_char(p[n]) && !exponent_sign)
            break;
        n++;
    }
    return n;
}

/* An integer as it is written, but as one of 64 bits. */
static void put_integer(struct scan *s, const struct text_cursor *c, const char *word, bool hex)
{
    errno = 0;
    const bool fits = hex ? strtoull(word, NULL, 16) <= INT64_MAX
                          : strtoll(word, NULL, 10) >= INT64_MIN; /* errno says whether */
    if (!fits || errno != 0)
        diagnostics_error(s->d, c->file, c->line,
                          "%s does not fit 64 bits; whole numbers go from %" PRId64 " to %" PRId64,
                          word, INT64_MIN, INT64_MAX);
    put(s, word, strcspn(word, "L"));
    put(s, "L", 1);
}

static bool is_written_zero(const char *word)
{
    for (const char *p = word; *p != '\0' && *p != 'e' && *p != 'E'; p++) {
        if (*p >= '1' && *p <= '9')
            return false;
    }
    return true;
}

static void put_real(struct scan *s, const struct text_cursor *c, const char *word)
{
    const double value = strtod(word, NULL);
    if (!isfinite(value))
        diagnostics_error(s->d, c->file, c->line,
                          "%s is too large for a real number; the largest is %g", word,
                          __DBL_MAX__);
    else if (value == 0.0 && !is_written_zero(word))
        diagnostics_error(s->d, c->file, c->line,
                          "%s is too small for a real number and would be read as 0", word);
    put(s, word, strlen(word));
}

/* ---- grammar ---- */

static bool in_list(const struct scan *s)
{
    return s->depth > 0 && s->brackets[s->depth - 1].open != '{';
}

/* Called at the first byte of every value. */
static void begin_value(struct scan *s, const struct text_cursor *c, bool string)
{
    if (s->last == AT_ASSIGN || (string && s->last == AT_STRING))
        return;
    if (!in_list(s))
        diagnostics_error(s->d, c->file, c->line, "a value without a name; write name = value;");
    else if (s->last == AT_VALUE || s->last == AT_STRING)
        diagnostics_error(s->d, c->file, c->line, "a comma is missing between two values");
}

static void scan_number(struct scan *s, struct text_cursor *c)
{
    const size_t n = number_bytes(c->p, c->end);
    char word[512];
    begin_value(s, c, false);
    if (n >= sizeof word) {
        diagnostics_error(s->d, c->file, c->line, "a number with %zu digits", n);
    } else {
        memcpy(word, c->p, n);
        word[n] = '\0';
        switch (classify(word)) {
        case NUMBER_INT:
            put_integer(s, c, word, false);
            break;
        case NUMBER_HEX:
            put_integer(s, c, word, true);
            break;
        case NUMBER_REAL:
            put_real(s, c, word);
            break;
        case NOT_A_NUMBER:
            diagnostics_error(s->d, c->file, c->line,
                              "%s is not a number (whole: 12 or 0x1F, real: 1.5 or 2e-3; text must "
                              "be in double quotes)",
                              word);
            break;
        }
    }
    c->p += n;
    s->last = AT_VALUE;
}

static bool is_name_char(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_' || ch == '-' || ch == '*';
}

static bool same_word(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(p, word, n) == 0;
}

static void scan_name(struct scan *s, struct text_cursor *c)
{
    size_t n = 1;
    while (c->p + n < c->end && is_name_char(c->p[n]))
        n++;
    const int shown = n > 100 ? 100 : (int)n;
    if (same_word(c->p, n, "true") || same_word(c->p, n, "false")) {
        begin_value(s, c, false);
        s->last = AT_VALUE;
    } else if (s->last == AT_ASSIGN || in_list(s)) {
        if (same_word(c->p, n, "nan") || same_word(c->p, n, "inf") ||
            same_word(c->p, n, "infinity"))
            diagnostics_error(s->d, c->file, c->line, "%.*s: numbers must be finite", shown, c->p);
        else
            diagnostics_error(s->d, c->file, c->line, "text must be in double quotes: \"%.*s\"",
                              shown, c->p);
        s->last = AT_VALUE;
    } else {
        if (n > PRESCAN_MAX_NAME)
            diagnostics_error(s->d, c->file, c->line,
                              "a name of %zu bytes; no setting has one of more than %d", n,
                              PRESCAN_MAX_NAME);
        s->last = AT_NAME;
    }
    put(s, c->p, n);
    c->p += n;
}

static bool is_hex_pair(const char *p, const char *end)
{
    return end - p >= 2 && isxdigit((unsigned char)p[0]) && isxdigit((unsigned char)p[1]);
}

/* p is at a backslash; returns the bytes of the escape. */
static size_t check_escape(struct scan *s, const struct text_cursor *c, const char *p)
{
    const char kind = p + 1 < c->end ? p[1] : '\0';
    if (kind != '\0' && strchr("nrtf\\\"", kind) != NULL)
        return 2;
    if (kind == 'x' && is_hex_pair(p + 2, c->end)) {
        const char digits[3] = {p[2], p[3], '\0'};
        const long code = strtol(digits, NULL, 16);
        if (code == 0 || code >= 0x80)
            diagnostics_error(s->d, c->file, c->line,
                              "\\x%s: only \\x01 to \\x7f may be used in a text; write other "
                              "characters themselves, in UTF-8",
                              digits);
        return 4;
    }
    diagnostics_error(s->d, c->file, c->line,
                      "unknown escape in a text; a backslash itself is written \\\\");
    return kind == '\0' || kind == '\n' ? 1 : 2;
}

static void scan_string(struct scan *s, struct text_cursor *c)
{
    begin_value(s, c, true);
    s->last = AT_STRING;
    const char *p = c->p + 1;
    while (p < c->end && *p != '"' && *p != '\n') {
        if (*p == '\\') {
            p += check_escape(s, c, p);
        } else {
            if (iscntrl((unsigned char)*p) && *p != '\t')
                diagnostics_error(s->d, c->file, c->line,
                                  "a control character (code %d) in a text; write \\x%02x", *p,
                                  (unsigned)*p);
            p++;
        }
    }
    if (p >= c->end || *p != '"') {
        diagnostics_error(s->d, c->file, c->line,
                          "the text that begins here is not closed on its line: \" is missing");
        c->p = p < c->end ? p : c->end;
        return;
    }
    p++;
    put(s, c->p, (size_t)(p - c->p));
    c->p = p;
}

static void scan_comment(struct scan *s, struct text_cursor *c)
{
    put(s, " ", 1);
    if (c->p[0] == '#' || c->p[1] == '/') {
        while (c->p < c->end && *c->p != '\n')
            c->p++;
        return;
    }
    const unsigned opened = c->line;
    c->p += 2;
    while (c->p < c->end) {
        if (*c->p == '\n') {
            newline(s, c);
        } else if (*c->p == '*' && c->p + 1 < c->end && c->p[1] == '/') {
            c->p += 2;
            return;
        } else {
            c->p++;
        }
    }
    diagnostics_error(s->d, c->file, opened,
                      "the comment that begins here is not closed: */ is "
                      "missing, and the rest of the file would be ignored");
}

static void open_bracket(struct scan *s, struct text_cursor *c)
{
    const char open = *c->p;
    if (!in_list(s) && s->last != AT_ASSIGN)
        diagnostics_error(s->d, c->file, c->line, "%c without \"name =\" before it", open);
    else if (in_list(s) && (s->last == AT_VALUE || s->last == AT_STRING))
        diagnostics_error(s->d, c->file, c->line, "a comma is missing between two values");
    if (s->depth > 0 && s->brackets[s->depth - 1].open == '[')
        diagnostics_error(s->d, c->file, c->line,
                          "an array [ ] holds plain values only; a list ( ) may hold %s",
                          open == '{' ? "groups" : "lists");
    if (s->depth == PRESCAN_MAX_DEPTH) {
        diagnostics_error(s->d, c->file, c->line, "groups and lists are nested more than %d deep",
                          PRESCAN_MAX_DEPTH);
        c->p = c->end;
        s->depth = c->base_depth;
        return;
    }
    s->brackets[s->depth++] = (struct bracket){.open = open, .line = c->line};
    put(s, open == '[' ? "(" : c->p, 1);
    c->p++;
    s->last = AT_START;
}

static char closing(char open)
{
    return open == '{' ? '}' : open == '[' ? ']' : ')';
}

/* Called where a setting or an element of a list ends. */
static void check_value_given(struct scan *s, const struct text_cursor *c)
{
    const bool in_vain = *c->p == ',' && in_list(s) && (s->last == AT_START || s->last == AT_COMMA);
    if (s->last == AT_ASSIGN || in_vain)
        diagnostics_error(s->d, c->file, c->line, "a value is missing before %c", *c->p);
}

static void close_bracket(struct scan *s, struct text_cursor *c)
{
    const char close = *c->p;
    if (s->depth == c->base_depth) {
        diagnostics_error(s->d, c->file, c->line, "%c closes nothing", close);
        c->p++;
        return;
    }
    const struct bracket b = s->brackets[--s->depth];
    check_value_given(s, c);
    if (close != closing(b.open))
        diagnostics_error(s->d, c->file, c->line, "%c where %c must close the %c of line %u", close,
                          closing(b.open), b.open, b.line);
    if (s->last == AT_COMMA && b.open != '{' && !s->no_memory)
        s->out->text[s->comma] = ' ';
    put(s, close == ']' ? ")" : c->p, 1);
    c->p++;
    s->last = AT_VALUE;
}

static void scan_assign(struct scan *s, struct text_cursor *c)
{
    if (s->last != AT_NAME)
        diagnostics_error(s->d, c->file, c->line, "%c without a name before it", *c->p);
    if (++s->settings == PRESCAN_MAX_SETTINGS + 1)
        diagnostics_error(s->d, c->file, c->line, "more than %d settings", PRESCAN_MAX_SETTINGS);
    put(s, c->p, 1);
    c->p++;
    s->last = AT_ASSIGN;
}

static void scan_separator(struct scan *s, struct text_cursor *c)
{
    check_value_given(s, c);
    if (*c->p == ',')
        s->comma = s->out->size;
    s->last = *c->p == ',' ? AT_COMMA : AT_END;
    put(s, c->p, 1);
    c->p++;
}

static void scan_unexpected(struct scan *s, struct text_cursor *c)
{
    size_t n = 1;
    while (c->p + n < c->end && ((unsigned char)c->p[n] & 0xC0) == 0x80)
        n++;
    if (iscntrl((unsigned char)*c->p))
        diagnostics_error(s->d, c->file, c->line, "unexpected control character (code %d)", *c->p);
    else
        diagnostics_error(s->d, c->file, c->line, "unexpected character %.*s", (int)n, c->p);
    c->p += n;
}

/* ---- files ---- */

/* Takes text over; NULL: out of memory.  The returned entry stays where its strings are, the array
 * of entries does not. */
static bool add_source(struct scan *s, const char *file, char *text, size_t size,
                       struct prescan_source *out)
{
    struct prescan *p = s->out;
    char *name = strdup(file);
    struct prescan_source *grown = reallocarray(p->sources, p->n_sources + 1, sizeof *p->sources);
    if (grown != NULL)
        p->sources = grown;
    if (name == NULL || grown == NULL) {
        free(name);
        free(text);
        s->no_memory = true;
        return false;
    }
    *out = (struct prescan_source){.file = name, .text = text, .size = size};
    p->sources[p->n_sources++] = *out;
    return true;
}

/* The path of an included file: relative names are against the including file's folder. */
static char *include_path(const char *including, const char *name, size_t name_bytes)
{
    const char *slash = strrchr(including, '/');
    char *path = NULL;
    if (name[0] == '/' || slash == NULL)
        return strndup(name, name_bytes);
    if (asprintf(&path, "%.*s%.*s", (int)(slash + 1 - including), including, (int)name_bytes,
                 name) < 0)
        return NULL;
    return path;
}

static const char *read_problem(int error)
{
    return error == EFBIG ? "larger than 1 MiB" : file_read_problem(error);
}

static void include_file(struct scan *s, struct text_cursor *c, const char *path)
{
    int error = 0;
    size_t size = 0;
    if (s->nesting == PRESCAN_MAX_NESTING) {
        diagnostics_error(s->d, c->file, c->line,
                          "files are included more than %d deep; does \"%s\" include itself?",
                          PRESCAN_MAX_NESTING, path);
        return;
    }
    if (s->out->n_sources > PRESCAN_MAX_INCLUDES) {
        diagnostics_error(s->d, c->file, c->line, "more than %d files are included",
                          PRESCAN_MAX_INCLUDES);
        return;
    }
    char *text = file_read(path, PRESCAN_MAX_BYTES, &size, &error);
    if (text == NULL) {
        if (error == ENOMEM)
            diagnostics_no_memory(s->d);
        else
            diagnostics_error(s->d, c->file, c->line, "cannot include \"%s\": %s", path,
                              read_problem(error));
        return;
    }
    struct prescan_source source;
    if (!add_source(s, path, text, size, &source))
        return;
    s->nesting++;
    scan_source(s, &source);
    s->nesting--;
}

static void scan_include(struct scan *s, struct text_cursor *c)
{
    static const char word[] = "@include";
    const size_t n = sizeof word - 1;
    const char *p = c->p + n;
    const bool known = (size_t)(c->end - c->p) > n && strncmp(c->p, word, n) == 0;
    while (known && p < c->end && (*p == ' ' || *p == '\t'))
        p++;
    const char *name = p + 1;
    const char *close = known && p < c->end && *p == '"' && name < c->end
                            ? memchr(name, '"', (size_t)(c->end - name))
                            : NULL;
    if (close == NULL || close == name || memchr(name, '\n', (size_t)(close - name)) != NULL) {
        diagnostics_error(s->d, c->file, c->line, "after @ only @include \"FILE\" is known");
        while (c->p < c->end && *c->p != '\n')
            c->p++;
        return;
    }
    for (p = c->line_start; p < c->p; p++) {
        if (*p != ' ' && *p != '\t') {
            diagnostics_error(s->d, c->file, c->line, "@include must begin its line");
            break;
        }
    }
    char *path = include_path(c->file, name, (size_t)(close - name));
    if (path == NULL) {
        s->no_memory = true;
    } else {
        put(s, "\n", 1);
        include_file(s, c, path);
        /* What follows on the line of the @include is a line of its own. */
        begin_line(s, c);
    }
    free(path);
    c->p = close + 1;
    p = c->p + strspn(c->p, " \t");
    if (p < c->end && *p == ';') {
        diagnostics_error(s->d, c->file, c->line, "no ; stands behind @include \"FILE\"");
        c->p = p + 1;
    }
}

size_t utf8_valid_bytes(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n) {
        const unsigned char a = (unsigned char)s[i];
        const size_t follow = a < 0x80 ? 0 : a < 0xC2 ? 4 : a < 0xE0 ? 1 : a < 0xF0 ? 2 : 3;
        if (follow == 4 || a > 0xF4 || i + follow >= n)
            return i;
        for (size_t k = 1; k <= follow; k++) {
            if (((unsigned char)s[i + k] & 0xC0) != 0x80)
                return i;
        }
        /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
        const unsigned char b = follow > 0 ? (unsigned char)s[i + 1] : 0;
        if ((a == 0xE0 && b < 0xA0) || (a == 0xED && b > 0x9F) || (a == 0xF0 && b < 0x90) ||
            (a == 0xF4 && b > 0x8F))
            return i;
        i += follow + 1;
    }
    return n;
}

static unsigned line_of(const struct prescan_source *source, size_t offset)
{
    unsigned line = 1;
    for (size_t i = 0; i < offset; i++)
        line += source->text[i] == '\n';
    return line;
}

/* False when the bytes are no text at all, so that scanning them would only add noise. */
static bool check_encoding(struct scan *s, const struct prescan_source *source)
{
    s->input_bytes += source->size;
    if (s->input_bytes > PRESCAN_MAX_BYTES) {
        diagnostics_error(s->d, source->file, 0, "the experiment is larger than 1 MiB");
        return false;
    }
    if (source->size >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0) {
        diagnostics_error(s->d, source->file, 1,
                          "the file begins with a byte order mark; save it as UTF-8 without one");
        return false;
    }
    const size_t valid = utf8_valid_bytes(source->text, source->size);
    if (valid < source->size) {
        diagnostics_error(s->d, source->file, line_of(source, valid),
                          "the byte 0x%02x is not UTF-8; save the file as UTF-8",
                          (unsigned)(unsigned char)source->text[valid]);
        return false;
    }
    return true;
}

static void scan_token(struct scan *s, struct text_cursor *c)
{
    const char ch = *c->p;
    const char ahead = c->p + 1 < c->end ? c->p[1] : '\0';
    if (ch == '\n') {
        newline(s, c);
    } else if (ch == ' ' || ch == '\t' || ch == '\r' || ch == '\f') {
        put(s, " ", 1);
        c->p++;
    } else if (ch == '#' || (ch == '/' && (ahead == '/' || ahead == '*'))) {
        scan_comment(s, c);
    } else if (ch == '"') {
        scan_string(s, c);
    } else if (ch == '@') {
        scan_include(s, c);
    } else if (isdigit((unsigned char)ch) || ch == '+' || ch == '-' || ch == '.') {
        scan_number(s, c);
    } else if (isalpha((unsigned char)ch) || ch == '*') {
        scan_name(s, c);
    } else if (ch == '=' || ch == ':') {
        scan_assign(s, c);
    } else if (ch == ';' || ch == ',') {
        scan_separator(s, c);
    } else if (ch == '{' || ch == '[' || ch == '(') {
        open_bracket(s, c);
    } else if (ch == '}' || ch == ']' || ch == ')') {
        close_bracket(s, c);
    } else {
        scan_unexpected(s, c);
    }
}

static void scan_source(struct scan *s, const struct prescan_source *source)
{
    struct text_cursor c = {.file = source->file,
                            .p = source->text,
                            .end = source->text + source->size,
                            .line_start = source->text,
                            .line = 1,
                            .base_depth = s->depth};
    begin_line(s, &c);
    if (!check_encoding(s, source))
        return;
    while (c.p < c.end && !s->no_memory && s->settings <= PRESCAN_MAX_SETTINGS)
        scan_token(s, &c);
    while (s->depth > c.base_depth && c.p == c.end) {
        const struct bracket b = s->brackets[--s->depth];
        diagnostics_error(s->d, c.file, b.line,
                          "the %c here is not closed: %c is "
                          "missing",
                          b.open, closing(b.open));
    }
    s->depth = c.base_depth;
    put(s, "\n", 1);
}

static struct prescan *finish(struct scan *s, size_t errors_before)
{
    if (s->no_memory)
        diagnostics_no_memory(s->d);
    if (diagnostics_errors(s->d) == errors_before)
        return s->out;
    prescan_destroy(s->out);
    return NULL;
}

static struct prescan *prescan_taken(char *text, size_t n, const char *file, struct diagnostics *d)
{
    const size_t errors_before = diagnostics_errors(d);
    struct scan s = {.out = calloc(1, sizeof *s.out), .d = d};
    struct prescan_source source;
    if (s.out == NULL) {
        free(text);
        diagnostics_no_memory(d);
        return NULL;
    }
    if (add_source(&s, file, text, n, &source))
        scan_source(&s, &source);
    return finish(&s, errors_before);
}

struct prescan *prescan_file(const char *file, struct diagnostics *d)
{
    int error = 0;
    size_t size = 0;
    char *text = file_read(file, PRESCAN_MAX_BYTES, &size, &error);
    if (text == NULL && error == EINVAL &&
        (text = pipe_read(file, PRESCAN_MAX_BYTES, &size, &error)) != NULL)
        file = "(pipe)"; /* whose folder is the working one */
    if (text == NULL) {
        if (error == ENOMEM)
            diagnostics_no_memory(d);
        else
            diagnostics_error(d, file, 0, "cannot be read: %s", read_problem(error));
        return NULL;
    }
    return prescan_taken(text, size, file, d);
}

struct prescan *prescan_text(const char *text, size_t n, const char *file, struct diagnostics *d)
{
    char *copy = malloc(n + 1);
    if (copy == NULL) {
        diagnostics_no_memory(d);
        return NULL;
    }
    memcpy(copy, text, n);
    copy[n] = '\0';
    return prescan_taken(copy, n, file, d);
}

void prescan_destroy(struct prescan *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->n_sources; i++) {
        free(p->sources[i].file);
        free(p->sources[i].text);
    }
    free(p->sources);
    free(p->lines);
    free(p->text);
    free(p);
}

const struct prescan_line *prescan_origin(const struct prescan *p, unsigned line)
{
    size_t i = line > 0 ? line - 1 : 0;
    if (i >= p->n_lines)
        i = p->n_lines - 1;
    return &p->lines[i];
}
