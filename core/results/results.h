/* results.h - the tables of a run: rounds.csv, clients.csv and timing.csv.
 *
 * A field without a value is empty, never "nan".  Numbers are printed independently of the locale,
 * with the fewest digits (15 to 17) that read back as the same double.  Rows reach the file at the
 * end of each round, so that the files can be read while the run goes on.  timing.csv holds wall
 * clock times; the other two are the same bytes for any number of threads and after any resume.
 * Coordinator only.  `error`: see error.h. */
#ifndef OSAFL_CORE_RESULTS_H
#define OSAFL_CORE_RESULTS_H

#include <stdio.h>

#include "base/error.h"
#include "base/records.h"
#include "osafl/channel.h"
#include "osafl/resource.h"
#include "plugin/plugin_host.h"
#include "run_folder.h"

/* Reasons for which a client's update is missing, beside OSAFL_OUT_* (resource.h). */
enum {
    OUT_LOST = 101, /* uplink.loss_probability */
    OUT_DIVERGED,   /* its update was not finite and general.on_divergence is "drop" */
    OUT_LATE,       /* uplink.late: its update arrives in a later round, */
    OUT_STALE,      /* or too late for the aggregator */
    OUT_BUSY,       /* its update of an earlier round is under way */
    OUT_OUTAGE,     /* its gain was lower than known, and did not carry the upload */
};

/* "deadline" for a reason OSAFL_OUT_* or OUT_*, as clients.csv has it; "" for 0. */
const char *results_reason(uint32_t reason);

/* Explains the columns of all tables and the values of `reason`. */
void results_describe(FILE *to);

/* The tables of a run, in this order everywhere. */
enum { RESULT_TABLES = 3 };
extern const char *const result_table_name[RESULT_TABLES];

/* A table, or its beginning, as it was written. */
struct table_state {
    uint64_t bytes;
    uint64_t hash; /* XXH3 of these bytes */
    bool has_hash; /* false: older versions recorded lengths alone */
};

/* The section in which a checkpoint keeps what results_save() writes, and its version. */
#define RESULTS_SECTION "results"
enum { RESULTS_WITH_HASHES = 3, RESULTS_WITH_CLIENT_ROWS = 4, RESULTS_VERSION = 4 };

/* What the columns are. */
struct results_layout {
    uint32_t clients;
    const char *split;           /* "test" or "validation": prefix of the measures' columns */
    const char *const *measures; /* names: "accuracy", "loss", ...; the first compares runs */
    uint32_t n_measures;
    uint32_t n_label_measures; /* the last so many of them are of one label each, and NAN where no
                                * sample has it */
    bool higher_is_better;     /* of measures[0] */
    bool per_client;           /* measures[0] becomes a column of clients.csv too */
    bool client_spread;        /* columns of rounds.csv */
    bool learning_rate;        /* a column of rounds.csv */
    bool prequential;          /* columns of it, for the model's own measures */
    bool mixes;                /* columns of rounds.csv */
    bool ages;                 /* the same */
    bool downlink;             /* columns of rounds.csv and clients.csv */
    bool estimates;            /* a column of clients.csv */
    bool places;               /* columns of clients.csv */
    int32_t client_rows;       /* CLIENT_ROWS_ALL, ASKED or NONE */
    struct instance *const *listen; /* instances whose metrics become columns, in this order */
    uint32_t n_listen;
};

struct results;

/* Creates the tables in a claimed folder, or, with resume, goes on from the state that
 * results_save() recorded: the files are cut to the lengths they had then, and clients.csv goes on
 * with the rows that it had.  The metric sink of
 * every instance in layout->listen is set to these results.  Strings and instances must outlive
 * them.  Two metrics of one name and scope are OSAFL_E_CONFIG. */
osafl_status results_open(const struct run_folder *folder, const struct results_layout *layout,
                          struct record_reader *resume, struct results **out, struct error *error);

/* CLIENT_ROWS_ALL, ASKED or NONE: as the layout says, or as the run began. */
int32_t results_client_rows(const struct results *r);

/* How a measure is spread over the clients: columns of rounds.csv. */
enum { SPREAD_MEAN, SPREAD_DEVIATION, SPREAD_WORST_TENTH, SPREAD_JAIN, SPREADS };

