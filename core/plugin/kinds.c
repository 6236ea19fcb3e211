/* kinds.c - the kinds of plugins: what the core knows of each. */
#include "kinds.h"

#include <string.h>

#include "base/streams.h"

static const struct kind {
    const char *name;
    const char *question;
    const char *usual;    /* kind_default() */
    uint32_t core_stream; /* STREAM_*; 0: streams of the kind's own number */
    bool carries;         /* kind_is_of_experiments(): not this one */
} kinds[LOADER_KINDS + 1] = {
    [OSAFL_KIND_DATASET] = {.name = "dataset",
                            .question = "which labelled samples exist, and what does a sample look "
                                        "like?"},
    [OSAFL_KIND_MODEL] = {.name = "model",
                          .question = "what are loss and gradient of the parameters on a batch?"},
    [OSAFL_KIND_CHANNEL] = {.name = "channel",
                            .question = "what is a client's gain to the base station in a round?"},
    [OSAFL_KIND_RESOURCE] = {.name = "resource",
                             .question = "may a client take part, with how many local rounds, "
                                         "clock and power?"},
    [OSAFL_KIND_OPTIMIZER] = {.name = "optimizer",
                              .question = "how does a client step from its gradient?"},
    [OSAFL_KIND_QUANTIZER] = {.name = "quantizer",
                              .question = "what of an update goes over the uplink, and how many "
                                          "bits is it?"},
    [OSAFL_KIND_DELETION] = {.name = "deletion",
                             .question = "which stored samples are deleted when new ones arrive?"},
    [OSAFL_KIND_AGGREGATOR] = {.name = "aggregator",
                               .question = "how do the updates of a round change the global "
                                           "model?"},
    [OSAFL_KIND_PARTITION] = {.name = "partition",
                              .question = "which labels, or which samples, does a client see?",
                              .usual = "dirichlet",
                              .core_stream = STREAM_LABELS},
    [OSAFL_KIND_DRIFT] = {.name = "drift",
                          .question = "which of its label mixes does a client have in a round?",
                          .usual = "none",
                          .core_stream = STREAM_DRIFT},
    [OSAFL_KIND_ARRIVAL] = {.name = "arrival",
                            .question = "how many samples arrive, and is the client available?",
                            .usual = "steady",
                            .core_stream = STREAM_ARRIVAL_COUNT},
    [OSAFL_KIND_SELECTION] = {.name = "selection",
                              .question = "which clients are asked in this round?",
                              .usual = "all",
                              .core_stream = STREAM_SAMPLING},
    [OSAFL_KIND_FILTER] = {.name = "filter",
                           .question = "what does a client do to its labels and its update before "
                                       "it is coded?",
                           .usual = "none",
                           .core_stream = STREAM_ATTACK},
    [OSAFL_KIND_TRANSPORT] = {.name = "transport",
                              .question = "how do the processes of one run exchange what they "
                                          "computed?",
                              .usual = "mpi",
                              .carries = true},
};

const char *kind_name(uint32_t kind)
{
    return kind <= LOADER_KINDS ? kinds[kind].name : NULL;
}

uint32_t kind_from_name(const char *name)
{
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        if (strcmp(name, kinds[kind].name) == 0)
            return kind;
    }
    return 0;
}

const char *kind_question(uint32_t kind)
{
    return kinds[kind].question;
}

bool kind_is_of_experiments(uint32_t kind)
{
    return !kinds[kind].carries;
}

const char *kind_default(uint32_t kind)
{
    return kinds[kind].usual;
}

void kind_stream(uint32_t kind, uint32_t p, uint32_t *stream_kind, uint32_t *stream_purpose)
{
    const uint32_t core = kinds[kind].core_stream;
    *stream_kind = core != 0 ? 0 : kind;
    *stream_purpose = core != 0 ? core | p << 8 : p;
}
