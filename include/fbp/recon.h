/** @file recon.h  Reconstruction: make a plan, then run it, once or several times. */
#ifndef FBP_RECON_H
#define FBP_RECON_H

#include "fbp/array.h"
#include "fbp/scan.h"
#include "fbp/team.h"

FBP_BEGIN

/**
 * Filters.  For line integrals: the band-limited ramp (its spatial kernel sampled) times a window
 * W(f/f_cut).  For plane integrals (EPR imaging): the band-limited parabola f^2, in closed form,
 * times the same window; or, up to f_cut, one of the other filters, which are only for plane
 * integrals.  f is in cycles per sample.
 */
enum fbp_filter {
    FBP_FILTER_RAM_LAK = 0,        /**< W = 1 */
    FBP_FILTER_SHEPP_LOGAN,        /**< W = sinc(f / 2 f_cut) */
    FBP_FILTER_COSINE,             /**< W = cos(pi f / 2 f_cut) */
    FBP_FILTER_HAMMING,            /**< W = .54 + .46 cos(pi f / f_cut) */
    FBP_FILTER_HANN,               /**< W = .5 + .5 cos(pi f / f_cut) */
    FBP_FILTER_SECOND_DIFFERENCE,  /**< (-1, 2, -1) / 4 pi^2: f^2 sinc^2(f) */
    FBP_FILTER_3_POINT_DERIVATIVE, /**< (-1, 0, 1) / 2, twice: (sin(2 pi f) / 2 pi)^2 */
    FBP_FILTER_5_POINT_DERIVATIVE, /**< (1, -8, 0, 8, -1) / 12, twice */
    FBP_FILTER_TWO_RAMPS, /**< the sampled ramp, twice, on rows with zeros to three times their
                             length */
    FBP_FILTER_TWO_RAMPS_UNPADDED, /**< the same, but the row is cut off between the two, with
                                      errors of some per cent: for comparisons */
    FBP_FILTER_LAST = FBP_FILTER_TWO_RAMPS_UNPADDED
};

/** "ram-lak", "shepp-logan", "cosine", "hamming", "hann", "second-difference",
 *  "3-point-derivative", "5-point-derivative", "two-ramps", "two-ramps-unpadded"; NULL beyond the
 *  last. */
FBP_API const char *fbp_filter_name(enum fbp_filter filter);

/** Extrapolation of rows beyond the panel before they are filtered, for objects wider than it. */
enum fbp_pad_kind {
    FBP_PAD_NONE = 0, /**< none: 0 beyond the panel */
    FBP_PAD_COSINE,   /**< half a cosine, which falls to 0 within 0.15 of the row */
    FBP_PAD_ELLIPSE,  /**< the projection of an ellipse that fits the outer half of the row */
};

/** "none", "cosine", "ellipse"; NULL beyond the last. */
FBP_API const char *fbp_pad_name(enum fbp_pad_kind kind);

/** Interpolation between filtered samples of plane integrals; samples beyond the row are 0.  Line
 *  integrals have only LINEAR. */
enum fbp_interpolation {
    FBP_INTERPOLATION_LINEAR = 0,
    FBP_INTERPOLATION_NEAREST, /**< the nearest sample; halfway, the one at the greater t */
    FBP_INTERPOLATION_CUBIC,   /**< cubic spline through the samples; the filter computes its
                                  coefficients, so a voxel needs four of them */
    FBP_INTERPOLATION_LAST = FBP_INTERPOLATION_CUBIC
};

/** "linear", "nearest", "cubic"; NULL beyond the last. */
FBP_API const char *fbp_interpolation_name(enum fbp_interpolation interpolation);

/** Resampling of views in even rings over their angles: Fourier series, periodic cubic splines, or
 *  linear. */
enum fbp_ring_interpolation { FBP_RINGS_FFT = 0, FBP_RINGS_SPLINE, FBP_RINGS_LINEAR };

/** "fft", "spline", "linear"; NULL beyond the last. */
FBP_API const char *fbp_ring_interpolation_name(enum fbp_ring_interpolation interpolation);

/** Precision against speed.  A backend with only one precision ignores this, with a note; but
 *  DOUBLE is an error if it is missing. */
