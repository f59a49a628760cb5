/* The CUDA module, for the library: which file, and what must be there before it is opened. */
#include "backend/module.h"

#include <dlfcn.h>
#include <stdio.h>

/* Without a driver the module is not even opened: CUDA's runtime crashes if memory ends while it
 * registers its kernels.  The driver stays loaded: it does not like to be unloaded. */
static bool has_driver(char *why, size_t n)
{
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL))
        return true;
    snprintf(why, n, "there is no driver (libcuda.so.1) on this machine: install NVIDIA's");
    return false;
}

/* Where it is to be had, unless this build has it; a build for wheels names the package. */
#ifdef FBP_CUDA_REMEDY
enum { PACKAGED = true };
#else
#    define FBP_CUDA_REMEDY "build with CUDA's nvcc on the path"
enum { PACKAGED = false };
#endif

static struct fbp_module module = {.file = "libfbp_cuda.so",
                                   .symbol = "fbp_cuda_module",
#ifndef FBP_HAS_CUDA_MODULE
                                   .remedy = FBP_CUDA_REMEDY,
                                   .packaged = PACKAGED,
#endif
                                   .may_open = has_driver};

static const struct fbp_backend *load(char *why, size_t n)
{
    return fbp_module_load(&module, why, n);
}

const struct fbp_backend fbp_backend_cuda = {
    .name = "cuda",
    .summary = "NVIDIA GPUs",
    .load = load,
};
