/* experiment.h - a resolved experiment: every setting known, checked and typed. */
#ifndef OSAFL_CORE_EXPERIMENT_H
#define OSAFL_CORE_EXPERIMENT_H

#include "osafl/osafl.h"
#include "plugin/loader.h"

struct diagnostics;
struct experiment_tree;
struct node;

/* Settings of the core.  Their tables, with default, range, unit and sentence, are in schema.c. */

struct general_settings { /* top level of the file */
    const char *name;     /* of the experiment; part of the results folder */
    int64_t seed;
    int64_t rounds;             /* T */
    double deadline_s;          /* t_th */
    int64_t checkpoint_every;   /* rounds; no effect on results */
    double call_limit_s;        /* 600; no effect on results */
    osafl_choice on_divergence; /* "stop", "drop" */
};

/* Indices of choices, in the order in which the comments below list them. */
enum { EVALUATE_TEST, EVALUATE_VALIDATION };
enum { LATE_ACCEPT, LATE_CARRY };
enum { KEEP_LAST, KEEP_BEST, KEEP_BOTH };
enum { CLIENT_ROWS_AUTO, CLIENT_ROWS_ALL, CLIENT_ROWS_ASKED, CLIENT_ROWS_NONE };
#define CLIENT_ROWS_LIMIT 10000 /* auto: all clients up to so many */

struct client_settings {         /* clients */
    int64_t count;               /* U */
    int64_t storage;             /* 400: D_u = ceil(storage * p_u) */
    int64_t arrivals;            /* 40:  E_u = ceil(arrivals * p_u) */
    osafl_range activity;        /* p_u, [0.3, 0.8] */
    osafl_range cycles_per_bit;  /* c_u, [25, 40] */
    osafl_range energy_budget_j; /* e_bd, [1.2, 2.5] */
    osafl_range clock_max_hz;    /* [1e9, 1.8e9] */
    osafl_range power_max_dbm;   /* [20, 30] */
    double capacitance;          /* rho, 2e-28 */
    double sample_bits;          /* s_u; 0: channels * 128 * 128 * 32 */
    bool deal_once;              /* no sample is dealt again */
    osafl_rows groups;           /* struct client_group */
};

/* Some clients' own values; what a group leaves unset is that of all clients. */
struct client_group {
    int64_t clients;      /* the next so many */
    osafl_range storage;  /* D_u itself, drawn uniformly and rounded; 0: unset */
    osafl_range arrivals; /* E_u itself; below 0: unset */
    osafl_range activity; /* 0: unset, as below */
    osafl_range cycles_per_bit;
    osafl_range energy_budget_j;
    osafl_range clock_max_hz;
    osafl_range power_max_dbm; /* -200: unset */
};
#define CLIENT_GROUP_NO_POWER (-200.0)

struct training_settings {    /* training */
    bool enabled;             /* false: who takes part is simulated, and nobody learns */
    int64_t batch;            /* 16 */
    int64_t minibatches;      /* SGD steps of a local round, 8; 0: one pass over the store */
    int64_t cost_minibatches; /* n of the cost model, 8 */
    int64_t max_local_rounds; /* kappa, 5 */
};

struct evaluation_settings { /* evaluation */
    int64_t every;           /* rounds between evaluations; the last round is always evaluated */
    osafl_choice split;      /* "test", "validation" */
    int64_t samples;         /* the first so many of the split; 0: all */
    bool per_class;
    bool per_client;
    bool client_spread;
    bool prequential;
    bool mixes;
};

struct uplink_settings { /* uplink */
    double loss_probability;
    osafl_choice late; /* LATE_* */
    double gain_error_db;
    double gain_margin_db;
};

struct downlink_settings { /* downlink */
    bool enabled;          /* false: receiving costs nothing */
    double bits;           /* 0: 32 for each number that is sent down */
    double power_dbm;
    double bandwidth_hz;
    double noise_dbm_per_hz;
    double receive_power_w;
};

struct result_settings { /* results */
    osafl_choice keep;   /* KEEP_* */
    bool confusion;
    bool learning_rate;
    bool ages;
    bool places;
    osafl_choice clients; /* CLIENT_ROWS_* */
};

struct model_settings { /* model; the plugins' groups stand beside */
    const char *start;
};

/* A plugin as an experiment chose it. */
struct chosen_plugin {
    const struct loaded_plugin
        *loaded;      /* NULL: none chosen (an optimizer left to the aggregator) */
    void *config;     /* config_size bytes; NULL when there are none */
    const char *file; /* where it was chosen, for messages; NULL: nowhere */
    unsigned line;
};

struct experiment {
    struct general_settings general;
    struct client_settings clients;
    struct training_settings training;
    struct evaluation_settings evaluation;
    struct uplink_settings uplink;
    struct downlink_settings downlink;
    struct result_settings results;
    struct model_settings model;
    struct chosen_plugin chosen[LOADER_KINDS + 1]; /* by OSAFL_KIND_* */
    const char *case_name;                         /* of a grid's cell; "main" without cases */
    uint32_t case_index; /* its place among the file's cases, from 0; reports keep the order */
    char identity[33];   /* hash of all effective settings, hexadecimal */
    struct experiment_tree *tree; /* where strings and origins live */
};

struct experiment_options {
    const char *const *set; /* "key.path=value", in order */
    size_t n_set;
    struct loader *loader;
};

/* Resolves a tree that holds one experiment, after laying o->set over it, and takes the tree over.
 * NULL when d got errors; all of the tree's errors are in d.  What the tree says about a grid
 * (grid.h) is not looked at. */
struct experiment *experiment_resolve(struct experiment_tree *tree, const char *case_name,
                                      const struct experiment_options *o, struct diagnostics *d);

void experiment_destroy(struct experiment *e);

/* Of whom clients.csv has rows: CLIENT_ROWS_*, but not AUTO. */
int32_t experiment_client_rows(const struct experiment *e);
/* The same of a kept run: what results.clients says there, NULL for a run older than the
 * setting, and clients.count. */
int32_t experiment_kept_client_rows(const char *setting, double clients);

/* Loads the optimizer that the aggregator asked for, when the file named none, and computes the
 * identity anew.  A file's group for it is applied.  OSAFL_E_UNSUPPORTED: no such plugin can be
 * used; OSAFL_E_CONFIG: its settings are wrong. */
osafl_status experiment_choose_optimizer(struct experiment *e, struct loader *l, const char *name,
                                         struct diagnostics *d);

/* One effective setting.  Settings of plugins that are not chosen are none. */
struct setting {
    const char *group;        /* "" at the top level, "clients", "aggregator", "aggregator.osafl" */
    const char *key;          /* "seed", "plugin", ... */
    const char *text;         /* canonical value, as libconfig reads it */
    const osafl_param *param; /* NULL: the name of a plugin */
    const char *earlier; /* what runs did before it came: the default of OSAFL_P_LATER and of a kind
                          * (kind_default()); else NULL */
    /* "default", "quickstart.cfg:12" (as seen from the experiment file's folder), "--set",
     * "case \"osafl\", quickstart.cfg:30", "wanted by the aggregator". */
    const char *origin;
};

/* A failure ends the visit and is returned. */
typedef osafl_status setting_visitor(void *arg, const struct setting *s);

/* Visits all effective settings in a fixed order; strings last as long as the visitor's call. */
osafl_status experiment_visit(const struct experiment *e, setting_visitor *visit, void *arg);

/* The resolved file: every value, in a fixed order, as libconfig text that loads again, with its
 * origin in a comment.  file: a FILE *. */
osafl_status experiment_write(const struct experiment *e, void *file);

#endif
