/* plot_command.c - "osafl plot DIR...": the figures of results. */
#include "plot_command.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/folder.h"
#include "checked_alloc.h"
#include "figure_gnuplot.h"
#include "figure_list.h"
#include "label_names.h"
#include "result_text.h"

enum {
    KEY_FIGURE = 'f',
    KEY_AGAINST = 'a',
    KEY_OUT = 'o',
    KEY_FORMAT = 0x100,
    KEY_SPREAD,
    KEY_ONLY,
    KEY_TOGETHER,
    KEY_ROUNDS,
    KEY_LOG,
    KEY_NAME,
    KEY_XRANGE,
    KEY_YRANGE,
};

struct plot_options {
    const char **figure; /* [figures] */
    size_t figures;
    const char *against;
    const char *out;
    unsigned formats;
    enum figure_spread spread;
    bool together;
    bool x_log;
    bool y_log;
    double x_range[2]; /* NAN: as the data have it */
    double y_range[2];
    uint32_t rounds;   /* of each run, the first; 0: all */
    const char **name; /* [names] */
    size_t names;
    const char **only; /* [n_only] */
    size_t n_only;
    const char **folder; /* [folders] */
    size_t folders;
};

static const struct argp_option options[] = {
    {"figure", KEY_FIGURE, "NAME", 0,
     "accuracy, loss, or any column of rounds.csv, as a curve; ccdf of local rounds; "
     "participation, "
     "score, or any column of clients.csv, per client and round; drift of the labels; "
     "quantization: best accuracy against levels; best: against another setting.  May be given "
     "several times; default: all that apply",
     0},
    {"against", KEY_AGAINST, "AXIS", 0,
     "Of curves: round (default), time, bits or joules; of best: a setting such as deadline_s", 0},
    {"format", KEY_FORMAT, "LIST", 0, "svg (default), pdf, png, separated by commas", 0},
    {"out", KEY_OUT, "FOLDER", 0, "Where figures, data and scripts are written; default: plots", 0},
    {"spread", KEY_SPREAD, "KIND", 0,
     "What bands show of several seeds: std (sample standard deviation, default), range (least to "
     "most) or none",
     0},
    {"name", KEY_NAME, "OLD=NEW", 0,
     "Rename a case or a setting in the figures; may be given several times", 0},
    {"log", KEY_LOG, "AXES", 0, "Logarithmic axes of curves: x, y or xy", 0},
    {"xrange", KEY_XRANGE, "FROM:TO", 0, "Ends of the x axis of curves; either may be left out", 0},
    {"yrange", KEY_YRANGE, "FROM:TO", 0, "Ends of the y axis", 0},
    {"together", KEY_TOGETHER, NULL, 0,
     "One figure for all runs, not one for each experiment and each value of a varied setting", 0},
    {"rounds", KEY_ROUNDS, "N", 0,
     "Use only the first N rounds of each run, to compare with longer runs", 0},
    {"only", KEY_ONLY, "KEY=VALUE", 0,
     "Only the runs with this case, experiment, seed or setting; may be given several times", 0},
    {0}};

static void parse_formats(struct plot_options *o, const char *list, struct argp_state *state)
{
    char *copy = checked_copy(list);
    char *rest = copy;
    o->formats = 0;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        int i = 0;
        while (i < DRAW_FORMATS && strcmp(draw_format_name(i), word) != 0)
            i++;
        if (i == DRAW_FORMATS)
            argp_error(state, "--format %s: choose svg, pdf or png", word);
        o->formats |= 1u << i;
    }
    free(copy);
}

static void parse_spread(struct plot_options *o, const char *word, struct argp_state *state)
{
    static const char *const names[] = {"std", "range", "none"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], word) == 0) {
            o->spread = (enum figure_spread)i;
            return;
        }
    }
    argp_error(state, "--spread %s: choose std, range or none", word);
}

