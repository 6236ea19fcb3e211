/* cli_help.c - the commands that list what there is: plugins, their settings, groups. */
#include "cli_help.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/suggest.h"
#include "experiment/schema.h"
#include "experiment/settings.h"
#include "plugin/loader.h"
#include "results/results.h"

/* A plugin that takes longer to be mapped hangs. */
static const double PROBE_LIMIT_S = 10.0;

static void list_kind(struct loader *l, uint32_t kind, FILE *to, struct diagnostics *d)
{
    struct names names;
    size_t width = 0;
    if (loader_names(l, kind, &names) != OSAFL_OK) {
        diagnostics_error(d, NULL, 0, "the plugin folders cannot be read");
        return;
    }
    for (size_t i = 0; i < names.n; i++)
        width = strlen(names.name[i]) > width ? strlen(names.name[i]) : width;
    fprintf(to, "%s: %s\n", kind_name(kind), kind_question(kind));
    for (size_t i = 0; i < names.n; i++) {
        struct probed_plugin p;
        if (loader_probe(l, kind, names.name[i], PROBE_LIMIT_S, &p) != OSAFL_OK)
            diagnostics_error(d, NULL, 0, "no process could be started to look at %s/%s",
                              kind_name(kind), names.name[i]);
        else if (p.problem[0] == '\0')
            fprintf(to, "  %-*s  %-8s %s\n", (int)width, names.name[i], p.version, p.summary);
        else
            fprintf(to, "  %-*s  %s\n", (int)width, names.name[i], p.problem);
    }
    if (names.n == 0)
        fputs("  (none found)\n", to);
    names_free(&names);
}

void help_list_plugins(struct loader *l, uint32_t kind, FILE *to, struct diagnostics *d)
{
    for (uint32_t k = 1; k <= LOADER_KINDS; k++) {
        if (kind == 0 && k > 1)
            fputc('\n', to);
        if (kind == 0 || kind == k)
            list_kind(l, k, to, d);
    }
}

static void print_metrics(const osafl_plugin *p, FILE *to)
{
    size_t width = 0;
    for (uint32_t i = 0; i < p->n_metrics; i++) {
        const size_t n = strlen(OSAFL_AT(osafl_metric, p->metrics, p->metric_size, i)->name);
        width = n > width ? n : width;
    }
    fputs("\nmetrics\n", to);
    for (uint32_t i = 0; i < p->n_metrics; i++) {
        const osafl_metric *m = OSAFL_AT(osafl_metric, p->metrics, p->metric_size, i);
        fprintf(to, "  %-*s  %-10s  %s", (int)width, m->name,
                m->scope == OSAFL_PER_CLIENT ? "per client" : "per round", m->doc);
        if (m->unit != NULL)
            fprintf(to, " [%s]", m->unit);
        fputs(m->better == OSAFL_HIGHER  ? ", the higher the better\n"
              : m->better == OSAFL_LOWER ? ", the lower the better\n"
                                         : "\n",
              to);
    }
}

static void print_about(const struct loaded_plugin *loaded, FILE *to)
{
    const osafl_plugin *p = loaded->plugin;
    fputc('\n', to);
    if (p->features != NULL && p->features[0] != NULL) {
        fputs("features  ", to);
        for (size_t i = 0; p->features[i] != NULL; i++)
            fprintf(to, "%s%s", i > 0 ? ", " : "", p->features[i]);
        fputc('\n', to);
    }
    if (p->cite != NULL)
        fprintf(to, "source    %s\n", p->cite);
    fprintf(to, "version   %s, for ABI %u.%u\n", p->version, p->abi_major, p->abi_minor);
    fprintf(to, "license   %s\n", p->license);
    if (p->url != NULL)
        fprintf(to, "url       %s\n", p->url);
    fprintf(to, "file      %s\n", loaded->path);
}

bool help_plugin(struct loader *l, uint32_t kind, const char *name, FILE *to, struct diagnostics *d)
{
    const struct loaded_plugin *loaded = loader_load(l, kind, name, d, NULL, 0);
    if (loaded == NULL)
        return false;
    const osafl_plugin *p = loaded->plugin;
    fprintf(to, "%s/%s: %s\n\n", kind_name(kind), p->name, p->summary);
    if (p->n_params > 0) {
        fprintf(to, "settings, in the group %s.%s\n", kind_name(kind), p->name);
        settings_describe(p->params, p->n_params, p->param_size, to);
    } else {
        fputs("no settings\n", to);
    }
    if (p->n_metrics > 0)
        print_metrics(p, to);
    print_about(loaded, to);
    return true;
}

bool help_group(const char *name, FILE *to)
{
    const struct schema_group *g = schema_find(name);
    if (g == NULL)
        return false;
    fprintf(to, "%s%s%s\n", g->name, g->name[0] != '\0' ? ": " : "", g->doc);
    settings_describe(g->table, g->n, sizeof(osafl_param), to);
    return true;
}

/* ---- pages ---- */

static void explain_grid(FILE *to)
{
    fputs(
        "A file may describe a grid: one run for each seed, case and varied value.\n"
        "\n"
        "seeds: runs with other random numbers; results are averaged over them\n"
        "  seeds = [1, 2];\n"
        "\n"
        "cases: the variants that are compared; the settings of a case override the rest of the "
        "file\n"
        "  cases: (\n"
        "      { name = \"a\"; aggregator: { plugin = \"osafl\"; }; },\n"
        "      { name = \"b\"; aggregator: { plugin = \"fedavg\"; }; }\n"
        "  );\n"
        "\n"
        "vary: settings that take each of several values, with all cases and seeds\n"
        "  vary: (\n"
        "      { key = \"quantizer.qsgd.levels\"; values = [2, 4]; }\n"
        "  );\n"
        "\n"
        "where: settings for the cells that meet a condition; omit = true leaves them out\n"
        "  where: ( { only = [\"case=a\", \"quantizer.qsgd.levels=2\"]; rounds = 10; } );\n"
        "\n"
        "osafl run FILE --list shows the cells; --only case=a --only seed=1 picks some; --jobs N "
        "runs N\nat once; a setting given with --set holds for all cells. A file has at most 1000 "
        "cells.\n",
        to);
}

