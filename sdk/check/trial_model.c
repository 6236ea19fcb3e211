/* trial_model.c - models at work on random pictures, and their laws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "instance_under_test.h"

#define PARAMETERS_OF_LARGE 1000000
#define MOST_MEASURES 64

/* What the host keeps: the description, and the initial parameters. */
struct model_host {
    osafl_model_info info;
    uint32_t batch;
    uint64_t workspace_bytes;
    float *w;
};

static const osafl_model_vt *vtable(const struct instance_under_test *s)
{
    return (const osafl_model_vt *)(const void *)s->instance.plugin->vtable;
}

static struct model_host *kept_of(const struct instance_under_test *s)
{
    return s->kept;
}

static bool is_large(const struct instance_under_test *s)
{
    return kept_of(s)->info.n_parameters > PARAMETERS_OF_LARGE;
}

static const osafl_tensor *tensor_at(const osafl_model_info *info, uint32_t i)
{
    return OSAFL_AT(osafl_tensor, info->tensors, info->tensor_size, i);
}

/* Of a description with which nothing can be tried; "" when there is nothing wrong. */
static void find_absurdity(const osafl_model_info *info, char *out, size_t size)
{
    uint64_t offset = 0;
    out[0] = '\0';
    if (info->n_parameters == 0 || info->n_parameters > (uint64_t)1 << 40)
        snprintf(out, size, "%g parameters", (double)info->n_parameters);
    else if (info->n_measures == 0 || info->n_measures > MOST_MEASURES || info->measures == NULL ||
             info->measure_size < offsetof(osafl_metric, better))
        snprintf(out, size, "no plausible table of measures");
    else if (info->n_sample_measures > MOST_MEASURES ||
             (info->n_sample_measures > 0 && info->sample_measures == NULL))
        snprintf(out, size, "no plausible table of sample measures");
    else if (info->tensors == NULL || info->tensor_size < offsetof(osafl_tensor, rank))
        snprintf(out, size, "no plausible table of tensors");
    for (uint32_t i = 0; out[0] == '\0' && i < info->n_tensors; i++) {
        const osafl_tensor *t = tensor_at(info, i);
        uint64_t product = 1;
        if (t->name == NULL || t->name[0] == '\0' || t->rank > OSAFL_MAX_RANK) {
            snprintf(out, size, "tensor number %u has no name or too many axes", (unsigned)i);
            return;
        }
        for (uint32_t axis = 0; axis < t->rank; axis++)
            product *= t->shape[axis];
        if (t->offset != offset || t->size == 0 || t->size > info->n_parameters - offset ||
            product != t->size)
            snprintf(out, size,
                     "tensor %s has offset %g instead of %g, or a size %g that is not the "
                     "product %g of its shape",
                     t->name, (double)t->offset, (double)offset, (double)t->size, (double)product);
        offset += t->size;
    }
    if (out[0] == '\0' && offset != info->n_parameters)
        snprintf(out, size, "the tensors hold %g of %g parameters", (double)offset,
                 (double)info->n_parameters);
}

