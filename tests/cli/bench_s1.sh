#!/usr/bin/env bash
# bench zinsser2013 (S1): the published tables on every device, whole calls and section V on those
# without the paper's kernels; on a CUDA device every row.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

small="--size 40 --views 33 --detector 156x120 --runs 2"
published() {
    has out '^The paper.s kernels need CUDA: '
    has out '^Architecture +Tesla GT200 +Fermi GF100 +Fermi GF110 +Kepler GK104 +-$'
    has out '^fp32 \[GFLOP/s\] +622\.1 +1345\.0 +1581\.1 +3090\.4 +-$'
    has out '^  1 A +1 512 32x8 +\| +1\.000 +1091 +4710 +4707 +9141 +7\.3 \|( +-){7}$'
    has out '^  8 B +32 +4 16x32 +\| +0\.750 +489 +494 +756 +969 +68\.7 \|( +-){7}$'
    has out '^  8 +50 % +1 % +27 % +22 % \| +42 % +18 +9 % +68\.7 +53 % +\| instruction rate$'
    has out '^fastrabbitEX .* 512\^3 +7\.45 +8\.94 +- +-$'
    has out '^Thumper.* 1024\^3 +6\.04 +88\.2 +0\.0210 +-$'
}

# Without a size nothing is measured, and the paper's job is named.
run 0 bench zinsser2013 --device cpu
empty err
published
has out '^Zinsser 2013 \(S1\): 512\^3 voxels from 496 views of 1248 x 960, any 3x4 matrices, on cpu; medians of 5 runs$'
has out '^today, whole call, kernel matrix +512\^3( +-){4}$'
run 1 bench zinsser2013 --device warp
has err 'device: "warp" is unknown, or not part of this build'
empty out
run 2 bench zinsser2013 --device cpu --pictures .
has err 'pictures: only --transfers draws pictures: add --transfers'
run 1 bench zinsser2013 --device cpu --transfers --pictures missing
for device in cpu ref mock gl; do
    "$fbp" devices | grep -q "^$device .*not usable" && continue
    # shellcheck disable=SC2086
    run 0 bench zinsser2013 $small --device $device
    empty err
    published
    has out "^today, whole call, kernel matrix +40\\^3 +[0-9.]+ +[0-9.]+ +0\\.00[0-9]+ +0\\.0000$"
    # shellcheck disable=SC2086
    run 0 bench zinsser2013 $small --device $device --transfers --pictures .
    empty err
    has out "^Zinsser 2013 \\(S1\\), section V: 40\\^3 voxels from 33 views of 156 x 120, on $device, kernel matrix; medians of 2 runs$"
    has out '^published: GTX 680 +512\^3 +today$'
    has out '^published: GTX 680 +1024\^3 +today$'
    has out '^moved together \[MiB\] +2779\.0 +2\.601$'
    has out '^moved together \[MiB\] +- +3\.089$'
    has out '^with overlap \[s\] +0\.990 +[0-9.]+$'
    has out '^with overlap \[s\] +6\.040 +([0-9.]+|-)$'
    has out '^RMSE to double \[HU\] +0\.021 +0\.00[0-9]$'
    [ $device = ref ] && has out '^not measured: .*another layout'
    grep -q '>backproject<' zinsser2013-fig3-resident.svg || say "$last: no timeline"
    grep -q '>fetch<' zinsser2013-fig3-resident.svg || say "$last: no copies in the timeline"
    rm zinsser2013-fig3-resident.svg
done
exists zinsser2013-fig3-streamed.svg

# JSON has the measurements.
# shellcheck disable=SC2086
run 0 bench zinsser2013 $small --device mock --transfers --json
measurements >lines
[ "$(wc -l <lines)" -eq 2 ] || say "$last: not two measurements"
grep '"what":"streamed"' lines >out
is "$(json overlapped) > 0 && $(json in_order) > 0 && $(json gups) > 0 && $(json rmse_hu) < .01"
is "$(json mib_volume_down) == 2 * $(json mib_volume_up) && $(json mib_volume_up) == 40^3 * 4 / 2^20"
# shellcheck disable=SC2086
run 0 bench zinsser2013 $small --device mock --json
measurements >lines
head -1 lines >out
[ "$(json what)" = call ] || say "$last: no call"
is "$(json seconds) > 0 && $(json gups) > 0 && $(json rmse_hu) < .01 && $(json exact_hu) == 0"

