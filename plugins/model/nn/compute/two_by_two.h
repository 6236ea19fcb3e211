/* two_by_two.h - 3x3 convolutions, stride 1 and padding 1, on maps of 2x2 pixels. */
#ifndef OSAFL_NN_TWO_BY_TWO_H
#define OSAFL_NN_TWO_BY_TWO_H

#include "arithmetic.h"

#define two_by_two_forward NN_MANGLE(two_by_two_forward)
#define two_by_two_backward NN_MANGLE(two_by_two_backward)

void two_by_two_forward(const struct layer *l, const struct pass *pass);
void two_by_two_backward(const struct layer *l, const struct pass *pass);

#endif
