/* theory_server.c - the server's step on other updates than those of the round. */
#include "theory_server.h"

#include <stdlib.h>

#include "engine_state.h"
#include "plugin/plugin_state.h"

#define SECTION "aggregator"

static void forget(struct theory_server *t)
{
    record_set_destroy(t->state);
    record_writer_destroy(t->writer);
    t->state = NULL;
    t->writer = NULL;
}

osafl_status theory_server_keep(struct theory_server *t, const struct engine *e,
                                struct error *error)
{
    const void *data;
    size_t size;
    forget(t);
    if (t->update == NULL)
        t->update = calloc(e->trainees, sizeof *t->update);
    t->writer = record_writer_create();
    if (t->update == NULL || t->writer == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the state of the aggregator");
    if (e->kept.n > 0)
        return OSAFL_OK;
    struct instance *aggregator = &e->session->instance[OSAFL_KIND_AGGREGATOR];
    OSAFL_TRY(instance_save(aggregator, t->writer, SECTION, error));
    OSAFL_TRY(record_writer_finish(t->writer, &data, &size, error));
    return record_set_open(data, size, &t->state, error);
}

osafl_status theory_server_step(const struct theory_server *t, const struct engine *e,
                                const struct train_result *result, float *w, struct error *error)
{
    const struct session *s = e->session;
    const struct instance *original = &s->instance[OSAFL_KIND_AGGREGATOR];
    struct host_context quiet = *original->context; /* the original has said it */
    struct instance copy = {.plugin = original->plugin,
                            .host = original->host,
                            .context = &quiet,
                            .config = original->config};
    struct kept_updates kept = {0};
    uint32_t n = 0;
    quiet.log_level = OSAFL_LOG_ERROR;
    for (uint32_t k = 0; k < e->n_tasks; k++) {
        if (result[k].code != NULL)
            t->update[n++] = engine_client_update(e, k, &result[k]);
    }
    updates_sort(t->update, n);
    OSAFL_TRY(instance_create(&copy, &s->facts, error));
    osafl_status status = instance_load(&copy, t->state, SECTION, error);
    if (status == OSAFL_OK)
        status = engine_aggregate(e, &copy, t->update, n, &kept, w, error);
    kept_updates_free(&kept);
    instance_destroy(&copy);
    return status;
}

void theory_server_free(struct theory_server *t)
{
    forget(t);
    free(t->update);
    t->update = NULL;
}
