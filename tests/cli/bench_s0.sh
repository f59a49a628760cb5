#!/usr/bin/env bash
# bench S0: every row of the paper's tables beside today's, as JSON a measurement a case, nothing left.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

mkdir place pictures
left() { [ -z "$(ls -A place)" ] || say "$last: left in its --dir: $(ls -AR place)"; }

run 0 bench S0 --device cpu --size 24 --views 20 --threads 2 --dir place --pictures pictures -q
empty err
left
has out '^Okitsu 2008 \(S0\): 24\^3 voxels from 20 views of 24 x 24, on cpu, .*2 threads$'
has out 'published rows are of 512\^3 voxels from 360 views'
# Table 1: published rows, then today's.
has out '^CPU \(Xeon 3.06 GHz\) +135\.4 +2\.8$'
has out '^Cell +9\.6 +37\.6$'
has out '^OpenGL \(8800 GTX\) +8\.9 +40\.5$'
has out '^prior CUDA \(8800 GTX\) +7\.9 +45\.5$'
has out '^OpenGL, early fragment kill +6\.8 +52\.9$'
has out '^proposed \(8800 GTX\) +5\.6 +64\.3$'
has out '^today, fft +[0-9.]+ +[0-9.]+ +filter by FFT; kernel rot90'
has out '^today, spatial +[0-9.]+ +[0-9.]+ +filter in space; kernel rot90'
has out '^today, matrix +[0-9.]+ +[0-9.]+ .* kernel matrix'
# Table 2: three numbers of today, or three dashes for what a processor does not have.
three='( +[0-9]+\.[0-9]+){3}$' none='( +-){3}$'
has out "^initialisation +0\\.1 +-$three"
has out "^read +- +-$three"
has out "^packing +- +-$none"
has out "^projection download +0\\.2 +0\\.2$none"
has out "^filtering +0\\.7 +0\\.7$three"
has out "^projection readback +- +-$none"
has out "^backprojection +4\\.3 +6\\.1$three"
has out "^volume readback +0\\.3 +0\\.9$none"
has out "^unpacking +- +-$none"
has out "^write +- +-$three"
has out "^sync and rename +- +-$three"
has out "^others +0\\.0 +0\\.0$three"
has out "^total, no overlap +5\\.6 +7\\.9$three"
has out "^total, with overlap +- +-$three"
has out "^GUPS of the total +8\\.6 +6\\.1$three"
has out '^reading overlaps \[%\] +- +-( +[0-9]+){3}$'
has out '^writing overlaps \[%\] +- +-( +[0-9]+){3}$'
has out "^middle slice: PSNR \\[dB\\] +- +-$three"
has out "^largest difference \\[1e-6/mm\\] +- +-$three"
# Tables 3 and 4: published figures, and why there are none of today on a processor.
has out '^The CPU.s 135\.4 s are 2\.7 views/s; 2\.8 is what was published\.$'
has out '^instruction issue \[10\^9/s\] +178\.0 +125\.4 +172\.8$'
has out '^processing units \[GFLOP/s\] +105\.8 +38\.3 +345\.6$'
has out '^texture units \[GFLOP/s\] +- +124\.3 +172\.8$'
has out '^total \[GFLOP/s\] +105\.8 +162\.6 +518\.4$'
has out '^memory bandwidth \[2\^30 B/s\] +130\.5 +71\.0 +86\.4$'
has out '^naive +436\.7$'
has out '^#1 coalescing +27\.0$'
has out '^#2 global access reduction +15\.6$'
has out '^#3 local access reduction +13\.5$'
has out '^#4 local access elimination +5\.7$'
has out '^proposed: latency hiding +4\.3$'
has out '70\.2 instead of 71\.0$'
has out '1391, 980 and 1350; the 1391 of the filter exceed the theoretical 1350 in the paper, too\.$'
! grep -q 'merged' out || say "$last: the merged form is not in the paper"
has out 'Tables 3 and 4 were not measured: the paper.s kernels need '
# Fig. 6.
for name in fft spatial matrix; do
    for what in cpu ref cpu-difference; do
        exists "pictures/S0-$name-$what.png"
    done
