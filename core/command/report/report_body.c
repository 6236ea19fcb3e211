/* report_body.c - what "osafl report" says about one table of results. */
#include "report_body.h"

#include <math.h>
#include <stdlib.h>

#include "absence_table.h"
#include "against_table.h"
#include "online_table.h"
#include "recovery_table.h"

void report_end_write(const struct grid_experiment *e, enum table_format format, FILE *to)
{
    text_list_write("Not begun", e->absent, e->absents, format, to);
}

static struct text_table *against(const struct summarized_table *s, enum compared by)
{
    return s->against == NULL ? NULL : against_table(s, by);
}

void report_body_write(const struct summarized_table *s, enum table_format format, FILE *to)
{
    char *facts = shared_facts(s->table);
    if (facts[0] != '\0') {
        fputs(format == FORMAT_HTML ? "<p class=\"facts\">" : "", to);
        text_escape(facts, format, to);
        fputs(format == FORMAT_HTML ? "</p>\n" : "\n\n", to);
    }
    free(facts);
    if (s->measure != NULL) {
        struct text_table *const tables[] = {performance_table(s),
                                             against(s, COMPARED_BEST),
                                             against(s, COMPARED_LAST),
                                             against(s, COMPARED_TAIL),
                                             cost_table(s),
                                             absence_table(s),
                                             isnan(s->target) ? NULL : target_table(s),
                                             recovery_table(s),
                                             online_table(s, false),
                                             online_table(s, true)};
        for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
            if (tables[i] != NULL)
                text_table_write(tables[i], format, to);
            text_table_free(tables[i]);
        }
    }
    size_t items;
    char **missing = missing_runs(s, &items);
    text_list_write("Missing", missing, items, format, to);
    for (size_t i = 0; i < items; i++)
        free(missing[i]);
    free(missing);
}
