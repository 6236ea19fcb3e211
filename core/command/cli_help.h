/* cli_help.h - the commands that list what there is: plugins, their settings, groups. */
#ifndef OSAFL_CORE_CLI_HELP_H
#define OSAFL_CORE_CLI_HELP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct loader;
struct diagnostics;

/* One line for each plugin of a kind (0: of all kinds).  A file that cannot be loaded is named in
 * d and left out. */
void help_list_plugins(struct loader *l, uint32_t kind, FILE *to, struct diagnostics *d);

/* Everything that a plugin says about itself.  False when it cannot be loaded; d knows why. */
bool help_plugin(struct loader *l, uint32_t kind, const char *name, FILE *to,
                 struct diagnostics *d);

/* The settings of a group of the core ("" for the top level); false when there is none of that
 * name. */
bool help_group(const char *name, FILE *to);

/* Groups and kinds that an experiment file has. */
void help_overview(FILE *to);

/* One topic: "", a group, a setting of the core, KIND, KIND/NAME, KIND.NAME, "grid" or "results".
 * False with an error in d when there is no such thing. */
bool help_topic(struct loader *l, const char *topic, FILE *to, struct diagnostics *d);

#endif
