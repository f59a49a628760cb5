#!/usr/bin/env bash
# fbp view --serve: the page and slices in full, to who knows the address; ends with Ctrl-C.  Requests
# of all sorts: cli/test_serve.c.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 2 view v.mha --serve -o v.html
has err '--serve writes no file'
run 2 view v.mha --serve --json
run 2 view v.mha --port 8000 -o v.html
has err '--port needs --serve'
run 2 view v.mha --serve --port 65536
run 2 view v.mha
has err '-o FILE.png or FILE.html is missing'
run 1 view v.mha --serve
one_line err
empty out

run 0 simulate --size 30 --views 8 --truth v.mha -o s.json -q
"$fbp" view v.mha --serve --page-size 256K >address 2>err &
server=$!
for _ in $(seq 600); do
    [ ! -s address ] || break
    sleep 0.1
done
address=$(cat address)
[[ $address =~ ^http://127\.0\.0\.1:([0-9]+)/([0-9a-f]{32})/$ ]] || say "address: $address"
port=${BASH_REMATCH[1]} token=${BASH_REMATCH[2]}
has err 'Ctrl-C'

# ask PATH [HOST]: the answer, its first line in file status, its body in file body.
ask() {
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET %s HTTP/1.1\r\nHost: %s\r\n\r\n' "$1" "${2:-127.0.0.1:$port}" >&3
    cat <&3 >answer
    exec 3>&-
    head -1 answer | tr -d '\r' >status
    local length
    length=$(grep -a -m1 -i '^content-length:' answer | tr -dc 0-9)
    tail -c "$length" answer >body
}
status() { [ "$(cut -d' ' -f2 status)" = "$1" ] || say "$2: $(cat status) instead of $1"; }

ask "/$token/"
status 200 page
grep -aq '^Content-Type: text/html' answer || say "no HTML"
grep -aq "connect-src 'self'" body || say "the page may not ask for slices"
grep -aq '"slice_cost":\[3600,3600,108000\]' body || say "no costs"

# slice_is PLANE INDEX AWK: numbers of the slice are those of the volume where AWK (x, y, z) is true.
tail -c 108000 v.mha | od -An -v -tf4 -w4 | tr -d ' ' >all
slice_is() {
    ask "/$token/slice?plane=$1&index=$2&frame=0"
    status 200 "plane $1"
    od -An -v -tf4 -w4 body | tr -d ' ' >got
    awk -v n=30 "{ i = NR - 1; x = i % n; y = int(i / n) % n; z = int(i / n / n) } $3" all >want
    cmp got want || say "slice $2 of plane $1 is not the volume's"
    [ "$(wc -l <got)" = 900 ] || say "slice $2 of plane $1 has $(wc -l <got) values"
}
for i in 0 7 13 29; do
    slice_is 0 $i "z == $i"
    slice_is 1 $i "y == $i"
    slice_is 2 $i "x == $i"
done

for wrong in 'plane=3&index=0&frame=0' 'plane=0&index=30&frame=0' 'plane=0&index=0&frame=1' 'plane=0' '' \
    'plane=0&index=0x1&frame=0' 'plane=0&index=-1&frame=0'; do
    ask "/$token/slice?$wrong"
    status 400 "$wrong"
done
ask "/$token/nothing"
status 404 nothing
ask "/$token/../$token/"
status 404 ..
ask /
status 403 "no token"
ask "/${token%?}x/"
status 403 "another token"
ask "/$token/" evil.example
status 403 "another host"
grep -aq "$token" answer && say "the token was told"

# Nobody listens for other machines.
if [ -r /proc/net/tcp ]; then
    hex=$(printf '%04X' "$port")
    grep -q " 0100007F:$hex " /proc/net/tcp || say "nobody listens on 127.0.0.1:$port"
    grep -q " 00000000:$hex " /proc/net/tcp && say "it listens on all addresses"
fi
run 1 view v.mha --serve --port "$port"
has err "^fbp: port $port of 127.0.0.1: .*--port"

# A volume that is replaced meanwhile is not mixed with the page's.
cp v.mha new.mha && touch -d '2001-01-01' new.mha && mv new.mha v.mha
ask "/$token/slice?plane=0&index=3&frame=0"
status 500 "a file that has changed"
grep -aq 'v.mha' body || say "no word of the file that has changed: $(cat body)"

kill -INT $server
wait $server
got=$?
[ "$got" -eq 0 ] || say "Ctrl-C: status $got"
finish
