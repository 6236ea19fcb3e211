/* run_ranks.c - how the ranks of a run begin. */
#include "run_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/parcel.h"
#include "base/records.h"
#include "experiment/experiment.h"
#include "run_print.h"

osafl_status run_ranks_agree(struct ranks *r, osafl_status status, const struct diagnostics *d,
                             struct error *error)
{
    struct error told = {0};
    if (status != OSAFL_OK)
        run_join_errors(d, told.text);
    const osafl_status all = ranks_share(r, status, NULL, 0, NULL, &told);
    if (status == OSAFL_OK && all != OSAFL_OK)
        *error = told;
    return status != OSAFL_OK ? status : all;
}

/* ---- the same on all ranks ----------------------------------------------------------------- */

/* A line "WHAT<tab>VALUE" for each thing that must be the same. */
static void write_facts(const struct experiment *e, const struct surroundings *around,
                        const struct run_options *o, FILE *to)
{
    fprintf(to, "the version of osafl\t" OSAFL_VERSION "\n");
    fprintf(to, "the file of osafl\t%s\n", around->program_hash);
    fprintf(to, "the experiment\t%s\n", e->identity);
    fprintf(to, "checkpoint_every\t%" PRId64 "\n", e->general.checkpoint_every);
    fprintf(to, "the option --measure\t%u\n", o->replicas);
    fprintf(to, "the CPU's instruction set (OSAFL_ISA sets it)\t%s\n", around->cpu_features);
    fprintf(to, "the BLAS kernel (OPENBLAS_CORETYPE sets it)\t%s\n",
            around->blas_kernel != NULL ? around->blas_kernel : "none");
    fprintf(to, "the mathematics of the C library\t%s\n", around->mathematics);
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        const struct loaded_plugin *p = e->chosen[kind].loaded;
        if (p == NULL)
            continue;
        fprintf(to, "the file of %s/%s\t%s\n", kind_name(kind), p->plugin->name, p->hash);
        for (size_t i = 0; i < p->libraries.n; i++)
            fprintf(to, "the file of %s\t%s\n", p->libraries.item[i].name,
                    p->libraries.item[i].hash);
    }
    for (size_t i = 0; i < around->inputs.n; i++)
        fprintf(to, "the content of %s\t%s\n", around->inputs.item[i].name,
                around->inputs.item[i].hash);
}

/* The first line in which two texts differ, of each. */
static void find_difference(const char **a, const char **b)
{
    while (**a != '\0' && strcspn(*a, "\n") == strcspn(*b, "\n") &&
           strncmp(*a, *b, strcspn(*a, "\n")) == 0) {
        *a += strcspn(*a, "\n") + (strchr(*a, '\n') != NULL);
        *b += strcspn(*b, "\n") + (strchr(*b, '\n') != NULL);
    }
}

/* The value of a line. */
static void take_value(const char *line, char *out, size_t size)
{
    const size_t n = strcspn(line, "\n");
    const size_t name = strcspn(line, "\t\n");
    snprintf(out, size, "%.*s", (int)(n > name ? n - name - 1 : 0),
             n > name ? line + name + 1 : "");
}

static osafl_status compare_facts(const struct ranks *r, const struct rank_piece *all,
                                  struct error *error)
{
    for (uint32_t rank = 1; rank < ranks_count(r); rank++) {
        const char *first = (const char *)all[0].data;
        const char *other = (const char *)all[rank].data;
        find_difference(&first, &other);
        if (*first == '\0' && *other == '\0')
            continue;
        char who[256];
        char ours[200];
        char theirs[200];
        ranks_describe(r, rank, who, sizeof who);
        take_value(first, ours, sizeof ours);
        take_value(other, theirs, sizeof theirs);
        const char *what = *first != '\0' ? first : other;
        return error_set(
            error, OSAFL_E_STATE,
            "%s differs from rank 0 in %.*s: %s, and rank 0 has %s; all ranks of a run "
            "need the same",
            who, (int)strcspn(what, "\t\n"), what, theirs, ours);
    }
    return OSAFL_OK;
}

osafl_status run_ranks_compare(struct ranks *r, osafl_status status, const struct experiment *e,
                               const struct surroundings *around, const struct run_options *o,
                               struct error *error)
{
    const struct rank_piece *all = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = status == OSAFL_OK ? open_memstream(&text, &size) : NULL;
    if (memory != NULL)
        write_facts(e, around, o, memory);
    if (status == OSAFL_OK && (memory == NULL || fclose(memory) != 0 || text == NULL))
        status = error_set(error, OSAFL_E_NOMEM, "out of memory");
    if (status == OSAFL_OK && o->replicas > 0)
        status = error_set(error, OSAFL_E_CONFIG,
                           "--measure theory works in one process; start it without ranks");
    status = ranks_share(r, status, text, text != NULL ? size + 1 : 0, &all, error);
    free(text);
    return status == OSAFL_OK ? compare_facts(r, all, error) : status;
}

/* ---- where it begins ----------------------------------------------------------------------- */

osafl_status run_ranks_tell(struct ranks *r, osafl_status status, const struct run_beginning *begin,
                            const struct engine *engine, struct error *error)
{
    struct parcel own = {0};
    const void *data = NULL;
    size_t size = 0;
    struct record_writer *w = status == OSAFL_OK ? record_writer_create() : NULL;
    if (status == OSAFL_OK && w == NULL)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for the state of the run");
    if (status == OSAFL_OK && !begin->is_complete && begin->round > 0) {
        status = engine_save(engine, w, error);
        if (status == OSAFL_OK)
            status = record_writer_finish(w, &data, &size, error);
    }
    parcel_add(&own, begin, sizeof *begin);
    parcel_add(&own, data, size);
    record_writer_destroy(w);
    if (status == OSAFL_OK && own.is_incomplete)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for the state of the run");
    status = ranks_share(r, status, own.data, own.bytes, NULL, error);
    parcel_free(&own);
    return status;
}

osafl_status run_ranks_hear(struct ranks *r, osafl_status status, struct run_beginning *begin,
                            struct engine *engine, struct error *error)
{
    const struct rank_piece *all = NULL;
    struct record_set *set = NULL;
    OSAFL_TRY(ranks_share(r, status, NULL, 0, &all, error));
    struct parcel_reader from = {.at = all[0].data, .left = all[0].bytes};
    if (!parcel_take(&from, begin, sizeof *begin))
        return error_set(error, OSAFL_E_BUG, "rank 0 does not say where the run begins");
    if (from.left == 0)
        return OSAFL_OK;
    void *copy = malloc(from.left); /* aligned */
    if (copy == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the state of the run");
    memcpy(copy, from.at, from.left);
    status = record_set_open(copy, from.left, &set, error);
    if (status == OSAFL_OK)
        status = engine_load(engine, set, error);
    record_set_destroy(set);
    free(copy);
    return status;
}
