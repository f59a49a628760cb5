/** @file s3_draw.h  Layered textures, targets, programs and one run of the job of Ino et al.
 * (2009) (internal). All functions run in the thread that holds the OpenGL context (s3.c). */
#ifndef FBP_BENCH_GL_S3_DRAW_H
#define FBP_BENCH_GL_S3_DRAW_H

#include "backend/gl/egl.h"
#include "bench/gl/s3_plan.h"

#include <epoxy/gl.h>

/** Views or slices as layers of array textures, one or four per texel; several textures if one has
 * too few layers. */
struct gl_s3_stack {
    GLuint *textures;
    bool half;                 /**< they are fp16 */
    size_t n_textures, layers; /**< of a texture but the last */
    size_t n, channels;        /**< layers in all; channels of a texel */
    size_t size[2];
};

fbp_status gl_s3_stack_make(struct gl_s3_stack *out, const struct gl_renderer *limits, bool half,
                            size_t channels, const size_t size[2], size_t n, const char *what);
void gl_s3_stack_clear(struct gl_s3_stack *stack);
/** Bind the texture of a layer to a unit; returns the index of the layer in the texture. */
int gl_s3_stack_bind(const struct gl_s3_stack *stack, size_t layer, unsigned unit);
/** Upload floats [n][rows][columns][channels] into layers [first, first + n). */
void gl_s3_stack_fill(const struct gl_s3_stack *stack, size_t first, size_t n, const float *data);
/** Bind a framebuffer with layers [first, first + n) as targets, n = 1 or 4. */
void gl_s3_stack_target(const struct gl_s3_stack *stack, size_t first, size_t n, GLuint frame);
/** Set whether fetches interpolate between texels. */
void gl_s3_stack_filter(const struct gl_s3_stack *stack, bool linear);

/** Compile and link a program. FBP_ERR_DEVICE: the message has the log of the driver. */
fbp_status gl_s3_program(GLuint *out, const char *vertex, const char *fragment, const char *what);
void gl_s3_set(GLuint program, const char *name, int v);

/** A texture of floats, bound to a unit. */
GLuint gl_s3_table(unsigned unit, size_t columns, size_t rows, const float *data);

/** A triangle over the whole target. */
void gl_s3_draw(void);

/** One run, from raw views to voxels. */
struct gl_s3_run {
    const struct fbp_job *job;
    const struct gl_renderer *limits;
    const struct fbp_s3_way *way;
    const struct fbp_s3_variant *variant;
    const float *views;
    float *voxels;
    const uint8_t *wanted;     /**< [nz][ny][nx]; 0: a voxel that is not needed */
    fbp_status (*check)(void); /**< FBP_OK, or why the run must stop */
    struct fbp_s3_time *time;
    double lap;                         /**< when the stage began */
    size_t panel[2], n_views, n_layers; /**< layers of views: one or four views per layer */
    struct gl_s3_stack stack;           /**< stack of the views: raw, then filtered */
    float stretch;            /**< factor whose square multiplies filtered views in fp16 */
    struct gpu_view *numbers; /**< of n_views */
    /** Programs of the filter, the sums, the region of interest and packing; 0: not compiled. */
    GLuint weigh, convolve, add, mask, pack, unpack;
    struct fbp_s3_way added; /**< the way of `add` */
    /** Framebuffers of the sums, which may have depth and stencil, and the one for all other
     * drawing. */
    GLuint frames[2], plain;
    GLuint vertices; /**< empty vertex array, which a core profile requires for drawing */
};

/** Seconds since the last lap; waits for the device if the run is a synchronised one. */
double gl_s3_lap(struct gl_s3_run *run);

/* s3_views.c */
fbp_status gl_s3_pack_program(struct gl_s3_run *run);
fbp_status gl_s3_filter_programs(struct gl_s3_run *run);
/** Load raw views as texels; adds to the seconds `packing` and `upload`. */
fbp_status gl_s3_views_load(struct gl_s3_run *run);
fbp_status gl_s3_views_filter(struct gl_s3_run *run);

/* s3_sum.c */

/** State of adding views to slices; targets are whole slices. */
struct gl_s3_accumulator {
    struct gl_s3_run *run;
    const struct gl_s3_stack *volume;
    struct gl_s3_stack other; /**< second texture of the sums, for ping-pong */
    size_t targets;           /**< layers of a pass */
    GLuint tests, wanted; /**< renderbuffer of depth and stencil; texture of the voxels of a group
                             that are in the region */
    uint8_t *any;
    GLint numbers, layer, before; /**< places of what changes */
    GLuint bound;                 /**< texture of views; 0: none yet */
};

fbp_status gl_s3_mask_program(struct gl_s3_run *run);
fbp_status gl_s3_sum_program(struct gl_s3_run *run);
fbp_status gl_s3_accumulator_open(struct gl_s3_accumulator *a, struct gl_s3_run *r,
                                  const struct gl_s3_stack *volume);
void gl_s3_accumulator_close(struct gl_s3_accumulator *accumulator);
/** The sum of all views of the run in slices [z0, z0 + n) of the grid, at most variant->slices of
 *  them, which become the layers from `first` on. */
void gl_s3_add(struct gl_s3_accumulator *accumulator, size_t first, size_t z0, size_t n);
/** Number of layers that n slices need, and channels of a layer. */
size_t gl_s3_volume_layers(const struct fbp_s3_variant *v, size_t n_slices);
size_t gl_s3_volume_channels(const struct fbp_s3_variant *v);

/* s3_volume.c */
fbp_status gl_s3_unpack_program(struct gl_s3_run *run);
/** Copy slices to the host; adds to the seconds `readback` and `unpacking`. */
fbp_status gl_s3_volume_read(struct gl_s3_run *run, const struct gl_s3_stack *volume, size_t z0,
                             size_t n);

/* s3_measure.c */
fbp_status gl_s3_measure(const struct gl_renderer *limits, struct fbp_s3_limits *out);

/* s3.c */
extern const struct fbp_s3_kernels gl_s3;

#endif /* FBP_BENCH_GL_S3_DRAW_H */
