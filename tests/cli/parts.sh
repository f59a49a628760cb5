#!/usr/bin/env bash
# A volume in parts by the command: the bytes of one run, whichever part comes when; what each part
# takes, by arrays of batch systems, within its limit of memory; what cannot be done in parts.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
unset SLURM_ARRAY_TASK_ID PBS_ARRAY_INDEX PBS_ARRAYID SGE_TASK_ID

run 0 simulate --size 48 --views 40 --scale 0.02 -o scan.json -q
options=(--threads 1)
run 0 recon scan.json -o one.mha -q "${options[@]}"
same() { cmp -s one.mha "$1" || say "$1: not the bytes of one run"; }
clean() { for f in "$1".part*; do [ ! -e "$f" ] || say "left $f"; done; }

# The last gives it its name; what is missing is said by part.
run 0 recon scan.json -o v.mha --part 2/3 "${options[@]}"
has out '^part 2 of 3: v\.mha: from '
has err 'slices are still missing \(parts 1, 3 of 3'
absent v.mha
run 0 recon scan.json -o v.mha --part 3/3 "${options[@]}" --json
[ "$(json part)/$(json parts)" = 3/3 ] || say "$last: $(json part)"
is "$(json slices_missing) > 0"
absent v.mha
run 0 recon scan.json -o v.mha --part 2/3 "${options[@]}" # again: nothing is left for it
has out '^part 2 of 3: nothing remained to be computed'
run 0 recon scan.json -o v.mha --part 1/3 "${options[@]}" --resume # which goes without saying
has out '^v\.mha: all parts are complete'
same v.mha
clean v.mha

# A part needs no MPI, whatever launcher started it; the whole volume does.
export SLURM_STEP_NUM_TASKS=2
for launcher in OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1 PMI_RANK=1 SLURM_PROCID=1; do
    export "${launcher?}"
    run 0 recon scan.json -o alone.mha -q --part 1/3 "${options[@]}"
    run 1 recon scan.json -o whole.mha -q "${options[@]}"
    absent whole.mha
    run 2 recon --frobnicate
    unset "${launcher%=*}"
    rm alone.mha.part*
done
unset SLURM_STEP_NUM_TASKS

# A part that is started again when all is complete ends at once, until the output is removed.
run 0 recon scan.json -o v.mha --part 3/3 "${options[@]}" --json
same v.mha
clean v.mha
is "$(json slices_missing) == 0"
has out 'the output is already complete, so nothing is computed; to compute it again, remove the file first'
run 0 recon scan.json -o v.mha --part 1/3 "${options[@]}"
has err 'already complete'
has out '^part 1 of 3: nothing remained to be computed'
run 0 recon scan.json -o v.mha --part 1/3 "${options[@]}" --rings sorting # another output
has out '^part 1 of 3: v\.mha: from '
rm v.mha*
run 0 recon scan.json -o v.mha --part 1/3 "${options[@]}"
has out '^part 1 of 3: v\.mha: from '
rm v.mha.part*

# Parts of another number do what is missing, and the rest of them find nothing to do.
run 0 recon scan.json -o w.mha --part 1/4 -q "${options[@]}"
run 0 recon scan.json -o w.mha --part 1/2 -q "${options[@]}"
run 0 recon scan.json -o w.mha --part 4/4 -q "${options[@]}"
run 0 recon scan.json -o w.mha --part 3/4 "${options[@]}"
has out '^w\.mha: all parts are complete'
same w.mha
run 0 recon scan.json -o w.mha --part 2/4 "${options[@]}" # the only one that had not come
has out '^part 2 of 4: nothing remained to be computed'
same w.mha
clean w.mha

# Eight at once, each within its memory.
pids=()
for k in 1 2 3 4 5 6 7 8; do
    "$fbp" recon scan.json -o u.mha --part $k/8 "${options[@]}" --memory 64M --json >part.$k 2>err.$k &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || say "a part of eight: $(cat err.?)"; done
same u.mha
clean u.mha
for k in 1 2 3 4 5 6 7 8; do
    cp part.$k out
    last="part $k/8"
    is "$(json memory_peak_bytes) <= 64 * 1024 * 1024"
done

# The part from a batch system's array, which counts from 1.
k=0
for name in SLURM_ARRAY_TASK_ID PBS_ARRAY_INDEX PBS_ARRAYID SGE_TASK_ID; do
    k=$((k + 1))
    export $name=$k
    run 0 recon scan.json -o a.mha --part auto/4 -q "${options[@]}"
    unset $name
done
same a.mha
SLURM_ARRAY_TASK_ID=0 run 1 recon scan.json -o a2.mha --part auto/4
one_line err
has err 'SLURM_ARRAY_TASK_ID is 0, but parts count from 1; submit a job array of tasks 1 to 4'
SLURM_ARRAY_TASK_ID=5 run 1 recon scan.json -o a2.mha --part auto/4
SGE_TASK_ID=undefined run 1 recon scan.json -o a2.mha --part auto/4
has err 'run fbp in a job array, or give the part, such as --part 1/4'
clean a2.mha

