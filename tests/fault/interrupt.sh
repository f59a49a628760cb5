#!/bin/bash
# interrupt.sh FBP DIR: signals at any moment, whatever the command: the exit status is 128 + the signal (or 0,
# if it was done by then), nothing half-written is left, and --resume is promised exactly where it goes on.
# Nothing here depends on when a signal arrives.
set -eu
fbp=$1 dir=$2/interrupt.$$
rm -rf "$dir"
mkdir -p "$dir/out"
trap 'rm -rf "$dir"' EXIT
seed=${FBP_SEED:-$(date +%s)}
RANDOM=$seed
echo "seed $seed"
fail() {
    echo "FAILED: $*"
    cat "$dir/err"
    exit 1
}

# signal NAME MILLISECONDS ARGUMENTS…: status in $got, messages in err; a shell's background commands
# ignore SIGINT until they take it over.
signal() {
    local name=$1 ms=$2 pid program=fbp
    shift 2
    [[ $1 != bench && $1 != rabbitct ]] || program=fbp-bench # which fbp starts in its place
    last="fbp $* (SIG$name after $ms ms)"
    "$fbp" "$@" >"$dir/std" 2>"$dir/err" &
    pid=$!
    # Not before it is this program, and has taken its signals over: bit 14 of the mask is SIGTERM's.
    until [ "$(grep -cE "^Name:.$program\$|^SigCgt:.*[4-7c-f]...\$" /proc/$pid/status 2>/dev/null)" = 2 ]; do
        [ -d /proc/$pid ] && ! grep -q '^State:.*Z' /proc/$pid/status || break
    done
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    kill -"$name" $pid 2>/dev/null || true
    got=0
    wait $pid || got=$?
}
number() { case $1 in INT) echo 130 ;; TERM) echo 143 ;; HUP) echo 129 ;; esac; }

"$fbp" simulate --size 48 --views 40 -o "$dir/scan.json" -q
"$fbp" recon "$dir/scan.json" -o "$dir/volume.mha" -q
"$fbp" recon "$dir/scan.json" -o "$dir/large.mha" --size 200 --voxel 1 -q

stopped=0
for name in INT TERM HUP; do
    want=$(number $name)
    while read -r arguments; do
        rm -rf "$dir/out"
        mkdir "$dir/out"
        # shellcheck disable=SC2086
        signal $name $((RANDOM % 60)) ${arguments//DIR/$dir}
        [ $got -eq 0 ] || [ $got -eq "$want" ] || fail "$last: status $got"
        [ $got -eq 0 ] && continue
        stopped=$((stopped + 1))
        [ "$(wc -l <"$dir/err")" -eq 1 ] || fail "$last: not one line"
        grep -q 'interrupted' "$dir/err" || fail "$last: does not say so"
        # Of a simulation's files one may be whole already; nothing else may be there.
        rm -f "$dir/out/s.mha" "$dir/out/t.mha"
        [ "$(find "$dir/out" -name '*.tif' | wc -l)" -ne 64 ] || rm "$dir"/out/*.tif
        [ -z "$(ls -A "$dir/out")" ] || fail "$last: left $(ls -A "$dir/out")"
    done <<'COMMANDS'
recon DIR/scan.json -o DIR/out/v.mha --device ref --size 400 --voxel 0.6 --slab 400 -q
recon DIR/scan.json -o null: --size 400 --voxel 0.6 -q
recon DIR/scan.json -o DIR/out/sheet.png --sweep offset=-30:30:0.1 --size 200 -q
recon DIR/scan.json -o DIR/out/slice.png --slice 100 --device ref --size 900 --voxel 0.2 -q
simulate --size 300 --views 400 -o DIR/out/s.json --truth DIR/out/t.mha -q
simulate --size 64 --views 8 -o DIR/out/s.json --truth DIR/out/%04d.tif -q
view DIR/large.mha -o DIR/out/v.png --mip -q
compare DIR/large.mha DIR/large.mha
rabbitct make -o DIR/out/r.rctd --views 100 --detector 400x300 --references 1 -q
bench S0 --case fft --device ref --size 128 --views 90 --dir DIR/out -q
COMMANDS
done
[ $stopped -ge 10 ] || fail "only $stopped of 30 commands were stopped"

# Kept slices are promised, and only where there are some; with them the volume becomes what it would have been.
options=(--size 160 --voxel 1 --slab 8 --batch 16 --threads 1 -q)
"$fbp" recon "$dir/scan.json" -o "$dir/whole.mha" "${options[@]}"
kept=0
for try in 1 2 3 4 5 6 7 8; do
    rm -rf "$dir/out"
    mkdir "$dir/out"
    signal INT $((try * 40)) recon "$dir/scan.json" -o "$dir/out/v.mha" "${options[@]}"
    [ $got -eq 0 ] && continue
    [ $got -eq 130 ] || fail "$last: status $got"
    [ ! -e "$dir/out/v.mha" ] || fail "$last: left a file under the final name"
    if grep -q -- '--resume' "$dir/err"; then
        [ -e "$dir/out/v.mha.part" ] || fail "$last: promises what is not there"
        kept=$((kept + 1))
        "$fbp" recon "$dir/scan.json" -o "$dir/out/v.mha" "${options[@]}" --resume
        cmp "$dir/whole.mha" "$dir/out/v.mha" || fail "$last: went on to another volume"
    else
        [ -z "$(ls -A "$dir/out")" ] || fail "$last: kept $(ls -A "$dir/out") and does not say so"
    fi
done
echo "$stopped commands stopped, $kept runs with slices to keep"
