#!/usr/bin/env bash
# no_locks.sh FBP INJECT WORK_DIR: the last two parts end at the same time on a file system without
# locks (every lock fails).  One of them may fail; what has the name of the output is right.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
part() { "$fbp" recon scan.json -o "d/$output" -q --threads 1 --part "$1/4"; }

"$fbp" simulate --size 16 --views 12 --scale 0.02 -o scan.json -q || exit 1
"$fbp" recon scan.json -o plain.mha -q --threads 1 || exit 1
both=0 there=0
for output in v.mha v.h5 v.ome.zarr s_%02d.tif; do
    read=d/$output
    [ $output != s_%02d.tif ] || read="d/$output 0 15"
    for _ in 1 2 3 4 5 6; do
        rm -rf d
        mkdir d
        for k in 1 2; do part $k || exit 1; done
        for k in 3 4; do
            (
                export LD_PRELOAD=$inject FBP_FAULT=lock:1+
                part $k 2>"err.$k"
            ) &
            pids[k]=$!
        done
        done=0
        for k in 3 4; do wait "${pids[k]}" && done=$((done + 1)); done
        both=$((both + (done == 2)))
        if "$fbp" info "$read" >/dev/null 2>&1; then
            there=$((there + 1))
            "$fbp" compare "$read" plain.mha --tolerance 0 >out 2>&1 || fail "$output: $(cat out err.*)"
        elif [ $done -eq 2 ]; then
            fail "$output: both parts ended with status 0, and there is no output: $(ls d)"
        fi
    done
done
[ $there -gt 0 ] || fail "there was never an output"
echo "of 24 times both parts ended with status 0 $both times, and the output was there $there times"
