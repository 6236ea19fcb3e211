/* reads_any_type.c - takes samples of any type for real numbers.  Caught by model.types. */
#include "template_with.h"

static osafl_status create_for_any(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                                   const void *config, void **self)
{
    osafl_dataset_info data = *facts->dataset;
    osafl_facts as_floats = *facts;
    data.x_type = OSAFL_X_FLOAT;
    as_floats.dataset = &data;
    return create(h, c, &as_floats, config, self);
}

CHANGE(vt.life.create = create_for_any;)
