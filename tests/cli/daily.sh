#!/usr/bin/env bash
# One slice, sweeps, Hounsfield units from a region, first guesses of scan files.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 48 --views 90 --scale 0.02 -o scan.json -q

# A slice is the volume's slice, from the rows it needs.
run 0 recon scan.json -o volume.mha --preview volume.png
has out '^volume.png: black at .*, white at '
run 0 recon scan.json --slice 12 -o slice.mha --json
is "$(json size.0) == 48 && $(json size.2) == 1 && $(json slice.index) == 12"
is "$(json slice.z_mm) < -61.3 && $(json slice.z_mm) > -61.4"
is "$(json slice.rows.0) > 15 && $(json slice.rows.1) < 33"
run 0 recon scan.json --size 48x48x1 --voxel 5.33333333333 -o null: --json
run 0 info slice.mha --header --json
is "$(json origin_mm.2) < -61.3 && $(json origin_mm.2) > -61.4"
run 0 recon scan.json --slice 24 --size 48x48x49 -o middle.mha -q # z = 0
run 0 recon scan.json --size 48x48x1 -o one.mha -q
run 0 compare middle.mha one.mha --json
is "$(json rmse) < 1e-7"
run 0 recon scan.json --slice 12 -o slice.png
has out '^slice 12, z = -61.3333 mm, from detector rows '
has out '^slice.png: black at .*, white at '
exists slice.png
run 0 recon scan.json --slice 0 -o hash: -q
has out '^[0-9a-f]{16}$'
run 0 simulate --size 24 --views 24 --detector 96x3 -o flat.json -q
run 0 recon flat.json --size 24x24x24 --slice 20 -o null: # no detector row sees it
has out '^slice 20, z = .* mm, beyond all detector rows$'
run 0 recon flat.json --size 24x24x24 --slice 20:22 -o null:
has out ' mm, beyond all detector rows$'
run 1 recon scan.json --slice 48 -o late.mha
has err 'slice 48 does not exist; the volume has slices 0 to 47'
run 1 recon scan.json --slice 1 -o missing/slice.png
has err 'the output folder is missing'

# Slices and boxes are the volume's, bit by bit, and lie where it has them.
run 0 recon scan.json -o whole.npy -q
run 0 recon scan.json --slice 12:15 -o part.mha --json
[ "$(json kernel)" != matrix ] || say "$last: the kernel is not the volume's"
is "$(json size.0) == 48 && $(json size.2) == 3 && $(json roi.z.0) == 12 && $(json roi.z.1) == 15"
is "$(json roi.of.2) == 48 && $(json roi.rows.0) > 15 && $(json roi.rows.1) < 36"
run 0 info part.mha --header --json
is "$(json origin_mm.2) < -61.3 && $(json origin_mm.2) > -61.4"
run 0 recon scan.json --slice 12:15 -o part.npy --preview part.png
has out '^voxels 0:48,0:48,12:15 of 48 x 48 x 48, z = -61.3333 to -50.6667 mm, from detector rows '
has out '^part.png: black at .*, white at '
tail -c $((3 * 48 * 48 * 4)) part.npy >part.bits
tail -c $((48 * 48 * 48 * 4)) whole.npy | tail -c +$((12 * 48 * 48 * 4 + 1)) |
    head -c $((3 * 48 * 48 * 4)) | cmp - part.bits || say "$last: other bits than the volume's"
