/* participation.h - who takes part in a round, and with what effort: the channel's gains, the
 * clients that the server asks and the resource policy's answer.  ALGORITHMS.md 2.
 *
 * The model and the training have no say in it but by the history, so that it can be known before a
 * run where the selection does not go by what training measures. */
#ifndef OSAFL_CORE_PARTICIPATION_H
#define OSAFL_CORE_PARTICIPATION_H

#include "base/error.h"
#include "client_history.h"
#include "session.h"
#include "world/world.h"

struct participation {
    const struct session *session;
    const struct world *world;
    struct history history; /* notes of a round are its caller's */
    bool carries;           /* uplink.late = "carry" */
    uint32_t *free_from;    /* [clients]: the round from which it can be asked again; a state */
    /* Of the round decided last; [clients]. */
    uint8_t *asked; /* 1: the server asks the client */
    uint32_t n_asked;
    uint32_t round;
    uint8_t *there;          /* 1: it can be asked */
    uint8_t *busy;           /* 1: its update of an earlier round is under way */
    uint32_t *late;          /* rounds by which its update of this round will be late */
    double *gain;            /* linear */
    double *known_gain;      /* as server and policies know it */
    uint8_t *outage;         /* 1: its gain does not carry the upload */
    osafl_place *place;      /* NULL unless results.places */
    double *most_bits_per_s; /* of the link at the client's greatest power */
    double *receive_s;       /* of the model; 0 unless downlink.enabled, as the next */
    double *receive_j;
    double *energy_left_j;        /* of a client's budget */
    double *payload_bits;         /* of all vectors of its update */
    osafl_resource_answer answer; /* checked: see participation_decide() */
    double *answer_memory;
};

/* Session and world outlive it.  False without memory; then, too, participation_destroy(). */
bool participation_create(const struct session *s, const struct world *world,
                          struct participation *out);
/* Bytes that one takes, its history included. */
uint64_t participation_bytes(uint32_t clients, uint32_t labels);
void participation_destroy(struct participation *p);

/* Brings the history to round t; rounds come in ascending order. */
const osafl_history *participation_begin(struct participation *p, uint32_t round);

/* Decides the round begun.  Only for sessions with a link.  The answers
 * keep what selection.h and resource.h ask of them: a policy that does not is named (OSAFL_E_BUG,
 * OSAFL_E_NUMERIC). */
osafl_status participation_decide(struct participation *p, uint32_t round, struct error *error);

/* Whether gains are known with an error or a margin. */
bool participation_estimates(const struct session *s);

/* What a client gets in a round. */
double participation_downlink_bits(const struct session *s);

/* Bits of a sample in the cost model, s_u. */
double participation_sample_bits(const struct session *s);

/* Whether anybody can be asked in the round in hand. */
bool participation_has_candidates(const struct participation *p);

/* Its update would be later than the aggregator takes. */
bool participation_is_stale(const struct participation *p, uint32_t client);

#endif
