/** @file gl.h  The device of the OpenGL module: memory, kernels, and the functions of each file
 * (internal).
 *
 * entry.c fills the table of the backend with these functions.  They submit commands to a queue,
 * and threads with one context each run them (queue.h).  Functions and members marked "in the
 * queue" are used by the computing thread only.
 */
#ifndef FBP_SRC_BACKEND_GL_GL_H
#define FBP_SRC_BACKEND_GL_GL_H

#include "backend/gl/egl.h"
#include "backend/gl/program.h"
#include "backend/gl/queue.h"
#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/host.h"
#include "backend/gpu/tables.h"
#include "backend/gpu/tuner.h"
#include "backend/partners.h"
#include "picture/draw.h"

#include <pthread.h>
#include <stdatomic.h>

struct gl_device;

/* memory.c: buffers, textures and copies.
 *
 * The pipeline refers to memory by addresses.  A device buffer has a range of reserved addresses
 * without memory, so that callers can use pointer arithmetic.  A host buffer is mapped
 * persistently, and its address is that of the mapping.  gl_part_at() converts an address to a part
 * of a buffer.
 */

/** Part of a buffer; buffer NULL: ordinary memory at `host`. */
struct gl_part {
    const struct gl_buffer *buffer;
    size_t at, bytes;
    void *host;
};

/** Find the buffer of this owner that contains `bytes` from `address`; otherwise buffer is NULL. */
struct gl_part gl_part_at(const void *owner, const void *address, size_t bytes);

/** Make the storage of a buffer, mapped or not, and drop it; called by the thread of a context. */
fbp_status gl_buffer_make(struct gl_buffer *b, bool mapped, const char *what);
void gl_buffer_drop(struct gl_buffer *b);

/** The texture for n_groups groups of views of n_rows rows; the format of its texels. */
struct gl_texture gl_texture_of(const struct fbp_job *job, size_t n_groups, size_t n_rows);
unsigned gl_format_of(const struct gpu_kernel *kernel);

/** Groups of n_views views. */
static inline size_t gl_groups_of(const struct fbp_job *job, size_t n_views)
{
    return (n_views + job->turns - 1) / job->turns;
}

