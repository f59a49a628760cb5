/** @file recon.h Options of fbp recon and fbp plan (struct recon_args and rows of their tables),
 * which fbp-bench shares, and functions of these commands: loading of the scan, creation of the
 * plan, checks of options, printed results, progress bar. Implemented in recon*.c, cmd_plan.c and
 * progress.c.
 * Used by: bench/, cli/. */
#ifndef FBP_CLI_RECON_H
#define FBP_CLI_RECON_H

#include "geometry.h"

#include "backend/backend.h"
#include "filter/filter.h"
#include "filter/pad.h"
#include "geometry/kind.h"

/** Result of --hu-from-roi: statistics of the voxels in the water sphere. */
struct recon_water {
    double mean, sd; /**< mean and standard deviation of the attenuation [1/mm] */
    size_t n;        /**< number of voxels */
};

/** Options of fbp recon and fbp plan, and facts that recon_prepare_scan() finds in the scan. */
struct recon_args {
    struct fbp_recon_params p;
    const char *part;       /**< --part, such as "3/16" or "auto/16"; NULL: the whole volume */
    struct opt_words scans; /**< all scans of the command line */
    const char *scan, *output, *preview, *timeline, *report, *sweep, *curve;
    size_t size[3], every, bin;
    /** --views, --skip: stored views to use, to leave out, such as "0:100,110:"; NULL: not given */
    const char *views, *skip;
    /** Voxel size (0: chosen) and position of the volume's centre (NaN: the scan's) [mm]. */
    double voxel[3], volume_centre[3];
    /** distance between detector pixels along u and v [mm]; 0: that of the scan */
    double pitch[2];
    struct opt_range slice, roi[3]; /**< box of the volume [voxels], by --slice or --roi */
    double adjust[FBP_ADJUSTS]; /**< values of the options --centre, --offset, --tilt, --sod, --sdd;
                               NaN: the value in the scan file; INFINITY: --centre auto */
    double mask;                /**< value of --mask; NaN: not given; INFINITY: --mask nan */
    /** water sphere of --hu-from-roi: x, y, z, radius [mm]; radius NaN: not given */
    double water[4];
    unsigned score;    /**< score of --sweep, an enum fbp_score */
    double paganin[3]; /**< --paganin: delta / beta, energy [keV], distance [mm]; NaN: the scan's */
    /** --bad-pixels: file of an image that marks bad pixels, "auto", or NULL: the scan's */
    const char *bad_pixels;
    /** --rings: method of ring removal, such as "sorting"; NULL: that of the scan */
    const char *rings;
    /** --prepare: steps that compute plane integrals from spectra; NULL: those of the scan */
    const char *prepare;
    /** --reference: file of a spectrum (plane integrals); NULL: that of the scan */
    const char *reference;
    /** Numbers of --beam-hardening and --zingers (the other members are not used);
     * beam_hardening[0] or zingers NaN: those of the scan. */
    struct fbp_corrections correct;
    unsigned quadrature;      /**< --quadrature: 1 + enum fbp_quadrature; 0: the scan's */
    unsigned unit;            /**< --unit: unit of the voxel values, an enum fbp_unit */
    struct recon_water found; /**< result of --hu-from-roi, set by recon_prepare_scan() */
    struct fbp_centre centre; /**< result of --centre auto; set if has_centre is true */
    bool has_centre;
    bool plan, json, quiet;
    bool flip_u, flip_v, reverse;
    bool scans_volume;  /**< the scan contains the grid of a volume */
    bool loaded;        /**< the scan was loaded, and no output replaces an input */
    enum fbp_kind kind; /**< kind of the scan; set by recon_prepare_scan() */
};

/** Initial values of members of struct recon_args for which 0 does not mean "not given". */
#define RECON_ARGS                                                                                 \
    .mask = NAN, .volume_centre = {NAN, NAN, NAN}, .adjust = ADJUST_NONE, .water = {0, 0, 0, NAN}, \
    .correct = {.beam_hardening = {NAN}, .zingers = NAN}, .paganin = {NAN}

