/* plugin_host.h - the core's side of osafl/host.h: what a plugin sees while it is called. */
#ifndef OSAFL_CORE_PLUGIN_HOST_H
#define OSAFL_CORE_PLUGIN_HOST_H

#include <stdatomic.h>

#include "base/error.h"
#include "osafl/layers.h"
#include "osafl/plugin.h"
#include "osafl/preparation.h"

struct pool;
struct ranks;

/* Receives host->metric(); NULL where nobody listens. */
typedef void metric_sink(void *arg, uint32_t metric, uint32_t client, double value);

/* Receives whole lines of the log, without the newline, from any thread. */
typedef void log_sink(void *arg, int32_t level, const char *line);

/* Receives what a model says of its layers, osafl/layers.h. */
typedef void layer_sink(void *arg, const osafl_layer *layer);

/* Receives what a data set says of its samples, osafl/preparation.h. */
typedef void fact_sink(void *arg, const osafl_fact *fact);

/* What all instances of a run share. */
struct host_context {
    uint64_t seed;
    struct pool *pool;           /* NULL: parallel() runs on the caller */
    const atomic_int *cancelled; /* set by a signal handler, read by all threads; NULL: never */
    int32_t log_level;           /* OSAFL_LOG_*: what is below is not printed */
    log_sink *log;               /* NULL: standard error */
    void *log_arg;
    layer_sink *layer; /* NULL: nobody wants to know */
    void *layer_arg;
    fact_sink *fact; /* likewise */
    void *fact_arg;
    struct ranks *ranks; /* plugin/ranks.h; NULL: this process is the run */
};

/* One instance of a plugin. */
struct instance {
    const osafl_plugin *plugin;
    const osafl_host *host;
    struct host_context *context;
    void *config; /* filled from the plugin's table; owned by the experiment */
    void *self;   /* what create() made of it; a plugin without state may leave it NULL */
    bool created; /* by instance_create(), and not destroyed since */
    metric_sink *metric;
    void *metric_arg;
};

#define NO_ROUND UINT32_MAX /* a call outside the rounds */

/* What a plugin must leave as it found it. */
struct process_state {
    uint64_t fp_mode;           /* cpu_fp_mode() */
    const void *thread_locale;  /* of uselocale() */
    const char *numeric_locale; /* the C library's own string; compared by address */
};

/* One entry into a plugin.  Cheap to make on the stack: call_begin(), the call, call_end(). */
struct osafl_call {
    const osafl_host *host; /* what plugins see; osafl/host.h */
    const struct instance *instance;
    uint32_t client;     /* OSAFL_NO_CLIENT: none; for messages */
    uint32_t round;      /* NO_ROUND: none */
    osafl_status status; /* of the first fail() */
    bool in_parallel;
    bool misused;  /* the plugin broke a rule that no status can answer; the call fails */
    void *scratch; /* list of blocks */
    const struct instance *outer_operation; /* in which the thread was */
    const struct instance *helper; /* the last whose operation was used within; NULL: none */
    struct osafl_call *outer;      /* call of this thread inside which this one was made */
    struct process_state state;
    struct error error;
};

extern const osafl_host core_host;

void process_state_read(struct process_state *s);
/* What differs between then and now, in words, and puts the program's own state (that of "C") back;
 * NULL: nothing differs. */
const char *process_state_restore(const struct process_state *before);

void call_begin(struct osafl_call *c, const struct instance *i, uint32_t client, uint32_t round);
/* Frees scratch memory.  Returns status; when it is a failure without a message, writes one.  A
 * plugin that leaves the floating-point mode or the locale changed has failed, by name. */
osafl_status call_end(struct osafl_call *c, osafl_status status);
/* The same; a failure is put into *error as "kind/name, round
 * r, client u: text" with r and u where they are known. */
osafl_status call_end_named(struct osafl_call *c, osafl_status status, struct error *error);
/* "OSAFL_E_NOMEM", as its author writes it. */
const char *status_name(osafl_status status);

/* Around an operation that gets no call of its own (decode(), label(), ...), so that what goes
 * wrong in it is attributed to this instance: operation_end(operation_begin(i)).  Very cheap. */
const struct instance *operation_begin(const struct instance *i);
void operation_end(const struct instance *before);
/* The instance whose operation the calling thread is in; NULL: none, or a call lies between. */
const struct instance *operation_current(void);

/* Lends a call to another plugin that works within it, such as a quantizer whose codes an
 * aggregator's operation reads; far cheaper than a call of its own.  call_take_back() releases the
 * scratch memory of the borrower and names it in the message of its failure, which it returns. */
struct loan {
    const struct instance *lender;
    const struct instance *operation; /* operation_begin() */
    void *scratch;
    bool had_failed;
};
struct loan call_lend(struct osafl_call *c, const struct instance *borrower);
osafl_status call_take_back(struct osafl_call *c, const struct loan *loan, osafl_status status);

/* How often the calling thread has entered and left plugins: odd while it is in one. */
const atomic_uint_fast64_t *call_counter(void);

/* The thread leaves the call in hand for work of the host's own, and comes back to it. */
void call_pause(const struct osafl_call *c);
void call_resume(struct osafl_call *c);

/* The innermost call that the calling thread is in; NULL: none.  Safe in a signal handler, so that
 * a crash can be attributed to a plugin. */
const struct osafl_call *call_current(void);

/* "aggregator/osafl, round 3, client 5", as messages and the log name a call.  Returns what
 * snprintf() does. */
int call_describe(const struct osafl_call *c, char *out, size_t size);

/* The plugin's check() of a filled config, if it has one. */
osafl_status instance_check(struct instance *i, struct error *error);
/* check(), then create().  *error says why one failed. */
osafl_status instance_create(struct instance *i, const osafl_facts *facts, struct error *error);
void instance_destroy(struct instance *i);

/* The instance's table of further operations of that name; NULL: it has none. */
const void *instance_extension(const struct instance *i, const char *id);

/* True when a plugin's features hold this word. */
bool plugin_has_feature(const osafl_plugin *p, const char *feature);

#endif
