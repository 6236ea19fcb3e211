/* row_summary.c - what a row of runs comes to. */
#include "row_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"

const struct row_statistic row_statistics[ROW_STATISTICS] = {
    {"best", offsetof(struct row_summary, best)},
    {"best_after_rounds", offsetof(struct row_summary, best_round)},
    {"loss_at_best", offsetof(struct row_summary, loss_at_best)},
    {"last", offsetof(struct row_summary, last)},
    {"tail", offsetof(struct row_summary, tail)},
    {"participation", offsetof(struct row_summary, participation)},
    {"local_rounds", offsetof(struct row_summary, local_rounds)},
    {"uplink_payload_bits", offsetof(struct row_summary, payload_bits)},
    {"uplink_air_bits", offsetof(struct row_summary, air_bits)},
    {"compute_j", offsetof(struct row_summary, compute_j)},
    {"upload_j", offsetof(struct row_summary, upload_j)},
    {"receive_j", offsetof(struct row_summary, receive_j)},
    {"simulated_s", offsetof(struct row_summary, simulated_s)},
    {"target_rounds", offsetof(struct row_summary, target_rounds)},
    {"target_simulated_s", offsetof(struct row_summary, target_s)},
    {"target_uplink_payload_bits", offsetof(struct row_summary, target_bits)},
    {"target_energy_j", offsetof(struct row_summary, target_j)},
};

/* The numbers of one run, in the order of their statistics. */
enum {
    OF_BEST,
    OF_BEST_ROUND,
    OF_LOSS,
    OF_LAST,
    OF_TAIL,
    OF_PARTICIPATION,
    OF_LOCAL_ROUNDS,
    OF_PAYLOAD,
    OF_AIR,
    OF_COMPUTE,
    OF_UPLOAD,
    OF_RECEIVE,
    OF_TIME,
    OF_TARGET_ROUNDS,
    OF_TARGET_TIME,
    OF_TARGET_BITS,
    OF_TARGET_JOULES,
    NUMBERS
};

struct statistic statistic_of(const double *value, size_t n)
{
    struct statistic s = {0};
    for (size_t i = 0; i < n; i++) {
        if (isfinite(value[i])) {
            s.mean += value[i];
            s.n++;
        }
    }
    if (s.n == 0)
        return s;
    s.mean /= (double)s.n;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(value[i]))
            squares += (value[i] - s.mean) * (value[i] - s.mean);
    }
    if (s.n > 1)
        s.deviation = sqrt(squares / (double)(s.n - 1));
    return s;
}

/* A count or an amount; an empty field adds nothing. */
static double amount(const struct csv_table *t, size_t row, const char *name)
{
    const double value = csv_table_value(t, row, csv_table_column(t, name));
    return isfinite(value) ? value : 0;
}

/* What tells whether a run has diverged in a round. */
struct divergence {
    size_t measure; /* columns */
    size_t loss;
    double limit;
};

static struct divergence divergence_of(const struct result_cell *c, const char *measure)
{
    const struct csv_table *t = c->rounds;
    const struct divergence d = {.measure = result_cell_compared_column(c, measure),
                                 .loss = result_cell_measure_column(c, "loss")};
    const bool classifies = result_cell_measure_column(c, "accuracy") != CSV_NO_COLUMN;
    size_t first = 0;
    while (first < t->rows && !isfinite(csv_table_value(t, first, d.loss)))
        first++;
    const double loss = first < t->rows ? csv_table_value(t, first, d.loss) : (double)NAN;
    return (struct divergence){d.measure, d.loss, measure_loss_limit(classifies, loss)};
}

/* The measure in a round; INFINITY: diverged; NAN: not evaluated. */
static double value_of(const struct csv_table *t, size_t row, const struct divergence *d)
{
    const double value = csv_table_value(t, row, d->measure);
    const double loss = csv_table_value(t, row, d->loss); /* NAN: the model has none */
    return isnan(value)                                     ? value
           : isinf(value) || isinf(loss) || loss > d->limit ? (double)INFINITY
                                                            : value;
}

