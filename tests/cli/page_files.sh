#!/usr/bin/env bash
# Pages to look at: one file each that loads nothing, runs its own scripts alone, keeps to the size that
# was asked for, and takes no name of a file for HTML.  Values: cli/test_page.c; in a browser: browser/page.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=page_checks.sh
. "$here/page_checks.sh"

run 0 simulate --size 32 --views 24 -o s.json -q
run 0 recon s.json -o v.mha --device cpu -q

run 0 view v.mha -o v.html
has out '^v\.html$'
policy_holds v.html
nothing_else v.html
head -c 15 v.html | grep -q '^<!DOCTYPE html>' || say "v.html is no HTML"
run 0 view v.mha -o again.html -q
cmp v.html again.html || say "two pages of one volume differ"
empty out

# No page is larger than asked for; a reduced one says so.
run 0 simulate --size 96 --views 8 --truth t.mha -o p.json -q
for size in 256K 400K 1M 3M; do
    run 0 view t.mha -o t.html --page-size $size --json
    bytes=$(stat -c %s t.html)
    most=$(numfmt --from=iec "$size")
    is "$bytes <= $most"
    [ "$(json join.0)" = 1 ] || grep -q '<strong>Reduced:</strong>' t.html ||
        say "$last: does not say that it is reduced"
done
is "$bytes > $most / 40"
run 2 view t.mha -o t.html --page-size 1K
has err '--page-size: expected BYTES, '
run 2 view t.mha -o t.png --page-size 1M
has err '--page-size applies to HTML pages, but "t.png" is a PNG file; omit --page-size'
run 2 view t.mha -o bad.html --turn 30 --mip
has err '--turn and --device apply to PNG files'
run 2 view t.mha -o bad.txt
has err 'ends in .png or .html'
run 1 view t.mha -o bad.html --slice 0,96,0
has err '^fbp: t.mha: slice y = 96 does not exist; the volume has slices 0 to 95'
run 1 view t.mha -o bad.html --frame 1
has err '^fbp: t.mha: frame 1 does not exist; the file has frames 0 to 0'
run 1 view no.mha -o bad.html
run 1 view v.mha -o missing/bad.html
one_line err
absent bad.html
ln v.mha link.html
run 1 view v.mha -o link.html
has err 'link.html.*--force'
cmp v.mha link.html || say "a page replaced its volume"

# A name that is HTML, and one that is none of UTF-8.
for name in '<script>alert(1)<.mha' '"><img src=x onerror=alert(1)>&amp;.mha' "'<b>.mha" \
    $'\xff\xfe\e[1m.mha' '-->{{meta}}.mha'; do
    cp v.mha ./"$name"
    run 0 view ./"$name" -o name.html -q
    policy_holds name.html
    nothing_else name.html
    [ "$(grep -c '<script>' name.html)" = "$(grep -c '<script>' v.html)" ] || say "$last: another script"
    grep -q '<b>\|<img' <(grep '<title>' name.html) && say "$last: HTML of a name"
done
grep -q '{{' <(sed 's/<script.*//; s/{{meta}}\.mha//g' name.html) && say "a slot was left open"

# Nothing is left half written.
mkdir full
run 0 view v.mha -o full/v.html -q
[ "$(ls -A full)" = v.html ] || say "left: $(ls -A full)"
run 0 view v.mha -o full/v.html --frame 0 --window -1,2 --slice 3,4,5 --mip -q
grep -q '"window":\[-1,2\]' full/v.html || say "no --window"
grep -q '"start":\[3,4,5\]' full/v.html || say "no --slice"
grep -q '"mip":true' full/v.html || say "no --mip"
finish
