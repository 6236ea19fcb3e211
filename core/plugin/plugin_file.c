/* plugin_file.c - what can be said about a plugin's file, and the program's own, before any of a
 * plugin's code runs. */
#include "plugin_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file_read.h"

#define NAME_MAX_BYTES 48
#define HASH_BLOCK 65536

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define MACHINE_NAME "x86-64"
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define MACHINE_NAME "AArch64"
#endif

bool plugin_name_is_valid(const char *name)
{
    if (name[0] < 'a' || name[0] > 'z')
        return false;
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return name[length] == '\0' && length <= NAME_MAX_BYTES;
}

/* Whether an owner could change this program, or everything on the machine, anyhow. */
static bool owner_is_trusted(uid_t owner)
{
    if (owner == 0 || owner == geteuid())
        return true;
    struct stat program;
    return stat("/proc/self/exe", &program) == 0 && program.st_uid == owner;
}

osafl_status plugin_path_check(const char *path, bool *group_writable, struct error *error)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return error_set(error, OSAFL_E_IO, "cannot be examined: %s", strerror(errno));
    if (!owner_is_trusted(s.st_uid))
        return error_set(error, OSAFL_E_IO,
                         "%s belongs to user %u, who is neither root nor you nor the owner of "
                         "the program; use a copy of your own",
                         path, (unsigned)s.st_uid);
    if ((s.st_mode & S_IWOTH) != 0)
        return error_set(error, OSAFL_E_IO,
                         "%s is writable by everyone; make it safe with: chmod o-w '%s'", path,
                         path);
    /* A group of the same number as its owner holds nobody else, by the custom of Linux systems
     * that give every user such a group; but with an access list the bits are those of its mask. */
    *group_writable =
        (s.st_mode & S_IWGRP) != 0 &&
        (s.st_gid != s.st_uid || getxattr(path, "system.posix_acl_access", NULL, 0) > 0);
    return OSAFL_OK;
}

/* A truncated file maps without an error and kills the process on first touch, so that the
 * extents which the headers promise are compared with the file's length. */
static const char *elf_problem(const unsigned char *data, size_t length)
{
    ElfW(Ehdr) head;
    if (length < sizeof head || memcmp(data, ELFMAG, SELFMAG) != 0)
        return "is not a shared object (no ELF header)";
    memcpy(&head, data, sizeof head);
    const unsigned char native = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (head.e_ident[EI_CLASS] != native)
        return "is a shared object for another word size than this program's";
#ifdef MACHINE
    if (head.e_machine != MACHINE)
        return "is a shared object for another processor; this program runs on " MACHINE_NAME;
#endif
    if (head.e_type != ET_DYN)
        return "is an ELF file, but no shared object; link it with -shared";
    if (head.e_phentsize != sizeof(ElfW(Phdr)) || head.e_phoff > length ||
        head.e_phnum > (length - head.e_phoff) / sizeof(ElfW(Phdr)))
        return "is truncated or damaged (its program headers lie outside the file)";
    for (unsigned i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, data + head.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type != PT_LOAD)
            continue;
        if (segment.p_offset > length || segment.p_filesz > length - segment.p_offset)
            return "is truncated or damaged (a segment lies outside the file)";
    }
    return NULL;
}

/* The status after reading a file; problem: an errno value, 0 for none. */
static osafl_status reading_status(int problem, bool empty, struct error *error)
{
    if (problem == EINVAL)
        return error_set(error, OSAFL_E_IO, "is not a regular file");
    if (problem != 0)
        return error_set(error, problem == ENOMEM ? OSAFL_E_NOMEM : OSAFL_E_IO,
                         "cannot be read: %s", file_read_problem(problem));
    return empty ? error_set(error, OSAFL_E_IO, "is empty") : OSAFL_OK;
}

static void write_hash(XXH128_hash_t sum, char hash[PLUGIN_HASH_BYTES])
{
    snprintf(hash, PLUGIN_HASH_BYTES, "%016llx%016llx", (unsigned long long)sum.high64,
             (unsigned long long)sum.low64);
}

osafl_status plugin_file_check(const char *path, char hash[PLUGIN_HASH_BYTES], struct error *error)
{
    size_t length = 0;
    int reading = 0;
    void *data = file_read(path, SIZE_MAX - 1, &length, &reading);
    osafl_status status = reading_status(reading, length == 0, error);
    const char *problem = status == OSAFL_OK ? elf_problem(data, length) : NULL;
    if (problem != NULL)
        status = error_set(error, OSAFL_E_DATA, "%s", problem);
    if (status == OSAFL_OK)
        write_hash(XXH3_128bits(data, length), hash);
    free(data);
    return status;
}

/* Block by block: a library may be as large as all that a run holds.  An errno value, 0: none. */
static int hash_blocks(int fd, XXH3_state_t *state, bool *empty)
{
    char block[HASH_BLOCK];
    struct stat s;
    ssize_t got = 0;
    *empty = true;
    if (fd < 0 || fstat(fd, &s) != 0)
        return errno;
    if (!S_ISREG(s.st_mode))
        return EINVAL;
    XXH3_128bits_reset(state);
    while ((got = read(fd, block, sizeof block)) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0)
            continue;
        XXH3_128bits_update(state, block, (size_t)got);
        *empty = false;
    }
    return got == 0 ? 0 : errno;
}

osafl_status file_hash(const char *path, char hash[PLUGIN_HASH_BYTES], struct error *error)
{
    XXH3_state_t state;
    bool empty = true;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int problem = hash_blocks(fd, &state, &empty);
    if (fd >= 0)
        close(fd);
    OSAFL_TRY(reading_status(problem, empty, error));
    write_hash(XXH3_128bits_digest(&state), hash);
    return OSAFL_OK;
}

osafl_status program_file_hash(char hash[PLUGIN_HASH_BYTES], struct error *error)
{
    /* The very file that runs, even when another one has been put in its place meanwhile. */
    return file_hash("/proc/self/exe", hash, error);
}
