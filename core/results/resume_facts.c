/* resume_facts.c - looks at a run's folder, for resume_decide(). */
#include "resume_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/folder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { BLOCK_BYTES = 65536 };

/* Of a file that could not be opened. */
static enum file_found absent_or_unfit(void)
{
    if (errno == ENOMEM)
        return FILE_UNKNOWN;
    return errno == ENOENT ? FILE_ABSENT : FILE_UNFIT;
}

static uint64_t file_length(FILE *file)
{
    struct stat st;
    return fstat(fileno(file), &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* ---- tables -------------------------------------------------------------------------------- */

/* XXH3 of the first bytes; false: fewer could be read. */
static bool hash_beginning(FILE *file, uint64_t bytes, uint64_t *hash)
{
    char block[BLOCK_BYTES];
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    while (bytes > 0) {
        const size_t got = fread(block, 1, bytes < sizeof block ? bytes : sizeof block, file);
        if (got == 0)
            break;
        XXH3_64bits_update(&state, block, got);
        bytes -= got;
    }
    *hash = XXH3_64bits_digest(&state);
    return bytes == 0;
}

static enum file_found compare_table(const struct run_folder *folder, int table,
                                     const struct table_state *recorded)
{
    FILE *file = file_open_in(folder->path, result_table_name[table]);
    if (file == NULL)
        return absent_or_unfit();
    const uint64_t length = file_length(file);
    uint64_t hash = recorded->hash;
    enum file_found found = length > recorded->bytes ? FILE_LONGER : FILE_WHOLE;
    if (length < recorded->bytes)
        found = FILE_SHORTER;
    else if (recorded->has_hash && !hash_beginning(file, recorded->bytes, &hash))
        found = FILE_UNFIT;
    else if (hash != recorded->hash)
        found = FILE_CHANGED;
    fclose(file);
    return found;
}

static void compare_tables(const struct run_folder *folder,
                           const struct table_state recorded[RESULT_TABLES],
                           enum file_found out[RESULT_TABLES])
{
    for (int i = 0; i < RESULT_TABLES; i++)
        out[i] = compare_table(folder, i, &recorded[i]);
}

/* Lines of rounds.csv; 0: none, or no such file; UINT64_MAX: memory was too short to look. */
static uint64_t count_lines(const struct run_folder *folder)
{
    FILE *file = file_open_in(folder->path, result_table_name[0]);
    uint64_t lines = 0;
    if (file == NULL)
        return errno == ENOMEM ? UINT64_MAX : 0;
    for (int c; (c = getc_unlocked(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* Without a record: rounds.csv has its header and T rows, and the others are there. */
static void judge_tables(const struct run_folder *folder, uint32_t rounds,
                         enum file_found out[RESULT_TABLES])
{
    static const struct table_state none = {0};
    for (int i = 0; i < RESULT_TABLES; i++) {
        const enum file_found found = compare_table(folder, i, &none);
        out[i] = found == FILE_LONGER ? FILE_WHOLE : found;
    }
    const uint64_t lines = count_lines(folder);
    if (lines == UINT64_MAX)
        out[0] = FILE_UNKNOWN;
    else if (out[0] == FILE_WHOLE && lines != (uint64_t)rounds + 1)
        out[0] = lines < (uint64_t)rounds + 1 ? FILE_SHORTER : FILE_LONGER;
}

/* ---- the rest ------------------------------------------------------------------------------ */

/* A model of so many parameters has one length, but for its header. */
static enum file_found judge_model(const struct run_folder *folder, uint64_t parameters)
{
    uint64_t header = 0;
    FILE *file = file_open_in(folder->path, "model.safetensors");
    if (file == NULL)
        return absent_or_unfit();
    const uint64_t length = file_length(file);
    const bool has_header = fread(&header, sizeof header, 1, file) == 1;
    fclose(file);
    if (!has_header)
        return FILE_SHORTER;
    const uint64_t data = sizeof header + parameters * sizeof(float);
    if (header > length)
        return length <= data ? FILE_SHORTER : FILE_CHANGED;
    if (length == data + header)
        return FILE_WHOLE;
    return length < data + header ? FILE_SHORTER : FILE_LONGER;
}

static const char *first_file_of_a_run(const struct run_folder *folder)
{
    for (const char *const *name = run_folder_files; *name != NULL; name++) {
        if (folder_has(folder->path, *name))
            return *name;
    }
    return NULL;
}

static osafl_status look_at_checkpoints(const struct run_folder *folder, const struct experiment *e,
                                        struct resume_findings *out,
                                        struct table_state recorded[RESULT_TABLES],
                                        struct error *error)
{
    struct record_reader reader;
    osafl_status status = checkpoint_read(folder, e->identity, &out->slots, &out->checkpoint,
                                          out->checkpoints, error);
    if (status == OSAFL_E_NOMEM)
        return status;
    if (status == OSAFL_OK && out->checkpoint.set == NULL)
        return OSAFL_OK;
    if (status == OSAFL_OK)
        status = record_reader_open(out->checkpoint.set, RESULTS_SECTION, &reader, error);
    if (status == OSAFL_OK)
        status = results_recorded(&reader, recorded, error);
    out->facts.checkpoints = status == OSAFL_OK ? CHECKPOINT_USABLE : CHECKPOINTS_DAMAGED;
    out->facts.checkpoint_round = out->checkpoint.round;
    if (status == OSAFL_OK)
        compare_tables(folder, recorded, out->facts.since_checkpoint);
    else
        memcpy(out->checkpoints, error->text, sizeof out->checkpoints);
    return OSAFL_OK;
}

static bool same_tables(const struct table_state *a, const struct table_state *b)
{
    bool same = true;
    for (int i = 0; i < RESULT_TABLES; i++)
        same = same && a[i].bytes == b[i].bytes && a[i].hash == b[i].hash;
    return same;
}

/* recorded: what a checkpoint says, used where it is one of the end. */
static osafl_status look_at_end(const struct run_folder *folder,
                                const struct table_state recorded[RESULT_TABLES],
                                struct resume_facts *f, struct error *error)
{
    struct run_end end;
    OSAFL_TRY(environment_read_end(folder, &end, error));
    f->ended = end.ended;
    const bool is_last = f->checkpoints == CHECKPOINT_USABLE && f->checkpoint_round == f->rounds;
    if (is_last && (!end.has_tables || same_tables(recorded, end.tables)))
        memcpy(f->since_end, f->since_checkpoint, sizeof f->since_end);
    else if (end.has_tables)
        compare_tables(folder, end.tables, f->since_end);
    else if (end.ended || f->model != FILE_ABSENT)
        judge_tables(folder, f->rounds, f->since_end);
    return OSAFL_OK;
}

static bool some_file_is_unknown(const struct resume_facts *f)
{
    bool unknown = f->model == FILE_UNKNOWN;
    for (int i = 0; i < RESULT_TABLES; i++)
        unknown =
            unknown || f->since_checkpoint[i] == FILE_UNKNOWN || f->since_end[i] == FILE_UNKNOWN;
    return unknown;
}

osafl_status resume_look(const struct run_folder *folder, const struct experiment *e,
                         const struct surroundings *around, uint32_t rounds, uint64_t parameters,
                         struct resume_findings *out, struct error *error)
{
    struct resume_facts *f = &out->facts;
    struct table_state recorded[RESULT_TABLES];
    memset(out, 0, sizeof *out);
    memset(recorded, 0, sizeof recorded);
    f->rounds = rounds;
    const osafl_status compared = manifest_compare(folder, e, around, &f->manifest, &out->manifest);
    if (compared != OSAFL_OK)
        return error_set(error, compared, "%s", out->manifest.text);
    switch (f->manifest) {
    case MANIFEST_NONE:
        f->file_without_manifest = first_file_of_a_run(folder);
        return OSAFL_OK;
    case MANIFEST_DAMAGED:
    case MANIFEST_OTHER:
        return OSAFL_OK;
    default:
        break;
    }
    f->has_rows = count_lines(folder) > 1;
    f->model = judge_model(folder, parameters);
    OSAFL_TRY(look_at_checkpoints(folder, e, out, recorded, error));
    OSAFL_TRY(look_at_end(folder, recorded, f, error));
    if (some_file_is_unknown(f))
        return error_set(error, OSAFL_E_NOMEM, "out of memory for the files in %s", folder->path);
    return OSAFL_OK;
}

void resume_findings_free(struct resume_findings *f)
{
    checkpoint_free(&f->checkpoint);
}

/* ---- words --------------------------------------------------------------------------------- */

static osafl_status explain_lost(const struct run_folder *folder, const struct resume_facts *f,
                                 unsigned table, struct error *error)
{
    const bool model = table == RESULT_TABLES;
    return error_set(error, OSAFL_E_STATE,
                     "the run in %s had come to its end, but its %s %s and it has no checkpoint "
                     "to make it from; restore the file, or run it again with --force",
                     folder->path, model ? "model.safetensors" : result_table_name[table],
                     file_problem(model ? f->model : f->since_end[table]));
}

osafl_status resume_explain(const struct run_folder *folder, const struct resume_findings *f,
                            const struct resume_decision *d, struct error *error)
{
    enum { ROOM = ERROR_BYTES - 160 };
    switch (d->refusal) {
    case REFUSED_MANIFEST_DAMAGED:
    case REFUSED_OTHER_RUN:
        return error_set(error, OSAFL_E_CONFIG, "%s", f->manifest.text);
    case REFUSED_NO_MANIFEST:
        return error_set(error, OSAFL_E_CONFIG,
                         "%s holds %s without a manifest of its run; choose another folder with "
                         "--out or --results, or overwrite it with --force",
                         folder->path, f->facts.file_without_manifest);
    case REFUSED_COMPLETE_OTHER_DATA:
        return error_set(error, OSAFL_E_CONFIG,
                         "the run in %.300s is complete, with other data: %.*s; run it again "
                         "with --force, or choose another folder with --out or --results",
                         folder->path, ROOM - 340, f->manifest.text);
    case REFUSED_CHANGED:
        return error_set(error, OSAFL_E_CONFIG,
                         "%.*s; --accept-changes resumes anyway, --force starts over", ROOM,
                         f->manifest.text);
    case REFUSED_TABLE:
        return error_set(error, OSAFL_E_STATE,
                         "%s/%s %s since its checkpoint was written; restore the file, or start "
                         "afresh with --force",
                         folder->path, result_table_name[d->table],
                         file_problem(f->facts.since_checkpoint[d->table]));
    case REFUSED_CHECKPOINTS_DAMAGED:
        return error_set(error, OSAFL_E_STATE, "%s", f->checkpoints);
    default:
        return explain_lost(folder, &f->facts, d->table, error);
    }
}
