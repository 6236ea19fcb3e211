/* osafl/param.h - a plugin declares its settings as a table.  The host parses, range-checks,
 * documents, records and fuzzes from it, and hands create() a filled struct: plugins contain no
 * parsing code. */
#ifndef OSAFL_PARAM_H
#define OSAFL_PARAM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Member types of a config struct beside bool, int64_t, double and const char *. */
typedef struct osafl_choice { /* which of osafl_param.choices, counted from 0 */
    int32_t index;
} osafl_choice;

typedef struct osafl_range { /* written [lo, hi], or one number for lo = hi; lo <= hi */
    double lo;
    double hi;
} osafl_range;

typedef struct osafl_reals { /* owned by the host, as long-lived as the instance */
    const double *v;
    uint64_t n;
} osafl_reals;

enum {
    OSAFL_T_BOOL = 1, /* bool */
    OSAFL_T_INT,      /* int64_t */
    OSAFL_T_REAL,     /* double, always finite; the file may write an integer */
    OSAFL_T_TEXT,     /* const char *, UTF-8, owned by the host */
    OSAFL_T_PATH,     /* const char *; a relative path in a file is against that file's folder, a
                       * leading ~/ is the home folder */
    OSAFL_T_CHOICE,   /* osafl_choice */
    OSAFL_T_RANGE,    /* osafl_range; lo and hi bound both ends */
    OSAFL_T_REALS,    /* osafl_reals; lo and hi bound every element; the default is empty */
};

enum {
    OSAFL_P_REQUIRED = 1 << 0,  /* no default: the experiment file must set it */
    OSAFL_P_LO_OPEN = 1 << 1,   /* lo itself is outside the range */
    OSAFL_P_HI_OPEN = 1 << 2,   /* hi itself is outside the range */
    OSAFL_P_NO_EFFECT = 1 << 3, /* cannot change any result byte: left out of the run's identity */
    OSAFL_P_LATER = 1 << 4,     /* added after runs were kept, and its default is what they did: at
                                 * its default it is left out of the identity, so that theirs stays
                                 * what it was.  The default must never change. */
};

/* 64-bit integers keep their own bounds: a double cannot hold INT64_MAX. */
typedef union osafl_value {
    int64_t i; /* OSAFL_T_INT; OSAFL_T_BOOL as 0 or 1; OSAFL_T_CHOICE as the index */
    double r;  /* OSAFL_T_REAL; bounds of OSAFL_T_RANGE and OSAFL_T_REALS */
    const char *s;
} osafl_value;

typedef struct osafl_param {
    const char *name;           /* [a-z][a-z0-9_]*; the macros use the member's own name */
    const char *doc;            /* one sentence, no trailing full stop */
    const char *unit;           /* "s", "bit/s", "clients"; NULL for a pure number */
    const char *const *choices; /* OSAFL_T_CHOICE: NULL-terminated */
    osafl_value def;            /* OSAFL_T_RANGE: lower end of the default */
    osafl_value def_hi;         /* OSAFL_T_RANGE: upper end of the default */
    osafl_value lo;             /* OSAFL_T_INT, OSAFL_T_REAL, OSAFL_T_RANGE, OSAFL_T_REALS */
    osafl_value hi;
    uint32_t type;              /* OSAFL_T_* */
    uint32_t flags;             /* OSAFL_P_* */
    uint32_t offset;            /* of the member in the config struct */
    uint32_t reserved;
} osafl_param;

/* Rows of a table.  S is the config struct, m its member; the trailing arguments are the doc
 * string, then any further designated members (.unit = "s", .flags = OSAFL_P_REQUIRED). */
#ifndef __cplusplus
/* _Generic with one association: naming a member of another type does not compile. */
#define OSAFL_BIND_(S, m, ctype, tag)                                                              \
    .name = #m, .offset = (uint32_t)offsetof(S, m), .type = _Generic(((S *)0)->m, ctype : (tag))
#define OSAFL_BOOL(S, m, d, ...)                                                                   \
    { OSAFL_BIND_(S, m, bool, OSAFL_T_BOOL), .def.i = (d), .doc = __VA_ARGS__ }
#define OSAFL_INT(S, m, d, l, h, ...)                                                              \
    {                                                                                              \
        OSAFL_BIND_(S, m, int64_t, OSAFL_T_INT), .def.i = (d), .lo.i = (l), .hi.i = (h),           \
                                                 .doc = __VA_ARGS__                                \
    }
#define OSAFL_REAL(S, m, d, l, h, ...)                                                             \
    {                                                                                              \
        OSAFL_BIND_(S, m, double, OSAFL_T_REAL), .def.r = (d), .lo.r = (l), .hi.r = (h),           \
                                                 .doc = __VA_ARGS__                                \
    }
#define OSAFL_TEXT(S, m, d, ...)                                                                   \
    { OSAFL_BIND_(S, m, const char *, OSAFL_T_TEXT), .def.s = (d), .doc = __VA_ARGS__ }
#define OSAFL_PATH(S, m, d, ...)                                                                   \
    { OSAFL_BIND_(S, m, const char *, OSAFL_T_PATH), .def.s = (d), .doc = __VA_ARGS__ }
#define OSAFL_CHOICE(S, m, d, list, ...)                                                           \
    {                                                                                              \
        OSAFL_BIND_(S, m, osafl_choice, OSAFL_T_CHOICE), .def.i = (d), .choices = (list),          \
                                                         .doc = __VA_ARGS__                        \
    }
#define OSAFL_RANGE(S, m, dl, dh, l, h, ...)                                                       \
    {                                                                                              \
        OSAFL_BIND_(S, m, osafl_range, OSAFL_T_RANGE), .def.r = (dl), .def_hi.r = (dh),            \
                                                       .lo.r = (l), .hi.r = (h),                   \
                                                       .doc = __VA_ARGS__                          \
    }
#define OSAFL_REALS(S, m, l, h, ...)                                                               \
    { OSAFL_BIND_(S, m, osafl_reals, OSAFL_T_REALS), .lo.r = (l), .hi.r = (h), .doc = __VA_ARGS__ }
#endif

#ifdef __cplusplus
}
#endif
#endif
