/* layout.c - prints size and offsets of every public struct, to be compared with layout.txt.
 *
 * Members are listed by hand, and cannot be forgotten: they must tile their struct, since public
 * structs have no padding.  Structs cannot be forgotten either: layout.sh looks for them in the
 * headers. */
#include <stdio.h>
#include <stdlib.h>

#include "osafl/layers.h"
#include "osafl/osafl.h"
#include "osafl/preparation.h"
#include "osafl/profile.h"
#include "osafl/transport.h"

/* Where the next member must begin. */
static size_t next_offset;

static void begin(const char *name, size_t size)
{
    printf("%s %zu\n", name, size);
    next_offset = 0;
}

static void member(const char *name, size_t offset, size_t size)
{
    printf("    %s %zu %zu\n", name, offset, size);
    if (offset != next_offset) {
        printf("there is a gap before %s, or a member that layout.c does not list\n", name);
        exit(EXIT_FAILURE);
    }
    next_offset = offset + size;
}

static void end(const char *name, size_t size)
{
    if (next_offset != size) {
        printf("there is a gap at the end of %s, or a member that layout.c does not list\n", name);
        exit(EXIT_FAILURE);
    }
}

#define BEGIN(T) begin(#T, sizeof(T))
#define MEMBER(T, m) member(#m, offsetof(T, m), sizeof(((T *)0)->m))
#define END(T) end(#T, sizeof(T))

static void print_host(void)
{
    BEGIN(osafl_writer);
    MEMBER(osafl_writer, struct_size);
    MEMBER(osafl_writer, reserved);
    MEMBER(osafl_writer, priv);
    MEMBER(osafl_writer, u64);
    MEMBER(osafl_writer, f64);
    MEMBER(osafl_writer, f32);
    MEMBER(osafl_writer, bytes);
    END(osafl_writer);
    BEGIN(osafl_reader);
    MEMBER(osafl_reader, struct_size);
    MEMBER(osafl_reader, state_version);
    MEMBER(osafl_reader, priv);
    MEMBER(osafl_reader, count);
    MEMBER(osafl_reader, u64);
    MEMBER(osafl_reader, f64);
    MEMBER(osafl_reader, f32);
    MEMBER(osafl_reader, bytes);
    END(osafl_reader);
    BEGIN(osafl_call);
    MEMBER(osafl_call, host);
    END(osafl_call);
    BEGIN(osafl_host);
    MEMBER(osafl_host, struct_size);
    MEMBER(osafl_host, abi_major);
    MEMBER(osafl_host, abi_minor);
    MEMBER(osafl_host, name);
    MEMBER(osafl_host, version);
    MEMBER(osafl_host, fail);
    MEMBER(osafl_host, log);
    MEMBER(osafl_host, metric);
    MEMBER(osafl_host, scratch);
    MEMBER(osafl_host, random_fill);
    MEMBER(osafl_host, parallel);
    MEMBER(osafl_host, cancelled);
    MEMBER(osafl_host, extension);
    END(osafl_host);
}

static void print_param(void)
{
    BEGIN(osafl_choice);
    MEMBER(osafl_choice, index);
    END(osafl_choice);
    BEGIN(osafl_range);
    MEMBER(osafl_range, lo);
    MEMBER(osafl_range, hi);
    END(osafl_range);
    BEGIN(osafl_reals);
    MEMBER(osafl_reals, v);
    MEMBER(osafl_reals, n);
    END(osafl_reals);
    BEGIN(osafl_origin);
    MEMBER(osafl_origin, file);
    MEMBER(osafl_origin, line);
    MEMBER(osafl_origin, reserved);
    END(osafl_origin);
    BEGIN(osafl_rows);
    MEMBER(osafl_rows, v);
    MEMBER(osafl_rows, at);
    MEMBER(osafl_rows, n);
    END(osafl_rows);
    BEGIN(osafl_param);
    MEMBER(osafl_param, name);
    MEMBER(osafl_param, doc);
    MEMBER(osafl_param, unit);
    MEMBER(osafl_param, choices);
    MEMBER(osafl_param, def);
    MEMBER(osafl_param, def_hi);
    MEMBER(osafl_param, lo);
    MEMBER(osafl_param, hi);
    MEMBER(osafl_param, type);
    MEMBER(osafl_param, flags);
    MEMBER(osafl_param, offset);
    MEMBER(osafl_param, reserved);
    END(osafl_param);
    BEGIN(osafl_row_type);
    MEMBER(osafl_row_type, params);
    MEMBER(osafl_row_type, n_params);
    MEMBER(osafl_row_type, param_size);
    MEMBER(osafl_row_type, size);
    MEMBER(osafl_row_type, reserved);
    END(osafl_row_type);
}

