/* world.h - who the clients are and which samples they hold: the part of an experiment that is the
 * same for every algorithm.  ALGORITHMS.md 1, 2 and 7.
 *
 * Everything random here depends on the seed, the settings `clients`, the data set, partition,
 * drift, arrival and deletion, and on nothing else: another aggregator, quantizer or evaluation
 * interval meets the same stores, arrivals and limits.  Only with a deletion policy that goes by
 * measures of the model do the stores depend on what is learnt.  All functions belong to the
 * coordinator; the const ones may be called by any thread while no other one runs. */
#ifndef OSAFL_CORE_WORLD_H
#define OSAFL_CORE_WORLD_H

#include <stdio.h>

#include "base/records.h"
#include "experiment/experiment.h"
#include "osafl/history.h"
#include "plugin/plugin_host.h"
#include "population.h"

/* The samples that one client holds at present.  Valid until world_advance() or world_load(). */
struct store_samples {
    uint64_t n;             /* D_u^t */
    const uint64_t *sample; /* numbers in the training split */
    const int32_t *label;
};

struct world;

/* The plugins that make a world, created, and what the data set says of itself.  All must outlive
 * the world. */
struct world_plugins {
    const struct instance *dataset;
    const osafl_dataset_info *info;
    const double *label_share; /* [info->labels]: world_label_share() */
    const struct instance *partition;
    const struct instance *drift;
    const struct instance *arrival;
    const struct instance *deletion;
};

/* share[0 .. info->labels): the label mix of the training split, which sums to 1; of an endless one
 * all alike.  OSAFL_E_DATA for a set without samples or with too many, and for a label out of
 * range. */
osafl_status world_label_share(const struct instance *dataset, const osafl_dataset_info *info,
                               double *share, struct error *error);

/* Draws the population and deals the initial stores.  e must outlive the world.  OSAFL_E_CONFIG for
 * settings that this data set cannot meet. */
osafl_status world_create(const struct experiment *e, const struct world_plugins *plugins,
                          struct world **out, struct error *error);
void world_destroy(struct world *w); /* NULL is allowed */

/* Rounds advanced so far. */
uint32_t world_round(const struct world *w);
const struct population *world_population(const struct world *w);
struct store_samples world_store(const struct world *w, uint32_t client);
/* [clients]: samples in the stores.  Valid as world_store(). */
const uint64_t *world_stored(const struct world *w);
/* alpha_u = D_u^t / sum of D^t over all clients; 0 for an empty store. */
double world_alpha(const struct world *w, uint32_t client);
/* [labels]: samples of each label in the client's store.  Valid as world_store(). */
const uint32_t *world_histogram(const struct world *w, uint32_t client);
/* Entropy of that histogram, in nats: 0 for one label, ln C for a flat one; NaN when empty. */
double world_entropy(const struct world *w, uint32_t client);
/* mix[labels]: labels as they come to the clients, weighted by alpha: the mixes in force, or, where
 * samples have owners, what the stores hold.  All 0 where nobody holds a sample. */
void world_present_mix(const struct world *w, double *mix);
/* Rounds since they came, on average over all stored samples: 0 of those that came last.  NAN
 * without a sample. */
double world_mean_age(const struct world *w);

/* Begins a round: who is there, and how many samples will reach whom at its end.  Rounds come in
 * ascending order, each once.  history: for the arrival plugin. */
osafl_status world_begin_round(struct world *w, uint32_t round, const osafl_history *history,
                               struct error *error);
/* [clients]: 1 for a client that is there in the round begun and has a sample (before the first
 * one: for all); samples that reach it at its end (fewer after that, where each is dealt once and
 * they are used up). */
const uint8_t *world_present(const struct world *w);
const uint32_t *world_arrivals(const struct world *w);

/* Ends the round begun: arrivals are dealt from the mix in force, and where a store has too many
 * the deletion policy says which samples leave.  The pool that the plugins had when the world was
 * made works for many clients at a time, except with plugins that do not declare the feature
 * "concurrent"; no byte depends on it.  The first client that fails is named.  After a failure (of
 * a plugin, or because its answer breaks the interface: OSAFL_E_BUG, naming it) the world may only
 * be destroyed. */
osafl_status world_advance(struct world *w, uint32_t round, struct error *error);

/* Ends the round begun by counting: stores grow by what arrives, up to their capacity, and nothing
 * is stored.  For a forecast; samples and labels of stores mean nothing afterwards. */
osafl_status world_count_arrivals(struct world *w, uint32_t round, struct error *error);

/* value[i] of sample[i], i < n, for a deletion policy that goes by a measure. */
typedef osafl_status world_measure(void *arg, uint32_t client, uint32_t n, const uint64_t *sample,
                                   double *value, struct error *error);
/* Who measures; from then on select() gets measures. */
void world_measure_with(struct world *w, world_measure *measure, void *arg);

/* What arrives at a client, before it is stored. */
typedef osafl_status world_watch(void *arg, uint32_t client, uint32_t n, const uint64_t *sample,
                                 struct error *error);
/* Who looks at arrivals; for rounds that end with world_advance(). */
void world_watch_arrivals(struct world *w, world_watch *watch, void *arg);

/* How often in all a label's samples (with a partition by owners: a client's own) were used
 * up and dealt from the start again. */
uint64_t world_restarts(const struct world *w);
/* Samples that did not come, as each is dealt once and all were dealt. */
uint64_t world_missing(const struct world *w);
/* A sentence for the end of a run on what was dealt again or did not come, "... (label 3 (cat): 2
 * times, label 7: 1 time)"; "": nothing. */
void world_describe_dealing(const struct world *w, char *out, size_t size);
/* Training samples that no client of the experiment owns, in a sentence; "": none, or the partition
 * goes by labels. */
void world_describe_left_out(const struct world *w, char *out, size_t size);

/* Rounds advanced, stores and pools, into a section of a checkpoint.  world_load() goes into a
 * world made from the same experiment; it checks all that it reads, and after a failure the world
 * may only be destroyed. */
osafl_status world_save(const struct world *w, osafl_writer *to);
osafl_status world_load(struct world *w, struct record_reader *from, struct error *error);

/* Samples, label histogram, entropy and limits, smallest and largest client, for `osafl check`. */
void world_print(const struct world *w, FILE *to);

/* Bytes that the world holds, for the estimate of `osafl check`. */
uint64_t world_bytes(const struct world *w);

#endif
