/* replay.c - stands in for libFuzzer: gives the files that are named, or those in the folders that
 * are named, to the target it is linked with. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned long inputs;

static void fail(const char *path)
{
    fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
    exit(EXIT_FAILURE);
}

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        fail(path);
    const long size = ftell(f);
    rewind(f);
    /* Exactly as long as the input, so that a sanitizer sees a step beyond it. */
    uint8_t *data = size >= 0 ? malloc(size > 0 ? (size_t)size : 1) : NULL;
    if (data == NULL || fread(data, 1, (size_t)size, f) != (size_t)size)
        fail(path);
    fclose(f);
    fprintf(stderr, "%s\n", path); /* the last line before a crash */
    (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    inputs++;
}

static void replay(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        fail(path);
    if (!S_ISDIR(info.st_mode)) {
        replay_file(path);
        return;
    }
    struct dirent **entries = NULL;
    const int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0)
        fail(path);
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            replay(name);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    (void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    if (inputs == 0) {
        fprintf(stderr, "usage: %s FILE-OR-FOLDER... that hold at least one input\n", argv[0]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
