/** @file gl.h The device of the OpenGL backend (internal): struct gl_device, its memory and
 * kernels, and the functions of memory.c, kernel.c, timing.c, filter.c, backproject.c and mip.c.
 *
 * Most functions of the backend's table (entry.c) submit commands to a queue; a thread with an
 * OpenGL context runs the commands (queue.h).  Functions and members marked "in the queue" belong
 * to this thread.
 * Used by: bench/gl/, backend/gl/.
 */
#ifndef FBP_SRC_BACKEND_GL_GL_H
#define FBP_SRC_BACKEND_GL_GL_H

#include "backend/gl/egl.h"
#include "backend/gl/program.h"
#include "backend/gl/queue.h"
#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/tables.h"
#include "backend/gpu/tuner.h"
#include "backend/module.h"
#include "backend/views.h"
#include "picture/draw.h"

#include <pthread.h>
#include <stdatomic.h>

struct gl_device;

/* memory.c: buffers, textures and copies.
 *
 * The pipeline refers to memory by addresses.  A device buffer has a range of reserved addresses
 * without memory, because callers do pointer arithmetic.  A host buffer is mapped persistently, and
 * its address is the address of the mapping.  gl_part_at() converts an address to a part of a
 * buffer. */

/** A range of bytes of an OpenGL buffer, or of host memory outside any OpenGL buffer. */
struct gl_part {
    const struct gl_buffer *buffer; /**< NULL: ordinary memory at `host` */
    size_t at, bytes;               /**< offset in the buffer, and size */
    void *host;
};

/** Converts an address to the part of a buffer that begins there and has `bytes` bytes.  owner: the
 * struct gl_device or, for host buffers, the struct gl_share to which the buffer belongs.  .buffer
 * is NULL if no buffer of the owner contains these bytes. */
struct gl_part gl_part_at(const void *owner, const void *address, size_t bytes);

/** Create the storage of a buffer of b->bytes, or delete it. mapped: a host buffer; what: its
 * purpose, for messages. Called by a thread that has a context. */
fbp_status gl_buffer_make(struct gl_buffer *b, bool mapped, const char *what);
void gl_buffer_drop(struct gl_buffer *b);

/** gl_texture_of() returns the size of the texture for n_groups groups of symmetric views, each of
 * n_rows rows; gl_format_of() returns the OpenGL format of its texels. */
struct gl_texture gl_texture_of(const struct fbp_job *job, size_t n_groups, size_t n_rows);
unsigned gl_format_of(const struct gpu_kernel *kernel);

/** Returns the number of groups of symmetric views that n_views views form. */
static inline size_t gl_groups_of(const struct fbp_job *job, size_t n_views)
{
    return (n_views + job->selection.symmetric_views - 1) / job->selection.symmetric_views;
}

/** Bytes of n_views filtered views of n_rows rows (member `filtered_bytes`). */
size_t gl_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** Offset [bytes], in a buffer of filtered views in plain memory, of the view (or group of views)
 * with index n_views; 0 for textures, whose layers have indices. */