# What there is not, what does not go together: one line, and nothing is written.
run 1 recon scan.json -o b.mha --part 17/16
one_line err
has err 'does not exist; parts count from 1 to 16'
run 1 recon scan.json -o b.mha --part 0/16
run 1 recon scan.json -o b.mha --part 1/99 -q
has err 'give at most [0-9]+ parts'
run 1 recon scan.json -o b.mha --part 2/3 --slice 9 -q
has err 'there is only one slice to compute; omit the parts'
run 1 recon scan.json -o b.mha --part 1/3 --output-type uint16
has err 'uint16 needs a range of values; give the range, such as 0,0.05 \(--output-range\)$'
for bad in 3 3/ /3 a/3 3/b 1/2/3 -1/3 auto 1/0 auto/0; do run 2 recon scan.json -o b.mha --part=$bad; done
run 2 recon scan.json -o b.mha --part 1/2 --preview b.png
has err '--preview needs the whole volume'
run 2 recon scan.json -o v.mha --part 1/3 --output-type uint16 --output-range auto
has err '--output-range auto needs the whole volume; give the range'
run 2 recon scan.json -o b.mha --part 1/2 --report b.html
run 2 recon scan.json -o b.png --part 1/2 --sweep centre=20:28:1
run 2 recon scan.json -o b.png --part 1/2 --slice 3
run 2 recon scan.json -o b.mha --part 1/2 --output-type uint8 --output-range auto
run 1 recon scan.json -o b.nii.gz --part 1/2 -q
has err 'compress it when it is complete'
run 1 recon scan.json -o b.mha --compress --part 1/2 -q
run 1 recon scan.json -o hash: --part 1/2 -q
run 1 recon scan.json -o b.mha --follow --part 1/2 -q
run 1 recon scan.json -o no/b.mha --part 1/2 -q
one_line err
has err 'create its folder first'
clean b
clean b.mha

# What recon refuses of an output's name, its plan refuses by the same line.
for what in '--part 1/3 -o x.nii.gz' '--part 1/3 -o hash:' '--part 1/3 -o x.mha --compress'; do
    # shellcheck disable=SC2086
    run 1 recon scan.json -q $what
    one_line err
    mv err wanted
    # shellcheck disable=SC2086
    run 1 plan scan.json $what
    cmp -s wanted err || say "$last: $(cat err) instead of $(cat wanted)"
done
run 0 plan scan.json --part 1/3 -o x.ome.zarr --compress
run 0 plan scan.json --part 1/3 -o x.h5
run 0 plan scan.json -o x.nii.gz
absent x.h5

# Options of others, and those that may differ.
run 0 recon scan.json -o c.mha --part 1/2 -q "${options[@]}"
touch before after
ls >before
for other in '--filter hann' '--hu 0.02' '--size 40' '--output-type uint8 --output-range 0,1'; do
    # shellcheck disable=SC2086
    run 1 recon scan.json -o c.mha --part 2/2 -q $other
    one_line err
    has err 'other options or another scan, device, kernel, instruction set or release of fbp'
done
run 1 recon scan.json -o c.mha --resume -q --filter hann
has err 'other options or another scan, device, kernel, instruction set or release of fbp'
ls >after
cmp -s before after || say "left: $(diff before after)"
run 0 recon scan.json -o c.mha --part 2/2 -q --threads 2 --memory 200M --slab 6
same c.mha

# The same files by other paths are the same scan; files of the same names elsewhere are another.
mkdir -p elsewhere/deeper
cp -p scan.json scan.mha elsewhere
ln -s .. elsewhere/deeper/up
ln -s scan.json link.json
run 0 recon scan.json -o p.mha --part 1/5 -q "${options[@]}"
run 0 recon ./elsewhere/..//scan.json -o p.mha --part 2/5 -q "${options[@]}"
run 0 recon "$PWD/scan.json" -o p.mha --part 3/5 -q "${options[@]}"
cd elsewhere/deeper || exit 1
run 0 recon up/../scan.json -o ../../p.mha --part 4/5 -q "${options[@]}"
run 1 recon ../scan.json -o ../../p.mha --part 5/5 -q "${options[@]}"
has err 'other options or another scan, device, kernel, instruction set or release of fbp'
rm -f out err
cd ../..
run 1 recon elsewhere/scan.json -o p.mha --part 5/5 -q "${options[@]}"
has err 'other options or another scan, device, kernel, instruction set or release of fbp'
run 0 recon link.json -o p.mha --part 5/5 -q "${options[@]}"
same p.mha
clean p.mha

# One process finishes what parts have begun.
run 0 recon scan.json -o d.mha --part 1/2 -q "${options[@]}"
run 0 recon scan.json -o d.mha --resume -q "${options[@]}" --slab 6 --json
is "$(json slabs_resumed) > 0"
same d.mha

# Another program: here, one whose commit has another name.
if make_other_build other; then
    run 0 recon scan.json -o p.mha --part 1/2 -q "${options[@]}"
    LD_LIBRARY_PATH=$PWD/other run 1 recon scan.json -o p.mha --part 2/2 -q "${options[@]}"
    has err 'another release of fbp'
    run 0 recon scan.json -o p.mha --part 2/2 -q "${options[@]}"
    same p.mha
fi

# A plan says what each part takes.
run 0 plan scan.json --part 3/4
has out '^part +3 of 4; slabs, writing, memory, work and time below are those of this part'
has out '^part +3 of 4 \(this one\): slices [0-9]+ to [0-9]+'
run 0 plan scan.json --part 3/4 --json
[ "$(json part)" = 3 ] || say "$last: $(json part)"
is "$(json parts.0.updates) + $(json parts.1.updates) + $(json parts.2.updates) + $(json parts.3.updates) == 48 * 48 * 48 * 40"
run 1 plan scan.json --part 5/4
run 0 recon scan.json --plan --part 1/4

# Water is found by each part for itself.
run 0 recon scan.json -o hu1.mha --hu-from-roi 0,0,0,20 -q "${options[@]}"
for k in 1 2; do run 0 recon scan.json -o hu.mha --hu-from-roi 0,0,0,20 --part $k/2 -q "${options[@]}"; done
cmp -s hu.mha hu1.mha || say "Hounsfield units in parts"
run 0 recon scan.json -o t.mha --part 1/1 --timeline t.svg -q "${options[@]}"
exists t.svg
same t.mha

finish