static void print_plugin(void)
{
    BEGIN(osafl_facts);
    MEMBER(osafl_facts, struct_size);
    MEMBER(osafl_facts, clients);
    MEMBER(osafl_facts, rounds);
    MEMBER(osafl_facts, batch);
    MEMBER(osafl_facts, cost_steps);
    MEMBER(osafl_facts, max_local_rounds);
    MEMBER(osafl_facts, deadline_s);
    MEMBER(osafl_facts, dataset);
    MEMBER(osafl_facts, model);
    MEMBER(osafl_facts, label_share);
    MEMBER(osafl_facts, dim);
    END(osafl_facts);
    BEGIN(osafl_lifecycle);
    MEMBER(osafl_lifecycle, struct_size);
    MEMBER(osafl_lifecycle, state_version);
    MEMBER(osafl_lifecycle, check);
    MEMBER(osafl_lifecycle, create);
    MEMBER(osafl_lifecycle, destroy);
    MEMBER(osafl_lifecycle, save);
    MEMBER(osafl_lifecycle, load);
    MEMBER(osafl_lifecycle, extension);
    END(osafl_lifecycle);
    BEGIN(osafl_metric);
    MEMBER(osafl_metric, name);
    MEMBER(osafl_metric, unit);
    MEMBER(osafl_metric, doc);
    MEMBER(osafl_metric, scope);
    MEMBER(osafl_metric, better);
    END(osafl_metric);
    BEGIN(osafl_plugin);
    MEMBER(osafl_plugin, struct_size);
    MEMBER(osafl_plugin, abi_major);
    MEMBER(osafl_plugin, abi_minor);
    MEMBER(osafl_plugin, abi_minor_needed);
    MEMBER(osafl_plugin, reserved);
    MEMBER(osafl_plugin, kind);
    MEMBER(osafl_plugin, fingerprint);
    MEMBER(osafl_plugin, name);
    MEMBER(osafl_plugin, version);
    MEMBER(osafl_plugin, summary);
    MEMBER(osafl_plugin, cite);
    MEMBER(osafl_plugin, license);
    MEMBER(osafl_plugin, url);
    MEMBER(osafl_plugin, features);
    MEMBER(osafl_plugin, params);
    MEMBER(osafl_plugin, metrics);
    MEMBER(osafl_plugin, n_params);
    MEMBER(osafl_plugin, param_size);
    MEMBER(osafl_plugin, n_metrics);
    MEMBER(osafl_plugin, metric_size);
    MEMBER(osafl_plugin, config_size);
    MEMBER(osafl_plugin, reserved2);
    MEMBER(osafl_plugin, vtable);
    END(osafl_plugin);
}

static void print_dataset(void)
{
    BEGIN(osafl_dataset_info);
    MEMBER(osafl_dataset_info, struct_size);
    MEMBER(osafl_dataset_info, rank);
    MEMBER(osafl_dataset_info, shape);
    MEMBER(osafl_dataset_info, x_type);
    MEMBER(osafl_dataset_info, target_type);
    MEMBER(osafl_dataset_info, target_size);
    MEMBER(osafl_dataset_info, labels);
    MEMBER(osafl_dataset_info, n_train);
    MEMBER(osafl_dataset_info, n_validation);
    MEMBER(osafl_dataset_info, n_test);
    MEMBER(osafl_dataset_info, label_names);
    END(osafl_dataset_info);
    BEGIN(osafl_batch);
    MEMBER(osafl_batch, struct_size);
    MEMBER(osafl_batch, n);
    MEMBER(osafl_batch, x);
    MEMBER(osafl_batch, x_int);
    MEMBER(osafl_batch, label);
    MEMBER(osafl_batch, target);
    END(osafl_batch);
    BEGIN(osafl_dataset_vt);
    MEMBER(osafl_dataset_vt, life);
    MEMBER(osafl_dataset_vt, describe);
    MEMBER(osafl_dataset_vt, label);
    MEMBER(osafl_dataset_vt, read);
    MEMBER(osafl_dataset_vt, sample_of);
    MEMBER(osafl_dataset_vt, client_of);
    MEMBER(osafl_dataset_vt, time_of);
    END(osafl_dataset_vt);
}

