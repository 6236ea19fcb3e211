/* session.h - the plugins of one experiment, created in order and checked to fit together.
 *
 * Order: dataset, model, aggregator, channel, resource, optimizer (the aggregator's own choice when
 * the experiment names none), quantizer, deletion, partition, drift, arrival, selection, filter.
 * Facts from an earlier plugin are handed to the later ones.  Without a link
 * channel, resource policy and quantizer are not created. */
#ifndef OSAFL_CORE_SESSION_H
#define OSAFL_CORE_SESSION_H

#include "base/error.h"
#include "codec.h"
#include "experiment/experiment.h"
#include "plugin/plugin_host.h"
#include "world/world.h"

/* Most measures of a model. */
#define SESSION_MAX_MEASURES 64

struct diagnostics;
struct loader;

struct session {
    struct experiment *experiment;
    struct host_context context;
    struct instance instance[LOADER_KINDS + 1]; /* by OSAFL_KIND_*; plugin NULL: not used */
    osafl_facts dataset_facts;
    osafl_facts model_facts;
    osafl_facts facts; /* of all other kinds */
    osafl_dataset_info dataset;
    osafl_model_info model;
    osafl_link link; /* zero without one */
    osafl_aggregator_info aggregator;
    bool pooled;           /* session_has_link() is false */
    uint64_t pooled_steps; /* of a round; 0: as many as all clients would take */
    osafl_optimizer_info optimizer;
    osafl_selection_info selection;
    osafl_deletion_info deletion;
    /* deletion.measure: evaluate()'s or score()'s number so many, of so many. */
    bool measure_is_score;
    uint32_t measure_index;
    uint32_t measure_stride;
    double *label_share;         /* [dataset.labels] */
    struct codec codec;          /* of the uplink; plain floats without a link */
    uint32_t slots;              /* vectors of an update: 1 + aggregator.uplink_vectors */
    uint64_t sample_size;        /* values of a sample */
    uint64_t evaluation_samples; /* of the chosen split */
};

/* Creates everything.  context: copied; its pool, flag and log must outlive the session, as must
 * e, in which an open optimizer is chosen.  On failure s holds nothing, and d says why: the pieces
 * that do not fit are named with the remedy. */
osafl_status session_create(struct session *s, struct experiment *e, struct loader *l,
                            const struct host_context *context, struct diagnostics *d);
void session_destroy(struct session *s);

/* Fills w with the weights of model.start; leaves it as it is where there are none. */
osafl_status session_start_weights(const struct session *s, float *w, struct error *error);

/* Whether clients train and send over links.  false: the aggregator wants centralised training, by
 * one trainee (pooled.h); selection and filter then have nothing to do. */
bool session_has_link(const struct session *s);
uint32_t session_trainees(const struct session *s); /* who can train: U, or 1 */

/* The vtable of the session's instance of a kind. */
const osafl_dataset_vt *session_dataset(const struct session *s);
const osafl_model_vt *session_model(const struct session *s);
const osafl_channel_vt *session_channel(const struct session *s);
const osafl_resource_vt *session_resource(const struct session *s);
const osafl_optimizer_vt *session_optimizer(const struct session *s);
const osafl_aggregator_vt *session_aggregator(const struct session *s);
const osafl_selection_vt *session_selection(const struct session *s);
const osafl_filter_vt *session_filter(const struct session *s); /* without a link: of none */

/* To whom calls of the codec belong; plain floats fail only for lack of memory. */
const struct instance *session_uplink(const struct session *s);

/* The optimizer's rate() of a round, > 0 and finite.  The model's workspace_bytes() for a batch. */
osafl_status session_rate(const struct session *s, uint32_t round, double *rate,
                          struct error *error);
uint64_t session_workspace_bytes(const struct session *s, uint32_t batch);

/* Those that a world is made of; valid as long as the session. */
struct world_plugins session_world_plugins(const struct session *s);

/* OSAFL_SPLIT_* on which the model is evaluated. */
uint32_t session_evaluation_split(const struct session *s);

#endif
