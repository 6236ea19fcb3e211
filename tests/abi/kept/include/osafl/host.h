/* osafl/host.h - the only way in which a plugin reaches the core.  Plugins link no core symbol.
 *
 * The tag at the end of a comment says where a function may be called:
 *   [any]    any thread, concurrently
 *   [call]   the thread that entered the plugin with this osafl_call, until it returns
 *   [coord]  the coordinator thread only; never concurrent for one instance
 *   [worker] any thread of the pool, concurrently on one instance, each with its own osafl_call;
 *            the instance is therefore read-only inside the function */
#ifndef OSAFL_HOST_H
#define OSAFL_HOST_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One entry into a plugin: carries the error text, scratch memory and the log prefix.  Made by the
 * host, whose own struct goes on behind what is public, so it is never copied. */
typedef struct osafl_call osafl_call;
#ifndef OSAFL_HOST_SIDE
struct osafl_call {
    const struct osafl_host *host;
};
#endif

enum { OSAFL_LOG_DEBUG = 1, OSAFL_LOG_INFO, OSAFL_LOG_WARN, OSAFL_LOG_ERROR };

/* "No client" where a function takes a client number. */
#define OSAFL_NO_CLIENT UINT32_MAX

/* Works on [begin, end) of a parallel loop. */
typedef osafl_status osafl_body(void *arg, uint64_t begin, uint64_t end, osafl_call *sub);

/* Checkpoint records of one instance: typed, named, in the order of the calls.  The host owns
 * byte order, checksum and the file.  key: [a-z][a-z0-9_.]*, unique within one save(). */
typedef struct osafl_writer {
    uint32_t struct_size;
    uint32_t reserved;
    void *priv;
    osafl_status (*u64)(struct osafl_writer *w, const char *key, const uint64_t *v, uint64_t n);
    osafl_status (*f64)(struct osafl_writer *w, const char *key, const double *v, uint64_t n);
    osafl_status (*f32)(struct osafl_writer *w, const char *key, const float *v, uint64_t n);
    osafl_status (*bytes)(struct osafl_writer *w, const char *key, const void *v, uint64_t n);
} osafl_writer;

/* Reads records back by key, in any order.  A record that is missing, of another type, or not of
 * exactly n elements is OSAFL_E_STATE, with the message already written. */
typedef struct osafl_reader {
    uint32_t struct_size;
    uint32_t state_version; /* osafl_lifecycle.state_version of the writer */
    void *priv;
    /* Elements of a record; OSAFL_E_STATE when there is none. */
    osafl_status (*count)(struct osafl_reader *r, const char *key, uint64_t *n);
    osafl_status (*u64)(struct osafl_reader *r, const char *key, uint64_t *v, uint64_t n);
    osafl_status (*f64)(struct osafl_reader *r, const char *key, double *v, uint64_t n);
    osafl_status (*f32)(struct osafl_reader *r, const char *key, float *v, uint64_t n);
    osafl_status (*bytes)(struct osafl_reader *r, const char *key, void *v, uint64_t n);
} osafl_reader;

typedef struct osafl_host {
    uint32_t struct_size;
    uint16_t abi_major;
    uint16_t abi_minor;
    const char *name;    /* "osafl" */
    const char *version; /* of the program, semantic */

    /* Formats the one message that the user will see and returns code, so that a plugin can write
     * return h->fail(c, OSAFL_E_CONFIG, "...").  The first message of a call is kept, later ones
     * are logged.  No trailing newline.  [call] */
    osafl_status (*fail)(osafl_call *c, osafl_status code, const char *fmt, ...) OSAFL_PRINTF(3, 4);

    /* level: OSAFL_LOG_*.  The host adds time, plugin, round and client.  [call] */
    void (*log)(osafl_call *c, int32_t level, const char *fmt, ...) OSAFL_PRINTF(3, 4);

    /* Records metric number `metric` of the plugin's own table for the present round; client is
     * OSAFL_NO_CLIENT for a metric per round.  A later value of the same round replaces the
     * earlier one; a metric without a value, or with a NaN, is an empty field.  [call], from
     * [coord] functions; a metric per client also from [worker] functions, of the client in
     * hand */
    void (*metric)(osafl_call *c, uint32_t metric, uint32_t client, double value);

    /* 64-byte aligned, zeroed, released by the host when the call returns.  NULL: out of memory
     * (the message is already written; return OSAFL_E_NOMEM).  [call] */
    void *(*scratch)(osafl_call *c, uint64_t bytes);

    /* Writes n random 32-bit words.  A pure function of its arguments, the run's seed and the
     * plugin's kind: the same in create(), in any round, on any thread, after a resume.  The
     * generator is Philox4x32-10 (Salmon et al., SC 2011).  purpose: the plugin's own numbering of
     * its streams.  osafl/random.h turns words into numbers.  [call] */
    void (*random_fill)(osafl_call *c, uint32_t purpose, uint32_t client, uint32_t round,
                        uint64_t index, uint32_t *out, uint64_t n);

    /* Runs body over [0, n) in chunks of `grain` (the last may be shorter); chunk boundaries never
     * depend on the number of threads.  Returns when all chunks are done.  When a body fails the
     * remaining chunks may be skipped, and the status of the failed chunk with the lowest index is
     * returned.  Not to be nested.  [call], from [coord] functions */
    osafl_status (*parallel)(osafl_call *c, uint64_t n, uint64_t grain, osafl_body *body,
                             void *arg);

    /* True when the call should give up and return OSAFL_E_CANCELLED; poll it in loops that take
     * longer than about 100 ms.  [call] */
    bool (*cancelled)(osafl_call *c);

    /* A table of further functions, such as "osafl.name/1"; NULL when the host has none of that
     * name.  [any] */
    const void *(*extension)(const struct osafl_host *h, const char *id);
} osafl_host;

#ifdef __cplusplus
}
#endif
#endif
