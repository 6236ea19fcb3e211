/* evaluate_command.c - "osafl evaluate": how good given weights are on an experiment's data. */
#include "evaluate_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_writer.h"
#include "base/diagnostics.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/text.h"
#include "plugin/guard.h"
#include "plugin/pool.h"
#include "results/data_record.h"
#include "results/manifest.h"
#include "results/safetensors.h"
#include "results/weights.h"
#include "round/confusion.h"
#include "round/evaluate.h"
#include "run.h"
#include "run_session.h"

/* What the command has open. */
struct evaluating {
    struct run_session s;
    struct data_record data; /* what the data set says of its samples */
    struct pool *pool;
    struct worker **workers; /* [pool_threads()] */
    struct evaluation result;
    float *w;
    json_t *metadata; /* of the weights; may be NULL */
};

static osafl_status no_memory(struct error *error)
{
    return error_set(error, OSAFL_E_NOMEM, "out of memory; fewer threads (--threads) take less");
}

/* The file of a run's model, or the file that was named; owned by the caller. */
static osafl_status find_weights(const char *name, char **path, struct error *error)
{
    *path = NULL;
    if (!manifest_is_in(name)) {
        *path = strdup(name);
    } else if (!folder_has(name, MODEL_FILE)) {
        return error_set(error, OSAFL_E_CONFIG,
                         "%s holds no " MODEL_FILE
                         ": the run has not ended; osafl run with its experiment file resumes it",
                         name);
    } else if (asprintf(path, "%s/" MODEL_FILE, name) < 0) {
        *path = NULL;
    }
    return *path != NULL ? OSAFL_OK : no_memory(error);
}

static osafl_status read_weights(struct evaluating *v, const char *path, struct error *error)
{
    const struct session *s = &v->s.session;
    v->w = memory_zeroed(s->model.n_parameters, sizeof(float), VECTOR_ALIGNMENT);
    if (v->w == NULL)
        return no_memory(error);
    return weights_read(path, &s->instance[OSAFL_KIND_MODEL], &s->model, v->w, &v->metadata, error);
}

/* Samples that are prepared in another way than those of the training make the measures mean
 * something else. */
static void compare_preparation(const struct evaluating *v, const char *path, struct diagnostics *d)
{
    static const char *const keys[] = {"classes", "features",  "scaling",
                                       "mean",    "deviation", "filled_in"};
    const struct session *s = &v->s.session;
    const char *text = json_string_value(json_object_get(v->metadata, METADATA_DATA));
    json_t *then = text != NULL ? json_loads(text, 0, NULL) : NULL;
    json_t *now =
        data_record_describe(s->instance[OSAFL_KIND_DATASET].plugin->name, &s->dataset, &v->data);
    char differ[128] = "";
    for (size_t i = 0; then != NULL && now != NULL && i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *a = json_object_get(then, keys[i]);
        const json_t *b = json_object_get(now, keys[i]);
        if (a != b && !json_equal(a, b))
            text_append_item(differ, sizeof differ, ", ", keys[i]);
    }
    if (differ[0] != '\0')
        diagnostics_warn(
            d, NULL, 0,
            "%s was trained on samples that were prepared differently from those of the "
            "experiment's data set (data.json): %s",
            path, differ);
    json_decref(then);
    json_decref(now);
}

static osafl_status measure(struct evaluating *v, unsigned threads, struct error *error)
{
    struct session *s = &v->s.session;
    v->pool = pool_create(threads, &guard_pool_hooks);
    v->workers = calloc(threads, sizeof *v->workers);
    bool complete = v->pool != NULL && v->workers != NULL && evaluation_create(s, &v->result);
    for (unsigned i = 0; complete && i < threads; i++)
        complete = (v->workers[i] = worker_create(s)) != NULL;
    if (!complete)
        return no_memory(error);
    s->context.pool = v->pool;
    return evaluate_model(s, v->workers, 0, v->w, &v->result, error);
}

/* ---- what is printed ---- */

static const osafl_metric *measure_of(const struct session *s, uint32_t m)
{
    return OSAFL_AT(osafl_metric, s->model.measures, s->model.measure_size, m);
}