/** Bytes of filtered views: the backend's slot `filtered_bytes`. */
size_t gl_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** Offset of view number n_views in plain memory; 0 for textures, which are addressed by layer. */
size_t gl_views_before(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** The context that all devices of a renderer share objects with, and its host buffers.
 * Thread-safe. */
struct gl_share {
    int index;
    unsigned users;
    struct gl_queue *queue;
    struct gl_egl egl;
};

/** Use the shared context of a renderer; the first user creates it. */
fbp_status gl_share_enter(struct gl_share **out, int index);
/** The last user closes it; buffers that were not released become invalid. */
void gl_share_leave(struct gl_share **share);

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

/* kernel.c: backprojection kernels, and limits of renderers.  Plans call these functions, too. */

/** A batch of filtered views, and the slices of a slab to which it is added. */
struct gl_bp {
    const struct fbp_batch *batch;
    const struct fbp_slab *slab;
    struct gl_part views;  /**< the batch's rows in a buffer, or a texture of all views */
    struct gl_part volume; /**< from slice z0 on */
    size_t frame;          /**< bytes per frame of the volume */
    struct gpu_grid grid;
};

/** Functions of a kernel that adds batches in its own way, with a state for each device.  They run
 * in the queue, except for bytes(). */
struct gl_custom {
    /** Device memory that it needs beyond batches, slabs and tables. */
    size_t (*bytes)(const struct fbp_job *job);
    fbp_status (*open)(void **state, const struct fbp_job *job, const struct gl_renderer *renderer);
    void (*close)(void **state); /**< *state may be NULL */
    /** principal: of all views. */
    fbp_status (*add)(void *state, const struct gpu_principal *principal, const struct gl_bp *bp);
};

/** A GPU kernel with its programs. */
struct gl_kernel {
    struct gpu_kernel gpu;          /**< first member, so that job->chosen.own points to both */
    enum gl_program_id program;     /**< planes: linear interpolation; the others follow */
    const struct gl_custom *custom; /**< NULL: the kernel runs `program` */
};

/** Kernels that are used only if a job names them, ended by NULL; NULL: there are none. */
extern const struct gpu_kernel *const *gl_kernels_by_name;

/** The fastest kernel of the job's precision that scan and volume allow; if a name is given, the
 * one of that name, or NULL. */
const struct gpu_kernel *gl_kernel_find(const struct fbp_job *job, const char *name);

/** The shape, or shape 0 if the windows need more than the shared memory of a group. */
int gl_shape_within(const struct gl_kernel *kernel, int shape, size_t shared_bytes);

/** The program of a kernel for a job. */
enum gl_program_id gl_program_of(const struct gl_kernel *kernel, const struct fbp_job *job);

/** Constants of planes.glsl: views per chunk, samples of the windows of a chunk, most taps; and
 *  views per pass. */
enum { GL_PLANES_CHUNK = 32, GL_PLANES_ROOM = 6144, GL_PLANES_TAPS = 4, GL_PLANES_PASS = 1024 };

/** Bytes of a group's shared memory that the row of a transform cannot use. */
enum { GL_ROW_RESERVE = 512 };

/** Properties of this backend that decide how it filters (gpu/tables.h). */
extern const struct gpu_filter_capabilities gl_offer;

/** Does a renderer hold a buffer (NULL: the tables) at once?  The backend's slot `holds`. */
bool gl_holds(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
              size_t n);

/** Set the renderers' limits as tests request (struct gl_fault_injection). */
void gl_limits_plant(void);

/* timing.c: pace of commands, timestamps, times of shapes, stored rates. */

/** The size of backprojection commands.
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

/** Timestamps of the computing lane. */
struct gl_stamps {
    atomic_uint_fast64_t n; /**< number of timestamps submitted */
    unsigned *queries;      /**< in the queue, as are: */
    size_t room, n_read;
    double zero; /**< zero of the renderer's clock by the host's clock */
};

/** A timestamp of a lane that copies: time of the host at which the lane passed a point. */
struct gl_moment {
    double seconds;
    struct gl_moment *next;
};

/** Measurement of the rates of a run, if none are stored. */
struct gl_meter {
    bool due;      /**< nothing is stored for this kernel on this renderer */
    unsigned n;    /**< batches filtered */
    double start;  /**< start of the timed batch */
    double filter; /**< seconds per sample; 0: unknown */
};

fbp_status gl_stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out);
fbp_status gl_stamped(fbp_device *device, uint64_t stamp, double *seconds);

/** Times of passes for the tuner, in the queue; user: the device. */
extern const struct gpu_timer gl_timer;

/** Delete all queries, in the queue; free moments that were not read. */
void gl_times_close(struct gl_device *dev);
void gl_moments_drop(struct gl_device *dev);

/** Rates of renderer 0, measured by earlier runs and stored, if it is in hardware. */
void gl_rates(const struct fbp_job *job, struct fbp_rates *out);

/** Measure the rates of a renderer in hardware, in the queue.  A run without stored rates times one
 * batch in the filter, takes the rate of the kernel from its pace, and times two copies when it
 * closes.  samples: number of samples in the batch. */
void gl_meter_open(struct gl_device *dev);
void gl_meter_begin(struct gl_meter *meter);
void gl_meter_end(struct gl_meter *meter, double samples);
void gl_meter_close(struct gl_device *dev);

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

/* filter.c: raw views to filtered views. */
fbp_status gl_filter_open(struct gl_device *dev); /* in the queue */
fbp_status gl_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered);
fbp_status gl_filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                          float *rows);
fbp_status gl_expect(fbp_device *device, const struct fbp_row_bitmap *ledger);
fbp_status gl_counts(fbp_device *device, struct fbp_prep_counts *out);

/* backproject.c: filtered views into a slab, and the slab to the host. */
fbp_status gl_clear(fbp_device *device, const struct fbp_slab *slab, void *volume);
fbp_status gl_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                          const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
fbp_status gl_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                    const void *volume, void *host);
fbp_status gl_statistics(fbp_device *device, struct fbp_statistics *out);

/** mip.c: maximum intensity projections, with a context of their own. */
extern const struct fbp_projector gl_mip;

#endif /* FBP_SRC_BACKEND_GL_GL_H */
