/** @file kernel.h  A way of backprojecting by OpenGL, with the layouts of views and volume it wants
 * (internal).
 */
#ifndef FBP_SRC_GL_KERNEL_H
#define FBP_SRC_GL_KERNEL_H

#include "backend/gl/buffer.h"
#include "backend/gl/program.h"
#include "backend/gpu/gpu_kernel.h"

struct fbp_s3_way;
struct gl_device;

/** Slices of a slab to which a batch is added. */
struct gl_bp {
    const struct fbp_batch *batch;
    const struct fbp_slab *slab;
    struct gl_part views;  /**< the batch's rows in a buffer, or a texture of all views */
    struct gl_part volume; /**< from slice z0 on */
    size_t frame;          /**< bytes from frame to frame of it */
    struct gpu_grid grid;
};

/** As GL_SHAPE_0 … in program.h. */
struct gl_shape {
    int x, y, layers, slices, warp, width, height, keep;
};

/** What OpenGL adds to a GPU's kernel. */
struct gl_kernel {
    struct gpu_kernel gpu;          /**< first: job->chosen.own is either */
    const struct gl_shape *shapes;  /**< gpu.n_shapes */
    enum gl_program_id program;     /**< of its first shape; the others follow; of planes, those of
                                       the next interpolation then */
    const struct fbp_s3_way *draws; /**< it has no programs, but draws as S3 does (s3_kernel.h) */
};

/** The fastest kernel of the job's precision that scan and volume allow; of that name, or NULL, if
 *  one is given. */
const struct gpu_kernel *gl_kernel_find(const struct fbp_job *job, const char *name);

/** The shape itself, or one that a group's shared memory has room for; all have the same bits. */
int gl_shape_within(const struct gl_kernel *kernel, int shape, size_t shared_bytes);

/** The program of a shape for a job. */
enum gl_program_id gl_program_of(const struct gl_kernel *kernel, const struct fbp_job *job,
                                 int shape);

/** As planes.glsl has them: views at a time, and samples of their windows; taps at most.  Views of
 * a pass. */
enum { GL_PLANES_CHUNK = 32, GL_PLANES_ROOM = 6144, GL_PLANES_TAPS = 4, GL_PLANES_PASS = 1024 };

/** In the queue: add a batch, pass after pass. */
fbp_status gl_add_batch(struct gl_device *dev, const struct gl_bp *all);

#endif /* FBP_SRC_GL_KERNEL_H */
