/* plugin_adapt.h - a plugin of an older or newer minor in structs of this program's size.
 *
 * Members that the plugin's headers did not have are 0 or NULL, which is their documented default
 * (rule R10); members that only the plugin's headers have are left out, as it can do without them
 * (osafl_plugin.abi_minor_needed). */
#ifndef OSAFL_CORE_PLUGIN_ADAPT_H
#define OSAFL_CORE_PLUGIN_ADAPT_H

#include "osafl/osafl.h"

struct adapted_plugin {
    osafl_plugin plugin;
    union {
        osafl_lifecycle life;
        osafl_dataset_vt dataset;
        osafl_model_vt model;
        osafl_channel_vt channel;
        osafl_resource_vt resource;
        osafl_optimizer_vt optimizer;
        osafl_quantizer_vt quantizer;
        osafl_deletion_vt deletion;
        osafl_aggregator_vt aggregator;
        osafl_partition_vt partition;
        osafl_drift_vt drift;
        osafl_arrival_vt arrival;
        osafl_selection_vt selection;
        osafl_filter_vt filter;
        osafl_transport_vt transport;
    } vtable;
};

/* What the program works with, for a plugin that plugin_verify() accepts: p itself where it has
 * this program's minor, else a description in *own, which must live as long. */
const osafl_plugin *plugin_adapt(const osafl_plugin *p, struct adapted_plugin *own);

#endif
