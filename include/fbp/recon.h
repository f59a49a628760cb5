/** @file recon.h  Reconstruction: a plan first, then the volume. */
#ifndef FBP_RECON_H
#define FBP_RECON_H

#include "fbp/array.h"
#include "fbp/scan.h"

FBP_BEGIN

/** Filters: the band-limited ramp (its spatial kernel sampled) times a window W(f/f_cut). */
enum fbp_filter {
    FBP_FILTER_RAM_LAK = 0, /**< W = 1 */
    FBP_FILTER_SHEPP_LOGAN, /**< W = sinc(f / 2 f_cut) */
    FBP_FILTER_COSINE,      /**< W = cos(pi f / 2 f_cut) */
    FBP_FILTER_HAMMING,     /**< W = .54 + .46 cos(pi f / f_cut) */
    FBP_FILTER_HANN,        /**< W = .5 + .5 cos(pi f / f_cut) */
};

/** "ram-lak", "shepp-logan", "cosine", "hamming", "hann"; NULL beyond the last. */
FBP_API const char *fbp_filter_name(enum fbp_filter filter);

/** How rows go on beyond the panel before they are filtered, for objects that are wider. */
enum fbp_pad_kind {
    FBP_PAD_NONE = 0, /**< they end */
    FBP_PAD_COSINE,   /**< fall to 0 within 0.15 of the row, as half a cosine */
    FBP_PAD_ELLIPSE,  /**< as the shadow of an ellipse that the row's outer half fits */
};

/** "none", "cosine", "ellipse"; NULL beyond the last. */
FBP_API const char *fbp_pad_name(enum fbp_pad_kind kind);

/** Trade between speed and exactness; a backend that has only one says so. */
enum fbp_precision {
    FBP_PRECISION_DEFAULT = 0,
    FBP_PRECISION_EXACT,
    FBP_PRECISION_FAST,
    FBP_PRECISION_HALF
};

/** Progress snapshot.  Updates are voxel x view. */
struct fbp_progress {
    size_t struct_size;
    uint64_t done, total; /**< updates */
    size_t views_read;    /**< of this pass over the views */
    size_t slabs_done, n_slabs;
    double seconds;
    size_t waiting_for; /**< view that is awaited while the scan is followed, from 1; 0: none is */
};

/** Everything that selects how a volume is computed.  Zero means "default". */
struct fbp_recon_params {
    size_t struct_size; /**< sizeof(struct fbp_recon_params); set by the macro */
    const char *device; /**< "auto", "ref", "cpu", "mock:0,1" …; NULL = auto */
    int n_threads;      /**< compute threads (0 = one a core of the affinity mask) */
    /** What the plan may take beyond what the process holds when it is made, while it runs, too (0
     * = 80 % of what is free); fbp_limit_memory() limits the whole process. */
    size_t memory_bytes;
    /** Limit of device memory that the plan takes (0 = 90 % of free); the driver's own context,
     * some 300 MiB on a GPU, is not in it. */
    size_t device_memory_bytes;
    enum fbp_filter filter;
    double cutoff;      /**< fraction of Nyquist, (0, 1]; 0 = 1 */
    double cutoff_v;    /**< where a Hann window along detector columns ends, as cutoff; 0 = none */
    int spatial_filter; /**< convolve in space instead of by FFT */
    size_t half_width;  /**< taps on each side of a spatial kernel (0 = the whole row) */
    enum fbp_angular_weights angular_weights;
    enum fbp_precision precision;
    double mu_water; /**< > 0: output in HU = 1000 (mu - mu_water) / mu_water [1/mm] */
    /** Size and voxel; either may be 0: the scan's extent is kept.  The centre is the scan's. */
    struct fbp_grid volume;
    const char *kernel; /**< "matrix", "column" …; NULL = the fastest that the scan allows */
    /** How the volume is stored: NONE and FBP_F32 as float, FBP_U8 and FBP_U16 as numbers that
     * stand for values from output_range[0] to [1] (both 0: -1000 to 3000 in HU; 1/mm needs them,
     * or auto_range).
     */
    enum fbp_type output_type;
    double output_range[2];
    int resume;         /**< continue an interrupted run at its first missing slab */
    int compress;       /**< zlib-compress the output where the format has it */
    size_t batch_views; /**< views a batch (0 = the plan decides) */
    size_t slab_slices; /**< slices a slab at most (0 = the plan decides) */
    /** Where the views come from, as the scan's projections would have them (fbp_scan_reduce()); it
     *  must outlive the plan.  NULL = the projections. */
    fbp_source *source;
    /** One stage at a time, for measuring: none computes, reads or writes while another does, and
     *  what a stage has given to a device is finished before its time is taken.  Batches are then
     *  of one size, and slabs are finished whole. */
    int no_overlap;
    /** The scan's projections are still being written (the scan comes from
     * fbp_scan_load_growing()): each batch is computed as soon as its views are there
     * (fbp_source_follow()).  Views are taken in their order, so that kernels which need distant
     * views together are not used, and a run cannot be resumed. */
    int follow;
    double follow_timeout_s; /**< give up when nothing came for so long; 0 = never */

