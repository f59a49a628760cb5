#!/usr/bin/env bash
# refuses.sh SOURCE WORK: docs/site/blocks.py takes a page that tells the truth, and no other.
set -euo pipefail
source=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export PYTHONDONTWRITEBYTECODE=1

run() { # page
    python3 "$source/docs/site/blocks.py" "$1" "$work/run" >said 2>&1
}
takes() {
    cat >page.md
    run page.md || { echo "FAILED: refused: $(cat said)"; exit 1; }
}
refuses() { # words of the message
    cat >page.md
    if run page.md; then echo "FAILED: taken: $(cat page.md)"; exit 1; fi
    grep -qF -- "$1" said || { echo "FAILED: no \"$1\" in: $(cat said)"; exit 1; }
}
block() { # language and attributes, text
    printf '```%s\n%s\n```\n' "$1" "$2"
}

prints=$(block sh 'echo "a line"; echo "3 balls of 20.1 mm in 5.2 s"; echo "the end"')
printf '%s\n' "$prints" "$(block text $'a line\n3 balls of 20.0 mm in 77 s\nthe end')" | takes
printf '%s\n' "$prints" "$(block text $'…\nthe end')" | takes
printf '%s\n' "$prints" "$(block text $'a line\n3 … in 1 s\n…')" | takes
printf '%s\n' "$prints" "$(block text $'a line\n3 balls of 19.8 mm in 5.2 s\nthe end')" | refuses "page.md:4: the page says"
printf '%s\n' "$prints" "$(block text $'a line\nthe end')" | refuses "the page says"
printf '%s\n' "$prints" "$(block text $'a line\n3 cubes of 20.1 mm in 5.2 s\nthe end')" | refuses "the page says"
printf '%s\n' "$prints" "$(block text '')" | refuses "the page says"
block sh $'false\necho never' | refuses "page.md:1: exit status 1"
block python 'print(1 / 0)' | refuses "ZeroDivisionError"
printf '%s\n' "$(block 'c title="a.c"' 'int a;')" "$(block sh 'grep -q "int a;" a.c')" | takes
block c 'int a;' | refuses 'a block of "c" has no title'
printf '%s\n' '```sh' 'echo' | refuses "does not end"
echo "no blocks" | refuses "nothing to run"
block 'sh run="no"' 'false' | refuses "nothing to run"
