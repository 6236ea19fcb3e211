/* result_text.c - texts of the JSON files of results. */
#include "result_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "base/file_read.h"
#include "base/text.h"
#include "checked_alloc.h"
#include "experiment/old_keys.h"

osafl_status result_read_json(const char *path, json_t **out, struct error *error)
{
    json_error_t problem;
    size_t size = 0;
    int number = 0;
    *out = NULL;
    char *text = file_read(path, SIZE_MAX / 2, &size, &number);
    if (text == NULL)
        return error_set(error, OSAFL_E_IO, "cannot read %s: %s", path, file_read_problem(number));
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    free(text);
    if (*out == NULL)
        return error_set(error, OSAFL_E_DATA, "%s:%d: %s; the file is damaged", path, problem.line,
                         problem.text);
    if (json_is_object(*out))
        return OSAFL_OK;
    json_decref(*out);
    *out = NULL;
    return error_set(error, OSAFL_E_DATA, "%s:1: not a JSON object", path);
}

/* Bytes of the UTF-8 character at `at`; 0: none begins there, or one that steers a terminal
 * (U+0080 to U+009F, as two bytes). */
static size_t character_at(const unsigned char *at)
{
    const size_t n = at[0] < 0x80         ? 1
                     : at[0] >> 5 == 0x6  ? 2
                     : at[0] >> 4 == 0xe  ? 3
                     : at[0] >> 3 == 0x1e ? 4
                                          : 0;
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    const bool steers = at[0] < 0x20 || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0);
    return steers ? 0 : n;
}

char *result_printable(const char *text)
{
    char *copy = checked_copy(text);
    for (char *at = copy; *at != '\0';) {
        const size_t n = character_at((const unsigned char *)at);
        if (n == 0)
            *at = '?';
        at += n == 0 ? 1 : n;
    }
    return copy;
}

void result_say(const char *program, const char *sentence)
{
    char *text = result_printable(sentence);
    fprintf(stderr, "%s: %s\n", program, text);
    free(text);
}

/* "[64, 32]" of "[64.0, 32.0]" */
static char *plain_list(const char *text, size_t length)
{
    struct checked_stream plain;
    char *copy = checked_format("%.*s", (int)(length - 2), text + 1);
    char *rest = copy;
    checked_stream_open(&plain);
    fputc('[', plain.file);
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        char *value = result_plain_value(item + strspn(item, " "));
        fprintf(plain.file, "%s%s", value, rest != NULL ? ", " : "");
        free(value);
    }
    fputc(']', plain.file);
    free(copy);
    return checked_stream_text(&plain);
}

char *result_plain_value(const char *text)
{
    const size_t length = strlen(text);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']' && strpbrk(text, "\"{(") == NULL)
        return plain_list(text, length);
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
        char *plain = checked_alloc(length, 1);
        size_t n = 0;
        for (size_t i = 1; i < length - 1; i++) {
            i += text[i] == '\\' && i + 2 < length;
            plain[n++] = text[i];
        }
        return plain;
    }
    double value;
    if (strpbrk(text, ".e") == NULL || !text_real(text, &value))
        return checked_copy(text);
    char number[CSV_REAL_BYTES];
    csv_format_real(value, number);
    return checked_copy(number);
}

/* The same settings by the names that they have now; takes the text over. */
static char *renamed(char *varied)
{
    struct checked_stream text;
    checked_stream_open(&text);
    for (char *at = varied; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        const size_t key_bytes = strcspn(at, "=,");
        char *own = checked_format("%.*s", (int)key_bytes, at);
        const char *key = own;
        const char *value = "";
        if (key_bytes < length)
            old_keys_translate(&key, &value);
        fprintf(text.file, "%s%.*s%s", key, (int)(length - key_bytes), at + key_bytes,
                at[length] == ',' ? "," : "");
        free(own);
        at += length + (at[length] == ',');
    }
    free(varied);
    return checked_stream_text(&text);
}

void result_split_case(const char *name, char **case_name, char **varied)
{
    const size_t comma = strcspn(name, ",");
    char *clean = result_printable(name);
    if (strcspn(name, "=") < comma) {
        *varied = renamed(clean);
        *case_name = checked_copy("main");
        return;
    }
    *varied = renamed(checked_copy(clean[comma] == '\0' ? "" : clean + comma + 1));
    clean[comma] = '\0';
    *case_name = clean;
}

const char *result_varied_value(const char *varied, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = varied; at != NULL && *at != '\0'; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}
