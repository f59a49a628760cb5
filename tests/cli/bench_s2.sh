#!/usr/bin/env bash
# bench S2: every row of the paper's tables beside today's, figures, JSON, limits and their sentences.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

mkdir place pictures
left() { [ -z "$(ls -A place)" ] || say "$last: left in its --dir: $(ls -AR place)"; }
small="--size 40 --views 33 --memory 3G"

# shellcheck disable=SC2086
run 0 bench S2 $small --device cpu --subvolumes 4 --threads 2 --dir place --pictures pictures
has err '^40\^3, C = 1, without streams$'
has err '^40\^3, C = 1, with streams$'
left
has out '^Ino 2010 \(S2\): 40\^3 voxels from 33 views of 40 x 40, kernel column, filter in space \(Shepp-Logan, S = 20\)$'
has out '^on 1 x cpu: '
# Table 1 with numbers: 33 views of 6400 bytes, for four boxes and to be filtered.
has out '^download +O\(KM\^2\) +211\.2 kB +O\(BKM\^2/C\) +1\.056 MB +528 kB +264 kB$'
has out '^filtering +O\(KM\^2\) +52\.8 k +O\(KM\^2/C\) +52\.8 k +26\.4 k +13\.2 k$'
has out '^readback \(projections\) +- +- +O\(KM\^2/C\) +211\.2 kB +105\.6 kB +52\.8 kB$'
has out '^backprojection +O\(KN\^3\) +2\.112 M +O\(KN\^3/C\) +2\.112 M +1\.056 M +528 k$'
has out '^readback \(volume\) +O\(N\^3\) +256 kB +O\(N\^3/C\) +256 kB +128 kB +64 kB$'
has out '^concatenation +- +- +O\(B\) +4 +4 +4$'
has out '^video memory +O\(N\^3\+IM\^2\) +307\.2 kB +O\(N\^3/B\+IM\^2\) +115\.2 kB'
has out '^main memory +O\(N\^3\+KM\^2\) +467\.2 kB +O\(N\^3\+KM\^2\) +467\.2 kB'
has out '^B = 4: as given$'
has out '^Download, proposed: each view once for the filter, and once per box of the device'
has out '^memory of each device: boxes and buffers of views need [0-9.]+ [KM]iB; allowed: no limit, because the device does not report its free memory$'
has out '^memory of the host: views, buffers and volume need [0-9.]+ [KM]iB; allowed: 3\.00 GiB$'
has out '^boxes of 20 x 20 x 40 voxels, 2 along x and 2 along y; I = 8 views per launch; two boxes on a device'
# Table 2: published, and one device.
now=' \| +[0-9.]+ +- +-$' none=' \| +- +- +-$'
has out "^initialisation +1\\.3 +2\\.7 +5\\.4$now"
has out "^read +- +- +-$none"
has out "^packing +- +- +-$none"
has out "^download +4\\.4 +2\\.4 +1\\.3$now"
has out "^filtering +5\\.2 +2\\.6 +1\\.3$now"
has out "^readback \\(projections\\) +1\\.1 +0\\.6 +0\\.3$now"
has out "^backprojection +39\\.7 +19\\.9 +10\\.0$now"
has out "^readback \\(volume\\) +1\\.3 +0\\.9 +0\\.6$now"
has out "^concatenation +- +- +-$now"
has out "^write +- +- +-$none"
has out "^total, no streams +53\\.0 +29\\.1 +18\\.9$now"
has out "^total, streams +51\\.5 +28\\.4 +18\\.0$now"
has out "^views/s +13\\.98 +25\\.35 +40\\.00$now"
has out "^speed-up +1\\.00 +1\\.81 +2\\.86 \\| +1\\.00 +- +-$"
has out "^effective GB/s per device +102 +101 +101$now"
has out "^fbp today, initialisation +- +- +-$now"
has out "^fbp today, total +- +- +-$now"
has out '^limit, C = 1: (views|computing|volume)\. The whole run takes [0-9.e-]+ s, its parts alone take:$'
has out '^  views     [0-9.e-]+ s: 0\.00106 GB, for the filter and for each of 4 boxes, by copies in the host.s memory at [0-9.e+]+ GB/s$'
has out '^  computing [0-9.e-]+ s: layout of views, filter and backprojection, slowest device$'
has out '^  volume    [0-9.e-]+ s: boxes to the host and into the volume$'
has out '^views/s: K / total with streams; speed-up: total of C = 1 / total; '
has out '^GFLOP/s: 14\.5 operations per update, as in the paper of 2008; '
has out '^The published columns are of 1024\^3 voxels from 720 views of 1024 x 1024\.$'
has out '^The volume has the same bits in all runs, hash [0-9a-f]{16}$'
has out '^2 slices have the same bits as an ordinary reconstruction by one device; against double precision: PSNR 1[0-9][0-9]\.'
# Table 3.
has out '^Noel et al\., 1024\^3 +3\.9 +1\.7 +44\.8 +0\.504$'
has out '^Zhao et al\., 1024\^3 +10\.8 +7\.1 +67\.2 +0\.336$'
has out '^the paper, 1024\^3 +14\.0 +14\.0 +102\.0 +0\.933$'
has out '^Nesterets, 2048\^3 +0\.3 +0\.3 +111\.9 +0\.715$'
has out '^the paper, 2048\^3 +1\.4 +1\.4 +102\.0 +0\.933$'
has out '^now, 40\^3 +- +[0-9.]+ +- +-$'
has out '^fbp today, 40\^3 +- +[0-9.]+ +- +-$'
for fig in 3 4; do
    exists pictures/S2-fig$fig.svg
    grep -q "<title>1024^3, published" pictures/S2-fig$fig.svg || say "Fig. $fig lacks the paper"
    grep -q "<title>40^3, cpu: " pictures/S2-fig$fig.svg || say "Fig. $fig lacks today"
    grep -qiE 'nan|inf[^o]' pictures/S2-fig$fig.svg && say "Fig. $fig: no number"
    if command -v python3 >/dev/null; then
        python3 -c "import xml.dom.minidom as x; x.parse('pictures/S2-fig$fig.svg')" || say "Fig. $fig"
    fi
