/* attack.c - clients that do harm. */
#include "attack.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/streams.h"
#include "codec.h"
#include "osafl/random.h"

/* STREAM_ATTACK serves three draws, told apart by the round: that of who attacks and that of
 * labels stand outside the rounds. */
#define ROUND_OF_CHOICE UINT32_MAX
#define ROUND_OF_LABELS (UINT32_MAX - 1)

/* Noise is drawn for this many coordinates at a time. */
#define NOISE_TILE 256

struct draw {
    uint64_t value;
    uint32_t client;
};

static int compare_draws(const void *a, const void *b)
{
    const struct draw *x = a;
    const struct draw *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->client < y->client ? -1 : x->client > y->client;
}

osafl_status attack_create(struct attack *a, const struct experiment *e)
{
    const uint32_t clients = (uint32_t)e->clients.count;
    const uint32_t attackers = (uint32_t)lround(e->attack.share * (double)clients);
    *a = (struct attack){
        .seed = (uint64_t)e->general.seed,
        .method = e->attack.method.index,
        .strength = e->attack.strength,
    };
    if (attackers == 0 || a->method == ATTACK_NONE)
        return OSAFL_OK;
    struct draw *draw = calloc(clients, sizeof *draw);
    a->attacks = calloc(clients, sizeof *a->attacks);
    if (draw == NULL || a->attacks == NULL) {
        free(draw);
        attack_destroy(a);
        return OSAFL_E_NOMEM;
    }
    for (uint32_t u = 0; u < clients; u++) {
        uint32_t word[2];
        streams_fill(a->seed, 0, STREAM_ATTACK, u, ROUND_OF_CHOICE, 0, word, 2);
        draw[u] = (struct draw){.value = ((uint64_t)word[0] << 32) | word[1], .client = u};
    }
    qsort(draw, clients, sizeof *draw, compare_draws);
    for (uint32_t j = 0; j < attackers; j++)
        a->attacks[draw[j].client] = 1;
    free(draw);
    return OSAFL_OK;
}

void attack_destroy(struct attack *a)
{
    free(a->attacks);
    a->attacks = NULL;
}

/* More attackers are counted, not listed. */
#define ATTACKERS_SHOWN 50

static void print_attackers(const struct attack *a, const struct experiment *e, FILE *to)
{
    const uint32_t clients = (uint32_t)e->clients.count;
    uint32_t attackers = 0;
    for (uint32_t u = 0; u < clients; u++)
        attackers += attack_by(a, u);
    fprintf(to, "%-22s %" PRIu32 " of %" PRIu32 " clients:", "attackers", attackers, clients);
    uint32_t shown = 0;
    for (uint32_t u = 0; u < clients && shown < ATTACKERS_SHOWN; u++)
        if (attack_by(a, u)) {
            fprintf(to, " %" PRIu32, u);
            shown++;
        }
    fputs(shown < attackers ? " ...\n" : "\n", to);
}

void attack_print(const struct attack *a, const struct experiment *e, FILE *to)
{
    if (a->attacks != NULL)
        print_attackers(a, e, to);
    else if (e->attack.share > 0.0 && a->method == ATTACK_NONE)
        fputs("warning: nobody attacks, as attack.method is \"none\"\n", to);
    else if (a->method != ATTACK_NONE)
        fprintf(to,
                "warning: nobody attacks, as attack.share = %g of %" PRId64
                " clients is less than half a client\n",
                e->attack.share, e->clients.count);
}

bool attack_by(const struct attack *a, uint32_t client)
{
    return a->attacks != NULL && a->attacks[client] != 0;
}

static void scale(float *x, uint64_t dim, double factor)
{
    for (uint64_t i = 0; i < dim; i++)
        x[i] = (float)(factor * (double)x[i]);
}

static void replace_by_noise(const struct attack *a, uint32_t client, uint32_t round, float *x,
                             uint64_t dim)
{
    const double sigma = a->strength * sqrt(codec_dense_dot(x, x, dim) / (double)dim);
    for (uint64_t begin = 0; begin < dim; begin += NOISE_TILE) {
        uint32_t word[4 * NOISE_TILE];
        const uint64_t n = dim - begin < NOISE_TILE ? dim - begin : NOISE_TILE;
        streams_fill(a->seed, 0, STREAM_ATTACK, client, round, begin / NOISE_TILE, word, 4 * n);
        for (uint64_t i = 0; i < n; i++)
            x[begin + i] = (float)(sigma * osafl_normal(&word[4 * i]));
    }
}

void attack_update(const struct attack *a, uint32_t client, uint32_t round, float *x, uint64_t dim)
{
    if (!attack_by(a, client))
        return;
    if (a->method == ATTACK_SIGN_FLIP)
        scale(x, dim, -a->strength);
    else if (a->method == ATTACK_SCALE)
        scale(x, dim, a->strength);
    else if (a->method == ATTACK_NOISE)
        replace_by_noise(a, client, round, x, dim);
}

int32_t attack_label(const struct attack *a, uint32_t client, uint64_t sample, int32_t label,
                     uint32_t labels)
{
    if (a->method != ATTACK_SHUFFLE_LABELS || !attack_by(a, client))
        return label;
    uint32_t word[2];
    streams_fill(a->seed, 0, STREAM_ATTACK, client, ROUND_OF_LABELS, sample, word, 2);
    return (int32_t)osafl_below(word, labels);
}
