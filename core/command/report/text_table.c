/* text_table.c - a table of short texts in four formats. */
#include "text_table.h"

#include <stdlib.h>
#include <string.h>

#include "checked_alloc.h"

struct text_table *text_table_create(char *caption)
{
    struct text_table *t = checked_alloc(1, sizeof *t);
    t->caption = caption;
    return t;
}

void text_table_column(struct text_table *t, char *heading, bool is_text)
{
    t->column = checked_grow(t->column, t->columns, sizeof *t->column);
    t->column[t->columns++] = (struct table_column){heading, is_text};
}

void text_table_row(struct text_table *t)
{
    t->entry = checked_grow(t->entry, t->rows, t->columns * sizeof *t->entry);
    for (size_t i = 0; i < t->columns; i++)
        t->entry[t->rows * t->columns + i] = (struct table_entry){checked_copy(""), MARK_NONE};
    t->rows++;
}

void text_table_set(struct text_table *t, size_t column, enum entry_mark mark, char *text)
{
    struct table_entry *e = &t->entry[(t->rows - 1) * t->columns + column];
    free(e->text);
    *e = (struct table_entry){text, mark};
}

void text_table_note(struct text_table *t, char *note)
{
    t->note = checked_grow(t->note, t->notes, sizeof *t->note);
    t->note[t->notes++] = note;
}

void text_table_free(struct text_table *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->columns; i++)
        free(t->column[i].heading);
    for (size_t i = 0; i < t->rows * t->columns; i++)
        free(t->entry[i].text);
    for (size_t i = 0; i < t->notes; i++)
        free(t->note[i]);
    free(t->column);
    free(t->entry);
    free(t->note);
    free(t->caption);
    free(t);
}

/* ---- escaping ---- */

static const char *html_escape(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static const char *markdown_escape(char c)
{
    static const char special[] = "\\`*_{}[]<>#|";
    static const char *const escaped[] = {"\\\\", "\\`", "\\*", "\\_", "\\{", "\\}",
                                          "\\[",  "\\]", "\\<", "\\>", "\\#", "\\|"};
    const char *at = c == '\0' ? NULL : strchr(special, c);
    return at == NULL ? NULL : escaped[at - special];
}

static const char *latex_escape(char c)
{
    switch (c) {
    case '\\':
        return "\\textbackslash{}";
    case '~':
        return "\\textasciitilde{}";
    case '^':
        return "\\textasciicircum{}";
    case '<':
        return "\\textless{}";
    case '>':
        return "\\textgreater{}";
    case '|':
        return "\\textbar{}";
    case '"':
        return "\\textquotedbl{}";
    case '&':
        return "\\&";
    case '%':
        return "\\%";
    case '$':
        return "\\$";
    case '#':
        return "\\#";
    case '_':
        return "\\_";
    case '{':
        return "\\{";
    case '}':
        return "\\}";
    default:
        return NULL;
    }
}

void text_escape(const char *text, enum table_format format, FILE *to)
{
    static const char plus_minus[] = "\xc2\xb1"; /* U+00B1 */
    for (const char *at = text; *at != '\0'; at++) {
        const char *escaped = NULL;
        if (format == FORMAT_HTML)
            escaped = html_escape(*at);
        else if (format == FORMAT_MARKDOWN)
            escaped = markdown_escape(*at);
        else if (format == FORMAT_LATEX)
            escaped = latex_escape(*at);
        if (format == FORMAT_LATEX && strncmp(at, plus_minus, 2) == 0) {
            /* Any encoding of the document shows the command. */
            fputs("$\\pm$", to);
            at++;
        } else if (escaped != NULL) {
            fputs(escaped, to);
        } else {
            fputc(*at, to);
        }
    }
}

/* What the mark says. */
#define BETTER                                                                                     \
    "better than every other row: the 95 % interval of the paired differences leaves out 0"

/* ---- text ---- */

/* Characters, not bytes: continuation bytes take no room. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static const char *text_mark(enum entry_mark mark)
{
    return mark == MARK_BEST ? " *" : "";
}

static bool has_marks(const struct text_table *t, size_t column)
{
    for (size_t i = 0; i < t->rows; i++) {
        if (t->entry[i * t->columns + column].mark != MARK_NONE)
            return true;
    }
    return false;
}

static bool any_mark(const struct text_table *t)
{
    for (size_t c = 0; c < t->columns; c++) {
        if (has_marks(t, c))
            return true;
    }
    return false;
}

static void pad(int n, char with, FILE *to)
{
    for (; n > 0; n--)
        fputc(with, to);
}

static void write_text_entry(const struct text_table *t, size_t column, const char *text,
                             const char *mark, int width, FILE *to)
{
    const bool is_last = column + 1 == t->columns;
    const bool marked = has_marks(t, column);
    /* A number keeps its digits in line whether or not a mark follows. */
    const int space = width - width_of(text) - (marked ? 2 : 0);
    if (!t->column[column].is_text)
        pad(space, ' ', to);
    fprintf(to, "%s%s", text, mark);
    if (is_last)
        return;
    if (t->column[column].is_text)
        pad(space, ' ', to);
    if (marked && mark[0] == '\0')
        fputs("  ", to);
    fputs("  ", to);
}

