/* The entry of the CUDA module, fbp_cuda_module(), which the library calls (backend/module.h):
 * list of devices, choice of a kernel, opening of a device, the backend's table of functions, and
 * cuda_failed(), by which the other C files report failed CUDA calls.
 * Used by: bench/cuda/, backend/cuda/. */
#define FBP_CUDA_ENTRY_C
#include "backend/cuda/cuda.h"

#include "backend/rows.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TENSOR_CAPABILITY: least capability for kernels "parallel" and
 * "hierarchical" (m16n8k16 products of fp16) */
enum { MOST_DEVICES = 64, LEAST_CAPABILITY = 75, TENSOR_CAPABILITY = 80 };

/* The usable devices, found when the module is loaded. */
static struct {
    int n, ordinal[MOST_DEVICES];
    /* [precision - 1]: architecture of the first device, and precision, such as "sm_90 exact"; a
     * run is resumed only if this text is the same */
    char isa[4][24];
} found;

/* The kernels that all devices can run, fastest first. */
static const struct gpu_kernel *kernels[GPU_N_KNOWN + 1];

const struct cuda_kernel *cuda_kernels_by_name;

fbp_status cuda_failed(cudaError_t error, const char *call)
{
    const int name = (int)strcspn(call, "(");
    const char *text = cudaGetErrorString(error);

    (void)cudaGetLastError(); /* recoverable errors are cleared */
    if (error == cudaErrorMemoryAllocation)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "cuda: %.*s: %s; lower --device-memory or --batch, or close other "
                              "programs that use the device",
                              name, call, text);
    return gpu_host->fail(
        FBP_ERR_DEVICE,
        "cuda: %.*s: %s; check whether nvidia-smi lists the device, try again, or use --device cpu",
        name, call, text);
}

int cuda_ordinal(int index)
{
    return found.ordinal[index];
}

int cuda_memory_index(const void *memory, size_t bytes)
{
    const int ordinal = cuda_memory_owner(memory, bytes);

    for (int i = 0; i < found.n; i++)
        if (found.ordinal[i] == ordinal)
            return i;
    return -1;
}

void cuda_bus_of(int ordinal, char out[CUDA_BUS_ID])
{
    if (cudaDeviceGetPCIBusId(out, CUDA_BUS_ID, ordinal) != cudaSuccess) {
        (void)cudaGetLastError();
        out[0] = '\0';
    }
    for (char *c = out; *c; c++)
        *c = (char)tolower((unsigned char)*c); /* lower case, as in sysfs */
}

int cuda_node_of(int ordinal)
{
    char bus_id[CUDA_BUS_ID];

    cuda_bus_of(ordinal, bus_id);
    return gpu_host->numa_near(FBP_SYS, bus_id);
}

static int count(char *why, size_t n)
{
    if (found.n == 0)
        snprintf(why, n, "no GPU of compute capability %d.%d or later was found",
                 LEAST_CAPABILITY / 10, LEAST_CAPABILITY % 10);
    return found.n;
}

static char driver_release[40]; /* such as "580.159.04"; "": unknown */

/* Read the release of the driver; called once per process. */
static void find_release(void)
{
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL); /* comes with the driver */
    int (*start)(void) = NULL, (*stop)(void) = NULL, (*version)(char *, unsigned) = NULL;

    if (!nvml)
        return;
    *(void **)&start = dlsym(nvml, "nvmlInit_v2"); /* the form of cast that POSIX recommends */
    *(void **)&stop = dlsym(nvml, "nvmlShutdown");
    *(void **)&version = dlsym(nvml, "nvmlSystemGetDriverVersion");
    if (start && stop && version && start() == 0) {
        if (version(driver_release, sizeof driver_release) != 0)
            driver_release[0] = '\0';
        (void)stop();
    }
    dlclose(nvml);
}

