/* plugin_file.h - what can be said about a plugin's file, and the program's own, before any of a
 * plugin's code runs.
 *
 * Mapping a shared object runs its constructors, so a file is checked before it is mapped. */
#ifndef OSAFL_CORE_PLUGIN_FILE_H
#define OSAFL_CORE_PLUGIN_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define PLUGIN_HASH_BYTES 33

/* [a-z][a-z0-9_]{0,47}: no name can lead out of a plugin folder. */
bool plugin_name_is_valid(const char *name);

/* OSAFL_OK when nobody but root, the user and the owner of this program can have put something
 * there: path is of one of them and not writable by everyone.  Else OSAFL_E_IO, and the message
 * says what is wrong and the remedy.  *group_writable: whether a group of several people, or
 * somebody in an access list, may write it. */
osafl_status plugin_path_check(const char *path, bool *group_writable, struct error *error);

/* OSAFL_OK when path is a whole ELF shared object for this machine.  hash becomes the XXH3-128 of
 * its bytes in hexadecimal.  Else OSAFL_E_IO or OSAFL_E_DATA. */
osafl_status plugin_file_check(const char *path, char hash[PLUGIN_HASH_BYTES], struct error *error);

/* The same hash of any file. */
osafl_status file_hash(const char *path, char hash[PLUGIN_HASH_BYTES], struct error *error);

/* The same hash of the file that this process was started from. */
osafl_status program_file_hash(char hash[PLUGIN_HASH_BYTES], struct error *error);

#endif
