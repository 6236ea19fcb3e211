/* instance_under_test.h - a plugin at work: one instance, what the host keeps for it, and a trial
 * of calls as the engine would make them, whose answers go into a transcript.
 *
 * A trial is a number of rounds.  In each, the coordinator's calls are made first and then `tasks`
 * tasks, which the engine would give to its threads.  What to call is in the table of calls of the
 * kind. */
#ifndef OSAFL_CHECK_INSTANCE_UNDER_TEST_H
#define OSAFL_CHECK_INSTANCE_UNDER_TEST_H

#include "conform.h"
#include "guarded_memory.h"
#include "osafl/osafl.h"
#include "plugin/plugin_host.h"
#include "transcript.h"
#include "trial_settings.h"

#define TRIAL_ROUNDS 6 /* of a whole trial; facts.rounds */
#define TRIAL_LABELS 5

/* The world in which a plugin is tried. */
struct trial_world {
    uint64_t seed;
    uint32_t clients;
    uint64_t dim;            /* N, for all but data sets and models */
    uint32_t batch;          /* samples that a model gets at a time */
    double scale;            /* of the numbers that go in; 1 for usual ones */
    osafl_dataset_info data; /* for models */
};
extern const struct trial_world usual_world;

/* The world for this plugin: the usual one, or the first of a few in which a model can be made. */
struct trial_world world_for(struct conform *c);

struct instance_under_test {
    struct conform *conform;
    const struct kind_calls *calls;
    struct instance instance;
    struct host_context context;
    struct trial_world world;
    struct trial_settings settings;
    osafl_host host;
    osafl_facts facts;
    osafl_tensor tensor[3];
    osafl_model_info model;
    void *kept; /* what the host keeps between calls, by the table of calls */
    struct arena config;
    bool guarded;
    unsigned char fill; /* of outputs before they are written */
    char doing[96];     /* the call that failed */
    struct error error; /* of the failure */
};

/* One thread's part of a trial: buffers, answers and the call in hand. */
struct caller {
    struct instance_under_test *tested;
    struct arena arena;
    struct transcript transcript;
    osafl_call call;
    uint32_t round;
    uint32_t task;
    bool in_task; /* a worker's */
    char doing[96];
    struct error error;
};

/* What the calls of a kind are.  Functions return the first status that is not OSAFL_OK; the
 * caller's message then says why. */
struct kind_calls {
    uint32_t kind;
    size_t kept_bytes; /* of subject.kept, zeroed when new */
    uint32_t tasks;    /* of a round; 0: none */
    /* Tasks are workers' where the plugin has this feature, and the coordinator's else; NULL: they
     * always are. */
    const char *worker_feature;
    /* After create(): what the host asks once.  NULL: nothing. */
    osafl_status (*begin)(struct instance_under_test *s, struct caller *t);
    /* The coordinator's part of a round; NULL: none. */
    osafl_status (*round)(struct instance_under_test *s, struct caller *t);
    /* A worker's part, t->task; concurrent on one instance, each with its own caller. */
    osafl_status (*task)(struct instance_under_test *s, struct caller *t);
    /* Makes what `to` keeps equal to what `from` keeps; both have begun.  NULL: nothing is kept. */
    void (*copy_kept)(struct instance_under_test *to, const struct instance_under_test *from);
    void (*free_kept)(struct instance_under_test *s);
};
extern const struct kind_calls dataset_calls, model_calls, channel_calls, resource_calls,
    optimizer_calls, quantizer_calls, deletion_calls, aggregator_calls, partition_calls,
    drift_calls, arrival_calls, selection_calls, filter_calls;
const struct kind_calls *calls_of_kind(uint32_t kind);
/* Whether workers call this plugin. */
bool workers_call(const osafl_plugin *p);

/* Creates the instance, and no more. */
osafl_status under_test_create(struct instance_under_test *s, struct conform *c,
                               const struct trial_world *world,
                               const struct trial_settings *settings);

/* Creates the instance and begins; the status of the first call that did not succeed, with s->doing
 * and s->message.  guarded, fill: see struct arena. */
osafl_status under_test_open(struct instance_under_test *s, struct conform *c,
                             const struct trial_world *world, const struct trial_settings *settings,
                             bool guarded, unsigned char fill, struct transcript *t);
/* Begins once more, after rounds. */
osafl_status under_test_begin_again(struct instance_under_test *s, struct transcript *t);
/* Also after a failure. */
void under_test_close(struct instance_under_test *s);

/* Runs rounds [first, end) and adds the answers to t.  threads: tasks run concurrently on so many;
 * 0: one after the other on this thread; TRIAL_BACKWARDS: likewise, the last one first. */
#define TRIAL_BACKWARDS UINT32_MAX
osafl_status under_test_run(struct instance_under_test *s, uint32_t first, uint32_t end,
                            unsigned threads, struct transcript *t);

/* Opens with defaults in the plugin's world, unguarded, and fails the check when that is refused.
 */
void under_test_must_open(struct instance_under_test *s, struct conform *c, struct transcript *t);
void under_test_must_run(struct instance_under_test *s, uint32_t first, uint32_t end,
                         struct transcript *t);
/* Fails the check with what the instance was doing, and why. */
_Noreturn void under_test_fail(const struct instance_under_test *s, osafl_status status);
/* Fails the check when the plugin failed as it must not: by E_BUG, or by a status that says
 * nothing.  how: "with rate = 3". */
void under_test_require_clean(const struct instance_under_test *s, osafl_status status,
                              const char *how);

/* ---- for benches --------------------------------------------------------------------------- */

/* One call: caller_begin(), the plugin's function, caller_end() with its status, which it returns.
 */
osafl_call *caller_begin(struct caller *t, const char *operation, uint32_t client);
osafl_status caller_end(struct caller *t, osafl_status status);

/* A law that one call broke: fails the check at once. */
_Noreturn void caller_fail(const struct caller *t, const char *fmt, ...) OSAFL_PRINTF(2, 3);

/* A caller of one's own, outside a trial, for the laws of a kind. */
struct caller caller_open(struct instance_under_test *s);
void caller_close(struct caller *t);

/* n normal numbers times the world's scale, a function of the conform's seed and the arguments. */
void trial_floats(const struct instance_under_test *s, uint32_t a, uint32_t b, double scale,
                  float *x, uint64_t n);

/* The histories of the world's clients in the caller's round, in buffers of the caller. */
const osafl_history *trial_history(struct instance_under_test *s, struct caller *t);

#endif
