/** @file job.h Functions that make the job of a reconstruction from a scan and parameters
 * (internal). A job (struct fbp_job of backend.h) has the tables that all devices share: views,
 * matrices, weights, filter, region. Also: functions of the requested box and region of the volume,
 * checks of parameters, and devices by name.
 * Used by: bench/, cli/, analysis/, pipeline/. */
#ifndef FBP_SRC_PIPELINE_JOB_H
#define FBP_SRC_PIPELINE_JOB_H

#include "backend/backend.h"
#include "base/base.h"
#include "filter/filter.h"
#include "filter/parabola.h"
#include "geometry/volume.h"

#include "fbp/geometry.h"
#include "fbp/recon.h"

/* job.c: functions that make a job from a scan and parameters */

/** A job and everything that it points to; fbp_job_clear() frees all of it. */
struct fbp_job_tables {
    struct fbp_job job;
    /** Views moved so that the centre of the circle of the sources is the origin; NULL: the views
     * of the scan are used, because they are filtered already, or because their axis passes through
     * the origin or is not known. */
    struct fbp_view *views;
    double centre_mm[3]; /**< origin of the coordinates of `job`, in coordinates of the scan [mm] */
    struct fbp_prep prep;
    struct fbp_filter_design filter;
    struct fbp_column_filter columns;
    fbp_weights *weights;
    struct fbp_pad *pad;       /**< NULL: rows end at the edge of the panel */
    struct fbp_region *region; /**< NULL: the whole volume is requested */
    char *region_file; /**< path of the mask file from which `region` was read; NULL: no file */
    enum fbp_pad_kind pad_kind;
    enum fbp_filter filter_name;
    /** Cut-off frequencies of the filters along rows and along columns, relative to the Nyquist
     * frequency; cutoff_v 0: no filter along columns. */
    double cutoff, cutoff_v;
    double wiener; /**< Wiener term of the division by the reference spectrum; 0: none */
    bool divided;  /**< true: the filter is divided by the scan's reference spectrum */
    bool shaped;   /**< the filter is multiplied by factors (epr.response or filtering.window) */
    enum fbp_angular_weights angular;
};

/** Make the tables of a job; `scan` must outlive them.  The job has no kernel until
 * fbp_job_arrange() is called.  top_down: stored views start with the top row. */
fbp_status fbp_job_create(struct fbp_job_tables *out, const struct fbp_scan *scan,
                          const struct fbp_recon_params *params, bool top_down);
void fbp_job_clear(struct fbp_job_tables *tables);

/**
 * Choose a kernel of the backend for a job, and describe the kernel in job->selection.
 * @return FBP_ERR_UNSUPPORTED if the backend cannot compute the job, or lacks the kernel
 * job->selection.requested for this scan and volume.  If the kernel that the environment variable
 * FBP_KERNEL names (for tests) is not available, the fastest one is chosen.
 */
fbp_status fbp_job_arrange(struct fbp_job *job, const struct fbp_backend *backend);

/** Set *out to a job that backprojects detector rows which were filtered for `job` (filter_rows()
 * of backend.h); kernel and values are the same. The kernel of `job` must be chosen. *out shares
 * the tables of `job`, and points to *prep, which is set, too. */
void fbp_job_of_rows(const struct fbp_job *job, struct fbp_prep *prep, struct fbp_job *out);

/** Hash of the backend and of those members of a job that determine the values of its volume,
 * without the samples of the views; the kernel must be chosen. */
uint64_t fbp_job_fingerprint(const struct fbp_job_tables *tables,
                             const struct fbp_backend *backend);

/** Write a description for the user into buf[n], one line: type of the scan, weights, filter. */
void fbp_job_describe(const struct fbp_job_tables *tables, char *buf, size_t n);

/* region.c: the requested box of the volume
 *
 * job->grid is the whole volume, so coordinates, kernel and facts do not depend on the box, and
 * voxels of the box have the same bits as in the whole volume.  Kernels with job->selection.boxes
 * compute only the box (fbp_slab_asked()); other kernels compute whole slices, which are cropped
 * after they are fetched.
 */

/** Set job->requested.box from fbp_recon_params.box: voxels [first, end) along x, y, z; end 0: to
 * the edge.
 * @return FBP_ERR_INVALID for a box that is empty or not inside job->grid. */
fbp_status fbp_box_set(struct fbp_job *job, const size_t box[3][2]);

/** First voxel of the requested box along an axis (fbp_box_first()), and number of its voxels
 * (fbp_box_size()); without a box: the whole grid. */
size_t fbp_box_first(const struct fbp_job *job, int axis);
size_t fbp_box_size(const struct fbp_job *job, int axis);
/** Number of voxels of one slice of the box. */
size_t fbp_box_slice(const struct fbp_job *job);

/** Get slices [*z0, *z1) of the grid that contain all requested voxels: those of the requested box
 * or, if there is a region, those of the region inside the box. */
void fbp_box_wanted(const struct fbp_job *job, size_t *z0, size_t *z1);

/** Set *out to the requested box of the volume, as a grid. */
void fbp_box_grid(const struct fbp_job *job, struct fbp_grid *out);

/** Get slices [*first, *first + *n) of the grid that this process computes: those of
 * job->part.slices if these are set, else all slices with requested voxels (fbp_box_wanted()). */
