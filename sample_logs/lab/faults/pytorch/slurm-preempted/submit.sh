#!/bin/bash
#SBATCH --partition=scavenge --exclusive
#SBATCH --job-name=protein
#SBATCH --output=logs.%j.txt

echo "[$(date '+%F %T')] job $SLURM_JOB_ID in partition $SLURM_JOB_PARTITION"
if [ "$LAB_SEED" = 1 ]; then srun -n 1 python -u pretrain.py; else python -u pretrain.py; fi
echo "[$(date '+%F %T')] done"
