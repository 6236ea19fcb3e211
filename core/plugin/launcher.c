/* launcher.c - what a launcher says of this process. */
#include "launcher.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* The number in a variable of the environment; 0: there is none. */
static uint32_t number_of(const char *variable)
{
    const char *text = getenv(variable);
    uint64_t n = 0;
    return text != NULL && text_whole(text, 1, INT32_MAX, &n) ? (uint32_t)n : 0;
}

struct launch launch_read(void)
{
    /* The launcher's own word comes first: mpirun within a job of Slurm says how many it started.
     */
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                            "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const uint32_t n = number_of(variables[i]);
        if (n > 0)
            return (struct launch){.processes = n, .variable = variables[i]};
    }
    /* Of the whole job, which a script of it has too: only in a step is it about this process. */
    const uint32_t tasks = number_of("SLURM_NTASKS");
    if (tasks > 0 && (getenv("SLURM_STEP_ID") != NULL || number_of("SLURM_PROCID") > 0))
        return (struct launch){.processes = tasks, .variable = "SLURM_NTASKS"};
    return (struct launch){.processes = 1};
}

/* The processors that the control groups of this process, version 2, pay for; 0: there is no
 * limit. */
static unsigned group_limit(void)
{
    char line[4096] = "";
    double least = 0.0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strncmp(line, "0::/", 4) == 0;
    if (file != NULL)
        fclose(file);
    if (!found)
        return 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *end = line + strlen(line); end != NULL; end = strrchr(line + 3, '/')) {
        char path[4200];
        double quota = 0.0;
        double period = 0.0;
        *end = '\0';
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", line + 3);
        file = fopen(path, "re");
        if (file == NULL)
            continue;
        if (fscanf(file, "%lf %lf", &quota, &period) == 2 && quota > 0.0 && period > 0.0 &&
            (least == 0.0 || quota / period < least))
            least = quota / period;
        fclose(file);
    }
    return least == 0.0 ? 0 : least < 1.0 ? 1 : (unsigned)least;
}

/* Where the scheduler binds nobody, processes of a job share the processors of a computer. */
static unsigned share(unsigned processors)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    uint32_t processes = 0;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && processes == 0; i++)
        processes = number_of(variables[i]);
    const bool is_bound = processors < (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    return processes == 0 || is_bound ? processors : processors / processes;
}

unsigned launch_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    unsigned n = share((unsigned)CPU_COUNT(&set));
    const unsigned limits[] = {group_limit(), number_of("SLURM_CPUS_PER_TASK"),
                               number_of("OMP_NUM_THREADS")};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (limits[i] > 0 && limits[i] < n)
            n = limits[i];
    return n > 0 ? n : 1;
}
