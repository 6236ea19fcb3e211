/* overclocks.c - sets a clock above the maximum.  Caught by resource.limits. */
#include "template_with.h"

static osafl_status solve_fast(void *self, osafl_call *c, const osafl_resource_problem *problem,
                               const osafl_resource_answer *out)
{
    OSAFL_TRY(solve(self, c, problem, out));
    for (uint32_t u = 0; u < problem->clients; u++)
        out->clock_hz[u] *= 1.01;
    return OSAFL_OK;
}

CHANGE(vt.solve = solve_fast;)