static void parse_log(struct plot_options *o, const char *axes, struct argp_state *state)
{
    if (axes[0] == '\0' || axes[strspn(axes, "xy")] != '\0')
        argp_error(state, "--log %s: choose x, y or xy", axes);
    o->x_log = strchr(axes, 'x') != NULL;
    o->y_log = strchr(axes, 'y') != NULL;
}

/* "FROM:TO", ":TO", "FROM:" */
static void parse_range(double range[2], const char *text, struct argp_state *state)
{
    const char *at = text;
    bool good = strchr(text, ':') != NULL;
    for (int i = 0; i < 2 && good; i++) {
        char *end = NULL;
        range[i] = strtod(at, &end);
        if (end == at)
            range[i] = (double)NAN;
        good = *end == (i == 0 ? ':' : '\0') && !isinf(range[i]);
        at = end + 1;
    }
    if (!good || range[0] >= range[1])
        argp_error(state, "a range is FROM:TO, such as 0:2, and not \"%s\"", text);
}

static const char **append(const char **list, size_t *n, const char *word)
{
    list = checked_grow(list, *n, sizeof *list);
    list[(*n)++] = word;
    return list;
}

/* How the figures look. */
static error_t parse_look(int key, char *argument, struct argp_state *state)
{
    struct plot_options *o = state->input;
    switch (key) {
    case KEY_FORMAT:
        parse_formats(o, argument, state);
        return 0;
    case KEY_SPREAD:
        parse_spread(o, argument, state);
        return 0;
    case KEY_NAME:
        if (!label_name_is_good(argument))
            argp_error(state, "--name %s: write OLD=NEW, such as M-FedAvg=FedAvg", argument);
        o->name = append(o->name, &o->names, argument);
        return 0;
    case KEY_LOG:
        parse_log(o, argument, state);
        return 0;
    case KEY_XRANGE:
        parse_range(o->x_range, argument, state);
        return 0;
    case KEY_YRANGE:
        parse_range(o->y_range, argument, state);
        return 0;
    case KEY_TOGETHER:
        o->together = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct plot_options *o = state->input;
    switch (key) {
    case KEY_FIGURE:
        o->figure = append(o->figure, &o->figures, argument);
        return 0;
    case KEY_AGAINST:
        o->against = argument;
        return 0;
    case KEY_OUT:
        o->out = argument;
        return 0;
    case KEY_ROUNDS:
        if (!parse_rounds(argument, &o->rounds))
            argp_error(state, "--rounds %s: must be a whole number from 1 on", argument);
        return 0;
    case KEY_ONLY:
        o->only = append(o->only, &o->n_only, argument);
        return 0;
    case ARGP_KEY_ARG:
        o->folder = append(o->folder, &o->folders, argument);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name a folder with results, such as results");
        return 0;
    case ARGP_KEY_END:
        if (o->against != NULL && o->figures == 0)
            argp_error(state, "--against needs --figure");
        return 0;
    default:
        return parse_look(key, argument, state);
    }
}

static const struct argp command_line = {
    .options = options,
    .parser = parse,
    .args_doc = "DIR...",
    .doc = "Draws figures of all runs below the folders, means with bands over seeds, through "
           "gnuplot.  The data (.dat) and the script (.gp) of each figure are kept next to it, for "
           "editing: gnuplot NAME.gp draws it again.\vDIR is the folder of a run, of a case, of an "
           "experiment, or all results.",
};

static osafl_status make_figures(const struct plot_options *o, const struct found_cells *f,
                                 const struct result_grid *g, struct figure_list *l,
                                 struct error *error)
{
    if (o->figures == 0) {
        OSAFL_TRY(figure_list_add_all(l, g, o->spread, error));
        return figure_list_add_quantization(l, f, o->spread, error);
    }
    for (size_t i = 0; i < o->figures; i++) {
        const struct figure_request request = {
            .name = o->figure[i], .against = o->against, .spread = o->spread};
        OSAFL_TRY(figure_list_add(l, f, g, &request, error));
    }
    return OSAFL_OK;
}

/* Scales and ends of the axes that the user asks for. */
static osafl_status set_axes(const struct plot_options *o, struct figure *f, struct error *error)
{
    if (f->kind == FIGURE_MAPS)
        return OSAFL_OK;
    f->x_log_base = o->x_log ? 10 : f->x_log_base;
    f->y_is_log = f->y_is_log || o->y_log;
    f->x_from = o->x_range[0];
    f->x_to = o->x_range[1];
    f->y_from = isnan(o->y_range[0]) ? f->y_from : o->y_range[0];
    f->y_to = isnan(o->y_range[1]) ? f->y_to : o->y_range[1];
    if ((f->x_log_base > 0 && (f->x_from <= 0 || f->x_to <= 0)) ||
        (f->y_is_log && (f->y_from < 0 || f->y_to <= 0)))
        return error_set(error, OSAFL_E_CONFIG,
                         "%s: the ends of a logarithmic axis must be positive", f->stem);
    if (f->y_is_log && f->y_from == 0)
        f->y_from = (double)NAN; /* shares begin at 0 */
    if (f->y_is_log && isnan(figure_least_positive(f)))
        return error_set(error, OSAFL_E_CONFIG, "--log y: %s has no value above 0", f->stem);
    return OSAFL_OK;
}

static osafl_status draw_figures(const struct plot_options *o, const struct figure_list *l,
                                 struct error *error)
{
    OSAFL_TRY(gnuplot_is_there(error));
    OSAFL_TRY(folder_create(o->out, error));
    for (size_t i = 0; i < l->n; i++)
        OSAFL_TRY(set_axes(o, l->figure[i], error));
    for (size_t i = 0; i < l->n; i++) {
        OSAFL_TRY(figure_draw(l->figure[i], o->out, o->formats, error));
        for (int k = 0; k < DRAW_FORMATS; k++) {
            if (o->formats & (1u << k))
                printf("%s/%s.%s\n", o->out, l->figure[i]->stem, draw_format_name(k));
        }
    }
    if (l->n == 0)
        return error_set(error, OSAFL_E_DATA, "the runs have no values to draw yet");
    return OSAFL_OK;
}

static osafl_status run_plot(const struct plot_options *o, struct found_cells *f,
                             struct figure_list *l, struct error *error)
{
    OSAFL_TRY(find_all_cells(o->folder, o->folders, f, error));
    OSAFL_TRY(keep_only(f, o->only, o->n_only, error));
    take_first_rounds(f, o->rounds);
    struct result_grid *g = result_grid_create(f, &(struct grid_layout){.one_table = o->together});
    labels_rename(g, &(struct label_names){o->name, o->names});
    for (size_t i = 0; i < g->notes; i++)
        result_say("osafl plot", g->note[i]);
    osafl_status status = make_figures(o, f, g, l, error);
    result_grid_free(g);
    if (status == OSAFL_OK)
        status = draw_figures(o, l, error);
    return status;
}

int plot_command(int argc, char **argv)
{
    struct plot_options o = {
        .out = "plots",
        .formats = DRAW_SVG,
        .x_range = {(double)NAN, (double)NAN},
        .y_range = {(double)NAN, (double)NAN},
    };
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&command_line, argc, argv, 0, NULL, &o) != 0)
        return EXIT_USAGE;
    struct found_cells found = {.cells = 0};
    struct figure_list list = {.n = 0};
    struct error error;
    const osafl_status status = run_plot(&o, &found, &list, &error);
    int exit_status = found.n_unreadable > 0 ? EXIT_RUN_FAILED : EXIT_RUN_OK;
    if (status != OSAFL_OK) {
        result_say("osafl plot", error.text);
        const bool usage =
            status == OSAFL_E_CONFIG || (list.n == 0 && status != OSAFL_E_UNSUPPORTED);
        exit_status = usage ? EXIT_USAGE : EXIT_RUN_FAILED;
    }
    figure_list_free(&list);
    found_cells_free(&found);
    free(o.figure);
    free(o.name);
    free(o.only);
    free(o.folder);
    return exit_status;
}
