/** @file recon.h  Reconstruction of a volume: parameters, plans and their runs, and the devices.
 * For programs, the bindings, the command fbp and benchmarks.
 *
 * fbp_plan_create() makes a plan from a scan (scan.h) and parameters; fbp_plan_run() and
 * fbp_plan_run_to() run it, once or several times.  fbp_reconstruct() does both in one call. */
#ifndef FBP_RECON_H
#define FBP_RECON_H

#include "fbp/array.h"
#include "fbp/scan.h"
#include "fbp/team.h"

FBP_BEGIN

/**
 * Filter of the samples of a view.  f is the frequency in cycles per sample, f_cut the cut-off
 * frequency.
 *
 * Line integrals: the response is the band-limited ramp, whose spatial kernel is sampled, times a
 * window W(f).
 *
 * Plane integrals (EPR imaging): the response is the band-limited parabola f^2, whose spatial
 * kernel has a closed form, times the window W(f); or the response of a filter without a window,
 * cut off at f_cut.  Filters without a window are an error for line integrals.
 */
enum fbp_filter {
    FBP_FILTER_RAM_LAK = 0, /**< window W = 1 */
    FBP_FILTER_SHEPP_LOGAN, /**< window W = sinc(f / 2 f_cut) */
    FBP_FILTER_COSINE,      /**< window W = cos(pi f / 2 f_cut) */
    FBP_FILTER_HAMMING,     /**< window W = .54 + .46 cos(pi f / f_cut) */
    FBP_FILTER_HANN,        /**< window W = .5 + .5 cos(pi f / f_cut) */
    /** No window: kernel (-1, 2, -1) / 4 pi^2, response f^2 sinc^2(f). */
    FBP_FILTER_SECOND_DIFFERENCE,
    /** No window: kernel (-1, 0, 1) / 2, applied twice; response (sin(2 pi f) / 2 pi)^2. */
    FBP_FILTER_3_POINT_DERIVATIVE,
    FBP_FILTER_5_POINT_DERIVATIVE, /**< no window: kernel (1, -8, 0, 8, -1) / 12, applied twice */
    /** No window: sampled ramp, applied twice to rows that are padded with zeros to three times
       their length. */
    FBP_FILTER_TWO_RAMPS,
    /** No window: sampled ramp, applied twice; the padded row is cut to its length between the two
       ramps, which causes errors of some per cent.  For comparisons. */
    FBP_FILTER_TWO_RAMPS_UNPADDED,
    FBP_FILTER_LAST = FBP_FILTER_TWO_RAMPS_UNPADDED
};

/** Extrapolation of detector rows beyond the panel before they are filtered, for objects that are
 *  wider than the panel. */
enum fbp_pad_kind {
    FBP_PAD_NONE = 0, /**< no extrapolation: samples beyond the panel are 0 */
    FBP_PAD_COSINE,   /**< half a cosine that falls to 0 over 0.15 of the row's length */
    FBP_PAD_ELLIPSE,  /**< projection of an ellipse, fitted to the outer half of the row (compare
                         Maltz et al. 2007, Med. Phys. 34, 3077) */
};

/** Interpolation between filtered samples of plane integrals; samples beyond the row are 0.  Line
 *  integrals support only FBP_INTERPOLATION_LINEAR. */
enum fbp_interpolation {
    FBP_INTERPOLATION_LINEAR = 0,
    /** Nearest sample; halfway between two samples: the one at the greater position t. */
    FBP_INTERPOLATION_NEAREST,
    /** Cubic spline through the samples: the filter computes the coefficients, and each voxel reads
       four of them. */
    FBP_INTERPOLATION_CUBIC,
    FBP_INTERPOLATION_LAST = FBP_INTERPOLATION_CUBIC
};

/** Interpolation over the angle when the views of evenly spaced rings are resampled
 *  (fbp_epr_params.angles): Fourier series, periodic cubic splines, or linear. */
enum fbp_ring_interpolation { FBP_RINGS_FFT = 0, FBP_RINGS_SPLINE, FBP_RINGS_LINEAR };

/** Precision of a reconstruction; a lower precision can be faster.  A device with only one
 * precision ignores FBP_PRECISION_FAST and _HALF, with a note in the log.  FBP_PRECISION_DOUBLE is
 * an error on a device that does not support it. */