enum fbp_precision {
    FBP_PRECISION_DEFAULT = 0,
    FBP_PRECISION_EXACT,
    FBP_PRECISION_FAST,
    FBP_PRECISION_HALF,
    FBP_PRECISION_DOUBLE, /**< samples, filter, sums and voxels in double: for kind planes */
    FBP_PRECISION_LAST = FBP_PRECISION_DOUBLE
};

/** Progress of a run.  An update is one view at one voxel.  If a device fails, its unfinished slabs
 *  start again, and `done` decreases. */
struct fbp_progress {
    size_t struct_size;
    uint64_t done, total; /**< updates */
    size_t views_read;    /**< in this pass over the views */
    size_t slabs_done, n_slabs;
    double seconds;
    size_t waiting_for; /**< number, from 1, of the view that a followed scan waits for; 0:
                           none */
};

/** Parameters of a reconstruction.  Zero means "default". */
struct fbp_recon_params {
    size_t struct_size; /**< sizeof(struct fbp_recon_params); set by the macro */
    const char *device; /**< "auto", "ref", "cpu", "mock:0,1" …; NULL = auto */
    int n_threads;      /**< compute threads (0 = one for each core of the affinity mask) */
    /** Memory that the plan and its runs may add to that of the process at the time of planning
     *  [bytes]; 0: 80 % of the free memory.  fbp_limit_memory() limits the whole process. */
    size_t memory_bytes;
    /** Memory of the plan on a device [bytes]; 0: 90 % of the free memory.  The context of the
     *  driver, some 300 MiB on a GPU, is not counted. */
    size_t device_memory_bytes;
    enum fbp_filter filter;
    double cutoff;      /**< fraction of the Nyquist frequency, (0, 1]; 0 = 1 */
    double cutoff_v;    /**< Hann window along detector columns: its cut-off, as above; 0 = none */
    int spatial_filter; /**< convolve in space instead of by FFT */
    size_t half_width;  /**< values on each side of a spatial filter (0 = the whole row) */
    enum fbp_angular_weights angular_weights;
    enum fbp_precision precision;
    double mu_water; /**< > 0: output in HU = 1000 (mu - mu_water) / mu_water [1/mm]; lines only */
    /** Size and voxel.  If one of them is 0, the extent of the scan's volume is kept.  The centre
     * is that of the scan. */
    struct fbp_grid volume;
    const char *kernel; /**< "matrix", "column" …; NULL = the fastest that the scan allows */
    /** Type of the stored volume.  NONE: FBP_F32, or FBP_F64 with precision double, which needs it.
     *  FBP_U8 and FBP_U16 map values from output_range[0] to output_range[1].  Both 0: -1000 to
     *  3000 in HU; in 1/mm, a range or auto_range is required. */
    enum fbp_type output_type;
    double output_range[2];
    int resume;         /**< continue an interrupted run at its first missing slab */
    int compress;       /**< compress the output with zlib, if the format allows it */
    size_t batch_views; /**< views in a batch (0 = the plan decides) */
    size_t slab_slices; /**< greatest number of slices in a slab (0 = the plan decides) */
    /** Source of the views, instead of the scan's projections (NULL).  It has the views as they are
     *  stored, before fbp_scan_reduce(), and must outlive the plan. */
    fbp_source *source;
    /** 1: the stages do not overlap, for measurements of their times.  Batches then have one size,
     *  and slabs are finished as a whole. */
    int no_overlap;
    /** 1: the scan's projections are still being written (fbp_scan_load_growing()): each batch is
     *  computed as soon as its views are complete (fbp_source_follow()).  Views are used in their
     *  order.  Therefore, kernels that need distant views together are not used, and the run cannot
     *  be resumed. */
    int follow;
    double follow_timeout_s; /**< fail if nothing was written for this time [s]; 0: never */

