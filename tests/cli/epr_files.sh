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
has err 'plane integrals are no attenuations'

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
has err 'there is no step "base_line": did you mean "baseline"'
run 1 recon s.json --prepare baseline_samples=5 -o no.mha
has err 'found "5", expected FIRST:END or FIRST:END:FIRST:END'
run 1 recon s.json --prepare phase=all -o no.mha
has err 'samples are real, but a phase or an FFT takes complex ones'
run 0 simulate --kind parallel --size 16 --views 8 -o lines.json -q
run 1 recon lines.json --prepare baseline=0 -o no.mha
has err 'only rows of plane integrals \(kind planes\) are prepared'
run 1 geometry convert s.json -o no.xml
absent no.mha

finish