static void print_measures(const struct session *s, const double *value, const char *end)
{
    char number[CSV_REAL_BYTES];
    for (uint32_t m = 0; m < s->model.n_measures; m++) {
        csv_format_real(value[m], number);
        printf("%s%s %s", m > 0 ? ", " : "", measure_of(s, m)->name,
               isfinite(value[m]) ? number : "not finite");
    }
    fputs(end, stdout);
}

static void print_result(const struct evaluating *v, const char *path)
{
    const struct session *s = &v->s.session;
    const bool test = session_evaluation_split(s) == OSAFL_SPLIT_TEST;
    printf("%-22s %s, model/%s\n", "weights", path, s->instance[OSAFL_KIND_MODEL].plugin->name);
    printf("%-22s %" PRIu64 " of the %s split, dataset/%s\n", "samples", s->evaluation_samples,
           test ? "test" : "validation", s->instance[OSAFL_KIND_DATASET].plugin->name);
    printf("%-22s ", "measures");
    print_measures(s, v->result.mean, "\n");
    if (!s->experiment->evaluation.per_class)
        return;
    for (uint32_t label = 0; label < s->dataset.labels; label++) {
        char name[32];
        snprintf(name, sizeof name, "label %u", label);
        printf("%-22s ", name);
        if (s->dataset.label_names != NULL)
            printf("%s, ", s->dataset.label_names[label]);
        printf("%" PRIu64 " sample%s", v->result.label_samples[label],
               text_plural(v->result.label_samples[label]));
        if (v->result.label_samples[label] > 0) {
            fputs(": ", stdout);
            print_measures(s, v->result.label_mean + (size_t)label * s->model.n_measures, "");
        }
        putchar('\n');
    }
}

/* What rare classes do not vanish in. */
static osafl_status print_confusion(struct evaluating *v, struct error *error)
{
    struct confusion c;
    char number[CSV_REAL_BYTES];
    OSAFL_TRY(confusion_count(&v->s.session, v->workers, v->w, &v->result, &c, error));
    csv_format_real(confusion_balanced_accuracy(&c), number);
    printf("%-22s %s\n", "balanced accuracy", number);
    csv_format_real(confusion_macro_f1(&c), number);
    printf("%-22s %s\n", "macro F1", number);
    confusion_free(&c);
    return OSAFL_OK;
}

/* ---- the command ---- */

static osafl_status evaluate(struct evaluating *v, const char *weights, unsigned threads,
                             struct diagnostics *d, struct error *error)
{
    char *path;
    OSAFL_TRY(find_weights(weights, &path, error));
    osafl_status status = read_weights(v, path, error);
    if (status == OSAFL_E_IO) /* the user named it */
        status = OSAFL_E_DATA;
    if (status == OSAFL_OK) {
        compare_preparation(v, path, d);
        status = measure(v, threads, error);
    }
    if (status == OSAFL_OK)
        print_result(v, path);
    if (status == OSAFL_OK && v->s.session.experiment->results.confusion)
        status = print_confusion(v, error);
    free(path);
    return status;
}

static void close_all(struct evaluating *v, unsigned threads)
{
    for (unsigned i = 0; v->workers != NULL && i < threads; i++)
        worker_destroy(v->workers[i]);
    free(v->workers);
    evaluation_destroy(&v->result);
    pool_destroy(v->pool);
    memory_free(v->w);
    json_decref(v->metadata);
    run_session_close(&v->s);
    data_record_free(&v->data);
}

int evaluate_command(struct experiment *e, struct loader *l, const char *weights, unsigned threads)
{
    struct error error = {0};
    struct evaluating v = {0};
    const struct host_context context = {.seed = (uint64_t)e->general.seed,
                                         .log_level = OSAFL_LOG_WARN,
                                         .fact = data_record_add,
                                         .fact_arg = &v.data};
    struct diagnostics *d = diagnostics_create();
    if (d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    guard_watch(e->general.call_limit_s);
    osafl_status status = run_session_open(&v.s, e, l, &context, d);
    if (status == OSAFL_OK)
        status = evaluate(&v, weights, threads, d, &error);
    if (status != OSAFL_OK && error.text[0] != '\0')
        diagnostics_error(d, NULL, 0, "%s", error.text);
    diagnostics_print(d, stderr);
    close_all(&v, threads);
    diagnostics_destroy(d);
    guard_unwatch();
    return run_exit_status(status);
}