    /** Called several times a second, from one thread at a time, while a plan is made (then total
     * is 1) and during a run; return nonzero to cancel.  Optional. */
    int (*progress)(void *user, const struct fbp_progress *p);
    fbp_log_fn *log; /**< notes and warnings; optional */
    void *user;
    /** Box of the volume to compute: voxels [first, end) along x, y, z.  end 0: to the edge; all 0:
     *  the whole volume.  Kernel and weights are chosen for the whole volume, and the box has the
     *  same bits as in it.  Other slices are not computed, and detector rows that only they need
     *  are not read.  Kernels "matrix", "column" and "planes" compute only the box, or up to 3
     *  voxels more per side; others compute whole slices. */
    size_t roi[3][2];
    int force; /**< the output may replace an input file */
    /** 1, for FBP_U8 and FBP_U16: the range is from the least to the greatest finite value of the
     *  volume, exactly (output_range must be 0).  Until the volume is complete, fbp_plan_run()
     *  stores its floats in OUTPUT.values.raw.part.  fbp_plan_run_to() ignores it: a sink has its
     *  own range. */
    int auto_range;
    enum fbp_pad_kind pad; /**< extrapolation of rows beyond the panel; 0 = none */
    /** 1: voxels that some views do not see (outside the radius of the field of view, or above or
     *  below the panel's rows) get mask_value, in the unit of the output; it may be NaN if the
     *  output is float32.  min, max and mean of the report leave them out. */
    int mask;
    double mask_value;
    /** Folder for a temporary file of filtered views, which is used if reading and filtering most
     *  rows again per slab would take longer.  The file has no name, and nothing remains of it
     *  after any end of the run.  If no file can be created there, planning fails with FBP_ERR_IO,
     *  even if the file is not needed.  NULL: none. */
    const char *scratch;
    /** Region to compute: "cylinder:R" or "cylinder:X,Y,R" along z, "ball:X,Y,Z,R",
     *  "box:X0:X1,Y0:Y1,Z0:Z1" in mm (an omitted end of a box is the edge; a voxel is inside if its
     *  centre is), or the path of a mask, an array on the grid of the whole volume, non-zero
     * inside. Voxels outside get mask_value if `mask` is set, else 0 (1/mm) or -1000 (HU); min, max
     * and mean of the report leave them out.  Voxels inside have the same bits as without a region.
     *  Slices below and above the region, and slabs outside, are not computed, and detector rows
     *  that only they need are not read; in others, devices skip parts. */
    const char *region;
    /** Region as a mask from a source, which is read while the plan is made.  NULL: none. */
    fbp_source *region_mask;
    /** 2: filtered plane integrals are computed at the measured samples and half way between, with
     *  the same band of frequencies: linear interpolation is then as good as a spline.  0 and 1: at
     *  the samples.  For kind planes. */
    size_t oversampling;
    /** Regularisation for scans with a reference spectrum h: the filter is multiplied by
     *  conj(h) / (|h|^2 + wiener max |h|^2); 0: by 1 / h, which needs a cut-off. */
    double wiener;
    enum fbp_interpolation interpolation; /**< for plane integrals */
    /** 1: rows of plane integrals, and the reference spectrum, are filtered as periodic, with the
     *  response at the frequencies of their discrete transform, for comparison with programs that
     *  do so.  On devices "cpu" and "ref", without oversampling, cubic interpolation and filters in
     *  space. */
    int periodic;
    /** 2: plane integrals are backprojected in two stages, first to a sinogram image per meridian
     *  plane, then from these images as parallel views.  This needs a fraction of the updates and
     *  one more interpolation; for directions in planes through one axis (fbp_meridians_find()).
     *  0 and 1: in one stage. */
    int stages;
    enum fbp_ring_interpolation ring_interpolation; /**< for `angles` */
    /** Columns per voxel in the sinogram images of two stages, 1 to 4; 0: 2. */
    size_t picture_oversampling;
    /** Path of a table of factors for the filter's response to plane integrals, two numbers per
     * row: a fraction of the Nyquist frequency, ascending in [0, 1], and the factor; linear between
     * two rows, constant beyond them.  NULL: none. */
    const char *response;
    /** Number of angles in half a turn to which plane integrals in even rings about x, y or z (such
     *  as equal solid angles) are resampled, the same in all rings: the new views lie in meridian
     *  planes.  0: no resampling. */
    size_t angles;
    /** enum fbp_unit of the values: FBP_UNIT_CM multiplies them by 10, those of plane integrals by
     *  1000.  mask_value and output_range are in that unit; mu_water needs FBP_UNIT_MM. */
    size_t unit;
    /** Processes that compute this volume together, each with a plan of its own (fbp/team.h): all
     *  make the same calls with the same parameters.  Each computes a part and writes it into the
     *  output of fbp_plan_run(), whose slices have the same bits as without a team; for other calls
     *  the sink or memory is that of rank 0.  memory_bytes is per process; 0: its part of 80 % of
     *  the free memory of its host.  NULL: only this process. */
    fbp_team *team;
    /** Number of processes of the team that share the views of each slab; their partial volumes are
     *  added in a fixed order, and values agree with those of one process to 1e-6 of the peak.  0:
     *  the number with the least predicted time, mostly 1. */
    size_t view_ranks;
    /** This process computes part `part`, from 1, of n_parts: consecutive slices (fbp_plan_part()).
     *  The processes of the parts do not communicate.  All write to one output, which gets its name
     *  from the last one; a part whose process was killed is run again, and parts of another
     *  n_parts complete missing slices.  All must have the same scan, parameters and release of fbp
     *  (FBP_ERR_INVALID), except n_parts, memory and threads.  For fbp_plan_run() to uncompressed
     *  files; not with follow, auto_range, or a source of the caller.  0, 0: the whole volume. */
    size_t part, n_parts;
    /** The later output of fbp_plan_run(), if it is known.  For OME-Zarr, memory_bytes then
     * includes the memory of writing, and parts and processes begin at borders of chunks if that
     * makes none much larger.  All parts must give it, or none.  NULL: not known; any output works.
     */
    const char *output;
};