enum fbp_precision {
    /** FBP_PRECISION_FAST on "cuda", unless the kernel uses rotational symmetry of the scan; else
     * FBP_PRECISION_EXACT. */
    FBP_PRECISION_DEFAULT = 0,
    /** All computations in float32.  On "cpu", the kernel "tilted" is used only if it is named,
     * because its values differ from those of other kernels and devices (with the same accuracy).
     */
    FBP_PRECISION_EXACT,
    /** GPUs: texture units interpolate, to 1/256 of a pixel.  "cpu": kernel "hierarchical" replaces
     * each group of 64 views by fewer images of each block of voxels (Basu and Bresler 2000).  It
     * interpolates in one step more than other kernels, and all rows of the views are read for each
     * slab.  Scans without many views, or with a tilt, are computed in FBP_PRECISION_EXACT. */
    FBP_PRECISION_FAST,
    /** GPUs: filtered samples in float16.  "cuda": the kernel "hierarchical" must be named; it is
     * that of "cpu" in FBP_PRECISION_FAST, with images in float16.  "cpu", kernel "rot90" with AVX2
     * or AVX-512: filtered samples as integers of 16 bits; the rows of whole views are read for
     * each slab. */
    FBP_PRECISION_HALF,
    /** Samples, filter, sums and voxels in double; only for kind planes. */
    FBP_PRECISION_DOUBLE,
    FBP_PRECISION_LAST = FBP_PRECISION_DOUBLE
};

/** Progress of a run.  An update is the contribution of one view to one voxel.  If a device fails,
 * its unfinished slabs (blocks of slices) are computed again, and `done` decreases. */
struct fbp_progress {
    size_t struct_size;
    uint64_t done, total; /**< number of finished updates, and of all updates of the run */
    size_t views_read;    /**< number of views read in the current pass over the views */
    size_t slabs_done, n_slabs;
    double seconds; /**< time since the start [s] */
    /** If the scan is still being measured: number, from 1, of the view that the run waits for; 0:
     * the run does not wait. */
    size_t waiting_for;
};

/** Number of filtered samples per measured sample of a row of line integrals.  Samples between the
 * measured ones follow from the spectrum of the row, which is extended with zeros; they make the
 * linear interpolation of the backprojection more accurate.  FBP_REFINE_AUTO: the least number with
 * at least two samples per voxel on the axis, at most 4. */
enum fbp_refine { FBP_REFINE_1 = 0, FBP_REFINE_2, FBP_REFINE_4, FBP_REFINE_AUTO };

/** Parameters of filter and weights that are rarely changed.  0 means the default. */
struct fbp_filtering_params {
    enum fbp_refine
        refine; /**< line integrals only; plane integrals: fbp_epr_params.oversampling */
    /** Cut-off of a Hann window along detector columns, a fraction of the Nyquist frequency, (0,
     * 1]; 0: no such window. */
    double cutoff_v;
    /** True: the filter is a convolution in space; false: a multiplication after an FFT. */
    bool spatial;
    /** Number of samples on each side of the kernel of a spatial filter; 0: the whole row. */
    size_t half_width;
    enum fbp_angular_weights angular_weights;
    /** [n_window] Factors by which the filter, the ramp times the window of `filter`, is
     * multiplied: at n_window >= 2 equally spaced frequencies from 0 to the Nyquist frequency,
     * linear between them.  Read while the plan is made.  NULL: no such factors. */
    const double *window;
    size_t n_window;
};

/** Region of the volume to compute, in mm or as a mask.  Voxels outside get
 * fbp_output_params.fill_value if `fill` is set there, else 0 (1/mm) or -1000 (HU); the report's
 * min, max and mean exclude them.  Voxels inside have the same bits as without a region.  Slices
 * and slabs outside the region are not computed, and detector rows that only those slices need are
 * not read; devices skip parts of the other slices. */
struct fbp_region_params {
    /** Shape of the region: "cylinder:R" or "cylinder:X,Y,R" along z, "ball:X,Y,Z,R",
     * "box:X0:X1,Y0:Y1,Z0:Z1" in mm (an omitted end of a box is the edge; a voxel is inside if its
     * centre is inside), or the path of a mask: an array on the grid of the whole volume, nonzero
     * inside.  NULL: no region. */
    const char *shape;
    /** Mask of the region as an array that is open for reading; read while the plan is made; NULL:
     * none. */
    fbp_source *mask;
};

/** Views of a plan that does not read the finished files of its scan. */
struct fbp_input_params {
    /** Source of the views in place of the scan's projections; NULL: the projections.  The source
     * contains the stored views, before fbp_scan_reduce(), and must outlive the plan. */
    fbp_source *source;
    /** True: the scan's projections are still being written (fbp_scan_known.growing), and each
     * batch is computed when its views are complete (fbp_source_follow()).  Views are used in the
     * order of the scan.  Therefore kernels that need distant views together are not used, and the
     * run cannot be resumed. */
    bool follow;
    /** If the scan is still being measured: time after which the run fails if no view was written
     * [s]; 0: no limit. */
    double follow_timeout_s;
};

