/* conform.c - tries the checks on one file and tells how they went. */
#include "conform.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conform_process.h"
#include "plugin/loader.h"
#include "plugin/plugin_file.h"
#include "plugin/plugin_verify.h"

_Static_assert(sizeof((struct probe){0}.name) > 48, "a name must fit");

/* ---- loading ------------------------------------------------------------------------------- */

bool conform_name_of(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash != NULL ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot == NULL || strcmp(dot, ".so") != 0)
        return false;
    *dot = '\0';
    return plugin_name_is_valid(name);
}

const osafl_plugin *conform_try_load(const char *path, char *why, size_t size)
{
    char hash[PLUGIN_HASH_BYTES];
    char name[NAME_MAX + 1];
    if (!conform_name_of(path, name, sizeof name)) {
        snprintf(why, size, "is not called NAME.so with a NAME of [a-z][a-z0-9_]{0,47}");
        return NULL;
    }
    if (!plugin_file_is_loadable(path, hash, why, size))
        return NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *reason = dlerror();
        snprintf(why, size, "cannot be mapped: %s", reason != NULL ? reason : "unknown");
        return NULL;
    }
    const osafl_plugin *(*entry)(void) = NULL;
    void *const address = dlsym(handle, OSAFL_ENTRY_SYMBOL);
    if (address == NULL) {
        snprintf(why, size, "exports no " OSAFL_ENTRY_SYMBOL);
        return NULL;
    }
    memcpy(&entry, &address, sizeof entry); /* the way from dlsym() that ISO C allows */
    const osafl_plugin *p = entry();
    /* The folder of an installed plugin must be that of its kind; a file in hand lies anywhere. */
    if (!plugin_verify(p, p != NULL ? p->kind : 0, name, why, size))
        return NULL;
    return p;
}

void conform_load(struct conform *c)
{
    char why[1024];
    c->plugin = conform_try_load(c->path, why, sizeof why);
    if (c->plugin == NULL)
        conform_fail(c, "%s", why);
}

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

/* ---- telling ------------------------------------------------------------------------------- */

#define MOST_REASONS 16

/* A failure that has been told. */
struct failure {
    const char *id;
    char message[VERDICT_BYTES];
};

struct telling {
    FILE *to;
    const struct conform_options *options;
    const char *path;
    unsigned number; /* of the check last told */
    unsigned passed;
    unsigned failed;
    unsigned skipped;
    struct failure told[MOST_REASONS]; /* the first so many reasons */
    unsigned n_told;
};

/* How to see a failure again. */
static void print_command(const struct telling *t, const struct check *k)
{
    fprintf(t->to, "osafl plugin check --only %s --seed %" PRIu64, k->id, t->options->seed);
    for (size_t i = 0; i < t->options->n_set; i++)
        fprintf(t->to, " --set '%s'", t->options->set[i]);
    fprintf(t->to, " %s", t->path);
}

/* The check that has failed for the same reason; NULL: none, and this one is remembered.  A call
 * that always fails fails in most checks, and the reader needs the reason once. */
static const char *same_before(struct telling *t, const struct check *k, const struct verdict *v)
{
    for (unsigned i = 0; i < t->n_told; i++) {
        if (strcmp(t->told[i].message, v->message) == 0)
            return t->told[i].id;
    }
    if (t->n_told < MOST_REASONS) {
        struct failure *f = &t->told[t->n_told++];
        f->id = k->id;
        memcpy(f->message, v->message, sizeof f->message);
    }
    return NULL;
}

static void tell_people(struct telling *t, const struct check *k, const struct verdict *v)
{
    const char *before = v->outcome == OUTCOME_FAIL ? same_before(t, k, v) : NULL;
    if (before != NULL) {
        fprintf(t->to, "  FAIL  %-24s for the reason that %s gives\n", k->id, before);
    } else if (v->outcome == OUTCOME_FAIL) {
        fprintf(t->to, "  FAIL  %-24s the plugin %s\n", k->id, v->message);
        fprintf(t->to, "        R%u: it %s\n        again: ", k->rule, k->promise);
        print_command(t, k);
        fputc('\n', t->to);
    } else if (!t->options->quiet) {
        fprintf(t->to, "  %s  %-24s %s\n", v->outcome == OUTCOME_PASS ? "pass" : "skip", k->id,
                v->outcome == OUTCOME_PASS ? k->promise : v->message);
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

static void tell_tap(const struct telling *t, const struct check *k, const struct verdict *v)
{
    fprintf(t->to, "%s %u - %s", v->outcome == OUTCOME_FAIL ? "not ok" : "ok", t->number, k->id);
    if (v->outcome == OUTCOME_SKIP)
        fprintf(t->to, " # SKIP %s", v->message);
    fputc('\n', t->to);
    if (v->outcome != OUTCOME_FAIL)
        return;
    fprintf(t->to, "  ---\n  rule: R%u\n  promise: ", k->rule);
    print_quoted(t->to, k->promise);
    fputs("\n  message: ", t->to);
    print_quoted(t->to, v->message);
    fprintf(t->to, "\n  seed: %" PRIu64 "\n  again: \"", t->options->seed);
    print_command(t, k);
    fputs("\"\n  ...\n", t->to);
}

static void tell(struct telling *t, const struct check *k, const struct verdict *v)
{
    t->number++;
    t->passed += v->outcome == OUTCOME_PASS;
    t->skipped += v->outcome == OUTCOME_SKIP;
    t->failed += v->outcome == OUTCOME_FAIL;
    if (t->options->tap)
        tell_tap(t, k, v);
    else
        tell_people(t, k, v);
    fflush(t->to);
}

static void tell_beginning(const struct telling *t, const struct probe *p, unsigned n)
{
    if (t->options->tap)
        fprintf(t->to, "TAP version 13\n1..%u\n", n);
    const char *mark = t->options->tap ? "# " : "";
    if (p->problem[0] == '\0')
        fprintf(t->to, "%s%s/%s %s, %s\n", mark, kind_name(p->kind), p->name, p->version, t->path);
    else
        fprintf(t->to, "%s%s: %s\n", mark, t->path, p->problem);
}

static void tell_end(const struct telling *t)
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
    struct telling t = {.to = to, .options = o, .path = c->path};
    double limit_s = o->limit_s;
    unsigned n = 0;
    for (size_t i = 0; i < n_checks; i++)
        n += p->applies[i] && is_chosen(&checks[i], o);
    tell_beginning(&t, p, n);
    for (size_t i = 0; i < n_checks; i++) {
        if (!p->applies[i] || !is_chosen(&checks[i], o))
            continue;
        struct conform one = *c;
        one.check = &checks[i];
        if (o->in_process)
            conform_here(&one);
        const struct verdict v = conform_in_child(&one, limit_s);
        if (v.late)
            limit_s = PATIENCE_AFTER_HANG * o->limit_s;
        tell(&t, &checks[i], &v);
    }
    tell_end(&t);
    /* A file that cannot be loaded has failed, even where only other checks were asked for. */
    return t.failed == 0 && (p->problem[0] == '\0');
}

bool conform_file(const char *path, const struct conform_options *o, FILE *to)
{
    char real[PATH_MAX];
    if (realpath(path, real) == NULL) {
        fprintf(stderr, "osafl: %s: ", path);
        perror(NULL);
        return false;
    }
    struct conform c = {.path = real, .set = o->set, .n_set = o->n_set, .seed = o->seed};
    struct probe p;
    conform_probe(real, o->limit_s, &p);
    return try_checks(&c, &p, o, to);
}
