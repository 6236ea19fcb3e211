#!/bin/bash
# templates.sh BUILD_DIR SOURCE_DIR CMAKE - for each kind, the project that "osafl plugin new" writes
# configures, builds without a warning, keeps the rules and runs, with each compiler; what would
# overwrite or lead astray is refused.
# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"

cd "$work"
for kind in dataset model channel resource optimizer quantizer deletion aggregator \
    partition drift arrival selection filter transport; do
    "$osafl" plugin new $kind my_$kind > told || fail "no project for a $kind"
    grep -qF -- "-DCMAKE_PREFIX_PATH=$prefix" told || fail "the prefix is not told: $(cat told)"
    if grep -rn '@[a-z]*@' my_$kind; then
        fail "a placeholder is left"
    fi
    quietly my_$kind/ci.sh -DCMAKE_PREFIX_PATH="$prefix"
    "$osafl" plugins $kind --plugin-dir my_$kind/build-"${compilers[0]}"/plugins > listed
    grep -q " my_$kind *0.1.0" listed || fail "the $kind is not listed"
done

# A project becomes one in C++ by its source and one word; the settings that C has, C++ has too.
"$osafl" plugin new deletion newest > told
rm newest/newest.c
cat > newest/newest.cc << 'END'
#include <algorithm>
#include <numeric>
#include <vector>

#include <osafl/plugin.hpp>

namespace
{

struct config {
    osafl_range ages;
    osafl_reals weights;
    bool reversed;
};

const osafl_param params[] = {
    OSAFL_RANGE(config, ages, 0.0, 5.0, 0.0, 100.0, "Ages", "rounds"),
    OSAFL_REALS(config, weights, -1.0, 1.0, "Weights"),
    OSAFL_BOOL(config, reversed, false, "Oldest first"),
};
const osafl_metric metrics[] = {{"gone", "samples", "How many left", OSAFL_PER_ROUND, 0}};

struct policy {
    policy(const osafl_host *h, const osafl_facts &, const config &c) : host(h), settings(c)
    {
    }
    osafl_status select(osafl_call *c, const osafl_store_view &v, uint32_t n, uint32_t *out)
    {
        std::vector<uint32_t> order(v.stored + v.arrived);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            return settings.reversed ? v.age[a] > v.age[b] : v.age[a] < v.age[b];
        });
        std::copy_n(order.begin(), n, out);
        host->metric(c, 0, OSAFL_NO_CLIENT, n);
        return OSAFL_OK;
    }
    const osafl_host *const host;
    const config &settings;
};

osafl_status select(void *self, osafl_call *c, const osafl_store_view *v, uint32_t n, uint32_t *out)
{
    policy &p = *static_cast<policy *>(self);
    return osafl::guarded(p.host, c, [&] { return p.select(c, *v, n, out); });
}

osafl_deletion_vt make_vtable()
{
    osafl_deletion_vt v = {};
    v.life.struct_size = sizeof v;
    v.life.create = osafl::create<policy, config>;
    v.life.destroy = osafl::destroy<policy>;
    v.select = select;
    return v;
}
const osafl_deletion_vt vtable = make_vtable();

osafl_plugin make_plugin()
{
    osafl_plugin p = osafl::describe(OSAFL_KIND_DELETION, "newest", "0.1.0",
                                     "Deletes the newest samples", "MIT", &vtable.life);
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
END
sed -i 's/newest\.c)/newest.cc)/' newest/CMakeLists.txt
refused 'newest.cc is C++; write project(newest CXX)' newest/ci.sh -DCMAKE_PREFIX_PATH="$prefix"
rm -r newest/build-*
sed -i 's/project(newest C)/project(newest CXX)/' newest/CMakeLists.txt
if command -v g++ > /dev/null; then
    quietly newest/ci.sh -DCMAKE_PREFIX_PATH="$prefix"
    "$osafl" help deletion/newest --plugin-dir newest/build-"${compilers[0]}"/plugins > told
    grep -Eq 'ages +range .*\[0, 100\] = \[0(\.0)?, 5(\.0)?\]' told || fail "no range: $(cat told)"
fi

refused 'did you mean "quantizer"' "$osafl" plugin new quantiser other
refused 'is not a plugin name' "$osafl" plugin new quantizer ../other
refused 'is not a plugin name' "$osafl" plugin new quantizer Other
refused 'exists; name another folder' "$osafl" plugin new quantizer my_quantizer
refused 'cannot be made' "$osafl" plugin new quantizer other no/such/folder
refused 'one argument too many' "$osafl" plugin new quantizer a b c
refused 'an argument is missing' "$osafl" plugin new quantizer
refused 'unknown command "plugin make"' "$osafl" plugin make
refused 'did you mean "plugin check"' "$osafl" plugin chek
diff <("$osafl" plugins quantizer) <("$osafl" plugin list quantizer) || fail "two lists of plugins"
"$osafl" plugin new quantizer qsgd namesake > told 2>&1
grep -q 'there is a plugin quantizer/qsgd already' told || fail "a namesake is not told: $(cat told)"
[ ! -e other ] || fail "a refused command left something behind"