/** The stored volume.  0 means the default. */
struct fbp_output_params {
    /** Output of the later fbp_plan_run(), if it is known; NULL: not known, any output works.  For
     * an OME-Zarr store, memory_bytes includes the memory of writing, and the slices of parts and
     * processes begin at borders of chunks, unless a part would become much larger.  All parts must
     * give the path, or none. */
    const char *path;
    /** Type of the stored volume.  FBP_TYPE_NONE: FBP_F32, or FBP_F64 with FBP_PRECISION_DOUBLE,
     * which FBP_F64 requires.  FBP_U8, FBP_U16 and FBP_I16: values from range[0] to range[1] are
     * mapped to all integers of the type. */
    enum fbp_type type;
    /** For volumes of integers: values stored as the least and as the greatest integer.  Both 0:
     * -1000 to 3000 in HU, for FBP_I16 -32768 to 32767 in HU, whose integers are the rounded
     * Hounsfield units; in other units, either a range or auto_range is required. */
    double range[2];
    /** True: the range of integers is from the least to the greatest finite value of the volume;
     * only for integers, with range 0.  fbp_plan_run() stores
     * floats in OUTPUT.values.raw.part while the volume is incomplete.  fbp_plan_run_to() ignores
     * this member, because a sink has its own range. */
    bool auto_range;
    /** Unit of the values, also of fill_value and range.  FBP_UNIT_CM multiplies values by 10, or
     * by 1000 for plane integrals; mu_water requires FBP_UNIT_MM. */
    enum fbp_unit unit;
    /** True: voxels that some views do not see (outside the radius of the field of view, or above
     *  or below the panel's rows) get fill_value.  The report's min, max and mean exclude them. */
    bool fill;
    /** With `fill`: value of voxels outside the region or not seen by some views, in the unit of
     * the output; NaN only for floating-point outputs. */
    double fill_value;
    bool compress; /**< true: compress the output with zlib, if the format supports it */
    /** True: continue an interrupted run; the slabs (blocks of slices) that it stored are not
     * computed again. */
    bool resume;
    bool force; /**< true: the output may replace an input file */
};

/** Parameters of plane integrals (EPR imaging, kind planes).  0 means the default. */
struct fbp_epr_params {
    enum fbp_interpolation interpolation; /**< interpolation between filtered samples */
    /** Oversampling of filtered plane integrals.  2: they are computed at the measured samples and
     * halfway between two samples, with the same frequency band; linear interpolation is then as
     * good as a spline.  0 and 1: at the measured samples only. */
    size_t oversampling;
    /** Regularisation w; h is the Fourier transform of the scan's reference spectrum.  The filter
     *  is multiplied by conj(h) / (|h|^2 + w max |h|^2); 0: by 1 / h, and `cutoff` is required. */
    double wiener;
    /** Path of a table of factors for the filter's response; NULL: none.  Each row has two numbers:
     *  a fraction of the Nyquist frequency, ascending in [0, 1], and the factor.  The factor is
     *  linear between two rows and constant beyond the first and last. */
    const char *response;
    /** True: rows and the reference spectrum count as periodic, and the filter's response is
     * sampled at the frequencies of their discrete Fourier transform, for comparison with programs
     * that filter in this way.  Only on devices "cpu" and "ref"; not with oversampling, cubic
     * interpolation or spatial filters. */
    bool periodic;
    /** Number of stages of the backprojection.  2: plane integrals are backprojected first to one
     * sinogram image per meridian plane, then from these images as parallel views, which needs a
     * fraction of the updates and one more interpolation.  The directions must lie in planes
     * through one axis, or be resampled to such planes (`angles`).  0 and 1: one stage. */
    int stages;
    /** Backprojection in two stages: number of columns per voxel in the intermediate sinogram
     * images, 1 to 4; 0: 2 columns. */
    size_t image_oversampling;
    /** Resampling of plane integrals in evenly spaced rings about x, y or z (such as equal solid
     * angles): number of angles per half turn, the same in all rings.  The new views lie in
     * meridian planes.  0: no resampling. */
    size_t angles;
    /** Method of interpolation over the angle when rings are resampled (`angles`). */
    enum fbp_ring_interpolation ring_interpolation;
};

