/* Finding and loading the CUDA module, or saying why there is none. */
#include "backend/cuda/module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char NAME[] = "libfbp_cuda.so";

static struct {
    pthread_once_t once;
    const struct fbp_backend *backend;
    char why[300];
} module = {.once = PTHREAD_ONCE_INIT};

/* The module in a folder given relative to the file this code is in: the library or the program. */
static void *open_beside(const char *relative)
{
    char path[4096];
    Dl_info self;

    if (!dladdr(&module, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    const int folder = slash ? (int)(slash - self.dli_fname) + 1 : 0;
    const int n = snprintf(path, sizeof path, "%.*s%s%s%s", folder, self.dli_fname,
                           slash ? "" : "./", relative, NAME);
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *open_module(void)
{
    static const char *const beside[] = {"", "../lib/"};
    void *handle = NULL;

    for (size_t i = 0; !handle && i < sizeof beside / sizeof *beside; i++)
        handle = open_beside(beside[i]);
    return handle ? handle : dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
}

/* Stays loaded: a driver does not like to be unloaded. */
static bool has_driver(void)
{
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != NULL;
}

static void start(void *handle)
{
    static const struct fbp_cuda_host host = {.version = FBP_CUDA_MODULE_VERSION,
                                              .job_size = sizeof(struct fbp_job),
                                              .backend_size = sizeof(struct fbp_backend),
                                              .fail = fbp_fail,
                                              .coordinate = fbp_grid_coordinate,
                                              .weights_separable = fbp_weights_separable,
                                              .weights_image = fbp_weights_image,
                                              .weights_line = fbp_weights_line,
                                              .weights_row = fbp_weights_row,
                                              .weights_rays = fbp_weights_rays,
                                              .weights_view = fbp_weights_view,
                                              .pool_create = fbp_pool_create,
                                              .pool_destroy = fbp_pool_destroy,
                                              .pool_for = fbp_pool_for};
    fbp_cuda_module_fn *entry;

    *(void **)&entry = dlsym(handle, FBP_CUDA_MODULE_SYMBOL); /* as POSIX has it */
    if (entry)
        module.backend = entry(&host, module.why, sizeof module.why);
    else
        snprintf(module.why, sizeof module.why, "%s is not the module of this program: reinstall",
                 NAME);
}

#ifdef FBP_HAS_CUDA_MODULE
enum { BUILT = 1 };
#else
enum { BUILT = 0 };
#endif

/* Without a driver the module is not even opened: CUDA's runtime crashes if memory ends while it
 * registers its kernels. */
static void load_once(void)
{
    const bool driver = has_driver();
    void *handle = driver ? open_module() : NULL;

    if (handle)
        start(handle);
    else if (!BUILT)
        snprintf(module.why, sizeof module.why,
                 "this build has no %s: build with CUDA's nvcc on the path", NAME);
    else if (!driver)
        snprintf(module.why, sizeof module.why,
                 "there is no driver (libcuda.so.1) on this machine: install NVIDIA's");
    else
        snprintf(module.why, sizeof module.why,
                 "the module was not found (%s): install it beside the library", dlerror());
}

static const struct fbp_backend *load(char *why, size_t n)
{
    pthread_once(&module.once, load_once);
    if (!module.backend)
        snprintf(why, n, "%s", module.why);
    return module.backend;
}

const struct fbp_backend fbp_backend_cuda = {
    .name = "cuda",
    .summary = "NVIDIA GPUs",
    .load = load,
};
