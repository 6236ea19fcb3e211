/* ranks.c - the processes of one run, and what they tell each other. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/exit_status.h"
#include "base/stop.h"
#include "launcher.h"
#include "loader.h"
#include "osafl/transport.h"
#include "plugin_file.h"
#include "plugin_path.h"

struct ranks {
    const char *name; /* of the transport */
    const osafl_transport_vt *transport;
    uint32_t own;
    uint32_t count;
    uint32_t threads;
    struct ranks_cost cost;
    bool is_over;             /* a rank has failed, and all know it */
    bool stopping;            /* a rank was asked to stop, and all know it */
    struct rank_piece *piece; /* [count], as are the next two */
    const void **data;
    uint64_t *bytes;
};

/* Comes first in every piece; the reason of a failure follows. */
struct head {
    int32_t status;
    int32_t stop_signal;
    uint32_t reason_bytes;
    uint32_t reserved;
};

uint32_t ranks_count(const struct ranks *r)
{
    return r != NULL ? r->count : 1;
}

uint32_t ranks_own(const struct ranks *r)
{
    return r != NULL ? r->own : 0;
}

uint32_t ranks_threads(const struct ranks *r)
{
    return r->threads;
}

struct ranks_cost ranks_cost(const struct ranks *r)
{
    return r->cost;
}

bool ranks_lead(const struct ranks *r)
{
    return ranks_own(r) == 0;
}

bool ranks_stopping(const struct ranks *r)
{
    return r != NULL ? r->stopping : stop_requested();
}

void ranks_describe(const struct ranks *r, uint32_t rank, char *out, size_t size)
{
    snprintf(out, size, "rank %u on %.200s", rank, r->transport->host_name(rank));
}

/* ---- sharing ------------------------------------------------------------------------------- */

/* Takes the head off a piece. */
static struct head read_head(const struct ranks *r, uint32_t rank, struct rank_piece *reason,
                             struct rank_piece *rest)
{
    struct head head = {.status = OSAFL_E_BUG};
    const uint8_t *data = r->data[rank];
    const uint64_t bytes = r->bytes[rank];
    *reason = *rest = (struct rank_piece){0};
    if (bytes < sizeof head)
        return head;
    memcpy(&head, data, sizeof head);
    if (head.reason_bytes > bytes - sizeof head)
        return head;
    *reason = (struct rank_piece){data + sizeof head, head.reason_bytes};
    *rest = (struct rank_piece){data + sizeof head + head.reason_bytes,
                                (size_t)bytes - sizeof head - head.reason_bytes};
    return head;
}

static osafl_status exchange(struct ranks *r, const void *head, size_t head_bytes, const void *own,
                             size_t bytes, uint32_t to, struct error *error)
{
    const double begun = now_s();
    const osafl_status status =
        r->transport->exchange(head, head_bytes, own, bytes, to, r->data, r->bytes);
    if (status != OSAFL_OK)
        return error_set(error, status, "transport %s has failed", r->name);
    r->cost.seconds += now_s() - begun;
    for (uint32_t rank = 0; rank < r->count; rank++)
        r->cost.bytes += rank != r->own ? r->bytes[rank] : 0;
    return OSAFL_OK;
}

/* What the heads say; fills r->piece. */
static osafl_status agree(struct ranks *r, struct error *error)
{
    osafl_status status = OSAFL_OK;
    for (uint32_t rank = 0; rank < r->count; rank++) {
        struct rank_piece reason;
        const struct head head = read_head(r, rank, &reason, &r->piece[rank]);
        if (head.stop_signal != 0) {
            r->stopping = true;
            stop_adopt(head.stop_signal);
        }
        if (status != OSAFL_OK || head.status == OSAFL_OK)
            continue;
        status = head.status;
        r->is_over = true;
        if (rank == r->own)
            continue;
        char who[256];
        ranks_describe(r, rank, who, sizeof who);
        error_set(error, status, "%s: %.*s", who, (int)reason.bytes, (const char *)reason.data);
    }
    return status;
}

