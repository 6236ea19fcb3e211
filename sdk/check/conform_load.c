/* conform_load.c - loads the plugin that is checked, as the program does, but from any folder. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "conform.h"
#include "plugin/plugin_adapt.h"
#include "plugin/plugin_file.h"
#include "plugin/plugin_verify.h"

bool conform_name_of(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash != NULL ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot == NULL || strcmp(dot, ".so") != 0)
        return false;
    *dot = '\0';
    return plugin_name_is_valid(name);
}

const osafl_plugin *conform_try_load(const char *path, struct error *error)
{
    char hash[PLUGIN_HASH_BYTES];
    char name[NAME_MAX + 1];
    if (!conform_name_of(path, name, sizeof name)) {
        error_set(error, OSAFL_E_UNSUPPORTED,
                  "is not called NAME.so with a NAME of [a-z][a-z0-9_]{0,47}");
        return NULL;
    }
    if (plugin_file_check(path, hash, error) != OSAFL_OK)
        return NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *reason = dlerror();
        error_set(error, OSAFL_E_UNSUPPORTED, "cannot be mapped: %s",
                  reason != NULL ? reason : "unknown");
        return NULL;
    }
    const osafl_plugin *(*entry)(void) = NULL;
    void *address = dlsym(handle, OSAFL_ENTRY_SYMBOL);
    if (address == NULL) {
        error_set(error, OSAFL_E_UNSUPPORTED, "exports no " OSAFL_ENTRY_SYMBOL);
        return NULL;
    }
    memcpy(&entry, &address, sizeof entry); /* the way from dlsym() that ISO C allows */
    const osafl_plugin *p = entry();
    /* The folder of an installed plugin must be that of its kind; a file in hand lies anywhere. */
    if (plugin_verify(p, p != NULL ? p->kind : 0, name, error) != OSAFL_OK)
        return NULL;
    return p;
}

void conform_load(struct conform *c)
{
    static struct adapted_plugin adapted; /* one plugin is checked in a process */
    struct error error;
    c->described = conform_try_load(c->path, &error);
    if (c->described == NULL)
        conform_fail(c, "%s", error.text);
    c->plugin = plugin_adapt(c->described, &adapted);
}
