/* osafl/plugin.hpp - for plugins in C++17: tables of settings, and exceptions that stay inside.
 *
 * The interface itself is the C one; this adds what designated initialisers and _Generic do there.
 * A plugin needs nothing of it that it does not use. */
#ifndef OSAFL_PLUGIN_HPP
#define OSAFL_PLUGIN_HPP

#include <exception>
#include <new>
#include <type_traits>

#include "osafl.h"

/* Rows of a table of settings.  S is the config struct, a standard-layout type, and m its member;
 * a member of another type does not compile.  unit and flags may be left out. */
#define OSAFL_BOOL(S, m, d, ...)                                                                   \
    osafl::bool_row<decltype(S::m)>(#m, offsetof(S, m), (d), __VA_ARGS__)
#define OSAFL_INT(S, m, d, l, h, ...)                                                              \
    osafl::int_row<decltype(S::m)>(#m, offsetof(S, m), (d), (l), (h), __VA_ARGS__)
#define OSAFL_REAL(S, m, d, l, h, ...)                                                             \
    osafl::real_row<decltype(S::m)>(#m, offsetof(S, m), (d), (l), (h), __VA_ARGS__)
#define OSAFL_TEXT(S, m, d, ...)                                                                   \
    osafl::text_row<decltype(S::m)>(OSAFL_T_TEXT, #m, offsetof(S, m), (d), __VA_ARGS__)
#define OSAFL_PATH(S, m, d, ...)                                                                   \
    osafl::text_row<decltype(S::m)>(OSAFL_T_PATH, #m, offsetof(S, m), (d), __VA_ARGS__)
#define OSAFL_CHOICE(S, m, d, list, ...)                                                           \
    osafl::choice_row<decltype(S::m)>(#m, offsetof(S, m), (d), (list), __VA_ARGS__)
#define OSAFL_RANGE(S, m, dl, dh, l, h, ...)                                                       \
    osafl::range_row<decltype(S::m)>(#m, offsetof(S, m), (dl), (dh), (l), (h), __VA_ARGS__)
#define OSAFL_REALS(S, m, l, h, ...)                                                               \
    osafl::reals_row<decltype(S::m)>(#m, offsetof(S, m), (l), (h), __VA_ARGS__)

namespace osafl
{

inline osafl_param row(uint32_t type, const char *name, std::size_t offset, const char *doc,
                       const char *unit, uint32_t flags)
{
    osafl_param p = {};
    p.type = type;
    p.name = name;
    p.offset = static_cast<uint32_t>(offset);
    p.doc = doc;
    p.unit = unit;
    p.flags = flags;
    return p;
}

template <class T>
osafl_param bool_row(const char *name, std::size_t offset, bool def, const char *doc,
                     uint32_t flags = 0)
{
    static_assert(std::is_same<T, bool>::value, "OSAFL_BOOL binds to a bool");
    osafl_param p = row(OSAFL_T_BOOL, name, offset, doc, nullptr, flags);
    p.def.i = def ? 1 : 0;
    return p;
}

template <class T>
osafl_param int_row(const char *name, std::size_t offset, int64_t def, int64_t lo, int64_t hi,
                    const char *doc, const char *unit = nullptr, uint32_t flags = 0)
{
    static_assert(std::is_same<T, int64_t>::value, "OSAFL_INT binds to an int64_t");
    osafl_param p = row(OSAFL_T_INT, name, offset, doc, unit, flags);
    p.def.i = def;
    p.lo.i = lo;
    p.hi.i = hi;
    return p;
}

template <class T>
osafl_param real_row(const char *name, std::size_t offset, double def, double lo, double hi,
                     const char *doc, const char *unit = nullptr, uint32_t flags = 0)
{
    static_assert(std::is_same<T, double>::value, "OSAFL_REAL binds to a double");
    osafl_param p = row(OSAFL_T_REAL, name, offset, doc, unit, flags);
    p.def.r = def;
    p.lo.r = lo;
    p.hi.r = hi;
    return p;
}

template <class T>
osafl_param text_row(uint32_t type, const char *name, std::size_t offset, const char *def,
                     const char *doc, uint32_t flags = 0)
{
    static_assert(std::is_same<T, const char *>::value, "OSAFL_TEXT binds to a const char *");
    osafl_param p = row(type, name, offset, doc, nullptr, flags);
    p.def.s = def;
    return p;
}

template <class T>
osafl_param choice_row(const char *name, std::size_t offset, int32_t def, const char *const *list,
                       const char *doc, uint32_t flags = 0)
{
    static_assert(std::is_same<T, osafl_choice>::value, "OSAFL_CHOICE binds to an osafl_choice");
    osafl_param p = row(OSAFL_T_CHOICE, name, offset, doc, nullptr, flags);
    p.def.i = def;
    p.choices = list;
    return p;
}

template <class T>
osafl_param range_row(const char *name, std::size_t offset, double def_lo, double def_hi, double lo,
                      double hi, const char *doc, const char *unit = nullptr, uint32_t flags = 0)
{
    static_assert(std::is_same<T, osafl_range>::value, "OSAFL_RANGE binds to an osafl_range");
    osafl_param p = row(OSAFL_T_RANGE, name, offset, doc, unit, flags);
    p.def.r = def_lo;
    p.def_hi.r = def_hi;
    p.lo.r = lo;
    p.hi.r = hi;
    return p;
}

template <class T>
osafl_param reals_row(const char *name, std::size_t offset, double lo, double hi, const char *doc,
                      const char *unit = nullptr, uint32_t flags = 0)
{
    static_assert(std::is_same<T, osafl_reals>::value, "OSAFL_REALS binds to an osafl_reals");
    osafl_param p = row(OSAFL_T_REALS, name, offset, doc, unit, flags);
    p.lo.r = lo;
    p.hi.r = hi;
    return p;
}

/* The members of osafl_plugin that every plugin has; the rest is null. */
inline osafl_plugin describe(uint32_t kind, const char *name, const char *version,
                             const char *summary, const char *license,
                             const osafl_lifecycle *vtable)
{
    osafl_plugin p = {};
    p.struct_size = sizeof p;
    p.abi_major = OSAFL_ABI_MAJOR;
    p.abi_minor = OSAFL_ABI_MINOR;
    p.fingerprint = OSAFL_FINGERPRINT;
    p.kind = kind;
    p.name = name;
    p.version = version;
    p.summary = summary;
    p.license = license;
    p.vtable = vtable;
    return p;
}

/* Adds a table of settings that bind to Config. */
template <class Config, std::size_t N>
void set_params(osafl_plugin &p, const osafl_param (&table)[N])
{
    static_assert(std::is_standard_layout<Config>::value, "offsets need a standard layout");
    p.params = table;
    p.n_params = static_cast<uint32_t>(N);
    p.param_size = sizeof(osafl_param);
    p.config_size = sizeof(Config);
}

/* Adds a table of metrics: {{"step_norm", nullptr, "Norm of the step", OSAFL_PER_ROUND, 0}}. */
template <std::size_t N> void set_metrics(osafl_plugin &p, const osafl_metric (&table)[N])
{
    p.metrics = table;
    p.n_metrics = static_cast<uint32_t>(N);
    p.metric_size = sizeof(osafl_metric);
}

/* Runs body, which returns a status; whatever it throws becomes one (rule R8). */
template <class Body> osafl_status guarded(const osafl_host *h, osafl_call *c, Body &&body) noexcept
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    } catch (const std::exception &e) {
        return h->fail(c, OSAFL_E_BUG, "an exception was not caught: %s", e.what());
    } catch (...) {
        return h->fail(c, OSAFL_E_BUG, "an exception was not caught");
    }
}

/* life.create and life.destroy of a class made by T(host, facts, config). */
template <class T, class Config>
osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                    const void *config, void **self) noexcept
{
    return guarded(h, c, [&] {
        *self = new T(h, *facts, *static_cast<const Config *>(config));
        return OSAFL_OK;
    });
}

template <class T> void destroy(void *self) noexcept
{
    delete static_cast<T *>(self);
}

} // namespace osafl

#endif
