#!/usr/bin/env bash
# hosts.sh FBP MODULE WORK: three machines, as network namespaces with names of their own.  They
# compute the volume of one, also where they do not share a folder; one of them dies, then one is cut off:
# the run ends, and two processes go on from there.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
fbp=$1 work=$3
find_mpi "$2"
space=fbp$$-
remove() {
    local h pids
    for h in 1 2 3; do
        pids=$(ip netns pids "$space$h" 2>/dev/null)
        # shellcheck disable=SC2086
        [ -z "$pids" ] || kill -KILL $pids 2>/dev/null
        ip netns del "$space$h" 2>/dev/null
    done
}
trap remove EXIT
# Machine 1 is the switch, too.
connect() {
    local h
    for h in 1 2 3; do
        ip netns add "$space$h" && ip -n "$space$h" link set lo up || return 1
    done
    ip -n "${space}1" link add br0 type bridge && ip -n "${space}1" addr add 10.77.0.1/24 dev br0 &&
        ip -n "${space}1" link set br0 up || return 1
    for h in 2 3; do
        ip link add "to$h" netns "${space}1" type veth peer name eth0 netns "$space$h" &&
            ip -n "${space}1" link set "to$h" master br0 && ip -n "${space}1" link set "to$h" up &&
            ip -n "$space$h" addr add "10.77.0.$h/24" dev eth0 && ip -n "$space$h" link set eth0 up || return 1
    done
    ip netns exec "${space}3" unshare --uts true
}
connect >/dev/null 2>&1 || { echo "no network namespaces can be made here (root, iproute2)"; exit 77; }

rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
# What mpirun starts its daemons with, in place of ssh.
cat >agent <<TEXT
#!/bin/bash
h=\${1##*.}
shift
exec ip netns exec $space\$h unshare --uts --mount sh -c "hostname node\$h; \$prepare; \$*"
TEXT
chmod +x agent
unset OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include OMPI_MCA_oob_tcp_if_include
export OMPI_MCA_plm_rsh_agent=$PWD/agent OMPI_MCA_btl=self,tcp prepare=true # on machines 2 and 3
export OMPI_MCA_btl_tcp_if_include=10.77.0.0/24 OMPI_MCA_oob_tcp_if_include=10.77.0.0/24
# mpirun itself asks its daemons whether they are there.
export OMPI_MCA_oob_tcp_keepalive_time=4 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=3
failures=0
say() {
    echo "FAILED: $*"
    cat err
    failures=$((failures + 1))
}
on_hosts() {
    timeout -k 5 100 ip netns exec "${space}1" mpirun --host 10.77.0.1:1,10.77.0.2:1,10.77.0.3:1 -n 3 "$@" \
        >out 2>err
}

"$fbp" simulate --size 128 --views 64 -o large.json -q
"$fbp" recon large.json -o one.mha -q --size 256
on_hosts "$fbp" recon large.json -o all.mha -q --size 256 || say "three hosts"
cmp one.mha all.mha || say "three hosts: other bits"

# A folder of its own on each of two: rank 0 writes the slices of all.
mkdir apart
prepare="mount -t tmpfs none '$PWD/apart'" on_hosts "$fbp" recon large.json -o apart/all.mha --size 256 ||
    say "folders of their own"
grep -q '^rank 1 on node2 and 1 more do not see the temporary file of apart/all.mha, which rank 0 on ' err || say "folders of their own: not said"
cmp one.mha apart/all.mha || say "folders of their own: other bits"
prepare="mount --bind '$PWD/apart' '$PWD/apart' && mount -o remount,ro,bind '$PWD/apart'" \
    on_hosts "$fbp" recon large.json -o apart/none.mha --size 256 && say "a folder that cannot be written"
[ "$(grep -c '^fbp: rank [12] on node[23]: apart/none.mha: cannot open its temporary file apart/none.mha.part.log: Read-only' err)" -eq 1 ] ||
    say "a folder that cannot be written: not said once"
[ "$(ls apart)" = all.mha ] || say "a folder that cannot be written: $(ls apart)"

for end in dies "is cut off"; do
    rm -f left.mha*
    on_hosts "$fbp" recon large.json -o left.mha -q --size 256 --slab 2 --threads 1 &
    job=$!
    for ((i = 0; i < 2000; i++)); do
        [ "$(slices_of left.mha)" -lt 6 ] || break
        sleep 0.01
    done
    # shellcheck disable=SC2046
    if [ "$end" = dies ]; then
        kill -KILL $(ip netns pids "${space}3")
    else
        ip -n "${space}1" link set to3 down
    fi
    got=0
    wait $job || got=$?
    [ $got -ne 0 ] && [ $got -ne 124 ] && [ $got -ne 137 ] || say "a host $end: status $got"
    [ "$end" = dies ] || grep -q '^fbp: rank 2 on node3 is lost' err || say "a host $end: not said"
    [ ! -e left.mha ] && [ "$(slices_of left.mha)" -gt 0 ] || say "a host $end: nothing to go on with"
    (
        unset OMPI_MCA_plm_rsh_agent OMPI_MCA_btl_tcp_if_include OMPI_MCA_oob_tcp_if_include
        timeout 100 mpirun -n 2 "$fbp" recon large.json -o left.mha -q --size 256 --slab 2 --resume --json >out 2>err
    ) || say "a host $end: two processes do not go on"
    grep -q '"slabs_resumed": *0' out && say "a host $end: nothing was resumed"
    cmp one.mha left.mha || say "a host $end: other bits"
done
exit "$failures"
