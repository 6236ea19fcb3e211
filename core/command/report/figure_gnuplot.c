/* figure_gnuplot.c - draws figures with gnuplot. */
#include "figure_gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "checked_alloc.h"

extern char **environ;

/* Colours of Okabe and Ito, which stay apart for the colour-blind; dashes and points keep the
 * series apart in black and white. */
static const char *const color[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#000000", "#7f7f7f"};
static const char *const dash[] = {"1", "(14,5)", "(5,4)", "(14,4,3,4)", "(2,3)", "(14,4,3,4,3,4)"};
static const int point[] = {7, 5, 9, 13, 6, 4, 8, 12};

enum {
    COLORS = sizeof color / sizeof color[0],
    DASHES = sizeof dash / sizeof dash[0],
    POINTS = sizeof point / sizeof point[0],
    /* Sizes are in pixels of the SVG. */
    WIDTH = 640,
    HEIGHT = 420,
    PANEL_HEIGHT = 230,
    PANEL_COLUMNS = 2,
    /* Marks on a curve. */
    MARKS = 9,
    /* Characters that fit a line of the title or the key, and of a panel's title; what a sample
     * takes beside the name of its series. */
    LINE = 64,
    PANEL_LINE = 34,
    SAMPLE = 9,
    LINE_HEIGHT = 18,
};

const char *draw_format_name(int i)
{
    static const char *const name[DRAW_FORMATS] = {"svg", "pdf", "png"};
    return name[i];
}

/* ---- data ---- */

static void write_number(FILE *to, double value)
{
    if (isfinite(value))
        fprintf(to, " %.9g", value);
    else
        fputs(" ?", to);
}

static void write_data(const struct figure *f, FILE *to)
{
    fprintf(to, "# %s\n", f->title);
    fputs(f->kind == FIGURE_MAPS ? "# x y value\n" : "# x y low high; ? is no value\n", to);
    for (size_t i = 0; i < f->n_series; i++) {
        const struct figure_series *s = &f->series[i];
        /* Two empty lines part the blocks that gnuplot counts by "index". */
        fprintf(to, "%s# %s\n", i == 0 ? "" : "\n\n", s->label);
        for (size_t k = 0; k < s->n; k++) {
            /* A map shows nothing where there is no value. */
            if (f->kind == FIGURE_MAPS && isnan(s->low[k]))
                continue;
            write_number(to, s->x[k]);
            write_number(to, s->y[k]);
            write_number(to, s->low[k]);
            if (f->kind != FIGURE_MAPS)
                write_number(to, s->high[k]);
            fputc('\n', to);
        }
    }
}

/* ---- script ---- */

/* n bytes as a string of gnuplot, in which nothing is special but the quote.  gnuplot takes a
 * doubled quote everywhere but at the beginning, so that it becomes an apostrophe. */
static void write_quoted(FILE *to, const char *text, size_t n)
{
    fputc('\'', to);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'')
            fputs("\xe2\x80\x99", to); /* U+2019 */
        else
            fputc(text[i], to);
    }
    fputc('\'', to);
}

/* Bytes of the text that make a line: as many words as fit `most` characters, or a part of a long
 * one. */
static size_t line_of(const char *text, size_t most)
{
    size_t characters = 0;
    size_t blank = 0; /* where the last blank ends */
    size_t i = 0;
    for (; text[i] != '\0'; i++) {
        const bool begins = ((unsigned char)text[i] & 0xc0) != 0x80;
        if (begins && characters++ == most)
            return blank > 0 ? blank : i;
        if (text[i] == ' ')
            blank = i + 1;
    }
    return i;
}

static size_t lines_of(const char *text, size_t most)
{
    size_t lines = 1;
    for (size_t n; (n = line_of(text, most)) < strlen(text); text += n)
        lines++;
    return lines;
}

/* The text as strings of lines. */
static void write_wrapped(FILE *to, const char *text, size_t most)
{
    size_t n = line_of(text, most);
    write_quoted(to, text, n);
    while (text[n] != '\0') {
        text += n;
        n = line_of(text, most);
        fputs(".\"\\n\".", to);
        write_quoted(to, text, n);
    }
}

static void write_setting(FILE *to, const char *what, const char *text, size_t most)
{
    fprintf(to, "set %s ", what);
    write_wrapped(to, text, most);
    fputc('\n', to);
}

