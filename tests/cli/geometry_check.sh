#!/usr/bin/env bash
# fbp geometry: files of other programs, and what a scan that is read wrongly would look like.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Three balls, none of them in the middle; and their mirror image, y for -y.
printf '0 0 0 80 80 80 0 0.02\n60 20 10 12 12 12 0 0.02\n-20 55 -30 9 9 9 0 0.03\n' >balls.txt
printf '0 0 0 80 80 80 0 0.02\n60 -20 10 12 12 12 0 0.02\n-20 -55 -30 9 9 9 0 0.03\n' >mirror.txt
printf '0 0 0 80 80 80 0 0.02\n60 20 -10 12 12 12 0 0.02\n-20 55 30 9 9 9 0 0.03\n' >down.txt
for name in balls mirror down; do
    run 0 simulate --phantom $name.txt --size 32 --views 60 -o $name.json -q
    run 0 recon $name.json -o $name-volume.mha -q
done

# What the check says is what a reconstruction shows.
run 0 geometry check balls.json --json
[ "$(json flips.u.sharp)$(json flips.direction.sharp)" = falsefalse ] || say "$last: columns"
[ "$(json 'flips.u+direction.sharp')" = true ] || say "$last: columns and direction"
[ "$(json flips.v.sharp)$(json flips.v.upside_down)" = truetrue ] || say "$last: rows"
[ "$(json 'flips.u+v+direction.sharp')" = true ] || say "$last: all three"
is "$(json flips.u.rms_mm) > 5 && $(json 'flips.u+direction.max_mm') < 1e-6"
run 0 recon balls.json -o both.mha -q --flip-u --reverse
run 0 compare both.mha mirror-volume.mha --tolerance 1e-7
run 0 recon balls.json -o rows.mha -q --flip-v
run 0 compare rows.mha down-volume.mha --tolerance 1e-7
run 0 recon balls.json -o columns.mha -q --flip-u
run 1 compare columns.mha mirror-volume.mha --tolerance 1e-4
run 0 geometry check balls.json --flip-u --reverse --json
is "$(json direction) == -1"
sed 's/"fbp_scan": 1/"fbp_scan": 1, "flip": ["u", "direction"]/' balls.json >key.json
run 0 recon key.json -o key.mha -q
cmp -s key.mha both.mha || say "the key flip is not --flip-u --reverse"

# An offset detector tells its columns; a parallel beam tells nothing.
run 0 simulate --phantom balls.txt --size 32 --views 60 --offset 40,0 -o offset.json -q
run 0 geometry check offset.json
has out 'flipped columns shift the axis by [0-9.]+ columns'
has out "^weights +Wang's"
run 0 simulate --phantom balls.txt --size 32 --views 60 --kind parallel -o parallel.json -q
run 0 geometry check parallel.json --json
[ "$(json flips.u.sharp)$(json flips.direction.sharp)$(json flips.u.mirrored)" = truetruefalse ] ||
    say "$last: parallel"
run 0 geometry check balls.json
has out '^if flipped +columns +blurred'
has out 'columns\+direction +sharp and mirrored, left and right exchanged; the data do not show this error'
has out 'theta 0 \(TIGRE\), which is alpha 90 \(RTK, ASTRA, LEAP\)'
has out '^axis +is projected to column 23.5 at the bottom, 23.5 at the top'