/* The first measure by label mixes, and how old things are: columns of rounds.csv. */
enum { MIX_PRESENT, MIX_WORST, MIX_FORGETTING, MIXES };
enum { AGE_STORED, AGE_UPDATES, AGES };

/* One round.  Values that were not measured are NAN. */
struct round_row {
    uint32_t round;
    double simulated_s; /* (round + 1) * deadline */
    double learning_rate;
    const double *measure;     /* [n_measures]; NULL: not evaluated in this round */
    const double *spread;      /* [SPREADS], where layout->client_spread; NULL as measure */
    const double *prequential; /* [n_measures - n_label_measures]; NULL: nothing was judged */
    uint64_t arrived;          /* samples, at all clients */
    const double *mixes;       /* [MIXES], where layout->mixes; NULL as measure */
    double ages[AGES];         /* mean, in rounds; NAN: of nothing */
    double train_loss;         /* mean over the participants */
    uint32_t participants;
    uint32_t diverged;        /* updates that were dropped; no column: clients.csv names them */
    double mean_local_rounds; /* over the participants */
    double payload_bits;      /* sum over participants and vectors, as the resource problem pays */
    double air_bits;          /* the same as really coded */
    double compute_j;         /* sums over the participants */
    double upload_j;
    double receive_j;
};

/* All clients in one round, of whom layout->client_rows says which have a row; arrays have
 * `clients` elements. */
struct client_rows {
    uint32_t round;
    const double *gain;      /* NULL: no link (a centralised run) */
    const double *receive_s; /* unless layout->downlink, NULL, as receive_j */
    const double *receive_j;
    const double *known_gain;            /* as server and policies know it; NULL as gain */
    const osafl_place *place;            /* NULL unless layout->places */
    const osafl_resource_answer *answer; /* NULL: no link */
    const uint32_t *reason;              /* OSAFL_OUT_*, OUT_*, or 0: its update arrived */
    const uint64_t *samples;
    const double *train_loss; /* NAN where the client did not train */
    const double *entropy;    /* of the label histogram, nats */
    const double *measure;    /* layout->per_client: measures[0] as the client would find
                               * it; NULL: not evaluated in this round */
};

/* Wall clock of one round, in seconds. */
struct timing_row {
    uint32_t round;
    double resource_s; /* channel and resource policy */
    double train_s;
    double aggregate_s;
    double world_s; /* arrivals and deletion */
    double evaluate_s;
    double total_s; /* everything of the round, results and checkpoint of the one before included */
};

/* Ends a round: writes one row of rounds.csv, rows of clients.csv and one row of timing.csv, with
 * the metrics reported since the last call, and flushes them. */
osafl_status results_end_round(struct results *r, const struct round_row *round,
                               const struct client_rows *clients, const struct timing_row *timing,
                               struct error *error);

/* What plugins have reported since the last results_end_round(), by the name of the metric; NAN:
 * not yet.  False, and *out as it was: there is no such metric. */
bool results_round_metric(const struct results *r, const char *name, double *out);
bool results_client_metric(const struct results *r, const char *name, uint32_t client, double *out);

/* What is known at the end of a run. */
struct results_summary {
    uint32_t evaluations; /* 0: best and last are not set */
    double best;          /* of measures[0]; the earliest where several are equal */
    uint32_t best_round;
    double last;
    uint32_t last_round;
    uint64_t participations; /* updates that arrived, in all rounds; set in any case, as are: */
    uint64_t diverged;       /* updates that were dropped, and the rounds in which there were any */
    uint32_t diverged_rounds;
};
struct results_summary results_summary(const struct results *r);

/* The tables as they are after results_end_round(). */
void results_state(const struct results *r, struct table_state out[RESULT_TABLES]);

/* The tables as they were when results_save() wrote this section.  OSAFL_E_STATE. */
osafl_status results_recorded(struct record_reader *from, struct table_state out[RESULT_TABLES],
                              struct error *error);

/* Brings all rows to the disk (fsync) and records their lengths and the summary.  Call
 * it first, then write the checkpoint. */
osafl_status results_save(struct results *r, osafl_writer *to, struct error *error);

/* Closes the files; the sinks of the instances are taken away.  Call results_save()
 * before where an error of the last writes must be seen.  NULL is allowed. */
void results_close(struct results *r);

#endif
