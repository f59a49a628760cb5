#!/bin/sh
# s0_code.sh CUOBJDUMP OUTPUT OBJECT...: count the instructions of the kernels of Okitsu 2008 in the
# machine code of the objects, for Table 3 of `fbp bench okitsu2008`, and write them as C.  Of each
# kernel, the innermost loop with the most multiply-adds is counted.
cuobjdump=$1 output=$2
shift 2
for object; do
    "$cuobjdump" -sass "$object"
done | awk '
function count(pattern, from, to,    n) {
    for (; from <= to; from++)
        n += text[from] ~ pattern
    return n + 0
}
function flush(    store) {
    for (store = first; store < last && text[store] !~ / STG/;)
        store++
    if (best)
        printf "    {%d, \"%s\", %d, %d, %d, %d, %d, %d},\n", arch, name, last - first + 1, best,
            count(" TEX", first, last), count(" TEX", first, store), count(" LDG", first, last),
            count(" STG", first, last)
    n = best = loop_end = 0
    split("", number)
}
BEGIN { print "#include \"bench/cuda/s0.h\"\n\nconst struct s0_code cuda_s0_code[] = {" }
/code for sm_/ { flush(); sub(/.*sm_/, ""); arch = $1 }
/Function :/ { flush(); name = $3 }
/^[ \t]*\/\*[0-9a-f]+\*\/ / {
    address = $1
    gsub(/^\/\*0*|\*\/$/, "", address)
    sub(/ *;.*/, "")
    text[++n] = $0
    number[address] = n
    target = substr($NF, 3)
    if (/ BRA/ && (target in number) && number[target] < n) {
        if (number[target] > loop_end && count("FFMA", number[target], n) > best) {
            first = number[target]
            last = n
            best = count("FFMA", first, last)
        }
        loop_end = n # loops that begin before this contain the loop
    }
}
END { flush(); print "    {0},\n};" }' >"$output"
