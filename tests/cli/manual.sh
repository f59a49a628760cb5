#!/usr/bin/env bash
# Man pages and completion have every command and every option that the help has, and the programs
# that read them take them without a word.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
build=$(cd "$(dirname "$fbp")/.." && pwd)

run 0 help --commands
mapfile -t commands <out
[ "${#commands[@]}" -gt 9 ] || say "only ${#commands[@]} commands"
for command in "${commands[@]}"; do
    grep -qE "^  $command +[a-z]" <("$fbp" --help) || say "fbp --help lacks $command"
done

# Long options of every command by its help, sorted, in options/COMMAND.
mkdir man1 options
for command in "${commands[@]}"; do
    # shellcheck disable=SC2086
    "$fbp" $command --help-all | grep -oE '^ {2,6}(-[a-zA-Z], )?--[a-z][a-z0-9-]*' |
        grep -oE -- '--[a-z0-9-]+' | sort -u >"options/$command"
done
# all_of COMMAND WHERE: the options on standard input are those of its help.
all_of() {
    local missing
    missing=$(sort -u | comm -23 "options/$1" - | tr '\n' ' ')
    [ -z "$missing" ] || say "$1: $2 lacks $missing"
}

run 0 help --man
cp out man1/fbp.1
for command in "${commands[@]}"; do
    page=man1/fbp-${command// /-}.1
    # shellcheck disable=SC2086
    run 0 help --man $command
    cp out "$page"
    sed 's|[\\]||g' <out | grep -oE 'fB--[a-z0-9-]+fR' | sed 's/^fB//; s/fR$//' |
        all_of "$command" man
    grep -qF "fbp\\-${command// /\\-}" man1/fbp.1 || say "fbp.1 lacks $command"
done
run 2 help --man nonsense

# Pages of benchmarks are made by fbp-bench.
run 0 help --man bench okitsu2008
cp out bench.1
grep -q 'fbp\\-bench\\-okitsu2008' bench.1 || say "the page of fbp bench okitsu2008 lacks its name"
run 2 help --completion tcsh

# What the readers of pages say.  Pages have no date: every build makes the same ones.
for page in man1/*.1; do
    if command -v groff >/dev/null; then
        groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null | sed "s|^|$page: |"
    fi
    if command -v man >/dev/null; then
        MANWIDTH=78 man --warnings -l "$page" 2>&1 >/dev/null | sed "s|^|$page: |"
    fi
    if command -v mandoc >/dev/null; then
        mandoc -Tlint -Wwarning "$page" | grep -v 'missing date'
    fi
done >warnings
[ ! -s warnings ] || say "warnings: $(head -5 warnings)"
if command -v groff >/dev/null; then
    groff -man -Tascii -P-cbou man1/fbp-recon.1 >recon.txt
    grep -q '^ *--filter NAME' recon.txt || say "fbp-recon.1 as text lacks --filter NAME"
    grep -q "^ *fbp recon scan.json" recon.txt || say "fbp-recon.1 as text lacks its examples"
fi

# complete EXPECTED WORD…: what bash offers for the last of the words.
run 0 help --completion bash
cp out fbp.bash
# shellcheck disable=SC1091
. ./fbp.bash
offered() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _fbp
    printf '%s\n' "${COMPREPLY[@]}"
}
complete_to() {
    local want=$1 got
    shift
    got=$(offered "$@" | tr '\n' ' ')
    [ "$got" = "$want " ] || say "$*: bash offers \"$got\", not \"$want\""
}
complete_to recon fbp re
complete_to --filter fbp recon --fi
complete_to "hamming hann" fbp recon --filter ha
complete_to "hamming hann" fbp recon --filter = ha
complete_to "rot180 rot90" fbp recon --kernel rot
complete_to "cuda cpu" fbp recon --device c
complete_to "uint8 uint16 int16 float32 float64" fbp recon --output-type ""
complete_to "astra astra-cone-vec astra-parallel-vec" fbp geometry convert a.json b --to-format astra
complete_to "show check convert" fbp geometry ""
complete_to check fbp help geometry ch
complete_to "" fbp recon --sod ""
touch "a scan.json"
complete_to "a scan.json" fbp recon a
complete_to "a scan.json" fbp init -o a
for command in "${commands[@]}"; do
    # shellcheck disable=SC2086
    offered fbp $command -- | all_of "$command" bash
done

# The same words are in the other shells' files, which those shells take.
for shell in zsh fish; do
    run 0 help --completion $shell
    cp out fbp.$shell
    if command -v $shell >/dev/null; then
        $shell -n fbp.$shell || say "$shell does not take its completion"
    fi
done
for command in "${commands[@]}"; do
    sed -n "/^    '$command')/,/ ;;\$/p" fbp.zsh >zsh
    grep -F "'__fbp_in $command' -l" fbp.fish >fish
    { grep -oE "^ *('\(- \*\)')?'?--[a-z0-9-]+" zsh | grep -oE -- '--[a-z0-9-]+' && echo --help; } |
        all_of "$command" zsh
    sed -E 's/.* -l ([a-z0-9-]+) .*/--\1/' fish | all_of "$command" fish
done
if command -v fish >/dev/null; then
    fish -c 'source fbp.fish; complete -C "fbp recon --filter ha"' >offers
    grep -q '^hamming' offers || say "fish does not offer hamming"
fi

# All of it is installed.
if [ -e "$build/manual/made" ] && command -v cmake >/dev/null; then
    cmake --install "$build" --prefix "$work/prefix" >install.log || say "cmake --install: $(tail -3 install.log)"
    share=prefix/share
    cmp -s fbp.bash $share/bash-completion/completions/fbp || say "bash's completion is not installed"
    cmp -s fbp.zsh $share/zsh/site-functions/_fbp || say "zsh's completion is not installed"
    cmp -s fbp.fish $share/fish/vendor_completions.d/fbp.fish || say "fish's completion is not installed"
    cmp -s bench.1 $share/man/man1/fbp-bench-okitsu2008.1 || say "the page of fbp bench okitsu2008 is not installed"
    rm $share/man/man1/fbp-bench-* $share/man/man1/fbp-rabbitct-*
    diff -r man1 $share/man/man1 >/dev/null || say "the pages are not installed as they are"
fi
finish
