#!/usr/bin/env bash
# recon.sh FBP MODULE WORK: fbp recon by mpirun: the bits of one process, what is wrong said once, a
# process that is killed, and one whose host does not answer any more.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
fbp=$1 work=$3
find_mpi "$2"
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
failures=0
say() {
    echo "FAILED: $*"
    cat err
    failures=$((failures + 1))
}
mpi() { # size, status, arguments
    local size=$1 want=$2 got=0
    shift 2
    last="mpirun -n $size fbp $*"
    timeout 120 mpirun -n "$size" "$fbp" "$@" >out 2>err || got=$?
    [ "$got" -eq "$want" ] || say "$last: status $got instead of $want"
}

"$fbp" simulate --size 40 --views 48 -o scan.json -q
"$fbp" recon scan.json -o one.mha -q
"$fbp" recon scan.json -o hash: -q >one.hash
for size in 1 2 3 4 6; do
    mpi $size 0 recon scan.json -o team.mha -q
    cmp one.mha team.mha || say "$last: other bits"
    mpi $size 0 recon scan.json -o hash: -q
    cmp one.hash out || say "$last: another hash"
done
for size in 2 3 4 6; do
    mpi $size 0 recon scan.json -o team.mha -q --view-ranks 2
    "$fbp" compare one.mha team.mha | awk '/^psnr_db/ { exit !($2 >= 120) }' || say "$last: other values"
done
mpi 4 0 recon scan.json -o team.mha
[ "$(grep -c '^cpu, kernel' err)" -eq 1 ] && grep -q '^4 processes: ' err || say "$last: not said once"

# One progress bar, where mpirun is on a terminal, and none elsewhere.
"$fbp" simulate --size 96 --views 200 -o bar.json -q
grep -v '^warning' err | grep -q '%' && say "$last: a bar without a terminal"
if command -v script >/dev/null; then
    last="a terminal"
    script -qec "mpirun -n 3 '$fbp' recon bar.json -o null: --threads 1" /dev/null >out 2>err </dev/null
    grep -qE '[0-9]+% \[[#.]{20}\] view ' out || say "$last: no bar"
    [ "$(grep -c 'values: from' out)" -eq 1 ] || say "$last: not said once"
fi

mpi 3 1 recon nothing.json -o none.mha
[ "$(grep -c '^fbp: nothing.json: cannot open' err)" -eq 1 ] || say "$last: not said once"
[ ! -e none.mha ] || say "$last: there is an output"

# Another MPI's launcher, and Open MPI without the module.
got=0
PMI_RANK=0 PMI_SIZE=2 "$fbp" recon scan.json -o none.mha >out 2>err || got=$?
last="PMI_RANK"
[ $got -eq 1 ] && grep -q "the launcher of another MPI" err || say "$last: status $got"
got=0
PMI_RANK=1 PMI_SIZE=2 "$fbp" recon scan.json -o none.mha >out 2>err || got=$?
[ $got -eq 1 ] && [ ! -s err ] && [ ! -e none.mha ] || say "the second of another MPI's: status $got"
PMI_RANK=0 PMI_SIZE=1 "$fbp" recon scan.json -o hash: -q >out 2>err && cmp one.hash out || say "one of another MPI's"

# MPI that knows one process only of those that were started: by no means the whole volume by each.
for told in "OMPI_COMM_WORLD_SIZE=2" "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 PMIX_RANK=0" \
    "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 PMIX_RANK=1"; do
    last="$told without mpirun" got=0
    # shellcheck disable=SC2086
    timeout 60 env $told "$fbp" recon scan.json -o none.mha -q >out 2>err || got=$?
    [ $got -eq 1 ] && [ ! -e none.mha ] || say "$last: status $got"
    said=$(grep -c 'has started 2 processes, but MPI reports only one' err)
    [ "$said" -eq "$([[ $told == *PROCID=1* ]] && echo 0 || echo 1)" ] || say "$last: not said once"
done

# One is killed: mpirun says so, all end, and what was written is kept.
"$fbp" simulate --size 128 --views 64 -o large.json -q
"$fbp" recon large.json -o one.mha -q --size 200
export OMPI_MCA_odls_base_sigkill_timeout=5 # the second that it has else is short on a busy machine
for victim in "1 KILL" "1 STOP" "0 KILL"; do
    rank=${victim% *} signal=${victim#* }
    rm -f left.mha*
    timeout 120 mpirun -n 3 bash -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$@"' - \
        "$fbp" recon large.json -o left.mha -q --slab 2 --size 200 --json >out 2>err &
    job=$!
    for ((i = 0; i < 2000; i++)); do
        [ "$(slices_of left.mha)" -lt 6 ] || break
        sleep 0.01
    done
    last="rank $rank gets $signal"
    kill -"$signal" "$(cat "pid.$rank")"
    got=0
    wait $job || got=$?
    [ $got -ne 0 ] && [ $got -ne 124 ] || say "$last: status $got"
    [ ! -e left.mha ] && [ "$(slices_of left.mha)" -gt 0 ] || say "$last: nothing to go on with"
    [ "$(grep -c '^fbp: ' err)" -eq 1 ] && grep -q "^fbp: rank $rank on .* is lost" err || say "$last: not said once"
    [ "$(grep -c "\"error\": \"rank $rank on .* is lost" out)" -eq 1 ] || say "$last: no object"
    mpi 2 0 recon large.json -o left.mha -q --slab 2 --size 200 --resume --json
    grep -q '"slabs_resumed": *0' out && say "$last: nothing was resumed"
    cmp one.mha left.mha || say "$last: other bits"
    kill -KILL "$(cat "pid.$rank")" 2>/dev/null
done

# mpirun is told to end: it says so to the others some seconds later.
rm -f left.mha*
timeout --foreground 120 mpirun -n 3 "$fbp" recon large.json -o left.mha -q --slab 2 --size 400 --device ref --json >out 2>err &
for ((i = 0; i < 2000; i++)); do
    [ "$(slices_of left.mha)" -lt 6 ] || break
    sleep 0.01
done
kill -TERM $!
wait $!
last="mpirun gets TERM"
[ "$(grep -c '^fbp: interrupted: left.mha is incomplete' err)" -eq 1 ] || say "$last: not said once"
[ "$(grep -c '"error": "interrupted: left.mha is incomplete' out)" -eq 1 ] || say "$last: not one object"
exit "$failures"
