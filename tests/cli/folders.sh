#!/usr/bin/env bash
# A folder, a pattern or an array where a scan is needed: taken if there is one scan, else told what to do.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

mkdir one none several foreign empty
run 0 simulate --size 16 --views 12 -o one/scan.json -q
cp one/scan.mha none/views.mha
cp one/scan.* several/
cp one/scan.json several/other.json
run 0 geometry convert one/scan.json -o foreign/matrices.txt

run 0 recon one -o v.mha
has err '^one: the scan file in this folder is used: one/scan.json$'
run 0 recon one/scan.json -o w.mha -q
cmp -s v.mha w.mha || say "the folder's scan gives another volume"
run 0 recon one -o v.mha -q
empty err
run 0 recon one --json -o null: -q
json notes.0 | grep -q 'one/scan.json' || say "$last: $(cat out)"
run 0 recon one --sweep centre=11:12:0.5 -o sheet.png -q
run 0 plan one
has err 'one/scan.json'
run 0 geometry check one
has err 'one/scan.json'

run 1 recon none -o null:
has err 'none: is a folder without a scan file; it contains 12 views of 24 x 24 pixels \(none/views.mha\); write a first scan file by fbp init none > scan\.json'
one_line err
run 1 geometry check none
has err 'fbp init none'
run 1 recon several -o null:
has err 'is a folder with several scans; name one of several/other.json, several/scan.json'
run 1 recon empty -o null:
has err 'empty: found no readable arrays in this folder'
run 1 recon nowhere -o null:
has err 'nowhere: cannot open: No such file'

# Folders whose arrays are no projections, and scan files in the words of other programs.
mkdir slices many
run 0 recon one -o 'slices/p_%02d.tif' -q
run 1 recon slices -o null:
has err 'slices: found no projections in this folder; slices/p_00.tif is a volume, in 1/mm'
run 1 init slices
has err 'is a volume, in 1/mm'
cp one/scan.mha many/p_1.mha
cp one/scan.mha many/p_2.mha
run 1 recon many -o null:
has err 'many: is a folder without a scan file; it contains 24 views of 24 x 24 pixels \(many/p_%d.mha 1 2\)'
for words in 'sad source_to_axis_mm' 'SDD source_to_detector_mm' 'angles angles_deg'; do
    echo "{\"fbp_scan\": 1, \"projections\": \"one/scan.mha\", \"${words% *}\": 3}" >words.json
    run 1 plan words.json
    has err "${words% *}: unknown key; did you mean \"${words#* }\""
done

# Counts without flats: the beam is the median of the brightest pixels, not the greatest value, unless --i0 is given.
mkdir counts
LC_ALL=C awk 'BEGIN { printf "NRRD0004\ntype: uint16\ndimension: 3\nsizes: 20 10 9\nendian: little\nencoding: raw\n\n"
    for (k = 0; k < 9; k++) for (i = 0; i < 200; i++) { # no byte is 0
        x = i % 20
        v = x > 6 && x < 14 ? 9000 + x : i == 3 ? 60000 : 40000 + i * 7 % 11 - 5
        printf "%c%c", v % 256, int(v / 256) } }' >counts/p.nrrd
run 0 init counts --pitch 1
has out '"i0": (3999[0-9]|4000[0-9]),?$'
has err 'i0: ASSUMED: .*median of the brightest pixels.* give --i0'
has err 'if the volume is blurred, run fbp calibrate, or change the step to -40'
run 0 init counts --pitch 1 --i0 41000
has out '"i0": 41000,?$'
run 0 init counts --pitch 1 --sinograms -o sinograms.json
has err 'projections: 10 views of 20 x 9 pixels'
has err 'i0: ASSUMED: .*median of the brightest pixels'
grep -q '"sinograms": *true' sinograms.json || say "$last: $(cat sinograms.json)"
run 0 geometry check sinograms.json
run 0 recon sinograms.json -o null: -q
run 1 recon sinograms.json -o null: --follow
has err 'no view of stored sinograms is complete before the last one; omit --follow'

# Counts below 0 are no beam, and are read to their end only.
mkdir negative
LC_ALL=C awk 'BEGIN { printf "NRRD0004\ntype: int16\ndimension: 3\nsizes: 20 10 9\nendian: little\nencoding: raw\n\n"
    for (i = 0; i < 1800; i++) printf "%c%c", 246, 255 }' >negative/p.nrrd
run 0 init negative --pitch 1
has out '"i0": -10,?$'

