#!/usr/bin/env bash
# fbp recon --report: a page about the run, for every sort of output; what it says is what was done, and
# its command does it again.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=page_checks.sh
. "$here/page_checks.sh"

run 0 simulate --size 32 --views 40 --arc 240 -o plain.json -q
name="it's <script>alert(1)<.json"
printf '{"fbp_scan": 1, "geometry": "plain.json", "projections": "plain.mha", "assumed": {"geometry": "a guess"}}' \
    >"$name"

# says PAGE TEXT: as HTML has it.
says() { grep -qF -- "$2" "$1" || say "$1 lacks: $2"; }

run 0 recon "$name" -o v.mha --device cpu --filter hann --size 40 --slab 9 --report r.html
policy_holds r.html
nothing_else r.html
says r.html "<title>Reconstruction of it&#39;s &lt;script&gt;alert(1)&lt;.json</title>"
says r.html 'contains unconfirmed assumptions'
[ "$(grep -oE 'aria-label="(Warnings|Volume|What was chosen|Geometry|Times|Inputs|Again)"' r.html | tr -dc 'A-Z')" = WVWGTIA ] ||
    say "sections of r.html: $(grep -o 'aria-label="[^"]*"' r.html)"
for text in '40 x 40 x 40 voxels' 'size: --size' 'Parker weights' 'filter hann' 'by --filter' '--slab' 'plain.mha'; do
    says r.html "$text"
done
[ "$(grep -c 'src="data:image/svg+xml;base64,' r.html)" = 2 ] || say "r.html lacks a drawing"
"$fbp" recon "$name" --device cpu --filter hann --size 40 --slab 9 --plan -q | sed -n 's/^slabs *//p' >slabs
says r.html "$(cat slabs)"
[ -z "$(find . -name '.fbp*')" ] || say "left: $(find . -name '.fbp*')"

# Its command, in its folder, does the same.
sed -n '/<pre>/,/<\/pre>/p' r.html | sed 's/<pre>//; s/<\/pre>.*//; s/&#39;/'"'"'/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >again
mv v.mha first.mha
PATH=$(dirname "$fbp"):$PATH sh again >/dev/null 2>err || say "again: $(cat again) $(cat err)"
cmp v.mha first.mha || say "the report's command gives another volume"

# Outputs that keep nothing, or a picture; the hash is that without a report.
plain=$("$fbp" recon plain.json -o hash: --device cpu -q)
got=$("$fbp" recon plain.json -o hash: --device cpu -q --report h.html)
[ "$got" = "$plain" ] || say "another hash with a report: $got"
says h.html "hash $plain"
says h.html 'No values were stored'
grep -q '<script' h.html && say "a script where there is no volume"
policy_holds h.html
run 0 simulate --size 32 --views 40 --arc 240 --detector 48x1 -o flat.json -q
run 0 recon flat.json -o null: --device cpu -q --report n.html
says n.html 'No values were stored'
says n.html 'No warnings.'
run 0 recon plain.json --slice 16 -o s.png --device cpu -q --report p.html
says p.html 'src="data:image/png;base64,'
run 0 recon plain.json -o 'tifs/%03d.tif' --output-type uint8 --output-range 0,1 --device cpu -q --report t.html
says t.html 'stored as uint8 (stack)'
run 0 recon plain.json --roi 4:20,:,8:12 --hu 0.02 -o b.nii.gz --device cpu -q --report b.html --timeline b.svg
says b.html '--roi'
says b.html '; HU, stored as float32 (nifti'
exists b.svg
for format in nrrd npy h5 mhd nii mat; do
    run 0 recon plain.json --size 12 -o "v.$format" --device cpu -q --report f.html
    says f.html '12 x 12 x 12'
done
run 0 recon plain.json --size 12 --rings sorting -o null: --device cpu -q --report f.html
says f.html "--rings, or from the scan file"
run 0 recon plain.json --size 12 -o v.raw --device cpu -q --report f.html
says f.html 'cannot be read'
run 0 simulate --kind planes --directions fibonacci:40 --size 16 -o planes.json -q
run 0 recon planes.json -o epr.mha --device cpu -q --report planes.html
says planes.html '1/mm^3'

# With --json the warnings are in both.
run 0 recon "$name" -o v.mha --device cpu --json --report j.html
grep -q 'assumptions' <(json warnings.0) || say "no warning in the object"
says j.html 'assumptions'

# Refused before anything is computed.
run 2 recon plain.json -o v.mha --report r.txt
has err '--report: expected a name that ends in .html'
run 2 recon plain.json --report r2.html --plan
has err '--report describes a complete run; omit --plan'
run 2 recon plain.json --sweep centre=20:22:1 -o sheet.png --report r2.html
run 1 recon plain.json -o v.mha --report no/r.html
has err 'no/r.html: the output folder is missing'
ln plain.json linked.html
run 1 recon plain.json -o new.mha --report linked.html
has err 'linked.html.*--force'
cmp plain.json linked.html || say "an input was replaced by a report"

# A run that fails says so first, and then what was known; one line on standard error, no volume.
fails() { # PAGE ERROR ARGUMENTS...: the page has the error's sentence and the command
    local page=$1 error=$2
    shift 2
    run 1 recon "$@" --report "$page"
    has err "^fbp: $error"
    [ "$(grep -c '^fbp: ' err)" = 1 ] || say "$last: more than one error: $(cat err)"
    absent new.mha
    says "$page" '<title>Failed: reconstruction of '
    says "$page" "$(sed -n "s/^fbp: //p" err | sed "s/&/\\&amp;/g; s/'/\\&#39;/g; s/\"/\\&quot;/g; s/</\\&lt;/g; s/>/\\&gt;/g")</p>"
    says "$page" '--report failed.html</pre>'
    policy_holds "$page"
    nothing_else "$page"
    [ "$(grep -o 'aria-label="[A-Z][a-z]*' "$page" | head -2 | tr -d '\n')" = 'aria-label="Failurearia-label="Warnings' ] ||
        say "$page does not begin with the failure"
}
fails failed.html 'no.json: cannot open' no.json -o new.mha
says failed.html 'before any settings were chosen'
fails failed.html 'memory: .* at least' plain.json -o new.mha --memory 1M
says failed.html 'plain.mha'
fails failed.html 'no/new.mha' "$name" -o no/new.mha --device cpu --filter hann
says failed.html 'assumptions'
says failed.html 'by --filter'
says failed.html 'src="data:image/svg+xml;base64,'
says failed.html 'This run wrote no volume.'
run 1 recon plain.json -o whole.mha --device cpu -q --preview no.png/p.png --report r2.html
absent r2.html
[ -z "$(find . -name '.fbp*')" ] || say "left: $(find . -name '.fbp*')"
# What is there may be what it could not read; an older page of its own is not.
echo '<p>mine</p>' >mine.html
run 1 recon no.json -o new.mha --report mine.html
[ "$(cat mine.html)" = '<p>mine</p>' ] || say "a file that may be an input was replaced"
run 0 recon plain.json -o null: --device cpu -q --report failed.html
says failed.html '<title>Reconstruction of '
# A run that ends early leaves neither a report nor drawings.
run 0 simulate --size 64 --views 300 -o large.json -q
interrupt 1.5 recon large.json --size 320 --kernel matrix --device cpu -o null: --threads 1 --report large.html -q
absent large.html
[ -z "$(find . -name '.fbp*')" ] || say "left: $(find . -name '.fbp*')"
finish
