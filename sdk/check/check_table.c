/* check_table.c - all checks, group by group, in the order in which they are tried. */
#include "checks.h"

#define EVERY(i, f, r, p)                                                                          \
    {                                                                                              \
        .id = (i), .run = (f), .rule = (r), .promise = (p)                                         \
    }
#define INSTANCE(i, f, r, p)                                                                       \
    {                                                                                              \
        .of_instance = true, .id = (i), .run = (f), .rule = (r), .promise = (p)                    \
    }
#define KIND(k, i, f, r, p)                                                                        \
    {                                                                                              \
        .kind = OSAFL_KIND_##k, .id = (i), .run = (f), .rule = (r), .promise = (p)                 \
    }
#define LAW(k, word, i, f, r, p)                                                                   \
    {                                                                                              \
        .kind = OSAFL_KIND_##k, .feature = (word), .id = (i), .run = (f), .rule = (r),             \
        .promise = (p)                                                                             \
    }

const struct check checks[] = {
    EVERY("file.format", check_file_format, 13, "is a whole shared object for this machine"),
    EVERY("file.exports", check_file_exports, 13, "exports its entry point and nothing else"),
    EVERY("file.needs", check_file_needs, 13, "needs no symbol but those of its own libraries"),
    EVERY("file.calls", check_file_calls, 9, "calls nothing that belongs to the whole program"),
    EVERY("file.relocations", check_file_relocations, 13, "has no relocations in its code"),
    EVERY("file.stack", check_file_stack, 13, "asks for no executable stack"),
    EVERY("file.run_path", check_file_run_path, 13,
          "looks for libraries beside itself or where the system has them"),

    EVERY("load.entry", check_load_entry, 13, "can be mapped and has an entry point"),
    EVERY("load.process", check_load_process, 9, "leaves the process as it was when it is loaded"),
    INSTANCE("load.output", check_load_output, 9, "prints nothing"),
    INSTANCE("load.use", check_load_use, 9, "leaves the process as it was when it is used"),

    EVERY("describe.tables", check_describe_tables, 12,
          "describes itself as the program understands it"),
    EVERY("describe.constant", check_describe_constant, 2, "always describes itself the same"),
    EVERY("describe.texts", check_describe_texts, 7, "explains itself in UTF-8, a line each"),
    EVERY("describe.features", check_describe_features, 12,
          "declares features that its kind knows, each once"),
    INSTANCE("describe.late", check_describe_late, 15,
             "describes itself at the end of a run as at its beginning"),

    INSTANCE("life.defaults", check_life_defaults, 14,
             "works with its defaults and leaves no memory"),
    INSTANCE("life.cycles", check_life_cycles, 14, "does not grow when it is made again and again"),
    INSTANCE("life.two", check_life_two, 14, "keeps two instances apart"),
    INSTANCE("life.memory", check_life_memory, 14,
             "survives that memory is refused, at every request"),

    INSTANCE("parameters.bounds", check_parameters_bounds, 19,
             "works at the ends of its settings' ranges, or refuses them with a message"),
    INSTANCE("parameters.random", check_parameters_random, 19,
             "works with any settings in range, or refuses them with a message"),

    INSTANCE("state.round_trip", check_state_round_trip, 16, "saves what it loads"),
    INSTANCE("state.resume", check_state_resume, 16, "goes on as if it had not been interrupted"),
    INSTANCE("state.missing", check_state_missing, 16, "refuses a state that lacks a record"),
    INSTANCE("state.lengths", check_state_lengths, 16, "survives records of other lengths"),
    INSTANCE("state.values", check_state_values, 16, "survives records with any values"),

    INSTANCE("threads.workers", check_threads_workers, 15,
             "answers on eight threads as it does on one"),
    INSTANCE("threads.parallel", check_threads_parallel, 15,
             "answers the same however many threads parallel() has"),
    INSTANCE("threads.statics", check_threads_statics, 15,
             "leaves its static variables as they are once it has been used"),

    INSTANCE("numbers.repeat", check_numbers_repeat, 15,
             "answers the same when asked again, whatever the time"),
    INSTANCE("numbers.process", check_numbers_process, 15,
             "answers the same in another process, at other addresses and in another environment"),
    INSTANCE("numbers.guards", check_numbers_guards, 17,
             "reads and writes its buffers only, and only reads its inputs"),
    INSTANCE("numbers.written", check_numbers_written, 17, "writes all of its outputs"),
    INSTANCE("numbers.finite", check_numbers_finite, 17,
             "answers finite numbers for finite numbers, however small or large"),
    INSTANCE("numbers.sizes", check_numbers_sizes, 17,
             "copes with a single parameter, client or sample, and with odd numbers of them"),

    KIND(DATASET, "dataset.description", check_dataset_description, 18,
         "describes samples that can be"),
    KIND(DATASET, "dataset.samples", check_dataset_samples, 18,
         "gives a sample the same alone and in a batch"),
    KIND(DATASET, "dataset.labels", check_dataset_labels, 18,
         "finds samples by label, each once, and labels by sample"),
    KIND(DATASET, "dataset.seed", check_dataset_seed, 18, "has the same samples in every run"),

    KIND(MODEL, "model.tensors", check_model_tensors, 18,
         "tiles its parameters with named tensors"),
    KIND(MODEL, "model.types", check_model_types, 19,
         "refuses samples of a type that it does not read"),
    KIND(MODEL, "model.gradient", check_model_gradient, 18, "has the gradient of its loss"),
    KIND(MODEL, "model.workspace", check_model_workspace, 15,
         "does not depend on what lies in its workspace"),
    KIND(MODEL, "model.export", check_model_export, 18, "imports the tensors that it exports"),
    LAW(MODEL, "fused", "model.fused", check_model_fused, 18,
        "makes the step in one that gradient() and a plain step make in two"),

    KIND(CHANNEL, "channel.gains", check_channel_gains, 18, "has gains that can be"),
    KIND(CHANNEL, "channel.repeatable", check_channel_repeatable, 18,
         "has the same gains in a round, whatever was asked before"),

    KIND(RESOURCE, "resource.answers", check_resource_answers, 18,
         "answers for every client, and accounts for times and energies"),
    LAW(RESOURCE, "meets_limits", "resource.limits", check_resource_limits, 18,
        "keeps deadline, energy, clock and power of every client"),

    KIND(OPTIMIZER, "optimizer.description", check_optimizer_description, 18,
         "has operations for the vectors that it asks for, and usable learning rates"),
    KIND(OPTIMIZER, "optimizer.plain", check_optimizer_plain, 18,
         "makes a plain step if it says that it is plain"),
    KIND(OPTIMIZER, "optimizer.rate", check_optimizer_rate, 18,
         "steps with the learning rate of the round"),
    KIND(OPTIMIZER, "optimizer.descends", check_optimizer_descends, 18, "walks down a bowl"),

    KIND(QUANTIZER, "quantizer.sizes", check_quantizer_sizes, 18,
         "makes codes of the sizes that it states"),
    KIND(QUANTIZER, "quantizer.bits", check_quantizer_bits, 18,
         "counts as many bits as what decodes tells of the vector"),
    KIND(QUANTIZER, "quantizer.ranges", check_quantizer_ranges, 18,
         "decodes any range as it decodes the whole"),
    KIND(QUANTIZER, "quantizer.garbage", check_quantizer_garbage, 19,
         "refuses a damaged code, or decodes it safely"),
    LAW(QUANTIZER, "unbiased", "quantizer.unbiased", check_quantizer_unbiased, 18,
        "decodes to the vector on the mean"),
    LAW(QUANTIZER, "lossless", "quantizer.lossless", check_quantizer_lossless, 18,
        "decodes to the vector itself"),
    LAW(QUANTIZER, "error_feedback", "quantizer.feedback", check_quantizer_feedback, 18,
        "keeps what its codes leave out"),

    KIND(DELETION, "deletion.positions", check_deletion_positions, 18,
         "chooses as many distinct positions as asked for"),
    LAW(DELETION, "keeps_arrivals", "deletion.keeps_arrivals", check_deletion_arrivals, 18,
        "lets no arrival go"),

    KIND(AGGREGATOR, "aggregator.describe", check_aggregator_describe, 18, "declares what can be"),
    KIND(AGGREGATOR, "aggregator.one_sum", check_aggregator_one_sum, 18,
         "needs no more of its updates than the sum that it describes"),
    LAW(AGGREGATOR, "sole_update", "aggregator.sole_update", check_aggregator_sole, 18,
        "moves the model by the update of a single participant"),
    LAW(AGGREGATOR, "mean", "aggregator.mean", check_aggregator_mean, 18,
        "moves the model by the update that all have sent"),
    LAW(AGGREGATOR, "permutation_invariant", "aggregator.permutation", check_aggregator_permutation,
        18, "does not depend on the order of the clients"),
    LAW(AGGREGATOR, "scale_free", "aggregator.scale_free", check_aggregator_scale, 18,
        "does not depend on the scale of the clients' shares"),
    LAW(AGGREGATOR, "robust", "aggregator.robust", check_aggregator_robust, 18,
        "is moved by a bounded amount by one client"),

    KIND(PARTITION, "partition.mixes", check_partition_mixes, 18,
         "gives label mixes that can be, the same in any order"),

    KIND(DRIFT, "drift.pure", check_drift_pure, 18,
         "gives weights that can be, the same in any order"),

    KIND(ARRIVAL, "arrival.counts", check_arrival_counts, 18,
         "brings no more samples than fit, to clients that are there or not"),
    LAW(ARRIVAL, "own_numbers", "arrival.own_numbers", check_arrival_own_numbers, 18,
        "brings the same numbers of samples whatever E_u is"),

    KIND(SELECTION, "selection.present", check_selection_present, 18,
         "asks only clients that are there, be they one or five"),

    KIND(FILTER, "filter.touches", check_filter_touches, 18,
         "says of a client always the same: touched, or not"),

    KIND(TRANSPORT, "transport.alone", check_transport_alone, 18,
         "gives a single rank its own pieces back, empty ones and large ones"),
    KIND(TRANSPORT, "transport.ranks", check_transport_ranks, 18,
         "gives each of three ranks the pieces of all, or of those that are meant for it"),
    KIND(TRANSPORT, "transport.loss", check_transport_loss, 18,
         "ends the other ranks when one is gone, with the status that it was told"),
};
const size_t n_checks = sizeof checks / sizeof checks[0];
_Static_assert(sizeof checks / sizeof checks[0] <= 128, "struct probe has room for that many");
