/** @file s3_draw.h  Layered textures, targets, programs and one run of the job of Ino et al.
 * (2009) (internal). All functions run in the thread that holds the OpenGL context (s3.c). */
#ifndef FBP_BENCH_GL_S3_DRAW_H
#define FBP_BENCH_GL_S3_DRAW_H

#include "backend/gl/egl.h"
#include "bench/gl/s3_plan.h"

#include <epoxy/gl.h>

/** Views or slices in layers of floats, one or four a texel: as many textures as that takes. */
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
/** The texture of a layer, bound to a unit; the layer in it. */
int gl_s3_stack_bind(const struct gl_s3_stack *stack, size_t layer, unsigned unit);
/** Floats into layers [first, first + n), [n][rows][columns][channels]. */
void gl_s3_stack_fill(const struct gl_s3_stack *stack, size_t first, size_t n, const float *data);
/** Layers [first, first + n) are written to, n = 1 or 4, by this framebuffer, which is bound. */
void gl_s3_stack_target(const struct gl_s3_stack *stack, size_t first, size_t n, GLuint frame);
/** How their texels are fetched: interpolated or not. */
void gl_s3_stack_filter(const struct gl_s3_stack *stack, bool linear);

/** FBP_ERR_DEVICE with the compiler's words. */
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
    size_t panel[2], n_views, n_layers; /**< of views: one or four of them */
    struct gl_s3_stack stack;           /**< of views: raw, then filtered */
    float stretch;                      /**< of filtered views: its square multiplies them */
    struct gpu_view *numbers;           /**< of n_views */
    /** Of the filter and of the sums; and of packing.  0: not needed so far. */
    GLuint weigh, convolve, add, mask, pack, unpack;
    struct fbp_s3_way added; /**< the way of `add` */
    /** Of sums, which may have a depth and a stencil of their size; and of all else. */
    GLuint frames[2], plain;
    GLuint vertices; /**< none, but a core profile draws nothing without an array of them */
};

/** Seconds since the last lap; waits for the device if the run is a synchronised one. */
double gl_s3_lap(struct gl_s3_run *run);

/* s3_views.c */
fbp_status gl_s3_pack_program(struct gl_s3_run *run);
fbp_status gl_s3_filter_programs(struct gl_s3_run *run);
/** Raw views as texels: times `packing` and `upload`. */
fbp_status gl_s3_views_load(struct gl_s3_run *run);
fbp_status gl_s3_views_filter(struct gl_s3_run *run);

/* s3_sum.c */

/** What adds views to slices; targets are whole slices. */
struct gl_s3_adder {
    struct gl_s3_run *run;
    const struct gl_s3_stack *volume;
    struct gl_s3_stack other; /**< of sums that go from one texture to the other */
    size_t targets;           /**< layers of a pass */
    GLuint tests, wanted;     /**< depth and stencil; what is wanted of a group, as a texture */
    uint8_t *any;
    GLint numbers, layer, before; /**< places of what changes */
    GLuint bound;                 /**< texture of views; 0: none yet */
};

fbp_status gl_s3_mask_program(struct gl_s3_run *run);
fbp_status gl_s3_sum_program(struct gl_s3_run *run);
fbp_status gl_s3_adder_open(struct gl_s3_adder *a, struct gl_s3_run *r,
                            const struct gl_s3_stack *volume);
void gl_s3_adder_close(struct gl_s3_adder *adder);
/** The sum of all views of the run in slices [z0, z0 + n) of the grid, at most variant->slices of
 *  them, which become the layers from `first` on. */
void gl_s3_add(struct gl_s3_adder *adder, size_t first, size_t z0, size_t n);
/** Layers of so many slices; channels of a layer. */
size_t gl_s3_volume_layers(const struct fbp_s3_variant *v, size_t n_slices);
size_t gl_s3_volume_channels(const struct fbp_s3_variant *v);

/* s3_volume.c */
fbp_status gl_s3_unpack_program(struct gl_s3_run *run);
/** Slices to the host: times `readback` and `unpacking`. */
fbp_status gl_s3_volume_read(struct gl_s3_run *run, const struct gl_s3_stack *volume, size_t z0,
                             size_t n);

/* s3_measure.c */
fbp_status gl_s3_measure(const struct gl_renderer *limits, struct fbp_s3_limits *out);

/* s3.c */
extern const struct fbp_s3_kernels gl_s3;

#endif /* FBP_BENCH_GL_S3_DRAW_H */
