/** @file gl.h  The device of the OpenGL module (internal).
 *
 * Threads with a context each run what the slots leave in a queue (queue.h); tables and scratch are
 * one buffer, laid out by a pure function (gpu/tables.h).  What is marked "in the queue" below is
 * called by the one that computes alone.
 */
#ifndef FBP_SRC_GL_DEVICE_H
#define FBP_SRC_GL_DEVICE_H

#include "backend/gl/buffer.h"
#include "backend/gl/egl.h"
#include "backend/gl/kernel.h"
#include "backend/gl/program.h"
#include "backend/gl/queue.h"
#include "backend/gl/s3_kernel.h"
#include "backend/gpu/host.h"
#include "backend/gpu/tables.h"
#include "backend/gpu/tuner.h"
#include "backend/partners.h"
#include "picture/projector.h"

#include <pthread.h>
#include <stdatomic.h>

/* How much of a volume is computed by one command, so that none takes long
 * (internal).
 *
 * Systems reset a renderer that does not answer for some seconds, and a desktop on it stands still
 * meanwhile.  The first commands of a device are small and timed, but for the very first, for which
 * drivers compile; later ones are made to take a fraction of a second, and some of them are timed
 * again.  No division changes what a voxel gets.
 */
struct gl_pace {
    unsigned n;   /**< commands so far */
    double rate;  /**< voxels x views a second; 0: nothing is known yet */
    double seen;  /**< ... of the last command that was timed, however short */
    double trial; /**< size of the next trial */
    double start; /**< of the trial that runs; 0: none does */
};

/** Voxels x views of the next command at most. */
double gl_pace_most(const struct gl_pace *pace);
/** Before and after a command, which may wait for the renderer. */
void gl_pace_begin(struct gl_pace *pace);
void gl_pace_end(struct gl_pace *pace, double updates);

/* What all devices of a renderer share: one group of contexts, and memory of the
 * host in it (internal).
 *
 * Memory that one plan was given is reached by all others on the renderer, as CUDA's pinned memory
 * is.  So all contexts of a renderer are made beside one that is there as long as any of them; a
 * thread with this context makes and drops buffers that are memory of the host.
 */
struct gl_share;

/** Use what devices of this renderer share; the first one makes it.  Thread-safe, as is all below.
 */
fbp_status gl_share_enter(struct gl_share **out, int index);
/** The last one closes it.  What was not given back is gone then. */
void gl_share_leave(struct gl_share **share);

/** The context beside which others are made. */
const struct gl_egl *gl_share_context(const struct gl_share *share);

/** Memory of the host; `what` it is for, for a message. */
fbp_status gl_share_alloc(struct gl_share *share, size_t bytes, const char *what, void **out);
/** Let go a buffer of some share, which gl_part_held() or its user held; NULL: nothing.  When
 * nobody holds it any more it is dropped. */
void gl_share_let_go(void *buffer);

/** The time when a lane that only copies came to a point, for timelines. */
struct gl_moment;

/** Time stamps of the lane that computes, for timelines. */
struct gl_stamps {
    atomic_uint_fast64_t n; /**< asked for */
    unsigned *queries;      /**< in the queue, as are: */
    size_t room, n_read;
    double zero; /**< of the renderer's clock, by the host's */
};

/** What is timed of a run whose rates are not known. */
struct gl_meter {
    bool due;      /**< nothing is kept of this kernel on this renderer */
    unsigned n;    /**< batches filtered */
    double start;  /**< of the one that is timed */
    double filter; /**< seconds a sample; 0: not known yet */
};

struct gl_device {
    const struct fbp_job *job;
    int index;
    const struct gl_renderer *renderer;
    const struct gl_kernel *kernel;
    struct gl_share *share; /**< with other devices of the renderer */
    struct gl_queue *queue;
    struct gl_egl copies[GL_N_LANES];   /**< of the lanes that copy */
    struct gl_point copied[GPU_STAGES]; /**< when places for slices may be filled again */
    unsigned next_piece;                /**< counts what went through them */
    pthread_mutex_t moments_lock;
    struct gl_moment *moments; /**< that nobody has read yet */
    struct gl_egl egl;         /**< in the lane that computes, as are: */
    struct gl_programs programs;
    struct gl_pace pace;
    struct gl_meter meter;
    struct gpu_tuner tuner;                /**< of the kernel's shapes */
    unsigned trials[2 * GPU_TUNER_TRIALS]; /**< queries that time them */
    struct gl_stamps stamps;
    unsigned clock[2];        /**< queries: begin and end */
    unsigned sampler;         /**< of filtered views in textures */
    float half_scale;         /**< of views in fp16; 1 otherwise */
    struct gl_buffer memory;  /**< of tables */
    struct gpu_tables tables; /**< places in `memory` */
    struct gpu_principal *principal;
    struct gl_s3_kernel *drawing; /**< of a kernel that draws */
    bool counts_once;             /**< in the queue: the ledger is filled */
};

