/* resume_decision.c - what a run does with a folder, decided from what was found there. */
#include "resume_decision.h"

const char *file_problem(enum file_found found)
{
    switch (found) {
    case FILE_ABSENT:
        return "is missing";
    case FILE_LONGER:
        return "has grown";
    case FILE_SHORTER:
        return "was cut short";
    case FILE_CHANGED:
        return "was changed";
    case FILE_UNFIT:
        return "is not a readable file";
    default:
        return "";
    }
}

static struct resume_decision refuse(enum resume_refusal why, unsigned table)
{
    return (struct resume_decision){.action = RESUME_REFUSE, .refusal = why, .table = table};
}

/* The first table that is not whole; RESULT_TABLES: none. */
static unsigned first_broken(const enum file_found table[RESULT_TABLES], bool may_be_longer)
{
    unsigned i = 0;
    while (i < RESULT_TABLES &&
           (table[i] == FILE_WHOLE || (may_be_longer && table[i] == FILE_LONGER)))
        i++;
    return i;
}

static struct resume_decision start(const struct resume_facts *f)
{
    return (struct resume_decision){.action = RESUME_START, .rows_are_lost = f->has_rows};
}

static bool is_complete(const struct resume_facts *f)
{
    const bool came_to_end =
        f->ended || f->checkpoints != CHECKPOINT_USABLE || f->checkpoint_round == f->rounds;
    return came_to_end && f->model == FILE_WHOLE &&
           first_broken(f->since_end, false) == RESULT_TABLES;
}

/* The manifest is this run's, and the run is not complete. */
static struct resume_decision decide_unfinished(const struct resume_facts *f,
                                                struct resume_wish wish)
{
    const bool changed = f->manifest != MANIFEST_SAME;
    const bool came_to_end = f->ended || f->model != FILE_ABSENT;
    if (f->checkpoints == CHECKPOINTS_ABSENT && came_to_end) {
        const unsigned table = first_broken(f->since_end, false);
        return refuse(REFUSED_LOST, f->model == FILE_WHOLE ? table : RESULT_TABLES);
    }
    /* Another program may not be able to read a checkpoint, so that this comes first. */
    if (changed && !wish.accept_changes)
        return refuse(REFUSED_CHANGED, 0);
    if (f->checkpoints == CHECKPOINTS_DAMAGED)
        return refuse(REFUSED_CHECKPOINTS_DAMAGED, 0);
    if (f->checkpoints == CHECKPOINTS_ABSENT)
        return start(f);
    /* Nothing writes behind the end: what stands there is not a killed run's. */
    const unsigned table = first_broken(f->since_checkpoint, f->checkpoint_round < f->rounds);
    if (table < RESULT_TABLES)
        return refuse(REFUSED_TABLE, table);
    return (struct resume_decision){.action = RESUME_GO_ON, .record_changes = changed};
}

struct resume_decision resume_decide(const struct resume_facts *f, struct resume_wish wish)
{
    if (wish.force)
        return (struct resume_decision){.action = RESUME_START};
    switch (f->manifest) {
    case MANIFEST_DAMAGED:
        return refuse(REFUSED_MANIFEST_DAMAGED, 0);
    case MANIFEST_OTHER:
        return refuse(REFUSED_OTHER_RUN, 0);
    case MANIFEST_NONE:
        return f->file_without_manifest != NULL ? refuse(REFUSED_NO_MANIFEST, 0) : start(f);
    default:
        break;
    }
    if (!is_complete(f))
        return decide_unfinished(f, wish);
    /* Nothing is left to go on with, so there is nothing that could be accepted. */
    if (f->manifest == MANIFEST_OTHER_DATA)
        return refuse(REFUSED_COMPLETE_OTHER_DATA, 0);
    return (struct resume_decision){.action = RESUME_COMPLETE};
}