#define R struct recon_args
// clang-format off
/** Rows of an option table shared by fbp recon, fbp plan and fbp-bench. */
#define RECON_OPTIONS \
    OPT(R, size, .name = "size", .arg = "N|NxMxL", .min = 1, .max = FBP_SIDE_MAX, \
        .fallback = "from the scan file", .help = "number of voxels along x, y, z"), \
    OPT(R, voxel, .name = "voxel", .arg = "MM|XxYxZ", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX, \
        .fallback = "from the scan file", .help = "size of a voxel along x, y, z [mm]"), \
    OPT(R, volume_centre, .name = "volume-centre", .arg = "X_MM,Y_MM,Z_MM", .min = -FBP_PLACE_MM_MAX, .max = FBP_PLACE_MM_MAX, \
        .fallback = "from the scan file", .help = "position of the volume's centre [mm]"), \
    OPT(R, pitch, .name = "pitch", .arg = "MM|U,V", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX, \
        .fallback = "from the scan file", .help = "distance between detector pixels [mm]"), \
    OPT(R, flip_u, .name = "flip-u", .help = "reverse the order of the detector columns"), \
    OPT(R, flip_v, .name = "flip-v", .help = "reverse the order of the detector rows"), \
    OPT(R, reverse, .name = "reverse", .help = "reverse the direction of rotation"), \
    OPT(R, slice, .name = "slice", .arg = "K|FROM:TO", \
        .fallback = "all", \
        .help = "only slice K of the volume (the first is 0), or slices FROM to TO - 1"), \
    OPT(R, roi, .name = "roi", .arg = "X0:X1,Y0:Y1,Z0:Z1", \
        .fallback = "all", \
        .help = "only this box of the volume, in voxels counted from 0, ends excluded; a missing end " \
                "is the edge of the volume. The values are those of the whole volume, bit for bit. " \
                "Kernels matrix, column and planes compute little more than the box"), \
    OPT(R, p.region.shape, .name = "region", .arg = "SHAPE|FILE", .fallback = "all", \
        .help = "only a region of interest: cylinder:R or cylinder:X,Y,R along z, ball:X,Y,Z,R, " \
                "box:X0:X1,Y0:Y1,Z0:Z1 (all in mm), or a mask file of the volume's size with nonzero " \
                "voxels inside. Voxels outside the region get the value of --mask, else 0 (-1000 in " \
                "HU); kernels skip them if they can. Voxels inside have the same bits as without " \
                "--region"), \
    OPT(R, every, .name = "every", .arg = "N", .min = 1, .max = FBP_VIEWS_MAX, \
        .fallback = "1", .help = "use only every N-th view, beginning with the first"), \
    OPT(R, views, .name = "views", .arg = "LIST", .fallback = "all", \
        .help = "use only these views, such as 0:100,110: (numbers of stored views from 0, ends " \
                "excluded); the weights follow from the remaining angles"), \
    OPT(R, skip, .name = "skip", .arg = "LIST", .fallback = "none", \
        .help = "leave out these views, such as 17,42 or 100:110"), \
    OPT(R, bin, .name = "bin", .arg = "N", .min = 1, .max = FBP_SIDE_MAX, \
        .fallback = "1", \
        .help = "average blocks of N x N detector pixels; intensities are averaged before the " \
                "logarithm"), \
    ADJUST_OPTIONS(R, adjust, "COLUMN|auto", "; auto: search for it"), \
    OPT(R, p.filter, .name = "filter", .arg = "NAME", .list = fbp_filter_name, \
        .fallback = "ram-lak", \
        .help = "window of the ramp filter. Plane integrals (EPR imaging) are filtered with a " \
                "parabola instead of a ramp; for them, second-difference, the derivatives and " \
                "two-ramps are complete filters"), \
    OPT(R, p.cutoff, .name = "cutoff", .arg = "F", .min = 0.01, .max = 1, \
        .fallback = "1", \
        .help = "cut-off frequency of the filter, as a fraction of the Nyquist frequency"), \
    OPT(R, p.filtering.cutoff_v, .name = "cutoff-v", .arg = "F", .min = 0.01, .max = 1, \
        .fallback = "none", \
        .help = "also filter along columns, with a Hann window; its cut-off is this fraction " \
                "of the Nyquist frequency"), \
    OPT(R, p.filtering.refine, .name = "refine", .arg = "N", .list = fbp_refine_name, \
        .fallback = "1", \
        .help = "number of filtered samples per measured sample of a row; 2 or 4 make the interpolation " \
                "more accurate; auto: the least number with two samples per voxel, at most 4"), \
    OPT(R, p.epr.oversampling, .name = "oversampling", .arg = "N", .min = 1, .max = 2, \
        .fallback = "1", \
        .help = "2: also compute filtered plane integrals half way between samples, which makes the " \
                "interpolation more accurate (plane integrals only)"), \
    OPT(R, p.epr.interpolation, .name = "interpolation", .arg = "NAME", \
        .list = fbp_interpolation_name, .fallback = "linear", \
        .help = "interpolation between filtered samples of plane integrals; cubic is a spline through" \
                " the samples. The run fails on a device that lacks the method (plane integrals only)"), \
    OPT(R, p.epr.stages, .name = "stages", .arg = "N", .min = 1, .max = 2, .fallback = "1", \
        .help = "2: backproject plane integrals to images of the meridian planes first, then these " \
                "images to the volume. Several times as fast; the directions must lie in planes " \
                "through one axis (plane integrals only)"), \
    OPT(R, p.epr.angles, .name = "angles", .arg = "N", .min = 1, .max = FBP_VIEWS_MAX, \
        .fallback = "from the scan file", \
        .help = "resample the views to N angles per half turn, the same in all rings, which makes " \
                "--stages 2 possible. The directions must lie in evenly spaced rings, such as those " \
                "of equal solid angle (plane integrals only)"), \
    OPT(R, p.epr.ring_interpolation, .name = "angular", .arg = "NAME", .list = fbp_ring_interpolation_name, \
        .fallback = "fft", \
        .help = "with --angles: interpolation over the angle by a Fourier series (fft), splines or " \
                "straight lines (linear)"), \
    OPT(R, p.epr.image_oversampling, .name = "picture-oversampling", .arg = "N", .min = 1, .max = 4, \
        .fallback = "2", \
        .help = "with --stages 2: number of columns of the intermediate images per voxel"), \
    OPT(R, prepare, .name = "prepare", .arg = "STEPS", .fallback = "from the scan file", \
        .help = "steps that compute plane integrals from rows of a spectrometer, such as " \
                "baseline=1,phase=all: baseline=ORDER, baseline_samples=A:B:C:D, resample, fft=N, " \
                "zero_sample=I, dwell_us=T, phase=all|view|DEG, profile=FILE, profile_threshold=F " \
                "(EPR imaging; docs/epr.md)"), \
    OPT(R, correct.beam_hardening, .name = "beam-hardening", .arg = "A1,A2,...", .min = -1e9, .max = 1e9, \
        .fallback = "from the scan file", \
        .help = "replace line integrals p by A1 p + A2 p^2 + A3 p^3 ..., with up to eight " \
                "coefficients; with A1 = 1 the values of thin objects do not change " \
                "(docs/corrections.md)"), \
    OPT(R, bad_pixels, .name = "bad-pixels", .arg = "FILE", .fallback = "from the scan file", \
        .help = "image that marks bad pixels with nonzero values; bad pixels are interpolated. auto: " \
                "search the views for dead, stuck, hot and saturated pixels, in addition to those " \
                "listed in the scan (docs/corrections.md)"), \
    OPT(R, correct.zingers, .name = "zingers", .arg = "SIGMAS", .min = 0, .max = 1e6, \
        .fallback = "from the scan file", \
        .help = "replace bright outliers of single views (cosmic rays, direct hits) that exceed " \
                "neighbouring views and pixels by SIGMAS standard deviations, such as 8; 0: none " \
                "(docs/corrections.md)"), \
    OPT(R, rings, .name = "rings", .arg = "METHOD", .fallback = "from the scan file", \
        .help = "remove ring artefacts: offsets[:COLUMNS] (one offset per pixel, for rings up to this " \
                "width, default 9), fluctuating[:COLUMNS] (interpolate pixels that fluctuate or do not " \
                "change, then offsets), sorting[:COLUMNS] (median over this number of sorted columns," \
                " default 21), wavelet[:LEVELS[,SIGMA[,dbN]]] (wavelet and Fourier filter, default " \
                "5,1,db9) or none. This is an additional pass over the sinograms; the line integrals " \
                "are kept in memory or, with --scratch, in a file (docs/corrections.md)"), \
    OPT(R, paganin, .name = "paganin", .arg = "RATIO,KEV,...", .min = 0, .max = 1e9, \
        .fallback = "from the scan file", \
        .help = "phase retrieval for an object of one material: RATIO is its delta / beta, KEV the " \
                "energy of the photons; for parallel beams a third number is the distance from object " \
                "to detector [mm]. 0,0: none (docs/corrections.md)"), \
    OPT(R, reference, .name = "reference", .arg = "FILE", .fallback = "from the scan file", \
        .help = "spectrum that was measured without a field gradient at the same fields. The spectra " \
                "of a field sweep are divided by this spectrum, up to the cut-off frequency (plane " \
                "integrals only)"), \
    OPT(R, p.epr.wiener, .name = "wiener", .arg = "F", .min = 1e-12, .max = 1, .fallback = "none", \
        .help = "Wiener term of the division by --reference, as a fraction of the greatest power of " \
                "the reference (plane integrals only)"), \
    OPT(R, p.epr.response, .name = "response", .arg = "FILE", .fallback = "1", \
        .help = "table of factors that multiply the filter: each row has a frequency, as a fraction " \
                "of the Nyquist frequency, and a factor; linear between rows (plane integrals only)"), \
    OPT(R, p.epr.periodic, .name = "periodic", \
        .help = "filter rows as if they were periodic, to compare with programs that do so (plane " \
                "integrals only, devices cpu and ref)"), \
    OPT(R, p.filtering.spatial, .name = "spatial", \
        .help = "filter by convolution instead of FFT: the same filter, but slower"), \
    OPT(R, p.filtering.half_width, .name = "half-width", .arg = "S", .min = 1, .max = FBP_SIDE_MAX, \
        .fallback = "the whole row", \
        .help = "convolve with S filter values on each side of the centre, instead of the whole row; " \
                "implies --spatial"), \
    OPT(R, p.pad, .name = "pad", .arg = "NAME", .list = fbp_pad_name, .fallback = "none", \
        .help = "extrapolate rows beyond the detector if the object is wider: ellipse (most accurate) " \
                "or cosine"), \
    OPT(R, mask, .name = "mask", .arg = "VALUE|nan", .min = -1e9, .max = 1e9, .fallback = "none", \
        .help = "value of voxels outside the field of view, which some views do not see"), \
    OPT(R, quadrature, .name = "quadrature", .arg = "NAME", .list = choices_quadrature, \
        .fallback = "from the scan file", \
        .help = "integration weights of the directions: bands is exact for evenly spaced rings, " \
                "voronoi uses the cells around the directions, harmonics is exact for low spherical " \
                "harmonics; auto: bands for rings, otherwise voronoi (plane integrals only)"), \
    OPT(R, p.filtering.angular_weights, .name = "angular-weights", .arg = "NAME", .list = choices_weights, \
        .fallback = "from the scan file, or auto", \
        .help = "weights of the views: auto uses the angles between neighbours, equal gives all views " \
                "the same weight"), \
    OPT(R, p.mu_water, .name = "hu", .arg = "MU_WATER", .min = FBP_MU_MIN, .max = FBP_MU_MAX, \
        .fallback = "none; values in 1/mm", \
        .help = "values in Hounsfield units; MU_WATER is the attenuation of water [1/mm]"), \
    OPT(R, unit, .name = "unit", .arg = "NAME", .list = fbp_unit_name, .fallback = "mm", \
        .help = "unit of length in the values: cm stores 1/cm (plane integrals: 1/cm^3). Lengths in " \
                "file headers are always in mm"), \
    OPT(R, p.device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "auto", \
        .help = "device that computes: auto, ref, cpu ...; 'fbp devices' lists all. NAME:0,1 uses two " \
                "devices of one kind, NAME:all uses all of them"), \
    OPT(R, p.tuning.kernel, .name = "kernel", .arg = "NAME", .list = fbp_kernel_name, .fallback = "the fastest", \
        .help = "backprojection kernel: matrix works for every geometry, column for circular " \
                "scans without tilt, tilted (on a CPU) for small tilts, hierarchical (on a CPU with " \
                "--precision fast, on CUDA devices with half) for many views without tilt, rot90 and " \
                "rot180 for full circles of symmetric views, planes for plane integrals"), \
    OPT(R, p.precision, .name = "precision", .arg = "NAME", .list = choices_precision, \
        .fallback = "the device's", \
        .help = "exact: float32, the most accurate of exact, fast and half. fast: GPUs interpolate " \
                "by texture units; a CPU uses kernel hierarchical, if the scan has many views. " \
                "half: filtered samples of 16 bits; a CPU needs kernel rot90. double: everything in " \
                "double precision (plane integrals only)"), \
    OPT(R, p.n_threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX, \
        .fallback = "all cores", .help = "number of threads"), \
    OPT_BYTE_COUNT(R, p.memory_bytes, .name = "memory", .arg = "BYTES", \
        .fallback = "80% of what is free", \
        .help = "hard limit for the memory of this process, such as 8G or 600M. A child process that " \
                "inspects an HDF5 or MAT file may use what this process leaves, at least 64M"), \
    OPT_BYTE_COUNT(R, p.device_memory_bytes, .name = "device-memory", .arg = "BYTES", \
        .fallback = "90% of what is free", \
        .help = "limit for the memory of each device, without the driver's context (some 300M on a " \
                "GPU)"), \
    OPT(R, p.tuning.scratch, .name = "scratch", .arg = "FOLDER", .fallback = "none", \
        .help = "if memory holds only a small part of the volume, filter all views once into a " \
                "temporary file in FOLDER, instead of reading and filtering most rows again for each " \
                "slab of slices"), \
    OPT(R, p.tuning.slab_slices, .name = "slab", .arg = "N", .min = 1, .max = FBP_SIDE_MAX, \
        .fallback = "planned", .help = "compute slabs of at most N slices, one after the other"), \
    OPT(R, p.tuning.batch_views, .name = "batch", .arg = "N", .min = 1, .max = FBP_VIEWS_MAX, \
        .fallback = "planned", .help = "filter and backproject at most N views at a time")
