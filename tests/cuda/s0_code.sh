#!/bin/sh
# s0_code.sh FILE: in the machine code of every capability, the proposed step of Okitsu 2008 (I = 3,
# J = 2) loads and stores a voxel twice, with six fetches before the first store; merged, once.
grep -q backproject "$1" || exit 77 # PTX only, or no cuobjdump
# check FILE KERNEL "FETCHES, THOSE BEFORE THE FIRST STORE, LOADS, STORES"
check() {
    of_kernel=$(grep "$2" "$1")
    [ "$(echo "$of_kernel" | wc -l)" -eq "$(grep -c convolve_row "$1")" ] || exit 1
    ! echo "$of_kernel" | grep -v ", $3},\$" || exit 1
}
check "$1" 'ILb1ELi3ELb1ELb1ELi2ELb0EE' '6, 6, 2, 2'
check "$1" 'ILb1ELi3ELb1ELb1ELi2ELb1EE' '6, 6, 1, 1'
check "$1" 'ILb1ELi3ELb1ELb1ELi1ELb0EE' '3, 3, 1, 1'
