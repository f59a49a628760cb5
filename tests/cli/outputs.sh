#!/usr/bin/env bash
# Outputs and what is read for them: nothing is written over an input, of whatever file its samples
# are; nothing that was written before changes what an output means.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 16 --views 24 --scale 0.02 -o first.json -q

# Projections in other formats, with samples in files of their own.
scan() { # NAME PROJECTIONS [MORE]
    cat >"$1.json" <<JSON
{"fbp_scan": 1, "kind": "parallel", "projections": "$2", "detector": {"pitch_mm": 1, "row_order": "bottom-up"},
 "angles_deg": {"start": 0, "step": 11.25}, "volume": {"size": [12, 12, 4], "voxel_mm": 1}${3-}}
JSON
}
# kept FILE ARGUMENTS…: refused, FILE is as before, nothing is left.
kept() {
    local file=$1 before after
    shift
    before=$(cksum <"$file")
    ls >before
    run 1 "$@" -q
    one_line err
    has err 'would overwrite the input'
    after=$(cksum <"$file")
    [ "$before" = "$after" ] || say "$last: $file was changed"
    ls >after
    cmp -s before after || say "$last: left files: $(diff before after)"
}
touch out err before after
run 0 recon first.json -o scan.mhd --size 16 -q
scan mhd scan.mhd
kept scan.raw recon mhd.json -o scan.raw
kept scan.mhd recon mhd.json -o scan.mhd
run 0 recon first.json -o other.nhdr --size 16 -q
scan nhdr other.nhdr
kept other.raw recon nhdr.json -o other.mhd
kept other.raw recon nhdr.json -o other.raw
mkdir views
run 0 recon first.json -o 'views/v%03d.png' --size 16 --output-type uint16 --output-range=-1,1 -q
scan png 'views/v%03d.png 0 15'
kept views/v003.png recon png.json -o v.mha --preview views/v003.png
absent v.mha
ln -s views/v004.png link.png
run 1 recon png.json -o v.mha --preview link.png -q
has err 'link.png: this output would overwrite'
scan folder views
run 1 recon folder.json -o v.mha --preview views/new.png -q
has err 'new.png: this output would overwrite the input'
absent views/new.png
run 0 recon folder.json -o v.mha --preview new.png -q

# A run that was killed goes on only from the same numbers, read in the same way.
touch -d '1 hour ago' scan.raw
cp scan.raw as-it-was.raw
big=', "raw": {"type": "uint16", "shape": [16, 16, 16], "big_endian": true, "header_bytes": 8192}'
little=', "raw": {"type": "uint16", "shape": [16, 16, 16], "header_bytes": 8192}'
floats=', "raw": {"type": "float32", "shape": [16, 16, 16]}'
scan headerless as-it-was.raw "$floats"
scan big as-it-was.raw "$big"
scan little as-it-was.raw "$little"
sed 's/bottom-up/top-down/' headerless.json >top-down.json
run 0 recon first.json -o p.npy --size 16 --output-type uint16 --output-range=-1,1 -q
scan npy p.npy
slow=(-o killed.mha --device ref --size 128 --voxel 0.1 --slab 1 -q)
killed() { # SCAN: a run of it that had written some slices
    local pid i
    rm -f killed.mha*
    cp "$1" now.json
    "$fbp" recon now.json "${slow[@]}" &
    pid=$!
    for ((i = 0; i < 1000; i++)); do
        [ -e killed.mha.part.log ] && [ "$(wc -l <killed.mha.part.log)" -ge 3 ] && break
        sleep 0.01
    done
    kill -9 $pid
    wait $pid 2>/dev/null
    exists killed.mha.part
    absent killed.mha
}
refused() { # SCAN
    cp "$1" now.json
    run 1 recon now.json "${slow[@]}" --resume
    has err 'belongs to a run with other settings or data'
}
killed headerless.json
refused top-down.json
refused big.json
cp headerless.json now.json
run 0 recon now.json "${slow[@]}" --resume --json
is "$(json slabs_resumed) > 0"
killed big.json
refused little.json
refused headerless.json
killed mhd.json
touch scan.raw
refused mhd.json
killed npy.json
sed -i 's/"offset": -1/"offset": -2/' p.npy.json
grep -q '"offset": -2' p.npy.json || say "p.npy.json has no offset of -1"
refused npy.json

# Every name that the library writes, the command takes: the lists of names are one.
for name in v.mha v.mhd v.nrrd v.nhdr v.nii v.nii.gz v.npy v.h5 v.hdf5 v.raw v.bin v.vol v.tif v.tiff V.VOL; do
    run 0 recon first.json -o "names_$name" --size 16 -q
    exists "names_$name"
done
cmp -s names_v.vol names_v.raw || say "v.vol is not v.raw"
run 2 recon first.json -o names_v.xyz --size 16
has err 'ends in .mha, .*, .raw, .bin, .vol, .*or .zarr'
run 2 recon first.json -o names_v.vol --size 16 --compress
has err 'compress: expected -o FILE.mha, .mhd, .nrrd, .nhdr, .nii.gz, .ome.zarr or .zarr'

