/* label_mix.c - how the labels of a client's samples are distributed. */
#include "label_mix.h"

#include <math.h>

#include "osafl/random.h"

void label_mix_accumulate(const double *mix, uint32_t labels, double *cumulative)
{
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; l++) {
        sum += mix[l];
        cumulative[l] = sum;
    }
}

int32_t label_mix_pick(const double *cumulative, uint32_t labels, const uint32_t word[2])
{
    /* Rounding may bring the product up to the total, which belongs to no label. */
    const double total = cumulative[labels - 1];
    const double x = fmin(osafl_uniform(word) * total, nextafter(total, 0.0));
    uint32_t low = 0;
    uint32_t high = labels - 1;
    while (low < high) { /* the first label whose running sum is above x */
        const uint32_t middle = low + (high - low) / 2;
        if (cumulative[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return (int32_t)low;
}

static double histogram_total(const uint32_t *histogram, uint32_t labels)
{
    uint64_t total = 0;
    for (uint32_t l = 0; l < labels; l++)
        total += histogram[l];
    return (double)total;
}

double label_mix_distance(const uint32_t *histogram, const double *mix, uint32_t labels)
{
    const double total = histogram_total(histogram, labels);
    if (total == 0.0)
        return 0.0;
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; l++)
        sum += fabs(histogram[l] / total - mix[l]);
    return 0.5 * sum;
}

double label_mix_entropy(const uint32_t *histogram, uint32_t labels)
{
    const double total = histogram_total(histogram, labels);
    double sum = 0.0;
    for (uint32_t l = 0; l < labels; l++) {
        if (histogram[l] > 0)
            sum -= histogram[l] / total * log(histogram[l] / total);
    }
    return sum + 0.0; /* -0 for a single label becomes 0 */
}