run 0 recon scan.json --roi :,:,12:15 -o box.npy -q
cmp -s part.npy box.npy || say "--roi and --slice of the same slices differ"
run 0 recon scan.json --roi 3:9,40:,47:48 -o box.png
has out '^voxels 3:9,40:48,47:48 of '
exists box.png
run 0 recon scan.json --roi 3:9,40:,20:23 -o 'box/%02d.tif' -q
exists box/02.tif
absent box/03.tif
run 0 plan scan.json --roi 3:9,40:,20:23 --kernel rot180 --json
is "$(json size.0) == 6 && $(json size.1) == 8 && $(json size.2) == 3 && $(json roi.y.1) == 48"
whole=$(json updates)
has err 'kernel rot180 computes whole slices, 48 times as many voxels as the box; --kernel column computes '
run 0 plan scan.json --roi 3:9,40:,20:23 --kernel column --json
is "48 * $(json updates) <= $whole"
grep -qv 'FDK is exact' err && say "$last: $(cat err)"
run 0 plan scan.json
has err '^90 views are not divisible by 4, .* with 92 views it can be'
run 0 plan scan.json --slice 46:
has out '^of +48 x 48 x 48 .*: voxels 0:48,0:48,46:48$'
run 0 recon scan.json --slice 20:30 --sweep centre=34:37:0.5 -o sheet.png
has out 'in slice 25; 70 slices in '
run 1 recon scan.json --slice 40:49 -o late.mha
has err 'slice 48 does not exist; the volume has slices 0 to 47'
run 1 recon scan.json --roi 3:9,40:,20:49 -o late.mha
has err '--roi: voxels 20:49 along z are no range of the volume, which has 0:48'
absent late.mha
for wrong in "--slice 3 --roi :,:,:" "--slice 5:5" "--roi 5:6" "--slice 3:5 -o v.png" \
    "--roi :,:,: --sweep centre=34:37:1 -o v.png"; do
    # shellcheck disable=SC2086
    run 2 recon scan.json -o v.mha $wrong
    empty out
    one_line err
done

# What is outside the field of view is no number, and nothing that looks at the volume takes it for one.
wide="--size 48 --voxel 8"
# shellcheck disable=SC2086
run 0 recon scan.json $wide -o zero.mha --mask 0 --json -q
cp out zero.json
# shellcheck disable=SC2086
run 0 recon scan.json $wide -o nan.mha --mask nan --preview nan.png --json -q
for key in min max mean; do
    [ "$(json $key)" = "$("$json_get" $key <zero.json)" ] || say "$last: $key: $(cat out)"
done
exists nan.png
run 0 info nan.mha --json
is "$(json not_finite) > 1000"
[ "$(json not_finite)" != null ] && [ "$(json min)" != null ] && [ "$(json mean)" != null ] || say "$last: $(cat out)"
run 0 view nan.mha -o mip.png --mip --json
is "$(json window.1) > 0.01"
run 0 compare nan.mha nan.mha --json
is "$(json max) == 0 && $(json rmse) == 0 && $(json count) > 1000 && $(json count) + $(json not_finite) == 48*48*48"
run 0 compare nan.mha nan.mha
has out '^excluded [0-9]* \(NaN, or the same infinity, in both\)$'
run 1 compare nan.mha zero.mha --tolerance 1e9
# shellcheck disable=SC2086
run 0 recon scan.json $wide -o nan.nii --mask NaN -q
run 0 compare nan.nii nan.mha --tolerance 0
run 0 recon scan.json --slice 24 -o nan.png --mask nan --force -q
run 0 recon scan.json --sweep centre=34:37:0.5 -o sheet.png --mask nan --force --json -q
is "$(json best) > 35 && $(json best) < 36"
for type in "uint8 --output-range auto" "uint16 --output-range 0,0.05" "uint16 --hu 0.02"; do
    # shellcheck disable=SC2086
    run 1 recon scan.json -o integers.mha --mask nan --output-type $type
    has err 'cannot store NaN, the value outside the field of view; give another value \(--mask\), or write float32'
    one_line err
done

