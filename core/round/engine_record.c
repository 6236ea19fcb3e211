/* engine_record.c - checkpoint records of an engine.
 *
 * Sections: "engine" (round, model, kept updates), "world", "history", "clients" (what optimizer
 * and quantizer keep of the clients that have trained, where they keep anything), "late" (updates
 * under way, where updates can be late), "mixes" (those so far, where they are measured), and one
 * for every plugin, named "KIND/NAME". */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/finite.h"
#include "engine_state.h"
#include "plugin/plugin_state.h"

/* Raise when the records below change. */
#define ENGINE_STATE_VERSION 4
#define LATE_STATE_VERSION 5 /* of the section "late" */

#define KEY_BYTES 64

static void section_of(const struct instance *i, char *name)
{
    snprintf(name, RECORD_NAME_BYTES, "%s/%s", kind_name(i->plugin->kind), i->plugin->name);
}

/* One record for each client that has trained. */
static void client_key(char *key, uint64_t client)
{
    snprintf(key, KEY_BYTES, "client.%llu", (unsigned long long)client);
}

static osafl_status save_clients(const struct engine *e, osafl_writer *w)
{
    const uint64_t floats = client_state_floats(e->session);
    uint64_t *trained = calloc((size_t)e->trainees + 1, sizeof *trained);
    uint64_t n = 0;
    if (trained == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t u = 0; floats > 0 && u < e->trainees; u++)
        if (e->state[u].floats != NULL)
            trained[n++] = u;
    osafl_status status = w->u64(w, "trained", trained, n);
    for (uint64_t j = 0; status == OSAFL_OK && j < n; j++) {
        char key[KEY_BYTES];
        client_key(key, trained[j]);
        status = w->f32(w, key, e->state[trained[j]].floats, floats);
    }
    free(trained);
    return status;
}

static osafl_status save_late(const struct engine *e, osafl_writer *w)
{
    const uint64_t clients = e->session->facts.clients;
    uint64_t *free_from = calloc((size_t)clients + 1, sizeof *free_from);
    if (free_from == NULL)
        return OSAFL_E_NOMEM;
    for (uint64_t u = 0; u < clients; u++)
        free_from[u] = e->participation.free_from[u];
    const osafl_status status = w->u64(w, "free_from", free_from, clients);
    free(free_from);
    return status == OSAFL_OK ? late_updates_save(&e->late, w) : status;
}

static osafl_status save_core(const struct engine *e, struct record_writer *to)
{
    const uint64_t round = e->round;
    osafl_writer *w = record_writer_section(to, "engine", ENGINE_STATE_VERSION);
    OSAFL_TRY(w->u64(w, "round", &round, 1));
    OSAFL_TRY(w->f32(w, "model", e->w, e->session->codec.dim));
    OSAFL_TRY(kept_updates_save(&e->kept, w));
    w = record_writer_section(to, "clients", ENGINE_STATE_VERSION);
    OSAFL_TRY(save_clients(e, w));
    w = record_writer_section(to, "history", ENGINE_STATE_VERSION);
    OSAFL_TRY(history_save(&e->participation.history, w));
    if (e->participation.carries)
        OSAFL_TRY(save_late(e, record_writer_section(to, "late", LATE_STATE_VERSION)));
    if (e->mixes.mix != NULL)
        OSAFL_TRY(
            mix_measures_save(&e->mixes, record_writer_section(to, "mixes", ENGINE_STATE_VERSION)));
    return world_save(e->world, record_writer_section(to, "world", ENGINE_STATE_VERSION));
}

osafl_status engine_save(const struct engine *e, struct record_writer *to, struct error *error)
{
    const osafl_status status = save_core(e, to);
    if (status != OSAFL_OK) {
        const char *why = record_writer_problem(to);
        return error_set(error, status, "cannot make a checkpoint: %s",
                         why[0] != '\0' ? why : "out of memory");
    }
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        struct instance *i = &e->session->instance[kind];
        char section[RECORD_NAME_BYTES];
        if (i->plugin == NULL)
            continue;
        section_of(i, section);
        OSAFL_TRY(instance_save(i, to, section, error));
    }
    return OSAFL_OK;
}

