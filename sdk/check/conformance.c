/* conformance.c - tries the checks on one file and prints how they went. */
#include "conformance.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conform_process.h"
#include "plugin/kinds.h"

_Static_assert(sizeof((struct probe){0}.name) > 48, "a name must fit");

/* ---- choosing ------------------------------------------------------------------------------ */

/* True for the id itself and for the group before its dot. */
static bool is_meant(const struct check *k, const char *word)
{
    const size_t n = strlen(word);
    return strncmp(k->id, word, n) == 0 && (k->id[n] == '\0' || k->id[n] == '.');
}

bool conform_knows(const char *id_or_group)
{
    for (size_t i = 0; i < n_checks; i++) {
        if (is_meant(&checks[i], id_or_group))
            return true;
    }
    return false;
}

static bool is_left_out(const struct check *k, const struct conform_options *o)
{
    for (size_t i = 0; i < o->n_skip; i++) {
        if (is_meant(k, o->skip[i]))
            return true;
    }
    return false;
}

static bool is_chosen(const struct check *k, const struct conform_options *o)
{
    for (size_t i = 0; i < o->n_only; i++) {
        if (is_meant(k, o->only[i]))
            return true;
    }
    return o->n_only == 0;
}

void conform_list(FILE *to)
{
    for (size_t i = 0; i < n_checks; i++) {
        const struct check *k = &checks[i];
        fprintf(to, "%-24s R%-3u %s", k->id, k->rule, k->promise);
        if (k->kind != 0)
            fprintf(to, " [%s%s%s]", kind_name(k->kind), k->feature != NULL ? ", " : "",
                    k->feature != NULL ? k->feature : "");
        fputc('\n', to);
    }
}

/* ---- printing ------------------------------------------------------------------------------ */

#define MOST_REASONS 16

/* A failure that has been printed. */
struct failure {
    const char *id;
    struct error error;
};

struct report {
    FILE *to;
    const struct conform_options *options;
    const char *path;
    unsigned number; /* of the check last printed */
    unsigned passed;
    unsigned failed;
    unsigned skipped;
    struct failure printed[MOST_REASONS]; /* the first so many reasons */
    unsigned n_printed;
};

static void print_samples(FILE *to, const struct trial_samples *x)
{
    fputs(" --shape ", to);
    for (uint32_t i = 0; i < x->rank; i++)
        fprintf(to, "%s%" PRIu32, i > 0 ? "x" : "", x->shape[i]);
    fprintf(to, " --target %s:%" PRIu32 "%s",
            x->target_type == OSAFL_TARGET_REAL ? "real" : "class", x->target_size,
            x->x_type == OSAFL_X_INT32 ? " --integers" : "");
}

/* How to see a failure again. */
static void print_command(const struct report *t, const struct check *k)
{
    fprintf(t->to, "osafl plugin check --only %s --seed %" PRIu64, k->id, t->options->seed);
    for (size_t i = 0; i < t->options->n_set; i++)
        fprintf(t->to, " --set '%s'", t->options->set[i]);
    if (t->options->samples != NULL)
        print_samples(t->to, t->options->samples);
    fprintf(t->to, " %s", t->path);
}

/* The check that has failed for the same reason; NULL: none, and this one is remembered.  A call
 * that always fails fails in most checks, and the reader needs the reason once. */
static const char *same_before(struct report *t, const struct check *k, const struct verdict *v)
{
    for (unsigned i = 0; i < t->n_printed; i++) {
        if (strcmp(t->printed[i].error.text, v->error.text) == 0)
            return t->printed[i].id;
    }
    if (t->n_printed < MOST_REASONS) {
        struct failure *f = &t->printed[t->n_printed++];
        f->id = k->id;
        memcpy(f->error.text, v->error.text, sizeof f->error.text);
    }
    return NULL;
}

static void print_line(struct report *t, const struct check *k, const struct verdict *v)
{
    const char *before = v->outcome == OUTCOME_FAIL ? same_before(t, k, v) : NULL;
    if (before != NULL) {
        fprintf(t->to, "  FAIL  %-24s for the reason that %s gives\n", k->id, before);
    } else if (v->outcome == OUTCOME_FAIL) {
        fprintf(t->to, "  FAIL  %-24s the plugin %s\n", k->id, v->error.text);
        fprintf(t->to, "        R%u: it %s\n        again: ", k->rule, k->promise);
        print_command(t, k);
        fputc('\n', t->to);
    } else if (!t->options->quiet) {
        fprintf(t->to, "  %s  %-24s %s\n", v->outcome == OUTCOME_PASS ? "pass" : "skip", k->id,
                v->outcome == OUTCOME_PASS ? k->promise : v->error.text);
    }
}

