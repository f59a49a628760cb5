#!/usr/bin/env bash
# No text of a file, and no name of one, reaches the terminal as an order, whichever command prints it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
export LC_ALL=C

esc=$(printf '\033') csi=$(printf '\302\233')
evil="${esc}]0;owned$(printf '\007')${csi}31m$(printf '\233\177\202')é"

# Standard output and error have no control characters of one byte or two, and are UTF-8.
clean() {
    for file in out err; do
        ! grep -q "$(printf '[\001-\010\013-\037\177]')" $file || say "$last: $file: $(cat -v $file)"
        ! grep -qE "$(printf '\302[\200-\237]')" $file || say "$last: C1 in $file: $(cat -v $file)"
        iconv -f UTF-8 -t UTF-8 $file >/dev/null 2>&1 || say "$last: $file is not UTF-8: $(cat -v $file)"
    done
}

# try ARGUMENTS…: whatever the status, what is printed is clean, and shows that something is there.
try() {
    last="fbp $*"
    last=$(cat -v <<<"$last")
    "$fbp" "$@" >out 2>err
    clean
}
shown() {
    try "$@"
    cat out err | grep -qE '\\u00(1b|9b|07)' || say "$last: no escape is shown: $(cat -v out err)"
}

run 0 simulate --size 16 --views 24 --scale 0.02 -o plain.json -q
run 0 recon plain.json -o plain-volume.mha -q
run 0 rabbitct make -o plain.rctd --views 6 --detector 16x16 --references 1 --device cpu -q

# Names of files, that are there and that are not, in every command.
mkdir "d$evil"
for end in json mha rctd; do
    for file in plain.$end plain-volume.$end; do
        [ ! -e $file ] || cp $file "d$evil/$evil.$end"
    done
done
cp plain.mha "d$evil/plain.mha"
cp "plain.json" "d$evil/$evil.json"
for name in "d$evil/$evil" "lost$evil"; do
    shown recon "$name.json" -o "v$evil.mha"
    try plan "$name.json"
    shown info "$name.mha"
    shown info "$name.json"
    shown view "$name.mha" -o "p$evil.png"
    try compare "$name.mha" "$name.mha"
    try geometry check "$name.json"
    shown geometry show "$name.json" -o "g$evil.svg"
    shown geometry convert "$name.json" -o "c$evil.xml"
    shown init "$name"
    shown rabbitct make "$name.json" -o "m$evil.rctd" --references 0
    try rabbitct run "$name.rctd" --size 128 --device cpu
    shown rabbitct compare "$name.vol" "$name.rctd"
    shown info "$name.rctd"
    shown simulate --size 8 --views 4 -o "s$evil.json" --phantom "p$evil"
    shown recon "$name.json" -o x.mha --device "d$evil"
    shown recon "$name.json" -o "v$evil.mha" --json
    shown info "$name.mha" --json
    shown geometry convert "$name.json" -o "c$evil.xml" --json
done
shown recon plain.json -o v.mha --filter "$evil"
shown recon plain.json -o v.mha "--$evil"
shown recon a "$evil"
shown "$evil"
shown geometry "$evil"
shown "d$evil"
shown init "d$evil"

# A name that ends a line begins no other, in messages and in results.
line='n
forged: x' # a line of it would begin a line
whole() {
    "$fbp" "$@" >out 2>err
    last=$(tr '\n' '|' <<<"fbp $*")
    ! grep -q '^forged' out err || say "$last: a name begins a line: $(cat out err)"
    grep -q 'u000aforged' out err || grep -q '\\nforged' out || say "$last: is not shown: $(cat out err)"
}
mkdir "d$line"
cp plain.json "$line.json"
cp plain.mha "$line.mha"
cp plain-volume.mha "d$line/$line.mha"
cp plain.rctd "$line.rctd"
sed 's|"plain.mha"|"n\nforged: x.mha"|' plain.json >inside.json
for name in "$line" "lost$line" "d$line/$line"; do
    whole recon "$name.json" -o "v$line.mha" --preview "p$line.png"
    whole recon "$name.json" -o "v$line.mha" --json -q
    whole plan "$name.json" --filter "$name"
    whole info "$name.json"
    whole info "$name.mha"
    whole info "$name.rctd"
    whole view "$name.mha" -o "w$line.png" --force
    whole compare "$name.mha" "x$line.mha"
    whole geometry check "$name.json" --detector "$name"
    whole geometry show "$name.json" -o "g$line.svg" --force
    whole geometry convert "$name.json" -o "c$line.xml" --force
    whole rabbitct make "$name.json" -o "m$line.rctd" --references 0 --force
    whole rabbitct run "$name.rctd" --volume "no$line/x"
    whole rabbitct compare "no$line.vol" "$name.rctd"
    whole rabbitct convert "$name.rctd" -o "no$line/r.rct"
    whole simulate --size 8 --views 4 -o "s$line.json" --force
    whole simulate --size 8 --views 4 -o s.json --phantom "$name"
    whole init "$name"
    whole "$name"
    whole geometry "$name"
