#!/usr/bin/env bash
# What simulate can make, recon can read: kinds, trajectories, panels, noise, phantom files.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

made() { # NAME OPTIONS…: simulate with truth, reconstruct, and agree within the ball's middle
    local name=$1
    shift
    run 0 simulate --phantom ball.txt --size 32 --views 72 -o "$name.json" \
        --truth "$name-truth.mha" -q "$@"
    empty out
    run 0 recon "$name.json" -o "$name-volume.mha" -q
    empty err
    run 0 compare "$name-volume.mha" "$name-truth.mha" --inside 60 --json
    is "$(json mean_a) > 0.97*$(json mean_b) && $(json mean_a) < 1.03*$(json mean_b)"
}
echo "0 0 0 80 80 80 0 0.02  # a ball" >ball.txt

made cone
made fan --detector 48x1
made parallel --kind parallel
made clockwise --arc -360 --start 30
made short --arc 225
made tilted --tilt 1,2,3
made carm --trajectory c-arm --arc 225
made offset --offset 5,0 --detector 64x48

run 0 geometry check fan.json --json
is "$(json rows) == 1 && $(json size.2) == 1"
run 0 geometry check clockwise.json --json
is "$(json direction) == -1"
run 0 geometry check short.json --json
[ "$(json coverage)" = short ] || say "$last: coverage $(json coverage)"
run 0 geometry check tilted.json --json
is "$(json tilt_deg.1) > 1.9 && $(json tilt_deg.1) < 2.1"

run 0 recon fan.json -o fan16.mha --size 16 --voxel 16 -q
run 0 info fan16.mha --json --header
is "$(json size.0) == 16 && $(json size.2) == 1 && $(json spacing_mm.0) == 16"
run 0 recon cone.json -o box.mha --size 16x20x24 --voxel 4x5x6 -q
run 0 info box.mha --json --header
is "$(json size.0) == 16 && $(json size.1) == 20 && $(json size.2) == 24"
is "$(json spacing_mm.0) == 4 && $(json spacing_mm.1) == 5 && $(json spacing_mm.2) == 6"

# An HDF5 volume holds what the MHA holds, under any name; its name is not that of a file.
run 0 recon cone.json -o cone.h5 -q
run 0 compare cone.h5 cone-volume.mha --json
is "$(json max) == 0"
run 0 recon cone.json -o named.h5:/a/b --preview named.png -q
exists named.png
run 0 compare named.h5:/a/b cone.h5:/volume --json
is "$(json max) == 0"
run 0 info cone.h5 --json --header
is "$(json spacing_mm.0) > 0 && $(json size.0) == 32"
run 1 info cone.h5:/volum
has err 'did you mean "/volume"'
run 2 recon cone.json -o cone.h6

# Where the axis falls: a panel moved by 5 mm has it 5/12.8 columns before the middle, 31.5.
sed -E 's/("offset_mm": *\[) *[-0-9.]+/\1 0/' offset.json >centred.json
! cmp -s offset.json centred.json || say "offset.json has no offset_mm"
run 0 recon centred.json -o centred.mha --centre 31.109375 -q
run 0 compare centred.mha offset-volume.mha --json
is "$(json nrmse) < 1e-5"
run 0 recon centred.json -o centred.mha -q
run 0 compare centred.mha offset-volume.mha --json
is "$(json nrmse) > 1e-3"

# Headerless flats, a file each: all that can be looked at is whether they are there.
head -c 240 /dev/zero >counts.raw
head -c 60 /dev/zero >flat_0.raw
cp flat_0.raw flat_1.raw
echo '{"fbp_scan": 1, "projections": "counts.raw", "raw": {"type": "uint16", "shape": [4, 5, 6]},
    "kind": "parallel", "detector": {"pitch_mm": 1}, "angles_deg": [0, 45, 90, 135],
    "flat": "flat_%d.raw 0 1"}' >raw.json
run 0 info raw.json
mv flat_0.raw away.raw
run 1 info raw.json
has err '^fbp: raw.json: flat: flat_0.raw: cannot open'

# Nobody waits for the writer of a named pipe, whatever the scan or geometry is called.
for pipe in pipe.json pipe.txt pipe.h5 pipe.mat pipe.xml; do
    mkfifo "$pipe"
    for command in "recon $pipe -o pipe.nrrd" "geometry check $pipe" "info $pipe"; do
        last="fbp $command" got=0
        # shellcheck disable=SC2086
        timeout -k 1 20 "$fbp" $command >out 2>err || got=$?
        [ "$got" -eq 1 ] || say "$last: status $got"
        one_line err
        has err "^fbp: $pipe: not a regular file"
    done
    rm "$pipe"
done

# Values in Hounsfield units: the ball is as dense as its water.
run 0 recon cone.json -o hu.mha --hu 0.02 -q
run 0 info hu.mha --json
[ "$(json unit)" = HU ] || say "$last: unit"
is "$(json min) < -900"

# The same seed is the same noise; another one is not; the scale multiplies.
run 0 simulate --size 16 --views 8 --noise 1e4 --scale 0.02 -o n1.json -q
run 0 simulate --size 16 --views 8 --noise 1e4 --scale 0.02 -o n2.json -q --threads 1
run 0 simulate --size 16 --views 8 --noise 1e4 --scale 0.02 -o n3.json -q --seed 2
cmp -s n1.mha n2.mha || say "noise depends on the threads"
! cmp -s n1.mha n3.mha || say "noise does not depend on the seed"

# Nothing is left under a final name when writing fails.
run 1 simulate --size 16 --views 8 -o no/such/dir/s.json
has err 'no/such/dir'
run 1 recon cone.json -o no/such/dir/v.mha
has err 'no/such/dir'
run 1 view hu.mha -o no/such/dir/p.png
run 1 simulate --phantom no-such-phantom --size 16 --views 8 -o x.json
has err 'no-such-phantom'
absent x.json
absent x.mha

# A reader that went away, a disk that is full: an error, not silence.
if [ -w /dev/full ]; then
    got=0
    "$fbp" info hu.mha >/dev/full 2>err || got=$?
    last="fbp info >/dev/full"
    [ "$got" -eq 1 ] || say "$last: status $got"
    has err 'standard output'
fi
finish
