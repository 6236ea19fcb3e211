/* html_page.c - a report as one self-contained HTML page. */
#include "html_page.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "checked_alloc.h"
#include "compute_table.h"
#include "figure_gnuplot.h"
#include "report_body.h"
#include "run_tables.h"

struct page {
    FILE *to;
    const struct found_cells *cells;
    const struct summary_question *question;
    const struct html_extras *extras;
    const char *room; /* folder for gnuplot's files; NULL: no figures */
    size_t figures;   /* so far */
};

static const char style[] =
    ":root{color-scheme:light}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:1120px;padding:2.5rem 1.5rem 4rem;background:#fff;color:#1d2129;"
    "font:15px/1.5 system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif}"
    "\n"
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.01em}\n"
    "h2{font-size:1.45rem;margin:3rem 0 .4rem;padding-top:1.2rem;border-top:2px solid #1d2129}\n"
    "h3{font-size:1.1rem;margin:2.2rem 0 .4rem}\n"
    "p{margin:.4rem 0 .8rem}\n"
    ".facts,.note,header p{color:#59616e}\n"
    ".note{font-size:.87rem;margin:.2rem 0}\n"
    "nav a{color:#0b5c93;margin-right:1.2rem;text-decoration:none}\n"
    "nav a:hover{text-decoration:underline}\n"
    ".table{overflow-x:auto;margin:1.4rem 0 .4rem}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;font-weight:600;padding-bottom:.45rem}\n"
    "th,td{padding:.32rem .8rem;vertical-align:top;white-space:nowrap}\n"
    "th{font-weight:600}\n"
    "thead th{border-bottom:1.5px solid #1d2129;font-size:.87rem;color:#3a414d}\n"
    "tbody tr+tr>*{border-top:1px solid #e4e7eb}\n"
    "tbody tr:last-child>*{border-bottom:1.5px solid #1d2129}\n"
    "tbody th{font-weight:500;white-space:normal;min-width:7rem}\n"
    ".text{text-align:left}\n"
    ".number{text-align:right}\n"
    "th:first-child{padding-left:.1rem}\n"
    ".best{background:#d3efdd}\n"
    ".best{border-radius:2px;-webkit-print-color-adjust:exact;print-color-adjust:exact}\n"
    "span.best{padding:.05rem .5rem;margin-right:.4rem}\n"
    ".list{margin:1.6rem 0 .2rem;font-weight:600}\n"
    "ul{margin:.2rem 0 1rem;padding:.7rem 1rem .7rem 2rem;background:#fff7e0;"
    "border-left:3px solid #e0a100}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));"
    "gap:1.6rem 2rem;margin:1.8rem 0}\n"
    "figure{margin:0;break-inside:avoid}\n"
    "figure svg{display:block;width:100%;height:auto}\n"
    "figure text{font-family:inherit}\n"
    "figure polygon[fill-opacity]{shape-rendering:auto}\n"
    ".detail table{font-size:.84rem}\n"
    ".detail th,.detail td{padding:.16rem .7rem}\n"
    "h4{font-size:1rem;margin:1.8rem 0 .5rem}\n"
    "dl{columns:2 24rem;column-gap:3rem;font-size:.84rem;margin:0}\n"
    "dl div{display:flex;gap:.8rem;justify-content:space-between;break-inside:avoid;"
    "border-bottom:1px solid #e4e7eb;padding:.12rem 0}\n"
    "dd{margin:0;text-align:right;overflow-wrap:anywhere}\n"
    "dd span{color:#59616e;margin-left:.7rem}\n"
    "footer{margin-top:3rem;font-size:.85rem;color:#59616e}\n"
    "@media(max-width:520px){.figures{grid-template-columns:1fr}}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}.table{overflow:visible}"
    "h2,h3,h4,caption{break-after:avoid}tr{break-inside:avoid}nav{display:none}"
    ".figures{grid-template-columns:1fr 1fr;gap:1rem}.detail table,dl{font-size:7.5pt}"
    "th,td{padding:.2rem .45rem}}\n";

/* ---- figures ---- */

