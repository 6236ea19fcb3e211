/* manifest.c - what a run is, and where and when it ran. */
#include "manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "base/file_read.h"
#include "base/folder.h"
#include "base/json_print.h"
#include "base/text.h"
#include "plugin/cpu.h"

#define MANIFEST "manifest.json"
#define ENVIRONMENT "environment.json"
#define FORMAT 1

/* A manifest without something would be a wrong one: NULL unless complete. */
static json_t *whole_or_nothing(json_t *value, bool complete)
{
    if (complete)
        return value;
    json_decref(value);
    return NULL;
}

/* ---- manifest.json ---- */

bool manifest_is_in(const char *folder)
{
    return folder_has(folder, MANIFEST);
}

/* The text of resolved.cfg.  Owned by the caller, free(). */
static osafl_status resolved_settings(const struct experiment *e, char **out, size_t *size,
                                      struct error *error)
{
    FILE *memory = open_memstream(out, size);
    osafl_status status = memory == NULL ? OSAFL_E_NOMEM : experiment_write(e, memory);
    if (memory != NULL && (fclose(memory) != 0 || *out == NULL))
        status = OSAFL_E_NOMEM;
    if (status == OSAFL_OK)
        return OSAFL_OK;
    free(*out);
    return error_set(error, status, "out of memory for the list of settings");
}

static osafl_status add_setting(void *arg, const struct setting *s)
{
    json_t *settings = arg;
    char *key = NULL;
    if (asprintf(&key, "%s%s%s", s->group, s->group[0] == '\0' ? "" : ".", s->key) < 0)
        return OSAFL_E_NOMEM;
    json_t *setting =
        json_pack("{s:o, s:o}", "value", json_text(s->text), "origin", json_text(s->origin));
    int failed = 0;
    if (s->earlier != NULL)
        failed = json_object_set_new(setting, "earlier", json_text(s->earlier));
    failed |= json_object_set_new(settings, key, setting);
    free(key);
    return failed ? OSAFL_E_NOMEM : OSAFL_OK;
}

/* {"clients.count": {"value": "25", "origin": "default"}, ...}, with "earlier" where a setting came
 * later; NULL: out of memory. */
static json_t *describe_settings(const struct experiment *e)
{
    json_t *settings = json_object();
    return whole_or_nothing(settings, settings != NULL &&
                                          experiment_visit(e, add_setting, settings) == OSAFL_OK);
}

/* NULL: there are none, or memory is short and *complete becomes false. */
static json_t *describe_libraries(const struct libraries *l, bool *complete)
{
    json_t *object = l->n > 0 ? json_object() : NULL;
    for (size_t i = 0; i < l->n; i++)
        if (json_object_set_new(object, l->item[i].name, json_string(l->item[i].hash)) != 0)
            *complete = false;
    return object;
}

static json_t *describe_plugins(const struct experiment *e)
{
    json_t *list = json_array();
    bool complete = list != NULL;
    for (uint32_t kind = 1; kind <= LOADER_KINDS && complete; kind++) {
        const struct loaded_plugin *loaded = e->chosen[kind].loaded;
        if (loaded == NULL)
            continue;
        complete =
            json_array_append_new(
                list, json_pack("{s:s, s:s, s:s, s:s, s:o*}", "kind", kind_name(kind), "name",
                                loaded->plugin->name, "version", loaded->plugin->version,
                                "file_xxh3", loaded->hash, "libraries_xxh3",
                                describe_libraries(&loaded->libraries, &complete))) == 0 &&
            complete;
    }
    return whole_or_nothing(list, complete);
}

static json_t *describe_inputs(const struct inputs *inputs)
{
    json_t *object = json_object();
    bool complete = object != NULL;
    for (size_t i = 0; i < inputs->n && complete; i++)
        complete =
            json_object_set_new(object, inputs->item[i].name, json_text(inputs->item[i].hash)) == 0;
    return whole_or_nothing(object, complete);
}

