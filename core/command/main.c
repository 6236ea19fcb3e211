/* main.c - the osafl program. */
#include "base/exit_status.h"
#include "cli.h"

#include <fcntl.h>
#include <stdlib.h>

/* A standard stream that the caller closed would give its number to the first file that is opened,
 * and what is said to the user would end in the results.  The mode is the one that makes its use
 * fail, as it would without a stream. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            exit(EXIT_RUN_FAILED);
    }
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    return cli_main(argc, argv);
}