#ifndef __cplusplus /* there: fbp/fbp.hpp */
/** Parameters as an expression: `fbp_recon_params(.device = "cpu", .cutoff = 0.8)`. */
#    define fbp_recon_params(...) \
        (&(struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params), __VA_ARGS__})
#endif

/**
 * The volume that will be reconstructed.  Values missing in `wanted` are those of the scan's
 * volume, then of the default.  If only the size or only the voxels are given, the extent is kept.
 * A cube for one detector row becomes one slice.
 *
 * wanted: as fbp_recon_params.volume; NULL or zero: that of the scan
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_grid_resolve(const struct fbp_grid *wanted,
                                                   const struct fbp_scan *scan,
                                                   struct fbp_grid *out);

/** Predicted times of a run [s]; all 0 if the device was not measured.  Each stage's time is that
 * of the busiest device; stages overlap. */
struct fbp_predicted {
    double read, upload, filter, backproject, fetch, write;
    double share; /**< copies of filtered views to other devices; 0: each filters its own */
    double total; /**< time of a run of an open plan, from its start to the last slice */
    double gups;  /**< updates / total / 1e9 */
};

/** Decisions of a plan, before it runs. */
struct fbp_plan_summary {
    size_t struct_size;
    const char *backend; /**< "ref", "cpu", "mock" */
    const char *kernel;  /**< "matrix", "column" … */
    const char *isa;     /**< instruction set: "c", "avx2" …; "" if there is none to name */
    size_t n_devices;
    int n_threads;
    struct fbp_grid volume;                 /**< the result; with params.roi, the box */
    const struct fbp_geometry_facts *facts; /**< facts of the scan and the whole volume */
    char weights[256];                      /**< one line: scan type, weights, filter, steps */
    size_t n_slabs, slab_slices;
    size_t batch_views, n_batches;
    double view_reads;                  /**< mean number of times that a detector row is read */
    size_t fft_length;                  /**< 0: the filter is spatial, or there is none */
    uint64_t memory_bytes;              /**< predicted peak resident set, including child processes
                                             that inspect HDF5 and MAT files */
    uint64_t memory_limit;              /**< the limit for the plan; 0: none */
    uint64_t device_bytes;              /**< memory on each device, without its driver's own
                                             context; 0 if it is host memory */
    uint64_t input_bytes, output_bytes; /**< on disk; input counts as often as it is read */
    uint64_t updates; /**< computed voxels x views (see params.roi) in all frames; with a region,
                         only its voxels */
    bool filtered;    /**< the views have already been filtered */
    /** The views are still being written.  There are n_batches batches, of the smallest size; if
     * the computation has fallen behind, they are joined to at most batch_views views. */
    int follows;
    struct fbp_grid whole; /**< the whole volume, if `volume` is a box of it; else the same */
    size_t roi[3][2];      /**< the box: voxels [first, end) along x, y, z */
    /** Filtered views are kept on the devices, whatever the number of slabs.  Shared: each view is
     *  read and filtered by one of the devices, and the others copy it from there. */
    int keeps_views, shares_views;
    uint64_t scratch_bytes; /**< size of the file in params.scratch; 0: not used */
    double scratch_reads;   /**< mean number of times that a row is read from it */
    struct fbp_predicted predicted;
    /** With params.region: number of its voxels in `volume`, its slices [first, end) in `whole`,
     * and the parts of the updates and of the detector rows that it saves.  All 0: no region. */
    uint64_t region_voxels;
    size_t region_slices[2];
    double region_saves_updates, region_saves_rows;
    char unit[16]; /**< unit of the values: "1/mm", "1/cm", "HU"; for plane integrals "1/mm^3" … */
    /** With two stages: number and size [columns, rows] of the sinogram images, and updates of the
     *  first stage (views x samples of an image); `updates` are those of the second stage.  All 0:
     *  one stage. */
    size_t n_pictures, picture[2];
    uint64_t picture_updates;
    /** Number of volumes.  For plane integrals, row f of each view belongs to frame f (delay), and
     *  the output is [frame][z][y][x]: a sink of volume.n[2] * frames slices.  For line integrals
     *  1. */
    size_t frames;
    char prepared[256]; /**< the steps of scan.preparation, or corrections, and the resampling of a
                             rolled detector, in words; "" = none */
    /** Corrections in a pass before the run (rings; phases, if views would be read more than once):
     *  size of the stored line integrals [bytes], number of their detector rows, number of bands of
     *  rows processed one after another, and 1 if they are stored in a file, not in memory.  All 0:
     *  no such pass. */
    uint64_t ahead_bytes;
    size_t ahead_rows, ahead_bands, ahead_in_file;
    size_t part,
        n_parts; /**< see the parameters; updates, slabs and output_bytes are those of the part */
};

