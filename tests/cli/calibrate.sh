#!/usr/bin/env bash
# fbp calibrate finds planted errors of the geometry, states what it does not find, and writes a scan file;
# --centre auto recognises the wrong direction of rotation.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cat >object.txt <<'END'
0 0 0 84 66 72 0 0.01
36 14 12 29 24 29 10 .01
-42 -24 -29 20 20 17 0 .015
6 -50 37 11 11 11 0 .02
48 7 -50 7 7 7 0 .02
-14 44 -14 14 10 14 20 -.006
12 0 48 24 11 6 40 .01
END
# planted NAME OPTIONS…: NAME.json is a scan file without the errors that the views of NAME-true.json have.
planted() {
    local name=$1
    shift
    run 0 simulate --phantom object.txt --size 96 --detector 112x112 "$@" -o "$name-true.json" -q
    run 0 simulate --phantom object.txt --size 96 --detector 112x112 $plain -o "$name.json" -q
    sed -i "s/$name.mha/$name-true.mha/" "$name.json"
}
near() { is "($1) - ($2) <= $3 && ($2) - ($1) <= $3" || true; }

# A cone: column and roll to a twentieth of a pixel and a degree, the row, the direction, and the arc.
plain="--views 120 --noise 1e6 --sod 500 --sdd 800" # as the scan file describes it
planted cone $plain --offset 9.3,-4 --tilt 0,0,0.7
run 0 calibrate cone-true.json --json
column=$(json column.before) row=$(json row.before)
near "$(json column.value)" "$column" 0.06
near "$(json roll.value)" 0 0.03
run 0 calibrate cone.json -o found.json --json
near "$(json column.value)" "$column" 0.06
near "$(json roll.value)" 0.7 0.03
near "$(json row.value)" "$row" 0.3
is "$row - $(json row.before) < -0.5 || $row - $(json row.before) > 0.5"
[ "$(json reversed)" = false ] || say "$last: reversed $(json reversed)"
[ "$(json reliable)" = true ] || say "$last: reliable $(json reliable)"
[ "$(json pitch.observable)" = false ] || say "$last: pitch $(json pitch.observable)"
is "$(json misfit) < $(json misfit_before) / 3"
has found.json '"tilt_deg": \[.*0\.[67]'
run 0 calibrate found.json --json # nothing is left to correct
near "$(json roll.value)" 0 0.05
near "$(json column.value)" "$(json column.before)" 0.05
run 0 recon found.json -o found.mha -q
run 0 recon cone-true.json -o true.mha -q
run 0 recon cone.json -o wrong.mha -q
run 0 compare found.mha true.mha --json
rmse=$(json rmse)
run 0 compare wrong.mha true.mha --json
is "$rmse < $(json rmse) / 8"

sed 's/"step": 3}/"step": -3}/' cone.json >reversed.json
grep -q '"step": -3' reversed.json || say "reversed.json has other angles"
run 0 calibrate reversed.json -o found.json
has out '^rotation  opposite to that of the scan file'
has out '^unknown .*pitch.*: these views do not determine them'
grep -q '"step": 3' found.json || say "found.json: $(tail -3 found.json)"
run 0 recon reversed.json --centre auto --slice 48 -o slice.mha
has err 'NOT RELIABLE'
has err 'fit the opposite direction of rotation.*--reverse or with --flip-u'
run 0 recon reversed.json --reverse --centre auto --slice 48 -o slice.mha
has err '^centre: column'

sed 's/"step": 3}/"step": 2.99}/' cone.json >arc.json
run 0 calibrate arc.json --json
near "$(json arc.value)" 357 0.15
# With these angles, the first and the last view are nearer to each other than all other neighbours.
sed 's/"step": 3}/"step": 3.01}/' cone.json >large.json
run 0 calibrate large.json --json
near "$(json arc.value)" 357 0.15

# Parallel beams: column and roll; the direction of rotation is not observable.
plain="--kind parallel --views 120 --arc 180 --noise 1e6"
planted parallel $plain --offset 4.1,0 --tilt 0,0,-0.9
run 0 calibrate parallel-true.json --json
column=$(json column.before)
run 0 calibrate parallel.json --json
near "$(json column.value)" "$column" 0.06
near "$(json roll.value)" -0.9 0.1
run 0 calibrate parallel.json
has out '^rotation  direction not observable'

# Every second view is said to be 2 mm, .75 pixel, higher than it is.
run 0 simulate --phantom object.txt --size 96 --views 90 --kind parallel --arc 180 --noise 1e6 -o still.json -q
offsets=$(for k in $(seq 90); do printf '[0, %s], ' $((k % 2 * 2)); done)
sed "s/\"offset_mm\": \[0, 0\]/\"offset_mm\": [${offsets%, }]/" still.json >moved.json
run 0 calibrate moved.json --drift --json -o fixed.json
near "$(json drift_v.range)" 0.75 0.03
[ "$(json drift_v.found) $(json drift_v.slow)" = "true true" ] || say "$last: drift_v $(json drift_v.found)"
[ "$(json drift_u.found)" = false ] || say "$last: drift_u $(json drift_u.found)"
has fixed.json '"offset_mm": \[\[.*\], \[.*\]\]'
run 0 calibrate fixed.json --drift # nothing is left to correct
has out '^drift_v   none'
has out '^drift_u   none'
run 2 calibrate moved.json --drift --beads
has err '--drift: excludes --beads; omit one of the two'

# A fan: the column and the direction only.
plain="--views 180 --noise 1e6 --sod 500 --sdd 800 --detector 112x1"
planted fan $plain --offset -7.7,0
run 0 calibrate fan-true.json --json
column=$(json column.before)
run 0 calibrate fan.json --json
near "$(json column.value)" "$column" 0.06
[ "$(json roll.observable)" = false ] || say "$last: roll $(json roll.observable)"
[ "$(json reversed)" = false ] || say "$last: reversed $(json reversed)"
sed 's/"step": 2}/"step": -2}/' fan.json >reversed.json
run 0 calibrate reversed.json --json
[ "$(json reversed)" = true ] || say "$last: reversed $(json reversed)"

# Refusals
run 0 simulate --kind planes --directions solid-angle:4 --size 9 --phantom ellipsoid -o planes.json -q
run 1 calibrate planes.json
has err 'calibrate: .*plane'
run 0 simulate --size 32 --views 12 -o few.json -q
run 1 calibrate few.json
has err 'calibrate: found 12 views, expected at least 30'
run 2 calibrate cone.json -o found.mha
has err 'ends in .json'
absent found.mha.json

finish
