/** @file run.h One run of a plan (fbp_run()): compute the slabs of a job, complete their slices and
 * write them (internal). Also the parts of a run: the mask of finished slices, sums of partial
 * volumes, the timeline, workers, loading of batches of views, and filtered views in a scratch
 * file.
 * Used by: bench/common/, bench/papers/qiao2015/, bench/papers/zinsser2013/, bench/rabbitct/,
 * pipeline/. */
#ifndef FBP_SRC_PIPELINE_RUN_H
#define FBP_SRC_PIPELINE_RUN_H

#include "array/file/outfile.h"
#include "backend/backend.h"
#include "pipeline/data_check.h"
#include "pipeline/division.h"

#include <stdatomic.h>

/* mask.c: one value for all voxels outside the field of view or the region
 *
 * A voxel lies in the field of view if its centre is within facts.fov_radius_mm of the rotation
 * axis (plane integrals: of the iso-centre) and on the detector's rows in every view; in a cone
 * beam the lower and the upper end are bowls.  The voxels of a column that lie inside are
 * contiguous, so two slice numbers per column describe the field of view.  The region is the job's
 * (job.h).  stage_write.c applies the mask to fetched slices, so it is the same on every device.
 */

typedef struct fbp_mask fbp_mask;

/** Make the mask of a job, which sets the voxels outside the job's region to one value.
 * field: true: also mask the voxels outside the field of view
 *  value: value of these voxels, in the unit of the output; may be NaN */
fbp_status fbp_mask_create(fbp_mask **out, const struct fbp_job *job, bool field, double value);
void fbp_mask_destroy(fbp_mask **mask);

/** Greatest number of bytes that fbp_mask_create() allocates, including temporary tables. */
size_t fbp_mask_bytes(const struct fbp_job *job, bool field);

/** Set the voxels of slices [z, z + n) of the grid that are outside the region or field of view to
 * the mask's value.
 *  values: [n][y][x], voxels of the requested box only
 *  found: gets minimum, maximum and sum of the other voxels
 *  @return number of the other voxels.  Thread-safe. */
size_t fbp_mask_apply(const fbp_mask *mask, size_t z, size_t n, void *values,
                      struct fbp_statistics *found);

/** A slice with the mask's value in all voxels, for slices outside the region; NULL: no region. */
const void *fbp_mask_blank(const fbp_mask *mask);

/* stage_write.c: a volume as the sum of partial volumes, each from a part of the views
 *
 * The devices then return unscaled sums.  Scale and shift (HU), and minimum, maximum and mean, need
 * the complete sum: the host computes them in float after it has added the partial volumes of other
 * processes (team_run.c).
 */

struct fbp_sum {
    /** Add the partial volumes of other processes to x[n][y][x], slices [z, z + n) of the requested
     *  box; frames and volumes of a series follow one another.  Several threads call it at the same
     *  time, unless in_order is set, and call it again for slices that a failed device had
     *  computed.  It must add its terms in a fixed order. */
    fbp_status (*add)(void *user, size_t z, size_t n, float *x);
    /** Return whether this process has the complete sum of slice z of the output after add(); if
     * not, another process has it. Pointer NULL: this process has all sums. */
    bool (*has)(void *user, size_t z);
    void *user;
    bool in_order;       /**< one thread calls add(), for blocks in ascending order */
    double scale, shift; /**< output value = scale * sum + shift */
};

/** Move scale and shift of the output from the job to `sum`: devices then return plain sums. */
void fbp_sum_take(struct fbp_sum *sum, struct fbp_job *job);

/* timeline.c: when each stage worked, as an SVG drawing with one lane per stage
 *
 * Work in a device's queue is timed by timestamps of the device, other work by the host's clock.
 * Both are drawn on one time axis.
 */

enum fbp_lane {
    FBP_LANE_HOST = 0, /**< opening devices, finishing the output */
    FBP_LANE_READ,
    FBP_LANE_UPLOAD,
    FBP_LANE_FILTER,
    FBP_LANE_BACKPROJECT,
    FBP_LANE_FETCH,
    FBP_LANE_WRITE,
    FBP_N_LANES
};

typedef struct fbp_timeline fbp_timeline;

/** A bar of the timeline, whose work has begun and not ended. */
struct fbp_span {
    fbp_timeline *to; /**< NULL: nothing is recorded */
    const struct fbp_backend *backend;
    fbp_device *dev;
    enum fbp_stage stage;
    /** Timestamps of the device at both ends of the queued work, if `queued` is set. */
    uint64_t stamps[2];
    double begin; /**< beginning of the work by the host's clock [s] */
    bool queued;
};

/** Create an empty timeline; its time 0 is the time of this call. */
fbp_status fbp_timeline_create(fbp_timeline **out);
void fbp_timeline_destroy(fbp_timeline **timeline);

/** Begin a bar of the timeline for work of the host.  timeline NULL: no bar. */
struct fbp_span fbp_span_host(fbp_timeline *timeline);

/** Begin a bar of the timeline for work of a stage in a device's queue.  timeline NULL: no bar. */
fbp_status fbp_span_device(fbp_timeline *timeline, const struct fbp_backend *backend,
                           fbp_device *dev, enum fbp_stage stage, struct fbp_span *out);