# Fewer views, larger pixels; columns are those of the files.
run 0 recon scan.json --every 4 --bin 2 -o few.mha --json
is "$(json size.0) == 48 && $(json min) < 0 && $(json max) > 0.01"
has err 'one of every 4 views: 23 of 90; means of 2 x 2 pixels: 36 columns and 36 rows$'
run 0 recon scan.json --bin 5 -o few.mha
has err 'unused at the edges: 2 of 72 columns, 2 of 72 rows$'
run 0 recon scan.json --bin 2 --centre 30 -o few.mha -q
run 0 recon scan.json --bin 2 --sweep centre=34.5:36.5:0.25 -o sheet.png --json
is "$(json best) > 35.25 && $(json best) < 35.75"
# Selected views: options, keys and --every agree; the weights are those of the remaining angles.
run 0 recon scan.json --every 2 -o half.mha -q
evens=$(seq -s , 0 2 88)
run 0 recon scan.json --views "$evens" -o views.mha
has err 'selected views: 45 of 90$'
run 0 compare half.mha views.mha --tolerance 0
run 0 recon scan.json --skip "$(seq -s , 1 2 89)" -o views.mha -q
run 0 compare half.mha views.mha --tolerance 0
run 0 recon scan.json --views 0:40,50: --skip 60:80,3 --every 2 --bin 2 -o views.mha --force -q
sed 's|^{|{"use_views": ":40,50:90", "skip": [3, '"$(seq -s ', ' 60 79)"'],|' scan.json >some.json
run 0 recon some.json --every 2 --bin 2 -o keys.mha
has err 'selected views: 30 of 90; means'
run 0 compare keys.mha views.mha --tolerance 0
run 0 recon some.json --skip 20: -o keys.mha -q # in addition to the keys
run 0 recon scan.json --views :20 --skip 3 -o views.mha -q
run 0 compare keys.mha views.mha --tolerance 0
run 1 geometry convert some.json -o some.xml
has err 'remove "skip" and "use_views" from the scan file'
for bad in 17, a 5:5 9:3 ,2 1-3 "1 2" 99999999999999999999 -1; do
    run 1 recon scan.json --skip "$bad" -o no.mha
    has err '^fbp: --skip: ".*": expected views, such as 17,42 or 0:100,110:'
done
run 1 recon scan.json --views 80:91 -o no.mha
has err '^fbp: --views: "80:91": the scan has only views 0 to 89'
run 1 recon scan.json --skip : -o no.mha
has err '^fbp: scan: no view is left'
sed 's|^{|{"skip": 90,|' scan.json >wrong.json
run 1 recon wrong.json -o no.mha
has err 'wrong.json: skip: "90": the scan has only views 0 to 89'
run 0 plan scan.json --every 2 --json
is "$(json input_bytes) < 1.01 * 45 * 72 * 72 * 4"
run 1 recon scan.json --bin 73 -o late.mha
has err 'bin: found 73, expected 1 to 72, the number of detector columns'
run 2 recon scan.json --bin 2 --follow -o late.mha
has err 'omit --every, --bin, --views and --skip'
run 2 recon scan.json --skip 3 --follow -o late.mha
has err 'omit --every, --bin, --views and --skip'
absent late.mha
sed 's/\[48, 48, 48\]/[48, 48, 24]/' scan.json >low.json
run 0 recon low.json --size 12 -o null:
has err '^--size 12: voxels are no cubes, but .*; for cubes, give --size 12x12x6 --voxel '
run 0 recon low.json --size 12x12x6 -o null:
! grep -q 'no cubes' err || say "$last: $(cat err)"
run 0 recon scan.json --size 12 -o null:
! grep -q 'no cubes' err || say "$last: $(cat err)"
run 0 recon scan.json --volume-centre 1,-2,30.5 --size 8 --voxel 4 -o there.mha -q
run 0 info there.mha --header --json
is "$(json origin_mm.0) == -13 && $(json origin_mm.1) == -16 && $(json origin_mm.2) == 16.5"

for wrong in "-o v.png" "--slice 1 -o v.png --preview p.png" "--slice 1 -o v.png --resume" \
    "--slice 1.5 -o v.mha" "--slice 1 -o v.jpg" "--centre x -o v.mha"; do
    # shellcheck disable=SC2086
    run 2 recon scan.json $wrong
    empty out
    one_line err
done
cp scan.mha scan.copy
run 1 recon scan.json --slice 3 -o scan.mha
cmp -s scan.mha scan.copy || say "$last: the projections were changed"

for name in flat.png flat.svg; do # whatever it is called
    cp scan.mha $name
    sed 's/"projections"/"flat": "'$name'", "projections"/' scan.json >flat.json
    run 1 recon flat.json -o late.mha --preview flat.png --timeline flat.svg
    has err 'flat\.(png|svg): this output would overwrite'
    cmp -s scan.mha $name || say "$last: $name was replaced"
    absent late.mha
done
run 1 recon flat.json --slice 3 -o flat.svg.png --timeline flat.svg
cp scan.mha flat.png
sed -i 's/flat.svg/flat.png/' flat.json
run 1 recon flat.json --slice 3 -o flat.png
run 1 recon flat.json --sweep centre=20:22:1 -o flat.png
cmp -s scan.mha flat.png || say "$last: flat.png was replaced"