static void print_model(void)
{
    BEGIN(osafl_tensor);
    MEMBER(osafl_tensor, name);
    MEMBER(osafl_tensor, offset);
    MEMBER(osafl_tensor, size);
    MEMBER(osafl_tensor, shape);
    MEMBER(osafl_tensor, rank);
    MEMBER(osafl_tensor, reserved);
    END(osafl_tensor);
    BEGIN(osafl_model_info);
    MEMBER(osafl_model_info, struct_size);
    MEMBER(osafl_model_info, n_tensors);
    MEMBER(osafl_model_info, n_parameters);
    MEMBER(osafl_model_info, tensors);
    MEMBER(osafl_model_info, tensor_size);
    MEMBER(osafl_model_info, n_measures);
    MEMBER(osafl_model_info, measures);
    MEMBER(osafl_model_info, measure_size);
    MEMBER(osafl_model_info, n_sample_measures);
    MEMBER(osafl_model_info, sample_measures);
    END(osafl_model_info);
    BEGIN(osafl_step);
    MEMBER(osafl_step, struct_size);
    MEMBER(osafl_step, client);
    MEMBER(osafl_step, round);
    MEMBER(osafl_step, step);
    MEMBER(osafl_step, training);
    MEMBER(osafl_step, reserved);
    END(osafl_step);
    BEGIN(osafl_model_vt);
    MEMBER(osafl_model_vt, life);
    MEMBER(osafl_model_vt, describe);
    MEMBER(osafl_model_vt, workspace_bytes);
    MEMBER(osafl_model_vt, init);
    MEMBER(osafl_model_vt, gradient);
    MEMBER(osafl_model_vt, evaluate);
    MEMBER(osafl_model_vt, sgd_step);
    MEMBER(osafl_model_vt, export_tensor);
    MEMBER(osafl_model_vt, import_tensor);
    MEMBER(osafl_model_vt, score);
    END(osafl_model_vt);
}

