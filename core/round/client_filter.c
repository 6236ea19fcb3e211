/* client_filter.c - what the filter does to a client's labels and its update. */
#include "client_filter.h"

#include <inttypes.h>

#include "base/finite.h"
#include "base/text.h"

/* More clients are counted, not listed. */
#define CLIENTS_SHOWN 50

static const struct instance *filter_of(const struct session *s)
{
    return &s->instance[OSAFL_KIND_FILTER];
}

bool filter_touches(const struct session *s, uint32_t client)
{
    const osafl_filter_vt *vt = session_filter(s);
    if (vt->labels == NULL && vt->update == NULL)
        return false;
    if (vt->touches == NULL)
        return true;
    const struct instance *before = operation_begin(filter_of(s));
    const bool touches = vt->touches(filter_of(s)->self, client) != 0;
    operation_end(before);
    return touches;
}

osafl_status filter_labels(const struct session *s, uint32_t client, uint32_t round, uint32_t n,
                           const uint64_t *sample, int32_t *label, struct error *error)
{
    const osafl_filter_vt *vt = session_filter(s);
    if (vt->labels == NULL || !filter_touches(s, client))
        return OSAFL_OK;
    osafl_call c;
    call_begin(&c, filter_of(s), client, round);
    osafl_status status = vt->labels(filter_of(s)->self, &c, client, n, sample, label);
    for (uint32_t k = 0; status == OSAFL_OK && k < n; k++)
        if (label[k] < 0 || (uint32_t)label[k] >= s->dataset.labels)
            status = core_host.fail(&c, OSAFL_E_BUG,
                                    "labels() gives a sample the label %" PRId32 " of %" PRIu32,
                                    label[k], s->dataset.labels);
    return call_end_named(&c, status, error);
}

osafl_status filter_update(const struct session *s, uint32_t client, uint32_t round, const float *w,
                           float *update, struct error *error)
{
    const osafl_filter_vt *vt = session_filter(s);
    if (vt->update == NULL || !filter_touches(s, client))
        return OSAFL_OK;
    osafl_call c;
    call_begin(&c, filter_of(s), client, round);
    osafl_status status = vt->update(filter_of(s)->self, &c, client, round, w, update);
    /* It was finite before: no learning rate is to blame. */
    if (status == OSAFL_OK && !all_finite(update, s->codec.dim))
        status =
            core_host.fail(&c, OSAFL_E_NUMERIC,
                           "the filter makes an update that is not finite; lower its settings");
    return call_end_named(&c, status, error);
}

osafl_status filter_end_round(const struct session *s, uint32_t round, uint32_t n, uint32_t asked,
                              struct error *error)
{
    const osafl_filter_vt *vt = session_filter(s);
    if (vt->end_round == NULL)
        return OSAFL_OK;
    osafl_call c;
    call_begin(&c, filter_of(s), OSAFL_NO_CLIENT, round);
    return call_end_named(&c, vt->end_round(filter_of(s)->self, &c, round, n, asked), error);
}

void filter_print(const struct session *s, FILE *to)
{
    const osafl_filter_vt *vt = session_filter(s);
    const char *name = filter_of(s)->plugin->name;
    const uint32_t clients = s->facts.clients;
    uint32_t touched = 0;
    if (vt->labels == NULL && vt->update == NULL)
        return;
    for (uint32_t u = 0; u < clients; u++)
        touched += filter_touches(s, u);
    if (touched == 0) {
        fprintf(to, "warning: filter/%s touches none of the %" PRIu32 " client%s\n", name, clients,
                text_plural(clients));
        return;
    }
    fprintf(to, "%-22s %s touches %" PRIu32 " of %" PRIu32 " client%s:", "filter", name, touched,
            clients, text_plural(clients));
    uint32_t shown = 0;
    for (uint32_t u = 0; u < clients && shown < CLIENTS_SHOWN; u++)
        if (filter_touches(s, u)) {
            fprintf(to, " %" PRIu32, u);
            shown++;
        }
    fputs(shown < touched ? " ...\n" : "\n", to);
}
