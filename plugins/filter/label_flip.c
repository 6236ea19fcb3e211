/* label_flip.c - attackers train on wrong labels. */
#include "shared/chosen.h"

enum { TO_RANDOM, TO_NEXT };
static const char *const to_choices[] = {"random", "next", "opposite", NULL};

struct settings {
    double share;
    osafl_choice to;
};

static const osafl_param params[] = {
    CHOSEN_SHARE_PARAM(struct settings),
    OSAFL_CHOICE(struct settings, to, TO_RANDOM, to_choices,
                 "What an attacker takes for the label y of C: one drawn for each of its samples, "
                 "the same in all rounds; (y + 1) mod C; or C - 1 - y"),
};

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const struct settings *s = config;
    if (facts->dataset->target_type == OSAFL_TARGET_REAL)
        return h->fail(c, OSAFL_E_CONFIG,
                       "the targets are real numbers, so there are no labels to flip; choose "
                       "another filter");
    return chosen_create(h, c, facts, config, s->share, self);
}

static int32_t random_label(const struct chosen *f, osafl_call *c, uint32_t client, uint64_t sample)
{
    uint32_t word[2];
    f->host->random_fill(c, 0, client, CHOSEN_LABELS_ROUND, sample, word, 2);
    return (int32_t)osafl_below(word, f->labels);
}

static osafl_status labels(void *self, osafl_call *c, uint32_t client, uint32_t n,
                           const uint64_t *sample, int32_t *label)
{
    const struct chosen *f = self;
    const struct settings *s = f->config;
    const int32_t last = (int32_t)f->labels - 1;
    for (uint32_t k = 0; k < n; k++) {
        if (s->to.index == TO_RANDOM)
            label[k] = random_label(f, c, client, sample[k]);
        else if (s->to.index == TO_NEXT)
            label[k] = label[k] < last ? label[k] + 1 : 0;
        else
            label[k] = last - label[k];
    }
    return OSAFL_OK;
}

static const osafl_filter_vt vtable = {
    .life = {.struct_size = sizeof(osafl_filter_vt), .create = create, .destroy = free},
    .touches = chosen_touches,
    .labels = labels,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_FILTER,
    .name = "label_flip",
    .version = "1.0.0",
    .summary = "Attack: training on wrong labels",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct settings),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
