/* mpi.c - transport over MPI: the ranks of a run are those of MPI_COMM_WORLD.
 *
 * One thread makes all calls of MPI, from MPI_Init_thread() to MPI_Finalize().  While the others
 * compute it tells the next rank every second that this one lives, and listens to the one before;
 * an exchange is nonblocking and polled meanwhile.  Bytes are gathered in the order of the ranks,
 * and nothing is ever summed here: the standard does not promise an order of sums. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

#include "osafl/transport.h"

/* Counts of MPI are int: pieces travel in whole pages. */
#define PAGE 4096
#define MOST_PAUSE_NS 1000000

enum step { STARTING, WAITING, EXCHANGING, LEAVING, ENDED };
enum { ALIVE, GOODBYE };

/* What is exchanged. */
struct piece {
    const void *head;
    uint64_t head_bytes;
    const void *body;
    uint64_t body_bytes;
    uint32_t to;
};

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum step step; /* under lock, as are the next two */
    struct piece piece;
    osafl_status status;

    int rank;
    int ranks;
    int lost_status;
    double limit_s;
    char why[MPI_MAX_ERROR_STRING];
    char library[128];
    char *name; /* [ranks][MPI_MAX_PROCESSOR_NAME] */

    /* Of the thread of MPI. */
    MPI_Comm data;
    MPI_Comm life;
    MPI_Datatype page;
    uint64_t *bytes; /* [ranks] */
    int *pages;      /* [ranks], and where they begin */
    int *begin;
    unsigned char *memory;
    uint64_t capacity; /* pages */
    MPI_Request sent;
    MPI_Request heard;
    int told;     /* ALIVE or GOODBYE, as it was sent last */
    int arriving; /* what MPI writes into */
    int tells;    /* what the rank before said last */
    double told_s;
    double heard_s;
    double looked_s;
} mpi = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *host_name(uint32_t rank)
{
    return mpi.name + (size_t)rank * MPI_MAX_PROCESSOR_NAME;
}

static int before(void)
{
    return (mpi.rank + mpi.ranks - 1) % mpi.ranks;
}

static void end_all(int status)
{
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, status);
    _Exit(status);
}

static void require(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr,
            "osafl: rank %d on %s: %s failed: %s; what was saved is whole, and the same "
            "command goes on with any number of ranks\n",
            mpi.rank, mpi.name != NULL ? host_name((uint32_t)mpi.rank) : "its node", what, text);
    end_all(mpi.lost_status);
}

/* ---- signs of life ------------------------------------------------------------------------- */

static void listen_to_rank_before(void)
{
    require(MPI_Irecv(&mpi.arriving, 1, MPI_INT, before(), 0, mpi.life, &mpi.heard), "listening");
}

static void tell_next_rank(int what)
{
    mpi.told = what;
    mpi.told_s = seconds();
    require(MPI_Isend(&mpi.told, 1, MPI_INT, (mpi.rank + 1) % mpi.ranks, 0, mpi.life, &mpi.sent),
            "telling that it lives");
}

static bool is_done(MPI_Request *request)
{
    int done = 0;
    require(MPI_Test(request, &done, MPI_STATUS_IGNORE), "waiting for another rank");
    return done != 0;
}

static _Noreturn void give_up(void)
{
    fprintf(stderr,
            "osafl: rank %d on %s has given no sign of life for %.0f seconds; all ranks end. What "
            "was saved is whole, and the same command goes on with any number of ranks\n",
            before(), host_name((uint32_t)before()), mpi.limit_s);
    end_all(mpi.lost_status);
    _Exit(mpi.lost_status);
}

/* Tells and listens, when it is time to. */
static void keep_alive(void)
{
    const double now = seconds();
    const double every_s = mpi.limit_s < 10.0 ? 0.1 * mpi.limit_s : 1.0;
    if (mpi.ranks == 1)
        return;
    if (now - mpi.looked_s > 0.5 * mpi.limit_s)
        mpi.heard_s = now; /* it was this process that slept */
    mpi.looked_s = now;
    while (mpi.tells == ALIVE && is_done(&mpi.heard)) {
        mpi.heard_s = now;
        mpi.tells = mpi.arriving;
        if (mpi.tells == ALIVE)
            listen_to_rank_before();
    }
    if (mpi.told == ALIVE && now - mpi.told_s > every_s && is_done(&mpi.sent))
        tell_next_rank(ALIVE);
    if (mpi.tells == ALIVE && now - mpi.heard_s > mpi.limit_s)
        give_up();
}

static void rest(long *pause_ns)
{
    const struct timespec pause = {.tv_nsec = *pause_ns};
    nanosleep(&pause, NULL);
    *pause_ns = 2 * *pause_ns < MOST_PAUSE_NS ? 2 * *pause_ns : MOST_PAUSE_NS;
}

static void finish(MPI_Request *request)
{
    long pause_ns = 1000;
    while (!is_done(request)) {
        keep_alive();
        rest(&pause_ns);
    }
}

