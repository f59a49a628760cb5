/** @file measure.h  Measurements that several commands print: the backprojection alone
 * (kernels/measure.c), whole reconstructions (host/measure.c), limits of a device
 * (common/modules.c). */
#ifndef FBP_BENCH_COMMON_MEASURE_H
#define FBP_BENCH_COMMON_MEASURE_H

#include "fbp/recon.h"

FBP_BEGIN

/** Measured limits of a device: amount of one operation per second if nothing else runs; 0:
 * unknown. */
struct fbp_limits {
    double fma; /**< fp32 multiply-adds */
    /** Bilinear fetches per second of neighbouring texels of a layered texture; texels of one, two
     * or four samples of fp32 or fp16. */
    double texture_r32f, texture_r16f, texture_rg32f, texture_rg16f, texture_rgba32f,
        texture_rgba16f;
    double load_4, load_8,
        load_16; /**< bytes/s from the first-level cache, by loads of 4, 8 or 16 bytes */
    double copy; /**< bytes/s read plus written, by copies within the memory of the device */
    double upload, download; /**< bytes/s from and to pinned memory of the host */
};

/** Timing of the backprojection alone, on one device, for one scan after another.  The views of a
 * scan and the reference result are computed once for all kernels. */
typedef struct fbp_bench fbp_bench;

/** Device and data of a bench. */
struct fbp_bench_info {
    const char *backend;
    bool own_memory;     /**< the device has its own memory, so that all views and slices are the
                            default */
    bool has_precisions; /**< the kernels of the device differ in precision */
    int n_threads; /**< threads that compute the reference; on a CPU also those of the kernel */
    size_t n_views, n_slices;         /**< backprojected at a time */
    size_t whole_slices, more_voxels; /**< numbers of whole slices, and of single voxels in other
                                         slices, that are compared */
    double project,
        reference; /**< seconds that computing the views and the reference of the scan took */
    struct fbp_limits limits; /**< all 0 if the device cannot measure them */
};

/** Result of fbp_bench_kernel(). */
struct fbp_kernel_time {
    const char *backend, *kernel, *isa;
    int n_threads;
    size_t n_views, n_slices; /**< numbers of views and slices that are timed */
    size_t n_runs;
    bool by_events;             /**< by the device's own clock */
    double median, best, worst; /**< seconds for all views and all slices */
    double gups; /**< giga-updates per second: voxels x views / median / 1e9, with voxels that are
                    projected beside the panel; with --region only voxels of the region */
    double psnr_db, rmse, max_error; /**< against the reference in double; [1/mm] */
    double hu; /**< RMSE [HU, water 0.02/mm] against the kernel's own result in precision exact; NaN
                  if exact was not measured before, or is the precision measured */
    double limit_gups; /**< GUPS that the device's limits allow; 0: not known */
    char limit[80];    /**< the limit that decides */
    int n_shapes; /**< number of shapes of the kernel, of which FBP_SHAPE selects one; at least 1 */
};

/**
 * Open a bench on a device, and measure the limits of the device.
 *
 * params  device, n_threads and region are used; the region's text must outlive the bench
 * @return FBP_OK, FBP_ERR_INVALID (no such device), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_bench_create(fbp_bench **out, const struct fbp_recon_params *params);
void fbp_bench_destroy(fbp_bench **bench);

/**
 * Prepare a scan: simulate views of a phantom, unless the scan before had the same, and compute
 * some voxels in double: up to 16 whole slices, and single voxels elsewhere.
 *
 * scan       geometry and volume; no arrays are opened
 * n_views    spread evenly over the scan; 0: all on a device with its own memory, else 16
 * n_slices   around the middle; 0: all on a device with its own memory, else slices of 64 million
 *            voxels together
 * @return FBP_OK, FBP_ERR_INVALID, FBP_ERR_NOMEM.
 */
FBP_MUST_CHECK fbp_status fbp_bench_scan(fbp_bench *bench, const struct fbp_scan *scan,
                                         size_t n_views, size_t n_slices);

const struct fbp_bench_info *fbp_bench_about(const fbp_bench *bench);

/**
 * Time a kernel on filtered random views that are already in memory, and measure its error on
 * filtered views of the phantom.
 *
 * kernel     NULL: the fastest that the scan allows
 * precision  if the device has several, there must be a kernel of exactly this one
 * @return FBP_OK, FBP_ERR_UNSUPPORTED (the device has no such kernel, or the scan does not allow
 *         it), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_bench_kernel(fbp_bench *bench, const char *kernel,
                                           enum fbp_precision precision,
                                           struct fbp_kernel_time *out);

/** Result of fbp_bench_host(), in seconds. */
struct fbp_host_time {
    const char *backend, *kernel, *isa;
    size_t n_slabs, n_batches, n_runs;
    bool counts; /**< views were 16-bit counts */
    double plan; /**< seconds to make the first plan, which starts the device */
    double open; /**< seconds to open the device and allocate device memory */
    /** seconds to allocate host memory for views and volume that the device can access */
    double pin;
    double first;               /**< the first run */
    double median, best, worst; /**< seconds of n_runs runs after the first one */
    double whole; /**< median time to make, open, run and destroy a plan, on a device used before */
    double filter, backproject,
        fetch;   /**< seconds of the stages, one at a time; filter includes uploads */
    double gups; /**< voxels x views / median / 1e9 */
    /** Some slices of a phantom, compared with the kernel matrix in precision exact: RMSE in HU of
     *  water at 0.02/mm, and PSNR; 0 and 999 if equal. */
    double rmse_hu, psnr_db;
    double min, max, mean; /**< of the volume */
};

/** How fbp_bench_host() measures. */
struct fbp_host_options {
    size_t n_runs;        /**< at least 1 */
    bool counts;          /**< views are uint16 intensities, not float line integrals */
    const char *timeline; /**< file for the timeline of one more run; NULL: none */
    bool on_device;       /**< views and volume are in the memory of the device, not of the host */
};

/**
 * Time reconstructions of random views from host memory to host memory that the device can reach,
 * or within the device's own.  A run is the whole call, from views to the finished volume.
 *
 * scan    geometry and volume; no arrays are opened
 * params  device, n_threads, kernel, precision, device_memory_bytes, batch_views and slab_slices
 *         are used
 * @return as fbp_plan_create() and fbp_plan_run().
 */
FBP_MUST_CHECK fbp_status fbp_bench_host(const struct fbp_scan *scan,
                                         const struct fbp_recon_params *params,
                                         const struct fbp_host_options *options,
                                         struct fbp_host_time *out);

/**
 * Measure the limits of a device: medians of five, by the device's own clock.  Takes some tenths of
 * a second.
 *
 * device  as in fbp_recon_params; the first device of it
 * @return FBP_OK, FBP_ERR_UNSUPPORTED (a device without such limits), FBP_ERR_INVALID (no such
 *         device), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_bench_limits(const char *device, struct fbp_limits *out);

FBP_END

#endif /* FBP_BENCH_COMMON_MEASURE_H */
