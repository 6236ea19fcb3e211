/* osafl/osafl.h - all public headers of the plugin interface. */
#ifndef OSAFL_OSAFL_H
#define OSAFL_OSAFL_H

#include "aggregator.h"
#include "arrival.h"
#include "channel.h"
#include "dataset.h"
#include "deletion.h"
#include "drift.h"
#include "filter.h"
#include "history.h"
#include "model.h"
#include "optimizer.h"
#include "partition.h"
#include "quantizer.h"
#include "random.h"
#include "resource.h"
#include "selection.h"
#include "transport.h"

#endif
