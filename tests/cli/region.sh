#!/usr/bin/env bash
# --region: what the plan says of it, what is written, and words and masks that are none.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 32 --views 36 --voxel 4 --scale 0.02 -o scan.json -q

# A cylinder of half the side: some pi / 16 of the voxels, 208 of the 1024 of a slice.
run 0 plan scan.json --device cpu --region cylinder:32
has out '^region +20\.3 % of the voxels, in slices 0 to 31; it saves 79\.7 % of the updates and 0 % of'
run 0 plan scan.json --device cpu --region box:-20:20,:,0:16 --json
[ "$(json region.voxels)" = 1280 ] || say "$last: $(json region.voxels) voxels"
is "$(json region.share) == 1280 / 32768 && $(json region.saves_updates) > 0.96 && $(json region.saves_rows) > 0.2"
is "$(json updates) == 1280 * 36"
run 0 plan scan.json --device cpu --json
"$json_get" region <out >/dev/null 2>&1 && say "$last: tells of a region"

# Outside is one value; inside is the volume.
run 0 recon scan.json --device cpu --hu 0.02 -o whole.mha -q
run 0 recon scan.json --device cpu --hu 0.02 --region ball:8,4,0,30 -o part.mha -q
run 0 recon scan.json --device cpu --region ball:8,4,0,30 -o null: --json
is "$(json region.voxels) > 1500 && $(json region.voxels) < 2000"
run 0 recon scan.json --device cpu --region ball:8,4,0,30 -o null:
has out '^5\.[0-9]+ % of the voxels lie in the region'
run 0 compare part.mha whole.mha --inside 8 --json
is "$(json rmse) > 0" # above and below the ball
run 0 recon scan.json --device cpu --hu 0.02 --region cylinder:30 -o pole.mha -q
run 0 compare pole.mha whole.mha --inside 30 --json
is "$(json rmse) == 0 && $(json count) > 5000"

# A mask of the volume itself: the same voxels.  Not one of its own slices, not the output.
run 0 recon scan.json --device cpu --region ball:8,4,0,30 -o mask.mha -q
run 0 recon scan.json --device cpu --hu 0.02 --region mask.mha -o again.mha -q
cmp -s part.mha again.mha || say "$last: not the ball's volume"
sum=$(cksum <mask.mha)
run 1 recon scan.json --device cpu --region mask.mha -o mask.mha -q
one_line err
run 1 recon scan.json --device cpu --region mask.mha -o other.mha --preview mask.mha.png -q --size 16
[ "$sum" = "$(cksum <mask.mha)" ] || say "the mask has changed"

# One slice has the bits of the whole volume, whatever kernel is chosen for that.
slices_agree() { # SIZE OPTION…: of slices.json
    local bytes=$(($1 * $1 * 4)) n=$2 k
    shift 2
    run 0 recon slices.json "$@" -o whole.mha -q
    for k in 0 $((n / 3)) $((n - 1)); do
        run 0 recon slices.json "$@" --slice "$k" -o slice.mha -q
        cmp -s <(tail -c $bytes slice.mha) \
            <(tail -c $((n * bytes)) whole.mha | tail -c +$((k * bytes + 1)) | head -c $bytes) ||
            say "$last: slice $k differs from that of the whole volume"
    done
}
for scan in "" "--offset 30,0" "--arc 200" "--tilt 0,1,2" "--kind parallel" "--detector 48x9" \
    "--kind parallel --arc 180 --detector 48x20" "--trajectory c-arm"; do
    # shellcheck disable=SC2086
    run 0 simulate --size 24 --views 64 $scan -o slices.json -q
    slices_agree 24 24 --device cpu
    slices_agree 20 13 --device mock --size 20x20x13 --voxel 4x4x9 --mask 0
    slices_agree 20 16 --device ref --size 20x20x16 --voxel 4x4x9 --filter hann
    slices_agree 17 32 --device cpu --precision half --size 17x17x32 --rings sorting
    slices_agree 24 24 --device cpu --rings wavelet --every 2 --pad ellipse
    slices_agree 24 24 --device mock:0,1 --bin 2 --cutoff-v 0.5
done

# refused REGION SENTENCE: one line, and nothing is written.
refused() {
    run 1 recon scan.json --device cpu --region "$1" -o new.mha -q
    one_line err
    empty out
    has err "^fbp: region: .*$2"
    absent new.mha
    absent new.mha.part
}
refused ball:1,2,3 'does not have four numbers: expected ball:X,Y,Z,R in mm'
refused ball:nan,0,0,5 'does not have four numbers'
refused cylinder:0 'is empty, because its radius is not above 0'
refused box:5:1,:,: 'is empty, because an end lies below its beginning'
refused ball:0,0,900,20 'contains no voxel of the volume, which extends over x -62 to 62, .*; choose another region'
refused sphere:0,0,0,9 'is neither a shape nor a mask file; expected cylinder:R, ball:X,Y,Z,R or box'
refused missing.mha 'missing.mha: cannot open'
run 1 recon scan.json --device cpu --region mask.mha --size 16 -o new.mha -q
has err 'mask.mha has 32 x 32 x 32 voxels, but the whole volume, without --roi or --slice, has 16 x 16 x 16'
run 1 recon scan.json --device cpu --region mask.mha --volume-centre 0,0,9 -o new.mha -q
has err 'the mask extends from -62 to 62 mm along z, but the volume from -53 to 71 mm'
run 2 recon scan.json --device cpu --region cylinder:9 --sweep centre=1:2:1 -o new.png -q
has err '--region'
absent new.mha

finish
