#!/usr/bin/env bash
# The commands rabbitct …: a stand-in is made, reconstructed, compared, converted; wrong usage.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 rabbitct make -o set.rctd --views 48 --detector 156x120 --references 1 --device cpu
has out "set.rctd: version 2, 48 views of 156 x 120 pixels, 1 references"
absent set.rctd.views.mha
absent set.rctd.part
run 0 info set.rctd --json
is "$(json version) == 2 && $(json views) == 48 && $(json references.0) == 128 && $(json hu.0) == 50000"
run 0 info set.rctd
has out "grey value  50000 f"
run 0 geometry check set.rctd --json
is "$(json sod_mm.0) > 740 && $(json sod_mm.1) < 750"
is "$(json sdd_mm.0) > 1190 && $(json sdd_mm.1) < 1205"

run 0 rabbitct run set.rctd --size 128 --device cpu --precision exact -o result.rctd --volume grey.vol --json
is "$(json rmse) < 0.05 && $(json max) <= 1 && $(json seconds) > 0 && $(json histogram.0) > 2e6"
run 0 info result.rctd --json
is "$(json size) == 128 && $(json views) == 48 && $(json seconds) > 0 && $(json rmse) < 0.05"
[ "$(stat -c %s grey.vol)" -eq $((4 * 128 * 128 * 128)) ] || say "grey.vol has another size"
run 0 rabbitct compare grey.vol set.rctd --json
is "$(json rmse) < 0.05"

# The reconstruction of a data set is that of its references.
run 0 recon set.rctd --size 128 --device cpu --precision exact -o volume.mha -q
run 0 rabbitct compare volume.mha set.rctd --json
is "$(json rmse) == 0 && $(json psnr_db) == 999"
run 1 rabbitct compare volume.mha set.rctd --hu 50000,3 --tolerance 1
has err "exceeds the tolerance"
run 0 recon set.rctd --size 128 --device cpu --plan
has out "already weighted and filtered"
run 0 recon set.rctd --size 16 --device cpu --filter hann -o hann.mha
has err "for filter and weights have no effect"
run 0 recon set.rctd --size 16 --device cpu -o hann.mha
if grep -q "have no effect" err; then say "$last: $(cat err)"; fi

run 0 rabbitct convert set.rctd -o set.rct
run 0 info set.rct --json
is "$(json version) == 1 && $(json bytes) == $(stat -c %s set.rctd) - 4"
run 0 rabbitct convert set.rct -o again.rctd
cmp -s set.rctd again.rctd || say "converted twice, the data set differs"
run 1 rabbitct convert set.rctd --split no/parts
has err "no/parts/RabbitInput.rct: the folder no/parts cannot be created: .*; create its parent folders"
absent no
head -c 100000 set.rctd >short.rctd
run 1 rabbitct convert short.rctd --split parts
absent parts
(ulimit -f 4 && exec "$fbp" rabbitct convert set.rctd --split parts) 2>/dev/null && say "beyond ulimit -f"
absent parts
run 0 rabbitct convert set.rctd --split parts
run 0 rabbitct convert set.rctd --split parts
run 0 rabbitct run parts/RabbitInput.rct --size 128 --device cpu --precision exact \
    --reference parts/Reference128.vol --json
is "$(json rmse) < 0.05"
run 0 info parts/RabbitGeometry.rct
has out "matrices only"

# A scan of one's own.
run 0 simulate --size 32 --views 24 -o scan.json -q
run 0 rabbitct make scan.json -o own.rctd --references 1 --device cpu -q
run 0 recon scan.json -o a.mha --size 32 --voxel 8 --device cpu -q
run 0 recon own.rctd -o b.mha --size 32 --voxel 8 --device cpu -q
run 0 compare a.mha b.mha --json
is "$(json psnr_db) > 100"

cp set.rctd kept.rctd
ln -s set.rctd link.rctd
run 1 rabbitct run set.rctd --size 128 --device cpu -o set.rctd
has err "set.rctd: this output would overwrite the input set.rctd"
run 1 rabbitct run link.rctd --size 128 --device cpu -o set.rctd
run 1 rabbitct run set.rctd --size 128 --device cpu --reference parts/Reference128.vol \
    --volume parts/Reference128.vol
has err "would overwrite the input parts/Reference128.vol"
cmp -s set.rctd kept.rctd || say "an input was replaced"
mkdir own
cp set.rct own/RabbitGeometry.rct
run 1 rabbitct convert own/RabbitGeometry.rct --split own
has err "own/RabbitGeometry.rct: this output would overwrite"
cmp -s set.rct own/RabbitGeometry.rct || say "an input was replaced"
absent own/RabbitInput.rct
run 1 rabbitct run set.rctd --size 256 --device cpu
has err "no reference of 256"
run 2 rabbitct run set.rctd --size 200
run 2 rabbitct make -o set.mha
run 2 rabbitct make scan.json -o x.rctd --arc 180
has err "--arc is for a simulated scan"
absent x.rctd
run 2 rabbitct convert set.rctd
run 2 rabbitct convert set.rctd -o set.mha
run 1 rabbitct compare volume.mha parts/Reference128.vol
has err "--hu"
run 1 rabbitct compare a.mha set.rctd
has err "32 x 32 x 32"
head -c 1000000 set.rctd >short.rctd
for command in "info" "recon -o x.mha" "rabbitct run" "rabbitct convert -o x.rct"; do
    # shellcheck disable=SC2086
    run 1 $command short.rctd
    has err "short.rctd: .*damaged"
done
absent x.mha
absent x.rct
finish