/** Row of an option table: --part, for commands that plan or compute a volume. */
#define PART_OPTION \
    OPT(R, part, .name = "part", .arg = "K/N|auto/N", .fallback = "all of it", \
        .help = "compute part K of N of the volume, counted from 1, into the common output; the last " \
                "part to finish gives the output its name. All parts need the same options. auto: K " \
                "is the task number in a job array of Slurm, PBS or SGE (docs/cluster.md)")
// clang-format on

/** If args->scan is a folder, replace it by the path of the scan file in this folder. *kept:
 * receives this path, to be freed by the caller, or NULL. Returns 0 or an exit status. */
int recon_name_scan(struct recon_args *args, char **kept);

/** Load the scan, apply the options for inputs, corrections (such as --rings) and flips, and check
 * that no output replaces an input. Returns 0 or an exit status. */
int recon_load(const struct recon_args *args, struct fbp_scan *scan);

/** True if --centre auto is given. values: values of the geometry options. */
bool centre_is_auto(const double values[FBP_ADJUSTS]);
/** If --centre is auto, find the axis column and store it in args. Returns 0 or an exit status. */
int centre_find(struct recon_args *args, const struct fbp_scan *scan);
/** Add the column that centre_find() found to the JSON object root, as member "centre". */
void centre_json(cJSON *root, const struct fbp_centre *centre);

