/* number_text.c - how numbers are written in experiment files. */
#include "number_text.h"

#include <ctype.h>

static size_t count_digits(const char *p)
{
    size_t n = 0;
    while (isdigit((unsigned char)p[n]))
        n++;
    return n;
}

/* L and LL are libconfig's suffixes of 64-bit integers. */
static bool ends_as_integer(const char *p)
{
    if (*p == 'L')
        p++;
    if (*p == 'L')
        p++;
    return *p == '\0';
}

/* The whole word must fit; libconfig alone would also take "." for 0.0. */
enum number_kind number_kind(const char *word)
{
    const char *p = word;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        size_t n = 0;
        while (isxdigit((unsigned char)p[2 + n]))
            n++;
        return n > 0 && ends_as_integer(p + 2 + n) ? NUMBER_HEX : NOT_A_NUMBER;
    }
    if (*p == '+' || *p == '-')
        p++;
    const size_t whole = count_digits(p);
    p += whole;
    if (whole > 0 && ends_as_integer(p))
        return NUMBER_INT;
    size_t fraction = 0;
    if (*p == '.') {
        fraction = count_digits(p + 1);
        p += 1 + fraction;
    }
    if (whole + fraction == 0)
        return NOT_A_NUMBER;
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        const size_t exponent = count_digits(p);
        if (exponent == 0)
            return NOT_A_NUMBER;
        p += exponent;
    }
    return *p == '\0' ? NUMBER_REAL : NOT_A_NUMBER;
}

static bool is_word_char(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_' || ch == '.';
}

/* A + or - belongs to the word only as the sign of an exponent. */
size_t number_bytes(const char *p, const char *end)
{
    const bool hex = end - p >= 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    size_t n = 1;
    while (p + n < end) {
        const bool exponent_sign =
            (p[n] == '+' || p[n] == '-') && !hex && (p[n - 1] == 'e' || p[n - 1] == 'E');
        if (!is_word_char(p[n]) && !exponent_sign)
            break;
        n++;
    }
    return n;
}

bool number_is_written_zero(const char *word)
{
    for (const char *p = word; *p != '\0' && *p != 'e' && *p != 'E'; p++) {
        if (*p >= '1' && *p <= '9')
            return false;
    }
    return true;
}