/* A string of YAML in double quotes. */
static void print_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
    fputc('"', to);
}

static void print_tap(const struct report *t, const struct check *k, const struct verdict *v)
{
    fprintf(t->to, "%s %u - %s", v->outcome == OUTCOME_FAIL ? "not ok" : "ok", t->number, k->id);
    if (v->outcome == OUTCOME_SKIP)
        fprintf(t->to, " # SKIP %s", v->error.text);
    fputc('\n', t->to);
    if (v->outcome != OUTCOME_FAIL)
        return;
    fprintf(t->to, "  ---\n  rule: R%u\n  promise: ", k->rule);
    print_quoted(t->to, k->promise);
    fputs("\n  message: ", t->to);
    print_quoted(t->to, v->error.text);
    fprintf(t->to, "\n  seed: %" PRIu64 "\n  again: \"", t->options->seed);
    print_command(t, k);
    fputs("\"\n  ...\n", t->to);
}

static void print_verdict(struct report *t, const struct check *k, const struct verdict *v)
{
    t->number++;
    t->passed += v->outcome == OUTCOME_PASS;
    t->skipped += v->outcome == OUTCOME_SKIP;
    t->failed += v->outcome == OUTCOME_FAIL;
    if (t->options->tap)
        print_tap(t, k, v);
    else
        print_line(t, k, v);
    fflush(t->to);
}

static void print_heading(const struct report *t, const struct probe *p, unsigned n)
{
    if (t->options->tap)
        fprintf(t->to, "TAP version 13\n1..%u\n", n);
    const char *mark = t->options->tap ? "# " : "";
    if (p->problem.text[0] == '\0')
        fprintf(t->to, "%s%s/%s %s, %s\n", mark, kind_name(p->kind), p->name, p->version, t->path);
    else
        fprintf(t->to, "%s%s: %s\n", mark, t->path, p->problem.text);
}

static void print_summary(const struct report *t)
{
    fprintf(t->to, "%s%u checks: %u passed, %u failed, %u skipped\n", t->options->tap ? "# " : "  ",
            t->number, t->passed, t->failed, t->skipped);
}

/* ---- trying -------------------------------------------------------------------------------- */

/* A plugin that hangs does so in most checks: after the first, the others get a part of the time.
 */
#define PATIENCE_AFTER_HANG 0.1

static bool try_checks(const struct conform *c, const struct probe *p,
                       const struct conform_options *o, FILE *to)
{
    struct report t = {.to = to, .options = o, .path = c->path};
    double limit_s = o->limit_s;
    unsigned n = 0;
    for (size_t i = 0; i < n_checks; i++)
        n += p->applies[i] && is_chosen(&checks[i], o);
    print_heading(&t, p, n);
    for (size_t i = 0; i < n_checks; i++) {
        if (!p->applies[i] || !is_chosen(&checks[i], o))
            continue;
        struct conform one = *c;
        one.check = &checks[i];
        if (o->in_process)
            conform_here(&one);
        static const struct verdict left_out = {.outcome = OUTCOME_SKIP,
                                                .error.text = "left out by --skip"};
        const struct verdict v =
            is_left_out(&checks[i], o) ? left_out : conform_in_child(&one, limit_s);
        if (v.late)
            limit_s = PATIENCE_AFTER_HANG * o->limit_s;
        print_verdict(&t, &checks[i], &v);
    }
    print_summary(&t);
    /* A file that cannot be loaded has failed, even where only other checks were asked for. */
    return t.failed == 0 && (p->problem.text[0] == '\0');
}

bool conform_file(const char *path, const struct conform_options *o, FILE *to)
{
    char real[PATH_MAX];
    if (realpath(path, real) == NULL) {
        fprintf(stderr, "osafl: %s: ", path);
        perror(NULL);
        return false;
    }
    struct conform c = {
        .path = real, .set = o->set, .n_set = o->n_set, .samples = o->samples, .seed = o->seed};
    struct probe p;
    conform_probe(real, o->limit_s, &p);
    return try_checks(&c, &p, o, to);
}
