#!/usr/bin/env bash
# bench S3: on a device that does not draw, the published tables; else, every row of the tables.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

for device in cpu ref mock; do
    run 0 bench ino2009 --device $device --size 16 --views 8
    has out '^Ino 2009 \(S3\): nothing was measured: this device does not draw with OpenGL; use --device gl$'
    has out '^total, not synchronised +20\.7 +17\.0 +10\.8 +8\.3 +8\.1 \|( +-){5}$'
    has out '^memory \[2\^30 B/s\] +28\.7 +37\.1 +59\.8 +70\.8 +68\.6 \|( +-){5}$'
    empty err
    run 1 bench ino2009 --device $device --size 16 --views 8 --json
    grep -q "ino2009: device $device does not draw with OpenGL; use --device gl" err || say "$last: $(cat err)"
done
run 1 bench S3 --device warp --size 16
has err 'device: "warp" is unknown, or not part of this build'
run 2 bench S3 --variant K
has err 'expected A, B, C, D, E, F, G or M, got "K"'
run 1 bench S3 --size 16 --pictures none
has err 'none: the folder for --pictures is missing'

run 0 devices --json
if grep -A3 '"gl' out | grep -q '"usable":.*false' || ! grep -q '"gl' out; then
    run 1 bench S3 --size 16 --views 8
    has err '^fbp: device: '
    one_line err
    empty out
    finish
    exit
fi

# A line per variant; two groups of slices are drawn at least.
run 0 bench S3 --size 24 --views 22 --brief --seconds 1e-9
for variant in 'A  no acceleration' 'B  data reuse' 'C  RGBA packing' 'D  B and C together' 'E  D with load balancing'; do
    has out "^$variant, R(GBA)?32F: 8 of 24 slices drawn; backprojection [0-9.]+ s, [0-9.]+ GUPS; filter [0-9.]+ s; total [0-9.]+ s; [0-9.]+ dB, [0-9.e-]+ HU$"
done
has out '^F  E with sixteen slices, RGBA32F: backprojection '
has out '^D  B and C together, RGBA16F: 8 of 24 slices drawn; '
has out '^slices drawn( +-){5} \|( +8){5}$'
grep -q '^Other methods' out && say "$last: --brief prints other methods"
has out '^Some variants drew fewer slices .*: their seconds are extrapolated to all'

