/* schema.c - tables of the core's own settings.  Defaults are those of the paper's simulation
 * (ALGORITHMS.md 1 to 3). */
#include "schema.h"

#include <string.h>

#include "experiment.h"

static const char *const divergence_choices[] = {"stop", "drop", NULL};
static const char *const split_choices[] = {"test", "validation", NULL};
static const char *const keep_choices[] = {"last", "best", "both", NULL};
const char *const schema_client_rows[] = {"auto", "all", "asked", "none", NULL};
static const char *const late_choices[] = {"accept", "carry", NULL};

/* Counts are 32-bit in the plugin interface. */
#define COUNT_MAX INT32_MAX
#define UNBOUNDED __DBL_MAX__

#define S struct general_settings
static const osafl_param general[] = {
    OSAFL_TEXT(S, name, "experiment", "Name of the experiment; names the folder of the results",
               .flags = OSAFL_P_NO_EFFECT),
    OSAFL_INT(S, seed, 1, 0, INT64_MAX, "Seed of all random numbers of the run"),
    OSAFL_INT(S, rounds, 50, 1, COUNT_MAX, "Global rounds T", .unit = "rounds"),
    OSAFL_REAL(S, deadline_s, 60.0, 0.0, UNBOUNDED,
               "Simulated time of a global round, t_th; a client that needs longer sits out",
               .unit = "s", .flags = OSAFL_P_LO_OPEN),
    OSAFL_INT(S, checkpoint_every, 10, 0, COUNT_MAX,
              "Rounds between checkpoints; 0: only when the run stops", .unit = "rounds",
              .flags = OSAFL_P_NO_EFFECT),
    OSAFL_REAL(S, call_limit_s, 600.0, 0.0, 1e9,
               "Longest time that a plugin may take for one call; after that the run ends and "
               "names the plugin; 0: no limit",
               .unit = "s", .flags = OSAFL_P_NO_EFFECT),
    OSAFL_CHOICE(S, on_divergence, 0, divergence_choices,
                 "What happens to a client whose update is not finite: the run stops, or the "
                 "update is dropped"),
};
#undef S

#define S struct client_group
static const osafl_param group[] = {
    OSAFL_INT(S, clients, 1, 1, 10000000, "The next so many clients, from client 0 on",
              .unit = "clients"),
    OSAFL_RANGE(S, storage, 0.0, 0.0, 0.0, COUNT_MAX,
                "Most samples that a client stores, D_u itself, drawn uniformly and rounded; 0: as "
                "of all clients",
                .unit = "samples"),
    OSAFL_RANGE(S, arrivals, -1.0, -1.0, -1.0, COUNT_MAX,
                "Samples that reach a client in a round, E_u itself, drawn in the same way; -1: as "
                "of all clients",
                .unit = "samples"),
    OSAFL_RANGE(S, activity, 0.0, 0.0, 0.0, 1.0,
                "Activity p_u; this and all below: 0, or -200 dBm,"
                " leaves what holds for all clients"),
    OSAFL_RANGE(S, cycles_per_bit, 0.0, 0.0, 0.0, UNBOUNDED, "CPU cycles c_u",
                .unit = "cycles/bit"),
    OSAFL_RANGE(S, energy_budget_j, 0.0, 0.0, 0.0, UNBOUNDED, "Energy e_bd of a round",
                .unit = "J"),
    OSAFL_RANGE(S, clock_max_hz, 0.0, 0.0, 0.0, UNBOUNDED, "Fastest CPU clock f_max", .unit = "Hz"),
    OSAFL_RANGE(S, power_max_dbm, CLIENT_GROUP_NO_POWER, CLIENT_GROUP_NO_POWER,
                CLIENT_GROUP_NO_POWER, 200.0, "Greatest transmit power p_max", .unit = "dBm"),
};
static const osafl_row_type group_row = OSAFL_ROW_TYPE(group, S);
#undef S