static inline struct gl_device *gl_of(fbp_device *device)
{
    return (struct gl_device *)(void *)device;
}

/** order.c: marks. */
fbp_status gl_mark(fbp_device *device, enum fbp_stage stage, struct fbp_mark *out);
fbp_status gl_after(fbp_device *device, enum fbp_stage stage, struct fbp_mark mark);
fbp_status gl_wait(fbp_device *device, struct fbp_mark mark);

/** times.c: when the renderer came to a point. */
fbp_status gl_stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out);
fbp_status gl_stamped(fbp_device *device, uint64_t stamp, double *seconds);
fbp_status gl_time(fbp_device *device, enum fbp_stage stage, double *seconds);
void gl_times_close(struct gl_device *dev); /* in the queue */
void gl_moments_drop(struct gl_device *dev);

/** trials.c: times of passes, in the queue; user: the device. */
extern const struct gpu_timer gl_timer;
void gl_trials_close(struct gl_device *dev);

/** rates.c: what work takes on a renderer in hardware, measured by runs and kept.  Of none is
 *  anything known before.  A run then times one batch in the filter, takes the rate of the kernel
 *  from its pace, and times two copies when it is closed; `samples` are the batch's. */
void gl_rates(const struct fbp_job *job, struct fbp_rates *out); /* of the first renderer */
void gl_meter_open(struct gl_device *dev);                       /* in the queue, as are: */
void gl_meter_begin(struct gl_meter *meter);
void gl_meter_end(struct gl_meter *meter, double samples);
void gl_meter_close(struct gl_device *dev);

/** memory.c: of the device, and of the host as the device reaches it. */
fbp_status gl_host_alloc(fbp_device *device, size_t bytes, const char *what, void **out);
void gl_host_release(fbp_device *device, void *memory);
bool gl_reaches(fbp_device *device, const void *host, size_t bytes);
fbp_status gl_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out);
void gl_release(fbp_device *device, enum fbp_purpose purpose, void *memory);
fbp_status gl_upload(fbp_device *device, void *dst, const void *src, size_t n_samples);
fbp_status gl_upload_pieces(fbp_device *device, void *dst, const void *src, size_t n,
                            size_t n_samples, size_t stride);
fbp_status gl_download(fbp_device *device, const float *rows, size_t n, float *host);
/** Device memory to the host's, in the order of OUT. */
fbp_status gl_copy_out(struct gl_device *dev, const struct gl_part *from, void *host);
/** In any context: bytes of a buffer to the host's memory, and from there; or from part to part. */
fbp_status gl_copy(struct gl_device *dev, const struct gl_part *from, const struct gl_part *to);
fbp_status gl_read(struct gl_device *dev, const struct gl_part *from, void *host);
fbp_status gl_write(struct gl_device *dev, const struct gl_part *to, const void *host);

/** filter.c: raw views to filtered ones. */
fbp_status gl_filter_open(struct gl_device *dev); /* in the queue */
fbp_status gl_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered);
fbp_status gl_filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                          float *rows);
fbp_status gl_expect(fbp_device *device, const struct fbp_ledger *ledger);
fbp_status gl_counts(fbp_device *device, struct fbp_prep_counts *out);

/** volume.c: filtered views into a slab, and the slab to the host. */
fbp_status gl_clear(fbp_device *device, const struct fbp_slab *slab, void *volume);
fbp_status gl_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                          const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
fbp_status gl_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                    const void *volume, void *host);
fbp_status gl_statistics(fbp_device *device, struct fbp_statistics *out);

/** mip.c: projections of volumes, on a device of their own. */
extern const struct fbp_projector gl_mip;

#endif /* FBP_SRC_GL_DEVICE_H */
