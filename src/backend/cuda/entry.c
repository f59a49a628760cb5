/* The entry of the module: finding and opening NVIDIA GPUs; its backend. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/links.h"
#include "backend/gpu/gpu_bytes.h"
#include "backend/gpu/gpu_cards.h"

#include "backend/rows.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 64, LEAST_CAPABILITY = 75 };

/* Found when the module is loaded. */
static struct {
    int n, ordinal[MOST_DEVICES];
    char isa[4][24]; /* by precision - 1, of the first device */
} found;

int cuda_ordinal(int index)
{
    return found.ordinal[index];
}

static int count(char *why, size_t n)
{
    if (found.n == 0)
        snprintf(why, n, "there is no device of compute capability %d.%d or later",
                 LEAST_CAPABILITY / 10, LEAST_CAPABILITY % 10);
    return found.n;
}

/* Release of the driver, as the management library that comes with it tells, and its CUDA. */
static void describe_driver(char *out, size_t n)
{
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*start)(void) = NULL, (*stop)(void) = NULL, (*version)(char *, unsigned) = NULL;
    char release[40] = "";
    int cuda = 0;

    if (nvml) {
        *(void **)&start = dlsym(nvml, "nvmlInit_v2"); /* as POSIX has it */
        *(void **)&stop = dlsym(nvml, "nvmlShutdown");
        *(void **)&version = dlsym(nvml, "nvmlSystemGetDriverVersion");
        if (start && stop && version && start() == 0) {
            if (version(release, sizeof release) != 0)
                release[0] = '\0';
            (void)stop();
        }
        dlclose(nvml);
    }
    if (cudaDriverGetVersion(&cuda) == cudaSuccess)
        snprintf(out, n, "%s%sCUDA %d.%d", release, release[0] ? ", " : "", cuda / 1000,
                 cuda % 1000 / 10);
}

static void describe(int index, struct fbp_device_info *out)
{
    struct cudaDeviceProp p;
    size_t available = 0, total = 0;

    if (cudaGetDeviceProperties(&p, found.ordinal[index]) != cudaSuccess)
        return;
    snprintf(out->text, sizeof out->text, "%.100s, sm_%d%d, %d multiprocessors", p.name, p.major,
             p.minor, p.multiProcessorCount);
    describe_driver(out->driver, sizeof out->driver);
    cuda_bus_of(found.ordinal[index], out->bus_id);
    out->numa_node = gpu_host->numa_node(FBP_SYS, out->bus_id);
    out->memory_bytes = p.totalGlobalMem;
    if (cudaSetDevice(found.ordinal[index]) == cudaSuccess &&
        cudaMemGetInfo(&available, &total) == cudaSuccess)
        out->free_bytes = available;
}

static bool choose(struct fbp_job *job, const char *name)
{
    const struct gpu_kernel *k = cuda_kernel_find(job, name);

    if (!k)
        return false;
    gpu_kernel_take(k, found.isa[k->precision - 1], job);
    return true;
}

static void remark(const struct fbp_job *job, char *line, size_t n)
{
    gpu_remark_precision(job, line, n);
    if (!job->filtered && !gpu_wants_space(job) && gpu_way_of(job, &cuda_offer) == GPU_IN_SPACE)
        gpu_remark_add(line, n,
                       "cuFFT was not found: rows are filtered in space, which is slower; "
                       "LD_LIBRARY_PATH may name its folder");
    if (gpu_tuner_is_due(gpu_kernel_of(job), job, found.ordinal[0], &cuda_timer))
        gpu_remark_add(line, n,
                       "this run times the kernel's shapes and keeps the fastest in ~/.cache/fbp; "
                       "with FBP_TUNE=0 none does");
}

/* Of an H200 on its bus; those of others are of the same proportions. */
static void rates(const struct fbp_job *job, struct fbp_rates *out)
{
    gpu_rates(gpu_card_at(0), job, out);
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    return gpu_fixed_bytes(job, &cuda_offer);
}

