/* The names and numbers of cuFFT's interface, which has not changed since CUDA 6.5. */
#include "backend/cuda/cufft.h"

#include "backend/gpu/host.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, C2C = 0x29, FORWARD = -1, INVERSE = 1 };

static struct {
    pthread_once_t once;
    bool found;
    int (*create)(cufft_plan *);
    int (*set_auto_allocation)(cufft_plan, int);
    int (*make_plan_many)(cufft_plan, int rank, int *n, int *inembed, int istride, int idist,
                          int *onembed, int ostride, int odist, int type, int batch,
                          size_t *work_bytes);
    int (*set_work_area)(cufft_plan, void *);
    int (*set_stream)(cufft_plan, cudaStream_t);
    int (*exec_c2c)(cufft_plan, float2 *, float2 *, int direction);
    int (*destroy)(cufft_plan);
} fft = {.once = PTHREAD_ONCE_INIT};

static void *open_below(const char *root, const char *folder, const char *name)
{
    char path[4096];
    const int n = snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Of pip's packages, where this module is site-packages/libfbp/lib/libfbp_cuda.so. */
static void *open_of_pip(void)
{
    static const char *const files[] = {"cu13/lib/libcufft.so.12", "cufft/lib/libcufft.so.12",
                                        "cufft/lib/libcufft.so.11"};
    char own[4096];
    void *handle = NULL;
    Dl_info self;

    if (!dladdr(&fft, &self) || !self.dli_fname ||
        snprintf(own, sizeof own, "%s", self.dli_fname) >= (int)sizeof own)
        return NULL;
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && !handle && i < sizeof files / sizeof *files; i++)
        handle = open_below(own, "../../nvidia", files[i]);
    return handle;
}

static void *open_library(void)
{
    static const char *const names[] = {"libcufft.so.12", "libcufft.so.11"};
    static const char *const folders[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                          "targets/sbsa-linux/lib"};
    const char *const roots[] = {gpu_host->environment(FBP_ENV_CUDA_HOME),
                                 gpu_host->environment(FBP_ENV_CUDA_PATH), "/usr/local/cuda",
                                 "/opt/cuda"};
    static const size_t N_NAMES = 2, N_FOLDERS = 4, N_ROOTS = 4;
    void *handle = NULL;

    for (size_t i = 0; !handle && i < N_NAMES; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !handle && i < N_NAMES * N_FOLDERS * N_ROOTS; i++) {
        const char *root = roots[i / N_FOLDERS % N_ROOTS];
        if (root && root[0])
            handle = open_below(root, folders[i % N_FOLDERS], names[i / (N_FOLDERS * N_ROOTS)]);
    }
    return handle ? handle : open_of_pip();
}

static void find_once(void)
{
    const struct {
        const char *name;
        void *function;
    } names[] = {
        {"cufftCreate", &fft.create},
        {"cufftSetAutoAllocation", &fft.set_auto_allocation},
        {"cufftMakePlanMany", &fft.make_plan_many},
        {"cufftSetWorkArea", &fft.set_work_area},
        {"cufftSetStream", &fft.set_stream},
        {"cufftExecC2C", &fft.exec_c2c},
        {"cufftDestroy", &fft.destroy},
    };
    void *handle = open_library();

    fft.found = handle != NULL;
    for (size_t i = 0; fft.found && i < sizeof names / sizeof *names; i++) {
        *(void **)names[i].function = dlsym(handle, names[i].name);
        fft.found = *(void **)names[i].function != NULL;
    }
}

bool cuda_fft_found(void)
{
    pthread_once(&fft.once, find_once);
    return fft.found;
}

static fbp_status check(int result, const char *call)
{
    enum { ALLOC_FAILED = 2 };

    if (result == SUCCESS)
        return FBP_OK;
    if (result == ALLOC_FAILED)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "cuda: %s: no device memory is left: lower --device-memory, or "
                              "close other programs that use the device",
                              call);
    return gpu_host->fail(FBP_ERR_DEVICE,
                          "cuda: %s failed with code %d: use --spatial, which does without cuFFT",
                          call, result);
}

#define FFT_TRY(call) FBP_TRY(check((call), #call))

fbp_status cuda_fft_create(cufft_plan *out, size_t n, size_t rows, size_t *work_bytes)
{
    int length = (int)n;

    *out = CUFFT_NO_PLAN;
    if (n > INT_MAX / 2 || rows > INT_MAX / 2)
        return gpu_host->fail(FBP_ERR_UNSUPPORTED, "cuda: no transform of %zu points", n);
    FFT_TRY(fft.create(out));
    FFT_TRY(fft.set_auto_allocation(*out, 0));
    FFT_TRY(fft.make_plan_many(*out, 1, &length, NULL, 1, length, NULL, 1, length, C2C, (int)rows,
                               work_bytes));
    return FBP_OK;
}

void cuda_fft_destroy(cufft_plan *plan)
{
    if (*plan != CUFFT_NO_PLAN)
        (void)fft.destroy(*plan);
    *plan = CUFFT_NO_PLAN;
}

fbp_status cuda_fft_place(cufft_plan plan, void *work, cudaStream_t stream)
{
    FFT_TRY(fft.set_work_area(plan, work));
    FFT_TRY(fft.set_stream(plan, stream));
    return FBP_OK;
}

fbp_status cuda_fft_run(cufft_plan plan, float2 *rows, bool inverse)
{
    FFT_TRY(fft.exec_c2c(plan, rows, rows, inverse ? INVERSE : FORWARD));
    return FBP_OK;
}
