/* ignores_begin.c - decodes from the start, whatever range is asked for.  Caught by
 * quantizer.ranges. */
#include "template_with.h"

static osafl_status decode_from_start(void *self, osafl_call *c, const uint8_t *code,
                                      uint64_t bytes, uint64_t begin, uint64_t end, float *out)
{
    return decode(self, c, code, bytes, 0, end - begin, out);
}

CHANGE(vt.decode = decode_from_start;)