/* ---- loading ------------------------------------------------------------------------------- */

static osafl_status damaged(struct error *error, const char *what)
{
    return error_set(error, OSAFL_E_STATE, "the checkpoint is damaged: %s", what);
}

/* `what` could not be read: the reader says why, or it is the state itself, or memory. */
static osafl_status unread(const struct record_reader *r, osafl_status status, const char *what,
                           struct error *error)
{
    const char *why = status == OSAFL_E_NOMEM ? "out of memory" : "it is damaged";
    return error_set(error, status, "%s: %s", what, r->error.text[0] != '\0' ? r->error.text : why);
}

/* Opens a section of the core and checks its version. */
static osafl_status open_section(const struct record_set *from, const char *name, unsigned version,
                                 struct record_reader *r, struct error *error)
{
    OSAFL_TRY(record_reader_open(from, name, r, error));
    if (r->base.state_version == version)
        return OSAFL_OK;
    return error_set(error, OSAFL_E_STATE,
                     "the checkpoint has version %u of the section \"%s\" and this program "
                     "reads version %u",
                     r->base.state_version, name, version);
}

static osafl_status read_client(struct engine *e, struct record_reader *r, uint32_t client)
{
    struct client_state *state = &e->state[client];
    const uint64_t floats = client_state_floats(e->session);
    char key[KEY_BYTES];
    if (!client_state_create(e->session, state))
        return OSAFL_E_NOMEM;
    client_key(key, client);
    OSAFL_TRY(r->base.f32(&r->base, key, state->floats, floats));
    return all_finite(state->floats, floats) ? OSAFL_OK : OSAFL_E_STATE;
}