static void print_aggregator(void)
{
    BEGIN(osafl_aggregator_info);
    MEMBER(osafl_aggregator_info, struct_size);
    MEMBER(osafl_aggregator_info, sends);
    MEMBER(osafl_aggregator_info, uplink_vectors);
    MEMBER(osafl_aggregator_info, wants_empty_rounds);
    MEMBER(osafl_aggregator_info, max_staleness);
    MEMBER(osafl_aggregator_info, optimizer_is_fixed);
    MEMBER(osafl_aggregator_info, broadcast_floats);
    MEMBER(osafl_aggregator_info, optimizer);
    MEMBER(osafl_aggregator_info, one_sum);
    MEMBER(osafl_aggregator_info, reserved);
    END(osafl_aggregator_info);
    BEGIN(osafl_pooled);
    MEMBER(osafl_pooled, struct_size);
    MEMBER(osafl_pooled, reserved);
    MEMBER(osafl_pooled, steps);
    END(osafl_pooled);
    BEGIN(osafl_update_ops);
    MEMBER(osafl_update_ops, struct_size);
    MEMBER(osafl_update_ops, reserved);
    MEMBER(osafl_update_ops, combine);
    MEMBER(osafl_update_ops, add);
    MEMBER(osafl_update_ops, dot);
    MEMBER(osafl_update_ops, squared_norms);
    MEMBER(osafl_update_ops, gram);
    MEMBER(osafl_update_ops, each_block);
    MEMBER(osafl_update_ops, inner_product);
    MEMBER(osafl_update_ops, retain);
    MEMBER(osafl_update_ops, release);
    MEMBER(osafl_update_ops, combine_kept);
    END(osafl_update_ops);
    BEGIN(osafl_updates);
    MEMBER(osafl_updates, struct_size);
    MEMBER(osafl_updates, n);
    MEMBER(osafl_updates, round);
    MEMBER(osafl_updates, rounds);
    MEMBER(osafl_updates, clients);
    MEMBER(osafl_updates, labels);
    MEMBER(osafl_updates, dim);
    MEMBER(osafl_updates, client);
    MEMBER(osafl_updates, local_rounds);
    MEMBER(osafl_updates, steps);
    MEMBER(osafl_updates, rate);
    MEMBER(osafl_updates, samples);
    MEMBER(osafl_updates, alpha);
    MEMBER(osafl_updates, train_loss);
    MEMBER(osafl_updates, histogram);
    MEMBER(osafl_updates, call);
    MEMBER(osafl_updates, ops);
    MEMBER(osafl_updates, priv);
    MEMBER(osafl_updates, start_round);
    MEMBER(osafl_updates, arrived_s);
    MEMBER(osafl_updates, gain);
    MEMBER(osafl_updates, power_w);
    MEMBER(osafl_updates, compute_s);
    MEMBER(osafl_updates, upload_s);
    MEMBER(osafl_updates, joules);
    MEMBER(osafl_updates, noise_w);
    MEMBER(osafl_updates, channel_gain);
    END(osafl_updates);
    BEGIN(osafl_aggregator_vt);
    MEMBER(osafl_aggregator_vt, life);
    MEMBER(osafl_aggregator_vt, describe);
    MEMBER(osafl_aggregator_vt, aggregate);
    MEMBER(osafl_aggregator_vt, broadcast);
    END(osafl_aggregator_vt);
}

static void print_channel(void)
{
    BEGIN(osafl_link);
    MEMBER(osafl_link, struct_size);
    MEMBER(osafl_link, reserved);
    MEMBER(osafl_link, bandwidth_hz);
    MEMBER(osafl_link, noise_w_per_hz);
    END(osafl_link);
    BEGIN(osafl_place);
    MEMBER(osafl_place, x_m);
    MEMBER(osafl_place, y_m);
    MEMBER(osafl_place, line_of_sight);
    MEMBER(osafl_place, reserved);
    END(osafl_place);
    BEGIN(osafl_channel_vt);
    MEMBER(osafl_channel_vt, life);
    MEMBER(osafl_channel_vt, describe);
    MEMBER(osafl_channel_vt, gains);
    MEMBER(osafl_channel_vt, place);
    END(osafl_channel_vt);
}

static void print_deletion(void)
{
    BEGIN(osafl_store_view);
    MEMBER(osafl_store_view, struct_size);
    MEMBER(osafl_store_view, client);
    MEMBER(osafl_store_view, round);
    MEMBER(osafl_store_view, labels);
    MEMBER(osafl_store_view, stored);
    MEMBER(osafl_store_view, arrived);
    MEMBER(osafl_store_view, label);
    MEMBER(osafl_store_view, age);
    MEMBER(osafl_store_view, measure);
    END(osafl_store_view);
    BEGIN(osafl_deletion_info);
    MEMBER(osafl_deletion_info, struct_size);
    MEMBER(osafl_deletion_info, reserved);
    MEMBER(osafl_deletion_info, measure);
    END(osafl_deletion_info);
    BEGIN(osafl_deletion_vt);
    MEMBER(osafl_deletion_vt, life);
    MEMBER(osafl_deletion_vt, select);
    MEMBER(osafl_deletion_vt, describe);
    END(osafl_deletion_vt);
}