done

# A measurement a case; stages apart fit into their own run; the slice is the reference's.
run 0 bench S0 --device cpu --size 16 --views 12 --dir place --json -q
one_line out
measurements >lines
[ "$(wc -l <lines)" -eq 3 ] || say "$last: not three measurements"
for name in fft spatial matrix; do
    grep "\"case\":\"$name\"" lines >out || say "no line of $name"
    one_line out
    [ "$(json bench)" = S0 ] || say "$last: bench"
    [ "$(json device)" = cpu ] || say "$last: device"
    is "$(json size) == 16 && $(json views) == 12 && $(json seconds) > 0 && $(json gups) > 0"
    is "$(json stages.others) >= 0"
    sum="$(json stages.init) + $(json stages.read) + $(json stages.filter) + \
        $(json stages.backproject) + $(json stages.write) + $(json stages.finish) + $(json stages.others)"
    is "$sum > 0.9999 * $(json seconds_apart) && $sum < 1.0001 * $(json seconds_apart)"
    [ "$(json stages.download)" = null ] || say "$last: a processor downloads nothing"
    [ "$(json psnr_db)" = null ] || say "$last: nothing was compared"
    for key in kernel isa threads views_per_second read_overlap write_overlap memory_peak_bytes; do
        json "$key" >/dev/null
    done
done
run 0 bench S0 --case matrix --size 16 --views 12 --runs 2 --dir place --pictures pictures --json -q
measurements >line && cp line out
one_line out
[ "$(json kernel)" = matrix ] || say "$last: kernel"
is "$(json psnr_db) > 100 && $(json rmse) < 1e-4 && $(json max) >= $(json rmse)"
left

# The paper's own kernels: on a device that has them, or a sentence.
run 1 bench S0 --case paper --device cpu --size 16 --views 12 --dir place -q
has err "^fbp: --case paper: the paper's kernels need "
run 1 bench S0 --case ladder --device cpu --size 16 --views 12 --dir place --json -q
for device in cpu ref mock; do
    run 0 bench S0 --case ladder --device $device --size 16 --views 12 --dir place -q
    has out '^total \[GFLOP/s\] +105\.8 +162\.6 +518\.4$'
    has out "^Tables 3 and 4 were not measured: the paper's kernels need "
    run 0 bench S0 --device $device --size 16 --views 12 --dir place -q
    has out "16 x 16, on $device, "
done
run 2 bench S0 --case step -q
has err 'expected fft, spatial, matrix, paper or ladder'
left
if "$fbp" devices | grep -q '^cuda .*sm_'; then
    run 0 bench S0 --device cuda --case ladder --sweep --size 32 --views 24 --dir place --json -q
    measurements >lines
    [ "$(wc -l <lines)" -eq 31 ] || say "$last: not 7 steps, 5 without, 18 of I and J, and table 3"
    for kernel in naive 1 2 3 4; do
        grep "\"kernel\":\"s0-$kernel\"" lines >out
        is "$(json psnr_db) > 60 && $(json seconds) > 0 && $(json published_seconds) > 5"
    done
    grep '"kernel":"s0-merged"' lines >out
    is "$(json psnr_db) > 60"
    [ "$(json published_seconds)" = null ] || say "$last: the merged form is not in the paper"
    left
fi

# Errors leave nothing behind either.
run 1 bench S0 --device warp --size 16 --views 12 --dir place -q
has err 'device: "warp" is unknown, or not part of this build'
left
run 1 bench S0 --memory 1K --size 16 --views 12 --dir place -q
has err 'memory: '
left
run 1 bench S0 --size 16 --views 12 --dir place/none -q
has err 'cannot make a directory'
run 1 bench S0 --size 16 --views 12 --pictures none -q
has err 'none: the folder for --pictures is missing'

# Interrupted: what was half written is removed as well.
interrupt 1 bench S0 --case fft --device ref --size 128 --views 90 --dir place -q
has err 'interrupted'
left
finish