/** Apply --every (only each n-th view) and --bin (means of blocks of pixels) to the scan. Call this
 * after flips, and after all options whose values are columns of the whole detector. */
fbp_status recon_reduce(const struct recon_args *args, struct fbp_scan *scan);

/** Choose *out, the voxel grid of the whole volume, from options and scan; check that --slice and
 * --roi lie inside. Returns 0 or an exit status. */
int recon_grid(const struct recon_args *args, const struct fbp_scan *scan, struct fbp_grid *out);

/** Reconstruct the water sphere args->water on the voxel grid of the whole volume `all`; *out:
 * receives mean and standard deviation of its voxels. @return 0, or an exit status; a failure has
 * been reported. Implemented in recon_water.c. */
int recon_water(const struct recon_args *args, const struct fbp_scan *scan,
                const struct fbp_grid *all, struct recon_water *out);

/** Set parameters that follow from several options: --half-width, --unit, -o, --mask. */
void recon_complete(struct recon_args *args);

/**
 * Load the scan, apply the options to it, and create the plan.
 * @return 0 with *scan and *plan set, else an exit status; a failure has been reported. The caller
 *         calls fbp_scan_clear() and fbp_plan_destroy() in both cases.
 */
int recon_prepare(struct recon_args *args, struct fbp_scan *scan, fbp_plan **plan);
/** Load the scan and apply the options to it, as recon_prepare() does, but create no plan. */
int recon_prepare_scan(struct recon_args *args, struct fbp_scan *scan);

