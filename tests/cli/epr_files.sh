#!/usr/bin/env bash
# Files of EPR laboratories on the command line: what is written for MATLAB, what is read of a folder.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Octave (as MATLAB) finds the volume by the names of the laboratory's files, x first.
run 0 simulate --kind planes --directions solid-angle:10 --size 15 --phantom ellipsoid -o s.json -q
run 0 recon s.json -o volume.mat
has out 'volume.mat: from .* 1/mm\^3$'
run 0 recon s.json -o volume.npy -q
run 0 compare volume.mat volume.npy --tolerance 0
run 0 info volume.mat
has out '^size +15 x 15 x 15 float32'
has out '^spacing  17.0667 x 17.0667 x 17.0667 mm'
has out '^unit     1/mm\^3'
if command -v octave >/dev/null; then
    octave --no-gui --quiet --no-init-file >shown 2>&1 --eval '
        s = load("volume.mat"); f = fopen("volume.npy"); x = fread(f, inf, "uint8=>uint8");
        x = typecast(x(end - 4 * 15^3 + 1:end), "single");
        assert(s.file_type, "Image_v1.1"); assert(s.unit, "1/mm^3");
        assert(size(s.mat_recFXD), [15 15 15]); assert(s.mat_recFXD(:), x(:));
        assert(s.rec_info.rec.Size, 25.6, 1e-12); assert(s.voxel_mm, 256 / 15 * [1 1 1], 1e-12);' ||
        say "octave: $(cat shown)"
fi
run 1 recon s.json --hu 0.02 -o no.mha
has err 'plane integrals are not attenuations'

# One file as laboratories keep them, from which the same volume comes, bit for bit.
set_of=(--kind planes --directions solid-angle:8 --order msps --phantom ellipsoids --size 12 --voxel 0.5 --frames 2)
run 0 simulate "${set_of[@]}" -o lab.json -q
run 0 simulate "${set_of[@]}" --gradient 1.5 -o lab.mat --truth lab_truth.mha
has out '^lab.mat: plane integrals along 42 directions, 22 samples of 0.5 mm each, at 2 delays'
exists lab_truth.mha
absent lab.mha.mha
run 0 recon lab.json -o hash: --json
hash=$(json hash)
run 0 recon lab.mat -o hash: --json
[ "$(json hash)" = "$hash" ] || say "lab.mat gives another volume than lab.json"
run 0 recon lab.mat -o hash:
lacks() { ! grep -qE -- "$2" "$1" || say "$last: $1 has /$2/: $(cat "$1")"; }
lacks err 'warning|ASSUMED|assumed'
run 0 info lab.mat
has out '^views +42 of 22 samples'
has out '^volume +12 x 12 x 12 voxels of 0.5 mm'
run 0 info 'lab.mat:P?spectra' # an array in it by its name, and no scan
has out '^size +22 x 2 x 42 float32'
if command -v octave >/dev/null; then
    octave --no-gui --quiet --no-init-file >shown 2>&1 --eval '
        s = load("lab.mat"); f = fopen("lab.mha"); x = fread(f, inf, "uint8=>uint8");
        x = typecast(x(end - 4 * 22 * 2 * 42 + 1:end), "single");
        assert(size(s.P), [22 2 42]); assert(class(s.P), "single"); assert(s.P(:), x(:));
        assert(size(s.B), [22 1]); assert(size(s.G), [42 3]); assert(s.B_unit, "MHz");
        assert(sqrt(sum(s.G .^ 2, 2)), 1.5 * ones(42, 1), 1e-14);
        assert(diff(s.B), 0.05 * 2.8025 * 1.5 * ones(21, 1), 1e-14);' ||
        say "octave: $(cat shown)"
fi
run 0 simulate "${set_of[@]}" -o lab.mat -q # its own file is replaced
printf 'MATLAB 5.0 MAT-file, by another program' >other.mat
run 1 simulate "${set_of[@]}" -o other.mat
has err 'other.mat: this output would replace the whole file, which another program has written'
run 1 simulate --kind planes --directions fibonacci:9 --size 8 --samples 65536 --frames 1024 -o big.mat --truth big.mha
has err 'big.mat: the array is too large, because MAT files of version 5 are limited to arrays of less than 2 GiB; write a scan file'
absent big.mha # nothing is computed before
run 2 simulate "${set_of[@]}" -o lab.mat:P
has err 'expected a name that ends in .json, or in .mat'
run 2 simulate "${set_of[@]}" -o zero.mat --gradient 0
run 2 simulate "${set_of[@]}" -o no.json --gradient 2
has err '--gradient applies to MAT files only'
run 2 simulate --kind parallel --size 8 --views 8 -o no.mat
has err 'MAT files are written for plane integrals only; give --kind planes'
run 1 simulate "${set_of[@]}" -o same.mat --truth same.mat
absent same.mat
absent no.mat
absent zero.mat

# Values by cm: what headers say, and that lengths stay mm.  A phantom's own volume has the unit, too.
run 0 simulate --kind planes --directions solid-angle:4 --size 9 --voxel 0.5 --phantom ball -o lengths.json \
    --truth truth.mha --unit cm -q
run 0 info truth.mha
has out '^unit     1/cm\^3'
has out '^values   from 0 to 1000, '
for end in mha mhd nrrd nii nii.gz h5 mat tif; do
    run 0 recon lengths.json -o cm.$end --unit cm
    has out "^cm.$end: from .* 1/cm\^3\$"
    run 0 info cm.$end
    has out '^unit     1/cm\^3'
    has out '^spacing  0.5 x 0.5 x 0.5 mm'
