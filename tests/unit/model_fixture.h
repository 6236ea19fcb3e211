/* model_fixture.h - loads a model plugin and plays the host for it. */
#ifndef OSAFL_TEST_MODEL_FIXTURE_H
#define OSAFL_TEST_MODEL_FIXTURE_H

#include <assert.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "osafl/model.h"

struct osafl_call {
    char message[512];
    void *scratch[8];
    int n_scratch;
};

static inline osafl_status fixture_fail(osafl_call *c, osafl_status code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(c->message, sizeof c->message, fmt, args);
    va_end(args);
    return code;
}

static inline void fixture_log(osafl_call *c, int32_t level, const char *fmt, ...)
{
    (void)c, (void)level, (void)fmt;
}

static inline void *fixture_scratch(osafl_call *c, uint64_t bytes)
{
    assert(c->n_scratch < 8);
    return c->scratch[c->n_scratch++] = calloc(1, bytes);
}

/* splitmix64 of all arguments: enough randomness for tests. */
static inline void fixture_random(osafl_call *c, uint32_t purpose, uint32_t client, uint32_t round,
                                  uint64_t index, uint32_t *out, uint64_t n)
{
    (void)c;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t z = index + i + ((uint64_t)purpose << 56) + ((uint64_t)client << 20) + round;
        z = (z + 1) * UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
        out[i] = (uint32_t)((z ^ (z >> 31)) >> 32);
    }
}

static inline bool fixture_cancelled(osafl_call *c)
{
    (void)c;
    return false;
}

static const osafl_host fixture_host = {
    .struct_size = sizeof(osafl_host),
    .abi_major = OSAFL_ABI_MAJOR,
    .abi_minor = OSAFL_ABI_MINOR,
    .name = "test",
    .fail = fixture_fail,
    .log = fixture_log,
    .scratch = fixture_scratch,
    .random_fill = fixture_random,
    .cancelled = fixture_cancelled,
};

/* A model instance with everything around it. */
struct model_fixture {
    const osafl_plugin *plugin;
    const osafl_model_vt *vt;
    osafl_dataset_info data;
    osafl_facts facts;
    osafl_call call;
    void *config;
    void *self;
    osafl_model_info info;
};

/* Fills a config struct with the defaults of the plugin's table. */
static inline void *fixture_config(const osafl_plugin *p)
{
    unsigned char *config = calloc(1, p->config_size > 0 ? p->config_size : 1);
    for (uint32_t i = 0; i < p->n_params; i++) {
        const osafl_param *q = OSAFL_AT(osafl_param, p->params, p->param_size, i);
        void *at = config + q->offset;
        if (q->type == OSAFL_T_REAL)
            *(double *)at = q->def.r;
        else if (q->type == OSAFL_T_INT)
            *(int64_t *)at = q->def.i;
        else if (q->type == OSAFL_T_BOOL)
            *(bool *)at = q->def.i != 0;
        else if (q->type == OSAFL_T_CHOICE)
            *(osafl_choice *)at = (osafl_choice){(int32_t)q->def.i};
    }
    return config;
}

/* The member of a config struct that a setting fills. */
static inline void *fixture_setting(struct model_fixture *f, const char *name)
{
    for (uint32_t i = 0; i < f->plugin->n_params; i++) {
        const osafl_param *q = OSAFL_AT(osafl_param, f->plugin->params, f->plugin->param_size, i);
        if (strcmp(q->name, name) == 0)
            return (unsigned char *)f->config + q->offset;
    }
    fprintf(stderr, "%s has no setting %s\n", f->plugin->name, name);
    abort();
}

/* Loads plugins/model/NAME.so; false when it was not built. */
static inline bool fixture_load(struct model_fixture *f, const char *name)
{
    char path[1024];
    *f = (struct model_fixture){0};
    snprintf(path, sizeof path, "%s/model/%s.so", OSAFL_TEST_PLUGIN_DIR, name);
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (file == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    const osafl_plugin *(*entry)(void);
    *(void **)&entry = dlsym(file, OSAFL_ENTRY_SYMBOL);
    f->plugin = entry();
    f->vt = (const osafl_model_vt *)(const void *)f->plugin->vtable;
    f->config = fixture_config(f->plugin);
    return true;
}

static inline osafl_status fixture_create(struct model_fixture *f, uint32_t channels,
                                          uint32_t height, uint32_t width, uint32_t classes)
{
    f->data = (osafl_dataset_info){.struct_size = sizeof f->data,
                                   .channels = channels,
                                   .height = height,
                                   .width = width,
                                   .target_type = OSAFL_TARGET_CLASS,
                                   .target_size = classes,
                                   .labels = classes};
    f->facts = (osafl_facts){.struct_size = sizeof f->facts, .batch = 16, .dataset = &f->data};
    f->self = NULL;
    const osafl_status status =
        f->vt->life.create(&fixture_host, &f->call, &f->facts, f->config, &f->self);
    if (status == OSAFL_OK)
        f->vt->describe(f->self, &f->call, &f->info);
    return status;
}

static inline void fixture_destroy(struct model_fixture *f)
{
    if (f->self != NULL)
        f->vt->life.destroy(f->self);
    for (int i = 0; i < f->call.n_scratch; i++)
        free(f->call.scratch[i]);
    free(f->config);
    *f = (struct model_fixture){0};
}

/* Zeroed, 4096-byte aligned. */
static inline void *fixture_memory(uint64_t bytes)
{
    void *p = aligned_alloc(4096, (bytes + 4096 + 4095) / 4096 * 4096);
    assert(p != NULL);
    return memset(p, 0, bytes);
}

#endif
