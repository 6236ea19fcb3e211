/* interface.c - names every type that crosses the border, so that tools which follow types from
 * exported functions (abidw, abidiff) see the whole interface. */
#include "osafl/osafl.h"

#define SHOW(name, type)                                                                           \
    OSAFL_EXPORT void show_##name(const type *object);                                             \
    void show_##name(const type *object)                                                           \
    {                                                                                              \
        (void)object;                                                                              \
    }

SHOW(plugin, osafl_plugin)
SHOW(host, osafl_host)
SHOW(facts, osafl_facts)
SHOW(range, osafl_range)
SHOW(reals, osafl_reals)
SHOW(choice, osafl_choice)
SHOW(rows, osafl_rows)
SHOW(dataset, osafl_dataset_vt)
SHOW(model, osafl_model_vt)
SHOW(channel, osafl_channel_vt)
SHOW(resource, osafl_resource_vt)
SHOW(optimizer, osafl_optimizer_vt)
SHOW(quantizer, osafl_quantizer_vt)
SHOW(deletion, osafl_deletion_vt)
SHOW(aggregator, osafl_aggregator_vt)
SHOW(pooled, osafl_pooled)
SHOW(partition, osafl_partition_vt)
SHOW(drift, osafl_drift_vt)
SHOW(arrival, osafl_arrival_vt)
SHOW(selection, osafl_selection_vt)
SHOW(filter, osafl_filter_vt)
SHOW(transport, osafl_transport_vt)
