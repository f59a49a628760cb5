/** @file gl.h  The device of the OpenGL module (internal).
 *
 * Slots submit commands to a queue; threads with one context each run them (queue.h).  Tables and
 * scratch memory are parts of one buffer (gpu/tables.h).  Functions and members marked "in the
 * queue" are used by the computing thread only.
 */
#ifndef FBP_SRC_GL_DEVICE_H
#define FBP_SRC_GL_DEVICE_H

#include "backend/gl/buffer.h"
#include "backend/gl/egl.h"
#include "backend/gl/kernel.h"
#include "backend/gl/program.h"
#include "backend/gl/queue.h"
#include "backend/gpu/host.h"
#include "backend/gpu/tables.h"
#include "backend/gpu/tuner.h"
#include "backend/partners.h"
#include "picture/viewer.h"

#include <pthread.h>
#include <stdatomic.h>

/** timing.c: the size of backprojection commands.
 *
 * Systems reset a renderer that does not respond for some seconds, and its desktop freezes
 * meanwhile. The first command of a device is small and not timed, because drivers compile; the
 * next ones are small and timed; later ones are sized to take a fraction of a second, and some of
 * them are timed. The division has no effect on values.
 */
struct gl_pace {
    unsigned n;   /**< number of commands */
    double rate;  /**< voxels x views per second; 0: unknown */
    double seen;  /**< the same of the last timed command, however short */
    double trial; /**< voxels x views of the next trial */
    double start; /**< start of the running trial; 0: none */
};

/** Greatest voxels x views of the next command. */
double gl_pace_most(const struct gl_pace *pace);
/** Before and after a command; both may wait for the renderer. */
void gl_pace_begin(struct gl_pace *pace);
void gl_pace_end(struct gl_pace *pace, double updates);

/** memory.c: the context shared by all devices of a renderer, with its host buffers.  Thread-safe.
 */
struct gl_share;

/** Use the shared context of a renderer; the first user creates it. */
fbp_status gl_share_enter(struct gl_share **out, int index);
/** The last user closes it; buffers that were not released become invalid. */
void gl_share_leave(struct gl_share **share);

/** The context with which others share objects. */
const struct gl_egl *gl_share_context(const struct gl_share *share);

/** Time at which a lane that copies passed a point. */
struct gl_moment;

/** Timestamps of the computing lane. */
struct gl_stamps {
    atomic_uint_fast64_t n; /**< number of timestamps submitted */
    unsigned *queries;      /**< in the queue, as are: */
    size_t room, n_read;
    double zero; /**< zero of the renderer's clock by the host's clock */
};

/** Measurement of the rates of a run, if none are stored. */
struct gl_meter {
    bool due;      /**< nothing is stored for this kernel on this renderer */
    unsigned n;    /**< batches filtered */
    double start;  /**< start of the timed batch */
    double filter; /**< seconds per sample; 0: unknown */
};

struct gl_device {
    const struct fbp_job *job;
    int index;
    const struct gl_renderer *renderer;
    const struct gl_kernel *kernel;
    struct gl_share *share; /**< shared with other devices of the renderer */
    struct gl_queue *queue;
    struct gl_egl copies[GL_N_LANES];   /**< contexts of the lanes that copy */
    struct gl_point copied[GPU_STAGES]; /**< places for slices in `memory` are free from here */
    unsigned next_piece;                /**< number of pieces of slices fetched through them */
    pthread_mutex_t moments_lock;
    struct gl_moment *moments; /**< not read yet */
    struct gl_egl egl;         /**< in the queue, as are: */
    struct gl_programs programs;
    struct gl_pace pace;
    struct gl_meter meter;
    struct gpu_tuner tuner;                /**< chooses the kernel's shape */
    unsigned trials[2 * GPU_TUNER_TRIALS]; /**< queries of the tuner */
    struct gl_stamps stamps;
    unsigned sampler;         /**< of textures of filtered views */
    float half_scale;         /**< scale of views in fp16; otherwise 1 */
    struct gl_buffer memory;  /**< tables and scratch memory */
    struct gpu_tables tables; /**< offsets in `memory` */
    struct gpu_principal *principal;
    void *custom;     /**< state of a kernel with functions of its own */
    bool counts_once; /**< the ledger is filled */
};