/** Parameters for computing one volume by several processes.  0 means the default. */
struct fbp_cluster_params {
    /** Team of processes that compute this volume together (fbp/team.h), each with its own plan;
     * NULL: only this process.  All processes make the same calls with the same parameters.  Each
     * computes a part and writes it into the output of fbp_plan_run() or, if not all processes see
     * this file or its format requires it, sends it to rank 0; the slices have the same bits as
     * without a team.  In other calls only rank 0 has the sink or memory.  memory_bytes is per
     * process; 0: the process's part of 80 % of its host's free memory. */
    fbp_team *team;
    /** Number of processes of the team that share the views of each slab (block of slices); 0: the
     * number with the least predicted time, mostly 1.  Their partial volumes are added in a fixed
     * order, and values agree with those of one process to 1e-6 of the volume's greatest value. */
    size_t view_ranks;
    /** Part of the volume that this process computes: part `part`, from 1, of n_parts parts of
     * consecutive slices.  0, 0: the whole volume.  The processes of the parts do not communicate.
     * All write to one output, which gets its final name from the last process.  If a process was
     * killed, run its part again, or complete the missing slices with parts of another n_parts. All
     * parts need the same scan, parameters and release of fbp, else FBP_ERR_INVALID; n_parts,
     * memory and threads may differ.  Only for fbp_plan_run() to uncompressed files, without a
     * team, follow, auto_range, or a source of the caller. */
    size_t part, n_parts;
};

/** Settings that determine the speed; 0: chosen by the plan.  They do not change the values, except
 * that the choice of the kernel changes the last bits. */
struct fbp_tuning_params {
    /** Kernel of the backprojection: "matrix", "column" …; NULL: the fastest possible. */
    const char *kernel;
    size_t batch_views; /**< number of views per batch */
    size_t slab_slices; /**< greatest number of slices per slab */
    /** Folder for a temporary file of filtered views; NULL: none.  The file is used if this takes
     * less time than to read and filter most rows again for each slab.  The file has no name, and
     * is removed by any end of the run.  If no file can be created in the folder, planning fails
     * with FBP_ERR_IO, even if the file is not needed. */
    const char *scratch;
    /** Path of an SVG file that is drawn after each run and shows when each stage worked: upload,
     *  filter, backprojection and fetch by the device's clock, reading and writing by the host's
     *  clock.  The string must outlive the plan.  NULL: none. */
    const char *timeline;
    /** True: the stages of the run do not overlap, to measure the time of each stage.  Batches then
     * have one size, and each slab (block of slices) is finished before the next one starts. */
    bool no_overlap;
};

/** Functions of the caller. */
struct fbp_callbacks {
    /** Function that is called several times per second, from one thread at a time, while a plan is
     * made (p->total is then 1) and during a run.  A nonzero result cancels the call.  NULL: not
     * called. */
    int (*progress)(void *user, const struct fbp_progress *p);
    fbp_log_fn *log; /**< function that receives notes and warnings; NULL: none */
    void *user;      /**< passed to progress() and log() */
};

/** Parameters of a reconstruction.  0 or NULL means the default. */
struct fbp_recon_params {
    size_t struct_size; /**< sizeof(struct fbp_recon_params); set by the macro fbp_recon_params() */
    const char *device; /**< name of the device or devices: "auto", "ref", "cpu", "cuda:0,1" …;
                           NULL: "auto" */
    int n_threads; /**< number of threads for computing; 0: one per core of the affinity mask */
    /** Greatest memory of the plan and its runs, in addition to the memory that the process uses
     * when the plan is made [bytes]; 0: 80 % of the free memory. */
    size_t memory_bytes;
    /** Memory of the plan on each device [bytes]; 0: 90 % of the free memory.  The driver's
     * context, about 300 MiB on a GPU, is not counted. */
    size_t device_memory_bytes;
    enum fbp_filter filter;
    double cutoff; /**< cut-off of the filter, a fraction of the Nyquist frequency, (0, 1]; 0: 1 */
    enum fbp_pad_kind pad; /**< extrapolation of rows beyond the panel; 0: no extrapolation */
    enum fbp_precision precision;
    /** Attenuation of water [1/mm].  Positive: the output is in Hounsfield units,
     *  HU = 1000 (mu - mu_water) / mu_water; only for line integrals. */
    double mu_water;
    /** Grid of the volume.  If the number or the size of voxels is 0, the extent of the scan's
     * volume is kept.  If voxel_mm is given, all three numbers are > 0, voxel_mm[2] also for one
     * slice.  centre_mm (0, 0, 0): centre of the scan's volume; if the scan has no volume, the
     * middle of the field of view, which may differ from the iso-centre (such as with
     * fbp_circle.offset_mm[1]).  (0, 0, 0) does not select the iso-centre: for a volume about the
     * iso-centre, set n and voxel_mm of scan.volume, and its centre_mm to (0, 0, 0). */
    struct fbp_grid volume;
    /** Box of the volume to compute: voxels [first, end) along x, y, z.  end 0: to the edge; all 0:
     *  the whole volume.  Kernel and weights are chosen for the whole volume, and voxels have the
     *  same bits as in the whole volume.  Slices outside the box are not computed, and detector
     *  rows that only those slices need are not read.  Kernels "matrix", "column" and "planes"
     *  compute only the box, or up to 3 voxels more per side; other kernels compute whole
     *  slices. */
    size_t box[3][2];
    struct fbp_filtering_params filtering;
    struct fbp_region_params region;
    struct fbp_input_params input;
    struct fbp_output_params output;
    struct fbp_epr_params epr;
    struct fbp_cluster_params cluster;
    struct fbp_tuning_params tuning;
    struct fbp_callbacks callbacks;
};

