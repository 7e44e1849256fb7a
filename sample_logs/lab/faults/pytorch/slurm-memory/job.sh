#!/bin/bash
#SBATCH --job-name=tokens
#SBATCH --ntasks=1
#SBATCH --mem=700M
#SBATCH --time=01:00:00

echo "SLURM_JOB_ID=$SLURM_JOB_ID SLURM_MEM_PER_NODE=$SLURM_MEM_PER_NODE"
srun python -u train.py