/* No message is left under way. */
static void say_goodbye(void)
{
    MPI_Request all;
    require(MPI_Ibarrier(mpi.data, &all), "the end of the run");
    finish(&all);
    if (mpi.ranks == 1)
        return;
    finish(&mpi.sent);
    tell_next_rank(GOODBYE);
    long pause_ns = 1000;
    while (mpi.tells == ALIVE) {
        keep_alive();
        rest(&pause_ns);
    }
    finish(&mpi.sent);
}

/* ---- exchange ------------------------------------------------------------------------------ */

/* Lays out the pieces that this rank holds: all of them, or its own alone. */
static uint64_t count_pages(bool all)
{
    uint64_t pages = 0;
    for (int r = 0; r < mpi.ranks; r++) {
        const uint64_t n = (mpi.bytes[r] + PAGE - 1) / PAGE;
        if (pages + n > INT_MAX)
            require(MPI_ERR_COUNT, "an exchange of more than 8 TiB");
        mpi.begin[r] = (int)pages;
        mpi.pages[r] = (int)n;
        pages += all || r == mpi.rank ? n : 0;
    }
    return pages;
}

static bool receives(uint32_t to)
{
    return to == OSAFL_ALL_RANKS || (int)to == mpi.rank;
}

static void reserve(uint64_t pages)
{
    if (mpi.memory != NULL && pages <= mpi.capacity)
        return;
    free(mpi.memory);
    mpi.memory = malloc((size_t)pages * PAGE + 1); /* an empty piece lies somewhere, too */
    mpi.capacity = pages;
    if (mpi.memory != NULL)
        return;
    fprintf(stderr, "osafl: rank %d on %s: out of memory for an exchange of %llu MiB\n", mpi.rank,
            host_name((uint32_t)mpi.rank), (unsigned long long)(pages * PAGE >> 20));
    end_all(EXIT_FAILURE);
}

/* Where this rank's own piece lies: the others send it from there, too. */
static void place_own(const struct piece *p)
{
    unsigned char *to = mpi.memory + (size_t)mpi.begin[mpi.rank] * PAGE;
    const uint64_t n = p->head_bytes + p->body_bytes;
    if (p->head_bytes > 0)
        memcpy(to, p->head, (size_t)p->head_bytes);
    if (p->body_bytes > 0)
        memcpy(to + p->head_bytes, p->body, (size_t)p->body_bytes);
    memset(to + n, 0, (size_t)mpi.pages[mpi.rank] * PAGE - (size_t)n);
}

static void gather(const struct piece *p)
{
    MPI_Request request;
    const uint64_t own = p->head_bytes + p->body_bytes;
    require(MPI_Iallgather(&own, 1, MPI_UINT64_T, mpi.bytes, 1, MPI_UINT64_T, mpi.data, &request),
            "an exchange of lengths");
    finish(&request);
    reserve(count_pages(receives(p->to)));
    place_own(p);
    if (p->to == OSAFL_ALL_RANKS)
        require(MPI_Iallgatherv(MPI_IN_PLACE, 0, mpi.page, mpi.memory, mpi.pages, mpi.begin,
                                mpi.page, mpi.data, &request),
                "an exchange");
    else if ((int)p->to == mpi.rank)
        require(MPI_Igatherv(MPI_IN_PLACE, 0, mpi.page, mpi.memory, mpi.pages, mpi.begin, mpi.page,
                             mpi.rank, mpi.data, &request),
                "gathering");
    else
        require(MPI_Igatherv(mpi.memory + (size_t)mpi.begin[mpi.rank] * PAGE, mpi.pages[mpi.rank],
                             mpi.page, NULL, NULL, NULL, mpi.page, (int)p->to, mpi.data, &request),
                "gathering");
    finish(&request);
}

/* ---- the thread of MPI --------------------------------------------------------------------- */

static osafl_status refuse(const char *why)
{
    snprintf(mpi.why, sizeof mpi.why, "%s", why);
    return OSAFL_E_UNSUPPORTED;
}

