/* client_history.c - what the server knows of each client from the rounds before. */
#include "client_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arrays of a client's doubles and words, beside its histogram. */
#define DOUBLES 4
#define WORDS 6

uint64_t history_bytes(uint32_t clients, uint32_t labels)
{
    return clients * (DOUBLES * sizeof(double) + (WORDS + (uint64_t)labels) * sizeof(uint32_t));
}

bool history_create(struct history *h, uint32_t clients, uint32_t labels)
{
    const size_t n = clients;
    *h = (struct history){.clients = clients, .labels = labels};
    h->memory = calloc(1, (size_t)history_bytes(clients, labels));
    if (h->memory == NULL)
        return false;
    h->train_loss = h->memory;
    h->update_norm = h->train_loss + n;
    h->seconds = h->update_norm + n;
    h->joules = h->seconds + n;
    h->arrivals = (uint32_t *)(void *)(h->joules + n);
    h->participations = h->arrivals + n;
    h->took_part = h->participations + n;
    h->asked = h->took_part + n;
    h->age = h->asked + n;
    h->asked_age = h->age + n;
    h->histogram_then = h->asked_age + n;
    for (size_t u = 0; u < n; u++)
        h->train_loss[u] = h->update_norm[u] = h->seconds[u] = (double)NAN;
    h->view = (osafl_history){
        .struct_size = sizeof h->view,
        .labels = labels,
        .histogram_then = h->histogram_then,
        .arrivals = h->arrivals,
        .participations = h->participations,
        .age = h->age,
        .asked_age = h->asked_age,
        .train_loss = h->train_loss,
        .update_norm = h->update_norm,
        .seconds = h->seconds,
        .joules = h->joules,
    };
    return true;
}

void history_destroy(struct history *h)
{
    free(h->memory);
    *h = (struct history){0};
}

void history_begin(struct history *h, uint32_t round, const uint32_t *histogram)
{
    h->view.histogram = histogram;
    for (uint32_t u = 0; u < h->clients; u++) {
        h->age[u] = round + 1 - h->took_part[u];
        h->asked_age[u] = round + 1 - h->asked[u];
    }
}

/* The round begun, from what history_begin() has written. */
static uint32_t next_round(const struct history *h, uint32_t client)
{
    return h->age[client] + h->took_part[client];
}

void history_note_asked(struct history *h, const uint8_t *asked)
{
    for (uint32_t u = 0; u < h->clients; u++)
        if (asked[u])
            h->asked[u] = next_round(h, u);
}

void history_note_joules(struct history *h, uint32_t client, double joules)
{
    h->joules[client] += joules;
}

void history_note_update(struct history *h, const struct history_update *u)
{
    const size_t labels = h->labels;
    const uint32_t now = next_round(h, u->client);
    h->took_part[u->client] = u->start_round + 1;
    h->age[u->client] = now - h->took_part[u->client];
    h->participations[u->client]++;
    h->train_loss[u->client] = u->train_loss;
    h->update_norm[u->client] = u->update_norm;
    h->seconds[u->client] = u->seconds;
    memcpy(h->histogram_then + u->client * labels, u->histogram,
           labels * sizeof *h->histogram_then);
}

void history_note_arrivals(struct history *h, const uint32_t *arrivals)
{
    memcpy(h->arrivals, arrivals, h->clients * sizeof *arrivals);
}

/* ---- checkpoints --------------------------------------------------------------------------- */

/* The words of all clients in one record, array after array. */
static osafl_status write_words(const struct history *h, osafl_writer *w)
{
    const uint64_t n = (WORDS - 2 + (uint64_t)h->labels) * h->clients;
    uint64_t *word = calloc((size_t)n + 1, sizeof *word);
    uint64_t at = 0;
    if (word == NULL)
        return OSAFL_E_NOMEM;
    for (uint64_t i = 0; i < (WORDS - 2) * (uint64_t)h->clients; i++)
        word[at++] = h->arrivals[i]; /* then participations, took_part and asked */
    for (uint64_t i = 0; i < (uint64_t)h->labels * h->clients; i++)
        word[at++] = h->histogram_then[i];
    const osafl_status status = w->u64(w, "words", word, n);
    free(word);
    return status;
}

osafl_status history_save(const struct history *h, osafl_writer *w)
{
    OSAFL_TRY(w->f64(w, "doubles", h->train_loss, DOUBLES * (uint64_t)h->clients));
    return write_words(h, w);
}

static osafl_status read_words(struct history *h, osafl_reader *r)
{
    const uint64_t n = (WORDS - 2 + (uint64_t)h->labels) * h->clients;
    uint64_t *word = calloc((size_t)n + 1, sizeof *word);
    if (word == NULL)
        return OSAFL_E_NOMEM;
    osafl_status status = r->u64(r, "words", word, n);
    for (uint64_t i = 0; status == OSAFL_OK && i < n; i++)
        if (word[i] > UINT32_MAX)
            status = OSAFL_E_STATE;
    uint64_t at = 0;
    for (uint64_t i = 0; status == OSAFL_OK && i < (WORDS - 2) * (uint64_t)h->clients; i++)
        h->arrivals[i] = (uint32_t)word[at++];
    for (uint64_t i = 0; status == OSAFL_OK && i < (uint64_t)h->labels * h->clients; i++)
        h->histogram_then[i] = (uint32_t)word[at++];
    free(word);
    return status;
}

/* A measure is a finite number, or unknown. */
static bool is_measure(double x)
{
    return isnan(x) || isfinite(x);
}

osafl_status history_load(struct history *h, uint32_t round, osafl_reader *r)
{
    OSAFL_TRY(r->f64(r, "doubles", h->train_loss, DOUBLES * (uint64_t)h->clients));
    OSAFL_TRY(read_words(h, r));
    for (uint32_t u = 0; u < h->clients; u++) {
        const bool sound = is_measure(h->train_loss[u]) && is_measure(h->update_norm[u]) &&
                           is_measure(h->seconds[u]) && h->joules[u] >= 0.0 &&
                           isfinite(h->joules[u]) && h->took_part[u] <= h->asked[u] &&
                           h->asked[u] <= round && h->participations[u] <= h->took_part[u];
        if (!sound)
            return OSAFL_E_STATE;
    }
    return OSAFL_OK;
}
