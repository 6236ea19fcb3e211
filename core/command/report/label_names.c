/* label_names.c - what cases and settings are called in tables and figures. */
#include "label_names.h"

#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"

bool label_name_is_good(const char *word)
{
    const char *sign = strchr(word, '=');
    return sign != NULL && sign != word && sign[1] != '\0';
}

/* The new name of the part's first `length` bytes; NULL: it keeps its name. */
static const char *new_name(const struct label_names *names, const char *part, size_t length)
{
    for (size_t i = 0; i < names->n; i++) {
        const size_t old = (size_t)(strchr(names->word[i], '=') - names->word[i]);
        if (old == length && strncmp(names->word[i], part, length) == 0)
            return names->word[i] + old + 1;
    }
    return NULL;
}

static void write_part(const struct label_names *names, const char *part, size_t length, FILE *to)
{
    const char *sign = memmem(part, length, " = ", 3);
    const size_t name = sign == NULL ? length : (size_t)(sign - part);
    const char *renamed = new_name(names, part, name);
    if (renamed == NULL)
        fprintf(to, "%.*s", (int)length, part);
    else
        fprintf(to, "%s%.*s", renamed, (int)(length - name), part + name);
}

char *label_renamed(const struct label_names *names, const char *label, const char *separator)
{
    struct checked_stream text;
    checked_stream_open(&text);
    for (const char *at = label;;) {
        const char *end = strstr(at, separator);
        write_part(names, at, end == NULL ? strlen(at) : (size_t)(end - at), text.file);
        if (end == NULL)
            break;
        fputs(separator, text.file);
        at = end + strlen(separator);
    }
    return checked_stream_text(&text);
}

static void rename_text(const struct label_names *names, char **label, const char *separator)
{
    char *renamed = label_renamed(names, *label, separator);
    free(*label);
    *label = renamed;
}

void labels_rename(struct result_grid *g, const struct label_names *names)
{
    for (size_t i = 0; i < g->experiments && names->n > 0; i++) {
        for (size_t k = 0; k < g->experiment[i].tables; k++) {
            struct grid_table *t = &g->experiment[i].table[k];
            rename_text(names, &t->title, ", ");
            for (size_t r = 0; r < t->rows; r++)
                rename_text(names, &t->row[r].label, " / ");
        }
    }
}
