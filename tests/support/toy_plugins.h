/* toy_plugins.h - one tiny plugin of each kind, made in the test program, whose every behaviour is
 * a field of struct toy; and an experiment that chooses them.
 *
 * The model has TOY_DIM parameters and the loss mean((w_j - value(sample))^2)/2 summed over j, so
 * that a step is w <- w - rate * (w - mean value of the batch). */
#ifndef OSAFL_TESTS_TOY_PLUGINS_H
#define OSAFL_TESTS_TOY_PLUGINS_H

#include "base/diagnostics.h"
#include "experiment/experiment.h"
#include "osafl/osafl.h"
#include "round/session.h"

#define TOY_DIM 5
#define TOY_LABELS 4
#define TOY_SAMPLES 400
#define TOY_TEST 40
#define TOY_RATE 0.125
#define TOY_MAX_CLIENTS 16
#define TOY_LOG 4096

enum { TOY_NOT_FUSED, TOY_FUSED, TOY_FUSED_REFUSED };

/* What a plugin does wrong, and where: in this round, to this client where it knows one. */
enum toy_fault {
    TOY_SOUND,
    TOY_NAN_LOSS,
    TOY_NAN_SAMPLE,
    TOY_BAD_LABEL,
    TOY_NAN_GAIN,
    TOY_NAN_MODEL, /* aggregate() */
    TOY_NAN_BROADCAST,
    TOY_NO_REASON, /* solve() */
    TOY_TOO_MANY_ROUNDS,
    TOY_FAILING_MODEL,
    TOY_FAILING_ENCODE,
    TOY_NAN_KEPT,     /* the vector that encode() keeps */
    TOY_NOBODY,       /* choose(): asks nobody */
    TOY_ASKS_ABSENT,  /* choose(): a client that is not there */
    TOY_ASKS_TWICE,   /* choose(): a 2 */
    TOY_HUGE_FILTER,  /* update(): makes numbers that are not finite */
    TOY_FALSE_FILTER, /* labels(): one out of range */
    TOY_NAN_DECODE,   /* decode() knows neither round nor client: always; so the next */
    TOY_FAILING_DECODE,
};

struct toy {
    struct experiment e;
    /* behaviour */
    int fused;
    uint32_t sends;
    uint32_t vectors; /* 1: optimizer and aggregator exchange one further vector each way */
    bool misfit;      /* the optimizer takes none although the aggregator sends some */
    bool pooled;
    bool wants_empty_rounds;
    uint64_t pooled_steps;
    uint64_t quantizer_floats;             /* kept of a client and slot */
    uint32_t history_age[TOY_MAX_CLIENTS]; /* what choose() saw last, as the next two */
    double history_loss[TOY_MAX_CLIENTS];
    double history_norm[TOY_MAX_CLIENTS];
    uint32_t local_rounds[TOY_MAX_CLIENTS]; /* solve() says; 0: sits out */
    enum toy_fault fault;
    uint32_t fault_round;
    uint32_t fault_client;
    bool uneven_stores;      /* client u begins with u / clients of what it has room for */
    bool ask_store_gradient; /* finish() sends it */
    /* what was seen; on one thread only */
    uint64_t sample[TOY_LOG]; /* training samples in the order of reading */
    uint32_t batch_size[TOY_LOG];
    int32_t label[TOY_LOG]; /* as the model was given them */
    uint32_t n_samples;
    uint32_t n_batches;
    uint32_t fused_calls;
    uint32_t unfused_calls;
    uint32_t judging_calls; /* gradients that are no training: without dropout and the like */
    uint32_t received_calls;
    uint32_t aggregate_calls;
    uint64_t aggregated_samples;   /* in the histograms of the last call */
    double alpha[TOY_MAX_CLIENTS]; /* of the last call, by client; 0: took no part */
    float update[TOY_DIM];         /* what received() got */
};

/* The value of a sample. */
float toy_value(uint64_t sample);

/* An experiment of `clients` clients with stores of ceil(40 p_u) samples that chooses the toys.
 * Freed by toy_close(). */
struct toy *toy_open(uint32_t clients, uint32_t rounds);
void toy_close(struct toy *t);

/* Forgets what was seen. */
void toy_forget(struct toy *t);

/* A session on this experiment, without a pool.  Fails the running test when it cannot be made. */
void toy_session(struct toy *t, struct session *s);

#endif
