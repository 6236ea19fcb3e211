/* ranks.c - the processes of one run, and what they tell each other. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

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
    uint32_t exchanges; /* so far */
    struct ranks_cost cost;
    bool is_over;             /* a rank has failed, and all know it */
    bool stopping;            /* a rank was asked to stop, and all know it */
    struct rank_piece *piece; /* [count], as are the next two */
    const void **data;
    uint64_t *bytes;
};

/* Comes first in every piece; the reason of a failure follows, then what is shared. */
struct head {
    uint64_t hash;     /* of the piece, with 0 here */
    uint64_t bytes;    /* of the piece */
    uint32_t rank;     /* that gives it */
    uint32_t exchange; /* counted from 1 */
    int32_t status;
    int32_t stop_signal;
    uint32_t reason_bytes;
    uint32_t reserved;
};

struct said {
    struct head head;
    char reason[ERROR_BYTES];
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

static uint64_t hash_piece(struct head head, const void *rest, size_t bytes, const void *more,
                           size_t more_bytes)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    head.hash = 0;
    XXH3_64bits_update(&state, &head, sizeof head);
    XXH3_64bits_update(&state, rest, bytes);
    XXH3_64bits_update(&state, more, more_bytes);
    return XXH3_64bits_digest(&state);
}

/* What is wrong with the piece of a rank as it came; NULL: nothing. */
static const char *find_damage(const struct ranks *r, uint32_t rank)
{
    const uint8_t *data = r->data[rank];
    const uint64_t bytes = r->bytes[rank];
    struct head head;
    if (data == NULL || bytes < sizeof head)
        return "no whole piece";
    memcpy(&head, data, sizeof head);
    if (head.rank != rank)
        return "the piece of another rank";
    if (head.exchange != r->exchanges)
        return "the piece of another exchange";
    if (head.bytes != bytes)
        return "a piece of another length";
    if (head.reason_bytes > bytes - sizeof head ||
        head.hash != hash_piece(head, data + sizeof head, (size_t)bytes - sizeof head, NULL, 0))
        return "a piece with other bytes than it was given";
    return NULL;
}

/* A rank that its transport deceives can neither go on nor tell the others, which find out that it
 * is gone. */
static _Noreturn void end_deceived(const struct ranks *r, uint32_t rank, const char *what)
{
    char who[256];
    ranks_describe(r, rank, who, sizeof who);
    fprintf(stderr,
            "osafl: transport %s is at fault: exchange %u brought rank %u %s as that of %s; what "
            "was saved is whole, and the same command with another transport goes on\n",
            r->name, r->exchanges, r->own, what, who);
    _exit(EXIT_RUN_FAILED);
}

/* Gives what is said and the bytes to one rank or to all. */
static osafl_status exchange(struct ranks *r, struct said *said, const void *own, size_t bytes,
                             uint32_t to, struct error *error)
{
    const double begun = now_s();
    struct head *head = &said->head;
    head->rank = r->own;
    head->exchange = ++r->exchanges;
    head->bytes = sizeof *head + head->reason_bytes + bytes;
    head->hash = hash_piece(*head, said->reason, head->reason_bytes, own, bytes);
    const osafl_status status = r->transport->exchange(head, sizeof *head + head->reason_bytes, own,
                                                       bytes, to, r->data, r->bytes);
    if (status != OSAFL_OK)
        return error_set(error, status, "transport %s has failed in exchange %u", r->name,
                         r->exchanges);
    for (uint32_t rank = 0; rank < r->count && (to == OSAFL_ALL_RANKS || to == r->own); rank++) {
        const char *damage = find_damage(r, rank);
        if (damage != NULL)
            end_deceived(r, rank, damage);
    }
    r->cost.seconds += now_s() - begun;
    for (uint32_t rank = 0; rank < r->count; rank++)
        r->cost.bytes += rank != r->own ? r->bytes[rank] : 0;
    return OSAFL_OK;
}

/* Takes the head off a piece that has come whole. */
static struct head read_head(const struct ranks *r, uint32_t rank, struct rank_piece *reason,
                             struct rank_piece *rest)
{
    struct head head;
    const uint8_t *data = r->data[rank];
    memcpy(&head, data, sizeof head);
    *reason = (struct rank_piece){data + sizeof head, head.reason_bytes};
    *rest = (struct rank_piece){data + sizeof head + head.reason_bytes,
                                (size_t)r->bytes[rank] - sizeof head - head.reason_bytes};
    return head;
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
    struct said said = {.head = {.status = status, .stop_signal = stop_signal()}};
    if (r == NULL || r->is_over)
        return status;
    if (status != OSAFL_OK) {
        memcpy(said.reason, error->text, sizeof said.reason);
        said.head.reason_bytes = (uint32_t)strnlen(said.reason, sizeof said.reason);
    }
    OSAFL_TRY(exchange(r, &said, own, bytes, OSAFL_ALL_RANKS, error));
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
    struct said said = {.head = {.status = OSAFL_OK}};
    struct rank_piece none;
    OSAFL_TRY(exchange(r, &said, own, bytes, 0, error));
    for (uint32_t rank = 0; rank < r->count; rank++) {
        r->piece[rank] = (struct rank_piece){0};
        if (ranks_lead(r))
            (void)read_head(r, rank, &none, &r->piece[rank]);
    }
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
    const bool is_usual = strcmp(name, kind_default(OSAFL_KIND_TRANSPORT)) == 0;
    if (!is_usual || plugin_path_find(loader_path(wish->loader), "transport", name, real) != NULL) {
        const struct loaded_plugin *loaded =
            loader_load(wish->loader, OSAFL_KIND_TRANSPORT, name, d, NULL, 0);
        return loaded != NULL ? (const void *)loaded->plugin->vtable : NULL;
    }
    diagnostics_error(d, NULL, 0,
                      "there is no transport \"%.64s\" in the folders of plugins: " REMEDY
                      ", then build osafl again%s%s%s",
                      name, name, launch->variable != NULL ? "; " : "",
                      launch->variable != NULL ? launch->variable : "",
                      launch->variable != NULL
                          ? " says that several processes were started: start one, or give "
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
        return error_set(
            error, OSAFL_E_CONFIG,
            "--ranks %u, and transport %s (%s) has %u: give that number to what starts "
            "its ranks",
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
    const char *text = place.text != NULL ? place.text : "it does not say why";
    if (status != OSAFL_OK)
        return error_set(error, status, "transport %s: %s", r->name, text);
    if (place.rank >= place.ranks || place.text == NULL || r->transport->host_name(0) == NULL)
        return error_set(error, OSAFL_E_BUG,
                         "transport %s breaks the interface in start(): rank %u of %u, called "
                         "\"%s\"; osafl plugin check tells more",
                         r->name, place.rank, place.ranks, text);
    r->own = place.rank;
    r->count = place.ranks;
    /* It cannot tell the others, which end when this process does. */
    if (!has_room(r))
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    status = require_all(r, wish, launch, text, error);
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