double *run_series(const struct result_cell *c, const char *measure)
{
    const struct divergence d = divergence_of(c, measure);
    double *series = checked_alloc(c->rounds->rows, sizeof *series);
    for (size_t i = 0; i < c->rounds->rows; i++)
        series[i] = value_of(c->rounds, i, &d);
    return series;
}

static void find_best(const struct result_cell *c, const struct divergence *d, double direction,
                      double number[NUMBERS], struct row_summary *s)
{
    const struct csv_table *t = c->rounds;
    for (size_t i = 0; i < t->rows; i++) {
        const double value = value_of(t, i, d);
        if (isnan(value))
            continue; /* not evaluated in this round */
        number[OF_LAST] = value;
        if (isinf(value)) {
            s->diverged = true;
        } else if (isnan(number[OF_BEST]) || direction * (value - number[OF_BEST]) > 0) {
            number[OF_BEST] = value;
            number[OF_BEST_ROUND] = (double)(i + 1);
            number[OF_LOSS] = csv_table_value(t, i, d->loss);
        }
    }
    if (isnan(number[OF_BEST]) && isinf(number[OF_LAST]))
        number[OF_BEST] = number[OF_LOSS] = (double)INFINITY;
}

/* The mean of what was evaluated in the last tenth of the rounds; the last value where nothing was.
 */
static void find_tail(const struct csv_table *t, const struct divergence *d, double number[NUMBERS])
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = t->rows - (t->rows + 9) / 10; i < t->rows; i++) {
        const double value = value_of(t, i, d);
        if (isnan(value))
            continue;
        sum += value;
        n++;
    }
    number[OF_TAIL] = n == 0 ? number[OF_LAST] : sum / (double)n;
}

/* Sums over the rounds, and what they were when the target was reached. */
static void add_up(const struct result_cell *c, const struct summary_question *q,
                   const struct divergence *d, double direction, double number[NUMBERS])
{
    const struct csv_table *t = c->rounds;
    double participants = 0;
    double local_rounds = 0;
    double payload = 0, air = 0, compute = 0, upload = 0, receive = 0;
    for (size_t i = 0; i < t->rows; i++) {
        const double here = amount(t, i, "participants");
        participants += here;
        local_rounds += here * amount(t, i, "mean_local_rounds");
        payload += amount(t, i, "uplink_payload_bits");
        air += amount(t, i, "uplink_air_bits");
        compute += amount(t, i, "compute_j");
        upload += amount(t, i, "upload_j");
        receive += amount(t, i, "receive_j");
        const double value = value_of(t, i, d);
        if (isnan(number[OF_TARGET_ROUNDS]) && isfinite(value) &&
            direction * (value - q->target) >= 0) {
            number[OF_TARGET_ROUNDS] = (double)(i + 1);
            number[OF_TARGET_TIME] = csv_table_value(t, i, 1);
            number[OF_TARGET_BITS] = payload;
            number[OF_TARGET_JOULES] = compute + upload + receive;
        }
    }
    if (t->rows == 0)
        return;
    const double clients = result_cell_number(c, "clients.count", (double)NAN);
    number[OF_PARTICIPATION] = participants / ((double)t->rows * clients);
    if (participants > 0)
        number[OF_LOCAL_ROUNDS] = local_rounds / participants;
    number[OF_PAYLOAD] = payload;
    number[OF_AIR] = air;
    number[OF_COMPUTE] = compute;
    number[OF_UPLOAD] = upload;
    if (csv_table_column(t, "receive_j") != CSV_NO_COLUMN)
        number[OF_RECEIVE] = receive;
    number[OF_TIME] = csv_table_value(t, t->rows - 1, 1);
}

bool row_takes(const struct row_summary *s, const struct result_cell *c)
{
    return c->rounds->rows > 0 && (s->provisional || c->state == CELL_COMPLETE);
}