/** Times and results of a finished run.  Stages overlap: their sum is more than `total`, unless
 *  params.no_overlap is set. */
struct fbp_report {
    size_t struct_size;
    double total, read, filter, backproject, write; /**< working time of each stage [s] */
    double open;                                    /**< time before the first view was read [s] */
    double waiting_read;   /**< time that the computation waited for input [s] */
    double waiting_write;  /**< time that the computation waited for output [s] */
    double gups;           /**< updates / total / 1e9 */
    double min, max, mean; /**< values of the volume, without masked voxels */
    size_t not_finite;     /**< input samples that were NaN or infinite, and were interpolated */
    size_t clipped;        /**< intensities <= 0 whose logarithm was clipped */
    /** For a volume of integers: value = scale * number + offset, and number of voxels outside the
     *  range, which were clipped in this run (not before it was resumed).  Else 0. */
    double output_scale, output_offset;
    uint64_t output_clipped;
    size_t slabs_resumed; /**< number of slabs from an interrupted run */
    uint64_t hash;        /**< hash of the volume, if the output is "hash:" */
    double finish;        /**< time from the last slice to the finished file on disk [s] */
    /** If the scan was followed: time from the end of the last view to the last voxel in host
     * memory, and to the finished output [s]; number of batches, and of views in the last one. Else
     * 0. */
    double volume_after_last_view, output_after_last_view;
    size_t n_batches, last_batch;
    double upload, fetch; /**< parts of `filter` and of `write` for copies to and from a device with
                             its own memory [s]; only with params.no_overlap */
    /** Number of views in which the object is wider than the panel, the first and the last such
     * view, and the greatest values in the first and in the last columns, as part of the greatest
     * value of their row (0 to 1). */
    size_t truncated_views, truncated_first, truncated_last;
    double truncated[2];
    /** Number of dead views: all their samples are equal, clipped, or not numbers.  (If all views
     * are dead, the run fails.) */
    size_t dead_views;
    /** For a volume of integers: the values stored as 0 and as the greatest number.  Else 0. */
    double output_range[2];
    /** Number of views whose exposure differs from that of the others (everything in them is darker
     *  or brighter, air too), the first and the last such view, and their least and greatest
     *  exposure relative to the others.  They are not counted as truncated. */
    size_t exposure_views, exposure_first, exposure_last;
    double exposure[2];
    /** Number of devices that failed and were replaced by the others; the log names them. */
    size_t devices_dropped;
    double ahead; /**< time of the pass before the run (rings, phases) [s]; part of `read` */
    /** For one of several parts: number of slices that are missing in the output; 0: it has its
     * final name.  min, max and mean are those of the slices of this run. */
    size_t slices_missing;
    /** Number of pixels in the rows of the volume that are dead, stuck, hot or saturated in 8 views
     *  spread over the scan, but not listed as bad; number of pixels that were interpolated. */
    size_t bad_pixels, repaired_pixels;
    /** Saturated intensities: the greatest sample of these views, if it lies below the unattenuated
     *  intensity and one sample in a hundred or more has it (saturated air, or i0 too large);
     * number of such samples, and their part of all (0 to 1). */
    double saturated_value;
    size_t saturated;
    double saturated_share;
};

