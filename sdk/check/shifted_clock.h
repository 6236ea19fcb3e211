/* shifted_clock.h - the time of day that a plugin sees, so that a check can try it at another time.
 */
#ifndef OSAFL_CONFORM_SHIFTED_CLOCK_H
#define OSAFL_CONFORM_SHIFTED_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* From now on all clocks that the plugin asks for itself are that far ahead.  address_in_plugin: as
 * for plugin_calls_redirect().  False: this is not possible here. */
bool clock_shift(const void *address_in_plugin, int64_t seconds);

#endif