static json_t *describe_run(const struct experiment *e, const struct surroundings *around)
{
    return json_pack(
        "{s:i, s:s, s:{s:s, s:s, s:s}, s:{s:o, s:o, s:i, s:I}, s:{s:o, s:o, s:o}, s:o, "
        "s:o, s:o}",
        "manifest", FORMAT, "identity", e->identity, //
        "program", "name", "osafl", "version", OSAFL_VERSION, "file_xxh3",
        around->program_hash, //
        "experiment", "name", json_text(e->general.name), "case", json_text(e->case_name),
        "case_index", (int)e->case_index, "seed",
        (json_int_t)e->general.seed, //
        "machine", "cpu_features", json_text(around->cpu_features), "blas_kernel",
        json_text(around->blas_kernel), "mathematics",
        json_text(around->mathematics), //
        "inputs_xxh3", describe_inputs(&around->inputs), "plugins", describe_plugins(e), "settings",
        describe_settings(e));
}

static osafl_status write_json(const struct run_folder *folder, const char *name, json_t *value,
                               struct error *error)
{
    char *printed = value == NULL ? NULL : json_print(value, JSON_INDENT(2));
    char *file = NULL;
    const int size = printed == NULL ? -1 : asprintf(&file, "%s\n", printed);
    osafl_status status;
    if (size < 0)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for %s", name);
    else
        status = run_folder_replace(folder, name, file, (size_t)size, error);
    if (size >= 0)
        free(file);
    free(printed);
    return status;
}

osafl_status manifest_write(const struct run_folder *folder, const struct experiment *e,
                            const struct surroundings *around, struct error *error)
{
    char *settings = NULL;
    size_t size = 0;
    json_t *manifest = describe_run(e, around);
    osafl_status status = write_json(folder, MANIFEST, manifest, error);
    json_decref(manifest);
    if (status == OSAFL_OK)
        status = resolved_settings(e, &settings, &size, error);
    if (status == OSAFL_OK) {
        status = run_folder_replace(folder, "resolved.cfg", settings, size, error);
        free(settings);
    }
    return status;
}

/* ---- comparison ---- */

/* Adds a difference to a list in error->text. */
static void differs(struct error *error, const char *what, const json_t *before, const json_t *now)
{
    const char *old = json_string_value(before);
    const char *new = json_string_value(now);
    if (strcmp(old == NULL ? "" : old, new == NULL ? "" : new) == 0)
        return;
    text_append(error->text, sizeof error->text, "%s%s was %s and is %s",
                error->text[0] == '\0' ? "" : "; ", what, old == NULL ? "(none)" : old,
                new == NULL ? "(none)" : new);
}

static const json_t *find_plugin(const json_t *list, const char *kind)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        const char *of = json_string_value(json_object_get(entry, "kind"));
        if (of != NULL && strcmp(of, kind) == 0)
            return entry;
    }
    return NULL;
}

/* Libraries of the same name: which ones there are depends on the plugin's file.  Two plugins may
 * share one, which is named once. */
static void compare_libraries(const json_t *before, json_t *now, struct error *error)
{
    const char *name;
    json_t *hash;
    json_object_foreach(now, name, hash)
    {
        char what[128];
        const json_t *old = json_object_get(before, name);
        snprintf(what, sizeof what, "the file of %s", name);
        if (old != NULL && strstr(error->text, what) == NULL)
            differs(error, what, old, hash);
    }
}

static void compare_plugins(const json_t *before, const json_t *now, struct error *error)
{
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        const json_t *old = find_plugin(before, kind_name(kind));
        const json_t *new = find_plugin(now, kind_name(kind));
        char what[128];
        const char *name = json_string_value(json_object_get(new, "name"));
        snprintf(what, sizeof what, "version of %s/%s", kind_name(kind), name == NULL ? "?" : name);
        differs(error, what, json_object_get(old, "version"), json_object_get(new, "version"));
        snprintf(what, sizeof what, "file of %s/%s", kind_name(kind), name == NULL ? "?" : name);
        differs(error, what, json_object_get(old, "file_xxh3"), json_object_get(new, "file_xxh3"));
        compare_libraries(json_object_get(old, "libraries_xxh3"),
                          json_object_get(new, "libraries_xxh3"), error);
    }
}