#ifndef __cplusplus /* for C++, see fbp/fbp.hpp */
/** Parameters as an expression: `fbp_recon_params(.device = "cpu", .cutoff = 0.8)`. */
#    define fbp_recon_params(...) \
        (&(struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params), __VA_ARGS__})
#endif

/**
 * Store the grid of the volume that a reconstruction will have.  Values missing in `wanted` are
 * those of the scan's volume, or of the default volume if the scan has none.  If only the number or
 * only the size of voxels is given, the extent is kept.  A centre other than (0, 0, 0) replaces
 * that of the scan's volume, which is the middle of the field of view by default.  For line
 * integrals and one detector row, a cube (n[0] == n[2]) becomes one slice.
 *
 * wanted  requested grid, as in fbp_recon_params.volume; NULL or zero: that of the scan
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_grid_resolve(const struct fbp_grid *wanted,
                                                   const struct fbp_scan *scan,
                                                   struct fbp_grid *out);

/** Predicted times of a run [s]; all 0 if the device was not measured.  The time of a stage is that
 * of the busiest device; stages overlap. */
struct fbp_predicted {
    double read, upload, filter, backproject, fetch, write;
    /** Time of copying filtered views to other devices [s]; 0: no views are copied between devices.
     */
    double share;
    /** Time from the start of a run, with devices already open, to the last slice [s]. */
    double total;
    double gups; /**< updates / total / 1e9 */
};