static osafl_status load_clients(struct engine *e, const struct record_set *from,
                                 struct error *error)
{
    struct record_reader r;
    uint64_t n = 0;
    OSAFL_TRY(open_section(from, "clients", ENGINE_STATE_VERSION, &r, error));
    osafl_status status = r.base.count(&r.base, "trained", &n);
    const uint32_t most = client_state_floats(e->session) > 0 ? e->trainees : 0;
    if (status == OSAFL_OK && n > most)
        return damaged(error, "more clients have a state than can");
    uint64_t *trained = calloc((size_t)e->trainees + 1, sizeof *trained);
    if (trained == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for a checkpoint");
    if (status == OSAFL_OK)
        status = r.base.u64(&r.base, "trained", trained, n);
    for (uint64_t j = 0; status == OSAFL_OK && j < n; j++) {
        const bool known = trained[j] < e->trainees && e->state[trained[j]].floats == NULL;
        status = known ? read_client(e, &r, (uint32_t)trained[j]) : OSAFL_E_STATE;
    }
    free(trained);
    return status == OSAFL_OK ? OSAFL_OK : unread(&r, status, "the state of the clients", error);
}

/* What the reader says serves where the call has no message of its own. */
static osafl_status tell_reader(osafl_call *c, const struct record_reader *r, osafl_status status)
{
    if (status != OSAFL_OK && r->error.text[0] != '\0' && c->error.text[0] == '\0')
        status = core_host.fail(c, status, "%s", r->error.text);
    return status;
}

static osafl_status load_kept(struct engine *e, struct record_reader *r, struct error *error)
{
    osafl_call c;
    call_begin(&c, session_uplink(e->session), OSAFL_NO_CLIENT, e->round);
    const osafl_status status = kept_updates_load(&e->kept, &e->session->codec, &c, &r->base);
    return call_end_named(&c, tell_reader(&c, r, status), error);
}

static osafl_status read_free_from(struct participation *p, osafl_reader *r)
{
    const uint64_t clients = p->session->facts.clients;
    uint64_t *free_from = calloc((size_t)clients + 1, sizeof *free_from);
    osafl_status status = free_from != NULL ? OSAFL_OK : OSAFL_E_NOMEM;
    if (status == OSAFL_OK)
        status = r->u64(r, "free_from", free_from, clients);
    for (uint64_t u = 0; status == OSAFL_OK && u < clients; u++) {
        if (free_from[u] > UINT32_MAX)
            status = OSAFL_E_STATE;
        p->free_from[u] = (uint32_t)free_from[u];
    }
    free(free_from);
    return status;
}

static osafl_status load_late(struct engine *e, const struct record_set *from, struct error *error)
{
    struct record_reader r;
    if (!e->participation.carries)
        return OSAFL_OK;
    OSAFL_TRY(open_section(from, "late", LATE_STATE_VERSION, &r, error));
    osafl_call c;
    call_begin(&c, session_uplink(e->session), OSAFL_NO_CLIENT, e->round);
    osafl_status status = read_free_from(&e->participation, &r.base);
    const struct late_bounds bounds = {
        .round = e->round,
        .clients = e->session->facts.clients,
        .max_staleness = e->session->aggregator.max_staleness,
        .free_from = e->participation.free_from,
        .has_codes = e->session->experiment->training.enabled,
    };
    if (status == OSAFL_OK)
        status = late_updates_load(&e->late, &bounds, &e->session->codec, &c, &r.base);
    return call_end_named(&c, tell_reader(&c, &r, status), error);
}

static osafl_status load_mixes(struct engine *e, const struct record_set *from, struct error *error)
{
    struct record_reader r;
    if (e->mixes.mix == NULL)
        return OSAFL_OK;
    OSAFL_TRY(open_section(from, "mixes", ENGINE_STATE_VERSION, &r, error));
    osafl_status status = mix_measures_load(&e->mixes, &r.base);
    if (status == OSAFL_OK && e->mixes.n > e->round)
        status = OSAFL_E_STATE;
    return status == OSAFL_OK ? OSAFL_OK : unread(&r, status, "the mixes so far", error);
}

static osafl_status load_core(struct engine *e, const struct record_set *from, struct error *error)
{
    struct record_reader r;
    uint64_t round = 0;
    OSAFL_TRY(open_section(from, "engine", ENGINE_STATE_VERSION, &r, error));
    osafl_status status = r.base.u64(&r.base, "round", &round, 1);
    if (status == OSAFL_OK)
        status = r.base.f32(&r.base, "model", e->w, e->session->codec.dim);
    if (status != OSAFL_OK)
        return error_set(error, status, "%s", r.error.text);
    if (round > e->session->facts.rounds)
        return damaged(error, "it stands after the last round");
    if (!all_finite(e->w, e->session->codec.dim))
        return damaged(error, "a parameter of the model is not finite");
    e->round = (uint32_t)round;
    OSAFL_TRY(load_kept(e, &r, error));
    OSAFL_TRY(open_section(from, "world", ENGINE_STATE_VERSION, &r, error));
    OSAFL_TRY(world_load(e->world, &r, error));
    if (world_round(e->world) != e->round)
        return damaged(error, "model and stores are of different rounds");
    OSAFL_TRY(open_section(from, "history", ENGINE_STATE_VERSION, &r, error));
    status = history_load(&e->participation.history, e->round, &r.base);
    return status == OSAFL_OK ? OSAFL_OK : unread(&r, status, "the history of the clients", error);
}

osafl_status engine_load(struct engine *e, const struct record_set *from, struct error *error)
{
    assert(e->round == 0);
    OSAFL_TRY(load_core(e, from, error));
    OSAFL_TRY(load_clients(e, from, error));
    OSAFL_TRY(load_late(e, from, error));
    OSAFL_TRY(load_mixes(e, from, error));
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        struct instance *i = &e->session->instance[kind];
        char section[RECORD_NAME_BYTES];
        if (i->plugin == NULL)
            continue;
        section_of(i, section);
        OSAFL_TRY(instance_load(i, from, section, error));
    }
    return OSAFL_OK;
}
