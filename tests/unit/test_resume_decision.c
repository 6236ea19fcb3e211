/* test_resume_decision.c - what is found in a run's folder against what is done with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "results/resume_decision.h"

enum { T = 20 };

/* Folders that rows of the table start from. */
enum base {
    EMPTY,    /* nothing */
    KILLED,   /* a checkpoint after 10 rounds, and some rows more */
    COMPLETE, /* with its checkpoints */
    DROPPED,  /* complete, without checkpoints */
    UNSAVED,  /* killed before its first checkpoint */
};

static struct resume_facts facts_of(enum base base)
{
    struct resume_facts f = {.manifest = base == EMPTY ? MANIFEST_NONE : MANIFEST_SAME,
                             .rounds = T};
    const bool ended = base == COMPLETE || base == DROPPED;
    if (base == EMPTY)
        return f;
    f.has_rows = true;
    f.ended = ended;
    f.model = ended ? FILE_WHOLE : FILE_ABSENT;
    for (int i = 0; i < RESULT_TABLES; i++)
        f.since_end[i] = ended ? FILE_WHOLE : FILE_ABSENT;
    if (base == KILLED || base == COMPLETE) {
        f.checkpoints = CHECKPOINT_USABLE;
        f.checkpoint_round = ended ? T : 10;
        for (int i = 0; i < RESULT_TABLES; i++)
            f.since_checkpoint[i] = ended ? FILE_WHOLE : FILE_LONGER;
    }
    return f;
}

/* What is decided in short: the action, or "refuse REASON", with "+" notes behind. */
static const char *decide(const struct resume_facts *f, bool force, bool accept)
{
    static const char *const actions[] = {"start", "go on", "complete"};
    static const char *const refusals[] = {"",     "manifest", "other run", "no manifest",
                                           "data", "changed",  "table",     "checkpoints",
                                           "lost"};
    static char text[64];
    const struct resume_decision d =
        resume_decide(f, (struct resume_wish){.force = force, .accept_changes = accept});
    if (d.action == RESUME_REFUSE && (d.refusal == REFUSED_TABLE || d.refusal == REFUSED_LOST))
        snprintf(text, sizeof text, "%s %u", refusals[d.refusal], d.table);
    else
        snprintf(text, sizeof text, "%s%s%s",
                 d.action == RESUME_REFUSE ? refusals[d.refusal] : actions[d.action],
                 d.record_changes ? "+record" : "", d.rows_are_lost ? "+warn" : "");
    return text;
}

/* One row: plain, with --accept-changes; with --force every folder is started anew. */
static void expect(const struct resume_facts *f, const char *plain, const char *accepting,
                   const char *what)
{
    const char *got = decide(f, false, false);
    if (strcmp(got, plain) != 0)
        fail_msg("%s: \"%s\" instead of \"%s\"", what, got, plain);
    got = decide(f, false, true);
    if (strcmp(got, accepting) != 0)
        fail_msg("%s, --accept-changes: \"%s\" instead of \"%s\"", what, got, accepting);
    got = decide(f, true, false);
    if (strcmp(got, "start") != 0)
        fail_msg("%s, --force: \"%s\"", what, got);
    got = decide(f, true, true);
    if (strcmp(got, "start") != 0)
        fail_msg("%s, --force --accept-changes: \"%s\"", what, got);
}

