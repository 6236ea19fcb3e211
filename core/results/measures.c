/* measures.c - what the names of measures say. */
#include "measures.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

bool measure_higher_is_better(const char *measure)
{
    static const char *const lower[] = {"loss", "error"};
    const size_t length = strlen(measure);
    for (size_t i = 0; i < 2; i++) {
        const size_t tail = strlen(lower[i]);
        if (length >= tail && strcmp(measure + length - tail, lower[i]) == 0)
            return false;
    }
    return true;
}

double measure_loss_limit(bool classifies, double first_loss)
{
    const double scale = classifies || !isfinite(first_loss) ? 1.0 : fmax(1.0, first_loss);
    return MEASURE_LOSS_LIMIT * scale;
}
