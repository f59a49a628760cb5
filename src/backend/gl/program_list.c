/* The list of compute programs (shaders) of the OpenGL backend (gl_program_list): the source texts
 * of each program, and the shapes (compiled variants) of the kernels.
 * Used by: backproject.c, kernel.c, program.c. */
#include "backend/gl/program.h"

#include <stdio.h>

/* Shapes of kernels that add single views. Shapes 5 to 8 use windows of views in shared memory: 5
 * to 7 if a voxel covers less than 1.3 pixels, 8 less than 2.8. */
static const struct gl_shape view_shapes[GL_WINDOW_SHAPES] = {
    {8, 8, 1, 4, 8, 0, 0, 0},     {16, 8, 1, 8, 16, 0, 0, 0},   {32, 8, 1, 4, 16, 0, 0, 0},
    {32, 8, 1, 16, 16, 0, 0, 0},  {32, 8, 1, 8, 16, 0, 0, 0},   {16, 16, 1, 16, 8, 40, 40, 0},
    {16, 16, 1, 8, 8, 40, 24, 0}, {16, 16, 2, 8, 8, 40, 40, 0}, {16, 16, 2, 8, 8, 84, 64, 0},
};
/* Shapes (compiled variants) of kernels of symmetric voxels that read views from textures. */
static const struct gl_shape symmetric_shapes[GL_SYMMETRIC_SHAPES] = {
    {8, 8, 1, 4, 8, 0, 0, 0},  {32, 8, 1, 4, 16, 0, 0, 0}, {32, 8, 1, 8, 16, 0, 0, 0},
    {16, 8, 2, 2, 8, 0, 0, 0}, {16, 8, 2, 4, 8, 0, 0, 0},
};
/* Shapes (compiled variants) of kernels of symmetric voxels that read views from plain memory. */
static const struct gl_shape load_shapes[GL_SYMMETRIC_SHAPES] = {
    {8, 8, 1, 4, 8, 0, 0, 0},   {16, 16, 1, 4, 8, 0, 0, 1}, {16, 16, 1, 4, 8, 0, 0, 0},
    {16, 16, 1, 8, 8, 0, 0, 1}, {16, 16, 1, 8, 8, 0, 0, 0},
};
/* Shapes (compiled variants) of kernels of plane integrals. */
static const struct gl_shape plane_shapes[GL_PLANE_SHAPES] = {
    {8, 8, 1, 8, 8, 0, 0, 0},
    {16, 16, 1, 8, 8, 0, 0, 0},
};

/* Entry of the list of programs.  SHAPES: NULL if the program is not a backprojection kernel. */
#define ENTRY(NAME, SHAPES, N_SHAPES, ...)                                                   \
    {                                                                                        \
        .name = (NAME), .shapes = (SHAPES), .n_shapes = (N_SHAPES), .texts = { __VA_ARGS__ } \
    }
#define PROGRAM(NAME, ...) ENTRY(NAME, NULL, 0, __VA_ARGS__)
#define FILTER(NAME, ...)  PROGRAM(NAME, "rows", __VA_ARGS__)

/* Entry of a kernel that adds single views.  KIND: definitions that select the kernel; SAMPLES:
 * definition that selects how samples are read. */
#define VIEWS(N_SHAPES, NAME, KIND, SAMPLES) \
    ENTRY(NAME, view_shapes, N_SHAPES, "#define VOXEL float\n" KIND SAMPLES, "frame", "views")
/* COLUMN: kernel "column", for which detector column and depth w of a voxel do not depend on z. */
#define ANY_VIEW   "#define COLUMN false\n"
#define ALONG_Z    "#define COLUMN true\n"
#define FROM_PLAIN "#define PLAIN\n"
/* Entry of a kernel that adds TURNS symmetric views to TURNS symmetric voxel columns. */
#define SYMMETRIC(NAME, TURNS, KIND, SHAPES) \
    ENTRY(NAME, SHAPES, GL_SYMMETRIC_SHAPES, \
          "#define TURNS " TURNS "\n#define VOXEL vec" TURNS "\n" KIND, "frame", "symmetric")
#define PLANES(NAME, INTERPOLATION)            \
    ENTRY(NAME, plane_shapes, GL_PLANE_SHAPES, \
          "#define VOXEL float\n#define INTERPOLATION " INTERPOLATION "\n", "frame", "planes")

/* Entry of a program that stores filtered rows in a texture.  FORMAT: format of a texel; CHANNELS:
 * channels per texel; MOST: greatest value of the format. */
#define STORE(FORMAT, CHANNELS, MOST)                                                           \
    FILTER("store " FORMAT,                                                                     \
           "#define FORMAT " FORMAT "\n#define CHANNELS " CHANNELS "\n#define MOST " MOST "\n", \
           "store")
#define CONVOLVE(NAME, REAL, REAL2) \
    FILTER(NAME, "#define REAL " REAL "\n#define REAL2 " REAL2 "\n", "convolve")
/* Entry of a program that filters rows in shared memory; THREADS: threads per work group. */
#define FFT(RADIX, THREADS)                                                                     \
    FILTER("fft", "weights", "pair", "#define RADIX " RADIX "u\n#define THREADS " THREADS "\n", \
           "fft")

const struct gl_program gl_program_list[GL_N_PROGRAMS] = {
#define GL_PROGRAM_TEXTS_OF(ID, ...) [GL_P_##ID] = __VA_ARGS__,
    GL_PROGRAM_LIST(GL_PROGRAM_TEXTS_OF)
#undef GL_PROGRAM_TEXTS_OF
};

void gl_shape_text(const struct gl_shape *s, char out[GL_SHAPE_TEXT])
{
    snprintf(out, GL_SHAPE_TEXT,
             "#define X %d\n#define Y %d\n#define LAYERS %d\n#define SLICES %d\n#define WARP %d\n"
             "#define WIDTH %d\n#define HEIGHT %d\n#define KEEP %d\n",
             s->x, s->y, s->layers, s->slices, s->warp, s->width, s->height, s->keep);
}
