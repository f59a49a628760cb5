#!/usr/bin/env bash
# publish.sh FBP INJECT WORK_DIR: all slices are there, and the output does not get its name: the next
# run gives it that, computes nothing, and says so.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$fbp" simulate --size 16 --views 12 --scale 0.02 -o scan.json -q || exit 1
"$fbp" recon scan.json -o one.mha -q --threads 1 || exit 1
LD_PRELOAD=$inject FBP_FAULT=rename:1 "$fbp" recon scan.json -o v.mha -q --threads 1 >out 2>&1 && fail "a name is given"
[ ! -e v.mha ] && [ -e v.mha.part ] || fail "what was computed is gone"
"$fbp" recon scan.json -o v.mha --threads 1 --resume --report v.html >out 2>&1 || fail "--resume"
grep -q '^v.mha: nothing remained to be computed' out || fail "--resume computes again"
grep -q 'v.mha: nothing remained to be computed' v.html || fail "the report says otherwise"
grep -qwi 'nan' out && fail "no number"
cmp one.mha v.mha || fail "other bytes"