# A whole scan of another program, if there is one.
rm -r several/other.json
run 0 plan several
if [ -e "$here/../../../shared/data/tooth_parallel_aps/tooth.h5" ]; then
    cp "$here/../../../shared/data/tooth_parallel_aps/tooth.h5" foreign/
    rm foreign/matrices.txt
    run 0 plan foreign --pixel 0.01
    has err 'foreign: the scan file in this folder is used: foreign/tooth.h5'
    has err 'detector.offset_mm, assumed to be 0'
    ! grep -q 'pitch_mm' err || say "$last: $(cat err)"
    run 0 recon foreign/tooth.h5 -o null: --centre 296
    has err 'detector.pitch_mm, assumed to be 1 .*--pitch gives'
    ! grep -q offset_mm err || say "$last: $(cat err)"
    run 0 geometry convert foreign/tooth.h5 -o tooth.json
    grep -q '"detector.offset_mm": "the rotation axis is assumed at the central column' tooth.json || say "tooth.json forgets what is assumed"
fi

# A folder of projections of Elekta's XVI: its _Frames.xml is the scan file.
mkdir xvi
his_header='\0p\x44\0\x64\0\0\0\0\0\x20\0\x01\0\x01\0\x08\0\x06\0\x01\0'
for k in 0 1 2 3 4 5 6 7 8; do
    {
        printf "$his_header"
        head -c 10 /dev/zero
        printf '\x04\0'
        head -c 66 /dev/zero
        awk 'BEGIN { for (i = 0; i < 48; i++) printf "%cA", 33 + i }'
    } >"xvi/0000$k.1.3.46.his"
    echo "<Frame><GantryAngle>$((40 * k))</GantryAngle><UCentre>0</UCentre><VCentre>0</VCentre></Frame>"
done >frames
{ echo '<ProjectionSet><Frames>' && cat frames && echo '</Frames></ProjectionSet>'; } >xvi/_Frames.xml
run 0 info xvi --json --header
is "$(json size.0) == 8 && $(json size.1) == 6 && $(json size.2) == 9"
run 0 recon xvi -o xvi.mha
has err 'xvi: the scan file in this folder is used: xvi/_Frames.xml'
run 1 init xvi
has err '_Frames.xml: describes a complete scan; give this file to fbp recon'
rm xvi/00004.1.3.46.his
run 1 recon xvi/_Frames.xml -o null:
has err '_Frames.xml: has 9 frames, but there are 8 projections xvi/\*.his; copy the missing files'

# Arrays are no scans.
run 1 recon none/views.mha -o null:
has err 'none/views.mha: is an array of 24 x 24 x 12, not a scan; .*fbp init FOLDER'

# Patterns as a shell has them, in quotes.
run 0 recon one -o 's_%03d.tif' -q
run 0 info 's_*.tif'
has out '16 tiff files, s_000.tif to s_015.tif'
run 0 info './s_00*.tif' --json
is "$(json size.2) == 10"
run 0 compare 's_*.tif' v.mha --json
is "$(json max) == 0"
run 1 recon 's_*.tif' -o null:
has err 'not a scan'
run 1 info 'nothing_*.tif'
has err 'no file name matches the pattern'
cat >scan.json <<'END'
{"fbp_scan": 1, "kind": "parallel", "projections": "s_*.tif", "detector": {"pitch_mm": 1},
 "angles_deg": {"start": 0, "step": 11.25}}
END
run 0 plan scan.json
has err 's_\*.tif: 16 tiff files'
cp v.mha '*.mha'
run 0 info '*.mha' --json
[ "$(json file)" = '*.mha' ] || say "$last: a file of that name comes first"

# What is no file, among views: an error where a view should be, else named; nothing waits for a pipe.
mkdir pipes pipes/notes pipes/notes/deep
for n in 0 1 2; do cp s_00$n.tif pipes/; done
run 0 info pipes
has out '^files .*s_002.tif; notes \(a folder\) ignored$'
mkfifo pipes/s_003
run 0 info pipes
has out '; (notes \(a folder\)|s_003 \(a named pipe\)), and 1 more that is no regular file ignored$'
echo >pipes/log.txt
run 0 compare pipes pipes
run 0 info pipes
has out '; 1 other file and .* ignored$'
mv pipes/s_003 pipes/s_003.tif
for folder in pipes 'pipes/*.tif' 'pipes/s_%03d.tif 1 3'; do
    run 1 info "$folder"
    has err 'pipes/s_003.tif: (is a named pipe among the files of views|not a regular file)'
    one_line err
done
run 1 info pipes/s_003.tif
has err 'not a regular file'
run 1 init pipes
has err 'pipes/s_003.tif: ignored, because it is not a regular file'
has err 'pipes/notes/deep: ignored, because it is a folder two levels below the given one'
run 1 recon pipes -o null: -q
one_line err
rm pipes/s_003.tif
mkdir pipes/s_001.5.tif
run 1 view pipes -o p.png
has err 'pipes/s_001.5.tif: is a folder among the files of views or slices; replace it by a file'
ln -sf nothing pipes/s_001.5.tif/../s_009.tif && rmdir pipes/s_001.5.tif
run 1 info pipes
has err 's_009.tif: the status of this file, one of the views or slices, cannot be read'

