/* asks_calendar.c - weighs by the day of the week, which is the same for hours.  Caught by
 * numbers.repeat. */
#include <time.h>

#include "template_with.h"

static osafl_status aggregate_by_day(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    OSAFL_TRY(aggregate(self, c, u, w));
    w[0] += (float)(time(NULL) / 86400 % 7);
    return OSAFL_OK;
}

CHANGE(vt.aggregate = aggregate_by_day;)