/** One of several parts of the output. */
struct fbp_part {
    size_t struct_size;
    size_t slices[2]; /**< Slices of the output, in each frame: [first, end). */
    uint64_t updates; /**< Voxels x views. */
    size_t missing;   /**< Number of its slices that are missing after a run. */
};

/** A plan belongs to the process that made it.  In a forked child, calls fail (INVALID), and
 *  fbp_plan_destroy() only frees the child's memory. */
typedef struct fbp_plan fbp_plan;

/**
 * Make a plan: choose device, weights, kernel, slabs and batches.  Of arrays only headers are read,
 * except for flats, darks and masks.
 *
 * @param[out] out     NULL on failure.  Free with fbp_plan_destroy().
 * @param      scan    must outlive the plan.
 * @param      params  copied; callbacks are called later, too.  NULL = all defaults.
 * @return FBP_OK, FBP_ERR_INVALID, FBP_ERR_IO, FBP_ERR_NOMEM (the limit is too small: the message
 *         says how much is needed), FBP_ERR_UNSUPPORTED.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_create(fbp_plan **out, const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params);

/** Decisions of the plan.  The struct belongs to the plan. */
FBP_API const struct fbp_plan_summary *fbp_plan_info(const fbp_plan *plan);

/**
 * Slices of part `part`, from 1, of params.n_parts.
 * @return FBP_ERR_INVALID if the plan has no such part.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_part(const fbp_plan *plan, size_t part,
                                                struct fbp_part *out);

/** Estimated time of a run [s], from a measurement of a few milliseconds on the plan's device. */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_estimate(const fbp_plan *plan, double *seconds);

/**
 * Reconstruct into `output` (any path of a sink).  A plan can run more than once.
 * @return as fbp_plan_create(), and FBP_ERR_CANCELLED (fbp_plan_stop(), fbp_stop(), progress); then
 *         there is no file of the final name.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_run(fbp_plan *plan, const char *output,
                                               struct fbp_report *report);

/**
 * Stop the plan's run soon.  The run returns FBP_ERR_CANCELLED, and unfinished work is cleaned up,
 * as after any other failure.  Any thread and a signal handler may call this.  If the plan is not
 * running, its next run ends at once, and later runs are not affected.  fbp_stop() ends all calls
 * of the process.
 *
 * Reading, filtering, backprojecting and writing check for it many times a second.  Some steps
 * cannot be interrupted: a callback of the caller (which may call fbp_stopped()), a read or write
 * that the system delays, work that a device has begun, and flushing a finished file to disk.
 */
FBP_API void fbp_plan_stop(fbp_plan *plan);

/**
 * Open the plan's devices and allocate their memory now, not in the first run.  They are closed
 * when the plan is destroyed.  That memory stays while views are filtered into a scratch file: then
 * `memory_bytes` of the summary may rise, and a limit that does not hold both is an error.
 * @return FBP_OK, also if they are open already; FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_open(fbp_plan *plan);

/**
 * Allocate memory that the plan's devices can copy from and to while they compute.  Views and
 * volumes in it (fbp_source_memory(), fbp_sink_memory()) are copied directly, others through
 * buffers.  Opens the plan.  New memory costs time: use it again for the next run.
 *
 * @param[out] out  free with fbp_plan_release(), before the plan is destroyed.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_alloc(fbp_plan *plan, size_t bytes, void **out);
FBP_API void fbp_plan_release(fbp_plan *plan, void *memory);

/**
 * Draw an SVG after each run that shows when each stage worked: uploads, filter, backprojection and
 * fetch by the device's own clock, reading and writing by that of the host.  NULL: stop drawing.
 * The string must outlive the plan.
 */
FBP_API void fbp_plan_timeline(fbp_plan *plan, const char *path);

