/* Loader of the CUDA module: the entry fbp_backend_cuda of the table in backend.c names the
 * module's file, and loads the driver before the module is opened.
 * Used by: backend/backend.c. */
#include "backend/module.h"

#include <dlfcn.h>
#include <stdio.h>

/* Load the driver. Without one the module is not opened: CUDA's runtime crashes if memory runs out
 * while it registers kernels. The driver stays loaded: unloading is not safe. */
static bool has_driver(char *why, size_t n)
{
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL))
        return true;
    snprintf(why, n, "this machine has no NVIDIA driver (libcuda.so.1); install it");
    return false;
}

/* Advice for users if this build has no CUDA module.  A build for Python wheels defines
 * FBP_CUDA_REMEDY, with the name of the package to install. */
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
    .discovery.load = load,
};