static void close_device(fbp_device **device)
{
    struct cuda_device *dev = cuda_of(*device);

    if (!dev)
        return;
    (void)cudaSetDevice(dev->index);
    gpu_tuner_close(&dev->tuner);
    cuda_trials_close(dev);
    cuda_filter_close(dev);
    cuda_stamps_close(dev);
    cuda_streams_close(dev);
    if (dev->memory)
        (void)cudaFree(dev->memory);
    free(dev->principal);
    free(dev);
    *device = NULL;
}

static fbp_status build(struct cuda_device *dev)
{
    CUDA_TRY(cudaSetDevice(dev->index));
    gpu_tables_lay_out(dev->job, &cuda_offer, &dev->tables);
    CUDA_TRY(cudaMalloc((void **)&dev->memory, dev->tables.bytes));
    CUDA_TRY(cudaMemset(dev->memory, 0, dev->tables.bytes));
    FBP_TRY(cuda_streams_open(dev));
    gpu_tuner_open(&dev->tuner, &dev->kernel->gpu, dev->job, dev->index, &cuda_timer, dev);
    FBP_TRY(gpu_find_principal(dev->job, "cuda", &dev->principal));
    FBP_TRY(cuda_filter_open(dev));
    struct fbp_statistics none;
    FBP_TRY(cuda_statistics((fbp_device *)(void *)dev, &none)); /* begins anew */
    CUDA_TRY(cudaDeviceSynchronize()); /* copies of tables may still be on their way */
    return FBP_OK;
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    struct cuda_device *dev = calloc(1, sizeof *dev);

    *out = NULL;
    if (!dev)
        return gpu_host->fail(FBP_ERR_NOMEM, "cuda: cannot allocate %zu bytes", sizeof *dev);
    *out = (fbp_device *)(void *)dev;
    dev->job = job;
    dev->index = found.ordinal[index];
    dev->node = cuda_node_of(dev->index);
    dev->kernel = cuda_kernel_of(job);
    dev->plan = CUFFT_NO_PLAN;
    cuda_stamps_open(dev);
    const fbp_status st = build(dev);
    if (st != FBP_OK)
        close_device(out);
    return st;
}

/* Of the devices that are listed. */
static int far_owner(const void *memory, size_t bytes)
{
    const int ordinal = cuda_far_owner(memory, bytes);

    for (int i = 0; i < found.n; i++)
        if (found.ordinal[i] == ordinal)
            return i;
    return -1;
}

static fbp_status far_open(int index, void *queue, struct fbp_far **out)
{
    return cuda_far_open(found.ordinal[index], queue, out);
}

static fbp_status far_alloc(int index, size_t bytes, void **out)
{
    return cuda_far_alloc(found.ordinal[index], bytes, out);
}

static void far_release(int index, void *memory)
{
    cuda_far_release(found.ordinal[index], memory);
}

static const struct fbp_far_access far_access = {
    far_owner,           far_open,  cuda_far_queue, cuda_far_wait,
    cuda_far_drop_queue, far_alloc, far_release};

static fbp_status upload(fbp_device *device, void *dst, const void *src, size_t n_samples)
{
    const struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaMemcpyAsync(dst, src, n_samples * fbp_raw_size(dev->job), cudaMemcpyHostToDevice,
                             dev->streams[FBP_STAGE_IN].stream));
    return FBP_OK;
}

static fbp_status upload_pieces(fbp_device *device, void *dst, const void *src, size_t n,
                                size_t n_samples, size_t stride)
{
    const struct cuda_device *dev = cuda_of(device);
    const size_t size = fbp_raw_size(dev->job), bytes = n_samples * size;

    CUDA_TRY(cudaSetDevice(dev->index));
    if (n_samples == stride) { /* whole views, one run */
        CUDA_TRY(cudaMemcpyAsync(dst, src, n * bytes, cudaMemcpyDefault,
                                 dev->streams[FBP_STAGE_IN].stream));
        return FBP_OK;
    }
    CUDA_TRY(cudaMemcpy2DAsync(dst, bytes, src, stride * size, bytes, n, cudaMemcpyDefault,
                               dev->streams[FBP_STAGE_IN].stream));
    return FBP_OK;
}

