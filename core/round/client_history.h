/* client_history.h - what the server knows of each client from the rounds before: osafl_history,
 * kept for the policies that go by it.  All functions belong to the coordinator. */
#ifndef OSAFL_CORE_CLIENT_HISTORY_H
#define OSAFL_CORE_CLIENT_HISTORY_H

#include "base/records.h"
#include "osafl/history.h"

struct history {
    uint32_t clients;
    uint32_t labels;
    osafl_history view; /* of the round begun */
    /* [clients] each, but for histogram_then: [clients][labels]. */
    double *train_loss;
    double *update_norm;
    double *seconds;
    double *joules;
    uint32_t *histogram_then;
    uint32_t *arrivals;
    uint32_t *participations;
    uint32_t *took_part; /* one more than the last round in which it took part; 0: never */
    uint32_t *asked;     /* as took_part */
    uint32_t *age;
    uint32_t *asked_age;
    void *memory;
};

/* False without memory; then, too, history_destroy(). */
bool history_create(struct history *h, uint32_t clients, uint32_t labels);
void history_destroy(struct history *h);

/* Brings the view to a round.  histogram: the labels of all stores, as long as the round lasts. */
void history_begin(struct history *h, uint32_t round, const uint32_t *histogram);

/* What a round brought.  asked: [clients], 1 for a client that was asked. */
void history_note_asked(struct history *h, const uint8_t *asked);
void history_note_joules(struct history *h, uint32_t client, double joules);
/* An update that arrived.  Measures may be NaN: unknown. */
struct history_update {
    uint32_t client;
    uint32_t start_round;      /* in which the client took part; the round begun, or before */
    const uint32_t *histogram; /* [labels] of that round */
    double train_loss;
    double update_norm;
    double seconds;
};
void history_note_update(struct history *h, const struct history_update *u);
void history_note_arrivals(struct history *h, const uint32_t *arrivals);

/* A section of a checkpoint, after `round` rounds.  load: OSAFL_E_STATE for what no run can have
 * left. */
osafl_status history_save(const struct history *h, osafl_writer *w);
osafl_status history_load(struct history *h, uint32_t round, osafl_reader *r);

/* Bytes for an estimate. */
uint64_t history_bytes(uint32_t clients, uint32_t labels);

#endif
