#!/usr/bin/env bash
# slurm.sh FBP MODULE: a Slurm of four nodes on this machine.  An array of tasks of which one is
# killed and put back into the queue, and one whose node dies; ranks by srun --mpi=pmix, of which one
# is killed; launchers whose processes cannot talk to each other.
# Everything runs in a PID namespace of its own, which ends with this script.
set -uo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/lib.sh"
if [ -z "${FBP_SLURM_WORK-}" ]; then
    for program in slurmctld slurmd srun sbatch scontrol; do
        command -v $program >/dev/null || { echo "there is no $program (Debian: slurmctld, slurmd, slurm-client)"; exit 77; }
    done
    find_mpi "$2"
    unshare --pid --fork --mount-proc true 2>/dev/null || { echo "no PID namespace can be made here (root)"; exit 77; }
    FBP_SLURM_WORK=$(mktemp -d /tmp/fbp-slurm-XXXXXX) # short: the names of sockets are
    export FBP_SLURM_WORK
    trap 'rm -rf "$FBP_SLURM_WORK"' EXIT
    timeout -k 5 600 unshare --pid --fork --kill-child --mount-proc "$here/slurm.sh" "$(realpath "$1")" "$2"
    exit
fi
fbp=$1
cd "$FBP_SLURM_WORK" || exit 1
failures=0
say() {
    echo "FAILED: $*"
    cat out err
    failures=$((failures + 1))
}

