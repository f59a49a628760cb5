#!/usr/bin/env bash
# Corrections of measured views on the command line: options, what is said of them, what is refused.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --kind parallel --size 20 --views 28 -o s.json -q # 30 rows and columns
with() { # KEYS: c.json, the same scan with further keys
    sed "s|^{|{ $1,|" s.json >c.json
}

# Beam hardening: key and option say the same, and stand in plan, result and output.
with '"beam_hardening": [1, 0.25, 0, -0.01]'
run 0 recon c.json -o key.mha
has out '^prepared: beam hardening 1 p \+ 0\.25 p\^2 - 0\.01 p\^4$'
run 0 info key.mha --header
has out '^history +beam hardening 1 p \+ 0\.25 p\^2'
run 0 recon s.json --beam-hardening 1,0.25,0,-0.01 -o option.mha --json
[ "$(json prepared)" = "beam hardening 1 p + 0.25 p^2 - 0.01 p^4" ] || say "$last: $(json prepared)"
run 0 compare key.mha option.mha --tolerance 0
run 0 plan c.json
has out '^prepared  beam hardening 1 p'
run 0 recon s.json -o none.mha
run 1 compare key.mha none.mha --tolerance 1e-3
run 0 recon c.json --beam-hardening 0 -o off.mha
run 0 compare off.mha none.mha --tolerance 0
run 0 recon s.json --beam-hardening 1,-0.4 -o null:
has err 'decreases above a line integral of 1\.2'
run 1 recon s.json --beam-hardening 0,1 -o no.mha
has err 's.json: beam_hardening: the first coefficient, the factor of p, is 0'
for bad in "1," 1,x nan 1,2,3,4,5,6,7,8,9 1e12; do
    run 2 recon s.json --beam-hardening "$bad" -o no.mha
    has err 'expected A1,A2,..., numbers from'
done
run 0 simulate --kind planes --directions solid-angle:4 --size 9 --phantom ellipsoid -o planes.json -q
run 1 recon planes.json --beam-hardening 1,0.1 -o no.mha
has err 'the views are of kind planes'
absent no.mha

# Bad pixels: a dead one and a row of saturated ones are reported, with their number; the option and
# the key repair them.  A clean scan is left as it is.
json_of() { # KEY: of the object behind it, in one line
    tr -d ' \n\t' <out | sed -n "s/.*\"$1\":{\([^}]*\)}.*/\1/p"
}
run 0 recon s.json -o clean.mha --json
[ "$(json_of bad_pixels)" = '"unlisted":0,"repaired":0' ] || say "$last: $(json_of bad_pixels)"
run 0 recon s.json --bad-pixels auto -o auto.mha
run 0 compare clean.mha auto.mha --tolerance 0
cp s.mha good.mha
size=$(stat -c %s s.mha)
for ((k = 0; k < 28; k++)); do # 300 at column 12 of row 14
    printf '\0\0\226C' | dd of=s.mha bs=1 seek=$((size - (28 - k) * 3600 + (14 * 30 + 12) * 4)) \
        conv=notrunc 2>/dev/null
done
run 0 recon s.json -o bad.mha --json
has err '^warning: found 1 dead, stuck, hot or saturated pixels in .* views that bad_pixels does not list'
[ "$(json_of bad_pixels)" = '"unlisted":1,"repaired":0' ] || say "$last: $(json_of bad_pixels)"
has out '"found 1 dead, stuck, hot or saturated pixels' # in "warnings", too
run 1 compare clean.mha bad.mha --tolerance 0.01
run 0 recon s.json --bad-pixels auto -o auto.mha --json
[ "$(json_of bad_pixels)" = '"unlisted":0,"repaired":1' ] || say "$last: $(json_of bad_pixels)"
grep -q "that bad_pixels does not list" out && say "$last: it is repaired"
run 0 compare clean.mha auto.mha --tolerance 2e-3
with '"bad_pixels": "auto"'
run 0 recon c.json -o key.mha
run 0 compare auto.mha key.mha --tolerance 0
run 0 plan c.json
has err '1 bad pixels are interpolated'
mv good.mha s.mha

