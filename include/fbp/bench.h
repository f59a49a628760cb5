/** @file bench.h  Timing of the backprojection alone, with its error beside it. */
#ifndef FBP_BENCH_H
#define FBP_BENCH_H

#include "fbp/recon.h"

FBP_BEGIN

/** What fbp_bench_kernel() measured. */
struct fbp_kernel_time {
    const char *backend, *kernel, *isa;
    int n_threads;
    size_t n_views, n_slices; /**< of the slab and the batch that were timed */
    double seconds;           /**< best of the repetitions */
    double gups;              /**< voxels x views / seconds / 1e9; voxels beside the panel count */
    double psnr_db;           /**< of the middle slice against the backend `ref` */
};

/**
 * Time the backprojection of filtered phantom views into the middle slices of a volume; data
 * resident, nothing read, filtered, fetched or written.
 *
 * scan       geometry and volume; no arrays are opened
 * params     device, n_threads, kernel and precision are used
 * n_views    of the batch, taken evenly over the scan; 0: 16, or a whole pass of a device
 * n_slices   of the slab, at most the volume's
 * @return FBP_OK, FBP_ERR_UNSUPPORTED (the device has no such kernel, or the scan does not allow
 *         it), FBP_ERR_INVALID (no such device), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_bench_kernel(const struct fbp_scan *scan,
                                                   const struct fbp_recon_params *params,
                                                   size_t n_views, size_t n_slices,
                                                   struct fbp_kernel_time *out);

/** What fbp_bench_host() measured; seconds. */
struct fbp_host_time {
    const char *backend, *kernel, *isa;
    size_t n_slabs, n_batches, n_runs;
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

FBP_END

#endif /* FBP_BENCH_H */
