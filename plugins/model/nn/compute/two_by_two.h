/* two_by_two.h - 3x3 convolutions, stride 1 and padding 1, on maps of 2x2 pixels. */
#ifndef OSAFL_NN_TWO_BY_TWO_H
#define OSAFL_NN_TWO_BY_TWO_H

#include "arithmetic.h"

#define two_by_two_forward NN_MANGLE(two_by_two_forward)
#define two_by_two_input_gradient NN_MANGLE(two_by_two_input_gradient)
#define two_by_two_weight_gradient NN_MANGLE(two_by_two_weight_gradient)

void two_by_two_forward(const struct layer *l, const struct pass *pass);
/* Both read the output's gradient; the input's first: the weights' may change the weights. */
void two_by_two_input_gradient(const struct layer *l, const struct pass *pass);
void two_by_two_weight_gradient(const struct layer *l, const struct pass *pass);

#endif