# Zingers: key and option.
with '"zingers": 8'
run 0 recon c.json -o key.mha
has out '^prepared: zingers above 8 sigma$'
run 0 recon s.json --zingers 8 -o option.mha
run 0 compare key.mha option.mha --tolerance 0
run 0 plan c.json --rings sorting:5 --beam-hardening 1,0.1
has out '^prepared +zingers above 8 sigma; rings by sorting, median of 5 columns; beam hardening 1 p \+ 0.1 p\^2'
run 0 recon c.json --zingers 0 -o off.mha
run 0 compare off.mha none.mha --tolerance 0
run 2 recon s.json --zingers -1 -o no.mha
run 1 recon planes.json --zingers 8 -o no.mha
has err 'zingers: applies to line integrals of an attenuation, but the views are of kind planes'
run 1 recon s.json --zingers 8 --follow -o no.mha
has err 'zingers are found by comparison with the next view; omit zingers, or --follow'

# Rings: key and option, what is announced, and what a slice takes of it.
with '"rings": "sorting:5"'
run 0 recon c.json -o key.mha
has out '^prepared: rings by sorting, median of 5 columns$'
has out '^before the reconstruction: '
run 0 recon s.json --rings sorting:5 -o option.mha --json
[ "$(json prepared)" = "rings by sorting, median of 5 columns" ] || say "$last: $(json prepared)"
is "$(json seconds.ahead) > 0"
run 0 compare key.mha option.mha --tolerance 0
run 0 recon c.json --rings none -o off.mha
run 0 compare off.mha none.mha --tolerance 0
run 0 recon s.json --rings wavelet:1,2,db3 --beam-hardening 1,0.1 -o both.mha
has out '^prepared: rings by wavelets db3, 1 level, sigma 2; beam hardening 1 p \+ 0.1 p\^2$'
run 0 recon s.json --rings fluctuating:5 -o offsets.mha
has out '^prepared: rings by offsets, up to 5 columns wide, and fluctuating pixels$'
run 0 plan s.json --rings offsets
has out '^prepared +rings by offsets, up to 9 columns wide$'
run 0 plan c.json
has out '^ahead     22 detector rows of all views, in 1 band; 72.2 KiB of line integrals are stored in memory$'
run 0 plan c.json --slice 3 --json
is "$(json ahead_rows) < 4"
is "$(json ahead_bytes) == $(json ahead_rows) * 28 * 30 * 4"
run 1 recon s.json --rings sort -o no.mha
has err 'rings: found "sort", expected none, sorting\[:COLUMNS\], offsets\[:COLUMNS\], fluctuating\[:COLUMNS\] or wavelet'
run 1 recon s.json --rings sorting:31 -o no.mha
has err "found a width of 31 columns, expected 3 to 30, the number of detector columns"
run 1 recon s.json --rings wavelet:5,1,db21 -o no.mha
has err 'found db21, expected db1 to db20'
run 1 recon s.json --every 2 --rings wavelet -o no.mha
has err 'sinograms of 14 views and 30 columns are too small'
run 1 recon planes.json --rings sorting -o no.mha
has err 'rings: applies to line integrals of an attenuation, but the views are of kind planes'
run 2 recon s.json --rings '' -o no.mha
absent no.mha