/* What is no setting and has help all the same. */
static const struct help_page {
    const char *name;
    void (*print)(FILE *to);
} pages[] = {
    {"grid", explain_grid}, {"seeds", explain_grid}, {"cases", explain_grid},
    {"vary", explain_grid}, {"where", explain_grid}, {"results", results_describe},
};
enum { N_PAGES = sizeof pages / sizeof pages[0] };

/* One setting of the core, as "rounds" or "clients.count"; false when there is none. */
static bool help_setting(const char *topic, FILE *to)
{
    const char *dot = strchr(topic, '.');
    const size_t n = dot != NULL ? (size_t)(dot - topic) : 0;
    const char *key = dot != NULL ? dot + 1 : topic;
    for (size_t i = 0; i < schema_n_groups; i++) {
        const struct schema_group *g = &schema_groups[i];
        if (strlen(g->name) != n || strncmp(g->name, topic, n) != 0)
            continue;
        for (uint32_t k = 0; k < g->n; k++) {
            if (strcmp(g->table[k].name, key) != 0)
                continue;
            settings_describe(&g->table[k], 1, sizeof(osafl_param), to);
            return true;
        }
    }
    return false;
}

void help_overview(FILE *to)
{
    fputs("An experiment file holds settings, groups of settings, and for each kind of plugin the "
          "one to use.\n\n",
          to);
    help_group("", to);
    fputs("\ngroups (osafl help GROUP)\n", to);
    for (size_t i = 0; i < schema_n_groups; i++) {
        if (schema_groups[i].name[0] != '\0')
            fprintf(to, "  %-12s%s\n", schema_groups[i].name, schema_groups[i].doc);
    }
    fputs("\nkinds of plugins (osafl help KIND, osafl help KIND/NAME)\n", to);
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++)
        fprintf(to, "  %-12s%s\n", kind_name(kind), kind_question(kind));
    fputs("\nfurther topics\n"
          "  grid        Many runs from one file: seeds, cases, vary, where\n"
          "  results     The columns of rounds.csv, clients.csv and timing.csv, and their units\n"
          "\nRelative paths in a file are relative to the file's folder, those of --set to the "
          "working\nfolder; a leading ~/ is the home folder.\n",
          to);
}

/* Offers the plugins of all kinds as KIND/NAME to a search for the bare name.  best: of size
 * bytes; "" when none is of that name. */
static void find_plugin(struct loader *l, const char *word, char *best, size_t size)
{
    best[0] = '\0';
    for (uint32_t kind = 1; kind <= LOADER_KINDS && best[0] == '\0'; kind++) {
        struct names names;
        if (loader_names(l, kind, &names) != OSAFL_OK)
            return;
        if (names_have(&names, word))
            snprintf(best, size, "%s/%s", kind_name(kind), word);
        names_free(&names);
    }
}

static void report_topic(struct loader *l, const char *topic, const char *word,
                         struct diagnostics *d)
{
    char plugin[128];
    struct suggestion s = suggest_begin(word);
    for (size_t i = 0; i < schema_n_groups; i++)
        if (schema_groups[i].name[0] != '\0')
            suggest_offer(&s, schema_groups[i].name);
    for (uint32_t k = 1; k <= LOADER_KINDS; k++)
        suggest_offer(&s, kind_name(k));
    for (size_t i = 0; i < N_PAGES; i++)
        suggest_offer(&s, pages[i].name);
    find_plugin(l, topic, plugin, sizeof plugin);
    const char *best = plugin[0] != '\0' ? plugin : s.best;
    diagnostics_error(d, NULL, 0, "there is no help on \"%s\"%s%s%s", topic,
                      best != NULL ? "; did you mean \"" : "; see osafl help",
                      best != NULL ? best : "", best != NULL ? "\"?" : "");
}

bool help_topic(struct loader *l, const char *topic, FILE *to, struct diagnostics *d)
{
    const size_t n = strcspn(topic, "/.");
    char kind_text[16] = "";
    if (topic[0] == '\0') {
        help_overview(to);
        return true;
    }
    bool known = help_group(topic, to);
    for (size_t i = 0; i < N_PAGES; i++) {
        if (strcmp(pages[i].name, topic) == 0) {
            fputs(known ? "\n" : "", to);
            pages[i].print(to);
            known = true;
        }
    }
    if (known)
        return true;
    if (n < sizeof kind_text)
        memcpy(kind_text, topic, n);
    const uint32_t kind = kind_from_name(kind_text);
    if (kind != 0 && topic[n] != '\0')
        return help_plugin(l, kind, topic + n + 1, to, d);
    if (kind != 0) {
        list_kind(l, kind, to, d);
        if (kind == OSAFL_KIND_MODEL) {
            fputs("\nsettings of all, in the group model\n", to);
            settings_describe(schema_model, schema_n_model, sizeof(osafl_param), to);
        }
        return true;
    }
    if (help_setting(topic, to))
        return true;
    report_topic(l, topic, topic[n] != '\0' ? kind_text : topic, d);
    return false;
}
