/* by_loss.c - deletes by the loss of the samples under the present model: keeps what the model has
 * yet to learn (Jiang et al. 2019), or, where labels may be wrong, what it can learn (Shen and
 * Sanghavi 2019).  Stored and arrived samples are alike. */
#include "osafl/deletion.h"
#include "selection/measured.h"

enum { KEEP_HIGH, KEEP_LOW };
static const char *const keep_choices[] = {"high", "low", NULL};

struct config {
    osafl_choice keep;
};

static osafl_status describe(void *self, osafl_call *c, osafl_deletion_info *out)
{
    (void)self;
    (void)c;
    out->measure = "loss";
    return OSAFL_OK;
}

static osafl_status select_samples(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n,
                                   uint32_t *position)
{
    const struct config *settings = self;
    return measured_select(c, v, n, settings->keep.index == KEEP_LOW, position);
}

static const osafl_param params[] = {
    OSAFL_CHOICE(struct config, keep, KEEP_HIGH, keep_choices,
                 "Which samples stay: those of high loss, or those of low loss where labels may be "
                 "wrong"),
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
    .name = "by_loss",
    .version = "1.0.0",
    .summary =
        "Deletes the samples with the smallest, or the largest, loss under the current model",
    .cite = "Jiang et al.: Accelerating Deep Learning by Focusing on the Biggest Losers, "
            "arXiv:1910.00762; Shen, Sanghavi: Learning with Bad Training Data via Iterative "
            "Trimmed Loss Minimization, ICML 2019",
    .license = "MIT",
    .features = features,
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
