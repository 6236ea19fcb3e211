// torchscript.cc - a model: any module that torch.jit.save() wrote, by libtorch.
//
// The module maps a batch of samples to one score a class; the loss is the cross-entropy.  A run
// starts with the parameters of the file.  The module is in its evaluation mode, as what it draws
// (dropout) and keeps (batch normalisation) would depend on the order of the calls.
//
// Answers do not depend on threads: each call works on a copy of the module, on the thread that
// calls, without oneDNN and without the optimizer of TorchScript, which goes by earlier calls.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <osafl/plugin.hpp>

namespace
{

struct config {
    const char *file;
};

const osafl_param params[] = {
    OSAFL_PATH(config, file, nullptr, "What torch.jit.save() wrote", OSAFL_P_REQUIRED),
};

enum { MEASURE_ACCURACY, MEASURE_LOSS, MEASURES };
const osafl_metric measures[MEASURES] = {
    {"accuracy", nullptr, "Share of the samples whose class has the highest score", OSAFL_PER_ROUND,
     OSAFL_HIGHER},
    {"loss", nullptr, "Mean cross-entropy", OSAFL_PER_ROUND, OSAFL_LOWER},
};

struct model {
    const osafl_host *host;
    torch::jit::Module module;
    int64_t classes;
    std::vector<int64_t> shape; // of a sample
    std::vector<std::string> names;
    std::vector<osafl_tensor> tensors;
    uint64_t n_parameters;
};

// What holds during a call.
struct calm {
    torch::jit::GraphOptimizerEnabledGuard as_written{false};
    at::AutoGradMode gradients;
    explicit calm(bool with_gradients) : gradients(with_gradients)
    {
        at::set_num_threads(1);
    }
};

// As osafl::guarded(), without the stack that libtorch adds to its messages.
template <class Body> osafl_status guarded(const osafl_host *h, osafl_call *c, Body &&body)
{
    return osafl::guarded(h, c, [&]() -> osafl_status {
        try {
            return body();
        } catch (const c10::Error &e) {
            return h->fail(c, OSAFL_E_DATA, "%s", e.what_without_backtrace());
        }
    });
}

at::Tensor scores(const model &m, torch::jit::Module &module, const float *x, uint32_t n)
{
    std::vector<int64_t> sizes = {n};
    sizes.insert(sizes.end(), m.shape.begin(), m.shape.end());
    return module.forward({at::from_blob(const_cast<float *>(x), sizes)}).toTensor();
}

at::Tensor labels(const osafl_batch *b)
{
    return at::from_blob(b->label, {b->n}, at::kInt).to(at::kLong);
}

torch::jit::Module with_parameters(const model &m, const float *w)
{
    torch::jit::Module copy = m.module.deepcopy();
    std::size_t t = 0;
    for (at::Tensor p : copy.parameters()) {
        p.set_data(at::from_blob(const_cast<float *>(w + m.tensors[t++].offset), p.sizes()));
        p.set_requires_grad(true);
    }
    return copy;
}

// A tensor, or zeros where there is none, in its place in the vector of all.
void put(const osafl_tensor &place, const at::Tensor &values, float *to)
{
    if (values.defined())
        std::memcpy(to + place.offset, values.contiguous().data_ptr<float>(),
                    place.size * sizeof *to);
    else
        std::memset(to + place.offset, 0, place.size * sizeof *to);
}

void list_tensors(model &m)
{
    for (const auto &p : m.module.named_parameters()) {
        if (p.value.scalar_type() != at::kFloat || p.value.dim() > OSAFL_MAX_RANK)
            throw std::runtime_error(p.name + " is no tensor of floats of at most 8 axes");
        osafl_tensor tensor = {};
        tensor.offset = m.n_parameters;
        tensor.size = static_cast<uint64_t>(p.value.numel());
        tensor.rank = static_cast<uint32_t>(p.value.dim());
        for (int64_t axis = 0; axis < p.value.dim(); axis++)
            tensor.shape[axis] = static_cast<uint64_t>(p.value.size(axis));
        m.n_parameters += tensor.size;
        m.tensors.push_back(tensor);
        m.names.push_back(p.name);
    }
    for (std::size_t t = 0; t < m.tensors.size(); t++)
        m.tensors[t].name = m.names[t].c_str();
}

// Why the module does not fit; nullptr: it does.
const char *misfit(model &m)
{
    const calm state(false);
    if (m.module.buffers().size() > 0)
        return "keeps buffers beside its parameters, which no client would send";
    if (m.tensors.empty())
        return "has no parameters";
    int64_t values = 1;
    for (const int64_t size : m.shape)
        values *= size;
    const at::Tensor out = scores(m, m.module, at::zeros({values}).data_ptr<float>(), 1);
    return out.dim() == 2 && out.size(0) == 1 && out.size(1) == m.classes
               ? nullptr
               : "does not give one score for each class of a sample";
}

osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                    const void *settings, void **self)
{
    const char *file = static_cast<const config *>(settings)->file;
    const osafl_dataset_info &data = *facts->dataset;
    if (data.target_type != OSAFL_TARGET_CLASS || data.x_type != OSAFL_X_FLOAT)
        return h->fail(c, OSAFL_E_UNSUPPORTED, "needs samples of real numbers, with classes");
    return guarded(h, c, [&] {
        at::globalContext().setUserEnabledMkldnn(false);
        auto m = std::make_unique<model>();
        m->host = h;
        m->classes = data.target_size;
        m->shape.assign(data.shape, data.shape + data.rank);
        m->module = torch::jit::load(file, at::kCPU);
        m->module.eval();
        list_tensors(*m);
        const char *why = misfit(*m);
        if (why != nullptr)
            return h->fail(c, OSAFL_E_UNSUPPORTED, "%s %s", file, why);
        *self = m.release();
        return static_cast<osafl_status>(OSAFL_OK);
    });
}