static void print_optimizer(void)
{
    BEGIN(osafl_optimizer_info);
    MEMBER(osafl_optimizer_info, struct_size);
    MEMBER(osafl_optimizer_info, is_plain);
    MEMBER(osafl_optimizer_info, client_floats);
    MEMBER(osafl_optimizer_info, round_floats);
    MEMBER(osafl_optimizer_info, broadcast_floats);
    MEMBER(osafl_optimizer_info, uplink_vectors);
    MEMBER(osafl_optimizer_info, reserved);
    END(osafl_optimizer_info);
    BEGIN(osafl_local);
    MEMBER(osafl_local, struct_size);
    MEMBER(osafl_local, client);
    MEMBER(osafl_local, round);
    MEMBER(osafl_local, step);
    MEMBER(osafl_local, dim);
    MEMBER(osafl_local, rate);
    MEMBER(osafl_local, w_start);
    MEMBER(osafl_local, broadcast);
    MEMBER(osafl_local, client_state);
    MEMBER(osafl_local, round_state);
    MEMBER(osafl_local, uplink);
    MEMBER(osafl_local, priv);
    MEMBER(osafl_local, store_gradient);
    END(osafl_local);
    BEGIN(osafl_optimizer_vt);
    MEMBER(osafl_optimizer_vt, life);
    MEMBER(osafl_optimizer_vt, describe);
    MEMBER(osafl_optimizer_vt, rate);
    MEMBER(osafl_optimizer_vt, step);
    MEMBER(osafl_optimizer_vt, begin);
    MEMBER(osafl_optimizer_vt, finish);
    MEMBER(osafl_optimizer_vt, received);
    MEMBER(osafl_optimizer_vt, start);
    MEMBER(osafl_optimizer_vt, leave);
    MEMBER(osafl_optimizer_vt, personal);
    END(osafl_optimizer_vt);
}

static void print_quantizer(void)
{
    BEGIN(osafl_packet);
    MEMBER(osafl_packet, struct_size);
    MEMBER(osafl_packet, client);
    MEMBER(osafl_packet, round);
    MEMBER(osafl_packet, slot);
    MEMBER(osafl_packet, gain);
    MEMBER(osafl_packet, most_bits_per_s);
    END(osafl_packet);
    BEGIN(osafl_quantizer_info);
    MEMBER(osafl_quantizer_info, struct_size);
    MEMBER(osafl_quantizer_info, reserved);
    MEMBER(osafl_quantizer_info, payload_bits);
    MEMBER(osafl_quantizer_info, max_bytes);
    MEMBER(osafl_quantizer_info, client_floats);
    END(osafl_quantizer_info);
    BEGIN(osafl_quantizer_vt);
    MEMBER(osafl_quantizer_vt, life);
    MEMBER(osafl_quantizer_vt, describe);
    MEMBER(osafl_quantizer_vt, encode);
    MEMBER(osafl_quantizer_vt, verify);
    MEMBER(osafl_quantizer_vt, decode);
    MEMBER(osafl_quantizer_vt, axpy);
    MEMBER(osafl_quantizer_vt, dot);
    MEMBER(osafl_quantizer_vt, packet_bits);
    END(osafl_quantizer_vt);
}

static void print_resource(void)
{
    BEGIN(osafl_resource_problem);
    MEMBER(osafl_resource_problem, struct_size);
    MEMBER(osafl_resource_problem, clients);
    MEMBER(osafl_resource_problem, round);
    MEMBER(osafl_resource_problem, max_local_rounds);
    MEMBER(osafl_resource_problem, cost_steps);
    MEMBER(osafl_resource_problem, batch);
    MEMBER(osafl_resource_problem, deadline_s);
    MEMBER(osafl_resource_problem, payload_bits);
    MEMBER(osafl_resource_problem, noise_w_per_hz);
    MEMBER(osafl_resource_problem, capacitance);
    MEMBER(osafl_resource_problem, sample_bits);
    MEMBER(osafl_resource_problem, present);
    MEMBER(osafl_resource_problem, gain);
    MEMBER(osafl_resource_problem, bandwidth_hz);
    MEMBER(osafl_resource_problem, cycles_per_bit);
    MEMBER(osafl_resource_problem, energy_budget_j);
    MEMBER(osafl_resource_problem, clock_max_hz);
    MEMBER(osafl_resource_problem, power_max_w);
    MEMBER(osafl_resource_problem, samples);
    MEMBER(osafl_resource_problem, history);
    MEMBER(osafl_resource_problem, receive_s);
    END(osafl_resource_problem);
    BEGIN(osafl_resource_answer);
    MEMBER(osafl_resource_answer, struct_size);
    MEMBER(osafl_resource_answer, clients);
    MEMBER(osafl_resource_answer, local_rounds);
    MEMBER(osafl_resource_answer, reason);
    MEMBER(osafl_resource_answer, clock_hz);
    MEMBER(osafl_resource_answer, power_w);
    MEMBER(osafl_resource_answer, bandwidth_hz);
    MEMBER(osafl_resource_answer, compute_s);
    MEMBER(osafl_resource_answer, upload_s);
    MEMBER(osafl_resource_answer, compute_j);
    MEMBER(osafl_resource_answer, upload_j);
    END(osafl_resource_answer);
    BEGIN(osafl_resource_vt);
    MEMBER(osafl_resource_vt, life);
    MEMBER(osafl_resource_vt, solve);
    END(osafl_resource_vt);
}

