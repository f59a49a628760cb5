/** @file program.h  Compute programs (shaders) of the OpenGL backend: the list of programs with
 * their source texts and shapes, compilation, binding of buffers, and launches; also the struct of
 * a buffer (internal).
 * The source texts (*.glsl) are built into the module (cmake/gl.cmake); files in the folder
 * FBP_GL_SHADERS replace them.  Functions with a struct gl_programs are called by the thread that
 * owns its OpenGL context.
 * Used by: gl.h, program.c, program_list.c. */
#ifndef FBP_SRC_BACKEND_GL_PROGRAM_H
#define FBP_SRC_BACKEND_GL_PROGRAM_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Layered texture of filtered views, with one view or group of views per layer. */
struct gl_texture {
    size_t width, height, layers; /**< [texels]; height: a power of two for exact coordinates */
    unsigned texels;              /**< texels per detector column */
};

/** An OpenGL buffer, or a texture of filtered views, and its address for the pipeline. */
struct gl_buffer {
    char *base; /**< address; NULL: none */
    size_t bytes;
    unsigned name, texture;  /**< OpenGL names of the buffer and of the texture; 0: none */
    uint64_t handle;         /**< handle of the texture with the device's sampler; 0: none */
    bool mapped;             /**< host buffer; false: device memory */
    struct gl_texture shape; /**< size of the texture */
    /** the struct gl_device or, for host buffers, the struct gl_share to which the buffer belongs;
     * NULL: a buffer that gl_part_at() does not find */
    const void *owner;
    unsigned references; /**< references to a host buffer: its allocation and each submitted copy */
    struct gl_buffer *next;
};

/** Built-in texts of the files *.glsl (cmake/texts.cmake); name NULL ends the list. */
struct gl_text_built {
    const char *name, *text;
};
extern const struct gl_text_built gl_texts_built[];

/** Shape (compiled variant) of a kernel: how threads divide the volume; all give the same bits. */
struct gl_shape {
    int x, y, layers;  /**< threads of a work group along x, y and z */
    int slices;        /**< slices per thread */
    int warp;          /**< number of adjacent voxel columns along x that 32 threads cover */
    int width, height; /**< window of a view in shared memory [samples]; 0: none */
    int keep;          /**< 1: samples that the next slice needs are kept in registers */
};

/** Numbers of shapes (compiled variants).  VIEW: kernels that add single views; WINDOW: the same
 * kernels with windows of views in shared memory, too; SYMMETRIC: kernels that add symmetric views
 * to symmetric voxels; PLANE: kernels for plane integrals; MOST: any kernel. */
enum {
    GL_VIEW_SHAPES = 5,
    GL_WINDOW_SHAPES = 9,
    GL_SYMMETRIC_SHAPES = 5,
    GL_PLANE_SHAPES = 2,
    GL_MOST_SHAPES = 9
};

/** All programs: X(identifier, entry of the list, by a macro of program_list.c). FFT programs are
 * in the order of GPU_CHAIN_RADICES, PLANES of enum fbp_interpolation. */
