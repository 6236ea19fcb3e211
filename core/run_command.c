/* run_command.c - the commands of the program that need the engine. */
#include "run_command.h"

#include <stdio.h>

#include "cli.h"

int run_command(struct experiment *e, struct loader *l, const struct run_options *o)
{
    (void)e;
    (void)l;
    (void)o;
    fputs("osafl: this build has no engine\n", stderr);
    return EXIT_RUN_FAILED;
}

int check_command(struct experiment *e, struct loader *l)
{
    (void)e;
    (void)l;
    fputs("osafl: this build has no engine\n", stderr);
    return EXIT_RUN_FAILED;
}
