/* world.h - who the clients are and which samples they hold: the part of an experiment that is the
 * same for every algorithm.  ALGORITHMS.md 1, 2 and 7.
 *
 * Everything random here comes from the core's own streams (streams.h) and depends on the seed,
 * the settings `clients` and `partition`, the data set and the deletion policy, and on nothing
 * else: another aggregator, quantizer or evaluation interval meets the same stores, arrivals and
 * limits.  All functions belong to the coordinator; the const ones may be called by any thread
 * while no other one runs.  `message`: see message.h. */
#ifndef OSAFL_CORE_WORLD_H
#define OSAFL_CORE_WORLD_H

#include <stdio.h>

#include "base/records.h"
#include "experiment/experiment.h"
#include "plugin/plugin_host.h"
#include "population.h"

/* The samples that one client holds at present.  Valid until world_advance() or world_load(). */
struct store_samples {
    uint64_t n;             /* D_u */
    const uint64_t *sample; /* numbers in the training split */
    const int32_t *label;
};

struct world;

/* Draws the population and deals the initial stores.  dataset: a created instance; info: what it
 * describes itself as.  Both, and e, must outlive the world.  OSAFL_E_CONFIG for settings that
 * this data set cannot meet, OSAFL_E_DATA for a label out of range. */
osafl_status world_create(const struct experiment *e, const struct instance *dataset,
                          const osafl_dataset_info *info, struct world **out, char *message);
void world_destroy(struct world *w); /* NULL is allowed */

/* Rounds advanced so far. */
uint32_t world_round(const struct world *w);
const struct population *world_population(const struct world *w);
struct store_samples world_store(const struct world *w, uint32_t client);
/* [labels]: samples of each label in the client's store.  Valid as world_store(). */
const uint32_t *world_histogram(const struct world *w, uint32_t client);
/* Entropy of that histogram, in nats: 0 for one label, ln C for a flat one. */
double world_entropy(const struct world *w, uint32_t client);

/* Which clients the server asks in a round: present[u] = 1 for ceil(clients.sampled * U) clients
 * chosen uniformly, 0 for the others. */
void world_sample_clients(const struct world *w, uint32_t round, uint8_t *present);

/* Ends a round: label distributions drift, arrivals are dealt, and the deletion policy says which
 * samples leave, client after client.  Rounds come in ascending order, each once.  After a failure
 * (of the policy, or because its answer is no n distinct positions: OSAFL_E_BUG, naming it) the
 * world may only be destroyed. */
osafl_status world_advance(struct world *w, uint32_t round, const struct instance *deletion,
                           char *message);

/* How often in all a label's samples (with partition.scheme = "natural": a client's own) were used
 * up and dealt from the start again. */
uint64_t world_restarts(const struct world *w);
/* "label 3 (cat) 2 times, label 7 once" for the end of a run; "" without restarts. */
void world_describe_restarts(const struct world *w, char *out, size_t size);

/* Rounds advanced, stores and pools, into a section of a checkpoint.  world_load() goes into a
 * world made from the same experiment; it checks all that it reads, and after a failure the world
 * may only be destroyed. */
osafl_status world_save(const struct world *w, osafl_writer *to);
osafl_status world_load(struct world *w, struct record_reader *from, char *message);

/* Samples, label histogram, entropy and limits, smallest and largest client, for `osafl check`. */
void world_print(const struct world *w, FILE *to);

/* Bytes that the world holds, for the estimate of `osafl check`. */
uint64_t world_bytes(const struct world *w);

#endif
