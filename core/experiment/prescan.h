/* prescan.h - reads the text of an experiment file before libconfig does.
 *
 * What libconfig cannot do, and what is done here instead.  Version 1.5, which Debian 12 has, was
 * tried; the last column names a later version that is known to do it.
 *
 *   libconfig 1.5                               here                                     since
 *   reads 4294967296 as 0, without a word       integers get the suffix L; one that       -
 *                                               does not fit 64 bits is an error
 *   reads 1e400 as infinity, 1e-400 as 0        an error                                  -
 *   ignores the rest of a file behind a         an error at the line where it begins      -
 *   comment that is not closed, or a NUL
 *   takes \x80 and unknown escapes as bytes     an error; texts are UTF-8                 -
 *   looks for @include files in one folder      a name is against the including file;     1.7
 *                                               the files become one text                 (in part)
 *   allows one type of number in an array       arrays become lists                       -
 *   refuses a comma before a closing bracket    it is dropped                             1.7
 *   needs n^2 time for n settings of a group    their number is bounded, as are names,    -
 *   and a stack for each bracket                brackets and bytes
 *   stops at the first error, and calls every   all are found, each in words              -
 *   one a "syntax error"
 *
 * Everything else of the grammar is libconfig's own: its message is passed on with the line. */
#ifndef OSAFL_CORE_PRESCAN_H
#define OSAFL_CORE_PRESCAN_H

#include <stdbool.h>
#include <stddef.h>

struct diagnostics;

/* Where a line of the prepared text comes from. */
struct prescan_line {
    const char *file;
    const char *source; /* the line as it stands there, up to a newline or NUL */
    unsigned line;      /* from 1 */
    unsigned depth;     /* brackets that are open where it begins */
};

struct prescan_source; /* a text that was read */

struct prescan {
    char *text; /* for config_read_string() */
    size_t size;
    size_t capacity;
    struct prescan_line *lines;
    size_t n_lines;
    struct prescan_source *sources;
    size_t n_sources;
};

enum {
    PRESCAN_MAX_BYTES = 1 << 20, /* of a file and all that it includes */
    PRESCAN_MAX_DEPTH = 32,      /* of groups and lists */
    PRESCAN_MAX_SETTINGS = 4096, /* libconfig needs O(n^2) for n settings of a group */
    PRESCAN_MAX_NAME = 64,       /* bytes; that time grows with the names, too */
    PRESCAN_MAX_INCLUDES = 256,
    PRESCAN_MAX_NESTING = 10, /* of includes */
};

/* NULL when d got errors.  Everything that is wrong with the text at this level is in d. */
struct prescan *prescan_file(const char *file, struct diagnostics *d);

/* The same for n bytes of text; file: its name in messages, its folder that of includes. */
struct prescan *prescan_text(const char *text, size_t n, const char *file, struct diagnostics *d);

void prescan_destroy(struct prescan *p);

/* The origin of line `line` (from 1) of the prepared text; never NULL. */
const struct prescan_line *prescan_origin(const struct prescan *p, unsigned line);

/* True when the whole word is written like a number, whether or not it fits. */
bool prescan_is_number(const char *word);

/* Bytes of the valid UTF-8 at the start of s. */
size_t utf8_valid_bytes(const char *s, size_t n);

#endif
