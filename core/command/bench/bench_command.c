/* bench_command.c - "osafl bench": how fast the models train on this machine. */
#include "bench_command.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/exit_status.h"
#include "bench_model.h"
#include "command/cli_options.h"
#include "plugin/cpu.h"
#include "plugin/loader.h"

enum { MOST_MODELS = 16, MOST_PLUGIN_DIRS = 16 };

struct arguments {
    struct bench_options o;
    const char *model[MOST_MODELS];
    size_t n_models;
    const char *plugin_dir[MOST_PLUGIN_DIRS + 1];
    size_t n_plugin_dirs;
    bool json;
};

enum {
    OPT_LAYERS = 256,
    OPT_BATCH,
    OPT_REPEATS,
    OPT_CLIENTS,
    OPT_PICTURE,
    OPT_CLASSES,
    OPT_TOKENS,
    OPT_JSON,
    OPT_DIR
};

static const struct argp_option options[] = {
    {"model", 'm', "NAME", 0,
     "Model to time, or a file that has a group model, such as "
     "experiments/networks/mobilenetv2.cfg; may be repeated. Default: cnn, squeezenet, resnet18",
     0},
    {"threads", 'j', "N", 0, "Threads of the round. Default: one for each processor", 0},
    {"layers", OPT_LAYERS, NULL, 0, "Time every layer of the models", 0},
    {"batch", OPT_BATCH, "N", 0, "Samples of a step. Default: 16", 0},
    {"repeats", OPT_REPEATS, "N", 0, "Number of steps to time. Default: 30", 0},
    {"clients", OPT_CLIENTS, "N", 0,
     "Clients of the round, each with 40 steps and 400 samples to evaluate; 0: no round. Default: "
     "25",
     0},
    {"picture", OPT_PICTURE, "CxHxW", 0, "Size of the pictures. Default: 3x32x32", 0},
    {"classes", OPT_CLASSES, "N", 0, "Classes of the pictures. Default: 10", 0},
    {"tokens", OPT_TOKENS, "N", 0,
     "Make all values whole numbers below N, for rows of tokens (--picture 1x1xSTEPS)", 0},
    {"json", OPT_JSON, NULL, 0, "Print one line of JSON for each model", 0},
    {"plugin-dir", OPT_DIR, "DIR", 0, "Look for plugins here first; may be repeated", 0},
    {0},
};

static void read_picture(const char *text, struct bench_options *o, struct argp_state *state)
{
    char rest;
    if (sscanf(text, "%5" SCNu32 "x%5" SCNu32 "x%5" SCNu32 "%c", &o->channels, &o->height,
               &o->width, &rest) != 3 ||
        o->channels == 0 || o->height == 0 || o->width == 0)
        argp_error(state, "\"%s\" is not a picture size; write it as 3x32x32", text);
}