# The range of integers from the volume itself: said, in JSON, in the file; nothing else is left.
run 0 recon first.json -o auto.mha --size 16 --output-type uint16 --output-range auto
has out '^range of uint16: -?[0-9.e-]+ to [0-9.e-]+ 1/mm, the least and the greatest value$'
run 0 recon first.json -o auto.mha --size 16 --output-type uint16 --output-range auto --json -q
is "$(json output_range.0) == $(json min) && $(json output_clipped) == 0"
is "$(json output_range.1) - $(json max) < 1e-12 && $(json max) - $(json output_range.1) < 1e-12"
is "$(json output_scale) > 0"
absent auto.mha.values.raw.part
absent auto.mha.values.raw.part.log
run 2 recon first.json -o auto.mha --output-type uint8 --output-range 3
has err 'output-range: expected LO,HI\|auto'
run 1 recon first.json -o auto.mha --output-range auto
has err 'applies to uint8, uint16 and int16 only'

# A folder of chunks: written, in parts, replaced, read; other folders are refused.
run 0 recon first.json -o image.ome.zarr --size 16 --compress -q
run 0 recon first.json -o image.mha --size 16 -q
run 0 recon first.json -o image.ome.zarr --size 16 -q
run 0 compare image.mha image.ome.zarr --tolerance 0
exists image.ome.zarr/0/.zarray
absent image.ome.zarr.part
run 0 recon first.json -o image.ome.zarr --size 16 --part 2/2 -q
run 0 recon first.json -o image.ome.zarr --size 16 --part 1/2 -q
run 0 compare image.mha image.ome.zarr --tolerance 0
run 0 recon first.json -o auto.zarr --size 16 --output-type uint16 --output-range auto -q
run 0 compare image.mha auto.zarr --tolerance 1e-3
run 0 view image.ome.zarr -o image.png -q
# A level is named by its folder.
FBP_CHUNK=4 run 0 recon first.json -o levels.ome.zarr --size 32 -q
run 0 info levels.ome.zarr/1
has out '^size +16 x 16 x 16 float32'
run 0 view levels.ome.zarr/1 -o level.png -q
run 0 compare levels.ome.zarr/1 levels.ome.zarr/1/ --tolerance 0
run 1 compare levels.ome.zarr levels.ome.zarr/1
has err '32x32x32 and 16x16x16 differ'
run 1 info levels.ome.zarr/7
has err '^fbp: levels.ome.zarr/7: cannot open'
# Parts begin at borders of chunks: nothing of them has to wait in a file of edges.
tall=(first.json -o tall.ome.zarr --size 16x16x100)
export FBP_CHUNK=4
run 0 plan "${tall[@]}" --part 1/3 --kernel matrix -q
has out '^part +1 of 3 .this one.: slices 0 to 31,'
has out '^part +2 of 3: slices 32 to 67,'
run 0 recon "${tall[@]}" --part 2/3 -q
[ -n "$(find . -name 'tall.ome.zarr.part.log.2of3.*.edges' -empty)" ] || say "part 2 of 3 has edges"
run 0 recon "${tall[@]}" --part 4/5 -q
run 0 recon "${tall[@]}" --part 1/1 -q
unset FBP_CHUNK
run 0 recon first.json -o tall.mha --size 16x16x100 -q
run 0 compare tall.mha tall.ome.zarr --tolerance 0
mkdir image.ome.zarr/labels other.zarr
echo mine >other.zarr/notes.txt
run 1 recon first.json -o image.ome.zarr --size 16 -q
has err 'image.ome.zarr: is a folder with other files than an image .labels., .*; move it away'
run 1 recon first.json -o other.zarr --size 16 -q
has err 'other.zarr: is a folder with other files than an image'
exists other.zarr/notes.txt
run 2 recon first.json -o image.ome.zarr/ --size 16 -q
has err 'is a folder; name a file in it'

# A small stack is enough, also for what reads HDF5 and MAT.
for name in v.mha v.h5 v.mat v.nii.gz v.ome.zarr v_%02d.tif v.html; do
    case $name in
    *.html) run=(view v.mha -o $name) ;;
    *) run=(recon first.json -o "$name" --size 16) ;;
    esac
    (ulimit -s 64 && "$fbp" "${run[@]}" -q) || say "ulimit -s 64: ${run[*]}: status $?"
done
for name in v.h5 v.mat v.nii.gz v.ome.zarr; do
    (ulimit -s 64 && "$fbp" compare v.mha $name --tolerance 0 >out) || say "ulimit -s 64: $name: status $?"
done
rm -rf v.* v_*

# fbp plan says of the name of the output what recon would say, and writes nothing.
for name in plan.xyz plan.png . lost/plan.mha; do
    got=0
    "$fbp" recon first.json -o $name >out 2>recon.err || got=$?
    run $got plan first.json -o $name
    [ $got -ne 0 ] || say "$last: recon takes it"
    one_line err
    run $got recon first.json -o $name --plan
done
run 2 plan first.json -o plan.npy --compress
has err '^fbp: plan: --compress: expected -o FILE'
for name in plan.mha plan.ome.zarr %03d.tif null: hash:; do
    run 0 plan first.json -o $name -q
done
ls plan* [0-9]*.tif 2>/dev/null >files
empty files

finish
