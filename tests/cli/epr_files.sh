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

finish