done

# Four pretended devices, boxes as given or not, a volume in memory or in a file: the same bits.
hash_of() { # ARGUMENTS…: the one hash of all their runs
    # shellcheck disable=SC2086
    run 0 bench S2 $small --json -q --dir place "$@"
    one_line out
    measurements >lines
    grep '"what":"run"' lines | sed 's/.*"hash":"\([0-9a-f]*\)".*/\1/' | sort -u >hashes
    one_line hashes
    cat hashes
}
grep -q '<title>bound of the paper.s GPU: 102 GB/s of 10^9 bytes: 102 at 1</title>' pictures/S2-fig4.svg || say "Fig. 4: memory"
grep -q '<title>bound of the paper.s GPU: 933 GFLOP/s: 933 at 1</title>' pictures/S2-fig4.svg || say "Fig. 4: units"
first=$(hash_of --device cpu --subvolumes 1)
for b in 4 64; do
    [ "$(hash_of --device mock --subvolumes $b)" = "$first" ] || say "B = $b: other bits"
    [ "$(grep -c '"what":"run"' lines)" -eq 6 ] || say "B = $b: not C = 1, 2, 4 with and without streams"
done
grep '"devices":4' lines | grep '"streams":false' >out
is "$(json stages.init) + $(json stages.download) + $(json stages.filter) + $(json stages.readback) + \
    $(json stages.backproject) + $(json stages.fetch) + $(json stages.concatenate) > 0"
is "$(json seconds) > 0 && $(json gups_a_gpu) > 0 && $(json gbytes_a_gpu) > 0 && $(json gflops_a_gpu) > 0"
grep '"what":"error"' lines >out
is "$(json different) == 0 && $(json psnr_db) > 100 && $(json voxels) == 3200"
[ "$(hash_of --device mock:1 --streams on)" = "$first" ] || say "mock:1: other bits"
[ "$(grep -c '"what":"run"' lines)" -eq 1 ] || say "$last: more than one run"
[ "$(hash_of --device cpu --kernel matrix --count 1 --runs 2 --streams off)" != "" ] || say "matrix"
grep '"what":"plan"' lines >out
[ "$(json kernel)" = matrix ] || say "$last: kernel"