static void count_states(const struct grid_row *r, const struct summary_question *q,
                         struct row_summary *s)
{
    for (size_t i = 0; i < r->cells; i++) {
        const struct result_cell *c = r->cell[i];
        s->complete += c->state == CELL_COMPLETE;
        s->unfinished += c->state == CELL_UNFINISHED;
        s->failed += c->state == CELL_FAILED;
        if (s->measure == NULL && c->n_measures > 0)
            s->measure = q->measure != NULL ? q->measure : result_cell_measure(c, 0);
    }
    s->provisional = s->complete == 0;
}

static void keep_run(struct row_summary *s, const struct result_cell *c,
                     const double number[NUMBERS])
{
    s->run[s->n++] = (struct run_values){
        .seed = c->seed,
        .rounds = c->planned_rounds,
        .value = {[COMPARED_BEST] = number[OF_BEST],
                  [COMPARED_LAST] = number[OF_LAST],
                  [COMPARED_TAIL] = number[OF_TAIL],
                  [COMPARED_LOSS] = number[OF_LOSS]},
    };
}

struct row_summary row_summarize(const struct grid_row *r, const struct summary_question *q)
{
    struct row_summary s = {0};
    count_states(r, q, &s);
    s.published = published_of(q->published, r->cell[0]);
    if (s.measure == NULL)
        return s;
    const double direction = measure_higher_is_better(s.measure) ? 1 : -1;
    /* number[of what][of which run] */
    double *number = checked_alloc((size_t)NUMBERS * r->cells, sizeof *number);
    s.run = checked_alloc(r->cells, sizeof *s.run);
    for (size_t i = 0; i < r->cells; i++) {
        double of_run[NUMBERS];
        if (!row_takes(&s, r->cell[i]))
            continue;
        for (size_t k = 0; k < NUMBERS; k++)
            of_run[k] = (double)NAN;
        const struct divergence d = divergence_of(r->cell[i], s.measure);
        find_best(r->cell[i], &d, direction, of_run, &s);
        find_tail(r->cell[i]->rounds, &d, of_run);
        add_up(r->cell[i], q, &d, direction, of_run);
        s.has_link = s.has_link || of_run[OF_PAYLOAD] > 0 || !(of_run[OF_PARTICIPATION] > 0);
        s.reached += isnan(of_run[OF_TARGET_ROUNDS]) ? 0 : 1;
        for (size_t k = 0; k < NUMBERS; k++)
            number[k * r->cells + s.n] = of_run[k];
        keep_run(&s, r->cell[i], of_run);
    }
    struct statistic *const to[NUMBERS] = {
        [OF_BEST] = &s.best,
        [OF_BEST_ROUND] = &s.best_round,
        [OF_LOSS] = &s.loss_at_best,
        [OF_LAST] = &s.last,
        [OF_TAIL] = &s.tail,
        [OF_PARTICIPATION] = &s.participation,
        [OF_LOCAL_ROUNDS] = &s.local_rounds,
        [OF_PAYLOAD] = &s.payload_bits,
        [OF_AIR] = &s.air_bits,
        [OF_COMPUTE] = &s.compute_j,
        [OF_UPLOAD] = &s.upload_j,
        [OF_RECEIVE] = &s.receive_j,
        [OF_TIME] = &s.simulated_s,
        [OF_TARGET_ROUNDS] = &s.target_rounds,
        [OF_TARGET_TIME] = &s.target_s,
        [OF_TARGET_BITS] = &s.target_bits,
        [OF_TARGET_JOULES] = &s.target_j,
    };
    for (size_t k = 0; k < NUMBERS; k++)
        *to[k] = statistic_of(number + k * r->cells, s.n);
    free(number);
    return s;
}

void row_summary_free(struct row_summary *s)
{
    free(s->run);
    s->run = NULL;
}

const struct statistic *row_compared(const struct row_summary *s, enum compared by)
{
    const struct statistic *const of[COMPARED_VALUES] = {
        [COMPARED_BEST] = &s->best,
        [COMPARED_LAST] = &s->last,
        [COMPARED_TAIL] = &s->tail,
        [COMPARED_LOSS] = &s->loss_at_best,
    };
    return of[by];
}
