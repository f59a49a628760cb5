#!/usr/bin/env bash
# bench S4: published rows beside those of now; without a GPU its columns are -.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 2 bench S4 --samples 57
has err '^fbp: bench qiao2015: --samples: the paper.s kernel needs an even number, got 57: .*: give 58'
run 1 bench S4 --size 16 --device warp
has err '^fbp: device: "warp" is not in this build'
run 1 bench S4 --size 16 --pictures none
has err 'none: the folder for --pictures is missing'

mkdir pictures
# Another device in the GPU's place: what a plan does there, named by what ran.
for device in cpu ref gl mock; do
    run 0 bench S4 --size 13 --rings 5 --runs 1 --device $device --threads 2
    ! grep -q "^device $device cannot be used, " err || continue
    has err '^13\^3, plan float$'
    has out "^plan float +fbp.s own kernel, one stage, float: $device, kernel "
    has out "^CM +fbp.s own kernel, two stages, double: cpu, kernel "
    has out "^GS +the paper.s kernel, one stage, double: not run: needs CUDA$"
    ! grep -q "GPU.*$device" out || say "$last: $device is called a GPU"
done
run 0 bench S4 --size 24 --rings 9 --runs 1 --pictures pictures
gpu=1
! grep -q '^device cuda cannot be used, ' err || gpu=0
has out '^Qiao 2015 \(S4\): N\^3 voxels from 53 projections \(9 rings of equal solid angle\) of a bottle'
# The published rows, their averages, and what follows from them.
has out '^64\^3 +0\.0110 +0\.0490 +0\.0600 +0\.2030 +13\.00 +18\.40 +3\.400 +1181\.0 +216\.0$'
has out '^200\^3 +0\.0650 +1\.442 +1\.507 +8\.050 +326\.0 +123\.0 +5\.340 +5015\.0 +216\.0$'
has out '^mean of the rows +0\.0286 +0\.5406 +0\.5692 +2\.379 +121\.6 +59\.32 +3\.400 +3523\.0 +208\.4$'
has out '^5\.0, 13\.0, 19\.8, 24\.2, 25\.6 GUPS in double, more than the card can do'
has out '^0\.91, 0\.85, 1\.09, 1\.11, 1\.10: the gather waited for the kernel\.$'
has out '^The published number for N = 128, Q = 208 is 85983440, which is .* = 85983440:$'
has out '^a misprint; the sum as it is meant is 11372855296, 132 times as much\.$'
has out '^multiprocessors \(SM\) +6 '
has out '^memory \[MiB\] +2048 '
has out '^cores +1152 '
has out '^compute capability +3\.0 '
has out '^block size \(x, y, z\) \[threads\] +1024x1024x64 '
has out '^grid size \(x, y, z\) \[blocks\] +2147483647x65535x65535 '
# Now.
has out '^Table 1 \[s\], now: the host waits for the kernel; all in double$'
if [ $gpu = 0 ]; then
    has out '^24\^3( +-){3}( +[0-9.e-]+){2}( +-){4}$'
    [ "$(grep -cE '^24\^3( +-){6}$' out)" -eq 2 ] || say "$last: launches and advice are not -"
    has out '^GS +-$'
    has out '^name +GTX 760 +-$'
    has out '^(memory|cores|block size|grid size) .* -$'
else
    has out '^24\^3( +[0-9.e-]+){9}$'
    [ "$(grep -cE '^24\^3( +[0-9.e-]+){6}$' out)" -eq 2 ] || say "$last: launches or advice are missing"
    has out '^1024 +32 +2048 '
    has out '^48 +1\.5 .*not whole warps$'
fi
has out '^CS +fbp.s own kernel, one stage, double: cpu, kernel planes '
# Table 1 and Fig. 1 have the same seconds of CM and CS; the table has as few as three digits.
sed -n '/^Table 1 \[s\], now/,/^mean of/s/^24^3//p' out >row
for method in 4:CM 5:CS; do
    point=$(sed -nE "s|.*<title>${method#*:}, now: ([0-9.e-]+) at 24</title>.*|\1|p" pictures/S4-fig1.svg)
    printed=$(awk "{ print \$${method%:*} }" row)
    is "$printed > 0.994 * $point && $printed < 1.006 * $point"
done
for picture in S4-fig1.svg S4-fig2.svg S4-fig3.svg S4-fig4.png S4-fig4-differences.png S4-fig5.svg; do
    exists pictures/$picture
done
lines=$((gpu ? 8 : 4))
[ "$(grep -c 'class="line"' pictures/S4-fig3.svg)" -eq $lines ] || say "S4-fig3.svg has no $lines lines"
lines=$((gpu ? 10 : 8))
[ "$(grep -c 'class="line"' pictures/S4-fig2.svg)" -eq $lines ] || say "S4-fig2.svg has no $lines lines"
grep -q '>speed of GS in units of the speed of CM or CS<' pictures/S4-fig3.svg || say "S4-fig3.svg: axis"
grep -q '<title>GS, published: 0.06 at 64</title>' pictures/S4-fig1.svg || say "S4-fig1.svg lacks GS at 64"
for figure in 1:64 2:262144; do
    grep -q "<title>GS without transfer, published: 0.011 at ${figure#*:}</title>" \
        "pictures/S4-fig${figure%:*}.svg" || say "Fig. ${figure%:*} lacks GS without transfer"
done

# Errors are to double precision: what is measured is right.
run 0 bench S4 --size 24 --rings 18 --runs 1 --json -q
empty err
measurements >all
[ "$(grep -c '"what":"way"' all)" -ge 2 ] || say "$last: no two ways"
grep '"way":"CS float"' all >out
is "$(json rms_error) < 1e-6 && $(json compute) > 0 && $(json views) == 208 && $(json samples) == 42"
grep '"way":"CS"' all >out
is "$(json rms_error) < 1e-14 && $(json largest_error) < 1e-13"
# CM has the same 208 projections; its error is nearly all of the resampling.
grep '"way":"CS resampled"' all >out
resampled=$(json rms_error)
for way in 'CM' 'CM float'; do
    grep "\"way\":\"$way\"" all >out
    is "$(json rms_error) < 0.05 && $(json rms_error) < 1.2 * $resampled && $(json views) == 208"
done
grep '"what":"operations"' all >out
is "$(json operations) == 74967552 && $(json operations_as_printed) == 566992"
if [ $gpu = 1 ]; then
    for way in 'GS' 'GS no branch' 'GS registers'; do
        grep "\"way\":\"$way\"" all >out
        is "$(json rms_error) < 1e-6 && $(json launch) > 0 && $(json gather_launched) > 0 && $(json copied) > $(json compute)"
    done
    [ "$(grep -c '"what":"blocks"' all)" -eq 25 ] || say "$last: no 25 blocks"
fi
# An odd number of voxels per side.
run 0 bench S4 --size 33 --runs 1 --json -q --pictures pictures
measurements >all
grep '"way":"CS"' all >out
is "$(json rms_error) < 1e-14"
if [ $gpu = 1 ]; then
    grep '"way":"GS"' all >out
    is "$(json rms_error) < 1e-6"
fi
finish
