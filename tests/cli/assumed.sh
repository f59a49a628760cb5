#!/usr/bin/env bash
# What fbp init assumed stays in the scan file, and every command says so until somebody confirms it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 16 --views 24 -o made.json -q
mkdir scan
cp made.mha scan/views.mha
run 0 init scan -o scan.json
for fact in kind detector.pitch_mm source_to_axis_mm source_to_detector_mm angles_deg i0; do
    has err "^$fact: ASSUMED: "
done
run 0 info scan.json --json
for fact in kind 'detector.pitch_mm' source_to_axis_mm source_to_detector_mm angles_deg i0; do
    grep -qF "\"$fact\":" out || say "$last: \"assumed\" lacks $fact: $(cat out)"
done

# said ARGUMENTS…: the command says it, in one line; -q silences it, --json carries it.
line='^warning: .*scan.json contains unconfirmed assumptions: .*detector.pitch_mm 1, source_to_axis_mm 750'
said() {
    run 0 "$@"
    has err "$line"
    [ "$(grep -c 'unconfirmed assumptions' err)" -eq 1 ] || say "$last: said more than once: $(cat err)"
    run 0 "$@" -q
    empty err
    run 0 "$@" --json -q
    empty err
    json warnings | grep -q 'unconfirmed assumptions.*detector.pitch_mm 1' || say "$last: no warning in $(cat out)"
}
said recon scan.json -o v.mha
said recon scan.json -o slice.png --slice 8
said recon scan.json -o sheet.png --sweep centre=11:12:0.5
said recon scan.json --plan
said plan scan.json
said info scan.json
said geometry check scan.json
said geometry show scan.json -o s.svg
said geometry convert scan.json -o s.xml
said geometry convert scan.json -o again.json
said rabbitct make scan.json -o r.rctd --references 0

# What is converted, and what takes its geometry from such a file, still assumes it.
run 0 info again.json
has err 'unconfirmed assumptions: i0 none, kind "cone", detector.pitch_mm 1, source_to_axis_mm'
cat >outer.json <<'END'
{"fbp_scan": 1, "projections": "made.mha", "geometry": "scan.json"}
END
said plan outer.json

# An option confirms what it gives, for this run.
run 0 plan scan.json --pitch 0.5 --sod 500
has err 'unconfirmed assumptions: i0 none, kind "cone", source_to_detector_mm 1200'
! grep -qE 'pitch_mm|source_to_axis_mm' err || say "$last: $(cat err)"
run 0 geometry check scan.json --pitch 0.5 --json
is "$(json size.0) > 0 && $(json sod_mm.0) == 750"
! grep -q 'pitch_mm' err || say "$last: $(cat err)"
run 0 info scan.json --json -q
grep -q '"detector.pitch_mm"' out || say "$last: confirmed for good"

# Without the list, nothing is said; a fact that is no key is an error.
sed -e '/"assumed": {/,/}/d' scan.json >certain.json
run 0 plan certain.json
! grep -q confirmed err || say "$last: $(cat err)"
sed -e 's/"detector.pitch_mm":/"detector.pitch":/' scan.json >wrong.json
run 1 plan wrong.json
has err 'wrong.json: assumed: "detector.pitch" is not a key of a scan file; did you mean "detector.pitch_mm"'
sed -e '/"assumed": {/,/}/d; s/"fbp_scan": 1,/"fbp_scan": 1, "assumed": ["kind"],/' scan.json >list.json
run 1 plan list.json
has err 'list.json: assumed: found a list of 1, expected an object'

# Nothing is assumed of what is told.
run 0 init scan --kind cone --pitch 0.5 --sod 100 --sdd 160 --arc 360 -q
empty err
[ "$(json assumed | tr -d '\n')" != "" ] || say "$last: i0 is known from nothing"
! json assumed | grep -q pitch || say "$last: $(json assumed)"

# --pitch takes the place of what a scan file says, whatever it is called.
run 0 plan certain.json --json
voxel=$(json voxel_mm.0)
for word in --pitch --pixel --pixel-size; do
    run 0 plan certain.json $word 0.25 --json
    is "$(json voxel_mm.0) < 0.2501 * $voxel && $(json voxel_mm.0) > 0.2499 * $voxel"
done
run 0 plan certain.json --pitch 0.25,0.5
run 2 plan certain.json --pitch 0
finish