    /** Called from one thread at a time, also several times a second while a plan is made (total is
     *  1 then) or a block computed; return nonzero to cancel.  Optional. */
    int (*progress)(void *user, const struct fbp_progress *p);
    fbp_log_fn *log; /**< notes and warnings; optional */
    void *user;
    /** Only this box of the volume: voxels [first, end) along x, y, z; end 0 = to the edge, so that
     *  zeros are all of it.  The box has the bits that it has in the whole volume, which chooses
     *  kernel and weights; slices beside it are not computed (the mirror images of some are), nor
     *  are detector rows read that only they need. */
    size_t roi[3][2];
    int force; /**< the output may replace what it is computed from */
    /** Of integers: output_range (which is left 0) becomes the least and the greatest finite value
     * of the volume itself, exactly.  fbp_plan_run() keeps its floats in OUTPUT.values.raw.part
     * until all are there; other sinks have ranges of their own. */
    int auto_range;
    enum fbp_pad_kind pad; /**< rows beyond the panel; 0 = they end there */
    /** Voxels that some view does not see (beyond the field of view's radius, or above or below the
     *  panel's rows) get mask_value, in the output's unit, or NaN where the output is float32; min,
     * max and mean of the report are then those of the others. */
    int mask;
    double mask_value;
};

#ifndef __cplusplus /* there: fbp/fbp.hpp */
/** Parameters as an expression: `fbp_recon_params(.device = "cpu", .cutoff = 0.8)`. */
#    define fbp_recon_params(...) \
        (&(struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params), __VA_ARGS__})
#endif

/**
 * The volume that is reconstructed: `wanted` completed from the scan's, and that from the default.
 * A size without voxels keeps the extent, voxels without a size too; a cube of one detector row is
 * one slice.
 *
 * wanted: as fbp_recon_params.volume; NULL or zero: the scan's
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_grid_resolve(const struct fbp_grid *wanted,
                                                   const struct fbp_scan *scan,
                                                   struct fbp_grid *out);

/** What a plan decided; all of it before anything runs. */
struct fbp_plan_summary {
    size_t struct_size;
    const char *backend; /**< "ref", "cpu", "mock" */
    const char *kernel;  /**< "matrix", "column" … */
    const char *isa;     /**< "c", "avx2" …; "" where it means nothing */
    size_t n_devices;
    int n_threads;
    struct fbp_grid volume;                 /**< what comes out: of params.roi, the box */
    const struct fbp_geometry_facts *facts; /**< of the scan and the whole volume */
    char weights[256];                      /**< one line: scan type, weights, filter, steps */
    size_t n_slabs, slab_slices;
    size_t batch_views, n_batches;
    double view_reads;                  /**< how often a detector row is read, on average */
    size_t fft_length;                  /**< 0 for the spatial form, or if there is no filter */
    uint64_t memory_bytes;              /**< predicted peak resident set, with that of children
                                             that look at HDF5 and MAT files */
    uint64_t memory_limit;              /**< limit of it that was planned for */
    uint64_t device_bytes;              /**< device memory, a device, without its driver's own
                                             context; 0 when it is host memory */
    uint64_t input_bytes, output_bytes; /**< on disk; input counted as often as it is read */
    uint64_t updates; /**< voxels x views: of whole slices, and mirror images that are computed */
    bool filtered;    /**< the views are filtered already */
    /** The views are followed: batches are the smallest there are, n_batches of them, up to
     *  batch_views together where computing has fallen behind. */
    int follows;
    struct fbp_grid whole; /**< the volume that `volume` is a box of, or the same */
    size_t roi[3][2];      /**< that box: voxels [first, end) along x, y, z */
};