# Headerless files: all of a folder, but no folder in it.
mkdir heads heads/sub
for n in 1 2; do head -c 1152 /dev/zero >heads/v$n; done
echo '{"fbp_scan": 1, "kind": "parallel", "projections": "heads", "detector": {"pitch_mm": 1},
 "raw": {"type": "uint16", "shape": [2, 24, 24]}, "angles_deg": {"start": 0, "step": 90}}' >raw.json
run 0 plan raw.json
has err 'heads: 2 headerless files, v1 to v2; sub \(a folder\) ignored'
mkfifo heads/v3
run 1 plan raw.json
has err 'heads/v3: is a named pipe among'

# What is assumed is said once, however often views are looked at.
run 0 init none -o guess.json -q
run 0 recon guess.json -o null: --centre auto --hu-from-roi 0,0,0,3
[ "$(grep -c 'unconfirmed assumptions' err)" -eq 1 ] || say "$last: $(cat err)"
! grep -q offset_mm err || say "$last: $(cat err)"
# Names with two numbers, decimals and gaps are one series; the guess is read in the same order.
mkdir stamped gap twice two_scans times spectra
run 0 simulate --size 8 --views 20 -o s.json -q
run 0 recon s.json -o v.mha -q
for k in $(seq 0 19); do
    run 0 simulate --size 8 --views 1 --start $((18 * k)) -o one.json -q
    cp one.mha "stamped/p_$(printf %04d "$k")_20260101_12$((10 + k / 3))$((10 + k)).mha"
    [ "$k" = 7 ] || cp one.mha "gap/p$((k / 2)).$((k % 2 * 5)).mha"
    cp one.mha "twice/p_${k}_$((7 * k % 20)).mha"
    cp one.mha "times/v_2026-01-01_12-0$((k / 6))-$((k % 6))0.mha"
    cp one.mha "two_scans/a$((1 + k / 10))_$((k % 10)).mha"
done
for name in stamped gap; do
    run 0 init $name --pitch 0.5 -o $name.json
    run 0 info $name.json --json
    is "$(json views) == $([ $name = gap ] && echo 19 || echo 20)"
done
run 0 init stamped
is "$(json angles_deg.step) == 18"
has err '^projections: 20 views of 12 x 12 pixels'
run 0 init gap
is "$(json angles_deg.step) == 18"
has err '^warning: gap/p\[0-9\]\*.mha: 1 file is missing, number 3.5; the angle of each view follows from its file number$'
run 0 geometry check gap.json
has err '^warning: gap/p\[0-9\]\*.mha: 1 file is missing'
has out 'largest gap in addition to a step 18'
run 0 recon gap.json -o null: --json
json warnings.1 | grep -q '1 file is missing, number 3.5' || say "$last: $(cat out)"
run 1 init twice
has err 'the order of the files is ambiguous, because the numbers 1 and 7 in names such as p_1_7.mha give different orders'
run 0 init times
has err '^projections: 20 views'
run 0 init two_scans
has err '^projections: 10 views'

# A file that cannot be opened is an error, with -q too.
ln -s nowhere stamped/p_0020.mha
run 1 init stamped -q
has err 'stamped/p_0020.mha: cannot be read: No such file or directory'
rm stamped/p_0020.mha

# An EPR image in a plane makes no scan: init gives the reason of recon.
printf '%s\n' '#DESC 1.2 *' 'DSRC EXP' 'BSEQ BIG' 'IKKF REAL' 'XTYP IDX' 'YTYP IDX' 'ZTYP NODATA' \
    'IRFMT D' 'XPTS 4' 'XMIN 3068.3' 'XWID 719.44' 'YPTS 3' 'YMIN 10' 'YWID 160' "XNAM 'Field'" \
    "XUNI 'G'" '#DSL 1.0 *' '.DVC grdUnit, 1.0' 'AnglePsi 168 G/cm' 'FirstAlpha 10 deg' \
    'ImageType 2D' 'NrOfAlpha 3' 'NrOfBeta 1' | sed 's/ /\t/' >spectra/a.DSC
head -c 96 /dev/zero >spectra/a.DTA
run 1 recon spectra/a.DSC -o null:
cp err reason
run 1 init spectra
[ "$(tail -n 1 err)" = "$(cat reason)" ] || say "$last: $(cat err), not $(cat reason)"
finish
