/** @file measure.h  A session of Ino et al. (2010), and the functions that measure.c,
 * division.c, volume.c, device.c, run.c and error.c share (internal). */
#ifndef FBP_BENCH_PAPERS_INO2010_MEASURE_H
#define FBP_BENCH_PAPERS_INO2010_MEASURE_H

#include "bench/papers/ino2010/s2.h"

#include "backend/device.h"
#include "base/threads.h"
#include "pipeline/job.h"

#include <stdatomic.h>

enum { S2_SLOTS = 2, S2_FILTER_VIEWS = 8, S2_STAGE_BYTES = 64 << 20 };

/** The whole volume, into which boxes are copied. */
struct s2_volume {
    float *voxels; /**< [nz][ny][nx]; NULL: in the file */
    int fd;        /**< descriptor of the file without a name; -1: none */
};

struct fbp_s2 {
    const struct fbp_scan *scan;
    struct fbp_s2_plan plan;
    char folder[400];
    int n_threads;
    uint64_t device_limit; /**< as requested */
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    struct fbp_recon_params params; /**< of the job */
    struct fbp_job_tables tables;   /**< of the views as measured */
    struct fbp_prep rows_prep;
    struct fbp_job rows; /**< of filtered rows */
    /** Device that is open from the first run on, because it owns the host memory. */
    fbp_device *keeper;
    float *views; /**< [n_views][n_rows][n_columns], filtered in place */
    struct s2_volume volume;
    fbp_pool *pool;
    bool complete; /**< the volume is that of the last run */
};

/** Samples of a view. */
static inline size_t s2_view_samples(const fbp_s2 *s)
{
    return s->plan.n_columns * s->plan.n_rows;
}

/* division.c */

/** Parameters of the division into boxes. */
struct s2_needs {
    size_t n[3], n_devices;
    size_t wanted;         /**< subvolumes; 0: the fewest that fit */
    bool in_file;          /**< the volume is in a file: divide along y only, if possible */
    uint64_t device_limit; /**< 0: not known */
    uint64_t fixed_bytes, views_bytes; /**< on a device, beside boxes */
    uint64_t (*box_bytes)(const void *user, size_t nx, size_t ny);
    const void *user;
};

/** Set subvolumes, split, box, volumes, given, box_bytes and device_bytes of the plan p. */
fbp_status s2_divide(const struct s2_needs *w, struct fbp_s2_plan *p);

/** Box b of the plan: whole columns. */
struct fbp_slab s2_box(const struct fbp_s2_plan *plan, size_t b);

/* volume.c */

fbp_status s2_volume_open(fbp_s2 *s);
void s2_volume_close(fbp_s2 *s);
/** Copy slices [z0, z1) of a box, [z1 - z0][ny][nx], into the volume, by the threads of a pool. */
fbp_status s2_volume_put(const fbp_s2 *s, fbp_pool *pool, const struct fbp_slab *box, size_t z0,
                         size_t z1, const float *voxels);
/** Whole slices [z0, z1). */
fbp_status s2_volume_get(const fbp_s2 *s, size_t z0, size_t z1, float *out);
fbp_status s2_volume_hash(const fbp_s2 *s, uint64_t *out);

/* device.c */

/** State of one device of a run. */
struct s2_worker {
    const fbp_s2 *s;
    size_t at, n; /**< device `at` of n */
    bool streams;
    atomic_bool *failed;       /**< any of them */
    fbp_device *filter_device; /**< open device of the first phase: filter */
    fbp_device *accumulator;   /**< open device of the second phase: backprojection */
    void *raw[S2_SLOTS];       /**< raw views of filter_device */
    float *rows[S2_SLOTS];     /**< filtered rows of filter_device */
    void *views[S2_SLOTS], *filtered[S2_SLOTS]; /**< views of accumulator: raw, and laid out */
    void *volume[S2_SLOTS];                     /**< boxes of accumulator */
    void *stage[S2_SLOTS];                      /**< host buffers for slices of a box */
    size_t stage_slices;                        /**< slices per buffer of `stage` */
    fbp_pool *copiers;                          /**< threads that copy slices into the volume */
    struct fbp_s2_time time;
    double lap; /**< time at which the last step ended */
};

/** Sets the slab *out to the voxels [box[axis][0], box[axis][1]) along x, y and z.
 * @return FBP_ERR_INVALID if the box is empty or not inside the volume, FBP_ERR_UNSUPPORTED if the
 * job's kernel computes whole slices only */
fbp_status s2_slab_of(const struct fbp_job *job, const size_t box[3][2], struct fbp_slab *out);

/** Open the devices of a worker, and allocate all its memory. */
fbp_status s2_worker_open(struct s2_worker *w);
void s2_worker_close(struct s2_worker *w);
/** Filter the worker's share of the views. */
fbp_status s2_worker_filter(struct s2_worker *w);
/** Compute the worker's share of the boxes. */
fbp_status s2_worker_backproject(struct s2_worker *w);
/** Send all views to the device once, as for a box, without computing. */
fbp_status s2_worker_send(struct s2_worker *w);

#endif /* FBP_BENCH_PAPERS_INO2010_MEASURE_H */
