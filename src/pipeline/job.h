/** @file job.h  From a scan and parameters to the tables that backends share (internal). */
#ifndef FBP_SRC_PIPELINE_JOB_H
#define FBP_SRC_PIPELINE_JOB_H

#include "backend/backend.h"
#include "base/base.h"
#include "filter/filter.h"
#include "filter/parabola.h"
#include "geometry/volume.h"

#include "fbp/geometry.h"
#include "fbp/recon.h"

/** A job and everything it points to, owned. */
struct fbp_job_tables {
    struct fbp_job job;
    struct fbp_view *views; /**< moved to the centre of their circle; NULL: the scan's */
    double centre_mm[3];    /**< the origin of `job`, in coordinates of the scan */
    struct fbp_prep prep;
    struct fbp_filter_design filter;
    struct fbp_column_filter columns;
    fbp_weights *weights;
    struct fbp_pad *pad;       /**< NULL: rows end with the panel */
    struct fbp_region *region; /**< NULL: all of the volume is wanted */
    char *region_file;         /**< that it was read from; NULL: none */
    enum fbp_pad_kind pad_kind;
    enum fbp_filter filter_name;
    double cutoff, cutoff_v; /**< cutoff_v 0: no window along columns */
    double wiener;           /**< of a deconvolution; 0: none */
    bool divided;            /**< by a spectrum */
    bool shaped;             /**< by a response of the caller's */
    enum fbp_angular_weights angular;
};

/** top_down: stored pictures start with the top row.  scan must outlive the tables.  Views and
 *  slices are taken one by one until fbp_job_arrange(). */
fbp_status fbp_job_create(struct fbp_job_tables *out, const struct fbp_scan *scan,
                          const struct fbp_recon_params *params, bool top_down);
void fbp_job_clear(struct fbp_job_tables *tables);

/**
 * Choose the backend's kernel, and arrange the job for it: job->chosen, ->turns and ->boxes.
 * FBP_ERR_UNSUPPORTED if one is asked for that the backend lacks or the scan does not allow; of
 * FBP_KERNEL=name (tests), the fastest then.
 */
fbp_status fbp_job_arrange(struct fbp_job *job, const struct fbp_backend *backend);

/** Of an arranged job: that of its filtered rows (backend.h, filter_rows), for the same kernel and
 *  with the same bits.  Both structs use the tables of `job`, and *out uses *prep. */
void fbp_job_of_rows(const struct fbp_job *job, struct fbp_prep *prep, struct fbp_job *out);

/** Of an arranged job: identifies everything the values depend on but the samples themselves. */
uint64_t fbp_job_fingerprint(const struct fbp_job_tables *tables,
                             const struct fbp_backend *backend);

/** One line for people: scan type, weights, filter. */
void fbp_job_describe(const struct fbp_job_tables *tables, char *buf, size_t n);

/* The box of the volume that is asked for (internal; pure).
 *
 * The job's grid is the whole volume: coordinates, kernel and facts are those of the volume, so
 * that the box has the same bits as in it.  A kernel that computes boxes (job->boxes) computes this
 * box alone (fbp_slab_asked()); others compute whole slices, which are cropped after they are
 * fetched.
 */

/** Set job->roi to fbp_recon_params.roi: voxels [first, end) along x, y, z, end 0 = to the edge.
 * @return FBP_ERR_INVALID for a box that is empty or not inside job->grid. */
fbp_status fbp_roi_set(struct fbp_job *job, const size_t roi[3][2]);

/** First voxel of the box along an axis, and how many there are; a job without a box: all. */
size_t fbp_roi_first(const struct fbp_job *job, int axis);
size_t fbp_roi_size(const struct fbp_job *job, int axis);

/** Slices [*z0, *z1) of the box contain all of its wanted voxels. */
void fbp_roi_wanted(const struct fbp_job *job, size_t *z0, size_t *z1);

/** The box as a grid of its own. */
void fbp_roi_grid(const struct fbp_job *job, struct fbp_grid *out);

/** Slices [*first, *first + *n) are computed here: those of the share of the job, or all wanted
 *  ones. */
void fbp_roi_slices(const struct fbp_job *job, size_t *first, size_t *n);

/** Is slice z of the box written here?  The slices of the share are, and with the first share the
 *  slices without a wanted voxel. */
bool fbp_roi_is_own(const struct fbp_job *job, size_t z);

/** Is the box smaller than the slices that are computed? */
bool fbp_roi_crops(const struct fbp_job *job);

/** Crop n whole slices to the box, in place. */
void fbp_roi_crop(const struct fbp_job *job, size_t n, void *slices);

/* The region of interest of a job: from a caller's words, or a mask, to the voxels
 * that are wanted (internal).
 *
 * The region belongs to the job (job->region), and all who compute may skip what it does not want:
 * slices outside [z0, z1) are not computed, nor are rows read that only they need (pipeline/job.h);
 * kernels leave out rows, columns or blocks.  What they compute beyond it, the pipeline replaces in
 * finished slices (pipeline/mask.c).  Voxels inside have the bits that they have without a region.
 */

