/** @file program.h  Programs of a context, and how they are run (internal).
 *
 * Their texts are in the module (cmake/glsl.cmake), or in the folder that FBP_GL_SHADERS names.
 * All of this is called by the thread of the context.
 */
#ifndef FBP_SRC_GL_PROGRAM_H
#define FBP_SRC_GL_PROGRAM_H

#include "backend/gl/buffer.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** All texts that were built, ended by a name NULL; made by cmake/texts.cmake. */
struct gl_text_built {
    const char *name, *text;
};
extern const struct gl_text_built gl_texts_built[];

#define GL_TEXEL(FORMAT, CHANNELS, MOST) \
    "#define FORMAT " FORMAT "\n#define CHANNELS " CHANNELS "\n#define MOST " MOST "\n"
#define GL_FP32(FORMAT, CHANNELS) GL_TEXEL(FORMAT, CHANNELS, "3.0e38")
#define GL_FP16(FORMAT, CHANNELS) GL_TEXEL(FORMAT, CHANNELS, "65504.0")

/** Shapes of the kernels' groups: threads along x, y and z, slices of a thread, columns that 32
 *  threads cover; columns and rows of the windows of views in shared memory; whether samples are
 * kept from slice to slice.  All shapes of a kernel give the same bits. */
#define GL_SHAPE_0 8, 8, 1, 4, 8, 0, 0, 0
#define GL_SHAPE_1 16, 8, 1, 8, 16, 0, 0, 0
#define GL_SHAPE_2 32, 8, 1, 4, 16, 0, 0, 0
#define GL_SHAPE_3 32, 8, 1, 16, 16, 0, 0, 0
#define GL_SHAPE_4 32, 8, 1, 8, 16, 0, 0, 0
/** ... with windows, for up to 1.3 pixels a voxel, and for up to 2.8. */
#define GL_SHAPE_5 16, 16, 1, 16, 8, 40, 40, 0
#define GL_SHAPE_6 16, 16, 1, 8, 8, 40, 24, 0
#define GL_SHAPE_7 16, 16, 2, 8, 8, 40, 40, 0
#define GL_SHAPE_8 16, 16, 2, 8, 8, 84, 64, 0
/** ... of orbits, from textures. */
#define GL_ORBIT_0 8, 8, 1, 4, 8, 0, 0, 0
#define GL_ORBIT_1 32, 8, 1, 4, 16, 0, 0, 0
#define GL_ORBIT_2 32, 8, 1, 8, 16, 0, 0, 0
#define GL_ORBIT_3 16, 8, 2, 2, 8, 0, 0, 0
#define GL_ORBIT_4 16, 8, 2, 4, 8, 0, 0, 0
/** ... and from plain memory. */
#define GL_LOAD_0 8, 8, 1, 4, 8, 0, 0, 0
#define GL_LOAD_1 16, 16, 1, 4, 8, 0, 0, 1
#define GL_LOAD_2 16, 16, 1, 4, 8, 0, 0, 0
#define GL_LOAD_3 16, 16, 1, 8, 8, 0, 0, 1
#define GL_LOAD_4 16, 16, 1, 8, 8, 0, 0, 0
/** ... of plane integrals. */
#define GL_PLANES_0 8, 8, 1, 8, 8, 0, 0, 0
#define GL_PLANES_1 16, 16, 1, 8, 8, 0, 0, 0
enum { GL_SHAPES = 5, GL_SHAPES_WINDOWED = 9, GL_PLANES_SHAPES = 2 };

/** A shape as a text. */
#define GL_TEXT(...) GL_TEXT_OF(__VA_ARGS__)
#define GL_TEXT_OF(X, Y, LAYERS, SLICES, WARP, WIDTH, HEIGHT, KEEP)                           \
    "#define X " #X "\n#define Y " #Y "\n#define LAYERS " #LAYERS "\n#define SLICES " #SLICES \
    "\n#define WARP " #WARP "\n#define WIDTH " #WIDTH "\n#define HEIGHT " #HEIGHT             \
    "\n#define KEEP " #KEEP "\n"

#define GL_FLOATS(...) GL_TEXT(__VA_ARGS__) "#define VOXEL float\n"

