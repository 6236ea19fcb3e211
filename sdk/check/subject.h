/* subject.h - a plugin at work: one instance, what the host keeps for it, and a play of calls as
 * the engine would make them, whose answers go into a transcript.
 *
 * A play is a number of rounds.  In each, the coordinator's calls are made first and then `tasks`
 * tasks, which the engine would give to its threads.  What to call is in the bench of the
 * kind. */
#ifndef OSAFL_CONFORM_SUBJECT_H
#define OSAFL_CONFORM_SUBJECT_H

#include "conform.h"
#include "guarded_memory.h"
#include "osafl/osafl.h"
#include "plugin/plugin_host.h"
#include "transcript.h"
#include "trial_settings.h"

#define PLAY_ROUNDS 6 /* of a whole play; facts.rounds */
#define PLAY_LABELS 5

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

struct subject {
    struct conform *conform;
    const struct bench *bench;
    struct instance instance;
    struct host_context context;
    struct trial_world world;
    struct trial_settings settings;
    osafl_host host;
    osafl_facts facts;
    osafl_tensor tensor[3];
    osafl_model_info model;
    void *kept; /* what the host keeps between calls, by the bench */
    struct arena config;
    bool guarded;
    unsigned char fill;          /* of outputs before they are written */
    char doing[96];              /* the call that failed */
    char message[MESSAGE_BYTES]; /* of the failure */
};

/* One thread's part of a play: buffers, answers and the call in hand. */
struct take {
    struct subject *subject;
    struct arena arena;
    struct transcript transcript;
    osafl_call call;
    uint32_t round;
    uint32_t task;
    char doing[96];
    char message[MESSAGE_BYTES];
};

/* What the calls of a kind are.  Functions return the first status that is not OSAFL_OK; the
 * take's message then says why. */
struct bench {
    uint32_t kind;
    size_t kept_bytes; /* of subject.kept, zeroed when new */
    uint32_t tasks;    /* of a round; 0: none */
    /* After create(): what the host asks once.  NULL: nothing. */
    osafl_status (*begin)(struct subject *s, struct take *t);
    /* The coordinator's part of a round; NULL: none. */
    osafl_status (*round)(struct subject *s, struct take *t);
    /* A worker's part, t->task; concurrent on one subject, each with its own take. */
    osafl_status (*task)(struct subject *s, struct take *t);
    /* Makes what `to` keeps equal to what `from` keeps; both have begun.  NULL: nothing is kept. */
    void (*copy_kept)(struct subject *to, const struct subject *from);
    void (*free_kept)(struct subject *s);
};
extern const struct bench dataset_bench, model_bench, channel_bench, resource_bench,
    optimizer_bench, quantizer_bench, deletion_bench, aggregator_bench, partition_bench,
    drift_bench, arrival_bench, selection_bench, filter_bench;
const struct bench *bench_of(uint32_t kind);

/* Creates the instance, and no more. */
osafl_status subject_create(struct subject *s, struct conform *c, const struct trial_world *world,
                            const struct trial_settings *settings);

/* Creates the instance and begins; the status of the first call that did not succeed, with s->doing
 * and s->message.  guarded, fill: see struct arena. */
osafl_status subject_open(struct subject *s, struct conform *c, const struct trial_world *world,
                          const struct trial_settings *settings, bool guarded, unsigned char fill,
                          struct transcript *t);
/* Also after a failure. */
void subject_close(struct subject *s);

/* Plays rounds [first, end) and adds the answers to t.  threads: tasks run concurrently on so many;
 * 0: one after the other on this thread. */
osafl_status subject_play(struct subject *s, uint32_t first, uint32_t end, unsigned threads,
                          struct transcript *t);

/* Opens with defaults in the plugin's world, unguarded, and fails the check when that is refused.
 */
void subject_must_open(struct subject *s, struct conform *c, struct transcript *t);
void subject_must_play(struct subject *s, uint32_t first, uint32_t end, struct transcript *t);
/* Fails the check with what the subject was doing, and why. */
_Noreturn void subject_fail(const struct subject *s, osafl_status status);
/* Fails the check when the plugin failed as it must not: by E_BUG, or by a status that says
 * nothing.  how: "with rate = 3". */
void subject_require_clean(const struct subject *s, osafl_status status, const char *how);

/* ---- for benches --------------------------------------------------------------------------- */

/* One call: take_begin(), the plugin's function, take_end() with its status, which it returns. */
osafl_call *take_begin(struct take *t, const char *operation, uint32_t client);
osafl_status take_end(struct take *t, osafl_status status);

/* A law that one call broke: fails the check at once. */
_Noreturn void take_fail(const struct take *t, const char *fmt, ...) OSAFL_PRINTF(2, 3);

/* A take of one's own, outside a play, for the laws of a kind. */
struct take take_open(struct subject *s);
void take_close(struct take *t);

/* n normal numbers times the world's scale, a function of the conform's seed and the arguments. */
void trial_floats(const struct subject *s, uint32_t a, uint32_t b, double scale, float *x,
                  uint64_t n);

/* The histories of the world's clients in the take's round, in buffers of the take. */
const osafl_history *trial_history(struct subject *s, struct take *t);

#endif