#define GL_PROGRAM_LIST(X)                                                           \
    X(PREPARE, FILTER("prepare", "prepare"))                                         \
    X(BRIDGE, FILTER("bridge", "#define BRIDGE\n", "prepare"))                       \
    X(WEIGH, FILTER("weigh", "weights", "#define WEIGH\n", "pad"))                   \
    X(COLUMNS, FILTER("columns", "#define COLUMNS\n", "convolve"))                   \
    X(PAD, FILTER("pad", "weights", "pair", "pad"))                                  \
    X(CONVOLVE, CONVOLVE("convolve", "float", "vec2"))                               \
    X(CONVOLVE_DOUBLE, CONVOLVE("convolve in double", "double", "dvec2"))            \
    X(ENDS, FILTER("ends", "weights", "ends"))                                       \
    X(ADD_ENDS, FILTER("add_ends", "#define ADD\n", "ends"))                         \
    X(STAGE, FILTER("stage", "stage"))                                               \
    X(MULTIPLY, FILTER("multiply", "#define MULTIPLY\n", "stage"))                   \
    X(FFT_2, FFT("2", "32"))                                                         \
    X(FFT_4, FFT("4", "64"))                                                         \
    X(FFT_6, FFT("6", "96"))                                                         \
    X(FFT_8, FFT("8", "128"))                                                        \
    X(FFT_10, FFT("10", "160"))                                                      \
    X(FFT_12, FFT("12", "192"))                                                      \
    X(FFT_16, FFT("16", "256"))                                                      \
    X(FFT_20, FFT("20", "256"))                                                      \
    X(FFT_24, FFT("24", "256"))                                                      \
    X(FFT_32, FFT("32", "256"))                                                      \
    X(STORE, FILTER("store", "store"))                                               \
    X(STORE_PLAIN, FILTER("store plain", FROM_PLAIN, "store"))                       \
    X(STORE_R32, STORE("r32f", "1", "3.0e38"))                                       \
    X(STORE_RG32, STORE("rg32f", "2", "3.0e38"))                                     \
    X(STORE_R16, STORE("r16f", "1", "65504.0"))                                      \
    X(STORE_RG16, STORE("rg16f", "2", "65504.0"))                                    \
    X(STORE_RGBA16, STORE("rgba16f", "4", "65504.0"))                                \
    X(BORDER, FILTER("border", "#define BORDER_ROWS\n", "store"))                    \
    X(ZERO, PROGRAM("zero", "#define ZERO\n", "voxels"))                             \
    X(SCALE, PROGRAM("scale", "#define SCALE\n", "voxels"))                          \
    X(UNPACK, PROGRAM("unpack", "#define UNPACK\n", "voxels"))                       \
    X(FOUND, PROGRAM("found", "#define FOUND\n", "voxels"))                          \
    X(COPY, PROGRAM("copy", "#define UNIT uvec4\n", "copy"))                         \
    X(COPY_WORDS, PROGRAM("copy words", "#define UNIT uint\n", "copy"))              \
    X(MIP, PROGRAM("mip", "mip"))                                                    \
    X(MATRIX_PLAIN, VIEWS(GL_VIEW_SHAPES, "matrix", ANY_VIEW FROM_PLAIN, ""))        \
    X(MATRIX_GATHER, VIEWS(GL_WINDOW_SHAPES, "matrix by gathers", ANY_VIEW, ""))     \
    X(MATRIX_FAST, VIEWS(GL_VIEW_SHAPES, "matrix fast", ANY_VIEW, "#define FAST\n")) \
    X(COLUMN_PLAIN, VIEWS(GL_VIEW_SHAPES, "column", ALONG_Z FROM_PLAIN, ""))         \
    X(COLUMN_GATHER, VIEWS(GL_WINDOW_SHAPES, "column by gathers", ALONG_Z, ""))      \
    X(COLUMN_FAST, VIEWS(GL_VIEW_SHAPES, "column fast", ALONG_Z, "#define FAST\n"))  \
    X(ROT90_FAST, SYMMETRIC("rot90", "4", "", symmetric_shapes))                     \
    X(ROT90_EXACT, SYMMETRIC("rot90 exact", "4", "#define EXACT\n", load_shapes))    \
    X(ROT180_FAST, SYMMETRIC("rot180", "2", "", symmetric_shapes))                   \
    X(ROT180_EXACT, SYMMETRIC("rot180 exact", "2", "#define EXACT\n", load_shapes))  \
    X(PLANES_LINEAR, PLANES("planes", "0"))                                          \
    X(PLANES_NEAREST, PLANES("planes nearest", "1"))                                 \
    X(PLANES_CUBIC, PLANES("planes cubic", "2"))

enum gl_program_id {
#define GL_PROGRAM_ID(ID, ...) GL_P_##ID,
    GL_PROGRAM_LIST(GL_PROGRAM_ID) GL_N_PROGRAMS
#undef GL_PROGRAM_ID
};

/** A program, defined by its source texts; program_list.c lists all programs. */
enum { GL_PROGRAM_TEXTS = 8 };
struct gl_program {
    const char *name;
    const struct gl_shape *shapes; /**< shapes of a kernel; NULL: not a kernel */
    int n_shapes;
    /** Names of the source texts that follow the definitions of the shape, in this order.  A string
     * that begins with # is not a name, but is itself source text. */
    const char *texts[GL_PROGRAM_TEXTS];
};
extern const struct gl_program gl_program_list[GL_N_PROGRAMS];

