#!/usr/bin/env bash
# simulate, recon, compare, view, info, plan, geometry, bench: the commands together.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 32 --views 60 -o scan.json --truth truth.mha
one_line out
has out '60 views of 48 x 48 pixels'
exists scan.json
exists scan.mha
exists truth.mha
files=$(echo *)
[ "$files" = "err out scan.json scan.mha truth.mha" ] || say "simulate left other files: $files"

run 0 info scan.mha --json
is "$(json size.0) == 48 && $(json size.1) == 48 && $(json size.2) == 60"
is "$(json max) > 0 && $(json min) >= -1e-6 && $(json not_finite) == 0"
run 0 info scan.json --json
is "$(json views) == 60 && $(json columns) == 48 && $(json size.2) == 32"
run 0 info scan.json
has out 'cone beam'
run 0 info truth.mha
has out '^unit +1/mm'
run 0 info truth.mha --header --json
[ "$(json unit)" = 1/mm ] || say "$last: unit"
is "$(json spacing_mm.0) == 8 && $(json origin_mm.0) == -124"

run 0 plan scan.json
has out '^memory '
run 0 plan scan.json --json
is "$(json updates) == 32*32*32*60 && $(json memory_bytes) > 0 && $(json expected_seconds) > 0"
cp out plan.json
run 0 recon scan.json --plan --json
is "$(json updates) == 32*32*32*60"
run 1 plan scan.json --memory 1K
has err 'memory|limit'
run 1 plan scan.json --memory 1
has err 'a single slice of 32 x 32 voxels needs 4\.00 KiB, but the limit is 1 B; raise --memory'

run 0 recon scan.json -o volume.mha --preview preview.png
has out 'volume.mha: from '
exists volume.mha
exists preview.png
run 0 recon scan.json -o timed.mha --timeline timeline.svg
cmp -s volume.mha timed.mha || say "a timeline changes the volume"
grep -q '<title>backproject: ' timeline.svg || say "the timeline has no bars"
run 1 recon scan.json -o late.mha --timeline missing/t.svg
absent late.mha
run 0 recon scan.json -o quiet.mha -q
empty out
empty err
cmp -s volume.mha quiet.mha || say "two runs differ"
cp scan.mha holed.mha
middle=$(($(stat -c %s scan.mha) - 4 * (30 * 48 * 48 - 24 * 48))) # of view 30
printf '\0\0\300\177' | dd of=holed.mha bs=1 conv=notrunc seek=$middle 2>/dev/null
sed 's/scan\.mha/holed.mha/' scan.json >holed.json
run 0 recon holed.json -o holed_volume.mha
has err '^warning: samples that are not numbers \(NaN or infinite\): 1, 0\.00072 % of 60 views of 48 x 48: they were'
run 0 recon holed.json -o holed_volume.mha -q
empty err
rm holed*
run 0 recon scan.json -o json.mha --json
for key in seconds.read seconds.filter seconds.backproject seconds.write seconds.finish seconds.total gups \
    device kernel min max mean; do
    json "$key" >/dev/null
done
is "$(json min) < $(json mean) && $(json mean) < $(json max)"

run 0 recon scan.json -o hash: -q
has out '^[0-9a-f]{16}$'
one_line out
empty err
hash=$(cat out)
run 0 recon scan.json -o hash: --json --threads 2
[ "$(json hash)" = "$hash" ] || say "$last: another hash"
run 0 recon scan.json -o null: -q
empty out

run 0 compare volume.mha truth.mha --inside 90 --json
is "$(json rmse) < 0.12 && $(json rmse) > 0"
is "$(json mean_a) - $(json mean_b) < 0.02 && $(json mean_b) - $(json mean_a) < 0.02"
run 1 compare volume.mha truth.mha --tolerance 1e-9
one_line err
has err 'exceeds the tolerance'
run 0 compare volume.mha volume.mha --tolerance 0 --json
is "$(json rmse) == 0 && $(json psnr_db) == 999"

run 0 view volume.mha -o slices.png --window 0,0.4
exists slices.png
run 0 view volume.mha -o mip.png --mip -q
empty out
exists mip.png
run 0 geometry show scan.json -o setup.svg
exists setup.svg
grep -q '<svg' setup.svg || say "setup.svg is not an SVG"

