/* check_command.c - "osafl check": everything of a run but training. */
#include "check_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/text.h"
#include "plugin/guard.h"
#include "plugin/loader.h"
#include "plugin/ranks.h"
#include "round/client_filter.h"
#include "round/engine.h"
#include "round/evaluate.h"
#include "round/forecast.h"
#include "run.h"
#include "run_session.h"

/* Bytes with a fitting unit. */
static void print_bytes(const char *what, uint64_t bytes)
{
    printf("%-22s %.1f MiB\n", what, (double)bytes / (1024.0 * 1024.0));
}

/* Over a link, who is asked decides on the number of steps: forecast_print() says it. */
static void print_training(const struct session *s, const struct world *world)
{
    const char *plural = text_plural(s->facts.rounds);
    const char *samples = text_plural(s->facts.batch);
    const uint64_t steps = engine_steps_per_round(s, world_population(world)->capacity);
    if (session_has_link(s))
        printf("%-22s %u round%s, %u sample%s a step\n", "training", s->facts.rounds, plural,
               s->facts.batch, samples);
    else
        printf("%-22s %u round%s of at most %llu step%s with %u sample%s\n", "training",
               s->facts.rounds, plural, (unsigned long long)steps, text_plural(steps),
               s->facts.batch, samples);
}

static void print_work(const struct session *s, const struct world *world)
{
    const double evaluations =
        ceil((double)s->facts.rounds / (double)s->experiment->evaluation.every);
    printf("%-22s %llu\n", "parameters", (unsigned long long)s->codec.dim);
    if (s->codec.quantizer != NULL)
        printf("%-22s %s%.0f bits for each of %u vector%s\n", "payload",
               codec_adapts(&s->codec) ? "at most " : "", codec_payload_bits(&s->codec), s->slots,
               text_plural(s->slots));
    if (s->deletion.measure != NULL)
        printf("%-22s by the %s of each sample, a forward pass; stores depend on the model\n",
               "deletion", s->deletion.measure);
    if (s->experiment->training.enabled) {
        print_training(s, world);
        printf("%-22s %.0f time%s on %llu sample%s\n", "evaluation", evaluations,
               text_plural((uint64_t)evaluations), (unsigned long long)s->evaluation_samples,
               text_plural(s->evaluation_samples));
    } else {
        printf("%-22s none (training.enabled = false), nor an evaluation\n", "training");
    }
    print_bytes("memory on one thread", engine_bytes(s, world, 1));
    print_bytes("  each further thread", engine_bytes(s, world, 2) - engine_bytes(s, world, 1));
    print_bytes("  a checkpoint, at most", engine_checkpoint_bytes(s, world));
}

/* What goes over the link, and from whom. */
static osafl_status print_link(const struct session *s, struct world *world, struct error *error)
{
    if (!session_has_link(s)) {
        printf("%-22s none: one place trains on all stores; channel, resource, quantizer, uplink, "
               "selection and filter change nothing\n",
               "link");
        return OSAFL_OK;
    }
    OSAFL_TRY(forecast_print(s, world, stdout, error));
    if (s->experiment->uplink.loss_probability > 0.0)
        printf("%-22s %.4g %% of the updates, on average\n", "lost on the way",
               100.0 * s->experiment->uplink.loss_probability);
    filter_print(s, stdout);
    return OSAFL_OK;
}

/* Samples of a split. */
static void print_split(uint64_t n, const char *what)
{
    if (n == OSAFL_ENDLESS)
        printf("endless %s, ", what);
    else
        printf("%" PRIu64 " %s, ", n, what);
}

/* What the data set holds, in one line: as many names of classes as fit. */
static void print_data(const struct session *s)
{
    const osafl_dataset_info *info = &s->dataset;
    const bool classes = info->target_type == OSAFL_TARGET_CLASS;
    size_t width = 0;
    char shape[TEXT_SHAPE_BYTES];
    printf("%-22s %s: ", "data set", s->instance[OSAFL_KIND_DATASET].plugin->name);
    print_split(info->n_train, "training");
    print_split(info->n_validation, "validation");
    print_split(info->n_test, info->n_test == 1 ? "test sample" : "test samples");
    printf("each %s %s%s; %u %s", text_shape(shape, info->shape, info->rank),
           info->x_type == OSAFL_X_INT32 ? "integer" : "value", text_plural(s->sample_size),
           classes ? info->labels : info->target_size,
           classes                  ? "classes"
           : info->target_size == 1 ? "target"
                                    : "targets");
    for (uint32_t i = 0; info->label_names != NULL && i < info->labels; i++) {
        width += strlen(info->label_names[i]) + 2;
        printf("%s%s", i == 0 ? ": " : ", ", width < 80 ? info->label_names[i] : "...");
        if (width >= 80)
            break;
    }
    putchar('\n');
}

