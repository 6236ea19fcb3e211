/* row_settings.c - which settings tell the rows of a grid of results apart. */
#include "row_settings.h"

#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"
#include "experiment/schema.h"

/* Whether the core says of its setting that it cannot change a result: name, checkpoint_every, ...
 */
static bool has_no_effect(const char *key)
{
    char group[64] = "";
    const char *dot = strchr(key, '.');
    const char *name = dot == NULL ? key : dot + 1;
    if (dot != NULL && (size_t)(dot - key) < sizeof group)
        memcpy(group, key, (size_t)(dot - key));
    const struct schema_group *of = schema_find(group);
    for (uint32_t i = 0; of != NULL && i < of->n; i++) {
        if (strcmp(of->table[i].name, name) == 0)
            return (of->table[i].flags & OSAFL_P_NO_EFFECT) != 0;
    }
    return false;
}

bool setting_makes_row(const char *key, const char *along)
{
    return strcmp(key, "seed") != 0 && !has_no_effect(key) &&
           (along == NULL || strcmp(key, along) != 0);
}

char *varied_of_row(const char *varied, const char *along)
{
    struct checked_stream text;
    checked_stream_open(&text);
    bool first = true;
    for (const char *at = varied; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        char *key = checked_format("%.*s", (int)strcspn(at, "=,"), at);
        if (setting_makes_row(key, along)) {
            fprintf(text.file, "%s%.*s", first ? "" : ",", (int)length, at);
            first = false;
        }
        free(key);
        at += length + (at[length] == ',');
    }
    return checked_stream_text(&text);
}
