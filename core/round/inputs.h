/* inputs.h - what a run reads besides its settings: samples and files, known by their hashes.
 *
 * Settings only say where data lie.  With the hashes in the manifest, a run does not go on with
 * other data than those with which it began. */
#ifndef OSAFL_CORE_INPUTS_H
#define OSAFL_CORE_INPUTS_H

#include "base/error.h"
#include "results/manifest.h"
#include "session.h"

/* Hashes the training samples and those on which the model is evaluated, as the data set gives
 * them (of an endless split, the first ones), and every regular file that a setting of another
 * plugin names.  OSAFL_E_DATA for a value that is not finite, or a label out of range.  Free *out
 * after failures too. */
osafl_status inputs_read(const struct session *s, struct inputs *out, struct error *error);
void inputs_free(struct inputs *i);

#endif
