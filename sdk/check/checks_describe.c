/* checks_describe.c - what a plugin says of itself. */
#include <ctype.h>
#include <dlfcn.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/suggest.h"
#include "base/text.h"
#include "checks.h"
#include "instance_under_test.h"

/* conform_load() verifies as the program does; what it says is the verdict. */
void check_describe_tables(struct conform *c)
{
    conform_load(c);
}

/* Of all that the description holds, by value. */
static uint64_t hash_of(const osafl_plugin *p)
{
    XXH3_state_t *state = XXH3_createState();
    if (state == NULL)
        return 0;
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, p, p->struct_size);
    XXH3_64bits_update(state, p->vtable, p->vtable->struct_size);
    if (p->params != NULL)
        XXH3_64bits_update(state, p->params, (size_t)p->n_params * p->param_size);
    if (p->metrics != NULL)
        XXH3_64bits_update(state, p->metrics, (size_t)p->n_metrics * p->metric_size);
    const uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

/* The same static data, before and after the plugin was used. */
void check_describe_constant(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    const osafl_plugin *(*entry)(void) = NULL;
    conform_load(c);
    const uint64_t before = hash_of(c->described);
    void *handle = dlopen(c->path, RTLD_NOW | RTLD_LOCAL);
    void *address = handle != NULL ? dlsym(handle, OSAFL_ENTRY_SYMBOL) : NULL;
    memcpy(&entry, &address, sizeof entry);
    if (entry == NULL || entry() != c->described || hash_of(c->described) != before)
        conform_fail(c, "describes itself otherwise the second time that it is asked");
    under_test_must_open(&s, c, &answers);
    under_test_must_run(&s, 0, 1, &answers);
    under_test_close(&s);
    if (entry() != c->described || hash_of(c->described) != before)
        conform_fail(c, "changes what it says of itself when it is used");
}

/* ---- texts --------------------------------------------------------------------------------- */

/* The length of the sequence that begins here; 0: it is not UTF-8 (RFC 3629). */
static size_t sequence_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    const size_t n = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
                     : (s[0] & 0xf0) == 0xe0       ? 3
                     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                   : 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void require_line(const struct conform *c, const char *what, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        const size_t n = sequence_length(at);
        if (n == 0)
            conform_fail(c, "has a text that is not UTF-8: %s", what);
        if (*at < ' ' || *at == 0x7f)
            conform_fail(c, "has a control character in %s", what);
        at += n;
    }
    if (isspace((unsigned char)text[0]) ||
        (text[0] != '\0' && isspace((unsigned char)text[strlen(text) - 1])))
        conform_fail(c, "has space at an end of %s: \"%.100s\"", what, text);
}

static void require_sentence(const struct conform *c, const char *what, const char *text)
{
    require_line(c, what, text);
    const size_t n = strlen(text);
    if (n == 0)
        conform_fail(c, "has no text for %s", what);
    if (text[n - 1] == '.' && (n < 3 || text[n - 2] != '.'))
        conform_fail(c, "ends %s with a full stop: \"%.100s\"", what, text);
    if (n > 300)
        conform_fail(c, "says more than 300 characters for %s", what);
}

/* 1.2.3, 1.2.3-rc.1, 1.2.3+build */
static bool is_semantic_version(const char *v)
{
    for (unsigned part = 0; part < 3; part++) {
        const size_t digits = strspn(v, "0123456789");
        if (digits == 0 || (digits > 1 && v[0] == '0'))
            return false;
        v += digits;
        if (part < 2 && *v++ != '.')
            return false;
    }
    return *v == '\0' || *v == '-' || *v == '+';
}

