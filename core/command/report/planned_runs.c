/* planned_runs.c - the runs that experiment files ask for, read back. */
#include "planned_runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checked_alloc.h"
#include "experiment/grid.h"
#include "result_text.h"
#include "results/grid_record.h"

bool is_grid_record(const char *name)
{
    const size_t n = strlen(name);
    const size_t end = strlen(GRID_RECORD_SUFFIX);
    return strncmp(name, GRID_RECORD_PREFIX, strlen(GRID_RECORD_PREFIX)) == 0 &&
           n > strlen(GRID_RECORD_PREFIX) + end && strcmp(name + n - end, GRID_RECORD_SUFFIX) == 0;
}

static void free_run(struct planned_run *r)
{
    free(r->experiment);
    free(r->case_name);
    free(r->varied);
}

static bool same_run(const struct planned_run *a, const struct planned_run *b)
{
    return a->seed == b->seed && strcmp(a->case_name, b->case_name) == 0 &&
           strcmp(a->varied, b->varied) == 0 && strcmp(a->experiment, b->experiment) == 0;
}

static void add_run(struct planned_runs *to, const char *experiment, const char *cell, int64_t seed)
{
    struct planned_run run = {.experiment = result_printable(experiment), .seed = seed};
    result_split_case(cell, &run.case_name, &run.varied);
    for (size_t i = 0; i < to->n; i++) {
        if (same_run(&to->run[i], &run)) {
            free_run(&run);
            return;
        }
    }
    to->run = checked_grow(to->run, to->n, sizeof *to->run);
    to->run[to->n++] = run;
}

static bool is_record(const json_t *record)
{
    const char *cell;
    json_t *seeds;
    json_t *cells = json_object_get(record, "cells");
    if (json_integer_value(json_object_get(record, "grid")) != GRID_RECORD_FORMAT ||
        !json_is_string(json_object_get(record, "experiment")) || !json_is_object(cells))
        return false;
    json_object_foreach(cells, cell, seeds)
    {
        size_t i;
        json_t *seed;
        /* More than a grid can have would take long: each run is looked for among the others. */
        if (!json_is_array(seeds) || json_array_size(seeds) > GRID_MAX_CELLS)
            return false;
        json_array_foreach(seeds, i, seed)
        {
            if (!json_is_integer(seed))
                return false;
        }
    }
    return true;
}

osafl_status planned_runs_read(const char *path, struct planned_runs *into, struct error *error)
{
    json_t *record = NULL;
    OSAFL_TRY(result_read_json(path, &record, error));
    osafl_status status = OSAFL_OK;
    if (is_record(record)) {
        const char *experiment = json_string_value(json_object_get(record, "experiment"));
        const char *cell;
        json_t *seeds;
        json_object_foreach(json_object_get(record, "cells"), cell, seeds)
        {
            size_t i;
            json_t *seed;
            json_array_foreach(seeds, i, seed)
                add_run(into, experiment, cell, json_integer_value(seed));
        }
    } else {
        status = error_set(
            error, OSAFL_E_DATA,
            "%s is not a record of a grid of this version of osafl; \"osafl run\" writes it again",
            path);
    }
    json_decref(record);
    return status;
}

bool planned_run_names(const char *key)
{
    static const char *const name[] = {"case", "experiment", "name", "seed"};
    bool names = false;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        names = names || strcmp(key, name[i]) == 0;
    return names;
}

static enum planned_answer answer(bool holds)
{
    return holds ? PLANNED_HOLDS : PLANNED_FAILS;
}

static enum planned_answer check_varied(const char *varied, const char *key, const char *value)
{
    const char *at = result_varied_value(varied, key);
    if (at == NULL)
        return PLANNED_UNKNOWN;
    char *text = checked_format("%.*s", (int)strcspn(at, ","), at);
    char *plain = result_plain_value(text);
    const bool holds = strcmp(plain, value) == 0;
    free(plain);
    free(text);
    return answer(holds);
}

enum planned_answer planned_run_check(const struct planned_run *r, const char *key,
                                      const char *value)
{
    if (strcmp(key, "case") == 0)
        return answer(strcmp(r->case_name, value) == 0);
    if (strcmp(key, "experiment") == 0 || strcmp(key, "name") == 0)
        return answer(strcmp(r->experiment, value) == 0);
    if (strcmp(key, "seed") == 0) {
        char seed[32];
        snprintf(seed, sizeof seed, "%" PRId64, r->seed);
        return answer(strcmp(seed, value) == 0);
    }
    return check_varied(r->varied, key, value);
}

void planned_runs_keep(struct planned_runs *of, const bool *keep)
{
    size_t kept = 0;
    for (size_t i = 0; i < of->n; i++) {
        if (keep[i])
            of->run[kept++] = of->run[i];
        else
            free_run(&of->run[i]);
    }
    of->n = kept;
}

void planned_runs_free(struct planned_runs *p)
{
    for (size_t i = 0; i < p->n; i++)
        free_run(&p->run[i]);
    free(p->run);
    *p = (struct planned_runs){.n = 0};
}
