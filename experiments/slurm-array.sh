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
# The shares need no coordinator: each is settled by the task's number and the number of tasks, and
# all write below results/ of the folder where sbatch was called.  Two minutes before its time is up
# a task saves what it has; submit the same line again to resume, with any number of tasks.  For an
# array with gaps, such as the tasks that failed, say how many shares the whole had:
#
#     SHARES=18 sbatch --array=3,5 experiments/slurm-array.sh FILE
set -eu
cd "${SLURM_SUBMIT_DIR:-.}"
first=${SLURM_ARRAY_TASK_MIN:-1} # whatever number the array begins with
last=${SLURM_ARRAY_TASK_MAX:-$((first + SLURM_ARRAY_TASK_COUNT - 1))}
if [ -n "${SHARES:-}" ]; then
    shares=$SHARES
    share=$SLURM_ARRAY_TASK_ID
    [ "$share" -gt 0 ] || share=$shares # of an array that began at 0
elif [ $((last - first + 1)) -eq "$SLURM_ARRAY_TASK_COUNT" ]; then
    shares=$SLURM_ARRAY_TASK_COUNT
    share=$((SLURM_ARRAY_TASK_ID - first + 1))
else
    echo "$0: the array has gaps; set SHARES to the number of tasks of the whole array" >&2
    exit 2
fi
exec srun "${OSAFL:-build/osafl}" run "$@" --shard "$share/$shares" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --jobs "${SLURM_CPUS_PER_TASK:-1}"