/** Decisions of a plan, before it runs. */
struct fbp_plan_summary {
    size_t struct_size;
    const char *backend; /**< name of the backend: "ref", "cpu", "cuda" … */
    const char *kernel;  /**< name of the kernel: "matrix", "column" … */
    /** Instruction set: "c", "avx2" …; "": the backend has no name for it. */
    const char *isa;
    size_t n_devices;
    int n_threads;
    /** Grid of the computed volume; if params.box requests a box, grid of the box. */
    struct fbp_grid volume;
    /** Geometry facts of the scan and of the whole volume. */
    const struct fbp_geometry_facts *facts;
    char weights[256]; /**< description in one line: scan type, weights, filter, steps */
    size_t n_slabs, slab_slices;
    size_t batch_views, n_batches;
    double view_reads; /**< mean number of times that a detector row is read from the input */
    /** Length of the filter's FFT [samples]; 0: spatial filter, or no filter. */
    size_t fft_length;
    /** Predicted peak memory (resident set) [bytes], with that of child processes that inspect HDF5
     * and MAT files. */
    uint64_t memory_bytes;
    uint64_t memory_limit; /**< limit of the plan's memory [bytes]; 0: no limit */
    /** Memory on each device without the driver's context [bytes]; 0: devices use host memory. */
    uint64_t device_bytes;
    /** Bytes that a run reads, repeated reads included, and size of the output [bytes]. */
    uint64_t input_bytes, output_bytes;
    /** Number of updates: computed voxels (in box and region) times views, for all time points. */
    uint64_t updates;
    bool filtered; /**< true: the stored views of the scan are already filtered */
    /** True: the run follows a scan whose views are still being written.  n_batches then counts
     * batches of the smallest size; if the computation falls behind, batches are joined, up to
     * batch_views views. */
    bool follows;
    struct fbp_grid whole; /**< grid of the whole volume, of which params.box is a part */
    /** Computed box of the whole volume: voxels [first, end) along x, y, z. */
    size_t box[3][2];
    /** keeps_views is true if filtered views stay in device memory for all slabs of slices;
     * shares_views is true if one device reads and filters a view, then copies it to the others. */
    bool keeps_views, shares_views;
    /** Size of the temporary file in params.tuning.scratch [bytes]; 0: no file. */
    uint64_t scratch_bytes;
    /** Mean number of times that a row is read from the temporary file of filtered views. */
    double scratch_reads;
    struct fbp_predicted predicted;
    /** Number of computed voxels inside the requested region; 0: no region. */
    uint64_t region_voxels;
    /** Slices [first, end) of the whole volume that contain the requested region. */
    size_t region_slices[2];
    /** Fractions of all updates and of all detector rows that the requested region saves. */
    double region_saves_updates, region_saves_rows;
    /** Unit of the values: "1/mm", "1/cm", "HU"; for plane integrals "1/mm^3" …. */
    char unit[16];
    /** Backprojection in two stages (params.epr.stages): number of sinogram images that the first
     * stage makes, and their size [columns, rows].  0: one stage. */
    size_t n_pictures, picture[2];
    /** Backprojection in two stages: number of updates of the first stage (views x samples of a
     * sinogram image); `updates` is that of the second stage. */
    uint64_t picture_updates;
    /** Number of volumes; 1 for line integrals.  For plane integrals, row f of each view belongs to
     * time point f (delay), and the output is [time point][z][y][x]: a sink of time_points *
     * volume.n[2] slices. */
    size_t time_points;
    /** Processing of the stored rows, in words: preparation steps, corrections, resampling of a
     * rolled detector; "": none. */
    char prepared[256];
    /** Size of the line integrals that are stored by a pass of corrections before the run (ring
     * removal; phase retrieval, if views would be read more than once) [bytes].  0: no such pass;
     * ahead_rows, ahead_bands and ahead_in_file are then 0. */
    uint64_t ahead_bytes;
    /** Pass of corrections before the run: ahead_rows is the number of detector rows, ahead_bands
     * the number of blocks of rows that are processed one after another; ahead_in_file is 1 if the
     * line integrals are stored in a file, 0 if in memory. */
    size_t ahead_rows, ahead_bands, ahead_in_file;
    /** Part `part`, from 1, of n_parts that this plan computes (params.cluster); 0, 0: the whole
     * volume.  updates, slabs and output_bytes are those of the part. */
    size_t part, n_parts;
};

/** Times and results of a finished run.  Stages overlap: the sum of their times can exceed `total`,
 * unless params.tuning.no_overlap is set. */
struct fbp_report {
    size_t struct_size;
    /** Time of the run, and of the work of each stage [s]. */
    double total, read, filter, backproject, write;
    double open;          /**< time before the first view was read [s] */
    double waiting_read;  /**< time that the computation waited for input [s] */
    double waiting_write; /**< time that the computation waited for output [s] */
    double gups;          /**< updates / total / 1e9 */
    /** Least, greatest and mean value of the volume, without voxels that are masked (outside of the
     * region, or not seen by some views). */
    double min, max, mean;
    /** Number of input samples that were NaN or infinite; they were interpolated along the row, or
     * set to 0 in a row without finite samples. */
    size_t not_finite;
    size_t clipped; /**< number of intensities at or below the dark, whose transmission was set to
                       1e-6 */
    /** For a volume of integers: value = output_scale * number + output_offset.  Else 0. */
    double output_scale, output_offset;
    /** For a volume of integers: number of voxels outside the range that this run clipped, not
     * counting the run that was resumed.  Else 0. */
    uint64_t output_clipped;
    /** Resumed run: number of slabs (blocks of slices) that the interrupted run had finished. */
    size_t slabs_resumed;
    uint64_t hash; /**< hash of the volume, only if the output is "hash:" */
    double finish; /**< time from the last slice to the finished file on disk [s] */
    /** For a scan that was measured during the run: time from the end of the last view to the last
     * voxel in host memory, and to the finished output [s].  Else 0. */
    double volume_after_last_view, output_after_last_view;
    /** For a scan that was measured during the run: number of batches, and number of views in the
     * last batch.  Else 0. */
    size_t n_batches, last_batch;
    /** Time of copies to a device with its own memory (part of `filter`) and from the device (part
     * of `write`) [s]; only with params.tuning.no_overlap. */
    double upload, fetch;
    /** Truncated views (object wider than the panel): number, index of the first and the last. */
    size_t truncated_views, truncated_first, truncated_last;
    /** Truncated views: greatest value at the first [0] and at the last columns [1], as a fraction
     * of the greatest value of the same row (0 to 1). */
    double truncated[2];
    /** Number of dead views: the samples of a view are all equal, all clipped, or all not finite.
     *  If all views are dead, the run fails. */
    size_t dead_views;
    /** For a volume of integers: values stored as 0 and as the greatest number.  Else 0. */
    double output_range[2];
    /** Views whose exposure differs from that of the other views (the whole view is darker or
     * brighter, air included): number, index of the first and the last.  Such views are not counted
     * as truncated. */
    size_t exposure_views, exposure_first, exposure_last;
    /** Views with another exposure: least and greatest ratio to the exposure of other views. */
    double exposure[2];
    /** Number of devices that failed during the run; other devices did their work (see the log). */
    size_t devices_dropped;
    /** Time of the pass of corrections before the run (ring removal, phase retrieval) [s]; part of
     * `read`. */
    double ahead;
    /** Run of one part of the volume (params.cluster.part): number of slices that the output still
     * lacks; 0: the output has its final name.  In such a run, min, max and mean are those of its
     * own slices. */
    size_t slices_missing;
    /** bad_pixels: number of pixels that are dead, stuck, hot or saturated in 8 views spread over
     * the scan, but not listed as bad, in the rows that the volume needs.  repaired_pixels: number
     * of pixels that were interpolated. */
    size_t bad_pixels, repaired_pixels;
    /** Saturated intensities: greatest sample of 8 views spread over the scan, if it is at least 2
     * % below the unattenuated intensity and at least 1 % of the samples have this value (saturated
     * air, or i0 too large). Else 0. */
    double saturated_value;
    /** Saturated intensities: number of samples of these 8 views with the value saturated_value. */
    size_t saturated;
    /** Saturated intensities: their fraction of all samples of these 8 views. */
    double saturated_share;
};

