/* checks.h - the functions behind the table of checks (check_table.c). */
#ifndef OSAFL_CONFORM_CHECKS_H
#define OSAFL_CONFORM_CHECKS_H

#include "conform.h"

/* checks_file.c: what the file says, before any of its code runs. */
void check_file_format(struct conform *c);
void check_file_exports(struct conform *c);
void check_file_needs(struct conform *c);
void check_file_calls(struct conform *c);
void check_file_relocations(struct conform *c);
void check_file_stack(struct conform *c);
void check_file_run_path(struct conform *c);

/* checks_load.c: what loading and using it does to the process. */
void check_load_entry(struct conform *c);
void check_load_output(struct conform *c);
void check_load_process(struct conform *c);
void check_load_use(struct conform *c);

/* checks_describe.c: what it says of itself. */
void check_describe_tables(struct conform *c);
void check_describe_constant(struct conform *c);
void check_describe_texts(struct conform *c);
void check_describe_features(struct conform *c);
void check_describe_late(struct conform *c);

/* checks_life.c: instances, and the settings that they are made with. */
void check_life_defaults(struct conform *c);
void check_life_cycles(struct conform *c);
void check_life_two(struct conform *c);
void check_life_memory(struct conform *c);
void check_parameters_bounds(struct conform *c);
void check_parameters_random(struct conform *c);

/* checks_state.c: saving and loading. */
void check_state_round_trip(struct conform *c);
void check_state_resume(struct conform *c);
void check_state_missing(struct conform *c);
void check_state_lengths(struct conform *c);
void check_state_values(struct conform *c);

/* checks_numbers.c: what is read, written and returned; threads.  checks_process.c: the process. */
void check_threads_workers(struct conform *c);
void check_threads_parallel(struct conform *c);
void check_threads_statics(struct conform *c);
void check_numbers_repeat(struct conform *c);
void check_numbers_process(struct conform *c);
void check_numbers_guards(struct conform *c);
void check_numbers_written(struct conform *c);
void check_numbers_finite(struct conform *c);
void check_numbers_sizes(struct conform *c);

/* Laws of the kinds: trial_KIND.c. */
void check_aggregator_describe(struct conform *c);
void check_aggregator_one_sum(struct conform *c);
void check_aggregator_sole(struct conform *c);
void check_aggregator_mean(struct conform *c);
void check_aggregator_permutation(struct conform *c);
void check_aggregator_scale(struct conform *c);
void check_aggregator_robust(struct conform *c);
void check_channel_gains(struct conform *c);
void check_channel_repeatable(struct conform *c);
void check_dataset_description(struct conform *c);
void check_dataset_samples(struct conform *c);
void check_dataset_labels(struct conform *c);
void check_dataset_seed(struct conform *c);
void check_deletion_positions(struct conform *c);
void check_deletion_arrivals(struct conform *c);
void check_model_tensors(struct conform *c);
void check_model_types(struct conform *c);
void check_model_gradient(struct conform *c);
void check_model_workspace(struct conform *c);
void check_model_fused(struct conform *c);
void check_model_export(struct conform *c);
void check_optimizer_description(struct conform *c);
void check_optimizer_plain(struct conform *c);
void check_optimizer_rate(struct conform *c);
void check_optimizer_descends(struct conform *c);
void check_quantizer_sizes(struct conform *c);
void check_quantizer_bits(struct conform *c);
void check_quantizer_ranges(struct conform *c);
void check_quantizer_garbage(struct conform *c);
void check_quantizer_unbiased(struct conform *c);
void check_quantizer_lossless(struct conform *c);
void check_quantizer_feedback(struct conform *c);
void check_resource_answers(struct conform *c);
void check_resource_limits(struct conform *c);

void check_partition_mixes(struct conform *c);
void check_drift_pure(struct conform *c);
void check_arrival_counts(struct conform *c);
void check_arrival_own_numbers(struct conform *c);
void check_selection_present(struct conform *c);
void check_filter_touches(struct conform *c);
void check_transport_alone(struct conform *c);
void check_transport_ranks(struct conform *c);
void check_transport_loss(struct conform *c);

#endif