static void test_manifest(void **state)
{
    (void)state;
    static const struct {
        enum base base;
        enum manifest_found manifest;
        const char *plain;
        const char *accepting;
    } rows[] = {
        {EMPTY, MANIFEST_NONE, "start", "start"},
        {KILLED, MANIFEST_SAME, "go on", "go on"},
        {KILLED, MANIFEST_DAMAGED, "manifest", "manifest"},
        {KILLED, MANIFEST_OTHER, "other run", "other run"},
        {KILLED, MANIFEST_CHANGED, "changed", "go on+record"},
        {KILLED, MANIFEST_OTHER_DATA, "changed", "go on+record"},
        {COMPLETE, MANIFEST_SAME, "complete", "complete"},
        {COMPLETE, MANIFEST_DAMAGED, "manifest", "manifest"},
        {COMPLETE, MANIFEST_OTHER, "other run", "other run"},
        {COMPLETE, MANIFEST_CHANGED, "complete", "complete"},
        {COMPLETE, MANIFEST_OTHER_DATA, "data", "data"}, /* nothing to go on with */
        {DROPPED, MANIFEST_SAME, "complete", "complete"},
        {DROPPED, MANIFEST_CHANGED, "complete", "complete"},
        {DROPPED, MANIFEST_OTHER_DATA, "data", "data"},
        {UNSAVED, MANIFEST_SAME, "start+warn", "start+warn"},
        {UNSAVED, MANIFEST_CHANGED, "changed", "start+warn"},
        {UNSAVED, MANIFEST_OTHER_DATA, "changed", "start+warn"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char what[64];
        struct resume_facts f = facts_of(rows[i].base);
        f.manifest = rows[i].manifest;
        snprintf(what, sizeof what, "row %zu", i);
        expect(&f, rows[i].plain, rows[i].accepting, what);
    }
    struct resume_facts f = facts_of(EMPTY);
    f.file_without_manifest = "clients.csv";
    expect(&f, "no manifest", "no manifest", "somebody's clients.csv");
    f = facts_of(UNSAVED);
    f.has_rows = false;
    expect(&f, "start", "start", "no row");
}

static void test_tables(void **state)
{
    (void)state;
    static const enum file_found found[] = {FILE_ABSENT, FILE_SHORTER, FILE_CHANGED, FILE_UNFIT,
                                            FILE_LONGER};
    char what[64];
    char table[16];
    char lost[16];
    for (unsigned i = 0; i < RESULT_TABLES; i++) {
        snprintf(table, sizeof table, "table %u", i);
        snprintf(lost, sizeof lost, "lost %u", i);
        for (size_t k = 0; k < sizeof found / sizeof found[0]; k++) {
            snprintf(what, sizeof what, "table %u %s", i, file_problem(found[k]));
            struct resume_facts f = facts_of(KILLED);
            f.since_checkpoint[i] = found[k];
            expect(&f, found[k] == FILE_LONGER ? "go on" : table,
                   found[k] == FILE_LONGER ? "go on" : table, what);
            f = facts_of(COMPLETE);
            f.since_checkpoint[i] = f.since_end[i] = found[k];
            expect(&f, table, table, what);
            f = facts_of(DROPPED);
            f.since_end[i] = found[k];
            expect(&f, lost, lost, what);
        }
    }
}

static void test_checkpoints(void **state)
{
    (void)state;
    struct resume_facts f = facts_of(KILLED);
    f.checkpoints = CHECKPOINTS_DAMAGED;
    expect(&f, "checkpoints", "checkpoints", "all damaged");
    f.manifest = MANIFEST_CHANGED; /* which may be why they cannot be read */
    expect(&f, "changed", "checkpoints", "all damaged, and another program");
    f = facts_of(COMPLETE);
    f.checkpoints = CHECKPOINTS_DAMAGED;
    expect(&f, "complete", "complete", "complete, all damaged");
    f.model = FILE_SHORTER;
    expect(&f, "checkpoints", "checkpoints", "complete, all damaged, and no model");

    f = facts_of(COMPLETE); /* the newest is damaged; the one before has less rows */
    f.checkpoint_round = 18;
    for (int i = 0; i < RESULT_TABLES; i++)
        f.since_checkpoint[i] = FILE_LONGER;
    expect(&f, "complete", "complete", "complete, the newest damaged");
    f.model = FILE_ABSENT;
    expect(&f, "go on", "go on", "complete, the newest damaged, and no model");
}

static void test_model_and_environment(void **state)
{
    (void)state;
    static const enum file_found found[] = {FILE_ABSENT, FILE_SHORTER, FILE_CHANGED, FILE_UNFIT,
                                            FILE_LONGER};
    for (size_t k = 0; k < sizeof found / sizeof found[0]; k++) {
        struct resume_facts f = facts_of(COMPLETE);
        f.model = found[k];
        expect(&f, "go on", "go on", "the last checkpoint makes a model anew");
        f.manifest = MANIFEST_CHANGED;
        expect(&f, "changed", "go on+record", "another program makes a model anew");
        f = facts_of(DROPPED);
        f.model = found[k];
        expect(&f, "lost 3", "lost 3", "no checkpoint makes a model");
    }
    /* environment.json absent, damaged, or of a run that goes on. */
    struct resume_facts f = facts_of(COMPLETE);
    f.ended = false;
    expect(&f, "complete", "complete", "complete, no environment");
    f = facts_of(DROPPED);
    f.ended = false;
    expect(&f, "complete", "complete", "complete, no checkpoints, no environment");
    f.since_end[0] = FILE_SHORTER;
    expect(&f, "lost 0", "lost 0", "the same with too few rows");
    f = facts_of(KILLED); /* a model that cannot be its own */
    f.model = FILE_WHOLE;
    for (int i = 0; i < RESULT_TABLES; i++)
        f.since_end[i] = FILE_WHOLE;
    expect(&f, "go on", "go on", "unfinished, with a model");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manifest),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_checkpoints),
        cmocka_unit_test(test_model_and_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