/** Check the options of fbp recon against each other. Returns OPT_GO_ON, or an exit status after an
 * error was reported. Implemented in recon_check.c. */
int recon_check(const struct command *self, const struct recon_args *args);
/** Check that --slice and --roi are not both given. Returns OPT_GO_ON or an exit status. */
int recon_check_part(const struct command *self, const struct recon_args *args);
/** Check that fbp recon would accept the name of the output, if -o is given; nothing is written.
 * Returns OPT_GO_ON, or an exit status after an error was reported. */
int recon_check_planned(const struct command *self, const struct recon_args *args);
/** Read --part into args->p.cluster.part and n_parts. Returns OPT_GO_ON or an exit status. */
int recon_choose_part(const struct command *self, struct recon_args *args);
/** True if one slice is requested by --slice K. The range K:K+1 is a box instead. */
bool recon_one_slice(const struct recon_args *args);
/** True if a box of the volume is requested by --roi, or by --slice FROM:TO. */
bool recon_is_box(const struct recon_args *args);
/** True if the output is a file, not null: (writes nothing) or hash: (prints a hash). */
bool recon_is_file(const char *output);
/** True if the output is a grey PNG picture of one slice. */
bool recon_is_picture(const struct recon_args *args);

/** Results of a reconstruction, for recon_print() and report_write(). */
struct recon_result {
    const struct fbp_plan_summary *plan;
    struct fbp_report report;
    /** values drawn black and white in the picture or preview, if one is written */
    double shown[2];
    size_t rows[2]; /**< detector rows [first, end) that the voxels of --slice or --roi need */
};