/** A plan: the decisions and tables for one reconstruction.  A plan belongs to the process that
 * made it: in a forked child, calls fail (FBP_ERR_INVALID), and fbp_plan_destroy() only frees the
 * child's memory. */
typedef struct fbp_plan fbp_plan;

/**
 * Make a plan: choose device, weights, kernel, slabs and batches.  Only the header
 * of the projections is read or, to find bad pixels, also 8 views; flats, darks and masks are read
 * in full.
 *
 * @param[out] out     NULL on failure; free it with fbp_plan_destroy()
 * @param      scan    must outlive the plan
 * @param      params  copied; its callbacks are also called later.  NULL: all defaults
 * @return FBP_OK, FBP_ERR_INVALID, FBP_ERR_IO, FBP_ERR_NOMEM (the limit is too small: the message
 *         contains the memory needed), FBP_ERR_UNSUPPORTED.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_create(fbp_plan **out, const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params);

/** Return the decisions of a plan.  The struct belongs to the plan. */
FBP_API const struct fbp_plan_summary *fbp_plan_info(const fbp_plan *plan);

/** Estimate the time of a run [s] from a measurement of some milliseconds on the first device of
 * the plan. */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_estimate(const fbp_plan *plan, double *seconds);

/** Reconstruct into `output` (any path that fbp_sink_open() accepts).  A plan can run more than
 * once.
 *
 * report  times and results; NULL: none
 * @return as fbp_plan_create(), and FBP_ERR_CANCELLED after fbp_stopper_stop() or a nonzero result
 *         of progress().  After a failure no file has the final name.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_run(fbp_plan *plan, const char *output,
                                               struct fbp_report *report);

/**
 * Open the plan's devices and allocate their memory now, not in the first run.  The devices are
 * closed when the plan is destroyed.  Their memory stays allocated while views are filtered into a
 * scratch file; memory_bytes of the summary may then rise, and if the limit is too small for both,
 * the call fails.
 * @return FBP_OK, also if the devices are open already; FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_open(fbp_plan *plan);

/**
 * Allocate host memory that the plan's devices can copy from and to while they compute, and open
 * the plan.  Views and volumes in this memory (fbp_source_memory(), fbp_sink_memory()) are copied
 * directly; those in other memory are copied through buffers.  Allocation is slow: reuse the memory
 * for the next run.
 *
 * @param[out] out  free with fbp_plan_release(), before the plan is destroyed
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_alloc(fbp_plan *plan, size_t bytes, void **out);
FBP_API void fbp_plan_release(fbp_plan *plan, void *memory);

/**
 * Reconstruct from a source into a sink.  The call finishes the sink (fbp_sink_finish()); the
 * caller closes it.
 *
 * source  views of the same size and type as those of the plan; NULL: the plan's own source
 * sink    as large as the plan's volume, or as all time points one after another (`time_points` of
 *         fbp_plan_info()).  In a team only rank 0 has a sink; the other ranks pass NULL.
 * report  times and results; NULL: none
 * @return as fbp_plan_run(); FBP_ERR_UNSUPPORTED for a plan with n_parts.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_plan_run_to(fbp_plan *plan, fbp_source *source,
                                                  fbp_sink *sink, struct fbp_report *report);

/**
 * Plan and run in one call, from memory to memory.  The scan's projections are not used.  To
 * reconstruct more than once, use a plan.
 *
 * type    of views and volume: FBP_F32; or FBP_F64, always in precision double, for kind planes
 * views   [n_views][n_rows][n_columns], before fbp_scan_reduce(), rows in scan->row_order (AUTO:
 *         row 0 at the bottom)
 * volume  [z][y][x]; its size is that of fbp_grid_resolve(), or of the box params->box.  For plane
 *         integrals, rows are time points (delays), and the volume is [n_rows][z][y][x].
 * report  times and results; NULL: none
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_reconstruct(const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params,
                                                  enum fbp_type type, const void *views,
                                                  void *volume, struct fbp_report *report);

/**
 * Free a plan and set the caller's pointer to NULL.  `plan` and `*plan` may be NULL.
 *
 * While another thread runs the plan, the call waits until the run has returned; call
 * fbp_stopper_stop() first to end the run soon.  A callback of the plan's own run must not call
 * this function: the plan and *plan then remain unchanged, and fbp_message() has the reason.
 */
