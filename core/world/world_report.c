/* world_report.c - describes a world in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "label_mix.h"
#include "plugin/kinds.h"
#include "world_state.h"

/* A table for people: more clients are counted, not listed. */
#define CLIENTS_SHOWN 50
/* Labels of a row, by falling count. */
#define LABELS_SHOWN 10

/* Of a pool: how often it was dealt again, or how many samples it lacked. */
static uint64_t beyond_pool(const struct world *w, uint32_t pool, bool lacked)
{
    const uint64_t dealt = dealer_dealt(w->dealer)[pool];
    const uint64_t size = dealer_size(w->dealer, pool);
    if (lacked != w->settings->deal_once)
        return 0;
    return lacked ? (dealt > size ? dealt - size : 0) : dealer_restarts(w->dealer, pool);
}

static uint64_t sum_beyond(const struct world *w, bool lacked)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < dealer_pools(w->dealer); p++)
        sum += beyond_pool(w, p, lacked);
    return sum;
}

uint64_t world_restarts(const struct world *w)
{
    return sum_beyond(w, false);
}

uint64_t world_missing(const struct world *w)
{
    return sum_beyond(w, true);
}

/* "label 3 (cat): 2 times, label 7: 1 time" */
static void list_pools(const struct world *w, char *out, size_t size)
{
    const bool by_client = world_has_owners(w);
    const bool lacked = w->settings->deal_once;
    out[0] = '\0';
    for (uint32_t p = 0; p < dealer_pools(w->dealer); p++) {
        const uint64_t n = beyond_pool(w, p, lacked);
        if (n == 0)
            continue;
        if (size - strlen(out) < 128) {
            text_append(out, size, ", ...");
            return;
        }
        text_append(out, size, "%s%s %" PRIu32, out[0] == '\0' ? "" : ", ",
                    by_client ? "client" : "label", p);
        if (!by_client && w->plugins.info->label_names != NULL)
            text_append(out, size, " (%s)", w->plugins.info->label_names[p]);
        text_append(out, size, ": %" PRIu64 " %s%s", n, lacked ? "sample" : "time", text_plural(n));
    }
}

void world_describe_dealing(const struct world *w, char *out, size_t size)
{
    char list[ERROR_BYTES - 256];
    list_pools(w, list, sizeof list);
    out[0] = '\0';
    if (list[0] == '\0')
        return;
    if (w->settings->deal_once)
        text_append(out, size,
                    "%" PRIu64 " sample%s did not arrive, as each is dealt once and those of the "
                    "training split were used up (%s)",
                    world_missing(w), text_plural(world_missing(w)), list);
    else
        text_append(out, size,
                    "the clients received more samples than the training split has; some were "
                    "dealt again (%s)",
                    list);
}

/* The label with the most samples among those below `before` in rank (count, then number). */
static uint32_t next_label(const uint32_t *histogram, uint32_t labels, uint32_t before)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t l = 0; l < labels; l++) {
        const bool after = before == UINT32_MAX || histogram[l] < histogram[before] ||
                           (histogram[l] == histogram[before] && l > before);
        if (after && (best == UINT32_MAX || histogram[l] > histogram[best]))
            best = l;
    }
    return best;
}

static void print_client(const struct world *w, uint32_t client, FILE *to)
{
    const struct population *p = &w->population;
    const uint32_t *histogram = world_histogram(w, client);
    char arrivals[16] = "-";
    if (world_uses_arrivals(w))
        snprintf(arrivals, sizeof arrivals, "%" PRIu32, p->arrivals[client]);
    fprintf(to, "%8" PRIu32 " %8" PRIu64 " %8s %8.3f %7.3f  ", client, w->stored[client], arrivals,
            p->activity[client], label_mix_entropy(histogram, w->labels));
    uint32_t label = UINT32_MAX;
    uint32_t shown = 0;
    for (; shown < LABELS_SHOWN; shown++) {
        label = next_label(histogram, w->labels, label);
        if (label == UINT32_MAX || histogram[label] == 0)
            break;
        fprintf(to, " %" PRIu32 ":%" PRIu32, label, histogram[label]);
    }
    fputs(shown == LABELS_SHOWN && next_label(histogram, w->labels, label) != UINT32_MAX &&
                  histogram[next_label(histogram, w->labels, label)] > 0
              ? " ...\n"
              : "\n",
          to);
}

/* The data set may know more clients than the experiment has. */
void world_describe_left_out(const struct world *w, char *out, size_t size)
{
    const uint64_t left_out = world_has_owners(w) ? w->n_train - world_owned_samples(w) : 0;
    out[0] = '\0';
    if (left_out > 0)
        text_append(out, size,
                    "left out: %" PRIu64 " of %" PRIu64 " training sample%s, which belong to "
                    "nobody or to a client from number %" PRIu32 " on (clients.count)",
                    left_out, w->n_train, text_plural(w->n_train), w->population.clients);
}

