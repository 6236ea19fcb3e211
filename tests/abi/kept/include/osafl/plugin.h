/* osafl/plugin.h - what a shared object says about itself. */
#ifndef OSAFL_PLUGIN_H
#define OSAFL_PLUGIN_H

#include "host.h"
#include "param.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    OSAFL_KIND_DATASET = 1,
    OSAFL_KIND_MODEL,
    OSAFL_KIND_CHANNEL,
    OSAFL_KIND_RESOURCE,
    OSAFL_KIND_OPTIMIZER,
    OSAFL_KIND_QUANTIZER,
    OSAFL_KIND_DELETION,
    OSAFL_KIND_AGGREGATOR,
    OSAFL_KIND_PARTITION,
    OSAFL_KIND_DRIFT,
    OSAFL_KIND_ARRIVAL,
    OSAFL_KIND_SELECTION,
    OSAFL_KIND_FILTER,
    OSAFL_KIND_TRANSPORT,
};

typedef struct osafl_dataset_info osafl_dataset_info; /* dataset.h */
typedef struct osafl_model_info osafl_model_info;     /* model.h */

/* What is known about the experiment when an instance is created.  Owned by the host, valid as
 * long as the instance. */
typedef struct osafl_facts {
    uint32_t struct_size;
    uint32_t clients;                  /* U */
    uint32_t rounds;                   /* T */
    uint32_t batch;                    /* samples of a mini-batch */
    uint32_t cost_steps;               /* SGD steps of one local round in the cost model, n */
    uint32_t max_local_rounds;         /* kappa */
    double deadline_s;                 /* t_th */
    const osafl_dataset_info *dataset; /* NULL for a data set */
    const osafl_model_info *model;     /* NULL for a data set and a model */
    /* [dataset->labels]: share of each label in the training split (of an endless one: equal); NULL
     * where dataset is. */
    const double *label_share;
    uint64_t dim; /* elements of a vector that travels, N; 0 where model is NULL */
} osafl_facts;

/* First member of every kind's vtable, so that the core has one code path for the life of all
 * kinds.  A member marked (optional) may be NULL. */
typedef struct osafl_lifecycle {
    uint32_t struct_size;   /* sizeof the whole vtable of the kind */
    uint32_t state_version; /* raise when save() changes what it writes */
    /* Cross-field checks of a filled config that no table can express.  No side effect; runs
     * without create().  (optional) [coord] */
    osafl_status (*check)(const osafl_host *h, osafl_call *c, const void *config);
    /* On failure *self stays NULL and nothing leaks.  h, facts, config and its strings outlive
     * the instance; config is NULL when the plugin has no settings.  NULL: self is the config, and
     * destroy is NULL too.  (optional) [coord] */
    osafl_status (*create)(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self);
    /* Every create() that succeeded gets exactly one.  Goes with create.  (optional) [coord] */
    void (*destroy)(void *self);
    /* save(), then load() into a fresh instance with the same config and facts, continues bit for
     * bit.  load() must survive any record values: it checks what it reads and answers
     * OSAFL_E_STATE.  Both NULL: the instance has no state beyond its config.  (optional)
     * [coord] */
    osafl_status (*save)(void *self, osafl_call *c, osafl_writer *w);
    osafl_status (*load)(void *self, osafl_call *c, osafl_reader *r);
    /* A table of further operations of this instance, such as "osafl.name/1", the mirror of the
     * host's; NULL when it has none of that name.  (optional) [any] */
    const void *(*extension)(void *self, const char *id);
} osafl_lifecycle;

enum { OSAFL_PER_ROUND = 1, OSAFL_PER_CLIENT = 2 };
enum { OSAFL_HIGHER = 1, OSAFL_LOWER = 2 };

/* A number that a component reports; headers of result files and reports are made from this. */
typedef struct osafl_metric {
    const char *name; /* [a-z][a-z0-9_]*: the column of rounds.csv or clients.csv */
    const char *unit; /* NULL for a pure number */
    const char *doc;  /* one sentence, no trailing full stop */
    uint32_t scope;   /* OSAFL_PER_* */
    uint32_t better;  /* OSAFL_HIGHER, OSAFL_LOWER, or 0: neither */
} osafl_metric;

/* One component a file. */
typedef struct osafl_plugin {
    uint32_t struct_size;
    uint16_t abi_major;
    uint16_t abi_minor;
    uint16_t abi_minor_needed; /* oldest host minor that will do; 0: abi_minor */
    uint16_t reserved;
    uint32_t kind;           /* OSAFL_KIND_* */
    const char *fingerprint; /* OSAFL_FINGERPRINT */
    const char *name;        /* [a-z][a-z0-9_]{0,47}, the file's own name without ".so" */
    const char *version;     /* semantic version of the plugin */
    const char *summary;     /* one line, no trailing full stop */
    const char *cite;        /* where the method comes from; NULL if it is the author's own */
    const char *license;     /* SPDX identifier */
    const char *url;         /* NULL if there is none */
    /* NULL-terminated; laws that the plugin keeps, see the kind's header; NULL: none. */
    const char *const *features;
    const osafl_param *params;
    const osafl_metric *metrics;
    uint32_t n_params;
    uint32_t param_size; /* the host's stride through params */
    uint32_t n_metrics;
    uint32_t metric_size; /* the host's stride through metrics */
    uint32_t config_size; /* sizeof the struct to which params bind; 0 if there is none */
    uint32_t reserved2;
    const osafl_lifecycle *vtable; /* really the vtable of the kind */
} osafl_plugin;

/* The members of osafl_plugin that are the same in every plugin. */
#define OSAFL_PLUGIN_HEAD                                                                          \
    .struct_size = sizeof(osafl_plugin), .abi_major = OSAFL_ABI_MAJOR,                             \
    .abi_minor = OSAFL_ABI_MINOR, .fingerprint = OSAFL_FINGERPRINT
/* .params, .n_params, .param_size and .config_size for a table and the struct it binds to. */
#define OSAFL_PLUGIN_PARAMS(table, S)                                                              \
    .params = (table), .n_params = (uint32_t)(sizeof(table) / sizeof((table)[0])),                 \
    .param_size = sizeof(osafl_param), .config_size = sizeof(S)
#define OSAFL_PLUGIN_METRICS(table)                                                                \
    .metrics = (table), .n_metrics = (uint32_t)(sizeof(table) / sizeof((table)[0])),               \
    .metric_size = sizeof(osafl_metric)

/* The one symbol that a plugin exports.  Returns static data; must not allocate, start threads, do
 * I/O, or touch process-wide state (locale, signal handlers, FP environment, BLAS threads).
 * [any] */
OSAFL_EXPORT const osafl_plugin *osafl_plugin_entry_v0(void);
#define OSAFL_ENTRY_SYMBOL "osafl_plugin_entry_v0"
/* Defines it: OSAFL_PLUGIN_ENTRY(plugin) at the end of the file. */
#define OSAFL_PLUGIN_ENTRY(plugin)                                                                 \
    const osafl_plugin *osafl_plugin_entry_v0(void)                                                \
    {                                                                                              \
        return &(plugin);                                                                          \
    }                                                                                              \
    struct osafl_plugin

#ifdef __cplusplus
}
#endif
#endif