run 0 devices --json
if grep -A3 '"cuda' out | grep -q '"usable":.*false' || ! grep -q '"cuda' out; then
    run 1 bench S1 --device cuda
    has err '^fbp: device: '
    one_line err
    empty out
    finish
    exit
fi

# shellcheck disable=SC2086
run 0 bench S1 $small
empty err
has out '^Zinsser 2013 \(S1\): 40\^3 voxels from 33 views of 156 x 120, any 3x4 matrices, on .*; medians of 2 runs$'
has out '^The published rows are of 496 views of 1248 x 960, in Table II of 512\^3 voxels\.'
has out '^Published: the 0\.99 s of Thumper are 67\.2 GUPS\.'
has out '^Architecture +Tesla GT200 +Fermi GF100 +Fermi GF110 +Kepler GK104 +sm_[0-9]+$'
has out '^fp32 \[GFLOP/s\] +622\.1 +1345\.0 +1581\.1 +3090\.4 +[0-9.]+$'
has out '^bilinear fetches \[G/s\] +48\.2 +42\.0 +49\.4 +128\.8 +[0-9.]+$'
has out '^memory \[GB/s\] +141\.7 +177\.4 +192\.4 +192\.3 +[0-9.]+$'
today='( +[0-9.]+){7}$'
has out "^  1 A +1 512 32x8 +\\| +1\\.000 +1091 +4710 +4707 +9141 +7\\.3 \\|$today"
has out "^  2 A +4 512 32x8 +\\| +0\\.750 +575 +1199 +1196 +7802 +8\\.5 \\|$today"
has out "^  3 A sync +4 512 32x8 +\\| +1\\.000 +554 +1185 +1169 +2710 +24\\.6 \\|$today"
has out "^  4 A +4 +8 32x8 +\\| +0\\.750 +685 +980 +1085 +1990 +33\\.4 \\|$today"
has out "^  5 B +4 +8 32x8 +\\| +0\\.875 +542 +989 +1179 +1527 +43\\.6 \\|$today"
has out "^  6 B +8 +4 16x16 +\\| +0\\.750 +528 +725 +966 +1296 +51\\.4 \\|$today"
has out "^  7 B +16 +4 16x32 +\\| +0\\.750 +506 +550 +826 +1051 +63\\.4 \\|$today"
has out "^  8 B +32 +4 16x32 +\\| +0\\.750 +489 +494 +756 +969 +68\\.7 \\|$today"
has out "^  9 B .*today's best +\\|$today"
for test in 1 2 3 4 5 6 7 8 9; do
    has out "^  $test .* % .* % .*\\| (texture|memory|instruction) (rate|bandwidth|latency|cache)$"
done
has out '^today, fastest kernel alone +40\^3( +[0-9.]+){4}$'
has out '^today, whole call, kernel matrix +40\^3( +[0-9.]+){4}$'
# shellcheck disable=SC2086
run 0 bench S1 $small --transfers
has out '^with overlap \[s\] +0\.990 +[0-9.]+$'
has out '^with overlap \[s\] +6\.040 +[0-9.]+$'

# One row; JSON says the same.
# shellcheck disable=SC2086
run 0 bench S1 $small --test 4 --json
measurements >lines
[ "$(wc -l <lines)" -eq 2 ] || say "$last: not two measurements"
grep '"what":"limits"' lines >limits || say "$last: no limits"
grep '"what":"kernel"' lines >row || say "$last: no kernel"
cp limits out
is "$(json fma) > 0 && $(json texture_r32f) > 0 && $(json copy) > $(json upload) && $(json download) > 0"
cp row out
is "$(json test) == 4 && $(json I) == 4 && $(json K) == 8 && $(json Bx) == 32 && $(json By) == 8"
is "$(json seconds) > 0 && $(json seconds_i) > 0 && $(json gups) > 0 && $(json occupancy) <= 1"
[ "$(json kernel)" = A ] || say "$last: kernel"
finish
