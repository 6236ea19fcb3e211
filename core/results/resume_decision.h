/* resume_decision.h - what a run does with a folder, decided from what was found there.
 *
 * A pure function of facts (resume_facts.h gathers them), so that every combination can be tested.
 * The rules, the first that holds:
 *
 *   --force                                       start over
 *   manifest damaged, or of another run           refuse
 *   no manifest, but files of a run's names       refuse: they may be anybody's
 *   no manifest                                   start
 *   the run is complete and whole                 nothing to do; refuse if the data are others now
 *   a usable checkpoint                           go on, if its tables are as it left them and what
 *                                                 changed since is accepted; else refuse
 *   checkpoints, all damaged                      refuse
 *   it had come to its end, but files are missing refuse
 *   nothing saved                                 start, if what changed since is accepted */
#ifndef OSAFL_CORE_RESUME_DECISION_H
#define OSAFL_CORE_RESUME_DECISION_H

#include "manifest.h"
#include "results.h"

/* A file beside what was recorded of it. */
enum file_found {
    FILE_ABSENT,
    FILE_WHOLE,   /* as recorded */
    FILE_LONGER,  /* as recorded, and more behind */
    FILE_SHORTER, /* ends too early */
    FILE_CHANGED, /* other bytes */
    FILE_UNFIT,   /* no regular file, or none that can be read */
    FILE_UNKNOWN, /* memory was too short to look; never part of a decision */
};

enum checkpoints_found {
    CHECKPOINTS_ABSENT,
    CHECKPOINTS_DAMAGED, /* all that there are; one of another run counts as damaged */
    CHECKPOINT_USABLE,
};

struct resume_facts {
    enum manifest_found manifest;
    const char *file_without_manifest; /* the first file of a run's names, of anybody; NULL: none */
    enum checkpoints_found checkpoints;
    uint32_t checkpoint_round; /* of the newest usable one */
    uint32_t rounds;           /* T */
    /* Tables as the newest usable checkpoint left them: FILE_LONGER is what a killed run leaves. */
    enum file_found since_checkpoint[RESULT_TABLES];
    /* The same for the end of the run, as environment.json or a checkpoint after T rounds records
     * it; of runs of older versions rounds.csv is judged by its rows, the others by being there. */
    enum file_found since_end[RESULT_TABLES];
    enum file_found model; /* by its length */
    bool ended;            /* environment.json says that the run came to its end */
    bool has_rows;         /* rounds.csv has more than its header */
};

struct resume_wish {
    bool force;
    bool accept_changes;
};

enum resume_action {
    RESUME_START, /* remove all that is there, and begin with round 0 */
    RESUME_GO_ON, /* from the newest usable checkpoint */
    RESUME_COMPLETE,
    RESUME_REFUSE,
};

enum resume_refusal {
    REFUSED_NOT,
    REFUSED_MANIFEST_DAMAGED,
    REFUSED_OTHER_RUN,
    REFUSED_NO_MANIFEST,
    REFUSED_COMPLETE_OTHER_DATA,
    REFUSED_CHANGED,
    REFUSED_TABLE, /* decision.table */
    REFUSED_CHECKPOINTS_DAMAGED,
    REFUSED_LOST, /* complete once, and decision.table (RESULT_TABLES: the model) is not whole */
};

struct resume_decision {
    enum resume_action action;
    enum resume_refusal refusal;
    unsigned table;      /* which one, for the two refusals that say so */
    bool record_changes; /* going on although something changed: changes.txt and a new manifest */
    bool rows_are_lost;  /* starting although rows are there: worth a word */
};

struct resume_decision resume_decide(const struct resume_facts *f, struct resume_wish wish);

/* "is missing", "was cut short", ...: what is wrong with a file; "" for FILE_WHOLE. */
const char *file_problem(enum file_found found);

#endif
