#!/bin/sh
# Notes a job that has ended, for collect.sh. In slurm.conf one of the two:
#
#     JobCompType=jobcomp/script            tells how the job ended; nothing waits for it
#     JobCompLoc=/etc/postmortem/note_job.sh
#
#     EpilogSlurmctld=/etc/postmortem/note_job.sh     where JobCompType is in use for something else
#
# It writes one small file, in the background and in a session of its own. It asks no daemon, reads no log
# and always ends with 0: no job and no node waits for it, even if the disk of the spool hangs.
if [ "$1" != --write ]; then
    setsid timeout 20 "$0" --write < /dev/null > /dev/null 2>&1 &
    exit 0
fi
. "${0%/*}/postmortem.conf" || exit 0

task=${SLURM_ARRAY_TASK_ID-$ARRAYTASKID}
array=${SLURM_ARRAY_JOB_ID-$ARRAYJOBID}
case $array in '' | 0) array= task= ;; esac
case $task in 4294967294) array= task= ;; esac # NO_VAL: no task of an array
number=${SLURM_JOB_ID-$JOBID}
case $number in '' | *[!0-9]*) exit 0 ;; esac
case $array$task in *[!0-9]*) exit 0 ;; esac

umask 027
note=$spool/$number.${SLURM_JOB_RESTART_COUNT:-0}
newline='
'
set -- "$number" "$array" "$task" "$JOBSTATE" "${SLURM_JOB_EXIT_CODE2-$EXITCODE}" \
    "${SLURM_JOB_UID-$UID}" "${SLURM_JOB_USER-$USERNAME}" "${SLURM_JOB_NAME-$JOBNAME}" \
    "${SLURM_JOB_NODELIST-$NODES}" "$START" "$END" \
    "${SLURM_JOB_WORK_DIR-$WORK_DIR}" "${SLURM_JOB_STDOUT-$STDOUT}" "${SLURM_JOB_STDERR-$STDERR}"
for field; do
    case $field in *"$newline"*) exit 0 ;; esac # a line is a field
done
printf '%s\n' "$@" > "$note.new" && mv "$note.new" "$note.job"