static inline struct gl_device *gl_of(fbp_device *device)
{
    return (struct gl_device *)(void *)device;
}

/** entry.c: events, which are points of the orders of the stages. */
fbp_status gl_mark(fbp_device *device, enum fbp_stage stage, struct fbp_mark *out);
fbp_status gl_after(fbp_device *device, enum fbp_stage stage, struct fbp_mark mark);
fbp_status gl_wait(fbp_device *device, struct fbp_mark mark);

/** timing.c: timestamps and times of stages. */
fbp_status gl_stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out);
fbp_status gl_stamped(fbp_device *device, uint64_t stamp, double *seconds);
void gl_times_close(struct gl_device *dev); /* in the queue */
void gl_moments_drop(struct gl_device *dev);

/** timing.c: times of passes for the tuner, in the queue; user: the device. */
extern const struct gpu_timer gl_timer;
void gl_trials_close(struct gl_device *dev);

/** timing.c: rates of a renderer in hardware, measured by earlier runs and stored.  A run without
 * stored rates times one batch in the filter, takes the rate of the kernel from its pace, and times
 * two copies when it closes.  samples: of the batch. */
void gl_rates(const struct fbp_job *job, struct fbp_rates *out); /* of renderer 0 */
void gl_meter_open(struct gl_device *dev);                       /* in the queue, as are: */
void gl_meter_begin(struct gl_meter *meter);
void gl_meter_end(struct gl_meter *meter, double samples);
void gl_meter_close(struct gl_device *dev);

/** memory.c: device memory, host buffers and copies. */
fbp_status gl_host_alloc(fbp_device *device, size_t bytes, const char *what, void **out);
void gl_host_release(fbp_device *device, void *memory);
bool gl_reaches(fbp_device *device, const void *host, size_t bytes);
fbp_status gl_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out);
void gl_release(fbp_device *device, enum fbp_purpose purpose, void *memory);
fbp_status gl_upload(fbp_device *device, void *dst, const void *src, size_t n_samples);
fbp_status gl_upload_pieces(fbp_device *device, void *dst, const void *src, size_t n,
                            size_t n_samples, size_t stride);
fbp_status gl_download(fbp_device *device, const float *rows, size_t n, float *host);
/** Copy device memory to the host, in order OUT. */
fbp_status gl_copy_out(struct gl_device *dev, const struct gl_part *from, void *host);
/** Copies in the context of the caller: part to part, buffer to host memory, host memory to buffer.
 */
fbp_status gl_copy(const struct gl_part *from, const struct gl_part *to);
fbp_status gl_read(const struct gl_part *from, void *host);
fbp_status gl_write(const struct gl_part *to, const void *host);

/** filter.c: raw views to filtered views. */
fbp_status gl_filter_open(struct gl_device *dev); /* in the queue */
fbp_status gl_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered);
fbp_status gl_filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                          float *rows);
fbp_status gl_expect(fbp_device *device, const struct fbp_ledger *ledger);
fbp_status gl_counts(fbp_device *device, struct fbp_prep_counts *out);

/** backproject.c: filtered views into a slab, and the slab to the host. */
fbp_status gl_clear(fbp_device *device, const struct fbp_slab *slab, void *volume);
fbp_status gl_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                          const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
fbp_status gl_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                    const void *volume, void *host);
fbp_status gl_statistics(fbp_device *device, struct fbp_statistics *out);

/** mip.c: maximum intensity projections, with a context of their own. */
extern const struct fbp_projector gl_mip;

#endif /* FBP_SRC_GL_DEVICE_H */
