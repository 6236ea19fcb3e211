/* osafl/profile.h - host extension "osafl.profile/1": where the time of a model goes.
 *
 * Offered by `osafl bench --layers` and by nobody else: a plugin that finds the extension in
 * create() may report each of its parts each time that it ran. */
#ifndef OSAFL_PROFILE_H
#define OSAFL_PROFILE_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OSAFL_PROFILE_ID "osafl.profile/1"

enum { OSAFL_PHASE_FORWARD = 1, OSAFL_PHASE_BACKWARD };

typedef struct osafl_profile {
    uint32_t struct_size;
    uint32_t reserved;
    /* One run of one part: CPU time of the calling thread, and the multiplications and additions
     * that the definition of the part counts (0: not counted), whatever method was used.  part:
     * number, from 0, in the order of the forward pass; name: valid during the call.  [call] */
    void (*record)(osafl_call *c, uint32_t part, uint32_t phase, const char *name, double seconds,
                   double operations);
} osafl_profile;

#ifdef __cplusplus
}
#endif
#endif
