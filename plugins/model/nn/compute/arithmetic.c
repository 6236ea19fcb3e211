/* arithmetic.c - small loops that several layers need. */
#include "arithmetic.h"

#include "vector.h"

/* Rows are summed in float in runs of this length, runs in double. */
enum { SUM_RUN = 256, SUM_COLUMNS = 64 };

/* The sums of at most LANES columns; each runs as in bias_gradient(). */
static void sum_narrow(struct block dy, double *total)
{
    const lane_mask mask = vec_first(dy.columns);
    for (size_t row = 0; row < dy.rows; row += SUM_RUN) {
        const size_t end = smaller(row + SUM_RUN, dy.rows);
        vec sum = {0};
        for (size_t i = row; i < end; i++)
            sum += vec_load_some(dy.at + i * dy.stride, mask);
        for (size_t j = 0; j < dy.columns; j++)
            total[j] += (double)sum[j];
    }
}

void bias_gradient(const struct pass *pass, int parameter, struct block dy)
{
    float *target = pass_target(pass, parameter);
    for (size_t first = 0; first < dy.columns; first += SUM_COLUMNS) {
        const size_t n = dy.columns - first < SUM_COLUMNS ? dy.columns - first : SUM_COLUMNS;
        double total[SUM_COLUMNS] = {0};
        if (dy.columns <= LANES)
            sum_narrow(dy, total);
        for (size_t row = 0; dy.columns > LANES && row < dy.rows; row += SUM_RUN) {
            const size_t end = dy.rows - row < SUM_RUN ? dy.rows : row + SUM_RUN;
            float sum[SUM_COLUMNS] = {0};
            for (size_t i = row; i < end; i++) {
                const float *x = dy.at + i * dy.stride + first;
                for (size_t j = 0; j < n; j++)
                    sum[j] += x[j];
            }
            for (size_t j = 0; j < n; j++)
                total[j] += (double)sum[j];
        }
        for (size_t j = 0; j < n; j++)
            store_gradient(pass, &target[first + j], total[j]);
    }
}

void add_bias_and_rectify(struct block block, const float *bias, bool rectify)
{
    if (bias == NULL && !rectify)
        return;
    for (size_t i = 0; i < block.rows; i++) {
        float *y = block.at + i * block.stride;
        if (bias == NULL) {
            for (size_t j = 0; j < block.columns; j++)
                y[j] = y[j] < 0 ? 0 : y[j];
        } else if (!rectify) {
            for (size_t j = 0; j < block.columns; j++)
                y[j] += bias[j];
        } else {
            for (size_t j = 0; j < block.columns; j++)
                y[j] = y[j] + bias[j] < 0 ? 0 : y[j] + bias[j];
        }
    }
}

void mask_rectified(struct block gradient, const float *value)
{
    for (size_t i = 0; i < gradient.rows; i++) {
        float *g = gradient.at + i * gradient.stride;
        const float *v = value + i * gradient.stride;
        for (size_t j = 0; j < gradient.columns; j++)
            g[j] = v[j] > 0 ? g[j] : 0;
    }
}