# Limits of both memories.
# shellcheck disable=SC2086
run 0 bench S2 $small --device mock --device-memory 600K --plan --json
measurements >line && cp line out
is "$(json subvolumes) >= 4 && $(json device_bytes) <= 600 * 1024 && $(json device_limit) == 600 * 1024"
[ "$(json given)" = false ] || say "$last: given"
bytes=$(json host_bytes)
[ "$(hash_of --device mock --device-memory 600K)" = "$first" ] || say "600K of device memory: other bits"
[ "$(hash_of --device mock --device-memory 600K --memory $((bytes - 1)))" = "$first" ] ||
    say "a volume in a file: other bits"
grep '"what":"plan"' lines >out
[ "$(json in_file)" = true ] || say "$last: the volume is not in a file"
is "$(json split_x) == 1"
left
run 0 bench S2 --plan --case b --device cpu --device-memory 4G --memory 16G --subvolumes 64
has out '^concatenation +- +- +O\(B\) +64 +64 +64$'
has out '^video memory .* +671\.1 MB +671\.1 MB +671\.1 MB$'
has out '\(the volume does not fit beside them, and goes to a file\) need '
has out '^in a file: boxes are slabs of whole rows, cut along y alone; the paper cuts along x and y$'

# Every kind of device: its own words for how views reach it, and what is not known is left out.
for device in cpu ref gl mock; do
    [ $device = gl ] && ! "$fbp" devices | grep -q "^gl .*OpenGL" && continue
    # shellcheck disable=SC2086
    run 0 bench S2 $small --device $device --subvolumes 4 --streams on -q
    has out "^on [14] x $device: "
    way="by copies in the host's memory"
    case $device in gl | mock) way="through the host's links" ;; esac
    has out "^limit, C = 1: unknown without --streams both\\. The whole run takes [0-9.e-]+ s, its parts alone take:\$"
    has out "^  views .* for each of 4 boxes, $way at "
    has out '^fbp today, total +- +- +- \| +[0-9.]+ '
done
has out '^limit, C = 4: '

# Sentences.
run 1 bench S2 --size 40 --device mock --subvolumes 3
has err 'ino2010: 3 subvolumes are too few for 4 devices: use at least one per device'
one_line err
run 1 bench S2 --size 40 --device mock --subvolumes 4096
has err '4096 subvolumes are more than the 40 x 40 columns'
run 1 bench S2 --size 40 --device mock --device-memory 9K
has err "of a device's memory, 9.00 KiB may be used: raise the limit"
one_line err
run 1 bench S2 --size 40 --device mock --memory 9K
has err "of the host's memory, 9.00 KiB may be used: raise --memory"
one_line err
run 1 bench S2 --size 40 --device warp
has err 'device: "warp" is unknown, or not part of this build'
run 1 bench S2 --size 40 --device mock:9
has err 'expected indices 0 … 3'
one_line err
run 1 bench S2 --size 40 --device cpu:1
has err 'device: "cpu:1": there is only one device, with index 0; use cpu$'
one_line err
run 1 bench S2 --size 40 --device "mock:0$(printf ',%.0s0' $(seq 64))"
has err 'at most 64 devices can be named'
one_line err
run 1 bench S2 --size 40 --device cpu --count 2
has err '2 devices were requested, cpu has 1'
run 1 bench S2 --size 40 --device cpu --kernel s2
has err 'cpu has no "s2"'
run 1 bench S2 --size 40 --views 33 --device mock --memory "$((bytes - 1))" --device-memory 600K --dir place/none -q
has err 'place/none: .*: choose another --dir'
one_line err
run 1 bench S2 --size 40 --pictures none
has err 'none: the folder for --pictures is missing'
run 2 bench S2 --case c
has err 'expected a or b, got "c"'
run 2 bench S2 --streams maybe
has err 'expected on, off or both'
run 2 bench S2 --count 3
has err 'expected 1, 2 or 4'
run 2 bench S2 --size 5000000
run 2 bench S2 --subvolumes 0
left
finish
