/* plugin_file.h - what can be said about a plugin's file, and the program's own, before any of a
 * plugin's code runs.
 *
 * Mapping a shared object runs its constructors, so whether to trust a file is settled first. */
#ifndef OSAFL_CORE_PLUGIN_FILE_H
#define OSAFL_CORE_PLUGIN_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define PLUGIN_HASH_BYTES 33

/* [a-z][a-z0-9_]{0,47}: no name can lead out of a plugin folder. */
bool plugin_name_is_valid(const char *name);

/* True when nobody but root, the user and the owner of this program can have put something there:
 * path is of one of them and not writable by everyone.  Else why says what is wrong and the
 * remedy.  *group_writable: true when a group of several people may write it. */
bool plugin_path_is_trusted(const char *path, bool *group_writable, char *why, size_t size);

/* True when path is a whole ELF shared object for this machine.  hash becomes the XXH3-128 of its
 * bytes in hexadecimal.  Else why says what is wrong. */
bool plugin_file_is_loadable(const char *path, char hash[PLUGIN_HASH_BYTES], char *why,
                             size_t size);

/* The same hash of the file that this process was started from.  False with the reason in why. */
bool program_file_hash(char hash[PLUGIN_HASH_BYTES], char *why, size_t size);

#endif
