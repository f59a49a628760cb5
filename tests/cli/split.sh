#!/usr/bin/env bash
# HDF5 in several files by the command: the volume of one file, by one process, parts and a team, with
# the same files; moved, resumed, replaced; what is missing is named, what is not split is refused.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 48 --views 40 --scale 0.02 -o scan.json -q
common=(--threads 1 --device cpu)
run 0 recon scan.json -o plain.h5 -q "${common[@]}"
mkdir one v
run 0 recon scan.json -o one/v.h5 --split 10 -q "${common[@]}"
same() { # folder: the files of one process, and no others
    diff -r one "$1" >/dev/null || say "$last: $1 has other files than one"
    rm -r "$1"
    mkdir "$1"
}
run 0 compare one/v.h5 plain.h5 --tolerance 0
for file in slices_00-09 slices_10-19 slices_20-29 slices_30-39 slices_40-47; do
    exists "$(echo one/v.h5.*/$file.h5)"
done
run 0 info one/v.h5
has out '^size     48 x 48 x 48 float32'
has out '^unit     1/mm'
run 0 view one/v.h5 -o v.png -q
exists v.png

# Parts of any number, one process and a team go on with what others left.
for k in 2 3 1; do run 0 recon scan.json -o v/v.h5 --split 10 --part $k/3 -q "${common[@]}"; done
same v
run 0 recon scan.json -o v/v.h5 --split 10 --part 2/4 -q "${common[@]}"
run 1 recon scan.json -o v/v.h5 --split 12 --part 1/4 -q "${common[@]}"
has err 'other options, another scan or another release of fbp'
absent v/v.h5
run 0 recon scan.json -o v/v.h5 --split 10 --resume -q "${common[@]}"
same v
folder=$(mktemp -d) # paths of sockets are short
trap 'rm -rf "$folder"' EXIT
team() { # SIZE ARGUMENTS…
    local size=$1 r pids=()
    shift
    rm -rf "$folder/t"
    mkdir "$folder/t"
    last="$size processes: fbp $*"
    for ((r = 0; r < size; r++)); do
        FBP_TEAM=$r/$size:$folder/t "$fbp" "$@" >/dev/null 2>"err.$r" &
        pids+=($!)
    done
    for r in "${pids[@]}"; do wait "$r" || say "$last: $(cat err.*)"; done
}
team 3 recon scan.json -o v/v.h5 --split 10 -q "${common[@]}" --view-ranks 1
same v
run 0 recon scan.json -o v/v.h5 --split 10 --part 2/4 -q "${common[@]}"
team 2 recon scan.json -o v/v.h5 --split 10 -q "${common[@]}" --resume --view-ranks 1
same v

# A file that was lost between parts is named, and never published as zeros.
run 0 recon scan.json -o v/v.h5 --split 10 --part 1/3 -q "${common[@]}"
mkdir away
mv v/v.h5.[0-9a-f]*/slices_20-29.h5 away
for options in "--part 2/3" --resume; do
    # shellcheck disable=SC2086
    run 1 recon scan.json -o v/v.h5 --split 10 $options -q "${common[@]}"
    one_line err
    has err 'slices_20-29\.h5: is not there.*put it back.*or remove v/v\.h5\.part\* and v/v\.h5\.[0-9a-f]* and start again'
done
mv away/slices_20-29.h5 v/v.h5.[0-9a-f]*/
rmdir away
for k in 2 3; do run 0 recon scan.json -o v/v.h5 --split 10 --part $k/3 -q "${common[@]}"; done
same v

# Integers, a box; more slices in a file than there are.
for options in "--output-type uint16 --output-range 0,2" "--output-type uint8 --output-range auto" \
    "--roi 5:30,:,7:33"; do
    # shellcheck disable=SC2086
    run 0 recon scan.json -o plain.h5 -q $options
    for n in 1 7 999; do
        # shellcheck disable=SC2086
        run 0 recon scan.json -o v/v.h5:/rec/x --split $n -q $options
        run 0 compare v/v.h5 plain.h5 --tolerance 0
    done