# The axis is beside the middle, and no file says so: the sweep finds it, of every kind of scan.
sweep_finds() { # NAME VALUE WITHIN SWEEP
    run 0 recon "$1".json --sweep "$4" -o "$1".png --curve "$1".svg --json -q
    is "$(json best) - $2 < $3 && $2 - $(json best) < $3"
    [ "$(json at_end)" = false ] || say "$last: the best is at the end"
    exists "$1".png
    grep -q 'class="best"' "$1".svg || say "$last: the curve marks no best"
}
n=0
for kind in "cone --views 120" "cone --views 140 --arc 220" "parallel --views 120 --arc 180"; do
    for noise in "" "--noise 2e4"; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        run 0 simulate --kind $kind $noise --size 64 --voxel 1 --pitch 1 --detector 112x112 --sod 400 \
            --sdd 401 --scale 0.02 --offset 3.25,0 -o beside$n.json -q
        sed -E 's/"offset_mm": *\[[^]]*\]/"offset_mm": [0, 0]/' beside$n.json >off$n.json
        sweep_finds off$n 52.25 0.25 centre=48:58:0.5
    done
done
sweep_finds off1 3.25 0.25 offset=0:6:0.5
run 0 recon off1.json --centre 52.25 --size 64 --voxel 1 -o centred.mha -q
run 0 recon off1.json --centre auto --size 64 --voxel 1 -o auto.mha --json
is "$(json centre.column) > 52.15 && $(json centre.column) < 52.35"
[ "$(json centre.sure)" = true ] || say "$last: not sure"
found=$(json centre.column)
has err "^centre: column [0-9.]+, give or take [0-9.]+; --centre [0-9.]+ repeats this choice\$"
run 0 recon off1.json --centre auto --bin 2 --size 64 --voxel 1 -o auto2.mha
has out "^rotation axis on column ${found:0:6}" # of the files, whatever is binned
run 0 recon off1.json --centre auto --sweep tilt=-1:1:0.5 -o sheet.png -q
run 0 plan off1.json --centre auto
run 2 recon off1.json --centre auto --follow -o late.mha
has err 'auto needs the complete scan'
run 2 recon off1.json --centre auto --offset 3 -o late.mha
run 2 geometry check off1.json --centre auto
run 0 simulate --size 32 --views 40 --arc 120 -o third.json -q
run 1 recon third.json --centre auto -o late.mha
has err 'too few rays from both sides; use --sweep centre='
head -c 100000 /dev/urandom >noise.raw
cat >noise.json <<'END'
{"fbp_scan": 1, "kind": "parallel", "projections": "noise.raw",
 "raw": {"type": "uint8", "shape": [50, 20, 100]}, "detector": {"pitch_mm": 1},
 "angles_deg": {"start": 0, "step": 7.2}, "volume": {"size": [40, 40, 4], "voxel_mm": 1}}
END
run 0 recon noise.json --centre auto -o noise.mha -q
has err '^warning: column .* of the rotation axis is NOT RELIABLE'
run 0 recon noise.json --centre auto -o noise.mha --json -q
[ "$(json centre.sure)" = false ] || say "$last: sure"
run 0 recon beside1.json --size 64 --voxel 1 -o told.mha -q
run 0 compare centred.mha told.mha --json
is "$(json nrmse) < 1e-5"

# A turned panel, seen in two slices; of rods, since a ball in the middle looks the same however it
# is turned.
printf '%s\n' "0 0 0 40 36 200 0 0.01" "20 5 0 5 4 200 0 0.02" "-12 14 0 3 6 200 30 0.02" \
    "-4 -22 0 7 3 200 10 0.01" "10 -10 0 2 2 200 0 0.03" >rods.txt
for tilt in 0 0.8; do
    run 0 simulate --phantom rods.txt --size 96 --voxel 1 --views 160 --pitch 1.5 \
        --detector 160x160 --sod 400 --sdd 600 --tilt 0,0,$tilt -o turned$tilt.json -q
