/* csv_field.c - fields of comma-separated values. */
#include "csv_field.h"

#include <string.h>

#include "base/csv_writer.h"

void csv_field_text(const char *text, FILE *to)
{
    const char *guard = text[0] != '\0' && strchr("=+-@", text[0]) != NULL ? "'" : "";
    if (strpbrk(text, ",\"\n\r") == NULL) {
        fprintf(to, "%s%s", guard, text);
        return;
    }
    fprintf(to, "\"%s", guard);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

void csv_field_real(double value, FILE *to)
{
    char text[CSV_REAL_BYTES];
    csv_format_real(value, text);
    fprintf(to, ",%s", text);
}