done
[ "$(find v | wc -l)" -eq 4 ] || say "$last: left of what was replaced: $(find v)"
run 0 recon scan.json -o v/v.h5:/rec/x -q "${common[@]}" # by one file
[ "$(find v)" = "$(printf 'v\nv/v.h5')" ] || say "$last: left of what was replaced: $(find v)"

# What cannot be removed of an old volume is told, and the new one is complete.
rm -r v/*
run 0 recon scan.json -o v/v.h5 --split 10 -q "${common[@]}"
old=$(echo v/v.h5.[0-9a-f]*)
mkdir "$old/slices_99-99.h5" # as root can remove any file
run 0 recon scan.json -o v/v.h5 --split 9 "${common[@]}"
has err "warning: $old/slices_99-99.h5: cannot remove: .*remove $old yourself"
rmdir "$old/slices_99-99.h5" "$old" # nothing else was left
run 0 recon scan.json -o v/v.h5 --split 8 -q "${common[@]}"
[ "$(find v -type f | wc -l)" -eq 7 ] || say "$last: left of what was replaced: $(find v)"
rm -r v/*

# All can be moved together; what is missing is named.
run 0 recon scan.json -o plain.h5 -q "${common[@]}"
mv one moved
(cd moved && "$fbp" compare v.h5 ../plain.h5 --tolerance 0 >/dev/null) || say "the files cannot be moved"
rm moved/v.h5.*/slices_20-29.h5
for command in "info moved/v.h5" "compare moved/v.h5 plain.h5" "view moved/v.h5 -o no.png"; do
    # shellcheck disable=SC2086
    run 1 $command
    one_line err
    has err 'is in v\.h5\.[0-9a-f]*/slices_20-29\.h5.*not there|samples are in v\.h5\.[0-9a-f]*/slices_20-29\.h5'
done

# Few files may be open, and there are many: the volume is read nevertheless.
run 0 simulate --size 4 --views 8 --scale 0.02 -o thin.json -q
run 0 recon thin.json --size 4x4x300 --voxel 1 -o thin.h5 -q "${common[@]}"
run 0 recon thin.json --size 4x4x300 --voxel 1 -o many.h5 --split 1 -q "${common[@]}"
for n in 32 256; do
    (ulimit -n $n && exec "$fbp" compare many.h5 thin.h5 --tolerance 0) >out 2>err || say "$n open files: $(cat err)"
done
rm -r many.h5*
(ulimit -n 24 && exec "$fbp" recon thin.json --size 4x4x300 --voxel 1 -o many.h5 --split 1 -q "${common[@]}") 2>err ||
    say "written with 24 open files: $(cat err)"
run 0 compare many.h5 thin.h5 --tolerance 0
run 0 recon thin.json --size 4x4x2000 --voxel 1 -o thin.h5 -q "${common[@]}"
run 0 recon thin.json --size 4x4x2000 --voxel 1 -o many.h5 --split 1 -q "${common[@]}"
run 0 compare many.h5 thin.h5 --tolerance 0
rm -r many.h5*

# What is not split: one line, and nothing is written.
touch before after
ls >before
for output in v.mha v.nii v.npy v.mat v.tif "v_%03d.tif" v.ome.zarr null: hash:; do
    run 1 recon scan.json -o "$output" --split 10 -q
    one_line err
    has err 'is not split.*\.h5'
done
run 2 recon scan.json -o v.h5 --split 0
run 2 recon scan.json -o v.png --slice 3 --split 10
run 2 recon scan.json -o v.png --sweep centre=20:28:1 --split 10
run 1 recon scan.json -o no/v.h5 --split 10 -q
one_line err
has err 'create its folder first'
ls >after
cmp -s before after || say "left: $(diff before after)"

# Where a file must not be so large, several can be.
(ulimit -f 300 && exec "$fbp" recon scan.json -o large.h5 -q) 2>err && say "a limit of 300 KiB was not kept"
has err 'too large for this file system'
(ulimit -f 300 && exec "$fbp" recon scan.json -o large.h5 --split 20 -q) 2>err || say "$(cat err)"
run 0 compare large.h5 plain.h5 --tolerance 1e-6
finish