run 0 geometry check scan.json --json
[ "$(json coverage)" = full ] || say "$last: coverage"
is "$(json direction) == 1 && $(json iso_centre.column.min) > 23.4999 && $(json iso_centre.column.max) < 23.5001"
is "$(json corners.column.min) >= -0.5 && $(json corners.column.max) <= 47.5"
is "$(json corners.row.min) >= -0.5 && $(json corners.row.max) <= 47.5"
is "$(json alpha_deg) - $(json theta_deg) == 90"
run 0 geometry check scan.json
has out 'counter-clockwise'
has out 'if flipped'

# What is read is never replaced, however it is spelt; what cannot end well does not begin.
cp scan.mha scan.copy
ln -s scan.mha link.mha
for name in scan.mha ./scan.mha link.mha; do
    run 1 recon scan.json -o "$name" -q
    has err 'this output would overwrite the input .*scan.mha.*; choose another name'
done
cmp -s scan.mha scan.copy || say "$last: the projections were changed"
absent scan.mha.part
run 1 recon scan.json -o late.mha --preview missing/p.png
has err 'missing/p.png: the output folder is missing'
absent late.mha
run 1 view scan.json -o scan.png
has err 'is a JSON file, not an array'
run 1 compare scan.json truth.mha
has err 'is a JSON file, not an array'

# Ctrl-C: stops cleanly, says what is kept, leaves nothing under the final name.
interrupt 0.5 recon scan.json -o stopped.mha --device ref --size 256 --voxel 1 -q
has err 'interrupted: (nothing was written|stopped.mha is incomplete, but [0-9]+ of 256 slices are stored; continue with --resume)'
one_line err
absent stopped.mha

run 0 devices --json
json devices.0.name >/dev/null
run 0 devices
has out '^cpu '

run 0 bench pipeline scan.json --json -q
one_line out
for key in bench case device kernel threads seconds gups read_overlap write_overlap; do
    json "$key" >/dev/null
done
run 0 bench host --job J1 --divide 16 --device cpu --runs 1 --json --timeline host.svg
one_line out
for key in case seconds gups rmse_hu first pin open plan; do
    json measurements.0."$key" >/dev/null
done
is "$(json measurements.0.psnr_db) > 100 && $(json measurements.0.rmse_hu) < 0.1"
run 0 bench host --job J1 --divide 4 --device mock --runs 1 --json # several threads read
is "$(json measurements.0.rmse_hu) < 0.1"
grep -q '<title>filter: ' host.svg || say "$last: the timeline has no bars"
run 0 bench host --job J1 --divide 16 --device cpu --runs 1 --counts
run 0 bench host --job J1 --divide 8 --device mock --runs 1 --on-device --json
is "$(json measurements.0.rmse_hu) < 0.1"
run 1 bench host --job J1 --divide 8 --device cpu --runs 1 --on-device
has err 'cpu has no device memory'
run 0 bench host --job J4 --divide 32 --device cpu --runs 1
run 0 bench pipeline --size 16 --views 12 -q
has out '^backproject '

mkdir disk
run 0 bench write --dir disk --size 40 --threads 3 --json # null:, hash: and the file, each twice
one_line out
[ "$(json outputs.2.output) $(json outputs.5.output) $(json outputs.4.threads)" = "hash: volume.mha 1" ] ||
    say "$last: $(cat out)"
is "$(json threads) == 3 && $(json outputs.5.threads) == 3 && $(json outputs.5.bytes) == 256000"
for kind in fresh_pages copy hash file_written; do
    is "$(json memory_bytes_per_second.$kind.0) > 0 && $(json memory_bytes_per_second.$kind.1) > 0"
done
run 0 bench write --dir disk --size 40 --threads 1 --name '%04d.png' --output-type uint16
has out '^fresh pages +[0-9.]+$'
has out '^%04d.png +1 '
[ "$(grep -c '^hash: ' out)" -eq 1 ] || say "$last: one thread has one row"
run 1 bench write --dir disk --size 8 --name v.xyz
has err 'v.xyz: unknown file format; choose a'
run 2 bench write --dir disk --name ../v.mha
has err 'name without folders'
[ -z "$(ls -A disk)" ] || say "bench write: files were left"
finish
