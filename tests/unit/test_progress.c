/* Progress: lines where there is no terminal, a bar on one, the end of a run. */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "command/run/progress.h"

#define NOT_MEASURED ((double)NAN)

static struct progress_options options(FILE *to)
{
    return (struct progress_options){.to = to,
                                     .label = "digits seed 1",
                                     .measure = "accuracy",
                                     .rounds = 30,
                                     .first_round = 10,
                                     .clients = 25,
                                     .bar = progress_wants_bar(to)};
}

static void test_lines(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    struct progress_options o = options(stdout);
    o.to = to;
    o.bar = false;
    struct progress *p = progress_create(&o);
    progress_step(p, 10, 1, 2);
    progress_round(p, 10, 18, 0.6125);
    progress_round(p, 11, 19, NOT_MEASURED);
    progress_round(p, 12, 25, 0.7);
    progress_clear(p);
    progress_destroy(p);
    o.quiet = true;
    p = progress_create(&o);
    progress_round(p, 10, 18, 0.6125);
    progress_destroy(p);
    progress_destroy(NULL);
    fclose(to);
    assert_true(
        strncmp(text, "digits seed 1  round 11/30  accuracy 61.25 %  18/25 clients  0:0", 60) == 0);
    assert_non_null(strstr(text, "\ndigits seed 1  round 13/30  accuracy 70.00 %  25/25 clients"));
    assert_null(strstr(text, "12/30"));
    assert_null(strchr(text, '\033'));
    size_t lines = 0;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 2);
    free(text);
}

/* A pseudo-terminal of so many columns; -1: none to be had. */
static int open_terminal(unsigned short columns, FILE **to)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return -1;
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    ioctl(master, TIOCSWINSZ, &size);
    *to = fopen(ptsname(master), "w");
    return *to == NULL ? -1 : master;
}

/* Everything that has been written to the terminal; the kernel may hand it over in pieces. */
static size_t screen_of(int master, char *text, size_t size)
{
    size_t used = 0;
    struct pollfd ready = {.fd = master, .events = POLLIN};
    while (used + 1 < size && poll(&ready, 1, 100) > 0) {
        const ssize_t n = read(master, text + used, size - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
    return used;
}

static void test_bar(void **state)
{
    (void)state;
    static const unsigned short columns[] = {20, 60, 100, 300};
    setenv("TERM", "xterm", 1);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        FILE *to = NULL;
        const int master = open_terminal(columns[i], &to);
        if (master < 0) {
            print_message("no pseudo-terminal to be had\n");
            skip();
        }
        struct progress_options o = options(to);
        assert_true(o.bar);
        struct progress *p = progress_create(&o);
        progress_step(p, 10, 0, 25);
        for (uint64_t k = 0; k < 1000; k++) /* far faster than ten times a second */
            progress_step(p, 10, k, 1000);
        progress_round(p, 29, 18, 0.6125);
        char text[8192];
        screen_of(master, text, sizeof text);
        size_t draws = 0;
        for (const char *line = strstr(text, "\r\033[K"); line != NULL;
             line = strstr(line + 1, "\r\033[K")) {
            const char *next = strstr(line + 1, "\r\033[K");
            const size_t width = (next == NULL ? strlen(line) : (size_t)(next - line)) - 4;
            assert_true(width < columns[i]);
            draws++;
        }
        assert_in_range(draws, 2, 20); /* 1003 were asked for */
        if (columns[i] >= 60)
            assert_non_null(strstr(text, "30/30  accuracy 61.25 %  18/25 clients"));
        if (columns[i] >= 100)
            assert_non_null(strstr(text, "[#"));
        progress_clear(p);
        assert_int_equal(screen_of(master, text, sizeof text), 4);
        progress_destroy(p);
        fclose(to);
        close(master);
    }
    FILE *to = NULL;
    const int master = open_terminal(80, &to);
    setenv("TERM", "dumb", 1);
    assert_false(progress_wants_bar(to));
    fclose(to);
    close(master);
}

static void expect_summary(const struct results_summary *s, const char *measure, const char *note,
                           const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    progress_summary(to, "test", measure, s, "results/x", note);
    fclose(to);
    assert_string_equal(text, expected);
    free(text);
}

static void test_summary(void **state)
{
    (void)state;
    const struct results_summary s = {
        .evaluations = 3, .best = 0.76714, .best_round = 48, .last = 0.75, .last_round = 49};
    expect_summary(&s, "accuracy", "",
                   "best test accuracy 76.71 % after 49 rounds, last accuracy 75.00 % after 50 "
                   "rounds\nresults: results/x\n");
    expect_summary(&s, "loss", "some were dealt again (label 3: 1 time)",
                   "best test loss 0.76714 after 49 rounds, last loss 0.75 after 50 rounds\n"
                   "note: some were dealt again (label 3: 1 time)\nresults: results/x\n");
    const struct results_summary none = {0};
    expect_summary(&none, "accuracy", NULL, "results: results/x\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
