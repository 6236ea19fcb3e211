/* progress.c - what the user sees while a run goes on, and at its end. */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define REDRAW_S 0.1
#define LINE_BYTES 512
#define NARROWEST_BAR 8
#define WIDEST_BAR 40

struct progress {
    struct progress_options o;
    pthread_mutex_t lock; /* over all that follows */
    double start_s;
    double drawn_s;
    bool visible;
    double rounds_done; /* counted from round 0, with a fraction */
    bool ended_one;
    uint32_t participants; /* of the last round */
    double measure;        /* latest; NAN: none yet */
};

bool progress_wants_bar(FILE *to)
{
    const char *terminal = getenv("TERM");
    return isatty(fileno(to)) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

struct progress *progress_create(const struct progress_options *o)
{
    struct progress *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->o = *o;
    p->start_s = now_s();
    p->drawn_s = p->start_s - REDRAW_S;
    p->rounds_done = o->first_round;
    p->measure = (double)NAN;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

/* ---- texts ---- */

static void format_measure(char *out, size_t size, const char *name, double value)
{
    if (strcmp(name, "accuracy") == 0)
        snprintf(out, size, "%s %.2f %%", name, 100.0 * value);
    else
        snprintf(out, size, "%s %.5g", name, value);
}

/* "1:02:03 left", "4:05 left", or "" while nothing is known. */
static void format_left(const struct progress *p, char *out, size_t size)
{
    out[0] = '\0';
    const double done = p->rounds_done - p->o.first_round;
    if (done <= 0.0)
        return;
    const double left_s = (now_s() - p->start_s) / done * (p->o.rounds - p->rounds_done);
    const uint64_t s = (uint64_t)fmin(fmax(ceil(left_s), 0.0), 1e9);
    if (s >= 3600)
        snprintf(out, size, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left", s / 3600, s / 60 % 60,
                 s % 60);
    else
        snprintf(out, size, "%" PRIu64 ":%02" PRIu64 " left", s / 60, s % 60);
}

/* "12/30  accuracy 61.20 %  18/25 clients  2:13 left" */
static void format_facts(const struct progress *p, char *out, size_t size)
{
    char measure[96] = "";
    char participants[64] = "";
    char left[48];
    if (!isnan(p->measure))
        format_measure(measure, sizeof measure, p->o.measure, p->measure);
    if (p->ended_one)
        snprintf(participants, sizeof participants, "%" PRIu32 "/%" PRIu32 " clients",
                 p->participants, p->o.clients);
    format_left(p, left, sizeof left);
    snprintf(out, size, "%" PRIu32 "/%" PRIu32 "%s%s%s%s%s%s", (uint32_t)p->rounds_done,
             p->o.rounds, measure[0] == '\0' ? "" : "  ", measure,
             participants[0] == '\0' ? "" : "  ", participants, left[0] == '\0' ? "" : "  ", left);
}

/* ---- drawing ---- */

static size_t terminal_columns(FILE *to)
{
    struct winsize size;
    if (ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* One line that never reaches the last column, so that no terminal wraps it. */
static void draw_bar(struct progress *p)
{
    char facts[LINE_BYTES];
    char bar[WIDEST_BAR + 1];
    format_facts(p, facts, sizeof facts);
    const size_t columns = terminal_columns(p->o.to);
    const size_t taken = strlen(p->o.label) + strlen(facts) + sizeof "  []  ";
    size_t width = columns > taken ? columns - taken : 0;
    width = width < WIDEST_BAR ? width : WIDEST_BAR;
    if (width < NARROWEST_BAR) {
        fprintf(p->o.to, "\r\033[K%.*s", (int)(columns > 1 ? columns - 1 : 1), facts);
    } else {
        const double share = p->o.rounds == 0 ? 1.0 : p->rounds_done / p->o.rounds;
        const size_t full = (size_t)(fmin(share, 1.0) * (double)width);
        memset(bar, '-', width);
        memset(bar, '#', full);
        bar[width] = '\0';
        fprintf(p->o.to, "\r\033[K%s  [%s]  %s", p->o.label, bar, facts);
    }
    fflush(p->o.to);
    p->visible = true;
    p->drawn_s = now_s();
}

static void draw_if_due(struct progress *p, bool last)
{
    if (p->o.quiet || !p->o.bar)
        return;
    if (last || now_s() - p->drawn_s >= REDRAW_S)
        draw_bar(p);
}

static void clear(struct progress *p)
{
    if (!p->visible)
        return;
    fputs("\r\033[K", p->o.to);
    fflush(p->o.to);
    p->visible = false;
    p->drawn_s = now_s() - REDRAW_S;
}

void progress_clear(struct progress *p)
{
    pthread_mutex_lock(&p->lock);
    clear(p);
    pthread_mutex_unlock(&p->lock);
}

void progress_destroy(struct progress *p)
{
    if (p == NULL)
        return;
    clear(p);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void progress_step(struct progress *p, uint32_t round, uint64_t done, uint64_t all)
{
    /* A worker never waits for another one's drawing. */
    if (pthread_mutex_trylock(&p->lock) != 0)
        return;
    const double share = all == 0 ? 0.0 : fmin((double)done / (double)all, 0.999);
    p->rounds_done = fmax(p->rounds_done, round + share);
    draw_if_due(p, false);
    pthread_mutex_unlock(&p->lock);
}

void progress_round(struct progress *p, uint32_t round, uint32_t participants, double measure)
{
    pthread_mutex_lock(&p->lock);
    p->rounds_done = round + 1.0;
    p->participants = participants;
    p->ended_one = true;
    if (!isnan(measure))
        p->measure = measure;
    if (p->o.bar) {
        draw_if_due(p, round + 1 == p->o.rounds);
    } else if (!p->o.quiet && !isnan(measure)) {
        char facts[LINE_BYTES];
        format_facts(p, facts, sizeof facts);
        fprintf(p->o.to, "%s  round %s\n", p->o.label, facts);
        fflush(p->o.to);
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- the end ---- */

void progress_format_summary(char *out, size_t size, const char *split, const char *measure,
                             const struct results_summary *s)
{
    char best[96];
    char last[96];
    out[0] = '\0';
    if (s->evaluations == 0)
        return;
    format_measure(best, sizeof best, measure, s->best);
    format_measure(last, sizeof last, measure, s->last);
    snprintf(out, size, "best %s %s after %" PRIu32 " round%s, last %s after %" PRIu32 " round%s",
             split, best, s->best_round + 1, s->best_round == 0 ? "" : "s", last, s->last_round + 1,
             s->last_round == 0 ? "" : "s");
}

void progress_summary(FILE *to, const char *split, const char *measure,
                      const struct results_summary *s, const char *folder, const char *note)
{
    char line[LINE_BYTES];
    progress_format_summary(line, sizeof line, split, measure, s);
    if (line[0] != '\0')
        fprintf(to, "%s\n", line);
    if (note != NULL && note[0] != '\0')
        fprintf(to, "note: %s\n", note);
    fprintf(to, "results: %s\n", folder);
}