/** Write a shape as #define lines of GLSL. */
enum { GL_SHAPE_TEXT = 200 };
void gl_shape_text(const struct gl_shape *shape, char out[GL_SHAPE_TEXT]);

/** Greatest bytes of a launch's parameters; greatest number of its storage buffers. */
enum { GL_PARAMETERS = 4096, GL_MOST_BOUND = 7 };

/** Parameters of gl_run(). */
struct gl_call {
    enum gl_program_id program;
    int shape;              /**< index of the kernel's shape; 0 for programs that are not kernels */
    const void *parameters; /**< values of the uniform block */
    size_t parameter_bytes;
    struct {
        const struct gl_buffer *buffer; /**< NULL: no buffer at this binding */
        size_t at, bytes;               /**< range [bytes]; at: a multiple of the alignment */
    } bound[GL_MOST_BOUND];
    unsigned texture, sampler; /**< texture that the program reads, and its sampler; 0: none */
    /** OpenGL name of the texture that the program writes, and its format; 0: none */
    unsigned image, format;
    unsigned groups[3]; /**< numbers of work groups along x, y and z */
    size_t
        carries; /**< greatest total size of the parts of held copies that it starts, too [bytes] */
};

/** Parameters of copy.glsl: its block `Copy`. */
struct gl_copy_parameters {
    uint32_t begin, end, from, to, per_piece, stride, spare[2];
};

/** A copy that is not launched completely.  Later launches start parts of it directly before
 * themselves. A renderer runs two programs at once only if no barrier or fence comes between their
 * launches. */
struct gl_held {
    struct gl_call call;
    struct gl_copy_parameters parameters; /**< begin: first unit that is not launched yet */
    size_t unit;                          /**< bytes per unit */
};

/** Greatest number of held copies; number of work groups of all copies that run at once. */
enum { GL_MOST_HELD = 9, GL_COPY_GROUPS = 64 };

/** The programs of a context. */
struct gl_programs {
    unsigned names[GL_N_PROGRAMS][GL_MOST_SHAPES]; /**< OpenGL names of compiled shapes; 0: none */
    unsigned parameters;             /**< uniform buffer of slots for the parameters of launches */
    unsigned next;                   /**< number of slots used so far */
    uint64_t alignment, block_bytes; /**< limits of the renderer (struct gl_renderer) */
    unsigned n_held;                 /**< number of held copies that are not launched completely */
    struct gl_held held[GL_MOST_HELD]; /**< held copies, the oldest first */
};

fbp_status gl_programs_open(struct gl_programs *p, uint64_t alignment, uint64_t block_bytes);
void gl_programs_close(struct gl_programs *p);

/** Compile a shape of a program before the run, to report errors; gl_run() does so, too. */
fbp_status gl_programs_need(struct gl_programs *p, enum gl_program_id id, int shape);

/** Bind bytes [at, at + bytes) of a buffer as storage block i of a launch.  The bound range begins
 * at a multiple of the alignment, *skip bytes before offset `at`.
 * @return FBP_ERR_UNSUPPORTED if the range is larger than a storage block */
fbp_status gl_bind(const struct gl_programs *p, struct gl_call *call, unsigned i,
                   const struct gl_buffer *buffer, size_t at, size_t bytes, size_t *skip);

/** Launch a program after all earlier ones of this context, and beside it parts of held copies
 * (call->carries).  call NULL: launch the oldest held copy. */
fbp_status gl_run(struct gl_programs *p, const struct gl_call *call);

/** Set the number of work groups of a launch, along x and y, to at least n in total; group_number()
 * in rows.glsl and voxels.glsl computes the index of a work group from both. */
static inline void gl_groups(struct gl_call *call, size_t n)
{
    const size_t across = 32768;

    call->groups[0] = (unsigned)(n < across ? n : across);
    call->groups[1] = (unsigned)((n + across - 1) / across);
    call->groups[2] = 1;
}

#endif /* FBP_SRC_BACKEND_GL_PROGRAM_H */
