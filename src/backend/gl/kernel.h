/** @file kernel.h  Backprojection kernels of OpenGL, with the layouts of views and volume that they
 * need (internal).
 */
#ifndef FBP_SRC_GL_KERNEL_H
#define FBP_SRC_GL_KERNEL_H

#include "backend/gl/buffer.h"
#include "backend/gl/program.h"
#include "backend/gpu/gpu_kernel.h"

struct gl_device;
struct gl_renderer;

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
    const struct gl_custom *custom; /**< NULL: it runs `program` */
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

#endif /* FBP_SRC_GL_KERNEL_H */
