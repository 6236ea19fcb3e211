/* number_text.h - how numbers are written in experiment files.
 *
 * The grammar is libconfig's, but strict: whole words only, and no number without a digit. */
#ifndef OSAFL_CORE_NUMBER_TEXT_H
#define OSAFL_CORE_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum number_kind {
    NOT_A_NUMBER,
    NUMBER_INT,  /* -12, 12L */
    NUMBER_HEX,  /* 0x1F */
    NUMBER_REAL, /* 1.5, .5, 2e-3 */
};

/* What a whole word is, whether or not its value fits a type. */
enum number_kind number_kind(const char *word);

/* Bytes of the word that begins at p, before end, with a digit, a sign or a point. */
size_t number_bytes(const char *p, const char *end);

/* True when a NUMBER_REAL has no digit but 0 before its exponent. */
bool number_is_written_zero(const char *word);

#endif
