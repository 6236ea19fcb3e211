/* ends_well.c - ends with status 0 when another rank is gone.  Caught by transport.loss. */
#include "template_with.h"

static osafl_status start_content(const osafl_transport_wish *wish, osafl_transport_place *place)
{
    osafl_transport_wish content = *wish;
    content.lost_status = 0;
    return start(&content, place);
}

CHANGE(vt.start = start_content;)