/**
 * Reconstruct from a source with the same size and type as the plan's (NULL: the plan's own) into a
 * sink with the size of the plan's volume, or of all frames one after another (`frames` of
 * fbp_plan_info()).  The sink is finished; the caller closes it.  In a team only rank 0 has a sink;
 * the others pass NULL.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_run_to(fbp_plan *plan, fbp_source *source,
                                                  fbp_sink *sink, struct fbp_report *report);

/**
 * Plan and run in one call, from memory to memory.  views: [n_views][n_rows][n_columns], before
 * fbp_scan_reduce(), rows as in scan->row_order (AUTO: row 0 at the bottom).  volume: [z][y][x];
 * its size is that of fbp_grid_resolve(), or of the box params->roi.  For plane integrals, rows are
 * frames (delays), and the volume is [n_rows][z][y][x].  The scan's projections are not used.  To
 * reconstruct more than once, use a plan.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_reconstruct(const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params,
                                                  const float *views, float *volume,
                                                  struct fbp_report *report);

/** The same from doubles to doubles, always in precision double; for kind planes. */
FBP_API FBP_MUST_CHECK fbp_status fbp_reconstruct_double(const struct fbp_scan *scan,
                                                         const struct fbp_recon_params *params,
                                                         const double *views, double *volume,
                                                         struct fbp_report *report);

/**
 * Free a plan and set the caller's pointer to NULL.  `plan` and `*plan` may be NULL.
 *
 * While another thread runs the plan, the call waits until the run has returned; fbp_plan_stop()
 * before it ends the run soon.  A callback of the plan's own run must not call this: the plan is
 * then not changed, *plan is not set to NULL, and fbp_message() has the reason.
 */
FBP_API void fbp_plan_destroy(fbp_plan **plan);

/**
 * An accumulator: a volume to which views of plane integrals (kind planes) are added one at a time,
 * in any order, as soon as each is measured.  With all views the volume is that of
 * fbp_reconstruct() to 1e-5 of its peak; before, it is the sum over the added views.  Calls for one
 * adder must not overlap.
 */
typedef struct fbp_adder fbp_adder;

/**
 * Create a volume of zeros, on one device.
 *
 * scan    must outlive the adder.  It has the geometry of all views, because weights depend on the
 *         whole set; its projections are not used.
 * params  as for a plan: filter, backprojection, volume, and one device
 * @return as fbp_plan_create(); FBP_ERR_UNSUPPORTED for other kinds, filtered views, rows that
 *         have to be prepared first, precision double, two stages, and parts of the volume.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_adder_create(fbp_adder **out, const struct fbp_scan *scan,
                                                   const struct fbp_recon_params *params);

/**
 * Filter a view and add it; returns when that is done.
 *
 * view     its index in the scan, from 0; each once
 * samples  [n_rows][n_columns] of the scan's panel, row f of frame f
 * @return FBP_ERR_INVALID for a view that is not in the scan, or was added before; after
 *         FBP_ERR_DEVICE the volume cannot be relied on.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_adder_add(fbp_adder *adder, size_t view,
                                                const float *samples);

/** The volume so far, [frame][z][y][x], of the size of fbp_grid_resolve(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_adder_volume(fbp_adder *adder, float *volume);

/** Free it and set the caller's pointer to NULL.  `*adder` may be NULL. */
FBP_API void fbp_adder_destroy(fbp_adder **adder);

/** A device, or the reason why it cannot be used. */
struct fbp_device_info {
    size_t struct_size;
    char name[32];    /**< as in fbp_recon_params.device: "cpu", "ref" … */
    char text[160];   /**< model, cores, instruction set */
    char reason[300]; /**< why it cannot be used; "" = usable */
    uint64_t memory_bytes;
    uint64_t free_bytes; /**< free now, of a device's own memory; 0 = not known */
    char driver[64];     /**< release of its driver; "" = there is none */
    char bus_id[28];     /**< address on PCI, such as "0000:18:00.0"; "": none */
    int numa_node;       /**< NUMA node of the near host memory; -1: not known */
};

/** Fill at most n entries.  out[0].struct_size is the size of each.  Returns the number of devices;
 * 0, with a message, if that size is wrong. */
FBP_API size_t fbp_devices(struct fbp_device_info *out, size_t n);

/** Names for fbp_recon_params.device, i from 0: "auto", then the kinds of devices in this build,
 * usable here or not; NULL beyond the last. */
FBP_API const char *fbp_device_name(size_t i);

/** Names for fbp_recon_params.kernel, i from 0: "matrix", "column" …; NULL beyond the last.  Not
 * every device has all of them. */
FBP_API const char *fbp_kernel_name(size_t i);

FBP_END

#endif /* FBP_RECON_H */
