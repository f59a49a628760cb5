/** @file bench.h  Timing of the backprojection alone and of whole reconstructions, and the limits
 * of the device they are to be seen beside. */
#ifndef FBP_BENCH_H
#define FBP_BENCH_H

#include "fbp/recon.h"

FBP_BEGIN

/** What a device does at best with one thing alone, measured; a second. */
struct fbp_limits {
    double fma; /**< fp32 multiply-adds */
    /** Bilinear fetches from a layered texture, near each other: of one, two or four samples of
     *  fp32 or fp16. */
    double texture_r32f, texture_r16f, texture_rg32f, texture_rg16f, texture_rgba32f,
        texture_rgba16f;
    double load_4, load_8, load_16; /**< bytes from the first cache, in loads of so many bytes */
    double copy;             /**< bytes read plus bytes written, of copies within its memory */
    double upload, download; /**< bytes, from and to the host's pinned memory */
};

/** Backprojections alone, of one scan after another on one device: its views, and what the
 *  specification makes of them, are computed once for all kernels. */
typedef struct fbp_bench fbp_bench;

/** What a bench works on. */
struct fbp_bench_info {
    const char *backend;
    bool own_memory;     /**< the device has memory of its own: all views and slices by default */
    bool has_precisions; /**< its kernels differ in precision */
    int n_threads;       /**< that compute the reference, and on a CPU everything */
    size_t n_views, n_slices;         /**< backprojected at a time */
    size_t whole_slices, more_voxels; /**< that results are compared in */
    double project, reference;        /**< seconds that views and reference took, for this scan */
    struct fbp_limits limits;         /**< all 0 of a device that measures none */
};

/** What fbp_bench_kernel() measured. */
struct fbp_kernel_time {
    const char *backend, *kernel, *isa;
    int n_threads;
    size_t n_views, n_slices; /**< of the batch and the slab that were timed */
    size_t n_runs;
    bool by_events;             /**< by the device's own clock */
    double median, best, worst; /**< seconds of all views into all slices */
    double gups;                /**< voxels x views / median / 1e9; voxels beside the panel count */
    double psnr_db, rmse, max_error; /**< against the specification in double; [1/mm] */
    double hu; /**< RMSE against the same kernel's exact precision, in HU of water at 0.02/mm; NaN
                    if that was not measured before, or is this one */
    double limit_gups; /**< of what of the device binds this kernel at best; 0: not known */
    char limit[80];    /**< what that is */
};

/**
 * A bench of a device, on which nothing is computed yet; its limits are measured.
 *
 * params  device and n_threads are used
 * @return FBP_OK, FBP_ERR_INVALID (no such device), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_bench_create(fbp_bench **out,
                                                   const struct fbp_recon_params *params);
FBP_API void fbp_bench_destroy(fbp_bench **bench);

/**
 * Take a scan: views of a phantom are simulated, unless they are those of the scan before, and some
 * voxels computed in double: up to 16 whole slices, and voxels here and there.
 *
 * scan       geometry and volume; no arrays are opened
 * n_views    taken evenly over the scan; 0: all of them on a device with memory of its own, 16
 *            elsewhere
 * n_slices   about the middle; 0: all of them, or 64 million voxels' worth elsewhere
 * @return FBP_OK, FBP_ERR_INVALID, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_bench_scan(fbp_bench *bench, const struct fbp_scan *scan,
                                                 size_t n_views, size_t n_slices);

FBP_API const struct fbp_bench_info *fbp_bench_about(const fbp_bench *bench);

/**
 * Time a kernel, data resident, on filtered random views; and find its error on filtered views of
 * the phantom.
 *
 * kernel     NULL: the fastest that the scan allows
 * precision  where the device has several: there must be a kernel of this very one
 * @return FBP_OK, FBP_ERR_UNSUPPORTED (the device has no such kernel, or the scan does not allow
 *         it), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_bench_kernel(fbp_bench *bench, const char *kernel,
                                                   enum fbp_precision precision,
                                                   struct fbp_kernel_time *out);

/** What fbp_bench_host() measured; seconds. */
struct fbp_host_time {
    const char *backend, *kernel, *isa;
    size_t n_slabs, n_batches, n_runs;
    bool counts;  /**< views were 16-bit counts */
    double plan;  /**< the first plan; starts the device */
    double open;  /**< its device opened, device memory allocated */
    double pin;   /**< memory for views and volume, that the device reaches, allocated */
    double first; /**< the first run */
    double median, best, worst; /**< of n_runs more */
    double whole; /**< median: plan made, opened, run and destroyed, on a device once used */
    double filter, backproject, fetch; /**< one stage at a time; uploads belong to filter */
    double gups;                       /**< voxels x views / median / 1e9 */
    /** Some slices of a phantom against kernel matrix, precision exact: RMSE in HU of water at
     * 0.02/mm, and PSNR; 0 and 999 when equal. */
    double rmse_hu, psnr_db;
    double min, max, mean; /**< of the volume */
};

/** How fbp_bench_host() measures. */
struct fbp_host_options {
    size_t n_runs;        /**< at least 1 */
    bool counts;          /**< views are uint16 intensities, not float line integrals */
    const char *timeline; /**< file for the timeline of one more run; NULL: none */
};

/**
 * Time reconstructions of random views from the host's memory into the host's memory, both such
 * that the device reaches them; each run is the whole call, from views to finished volume.
 *
 * scan    geometry and volume; no arrays are opened
 * params  device, n_threads, kernel, precision, device_memory_bytes, batch_views and slab_slices
 *         are used
 * @return as fbp_plan_create() and fbp_plan_run().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_bench_host(const struct fbp_scan *scan,
                                                 const struct fbp_recon_params *params,
                                                 const struct fbp_host_options *options,
                                                 struct fbp_host_time *out);

/**
 * Measure the limits of a device, in some tenths of a second: medians of five, by the device's own
 * clock.
 *
 * device  as of fbp_recon_params; its first one
 * @return FBP_OK, FBP_ERR_UNSUPPORTED (a device without such limits), FBP_ERR_INVALID (no such
 *         device), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_bench_limits(const char *device, struct fbp_limits *out);

FBP_END

#endif /* FBP_BENCH_H */