osafl_status ranks_share(struct ranks *r, osafl_status status, const void *own, size_t bytes,
                         const struct rank_piece **all, struct error *error)
{
    struct {
        struct head head;
        char reason[ERROR_BYTES];
    } said = {.head = {.status = status, .stop_signal = stop_signal()}};
    if (r == NULL || r->is_over)
        return status;
    if (status != OSAFL_OK) {
        memcpy(said.reason, error->text, sizeof said.reason);
        said.head.reason_bytes = (uint32_t)strnlen(said.reason, sizeof said.reason);
    }
    OSAFL_TRY(exchange(r, &said, sizeof said.head + said.head.reason_bytes, own, bytes,
                       OSAFL_ALL_RANKS, error));
    if (all != NULL)
        *all = r->piece;
    return agree(r, error);
}

osafl_status ranks_collect(struct ranks *r, osafl_status status, const void *own, size_t bytes,
                           const struct rank_piece **all, struct error *error)
{
    OSAFL_TRY(ranks_share(r, status, NULL, 0, all, error));
    if (r == NULL)
        return OSAFL_OK;
    OSAFL_TRY(exchange(r, NULL, 0, own, bytes, 0, error));
    for (uint32_t rank = 0; rank < r->count; rank++)
        r->piece[rank] = (struct rank_piece){r->data[rank], (size_t)r->bytes[rank]};
    return OSAFL_OK;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* How to get a transport, with its name. */
#define REMEDY                                                                                     \
    "CMake builds transport/%s.so where it finds MPI (Debian: apt-get install libopenmpi-dev "     \
    "openmpi-bin)"

/* As the file of a plugin is checked. */
static osafl_status check_file(const char *path, struct error *error)
{
    bool group_writable = false;
    char hash[PLUGIN_HASH_BYTES];
    OSAFL_TRY(plugin_path_check(path, &group_writable, error));
    return plugin_file_check(path, hash, error);
}

static const osafl_transport_vt *find_transport(const struct ranks_wish *wish, const char *name,
                                                const struct launch *launch, struct diagnostics *d)
{
    char real[PLUGIN_PATH_BYTES] = "";
    if (plugin_name_is_valid(name) &&
        plugin_path_find(loader_path(wish->loader), "transport", name, real) != NULL) {
        const struct loaded_plugin *loaded =
            loader_load(wish->loader, OSAFL_KIND_TRANSPORT, name, d, NULL, 0);
        return loaded != NULL ? (const void *)loaded->plugin->vtable : NULL;
    }
    diagnostics_error(
        d, NULL, 0,
        "there is no transport \"%.64s\" in the folders of plugins: " REMEDY
        ", then build osafl again%s%s%s",
        name, kind_default(OSAFL_KIND_TRANSPORT), launch->variable != NULL ? "; " : "",
        launch->variable != NULL ? launch->variable : "",
        launch->variable != NULL ? " says that several processes were started: start one, or give "
                                   "--transport none for runs that are independent of each other"
                                 : "");
    return NULL;
}

void ranks_print(const struct plugin_path *path, FILE *to)
{
    struct error error = {0};
    char real[PLUGIN_PATH_BYTES] = "";
    const char *name = kind_default(OSAFL_KIND_TRANSPORT);
    if (plugin_path_find(path, "transport", name, real) == NULL)
        fprintf(to, "none, as no folder of plugins has transport/%s.so: " REMEDY "\n", name, name);
    else if (check_file(real, &error) != OSAFL_OK)
        fprintf(to, "none: %s %s\n", real, error.text);
    else
        fprintf(to, "by transport %s, %s\n", name, real);
}

static bool has_room(struct ranks *r)
{
    r->piece = calloc(r->count, sizeof *r->piece);
    r->data = calloc(r->count, sizeof *r->data);
    r->bytes = calloc(r->count, sizeof *r->bytes);
    return r->piece != NULL && r->data != NULL && r->bytes != NULL;
}

static void free_ranks(struct ranks *r)
{
    free(r->piece);
    free(r->data);
    free(r->bytes);
    free(r);
}

/* Processes that do not know of each other would all write one folder. */
static osafl_status require_all(const struct ranks *r, const struct ranks_wish *wish,
                                const struct launch *launch, const char *library,
                                struct error *error)
{
    if (wish->ranks != 0 && wish->ranks != r->count)
        return error_set(error, OSAFL_E_CONFIG,
                         "--ranks %u, and transport %s (%s) has %u: give its launcher that number",
                         wish->ranks, r->name, library, r->count);
    if (launch->processes == 1 || launch->processes == r->count)
        return OSAFL_OK;
    return error_set(
        error, OSAFL_E_CONFIG,
        "%s says that %u processes were started together, and MPI (%s) has %u: each would run the "
        "whole experiment alone; start them by the launcher of this MPI, as in srun --mpi=pmix "
        "(srun --mpi=list) or mpirun, or give --transport none for runs that are independent of "
        "each other",
        launch->variable, launch->processes, library, r->count);
}

/* The threads of all ranks, unless one of them has failed. */
static osafl_status add_threads(struct ranks *r, osafl_status status, uint32_t own,
                                struct error *error)
{
    const struct rank_piece *all = NULL;
    OSAFL_TRY(ranks_share(r, status, &own, sizeof own, &all, error));
    for (uint32_t rank = 0; rank < r->count; rank++) {
        uint32_t threads = 1;
        if (all[rank].bytes == sizeof threads)
            memcpy(&threads, all[rank].data, sizeof threads);
        r->threads += threads;
    }
    return OSAFL_OK;
}

static osafl_status start(struct ranks *r, const struct ranks_wish *wish,
                          const struct launch *launch, struct error *error)
{
    const osafl_transport_wish how = {.struct_size = sizeof how,
                                      .lost_status = EXIT_INTERRUPTED,
                                      .limit_s = wish->limit_s,
                                      .ranks = wish->ranks};
    osafl_transport_place place = {.struct_size = sizeof place};
    osafl_status status = r->transport->start(&how, &place);
    if (status != OSAFL_OK)
        return error_set(error, status, "transport %s: %s", r->name, place.text);
    r->own = place.rank;
    r->count = place.ranks;
    /* It cannot tell the others, which end when this process does. */
    if (!has_room(r))
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    status = require_all(r, wish, launch, place.text, error);
    status = add_threads(r, status, wish->threads, error);
    if (status != OSAFL_OK)
        r->transport->stop();
    return status;
}

bool ranks_open(const struct ranks_wish *wish, struct diagnostics *d, struct ranks **out)
{
    const struct launch launch = launch_read();
    const char *name = wish->transport;
    struct error error;
    *out = NULL;
    if (name == NULL)
        name = launch.processes > 1 ? kind_default(OSAFL_KIND_TRANSPORT) : "none";
    if (strcmp(name, "none") == 0)
        return true;
    struct ranks *r = calloc(1, sizeof *r);
    if (r == NULL) {
        diagnostics_no_memory(d);
        return false;
    }
    r->name = name;
    r->transport = find_transport(wish, name, &launch, d);
    const osafl_status status = r->transport != NULL ? start(r, wish, &launch, &error) : OSAFL_OK;
    if (r->transport != NULL && status == OSAFL_OK) {
        *out = r;
        return true;
    }
    if (status != OSAFL_OK)
        diagnostics_failure(d, status, error.text);
    free_ranks(r);
    return false;
}

osafl_status ranks_close(struct ranks *r, osafl_status status, struct error *error)
{
    if (r == NULL)
        return status;
    const osafl_status all = ranks_share(r, status, NULL, 0, NULL, error);
    r->transport->stop();
    free_ranks(r);
    return all;
}
