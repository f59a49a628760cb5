#!/usr/bin/env bash
# Wrong usage: status 2, one line that names what was expected, nothing on standard output.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

wrong() { # PATTERN ARGUMENTS…
    local pattern=$1
    shift
    run 2 "$@"
    has err "$pattern"
    has err '^fbp: '
    empty out
}
wrong_line() {
    wrong "$@"
    one_line err
    has err 'see fbp .*--help$'
}

wrong_line 'scan.json is missing' recon
wrong_line '-o VOLUME is missing' recon s.json
wrong_line 'the value is missing; expected VOLUME' recon s.json -o
wrong_line '--pitch: expected MM|U,V, numbers from .* in mm, or with the unit um, mm, cm or m, such as 25um, got "25px"' recon s.json -o y.mha --pitch 25px
wrong_line '--rings: the value is missing before -o; expected METHOD' recon s.json --rings -o y.mha
wrong_line '-o: the value is missing before --rings; expected VOLUME' recon s.json -o --rings sorting
wrong_line '--cutoff: expected F, a number from .* to 1, got "2"' recon s.json -o v.mha --cutoff 2
wrong_line 'did you mean --filter\?' recon s.json -o v.mha --filtr hann
wrong_line 'one of ram-lak, shepp-logan, cosine, hamming, hann' recon s -o v --filter foo
wrong_line 'unexpected argument "b"' recon a b -o v.mha
wrong_line 'whole numbers from 1' recon s -o v --size 3x4
wrong_line 'suffix K, M, G' recon s -o v --memory lots
wrong_line 'at least 1' recon s -o v --memory 0
wrong_line 'ends in .mha, .*, or null: or hash:, got "v"' recon s.json -o v
wrong_line '-o: "\." is a folder; name a file in it, such as \./volume.mha, or one file per slice, \./%04d.tif' recon s.json -o .
wrong_line '-o: "lost/" is a folder; .* lost/volume.mha' recon s.json -o lost/
wrong_line 'options follow the command; expected fbp recon … -q, got "-q" first' -q recon s.json -o v.mha
wrong_line 'expected fbp geometry check … --force' --force geometry check s.json
wrong_line '--mask: expected VALUE\|nan, a number' recon s.json -o v.mha --mask none
wrong_line '--timeline: .* ends in .svg' recon s.json -o v.mha --timeline t.png
wrong_line '--timeline: expected --job' bench host --timeline t.svg
wrong_line '--plan computes no data that could be drawn; omit --preview' recon s.json --plan --preview p.png
wrong_line '--plan computes no data that could be drawn; omit --timeline' recon s.json --plan --timeline t.svg
wrong_line '--preview: .* ends in .png' recon s.json -o v.mha --preview p.jpg
wrong_line '--compress: expected -o FILE.mha' recon s.json -o v.npy --compress
wrong_line '--truth: .* ends in .mha' simulate --size 8 --views 4 -o x.json --truth x.json
wrong_line '--arc: expected an angle other' simulate --size 8 --views 4 -o x.json --arc 0
wrong_line '--sod: expected more than 181' simulate --size 8 --views 4 -o x.json --sod 181
wrong_line 'ends in .svg' geometry show s.json -o s.png
wrong_line 'needs a volume on disk' recon s -o null: --preview p.png
wrong_line 'takes no value' recon s -o v --quiet=1
wrong_line 'unknown command "reco"; did you mean fbp recon' reco
wrong_line 'unknown option "--foo"' --foo
wrong_line 'ends in .json' simulate --size 8 --views 4 -o x.mha
wrong_line '--views K is missing' simulate --size 8 -o x.json
wrong_line 'expected 900 mm \(--sod\) or more' simulate --size 8 --views 4 -o x.json --sod 900 --sdd 800
wrong_line 'use --kind cone' simulate --size 8 --views 4 -o x.json --kind parallel --trajectory c-arm
wrong_line 'LO < HI' view v.mha -o p.png --window 3,1
wrong_line 'ends in .png' view v.mha -o p.jpg
wrong_line 'b is missing' compare a.mha
wrong_line 'file is missing' info
wrong_line 'folder is missing' init
wrong_line '--score: expected NAME, one of sharpness, negativity' recon s.json -o s.png --score entropy
wrong_line '--slice: expected K.FROM:TO, whole numbers from 0, a TO above its FROM' recon s.json -o s.png --slice -1
wrong_line '"s.png" is an image of one slice; give --slice K' recon s.json -o s.png
wrong_line '-o FILE.svg is missing' geometry show s.json
wrong 'unknown command "bench S5"' bench S5
wrong 'needs an even number, got 57' bench S4 --samples 57
wrong 'expected A, B, C, D, E, F, G or M' bench S3 --variant K
wrong_line '--case: expected a or b' bench S2 --case S2
wrong_line '--count: expected 1, 2 or 4' bench S2 --count 3
wrong_line '--case: expected fft, spatial, matrix, paper or ladder' bench S0 --case ftt
wrong_line '--seed: expected N, a whole number from 0, got "-1"' simulate --size 8 -o s.json --seed -1
wrong_line '--size: expected N, a whole number from 8' bench S0 --size 7
wrong_line '--test: expected 1...9, a whole number from 1 to 9' bench S1 --test 10
wrong_line '--views: expected K, a whole number from 2' bench S1 --views 1
wrong 'expected J1, J2, J3, P64, P128, P200, P128x10, C1024, C2048, B1024 or B2048' bench kernel --job J4
wrong_line 'expected J1, J2 or J3' bench follow --job J4
wrong_line '--follow-timeout: expected SECONDS' recon s.json -o v.mha --follow --follow-timeout -1
wrong_line 'from is missing' geometry convert
wrong_line 'from is missing' geometry check
wrong 'incomplete command; expected one of' geometry
wrong 'unknown command "geometry foo"' geometry foo
has err 'fbp geometry check'

