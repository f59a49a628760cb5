#!/usr/bin/env bash
# Volumes as TIFF and PNG, in 8 and 16 bits; stacks and folders as projections and images.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 24 --views 48 --scale 0.02 -o scan.json -q
run 0 recon scan.json -o v.mha -q

# What is written in any way are the same values, within half a number.
range="-0.01,0.03"
for output in v.tif v.npy v.raw w.mha w.mhd slices/s_%03d.tif png/%d.png; do
    run 0 recon scan.json -o "$output" --output-type uint16 --output-range=$range -q
    empty err
    read=$output
    [ -e "$output" ] || read=${output%/*}
    run 0 compare "$read" v.mha --json
    is "$(json max) <= 0.5*0.04/65535*1.001"
    run 0 info "$read" --header --json
    [ "$(json type)" = uint16 ] || say "$last: type"
    [ "$(json unit)" = 1/mm ] || say "$last: unit"
    is "$(json scale) > 0.04/65536 && $(json scale) < 0.04/65534 && $(json offset) == -0.01"
    is "$(json size.2) == 24 && $(json spacing_mm.0) > 10"
done
run 0 info slices
has out '^files    slices: 24 tiff files, s_000.tif to s_023.tif$'
has out '^scale    value = .* \* number \+ -0.01$'
run 0 compare 'slices/s_%03d.tif 0 23' v.tif --json
is "$(json max) == 0"
run 0 recon scan.json -o f.tif -q
run 0 compare f.tif v.mha --json
is "$(json max) == 0"

# Clipped values are counted; the report says how to get values back.
run 0 recon scan.json -o clipped.tif --output-type uint8 --output-range 0,0.01 --json
is "$(json output_clipped) > 100 && $(json output_offset) == 0"
is "$(json output_scale)*255 > 0.00999 && $(json output_scale)*255 < 0.01001"
[ "$(json output_type)" = uint8 ] || say "$last: output_type"
run 0 recon scan.json -o hu.tif --hu 0.02 --output-type uint8 -q
run 0 info hu.tif --json
[ "$(json unit)" = HU ] || say "$last: unit"
is "$(json offset) == -1000 && $(json min) == -1000 && $(json max) <= 3000.001"

# int16: Hounsfield units, rounded, with scale 1, in every format; values beyond are counted.
run 0 recon scan.json -o hu.mha --hu 0.02 -q
for name in hu16.mha hu16.nrrd hu16.nii hu16.npy hu16.h5 hu16.tif hu16.mat hu16.zarr hu16.raw; do
    run 0 recon scan.json -o $name --hu 0.02 --output-type int16 --json
    is "$(json output_scale) == 1 && $(json output_offset) == 0 && $(json output_clipped) == 0"
    is "$(json output_range.0) == -32768 && $(json output_range.1) == 32767"
    [ $name = hu16.raw ] || run 0 info $name --json
    [ $name = hu16.raw ] || [ "$(json type)" = int16 ] || say "$last: type $(json type)"
    run 0 compare $name hu.mha --json
    is "$(json max) > 0.4 && $(json max) <= 0.5"
done
run 0 recon scan.json -o clipped.mha --hu 1e-7 --output-type int16 --json
is "$(json output_clipped) > 100"
run 0 recon scan.json -o ranged.tif --output-type int16 --output-range=-0.01,0.05 -q
run 0 recon scan.json -o plain.mha -q
run 0 compare ranged.tif plain.mha --tolerance 1e-6
run 1 recon scan.json -o no.mha --output-type int16
has err 'int16 needs a range of values'
run 1 recon scan.json -o 'no/%03d.png' --hu 0.02 --output-type int16
has err 'PNG cannot store int16; choose uint8 or uint16'

# Pictures are the same whatever the volume is stored as.
run 0 recon scan.json -o preview/%04d.tif --preview stack.png -q
run 0 view v.mha -o mha.png
cmp -s stack.png mha.png || say "the preview of a stack differs"

# A stack as projections, an image from PNG: the bits of the same numbers in MHA.
scan() { # NAME PROJECTIONS FLAT
    cat >"$1.json" <<JSON
{"fbp_scan": 1, "kind": "parallel", "projections": "$2", "detector": {"pitch_mm": 1},
 "angles_deg": {"start": 0, "step": 7.5}, "flat": "$3"}
JSON
}
run 0 recon scan.json -o flat.png --size 24x24x1 --output-type uint16 --output-range 0,0.03 -q
run 0 recon scan.json -o flat.mha --size 24x24x1 --output-type uint16 --output-range 0,0.03 -q
scan a w.mha flat.mha
run 0 recon a.json -o hash: -q
mv out a.hash
for projections in slices slices/ 'slices/s_%03d.tif 0 23' v.tif png; do
    scan b "$projections" flat.png
    run 0 recon b.json -o hash: -q
    cmp -s out a.hash || say "$projections: other values than from MHA"
done
scan b slices flat.png
run 0 recon b.json -o null:
has err 'slices: 24 tiff files, s_000.tif to s_023.tif$'
run 1 recon b.json -o 'slices/t_%d.tif' -q
has err 'would overwrite the input .*slices, or become a part of that series; choose another folder'
run 1 recon b.json -o slices/v.tif -q
has err 'would overwrite'
absent slices/v.tif

# Wrong requests.
run 1 recon scan.json -o no.tif --output-type uint8
has err 'uint8 needs a range of values; .* or auto for the range of the volume'
run 1 recon scan.json -o no.mha --output-range 0,1
has err 'a range of values applies to uint8, uint16 and int16'
run 1 recon scan.json -o no.tif --output-type uint16 --output-range 1,0
has err 'the range 1 to 0 is empty'
run 1 recon scan.json -o no.png --output-type uint8 --output-range 0,1 -q
has err 'holds one slice, but the volume has 24'
run 1 recon scan.json -o 'no/%d.png' -q
has err 'PNG cannot store float32'
run 2 recon scan.json -o no.tif --output-type int8
run 1 recon scan.json -o 'slices/s_%03d.tif' --size 12 -q
has err 'contains s_0[0-9]+.tif, which is not one of the 12 slices of this volume'
for file in no*; do absent "$file"; done
mkdir broken && printf 'II*\0\10\0\0\0' >broken/0.tif
run 1 info broken
has err 'broken/0.tif: TIFF: .*damaged or truncated'
one_line err

finish
