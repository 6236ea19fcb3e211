/* strided_picture.h - the first convolution of 7x7 taps and stride 2, by minimal filtering. */
#ifndef OSAFL_NN_STRIDED_PICTURE_H
#define OSAFL_NN_STRIDED_PICTURE_H

#include "arithmetic.h"

#define strided_picture_forward NN_MANGLE(strided_picture_forward)
#define strided_picture_backward NN_MANGLE(strided_picture_backward)

void strided_picture_forward(const struct layer *l, const struct pass *pass);
void strided_picture_backward(const struct layer *l, const struct pass *pass);

#endif