static void print_partition(void)
{
    BEGIN(osafl_partition_info);
    MEMBER(osafl_partition_info, struct_size);
    MEMBER(osafl_partition_info, gives);
    END(osafl_partition_info);
    BEGIN(osafl_partition_vt);
    MEMBER(osafl_partition_vt, life);
    MEMBER(osafl_partition_vt, describe);
    MEMBER(osafl_partition_vt, mix);
    MEMBER(osafl_partition_vt, owner);
    END(osafl_partition_vt);
}

static void print_drift(void)
{
    BEGIN(osafl_drift_mix);
    MEMBER(osafl_drift_mix, struct_size);
    MEMBER(osafl_drift_mix, draw_a);
    MEMBER(osafl_drift_mix, draw_b);
    MEMBER(osafl_drift_mix, reserved);
    MEMBER(osafl_drift_mix, weight);
    END(osafl_drift_mix);
    BEGIN(osafl_drift_vt);
    MEMBER(osafl_drift_vt, life);
    MEMBER(osafl_drift_vt, at);
    END(osafl_drift_vt);
}

static void print_arrival(void)
{
    BEGIN(osafl_arrival_problem);
    MEMBER(osafl_arrival_problem, struct_size);
    MEMBER(osafl_arrival_problem, clients);
    MEMBER(osafl_arrival_problem, round);
    MEMBER(osafl_arrival_problem, reserved);
    MEMBER(osafl_arrival_problem, arrivals);
    MEMBER(osafl_arrival_problem, capacity);
    MEMBER(osafl_arrival_problem, activity);
    MEMBER(osafl_arrival_problem, history);
    MEMBER(osafl_arrival_problem, time_first);
    MEMBER(osafl_arrival_problem, time);
    END(osafl_arrival_problem);
    BEGIN(osafl_arrival_vt);
    MEMBER(osafl_arrival_vt, life);
    MEMBER(osafl_arrival_vt, arrive);
    MEMBER(osafl_arrival_vt, fill);
    END(osafl_arrival_vt);
}

static void print_selection(void)
{
    BEGIN(osafl_history);
    MEMBER(osafl_history, struct_size);
    MEMBER(osafl_history, labels);
    MEMBER(osafl_history, histogram);
    MEMBER(osafl_history, histogram_then);
    MEMBER(osafl_history, arrivals);
    MEMBER(osafl_history, participations);
    MEMBER(osafl_history, age);
    MEMBER(osafl_history, asked_age);
    MEMBER(osafl_history, train_loss);
    MEMBER(osafl_history, update_norm);
    MEMBER(osafl_history, seconds);
    MEMBER(osafl_history, joules);
    END(osafl_history);
    BEGIN(osafl_selection_problem);
    MEMBER(osafl_selection_problem, struct_size);
    MEMBER(osafl_selection_problem, clients);
    MEMBER(osafl_selection_problem, round);
    MEMBER(osafl_selection_problem, reserved);
    MEMBER(osafl_selection_problem, present);
    MEMBER(osafl_selection_problem, gain);
    MEMBER(osafl_selection_problem, samples);
    MEMBER(osafl_selection_problem, energy_budget_j);
    MEMBER(osafl_selection_problem, history);
    END(osafl_selection_problem);
    BEGIN(osafl_selection_info);
    MEMBER(osafl_selection_info, struct_size);
    MEMBER(osafl_selection_info, uses);
    END(osafl_selection_info);
    BEGIN(osafl_selection_vt);
    MEMBER(osafl_selection_vt, life);
    MEMBER(osafl_selection_vt, choose);
    MEMBER(osafl_selection_vt, describe);
    END(osafl_selection_vt);
}

