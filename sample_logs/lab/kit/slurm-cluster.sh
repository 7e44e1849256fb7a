# A Slurm cluster of one node on this machine, for the run that sources this file: a controller and a node daemon of its own, ended with the run.
#
#     . "$PYTHONPATH/slurm-cluster.sh"        first line of a launch script; then srun, sbatch, scancel, scontrol work, and `job_ended ID` waits for a job
#
# The node and the host are called node-1. PARTITIONS and EXTRA (lines of slurm.conf) and CGROUP (lines of cgroup.conf) may be set before. Needs root and Debian's slurm-wlm.
if [ "$(hostname)" != node-1 ]; then
    exec unshare --uts bash -c 'hostname node-1 && exec bash "$0"' "$0"
fi
state=$TMPDIR/slurm
mkdir -p "$state/spool" "$state/ctld"
ports=($(python -c '
import socket
made = [socket.socket() for _ in range(2)]
for one in made:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in made))'))
export SLURM_CONF=$state/slurm.conf
cat > "$SLURM_CONF" <<END
ClusterName=cluster
SlurmctldHost=node-1(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
StateSaveLocation=$state/ctld
SlurmdSpoolDir=$state/spool
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/slurmd.log
JobAcctGatherType=jobacct_gather/linux
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,batch_sched_delay=0,sched_min_interval=1
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
KillWait=3
${EXTRA:-ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectTypeParameters=CR_CPU}
NodeName=node-1 NodeAddr=127.0.0.1 CPUs=$(nproc --all) RealMemory=2000 State=UNKNOWN
${PARTITIONS:-PartitionName=main Nodes=node-1 Default=YES MaxTime=INFINITE State=UP}
END
[ -n "$CGROUP" ] && echo "$CGROUP" > "$state/cgroup.conf"
slurmctld -D > "$state/slurmctld.out" 2>&1 &
slurmd -D > "$state/slurmd.out" 2>&1 &
for _ in $(seq 200); do
    [ "$(sinfo -h -N -o %t 2> /dev/null | head -1)" = idle ] && break
    sleep 0.3
done

job_ended() {
    until scontrol show job "$1" 2> /dev/null | grep -qE 'JobState=(COMPLETED|FAILED|CANCELLED|TIMEOUT|OUT_OF_MEMORY|NODE_FAIL|PREEMPTED)'; do sleep 0.5; done
    sleep 1
}
