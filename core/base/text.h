/* text.h - short texts: numbers that a user wrote, and messages and lists that grow by pieces. */
#ifndef OSAFL_CORE_TEXT_H
#define OSAFL_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "osafl/base.h"

/* The whole text is a whole number in decimal digits, from least to most. */
bool text_whole(const char *text, uint64_t least, uint64_t most, uint64_t *out);

/* The whole text is a finite decimal number: no blanks, no hexadecimal digits, no "inf" or "nan".
 * The program never leaves the "C" locale, so that the decimal point is a point. */
bool text_real(const char *text, double *out);

/* Appends to the text in a buffer of size bytes; what does not fit is cut. */
void text_append(char *text, size_t size, const char *fmt, ...) OSAFL_PRINTF(3, 4);

/* Appends an item to a list such as "a, b, c", separated by `between`.  Where it does not fit as a
 * whole the list ends in "..." and takes nothing more: false. */
bool text_append_item(char *list, size_t size, const char *between, const char *item);

/* "1 x 28 x 28": a shape in words, in the caller's buffer. */
#define TEXT_SHAPE_BYTES 56
const char *text_shape(char text[TEXT_SHAPE_BYTES], const uint32_t *shape, uint32_t rank);

/* What a noun ends in that is counted: "%u round%s". */
static inline const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

#endif