void check_describe_texts(struct conform *c)
{
    char what[160];
    conform_load(c);
    const osafl_plugin *p = c->plugin;
    require_sentence(c, "the summary", p->summary);
    require_line(c, "the license", p->license);
    if (p->cite != NULL)
        require_line(c, "the source", p->cite);
    if (p->url != NULL)
        require_line(c, "the url", p->url);
    if (!is_semantic_version(p->version))
        conform_fail(c, "has version \"%.40s\", which is no semantic version such as 1.0.0",
                     p->version);
    for (uint32_t i = 0; i < p->n_params; i++) {
        const osafl_param *q = OSAFL_AT(osafl_param, p->params, p->param_size, i);
        snprintf(what, sizeof what, "setting %s", q->name);
        require_sentence(c, what, q->doc);
        for (uint32_t k = 0; q->type == OSAFL_T_CHOICE && q->choices[k] != NULL; k++)
            require_line(c, what, q->choices[k]);
        if (q->unit != NULL)
            require_line(c, what, q->unit);
    }
    for (uint32_t i = 0; i < p->n_metrics; i++) {
        const osafl_metric *m = OSAFL_AT(osafl_metric, p->metrics, p->metric_size, i);
        snprintf(what, sizeof what, "metric %s", m->name);
        require_sentence(c, what, m->doc);
    }
}

/* ---- features ------------------------------------------------------------------------------ */

/* Words that mean something beside those of a kind's laws; others may mean something to a newer
 * program.
 */
static const struct {
    uint32_t kind;
    const char *feature;
} further_features[] = {
    {OSAFL_KIND_OPTIMIZER, "plain"},      {OSAFL_KIND_DATASET, "natural"},
    {OSAFL_KIND_DATASET, "timed"},        {OSAFL_KIND_FILTER, "private"},
    {OSAFL_KIND_PARTITION, "concurrent"}, {OSAFL_KIND_DRIFT, "concurrent"},
    {OSAFL_KIND_DELETION, "concurrent"},  {OSAFL_KIND_AGGREGATOR, "analog"},
};
enum { N_FURTHER = sizeof further_features / sizeof further_features[0] };

/* The i-th word of a kind, which may come twice; NULL: it is of another kind, or no feature. */
static const char *known_feature(uint32_t kind, size_t i)
{
    if (i >= n_checks)
        return further_features[i - n_checks].kind == kind ? further_features[i - n_checks].feature
                                                           : NULL;
    return checks[i].kind == kind ? checks[i].feature : NULL;
}

/* Fails with what there is instead. */
static void require_known(const struct conform *c, const char *feature)
{
    char there_are[400] = "";
    struct suggestion close = suggest_begin(feature);
    for (size_t i = 0; i < n_checks + N_FURTHER; i++) {
        const char *known = known_feature(c->plugin->kind, i);
        if (known == NULL)
            continue;
        if (strcmp(known, feature) == 0)
            return;
        suggest_offer(&close, known);
        if (strstr(there_are, known) == NULL)
            text_append_item(there_are, sizeof there_are, ", ", known);
    }
    conform_fail(c,
                 "declares the feature \"%s\", which its kind does not know%s%s%s; there are: %s",
                 feature, close.best != NULL ? "; did you mean \"" : "",
                 close.best != NULL ? close.best : "", close.best != NULL ? "\"?" : "",
                 there_are[0] != '\0' ? there_are : "none");
}

void check_describe_features(struct conform *c)
{
    conform_load(c);
    const char *const *f = c->plugin->features;
    for (size_t i = 0; f != NULL && f[i] != NULL; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(f[i], f[j]) == 0)
                conform_fail(c, "declares the feature \"%s\" twice", f[i]);
        }
        require_known(c, f[i]);
    }
}

/* ---- what an instance says of itself ------------------------------------------------------- */

void check_describe_late(struct conform *c)
{
    struct instance_under_test s;
    struct transcript first = {0};
    struct transcript rounds = {0};
    struct transcript again = {0};
    under_test_must_open(&s, c, &first);
    if (s.calls->begin == NULL)
        conform_skip(c, "is of a kind that is not asked for a description");
    under_test_must_run(&s, 0, TRIAL_ROUNDS, &rounds);
    const osafl_status status = under_test_begin_again(&s, &again);
    if (status != OSAFL_OK)
        under_test_fail(&s, status);
    const char *difference = transcript_difference(&first, &again);
    if (difference != NULL)
        conform_fail(c, "answers otherwise after %d rounds than before: %s", TRIAL_ROUNDS,
                     difference);
}
