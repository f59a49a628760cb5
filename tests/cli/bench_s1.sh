#!/usr/bin/env bash
# bench S1: without a CUDA device a sentence and nothing else; with one, every row of the tables.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# A processor has no texture units.
run 1 bench S1 --device cpu
has err '^fbp: limits: cpu has none that are measured: use a cuda device$'
one_line err
empty out
run 1 bench S1 --device warp
has err 'device: "warp" is unknown, or not part of this build'
empty out

run 0 devices --json
if grep -A3 '"cuda' out | grep -q '"usable":.*false' || ! grep -q '"cuda' out; then
    run 1 bench S1 --device cuda
    has err '^fbp: device: '
    one_line err
    empty out
    finish
    exit
fi

small="--size 40 --views 33 --detector 156x120 --runs 2"
# shellcheck disable=SC2086
run 0 bench S1 $small
empty err
has out '^S1: 40\^3 voxels from 33 views of 156 x 120, any 3x4 matrices, on .*; medians of 2$'
has out 'published rows of Table II are of 512\^3 voxels from 496 views of 1248 x 960'
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
has out '^fastrabbitEX .* 512\^3 +7\.45 +8\.94$'
has out '^Thumper.* 1024\^3 +6\.04 +88\.2 +0\.0210$'
has out '^today, best kernel alone +40\^3 +[0-9.]+ +[0-9.]+ +[0-9.]+$'

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
