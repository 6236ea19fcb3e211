/* longer_run.c - a run that goes on where a shorter one of the same settings ended. */
#include "longer_run.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file_read.h"

/* timing.csv is another one each time. */
static const unsigned compared[] = {0, 1}; /* rounds.csv, clients.csv */

/* Takes the run in `folder` into *out where it serves better than what is there. */
static void consider(const char *folder, const struct experiment *e,
                     const struct surroundings *around, struct longer_run *out)
{
    struct longer_run found = {0};
    uint32_t round[CHECKPOINT_SLOTS];
    struct run_folder f = {.path = strdup(folder), .lock_fd = -1};
    if (f.path == NULL || !manifest_is_shorter(folder, e, around, found.identity, &found.rounds) ||
        found.rounds <= out->rounds) {
        free(f.path);
        return;
    }
    checkpoint_rounds(&f, found.identity, round);
    bool ended = false;
    for (unsigned slot = 0; slot < CHECKPOINT_SLOTS; slot++) {
        ended = ended || round[slot] == found.rounds;
        if (round[slot] < found.rounds && round[slot] >= found.from) {
            found.slot = slot;
            found.from = round[slot];
        }
    }
    if (ended && found.from > 0) {
        free(out->folder);
        found.folder = f.path;
        *out = found;
        return;
    }
    free(f.path);
}

osafl_status longer_run_find(const struct run_folder *of, const struct experiment *e,
                             const struct surroundings *around, struct longer_run *out,
                             struct error *error)
{
    *out = (struct longer_run){0};
    const char *slash = strrchr(of->path, '/');
    const char *own = slash != NULL ? slash + 1 : of->path;
    char *above = slash != NULL ? strndup(of->path, (size_t)(slash - of->path)) : strdup(".");
    if (above == NULL)
        return error_set(error, OSAFL_E_NOMEM, "out of memory");
    DIR *dir = opendir(above);
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        char *folder = NULL;
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, own) == 0 ||
            asprintf(&folder, "%s/%s", above, entry->d_name) < 0)
            continue;
        consider(folder, e, around, out);
        free(folder);
    }
    if (dir != NULL)
        closedir(dir);
    free(above);
    return OSAFL_OK;
}

void longer_run_free(struct longer_run *l)
{
    free(l->folder);
    *l = (struct longer_run){0};
}

/* A table of a run in memory; NULL with a message. */
static char *read_table(const char *folder, unsigned table, size_t *size, struct error *error)
{
    char *path = NULL;
    int problem = ENOMEM;
    if (asprintf(&path, "%s/%s", folder, result_table_name[table]) < 0) {
        (void)error_io(error, ENOMEM, "read", result_table_name[table]);
        return NULL;
    }
    char *data = file_read(path, SIZE_MAX - 1, size, &problem);
    if (data == NULL)
        (void)error_io(error, problem, "read", path);
    free(path);
    return data;
}

osafl_status longer_run_copy(const struct longer_run *l, const struct run_folder *to,
                             struct error *error)
{
    for (unsigned table = 0; table < RESULT_TABLES; table++) {
        size_t size = 0;
        char *data = read_table(l->folder, table, &size, error);
        if (data == NULL)
            return OSAFL_E_IO;
        const osafl_status status =
            run_folder_replace(to, result_table_name[table], data, size, error);
        free(data);
        OSAFL_TRY(status);
    }
    return OSAFL_OK;
}

osafl_status longer_run_compare(const struct longer_run *l, const struct run_folder *of,
                                struct error *error)
{
    for (size_t i = 0; i < sizeof compared / sizeof compared[0]; i++) {
        size_t size[2] = {0};
        char *before = read_table(l->folder, compared[i], &size[0], error);
        char *now = before != NULL ? read_table(of->path, compared[i], &size[1], error) : NULL;
        const bool same = now != NULL && size[0] == size[1] && memcmp(before, now, size[0]) == 0;
        const bool read = now != NULL;
        free(before);
        free(now);
        if (!read)
            return OSAFL_E_IO;
        if (!same)
            return error_set(error, OSAFL_E_CONFIG,
                             "%s of the run of %u rounds in %.400s does not begin a run of "
                             "more: a plugin makes something of the number of rounds (a "
                             "schedule, a step that shrinks), or its last round alone was "
                             "evaluated; --set rounds=N runs it from the first round on",
                             result_table_name[compared[i]], l->rounds, l->folder);
    }
    return OSAFL_OK;
}
