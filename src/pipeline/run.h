/** @file run.h  What lies outside the field of view, or outside the region of interest, gets one
 * value (internal).
 *
 * In the field of view is a voxel whose centre lies within facts.fov_radius_mm of the rotation
 * axis, and on the detector's rows in every view: in a cone beam the lower and upper end is a bowl.
 * All its slices follow one another, so that a column of voxels is known by two numbers.  The
 * region is the job's (job.h).
 *
 * Applied by the pipeline to slices that have been fetched, so that it is the same on every device.
 */
#ifndef FBP_SRC_PIPELINE_RUN_H
#define FBP_SRC_PIPELINE_RUN_H

#include "array/file/outfile.h"
#include "backend/backend.h"
#include "pipeline/data_check.h"
#include "pipeline/division.h"

#include <stdatomic.h>

typedef struct fbp_mask fbp_mask;

/** For the box of the job that is asked for, and its region.
 *  field: of the field of view, too */
fbp_status fbp_mask_create(fbp_mask **out, const struct fbp_job *job, bool field, double value);
void fbp_mask_destroy(fbp_mask **mask);

/** Bytes of a mask, and of a slice of it. */
size_t fbp_mask_bytes(const struct fbp_job *job, bool field);

/** Mask slices [z, z + n) of the volume, of the box alone, in place.  found: least, most and sum of
 *  what is inside; returns how many voxels that are.  Thread-safe. */
size_t fbp_mask_apply(const fbp_mask *mask, size_t z, size_t n, void *values,
                      struct fbp_statistics *found);

/** A slice of the box of which nothing is wanted; NULL: of a job without a region. */
const void *fbp_mask_blank(const fbp_mask *mask);

/* A volume as the sum of some, each backprojected from a part of the views
 * (internal).
 *
 * Devices then give sums as they are.  What follows from the whole, its scale and shift (HU), and
 * the least, most and mean voxel, is done with the host's floats when the others' are added.
 */

struct fbp_sum {
    /** Add what others have of slices [z, z + n) of the box asked for (of frames, one behind the
     *  other) to x[n][y][x].  Called by
     *  several threads at once, unless in_order, and again for slices that a device failed with;
     * the order of terms is its own to fix. */
    fbp_status (*add)(void *user, size_t z, size_t n, float *x);
    /** Is slice z whole here after add()?  Else it is elsewhere.  NULL: all are. */
    bool (*has)(void *user, size_t z);
    void *user;
    bool in_order;       /**< add() is called by one thread, for slabs and blocks in their order */
    double scale, shift; /**< of the sum, as a job's are of a volume */
};

/** Take over a job's scale and shift: its devices give sums as they are. */
void fbp_sum_take(struct fbp_sum *sum, struct fbp_job *job);

/* What a run did when: bars of batches and slabs on the stages' lanes
 * (internal).
 *
 * Work that a device has queued is timed by its stamps, everything else by the host's clock; both
 * end on one axis.
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

/** A piece of work that has begun. */
struct fbp_span {
    fbp_timeline *to; /**< NULL: nobody wants to know */
    const struct fbp_backend *backend;
    fbp_device *dev;
    enum fbp_stage stage;
    uint64_t stamps[2]; /**< of a device's queue, or */
    double begin;       /**< of the host */
    bool queued;
};

/** Zero is now. */
fbp_status fbp_timeline_create(fbp_timeline **out);
void fbp_timeline_destroy(fbp_timeline **timeline);

/** Work of the host begins.  timeline may be NULL, here and below. */
struct fbp_span fbp_span_host(fbp_timeline *timeline);

/** Work of a stage of a device begins. */
fbp_status fbp_span_device(fbp_timeline *timeline, const struct fbp_backend *backend,
                           fbp_device *dev, enum fbp_stage stage, struct fbp_span *out);

/** It ends here, or in the device's queue.  shade: even and odd are drawn apart; words: what it
 *  was. */
fbp_status fbp_span_end(struct fbp_span *span, enum fbp_lane lane, size_t shade, const char *fmt,
                        ...) __attribute__((format(printf, 4, 5)));

/** Turn a device's stamps into seconds: all its work is done, and it is still open. */
fbp_status fbp_timeline_settle(fbp_timeline *timeline, fbp_device *dev);

fbp_status fbp_timeline_svg(const fbp_timeline *timeline, const char *title, const char *path);

/* The sentence: load, prep, weight, filter, backproject, store (internal). */

struct worker;

/** Opened devices with their buffers, for one run after another. */
struct fbp_workers {
    struct worker *list;
    size_t n;
};

/** All at once.  A device that fails is left out, and named by the next run; if all do, so does
 *  this. */
