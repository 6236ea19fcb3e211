/* plugin_state.c - the state of a plugin's instance, in a section of a block of records. */
#include "plugin_state.h"

#include <string.h>

osafl_status instance_save(struct instance *i, struct record_writer *w, const char *section,
                           struct error *error)
{
    const osafl_lifecycle *life = i->plugin->vtable;
    osafl_writer *to = record_writer_section(w, section, life->state_version);
    if (life->save == NULL)
        return OSAFL_OK;
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
    osafl_status status = life->save(i->self, &c, to);
    /* A plugin may pass over the writer's refusal; the block is spoilt all the same. */
    if (status == OSAFL_OK)
        status = record_writer_status(w);
    if (status != OSAFL_OK && c.error.text[0] == '\0' && record_writer_problem(w)[0] != '\0')
        core_host.fail(&c, status, "%s", record_writer_problem(w));
    status = call_end(&c, status);
    if (status != OSAFL_OK)
        *error = c.error;
    return status;
}

osafl_status instance_load(struct instance *i, const struct record_set *s, const char *section,
                           struct error *error)
{
    struct record_reader r;
    OSAFL_TRY(record_reader_open(s, section, &r, error));
    const osafl_lifecycle *life = i->plugin->vtable;
    if (r.base.state_version > life->state_version)
        return error_set(error, OSAFL_E_STATE,
                         "section %s was saved by state version %u of %s, this one reads up to "
                         "%u",
                         section, (unsigned)r.base.state_version, i->plugin->name,
                         (unsigned)life->state_version);
    if (life->load == NULL) {
        if (record_reader_records(&r) == 0)
            return OSAFL_OK;
        return error_set(error, OSAFL_E_STATE, "section %s holds state, but %s keeps none", section,
                         i->plugin->name);
    }
    osafl_call c;
    call_begin(&c, i, OSAFL_NO_CLIENT, NO_ROUND);
    osafl_status status = life->load(i->self, &c, &r.base);
    if (status != OSAFL_OK && c.error.text[0] == '\0' && r.error.text[0] != '\0')
        core_host.fail(&c, status, "%s", r.error.text);
    status = call_end(&c, status);
    if (status != OSAFL_OK)
        *error = c.error;
    return status;
}