/** What a finished run took.  Stages overlap, so they add up to more than `total`, unless
 *  params.no_overlap. */
struct fbp_report {
    size_t struct_size;
    double total, read, filter, backproject, write; /**< seconds busy, a stage */
    double open;                                    /**< before the first view was read */
    double waiting_read;   /**< seconds that computing stood still for input */
    double waiting_write;  /**< seconds that computing stood still for output */
    double gups;           /**< updates / total / 1e9 */
    double min, max, mean; /**< of the volume, without what params.mask has masked */
    size_t not_finite;     /**< input samples that were NaN or infinite, and were bridged */
    size_t clipped;        /**< intensities <= 0 whose logarithm was clipped */
    /** Of a volume of integers: value = scale * number + offset; voxels beyond the range that were
     *  clipped, of those that were not resumed.  Else 0. */
    double output_scale, output_offset;
    uint64_t output_clipped;
    size_t slabs_resumed; /**< taken from an interrupted run */
    uint64_t hash;        /**< of the volume; hash: outputs only */
    double finish;        /**< seconds from the last slice to the durable file of its final name */
    /** Views that were followed: seconds from when the last was there to the last voxel in the
     *  host's memory, and to the finished output; batches computed, and views of the last.  Else 0.
     */
    double volume_after_last_view, output_after_last_view;
    size_t n_batches, last_batch;
    double upload, fetch; /**< of `filter` and of `write`, seconds of copying to and from a device
                             with memory of its own; only with params.no_overlap */
    /** Views in which the object is wider than the panel, the first and the last of them, and up to
     *  which part of a row's greatest value its first and last columns reach in them (0 to 1). */
    size_t truncated_views, truncated_first, truncated_last;
    double truncated[2];
    /** Views of which all samples are the same, clipped, or no numbers.  (Where all views are, the
     *  run fails.) */
    size_t dead_views;
    /** Of a volume of integers: values that 0 and the greatest number stand for.  Else 0. */
    double output_range[2];
    /** Views that are darker or brighter than the rest as a whole, air and all, the first and the
     *  last of them, and the least and greatest part of the others' exposure that they have.  Not
     *  among the truncated ones. */
    size_t exposure_views, exposure_first, exposure_last;
    double exposure[2];
};

/** Not for a process that was forked from the one that made it: calls say so there (INVALID), and
 *  fbp_plan_destroy() only frees what is the child's. */
typedef struct fbp_plan fbp_plan;

/**
 * Build a plan: choose the device, weights, kernel, slabs and batches.  Array headers are read,
 * no samples but those of flats, darks and masks.
 *
 * @param[out] out     NULL on failure.  Free with fbp_plan_destroy().
 * @param      scan    must outlive the plan.
 * @param      params  read during the call, callbacks later.  NULL = all defaults.
 * @return FBP_OK, FBP_ERR_INVALID, FBP_ERR_IO, FBP_ERR_NOMEM (the limit is too small: the message
 *         says how much is needed), FBP_ERR_UNSUPPORTED.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_create(fbp_plan **out, const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params);

FBP_API const struct fbp_plan_summary *fbp_plan_info(const fbp_plan *plan);

/** How long a run will take, from a measurement of a few milliseconds on the plan's device [s]. */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_estimate(const fbp_plan *plan, double *seconds);

