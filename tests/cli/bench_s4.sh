#!/usr/bin/env bash
# bench S4: published rows beside those of now; without a GPU its columns are -.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 2 bench S4 --samples 57
has err '^fbp: bench qiao2015: --samples: the paper.s kernel needs an even number, got 57: .*: give 58'
run 2 bench S4 --size 33
has err '^fbp: bench qiao2015: --size: the paper.s kernel needs an even number, got 33: give 34'
run 1 bench S4 --size 16 --device warp
has err '^fbp: device: "warp" is not in this build'
run 1 bench S4 --size 16 --pictures none
has err 'none: the folder for --pictures is missing'

mkdir pictures
# Another device in the GPU's place: what a plan does there.
run 0 bench S4 --size 12 --rings 5 --runs 1 --device ref --threads 2
has err '^12\^3, GS plan$'
has out '^GS plan +GPU, one stage: a plan, float: ref, kernel matrix'
run 0 bench S4 --size 24 --rings 9 --runs 1 --pictures pictures
gpu=1
! grep -q '^there is no GPU (cuda): its columns are -$' err || gpu=0
has out '^S4: N\^3 voxels from 53 projections \(9 rings of equal solid angle\) of a bottle'
# The published rows, their averages, and what follows from them.
has out '^64\^3 +0\.0110 +0\.0490 +0\.0600 +0\.2030 +13\.00 +18\.40 +3\.400 +1181\.0 +216\.0$'
has out '^200\^3 +0\.0650 +1\.442 +1\.507 +8\.050 +326\.0 +123\.0 +5\.340 +5015\.0 +216\.0$'
has out '^average +0\.0286 +0\.5406 +0\.5692 +2\.379 +121\.6 +59\.32 +3\.400 +3523\.0 +208\.4$'
has out '^5\.0, 13\.0, 19\.8, 24\.2, 25\.6 GUPS in double, more than the card can do'
has out '^0\.91, 0\.85, 1\.09, 1\.11, 1\.10: the gather waited for the kernel\.$'
has out '^The published number for N = 128, Q = 208 is 85983440, which is .* = 85983440:$'
has out '^a misprint; the sum as it is meant is 11372855296, 132 times as much\.$'
has out '^multiprocessors \(SM\) +6 '
# Now.
has out '; GS in double, CM in double, CS in double$'
if [ $gpu = 0 ]; then
    has out '^24\^3( +-){3}( +[0-9.e-]+){2}( +-){4}$'
    has out '^24\^3( +-){6}$'
    has out '^GS +-$'
    has out '^name +GTX 760 +-$'
    has out '^the paper.s kernel -$'
else
    has out '^24\^3( +[0-9.e-]+){9}$'
    has out '^1024 +32 +2048 '
    has out '^48 +1\.5 .*not whole warps$'
fi
has out '^CS +CPU, one stage: a plan, float: cpu, kernel planes '
has out '^CM +CPU, two stages: a plan, float: cpu, kernel '
for picture in S4-fig1.svg S4-fig2.svg S4-fig3.svg S4-fig4.png S4-fig4-differences.png S4-fig5.svg; do
    exists pictures/$picture
done
[ "$(grep -c 'class="line"' pictures/S4-fig3.svg)" -eq 8 ] || say "S4-fig3.svg has no eight lines"
[ "$(grep -c 'class="line"' pictures/S4-fig2.svg)" -eq 8 ] || say "S4-fig2.svg has no eight lines"
grep -q '<title>GS, published: 0.06 at 64</title>' pictures/S4-fig1.svg || say "S4-fig1.svg lacks GS at 64"

# Errors are to double precision: what is measured is right.
run 0 bench S4 --size 24 --rings 18 --runs 1 --json -q
empty err
measurements >all
[ "$(grep -c '"what":"way"' all)" -ge 2 ] || say "$last: no two ways"
grep '"way":"CS"' all >out
is "$(json rms_error) < 1e-6 && $(json compute) > 0 && $(json views) == 208 && $(json samples) == 42"
grep '"way":"CS double"' all >out
is "$(json rms_error) < 1e-14 && $(json largest_error) < 1e-13"
for way in 'CM' 'CM double'; do
    grep "\"way\":\"$way\"" all >out
    is "$(json rms_error) < 0.03 && $(json views) == 324"
done
grep '"what":"operations"' all >out
is "$(json operations) == 74967552 && $(json operations_as_printed) == 566992"
if [ $gpu = 1 ]; then
    for way in 'GS' 'GS registers'; do
        grep "\"way\":\"$way\"" all >out
        is "$(json rms_error) < 1e-6 && $(json launch) > 0 && $(json gather_launched) > 0"
    done
    [ "$(grep -c '"what":"blocks"' all)" -eq 25 ] || say "$last: no 25 blocks"
fi
finish
