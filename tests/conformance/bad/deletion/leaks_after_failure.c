/* leaks_after_failure.c - leaks when the second of two allocations fails.  Caught by life.memory.
 */
#include "template_with.h"

static osafl_status create_two(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                               const void *config, void **self)
{
    void *volatile first = malloc(100); /* volatile: no compiler may leave the requests out */
    void *volatile second = first != NULL ? malloc(100) : NULL;
    if (second == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    free(second);
    free(first);
    return create(h, c, facts, config, self);
}

CHANGE(vt.life.create = create_two;)