static void compare_inputs(const json_t *before, json_t *now, struct error *error)
{
    const char *name;
    json_t *hash;
    json_object_foreach(now, name, hash)
    {
        char what[200];
        snprintf(what, sizeof what, "the content of %s", name);
        differs(error, what, json_object_get(before, name), hash);
    }
}

/* message: what differs although the settings are the same; "" for nothing. */
static enum manifest_found compare_circumstances(const json_t *before, const json_t *now,
                                                 struct error *error)
{
    const json_t *old_machine = json_object_get(before, "machine");
    const json_t *new_machine = json_object_get(now, "machine");
    const json_t *old_program = json_object_get(before, "program");
    const json_t *new_program = json_object_get(now, "program");
    error->text[0] = '\0';
    compare_inputs(json_object_get(before, "inputs_xxh3"), json_object_get(now, "inputs_xxh3"),
                   error);
    const bool has_other_data = error->text[0] != '\0';
    differs(error, "the version of osafl", json_object_get(old_program, "version"),
            json_object_get(new_program, "version"));
    differs(error, "the file of osafl", json_object_get(old_program, "file_xxh3"),
            json_object_get(new_program, "file_xxh3"));
    differs(error, "the CPU's instruction set", json_object_get(old_machine, "cpu_features"),
            json_object_get(new_machine, "cpu_features"));
    differs(error, "the BLAS kernel", json_object_get(old_machine, "blas_kernel"),
            json_object_get(new_machine, "blas_kernel"));
    if (json_object_get(old_machine, "mathematics") != NULL) /* older versions did not record it */
        differs(error, "the mathematics of the C library",
                json_object_get(old_machine, "mathematics"),
                json_object_get(new_machine, "mathematics"));
    compare_plugins(json_object_get(before, "plugins"), json_object_get(now, "plugins"), error);
    if (has_other_data)
        return MANIFEST_OTHER_DATA;
    return error->text[0] == '\0' ? MANIFEST_SAME : MANIFEST_CHANGED;
}

/* Adds the settings that differ. */
static void compare_settings(const json_t *before, json_t *now, struct error *error)
{
    const char *key;
    json_t *setting;
    json_object_foreach(now, key, setting)
    {
        const json_t *old = json_object_get(json_object_get(before, key), "value");
        if (old == NULL)
            old = json_object_get(setting, "earlier");
        differs(error, key, old, json_object_get(setting, "value"));
    }
}

/* The number of rounds; 0: none is recorded. */
static uint32_t rounds_of(const json_t *manifest)
{
    const json_t *setting = json_object_get(json_object_get(manifest, "settings"), "rounds");
    const char *text = json_string_value(json_object_get(setting, "value"));
    uint64_t rounds = 0;
    return text != NULL && text_whole(text, 1, UINT32_MAX, &rounds) ? (uint32_t)rounds : 0;
}

/* Whether the values of all settings but the number of rounds are the same. */
static bool same_but_rounds(const json_t *before, json_t *now)
{
    const json_t *settings = json_object_get(before, "settings");
    bool same = json_object_size(settings) == json_object_size(now);
    const char *key;
    json_t *setting;
    json_object_foreach(now, key, setting)
    {
        const json_t *old = json_object_get(json_object_get(settings, key), "value");
        same = same &&
               (strcmp(key, "rounds") == 0 || json_equal(old, json_object_get(setting, "value")));
    }
    return same;
}