/**
 * Reconstruct into `output` (any sink path).  A plan can run more than once.
 * @return also FBP_ERR_CANCELLED (fbp_plan_stop(), fbp_stop(), progress); nothing is then left
 * under the final name.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_run(fbp_plan *plan, const char *output,
                                               struct fbp_report *report);

/**
 * End the plan's run soon: it returns FBP_ERR_CANCELLED, and what is not finished is cleaned up as
 * after any other failure.  Any thread and a signal handler may call it.  If no run goes on, the
 * next one ends at once; the run after that is not concerned.  fbp_stop() ends all calls of the
 * process.
 *
 * Reading, filtering, backprojecting and writing look at it many times a second.  What cannot be
 * interrupted is finished first: one call of the caller's own callbacks (which may ask
 * fbp_stopped()), one read or write of a file that the system holds up, what a device has begun,
 * and bringing a finished file to disk.
 */
FBP_API void fbp_plan_stop(fbp_plan *plan);

/**
 * Open the plan's devices and allocate their memory now, so that runs need not; they stay open
 * until the plan is destroyed.
 * @return FBP_OK, also if they are open already; FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_open(fbp_plan *plan);

/**
 * Memory that the plan's devices copy from and to while they compute: views and volumes in it (as
 * fbp_source_memory(), fbp_sink_memory()) are copied straight, elsewhere through buffers.  Opens
 * the plan.  Fresh pages cost time, so keep it from run to run.
 *
 * @param[out] out  free with fbp_plan_release(), before the plan is destroyed.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_alloc(fbp_plan *plan, size_t bytes, void **out);
FBP_API void fbp_plan_release(fbp_plan *plan, void *memory);

/**
 * From now on draw, after each run, what every stage did when, into this SVG file: uploads, filter,
 * backprojection and fetch by the device's own clock, reading and writing by the host's.  NULL: no
 * longer.  path must outlive the plan.
 */
FBP_API void fbp_plan_timeline(fbp_plan *plan, const char *path);

/**
 * Reconstruct from a source like the plan's (NULL: the plan's) into a sink of the plan's volume,
 * which is finished, and still to be closed.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_run_to(fbp_plan *plan, fbp_source *source,
                                                  fbp_sink *sink, struct fbp_report *report);

/**
 * All in one, memory to memory: views [n_views][n_rows][n_columns] (stored ones, of a scan that was
 * reduced), rows as scan->row_order says
 * (AUTO: upwards), into volume [z][y][x] of the size that fbp_plan_info() would tell.  The scan's
 * projections are not looked at.  To reconstruct more than once, keep a plan.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_reconstruct(const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params,
                                                  const float *views, float *volume,
                                                  struct fbp_report *report);

/** Free a plan and set the caller's pointer to NULL.  `*plan` may be NULL. */
FBP_API void fbp_plan_destroy(fbp_plan **plan);

/** One device that could compute, or the sentence that says why it cannot. */
struct fbp_device_info {
    size_t struct_size;
    char name[32];    /**< as in --device: "cpu", "ref" … */
    char text[160];   /**< model, cores, instruction set */
    char reason[300]; /**< why it cannot be used; "" = usable */
    uint64_t memory_bytes;
    uint64_t free_bytes; /**< of a device's own memory, now; 0 = not known */
    char driver[64];     /**< release of its driver; "" = it has none */
};

/** Fill at most n entries; returns how many devices there are, 0 with a message if
 *  out[0].struct_size, which is that of all, is wrong. */
FBP_API size_t fbp_devices(struct fbp_device_info *out, size_t n);

/** Kinds of devices that fbp_recon_params.device names, i from 0: "auto", then those of this build,
 *  whether they can be used here or not; NULL beyond the last. */
FBP_API const char *fbp_device_name(size_t i);

/** Kernels that fbp_recon_params.kernel names, i from 0: "matrix", "column" …; NULL beyond the
 *  last.  A device need not have all of them. */
FBP_API const char *fbp_kernel_name(size_t i);

FBP_END

#endif /* FBP_RECON_H */