#define S struct client_settings
static const osafl_param clients[] = {
    OSAFL_INT(S, count, 25, 1, 10000000, "Clients U", .unit = "clients"),
    OSAFL_INT(S, storage, 400, 1, COUNT_MAX,
              "Most samples that a client stores: client u holds D_u = ceil(storage * p_u)",
              .unit = "samples"),
    OSAFL_INT(
        S, arrivals, 40, 0, COUNT_MAX,
        "Most samples that reach a client in a round: E_u = ceil(arrivals * p_u); of no effect "
        "with an arrival that has numbers of its own",
        .unit = "samples"),
    OSAFL_RANGE(S, activity, 0.3, 0.8, 0.0, 1.0, "Activity p_u, drawn uniformly for each client",
                .flags = OSAFL_P_LO_OPEN),
    OSAFL_RANGE(S, cycles_per_bit, 25.0, 40.0, 0.0, UNBOUNDED,
                "CPU cycles c_u that training on one bit takes, drawn uniformly for each client",
                .unit = "cycles/bit", .flags = OSAFL_P_LO_OPEN),
    OSAFL_RANGE(S, energy_budget_j, 1.2, 2.5, 0.0, UNBOUNDED,
                "Energy e_bd that a client may spend in a round, drawn uniformly for each client",
                .unit = "J", .flags = OSAFL_P_LO_OPEN),
    OSAFL_RANGE(S, clock_max_hz, 1e9, 1.8e9, 0.0, UNBOUNDED,
                "Fastest CPU clock f_max, drawn uniformly for each client", .unit = "Hz",
                .flags = OSAFL_P_LO_OPEN),
    OSAFL_RANGE(S, power_max_dbm, 20.0, 30.0, -200.0, 200.0,
                "Greatest transmit power p_max, drawn uniformly in dBm for each client",
                .unit = "dBm"),
    OSAFL_REAL(S, capacitance, 2e-28, 0.0, UNBOUNDED,
               "Effective capacitance rho of the CPU: computing costs rho/2 * cycles * clock^2",
               .flags = OSAFL_P_LO_OPEN),
    OSAFL_REAL(S, sample_bits, 0.0, 0.0, UNBOUNDED,
               "Size s_u of a sample in the cost model; 0: channels * 128 * 128 * 32",
               .unit = "bit"),
    OSAFL_BOOL(S, deal_once, false,
               "Deal each training sample at most once, so that arrivals end with the samples; "
               "false: they are dealt again",
               .flags = OSAFL_P_LATER),
    OSAFL_ROWS(S, groups, &group_row, 0, 10000000,
               "Groups of devices, or a row for each client (a file has at most 4096 settings): "
               "values of their own, client after client; those behind the last group have none",
               .flags = OSAFL_P_LATER),
};
#undef S

#define S struct training_settings
static const osafl_param training[] = {
    OSAFL_BOOL(S, enabled, true,
               "false: only channel, resources and arrivals are simulated; no client trains or "
               "sends, nothing is evaluated, and the model does not change"),
    OSAFL_INT(S, batch, 16, 1, 1000000, "Samples of a mini-batch", .unit = "samples"),
    OSAFL_INT(S, minibatches, 8, 0, 1000000,
              "SGD steps of a local round; 0: one pass over the client's store", .unit = "steps"),
    OSAFL_INT(S, cost_minibatches, 8, 1, 1000000,
              "Mini-batches n of a local round in the cost model", .unit = "mini-batches"),
    OSAFL_INT(S, max_local_rounds, 5, 1, 1000000, "Most local rounds kappa of a client in a round",
              .unit = "local rounds"),
};
#undef S

#define S struct evaluation_settings
static const osafl_param evaluation[] = {
    OSAFL_INT(S, every, 1, 1, COUNT_MAX,
              "Rounds between evaluations; the last round is always evaluated", .unit = "rounds"),
    OSAFL_CHOICE(S, split, 0, split_choices, "Samples on which the global model is evaluated"),
    OSAFL_INT(S, samples, 0, 0, INT64_MAX, "Number of samples, the first of the split; 0: all",
              .unit = "samples"),
    OSAFL_BOOL(S, per_class, false, "Report the accuracy of every class"),
    OSAFL_BOOL(
        S, per_client, false,
        "Report the accuracy weighted with every client's own label distribution, of its own "
        "model where the optimizer has personal models"),
    OSAFL_BOOL(S, client_spread, false,
               "Report mean, standard deviation, worst tenth and Jain's index of these accuracies",
               .flags = OSAFL_P_LATER),
    OSAFL_BOOL(S, prequential, false,
               "Report the measures of the samples that arrive in each round, by the model of that "
               "round, before anyone trains on them",
               .flags = OSAFL_P_LATER),
    OSAFL_BOOL(S, mixes, false,
               "Report the first measure on the clients' present label mix, the worst on the mixes "
               "so far, and what has been forgotten of them",
               .flags = OSAFL_P_LATER),
};
#undef S

#define S struct uplink_settings
static const osafl_param uplink[] = {
    OSAFL_REAL(S, loss_probability, 0.0, 0.0, 1.0,
               "Probability that an update is lost on its way to the server"),
    OSAFL_CHOICE(
        S, late, LATE_ACCEPT, late_choices,
        "Updates that take longer than the deadline: counted in their round anyway, or delivered "
        "in the round in which they are done, with their clients busy until then",
        .flags = OSAFL_P_LATER),
    OSAFL_REAL(S, gain_error_db, 0.0, 0.0, 100.0,
               "Standard deviation of the normal error with which server and policies know a "
               "gain in dB; an upload that the true gain does not carry is lost",
               .unit = "dB", .flags = OSAFL_P_LATER),
    OSAFL_REAL(S, gain_margin_db, 0.0, 0.0, 100.0,
               "By so much server and policies take each gain to be lower than they know it, "
               "against such losses",
               .unit = "dB", .flags = OSAFL_P_LATER),
};
#undef S