done
sed 's/turned0.mha/turned0.8.mha/' turned0.json >untold.json
sweep_finds untold 0.8 0.25 tilt=-1.6:2:0.2

# The panel's centre is found where it is also where the panel is turned, and shifted along its columns.
run 0 simulate --phantom rods.txt --size 64 --voxel 1.5 --views 160 --pitch 1.5 --detector 160x220 \
    --sod 400 --sdd 600 --tilt 0,0,1.5 --offset 6,60 -o shifted.json -q
sweep_finds shifted 6 0.4 offset=3:9:0.5

# What a sweep finds can be used, and kept, whatever says where source and panel are: a circle, a
# parallel beam, a file of another program, a whole scan of one.
run 0 simulate --size 32 --views 40 --offset 5,0 -o circle.json -q
run 0 simulate --size 32 --views 40 --kind parallel --arc 180 --offset 5,0 -o beam.json -q
run 0 geometry convert circle.json -o g.xml -q
echo '{"fbp_scan": 1, "projections": "circle.mha", "geometry": "g.xml"}' >foreign.json
mkdir whole
for k in 0 1 2 3 4 5; do
    run 0 simulate --size 32 --views 1 --start $((k * 60)) --detector 48x48 -o whole/k.json -q
    mv whole/k.mha whole/foo_000$((k + 1)).tif
done
printf '%s\n' '[XTekCT]' Name=foo DetectorPixelsX=48 DetectorPixelsY=48 Projections=6 \
    WhiteLevel=60000 DetectorPixelSizeX=12.8 DetectorPixelSizeY=12.8 SrcToObject=750 \
    SrcToDetector=1200 AngularStep=60 >whole/foo.xtekct
can_be_used() { # SCAN PARAMETER=FROM:TO:STEP OTHER OPTIONS…
    local scan=$1 sweep=$2 best name=${2%%=*}
    shift 2
    run 0 recon "$scan" --sweep "$sweep" "$@" -o used.png --json -q
    best=$(json best)
    run 0 recon "$scan" "--$name" "$best" "$@" -o used.mha -q
    run 0 recon "$scan" "$@" -o unused.mha -q
    ! cmp -s used.mha unused.mha || say "$scan: --$name $best changes nothing"
    run 0 geometry convert "$scan" "--$name" "$best" "$@" -o kept.json -q
    run 0 recon kept.json -o kept.mha -q
    run 0 compare kept.mha used.mha --json
    is "$(json nrmse) < 1e-4"
}
for scan in circle.json foreign.json whole/foo.xtekct beam.json; do
    can_be_used $scan centre=20:26:1
    can_be_used $scan offset=-1:9:1
    can_be_used $scan tilt=-2:2:0.7 --centre 23
    [ $scan != beam.json ] || continue
    can_be_used $scan sod=700:800:20
    can_be_used $scan sdd=1100:1300:60 --sod 740 --flip-v
done

# Real data of a synchrotron, where it is and can be read: 296.0 within half a pixel.
tooth=$here/../../../shared/data/tooth_parallel_aps/tooth.h5
if "$fbp" recon "$tooth" --slice 0 -o null: -q >out 2>err; then
    mkdir tooth
    ln -s "$tooth" tooth/tooth.h5
    run 1 init tooth
    has err 'tooth.h5: describes a complete scan'
    ln -s "$tooth" tooth.h5
    for slice in 0 1; do
        run 0 recon tooth.h5 --slice $slice --sweep centre=292:300:0.5 -o tooth.png --json -q
        is "$(json best) > 295.5 && $(json best) < 296.5"
    done
fi

# What it prints, also with a score that is the other; negativity finds half turns.
run 0 recon off3.json --sweep center=50:54:0.5 --score negativity -o sheet.png
has out '^centre \[column\] +negativity'
has out '^52[^ ]* +-0\.[0-9]+  \*$'
has out '^best centre: 52\.[0-9]+ column, in slice '
has out '^use it: --centre 52\.'
run 0 recon off1.json --sweep centre=54:56:0.5 -o sheet.png
has out 'at the end of the range'
run 0 recon off1.json --sweep sdd=395:405:5 -o sheet.png
has out 'so the best value is uncertain'
has out '^best sdd'
has out '^use it: --sdd '
has out '^to store it: fbp geometry convert off1.json --sdd [0-9.]+ -o FILE.json'
run 0 recon off1.json --sweep tilt=0:1:0.5 --centre 52 --flip-u -o sheet.png
has out '^use it: --flip-u --centre 52 --tilt '
run 0 recon off1.json --sweep centre=50:54:1 --slice 10 -o quiet.png -q
has out '^5[0-9.]+$'
rm sheet.png