static void print_left_out(const struct world *w, FILE *to)
{
    char line[256];
    world_describe_left_out(w, line, sizeof line);
    if (line[0] != '\0')
        fprintf(to, "%s\n", line);
}

/* What the stores hold, and what comes: the usual arrival brings E_u, others have laws of their
 * own. */
static void print_sizes(const struct world *w, FILE *to)
{
    const struct population *p = &w->population;
    const char *arrival = w->plugins.arrival->plugin->name;
    uint64_t arrivals = 0;
    for (uint32_t u = 0; u < p->clients; u++)
        arrivals += p->arrivals[u];
    fprintf(to, "clients: %" PRIu32 ", with %" PRIu64 " sample%s", p->clients, w->total_stored,
            text_plural(w->total_stored));
    if (w->total_stored < p->total_capacity)
        fprintf(to, " in stores for %" PRIu64, p->total_capacity);
    if (strcmp(arrival, kind_default(OSAFL_KIND_ARRIVAL)) == 0)
        fprintf(to, "; %" PRIu64 " arrive%s in a round\n", arrivals, arrivals == 1 ? "s" : "");
    else if (!world_uses_arrivals(w))
        fprintf(to, "; they arrive by arrival/%s, whatever clients.arrivals is\n", arrival);
    else
        fprintf(to, "; they arrive by arrival/%s, where E_u is %" PRIu64 " in all\n", arrival,
                arrivals);
}

static void print_totals(const struct world *w, FILE *to)
{
    const struct population *p = &w->population;
    uint32_t smallest = 0;
    uint32_t largest = 0;
    uint32_t holding = 0;
    double entropy = 0.0;
    double distance = 0.0;
    print_sizes(w, to);
    for (uint32_t u = 0; u < p->clients; u++) {
        smallest = w->stored[u] < w->stored[smallest] ? u : smallest;
        largest = w->stored[u] > w->stored[largest] ? u : largest;
        if (w->stored[u] == 0)
            continue;
        holding++;
        entropy += world_entropy(w, u);
        distance += label_mix_distance(world_histogram(w, u), w->share, w->labels);
    }
    fprintf(to,
            "smallest client: %" PRIu32 " with %" PRIu64 " sample%s; largest: %" PRIu32
            " with %" PRIu64 "\n",
            smallest, w->stored[smallest], text_plural(w->stored[smallest]), largest,
            w->stored[largest]);
    if (holding > 0)
        fprintf(to,
                "labels: %" PRIu32
                "; mean entropy of a client's %.3f nats (flat: %.3f); mean distance from "
                "the training split %.3f of 1\n",
                w->labels, entropy / holding, log(w->labels), distance / holding);
    if (holding < p->clients)
        fprintf(to,
                "empty stores: %" PRIu32
                "; their clients are asked nothing until a sample has arrived\n",
                p->clients - holding);
    print_left_out(w, to);
}

void world_print(const struct world *w, FILE *to)
{
    const struct population *p = &w->population;
    print_totals(w, to);
    fprintf(to, "labels of all stores:%s", w->total_stored > 0 ? "" : " none");
    for (uint32_t l = 0; l < w->labels; l++) {
        uint64_t sum = 0;
        for (uint32_t u = 0; u < p->clients; u++)
            sum += world_histogram(w, u)[l];
        if (sum > 0)
            fprintf(to, " %" PRIu32 ":%" PRIu64, l, sum);
    }
    char list[ERROR_BYTES];
    list_pools(w, list, sizeof list);
    if (list[0] != '\0')
        fprintf(to, "\n%s, as clients hold more than there is: %s",
                w->settings->deal_once ? "missing" : "dealt again", list);
    fprintf(to, "\n%8s %8s %8s %8s %7s   %s\n", "client", "samples", "arrivals", "activity",
            "entropy", "largest labels");
    for (uint32_t u = 0; u < p->clients && u < CLIENTS_SHOWN; u++)
        print_client(w, u, to);
    if (p->clients > CLIENTS_SHOWN)
        fprintf(to, "%8s and %" PRIu32 " more\n", "...", p->clients - CLIENTS_SHOWN);
}

uint64_t world_bytes(const struct world *w)
{
    const uint64_t clients = w->population.clients;
    const uint64_t per_sample = sizeof *w->sample + sizeof *w->label + sizeof *w->born;
    const uint64_t per_label = sizeof *w->histogram + (w->mix != NULL ? sizeof *w->mix : 0);
    return w->population.total_capacity * per_sample + clients * w->labels * per_label +
           clients * (8 * sizeof(uint64_t)) + dealer_bytes(w->dealer) +
           (w->time != NULL ? w->n_train * sizeof *w->time : 0);
}