/* ---- key ---- */

/* How the names of the series stand in the key. */
struct key_layout {
    size_t columns;
    size_t lines;
};

static struct key_layout key_of(const struct figure *f)
{
    size_t longest = 1;
    size_t lines = 0;
    for (size_t i = 0; i < f->n_series; i++) {
        char *name = figure_series_name(&f->series[i]);
        const size_t length = strlen(name);
        longest = length > longest ? length : longest;
        lines += lines_of(name, LINE);
        free(name);
    }
    struct key_layout key = {(LINE + SAMPLE) / (longest + SAMPLE), lines};
    key.columns = key.columns == 0 ? 1 : key.columns > 4 ? 4 : key.columns;
    key.lines = (lines + key.columns - 1) / key.columns;
    return key;
}

static int height_of(const struct figure *f)
{
    /* Title and key take room that the plot is not to lose. */
    const size_t title = lines_of(f->title, LINE) - 1;
    if (f->kind != FIGURE_MAPS)
        return HEIGHT + LINE_HEIGHT * (int)(title + key_of(f).lines - 1);
    const size_t lines = (f->n_series + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
    return (f->n_series == 1 ? HEIGHT : 60 + PANEL_HEIGHT * (int)lines) + LINE_HEIGHT * (int)title;
}

static void write_terminals(const struct figure *f, FILE *to)
{
    const int height = height_of(f);
    fprintf(to,
            "# Makes %s.svg; with gnuplot -e \"format='pdf'\" or 'png' another format.\n"
            "if (!exists('format')) format = 'svg'\n"
            "if (format eq 'svg') set terminal svg size %d,%d dynamic standalone noenhanced "
            "font 'Helvetica,Arial,sans-serif,14' linewidth 1.2\n"
            "if (format eq 'pdf') set terminal pdfcairo size %.2fcm,%.2fcm noenhanced "
            "font 'Helvetica,11' linewidth 1.1 pointscale 0.8 dashlength 0.7\n"
            "if (format eq 'png') set terminal pngcairo size %d,%d noenhanced "
            "font 'Helvetica,20' linewidth 2.4 pointscale 2.2\n",
            f->stem, WIDTH, height, 16.0, 16.0 * height / WIDTH, 2 * WIDTH, 2 * height);
    fprintf(to, "set output '%s.'.format\n", f->stem);
    fputs("set encoding utf8\n"
          "set datafile missing '?'\n"
          "set border 3 linecolor rgb '#555555' linewidth 0.8\n"
          "set tics nomirror out scale 0.6 textcolor rgb '#222222'\n"
          "set grid ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.6\n",
          to);
}

static void write_styles(const struct figure *f, FILE *to)
{
    for (size_t i = 0; i < f->n_series; i++) {
        const size_t style = f->series[i].style;
        /* After the last colour the dashes move on, so that no two of the first dozens agree. */
        fprintf(to,
                "set style line %zu linecolor rgb '%s' linewidth 1.7 dashtype %s pointtype %d "
                "pointsize 0.55\n",
                i + 1, color[style % COLORS], dash[(style + style / COLORS) % DASHES],
                point[(style + style / COLORS) % POINTS]);
    }
}

static bool has_band(const struct figure_series *s)
{
    for (size_t k = 0; k < s->n; k++) {
        if (isfinite(s->low[k]))
            return true;
    }
    return false;
}

static void write_range(FILE *to, const char *axis, double from, double to_value)
{
    fprintf(to, "set %srange [", axis);
    if (isnan(from))
        fputs("*:", to);
    else
        fprintf(to, "%g:", from);
    if (isnan(to_value))
        fputs("*]\n", to);
    else
        fprintf(to, "%g]\n", to_value);
}

/* A long name goes on in lines of its own, whose samples cannot be seen. */
static void write_key(FILE *to, const struct figure_series *s)
{
    char *name = figure_series_name(s);
    const char *at = name;
    size_t n = line_of(at, LINE);
    fputs(" title ", to);
    write_quoted(to, at, n);
    while (at[n] != '\0') {
        at += n;
        n = line_of(at, LINE);
        fputs(", \\\n    NaN with dots linecolor rgb '#ffffff' title ", to);
        write_quoted(to, at, n);
    }
    free(name);
}

/* Bands lie below all lines. */
static void write_bands(const struct figure *f, FILE *to)
{
    for (size_t i = 0; i < f->n_series; i++) {
        const struct figure_series *s = &f->series[i];
        if (has_band(s) && f->kind == FIGURE_CURVES)
            fprintf(to,
                    "    '%s.dat' index %zu using 1:(bound($3)):4 with filledcurves fillstyle "
                    "transparent "
                    "solid 0.16 noborder linecolor rgb '%s' notitle, \\\n",
                    f->stem, i, color[s->style % COLORS]);
        if (has_band(s) && f->kind == FIGURE_POINTS)
            fprintf(to,
                    "    '%s.dat' index %zu using 1:2:3:4 with yerrorbars linestyle %zu "
                    "dashtype 1 linewidth 1.1 notitle, \\\n",
                    f->stem, i, i + 1);
    }
}

static void write_lines(const struct figure *f, FILE *to)
{
    for (size_t i = 0; i < f->n_series; i++) {
        const struct figure_series *s = &f->series[i];
        fprintf(to, "    '%s.dat' index %zu using 1:2 with ", f->stem, i);
        if (f->kind == FIGURE_STEPS) {
            /* The key's sample shows line and point, which "steps" alone does not. */
            fprintf(to, "steps linestyle %zu notitle, \\\n", i + 1);
            fprintf(to, "    '' index %zu using 1:2 with points linestyle %zu notitle, \\\n", i,
                    i + 1);
            fprintf(to, "    NaN with linespoints linestyle %zu", i + 1);
        } else if (f->kind == FIGURE_CURVES && s->n > MARKS) {
            fprintf(to, "linespoints linestyle %zu pointnumber %d", i + 1, MARKS);
        } else {
            fprintf(to, "linespoints linestyle %zu", i + 1);
        }
        write_key(to, s);
        fputs(i + 1 < f->n_series ? ", \\\n" : "\n", to);
    }
}

/* Whole numbers, and half a step behind the last jump. */
static void write_steps_axis(const struct figure *f, FILE *to)
{
    double last = 0;
    for (size_t i = 0; i < f->n_series; i++)
        last = fmax(last, f->series[i].x[f->series[i].n - 1]);
    fprintf(to, "set xrange [0:%g]\nset xtics %d\n", last + 0.5, last > 15 ? (int)last / 10 : 1);
}

/* No fractions of a round between the tics of a short run. */
static void write_whole_axis(const struct figure *f, FILE *to)
{
    double last = 0;
    for (size_t i = 0; i < f->n_series; i++)
        last = fmax(last, f->series[i].x[f->series[i].n - 1]);
    if (last <= 10)
        fputs("set xtics 1\n", to);
}

/* Ends of the axes, and the least that a band reaches down to. */
static void write_ranges(const struct figure *f, FILE *to)
{
    if (!isnan(f->x_from) || !isnan(f->x_to))
        write_range(to, "x", f->x_from, f->x_to);
    write_range(to, "y", f->y_from, f->y_to);
    if (f->y_is_log)
        fprintf(to, "set logscale y\nset format y '%%g'\nbound(y) = y > %.6g ? y : %.6g\n",
                figure_least_positive(f), figure_least_positive(f));
    else
        fputs("bound(y) = y\n", to);
}

static void write_chart(const struct figure *f, FILE *to)
{
    write_styles(f, to);
    write_setting(to, "title", f->title, LINE);
    write_setting(to, "xlabel", f->x_label, LINE);
    write_setting(to, "ylabel", f->y_label, LINE);
    /* Below the plot nothing can cover a curve; entries go from left to right. */
    fprintf(to,
            "set key bmargin center horizontal reverse Left samplen 3.2 spacing 1.2 maxcols %zu\n",
            key_of(f).columns);
    if (f->whole_x)
        write_whole_axis(f, to);
    if (f->x_log_base > 0)
        fprintf(to, "set logscale x %u\n", f->x_log_base);
    else if (f->x_from_zero)
        fputs("set xrange [0:*]\n", to);
    if (f->kind == FIGURE_POINTS)
        fputs("set offsets graph 0.05, graph 0.05, 0, 0\n", to);
    if (f->kind == FIGURE_STEPS)
        write_steps_axis(f, to);
    write_ranges(f, to);
    fputs("plot \\\n", to);
    write_bands(f, to);
    write_lines(f, to);
}

/* A colour of the way from light to dark blue; share 0 .. 1. */
static void write_blue(FILE *to, double share)
{
    static const double stop[3][3] = {{198, 219, 239}, {66, 146, 198}, {8, 48, 107}};
    const int from = share < 0.5 ? 0 : 1;
    const double part = 2 * share - from;
    fputs("'#", to);
    for (int i = 0; i < 3; i++)
        fprintf(to, "%02x",
                (unsigned)lround(stop[from][i] + part * (stop[from + 1][i] - stop[from][i])));
    fputc('\'', to);
}

/* Colours from light to dark, so that a print without colours keeps their order. */
static void write_palette(const struct figure *f, double most, FILE *to)
{
    enum { MOST_STEPS = 30 };
    if (!f->whole_values || most > MOST_STEPS) {
        fputs("set palette defined (0 '#fde725', 0.25 '#5ec962', 0.5 '#21918c', 0.75 '#3b528b', "
              "1 '#440154')\n",
              to);
        return;
    }
    /* One flat colour a number; 0 is no shade of the others. */
    const int last = most < 1 ? 1 : (int)most;
    fputs("set palette defined (0 '#f0f0f0', 1 '#f0f0f0'", to);
    for (int k = 1; k <= last; k++) {
        const double share = last == 1 ? 1 : (double)(k - 1) / (last - 1);
        fprintf(to, ", %d ", k);
        write_blue(to, share);
        fprintf(to, ", %d ", k + 1);
        write_blue(to, share);
    }
    fprintf(to, ")\nset cbrange [-0.5:%d.5]\nset cbtics 0,%d\n", last, last > 10 ? 5 : 1);
}

static void write_maps(const struct figure *f, FILE *to)
{
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    double last_x = 0;
    double last_y = 0;
    for (size_t i = 0; i < f->n_series; i++) {
        for (size_t k = 0; k < f->series[i].n; k++) {
            last_x = fmax(last_x, f->series[i].x[k]);
            last_y = fmax(last_y, f->series[i].y[k]);
            if (isfinite(f->series[i].low[k])) {
                least = fmin(least, f->series[i].low[k]);
                most = fmax(most, f->series[i].low[k]);
            }
        }
    }
    const size_t columns = f->n_series == 1 ? 1 : PANEL_COLUMNS;
    const size_t lines = (f->n_series + columns - 1) / columns;
    /* One scale for all panels, so that they can be compared. */
    if (!f->whole_values && most > least)
        fprintf(to, "set cbrange [%.6g:%.6g]\n", least, most);
    write_palette(f, most, to);
    fprintf(to, "set xrange [-0.5:%g]\nset yrange [-0.5:%g]\n", last_x + 0.5, last_y + 0.5);
    if (last_x <= 10)
        fputs("set xtics 1\n", to);
    if (last_y <= 10)
        fputs("set ytics 1\n", to);
    fputs("unset key\nunset grid\nset style fill solid noborder\n", to);
    fprintf(to, "set multiplot layout %zu,%zu title ", lines, columns);
    write_wrapped(to, f->title, LINE);
    fputc('\n', to);
    write_setting(to, "xlabel", f->x_label, PANEL_LINE);
    write_setting(to, "ylabel", f->y_label, PANEL_LINE);
    for (size_t i = 0; i < f->n_series; i++) {
        char *name = figure_series_name(&f->series[i]);
        write_setting(to, "title", name, f->n_series == 1 ? LINE : PANEL_LINE);
        free(name);
        /* Boxes lie over each other a little, so that no seam shows between them. */
        fprintf(to,
                "plot '%s.dat' index %zu using 1:2:(0.53):(0.53):3 with boxxyerror linecolor "
                "palette\n",
                f->stem, i);
    }
    fputs("unset multiplot\n", to);
}

/* ---- files and the program ---- */

typedef void write_part(const struct figure *f, FILE *to);

static void write_script(const struct figure *f, FILE *to)
{
    write_terminals(f, to);
    if (f->kind == FIGURE_MAPS)
        write_maps(f, to);
    else
        write_chart(f, to);
}

static osafl_status write_file(const struct figure *f, const char *folder, const char *suffix,
                               write_part *write, struct error *error)
{
    char *path = checked_format("%s/%s.%s", folder, f->stem, suffix);
    FILE *to = fopen(path, "we");
    bool written = false;
    if (to != NULL) {
        write(f, to);
        written = ferror(to) == 0;
        /* A full disk is often noticed here alone. */
        written = fclose(to) == 0 && written;
    }
    osafl_status status = OSAFL_OK;
    if (!written)
        status = error_set(error, OSAFL_E_IO, "cannot write %s: %s", path, strerror(errno));
    free(path);
    return status;
}

/* Runs gnuplot in the folder; what it says goes to said[size]. */
static int run_gnuplot(const char *folder, char *const *arguments, char *said, size_t size,
                       int *exit_status)
{
    int ends[2];
    pid_t child;
    said[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const int error = posix_spawnp(&child, "gnuplot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error == 0) {
        size_t used = 0;
        char piece[512];
        ssize_t got;
        /* All of it is read, so that gnuplot never waits for us; the first part is kept. */
        while ((got = read(ends[0], piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR)) {
            const size_t fits = got < 0 ? 0 : (size_t)got;
            const size_t take = fits < size - 1 - used ? fits : size - 1 - used;
            memcpy(said + used, piece, take);
            used += take;
        }
        said[used] = '\0';
        while (waitpid(child, exit_status, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    return error;
}

osafl_status gnuplot_is_there(struct error *error)
{
    char program[] = "gnuplot";
    char option[] = "--version";
    char *const arguments[] = {program, option, NULL};
    char said[64];
    int status = 0;
    if (run_gnuplot("/", arguments, said, sizeof said, &status) == 0 && status == 0)
        return OSAFL_OK;
    return error_set(error, OSAFL_E_UNSUPPORTED,
                     "gnuplot draws the figures, and it is not installed; install it with\n"
                     "    apt-get install gnuplot-nox\n"
                     "and run the same command again");
}

/* gnuplot does not say that a disk is full: a whole file ends as its format does. */
static osafl_status check_drawing(const char *path, int format, struct error *error)
{
    static const char *const end[DRAW_FORMATS] = {"</svg>", "%%EOF", "IEND"};
    char tail[32] = "";
    FILE *from = fopen(path, "re");
    size_t got = 0;
    if (from != NULL && fseek(from, -(long)(sizeof tail), SEEK_END) == 0)
        got = fread(tail, 1, sizeof tail, from);
    if (from != NULL)
        fclose(from);
    if (memmem(tail, got, end[format], strlen(end[format])) != NULL)
        return OSAFL_OK;
    return error_set(error, OSAFL_E_IO,
                     "%s is %s although gnuplot reported no error; is the disk full?", path,
                     from == NULL ? "missing" : "not complete");
}

static osafl_status draw_format(const struct figure *f, const char *folder, int format,
                                struct error *error)
{
    char program[] = "gnuplot";
    char defaults[] = "--default-settings"; /* not those of the user's .gnuplot */
    char execute[] = "-e";
    char *which = checked_format("format='%s'", draw_format_name(format));
    char *script = checked_format("%s.gp", f->stem);
    char *const arguments[] = {program, defaults, execute, which, script, NULL};
    char *path = checked_format("%s/%s.%s", folder, f->stem, draw_format_name(format));
    char said[512];
    int exit_status = 0;
    osafl_status status = OSAFL_OK;
    unlink(path); /* an old figure is no new one */
    const int problem = run_gnuplot(folder, arguments, said, sizeof said, &exit_status);
    if (problem != 0)
        status = error_set(error, OSAFL_E_IO, "cannot run gnuplot: %s", strerror(problem));
    else if (exit_status != 0)
        status =
            error_set(error, OSAFL_E_DATA, "gnuplot did not take %s/%s: %s", folder, script, said);
    else
        status = check_drawing(path, format, error);
    free(path);
    free(which);
    free(script);
    return status;
}

osafl_status figure_draw(const struct figure *f, const char *folder, unsigned formats,
                         struct error *error)
{
    OSAFL_TRY(write_file(f, folder, "dat", write_data, error));
    OSAFL_TRY(write_file(f, folder, "gp", write_script, error));
    for (int i = 0; i < DRAW_FORMATS; i++) {
        if (formats & (1u << i))
            OSAFL_TRY(draw_format(f, folder, i, error));
    }
    return OSAFL_OK;
}