static osafl_status make_room(void)
{
    const size_t n = (size_t)mpi.ranks;
    char own[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    mpi.bytes = calloc(n, sizeof *mpi.bytes);
    mpi.pages = calloc(n, sizeof *mpi.pages);
    mpi.begin = calloc(n, sizeof *mpi.begin);
    mpi.name = calloc(n, MPI_MAX_PROCESSOR_NAME);
    if (mpi.bytes == NULL || mpi.pages == NULL || mpi.begin == NULL || mpi.name == NULL) {
        refuse("out of memory");
        return OSAFL_E_NOMEM;
    }
    require(MPI_Get_processor_name(own, &length), "asking for the name of the node");
    require(MPI_Allgather(own, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, mpi.name, MPI_MAX_PROCESSOR_NAME,
                          MPI_CHAR, mpi.data),
            "an exchange of names");
    return OSAFL_OK;
}

static osafl_status join(void)
{
    int provided = 0;
    int length = 0;
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return refuse("MPI_Init_thread() failed");
    if (provided < MPI_THREAD_FUNNELED)
        return refuse("this MPI does not work in a program with threads");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Get_library_version(library, &length);
    snprintf(mpi.library, sizeof mpi.library, "%.*s", (int)strcspn(library, ",\n"), library);
    require(MPI_Comm_rank(MPI_COMM_WORLD, &mpi.rank), "asking for the rank");
    require(MPI_Comm_size(MPI_COMM_WORLD, &mpi.ranks), "asking for the number of ranks");
    require(MPI_Comm_dup(MPI_COMM_WORLD, &mpi.data), "making a communicator");
    require(MPI_Comm_dup(MPI_COMM_WORLD, &mpi.life), "making a communicator");
    require(MPI_Type_contiguous(PAGE, MPI_BYTE, &mpi.page), "making a type");
    require(MPI_Type_commit(&mpi.page), "making a type");
    OSAFL_TRY(make_room());
    mpi.heard_s = mpi.looked_s = seconds();
    if (mpi.ranks > 1) {
        listen_to_rank_before();
        tell_next_rank(ALIVE);
    }
    return OSAFL_OK;
}

/* The main thread goes on. */
static void show(enum step step)
{
    mpi.step = step;
    pthread_cond_broadcast(&mpi.changed);
}

/* Until there is something to do, but no longer than the next sign of life may wait.  Under lock.
 */
static void wait_for_work(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&mpi.changed, &mpi.lock, &until);
}

static void leave(void)
{
    say_goodbye();
    MPI_Type_free(&mpi.page);
    MPI_Comm_free(&mpi.data);
    MPI_Comm_free(&mpi.life);
    MPI_Finalize();
}

static void *serve(void *unused)
{
    (void)unused;
    const osafl_status joined = join();
    pthread_mutex_lock(&mpi.lock);
    mpi.status = joined;
    show(joined == OSAFL_OK ? WAITING : ENDED);
    while (mpi.step != ENDED) {
        const enum step step = mpi.step;
        const struct piece piece = mpi.piece;
        if (step == WAITING)
            wait_for_work();
        pthread_mutex_unlock(&mpi.lock);
        if (step == WAITING)
            keep_alive();
        else if (step == EXCHANGING)
            gather(&piece);
        else
            leave();
        pthread_mutex_lock(&mpi.lock);
        if (step != WAITING)
            show(step == EXCHANGING ? WAITING : ENDED);
    }
    pthread_mutex_unlock(&mpi.lock);
    return NULL;
}

/* ---- operations ---------------------------------------------------------------------------- */

static void wait_while(enum step step)
{
    while (mpi.step == step)
        pthread_cond_wait(&mpi.changed, &mpi.lock);
}

static osafl_status start(const osafl_transport_wish *wish, osafl_transport_place *place)
{
    mpi.limit_s = wish->limit_s;
    mpi.lost_status = (int)wish->lost_status;
    const int number = pthread_create(&mpi.thread, NULL, serve, NULL);
    if (number != 0) {
        place->text = strerror(number);
        return OSAFL_E_NOMEM;
    }
    pthread_mutex_lock(&mpi.lock);
    wait_while(STARTING);
    const osafl_status status = mpi.status;
    pthread_mutex_unlock(&mpi.lock);
    place->rank = (uint32_t)mpi.rank;
    place->ranks = (uint32_t)mpi.ranks;
    place->text = status == OSAFL_OK ? mpi.library : mpi.why;
    return status;
}

static osafl_status exchange(const void *head, uint64_t head_bytes, const void *body,
                             uint64_t body_bytes, uint32_t to, const void **data, uint64_t *bytes)
{
    pthread_mutex_lock(&mpi.lock);
    mpi.piece = (struct piece){head, head_bytes, body, body_bytes, to};
    show(EXCHANGING);
    wait_while(EXCHANGING);
    pthread_mutex_unlock(&mpi.lock);
    for (int r = 0; r < mpi.ranks; r++) {
        data[r] = mpi.memory + (size_t)mpi.begin[r] * PAGE;
        bytes[r] = receives(to) ? mpi.bytes[r] : 0;
    }
    return OSAFL_OK;
}

static void stop(void)
{
    pthread_mutex_lock(&mpi.lock);
    show(LEAVING);
    wait_while(LEAVING);
    pthread_mutex_unlock(&mpi.lock);
    pthread_join(mpi.thread, NULL);
    free(mpi.bytes);
    free(mpi.pages);
    free(mpi.begin);
    free(mpi.memory);
    free(mpi.name);
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
    .name = "mpi",
    .version = "1.0.0",
    .summary = "The ranks are those that mpirun or srun started",
    .cite = "Message Passing Interface Forum 2015, MPI: A Message-Passing Interface Standard, "
            "Version 3.1",
    .license = "MIT",
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