/** Write to buf[n] note i about a reconstruction, such as clipped voxels; false: no note i. */
bool recon_note(const struct recon_result *result, size_t i, char *buf, size_t n);

/** True if other parts or the resumed run had computed all; minimum and maximum are then NaN. */
bool recon_had_all(const struct recon_args *a, const struct recon_result *result);
/** Print the result of a reconstruction as text. */
void recon_print(const struct recon_args *args, const struct recon_result *result);
/** Add the box of a plan to root as member "roi". Returns this member; NULL: out of memory. */
cJSON *recon_json_box(cJSON *root, const struct fbp_plan_summary *plan);
/** Add to the JSON object root the members "kernel", "isa", "threads", "weights" and, if the stored
 * views are processed before the filter, "prepared". */
void recon_json_kernel(cJSON *root, const struct fbp_plan_summary *plan);
/** Return the fraction of the volume's voxels that lie inside the region of a plan (--region). */
double recon_region_share(const struct fbp_plan_summary *plan);
/** Add facts about the region of a plan to the JSON object root, as member "region". */
void recon_json_region(cJSON *root, const struct fbp_plan_summary *plan);
/** Print the result of a reconstruction as JSON; returns the exit status. */
int recon_print_json(const struct recon_args *args, const struct recon_result *result);

