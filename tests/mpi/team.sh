#!/usr/bin/env bash
# team.sh TEST_UNIT_TEAM MODULE: the cases of unit/team in processes that mpirun has started.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
program=$1
find_mpi "$2"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failures=0

# Those that end by themselves, and one in which the last of them hangs.
for size in 2 3 4 6; do
    for name in gathers fails fails_alike leaves_early goes_astray tells gives_pieces offers; do
        timeout 60 mpirun -n "$size" "$program" "$name" >"$out" 2>&1 && continue
        echo "FAILED: $name of $size"
        cat "$out"
        failures=$((failures + 1))
    done
done
timeout 60 mpirun -n 3 "$program" hangs >"$out" 2>&1
rc=$?
[ "$rc" -ne 0 ] && [ "$rc" -ne 124 ] && ! grep -q test_team.c "$out" || {
    echo "FAILED: a process that hangs: status $rc"
    cat "$out"
    failures=$((failures + 1))
}

# One that never joins, and ends as if all were well.
timeout 60 mpirun -n 1 "$program" waits_in_vain "$2" : -n 1 true >"$out" 2>&1
rc=$?
[ "$rc" -eq 1 ] && grep -q 'did not respond within 2 s' "$out" || {
    echo "FAILED: a process that never joins: status $rc"
    cat "$out"
    failures=$((failures + 1))
}
exit "$failures"
