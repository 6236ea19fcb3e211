/* source_text.c - reading of text files with bounds. */
#include "source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK keeps open() from waiting for the other end of a pipe.  The size is taken once: of
 * a file that grows meanwhile, what was there at first is read. */
char *source_read(const char *file, size_t max_bytes, size_t *size, const char **why)
{
    const int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        *why = strerror(errno);
        return NULL;
    }
    struct stat st;
    char *text = NULL;
    *why = NULL;
    if (fstat(fd, &st) != 0)
        *why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        *why = "not a regular file";
    else if ((uintmax_t)st.st_size > max_bytes)
        *why = "too large";
    else if ((text = malloc((size_t)st.st_size + 1)) == NULL)
        *why = "out of memory";
    size_t n = 0;
    while (*why == NULL && n < (size_t)st.st_size) {
        const ssize_t got = read(fd, text + n, (size_t)st.st_size - n);
        if (got < 0 && errno != EINTR)
            *why = strerror(errno);
        else if (got == 0)
            break;
        else if (got > 0)
            n += (size_t)got;
    }
    close(fd);
    if (*why != NULL) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    *size = n;
    return text;
}

size_t utf8_valid_bytes(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n) {
        const unsigned char a = (unsigned char)s[i];
        const size_t follow = a < 0x80 ? 0 : a < 0xC2 ? 4 : a < 0xE0 ? 1 : a < 0xF0 ? 2 : 3;
        if (follow == 4 || a > 0xF4 || i + follow >= n)
            return i;
        for (size_t k = 1; k <= follow; k++) {
            if (((unsigned char)s[i + k] & 0xC0) != 0x80)
                return i;
        }
        /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
        const unsigned char b = follow > 0 ? (unsigned char)s[i + 1] : 0;
        if ((a == 0xE0 && b < 0xA0) || (a == 0xED && b > 0x9F) || (a == 0xF0 && b < 0x90) ||
            (a == 0xF4 && b > 0x8F))
            return i;
        i += follow + 1;
    }
    return n;
}
