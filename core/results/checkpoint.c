/* checkpoint.c - the saved states of a run in its folder. */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_read.h"

#define SLOTS CHECKPOINT_SLOTS
#define SECTION "checkpoint"
#define SECTION_VERSION 1
#define IDENTITY_BYTES 32

const char *const checkpoint_file[SLOTS] = {"checkpoint.0", "checkpoint.1"};

static char *path_of(const struct run_folder *folder, unsigned slot)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder->path, checkpoint_file[slot]) < 0 ? NULL : path;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The round of an opened block, after its identity. */
static osafl_status read_head(const struct record_set *set, const char *identity, uint32_t *round,
                              struct error *error)
{
    struct record_reader r;
    char found[IDENTITY_BYTES + 1] = "";
    uint64_t value = 0;
    OSAFL_TRY(record_reader_open(set, SECTION, &r, error));
    osafl_status status = r.base.bytes(&r.base, "identity", found, IDENTITY_BYTES);
    if (status == OSAFL_OK)
        status = r.base.u64(&r.base, "round", &value, 1);
    if (status != OSAFL_OK)
        return error_set(error, status, "%s", r.error.text);
    if (strcmp(found, identity) != 0 || value > UINT32_MAX)
        return error_set(error, OSAFL_E_STATE, "it belongs to another run (identity %.32s)", found);
    *round = (uint32_t)value;
    return OSAFL_OK;
}

/* One file.  out->set stays NULL where there is none. */
osafl_status checkpoint_read_slot(const struct run_folder *folder, unsigned slot,
                                  const char *identity, struct checkpoint *out, struct error *error)
{
    struct error why = {0};
    size_t size = 0;
    int problem = ENOMEM;
    char *path = path_of(folder, slot);
    *out = (struct checkpoint){0};
    if (path != NULL)
        out->data = file_read(path, SIZE_MAX - 1, &size, &problem);
    osafl_status status = OSAFL_OK;
    if (out->data == NULL && problem != ENOENT) {
        status = error_io(error, problem, "read", path != NULL ? path : checkpoint_file[slot]);
    } else if (out->data != NULL) {
        status = record_set_open(out->data, size, &out->set, &why);
        if (status == OSAFL_OK)
            status = read_head(out->set, identity, &out->round, &why);
        if (status != OSAFL_OK)
            error_set(error, status, "%s cannot be used: %.*s", path, ERROR_BYTES / 2, why.text);
    }
    free(path);
    if (status != OSAFL_OK)
        checkpoint_free(out);
    return status;
}

osafl_status checkpoint_read(const struct run_folder *folder, const char *identity,
                             struct checkpoint_slots *slots, struct checkpoint *out, char *warning,
                             struct error *error)
{
    struct checkpoint found[SLOTS];
    osafl_status failure = OSAFL_OK;
    unsigned failures = 0;
    int newest = -1;
    warning[0] = '\0';
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        struct error why;
        const osafl_status status =
            checkpoint_read_slot(folder, slot, identity, &found[slot], &why);
        if (status != OSAFL_OK) {
            failure = status;
            failures++;
            memcpy(warning, why.text, sizeof why.text);
        } else if (found[slot].set != NULL &&
                   (newest < 0 || found[slot].round > found[newest].round)) {
            newest = (int)slot;
        }
    }
    for (int slot = 0; slot < SLOTS; slot++)
        if (slot != newest)
            checkpoint_free(&found[slot]);
    *out = newest >= 0 ? found[newest] : (struct checkpoint){0};
    slots->next = newest >= 0 ? 1u - (unsigned)newest : 0;
    if (newest >= 0 || failure == OSAFL_OK)
        return OSAFL_OK;
    return error_set(
        error, failure, "%.*s; %s; --force starts the run over", ERROR_BYTES - 128, warning,
        failures == SLOTS ? "nor can the other checkpoint" : "there is no other checkpoint");
}

void checkpoint_rounds(const struct run_folder *folder, const char *identity,
                       uint32_t round[CHECKPOINT_SLOTS])
{
    struct error error;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        struct checkpoint c;
        const osafl_status status = checkpoint_read_slot(folder, slot, identity, &c, &error);
        round[slot] = status == OSAFL_OK && c.set != NULL ? c.round : CHECKPOINT_NONE;
        if (status == OSAFL_OK)
            checkpoint_free(&c);
    }
}

void checkpoint_free(struct checkpoint *c)
{
    record_set_destroy(c->set);
    free(c->data);
    *c = (struct checkpoint){0};
}

/* ---- writing ------------------------------------------------------------------------------- */

osafl_status checkpoint_write(const struct run_folder *folder, const char *identity, uint32_t round,
                              struct record_writer *w, struct checkpoint_slots *slots,
                              struct error *error)
{
    const void *data = NULL;
    size_t size = 0;
    const uint64_t value = round;
    osafl_writer *head = record_writer_section(w, SECTION, SECTION_VERSION);
    /* A failure of either also makes record_writer_finish() fail. */
    (void)head->bytes(head, "identity", identity, IDENTITY_BYTES);
    (void)head->u64(head, "round", &value, 1);
    OSAFL_TRY(record_writer_finish(w, &data, &size, error));
    OSAFL_TRY(run_folder_replace(folder, checkpoint_file[slots->next], data, size, error));
    slots->next = 1 - slots->next;
    return OSAFL_OK;
}

osafl_status checkpoint_remove(const struct run_folder *folder, struct error *error)
{
    for (unsigned slot = 0; slot < SLOTS; slot++)
        OSAFL_TRY(run_folder_remove(folder, checkpoint_file[slot], error));
    return OSAFL_OK;
}