# A scan that cannot be reconstructed is looked at all the same: what is wrong is said, with the rest.
sed -E 's/"offset_mm": *\[[^]]*\]/"offset_mm": [400, 0]/' balls.json >out.json
run 1 geometry check out.json
has err '^fbp: out.json: geometry: the rotation axis is outside the panel'
has out '^angles +full, offset-detector scan: 360 degrees'
has out '^iso-centre +is projected to column -'
run 1 geometry check out.json --json
is "$(json views) == 60 && $(json iso_centre.column.max) < -0.5"
json error | grep -q '^out.json: geometry: the rotation axis' || say "$last: error"
run 1 geometry show out.json -o no.svg
has err '^fbp: out.json: '
absent no.svg
sed -E 's/"voxel_mm": *\[[^]]*\]/"voxel_mm": [60, 60, 60]/' balls.json >large.json
run 1 geometry check large.json
has err '^fbp: large.json: geometry: the volume extends to the source'
has out '^warning +the volume extends beyond the source in 60 views'
has out '^if flipped +columns'
sed -E 's/"pitch_mm": *\[[^]]*\]/"pitch_mm": [8500, 8500]/' balls.json >um.json
run 0 geometry check um.json
has out '^warning +the fan angle is 179[0-9.]* degrees, which is unusually wide; check that the pixel pitch is in mm'
run 0 recon um.json -o null: --size 8 --voxel 10
has err '^warning: the fan angle is 179[0-9.]* degrees, which is unusually wide; check that the pixel pitch is in mm'
run 0 plan um.json --size 8 --voxel 10
has err '^warning: the fan angle is 179'
sed -E 's/"step": *[0-9.]+/"step": 0.10471976/' balls.json >radians.json
run 0 geometry check radians.json
has out '^warning +the angles cover only 6.28319 degrees'
has out '353.717 degrees of the turn are not measured'
run 0 recon radians.json -o null: --json
has out '"the angles cover only 6.28319 degrees'
run 0 recon balls.json -o null:
[ "$(grep '^warning' err | grep -vc 'FDK is exact')" -eq 0 ] || say "$last: warns of an ordinary scan"
sed -E 's/"step": *[0-9.]+/"step": 360/' balls.json >same.json
run 1 geometry check same.json
has out '^angles +partial scan: 1 angle; 20'
has err '^fbp: same.json: all views have the same angle, 360 degrees, but a volume needs'
run 1 recon same.json -o same.mha
has err '^fbp: .*balls.mha: all views have the same angle, 360 degrees.*; check the angles'
absent same.mha
sed -E 's/"step": *[0-9.]+/"step": 180/' balls.json >pair.json
run 0 geometry check pair.json --json
[ "$(json coverage)" = partial ] || say "$last: $(json coverage)"
is "$(json angles) == 2"
run 0 recon pair.json -o null:
has err '^60 views at 2 angles do not determine a volume'
run 0 simulate --kind parallel --size 16 --views 60 --arc 180 -o half.json -q
run 0 geometry check half.json
has out "^weights +no redundancy weights: parallel views count modulo 180 degrees"
has out 'largest gap in addition to a step 0, modulo 180'

# A helix is no circle, whatever file it comes from.
leap() { # pitch in mm a radian
    cat >leap.cfg <<END
geometry = cone
numAngles = 120
numRows = 32
numCols = 48
pixelHeight = 2
pixelWidth = 2
centerRow = 15.5
centerCol = 23.5
phis = $(seq -s, 0 3 357)
sod = 500
sdd = 750
helicalPitch = $1
END
}
leap 8
run 1 geometry check leap.cfg
has err '50.27 mm per turn, 49.85 mm in total, with a field of view 42.67 mm high; helical scans are not supported'
run 0 geometry convert leap.cfg -o helix.txt --to-format matrices -q
run 1 geometry check helix.txt --detector 48x32 --pitch 2,2
has err '50.27 mm per turn'
run 0 geometry convert leap.cfg -o helix.json --to-format fbp -q
head -c $((120 * 32 * 48 * 4)) /dev/zero >helix.raw
sed 's/"fbp_scan": *1,/&"projections":"helix.raw","raw":{"type":"float32","shape":[120,32,48]},/' \
    helix.json >helix-scan.json
run 1 recon helix-scan.json -o volume.mha
has err '50.27 mm per turn'
[ ! -e volume.mha ] || say "$last: wrote a volume"
run 1 recon helix-scan.json --plan
has err 'helical scans are not supported'
leap 1
run 0 geometry check leap.cfg
has out '^warning +the views move along the axis by 6.283 mm per turn'
leap 0
run 0 geometry check leap.cfg --json
is "$(json axial_drift_mm) < 1e-9 && $(json pitch_mm) == 0"

# A rolled panel is no reason to warn: views are resampled.
run 0 simulate --size 32 --views 60 --offset 60,0 --tilt 0,0,2 -o rolled.json -q
run 0 geometry check rolled.json
! grep '^warning' out | grep -qv 'FDK is exact' || say "$last: warns"
run 0 recon rolled.json -o hash:
has err 'detector rolled by 2 deg: resampled to an upright one of'
run 0 recon rolled.json --plan
has out 'prepared .*detector rolled by 2 deg'

# Files of other programs, and what they lack.
run 0 geometry convert balls.json -o tigre.json --to-format tigre -q
run 0 geometry check tigre.json --json
is "$(json views) == 60 && $(json direction) == 1 && $(json columns) == 48"
run 0 geometry convert balls.json -o m.txt -q
run 1 geometry check m.txt
has err '--detector'
run 0 geometry check m.txt --detector 48x48 --pitch 8.5,8.5
run 0 geometry show m.txt --detector 48x48 --pitch 8.5,8.5 -o setup.svg
exists setup.svg
run 1 geometry check tigre.json --from-format nikon
run 1 geometry convert balls.json -o no.mat
has err 'can be read, but not written'
absent no.mat
run 1 recon tigre.json -o v.mha
has err 'without projections'
run 2 geometry check m.txt --matrix-origin middle
has err 'expected center or corner'
finish