/* What the data set says in words of how it made its samples. */
static void print_fact(void *arg, const osafl_fact *fact)
{
    (void)arg;
    if (fact->single != 0 && fact->text != NULL)
        printf("%-22s %s\n", fact->key, fact->text[0]);
}

/* A line of the table of layers; *arg: lines so far. */
static void print_layer(void *arg, const osafl_layer *l)
{
    size_t *lines = arg;
    char shape[TEXT_SHAPE_BYTES];
    if ((*lines)++ == 0)
        printf("%-32s %-22s %-18s %10s %12s\n", "layer", "kind", "gives", "parameters",
               "operations");
    printf("%-32s %-22s %-18s %10llu %12.0f\n", l->name[0] != '\0' ? l->name : "-", l->kind,
           text_shape(shape, l->shape, 3), (unsigned long long)l->parameters, l->operations);
}

/* A setting of the kind whose name *arg is. */
static osafl_status print_choice(void *arg, const struct setting *s)
{
    const char *kind = arg;
    const size_t n = strlen(kind);
    if (strncmp(s->group, kind, n) != 0 || (s->group[n] != '\0' && s->group[n] != '.'))
        return OSAFL_OK;
    if (s->param == NULL)
        printf("%-22s %s", kind, s->text);
    else
        printf(", %s = %s", s->key, s->text);
    return OSAFL_OK;
}

/* The laws by which clients get their samples, with all their settings. */
static osafl_status print_laws(const struct experiment *e)
{
    char kinds[][16] = {"partition", "drift", "arrival"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        OSAFL_TRY(experiment_visit(e, print_choice, kinds[i]));
        putchar('\n');
    }
    return OSAFL_OK;
}

/* Whether the weights of model.start fit. */
static osafl_status check_start(const struct session *s, struct error *error)
{
    if (s->experiment->model.start[0] == '\0')
        return OSAFL_OK;
    float *w = malloc(s->model.n_parameters * sizeof *w);
    const osafl_status status =
        w != NULL ? session_start_weights(s, w, error)
                  : error_set(error, OSAFL_E_NOMEM, "out of memory for the weights");
    free(w);
    if (status == OSAFL_OK)
        printf("%-22s %s\n", "starts with", s->experiment->model.start);
    return status;
}

/* After what a run costs: whether several computers can share it. */
static void print_ranks(const struct loader *l)
{
    printf("%-22s ", "ranks of MPI");
    ranks_print(loader_path(l), stdout);
}

static osafl_status check(struct experiment *e, const struct loader *l, struct session *s,
                          struct error *error)
{
    struct world *world = NULL;
    const struct world_plugins plugins = session_world_plugins(s);
    osafl_status status = world_create(e, &plugins, &world, error);
    if (status == OSAFL_OK) {
        print_data(s);
        status = print_laws(e);
    }
    if (status == OSAFL_OK) {
        world_print(world, stdout);
        print_work(s, world);
        print_ranks(l);
        status = check_start(s, error);
    }
    if (status == OSAFL_OK)
        status = print_link(s, world, error);
    world_destroy(world);
    if (status == OSAFL_OK && e->training.enabled)
        status = evaluate_first(s, error);
    return status;
}

int check_command(struct experiment *e, struct loader *l)
{
    size_t layers = 0;
    const struct host_context context = {.seed = (uint64_t)e->general.seed,
                                         .log_level = OSAFL_LOG_WARN,
                                         .layer = print_layer,
                                         .layer_arg = &layers,
                                         .fact = print_fact};
    struct error error = {0};
    struct run_session s = {0};
    struct diagnostics *d = diagnostics_create();
    if (d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    guard_watch(e->general.call_limit_s);
    osafl_status status = run_session_open(&s, e, l, &context, d);
    if (status == OSAFL_OK)
        status = check(e, l, &s.session, &error);
    if (status != OSAFL_OK && error.text[0] != '\0')
        diagnostics_error(d, NULL, 0, "%s", error.text);
    diagnostics_print(d, stderr);
    run_session_close(&s);
    diagnostics_destroy(d);
    guard_unwatch();
    return run_exit_status(status);
}