size_t gl_views_before(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** The shared context of a renderer (a GPU, or software that draws on the CPU): all devices of the
 * renderer share its OpenGL objects, for example host buffers. */
struct gl_share {
    int index;              /**< index of the renderer */
    unsigned users;         /**< number of devices that use it */
    struct gl_queue *queue; /**< queue of the thread that owns the shared context */
    struct gl_egl egl;
};

/** Start using the shared context of a renderer; the first user creates it. Thread-safe. */
fbp_status gl_share_enter(struct gl_share **out, int index);
/** Stop using a shared context; the last user closes it and its buffers. Thread-safe. */
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

/** Submit a command to GL_ORDER_OUT (queue.h) that copies `from` to host memory. */
fbp_status gl_copy_out(struct gl_device *dev, const struct gl_part *from, void *host);
/** Copy in this thread's context: gl_copy() as commands of gl_upload() and gl_download() do,
 * gl_read() from a buffer to host memory, gl_write() from host memory to a buffer. */
fbp_status gl_copy(struct gl_device *dev, const struct gl_part *from, const struct gl_part *to);
fbp_status gl_read(const struct gl_part *from, void *host);
fbp_status gl_write(const struct gl_part *to, const void *host);
/** Member `held` of the queue's life (queue.h): held copies of gl_upload() and gl_copy_out(). */
fbp_status gl_held(void *device, bool launch, unsigned *n);
/** Read or write `bytes` bytes, at most GL_WINDOW, at offset `at` of the device's tables, and wait.
 */
fbp_status gl_access_memory(struct gl_device *dev, size_t at, void *host, size_t bytes, bool write);

enum { GL_WINDOW = 16 << 10 };

/* kernel.c: kernels and limits of renderers, also for plans without an open device */

/** Arguments of a kernel: a batch of filtered views, and the slices to which it is added. */
struct gl_bp {
    const struct fbp_batch *batch;
    const struct fbp_slab *slab;
    struct gl_part views; /**< filtered views of the batch in plain memory, or the texture of all */
    struct gl_part volume; /**< one channel of the slab, from the first slice of `grid` on */
    size_t frame;          /**< bytes per channel of the slab */
    struct gpu_grid grid;
};

/** A GPU kernel with its programs. */
struct gl_kernel {
    struct gpu_kernel gpu; /**< first member: job->selection.entry is its address */
    /** program of the kernel; for plane integrals, the program of linear interpolation, after which
     * the programs of nearest and cubic interpolation follow */
    enum gl_program_id program;
};

/** Returns the fastest kernel for the job in the requested (default: exact) or a more exact
 * precision. name: only kernels of this name, or NULL. Returns NULL if none is usable. */
const struct gpu_kernel *gl_kernel_find(const struct fbp_job *job, const char *name);

/** Returns `shape`, the index of a shape (compiled variant) of the kernel or, if the windows of
 * views of that shape need more than shared_bytes of shared memory, 0. */
int gl_shape_within(const struct gl_kernel *kernel, int shape, size_t shared_bytes);

/** Program of a kernel for a job; for plane integrals, it depends on the interpolation. */
enum gl_program_id gl_program_of(const struct gl_kernel *kernel, const struct fbp_job *job);

/** Limits of planes.glsl, which copies samples of some views (a chunk) to shared memory: views
 * (CHUNK), samples (ROOM) per chunk, samples per interpolation (TAPS), views per launch (PASS). */
enum { GL_PLANES_CHUNK = 32, GL_PLANES_ROOM = 6144, GL_PLANES_TAPS = 4, GL_PLANES_PASS = 1024 };

/** Bytes of a group's shared memory that are not available for a row of the filter. */
enum { GL_ROW_RESERVE = 1024 };

/** Functions whose results determine (backend/gpu/tables.c) how rows are filtered: by FFT in one
 * launch, by FFT in several launches, or by convolution in space. */
extern const struct gpu_filter_capabilities gl_filter_capabilities;

/** Returns whether a renderer's limits allow a buffer or, if `buffer` is NULL, the job's tables. If
 * not, the reason is written to `why` (member `holds` of the backend). */
bool gl_holds(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
              size_t n);

/** Lower the limits of all renderers to those of gl_fault_injection, for tests. */
void gl_inject_limits(void);

/** State that determines the size of a device's next backprojection command.
 *
 * Operating systems reset a renderer that does not respond for some seconds, and the desktop
 * freezes meanwhile. The first command of a device is small and not timed, because drivers compile.
 * The next commands are timed, each larger than the one before, until a time is long enough to be
 * reliable. Later commands are sized to take 0.25 s, and some of them are timed. The division into
 * commands does not change values. */
struct gl_pace {
    unsigned n;   /**< number of commands so far */
    double rate;  /**< voxels x views per second; 0: unknown */
    double seen;  /**< last measured rate, even if unreliable [voxels x views per second] */
    double trial; /**< voxels x views of the next trial command; 0: the next trial is the first */
    double quick; /**< greatest size of a command that took less than a reliable time; 0: none */
    double start; /**< start of the timed command, by fbp_seconds(); 0: none */
};

/** Returns the greatest size [voxels x views] that the next backprojection command may have. */
double gl_pace_most(const struct gl_pace *pace);
/** gl_pace_begin() is called before a backprojection command, gl_pace_end() after it; updates:
 * voxels x views of the command.  Both may wait until the renderer has finished. */
void gl_pace_begin(struct gl_pace *pace, double updates);
void gl_pace_end(struct gl_pace *pace, double updates);

/** Wait until the renderer has run all commands of this thread's context.  NVIDIA's glFinish()
 * sometimes returns 20 ms after that. */
void gl_settle(void);

/** A timestamp: the host's time [s] when the device reaches a position in its commands. */
struct gl_moment {
    double seconds;
    struct gl_moment *next;
};

/** State of the measurement of a device's rates, which are stored for later runs. */
struct gl_meter {
    bool due;      /**< no rates are stored for this kernel and renderer: this run measures them */
    unsigned n;    /**< number of filter calls so far; counted only if `due` */
    double start;  /**< start of the timed filter call, by fbp_seconds() [s]; 0: no call is timed */
    double filter; /**< measured time of the filter [s per sample]; 0: not measured */
};

/** gl_timestamp() adds a timestamp to a stage's sequence of commands; gl_seconds() reads it as a
 * time of fbp_seconds() (members `timestamp` and `seconds` of the backend). */
fbp_status gl_timestamp(fbp_device *device, enum fbp_stage stage, uint64_t *out);
fbp_status gl_seconds(fbp_device *device, uint64_t timestamp, double *seconds);

/** Functions that time kernel launches for the tuner (gpu/tuner.h), in the device's thread; their
 * argument `user` is a struct gl_device. */
extern const struct gpu_timer gl_timer;

/** Gets the rates of renderer 0 that an earlier run stored (member `rates`); zeros if there are
 * none, for software renderers, for a job with a region, or if FBP_TUNE=0. */
void gl_rates(const struct fbp_job *job, struct fbp_rates *out);

/** Measure the rates of a hardware renderer, in the device's thread. If none are stored, up to four
 * filter calls (of `samples` samples) are timed, and the fastest counts; gl_meter_close() takes the
 * kernel's rate from struct gl_pace, times copies in both directions, and stores the rates. */
void gl_meter_open(struct gl_device *dev);
void gl_meter_begin(struct gl_meter *meter);
void gl_meter_end(struct gl_meter *meter, double samples);
void gl_meter_close(struct gl_device *dev);

/** An open device: a renderer with the state of one job. */
struct gl_device {
    const struct fbp_job *job;
    int index; /**< index of the renderer */
    const struct gl_renderer *renderer;
    const struct gl_kernel *kernel;
    /** shared context of the renderer */
    struct gl_share *share;
    struct gl_queue *queue;
    struct gl_point copied[GPU_STAGES]; /**< point after each slice buffer's last copy */
    unsigned next_piece; /**< number of fills of slice buffers; fill i uses buffer i % GPU_STAGES */
    pthread_mutex_t moments_lock;
    /** list of the timestamps that gl_seconds() has not read yet, and its end */
    struct gl_moment *moments, **last_moment;
    /* In the queue: */
    struct gl_egl egl;
    struct gl_programs programs;
    struct gl_pace pace;
    struct gl_meter meter;
    struct gpu_tuner tuner;                /**< chooses the kernel's shape */
    unsigned trials[2 * GPU_TUNER_TRIALS]; /**< timer queries of the tuner */
    unsigned sampler;                      /**< sampler of textures of filtered views */
    float half_scale;                      /**< scale of views in fp16; 1 for fp32 */
    struct gl_buffer memory;               /**< tables and scratch memory */
    struct gl_buffer window;               /**< host buffer for access to `memory` */
    struct gpu_tables tables;              /**< offsets in `memory` */
    struct gpu_principal *principal;
    bool counts_once; /**< repairs are counted only in rows that tables.row_bitmap marks */
};

static inline struct gl_device *gl_of(fbp_device *device)
{
    return (struct gl_device *)(void *)device;
}

/* filter.c: filters raw views; all but gl_filter_open() are members of the backend */
fbp_status gl_filter_open(struct gl_device *dev); /* in the queue */
fbp_status gl_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered);
fbp_status gl_filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                          float *rows);
fbp_status gl_set_bitmap(fbp_device *device, const struct fbp_row_bitmap *bitmap);
fbp_status gl_counts(fbp_device *device, struct fbp_prep_counts *out);

/* backproject.c: adds filtered views to a slab, and copies it to the host */
fbp_status gl_clear(fbp_device *device, const struct fbp_slab *slab, void *volume);
fbp_status gl_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                          const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
fbp_status gl_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                    const void *volume, void *host);
fbp_status gl_statistics(fbp_device *device, struct fbp_statistics *out);

/** mip.c: maximum intensity projections for pictures, in an unshared context */
extern const struct fbp_projector gl_mip;

#endif /* FBP_SRC_BACKEND_GL_GL_H */
