/* fails_wordlessly.c - refuses some settings without a word.  Caught by parameters.random. */
#include "template_with.h"

static osafl_status check_silently(const osafl_host *h, osafl_call *c, const void *config)
{
    (void)h;
    (void)c;
    const struct config *settings = config;
    const double gain = settings->mean_gain_db;
    return gain > -300.0 && gain < 100.0 && gain != -110.0 ? OSAFL_E_CONFIG : OSAFL_OK;
}

CHANGE(vt.life.check = check_silently;)
