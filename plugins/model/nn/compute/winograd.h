/* winograd.h - 3x3 convolutions of stride 1 with a quarter of the multiplications. */
#ifndef OSAFL_NN_WINOGRAD_H
#define OSAFL_NN_WINOGRAD_H

#include "arithmetic.h"

#define winograd_forward NN_MANGLE(winograd_forward)
#define winograd_backward NN_MANGLE(winograd_backward)

void winograd_forward(const struct layer *l, const struct pass *pass);
void winograd_backward(const struct layer *l, const struct pass *pass);

#endif
