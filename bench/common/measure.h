/** @file measure.h  Measurements that several commands print: the backprojection alone
 * (kernels/measure.c), whole reconstructions (host/measure.c), limits of a device
 * (common/modules.c), writing (pipeline/write.c). */
#ifndef FBP_BENCH_COMMON_MEASURE_H
#define FBP_BENCH_COMMON_MEASURE_H

#include "fbp/recon.h"

FBP_BEGIN

/** Measured limits of a device: how much of one operation it does in a second, with nothing else.
 */
struct fbp_limits {
    double fma; /**< fp32 multiply-adds */
    /** Bilinear fetches from neighbouring places of a layered texture: of one, two or four samples
     *  of fp32 or fp16. */
    double texture_r32f, texture_r16f, texture_rg32f, texture_rg16f, texture_rgba32f,
        texture_rgba16f;
    double load_4, load_8, load_16; /**< bytes from the first cache, by loads of 4, 8 or 16 bytes */
    double copy;             /**< bytes read plus bytes written, by copies within its memory */
    double upload, download; /**< bytes from and to pinned memory of the host */
};

/** Timing of the backprojection alone, on one device, for one scan after another.  The views of a
 * scan and the reference result are computed once for all kernels. */
typedef struct fbp_bench fbp_bench;

/** Device and data of a bench. */
struct fbp_bench_info {
    const char *backend;
    bool own_memory;          /**< the device has its own memory: all views and slices by default */
    bool has_precisions;      /**< its kernels differ in precision */
    int n_threads;            /**< threads for the reference; on a CPU, for everything */
    size_t n_views, n_slices; /**< backprojected at a time */
    size_t whole_slices, more_voxels; /**< slices and single voxels that are compared */
    double project, reference;        /**< seconds to compute views and reference of this scan */
    struct fbp_limits limits;         /**< all 0 if the device cannot measure them */
};

/** Result of fbp_bench_kernel(). */
struct fbp_kernel_time {
    const char *backend, *kernel, *isa;
    int n_threads;
    size_t n_views, n_slices; /**< of the timed batch and slab */
    size_t n_runs;
    bool by_events;             /**< by the device's own clock */
    double median, best, worst; /**< seconds for all views and all slices */
    double gups; /**< voxels x views / median / 1e9; also voxels projected beside the panel; of a
                    region, its voxels alone */
    double psnr_db, rmse, max_error; /**< against the reference in double; [1/mm] */
    double hu; /**< RMSE against the same kernel in precision exact, in HU of water at 0.02/mm; NaN
                    if that was not measured before, or is this one */
    double limit_gups; /**< GUPS that the device's limits allow; 0: not known */
    char limit[80];    /**< the limit that decides */
    int n_shapes;      /**< shapes that the kernel has, of which FBP_SHAPE names one; at least 1 */
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
    bool counts;  /**< views were 16-bit counts */
    double plan;  /**< making the first plan, which starts the device */
    double open;  /**< opening its device and allocating device memory */
    double pin;   /**< allocating memory for views and volume that the device can reach */
    double first; /**< the first run */
    double median, best, worst; /**< of n_runs runs after the first */
    double whole; /**< median time to make, open, run and destroy a plan, on a device used before */
    double filter, backproject, fetch; /**< one stage at a time; filter includes uploads */
    double gups;                       /**< voxels x views / median / 1e9 */
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
    bool on_device;       /**< views and volume lie in the memory of the device */
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

/** What fbp_bench_memory() and fbp_bench_write() work on. */
struct fbp_write_options {
    size_t size;        /**< the volume has size^3 voxels, float32 */
    int n_threads;      /**< 0: one for each core, at most 8, as a reconstruction has */
    const char *output; /**< as for fbp_plan_run(); a file of that name is replaced */
    enum fbp_type type; /**< stored, of [0, 1]; FBP_TYPE_NONE: float32 */
};

/** What writing is made of, in bytes a second: [0] by one thread, [1] by all of them. */
struct fbp_memory_rates {
    int n_threads;
    size_t bytes;    /**< of the memory that was used: the volume, at most 1 GiB */
    double fresh[2]; /**< first touch of new memory: the system fills its pages with zeros */
    double copy[2];  /**< from memory to memory that is there */
    double hash[2];  /**< hash of what is written, for "hash:" and for journals */
    /** Pages of a new file, by write(), which lets one thread at a time into a file on most file
     *  systems, and through a mapping of it, if that can be filled (Linux 5.14); 0: not measured.
     */
    double file[2], mapped[2];
};

/** Seconds to write a volume, slice by slice: [0] by one thread, [1] by all of them (0 if there is
 *  only one). */
struct fbp_output_time {
    int n_threads;
    double bytes;     /**< of the volume as float32 */
    double open[2];   /**< until slices can be written: room is reserved */
    double write[2];  /**< all slices, with the journal of a run that can be resumed */
    double finish[2]; /**< until all is on the disk, under its name */
};

/**
 * Measure what the memory of this machine, and the pages of a file, allow writers.
 *
 * options  size, n_threads and output are used: the latter names a file that is made and removed;
 *          NULL: none
 * @return FBP_OK, FBP_ERR_INVALID, FBP_ERR_NOMEM, FBP_ERR_IO, FBP_ERR_CANCELLED.
 */
FBP_MUST_CHECK fbp_status fbp_bench_memory(const struct fbp_write_options *options,
                                           struct fbp_memory_rates *out);

/**
 * Time an output: some random slices are written again and again, as a reconstruction on a device
 * with its own memory writes them.
 *
 * @return FBP_OK, or as fbp_sink_open() and fbp_sink_write().
 */
FBP_MUST_CHECK fbp_status fbp_bench_write(const struct fbp_write_options *options,
                                          struct fbp_output_time *out);

FBP_END

#endif /* FBP_BENCH_COMMON_MEASURE_H */
