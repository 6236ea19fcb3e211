/* template_with.h - the template of a plugin's kind, with one thing changed, so that a file here
 * says what is wrong with it and nothing else.
 *
 * The build defines TEMPLATE (the source that "osafl plugin new" would write) and VTABLE (the type
 * of the kind).  A file includes this, defines what it breaks, and ends with CHANGE(...), whose
 * statements change `vt` and `p`, copies of the template's. */
#include "osafl/osafl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define osafl_plugin_entry_v0 template_entry
const osafl_plugin *template_entry(void);
#include TEMPLATE
#undef osafl_plugin_entry_v0

static VTABLE vt;
static osafl_plugin p;

/* Other threads run meanwhile, however few CPUs there are and whatever else they do. */
static inline void let_others_in(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

#define CHANGE(...)                                                                                \
    const osafl_plugin *osafl_plugin_entry_v0(void)                                                \
    {                                                                                              \
        (void)template_entry;                                                                      \
        if (p.struct_size == 0) {                                                                  \
            vt = vtable;                                                                           \
            p = plugin;                                                                            \
            p.vtable = &vt.life;                                                                   \
        }                                                                                          \
        __VA_ARGS__                                                                                \
        return &p;                                                                                 \
    }
