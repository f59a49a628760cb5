/** @file program.h  Buffers, and compute programs that use them: source texts, compilation, runs
 * (internal).
 *
 * program.c implements these functions; filter.c, backproject.c and mip.c run programs.  The source
 * texts (*.glsl) are built into the module (cmake/gl.cmake); files in the folder FBP_GL_SHADERS
 * replace them.  Compiled programs are cached in ${XDG_CACHE_HOME:-~/.cache}/fbp.  Functions with a
 * struct gl_programs are called by the thread of its context.
 */
#ifndef FBP_SRC_BACKEND_GL_PROGRAM_H
#define FBP_SRC_BACKEND_GL_PROGRAM_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Size of a layered texture of filtered views; a layer holds one view, or one group of symmetric
 *  views. */
struct gl_texture {
    size_t width, height, layers; /**< height: a power of two, for exact coordinates (views.glsl) */
    unsigned texels;              /**< texels per detector column */
};

/** A buffer, or a texture of filtered views, and the address by which the pipeline refers to it. */
struct gl_buffer {
    char *base; /**< address; NULL: none */
    size_t bytes;
    unsigned name, texture;  /**< OpenGL names of the buffer, or of the texture; 0: none */
    bool mapped;             /**< host buffer; false: device memory */
    struct gl_texture shape; /**< size of the texture */
    const void *owner;       /**< struct gl_device; for host buffers struct gl_share */
    unsigned references;     /**< host buffer: 1 for the allocation, and 1 per command */
    struct gl_buffer *next;
};

/** Built-in source texts, one per file *.glsl; the last name is NULL (cmake/texts.cmake). */
struct gl_text_built {
    const char *name, *text;
};
extern const struct gl_text_built gl_texts_built[];

/** Shape: division of the volume among threads.  All shapes of a kernel give the same bits. */
struct gl_shape {
    int x, y, layers;  /**< threads of a work group along x, y and z */
    int slices;        /**< slices per thread */
    int warp;          /**< adjacent voxel columns per line that 32 threads cover */
    int width, height; /**< size in samples of a window of a view in shared memory; 0: none */
    int keep;          /**< 1: samples are kept if the next slice needs them as well */
};

/** Numbers of shapes: kernels that add single views, without and with windows; kernels of orbits
 *  (groups of symmetric voxels); kernels of plane integrals. */
enum {
    GL_VIEW_SHAPES = 5,
    GL_WINDOW_SHAPES = 9,
    GL_ORBIT_SHAPES = 5,
    GL_PLANE_SHAPES = 2,
    GL_MOST_SHAPES = 9
};

enum gl_program_id {
    GL_P_PREPARE,
    GL_P_BRIDGE,
    GL_P_WEIGH,
    GL_P_COLUMNS,
    GL_P_PAD,
    GL_P_CONVOLVE,
    GL_P_CONVOLVE_DOUBLE,
    GL_P_ENDS,
    GL_P_ADD_ENDS,
    GL_P_STAGE,
    GL_P_MULTIPLY,
    GL_P_FFT_2, /**< in the order of GPU_CHAIN_RADICES */
    GL_P_FFT_4,
    GL_P_FFT_6,
    GL_P_FFT_8,
    GL_P_FFT_10,
    GL_P_FFT_12,
    GL_P_FFT_16,
    GL_P_FFT_20,
    GL_P_FFT_24,
    GL_P_FFT_32,
    GL_P_STORE,
    GL_P_STORE_PLAIN,
    GL_P_STORE_R32,
    GL_P_STORE_RG32,
    GL_P_STORE_R16,
    GL_P_STORE_RG16,
    GL_P_STORE_RGBA16,
    GL_P_BORDER,
    GL_P_ZERO,
    GL_P_SCALE,
    GL_P_UNPACK,
    GL_P_FOUND,
    GL_P_MIP,
    GL_P_MATRIX_PLAIN,
    GL_P_MATRIX_GATHER,
    GL_P_MATRIX_FAST,
    GL_P_COLUMN_PLAIN,
    GL_P_COLUMN_GATHER,
    GL_P_COLUMN_FAST,
    GL_P_ROT90_FAST,
    GL_P_ROT90_EXACT,
    GL_P_ROT180_FAST,
    GL_P_ROT180_EXACT,
    GL_P_PLANES_LINEAR, /**< in the order of enum fbp_interpolation */
    GL_P_PLANES_NEAREST,
    GL_P_PLANES_CUBIC,
    GL_N_PROGRAMS
};

