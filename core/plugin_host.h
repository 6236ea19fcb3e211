/* plugin_host.h - the core's side of osafl/host.h: what a plugin sees while it is called. */
#ifndef OSAFL_CORE_PLUGIN_HOST_H
#define OSAFL_CORE_PLUGIN_HOST_H

#include <signal.h>

#include "osafl/plugin.h"

struct pool;

/* Receives host->metric(); NULL where nobody listens. */
typedef void metric_sink(void *arg, uint32_t metric, uint32_t client, double value);

/* What all instances of a run share. */
struct host_context {
    uint64_t seed;
    struct pool *pool;                     /* NULL: parallel() runs on the caller */
    const volatile sig_atomic_t *cancelled; /* NULL: never */
    int32_t log_level;                     /* OSAFL_LOG_*: what is below is not printed */
};

/* One instance of a plugin. */
struct instance {
    const osafl_plugin *plugin;
    const osafl_host *host;
    struct host_context *context;
    void *config; /* filled from the plugin's table; owned by the experiment */
    void *self;   /* NULL before instance_create() */
    metric_sink *metric;
    void *metric_arg;
};

#define CALL_MESSAGE_BYTES 1024

/* One entry into a plugin.  Cheap to make on the stack: call_begin(), the call, call_end(). */
struct osafl_call {
    const struct instance *instance;
    uint32_t client; /* OSAFL_NO_CLIENT: none; for messages */
    uint32_t round;
    osafl_status status; /* of the first fail() */
    bool in_parallel;
    void *scratch; /* list of blocks */
    char message[CALL_MESSAGE_BYTES];
};

extern const osafl_host core_host;

void call_begin(struct osafl_call *c, const struct instance *i, uint32_t client, uint32_t round);
/* Frees scratch memory.  Returns status; when it is a failure without a message, writes one. */
osafl_status call_end(struct osafl_call *c, osafl_status status);

/* create() and destroy() with everything around them: floating-point environment and locale are
 * compared before and after, and a plugin that changes them is refused by name.  The message of a
 * failure is in message[CALL_MESSAGE_BYTES]. */
osafl_status instance_create(struct instance *i, const osafl_facts *facts, char *message);
void instance_destroy(struct instance *i);

/* True when a plugin's features hold this word. */
bool plugin_has_feature(const osafl_plugin *p, const char *feature);

#endif
