/* prescan.h - reads the text of an experiment file before libconfig does.
 *
 * libconfig 1.5 reads 4294967296 as 0, 1e400 as infinity, the rest of a file after an unclosed
 * comment as nothing, and looks for included files in the working directory.  The pre-scan finds
 * all of that, with file and line, and makes one text out of a file and what it includes, in which
 * every number is written such that libconfig reads it right:
 *   - @include "x" is replaced by the file, a relative name being against the including file;
 *   - comments are blanked out;
 *   - integers become 64-bit (suffix L), reals get 17 digits and an exponent;
 *   - arrays become lists, so that integers and reals may stand in one;
 *   - a comma before a closing bracket is dropped, as later versions of libconfig do. */
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