enum { PLAN_LINES = 24 };

/** A plan as text, one line per decision, such as name "slabs", text "1 of at most 128 slices". */
struct plan_lines {
    struct plan_line {
        const char *name;
        char text[1700];
    } lines[PLAN_LINES];
    size_t n;
};
void plan_tell(const struct fbp_plan_summary *plan, struct plan_lines *out);

/** Append a line to the text of a plan; beyond PLAN_LINES it replaces the last. */
void plan_put(struct plan_lines *out, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void plan_print_lines(const struct plan_lines *lines);
cJSON *plan_json(const struct fbp_plan_summary *plan, double expected_seconds);

/** Print a plan and its expected time as text or JSON; returns the exit status (cmd_plan.c). */
int plan_print(const fbp_plan *plan, bool json);
/** Write to buf[n] the device of a plan: "cpu, kernel column, avx2, 8 threads". Returns buf. */
char *plan_device(char *buf, size_t n, const struct fbp_plan_summary *p);

/** State of an estimate of the remaining time of a run. All zeros: a new run. */
struct progress_rate {
    double share, seconds;           /**< finished share of the run, and time, at the last call */
    double from_share, from_seconds; /**< start of the part that is measured now; 0: none yet */
    double pace[16];                 /**< durations of the last parts per share of the run [s] */
    size_t n_parts;                  /**< number of all measured parts */
    double measured;                 /**< sum of the durations of all parts [s] */
    double left;                     /**< result of the last call [s] */
};

/**
 * Estimate the remaining time of a run. Parts of 1 % of the run are measured, from the first
 * finished work on, which leaves out the start of the run. The estimate is a mean of the last parts
 * without the shortest and the longest ones, such as a pause of the disk. A new estimate replaces
 * the last one gradually, so the result does not jump.
 *
 * share: finished share of the run, from 0 to 1; seconds: time since its start. Returns the
 * remaining time [s]; -1: not known yet. Implemented in progress.c.
 */
double progress_left(struct progress_rate *rate, double share, double seconds);

/** State of a progress bar on standard error; the argument `user` of progress_update() and
 * progress_log() points to it. Implemented in progress.c. */
struct progress {
    size_t n_views;
    double drawn; /**< time when the bar was last drawn [s]; 0: no bar is on the screen */
    bool visible, quiet;
    char line[200]; /**< the bar on the screen; "": none */
    struct progress_rate rate;
};

void progress_start(struct progress *progress, size_t n_views, bool quiet);
/** Callback `progress`: draw the bar; returns 1 after a signal, which cancels the run. */
int progress_update(void *user, const struct fbp_progress *now);
/** Callback `progress` without output; returns 1 after a signal, which cancels the run. */
int progress_stop(void *user, const struct fbp_progress *now);
/** A function of type fbp_log_fn: erase the bar and print a warning or note of the library. If the
 * member `quiet` is true, notes and warnings are only stored for the JSON object. */
void progress_log(void *user, enum fbp_log_level level, const char *line);
/** Erase the progress bar at the end of a run. */
void progress_end(struct progress *progress);

/** Headings of fbp recon --help and fbp plan --help, with the options below each. */
extern const struct opt_group recon_groups[];

#endif /* FBP_CLI_RECON_H */