free_port() { # the first of five that nobody listens at
    local p i
    for ((;;)); do
        p=$((20000 + RANDOM % 20000))
        for i in 0 1 2 3 4; do
            ! (exec 3<>"/dev/tcp/127.0.0.1/$((p + i))") 2>/dev/null || continue 2
        done
        echo $p
        return
    done
}
start_node() { slurmd -N "$1" -f "$PWD/slurm.conf" >/dev/null 2>&1; }
start_cluster() {
    local port name i
    port=$(free_port) name=$(hostname)
    cat >slurm.conf <<TEXT
ClusterName=fbp
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/%n
TmpFS=$PWD/tmp-%n
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/%n.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/%n.log
SlurmdTimeout=10
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=1
NodeName=n[1-4] NodeHostname=$name NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=4 RealMemory=4000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
TEXT
    mkdir -p state tmp-n{1,2,3,4} n{1,2,3,4}
    export SLURM_CONF=$PWD/slurm.conf
    slurmctld -f "$SLURM_CONF" -c >/dev/null 2>&1
    for i in 1 2 3 4; do start_node n$i; done
    for ((i = 0; i < 300; i++)); do
        [ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" -lt 4 ] || return 0
        sleep 0.1
    done
    return 1
}
start_cluster || { echo "Slurm does not start here"; tail -n 5 ./*.log; exit 77; }

# submit NAME ARRAY COMMAND: an array, to its end; the job's number.
wait_jobs() {
    local i
    for ((i = 0; i < 1200; i++)); do
        [ -n "$(squeue -h 2>/dev/null)" ] || return 0
        sleep 0.1
    done
    say "jobs do not end: $(squeue)"
}
# alone STATUS COMMAND: one sentence once.
once() { # status, sentence, command
    local want=$1 sentence=$2 got=0
    shift 2
    timeout 60 "$@" >out 2>err || got=$?
    [ "$got" -eq "$want" ] || say "$*: status $got instead of $want"
    [ "$(grep -c '^fbp: ' err)" -eq 1 ] && grep -q "^fbp: .*$sentence" err || say "$*: not said once"
    [ -z "$(ls -d none.mha* 2>/dev/null)" ] || say "$*: there is an output"
}
well() { # command
    timeout 120 "$@" >out 2>err || say "$*: status $?"
}

"$fbp" simulate --size 96 --views 64 -o scan.json -q
"$fbp" recon scan.json -o one.mha -q --device ref

# Task 7 is killed while it computes, puts itself back into the queue, and goes on.
cat >job.sh <<TEXT
#!/bin/bash
#SBATCH --array=1-16
#SBATCH --requeue
#SBATCH --output=task-%a.out
#SBATCH --open-mode=append
[ -z "\${SLURM_RESTART_COUNT-}" ] || echo again
run=(srun '$fbp' recon scan.json -o array.mha --part auto/16 --device ref --slab 2 -q)
if [ "\$SLURM_ARRAY_TASK_ID" = 7 ] && [ -z "\${SLURM_RESTART_COUNT-}" ]; then
    "\${run[@]}" &
    until ls array.mha.part.log.7of16.* >/dev/null 2>&1; do sleep 0.01; done
    scancel -s KILL "\$SLURM_JOB_ID.0"
    wait \$!
    echo "killed: \$?"
    scontrol requeue "\$SLURM_JOB_ID"
    sleep 60
fi
"\${run[@]}"
TEXT
well sbatch job.sh
wait_jobs
grep -q '^killed: 137' task-7.out || say "task 7 was not killed: $(cat task-7.out)"
cmp one.mha array.mha || say "an array of tasks: other bits: $(cat task-*.out)"
[ -z "$(ls array.mha.part* 2>/dev/null)" ] || say "an array of tasks: files are left: $(ls array.mha.part*)"

# A node dies with what runs there.  Slurm finds out, and gives its tasks to others.
sed -e 's/array\.mha/node.mha/g' -e 's/task-%a/node-%a/' -e 's/= 7 \]/= none ]/' -e 's/1-16/1-8/; s,auto/16,auto/8,' \
    job.sh >node.sh
tasks_of_n2() { grep -lzs '^SLURMD_NODENAME=n2$' /proc/[0-9]*/environ | cut -d/ -f3; }
keepers_of_n2() { # Slurm's own processes, one per step
    local p
    for p in $(pgrep -x slurmstepd); do
        [ -z "$(find "/proc/$p/fd" -lname "*/n2.log" 2>/dev/null)" ] || echo "$p"
    done
}
computes() { # does fbp run on n2?
    local p
    for p in $(tasks_of_n2); do
        grep -qsx fbp "/proc/$p/comm" && return
    done
    return 1
}
# On a busy machine Slurm may use the other nodes alone: the array is submitted again then.
for ((try = 0, found = 0; try < 4 && !found; try++)); do
    rm -rf node.mha*
    well sbatch --nodes=1 --ntasks=1 --cpus-per-task=2 node.sh
    while [ -n "$(squeue -h 2>/dev/null)" ]; do
        ! computes || { found=1 && break; }
    done
done
[ $found = 1 ] || say "no task runs on n2"
kill -KILL "$(cat n2.pid)"
for ((i = 0; i < 5; i++)); do # the keepers first, as they would tell how tasks ended
    # shellcheck disable=SC2046
    kill -KILL $(keepers_of_n2) $(tasks_of_n2) 2>/dev/null
    sleep 0.02
done
wait_jobs
cmp one.mha node.mha || say "a node dies: other bits: $(cat node-*.out)"
# A part that had ended may be run again when the volume is complete: it begins a new one
# (docs/cluster.md).
for journal in node.mha.part.log.*of8.????????; do
    [ -e "$journal" ] || continue
    part=${journal#node.mha.part.log.} part=${part%%of*}
    grep -q '^again' "node-$part.out" || say "a node dies: $journal is left of a part that ran once"
    rm -f node.mha.part*
done
[ -z "$(ls node.mha.part* 2>/dev/null)" ] || say "a node dies: files are left: $(ls node.mha.part*)"
start_node n2

# Ranks, one on each node; then one of them is killed, and two go on.
for grid in 1 2; do
    well srun --mpi=pmix -N 4 -n 4 "$fbp" recon scan.json -o team.mha --device ref --view-ranks $grid
    [ "$(grep -c '^4 processes: ' err)" -eq 1 ] || say "srun --mpi=pmix: not said once"
    if [ $grid = 1 ]; then cmp one.mha team.mha || say "srun --mpi=pmix: other bits"; else
        "$fbp" compare one.mha team.mha | awk '/^psnr_db/ { exit !($2 >= 120) }' || say "shared views: other values"
    fi
done
timeout 60 srun --mpi=pmix -N 4 -n 4 bash -c 'echo $$ >pid.$SLURM_PROCID; exec "$@"' - \
    "$fbp" recon scan.json -o left.mha --device ref --slab 2 -q >out 2>err &
job=$!
for ((i = 0; i < 2000; i++)); do
    [ "$(slices_of left.mha)" -lt 6 ] || break
    sleep 0.01
done
kill -KILL "$(cat pid.1)"
got=0
wait $job || got=$?
[ $got -ne 0 ] && [ $got -ne 124 ] || say "a rank is killed: status $got"
[ ! -e left.mha ] && [ "$(slices_of left.mha)" -gt 0 ] || say "a rank is killed: nothing to go on with"
well srun --mpi=pmix -n 2 "$fbp" recon scan.json -o left.mha --device ref --slab 2 --resume -q --json
grep -q '"slabs_resumed": *0' out && say "a rank was killed: nothing was resumed"
cmp one.mha left.mha || say "a rank was killed: other bits"

# Processes that cannot talk to each other, and those that need not.
recon=("$fbp" recon scan.json -o none.mha --device ref -q)
once 1 'srun has started 3 processes without a connection' srun --mpi=none -n 3 "${recon[@]}"
once 1 "the launcher of another MPI" srun --mpi=pmi2 -n 3 "${recon[@]}"
once 1 'part: processes that were started by mpirun or srun' srun --mpi=pmix -n 3 "${recon[@]}" --part 1/3
for way in none pmi2 pmix; do
    rm -f alone.mha
    well srun --mpi=$way -n 1 "$fbp" recon scan.json -o alone.mha --device ref -q
    cmp one.mha alone.mha || say "srun --mpi=$way -n 1: other bits"
done
for way in none pmi2; do
    rm -f alone.mha
    well srun --mpi=$way -n 3 bash -c 'exec "$0" recon scan.json -o alone.mha --device ref -q --part $((SLURM_PROCID + 1))/3' "$fbp"
    cmp one.mha alone.mha || say "srun --mpi=$way, parts: other bits"
done
if command -v mpirun.mpich >/dev/null; then # another MPI's own
    once 1 "the launcher of another MPI" mpirun.mpich -n 3 "${recon[@]}"
    well mpirun.mpich -n 1 "${recon[@]}"
fi
exit "$failures"
