/* osafl/base.h - types that every public header needs.  C11; also parses as C++17.
 *
 * Rules that hold for every struct of this interface (RULES.md numbers them):
 *   - struct_size comes first and is set by the side that defines the object;
 *   - within one ABI major, members are only appended;
 *   - members have fixed widths, no enum, no bit-field, and there is no implicit padding. */
#ifndef OSAFL_BASE_H
#define OSAFL_BASE_H

/* Results must be the same on every machine (R9). */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "plugins of osafl are compiled without -ffast-math, -Ofast and -ffinite-math-only"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MAJOR is part of the entry symbol's name, so another MAJOR is a missing symbol and never a
 * misread struct.  From 0.2 on a plugin works with programs of the same MAJOR whose MINOR is at
 * least what it needs (osafl_plugin.abi_minor_needed). */
#define OSAFL_ABI_MAJOR 0
#define OSAFL_ABI_MINOR 2

#if defined(__GNUC__)
#define OSAFL_EXPORT __attribute__((visibility("default")))
#define OSAFL_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define OSAFL_MUST_USE __attribute__((warn_unused_result))
#else
#define OSAFL_EXPORT
#define OSAFL_PRINTF(fmt, first)
#define OSAFL_MUST_USE
#endif

/* True when object *p, whose first member is struct_size, is new enough to hold member m. */
#define OSAFL_HAS(p, T, m) ((p)->struct_size >= offsetof(T, m) + sizeof((p)->m))

/* Element i of an array whose element size the other side has stated. */
#define OSAFL_AT(T, base, stride, i)                                                               \
    ((const T *)(const void *)((const unsigned char *)(base) + (size_t)(stride) * (size_t)(i)))

/* One list feeds the enumerators, the texts and the manual.  Codes are never reused. */
#define OSAFL_STATUS_LIST(X)                                                                       \
    X(OSAFL_OK, 0, "success")                                                                      \
    X(OSAFL_E_CONFIG, -1, "a setting was refused")                                                 \
    X(OSAFL_E_NOMEM, -2, "out of memory")                                                          \
    X(OSAFL_E_DATA, -3, "input data are malformed")                                                \
    X(OSAFL_E_IO, -4, "a file could not be read or written")                                       \
    X(OSAFL_E_STATE, -5, "a saved state does not fit this instance")                               \
    X(OSAFL_E_NUMERIC, -6, "a value that must be finite was not")                                  \
    X(OSAFL_E_UNSUPPORTED, -7, "the operation is not offered by this plugin or host")              \
    X(OSAFL_E_CANCELLED, -8, "the host asked the call to stop")                                    \
    X(OSAFL_E_BUG, -9, "the caller broke this interface's contract")

typedef int32_t osafl_status; /* fixed width: an enum's size is the compiler's choice */
enum {
#define OSAFL_X(name, code, text) name = (code),
    OSAFL_STATUS_LIST(OSAFL_X)
#undef OSAFL_X
};

/* Returns from the enclosing function when expr is not OSAFL_OK. */
#define OSAFL_TRY(expr)                                                                            \
    do {                                                                                           \
        const osafl_status osafl_try_status_ = (expr);                                             \
        if (osafl_try_status_ != OSAFL_OK)                                                         \
            return osafl_try_status_;                                                              \
    } while (0)

/* Everything that a compiler could lay out differently on the two sides, as text, so that a
 * refusal can show both. */
#define OSAFL_STR_(x) #x
#define OSAFL_STR(x) OSAFL_STR_(x)
/* clang-format off */
#define OSAFL_FINGERPRINT                                                                          \
    "pointer " OSAFL_STR(__SIZEOF_POINTER__) ", float " OSAFL_STR(__SIZEOF_FLOAT__)                \
    ", order " OSAFL_STR(__BYTE_ORDER__)
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
