#!/usr/bin/env bash
# Equal runs write equal bytes: every output of every command, twice, in different seconds.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 16 --views 24 --scale 0.02 -o scan.json -q
run 0 simulate --kind parallel --size 12 --views 20 --arc 180 -o flat.json -q
printf '6 -3 2 5 5 5 0 0.02\n' >ball.txt

volumes() { # in folder one or two
    local kind name range="--output-range=-0.01,0.05"
    for name in v.mha v.mhd v.nrrd v.nhdr v.nii v.nii.gz v.npy v.raw v.h5 v.tif 't/%03d.tif' \
        'a.h5:/one/two/three'; do
        run 0 recon ../scan.json -o "$name" -q
    done
    for name in p.mha p.mhd p.nrrd p.nhdr; do
        run 0 recon ../scan.json -o "$name" --compress -q
    done
    for kind in uint8 uint16; do
        for name in v.mha v.nii.gz v.npy v.raw v.h5 v.tif 'png%d.png'; do
            run 0 recon ../scan.json -o "$kind-$name" --output-type $kind $range -q
        done
    done
}

small_files() {
    run 0 recon ../scan.json -o w.mha --preview preview.png -q
    run 0 recon ../scan.json --slice 8 -o slice.png -q
    run 0 recon ../scan.json --sweep centre=11:13:0.5 -o sweep.png --curve curve.svg -q
    run 0 view v.mha -o view.png
    run 0 view v.mha -o mip.png --mip
    run 0 simulate --phantom ../ball.txt --size 12 --views 20 --noise 1e5 --truth truth.mha \
        -o sim.json -q
    run 0 geometry show ../scan.json -o setup.svg
    run 0 rabbitct make -o set.rctd --views 8 --detector 39x30 --references 1 -q
    run 0 rabbitct convert set.rctd -o set.rct
    run 0 recon ../scan.json -o stays.mha -q
    mkdir data
    cp ../scan.mha data
    run 0 init data --pitch 1 --sod 100 --sdd 200 --arc 360 -o init.json
}

geometries() {
    local format name
    for format in $formats; do
        name=g-$format
        [ "$format" != plastimatch ] || name=$name%03d.txt
        "$fbp" geometry convert ../scan.json -o "$name" --to-format "$format" -q 2>err ||
            "$fbp" geometry convert ../flat.json -o "$name" --to-format "$format" -q 2>err ||
            say "geometry convert to $format: $(cat err)"
    done
}

run 1 geometry convert scan.json -o none --to-format none
formats=$(sed 's/.*name one of //; s/ (--to-format.*//; s/([^)]*)//g; s/,//g' err)
[ "$(echo "$formats" | wc -w)" -ge 9 ] || say "formats of geometry: $formats"
mkdir one two
for folder in one two; do
    cd $folder || exit 1
    volumes
    small_files
    geometries
    rm -f out err
    cd ..
    sleep 1.1 # times are stored in seconds, if any are
done
[ "$(find one -type f | wc -l)" -gt 100 ] || say "only $(find one -type f | wc -l) files were compared"
diff -r one two >differ || say "equal runs wrote other bytes: $(cat differ)"
finish
