/* osafl/param.h - a plugin declares its settings as a table.  The host parses, range-checks,
 * documents, records and fuzzes from it, and hands create() a filled struct: plugins contain no
 * parsing code. */
#ifndef OSAFL_PARAM_H
#define OSAFL_PARAM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Member types of a config struct besides bool, int64_t, double and const char *. */
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

/* Rows of OSAFL_T_ROWS, owned by the host, as long-lived as the instance. */
typedef struct osafl_origin { /* of a row in the experiment file, for messages */
    const char *file;         /* "--set" on the command line */
    uint32_t line;            /* 0: none */
    uint32_t reserved;
} osafl_origin;

typedef struct osafl_rows {
    const void *v;          /* n structs as the parameter's osafl_row_type says */
    const osafl_origin *at; /* of each */
    uint64_t n;
} osafl_rows;

enum {
    OSAFL_T_BOOL = 1, /* bool */
    OSAFL_T_INT,      /* int64_t; choices: words that may stand for a number, -1, -2, ... */
    OSAFL_T_REAL,     /* double, always finite; the file may write an integer */
    OSAFL_T_TEXT,     /* const char *, UTF-8, owned by the host */
    OSAFL_T_PATH,     /* const char *; a relative path in a file is against that file's folder, a
                       * leading ~/ is the home folder */
    OSAFL_T_CHOICE,   /* osafl_choice */
    OSAFL_T_RANGE,    /* osafl_range; lo and hi bound both ends */
    OSAFL_T_REALS,    /* osafl_reals; lo and hi bound every element; the default is empty */
    OSAFL_T_ROWS,     /* osafl_rows, written ({ key = value; }, ...): def.row says what a row holds,
                       * lo and hi bound their number; the default is empty */
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
    const struct osafl_row_type *row; /* OSAFL_T_ROWS */
} osafl_value;

typedef struct osafl_param {
    const char *name;           /* [a-z][a-z0-9_]*; the macros use the member's own name */
    const char *doc;            /* one sentence, no trailing full stop */
    const char *unit;           /* "s", "bit/s", "clients"; NULL for a pure number */
    const char *const *choices; /* OSAFL_T_CHOICE, OSAFL_T_INT: NULL-terminated */
    osafl_value def;            /* OSAFL_T_RANGE: lower end of the default */
    osafl_value def_hi;         /* OSAFL_T_RANGE: upper end of the default */
    osafl_value lo;             /* OSAFL_T_INT, _REAL, _RANGE, _REALS; i of OSAFL_T_ROWS */
    osafl_value hi;
    uint32_t type;   /* OSAFL_T_* */
    uint32_t flags;  /* OSAFL_P_* */
    uint32_t offset; /* of the member in the config struct */
    uint32_t reserved;
} osafl_param;

/* The table of settings of a row: any types but OSAFL_T_PATH and OSAFL_T_ROWS, and no
 * OSAFL_P_NO_EFFECT. */
typedef struct osafl_row_type {
    const osafl_param *params;
    uint32_t n_params;
    uint32_t param_size; /* the host's stride through params */
    uint32_t size;       /* of a row's struct */
    uint32_t reserved;
} osafl_row_type;

/* Rows of a table.  S is the config struct, m its member; the trailing arguments are the doc
 * string, then any further designated members (.unit = "s", .flags = OSAFL_P_REQUIRED). */
#ifndef __cplusplus
/* _Generic with one association: naming a member of another type does not compile. */
#define OSAFL_BIND_(S, m, ctype, tag)                                                              \
    .name = #m, .offset = (uint32_t)offsetof(S, m), .type = _Generic(((S *)0)->m, ctype : (tag))
#define OSAFL_BOOL(S, m, d, ...)                                                                   \
    {                                                                                              \
        OSAFL_BIND_(S, m, bool, OSAFL_T_BOOL), .def.i = (d), .doc = __VA_ARGS__                    \
    }
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
    {                                                                                              \
        OSAFL_BIND_(S, m, const char *, OSAFL_T_TEXT), .def.s = (d), .doc = __VA_ARGS__            \
    }
#define OSAFL_PATH(S, m, d, ...)                                                                   \
    {                                                                                              \
        OSAFL_BIND_(S, m, const char *, OSAFL_T_PATH), .def.s = (d), .doc = __VA_ARGS__            \
    }
#define OSAFL_CHOICE(S, m, d, list, ...)                                                           \
    {                                                                                              \
        OSAFL_BIND_(S, m, osafl_choice, OSAFL_T_CHOICE), .def.i = (d), .choices = (list),          \
                                                         .doc = __VA_ARGS__                        \
    }
#define OSAFL_RANGE(S, m, dl, dh, l, h, ...)                                                       \
    {                                                                                              \
        OSAFL_BIND_(S, m, osafl_range, OSAFL_T_RANGE),                                             \
            .def.r = (dl), .def_hi.r = (dh), .lo.r = (l), .hi.r = (h), .doc = __VA_ARGS__          \
    }
/* Words 0, 1, ... of the list stand for -1, -2, ...; numbers are those of [l, h], l >= 0. */
#define OSAFL_INT_OR(S, m, d, l, h, list, ...)                                                     \
    {                                                                                              \
        OSAFL_BIND_(S, m, int64_t, OSAFL_T_INT), .def.i = (d), .lo.i = (l), .hi.i = (h),           \
                                                 .choices = (list), .doc = __VA_ARGS__             \
    }
/* list: a static table of osafl_param for struct T, a row. */
#define OSAFL_ROW_TYPE(list, T)                                                                    \
    {                                                                                              \
        .params = (list), .n_params = (uint32_t)(sizeof(list) / sizeof((list)[0])),                \
        .param_size = (uint32_t)sizeof(osafl_param), .size = (uint32_t)sizeof(T)                   \
    }
#define OSAFL_ROWS(S, m, type_, l, h, ...)                                                         \
    {                                                                                              \
        OSAFL_BIND_(S, m, osafl_rows, OSAFL_T_ROWS), .def.row = (type_), .lo.i = (l), .hi.i = (h), \
                                                     .doc = __VA_ARGS__                            \
    }
#define OSAFL_REALS(S, m, l, h, ...)                                                               \
    {                                                                                              \
        OSAFL_BIND_(S, m, osafl_reals, OSAFL_T_REALS), .lo.r = (l), .hi.r = (h),                   \
                                                       .doc = __VA_ARGS__                          \
    }
#endif

#ifdef __cplusplus
}
#endif
#endif