#define S struct downlink_settings
static const osafl_param downlink[] = {
    OSAFL_BOOL(
        S, enabled, false,
        "Count what receiving the model costs, in the time and the energy of a round; false: "
        "nothing",
        .flags = OSAFL_P_LATER),
    OSAFL_REAL(S, bits, 0.0, 0.0, UNBOUNDED,
               "What is sent down in a round; 0: 32 bits for each parameter and for each further "
               "number of the aggregator",
               .unit = "bit", .flags = OSAFL_P_LATER),
    OSAFL_REAL(S, power_dbm, 43.0, -200.0, 200.0, "Transmit power of the base station",
               .unit = "dBm", .flags = OSAFL_P_LATER),
    OSAFL_REAL(S, bandwidth_hz, 20e6, 1.0, 1e12, "Bandwidth of the downlink", .unit = "Hz",
               .flags = OSAFL_P_LATER),
    OSAFL_REAL(S, noise_dbm_per_hz, -165.0, -300.0, 100.0,
               "Noise power spectral density at a client, its noise figure included",
               .unit = "dBm/Hz", .flags = OSAFL_P_LATER),
    OSAFL_REAL(S, receive_power_w, 1.0, 0.0, 1e6, "Power that a client draws while it receives",
               .unit = "W", .flags = OSAFL_P_LATER),
};
#undef S

#define S struct result_settings
static const osafl_param results[] = {
    OSAFL_CHOICE(S, keep, KEEP_LAST, keep_choices,
                 "Model to keep: of the last round, of the round with the best first measure "
                 "(chosen on the samples on which it is evaluated), or both, the best one in "
                 "best.safetensors",
                 .flags = OSAFL_P_LATER),
    OSAFL_BOOL(S, confusion, false,
               "At the end write confusion.json: of the model to keep, the confusion matrix, "
               "balanced accuracy, macro F1; of each label precision, recall and F1",
               .flags = OSAFL_P_LATER),
    OSAFL_BOOL(S, learning_rate, false, "Add a column learning_rate to rounds.csv",
               .flags = OSAFL_P_LATER),
    OSAFL_BOOL(S, ages, false,
               "Add to rounds.csv how old the stored samples and the updates that arrived are",
               .flags = OSAFL_P_LATER),
    OSAFL_BOOL(S, places, false,
               "Add to clients.csv where the clients are, by the channel's geometry",
               .flags = OSAFL_P_LATER),
    OSAFL_CHOICE(S, clients, CLIENT_ROWS_AUTO, schema_client_rows,
                 "Rows of a round in clients.csv: of all clients, of those that were asked (every "
                 "reason but absent), of none; auto: all up to 10000 clients, asked beyond",
                 .flags = OSAFL_P_LATER),
};
#undef S

#define GROUP(member, group_name, sentence)                                                        \
    {                                                                                              \
        .name = (group_name), .doc = (sentence), .table = (member),                                \
        .n = (uint32_t)(sizeof(member) / sizeof((member)[0])),                                     \
        .offset = offsetof(struct experiment, member)                                              \
    }

const osafl_param schema_model[] = {
    OSAFL_PATH(struct model_settings, start, "",
               "File of weights (safetensors) with which the model starts; empty: the plugin's own "
               "initial weights",
               .flags = OSAFL_P_LATER),
};
const uint32_t schema_n_model = sizeof schema_model / sizeof schema_model[0];

const struct schema_group schema_groups[] = {
    GROUP(general, "", "The experiment as a whole, at the top level of the file"),
    GROUP(clients, "clients", "The clients, their data and their limits"),
    GROUP(training, "training", "Local training of a client"),
    GROUP(evaluation, "evaluation", "How the global model is evaluated"),
    GROUP(uplink, "uplink", "Faults on the way to the server"),
    GROUP(downlink, "downlink", "What it costs a client to receive the model"),
    GROUP(results, "results", "What is kept besides the tables"),
};
const size_t schema_n_groups = sizeof schema_groups / sizeof schema_groups[0];

const struct schema_group *schema_find(const char *name)
{
    for (size_t i = 0; i < schema_n_groups; i++) {
        if (strcmp(schema_groups[i].name, name) == 0)
            return &schema_groups[i];
    }
    return NULL;
}

void *schema_values(const struct schema_group *g, struct experiment *e)
{
    return (unsigned char *)e + g->offset;
}

const void *schema_values_const(const struct schema_group *g, const struct experiment *e)
{
    return (const unsigned char *)e + g->offset;
}
