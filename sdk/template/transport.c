/* @name@.c - a transport: how do the processes of one run exchange what they computed?
 *
 * As generated all ranks are processes on this computer, which start() makes:
 *     osafl run FILE --transport @name@ --ranks 3
 * Rank 0 is the process that was started.  It has a socket to each of the others, collects their
 * pieces, and gives them to whoever wants them.  When a process ends, its sockets close, and the
 * others end as well; one that hangs is not found out, as it gives no signs of life.
 *
 * To make it yours, change start() and the two functions that move bytes; osafl/transport.h tells
 * more. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <osafl/transport.h>

/* One instance in a process. */
static struct {
    uint32_t rank;
    uint32_t ranks;
    int lost_status;
    int *socket;          /* [ranks]: of rank 0 to each other one; of others socket[0] alone */
    pid_t *process;       /* [ranks]: of rank 0, the processes of the others */
    unsigned char **data; /* [ranks]: the pieces of the last exchange */
    uint64_t *bytes;      /* [ranks] */
} own;

static _Noreturn void end(const char *why)
{
    fprintf(stderr, "osafl: rank %u: %s; what was saved is whole, and the same command goes on\n",
            (unsigned)own.rank, why);
    exit(own.lost_status);
}

/* ---- bytes --------------------------------------------------------------------------------- */

static void give(int to, const void *data, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t n =
            send(to, (const unsigned char *)data + done, (size_t)(bytes - done), MSG_NOSIGNAL);
        if (n <= 0)
            end("another rank is gone");
        done += (uint64_t)n;
    }
}

static void take(int from, void *data, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t n = recv(from, (unsigned char *)data + done, (size_t)(bytes - done), 0);
        if (n <= 0)
            end("another rank is gone");
        done += (uint64_t)n;
    }
}

/* Makes room for the piece of a rank. */
static unsigned char *reserve(uint32_t rank, uint64_t bytes)
{
    free(own.data[rank]);
    own.data[rank] = malloc((size_t)bytes + 1);
    own.bytes[rank] = bytes;
    if (own.data[rank] == NULL)
        end("out of memory for an exchange");
    return own.data[rank];
}

/* A piece travels behind its length. */
static void give_piece(int to, uint32_t rank)
{
    give(to, &own.bytes[rank], sizeof own.bytes[rank]);
    give(to, own.data[rank], own.bytes[rank]);
}

static void take_piece(int from, uint32_t rank)
{
    uint64_t bytes;
    take(from, &bytes, sizeof bytes);
    take(from, reserve(rank, bytes), bytes);
}

/* ---- operations ---------------------------------------------------------------------------- */

/* Makes process r, which returns from here as rank r with a socket to rank 0. */
static bool start_rank(uint32_t r)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    fflush(NULL); /* else both processes would print it */
    const pid_t child = fork();
    if (child < 0)
        return false;
    if (child == 0) {
        for (uint32_t other = 1; other < r; other++)
            close(own.socket[other]);
        own.rank = r;
        own.socket[0] = ends[1];
        close(ends[0]);
        return true;
    }
    own.socket[r] = ends[0];
    own.process[r] = child;
    close(ends[1]);
    return true;
}

static osafl_status start(const osafl_transport_wish *wish, osafl_transport_place *place)
{
    own.ranks = wish->ranks > 0 ? wish->ranks : 1;
    own.lost_status = (int)wish->lost_status;
    own.socket = calloc(own.ranks, sizeof *own.socket);
    own.process = calloc(own.ranks, sizeof *own.process);
    own.data = calloc(own.ranks, sizeof *own.data);
    own.bytes = calloc(own.ranks, sizeof *own.bytes);
    place->text = "out of memory";
    if (own.socket == NULL || own.process == NULL || own.data == NULL || own.bytes == NULL)
        return OSAFL_E_NOMEM;
    for (uint32_t r = 1; r < own.ranks && own.rank == 0; r++) {
        if (!start_rank(r)) {
            place->text = strerror(errno);
            return OSAFL_E_IO;
        }
    }
    place->rank = own.rank;
    place->ranks = own.ranks;
    place->text = "processes of one computer";
    return OSAFL_OK;
}

static const char *host_name(uint32_t rank)
{
    (void)rank;
    return "this computer";
}

static bool receives(uint32_t rank, uint32_t to)
{
    return to == OSAFL_ALL_RANKS || to == rank;
}

/* Rank 0 collects all pieces and sends them on. */
static void share(uint32_t to)
{
    for (uint32_t r = 1; own.rank == 0 && r < own.ranks; r++)
        take_piece(own.socket[r], r);
    for (uint32_t r = 1; own.rank == 0 && r < own.ranks; r++) {
        for (uint32_t of = 0; of < own.ranks && receives(r, to); of++)
            give_piece(own.socket[r], of);
    }
    if (own.rank == 0)
        return;
    give_piece(own.socket[0], own.rank);
    for (uint32_t of = 0; of < own.ranks && receives(own.rank, to); of++)
        take_piece(own.socket[0], of);
}

static osafl_status exchange(const void *head, uint64_t head_bytes, const void *body,
                             uint64_t body_bytes, uint32_t to, const void **data, uint64_t *bytes)
{
    unsigned char *mine = reserve(own.rank, head_bytes + body_bytes);
    if (head_bytes > 0)
        memcpy(mine, head, (size_t)head_bytes);
    if (body_bytes > 0)
        memcpy(mine + head_bytes, body, (size_t)body_bytes);
    share(to);
    for (uint32_t of = 0; of < own.ranks; of++) {
        data[of] = own.data[of];
        bytes[of] = receives(own.rank, to) ? own.bytes[of] : 0;
    }
    return OSAFL_OK;
}

static void stop(void)
{
    reserve(own.rank, 0);
    share(OSAFL_ALL_RANKS); /* now all ranks are here */
    for (uint32_t r = 0; r < own.ranks; r++) {
        if ((r == 0) != (own.rank == 0))
            close(own.socket[r]);
        if (own.rank == 0 && r > 0)
            waitpid(own.process[r], NULL, 0);
        free(own.data[r]);
    }
    free(own.socket);
    free(own.process);
    free(own.data);
    free(own.bytes);
}

static const osafl_transport_vt vtable = {
    .life = {.struct_size = sizeof(osafl_transport_vt)},
    .start = start,
    .host_name = host_name,
    .exchange = exchange,
    .stop = stop,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_TRANSPORT,
    .name = "@name@",
    .version = "0.1.0",
    .summary = "The ranks are processes of one computer, made by --ranks",
    .license = "MIT",
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