static void describe(int index, struct fbp_device_info *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const int ordinal = found.ordinal[index];
    struct cudaDeviceProp p;
    size_t available = 0, total = 0;
    int cuda = 0;

    (void)pthread_once(&once, find_release);
    if (cudaGetDeviceProperties(&p, ordinal) != cudaSuccess)
        return;
    snprintf(out->text, sizeof out->text, "%.100s, sm_%d%d, %d multiprocessors", p.name, p.major,
             p.minor, p.multiProcessorCount);
    if (cudaDriverGetVersion(&cuda) == cudaSuccess)
        snprintf(out->driver, sizeof out->driver, "%s%sCUDA %d.%d", driver_release,
                 driver_release[0] ? ", " : "", CUDA_MAJOR(cuda), CUDA_MINOR(cuda));
    cuda_bus_of(ordinal, out->bus_id);
    out->numa_node = gpu_host->numa_node(FBP_SYS, out->bus_id);
    out->memory_bytes = p.totalGlobalMem;
    if (cudaSetDevice(ordinal) == cudaSuccess && cudaMemGetInfo(&available, &total) == cudaSuccess)
        out->free_bytes = available;
}

/* Select the fastest usable kernel or, if `name` is not NULL, the kernel of this name (member
 * `choose` of the backend).  Kernels of publications are selected only by name. */
static bool choose(struct fbp_job *job, const char *name)
{
    const struct gpu_kernel *k = gpu_kernel_find(kernels, job, name);
    const struct cuda_kernel *at = name ? cuda_kernels_by_name : NULL;

    for (; !k && at && at->gpu.name; at++)
        if (strcmp(name, at->gpu.name) == 0 && gpu_kernel_suits(&at->gpu, job))
            k = &at->gpu;
    if (!k)
        return false;
    gpu_kernel_select(k, found.isa[k->precision - 1], job);
    return true;
}

static void remark(const struct fbp_job *job, char *line, size_t n)
{
    gpu_remark_precision(job, line, n);
    if (!job->input.filtered && !gpu_needs_spatial_filter(job) &&
        gpu_filter_method_of(job, &cuda_offer) == GPU_FILTER_SPATIAL)
        gpu_remark_add(line, n,
                       "cuFFT was not found, so rows are filtered by convolution, which is slower; "
                       "add the folder of cuFFT to LD_LIBRARY_PATH");
    const struct gpu_kernel *other =
        job->precision == FBP_PRECISION_HALF ? gpu_kernel_find(kernels, job, "hierarchical") : NULL;
    if (other && !gpu_kernel_of(job)->decimates &&
        other->symmetric_views >= gpu_kernel_of(job)->symmetric_views)
        gpu_remark_add(
            line, n,
            "--kernel hierarchical is usually faster for this scan, but less accurate at "
            "sharp edges");
    if (gpu_tuner_is_due(gpu_kernel_of(job), job, found.ordinal[0], &cuda_timer))
        gpu_remark_add(line, n,
                       "this run measures the fastest kernel configuration and stores it in "
                       "~/.cache/fbp; FBP_TUNE=0 disables this");
}

/* Rates from the first card of gpu/cards.c, an H200 (member `rates` of the backend): only ratios of
 * rates matter, and are assumed to be the same for other devices. */
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
    cuda_images_close(dev);
    cuda_fft_destroy(&dev->plan);
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
    FBP_TRY(cuda_images_open(dev));
    FBP_TRY(cuda_filter_open(dev));
    struct fbp_statistics none;
    FBP_TRY(cuda_statistics((fbp_device *)(void *)dev, &none)); /* resets them */
    CUDA_TRY(cudaDeviceSynchronize());                          /* waits for copies of tables */
    return FBP_OK;
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    struct cuda_device *dev = calloc(1, sizeof *dev);

    *out = NULL;
    if (!dev)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "cuda: cannot allocate %zu bytes; close other programs", sizeof *dev);
    *out = (fbp_device *)(void *)dev;
    dev->job = job;
    dev->index = found.ordinal[index];
    dev->node = cuda_node_of(dev->index);
    dev->kernel = cuda_kernel_of(job);
    dev->plan = CUDA_NO_FFT;
    pthread_mutex_init(&dev->timestamps.lock, NULL);
    const fbp_status st = build(dev);
    if (st != FBP_OK)
        close_device(out);
    return st;
}

static fbp_status upload_pieces(fbp_device *device, void *dst, const void *src, size_t n,
                                size_t n_samples, size_t stride)
{
    const struct cuda_device *dev = cuda_of(device);
    const size_t size = fbp_raw_size(dev->job), bytes = n_samples * size;

    CUDA_TRY(cudaSetDevice(dev->index));
    if (n_samples == stride) { /* whole views */
        CUDA_TRY(cudaMemcpyAsync(dst, src, n * bytes, cudaMemcpyDefault,
                                 dev->streams[FBP_STAGE_IN].stream));
        return FBP_OK;
    }
    CUDA_TRY(cudaMemcpy2DAsync(dst, bytes, src, stride * size, bytes, n, cudaMemcpyDefault,
                               dev->streams[FBP_STAGE_IN].stream));
    return FBP_OK;
}

