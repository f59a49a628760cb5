#!/usr/bin/env bash
# fbp geometry: files of other programs, and what a scan that is read wrongly would look like.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Three balls, none of them in the middle; and their mirror image, y for -y.
printf '0 0 0 80 80 80 0 0.02\n60 20 10 12 12 12 0 0.02\n-20 55 -30 9 9 9 0 0.03\n' >balls.txt
printf '0 0 0 80 80 80 0 0.02\n60 -20 10 12 12 12 0 0.02\n-20 -55 -30 9 9 9 0 0.03\n' >mirror.txt
printf '0 0 0 80 80 80 0 0.02\n60 20 -10 12 12 12 0 0.02\n-20 55 30 9 9 9 0 0.03\n' >down.txt
for name in balls mirror down; do
    run 0 simulate --phantom $name.txt --size 32 --views 60 -o $name.json -q
    run 0 recon $name.json -o $name-volume.mha -q
done

# What the check says is what a reconstruction shows.
run 0 geometry check balls.json --json
[ "$(json flips.u.sharp)$(json flips.direction.sharp)" = falsefalse ] || say "$last: columns"
[ "$(json 'flips.u+direction.sharp')" = true ] || say "$last: columns and direction"
[ "$(json flips.v.sharp)$(json flips.v.upside_down)" = truetrue ] || say "$last: rows"
[ "$(json 'flips.u+v+direction.sharp')" = true ] || say "$last: all three"
is "$(json flips.u.rms_mm) > 5 && $(json 'flips.u+direction.max_mm') < 1e-6"
run 0 recon balls.json -o both.mha -q --flip-u --reverse
run 0 compare both.mha mirror-volume.mha --tolerance 1e-7
run 0 recon balls.json -o rows.mha -q --flip-v
run 0 compare rows.mha down-volume.mha --tolerance 1e-7
run 0 recon balls.json -o columns.mha -q --flip-u
run 1 compare columns.mha mirror-volume.mha --tolerance 1e-4
run 0 geometry check balls.json --flip-u --reverse --json
is "$(json direction) == -1"
sed 's/"fbp_scan": 1/"fbp_scan": 1, "flip": ["u", "direction"]/' balls.json >key.json
run 0 recon key.json -o key.mha -q
cmp -s key.mha both.mha || say "the key flip is not --flip-u --reverse"

# An offset detector tells its columns; a parallel beam tells nothing.
run 0 simulate --phantom balls.txt --size 32 --views 60 --offset 40,0 -o offset.json -q
run 0 geometry check offset.json
has out 'flipped columns move the axis by [0-9.]+ columns'
has out "^weights +Wang's"
run 0 simulate --phantom balls.txt --size 32 --views 60 --kind parallel -o parallel.json -q
run 0 geometry check parallel.json --json
[ "$(json flips.u.sharp)$(json flips.direction.sharp)$(json flips.u.mirrored)" = truetruefalse ] ||
    say "$last: parallel"
run 0 geometry check balls.json
has out '^if flipped +columns +blurred'
has out 'columns\+direction +sharp and mirrored, left is right: the data cannot tell'
has out 'theta 0 \(TIGRE\), which is alpha 90 \(RTK, ASTRA, LEAP\)'
has out '^axis +lands on column 23.5 at the bottom, 23.5 at the top'

# Files of other programs, and what they lack.
run 0 geometry convert balls.json -o tigre.json --to-format tigre -q
run 0 geometry check tigre.json --json
is "$(json views) == 60 && $(json direction) == 1 && $(json columns) == 48"
run 0 geometry convert balls.json -o m.txt -q
run 1 geometry check m.txt
has err '--detector'
run 0 geometry check m.txt --detector 48x48 --pitch 8.5,8.5
run 0 geometry show m.txt --detector 48x48 --pitch 8.5,8.5 -o setup.svg
exists setup.svg
run 1 geometry check tigre.json --from-format nikon
run 1 geometry convert balls.json -o no.mat
has err 'only read'
absent no.mat
run 1 recon tigre.json -o v.mha
has err 'names no projections'
run 2 geometry check m.txt --matrix-origin middle
has err 'expected center or corner'
finish
