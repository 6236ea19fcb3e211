/* pack_command.h - "osafl pack DIR... --out ARCHIVE": runs with what others need to verify them. */
#ifndef OSAFL_CORE_PACK_COMMAND_H
#define OSAFL_CORE_PACK_COMMAND_H

#include <stddef.h>

struct pack_options {
    const char *const *folder; /* [folders]: runs, or what holds them */
    size_t folders;
    const char *const *only; /* as those of osafl report; [n_only] */
    size_t n_only;
    const char *const *source; /* folders in which plugins' sources lie; [sources] */
    size_t sources;
    const char *archive; /* NAME.tar.xz or NAME.tar.gz */
};

/* The archive holds one folder NAME with
 *
 *     README.txt          what it is, and how to verify it
 *     plugins.json        plugins of the runs with version and hash, and the source that was found
 *     results/            the runs, as they lay below the folders, without checkpoints
 *     experiments/        their experiment files, where they still are
 *     sources/KIND/NAME.c
 *
 * tar(1) writes it: equal files give equal bytes.  Returns an exit status. */
int pack_command(const struct pack_options *o);

#endif
