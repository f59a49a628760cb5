#!/usr/bin/env bash
# The functions for MATLAB, in Octave: MEX files and scripts, beside the command.  Called as: FBP
# MEX_DIR WORK_DIR
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fbp=$1 mex=$2 work=$3
command -v octave-cli >/dev/null || { echo "skipped: there is no octave-cli"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
cd "$work"
exec </dev/null

# What the command makes of the same projections, with two choices of options.
"$fbp" simulate -q --kind planes --directions solid-angle:9 --order flip --phantom bottle --size 22 \
    --voxel 0.125 -o bottle.json
"$fbp" recon -q bottle.json --device cpu -o plain.raw
"$fbp" recon -q bottle.json --device cpu --angles 9 --stages 2 -o angles.raw
"$fbp" recon -q bottle.json --device cpu --filter hann --cutoff 0.6 --oversampling 2 \
    --quadrature voronoi --size 17x22x12 --voxel 0.14 -o other.raw
"$fbp" simulate -q --kind planes --directions solid-angle:9 --order flip --phantom bottle --size 22 \
    --voxel 0.125 --output-type float64 -o exact.json
"$fbp" recon -q exact.json --device cpu --precision double -o exact.raw
samples=$(sed -nE 's/.*"columns": ([0-9]+).*/\1/p' bottle.json)
awk -v n="$samples" 'BEGIN { for (i = 0; i < n; i++) { x = i - (n - 1) / 2; printf "%.17g\n", -x * exp(-x * x / 4) } }' >h.txt
"$fbp" recon -q bottle.json --device cpu --reference h.txt --cutoff 0.3 -o spectra.raw
mkdir temporary
TMPDIR=$work/temporary octave-cli --no-init-file --no-history -q -p "$mex" "$here/epr_test.m"