static osafl_status describe(struct instance_under_test *s, struct caller *t)
{
    struct model_host *k = kept_of(s);
    char absurd[300];
    k->info = (osafl_model_info){.struct_size = sizeof k->info};
    osafl_model_info *info = arena_inout(&t->arena, "info", &k->info, 1, sizeof k->info, 8);
    osafl_call *c = caller_begin(t, "describe()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->describe(s->instance.self, c, info)));
    k->info = *info;
    find_absurdity(info, absurd, sizeof absurd);
    if (absurd[0] == '\0' && info->n_sample_measures > 0 && vtable(s)->score == NULL)
        snprintf(absurd, sizeof absurd, "sample measures, and no score()");
    if (absurd[0] != '\0')
        caller_fail(t, "%s", absurd);
    transcript_bytes(&t->transcript, "describe()", 0, 0, &info->n_parameters,
                     sizeof info->n_parameters);
    for (uint32_t i = 0; i < info->n_tensors; i++)
        transcript_bytes(&t->transcript, "a tensor of describe()", 0, i,
                         &tensor_at(info, i)->offset,
                         info->tensor_size - offsetof(osafl_tensor, offset));
    return OSAFL_OK;
}

static osafl_status begin(struct instance_under_test *s, struct caller *t)
{
    struct model_host *k = kept_of(s);
    OSAFL_TRY(describe(s, t));
    const uint64_t n = k->info.n_parameters;
    k->batch = s->world.batch;
    conform_doing("workspace_bytes()");
    k->workspace_bytes = vtable(s)->workspace_bytes(s->instance.self, k->batch, k->batch);
    if (k->workspace_bytes > (uint64_t)1 << 34)
        caller_fail(t, "asks for a workspace of %g bytes for %u samples",
                    (double)k->workspace_bytes, (unsigned)k->batch);
    float *w = arena_output(&t->arena, "w of init()", n, sizeof *w, 64);
    osafl_call *c = caller_begin(t, "init()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->init(s->instance.self, c, w)));
    transcript_floats(&t->transcript, "w of init()", 0, 0, w, n);
    k->w = malloc(n * sizeof *k->w);
    if (k->w == NULL)
        _exit(70);
    memcpy(k->w, w, n * sizeof *w);
    return OSAFL_OK;
}

/* Random pictures with random labels: read-only buffers of the caller. */
static const osafl_batch *make_batch(struct instance_under_test *s, struct caller *t,
                                     uint32_t number)
{
    const osafl_dataset_info *data = &s->world.data;
    const uint32_t n = kept_of(s)->batch;
    const uint64_t values = n * osafl_sample_size(data);
    struct draws d = {.seed = s->conform->seed, .purpose = 9, .index = (uint64_t)number << 32};
    float *x = calloc(values, sizeof *x);
    int32_t *x_int = calloc(values, sizeof *x_int);
    int32_t *label = calloc(n, sizeof *label);
    if (x == NULL || x_int == NULL || label == NULL)
        _exit(70);
    trial_floats(s, number, 3, 0.5, x, values);
    for (uint64_t i = 0; i < values; i++)
        x_int[i] = x[i] > 0.0f; /* tokens 0 and 1 */
    for (uint32_t i = 0; i < n; i++)
        label[i] = (int32_t)draw_below(&d, data->labels);
    osafl_batch b = {.struct_size = sizeof b, .n = n};
    if (data->x_type == OSAFL_X_INT32)
        b.x_int = arena_inout(&t->arena, "x_int", x_int, values, sizeof *x_int, 64);
    else
        b.x = arena_inout(&t->arena, "x", x, values, sizeof *x, 64);
    arena_protect(&t->arena, b.x != NULL ? (void *)b.x : b.x_int, true);
    b.label = arena_inout(&t->arena, "label", label, n, sizeof *label, 4);
    arena_protect(&t->arena, b.label, true);
    if (data->target_type == OSAFL_TARGET_REAL) {
        const uint64_t targets = (uint64_t)n * data->target_size;
        float *target = calloc(targets, sizeof *target);
        if (target == NULL)
            _exit(70);
        trial_floats(s, number, 4, 1.0, target, targets);
        b.target = arena_inout(&t->arena, "target", target, targets, sizeof *target, 4);
        arena_protect(&t->arena, b.target, true);
        free(target);
    }
    free(x);
    free(x_int);
    free(label);
    return arena_input(&t->arena, "batch", &b, 1, sizeof b, 8);
}

static void *make_workspace(struct instance_under_test *s, struct caller *t)
{
    return arena_inout(&t->arena, "workspace", NULL, kept_of(s)->workspace_bytes, 1, 4096);
}

static osafl_status ask_gradient(struct instance_under_test *s, struct caller *t, void *workspace,
                                 const float *w, const osafl_batch *b, uint32_t training,
                                 float *grad, double *loss)
{
    const osafl_step step = {.struct_size = sizeof step,
                             .client = t->task,
                             .round = t->round,
                             .step = 2,
                             .training = training};
    const osafl_step *in = arena_input(&t->arena, "step", &step, 1, sizeof step, 8);
    *loss = (double)NAN;
    osafl_call *c = caller_begin(t, "gradient()", t->task);
    return caller_end(t, vtable(s)->gradient(s->instance.self, c, workspace, w, b, in, grad, loss));
}

static osafl_status ask_step(struct instance_under_test *s, struct caller *t, void *workspace,
                             float *w, const osafl_batch *b, double rate, double *loss)
{
    const osafl_step step = {
        .struct_size = sizeof step, .client = t->task, .round = t->round, .step = 2, .training = 1};
    *loss = (double)NAN;
    osafl_call *c = caller_begin(t, "sgd_step()", t->task);
    return caller_end(t,
                      vtable(s)->sgd_step(s->instance.self, c, workspace, w, b, &step, rate, loss));
}

static osafl_status run_step(struct instance_under_test *s, struct caller *t, void *workspace,
                             const osafl_batch *b)
{
    const struct model_host *k = kept_of(s);
    double loss;
    if (vtable(s)->sgd_step == NULL)
        return OSAFL_OK;
    float *w = arena_inout(&t->arena, "w of sgd_step()", k->w, k->info.n_parameters, sizeof *w, 64);
    const osafl_status status = ask_step(s, t, workspace, w, b, 0.01, &loss);
    if (status == OSAFL_E_UNSUPPORTED) /* with these settings */
        return OSAFL_OK;
    if (status != OSAFL_OK)
        return status;
    transcript_floats(&t->transcript, "w of sgd_step()", t->round, t->task, w,
                      k->info.n_parameters);
    transcript_doubles(&t->transcript, "loss of sgd_step()", t->round, t->task, &loss, 1);
    return OSAFL_OK;
}

static osafl_status ask_scores(struct instance_under_test *s, struct caller *t, void *workspace,
                               const float *w, const osafl_batch *b)
{
    const uint64_t values = (uint64_t)b->n * kept_of(s)->info.n_sample_measures;
    if (values == 0)
        return OSAFL_OK;
    double *value = arena_output(&t->arena, "value", values, sizeof *value, 8);
    osafl_call *c = caller_begin(t, "score()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->score(s->instance.self, c, workspace, w, b, value)));
    transcript_doubles(&t->transcript, "value of score()", t->round, t->task, value, values);
    return OSAFL_OK;
}

static osafl_status run_task(struct instance_under_test *s, struct caller *t)
{
    const struct model_host *k = kept_of(s);
    const uint64_t n = k->info.n_parameters;
    double loss;
    /* Models keep nothing from round to round: more of the same would take long and show little. */
    if (t->round >= 2 || (t->round == 1 && t->task > 0) || (is_large(s) && t->task >= 2))
        return OSAFL_OK;
    const osafl_batch *b = make_batch(s, t, t->round * 8 + t->task);
    void *workspace = make_workspace(s, t);
    const float *w = arena_input(&t->arena, "w", k->w, n, sizeof *w, 64);
    float *grad = arena_output(&t->arena, "grad", n, sizeof *grad, 64);
    OSAFL_TRY(ask_gradient(s, t, workspace, w, b, 1, grad, &loss));
    transcript_floats(&t->transcript, "grad of gradient()", t->round, t->task, grad, n);
    transcript_doubles(&t->transcript, "loss of gradient()", t->round, t->task, &loss, 1);
    const uint64_t values = (uint64_t)b->n * k->info.n_measures;
    double *value = arena_output(&t->arena, "value", values, sizeof *value, 8);
    osafl_call *c = caller_begin(t, "evaluate()", OSAFL_NO_CLIENT);
    OSAFL_TRY(caller_end(t, vtable(s)->evaluate(s->instance.self, c, workspace, w, b, value)));
    transcript_doubles(&t->transcript, "value of evaluate()", t->round, t->task, value, values);
    OSAFL_TRY(ask_scores(s, t, workspace, w, b));
    return run_step(s, t, workspace, b);
}

static void free_kept(struct instance_under_test *s)
{
    free(kept_of(s)->w);
}

const struct kind_calls model_calls = {
    .kind = OSAFL_KIND_MODEL,
    .kept_bytes = sizeof(struct model_host),
    .tasks = 4,
    .begin = begin,
    .task = run_task,
    .free_kept = free_kept,
};

/* ---- laws ---------------------------------------------------------------------------------- */

static void open_model(struct instance_under_test *s, struct conform *c)
{
    struct transcript answers = {0};
    under_test_must_open(s, c, &answers);
    transcript_free(&answers);
}

static float *new_vector(const struct instance_under_test *s)
{
    float *x = aligned_alloc(64, (kept_of(s)->info.n_parameters * sizeof *x + 63) / 64 * 64);
    if (x == NULL)
        _exit(70);
    return x;
}

/* describe() is looked through when an instance opens; it answers the same again. */
void check_model_tensors(struct conform *c)
{
    struct instance_under_test s;
    open_model(&s, c);
    const osafl_model_info first = kept_of(&s)->info;
    struct caller t = caller_open(&s);
    if (describe(&s, &t) != OSAFL_OK)
        caller_fail(&t, "fails: %s", t.error.text);
    if (memcmp(&first, &kept_of(&s)->info, sizeof first) != 0)
        caller_fail(&t, "answers otherwise the second time");
    for (uint32_t i = 0; i < first.n_tensors; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(tensor_at(&first, i)->name, tensor_at(&first, j)->name) == 0)
                caller_fail(&t, "two tensors are called %s", tensor_at(&first, i)->name);
        }
    }
    for (uint64_t i = 0; i < first.n_parameters; i++) {
        if (!isfinite(kept_of(&s)->w[i]))
            conform_fail(c, "init() makes parameter %g %g", (double)i, (double)kept_of(&s)->w[i]);
    }
}

/* Samples of another type are refused in create(), or read. */
void check_model_types(struct conform *c)
{
    struct instance_under_test s;
    struct transcript answers = {0};
    conform_load(c);
    struct trial_world world = world_for(c);
    const struct trial_settings settings = settings_default(c);
    world.data.x_type = world.data.x_type == OSAFL_X_FLOAT ? OSAFL_X_INT32 : OSAFL_X_FLOAT;
    const bool refused = under_test_create(&s, c, &world, &settings) != OSAFL_OK;
    under_test_close(&s);
    if (refused)
        return;
    if (under_test_open(&s, c, &world, &settings, false, 0, &answers) == OSAFL_OK)
        under_test_must_run(&s, 0, 1, &answers);
    under_test_close(&s);
    transcript_free(&answers);
}

/* One batch on which gradients are tried, with dropout off. */
struct bowl {
    struct instance_under_test tested;
    struct caller caller;
    const osafl_batch *batch;
    void *workspace;
    float *grad;
    float *at; /* [n]: w, moved */
};

static double loss_at(struct bowl *b, const float *w, float *grad)
{
    double loss;
    if (ask_gradient(&b->tested, &b->caller, b->workspace, w, b->batch, 0, grad, &loss) != OSAFL_OK)
        caller_fail(&b->caller, "fails: %s", b->caller.error.text);
    if (!isfinite(loss))
        caller_fail(&b->caller, "the loss is %g", loss);
    return loss;
}

static void open_bowl(struct bowl *b, struct conform *c)
{
    open_model(&b->tested, c);
    b->caller = caller_open(&b->tested);
    b->batch = make_batch(&b->tested, &b->caller, 100);
    b->workspace = make_workspace(&b->tested, &b->caller);
    b->grad = new_vector(&b->tested);
    b->at = new_vector(&b->tested);
}

/* How far to move: far enough for the loss, which is known to a few units of its last float digit,
 * and no farther than a small part of the tensor. */
static double reach_in(const struct bowl *b, const osafl_tensor *tensor, double loss, double norm)
{
    const float *w = kept_of(&b->tested)->w;
    double norm2 = 0.0;
    for (uint64_t i = tensor->offset; i < tensor->offset + tensor->size; i++)
        norm2 += (double)w[i] * (double)w[i];
    const double extent = fmax(sqrt(norm2), 0.05 * sqrt((double)tensor->size));
    return fmin(2e-3 * (fabs(loss) + 0.1) / norm, 0.02 * extent);
}

/* The mean slope of the loss along the gradient's part in one tensor, within +-reach. */
static double slope_along(struct bowl *b, const osafl_tensor *tensor, double norm, double reach,
                          float *scratch)
{
    const struct model_host *k = kept_of(&b->tested);
    double side[2];
    for (int sign = 0; sign < 2; sign++) {
        memcpy(b->at, k->w, k->info.n_parameters * sizeof *b->at);
        for (uint64_t i = tensor->offset; i < tensor->offset + tensor->size; i++)
            b->at[i] += (float)((sign == 0 ? 1.0 : -1.0) * reach * (double)b->grad[i] / norm);
        side[sign] = loss_at(b, b->at, scratch);
    }
    return (side[0] - side[1]) / (2.0 * reach);
}

/* Compares the gradient's part in one tensor with the change of the loss along it.  Where it is not
 * smooth (rectifiers, maxima), the gradient shows only nearby.  False: the slope is lost in the
 * rounding of the loss. */
static bool try_tensor(struct bowl *b, const osafl_tensor *tensor, double loss, float *scratch)
{
    double norm2 = 0.0;
    for (uint64_t i = tensor->offset; i < tensor->offset + tensor->size; i++)
        norm2 += (double)b->grad[i] * (double)b->grad[i];
    const double norm = sqrt(norm2);
    double reach = norm > 0.0 ? reach_in(b, tensor, loss, norm) : 0.0;
    if (2.0 * reach * norm < 3e-4 * (fabs(loss) + 1e-3))
        return false;
    double slope = 0.0;
    for (unsigned attempt = 0; attempt < 3; attempt++) {
        slope = slope_along(b, tensor, norm, reach, scratch);
        if (fabs(slope - norm) <= 0.08 * norm)
            return true;
        reach *= 0.2;
    }
    caller_fail(&b->caller,
                "along the gradient in tensor %s the loss rises by %.4g, the gradient says %.4g",
                tensor->name, slope, norm);
}

static double norm_of(const float *v, uint64_t n)
{
    double norm2 = 0.0;
    for (uint64_t i = 0; i < n; i++)
        norm2 += (double)v[i] * (double)v[i];
    return sqrt(norm2);
}

/* The slope of the loss along random signs in one tensor, which the gradient says too: along the
 * gradient itself, entries that it leaves out do not show. */
static void try_signs(struct bowl *b, const osafl_tensor *tensor, double loss, struct draws *d,
                      float *scratch)
{
    const struct model_host *k = kept_of(&b->tested);
    const double all = norm_of(b->grad, k->info.n_parameters);
    const double norm = norm_of(b->grad + tensor->offset, tensor->size);
    const double unit = 1.0 / sqrt((double)tensor->size);
    double reach = reach_in(b, tensor, loss, fmax(norm, 0.05 * all));
    double said = 0.0;
    double slope = 0.0;
    float *sign = new_vector(&b->tested);
    for (uint64_t i = tensor->offset; i < tensor->offset + tensor->size; i++) {
        sign[i] = (float)(draw_below(d, 2) == 0 ? unit : -unit);
        said += (double)sign[i] * (double)b->grad[i];
    }
    for (unsigned attempt = 0; attempt < 3; attempt++, reach *= 0.2) {
        double side[2];
        for (int s = 0; s < 2; s++) {
            memcpy(b->at, k->w, k->info.n_parameters * sizeof *b->at);
            for (uint64_t i = tensor->offset; i < tensor->offset + tensor->size; i++)
                b->at[i] += (float)((s == 0 ? reach : -reach) * (double)sign[i]);
            side[s] = loss_at(b, b->at, scratch);
        }
        slope = (side[0] - side[1]) / (2.0 * reach);
        if (fabs(slope - said) <= 0.01 * norm + 2e-6 * (fabs(loss) + 1e-3) / reach) {
            free(sign);
            return;
        }
    }
    caller_fail(&b->caller,
                "along random signs in tensor %s the loss rises by %.4g, the gradient says %.4g",
                tensor->name, slope, said);
}

void check_model_gradient(struct conform *c)
{
    struct bowl b;
    open_bowl(&b, c);
    struct draws d = {.seed = c->seed, .purpose = 7};
    const osafl_model_info *info = &kept_of(&b.tested)->info;
    float *scratch = new_vector(&b.tested);
    const double loss = loss_at(&b, kept_of(&b.tested)->w, b.grad);
    /* All tensors of a small model, some of a large one, the first and the last among them. */
    const uint32_t most = is_large(&b.tested) ? 6 : 40;
    const uint32_t stride = info->n_tensors > most ? info->n_tensors / most + 1 : 1;
    uint32_t tried = 0;
    for (uint32_t i = 0; i < info->n_tensors; i += stride) {
        tried += try_tensor(&b, tensor_at(info, i), loss, scratch);
        try_signs(&b, tensor_at(info, i), loss, &d, scratch);
    }
    tried += try_tensor(&b, tensor_at(info, info->n_tensors - 1), loss, scratch);
    if (tried == 0)
        caller_fail(&b.caller,
                    "the gradient is next to 0 at the initial parameters, in all tensors");
}

/* No answer depends on what an earlier call left in the workspace. */
void check_model_workspace(struct conform *c)
{
    struct bowl b;
    open_bowl(&b, c);
    const struct model_host *k = kept_of(&b.tested);
    const uint64_t n = k->info.n_parameters;
    float *again = new_vector(&b.tested);
    double *value = calloc((size_t)k->batch * k->info.n_measures, sizeof *value);
    const osafl_batch *other = make_batch(&b.tested, &b.caller, 101);
    double unused;
    if (value == NULL)
        _exit(70);
    const double loss = loss_at(&b, k->w, b.grad);
    if (ask_gradient(&b.tested, &b.caller, b.workspace, k->w, other, 1, again, &unused) != OSAFL_OK)
        caller_fail(&b.caller, "fails: %s", b.caller.error.text);
    osafl_call *call = caller_begin(&b.caller, "evaluate()", OSAFL_NO_CLIENT);
    if (caller_end(&b.caller, vtable(&b.tested)->evaluate(b.tested.instance.self, call, b.workspace,
                                                          k->w, other, value)) != OSAFL_OK)
        caller_fail(&b.caller, "fails: %s", b.caller.error.text);
    const double loss_again = loss_at(&b, k->w, again);
    if (loss != loss_again || memcmp(b.grad, again, n * sizeof *again) != 0)
        caller_fail(&b.caller, "answers otherwise after other calls on the same workspace");
}

/* Feature "fused": a step is w - rate * gradient, up to rounding. */
void check_model_fused(struct conform *c)
{
    struct bowl b;
    open_bowl(&b, c);
    const struct model_host *k = kept_of(&b.tested);
    const uint64_t n = k->info.n_parameters;
    const double rate = 0.05;
    double loss;
    double fused_loss;
    if (vtable(&b.tested)->sgd_step == NULL)
        conform_fail(c, "declares \"fused\" and has no sgd_step()");
    if (ask_gradient(&b.tested, &b.caller, b.workspace, k->w, b.batch, 1, b.grad, &loss) !=
        OSAFL_OK)
        caller_fail(&b.caller, "fails: %s", b.caller.error.text);
    memcpy(b.at, k->w, n * sizeof *b.at);
    const osafl_status status =
        ask_step(&b.tested, &b.caller, b.workspace, b.at, b.batch, rate, &fused_loss);
    if (status == OSAFL_E_UNSUPPORTED)
        conform_skip(c, "offers no fused step with these settings");
    if (status != OSAFL_OK)
        caller_fail(&b.caller, "fails: %s", b.caller.error.text);
    double error2 = 0.0;
    double step2 = 0.0;
    double w2 = 0.0;
    for (uint64_t i = 0; i < n; i++) {
        const double step = rate * (double)b.grad[i];
        const double error = (double)b.at[i] - ((double)k->w[i] - step);
        error2 += error * error;
        step2 += step * step;
        w2 += (double)k->w[i] * (double)k->w[i];
    }
    if (!(sqrt(error2) <= 1e-3 * sqrt(step2) + 1e-6 * sqrt(w2)))
        caller_fail(&b.caller, "differs from gradient() and a plain step by %.3g of the step",
                    sqrt(error2 / step2));
    if (!(fabs(fused_loss - loss) <= 1e-4 * (fabs(loss) + 1e-3)))
        caller_fail(&b.caller, "has the loss %.8g where gradient() has %.8g", fused_loss, loss);
}

/* import_tensor() undoes export_tensor(), tensor by tensor, and each writes its own part only. */
void check_model_export(struct conform *c)
{
    struct instance_under_test s;
    open_model(&s, c);
    const osafl_model_vt *vt = vtable(&s);
    const struct model_host *k = kept_of(&s);
    if (vt->export_tensor == NULL)
        conform_skip(c, "keeps its tensors in the order in which they are exported");
    float *w = new_vector(&s);
    memset(w, 0, k->info.n_parameters * sizeof *w);
    for (uint32_t i = 0; i < k->info.n_tensors; i++) {
        const osafl_tensor *tensor = tensor_at(&k->info, i);
        struct arena arena = {.guarded = true, .fill = 0xff};
        float *out = arena_output(&arena, "out of export_tensor()", tensor->size, sizeof *out, 4);
        conform_doing("export_tensor()");
        vt->export_tensor(s.instance.self, i, k->w, out);
        conform_doing("import_tensor()");
        vt->import_tensor(s.instance.self, i, out, w);
        if (memcmp(w + tensor->offset, k->w + tensor->offset, tensor->size * sizeof *w) != 0)
            conform_fail(c, "import_tensor() of what export_tensor() made of %s is not the tensor",
                         tensor->name);
        if (arena_damage(&arena) != NULL)
            conform_fail(c, "export_tensor() of %s %s", tensor->name, arena_damage(&arena));
        arena_clear(&arena);
    }
    if (memcmp(w, k->w, k->info.n_parameters * sizeof *w) != 0)
        conform_fail(c, "import_tensor() of one tensor changes another");
}
