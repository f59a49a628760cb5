/** @file s3.h  The job of Ino, Yoshida and Hagihara (2009): FDK drawn by OpenGL, in the variants
 * A to E, with filter, packing, and early fragment kill. Functions of measure.c; the device that
 * draws is bench/gl/s3.c. */
#ifndef FBP_BENCH_PAPERS_INO2009_S3_H
#define FBP_BENCH_PAPERS_INO2009_S3_H

#include "fbp/recon.h"

FBP_BEGIN

/** A variant of the paper's method: views, slices and targets of a pass. */
struct fbp_s3_variant {
    char letter; /**< 'A' to 'E': as in the paper; others are not: 'b': B with four slices in one
                    target; 'F': E with sixteen slices in four targets; 'G': D with eight views;
                    'M': sixteen slices and any 3x4 matrices */
    const char *text;
    unsigned views, slices; /**< views per pass: 1, 4 or 8; slices per pass: 1, 4 or 16 */
    /** targets of a pass: a target per slice, or per four slices in its channels */
    unsigned targets;
    bool balanced; /**< terms linear in x and y are computed in the vertex stage */
    bool matrices; /**< columns and weights may depend on z */
};

/** How the sums of passes are added: by blending, or by ping-pong between two textures. */
enum fbp_s3_sum { FBP_S3_BLEND = 0, FBP_S3_PING_PONG };

/** Which test kills fragments outside the region of interest before they are shaded. */
enum fbp_s3_kill { FBP_S3_NO_KILL = 0, FBP_S3_STENCIL, FBP_S3_DEPTH };

/** One way of doing the job. */
struct fbp_s3_way {
    size_t variant; /**< its index */
    enum fbp_s3_sum sum;
    enum fbp_s3_kill kill;
    bool exact;          /**< the shader interpolates between four fetches; false: the texture units
                            interpolate */
    bool half;           /**< filtered views are stored as fp16, multiplied by a power of two */
    bool pack_on_device; /**< four views are packed into texels on the device, not on the host */
    bool unpack_on_device; /**< slices are taken out of texels there */
    bool synchronised;     /**< the host waits after every stage, so that stages can be timed */
    bool count;            /**< each shaded fragment increments a counter (OpenGL 4.2) */
    size_t slices;         /**< slices of the volume on the device at a time; 0: as many as fit */
    /** number of slices to draw in the middle, rounded up to whole groups; 0: all */
    size_t middle;
    bool again;          /**< use the filtered views that the last run left on the device */
    size_t most_updates; /**< greatest number of updates per draw; 0: so many that a slow device
                            draws for 2 s */
};

/** Seconds of a run, and the drawn slices. Without synchronisation only `total` is meaningful. */
struct fbp_s3_time {
    double init; /**< programs are compiled, tables are made */
    double packing, upload, filter, backproject, readback, unpacking;
    double total;
    double slices_alone; /**< seconds of all stages after the filter */
    size_t z0, n_slices; /**< drawn slices [z0, z0 + n_slices) */
    size_t passes;       /**< over a slice or four */
    size_t draws;  /**< number of draws: a pass is drawn in tiles if one draw would take too long */
    double shaded; /**< fragments, if they were counted */
};

/**
 * What a fragment of a variant costs, counted in the text of its shader.  Operations: each + - * /
 * of the body counts once a component; a sum of four products 7; a blended target 1 a channel.  A
 * fetch with bilinear interpolation counts 11 (two fractions, three interpolations of three), as in
 * the paper; one made by hand counts what its text has.  Bytes: a fetch reads one texel, since its
 * neighbours come from a cache; a target is read and written.
 */
struct fbp_s3_cost {
    unsigned updates; /**< voxels and views of a fragment */
    double processing, texture, bytes;
};

/** Measured limits of the fragment stage, and the precision of the texture units. */
struct fbp_s3_limits {
    double r32f, rgba32f, r16f, rgba16f; /**< bilinear fetches a second of such texels */
    double blend;                        /**< bytes a second, read and written */
    size_t values; /**< number of different values at 1024^2 positions between texels of 0 and 1 */
    double fraction_error; /**< the largest error of these */
};

struct fbp_s3_error {
    double rmse, max; /**< 1/mm */
    double rmse_hu;   /**< water: .02/mm */
    double psnr_db;   /**< peak: the largest value in double precision */
    size_t n_voxels;  /**< compared */
};

struct fbp_s3_params {
    size_t struct_size;
    const char *device; /**< NULL: gl */
    int n_threads;
    /** Share of the volume outside the region of interest, which is a cylinder; 0: .75. */
    double left_out;
};

/** A job: the filtered views of a head phantom are added to a volume. */
typedef struct fbp_s3 fbp_s3;

/** Whether the device can draw; true also for unknown names, which fbp_s3_open() reports. */
bool fbp_s3_draws(const char *device);

/**
 * Open a renderer, and project the phantom.
 *
 * scan  a full circle of cone-beam views with a centred panel that is not tilted; no arrays are
 *       opened; must outlive the session
 * @return FBP_OK, FBP_ERR_UNSUPPORTED (a device that does not draw, another kind of scan),
 *         FBP_ERR_INVALID, FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_s3_open(fbp_s3 **out, const struct fbp_scan *scan,
                                      const struct fbp_s3_params *params);
void fbp_s3_close(fbp_s3 **s);

/** Name and version of the renderer. */
const char *fbp_s3_renderer(const fbp_s3 *s);
/** The variant at an index; NULL beyond the last. The first are A to E. */
const struct fbp_s3_variant *fbp_s3_variant_at(const fbp_s3 *s, size_t index);
void fbp_s3_cost_of(const fbp_s3 *s, const struct fbp_s3_way *way, struct fbp_s3_cost *out);
FBP_MUST_CHECK fbp_status fbp_s3_measure(fbp_s3 *s, struct fbp_s3_limits *out);

/** Passes that a variant needs: ceil(slices / its slices) ceil(views / its views). */
size_t fbp_s3_passes(const struct fbp_s3_variant *variant, size_t n_slices, size_t n_views);

/** Run the job; the volume is kept until the next run. FBP_ERR_INVALID: `again` is set, but no
 * filtered views, or only views packed for another variant, are on the device. */
FBP_MUST_CHECK fbp_status fbp_s3_run(fbp_s3 *s, const struct fbp_s3_way *way,
                                     struct fbp_s3_time *out);
/** The volume of the last run, [z][y][x], zeros where it was not drawn; and its region of interest
 * as bytes (NULL: all voxels). */
const float *fbp_s3_volume(const fbp_s3 *s);
const uint8_t *fbp_s3_wanted(const fbp_s3 *s);
/** Compare some drawn voxels of the last run with double precision: in the slices of the first
 * comparison, if some of these are drawn. */
FBP_MUST_CHECK fbp_status fbp_s3_compare(fbp_s3 *s, struct fbp_s3_error *out);

/** Compute the volume [z][y][x] of the job by the backend cpu. */
FBP_MUST_CHECK fbp_status fbp_s3_by_cpu(fbp_s3 *s, float *voxels);

/** Seconds of the whole job by one implementation. */
struct fbp_s3_bar {
    const char *name;
    double seconds; /**< positive */
    bool published; /**< in a paper, not measured here */
};

FBP_END

#endif /* FBP_BENCH_PAPERS_INO2009_S3_H */
