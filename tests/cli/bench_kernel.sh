#!/usr/bin/env bash
# bench kernel: lines, table and JSON, of jobs that take no time.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 bench kernel --device cpu --threads 2 --divide 32
empty err
has out '^cpu: .*; commit '
has out '^J1  11 views into 16 slices; errors in 16 whole slices and 0 voxels, against double'
has out '^J3  15 views into 32 slices; errors in 16 whole slices and 16384 voxels'
for job in J1 J2 J3; do
    has out "^$job  matrix +[a-z0-9]+ +[0-9.]+ +[0-9.]+ "
    has out "^$job  column "
done
has out '^\| matrix \[GUPS\] \|( [0-9.e+-]+, [0-9]+\.[0-9] dB \|){3}$'
if grep -q 'memory to memory' out; then say "$last: whole reconstructions on a CPU"; fi

run 0 bench kernel --device cpu --threads 2 --divide 16 --job J1 --views 8 --slices 5 --json
empty err
measurements >lines
[ "$(wc -l <lines)" -ge 2 ] || say "$last: $(cat lines)"
while read -r line; do
    echo "$line" >out
    [ "$(json bench)" = kernel ] && [ "$(json case)" = J1 ] && [ "$(json clock)" = host ] || say "$last: $line"
    [ -n "$(json commit)" ] && [ -n "$(json device_text)" ] && [ -n "$(json kernel)" ] || say "$last: $line"
    is "$(json views) == 8 && $(json slices) == 6 && $(json size) == 32 && $(json runs) >= 5"
    is "$(json best) <= $(json seconds) && $(json seconds) <= $(json worst)"
    # Double and fp32 agree, in all voxels of these few.
    is "$(json psnr_db) > 100 && $(json psnr_db) < 180 && $(json rmse) <= $(json max_error)"
    is "($(json gups) * $(json seconds) / (32 * 32 * 6 * 8 * 1e-9) - 1) ^ 2 < 1e-6"
done <lines

# One kernel; what there is not is said.
run 0 bench kernel --device cpu --threads 1 --divide 32 --job J1 --kernel column --json
one_line out
[ "$(measurements | wc -l)" -eq 1 ] && [ "$(json measurements.0.kernel)" = column ] || say "$last: $(cat out)"
# Every shape of a kernel, of which the CPU's have one.
run 0 bench kernel --device cpu --threads 1 --divide 32 --job J1 --kernel column --shapes
[ "$(grep -c '^J1  column .* shape 0 ' out)" -eq 1 ] || say "$last: $(cat out)"
# Of a region its voxels count, half of 16^3 here, and are compared.
run 0 bench kernel --device cpu --threads 1 --divide 32 --job J1 --kernel matrix --region box::0,:,: --json
measurements >line
mv line out
is "($(json gups) * $(json seconds) / (8 * 16 * 16 * $(json views) * 1e-9) - 1) ^ 2 < 1e-6"
is "$(json psnr_db) > 100 && $(json psnr_db) < 180"
# Plane integrals, and ten frames of them, which count.
for job in P64:16:1 P128x10:32:10; do
    IFS=: read -r name size frames <<<"$job"
    for device in cpu gl; do
        if [ $device = gl ] && "$fbp" devices | grep -q '^gl .*not usable'; then continue; fi
        run 0 bench kernel --device $device --threads 2 --divide 4 --job "$name" --kernel planes --precision exact --json
        empty err
        [ "$(json measurements.0.case)" = "$name" ] && [ "$(json measurements.0.kernel)" = planes ] || say "$last: $(cat out)"
        measurements >line
        mv line out
        is "$(json gups) * $(json seconds) / ($frames * $size * $size * $size * $(json views) * 1e-9) > 0.999999"
        is "$(json gups) * $(json seconds) / ($frames * $size * $size * $size * $(json views) * 1e-9) < 1.000001"
        is "$(json psnr_db) > 110 && $(json psnr_db) < 180"
        run 0 bench host --device $device --threads 2 --divide 4 --job "$name" --runs 2 --json
        is "$(json measurements.0.psnr_db) > 110 && $(json measurements.0.gups) > 0"
    done
done
# The same in two stages, which need directions in planes through an axis.
run 0 bench host --device cpu --threads 2 --divide 4 --job P128 --stages 2 --runs 2 --json
is "$(json measurements.0.gups) > 0 && $(json measurements.0.psnr_db) > 20"
run 1 bench kernel --device cpu --divide 32 --job J1 --region ball:0,0,900,1
has err 'region: ball:0,0,900,1 contains no voxel of the volume'
run 1 bench kernel --device cpu --divide 32 --job J1 --kernel rot45
has err 'kernel: device cpu has no "rot45" for this scan, volume and options'
for kernel in "" "--kernel planes"; do
    # shellcheck disable=SC2086
    run 1 bench kernel --device cpu --divide 4 --job P64 --precision double $kernel
    has err 'omit --precision double, or use fbp bench host'
done
run 1 bench kernel --device cpu:1 --divide 32
has err 'give "cpu"'
run 0 bench kernel --device cpu:0 --divide 32 --job J1 --kernel column
run 1 bench kernel --device nothing --divide 32
has err 'device: "nothing" is unknown, or not part of this build'
empty out
finish