# Phases: key and option; distances of cone beams are the geometry's.
with '"paganin": {"delta_beta": 1e5, "energy_kev": 20, "distance_mm": 50}'
run 0 recon c.json -o key.mha
has out '^prepared: phase retrieval for one material \(Paganin\), effective distance 50 mm, magnification 1, blur of '
! grep -q '^before the reconstruction' out || say "$last: phases took a pass ahead"
run 0 plan c.json
! grep -q '^ahead ' out || say "$last: phases take a pass ahead"
run 0 plan c.json --rings sorting:5
has out '^ahead     30 detector rows of all views, in 1 band; .* stored in memory$'
run 0 recon s.json --paganin 1e5,20,50 -o option.mha
run 0 compare key.mha option.mha --tolerance 0
run 0 recon c.json --paganin 0,0 -o off.mha
run 0 compare off.mha none.mha --tolerance 0
run 1 recon s.json --paganin 300,20 -o no.mha
has err 'the distance from object to detector is 0 mm'
run 0 simulate --kind cone --size 16 --views 28 -o cone.json -q
run 0 recon cone.json --rings sorting:5 --paganin 300,20 -o all.mha
has out '^prepared: rings by sorting, median of 5 columns; phase retrieval for one material'
run 1 recon cone.json --paganin 300,20,50 -o no.mha
has err 'for cone beams, the distance follows'
run 1 recon s.json --paganin 1e6,0.01,1e9 -o no.mha
has err 'the phase retrieval blurs over'
run 1 recon planes.json --paganin 300,20 -o no.mha
has err 'paganin: applies to line integrals of an attenuation, but the views are of kind planes'
absent no.mha
# Chunks that are missing: of projections, flats and volumes, with their number; what fbp wrote is refused.
zarr() { # NAME FILES…: an array of 16 x 16 samples a chunk, a file each
    local name=$1 k=0
    shift
    mkdir $name
    for file in "$@"; do
        cp "$file" $name/$k.0.0
        k=$((k + 1))
    done
    echo "{\"zarr_format\": 2, \"shape\": [$k, 16, 16], \"chunks\": [1, 16, 16], \"dtype\": \"<f4\", \"order\": \"C\", \"compressor\": null, \"filters\": null, \"fill_value\": 0}" >$name/.zarray
}
run 0 simulate --size 10 --detector 16x16 --views 12 --scale 0.02 -o m.json -q
tail -c $((12 * 16 * 16 * 4)) m.mha | split -b 1024 -a 2 -d - m.raw.
run 0 simulate --size 10 --detector 16x16 --views 12 --scale 0 -o f.json -q
tail -c 1024 f.mha >flat.raw
zarr p.zarr m.raw.*
zarr f.zarr flat.raw flat.raw
sed 's/"m.mha"/"p.zarr"/' m.json >p.json
run 0 recon p.json -o whole.ome.zarr -q --json
[ "$(json warnings | grep -c missing)" = 0 ] || say "$last: $(json warnings)"
rm p.zarr/3.0.0 p.zarr/5.0.0
run 0 recon p.json -o lacks.ome.zarr --json
has err '^warning: .*p.zarr: 2 of 12 chunks are missing \(views or slices 3, 5, counted from 0\); '
has out 'p.zarr: 2 of 12 chunks are missing'
run 0 plan p.json
has err 'p.zarr: 2 of 12 chunks are missing'
run 0 info p.zarr --json
has out 'p.zarr: 2 of 12 chunks are missing'
run 0 compare p.zarr p.zarr --json
has out 'p.zarr: 2 of 12 chunks are missing'
run 0 view p.zarr -o p.png
has err 'p.zarr: 2 of 12 chunks are missing'
rm f.zarr/1.0.0
sed 's/"m.mha"/"m.mha", "i0": 1, "dark": "f.zarr"/' m.json >d.json
run 0 recon d.json -o null: --json
has err '^warning: f.zarr: 1 of 2 chunks are missing \(views or slices 1, counted'
has out 'f.zarr: 1 of 2 chunks are missing'
rm lacks.ome.zarr/0/0/0/0
for command in 'info lacks.ome.zarr' 'compare whole.ome.zarr lacks.ome.zarr' 'view lacks.ome.zarr -o l.png'; do
    # shellcheck disable=SC2086
    run 1 $command
    has err 'lacks.ome.zarr: 1 of 1 chunks are missing, although fbp wrote all of them; the copy is incomplete'
done

# A folder of slices that fbp wrote: a gap is an error, an end that is missing a warning.
mkdir whole
run 0 recon m.json -o 'whole/v_%02d.tif' -q
cp -r whole gap
cp -r whole part
rm gap/v_03.tif part/v_0[89].tif
run 1 info gap
has err 'gap: file 3 is slice 4 of a volume, but slice 3 is missing; name the files of all slices'
run 0 info part
has err '^warning: part: contains only slices 0 to 7 of a volume of 10 slices, counted from 0'
run 0 info 'part/v_%02d.tif 0 7'
empty err
run 0 info whole
empty err

finish