done
whole info inside.json
whole info "d$line"
whole init "d$line"
whole recon "$line.json" --sweep centre=11:12:0.5 -o "sheet$line.png"
whole recon "$line.json" -o "t$line/%03d.tif"
whole recon plain.json -o v.mha --timeline "no$line/t.svg"
whole bench pipeline "lost$line"
whole bench S0 --size 16 --views 12 --dir "no$line"

# Texts inside files.
of() { # NAME: a file of standard input, looked at by all that may read it
    cat >"$1"
    try info "$1"
    try info "$1" --json
    try recon "$1" -o t.mha
    try geometry check "$1" --detector 16x16 --pitch 1,1
    try geometry convert "$1" -o t.txt --detector 16x16 --pitch 1,1
    try view "$1" -o t.png
    cat out err | grep -q . || say "$last: says nothing"
}
json=$(sed 's/"kind": *"cone"/"kind": "X"/' plain.json)
of kind.json <<<"${json/X/\\u001b[31m\\u009b$evil}"
of key.json <<<"${json/\"kind\"/\"k\\u001b[1m$evil\"}"
of projections.json <<<"${json/plain.mha/\\u001b[1m$evil.mha}"
of assumed.json <<<"${json/\"X\"/\"cone\", \"assumed\": {\"kind\": \"\\u001b[31m$evil\"}}"
of volume.mha <<<"ObjectType = Image
NDims = 3
DimSize = 1 1 1
ElementType = $evil
ElementDataFile = LOCAL"
of data.mhd <<<"ObjectType = Image
NDims = 3
DimSize = 1 1 1
ElementType = MET_FLOAT
ElementDataFile = $evil"
of v.nrrd <<<"NRRD0004
type: $evil
dimension: 3
sizes: 1 1 1
encoding: $evil"
of v.npy <<<"$(printf '\223NUMPY\001')$evil{'descr': '$evil'}"
of scan.log <<<"[System]
Scanner=$evil
[Acquisition]
Scanning Trajectory=$evil
Rotation Direction=$evil"
of scan.xtekct <<<"[XTekCT]
Name=$evil
DetectorPixelsX=$evil"
of rtk.xml <<<"<?xml version=\"1.0\"?><RTKThreeDCircularGeometry version=\"${csi}31m\"></RTKThreeDCircularGeometry>"
of rtk2.xml <<<"<RTKThreeDCircularGeometry version=\"3\"><Projection><Matrix>${csi}31m</Matrix></Projection></RTKThreeDCircularGeometry>"
of leap.cfg <<<"geometry = $evil
detectorType = $evil"
of matrices.txt <<<"1 2 3 $evil"
of ct.json <<<"{\"file\": {\"file_type\": \"CTSimU Scenario\", \"name\": \"\\u001b$evil\"}, \"geometry\": {\"source\": {\"type\": \"\\u001b[1m$evil\"}}}"
of meta.json <<<"{\"file\": {\"file_type\": \"CTSimU Metadata\"}, \"acquisition_geometry\": {\"path_to_CTSimU_JSON\": \"\\u001b[1m$evil\"}}"
of astra.json <<<"{\"type\": \"\\u001b$evil\", \"DetectorRowCount\": 1, \"DetectorColCount\": 1}"
of tigre.json <<<"{\"mode\": \"\\u001b[1m$evil\", \"DSD\": 1, \"nDetector\": [1, 1]}"
of phantom.txt <<<"0 0 0 $evil"
try simulate --size 8 --views 4 -o s.json --phantom phantom.txt

# Units and descriptions in binary headers: those of our own volumes, with other bytes of as many.
for end in h5 nii mha nrrd tif; do
    run 0 recon plain.json -o "u.$end" -q
    sed "s|1/mm|${esc}[1m|g" "u.$end" >"v.$end"
    ! cmp -s "u.$end" "v.$end" || say "u.$end has no unit"
    [ $end = h5 ] || shown info "v.$end" # an HDF5 file has checksums
    try info "v.$end" --json
    try recon "v.$end" -o t.mha
    try compare "v.$end" plain-volume.mha
done

# What is no order stays readable.
cp plain-volume.mha 'Schädel µ試料.mha'
run 0 info 'Schädel µ試料.mha'
has out 'Schädel µ試料\.mha'
run 0 info 'Schädel µ試料.mha' --json
[ "$(json file)" = 'Schädel µ試料.mha' ] || say "$last: name in JSON"

# A character that falls on the end of a buffer of output is whole.
long=$(printf 'é%.0s' $(seq 3000))
for n in 0 1 2 3; do
    last="a long name, $n"
    "$fbp" recon "$(head -c $n <<<xxxx)$long.json" -o v.mha >out 2>err
    clean
    ! grep -q 'u00c3' err || say "$last: a character was cut: $(head -c 300 err)"
done
finish