static void write_text(const struct text_table *t, FILE *to)
{
    int *width = checked_alloc(t->columns, sizeof *width);
    int all = 0;
    for (size_t c = 0; c < t->columns; c++) {
        width[c] = width_of(t->column[c].heading);
        const int mark = has_marks(t, c) ? 2 : 0;
        for (size_t r = 0; r < t->rows; r++) {
            const int here = width_of(t->entry[r * t->columns + c].text) + mark;
            width[c] = here > width[c] ? here : width[c];
        }
        all += width[c] + (c == 0 ? 0 : 2);
    }
    fprintf(to, "%s\n", t->caption);
    for (size_t c = 0; c < t->columns; c++) {
        const int space = width[c] - width_of(t->column[c].heading);
        const bool is_last = c + 1 == t->columns;
        pad(t->column[c].is_text ? 0 : space, ' ', to);
        fputs(t->column[c].heading, to);
        pad(t->column[c].is_text && !is_last ? space : 0, ' ', to);
        fputs(is_last ? "\n" : "  ", to);
    }
    pad(all, '-', to);
    fputc('\n', to);
    for (size_t r = 0; r < t->rows; r++) {
        for (size_t c = 0; c < t->columns; c++) {
            const struct table_entry *entry = &t->entry[r * t->columns + c];
            write_text_entry(t, c, entry->text, text_mark(entry->mark), width[c], to);
        }
        fputc('\n', to);
    }
    if (any_mark(t))
        fputs("* " BETTER "\n", to);
    for (size_t i = 0; i < t->notes; i++)
        fprintf(to, "%s\n", t->note[i]);
    fputc('\n', to);
    free(width);
}

/* ---- the others ---- */

/* One entry between the marks of a format. */
static void write_marked(const struct table_entry *e, const char *const open[2],
                         const char *const close[2], enum table_format format, FILE *to)
{
    fputs(open[e->mark], to);
    text_escape(e->text, format, to);
    fputs(close[e->mark], to);
}

static void write_markdown(const struct text_table *t, FILE *to)
{
    static const char *const mark[2] = {"", "**"};
    text_escape(t->caption, FORMAT_MARKDOWN, to);
    fputs("\n\n|", to);
    for (size_t c = 0; c < t->columns; c++) {
        fputc(' ', to);
        text_escape(t->column[c].heading, FORMAT_MARKDOWN, to);
        fputs(" |", to);
    }
    fputs("\n|", to);
    for (size_t c = 0; c < t->columns; c++)
        fputs(t->column[c].is_text ? " :-- |" : " --: |", to);
    fputc('\n', to);
    for (size_t r = 0; r < t->rows; r++) {
        fputc('|', to);
        for (size_t c = 0; c < t->columns; c++) {
            fputc(' ', to);
            write_marked(&t->entry[r * t->columns + c], mark, mark, FORMAT_MARKDOWN, to);
            fputs(" |", to);
        }
        fputc('\n', to);
    }
    fputc('\n', to);
    if (any_mark(t))
        fputs("**Bold**: " BETTER ".\n\n", to);
    for (size_t i = 0; i < t->notes; i++) {
        text_escape(t->note[i], FORMAT_MARKDOWN, to);
        fputs("\n\n", to);
    }
}

static void write_latex(const struct text_table *t, FILE *to)
{
    static const char *const open[2] = {"", "\\textbf{"};
    static const char *const close[2] = {"", "}"};
    fputs("% needs \\usepackage{booktabs,graphicx}\n\\begin{table}\n\\centering\n\\caption{", to);
    text_escape(t->caption, FORMAT_LATEX, to);
    /* As small as it must be for the column, and no larger than footnotes. */
    fputs("}\n\\footnotesize\n\\setlength{\\tabcolsep}{3pt}\n"
          "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
          "\\begin{tabular}{",
          to);
    for (size_t c = 0; c < t->columns; c++)
        fputc(t->column[c].is_text ? 'l' : 'r', to);
    fputs("}\n\\toprule\n", to);
    for (size_t c = 0; c < t->columns; c++) {
        text_escape(t->column[c].heading, FORMAT_LATEX, to);
        fputs(c + 1 < t->columns ? " & " : " \\\\\n\\midrule\n", to);
    }
    for (size_t r = 0; r < t->rows; r++) {
        for (size_t c = 0; c < t->columns; c++) {
            write_marked(&t->entry[r * t->columns + c], open, close, FORMAT_LATEX, to);
            fputs(c + 1 < t->columns ? " & " : " \\\\\n", to);
        }
    }
    fputs("\\bottomrule\n\\end{tabular}}\n", to);
    if (any_mark(t)) {
        fputs("\\par Bold: ", to);
        text_escape(BETTER ".\n", FORMAT_LATEX, to);
    }
    for (size_t i = 0; i < t->notes; i++) {
        fputs("\\par ", to);
        text_escape(t->note[i], FORMAT_LATEX, to);
        fputc('\n', to);
    }
    fputs("\\end{table}\n\n", to);
}

