/** @file program.h  Programs of a context, and how they are run (internal).
 *
 * Their texts are in the module (cmake/glsl.cmake), or in the folder that FBP_GL_SHADERS names.
 * All of this is called by the thread of the context.
 */
#ifndef FBP_SRC_GL_PROGRAM_H
#define FBP_SRC_GL_PROGRAM_H

#include "backend/gl/buffer.h"

#include <stdint.h>

#define GL_TEXEL(FORMAT, CHANNELS, MOST) \
    "#define FORMAT " FORMAT "\n#define CHANNELS " CHANNELS "\n#define MOST " MOST "\n"
#define GL_FP32(FORMAT, CHANNELS) GL_TEXEL(FORMAT, CHANNELS, "3.0e38")
#define GL_FP16(FORMAT, CHANNELS) GL_TEXEL(FORMAT, CHANNELS, "65504.0")

/** Shapes of the kernels' groups: threads along x and y, slices of a thread.  All give the same
 *  bits. */
#define GL_SHAPE_0 "#define X 8\n#define Y 8\n#define SLICES 4\n"
#define GL_SHAPE_1 "#define X 16\n#define Y 8\n#define SLICES 8\n"
#define GL_SHAPE_2 "#define X 32\n#define Y 8\n#define SLICES 4\n"
#define GL_SHAPE_3 "#define X 32\n#define Y 8\n#define SLICES 16\n"
enum { GL_SHAPES = 4 };

/** A kernel in all its shapes. */
#define GL_KERNEL(X, ID, NAME, ...)                                  \
    X(ID##_0, NAME, GL_SHAPE_0, "frame", "box", __VA_ARGS__, "walk") \
    X(ID##_1, NAME, GL_SHAPE_1, "frame", "box", __VA_ARGS__, "walk") \
    X(ID##_2, NAME, GL_SHAPE_2, "frame", "box", __VA_ARGS__, "walk") \
    X(ID##_3, NAME, GL_SHAPE_3, "frame", "box", __VA_ARGS__, "walk")

#define GL_ANY   "#define COLUMN false\n"
#define GL_ALONG "#define COLUMN true\n"

/** ... of orbits. */
#define GL_ORBITS(X, ID, NAME, LANES)                           \
    X(ID##_0, NAME, GL_SHAPE_0, LANES, "frame", "box", "orbit") \
    X(ID##_1, NAME, GL_SHAPE_1, LANES, "frame", "box", "orbit") \
    X(ID##_2, NAME, GL_SHAPE_2, LANES, "frame", "box", "orbit") \
    X(ID##_3, NAME, GL_SHAPE_3, LANES, "frame", "box", "orbit")
#define GL_LANES(TURNS, HALVES) "#define TURNS " TURNS "\n#define HALVES " HALVES "\n"

#define GL_KERNELS(X)                                                                  \
    GL_KERNEL(X, MATRIX, "matrix", GL_ANY, "taps_plain", "exact")                      \
    GL_KERNEL(X, MATRIX_GATHER, "matrix by gathers", GL_ANY, "taps_gather", "exact")   \
    GL_KERNEL(X, MATRIX_FAST, "matrix fast", GL_ANY, "fast")                           \
    GL_KERNEL(X, COLUMN, "column", GL_ALONG, "taps_plain", "exact")                    \
    GL_KERNEL(X, COLUMN_GATHER, "column by gathers", GL_ALONG, "taps_gather", "exact") \
    GL_KERNEL(X, COLUMN_FAST, "column fast", GL_ALONG, "fast")                         \
    GL_ORBITS(X, ROT90, "rot90", GL_LANES("4", "1"))                                   \
    GL_ORBITS(X, ROT180_MIRROR, "rot180+mirror", GL_LANES("2", "2"))                   \
    GL_ORBITS(X, ROT180, "rot180", GL_LANES("2", "1"))                                 \
    GL_ORBITS(X, MIRROR, "mirror", GL_LANES("1", "2"))

/** Filtered rows into a texture. */
#define GL_STORE(X, ID, NAME, TEXEL) X(ID, NAME, "common", "rows", "parts", TEXEL, "store_texture")

/** Programs: X(id, what it is called, its texts one after another).  A text that begins with # is
 *  itself. */
#define GL_PROGRAMS(X)                                                   \
    X(PREPARE, "prepare", "common", "rows", "functions", "prepare")      \
    X(BRIDGE, "bridge", "common", "rows", "bridge")                      \
    X(WEIGH, "weigh", "common", "rows", "functions", "weights", "weigh") \
    X(COLUMNS, "columns", "common", "rows", "columns")                   \
    X(PAD, "pad", "common", "rows", "functions", "weights", "pad")       \
    X(CONVOLVE, "convolve", "common", "rows", "convolve")                \
    X(ENDS, "ends", "common", "rows", "functions", "weights", "ends")    \
    X(ADD_ENDS, "add_ends", "common", "rows", "add_ends")                \
    X(STORE, "store", "common", "rows", "parts", "store")                \
    GL_STORE(X, STORE_R32, "store r32f", GL_FP32("r32f", "1"))           \
    GL_STORE(X, STORE_RG32, "store rg32f", GL_FP32("rg32f", "2"))        \
    GL_STORE(X, STORE_R16, "store r16f", GL_FP16("r16f", "1"))           \
    GL_STORE(X, STORE_RG16, "store rg16f", GL_FP16("rg16f", "2"))        \
    GL_STORE(X, STORE_RGBA16, "store rgba16f", GL_FP16("rgba16f", "4"))  \
    X(UNPACK, "unpack", "common", "unpack")                              \
    X(BORDER, "border", "common", "rows", "border")                      \
    X(PLAIN, "plain", "common", "rows", "parts", "plain")                \
    X(SCALE, "scale", "common", "scale")                                 \
    X(FOUND, "found", "found")                                           \
    X(MIP, "mip", "mip")                                                 \
    X(STAGE, "stage", "common", "rows", "functions", "turn", "stage")    \
    X(MULTIPLY, "multiply", "common", "rows", "multiply")                \
    X(FFT_2, "fft", "common", "rows", "#define RADIX 2u\n", "fft")       \
    X(FFT_4, "fft", "common", "rows", "#define RADIX 4u\n", "fft")       \
    X(FFT_6, "fft", "common", "rows", "#define RADIX 6u\n", "fft")       \
    X(FFT_8, "fft", "common", "rows", "#define RADIX 8u\n", "fft")       \
    X(FFT_10, "fft", "common", "rows", "#define RADIX 10u\n", "fft")     \
    X(FFT_12, "fft", "common", "rows", "#define RADIX 12u\n", "fft")     \
    X(FFT_16, "fft", "common", "rows", "#define RADIX 16u\n", "fft")     \
    X(FFT_20, "fft", "common", "rows", "#define RADIX 20u\n", "fft")     \
    X(FFT_24, "fft", "common", "rows", "#define RADIX 24u\n", "fft")     \
    X(FFT_32, "fft", "common", "rows", "#define RADIX 32u\n", "fft")     \
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