static void add_name(const char **list, size_t *n, size_t most, const char *name, const char *what,
                     struct argp_state *state)
{
    if (*n == most)
        argp_error(state, "more than %zu %s", most, what);
    list[(*n)++] = name;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'm':
        add_name(a->model, &a->n_models, MOST_MODELS, arg, "models", state);
        return 0;
    case 'j':
        a->o.threads = (unsigned)cli_whole_number("threads", arg, 1, 1024, state);
        return 0;
    case OPT_LAYERS:
        a->o.layers = true;
        return 0;
    case OPT_BATCH:
        a->o.batch = (uint32_t)cli_whole_number("batch", arg, 1, 4096, state);
        return 0;
    case OPT_REPEATS:
        a->o.repeats = (uint32_t)cli_whole_number("repeats", arg, 1, 100000, state);
        return 0;
    case OPT_CLIENTS:
        a->o.clients = (uint32_t)cli_whole_number("clients", arg, 0, 100000, state);
        return 0;
    case OPT_PICTURE:
        read_picture(arg, &a->o, state);
        return 0;
    case OPT_CLASSES:
        a->o.classes = (uint32_t)cli_whole_number("classes", arg, 2, 1 << 24, state);
        return 0;
    case OPT_TOKENS:
        a->o.tokens = (uint32_t)cli_whole_number("tokens", arg, 1, 1 << 24, state);
        return 0;
    case OPT_JSON:
        a->json = true;
        return 0;
    case OPT_DIR:
        add_name(a->plugin_dir, &a->n_plugin_dirs, MOST_PLUGIN_DIRS, arg, "folders", state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "\"%s\" is one argument too many; name models with --model", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- output ---- */

static void print_heading(const struct arguments *a, double peak, enum cpu_isa isa)
{
    char processor[128];
    struct blas_report blas;
    cpu_model(processor, sizeof processor);
    cpu_read_blas(&blas);
    printf("%s, kernels for %s", processor, cpu_isa_name(isa));
    if (peak > 0)
        printf("; sgemm of OpenBLAS (%s): %.1f GFLOP/s on one thread", blas.core, peak * 1e-9);
    printf("\npictures of %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", batches of %" PRIu32
           "; milliseconds are CPU time of one thread\n\n",
           a->o.channels, a->o.height, a->o.width, a->o.batch);
    printf("%-16s %10s %9s %9s %9s %8s %7s %10s %10s\n", "model", "parameters", "step ms",
           "median ms", "evaluate", "GFLOP/s", "of peak", "samples/s", "workspace");
}

/* speed: of the definition's operations; minimal filtering does with fewer and can pass the peak.
 */
static void print_result(const char *model, const struct bench_result *r, double peak)
{
    const double speed = r->step_s > 0 ? r->operations / r->step_s : 0;
    printf("%-16s %10" PRIu64 " %9.3f %9.3f %9.3f ", model, r->parameters, 1e3 * r->step_s,
           1e3 * r->step_median_s, 1e3 * r->evaluate_s);
    if (speed > 0)
        printf("%8.1f ", 1e-9 * speed);
    else
        printf("%8s ", "-");
    if (speed > 0 && peak > 0)
        printf("%6.0f%% ", 100 * speed / peak);
    else
        printf("%7s ", "-");
    if (r->round_s > 0)
        printf("%10.0f ", (double)r->round_samples / r->round_s);
    else
        printf("%10s ", "-");
    printf("%6.1f MiB\n", (double)r->workspace_bytes / 1048576);
}

static void print_speed(const struct bench_layer *l, int phase)
{
    printf(" %9.3f", 1e3 * l->seconds[phase]);
    if (l->operations[phase] > 0 && l->seconds[phase] > 0)
        printf(" %8.1f", 1e-9 * l->operations[phase] / l->seconds[phase]);
    else
        printf(" %8s", "-");
}

static void print_layers(const struct bench_result *r)
{
    printf("  %-30s %9s %8s %9s %8s\n", "", "forward", "GFLOP/s", "backward", "GFLOP/s");
    for (size_t i = 0; i < r->n_layers; i++) {
        printf("  %-30s", r->layer[i].name);
        print_speed(&r->layer[i], 0);
        print_speed(&r->layer[i], 1);
        printf("\n");
    }
    if (r->n_layers == 0)
        printf("  the model does not report its layers' times\n");
    printf("\n");
}

static bool print_json(const struct arguments *a, const char *model, const struct bench_result *r,
                       double peak, enum cpu_isa isa)
{
    json_t *layers = json_array();
    for (size_t i = 0; i < r->n_layers && a->o.layers; i++)
        json_array_append_new(layers,
                              json_pack("{s:s, s:f, s:f, s:f, s:f}", "name", r->layer[i].name,
                                        "forward_ms", 1e3 * r->layer[i].seconds[0], "backward_ms",
                                        1e3 * r->layer[i].seconds[1], "forward_gflop",
                                        1e-9 * r->layer[i].operations[0], "backward_gflop",
                                        1e-9 * r->layer[i].operations[1]));
    json_t *line = json_pack(
        "{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:o}",
        "model", model, "isa", cpu_isa_name(isa), "threads", (json_int_t)a->o.threads, "batch",
        (json_int_t)a->o.batch, "step_ms", 1e3 * r->step_s, "step_median_ms",
        1e3 * r->step_median_s, "gradient_ms", 1e3 * r->gradient_s, "evaluate_ms",
        1e3 * r->evaluate_s, "step_gflop", 1e-9 * r->operations, "peak_gflops", 1e-9 * peak,
        "round_s", r->round_s, "round_cpu_s", r->round_cpu_s, "evaluate_cpu_s", r->evaluate_cpu_s,
        "round_samples", (json_int_t)r->round_samples, "workspace_bytes",
        (json_int_t)r->workspace_bytes, "parameters", (json_int_t)r->parameters, "layers", layers);
    char *text = line != NULL ? json_dumps(line, JSON_COMPACT) : NULL;
    if (text != NULL)
        puts(text);
    free(text);
    json_decref(line);
    return text != NULL;
}

static osafl_status run(const struct arguments *a, struct loader *l, enum cpu_isa isa,
                        struct diagnostics *d)
{
    double peak = 0;
    for (size_t i = 0; i < a->n_models; i++) {
        static struct bench_result r; /* large */
        OSAFL_TRY(bench_model(l, a->model[i], &a->o, &r, d));
        if (i == 0) /* the first model has brought the library */
            peak = bench_gemm_peak();
        if (a->json) {
            if (!print_json(a, r.name, &r, peak, isa))
                return OSAFL_E_NOMEM;
            continue;
        }
        if (i == 0)
            print_heading(a, peak, isa);
        print_result(r.name, &r, peak);
        if (a->o.layers)
            print_layers(&r);
        fflush(stdout);
    }
    return OSAFL_OK;
}

int bench_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Time the training steps of models on random pictures, and a round of clients.\v"
               "A step is forward, backward and plain SGD; evaluate is for as many samples as a "
               "step has. GFLOP/s count the operations of the model's definition: Winograd "
               "convolutions need fewer. samples/s are those trained and evaluated in a round "
               "by all threads. OSAFL_ISA=avx512, avx2 or baseline chooses the kernels.",
    };
    struct arguments a = {.o = {.batch = 16,
                                .repeats = 30,
                                .clients = 25,
                                .channels = 3,
                                .height = 32,
                                .width = 32,
                                .classes = 10}};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    a.o.threads = processors > 0 ? (unsigned)processors : 1;
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    if (a.n_models == 0) {
        static const char *const models[] = {"cnn", "squeezenet", "resnet18"};
        memcpy(a.model, models, sizeof models);
        a.n_models = sizeof models / sizeof models[0];
    }
    struct diagnostics *d = diagnostics_create();
    if (d == NULL) {
        fputs("osafl: out of memory\n", stderr);
        return EXIT_RUN_FAILED;
    }
    osafl_status status = OSAFL_E_CONFIG;
    const enum cpu_isa isa = cpu_isa_chosen(d);
    struct loader *l = isa != 0 ? loader_create(a.plugin_dir, a.n_plugin_dirs, d) : NULL;
    if (l != NULL) {
        status = run(&a, l, isa, d);
        loader_destroy(l);
    }
    if (status == OSAFL_E_NOMEM && diagnostics_errors(d) == 0)
        diagnostics_no_memory(d);
    diagnostics_print(d, stderr);
    diagnostics_destroy(d);
    if (status == OSAFL_OK)
        return EXIT_RUN_OK;
    return status == OSAFL_E_CONFIG ? EXIT_USAGE : EXIT_RUN_FAILED;
}