/** End a bar and add it to its timeline. A bar that fbp_span_device() began ends after the work
 * that is now in the device's queue; others end now.
 * shade: shade % 2 selects one of two shades
 *  fmt: format of the description of the work */
fbp_status fbp_span_end(struct fbp_span *span, enum fbp_lane lane, size_t shade, const char *fmt,
                        ...) __attribute__((format(printf, 4, 5)));

/** Convert the timestamps of an open device's bars to seconds; its work must be complete. */
fbp_status fbp_timeline_settle(fbp_timeline *timeline, fbp_device *dev);

fbp_status fbp_timeline_svg(const fbp_timeline *timeline, const char *title, const char *path);

/* run.c: workers and the run */

struct worker;

/** Open devices with their buffers, which several runs may use one after another. */
struct fbp_workers {
    struct worker *list;
    size_t n;
};

/** Open all devices at the same time.  A device that fails is left out, and the next run logs a
 * warning that names it.  If all devices fail, the error of the first one is returned. */
fbp_status fbp_workers_open(struct fbp_workers *out, const struct fbp_backend *backend,
                            const struct fbp_job *job, const struct fbp_work *work,
                            const int *devices, size_t n_devices);
void fbp_workers_close(struct fbp_workers *workers);

/** Allocate host memory that all devices of `workers` can copy from and to directly. */
fbp_status fbp_workers_alloc(const struct fbp_workers *workers, size_t bytes, void **out);
void fbp_workers_release(const struct fbp_workers *workers, void *memory);

/** Parameters of fbp_run(): job, division, source of views, sink of slices, and others. */
struct fbp_run_request {
    const struct fbp_job *job;
    const struct fbp_backend *backend;
    const struct fbp_work *work;
    fbp_source *source;
    bool top_down; /**< true: stored views start with the top row */
    fbp_sink *sink;
    const int *devices; /**< [n_devices] indices of the backend's devices, one worker per device */
    size_t n_devices;
    const struct fbp_workers *workers; /**< open devices; NULL: the run opens and closes them */
    fbp_timeline *timeline;            /**< NULL: none */
    const fbp_mask *mask;              /**< mask of written slices; NULL: none */
    const struct fbp_sum *sum;         /**< adds partial volumes of other processes; NULL: none */
    fbp_data_check *check; /**< check of the views for bad data when they are read; NULL: none */
    uint64_t *n_found;     /**< output, may be NULL: number of voxels in min, max and mean */
    bool no_overlap;       /**< only one stage works at a time */
    /** Flag that ends the run when it is set; NULL: none. */
    const struct fbp_cancel_flag *stop;
    int (*progress)(void *user, const struct fbp_progress *p);
    void *progress_user; /**< argument of progress() */
    fbp_log_fn *log;     /**< NULL: none */
    void *log_user;      /**< argument of log() */
};

/** Return whether the host changes slices after they are fetched (mask, sums of partial volumes);
 * statistics must then be computed from the changed voxels. */
static inline bool fbp_run_finishes(const struct fbp_run_request *rq)
{
    return rq->mask || rq->sum;
}

/** Compute all slabs of the request that the sink lacks, and write their slices; the caller
 * finishes the sink. If a device fails, a warning names it, and others compute its slabs; if
 * devices copy filtered views from one another, the run fails. No slice is written twice. */
fbp_status fbp_run(const struct fbp_run_request *rq, struct fbp_report *report);

/* stage_read.c: loading a batch */

/** Read a batch of views into out, [n_views][load_rows][n_columns] of the job's input type; the row
 * index grows with +v (struct fbp_view), even if views are stored top down.
 *  pool: threads that read; NULL: the calling thread reads
 * check: check for bad data, made for each view in the thread that has read it; NULL: none */
fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_job *job,
                    const struct fbp_batch *batch, fbp_pool *pool, fbp_data_check *check,
                    void *out);

/* scratch_rows.c: views that are filtered once, into a scratch file, and read from it
 *
 * If a volume is computed in many slabs, most rows would be read and filtered again for several
 * slabs.  The scratch file holds all rows that the volume needs as floats, [view][row][column of
 * the padded detector], the row index growing with +v.  It is then the source of the job of
 * fbp_job_of_rows(). */

struct fbp_rows_file {
    struct fbp_scratch file;
    size_t n_rows, row_bytes; /**< rows per view; bytes per row */
};

/** Size of the scratch file of a job [bytes]. */
uint64_t fbp_rows_bytes(const struct fbp_job *job);

/** Create a scratch file in `folder` with space for the filtered rows of a job. */
fbp_status fbp_rows_open(struct fbp_rows_file *out, const struct fbp_job *job, const char *folder);
void fbp_rows_close(struct fbp_rows_file *rows);

/**
 * Filter all views of rq->source into the file, and check them when they are read.  rq->job is the
 * job of unfiltered views, and rq->work is made by fbp_work_rows().  The first of rq->devices that
 * can be opened is used.
 *
 * report: gets the seconds of reading and filtering, and the numbers of repaired samples
 */
fbp_status fbp_rows_filter(const struct fbp_run_request *rq, const struct fbp_rows_file *to,
                           struct fbp_report *report);

/** Make a source that reads filtered rows from a scratch file; *rows must outlive the source. */
fbp_status fbp_rows_source(const struct fbp_job *job, struct fbp_rows_file *rows, fbp_source **out);

#endif /* FBP_SRC_PIPELINE_RUN_H */
