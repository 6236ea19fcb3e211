/* vocabulary.c - numbers the distinct texts of a table's column. */
#include "vocabulary.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "csv_reader.h"

void vocabulary_free(struct vocabulary *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        free(v->word[i].text);
    free(v->word);
    *v = (struct vocabulary){0};
}

/* Where the text stands, or would stand. */
static uint32_t position(const struct vocabulary *v, const char *text, bool *found)
{
    uint32_t lo = 0;
    uint32_t hi = v->n;
    *found = false;
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        const int order = strcmp(v->word[middle].text, text);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

bool vocabulary_find(const struct vocabulary *v, const char *text, uint32_t *id)
{
    bool found = false;
    const uint32_t at = position(v, text, &found);
    if (found)
        *id = v->word[at].id;
    return found;
}

bool vocabulary_add(struct vocabulary *v, const char *text, uint32_t line, uint32_t *id)
{
    bool found = false;
    const uint32_t at = position(v, text, &found);
    if (!found) {
        if (v->n == v->capacity) {
            const uint32_t capacity = v->capacity == 0 ? 32 : 2 * v->capacity;
            struct word *grown = realloc(v->word, capacity * sizeof *grown);
            if (grown == NULL)
                return false;
            v->word = grown;
            v->capacity = capacity;
        }
        char *copy = strdup(text);
        if (copy == NULL)
            return false;
        memmove(v->word + at + 1, v->word + at, (v->n - at) * sizeof *v->word);
        v->word[at] = (struct word){.text = copy, .id = v->n, .line = line};
        v->n++;
    }
    *id = v->word[at].id;
    return true;
}

/* --- Texts that are probably the same */

/* Numbers by their values, then other texts by their letters, large or small: 0 when alike. */
static int compare_alike(const char *a, const char *b)
{
    double value_a = 0.0;
    double value_b = 0.0;
    const bool number_a = csv_number(a, &value_a);
    const bool number_b = csv_number(b, &value_b);
    if (number_a && number_b)
        return value_a < value_b ? -1 : value_a > value_b;
    if (number_a || number_b)
        return number_a ? -1 : 1;
    return strcasecmp(a, b);
}

const char *vocabulary_alike(const struct vocabulary *v, const char *text)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (compare_alike(v->word[i].text, text) == 0)
            return v->word[i].text;
    return NULL;
}

static int by_likeness(const void *a, const void *b)
{
    const char *const *text_a = a;
    const char *const *text_b = b;
    const int order = compare_alike(*text_a, *text_b);
    return order != 0 ? order : strcmp(*text_a, *text_b);
}

bool vocabulary_twins(const struct vocabulary *v, const char **a, const char **b)
{
    const char **text = calloc((size_t)v->n + 1, sizeof *text);
    bool found = false;
    if (text == NULL)
        return false;
    for (uint32_t i = 0; i < v->n; i++)
        text[i] = v->word[i].text;
    qsort(text, v->n, sizeof *text, by_likeness);
    for (uint32_t i = 1; i < v->n && !found; i++) {
        found = compare_alike(text[i - 1], text[i]) == 0;
        if (found) {
            *a = text[i - 1];
            *b = text[i];
        }
    }
    free(text);
    return found;
}

/* --- Order */

static int by_value(const void *a, const void *b)
{
    const char *text_a = ((const struct word *)a)->text;
    const char *text_b = ((const struct word *)b)->text;
    double value_a = 0.0;
    double value_b = 0.0;
    (void)csv_number(text_a, &value_a);
    (void)csv_number(text_b, &value_b);
    if (value_a != value_b)
        return value_a < value_b ? -1 : 1;
    return strcmp(text_a, text_b);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct word *)a)->text, ((const struct word *)b)->text);
}

uint32_t *vocabulary_sort(struct vocabulary *v)
{
    uint32_t *renamed = malloc((v->n + 1) * sizeof *renamed);
    if (renamed == NULL)
        return NULL;
    bool numbers = v->n > 0;
    double value = 0.0;
    for (uint32_t i = 0; i < v->n; i++)
        numbers = numbers && csv_number(v->word[i].text, &value);
    if (numbers)
        qsort(v->word, v->n, sizeof *v->word, by_value);
    for (uint32_t i = 0; i < v->n; i++) {
        renamed[v->word[i].id] = i;
        v->word[i].id = i;
    }
    if (numbers)
        qsort(v->word, v->n, sizeof *v->word, by_text);
    return renamed;
}
