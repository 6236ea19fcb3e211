/* plugin_template.h - the files of sdk/template, carried by the program. */
#ifndef OSAFL_CORE_PLUGIN_TEMPLATE_H
#define OSAFL_CORE_PLUGIN_TEMPLATE_H

#include <stddef.h>

struct plugin_template {
    const char *name; /* "aggregator.c", "README.md", ... */
    const unsigned char *text;
    size_t size;
};

extern const struct plugin_template plugin_templates[];
extern const size_t plugin_n_templates;

#endif
