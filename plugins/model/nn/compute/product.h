/* product.h - matrix products whose operands lie as the layers have them. */
#ifndef OSAFL_NN_PRODUCT_H
#define OSAFL_NN_PRODUCT_H

#include "arithmetic.h"

#define product_run NN_MANGLE(product_run)

/* c[i][j] = scale * sum over s < segments, k < depth of
 *     a[i * a_row + s * a_segment + k * a_column] * b[s * b_segment + k * b_row + j],
 * added to what c holds when add is set; then bias[j] is added, and what is negative becomes 0 when
 * rectify is set; both only with a scale of 1.  Strides are in floats. */
struct product {
    size_t rows;
    size_t columns;
    size_t segments;
    size_t depth;
    const float *a;
    ptrdiff_t a_row;
    ptrdiff_t a_column;
    ptrdiff_t a_segment;
    const float *b;
    ptrdiff_t b_row;
    ptrdiff_t b_segment;
    float *c;
    ptrdiff_t c_row;
    float scale;
    bool add;
    bool rectify;
    const float *bias; /* NULL: none */
    /* Numbers that are needed next are asked for meanwhile, a few for each tile: more requests at
     * once than the processor can keep open would stop it. */
    const float *ahead;
    size_t ahead_floats;
};

/* By the kernels of product.c, or by OpenBLAS where the network's options say so. */
void product_run(const struct pass *pass, const struct product *p);

#endif
