#!/bin/sh
# slots.sh SOURCE: nobody outside src/backend asks whether a backend has a slot: backend/device.c
# fills those that are left out, once for all callers.  A slot is called, and nothing else.
cd "$1" || exit 1
slots=$(sed -nE 's/^    [a-z].*\(\*([a-z_0-9]+)\)\(.*/\1/p' src/backend/backend.h | sort -u | paste -sd '|')
case $slots in
*alloc*host_wait*) ;;
*) echo "no slots in src/backend/backend.h"; exit 1 ;;
esac
pattern="(backend|backend\\([a-z]\\)|\\<be|\\<b)->((memory|event|repair|discovery)\\.)?($slots)($|[^a-z_0-9(])"

for line in 'if (w->backend->memory.alloc)' 'return b->event.host_wait ? b->event.host_wait(dev, m) : FBP_OK;' \
    'if (!backend(w)->statistics || x)' 'b->event.record && m.ticket'; do
    echo "$line" | grep -qE "$pattern" || { echo "slots.sh does not see: $line"; exit 1; }
done
echo 'FBP_TRY(w->backend->open(&w->dev, device, job));' | grep -qE "$pattern" &&
    { echo "slots.sh takes offence at a call"; exit 1; }
found=$(grep -rl --include='*.[ch]' 'fbp_backend' src cli | grep -v '^src/backend/' |
    xargs grep -nE "$pattern")
[ -z "$found" ] && exit 0
echo "$found"
echo "a slot is asked for here: all are filled (src/backend/device.h); call it, or add a fact"
exit 1
