# shellcheck shell=bash
# What the tests by mpirun share.  Skipped (77) without Open MPI or without the module.
find_mpi() { # module
    command -v mpirun >/dev/null && mpirun --version 2>/dev/null | grep -q 'Open MPI' || {
        echo "there is no mpirun of Open MPI (Debian: openmpi-bin)"
        exit 77
    }
    [ -e "$1" ] || { echo "the module $1 is not built (Debian: libopenmpi-dev)"; exit 77; }
    # Of few cores, as root, without a network.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
}
# How many runs of slices the journals of an output name.
slices_of() { cat "$1".part.log* 2>/dev/null | grep -acE '^[0-9]+ [0-9]+ [0-9a-f]{16}$'; }