static void describe_other(const struct run_folder *folder, const json_t *before, const json_t *now,
                           struct error *error)
{
    struct error differences = {0};
    compare_settings(json_object_get(before, "settings"), json_object_get(now, "settings"),
                     &differences);
    const bool shorter = rounds_of(before) < rounds_of(now) &&
                         same_but_rounds(before, json_object_get(now, "settings"));
    error_set(error, OSAFL_E_CONFIG,
              "%s holds the results of another run (identity %.8s, this one %.8s%s%.600s); "
              "choose another folder with --out or --results%s, or overwrite it with --force",
              folder->path, json_string_value(json_object_get(before, "identity")),
              json_string_value(json_object_get(now, "identity")),
              differences.text[0] != '\0' ? ": " : "", differences.text,
              shorter ? " (a folder next to it, with --rounds, to go on from its end)" : "");
}

/* The manifest in the folder; *out stays NULL where there is none. */
static osafl_status read_manifest(const char *folder, json_t **out, struct error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/" MANIFEST, folder) < 0)
        return error_set(error, OSAFL_E_NOMEM, "out of memory for " MANIFEST);
    osafl_status status = OSAFL_OK;
    FILE *file = file_open_regular(path);
    json_error_t problem;
    if (file == NULL && errno == EINVAL) {
        status = error_set(error, OSAFL_E_DATA,
                           "%s is not a regular file; choose another folder with --out or "
                           "--results, or remove it",
                           path);
    } else if (file == NULL && errno != ENOENT) {
        status = error_io(error, errno, "read", path);
    } else if (file != NULL) {
        errno = 0;
        *out = json_loadf(file, JSON_REJECT_DUPLICATES, &problem);
        /* Without memory the parser takes what it has for what there is. */
        if (ferror(file) || errno == ENOMEM)
            status = error_io(error, errno, "read", path);
        else if (*out == NULL)
            status = error_set(
                error, OSAFL_E_DATA,
                "%s is damaged: line %d: %s; choose another folder with --out or --results, or "
                "overwrite this one with --force",
                path, problem.line, problem.text);
        else if (json_integer_value(json_object_get(*out, "manifest")) != FORMAT ||
                 !json_is_string(json_object_get(*out, "identity")))
            status =
                error_set(error, OSAFL_E_DATA,
                          "%s is not a manifest of this version of osafl; choose another folder "
                          "with --out or --results, or overwrite this one with --force",
                          path);
        fclose(file);
    }
    free(path);
    return status;
}

osafl_status manifest_compare(const struct run_folder *folder, const struct experiment *e,
                              const struct surroundings *around, enum manifest_found *found,
                              struct error *error)
{
    json_t *before = NULL;
    json_t *now = NULL;
    osafl_status status = read_manifest(folder->path, &before, error);
    if (status == OSAFL_OK && before != NULL && (now = describe_run(e, around)) == NULL)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for " MANIFEST);
    if (status == OSAFL_E_DATA) {
        *found = MANIFEST_DAMAGED;
        status = OSAFL_OK;
    } else if (status == OSAFL_OK && before == NULL) {
        *found = MANIFEST_NONE;
    } else if (status == OSAFL_OK &&
               !json_equal(json_object_get(before, "identity"), json_object_get(now, "identity"))) {
        *found = MANIFEST_OTHER;
        describe_other(folder, before, now, error);
    } else if (status == OSAFL_OK) {
        *found = compare_circumstances(before, now, error);
    }
    json_decref(before);
    json_decref(now);
    return status;
}

osafl_status manifest_compare_kept(const char *folder, const struct experiment *e,
                                   const struct surroundings *around, enum manifest_found *found,
                                   struct error *error)
{
    json_t *before = NULL;
    json_t *now = NULL;
    osafl_status status = read_manifest(folder, &before, error);
    *found = MANIFEST_NONE;
    if (status == OSAFL_OK && before != NULL && (now = describe_run(e, around)) == NULL)
        status = error_set(error, OSAFL_E_NOMEM, "out of memory for " MANIFEST);
    else if (status == OSAFL_OK && before != NULL)
        *found = compare_circumstances(before, now, error);
    json_decref(before);
    json_decref(now);
    return status;
}

