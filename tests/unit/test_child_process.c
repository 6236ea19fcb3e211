/* test_child_process.c - questions that are answered in a process of their own. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/child_process.h"

#define ANSWER 42u

static _Noreturn void answer(int fd, size_t size)
{
    const uint64_t word = ANSWER;
    _exit(write(fd, &word, size) == (ssize_t)size ? 3 : EXIT_FAILURE);
}

static void does_answer(const void *arg, int fd)
{
    if (*(const int *)arg != 7 || isatty(STDERR_FILENO))
        _exit(EXIT_FAILURE);
    answer(fd, sizeof(uint64_t));
}

static void answers_half(const void *arg, int fd)
{
    (void)arg;
    answer(fd, sizeof(uint64_t) / 2);
}

static void crashes(const void *arg, int fd)
{
    (void)arg, (void)fd;
    raise(SIGKILL);
}

static void hangs(const void *arg, int fd)
{
    (void)arg, (void)fd;
    for (;;)
        pause();
}

/* Runs here on the first processor only. */
static void share_a_processor(void)
{
    cpu_set_t all;
    cpu_set_t first;
    CPU_ZERO(&first);
    sched_getaffinity(0, sizeof all, &all);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; i++) {
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &first);
    }
    sched_setaffinity(0, sizeof first, &first);
}

static double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Answers after 0.15 s of computing, on a processor that four others want as well. */
static void computes_among_others(const void *arg, int fd)
{
    share_a_processor();
    for (int i = 0; i < 4; i++) {
        if (fork() == 0) {
            for (;;)
                continue;
        }
    }
    while (processor_s() < 0.15)
        continue;
    does_answer(arg, fd);
}

static void computes_for_ever(const void *arg, int fd)
{
    (void)arg, (void)fd;
    for (;;)
        continue;
}

/* Leaves a process behind, whose number is the answer. */
static void starts_another(const void *arg, int fd)
{
    const pid_t other = fork();
    if (other == 0)
        hangs(arg, fd);
    const uint64_t word = (uint64_t)other;
    _exit(write(fd, &word, sizeof word) == (ssize_t)sizeof word ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void returns(const void *arg, int fd)
{
    (void)arg, (void)fd;
}

static uint64_t word;
static struct child_end end;

static void ask(child_work *work, double limit_s)
{
    const int seven = 7;
    word = UINT64_MAX;
    assert_true(child_ask(work, &seven, limit_s, &word, sizeof word, &end));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void test_answer(void **state)
{
    (void)state;
    ask(does_answer, 60.0);
    assert_true(end.answered && !end.late);
    assert_int_equal(word, ANSWER);
    assert_int_equal(WEXITSTATUS(end.status), 3);
}

static void test_no_answer(void **state)
{
    (void)state;
    ask(answers_half, 60.0);
    assert_true(!end.answered && !end.late);
    assert_true(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 3);
    assert_int_equal(word, ANSWER); /* the half that came, and zeros */
    ask(crashes, 60.0);
    assert_true(!end.answered && !end.late);
    assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL);
    assert_int_equal(word, 0);
    ask(returns, 60.0);
    assert_true(!end.answered && WIFEXITED(end.status));
    assert_int_equal(WEXITSTATUS(end.status), EXIT_FAILURE);
}

static void test_late(void **state)
{
    (void)state;
    child_work *const works[] = {hangs, computes_for_ever};
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        ask(works[i], 0.05);
        assert_true(!end.answered && end.late);
        assert_int_equal(WTERMSIG(end.status), SIGKILL);
    }
}

/* What counts is what the child computes, not what it waits for a processor. */
static void test_busy_machine(void **state)
{
    (void)state;
    ask(computes_among_others, 0.3);
    assert_true(end.answered && !end.late);
    assert_int_equal(word, ANSWER);
}

/* True once the process is gone, or is a corpse that its new parent has not buried. */
static bool is_gone(pid_t process)
{
    char path[64];
    char text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return true;
    const bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return !read || (name_end != NULL && name_end[2] == 'Z');
}

static void test_nothing_is_left(void **state)
{
    (void)state;
    ask(starts_another, 60.0);
    assert_true(end.answered && word > 0);
    for (int i = 0; i < 5000 && !is_gone((pid_t)word); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_true(is_gone((pid_t)word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_busy_machine),
        cmocka_unit_test(test_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