# About the column where the scan has the axis: no column is below 0.
run 0 recon off5.json --sweep centre=-4:4:1 -o about.png --json
best=$(json best)
has err 'the range of centre, -4 to 4, is relative to column [0-9.]+, the axis position in the scan file'
run 0 recon off5.json --sweep centre=48.3:56.3:1 -o absolute.png --json
is "($(json best) - $best)^2 < 0.01"
rm about.png absolute.png

wrong_sweep() { # STATUS PATTERN ARGUMENTS…
    local status=$1 pattern=$2
    shift 2
    run "$status" recon off5.json "$@"
    has err "$pattern"
    one_line err
    empty out
    absent sheet.png
}
wrong_sweep 2 'a NAME of centre, tilt, offset, sod, sdd' --sweep wobble=1:2:1 -o sheet.png
wrong_sweep 2 'three numbers FROM:TO:STEP' --sweep centre=1:2 -o sheet.png
wrong_sweep 2 'FROM below TO' --sweep centre=2:1:1 -o sheet.png
wrong_sweep 2 'choose another STEP' --sweep centre=0:100:1e-3 -o sheet.png
wrong_sweep 2 '-o FILE.png' --sweep centre=1:2:1 -o sheet.mha
wrong_sweep 2 '-o FILE.png' --sweep centre=1:2:1
wrong_sweep 2 'omit --preview' --sweep centre=1:2:1 -o sheet.png --preview p.png
wrong_sweep 2 'ends in .svg' --sweep centre=1:2:1 -o sheet.png --curve c.png
wrong_sweep 2 '--curve needs --sweep' -o v.mha --curve c.svg
wrong_sweep 1 'has no source' --sweep sod=300:500:50 -o sheet.png
wrong_sweep 1 '--slice 64 does not exist; the volume has slices' --sweep centre=50:52:1 -o sheet.png --slice 64
wrong_sweep 1 'centre -200: the detector.s columns are 0 to 111; give the column of the axis' \
    --sweep centre=-200:-50:50 -o sheet.png
wrong_sweep 1 '--centre 1000: the detector.s columns are 0 to 111' --centre 1000 -o late.mha
wrong_sweep 1 '--sdd: a parallel beam has no source' --sdd 500 -o late.mha
wrong_sweep 2 'a NAME of centre' --sweep =0:1:1 -o sheet.png
wrong_sweep 2 'both set the position of the panel; give only one' --sweep centre=50:52:1 --offset 3 -o sheet.png
wrong_sweep 2 'both set the position of the panel; give only one' --centre 52 --offset 3 -o late.mha
wrong_sweep 1 'the output folder is missing' --sweep centre=50:52:1 -o missing/sheet.png

# Water: a ball of 0.02 / mm becomes 0 HU, nothing -1000.
echo "0 0 0 40 40 40 0 0.02" >ball.txt
run 0 simulate --phantom ball.txt --size 64 --voxel 2 --views 180 -o water.json -q
run 0 recon water.json -o hu.mha --hu-from-roi 5,-5,0,15 --json
is "$(json water.mean) > 0.0198 && $(json water.mean) < 0.0202"
is "$(json water.sd) < 0.0005 && $(json water.voxels) > 1700 && $(json water.voxels) < 1850"
[ "$(json unit)" = HU ] || say "$last: unit"
mu=$(json water.mean)
run 0 recon water.json -o hash: -q --hu "$mu"
told=$(cat out)
run 0 recon water.json -o hash: -q --hu-from-roi 5,-5,0,15
[ "$(cat out)" = "$told" ] || say "--hu-from-roi differs from --hu with its value"
run 0 recon water.json -o slice.mha --slice 32 --hu-from-roi 5,-5,0,15
has out '^water: 0\.0[0-9]+ 1/mm, standard deviation .* HU\), 1[78][0-9]+ voxels'
wrong_water() { # STATUS PATTERN ARGUMENTS…
    local status=$1 pattern=$2
    shift 2
    run "$status" recon water.json -o late.mha "$@"
    has err "$pattern"
    absent late.mha
    absent late.mha.part
}
wrong_water 1 'no voxel lies in the sphere' --hu-from-roi 0,0,0,0.1
wrong_water 1 'choose a sphere inside it' --hu-from-roi 150,0,0,20
wrong_water 1 'field of view .* choose a sphere inside it' --hu-from-roi 1000,0,0,5
wrong_water 1 'which cannot be water' --hu-from-roi 55,0,0,2
wrong_water 1 'smaller radius' --hu-from-roi 0,0,0,90000
wrong_water 2 'a radius above 0' --hu-from-roi 0,0,0,0
wrong_water 2 'omit one of them' --hu-from-roi 0,0,0,5 --hu 0.02
wrong_water 2 'omit --follow' --hu-from-roi 0,0,0,5 --follow
wrong_water 2 'numbers' --hu-from-roi 0,0,5