# Words of other programs lead to the right one.
wrong_line 'unexpected argument "v.mha"; did you mean -o v.mha\?' recon s.json v.mha
wrong_line '--gpu: give --device cuda' recon s.json -o v.mha --gpu
wrong_line '--sid: .* --sod is the distance from source to rotation axis, --sdd from source to detector' recon s.json --sid 500
wrong_line '--iterations: filtered backprojection has no iterations' recon s.json --iterations 20
wrong_line '-output; did you mean --output\?' recon s.json -output v.mha
wrong_line 'unknown command "reconstruct"; did you mean fbp recon\?' reconstruct s.json
wrong_line 'to name several files, give their folder' recon a_1.tif a_2.tif a_3.tif -o v.mha
wrong_line 'to name several files, give their folder' info a_1.tif a_2.tif a_3.tif
wrong_line 'is a folder, not a command; fbp init' .
: >there.json
wrong_line 'is a file, not a command' there.json
for word in -V version -v --version -version; do
    run 0 $word
    has out '^fbp [0-9]+\.[0-9]+\.[0-9]+ \(with '
done
run 0 recon -V
has out '^fbp [0-9]'
for word in -h help --help -help --usage '-?'; do
    run 0 $word
    has out '^Usage: fbp COMMAND'
    run 0 recon $word
    has out '^Usage: fbp recon'
done
run 0 --help recon
has out '^Usage: fbp recon'

# Plane integrals have directions, lines have views.
run 2 simulate --kind planes --size 8 -o x.json
has err 'kind planes needs --directions'
run 2 simulate --kind planes --directions fibonacci:9 --size 8 --views 4 -o x.json
has err 'views does not apply to plane integrals; use --directions'
run 2 simulate --kind planes --directions fibonacci:9 --size 8 --detector 8x8 -o x.json
has err 'detector does not apply to plane integrals; use --samples'
run 2 simulate --directions fibonacci:9 --views 4 --size 8 -o x.json
has err 'directions applies to plane integrals only; give --kind planes'
run 1 simulate --kind planes --directions fibonacci:0 --size 8 -o x.json
has err 'directions.n.0.: found 0'
run 1 simulate --kind planes --directions nosuch.csv --size 8 -o x.json
has err 'nosuch.csv'
run 2 simulate --kind planes --directions fibonacci:9 --trajectory c-arm --size 8 -o x.json
has err 'c-arm needs a source'
run 2 simulate --kind parallel --trajectory c-arm --size 8 --views 4 -o x.json
has err 'c-arm needs a source'

# No arguments: the list of commands, as wrong usage.
run 2
has err '^  recon '
run 0 --version
has out '^fbp [0-9]+\.[0-9]+\.[0-9]+ \(with '
empty err

# Benchmarks, where fbp stands without fbp-bench.
cp "$fbp" alone
if ! LD_LIBRARY_PATH=$(dirname "$fbp")/../lib ./alone bench kernel 2>err; then
    has err '^fbp: the program fbp-bench is not installed in the folder of fbp; '
else
    say "fbp bench runs without fbp-bench"
fi
run 2 bench
has err 'fbp bench kernel'

# Files that are not there.
for command in "recon no.json -o v.mha" "plan no.json" "info no.mha" "info no.json" \
    "view no.mha -o p.png" "compare no.mha no.mha" "geometry check no.json"; do
    # shellcheck disable=SC2086
    run 1 $command
    has err '^fbp: .*no\.(mha|json)'
    empty out
done
absent v.mha
absent p.png
finish