static char *read_file(const char *path, struct error *error)
{
    FILE *from = fopen(path, "re");
    if (from == NULL) {
        error_set(error, OSAFL_E_IO, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    struct checked_stream text;
    char piece[4096];
    checked_stream_open(&text);
    for (size_t got; (got = fread(piece, 1, sizeof piece, from)) > 0;)
        fwrite(piece, 1, got, text.file);
    fclose(from);
    return checked_stream_text(&text);
}

/* Several drawings share one page, so every id and every reference to one gets the figure's
 * number.  at: an attribute's beginning within a tag; returns the characters written. */
static size_t write_attribute(FILE *to, const char *at, size_t number)
{
    static const char *const attribute[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
    for (size_t i = 0; i < sizeof attribute / sizeof attribute[0]; i++) {
        const size_t length = strlen(attribute[i]);
        if (strncmp(at, attribute[i], length) == 0) {
            fprintf(to, "%sf%zu-", attribute[i], number);
            return length;
        }
    }
    fputc(*at, to);
    return 1;
}

/* Past the element that begins at `at` when it is <NAME>; else `at`. */
static const char *skip_element(const char *at, const char *begin, const char *end)
{
    const char *close = strncmp(at, begin, strlen(begin)) == 0 ? strstr(at, end) : NULL;
    return close == NULL ? at : close + strlen(end);
}

/* The drawing without what belongs to a file of its own: XML declaration, gnuplot's title and
 * description. */
static void write_svg(FILE *to, const char *svg, size_t number, const char *title)
{
    const char *at = strstr(svg, "<svg");
    bool in_tag = false;
    while (at != NULL && *at != '\0') {
        const char *behind = skip_element(at, "<title>", "</title>");
        if (behind != at) {
            fputs("<title>", to);
            text_escape(title, FORMAT_HTML, to);
            fputs("</title>", to);
        }
        at = skip_element(behind, "<desc>", "</desc>");
        if (behind != at || *at == '\0')
            continue;
        in_tag = *at == '<' || (in_tag && *at != '>');
        if (in_tag)
            at += write_attribute(to, at, number);
        else
            fputc(*at++, to);
    }
}

static osafl_status write_figure(struct page *p, const struct figure *f, struct error *error)
{
    OSAFL_TRY(figure_draw(f, p->room, DRAW_SVG, error));
    char *path = checked_format("%s/%s.svg", p->room, f->stem);
    char *svg = read_file(path, error);
    free(path);
    if (svg == NULL)
        return OSAFL_E_IO;
    fputs("<figure>\n", p->to);
    write_svg(p->to, svg, ++p->figures, f->title);
    fputs("</figure>\n", p->to);
    free(svg);
    return OSAFL_OK;
}

static osafl_status write_figures(struct page *p, const struct figure_list *l, struct error *error)
{
    if (l->n == 0)
        return OSAFL_OK;
    fputs("<div class=\"figures\">\n", p->to);
    for (size_t i = 0; i < l->n; i++)
        OSAFL_TRY(write_figure(p, l->figure[i], error));
    fputs("</div>\n", p->to);
    return OSAFL_OK;
}

/* ---- sections ---- */

static void write_detail(struct page *p, struct text_table *t)
{
    if (t != NULL && t->rows > 0) {
        fputs("<div class=\"detail\">\n", p->to);
        text_table_write(t, FORMAT_HTML, p->to);
        fputs("</div>\n", p->to);
    }
    text_table_free(t);
}

/* The table of shared settings is long and narrow: a list in columns. */
static void write_settings(struct page *p, const struct grid_experiment *e)
{
    struct text_table *t = shared_settings_table(e);
    fputs("<h4>", p->to);
    text_escape(t->caption, FORMAT_HTML, p->to);
    fputs("</h4>\n<dl>\n", p->to);
    for (size_t i = 0; i < t->rows; i++) {
        const struct table_entry *row = &t->entry[i * t->columns];
        fputs("<div><dt>", p->to);
        text_escape(row[0].text, FORMAT_HTML, p->to);
        fputs("</dt><dd>", p->to);
        text_escape(row[1].text[0] == '\0' ? "\"\"" : row[1].text, FORMAT_HTML, p->to);
        fputs("<span>", p->to);
        text_escape(row[2].text, FORMAT_HTML, p->to);
        fputs("</span></dd></div>\n", p->to);
    }
    fputs("</dl>\n", p->to);
    text_table_free(t);
}

static void write_and_free(struct page *p, struct text_table *t)
{
    if (t != NULL)
        text_table_write(t, FORMAT_HTML, p->to);
    text_table_free(t);
}

static osafl_status write_table(struct page *p, const struct grid_experiment *e,
                                struct grid_table *t, struct error *error)
{
    if (t->title[0] != '\0')
        text_heading_write(t->title, 2, FORMAT_HTML, p->to);
    if (p->extras->tuned != NULL)
        write_and_free(p, compute_table(e, t, p->extras->tuned));
    if (p->extras->pivot != NULL) {
        write_and_free(p, pivot_table(e, t, p->extras->pivot, p->question));
        return OSAFL_OK;
    }
    struct summarized_table *s = summarize_table(e, t, p->question);
    report_body_write(s, FORMAT_HTML, p->to);
    summarized_table_free(s);
    osafl_status status = OSAFL_OK;
    if (p->room != NULL) {
        /* The figures of this table alone. */
        struct grid_experiment only = {.name = e->name, .table = t, .tables = 1};
        const struct result_grid view = {.experiment = &only, .experiments = 1};
        struct figure_list list = {.n = 0};
        status = figure_list_add_all(&list, &view, SPREAD_DEVIATION, error);
        if (status == OSAFL_OK)
            status = write_figures(p, &list, error);
        figure_list_free(&list);
    }
    write_detail(p, differing_settings_table(t));
    return status;
}

static osafl_status write_experiment(struct page *p, const struct grid_experiment *e, size_t number,
                                     struct error *error)
{
    fprintf(p->to, "<section id=\"experiment-%zu\">\n", number);
    text_heading_write(e->name, 1, FORMAT_HTML, p->to);
    for (size_t k = 0; k < e->tables; k++)
        OSAFL_TRY(write_table(p, e, &e->table[k], error));
    report_end_write(e, FORMAT_HTML, p->to);
    write_settings(p, e);
    write_detail(p, environment_table(e));
    fputs("</section>\n", p->to);
    return OSAFL_OK;
}

static osafl_status write_across(struct page *p, struct error *error)
{
    struct figure_list list = {.n = 0};
    osafl_status status = figure_list_add_quantization(&list, p->cells, SPREAD_DEVIATION, error);
    if (status == OSAFL_OK && list.n > 0) {
        fputs("<section>\n", p->to);
        text_heading_write("Quantization", 1, FORMAT_HTML, p->to);
        status = write_figures(p, &list, error);
        fputs("</section>\n", p->to);
    }
    figure_list_free(&list);
    return status;
}

static void write_head(struct page *p, const struct result_grid *g)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          p->to);
    for (size_t i = 0; i < g->experiments; i++) {
        fputs(i == 0 ? "" : ", ", p->to);
        text_escape(g->experiment[i].name, FORMAT_HTML, p->to);
    }
    fprintf(p->to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n<h1>Results</h1>\n",
            style);
    size_t runs = 0;
    size_t finished = 0;
    for (size_t i = 0; i < p->cells->cells; i++) {
        runs++;
        finished += p->cells->cell[i]->state == CELL_COMPLETE;
    }
    fprintf(p->to, "<p>%zu run%s, %zu finished</p>\n<nav>", runs, runs == 1 ? "" : "s", finished);
    for (size_t i = 0; g->experiments > 1 && i < g->experiments; i++) {
        fprintf(p->to, "<a href=\"#experiment-%zu\">", i + 1);
        text_escape(g->experiment[i].name, FORMAT_HTML, p->to);
        fputs("</a>", p->to);
    }
    fputs("</nav>\n</header>\n<main>\n", p->to);
    text_list_write("Folders that were left out", g->note, g->notes, FORMAT_HTML, p->to);
}

static osafl_status write_page(struct page *p, const struct result_grid *g, struct error *error)
{
    write_head(p, g);
    if (p->room == NULL)
        fputs("<p class=\"note\">This page has no figures: gnuplot was not installed when it was "
              "made (apt-get install gnuplot-nox).</p>\n",
              p->to);
    for (size_t i = 0; i < g->experiments; i++)
        OSAFL_TRY(write_experiment(p, &g->experiment[i], i + 1, error));
    text_list_write("Without results", g->absent, g->absents, FORMAT_HTML, p->to);
    if (p->room != NULL && p->extras->pivot == NULL)
        OSAFL_TRY(write_across(p, error));
    if (p->extras->tuned != NULL) {
        char *paragraph = compute_paragraph(g, p->extras->tuned);
        fputs("<section>\n<p>", p->to);
        text_escape(paragraph, FORMAT_HTML, p->to);
        fputs("</p>\n</section>\n", p->to);
        free(paragraph);
    }
    fputs("</main>\n<footer>Bands and error bars: mean &plusmn; sample standard deviation over "
          "seeds. Made by osafl " OSAFL_VERSION ".</footer>\n</body>\n</html>\n",
          p->to);
    return OSAFL_OK;
}

/* ---- files ---- */

static void remove_folder(const char *folder)
{
    DIR *open = opendir(folder);
    if (open == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;)
        unlinkat(dirfd(open), entry->d_name, 0);
    closedir(open);
    rmdir(folder);
}

/* A reader of path sees the old page or the whole new one. */
static osafl_status replace_file(const char *path, const char *text, struct error *error)
{
    char *beside = checked_format("%s.new", path);
    FILE *to = fopen(beside, "we");
    bool done = false;
    if (to != NULL) {
        done = fputs(text, to) >= 0;
        done = fclose(to) == 0 && done && rename(beside, path) == 0;
    }
    osafl_status status = OSAFL_OK;
    if (!done) {
        status = error_set(error, OSAFL_E_IO, "cannot write %s: %s", path, strerror(errno));
        unlink(beside);
    }
    free(beside);
    return status;
}

osafl_status html_page_write(const char *path, const struct found_cells *f,
                             const struct result_grid *g, const struct summary_question *q,
                             const struct html_extras *extras, struct error *error)
{
    const char *temporary = getenv("TMPDIR");
    char *room = checked_format("%s/osafl-figures-XXXXXX", temporary == NULL ? "/tmp" : temporary);
    const bool draws = gnuplot_is_there(error) == OSAFL_OK;
    osafl_status status = OSAFL_OK;
    if (draws && mkdtemp(room) == NULL) {
        status = error_set(error, OSAFL_E_IO, "cannot create %s: %s", room, strerror(errno));
        free(room);
        return status;
    }
    struct checked_stream stream;
    checked_stream_open(&stream);
    struct page p = {.to = stream.file,
                     .cells = f,
                     .question = q,
                     .extras = extras,
                     .room = draws ? room : NULL};
    status = write_page(&p, g, error);
    char *text = checked_stream_text(&stream);
    if (status == OSAFL_OK)
        status = replace_file(path, text, error);
    free(text);
    if (draws)
        remove_folder(room);
    free(room);
    return status;
}
