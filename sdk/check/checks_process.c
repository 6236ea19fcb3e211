/* checks_process.c - the same life in a process that has nothing in common but the arguments. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks.h"
#include "instance_under_test.h"
#include "plugin/child_process.h"

#define LIFE_S 1e6 /* the limit of the check comes before */
#define HOLES 200  /* small ones too, so that gaps between libraries are filled */
#define HEAP_BYTES 70001

/* What the other process answered: of each item its hash. */
struct other_life {
    uint64_t n;
    uint64_t hash[4000];
};
_Static_assert(sizeof(struct other_life) < 65536, "child_ask() takes no more");

static void live_once(struct conform *c, struct transcript *t)
{
    struct instance_under_test s;
    conform_load(c);
    const struct trial_world world = world_for(c);
    const struct trial_settings settings = settings_default(c);
    const osafl_status status = under_test_open(&s, c, &world, &settings, false, 0, t);
    if (status != OSAFL_OK)
        under_test_fail(&s, status);
    under_test_must_run(&s, 0, TRIAL_ROUNDS, t);
    under_test_close(&s);
}

static void run_on_one_processor(void)
{
    cpu_set_t all;
    cpu_set_t last;
    CPU_ZERO(&last);
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &all)) {
            CPU_ZERO(&last);
            CPU_SET(i, &last);
        }
    }
    (void)sched_setaffinity(0, sizeof last, &last);
}

/* Another environment, machine name (where a user may change it), number of processors, and other
 * places for code and memory; with no settings, which may name files, another folder as well. */
static void disguise(const struct conform *c)
{
    static const char *const variables[] = {"HOME",  "USER",   "LOGNAME", "HOSTNAME",
                                            "PWD",   "TMPDIR", "LANG",    "TZ",
                                            "SHELL", "TERM",   "DISPLAY"};
    static const char name[] = "elsewhere";
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        (void)setenv(variables[i], "/nowhere", 1);
    if (unshare(CLONE_NEWUSER | CLONE_NEWUTS) == 0)
        (void)!sethostname(name, sizeof name - 1);
    run_on_one_processor();
    umask(027);
    if (c->n_set == 0)
        (void)!chdir("/");
    for (size_t k = 0; k < HOLES; k++)
        (void)mmap(NULL, (k % 40 + 1) * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *volatile heap = malloc(HEAP_BYTES);
    (void)heap; /* it stays there */
}

static void live_elsewhere(const void *arg, int fd)
{
    struct conform c = *(const struct conform *)arg;
    struct transcript t = {0};
    struct other_life life = {0};
    disguise(&c);
    live_once(&c, &t);
    life.n = t.n;
    for (size_t i = 0; i < t.n && i < sizeof life.hash / sizeof life.hash[0]; i++)
        life.hash[i] = t.items[i].hash;
    const bool told = write(fd, &life, sizeof life) == (ssize_t)sizeof life;
    _exit(told ? EXIT_SUCCESS : EXIT_FAILURE);
}

void check_numbers_process(struct conform *c)
{
    struct other_life other;
    struct child_end end;
    struct transcript here = {0};
    if (!child_ask(live_elsewhere, c, LIFE_S, &other, sizeof other, &end))
        conform_skip(c, "cannot be tried: %s", strerror(errno));
    if (!end.answered) /* if it failed, it has said so */
        conform_fail(c, "works here, and not in another process with another environment");
    live_once(c, &here);
    for (size_t i = 0; i < here.n && i < sizeof other.hash / sizeof other.hash[0]; i++) {
        if (i >= other.n || here.items[i].hash != other.hash[i])
            conform_fail(c,
                         "answers otherwise in another process, at other addresses and in another "
                         "environment: %s in round %u, task %u",
                         here.items[i].what, (unsigned)here.items[i].round,
                         (unsigned)here.items[i].task);
    }
    if (here.n != other.n)
        conform_fail(c, "answers in another process more or less often than here");
}
