#!/usr/bin/env bash
# Several scans in one command: each has an output of its own, a failure leaves the others, and the
# devices are started while the first scan is read.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

scan() { run 0 simulate --phantom shepp-logan --size "$2" --views 40 -o "$1.json" -q; }
scan a 24
scan b 32
mkdir c vol more
run 0 simulate --phantom shepp-logan --size 24 --views 36 -o c/x.json -q
sed 's/b\.mha/missing.mha/' b.json >broken.json
for name in a b c/x; do
    run 0 recon "$name.json" -o "alone-${name#*/}.mha" -q
done

for device in cpu mock; do
    run 0 recon a.json b.json c/x.json -o vol/%s.mha --preview vol/%s.png --device $device
    has err '^a\.json \(scan 1 of 3\)$'
    has err '^c/x\.json \(scan 3 of 3\)$'
    for name in a b x; do
        cmp "vol/$name.mha" "alone-$name.mha" || say "$device: vol/$name.mha is not that of a run alone"
        exists "vol/$name.png"
    done
    rm vol/*
done
run 0 recon a.json -o vol/%s-one.mha -q # the name of a single scan
exists vol/a-one.mha
run 0 recon a.json b.json -o more/%s/%04d.tif -q # slices
exists more/b/0000.tif

# A scan that fails is named; the others are reconstructed.
run 1 recon a.json broken.json b.json -o vol/%s.mha -q
has err '^fbp: .*missing\.mha'
has err '^fbp: 1 of 3 scans failed: broken\.json$'
cmp vol/a.mha alone-a.mha && cmp vol/b.mha alone-b.mha || say "the other scans were not reconstructed"

# --json: a line for each scan.
run 1 recon a.json broken.json b.json -o vol/%s.mha --json -q
[ "$(wc -l <out)" -eq 3 ] || say "$last: not a line for each scan: $(cat out)"
cp out lines
for i in 1 2 3; do
    sed -n ${i}p lines >out
    case $i in
        1) [ "$(json scan) $(json output)" = "a.json vol/a.mha" ] && is "$(json size.0) == 24" ;;
        2) [ "$(json scan)" = broken.json ] && json error | grep -q missing.mha ;;
        3) [ "$(json scan)" = b.json ] && is "$(json size.0) == 32" && ! grep -q error out ;;
    esac || say "$last: line $i: $(cat out)"
done

# What would be written twice is refused before anything is written.
rm -f vol/*
cp a.json c/a.json
refused() { # PATTERN ARGUMENTS…
    local pattern=$1
    shift
    run 2 recon "$@"
    one_line err
    has err "$pattern"
    [ -z "$(ls vol)" ] || say "$last: wrote $(ls vol)"
}
refused 'a\.json and c/a\.json have the same name' b.json a.json c/a.json -o vol/%s.mha
refused 'unexpected argument "b\.json"; to reconstruct several scans, give %s' a.json b.json -o vol/v.mha
refused '"vol/p\.png": all 2 scans would write this file' a.json b.json -o vol/%s.mha --preview vol/p.png
refused '--sweep: takes one scan, but 2 are given' a.json b.json -o vol/%s.png --sweep centre=1:3:1

# Nothing is written to null: and hash:, so these need no name.
run 0 recon a.json b.json -o hash: -q
[ "$(wc -l <out)" -eq 2 ] || say "$last: not two hashes: $(cat out)"

# The start of the devices and the wait for it are in the result.
run 0 recon a.json -o null: --json -q --device mock
is "$(json seconds.device_start) > 0 && $(json seconds.device_wait) >= 0"
finish