static fbp_status upload(fbp_device *device, void *dst, const void *src, size_t n_samples)
{
    return upload_pieces(device, dst, src, 1, n_samples, n_samples);
}

static bool identify(int index, char *out, size_t n)
{
    return cuda_link_identify(found.ordinal[index], out, n);
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
                                            .open = open_links,
                                            .close = cuda_link_close,
                                            .connect = cuda_link_connect,
                                            .rate = cuda_link_rate};

static const struct fbp_backend backend = {
    .name = "cuda",
    .summary = "NVIDIA GPUs",
    .discovery.count = count,
    .discovery.describe = describe,
    .can = {GPU_CAPABILITIES, .doubles = true},
    .remark = remark,
    .choose = choose,
    .filtered_bytes = gpu_filtered_bytes,
    .volume_bytes = gpu_volume_bytes,
    .fixed_bytes = fixed_bytes,
    .rates = rates,
    .memory.of_caller = &cuda_device_memory,
    .open = open_device,
    .close = close_device,
    .memory.host_alloc = cuda_host_alloc,
    .memory.host_release = cuda_host_release,
    .memory.alloc = cuda_alloc,
    .memory.release = cuda_release,
    .memory.reaches = cuda_reaches,
    .memory.upload = upload,
    .memory.upload_pieces = upload_pieces,
    .filter = cuda_filter,
    .filter_rows = cuda_filter_plain,
    .memory.download = cuda_download,
    .share = cuda_share,
    .clear = cuda_clear,
    .backproject = cuda_backproject,
    .fetch = cuda_fetch,
    .statistics = cuda_statistics,
    .event.record = cuda_event_record,
    .event.stage_wait = cuda_stream_wait_event,
    .event.host_wait = cuda_event_wait,
    .event.timestamp = cuda_timestamp,
    .event.seconds = cuda_timestamp_read,
    .repair.set_bitmap = cuda_count_mask,
    .repair.counts = cuda_counts,
    .links = &links,
};

FBP_API fbp_module_fn fbp_cuda_module;

const struct fbp_backend *fbp_cuda_module(const struct fbp_module_host *host, char *why, size_t n)
{
    static const char *const precisions[] = {"exact", "fast", "half", "double"};
    int driver = 0, devices = 0, n_kernels = 0, least = 1000;

    if (!fbp_module_fits(host)) {
        snprintf(why, n, "libfbp_cuda.so and libfbp are of different releases; reinstall both");
        return NULL;
    }
    gpu_host = host;
    cudaError_t error = cudaDriverGetVersion(&driver);
    if (error == cudaSuccess && CUDA_MAJOR(driver) < CUDA_MAJOR(CUDART_VERSION)) {
        snprintf(why, n,
                 "the driver supports CUDA %d.%d, but fbp needs %d.0 or later; update the driver",
                 CUDA_MAJOR(driver), CUDA_MINOR(driver), CUDA_MAJOR(CUDART_VERSION));
        return NULL;
    }
    if (error == cudaSuccess)
        error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess && error != cudaErrorNoDevice) {
        snprintf(why, n, "the driver reports: %s; check whether nvidia-smi lists a device",
                 cudaGetErrorString(error));
        return NULL;
    }
    for (int i = 0; i < devices && found.n < MOST_DEVICES; i++) {
        int major = 0, minor = 0;
        if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i) != cudaSuccess ||
            cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, i) != cudaSuccess ||
            10 * major + minor < LEAST_CAPABILITY)
            continue;
        for (int p = 0; found.n == 0 && p < 4; p++)
            snprintf(found.isa[p], sizeof found.isa[p], "sm_%d%d %s", major, minor, precisions[p]);
        found.ordinal[found.n++] = i;
        least = 10 * major + minor < least ? 10 * major + minor : least;
    }
#define KERNEL(ID, ...)                                                     \
    if (!(cuda_kernel_##ID.gpu.slices || cuda_kernel_##ID.gpu.decimates) || \
        least >= TENSOR_CAPABILITY)                                         \
        kernels[n_kernels++] = &cuda_kernel_##ID.gpu;
    GPU_KNOWN(KERNEL)
    return &backend;
}