osafl_status describe(void *self, osafl_call *, osafl_model_info *out)
{
    const model &m = *static_cast<const model *>(self);
    out->n_parameters = m.n_parameters;
    out->n_tensors = static_cast<uint32_t>(m.tensors.size());
    out->tensors = m.tensors.data();
    out->tensor_size = sizeof(osafl_tensor);
    out->n_measures = MEASURES;
    out->measures = measures;
    out->measure_size = sizeof(osafl_metric);
    return OSAFL_OK;
}

uint64_t workspace_bytes(void *, uint32_t, uint32_t)
{
    return 0; // libtorch has its own memory
}

osafl_status init(void *self, osafl_call *c, float *w)
{
    const model &m = *static_cast<const model *>(self);
    return guarded(m.host, c, [&] {
        std::size_t t = 0;
        for (const at::Tensor &p : m.module.parameters())
            put(m.tensors[t++], p.detach(), w);
        return OSAFL_OK;
    });
}

osafl_status gradient(void *self, osafl_call *c, void *, const float *w, const osafl_batch *b,
                      const osafl_step *, float *grad, double *loss)
{
    const model &m = *static_cast<const model *>(self);
    return guarded(m.host, c, [&] {
        const calm state(true);
        torch::jit::Module copy = with_parameters(m, w);
        const at::Tensor mean =
            at::cross_entropy_loss(scores(m, copy, b->x, b->n), labels(b), {}, at::Reduction::Mean);
        mean.backward();
        std::size_t t = 0;
        for (const at::Tensor &p : copy.parameters())
            put(m.tensors[t++], p.grad(), grad);
        *loss = mean.item<double>();
        return OSAFL_OK;
    });
}

osafl_status evaluate(void *self, osafl_call *c, void *, const float *w, const osafl_batch *b,
                      double *value)
{
    const model &m = *static_cast<const model *>(self);
    return guarded(m.host, c, [&] {
        const calm state(false);
        torch::jit::Module copy = with_parameters(m, w);
        const at::Tensor label = labels(b);
        const at::Tensor score = scores(m, copy, b->x, b->n);
        const at::Tensor loss = at::cross_entropy_loss(score, label, {}, at::Reduction::None);
        const at::Tensor right = score.argmax(1).eq(label);
        for (uint32_t i = 0; i < b->n; i++) {
            value[i * MEASURES + MEASURE_ACCURACY] = right[i].item<bool>() ? 1.0 : 0.0;
            value[i * MEASURES + MEASURE_LOSS] = loss[i].item<double>();
        }
        return OSAFL_OK;
    });
}

osafl_model_vt make_vtable()
{
    osafl_model_vt v = {};
    v.life.struct_size = sizeof v;
    v.life.create = create;
    v.life.destroy = osafl::destroy<model>;
    v.describe = describe;
    v.workspace_bytes = workspace_bytes;
    v.init = init;
    v.gradient = gradient;
    v.evaluate = evaluate;
    return v;
}
const osafl_model_vt vtable = make_vtable();

osafl_plugin make_plugin()
{
    osafl_plugin p = osafl::describe(OSAFL_KIND_MODEL, "torchscript", "1.0.0",
                                     "A TorchScript module, by libtorch", "MIT", &vtable.life);
    osafl::set_params<config>(p, params);
    return p;
}
const osafl_plugin plugin = make_plugin();

} // namespace

const osafl_plugin *osafl_plugin_entry_v0(void)
{
    return &plugin;
}