static bool identify(int index, char *out, size_t n)
{
    return cuda_link_identify(found.ordinal[index], out, n);
}

static void peer(int from, int to, struct fbp_peer *out)
{
    cuda_link_peer(found.ordinal[from], found.ordinal[to], out);
}

static fbp_status open_links(void **out, const int *devices, size_t n)
{
    int ordinals[FBP_MOST_LINKED];

    for (size_t i = 0; i < n; i++)
        ordinals[i] = found.ordinal[devices[i]];
    return cuda_link_open(out, ordinals, n);
}

static const struct fbp_link_meter links = {.host_bytes = CUDA_LINK_HOST_BYTES,
                                            .device_bytes = CUDA_LINK_DEVICE_BYTES,
                                            .identify = identify,
                                            .peer = peer,
                                            .open = open_links,
                                            .close = cuda_link_close,
                                            .connect = cuda_link_connect,
                                            .rate = cuda_link_rate};

static const struct fbp_backend backend = {
    .name = "cuda",
    .summary = "NVIDIA GPUs",
    .count = count,
    .describe = describe,
    .has_precisions = true,
    .remark = remark,
    .choose = choose,
    .filtered_bytes = gpu_filtered_bytes,
    .volume_bytes = gpu_volume_bytes,
    .fixed_bytes = fixed_bytes,
    .group_views = GPU_GROUP_VIEWS,
    .takes_counts = true,
    .oversamples = true,
    .frames = true,
    .doubles = true,
    .any_filter = true,
    .interpolations = 1u << FBP_INTERPOLATION_NEAREST | 1u << FBP_INTERPOLATION_CUBIC,
    .most_staying = GPU_MOST_LAYERS,
    .rates = rates,
    .far = &far_access,
    .open = open_device,
    .close = close_device,
    .host_alloc = cuda_host_alloc,
    .host_release = cuda_host_release,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .reaches = cuda_reaches,
    .upload = upload,
    .upload_pieces = upload_pieces,
    .filter = cuda_filter,
    .filter_rows = cuda_filter_plain,
    .download = cuda_download,
    .share = cuda_share,
    .clear = cuda_clear,
    .backproject = cuda_backproject,
    .fetch = cuda_fetch,
    .statistics = cuda_statistics,
    .mark = cuda_mark,
    .after = cuda_after,
    .wait = cuda_wait,
    .stamp = cuda_stamp,
    .stamped = cuda_stamped,
    .expect = cuda_expect,
    .counts = cuda_counts,
    .links = &links,
};

/* The devices that this module has code for. */
static void find_devices(int n)
{
    static const char *const precisions[] = {"exact", "fast", "half", "double"};

    for (int i = 0; i < n && found.n < MOST_DEVICES; i++) {
        int major = 0, minor = 0;
        if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i) != cudaSuccess ||
            cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, i) != cudaSuccess ||
            10 * major + minor < LEAST_CAPABILITY)
            continue;
        for (int p = 0; found.n == 0 && p < 4; p++)
            snprintf(found.isa[p], sizeof found.isa[p], "sm_%d%d %s", major, minor, precisions[p]);
        found.ordinal[found.n++] = i;
    }
}

FBP_API fbp_module_fn fbp_cuda_module;

const struct fbp_backend *fbp_cuda_module(const struct fbp_module_host *host, char *why, size_t n)
{
    int driver = 0, devices = 0;

    if (!fbp_module_fits(host)) {
        snprintf(why, n, "libfbp_cuda.so is of another version than this library: reinstall both");
        return NULL;
    }
    gpu_host = host;
    cudaError_t error = cudaDriverGetVersion(&driver);
    if (error == cudaSuccess && driver / 1000 < CUDART_VERSION / 1000) {
        snprintf(why, n, "the driver is for CUDA %d.%d, the module needs %d.0 or later: update it",
                 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000);
        return NULL;
    }
    if (error == cudaSuccess)
        error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess && error != cudaErrorNoDevice) {
        snprintf(why, n, "the driver says: %s: see whether nvidia-smi lists a device",
                 cudaGetErrorString(error));
        return NULL;
    }
    find_devices(devices);
    return &backend;
}