fbp_status fbp_workers_open(struct fbp_workers *out, const struct fbp_backend *backend,
                            const struct fbp_job *job, const struct fbp_work *work,
                            const int *devices, size_t n_devices);
void fbp_workers_close(struct fbp_workers *workers);

/** Memory of the host that all of them copy from and to. */
fbp_status fbp_workers_alloc(const struct fbp_workers *workers, size_t bytes, void **out);
void fbp_workers_release(const struct fbp_workers *workers, void *memory);

/** What runs: tables, a division of the work, where views come from and slices go to. */
struct fbp_run_request {
    const struct fbp_job *job;
    const struct fbp_backend *backend;
    const struct fbp_work *work;
    fbp_source *source;
    bool top_down; /**< stored pictures start with the top row */
    fbp_sink *sink;
    const int *devices; /**< n_devices indices of the backend's devices */
    size_t n_devices;
    const struct fbp_workers *workers; /**< of these devices; NULL: opened for this run */
    size_t first_worker;       /**< of work->n_workers; devices[i] is worker first_worker + i */
    fbp_timeline *timeline;    /**< NULL: not wanted */
    const fbp_mask *mask;      /**< of what is written; NULL: none */
    const struct fbp_sum *sum; /**< this is a part of it; NULL: the whole */
    fbp_data_check *check;     /**< at the views as they pass; NULL: none */
    uint64_t *n_found;         /**< voxels that the report's min, max and mean are of; NULL: none */
    bool no_overlap;           /**< one stage at a time, as fbp_recon_params says */
    const atomic_bool *stop;   /**< set: the run is to end; NULL: nobody does */
    int (*progress)(void *user, const struct fbp_progress *p);
    fbp_log_fn *log; /**< or NULL */
    void *user;
};

/** Are slices finished after they were fetched, so that only then voxels are what they will be? */
static inline bool fbp_run_finishes(const struct fbp_run_request *rq)
{
    return rq->mask || rq->sum;
}

/** Compute all slabs of these workers that the sink does not have.  The sink is not finished.  A
 *  device that fails is named and left out, and the others do its part.  No slice is written to the
 *  sink twice. */
fbp_status fbp_run(const struct fbp_run_request *rq, struct fbp_report *report);

/* Reading a batch in canonical row order (internal). */

/** out: [n_views][load_rows][n_columns] of the job's raw type, row index growing with +v
 *  (backend/rows.h); by the threads of pool, if it is not NULL.  Who has read a view looks at it,
 *  if `look` is not NULL, while it is in a cache. */
fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_job *job,
                    const struct fbp_batch *batch, fbp_pool *pool, fbp_data_check *check,
                    void *out);

/* Views weighted and filtered in double, for those who want them (internal). */

/** Takes view `view`, [wide.n_rows][wide.n_columns]; from several threads, in any order. */
typedef fbp_status fbp_filtered_fn(void *user, size_t view, const float *samples);

/**
 * All views of a job as the backend `ref` filters them, rounded to float; rows run upwards.
 * Memory: four views a thread.
 */
fbp_status fbp_filter_views(const struct fbp_job *job, fbp_source *source, bool top_down,
                            fbp_filtered_fn *take, void *user);

/* Views that are filtered once, into a scratch file, and read from there
 * (internal).
 *
 * Where a volume is computed in many slabs, most rows would be read and filtered again for several
 * of them.  The file holds all rows that the volume needs as floats, [view][row][column of `wide`],
 * upwards: a source of the job's rows (fbp_job_of_rows()).
 */

struct fbp_rows_file {
    struct fbp_scratch file;
    size_t n_rows, row_bytes; /**< of a view */
};

/** Bytes of the file. */
uint64_t fbp_rows_bytes(const struct fbp_job *job);

/** A file with room for the rows of a job, in a folder. */
fbp_status fbp_rows_open(struct fbp_rows_file *out, const struct fbp_job *job, const char *folder);
void fbp_rows_close(struct fbp_rows_file *rows);

/**
 * Filter all views of a request, whose `job` is the one of unfiltered views and whose `work` is
 * made by fbp_work_rows(), into the file.  Looks at them as they pass.  Of several devices the
 * first one that can be opened is used.
 *
 * report: gets the seconds of reading and filtering, and what was mended
 */
fbp_status fbp_rows_filter(const struct fbp_run_request *rq, const struct fbp_rows_file *to,
                           struct fbp_report *report);

/** What is in the file, which must outlive the source. */
fbp_status fbp_rows_source(const struct fbp_job *job, struct fbp_rows_file *rows, fbp_source **out);

#endif /* FBP_SRC_PIPELINE_RUN_H */