static void write_html_row(const struct text_table *t, size_t row, FILE *to)
{
    static const char *const open[2] = {"", "<strong>"};
    static const char *const close[2] = {"", "</strong>"};
    static const char *const class[2] = {"", " best"};
    fputs("<tr>", to);
    for (size_t c = 0; c < t->columns; c++) {
        const struct table_entry *entry = &t->entry[row * t->columns + c];
        const char *tag = c == 0 ? "th scope=\"row\"" : "td";
        fprintf(to, "<%s class=\"%s%s\">", tag, t->column[c].is_text ? "text" : "number",
                class[entry->mark]);
        write_marked(entry, open, close, FORMAT_HTML, to);
        fputs(c == 0 ? "</th>" : "</td>", to);
    }
    fputs("</tr>\n", to);
}

static void write_html(const struct text_table *t, FILE *to)
{
    fputs("<div class=\"table\"><table>\n<caption>", to);
    text_escape(t->caption, FORMAT_HTML, to);
    fputs("</caption>\n<thead><tr>", to);
    for (size_t c = 0; c < t->columns; c++) {
        fprintf(to, "<th scope=\"col\" class=\"%s\">", t->column[c].is_text ? "text" : "number");
        text_escape(t->column[c].heading, FORMAT_HTML, to);
        fputs("</th>", to);
    }
    fputs("</tr></thead>\n<tbody>\n", to);
    for (size_t r = 0; r < t->rows; r++)
        write_html_row(t, r, to);
    fputs("</tbody>\n</table></div>\n", to);
    if (any_mark(t))
        fputs("<p class=\"note\"><span class=\"best\"><strong>bold</strong></span> " BETTER
              "</p>\n",
              to);
    for (size_t i = 0; i < t->notes; i++) {
        fputs("<p class=\"note\">", to);
        text_escape(t->note[i], FORMAT_HTML, to);
        fputs("</p>\n", to);
    }
}

void text_table_write(const struct text_table *t, enum table_format format, FILE *to)
{
    switch (format) {
    case FORMAT_TEXT:
        write_text(t, to);
        return;
    case FORMAT_MARKDOWN:
        write_markdown(t, to);
        return;
    case FORMAT_LATEX:
        write_latex(t, to);
        return;
    case FORMAT_HTML:
        write_html(t, to);
        return;
    }
}

void text_heading_write(const char *text, int level, enum table_format format, FILE *to)
{
    static const char *const open[4][2] = {
        {"", ""}, {"# ", "## "}, {"\\section*{", "\\subsection*{"}, {"<h2>", "<h3>"}};
    static const char *const close[4][2] = {
        {"\n", "\n"}, {"\n", "\n"}, {"}\n", "}\n"}, {"</h2>\n", "</h3>\n"}};
    fputs(open[format][level - 1], to);
    text_escape(text, format, to);
    fputs(close[format][level - 1], to);
    if (format == FORMAT_TEXT)
        pad(width_of(text), level == 1 ? '=' : '-', to);
    fputs(format == FORMAT_HTML ? "" : format == FORMAT_TEXT ? "\n\n" : "\n", to);
}

void text_list_write(const char *heading, char *const *item, size_t items, enum table_format format,
                     FILE *to)
{
    static const char *const begin[4] = {":\n", ":\n\n", ":\n\\begin{itemize}\n", ":</p>\n<ul>\n"};
    static const char *const open[4] = {"  ", "- ", "\\item ", "<li>"};
    static const char *const close[4] = {"\n", "\n", "\n", "</li>\n"};
    static const char *const end[4] = {"\n", "\n", "\\end{itemize}\n\n", "</ul>\n"};
    if (items == 0)
        return;
    fputs(format == FORMAT_HTML ? "<p class=\"list\">" : "", to);
    text_escape(heading, format, to);
    fputs(begin[format], to);
    for (size_t i = 0; i < items; i++) {
        fputs(open[format], to);
        text_escape(item[i], format, to);
        fputs(close[format], to);
    }
    fputs(end[format], to);
}