bool manifest_is_shorter(const char *folder, const struct experiment *e,
                         const struct surroundings *around, char identity[33], uint32_t *rounds)
{
    struct error error;
    json_t *before = NULL;
    json_t *now = NULL;
    bool shorter = read_manifest(folder, &before, &error) == OSAFL_OK && before != NULL &&
                   (now = describe_run(e, around)) != NULL;
    if (shorter) {
        *rounds = rounds_of(before);
        snprintf(identity, 33, "%s", json_string_value(json_object_get(before, "identity")));
        shorter = *rounds > 0 && *rounds < rounds_of(now) &&
                  same_but_rounds(before, json_object_get(now, "settings")) &&
                  compare_circumstances(before, now, &error) == MANIFEST_SAME;
    }
    json_decref(before);
    json_decref(now);
    return shorter;
}

/* ---- environment.json ---- */

static json_t *describe_files(const struct experiment *e)
{
    json_t *files = json_object();
    bool complete = files != NULL;
    for (uint32_t kind = 1; kind <= LOADER_KINDS && complete; kind++) {
        const struct loaded_plugin *loaded = e->chosen[kind].loaded;
        if (loaded != NULL)
            complete = json_object_set_new(files, kind_name(kind), json_text(loaded->path)) == 0;
    }
    return whole_or_nothing(files, complete);
}

/* {"rounds.csv": {"bytes": 1234, "xxh3": "..."}, ...}; null where nothing is recorded. */
static json_t *describe_tables(const struct table_state *state)
{
    if (state == NULL)
        return json_null();
    json_t *tables = json_object();
    bool complete = tables != NULL;
    for (int i = 0; i < RESULT_TABLES && complete; i++)
        complete =
            json_object_set_new(tables, result_table_name[i],
                                json_pack("{s:I, s:o}", "bytes", (json_int_t)state[i].bytes, "xxh3",
                                          json_sprintf("%016" PRIx64, state[i].hash))) == 0;
    return whole_or_nothing(tables, complete);
}

/* environment.json as it is; NULL: there is none that can be read. */
static json_t *read_environment(const struct run_folder *folder)
{
    char *path = NULL;
    size_t size = 0;
    int error = 0;
    if (asprintf(&path, "%s/" ENVIRONMENT, folder->path) < 0)
        return NULL;
    char *text = file_read(path, 1 << 20, &size, &error);
    json_t *value = text == NULL ? NULL : json_loadb(text, size, 0, NULL);
    free(text);
    free(path);
    return value;
}

/* What this process took, and what earlier ones of the run took, by their last record of it. */
static json_t *describe_compute(const struct run_folder *folder, const struct run_environment *env)
{
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    const double cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    json_t *before = read_environment(folder);
    const char *started = json_string_value(json_object_get(before, "started"));
    const bool mine = started != NULL && env->started != NULL && strcmp(started, env->started) == 0;
    double earlier[3];
    for (int i = 0; i < 3; i++) {
        static const char *const key[3][2] = {{"cpu_s", "earlier_cpu_s"},
                                              {"seconds", "earlier_seconds"},
                                              {"energy_j", "earlier_energy_j"}};
        earlier[i] = json_number_value(json_object_get(before, key[i][1]));
        if (!mine)
            earlier[i] += json_number_value(json_object_get(before, key[i][0]));
    }
    json_decref(before);
    return json_pack("{s:f, s:I, s:i, s:f, s:f, s:o, s:f}", "cpu_s", cpu_s, //
                     "peak_bytes", (json_int_t)used.ru_maxrss * 1024, "cores",
                     (int)sysconf(_SC_NPROCESSORS_ONLN), "earlier_cpu_s", earlier[0],
                     "earlier_seconds", earlier[1], "energy_j",
                     isnan(env->energy_j) ? json_null() : json_real(env->energy_j),
                     "earlier_energy_j", earlier[2]);
}

