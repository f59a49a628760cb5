#include "base/environment.h"

#include <stdlib.h>

static const struct {
    const char *name, *meaning;
} variables[FBP_N_VARIABLES] = {
    [FBP_ENV_KERNEL] = {"FBP_KERNEL", "the kernel to take where --kernel names none and the scan "
                                      "allows it"},
    [FBP_ENV_CPU] = {"FBP_CPU", "c, avx2: no later instructions of the CPU than these"},
    [FBP_ENV_FFT] = {"FBP_FFT", "cufft: a CUDA device filters with cuFFT, whatever the length of rows"},
    [FBP_ENV_SHAPE] = {"FBP_SHAPE", "the number of the shape that a GPU's kernel takes"},
    [FBP_ENV_TUNE] = {"FBP_TUNE", "0: measure nothing that is kept: a GPU's shapes, links, speed"},
    [FBP_ENV_GL_SHADERS] = {"FBP_GL_SHADERS", "folder of texts NAME.glsl for those of --device gl"},
    [FBP_ENV_GL_BLOCK] = {"FBP_GL_BLOCK", "bytes of a storage block, fewer than --device gl has"},
    [FBP_ENV_GL_CONTEXTS] = {"FBP_GL_CONTEXTS",
                             "1: --device gl copies and computes in one context"},
    [FBP_ENV_CUDA_HOME] = {"CUDA_HOME", "where CUDA is installed, to find cuFFT"},
    [FBP_ENV_CUDA_PATH] = {"CUDA_PATH", "the same, by its other name"},
    [FBP_ENV_CACHE] = {"XDG_CACHE_HOME", "folder of what is kept from run to run"},
    [FBP_ENV_HOME] = {"HOME", "its .cache where that is not set"},
    [FBP_ENV_HDF5_PREFIX] = {"HDF5_VDS_PREFIX", "folders of the files that an HDF5 file refers to"},
    [FBP_ENV_TEAM_MODULE] = {"FBP_TEAM_MODULE", "path of the module that carries messages between "
                                                "processes, in place of libfbp_mpi.so"},
    [FBP_ENV_MPI_SIZE] = {"OMPI_COMM_WORLD_SIZE", "how many processes mpirun has started"},
    [FBP_ENV_PMIX_RANK] = {"PMIX_RANK", "started by srun --mpi=pmix"},
    [FBP_ENV_PMI_RANK] = {"PMI_RANK", "started by another MPI's launcher"},
    [FBP_ENV_PMI_SIZE] = {"PMI_SIZE", "with how many"},
    [FBP_ENV_SLURM_TASKS] = {"SLURM_STEP_NUM_TASKS", "how many processes srun has started"},
    [FBP_ENV_RATES] = {"FBP_RATES", "what processes that compute together choose their grid by, in "
                                    "words such as net=25GB/s: gups, filter, net, disk, read, write"},
    [FBP_ENV_STRIPE] = {"FBP_STRIPE", "bytes of the output that one process of several writes to, "
                                      "where the file system does not tell its stripes"},
    [FBP_ENV_CHUNK] = {"FBP_CHUNK", "the longest side of a chunk of OME-Zarr in voxels, an even "
                                    "number up to 512; 64 if it is not set"},
};

const char *fbp_environment(enum fbp_variable variable)
{
    return getenv(variables[variable].name);
}