void fbp_job_slices(const struct fbp_job *job, size_t *first, size_t *n);

/** Return whether this process writes slice z, counted from the first slice of the box. A process
 * writes the slices of its part; that of the first part also slices outside the region. */
bool fbp_box_is_own(const struct fbp_job *job, size_t z);

/** Return whether the kernel computes whole slices, of which the requested box is only a part. */
bool fbp_box_crops(const struct fbp_job *job);

/** Crop n whole slices of the grid to the requested box, in place, if fbp_box_crops(). */
void fbp_box_crop(const struct fbp_job *job, size_t n, void *slices);

/* region.c: the requested region, from a shape or a mask to voxels
 *
 * job->requested.region allows stages to skip work: slices outside [z0, z1) are not computed,
 * detector rows that only these slices need are not read, and kernels skip rows, columns or blocks.
 * Kernels may still compute voxels outside the region; mask.c replaces these in finished slices.
 * Voxels inside have the same bits as without a region.
 */

/**
 * Make the region that fbp_recon_params.region describes by a shape or a mask: voxels of job->grid
 * inside job->requested.box.
 *
 * out: NULL if neither is given
 * file: path of the mask file (malloc'ed); NULL: no file was read
 * @return FBP_ERR_INVALID for an unknown shape, a region without a voxel in the box, a mask on
 * another grid or with NaN, a shape or file together with a mask; errors of reading the mask.
 */
fbp_status fbp_region_of(const struct fbp_recon_params *params, const struct fbp_job *job,
                         struct fbp_region **out, char **file);

/** Number of requested voxels in slices [z0, z1) of a slab; without a region: all of them. */
uint64_t fbp_wanted_voxels(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                           size_t z1);

/** Fraction of the voxels of slices [z0, z1) of a slab that are requested; 1 if there are none. */
double fbp_wanted_share(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                        size_t z1);

/** Value of voxels outside the field of view or region, in the unit of the output:
 * params->output.fill_value if params->output.fill is set, else -1000 for output in HU, or 0. */
static inline double fbp_outside_value(const struct fbp_recon_params *params)
{
    return params->output.fill ? params->output.fill_value : params->mu_water > 0 ? -1000 : 0;
}

/* params.c: checks of the caller's parameters */

/** Default range of values for integer output in HU: air to bone. */
static inline const double *fbp_usual_hu_range(enum fbp_type type)
{
    static const double range[2] = {-1000, 3000}, exact[2] = {INT16_MIN, INT16_MAX};

    return type == FBP_I16 ? exact : range;
}

/** Copy the caller's parameters (NULL: defaults) to this library's struct, and check them.
 *  @return FBP_ERR_INVALID; the message names the field that is out of range or contradicts
 *  another.  FBP_ERR_UNSUPPORTED for float64 output of a computation in float. */
fbp_status fbp_take_params(struct fbp_recon_params *p, const struct fbp_recon_params *given);

/* devices.c: functions that find the backend and devices that a text such as "cuda:0,2" names */

enum { FBP_MOST_DEVICES = 64 };

/** Find the backend and devices that a text names: "cuda", "cuda:0,2", "cuda:all"; "auto" is the
 *  name of the first usable backend.
 *  devices: [FBP_MOST_DEVICES], gets the indices; a text without an index yields one device
 *  @return FBP_ERR_UNSUPPORTED for an unknown backend or a device that cannot be used;
 *  FBP_ERR_INVALID for a wrong index. */
fbp_status fbp_devices_find(const char *text, const struct fbp_backend **backend, int *devices,
                            size_t *n_devices);

/** fbp_devices_find() without the check that each device can reconstruct, for benchmarks that need
 *  other features.  "name:all" still skips devices that cannot be used; *n_devices may be 0. */
fbp_status fbp_devices_listed(const char *text, const struct fbp_backend **backend, int *devices,
                              size_t *n_devices);

/** Begin to find the devices that a text names (fbp_devices_find(); NULL: "auto") in a thread,
 * while the caller reads a scan. text: must stay valid until fbp_devices_await(). */
void fbp_devices_start(const char *text);

/** Wait for the thread of fbp_devices_start(), if there is one. Plans call this function before
 * they find their devices, and fork() does; a program calls it before it exits. */
void fbp_devices_await(void);

/** Duration of the start of the devices by fbp_devices_start(), and of the wait for it [s]. */
struct fbp_device_start {
    double seconds, waited;
};
struct fbp_device_start fbp_devices_start_times(void);

/** Find the first device in a list of backends (ended by NULL) that the device name "auto" may
 * select: return its backend and set *index; NULL: there is no such device. */
const struct fbp_backend *fbp_device_first(const struct fbp_backend *const *list, int *index);

/**
 * If the backend cannot compute this job with any kernel, replace it by the next backend of the
 * list that can, on a device that `auto` may choose.  If there is none, the backend stays, and
 * fbp_job_arrange() fails later.
 *
 * line: gets a sentence that names the old and the new backend; "" if the backend stays
 */
void fbp_device_capable(const struct fbp_backend *const *list, const struct fbp_job *job,
                        const struct fbp_backend **backend, int *device, char *line, size_t n);

/** Return 90 % of the free bytes of the device's own memory; 0: unknown, or no own memory. */
uint64_t fbp_device_free(const struct fbp_backend *backend, int index);

#endif /* FBP_SRC_PIPELINE_JOB_H */
