/* hides_energy.c - states less energy than the radio takes.  Caught by resource.answers. */
#include "template_with.h"

static osafl_status solve_prettily(void *self, osafl_call *c, const osafl_resource_problem *problem,
                                   const osafl_resource_answer *out)
{
    OSAFL_TRY(solve(self, c, problem, out));
    for (uint32_t u = 0; u < problem->clients; u++)
        out->upload_j[u] *= 0.9;
    return OSAFL_OK;
}

CHANGE(vt.solve = solve_prettily;)