/**
 * The voxels of job->grid, inside the box job->roi, that fbp_recon_params.region and .region_mask
 * name.
 *
 * out: NULL where neither is given
 * file: malloc'ed name of the mask, if it is a file; else NULL
 * @return FBP_ERR_INVALID for words that are none, a region without a voxel of the box, a mask of
 * another grid or with NaN; failures of reading.
 */
fbp_status fbp_region_of(const struct fbp_recon_params *params, const struct fbp_job *job,
                         struct fbp_region **out, char **file);

/** Voxels of slices [z0, z1) of a slab that are to be computed: the wanted ones, or all. */
uint64_t fbp_wanted_voxels(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                           size_t z1);

/** The same as a share of the slab's. */
double fbp_wanted_share(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                        size_t z1);

/** The value of voxels outside a mask or region: the mask's, or nothing, in the job's unit. */
static inline double fbp_outside_value(const struct fbp_recon_params *params)
{
    return params->mask ? params->mask_value : params->mu_water > 0 ? -1000 : 0;
}

/* Regions with a name and numbers: cylinder, ball, box (internal; pure). */

/** Points within `radius` of `centre`, along the axes that count; and lo <= x <= hi [mm]. */
struct fbp_region_shape {
    bool along[3];
    double centre[3], radius, lo[3], hi[3];
};

/** Does a text begin like a shape, "ball:" for example? */
bool fbp_region_is_shape(const char *text);

/** "cylinder:R", "cylinder:X,Y,R", "ball:X,Y,Z,R", "box:X0:X1,Y0:Y1,Z0:Z1" in mm; an end of the box
 *  that is left out is the edge.
 *  @return FBP_ERR_INVALID with the text, what is wrong and what was expected. */
fbp_status fbp_region_read_shape(const char *text, struct fbp_region_shape *out);

/** Voxels of row (y, z) whose centres lie in the shape: one run, or none (false). */
bool fbp_region_shape_row(const struct fbp_region_shape *shape, const struct fbp_grid *grid,
                          size_t y, size_t z, struct fbp_interval *out);

/* The filter of a scan of plane integrals (internal). */

/**
 * f^2 or what stands in its place, times the response of a file, divided by the scan's reference if
 * there is one, with the coefficients of splines merged into it if these are asked for.
 *
 * wide  rows that are filtered (struct fbp_job)
 * @return as fbp_parabola_design(), fbp_deconvolution_design(), fbp_spectra_load() and
 * fbp_filter_spline(); FBP_ERR_UNSUPPORTED for a circle with what it has not; FBP_ERR_IO.
 */
fbp_status fbp_plane_filter(struct fbp_filter_design *out, const struct fbp_scan *scan,
                            const struct fbp_recon_params *params, const struct fbp_panel *wide);

/* The reference of a scan of spectra (internal). */

/**
 * Read scan->reference, which has a number for each sample of a view.
 *
 * out      without Wiener's term; uses *samples, which are to be freed
 * @return FBP_ERR_INVALID: another number of samples, views whose samples do not all lie at the
 * same fields, a binned scan; FBP_ERR_IO; FBP_ERR_NOMEM.
 */
fbp_status fbp_spectra_load(const struct fbp_scan *scan, struct fbp_reference *out,
                            double **samples);

/* A caller's parameters, looked at once (internal). */

/** What integers stand for in HU unless told: air to bone. */
static const double FBP_USUAL_HU_RANGE[2] = {-1000, 3000};

/** The caller's parameters (NULL: defaults) as this library's struct; FBP_ERR_INVALID names the
 *  field that is out of its range. */
fbp_status fbp_take_params(struct fbp_recon_params *own, const struct fbp_recon_params *given);

/* From "name:0,2" to a backend and its devices (internal). */

enum { FBP_MOST_DEVICES = 64 };

/** "name", "name:0,2" or "name:all": devices[FBP_MOST_DEVICES] gets the indices, one if the text
 *  names none. */
fbp_status fbp_devices_find(const char *text, const struct fbp_backend **backend, int *devices,
                            size_t *n_devices);

/** The same, of those that are listed: of what they are used for they may do less, or more. */
fbp_status fbp_devices_listed(const char *text, const struct fbp_backend **backend, int *devices,
                              size_t *n_devices);

/** The first device of a list of backends (ended by NULL) that `auto` may take; NULL: there is
 * none. */
const struct fbp_backend *fbp_device_first(const struct fbp_backend *const *list, int *index);

/**
 * If the backend has no way to compute this job: take the next of the list that has, and a device
 * that `auto` may take.  If there is none, the backend stays, and fails.
 *
 * line  gets a sentence about both; "" if the backend stays
 */
void fbp_device_capable(const struct fbp_backend *const *list, const struct fbp_job *job,
                        const struct fbp_backend **backend, int *device, char *line, size_t n);

/** Most of what is free of a device's own memory; 0: not known, or it is the host's. */
uint64_t fbp_device_free(const struct fbp_backend *backend, int index);

#endif /* FBP_SRC_PIPELINE_JOB_H */