# A sphere that some views see in part has no value: of a long cylinder, where the rows end.
echo "0 0 0 60 60 400 0 0.02" >long.txt
run 0 simulate --phantom long.txt --size 64 --voxel 2 --views 60 --detector 96x48 \
    -o water.json -q
run 0 geometry check water.json --json
top=$(json fov_z_mm.1)
run 0 recon water.json -o null: --hu-from-roi 40,0,0,8 --json
mu=$(json water.mean)
wrong_water 1 "all views see a sphere of radius 8 mm at \(40, 0\) mm for z from -" \
    --hu-from-roi "40,0,$(awk "BEGIN { print $top - 8 }"),8"
seen=$(sed 's/.* to \([0-9.]*\) mm, but not for.*/\1/' err)
is "$seen > 0.8 * $top - 8 && $seen < $top - 8"
run 0 recon water.json -o null: --hu-from-roi "40,0,$(awk "BEGIN { print $seen - 0.1 }"),8" --json
is "$(json water.mean) > 0.95 * $mu && $(json water.mean) < 1.05 * $mu"
wrong_water 1 'choose another z' --hu-from-roi "0,0,-$top,8"
wrong_water 1 'for no value of z' --hu-from-roi 0,0,0,60

# A folder of views, one a file, with darks, flats and angles beside them.
mkdir -p folder/flats
for k in 08 09 10 11; do
    run 0 simulate --size 16 --views 1 --start $((10#$k * 30)) -o folder/p_$k.json -q
done
run 0 simulate --size 16 --views 3 -o folder/flats/white.json -q
run 0 simulate --size 16 --views 2 -o folder/dark_1.json -q
run 0 simulate --size 8 --views 2 -o folder/other.json -q
rm folder/*.json folder/flats/*.json
printf '240\n270\n300\n330\n' >folder/angles.txt
run 0 init folder
has err '^folder/other.mha: 12 x 12 x 2, ignored'
has err '^angles_deg: from angles.txt'
cp out guess.json
[ "$(json projections)" = "folder/p_%02d.mha 8 11" ] || say "$last: $(json projections)"
[ "$(json dark)" = folder/dark_1.mha ] || say "$last: $(json dark)"
[ "$(json flat)" = folder/flats/white.mha ] || say "$last: $(json flat)"
is "$(json angles_deg.0) == 240 && $(json angles_deg.3) == 330"
run 0 info guess.json --json
is "$(json views) == 4 && $(json columns) == 24"
run 0 init folder/ --pitch 0.5 --sod 100 --sdd 160 -o folder/scan.json
run 0 info folder/scan.json --json
is "$(json views) == 4 && $(json voxel_mm.0) == 0.3125"
cp folder/scan.json before.json
run 1 init folder -o folder/scan.json
has err 'scan.json: describes a complete scan'
mv folder/scan.json .
run 1 init folder -o scan.json
has err 'already exists'
cmp -s scan.json before.json || say "$last: the scan file was replaced"
rm scan.json
last="fbp init folder > folder/scan.json"
"$fbp" init folder >folder/scan.json 2>err || say "$last: failed"
run 0 info folder/scan.json
has out 'folder/p_%02d.mha 8 11'

# A geometry file that fits, and a gap in the numbers.
rm -r folder
mkdir folder
run 0 simulate --size 16 --views 6 --trajectory c-arm -o arm.json -q
run 0 geometry convert arm.json -o folder/MATRICES.TXT # any name that the library knows
mv arm.mha folder/projections.mha
run 0 init folder --pitch 0.5
[ "$(json geometry)" = folder/MATRICES.TXT ] || say "$last: $(json geometry)"
mv folder/MATRICES.TXT folder/matrices.txt
run 0 init folder --pitch 0.5
[ "$(json geometry)" = folder/matrices.txt ] || say "$last: $(json geometry)"
is "$(json detector.pitch_mm) == 0.5"
cp out guess.json
run 0 info guess.json
for k in 1 2 3 5; do cp folder/projections.mha folder/gap_$k.mha; done
run 0 init folder
has err 'gap_1.mha: 1 files after a gap'
mkdir empty
run 1 init empty
has err 'found no readable arrays in this folder'
run 1 init nowhere
has err 'cannot be opened as a folder: No such file'
run 1 init guess.json
has err 'cannot be opened as a folder: Not a directory'

# Whatever lies between the files of a series; names that are not what they seem.
rm -r folder
mkdir -p folder/rec
for k in 0 1 2 3; do
    run 0 simulate --size 16 --views 1 -o folder/p_000$k.json -q
    rm folder/p_000$k.json
    echo "exposure=1" >folder/p_000$k.txt
    echo "<a/>" >folder/p_000$k.mha.xml
    cp folder/p_000$k.mha folder/p_000${k}b.mha
done
cp volume.mha folder/rec/slices.mha
run 0 simulate --size 32 --views 30 -o folder/rec/volume_of_bytes.json -q
rm folder/rec/volume_of_bytes.json
run 0 init folder
has err '^projections: 4 views of 24 x 24 pixels'
has err 'volume_of_bytes.mha: 48 x 48 x 30, by its name a volume, ignored'
[ "$(json projections)" = "folder/p_%04d.mha 0 3" ] || say "$last: $(json projections)"
rm folder/p_*
run 1 init folder
has err 'found no projections in this folder; .*volume_of_bytes.mha, seems to contain a volume'
mv folder/rec/volume_of_bytes.mha folder/white_tooth.mha
run 1 init folder
has err 'found no projections in this folder; .*white_tooth.mha, seems to contain flats; rename it'
one_line err

# A file of another program: a whole scan, or the geometry and level of air of one.
rm -r folder
mkdir folder
for k in 1 2 3 4; do
    run 0 simulate --size 16 --views 1 --detector 30x20 -o bar_000$k.json -q
    cp bar_000$k.mha folder/foo_000$k.tif # formats are known by their content
done
printf '%s\n' '[XTekCT]' Name=foo WhiteLevel=60000 DetectorPixelsX=30 DetectorPixelsY=20 Projections=4 \
    DetectorPixelSizeX=.2 DetectorPixelSizeY=.2 SrcToObject=120 SrcToDetector=900 AngularStep=90 \
    >folder/foo.xtekct
run 1 init folder
has err 'foo.xtekct: describes a complete scan; give this file to fbp recon'
rm folder/foo_000*
mv bar_000*.mha folder/
run 0 init folder
has err 'foo.xtekct: the projections named in this file cannot be opened: .*foo_0001.tif'
has err '^i0: from foo.xtekct'
is "$(json i0) == 60000"
[ "$(json geometry)" = folder/foo.xtekct ] || say "$last: $(json geometry)"

# What cannot be read is said; root reads all.
mkdir folder/flats
cp folder/bar_0001.mha folder/flats/
echo "0 90 180 270" >folder/angles.txt
chmod 0 folder/flats folder/angles.txt
if [ ! -r folder/angles.txt ]; then
    run 0 init folder
    has err 'folder/flats: cannot be read: Permission denied: left out'
    has err 'folder/angles.txt: cannot be read: Permission denied: left out'
fi
chmod 755 folder/flats folder/angles.txt
run 2 init folder -o scan.txt
has err 'ends in .json'
run 2 init
finish