/** A program and its source; program_list.c defines all programs. */
enum { GL_PROGRAM_TEXTS = 8 };
struct gl_program {
    const char *name;
    const struct gl_shape *shapes; /**< shapes of a kernel; NULL: not a kernel */
    int n_shapes;
    /** Names of the texts that follow the definitions of the shape, in this order; a string that
     *  begins with # is itself a text. */
    const char *texts[GL_PROGRAM_TEXTS];
};
extern const struct gl_program gl_program_list[GL_N_PROGRAMS];

/** Write a shape as definitions of GLSL. */
enum { GL_SHAPE_TEXT = 200 };
void gl_shape_text(const struct gl_shape *shape, char out[GL_SHAPE_TEXT]);

/** The programs of a context. */
struct gl_programs {
    unsigned names[GL_N_PROGRAMS][GL_MOST_SHAPES]; /**< 0: not compiled yet */
    unsigned parameters;             /**< uniform buffer; its slots are used in turn */
    unsigned next;                   /**< number of slots used so far */
    uint64_t alignment, block_bytes; /**< limits of the renderer */
};

/** Greatest number of bytes of parameters, and of bound storage buffers, of a call. */
enum { GL_PARAMETERS = 4096, GL_MOST_BOUND = 6 };

/** Parameters of gl_run(). */
struct gl_call {
    enum gl_program_id program;
    int shape;              /**< index of a kernel's shape; 0 for other programs */
    const void *parameters; /**< values of the uniform block */
    size_t parameter_bytes;
    struct {
        const struct gl_buffer *buffer; /**< NULL: no buffer at this binding */
        size_t at, bytes;               /**< at: a multiple of the alignment */
    } bound[GL_MOST_BOUND];
    unsigned texture, sampler; /**< texture that the program reads, and its sampler; 0: none */
    unsigned image, format;    /**< texture that the program writes, and its format; 0: none */
    unsigned groups[3];        /**< numbers of work groups along x, y and z */
};

fbp_status gl_programs_open(struct gl_programs *p, uint64_t alignment, uint64_t block_bytes);
void gl_programs_close(struct gl_programs *p);

/** Compile a program unless this was done before.  An early call reports errors before the run. */
fbp_status gl_programs_need(struct gl_programs *p, enum gl_program_id id, int shape);

/** Bind part of a buffer at binding i of a call.  The bound range begins at a multiple of the
 *  alignment, *skip bytes before `at`.
 * @return FBP_ERR_UNSUPPORTED if the range is larger than a storage block */
fbp_status gl_bind(const struct gl_programs *p, struct gl_call *call, unsigned i,
                   const struct gl_buffer *buffer, size_t at, size_t bytes, size_t *skip);

/** Run a program; all earlier runs are complete before it starts. */
fbp_status gl_run(struct gl_programs *p, const struct gl_call *call);

/** Set call->groups to at least n groups, along x and y; group_number() in rows.glsl inverts it. */
static inline void gl_groups(struct gl_call *call, size_t n)
{
    const size_t across = 32768;

    call->groups[0] = (unsigned)(n < across ? n : across);
    call->groups[1] = (unsigned)((n + across - 1) / across);
    call->groups[2] = 1;
}

#endif /* FBP_SRC_BACKEND_GL_PROGRAM_H */
