#!/usr/bin/env bash
# recon --follow beside a writer: the same file as without, or an error that leaves nothing behind.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

views=40 rows=48 columns=48
view_bytes=$((rows * columns * 4))
run 0 simulate --size 32 --views $views -o scan.json -q
header_bytes=$(($(stat -c %s scan.mha) - views * view_bytes))

# scan NAME PROJECTIONS RAW: the scan of other files.
scan() { sed -e "s|scan.mha|$2|" -e "s|\"kind\"|$3\"kind\"|" scan.json >"$1.json"; }
raw="\"raw\": {\"type\": \"float32\", \"shape\": [$views, $rows, $columns]}, "
scan live live.raw "$raw"
scan mha live.mha ""
scan files "views/%03d.raw 1 $views" "$raw"
mkdir views

# view K: the samples of view K, from 0.
view() { tail -c +$((header_bytes + 1 + $1 * view_bytes)) scan.mha | head -c $view_bytes; }
# append FIRST LAST FILE: views to the end of a file, one after another.
append() {
    for k in $(seq "$1" "$2"); do
        view "$k" >>"$3"
        sleep 0.01
    done
}

run 0 recon scan.json -o expected.mha --kernel column -q
same() { cmp -s expected.mha "$1" || say "$last: $1 is not the volume of an ordinary run"; }
nothing_left() {
    absent "$1"
    absent "$1.part"
    absent "$1.part.log"
}

# A headerless file that comes later.
rm -f live.raw
(sleep 0.3 && append 0 39 live.raw) &
run 0 recon live.json -o volume.mha --follow --json
wait
same volume.mha
is "$(json after_last_view.volume) > 0 && $(json after_last_view.output) >= $(json after_last_view.volume)"
is "$(json batches) >= 2 && $(json batches) <= 5 && $(json last_batch_views) >= 8"
[ "$(json kernel)" = column ] || say "$last: kernel"

# A file with a header, of which some views are there; the file is complete; text.
head -c $((header_bytes + 5 * view_bytes + 100)) scan.mha >live.mha
(sleep 0.1 && tail -c +$((header_bytes + 5 * view_bytes + 101)) scan.mha >>live.mha) &
run 0 recon mha.json -o volume.mha --follow
wait
same volume.mha
has out 'the volume was complete .* after the last view'
run 0 recon mha.json -o volume.mha --follow -q
same volume.mha
empty out
empty err

# A file each, renamed when it is written.
(for k in $(seq 1 $views); do
    view $((k - 1)) >views/tmp
    mv views/tmp "views/$(printf %03d "$k").raw"
done) &
run 0 recon files.json -o volume.mha --follow -q
wait
same volume.mha
run 0 recon files.json -o volume.mha --kernel column -q # all there: without following
same volume.mha
run 1 recon files.json -o views/007.raw -q
has err 'would overwrite'
run 0 recon files.json --follow --plan
has out '^batches +the views that have arrived'
run 0 recon files.json -o hash: --follow --slab 8
has err 'only these are computed during the scan'

# The writer is killed: the views that are there are counted, and nothing is left.
rm -f live.raw volume.mha
append 0 39 live.raw &
writer=$!
(sleep 0.15 && kill -9 $writer) 2>/dev/null &
run 1 recon live.json -o volume.mha --follow --follow-timeout 0.5 -q
wait 2>/dev/null
has err '^fbp: live.raw: no new view for 0.5 s; [0-9]+ of 40 views have arrived; .*--follow-timeout'
one_line err
nothing_left volume.mha

# It shrinks.
(sleep 0.2 && truncate -s 100 live.raw) &
run 1 recon live.json -o volume.mha --follow -q
wait
has err 'live.raw: shrank from [0-9]+ to 100 bytes'
nothing_left volume.mha

# Ctrl-C while it waits.
interrupt 0.4 recon live.json -o volume.mha --follow -q
has err 'interrupted: nothing was written'
one_line err
nothing_left volume.mha

run 1 recon live.json -o volume.h5 --follow --part 1/2 -q
one_line err
has err 'omit --follow'

# What cannot be followed.
sed 's/^CompressedData = .*//; s/^NDims/CompressedData = True\nNDims/' <(head -c $header_bytes scan.mha) >live.mha
run 1 recon mha.json -o volume.mha --follow -q
has err '--follow cannot read compressed samples'
rm live.mha
run 1 recon mha.json -o volume.mha --follow -q
has err 'live.mha: cannot open'
scan folder views "$raw"
run 1 recon folder.json -o volume.mha --follow -q
has err 'folder.json: projections: views: --follow needs the number of views, .* by a pattern'
run 2 recon live.json -o volume.mha --follow --resume
has err '--resume needs a complete scan'
run 1 recon live.json -o volume.mha -q # without --follow a short file is an error at once
has err 'correct type, shape or header_bytes'

# The benchmark, at a size that takes no time.
for form in raw mha files; do
    run 0 bench follow --divide 16 --rate 2000 --runs 1 --form $form --device cpu --json -q
    one_line out
    [ "$(json same)" = true ] || say "$last: other bits"
    is "$(json seconds) > 0 && $(json file) > 0 && $(json views) == 22 && $(json batches) >= 1"
done
run 0 bench follow --divide 16 --rate 2000 --runs 1 -q
has out '^volumes: the same bits'
# Plane integrals of an EPR image, whose views have a row each.
run 0 simulate --kind planes --directions solid-angle:10 --order msps --phantom soft-ball --size 32 \
    --voxel 0.0625 -o planes.json -q
run 0 recon planes.json -o expected.mha -q
header_bytes=$(($(stat -c %s planes.mha) - 66 * 56 * 4))
sed 's/planes.mha/growing.mha/' planes.json >growing.json
head -c $((header_bytes + 10 * 56 * 4 + 30)) planes.mha >growing.mha
(
    sleep 0.2
    tail -c +$((header_bytes + 10 * 56 * 4 + 31)) planes.mha | head -c 5000 >>growing.mha
    sleep 0.2
    tail -c +$((header_bytes + 10 * 56 * 4 + 5031)) planes.mha >>growing.mha
) &
run 0 recon growing.json -o volume.mha --follow --json
wait
same volume.mha
is "$(json batches) >= 2 && $(json after_last_view.volume) > 0"
head -c $((header_bytes + 30 * 56 * 4)) planes.mha >growing.mha
run 1 recon growing.json -o none.mha --follow --follow-timeout 0.3
has err '30 of 66 views have arrived'
nothing_left none.mha

finish
