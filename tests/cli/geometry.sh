#!/usr/bin/env bash
# Every geometry format into every other: the same views come out.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

known=(--detector 12x10 --pitch '5,5')

# close FILE FILE: the same numbers, to 1e-10 mm; the greatest difference goes to the file worst
close() {
    paste -d, "$1" "$2" | awk -F, '
        { for (i = 1; i <= 12; i++) {
            d = $i - $(i + 12); d = d < 0 ? -d : d; a = $i < 0 ? -$i : $i
            if (d > worst) worst = d
            if (a > most) most = a } }
        END { if (most > 0) print worst + 0 >>"worst"
              exit !(NR == 9 && NF == 24 && most > 0 && worst <= 1e-10) }' ||
        say "$last: the views of $1 and $2 differ"
}

# Paths to write and to read for a format.
declare -A writes=([fbp]=fbp.json [rtk]=rtk.xml [astra]=astra.json [astra-cone-vec]=cone.npy
    [astra-parallel-vec]=parallel.csv [leap]=leap.cfg [matrices]=matrices.txt
    [plastimatch]=plm_%03d.txt [tigre]=tigre.json)
reads() { [ "$1" = plastimatch ] && echo "$2${writes[$1]} 0 8" || echo "$2${writes[$1]}"; }

# round VECTORS FORMATS…: scan.json to each, each to each, and all of them to the same vectors
round() {
    local vectors=$1 a b
    shift
    run 0 geometry convert scan.json -o want.csv --to-format "$vectors" -q
    for a in "$@"; do
        run 0 geometry convert scan.json -o "${writes[$a]}" --to-format "$a" -q
        for b in "$@"; do
            run 0 geometry convert "$(reads "$a" "")" -o "to_${writes[$b]}" --from-format "$a" \
                --to-format "$b" "${known[@]}" -q
            run 0 geometry convert "$(reads "$b" to_)" -o got.csv --from-format "$b" \
                --to-format "$vectors" "${known[@]}" -q
            close want.csv got.csv
        done
    done
}

# Where nothing is ambiguous, content and name are enough.
found() { # FORMAT
    run 0 geometry convert "$(reads "$1" "")" -o got.csv --to-format "$vectors" "${known[@]}" -q
    close want.csv got.csv
}

vectors=astra-cone-vec
simulate=(simulate --size 8 --voxel 2 --views 9 --detector 12x10 --pitch 5 --sod 600 --sdd 1100
    -o scan.json -q)
run 0 "${simulate[@]}" --arc -210 --start 30 --offset 3.5,-1.25
round astra-cone-vec fbp rtk astra astra-cone-vec leap matrices plastimatch tigre
for format in fbp rtk astra leap matrices plastimatch tigre; do
    found "$format"
done
run 0 "${simulate[@]}" --tilt 1,-2,3
round astra-cone-vec fbp rtk astra astra-cone-vec leap matrices plastimatch tigre
run 0 "${simulate[@]}" --trajectory c-arm --arc 225
round astra-cone-vec fbp rtk astra astra-cone-vec leap matrices plastimatch tigre

# By a file name alone, too, a pattern among them.
run 0 geometry convert scan.json -o named.xml -q
run 0 geometry convert named.xml -o 'named_%d.txt' "${known[@]}"
has out '^named_%d.txt: 9 views, cone beam, 12 x 10 pixels$'
exists named_8.txt

# In a scan file; of RTK's the header of the projections says pitch and origin.
run 0 recon scan.json -o a.npy -q
for geometry in named.xml 'named_%d.txt 0 8' leap.cfg; do
    echo "{\"fbp_scan\": 1, \"projections\": \"scan.mha\", \"geometry\": \"$geometry\"," \
        '"volume": {"size": 8, "voxel_mm": 2}}' >foreign.json
    run 0 recon foreign.json -o b.npy -q
    run 0 compare a.npy b.npy --json
    is "$(json nrmse) < 1e-5"
done

vectors=astra-parallel-vec
run 0 simulate --kind parallel --size 8 --voxel 2 --views 9 --detector 12x10 --pitch 5 \
    -o scan.json -q --arc 180 --offset 2.5,-1.25
# LEAP's volume has a slice a row: the scan's is left out
run 0 geometry convert scan.json -o bare.csv --to-format astra-parallel-vec -q
run 0 geometry convert bare.csv --from-format astra-parallel-vec -o scan.json "${known[@]}" -q
round astra-parallel-vec fbp rtk astra astra-parallel-vec leap tigre
found rtk
found leap

# Nothing is guessed, nothing approximated, and nothing left behind.
refused() { # PATTERN PATH OPTIONS…
    run 1 geometry convert scan.json -o "$2" "${@:3}"
    has err "$1"
    one_line err
    absent "$2"
    absent "$2.part"
}
rm -f ./*.npy
refused 'need a source' m.txt
refused 'the beam is parallel; write astra-parallel-vec' v.npy --to-format astra-cone-vec
refused 'do not match a geometry format that can be written.*--to-format' v.npy
refused 'need a source' 'x_%d.txt'
run 1 geometry convert parallel.csv -o x.json "${known[@]}"
has err '^fbp: parallel.csv: .*--from-format'
run 1 geometry convert rtk.xml -o x.json
has err '^fbp: rtk.xml: .*--detector'
run 1 geometry convert rtk.xml -o x.json --detector 12x10
has err '^fbp: rtk.xml: .*--pitch'
run 1 geometry convert leap.cfg -o x.json --detector 12x11
has err '^fbp: leap.cfg: .*12 x 10'
run 1 geometry convert leap.cfg -o x.json --pitch 4,4
has err '^fbp: leap.cfg: .* but 4 mm is also given'
absent x.json
sort -g worst | awk 'END { print NR " ways: the worst comes back within " $1 " mm" }'
# What a file is, without being told: a geometry, a whole scan, or neither.
run 0 info scan.json
has out "^scan +scan.json, [a-z]+ beam"
run 0 geometry convert scan.json -o known.cfg --to-format leap -q
run 0 info known.cfg
has out "^projections +not named in the file"
has out "^views +[0-9]+ of"
run 0 info known.cfg --json
is "$(json views) > 0"
run 0 geometry convert scan.json -o needs.xml --to-format rtk -q
run 1 info needs.xml
has err "needs.xml: the number of detector pixels is missing"
echo nothing >what.is
run 1 info what.is
has err "what.is: unknown array format"

finish
