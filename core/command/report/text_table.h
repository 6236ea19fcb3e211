/* text_table.h - a table of short texts, printed as plain text, Markdown, LaTeX or HTML. */
#ifndef OSAFL_REPORT_TEXT_TABLE_H
#define OSAFL_REPORT_TEXT_TABLE_H

#include <stdio.h>

#include "osafl/base.h"

enum table_format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_LATEX, FORMAT_HTML };
/* MARK_BEST: better than every other row, each time by an interval that leaves out 0. */
enum entry_mark { MARK_NONE, MARK_BEST };

struct table_entry {
    char *text; /* UTF-8; owned */
    enum entry_mark mark;
};

struct table_column {
    char *heading;
    bool is_text; /* left-aligned; numbers stand right */
};

struct text_table {
    char *caption;               /* one line */
    struct table_column *column; /* [columns] */
    size_t columns;
    struct table_entry *entry; /* [rows][columns] */
    size_t rows;
    char **note; /* [notes], below the table */
    size_t notes;
};

/* Takes the ownership of the texts that it is given. */
struct text_table *text_table_create(char *caption);
void text_table_column(struct text_table *t, char *heading, bool is_text); /* before any row */
void text_table_row(struct text_table *t); /* begins a row of empty entries */
/* Sets the entry of the last row. */
void text_table_set(struct text_table *t, size_t column, enum entry_mark mark, char *text);
void text_table_note(struct text_table *t, char *note);
void text_table_free(struct text_table *t); /* NULL is allowed */

void text_table_write(const struct text_table *t, enum table_format format, FILE *to);
/* A heading of level 1 or 2, and a list of sentences, in the same four formats. */
void text_heading_write(const char *text, int level, enum table_format format, FILE *to);
void text_list_write(const char *heading, char *const *item, size_t items, enum table_format format,
                     FILE *to);

/* The text so that the format shows it as it is. */
void text_escape(const char *text, enum table_format format, FILE *to);

#endif
