#!/bin/bash
#SBATCH --job-name=osafl
#SBATCH --array=1-18
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=04:00:00
#SBATCH --signal=TERM@120
# slurm-array.sh FILE [ARGUMENT...] - a grid on a cluster: every task of the array runs its share.
#
#     cd osafl && sbatch experiments/slurm-array.sh experiments/paper/table-mnist-s2-c0.3.cfg
#
# The shares need no coordinator: each is settled by the task's number and SHARES, the number of
# shares, which is that of the line above unless it is given.  All write below results/ of the folder
# where sbatch was called.  Two minutes before its time is up a task saves what it has.  Submit the
# same line again to go on: complete cells are left alone.  To submit some tasks of an array again,
# name them and say how many shares there are:
#
#     SHARES=18 sbatch --array=3,5 experiments/slurm-array.sh FILE
set -eu
cd "${SLURM_SUBMIT_DIR:-.}"
shares=${SHARES:-18}
task=$SLURM_ARRAY_TASK_ID
# An array such as 0-17 begins at 0: its task 0 runs the last share.
[ "$task" -gt 0 ] || task=$shares
if [ "$task" -gt "$shares" ]; then
    echo "$0: task $task of $shares shares; set SHARES to the greatest number of the array" >&2
    exit 2
fi
if [ -z "${SHARES:-}" ] && [ "${SLURM_ARRAY_TASK_MAX:-$task}" -gt "$shares" ]; then
    echo "$0: set SHARES to the number of tasks in the whole array" >&2
    exit 2
fi
exec srun "${OSAFL:-build/osafl}" run "$@" --shard "$task/$shares" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --jobs "${SLURM_CPUS_PER_TASK:-1}"