/* {"ranks": 4, "exchange_s": 1.5, "exchange_bytes": 1000} of rank 0; empty without ranks. */
static json_t *describe_ranks(const struct run_environment *env)
{
    if (env->ranks == NULL)
        return json_object();
    const struct ranks_cost cost = ranks_cost(env->ranks);
    return json_pack("{s:i, s:f, s:I}", "ranks", (int)ranks_count(env->ranks), "exchange_s",
                     cost.seconds, "exchange_bytes", (json_int_t)cost.bytes);
}

osafl_status environment_write(const struct run_folder *folder, const struct experiment *e,
                               const struct run_environment *env, struct error *error)
{
    struct utsname system = {0};
    char cpu[256];
    char *here = getcwd(NULL, 0);
    char *program = realpath("/proc/self/exe", NULL);
    uname(&system);
    cpu_model(cpu, sizeof cpu);
    json_t *described = json_pack(
        "{s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:i, s:o}",           //
        "host", json_text(system.nodename),                                                 //
        "system", json_sprintf("%s %s %s", system.sysname, system.release, system.machine), //
        "cpu", json_text(cpu),                                                              //
        "threads", (int)env->threads,                                                       //
        "working_folder", json_text(here),                                                  //
        "experiment_file", json_text(env->experiment_file),                                 //
        "program_file", json_text(program),                                                 //
        "plugin_files", describe_files(e),                                                  //
        "started", json_text(env->started),                                                 //
        "ended", json_text(env->ended),                                                     //
        "failure", json_text(env->failure),                                                 //
        "seconds", env->seconds,                                                            //
        "resumed_at_round", (int)env->resumed_at, "tables", describe_tables(env->tables));
    json_t *compute = describe_compute(folder, env);
    json_t *ranks = describe_ranks(env);
    json_t *value = whole_or_nothing(described, compute != NULL && ranks != NULL &&
                                                    json_object_update(described, compute) == 0 &&
                                                    json_object_update(described, ranks) == 0);
    json_decref(compute);
    json_decref(ranks);
    const osafl_status status = write_json(folder, ENVIRONMENT, value, error);
    json_decref(value);
    free(program);
    free(here);
    return status;
}

static bool read_table(const json_t *tables, int i, struct table_state *out)
{
    const json_t *entry = json_object_get(tables, result_table_name[i]);
    const json_int_t bytes = json_integer_value(json_object_get(entry, "bytes"));
    const char *hash = json_string_value(json_object_get(entry, "xxh3"));
    char end;
    if (bytes <= 0 || hash == NULL || sscanf(hash, "%16" SCNx64 "%c", &out->hash, &end) != 1)
        return false;
    out->bytes = (uint64_t)bytes;
    out->has_hash = true;
    return true;
}

osafl_status environment_read_end(const struct run_folder *folder, struct run_end *out,
                                  struct error *error)
{
    *out = (struct run_end){0};
    json_error_t problem;
    errno = 0;
    FILE *file = file_open_in(folder->path, ENVIRONMENT);
    json_t *found = file != NULL ? json_loadf(file, 0, &problem) : NULL;
    const bool no_memory = errno == ENOMEM;
    if (file != NULL)
        fclose(file);
    out->ended = json_is_string(json_object_get(found, "ended")) &&
                 !json_is_string(json_object_get(found, "failure"));
    out->has_tables = out->ended;
    for (int i = 0; i < RESULT_TABLES && out->has_tables; i++)
        out->has_tables = read_table(json_object_get(found, "tables"), i, &out->tables[i]);
    json_decref(found);
    return no_memory ? error_set(error, OSAFL_E_NOMEM, "out of memory for " ENVIRONMENT) : OSAFL_OK;
}
