/* uncertainty.c - deletes the samples of which the present model is most certain (Settles 2009):
 * those of the smallest entropy of its probabilities, or of the largest margin between the two
 * largest. Labels do not matter.  Stored and arrived samples are alike. */
#include "osafl/deletion.h"
#include "selection/measured.h"

enum { BY_ENTROPY, BY_MARGIN };
static const char *const certainty_choices[] = {"entropy", "margin", NULL};

struct config {
    osafl_choice certainty;
};

static osafl_status describe(void *self, osafl_call *c, osafl_deletion_info *out)
{
    (void)c;
    const struct config *settings = self;
    out->measure = certainty_choices[settings->certainty.index];
    return OSAFL_OK;
}

static osafl_status select_samples(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    const struct config *settings = self;
    return measured_select(c, v, n, settings->certainty.index == BY_MARGIN, position);
}

static const osafl_param params[] = {
    OSAFL_CHOICE(struct config, certainty, BY_ENTROPY, certainty_choices,
                 "Measure of how certain the model is about a sample"),
};

static const osafl_deletion_vt vtable = {
    .life = {.struct_size = sizeof(osafl_deletion_vt)},
    .select = select_samples,
    .describe = describe,
};

static const char *const features[] = {"concurrent", NULL};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_DELETION,
    .name = "uncertainty",
    .version = "1.0.0",
    .summary = "Deletes the samples that the current model is most certain about",
    .cite = "Settles: Active Learning Literature Survey, University of Wisconsin-Madison, 2009",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