FBP_API void fbp_plan_destroy(fbp_plan **plan);

/**
 * An accumulator: a volume to which views of plane integrals (kind planes) are added one at a time,
 * in any order, when each has been measured.  After all views, the volume is that of
 * fbp_reconstruct() to 1e-5 of its peak; before, it is the sum over the added views.  Calls for one
 * accumulator must not overlap.
 */
typedef struct fbp_accumulator fbp_accumulator;

/**
 * Create an accumulator with a volume of zeros, on one device.
 *
 * scan    must outlive the accumulator.  It has the geometry of all views, because weights depend
 *         on all of them; its projections are not used.
 * params  as for a plan: filter, backprojection, volume, and one device
 * @return as fbp_plan_create(); FBP_ERR_UNSUPPORTED for other kinds of scan, filtered views, a
 *         scan with preparation of stored rows, precision double, two stages, resampled angles, a
 *         mask, and parts of the volume (box, region, n_parts).
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_accumulator_create(fbp_accumulator **out,
                                                         const struct fbp_scan *scan,
                                                         const struct fbp_recon_params *params);

/**
 * Filter a view and add it to the volume.
 *
 * view     index of the view in the scan, from 0; each view is added once
 * samples  [n_rows][n_columns] of the scan's panel; row f belongs to time point f
 * @return FBP_ERR_INVALID for a view that is not in the scan, or was added before.  After
 *         FBP_ERR_DEVICE the contents of the volume are undefined.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_accumulator_add(fbp_accumulator *accumulator, size_t view,
                                                      const float *samples);

/** Copy the volume of the views added so far to `volume`: [time point][z][y][x], with the size of
 * fbp_grid_resolve(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_accumulator_volume(fbp_accumulator *accumulator,
                                                         float *volume);

/** Free an accumulator and set the caller's pointer to NULL.  `*accumulator` may be NULL. */
FBP_API void fbp_accumulator_destroy(fbp_accumulator **accumulator);

/** A device, or the reason why it cannot be used. */
struct fbp_device_info {
    size_t struct_size;
    char name[32];         /**< name of the device for fbp_recon_params.device: "cpu", "ref" … */
    char text[160];        /**< description: model, cores, instruction set */
    char reason[300];      /**< reason why the device cannot be used; "": it can be used */
    uint64_t memory_bytes; /**< size of the device's memory [bytes] */
    uint64_t free_bytes;   /**< free part of the device's own memory [bytes]; 0: not known */
    char driver[64];       /**< release of the driver; "": no driver */
    char bus_id[28];       /**< PCI address, such as "0000:18:00.0"; "": none */
    int numa_node;         /**< NUMA node of the nearest host memory; -1: not known */
};

/** Describe the devices.
 *
 * out  filled with at most n entries; the caller sets out[0].struct_size to the size of one entry
 * @return number of devices; 0, with a message, if the size of an entry is wrong.
 */
FBP_API size_t fbp_devices(struct fbp_device_info *out, size_t n);

FBP_END

#endif /* FBP_RECON_H */
