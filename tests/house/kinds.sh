#!/bin/sh
# kinds.sh SOURCE: nobody asks which kind a scan is of; facts and functions come from the kind's
# table (src/geometry/kind.h).  A comparison takes the next kind for one of those it knows.
kind='\<FBP_(CONE|PARALLEL|PLANES)\>'
pattern="[=!<>]=[^;?=]*$kind|[^-][<>] *$kind|$kind *([=!<>]=|[<>])|case +$kind"

for line in 'if (scan->kind == FBP_CONE)' 'k != 1 + FBP_PARALLEL;' 'case FBP_PLANES:' \
    'FBP_CONE == kind' 'kind < FBP_PLANES'; do
    echo "$line" | grep -qE "$pattern" || { echo "kinds.sh does not see: $line"; exit 1; }
done
for line in 'out->kind = type == FAN ? FBP_CONE : FBP_PARALLEL;' '[FBP_CONE] = &fbp_kind_cone,' \
    'a->kind == b->kind' 'return k->kind ? k->kind - 1 : FBP_CONE;'; do
    echo "$line" | grep -qE "$pattern" && { echo "kinds.sh takes offence at: $line"; exit 1; }
done

cd "$1" || exit 1
[ -f src/geometry/kind.h ] || { echo "no src/geometry/kind.h in $1"; exit 1; }
found=$(grep -rnE --include='*.[ch]' --include='*.cu' --include='*.cuh' --include='*.hpp' \
    "$pattern" src cli include modules)
[ -z "$found" ] && exit 0
echo "$found"
echo "a kind is compared here: take a fact or a function from its table (src/geometry/kind.h)"
exit 1