static void print_filter(void)
{
    BEGIN(osafl_filter_vt);
    MEMBER(osafl_filter_vt, life);
    MEMBER(osafl_filter_vt, touches);
    MEMBER(osafl_filter_vt, labels);
    MEMBER(osafl_filter_vt, update);
    MEMBER(osafl_filter_vt, end_round);
    END(osafl_filter_vt);
}

static void print_profile(void)
{
    BEGIN(osafl_profile);
    MEMBER(osafl_profile, struct_size);
    MEMBER(osafl_profile, reserved);
    MEMBER(osafl_profile, record);
    END(osafl_profile);
}

static void print_layers(void)
{
    BEGIN(osafl_layer);
    MEMBER(osafl_layer, struct_size);
    MEMBER(osafl_layer, reserved);
    MEMBER(osafl_layer, name);
    MEMBER(osafl_layer, kind);
    MEMBER(osafl_layer, shape);
    MEMBER(osafl_layer, reserved2);
    MEMBER(osafl_layer, parameters);
    MEMBER(osafl_layer, operations);
    END(osafl_layer);
    BEGIN(osafl_layers);
    MEMBER(osafl_layers, struct_size);
    MEMBER(osafl_layers, reserved);
    MEMBER(osafl_layers, record);
    END(osafl_layers);
    BEGIN(osafl_fact);
    MEMBER(osafl_fact, struct_size);
    MEMBER(osafl_fact, single);
    MEMBER(osafl_fact, key);
    MEMBER(osafl_fact, n);
    MEMBER(osafl_fact, text);
    MEMBER(osafl_fact, real);
    END(osafl_fact);
    BEGIN(osafl_preparation);
    MEMBER(osafl_preparation, struct_size);
    MEMBER(osafl_preparation, reserved);
    MEMBER(osafl_preparation, record);
    END(osafl_preparation);
}

static void print_transport(void)
{
    BEGIN(osafl_transport_wish);
    MEMBER(osafl_transport_wish, struct_size);
    MEMBER(osafl_transport_wish, lost_status);
    MEMBER(osafl_transport_wish, limit_s);
    MEMBER(osafl_transport_wish, ranks);
    MEMBER(osafl_transport_wish, reserved);
    END(osafl_transport_wish);
    BEGIN(osafl_transport_place);
    MEMBER(osafl_transport_place, struct_size);
    MEMBER(osafl_transport_place, rank);
    MEMBER(osafl_transport_place, ranks);
    MEMBER(osafl_transport_place, reserved);
    MEMBER(osafl_transport_place, text);
    END(osafl_transport_place);
    BEGIN(osafl_transport_vt);
    MEMBER(osafl_transport_vt, life);
    MEMBER(osafl_transport_vt, start);
    MEMBER(osafl_transport_vt, host_name);
    MEMBER(osafl_transport_vt, exchange);
    MEMBER(osafl_transport_vt, stop);
    END(osafl_transport_vt);
}

int main(void)
{
    printf("osafl_value %zu\n", sizeof(osafl_value)); /* a union: nothing to tile */
    print_host();
    print_param();
    print_plugin();
    print_dataset();
    print_model();
    print_aggregator();
    print_channel();
    print_deletion();
    print_optimizer();
    print_quantizer();
    print_resource();
    print_partition();
    print_drift();
    print_arrival();
    print_selection();
    print_filter();
    print_profile();
    print_layers();
    print_transport();
    return EXIT_SUCCESS;
}
