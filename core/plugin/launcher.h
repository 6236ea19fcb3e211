/* launcher.h - what a launcher of parallel programs says of this process, and how many processors
 * a job has. */
#ifndef OSAFL_CORE_LAUNCHER_H
#define OSAFL_CORE_LAUNCHER_H

#include <stdint.h>

struct launch {
    uint32_t processes;   /* that were started together; 1: this one alone */
    const char *variable; /* of the environment, that says so; NULL: none */
};

/* mpirun and mpiexec of Open MPI and MPICH, and srun. */
struct launch launch_read(void);

/* Processors for this process: what the scheduler, a control group, SLURM_CPUS_PER_TASK and
 * OMP_NUM_THREADS leave it, and its share where several processes of a job may use all
 * processors of a computer.  At least 1. */
unsigned launch_processors(void);

#endif
