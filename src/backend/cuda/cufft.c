/* Loads NVIDIA's library of Fourier transforms, cuFFT, at run time, and calls it
 * (cuda_fft_create(), cuda_fft_run()): for the filter of rows that are too long for the filter in
 * one launch (chain.cu). No header of cuFFT is included; the names and numbers below are those of
 * its interface.
 * Used by: entry.c, filter.c. */
#include "backend/cuda/cuda.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, C2C = 0x29, FORWARD = -1, INVERSE = 1 };

static struct {
    pthread_once_t once;
    bool found;
    int (*create)(cuda_fft_plan *);
    int (*set_auto_allocation)(cuda_fft_plan, int);
    int (*make_plan_many)(cuda_fft_plan, int rank, int *n, int *inembed, int istride, int idist,
                          int *onembed, int ostride, int odist, int type, int batch,
                          size_t *work_bytes);
    int (*set_work_area)(cuda_fft_plan, void *);
    int (*set_stream)(cuda_fft_plan, cudaStream_t);
    int (*exec_c2c)(cuda_fft_plan, float2 *, float2 *, int direction);
    int (*destroy)(cuda_fft_plan);
} fft = {.once = PTHREAD_ONCE_INIT};

static void *open_below(const char *root, const char *folder, const char *name)
{
    char path[4096];
    const int n = snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Open the cuFFT library and find its functions, once per process: on the loader's default path,
 * below CUDA_HOME, CUDA_PATH, /usr/local/cuda, /opt/cuda, in packages of pip. */
static void find_library(void)
{
    static const char *const names[] = {"libcufft.so.12", "libcufft.so.11"};
    static const char *const folders[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                          "targets/sbsa-linux/lib"};
    static const char *const pip_files[] = {"cu13/lib/libcufft.so.12", "cufft/lib/libcufft.so.12",
                                            "cufft/lib/libcufft.so.11"};
    const char *const roots[] = {gpu_host->environment(FBP_ENV_CUDA_HOME),
                                 gpu_host->environment(FBP_ENV_CUDA_PATH), "/usr/local/cuda",
                                 "/opt/cuda"};
    static const size_t N_NAMES = sizeof names / sizeof *names, N_FOLDERS = 4, N_ROOTS = 4,
                        N_PIP = 3;
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"cufftCreate", &fft.create},
        {"cufftSetAutoAllocation", &fft.set_auto_allocation},
        {"cufftMakePlanMany", &fft.make_plan_many},
        {"cufftSetWorkArea", &fft.set_work_area},
        {"cufftSetStream", &fft.set_stream},
        {"cufftExecC2C", &fft.exec_c2c},
        {"cufftDestroy", &fft.destroy},
    };
    char own[4096];
    void *handle = NULL;
    Dl_info self;

    for (size_t i = 0; !handle && i < N_NAMES; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !handle && i < N_NAMES * N_FOLDERS * N_ROOTS; i++) {
        const char *root = roots[i / N_FOLDERS % N_ROOTS];
        if (root && root[0])
            handle = open_below(root, folders[i % N_FOLDERS], names[i / (N_FOLDERS * N_ROOTS)]);
    }
    /* Search in pip's packages nvidia/…, beside the package of this module: if pip installed the
     * module, it is site-packages/libfbp/lib/libfbp_cuda.so. */
    if (!handle && dladdr(&fft, &self) && self.dli_fname &&
        snprintf(own, sizeof own, "%s", self.dli_fname) < (int)sizeof own) {
        char *slash = strrchr(own, '/');
        if (slash)
            *slash = '\0';
        for (size_t i = 0; slash && !handle && i < N_PIP; i++)
            handle = open_below(own, "../../nvidia", pip_files[i]);
    }
    fft.found = handle != NULL;
    for (size_t i = 0; fft.found && i < sizeof functions / sizeof *functions; i++) {
        *(void **)functions[i].function = dlsym(handle, functions[i].name);
        fft.found = *(void **)functions[i].function != NULL;
    }
}

bool cuda_fft_found(void)
{
    pthread_once(&fft.once, find_library);
    return fft.found;
}

static fbp_status check(int result, const char *call)
{
    enum { ALLOC_FAILED = 2 };

    if (result == SUCCESS)
        return FBP_OK;
    if (result == ALLOC_FAILED)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "cuda: %s: out of device memory; lower --device-memory, or close "
                              "other programs that use the device",
                              call);
    return gpu_host->fail(FBP_ERR_DEVICE,
                          "cuda: %s failed with code %d; use --spatial, which needs no cuFFT", call,
                          result);
}

#define FFT_TRY(call) FBP_TRY(check((call), #call))

fbp_status cuda_fft_create(cuda_fft_plan *out, size_t n, size_t rows, size_t *work_bytes)
{
    int length = (int)n;

    *out = CUDA_NO_FFT;
    if (n > INT_MAX / 2 || rows > INT_MAX / 2)
        return gpu_host->fail(
            FBP_ERR_UNSUPPORTED,
            "cuda: %zu rows of %zu points are too many for an FFT plan; use --spatial", rows, n);
    FFT_TRY(fft.create(out));
    FFT_TRY(fft.set_auto_allocation(*out, 0));
    FFT_TRY(fft.make_plan_many(*out, 1, &length, NULL, 1, length, NULL, 1, length, C2C, (int)rows,
                               work_bytes));
    return FBP_OK;
}

void cuda_fft_destroy(cuda_fft_plan *plan)
{
    if (*plan != CUDA_NO_FFT)
        (void)fft.destroy(*plan);
    *plan = CUDA_NO_FFT;
}

fbp_status cuda_fft_place(cuda_fft_plan plan, void *work, cudaStream_t stream)
{
    FFT_TRY(fft.set_work_area(plan, work));
    FFT_TRY(fft.set_stream(plan, stream));
    return FBP_OK;
}

fbp_status cuda_fft_run(cuda_fft_plan plan, float2 *rows, bool inverse)
{
    FFT_TRY(fft.exec_c2c(plan, rows, rows, inverse ? INVERSE : FORWARD));
    return FBP_OK;
}
