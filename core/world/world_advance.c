/* world_advance.c - the end of a round: arrivals come, other samples leave.  ALGORITHMS.md 1, 7. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/message.h"
#include "base/streams.h"
#include "label_mix.h"
#include "world_state.h"

static void drift(struct world *w, uint32_t client, uint32_t round)
{
    const double step = w->settings->drift;
    const struct mix_stream stream = {w->seed, STREAM_DRIFT, client, round};
    label_mix_dirichlet(&stream, w->partition->concentration, w->share, w->labels, w->fresh_mix);
    double *const mix = w->mix + (size_t)client * w->labels;
    for (uint32_t l = 0; l < w->labels; ++l)
        mix[l] = (1.0 - step) * mix[l] + step * w->fresh_mix[l];
}

static uint32_t count_arrivals(struct world *w, uint32_t client, uint32_t round)
{
    const uint32_t most = w->population.arrivals[client];
    if (w->settings->arrival_process.index == ARRIVALS_FIXED)
        return most;
    const double probability = w->settings->arrival_probability > 0.0
                                   ? w->settings->arrival_probability
                                   : w->population.activity[client];
    uint32_t n = 0;
    streams_fill(w->seed, 0, STREAM_ARRIVAL_COUNT, client, round, 0, w->words, 2 * (uint64_t)most);
    for (uint32_t k = 0; k < most; ++k)
        n += osafl_uniform(w->words + 2 * (size_t)k) < probability;
    return n;
}

/* Asks the policy and checks its answer; marks in w->leaves who goes. */
static osafl_status select_leaving(struct world *w, uint32_t client, uint32_t round, uint32_t n,
                                   const struct instance *deletion, char *message)
{
    const uint32_t stored = (uint32_t)w->population.samples[client];
    const osafl_store_view view = {
        .struct_size = sizeof view,
        .client = client,
        .round = round,
        .labels = w->labels,
        .stored = stored,
        .arrived = n,
        .label = w->view_label,
        .age = w->view_age,
    };
    const osafl_deletion_vt *const vt =
        (const osafl_deletion_vt *)(const void *)deletion->plugin->vtable;
    struct osafl_call call;
    memset(w->position, 0xff, n * sizeof *w->position); /* an unwritten place is out of range */
    call_begin(&call, deletion, client, round);
    const osafl_status status =
        call_end(&call, vt->select(deletion->self, &call, &view, n, w->position));
    char where[256];
    call_describe(&call, where, sizeof where);
    if (status != OSAFL_OK)
        return message_fail(message, status, "%s: %s", where, call.message);
    memset(w->leaves, 0, stored + n);
    for (uint32_t k = 0; k < n; ++k) {
        const uint32_t position = w->position[k];
        if (position >= stored + n || w->leaves[position])
            return message_fail(
                message, OSAFL_E_BUG,
                "%s: select() must name %" PRIu32 " distinct positions below %" PRIu32
                ", but its answer %" PRIu32 " is %" PRIu32 "%s; this is a bug of the plugin",
                where, n, stored + n, k, position, position < stored + n ? " once more" : "");
        w->leaves[position] = 1;
    }
    return OSAFL_OK;
}

/* Those that stay keep their order; the arrivals follow in theirs. */
static void replace_samples(struct world *w, uint32_t client, uint32_t round, uint32_t n)
{
    const uint32_t stored = (uint32_t)w->population.samples[client];
    uint64_t *const sample = w->sample + w->offset[client];
    int32_t *const label = w->label + w->offset[client];
    uint32_t *const born = w->born + w->offset[client];
    uint32_t *const histogram = w->histogram + (size_t)client * w->labels;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < stored + n; ++k) {
        if (k >= stored)
            ++histogram[w->view_label[k]];
        if (w->leaves[k]) {
            --histogram[w->view_label[k]];
            continue;
        }
        sample[kept] = k < stored ? sample[k] : w->arrived[k - stored];
        born[kept] = k < stored ? born[k] : round + 1;
        label[kept] = w->view_label[k];
        ++kept;
    }
    assert(kept == stored);
}

static osafl_status advance_client(struct world *w, uint32_t client, uint32_t round,
                                   const struct instance *deletion, char *message)
{
    if (w->settings->drift > 0.0)
        drift(w, client, round);
    const uint32_t n = count_arrivals(w, client, round);
    if (n == 0)
        return OSAFL_OK;
    const uint32_t stored = (uint32_t)w->population.samples[client];
    memcpy(w->view_label, w->label + w->offset[client], stored * sizeof *w->view_label);
    world_deal(w, client, STREAM_ARRIVAL_LABELS, round, n, w->arrived, w->view_label + stored);
    for (uint32_t k = 0; k < stored; ++k)
        w->view_age[k] = round + 1 - w->born[w->offset[client] + k];
    memset(w->view_age + stored, 0, n * sizeof *w->view_age);
    OSAFL_TRY(select_leaving(w, client, round, n, deletion, message));
    replace_samples(w, client, round, n);
    return OSAFL_OK;
}

osafl_status world_advance(struct world *w, uint32_t round, const struct instance *deletion,
                           char *message)
{
    assert(round == w->round);
    struct osafl_call call;
    osafl_status status = OSAFL_OK;
    call_begin(&call, w->dataset, OSAFL_NO_CLIENT, round);
    for (uint32_t u = 0; status == OSAFL_OK && u < w->population.clients; ++u)
        status = advance_client(w, u, round, deletion, message);
    w->round = round + 1;
    return world_end_call(&call, status, message);
}