/** A kernel in all its shapes; and with windows. */
#define GL_KERNEL(X, ID, NAME, ...)                                                     \
    X(ID##_0, NAME, GL_FLOATS(GL_SHAPE_0), "frame", "box", "seen", __VA_ARGS__, "walk") \
    X(ID##_1, NAME, GL_FLOATS(GL_SHAPE_1), "frame", "box", "seen", __VA_ARGS__, "walk") \
    X(ID##_2, NAME, GL_FLOATS(GL_SHAPE_2), "frame", "box", "seen", __VA_ARGS__, "walk") \
    X(ID##_3, NAME, GL_FLOATS(GL_SHAPE_3), "frame", "box", "seen", __VA_ARGS__, "walk") \
    X(ID##_4, NAME, GL_FLOATS(GL_SHAPE_4), "frame", "box", "seen", __VA_ARGS__, "walk")
#define GL_WINDOWS(X, ID, NAME, KIND)                    \
    GL_KERNEL(X, ID, NAME, KIND, "taps_gather", "exact") \
    GL_WINDOW(X, ID##_5, NAME, GL_SHAPE_5, KIND)         \
    GL_WINDOW(X, ID##_6, NAME, GL_SHAPE_6, KIND)         \
    GL_WINDOW(X, ID##_7, NAME, GL_SHAPE_7, KIND)         \
    GL_WINDOW(X, ID##_8, NAME, GL_SHAPE_8, KIND)
#define GL_WINDOW(X, ID, NAME, SHAPE, KIND)                                                       \
    X(ID, NAME, GL_FLOATS(SHAPE), "frame", "box", "seen", KIND, "taps_gather", "window", "exact", \
      "walk")

#define GL_ANY   "#define COLUMN false\n"
#define GL_ALONG "#define COLUMN true\n"

/** ... of orbits, from textures and from plain memory. */
#define GL_ORBIT(X, ID, NAME, SHAPE, LANES, TAPS) \
    X(ID, NAME, GL_TEXT(SHAPE), LANES, "frame", "box", "orbit", TAPS, "orbits")
#define GL_ORBITS(X, ID, NAME, LANES)                                         \
    GL_ORBIT(X, ID##_0, NAME, GL_ORBIT_0, LANES, "orbit_fast")                \
    GL_ORBIT(X, ID##_1, NAME, GL_ORBIT_1, LANES, "orbit_fast")                \
    GL_ORBIT(X, ID##_2, NAME, GL_ORBIT_2, LANES, "orbit_fast")                \
    GL_ORBIT(X, ID##_3, NAME, GL_ORBIT_3, LANES, "orbit_fast")                \
    GL_ORBIT(X, ID##_4, NAME, GL_ORBIT_4, LANES, "orbit_fast")                \
    GL_ORBIT(X, ID##_EXACT_0, NAME " exact", GL_LOAD_0, LANES, "orbit_exact") \
    GL_ORBIT(X, ID##_EXACT_1, NAME " exact", GL_LOAD_1, LANES, "orbit_exact") \
    GL_ORBIT(X, ID##_EXACT_2, NAME " exact", GL_LOAD_2, LANES, "orbit_exact") \
    GL_ORBIT(X, ID##_EXACT_3, NAME " exact", GL_LOAD_3, LANES, "orbit_exact") \
    GL_ORBIT(X, ID##_EXACT_4, NAME " exact", GL_LOAD_4, LANES, "orbit_exact")
#define GL_LANES(TURNS, VOXEL) "#define TURNS " TURNS "\n#define VOXEL " VOXEL "\n"

/** Plane integrals, by enum fbp_interpolation. */
#define GL_PLANES(X, ID, NAME, HOW)                                                               \
    X(ID##_0, NAME, GL_FLOATS(GL_PLANES_0), "#define INTERPOLATION " HOW "\n", "frame", "planes") \
    X(ID##_1, NAME, GL_FLOATS(GL_PLANES_1), "#define INTERPOLATION " HOW "\n", "frame", "planes")

#define GL_KERNELS(X)                                               \
    GL_KERNEL(X, MATRIX, "matrix", GL_ANY, "taps_plain", "exact")   \
    GL_WINDOWS(X, MATRIX_GATHER, "matrix by gathers", GL_ANY)       \
    GL_KERNEL(X, MATRIX_FAST, "matrix fast", GL_ANY, "fast")        \
    GL_KERNEL(X, COLUMN, "column", GL_ALONG, "taps_plain", "exact") \
    GL_WINDOWS(X, COLUMN_GATHER, "column by gathers", GL_ALONG)     \
    GL_KERNEL(X, COLUMN_FAST, "column fast", GL_ALONG, "fast")      \
    GL_ORBITS(X, ROT90, "rot90", GL_LANES("4", "vec4"))             \
    GL_ORBITS(X, ROT180, "rot180", GL_LANES("2", "vec2"))           \
    GL_PLANES(X, PLANES_LINEAR, "planes", "0")                      \
    GL_PLANES(X, PLANES_NEAREST, "planes nearest", "1")             \
    GL_PLANES(X, PLANES_CUBIC, "planes cubic", "2")

/** Filtered rows into a texture. */
#define GL_STORE(X, ID, NAME, TEXEL) X(ID, NAME, "common", "rows", "parts", TEXEL, "store_texture")

/** Programs: X(id, what it is called, its texts one after another).  A text that begins with # is
 *  itself. */
#define GL_PROGRAMS(X)                                                                     \
    X(PREPARE, "prepare", "common", "rows", "functions", "prepare")                        \
    X(BRIDGE, "bridge", "common", "rows", "bridge")                                        \
    X(WEIGH, "weigh", "common", "rows", "functions", "weights", "weigh")                   \
    X(COLUMNS, "columns", "common", "rows", "columns")                                     \
    X(PAD, "pad", "common", "rows", "functions", "weights", "pad")                         \
    X(CONVOLVE, "convolve", "#define REAL float\n#define REAL2 vec2\n", "common", "rows",  \
      "convolve")                                                                          \
    X(CONVOLVE_DOUBLE, "convolve in double", "#define REAL double\n#define REAL2 dvec2\n", \
      "common", "rows", "convolve")                                                        \
    X(ENDS, "ends", "common", "rows", "functions", "weights", "ends")                      \
    X(ADD_ENDS, "add_ends", "common", "rows", "add_ends")                                  \
    X(STORE, "store", "common", "rows", "parts", "store")                                  \
    GL_STORE(X, STORE_R32, "store r32f", GL_FP32("r32f", "1"))                             \
    GL_STORE(X, STORE_RG32, "store rg32f", GL_FP32("rg32f", "2"))                          \
    GL_STORE(X, STORE_R16, "store r16f", GL_FP16("r16f", "1"))                             \
    GL_STORE(X, STORE_RG16, "store rg16f", GL_FP16("rg16f", "2"))                          \
    GL_STORE(X, STORE_RGBA16, "store rgba16f", GL_FP16("rgba16f", "4"))                    \
    X(UNPACK, "unpack", "common", "unpack")                                                \
    X(BORDER, "border", "common", "rows", "border")                                        \
    X(PLAIN, "plain", "common", "rows", "parts", "plain")                                  \
    X(ZERO, "zero", "common", "zero")                                                      \
    X(SCALE, "scale", "common", "scale")                                                   \
    X(FOUND, "found", "found")                                                             \
    X(MIP, "mip", "mip")                                                                   \
    X(STAGE, "stage", "common", "rows", "functions", "turn", "stage")                      \
    X(MULTIPLY, "multiply", "common", "rows", "multiply")                                  \
    X(FFT_2, "fft", "common", "rows", "#define RADIX 2u\n", "fft")                         \
    X(FFT_4, "fft", "common", "rows", "#define RADIX 4u\n", "fft")                         \
    X(FFT_6, "fft", "common", "rows", "#define RADIX 6u\n", "fft")                         \
    X(FFT_8, "fft", "common", "rows", "#define RADIX 8u\n", "fft")                         \
    X(FFT_10, "fft", "common", "rows", "#define RADIX 10u\n", "fft")                       \
    X(FFT_12, "fft", "common", "rows", "#define RADIX 12u\n", "fft")                       \
    X(FFT_16, "fft", "common", "rows", "#define RADIX 16u\n", "fft")                       \
    X(FFT_20, "fft", "common", "rows", "#define RADIX 20u\n", "fft")                       \
    X(FFT_24, "fft", "common", "rows", "#define RADIX 24u\n", "fft")                       \
    X(FFT_32, "fft", "common", "rows", "#define RADIX 32u\n", "fft")                       \
    GL_KERNELS(X)

enum gl_program_id {
#define GL_PROGRAM_ID(ID, ...) GL_P_##ID,
    GL_PROGRAMS(GL_PROGRAM_ID) GL_N_PROGRAMS
#undef GL_PROGRAM_ID
};

enum { GL_PARAMETERS = 4096, GL_PARAMETER_SLOTS = 64, GL_MOST_BOUND = 6 };

struct gl_programs {
    unsigned names[GL_N_PROGRAMS];
    unsigned parameters; /**< buffer of slots of parameters, used in turn */
    unsigned next;
    uint64_t alignment, block_bytes; /**< of the renderer */
};

/** What runs. */
struct gl_call {
    enum gl_program_id program;
    const void *parameters;
    size_t parameter_bytes;
    struct {
        const struct gl_buffer *buffer; /**< NULL: nothing is bound there */
        size_t at, bytes;               /**< a multiple of the alignment */
    } bound[GL_MOST_BOUND];
    unsigned texture, sampler; /**< to be read; 0: none */
    unsigned image, format; /**< a texture to be written, and the format of its texels; 0: none */
    unsigned groups[3];
};

fbp_status gl_programs_open(struct gl_programs *p, uint64_t alignment, uint64_t block_bytes);
void gl_programs_close(struct gl_programs *p);

/** Compile what is not compiled yet, so that a run does not fail half way. */
fbp_status gl_programs_need(struct gl_programs *p, const enum gl_program_id *ids, size_t n);

/** Bind a part of a buffer at binding `i`.  What is bound begins earlier, at a multiple of the
 *  alignment: *skip bytes before `at`. */
fbp_status gl_bind(const struct gl_programs *p, struct gl_call *call, unsigned i,
                   const struct gl_buffer *buffer, size_t at, size_t bytes, size_t *skip);

/** Run it, after all that ran before. */
fbp_status gl_run(struct gl_programs *p, const struct gl_call *call);

/** Groups for n, along x and y. */
static inline void gl_groups(struct gl_call *call, size_t n)
{
    const size_t across = 32768; /* as common.glsl has it */

    call->groups[0] = (unsigned)(n < across ? n : across);
    call->groups[1] = (unsigned)((n + across - 1) / across);
    call->groups[2] = 1;
}

#endif /* FBP_SRC_GL_PROGRAM_H */