mkdir pictures
run 0 bench S3 --size 24 --views 22 --pictures pictures
has out '^Ino 2009 \(S3\): 24\^3 voxels from 22 views of 24 x 24, filter in space \(Shepp-Logan, S = 12\), best of 1$'
has out '^The published rows are of 512\^3 voxels from 360 views of 512 x 512\.$'
# 22 views are six groups of four.
has out '^A  no acceleration +N K +528; per pass 1 view and 1 slice$'
has out '^B  data reuse +N K / 4 +132; per pass 1 view and 4 slices$'
has out '^C  RGBA packing +N K / 4 +144; per pass 4 views and 1 slice$'
has out '^D  B and C together +N K / 16 +36; per pass 4 views and 4 slices$'
has out '^E  D with load balancing +N K / 16 +36; per pass 4 views and 4 slices$'
now=' \|( +[0-9.]+){5}$'
has out "^RGBA packing +0\\.3 +0\\.3 +0\\.6 +0\\.6 +0\\.6$now"
has out "^download +0\\.4 +0\\.4 +0\\.5 +0\\.5 +0\\.5$now"
has out "^filtering +5\\.6 +5\\.6 +2\\.5 +2\\.4 +2\\.4$now"
has out "^backprojection +16\\.3 +7\\.4 +6\\.8 +3\\.7 +4\\.0$now"
has out '^slices drawn( +-){5} \|( +[0-9]+){5}$'
has out "^volume readback +0\\.5 +0\\.4 +0\\.5 +0\\.4 +0\\.4$now"
has out "^RGBA unpacking +1\\.0 +0\\.9 +0\\.9 +0\\.6 +0\\.6$now"
has out "^others, with initialisation +3\\.2 +4\\.0 +1\\.3 +1\\.4 +1\\.9$now"
has out "^total, synchronised +27\\.2 +18\\.9 +13\\.0 +9\\.6 +10\\.4$now"
has out "^views/s +17\\.4 +21\\.2 +33\\.3 +43\\.4 +44\\.4$now"
has out "^total, not synchronised +20\\.7 +17\\.0 +10\\.8 +8\\.3 +8\\.1$now"
has out "^read( +-){5} \\|( +-){5}$"
has out "^share of peak fetch rate \\[%\\]( +-){5} \\|( +[0-9.]+){5}$"
has out '^backprojection, ping-pong( +-){5} \|( +[0-9.]+){5}$'
has out '^\.\.\. 75 % killed by stencil( +-){5} \|( +[0-9.]+){5}$'
has out '^\.\.\. 75 % killed by depth( +-){5} \|( +[0-9.]+){5}$'
has out "^processing units \\[GFLOP/s\\] +117\\.0 +112\\.0 +62\\.6 +99\\.3 +61\\.3$now"
has out "^texture units \\[GFLOP/s\\] +33\\.9 +69\\.4 +70\\.6 +132\\.3 +128\\.3$now"
has out "^total \\[GFLOP/s\\] +150\\.9 +181\\.5 +133\\.1 +231\\.6 +189\\.6$now"
has out "^memory \\[2\\^30 B/s\\] +28\\.7 +37\\.1 +59\\.8 +70\\.8 +68\\.6$now"
has out '^memory \[10\^9 B/s\]( +-){5} \|( +[0-9.]+){5}$'
grep '^by the ' out >rules
printf '%s:\n' "by the paper's rules" 'by the rules of this program' | cmp -s - rules || say "$last: the paper's rules do not come first"
has out '^texture units: [0-9]+ values at 1048576 places'
has out '^variant +F +G +M +C +D +E +F +G +M$'
has out '^views( +RGBA32F){3}( +RGBA16F){6}$'
has out '^passes +12 +18 +12 +144 +36 +36 +12 +18 +12$'
has out '^backprojection \[s\]( +[0-9.]+){9}$'
has out '^RMSE \[HU\]( +[0-9.]+){9}$'
has out '^Fig\. 6: the largest difference between device and CPU is '
for picture in S3-fig5.svg S3-fig6-gl.png S3-fig6-cpu.png S3-fig6-difference.png; do
    exists pictures/$picture
done
grep -q '<title>MP-GPU, published: 24.83 s' pictures/S3-fig5.svg || say "Fig. 5 lacks MP-GPU"
grep -q '<title>CPU, published: 126.4 s' pictures/S3-fig5.svg || say "Fig. 5 lacks the CPU"
grep -q '<title>AG-GPU, published: 8.9 s' pictures/S3-fig5.svg || say "Fig. 5 lacks AG-GPU"
grep -q '<title>E, published: 8.1 s' pictures/S3-fig5.svg || say "Fig. 5 lacks the paper"
grep -q '<title>E, now: ' pictures/S3-fig5.svg || say "Fig. 5 lacks today"
grep -qiE 'nan|inf[^o]' pictures/S3-fig5.svg && say "Fig. 5: no number"

run 0 bench S3 --size 24 --views 22 --variant D --brief --json --pictures pictures
[ "$(head -c 1 out)" = '{' ] || say "$last: something stands before the object"
measurements >lines
[ "$(wc -l <lines)" -eq 3 ] || say "$last: not limits and a variant, from views in fp32 and fp16"
grep '"texel":.*RGBA16F' lines >out
is "$(json passes) == 36 && $(json rmse_hu) < 5 && $(json gups) > 0"
grep '"texel":.*RGBA32F' lines >out
is "$(json passes) == 36 && $(json slices_drawn) >= 8 && $(json psnr_db) > 45 && $(json seconds) > 0 && $(json gups) > 0"
is "$(json paper_total_gflops) > $(json texture_gflops) && $(json paper_gibibytes_per_second) > 0"
is "$(json stages.filter) > 0 && $(json stages.backproject) > 0"

# SIGTERM ends a measurement of minutes after the group of slices that is being drawn.
before=$SECONDS
interrupt 5 bench S3 --size 256 --views 360 --seconds 0
[ $((SECONDS - before)) -lt 35 ] || say "$last: went on for $((SECONDS - before - 5)) s after SIGTERM"
has err '^fbp: interrupted$'
empty out
finish
