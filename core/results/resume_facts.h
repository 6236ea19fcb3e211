/* resume_facts.h - looks at a run's folder, for resume_decide(). */
#ifndef OSAFL_CORE_RESUME_FACTS_H
#define OSAFL_CORE_RESUME_FACTS_H

#include "base/error.h"
#include "checkpoint.h"
#include "resume_decision.h"

/* What was found, with the words for it. */
struct resume_findings {
    struct resume_facts facts;
    struct checkpoint checkpoint; /* the newest usable one; set NULL: there is none */
    struct checkpoint_slots slots;
    struct error manifest;         /* what is wrong with it, or what changed since; "": nothing */
    char checkpoints[ERROR_BYTES]; /* which were passed over, and why; "": none */
};

/* rounds: T; parameters: of the model.  Reads tables to their end: their bytes are compared by a
 * hash.  Failures are those of reading (OSAFL_E_IO, OSAFL_E_NOMEM); what is damaged or missing is a
 * finding.  Free *out in any case. */
osafl_status resume_look(const struct run_folder *folder, const struct experiment *e,
                         const struct surroundings *around, uint32_t rounds, uint64_t parameters,
                         struct resume_findings *out, struct error *error);
void resume_findings_free(struct resume_findings *f);

/* The words for a refusal, with a remedy; returns the status that goes with it. */
osafl_status resume_explain(const struct run_folder *folder, const struct resume_findings *f,
                            const struct resume_decision *d, struct error *error);

#endif
