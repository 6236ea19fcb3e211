/* cli.c - command line of the osafl program. */
#include "cli.h"

#include <stdio.h>

int cli_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fputs("osafl: this build has no commands\n", stderr);
    return EXIT_USAGE;
}