done
grep -aq '^Unit = 1/cm^3$' cm.mha || say "cm.mha has another unit"
grep -aq '^ElementSpacing = 0.5 0.5 0.5$' cm.mha || say "cm.mha has other voxels"
grep -aq '^sample units: "1/cm^3"$' cm.nrrd || say "cm.nrrd has another unit"
grep -aq '^space units: "mm" "mm" "mm"$' cm.nrrd || say "cm.nrrd has other lengths"
[ "$(dd if=cm.nii bs=1 skip=123 count=1 status=none | od -An -tu1 | tr -d ' ')" -eq 2 ] ||
    say "cm.nii: xyzt_units is not that of mm"
[ "$(dd if=cm.nii bs=1 skip=148 count=16 status=none | tr -d '\000')" = "fbp: unit 1/cm^3" ] ||
    say "cm.nii has another unit"
grep -aq '^unit=mm$' cm.tif && grep -aq '^vunit=1/cm^3$' cm.tif || say "cm.tif has another unit"
run 0 recon lengths.json -o mm.mha -q
run 0 compare cm.mha mm.mha
has err 'warning: cm.mha has the unit 1/cm\^3, but mm.mha has 1/mm\^3; the numbers are compared without conversion'
run 0 compare cm.mha truth.mha
empty err
run 2 recon lengths.json -o no.mha --unit m
run 1 recon lengths.json -o no.mha --unit cm --hu 0.02
has err 'unit: Hounsfield units have no length'
run 2 recon lengths.json -o no.mha --unit cm --hu-from-roi 0,0,0,1
absent no.mha

# Steps before plane integrals are said, and stand in the output.
for end in mha nrrd h5 mat tif; do
    run 0 recon s.json --prepare baseline=1,baseline_samples=0:3 -o prepared.$end
    has out '^prepared: baseline of order 1$'
    run 0 info prepared.$end --header
    has out '^history +baseline of order 1$'
done
run 0 recon s.json --prepare baseline=0 -o hash: --json
[ "$(json prepared)" = "baseline of order 0" ] || say "$last: $(json prepared)"
run 1 recon s.json --prepare base_line=0 -o no.mha
has err 'unknown step "base_line"; did you mean "baseline"'
run 1 recon s.json --prepare baseline_samples=5 -o no.mha
has err 'found "5", expected FIRST:END or FIRST:END:FIRST:END'
run 1 recon s.json --prepare phase=all -o no.mha
has err 'samples are real, but the preparation steps phase and fft need complex samples'
run 0 simulate --kind parallel --size 16 --views 8 -o lines.json -q
run 1 recon lines.json --prepare baseline=0 -o no.mha
has err 'applies to plane integrals \(kind planes\) only; remove'
run 1 geometry convert s.json -o no.xml
absent no.mha

# A folder of a spectrometer's files, and arrays beside directions, give their scan files.
mkdir bruker listed
printf '#DESC\t1.2\nBSEQ\tLIT\nIKKF\tREAL\nXTYP\tIDX\nIRFMT\tF\nXPTS\t10\nYPTS\t12\nXMIN\t330\nXWID\t90\n' >bruker/a.DSC
printf "XUNI\t'G'\n#SPL\t1.2\nGRAD\t14.0\nIMTY\t3D\n#DSL\t1.0\n.DVC grdUnit, 1.0\nFirstAlpha 22.5 deg\n" >>bruker/a.DSC
printf 'NrOfAlpha 4\nNrOfBeta 3\nFieldOfView 20 mm\nNPixel 4\nImageType 3D\n' >>bruker/a.DSC
head -c 480 /dev/urandom | tr '\200-\377' '\000-\177' >bruker/a.DTA
run 0 info bruker/a.DSC
has out '^scan +complete, 12 views; use fbp recon bruker/a.DSC'
run 0 init bruker -o bruker.json
has err '^projections: 12 views of 10 samples, from a.DSC'
has err 'reference: ASSUMED'
printf '0\n1\n-2\n4\n3\n2\n1\n0\n1\n0\n' >bruker/a-h.txt
run 0 init bruker -o bruker.json --force
has err 'reference: by its name, the spectrum without a gradient'
run 0 recon bruker/a.DSC --reference bruker/a-h.txt --wiener 0.1 -o direct.npy -q
run 0 recon bruker.json --wiener 0.1 -o guessed.npy -q
run 0 compare direct.npy guessed.npy --tolerance 1e-6
run 0 simulate --kind planes --directions solid-angle:6 --size 8 --samples 16 --voxel 1 -o listed.json -q
"$fbp" info listed.json --json | "$json_get" views >views
awk '/^ *\[-?[0-9]/ { gsub(/[][]/, ""); gsub(/, *$/, ""); print }' listed.json >listed/directions.csv
{ printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($(cat views), 16), }"
    tail -c $(($(cat views) * 64)) listed.mha; } >listed/proj.npy
run 0 init listed --pitch 1 -o guess.json
has err "^projections: $(cat views) views of 16 samples"
has err 'directions: from directions.csv, unit vectors'
run 0 recon guess.json --size 8 --voxel 1 -o guessed.npy -q
run 0 recon listed.json -o direct.npy -q
run 0 compare direct.npy guessed.npy --tolerance 1e-6
run 1 recon bruker/a.DTA -o no.mha
has err 'name its description, the \.DSC file in the same folder'
run 2 simulate --kind planes --directions 18 --size 8 -o no.json
has err '"18" is neither a set \(such as solid-angle:18, linear-angle:18x18 or fibonacci:208\) nor a file'
run 0 plan s.json --prepare baseline=0
has out '^prepared  baseline of order 0$'
run 1 info listed/proj.npy:x
has err 'is not a file of named arrays .*; omit'

finish
