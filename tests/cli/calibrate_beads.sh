#!/usr/bin/env bash
# fbp calibrate --beads finds planted errors of the geometry from a phantom of small dense beads, states what it does
# not find, writes a scan file, and refuses views that show no such phantom.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

near() { is "($1) - ($2) <= $3 && ($2) - ($1) <= $3" || true; }

# planted NAME OPTIONS…: NAME.json is a scan file without the errors that the views of NAME-true.json have.
planted() {
    local name=$1
    shift
    run 0 simulate --phantom beads.txt --size 128 $plain "$@" -o "$name-true.json" -q
    run 0 simulate --phantom beads.txt --size 128 $plain -o "$name.json" -q
    sed -i "s/$name.mha/$name-true.mha/" "$name.json"
    run 0 calibrate "$name-true.json" --beads --json # only to get the true column and row
    column=$(json column.before) row=$(json row.before)
}
# found NAME VALUE LIMIT: a value of the last calibration, its error at most LIMIT, and inside the 95 % interval.
found() {
    [ "$(json "$1.observable")" = true ] || say "$last: $1 is not observable"
    near "$(json "$1.value")" "$2" "$3"
    near "$(json "$1.value")" "$2" "$(json "$1.uncertainty")"
}
values() {
    found column "$column" 0.02
    near "$(json row.value)" "$row" "$1" # simulated rays sample the beads' edges at points: errors that all views share
    found roll "$2" 0.01
    found yaw "$3" 0.08
    [ "$(json reliable)" = true ] || say "$last: reliable $(json reliable)"
    [ "$(json reversed)" = false ] || say "$last: reversed $(json reversed)"
}

# Eight beads in and on a cylinder; two pass one another at the same height.
cat >beads.txt <<'END'
0 0 0 50 50 300 0 .003
46 0 -70 7 7 7 0 .1
0 46 -50 7 7 7 0 .1
-46 5 -25 7 7 7 0 .1
10 -45 -10 7 7 7 0 .1
45 12 10 7 7 7 0 .1
-40 -20 10 7 7 7 0 .1
12 44 40 7 7 7 0 .1
-20 -41 65 7 7 7 0 .1
END
plain="--views 120 --noise 1e5 --sod 500 --sdd 800 --detector 128x128"
planted cone --offset 9.3,-4 --tilt 0,0.6,0.7
run 0 calibrate cone.json --json
cp out without.json
run 0 calibrate cone.json --beads -o found.json --json
values 0.15 0.7 0.6
[ "$(json pitch.observable)" = false ] || say "$last: pitch $(json pitch.observable)"
is "$(json misfit) < $(json misfit_before) / 3"
for name in column row roll; do # smaller intervals than those from the consistency of views
    is "$(json $name.uncertainty) < $("$json_get" $name.uncertainty <without.json) / 2"
done
run 0 calibrate found.json --beads --json # nothing is left to correct
found roll 0 0.01
found yaw 0 0.08
found column "$column" 0.02
run 0 calibrate cone.json --beads
has out '^method    phantom of beads'
has out '^rotation  as in the scan file'
has out '^unknown   pitch: these views do not determine them'
has out '^misfit '

# The opposite direction of rotation, and an arc that is wrong by .4 %.
sed 's/"step": 3}/"step": -2.988}/' cone.json >reversed.json
grep -q '"step": -2.988' reversed.json || say "reversed.json has other angles"
run 0 calibrate reversed.json --beads -o back.json --json
[ "$(json reversed)" = true ] || say "$last: reversed $(json reversed)"
found arc 357 0.05
found column "$column" 0.02
run 0 calibrate back.json --beads --json
found column "$column" 0.02
[ "$(json reversed)" = false ] || say "$last: reversed $(json reversed)"

# A full turn with angles so large that the views nearest to each other are the first and the last.
sed 's/"step": 3}/"step": 3.01}/' cone.json >large.json
grep -q '"step": 3.01' large.json || say "large.json has other angles"
run 0 calibrate large.json --beads --json
found arc 357 0.05

# The calibrated scan file yields the volume of the true one.
run 0 recon found.json -o found.mha -q --size 64
run 0 recon cone-true.json -o true.mha -q --size 64
run 0 recon cone.json -o wrong.mha -q --size 64
run 0 compare found.mha true.mha --json
rmse=$(json rmse)
run 0 compare wrong.mha true.mha --json
is "$rmse < $(json rmse) / 8"

# A short arc, clockwise; other distances than those of the scan file.
plain="--views 110 --arc -220 --noise 1e5 --sod 500 --sdd 800 --detector 128x128"
planted short --offset -6,5 --tilt 0,-0.5,-1.1
run 0 calibrate short.json --beads --json
values 0.15 -1.1 -0.5
sed 's/"source_to_detector_mm": 800/"source_to_detector_mm": 780/' short.json >near.json
grep -q 780 near.json || say "near.json has another distance"
run 0 calibrate near.json --beads --json
found sdd 800 3

# A panel off centre, which all beads leave in some views, and one end of the phantom in all.
plain="--views 120 --noise 1e5 --sod 500 --sdd 800 --detector 128x100"
run 0 simulate --phantom beads.txt --size 128 $plain --offset 70,20 -o far.json -q
run 0 calibrate far.json --beads --json
column=$(json column.before) row=$(json row.before)
values 0.2 0 0

# Four beads, and three.
sed -n '1p;2p;4p;7p;8p' beads.txt >four.txt && sed -n '1p;3p;5p;9p' beads.txt >three.txt
for name in four three; do
    run 0 simulate --phantom $name.txt --size 128 --views 90 --noise 1e5 --sod 500 --sdd 800 --detector 128x128 -o $name.json -q
    run 0 calibrate $name.json --beads --json
    column=$(json column.before) row=$(json row.before)
    values 0.2 0 0
done

# Refusals
sed -n 1,2p beads.txt >one.txt && sed -n 1p beads.txt >none.txt
for name in one none; do
    run 0 simulate --phantom $name.txt --size 64 --views 60 --noise 1e5 --sod 500 --sdd 800 -o $name.json -q
    run 1 calibrate $name.json --beads -o refused.json
    one_line err
done
has err 'calibrate: found 0 isolated beads .*, expected at least 2 in a sixth of the views; omit the option beads'
absent refused.json
run 0 simulate --phantom beads.txt --size 64 --views 23 --sod 500 --sdd 800 -o few.json -q
run 1 calibrate few.json --beads
has err 'calibrate: found 23 views, expected at least 24 for a phantom of beads'
run 0 simulate --phantom beads.txt --size 64 --views 60 --kind parallel -o parallel.json -q
run 1 calibrate parallel.json --beads
has err 'calibrate: a phantom of beads needs a cone beam and at least 24 rows'
run 0 simulate --size 64 --views 60 --noise 1e5 --sod 500 --sdd 800 -o head.json -q # no phantom of beads
"$fbp" calibrate head.json --beads --json >out 2>err && last="calibrate head.json" &&
    { [ "$(json reliable)" = false ] || say "$last: reliable $(json reliable)"; }

finish
