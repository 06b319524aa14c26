#!/bin/sh
# sbatch examples/slurm.sh
#
# Two machines of four devices each; srun starts a process for each device and tells it which one it is. The machines
# find each other without MASTER_ADDR: process 0 runs on the first of the job.
#SBATCH --job-name=digits
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=4
#SBATCH --time=00:30:00

export OMP_NUM_THREADS="$SLURM_CPUS_PER_TASK"
srun --kill-on-bad-exit=1 python examples/several_processes.py
