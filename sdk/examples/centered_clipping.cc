// centered_clipping.cc - an aggregator in C++17: centered clipping.
//
// Karimireddy, He and Jaggi, "Learning from History for Byzantine Robust Optimization", ICML 2021.
// What the updates differ by from the last round's aggregate v is shortened to a radius tau:
//
//     v <- v + (1/n) sum over k of (x_k - v) * min(1, tau / ||x_k - v||),   some times over,
//
// and then w <- w + v.  v is kept over rounds, saved and loaded.
#include <cmath>
#include <vector>

#include <osafl/plugin.hpp>

namespace
{

enum { METRIC_CENTER_NORM };
const osafl_metric metrics[] = {
    {"center_norm", nullptr, "Norm of the aggregate", OSAFL_PER_ROUND, 0},
};

struct config {
    double radius;
    int64_t iterations;
};

const osafl_param params[] = {
    OSAFL_REAL(config, radius, 1.0, 0.0, 1e12, "tau, the longest step away from the last aggregate",
               nullptr, OSAFL_P_LO_OPEN),
    OSAFL_INT(config, iterations, 3, 1, 1000, "Clippings of a round"),
};

class rule
{
  public:
    rule(const osafl_host *h, const osafl_facts &facts, const config &settings)
        : host(h), settings(settings), center(facts.model->n_parameters)
    {
    }

    osafl_status aggregate(osafl_call *c, const osafl_updates &u, float *w)
    {
        std::vector<double> weight(u.n);
        std::vector<double> norm2(u.n);
        std::vector<double> product(u.n);
        std::vector<float> pull(u.dim);
        OSAFL_TRY(u.ops->squared_norms(&u, 0, norm2.data()));
        for (int64_t iteration = 0; iteration < settings.iterations; iteration++) {
            double center2 = 0.0;
            double share = 0.0;
            OSAFL_TRY(u.ops->inner_product(&u, center.data(), center.data(), &center2));
            OSAFL_TRY(u.ops->dot(&u, 0, center.data(), product.data()));
            for (uint32_t k = 0; k < u.n; k++) {
                const double distance2 = norm2[k] - 2.0 * product[k] + center2;
                const double distance = std::sqrt(std::fmax(distance2, 0.0));
                weight[k] = (distance > settings.radius ? settings.radius / distance : 1.0) / u.n;
                share += weight[k];
            }
            OSAFL_TRY(u.ops->combine(&u, 0, weight.data(), pull.data()));
            for (std::size_t i = 0; i < center.size(); i++)
                center[i] = static_cast<float>((1.0 - share) * center[i] + pull[i]);
        }
        for (std::size_t i = 0; i < center.size(); i++)
            w[i] += center[i];
        double step2 = 0.0;
        OSAFL_TRY(u.ops->inner_product(&u, center.data(), center.data(), &step2));
        host->metric(c, METRIC_CENTER_NORM, OSAFL_NO_CLIENT, std::sqrt(step2));
        return OSAFL_OK;
    }

    osafl_status save(osafl_writer *to) const
    {
        return to->f32(to, "center", center.data(), center.size());
    }

    osafl_status load(osafl_call *c, osafl_reader *from)
    {
        OSAFL_TRY(from->f32(from, "center", center.data(), center.size()));
        for (const float x : center) {
            if (!std::isfinite(x))
                return host->fail(c, OSAFL_E_STATE, "the last aggregate is not finite");
        }
        return OSAFL_OK;
    }

    const osafl_host *const host;

  private:
    const config &settings; // outlives the instance
    std::vector<float> center;
};

// The functions of the table: no exception passes them.

osafl_status describe(void *, osafl_call *, osafl_aggregator_info *out)
{
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    rule &r = *static_cast<rule *>(self);
    return osafl::guarded(r.host, c, [&] { return r.aggregate(c, *u, w); });
}

osafl_status save(void *self, osafl_call *c, osafl_writer *to)
{
    const rule &r = *static_cast<rule *>(self);
    return osafl::guarded(r.host, c, [&] { return r.save(to); });
}

osafl_status load(void *self, osafl_call *c, osafl_reader *from)
{
    rule &r = *static_cast<rule *>(self);
    return osafl::guarded(r.host, c, [&] { return r.load(c, from); });
}

osafl_aggregator_vt make_vtable()
{
    osafl_aggregator_vt v = {};
    v.life.struct_size = sizeof v;
    v.life.state_version = 1;
    v.life.create = osafl::create<rule, config>;
    v.life.destroy = osafl::destroy<rule>;
    v.life.save = save;
    v.life.load = load;
    v.describe = describe;
    v.aggregate = aggregate;
    return v;
}
const osafl_aggregator_vt vtable = make_vtable();

const char *const features[] = {"permutation_invariant", "scale_free", "robust", nullptr};

osafl_plugin make_plugin()
{
    osafl_plugin p =
        osafl::describe(OSAFL_KIND_AGGREGATOR, "centered_clipping", "1.0.0",
                        "Clips updates around the last aggregate", "MIT", &vtable.life);
    p.cite = "Karimireddy, He, Jaggi: Learning from History for Byzantine Robust Optimization, "
             "ICML 2021";
    p.features = features;
    osafl::set_params<config>(p, params);
    osafl::set_metrics(p, metrics);
    return p;
}
const osafl_plugin plugin = make_plugin();

} // namespace

const osafl_plugin *osafl_plugin_entry_v0(void)
{
    return &plugin;
}
