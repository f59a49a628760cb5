/* The list of programs of the OpenGL backend: source texts of each program, shapes of the kernels.
 * program.c compiles the programs. */
#include "backend/gl/program.h"

#include <stdio.h>

/* Shapes of kernels that add single views.  The last four use windows of views in shared memory:
 * three of them for up to 1.3 pixels per voxel, the last for up to 2.8. */
static const struct gl_shape view_shapes[GL_WINDOW_SHAPES] = {
    {8, 8, 1, 4, 8, 0, 0, 0},     {16, 8, 1, 8, 16, 0, 0, 0},   {32, 8, 1, 4, 16, 0, 0, 0},
    {32, 8, 1, 16, 16, 0, 0, 0},  {32, 8, 1, 8, 16, 0, 0, 0},   {16, 16, 1, 16, 8, 40, 40, 0},
    {16, 16, 1, 8, 8, 40, 24, 0}, {16, 16, 2, 8, 8, 40, 40, 0}, {16, 16, 2, 8, 8, 84, 64, 0},
};
/* Shapes of kernels of orbits (groups of symmetric voxels), with textures. */
static const struct gl_shape orbit_shapes[GL_ORBIT_SHAPES] = {
    {8, 8, 1, 4, 8, 0, 0, 0},  {32, 8, 1, 4, 16, 0, 0, 0}, {32, 8, 1, 8, 16, 0, 0, 0},
    {16, 8, 2, 2, 8, 0, 0, 0}, {16, 8, 2, 4, 8, 0, 0, 0},
};
/* Shapes of kernels of orbits, with plain memory. */
static const struct gl_shape load_shapes[GL_ORBIT_SHAPES] = {
    {8, 8, 1, 4, 8, 0, 0, 0},   {16, 16, 1, 4, 8, 0, 0, 1}, {16, 16, 1, 4, 8, 0, 0, 0},
    {16, 16, 1, 8, 8, 0, 0, 1}, {16, 16, 1, 8, 8, 0, 0, 0},
};
/* Shapes of kernels of plane integrals. */
static const struct gl_shape plane_shapes[GL_PLANE_SHAPES] = {
    {8, 8, 1, 8, 8, 0, 0, 0},
    {16, 16, 1, 8, 8, 0, 0, 0},
};

/* A kernel that adds single views; KIND: definitions; SAMPLES: definition of the interpolation. */
#define VIEWS(N_SHAPES, NAME, KIND, SAMPLES)                       \
    {                                                              \
        NAME, view_shapes, N_SHAPES,                               \
        {                                                          \
            "#define VOXEL float\n" KIND SAMPLES, "frame", "views" \
        }                                                          \
    }
#define ANY_VIEW   "#define COLUMN false\n"
#define ALONG_Z    "#define COLUMN true\n" /* u and w of a voxel column do not depend on z */
#define FROM_PLAIN "#define PLAIN\n"

/* A kernel of orbits of TURNS symmetric voxel columns. */
#define ORBITS(NAME, TURNS, KIND, SHAPES)                                                  \
    {                                                                                      \
        NAME, SHAPES, GL_ORBIT_SHAPES,                                                     \
        {                                                                                  \
            "#define TURNS " TURNS "\n#define VOXEL vec" TURNS "\n" KIND, "frame", "orbit" \
        }                                                                                  \
    }

#define PLANES(NAME, INTERPOLATION)                                                             \
    {                                                                                           \
        NAME, plane_shapes, GL_PLANE_SHAPES,                                                    \
        {                                                                                       \
            "#define VOXEL float\n#define INTERPOLATION " INTERPOLATION "\n", "frame", "planes" \
        }                                                                                       \
    }

#define FILTER(NAME, ...)       \
    {                           \
        NAME, NULL, 0,          \
        {                       \
            "rows", __VA_ARGS__ \
        }                       \
    }
/* Storage of filtered rows in a texture: format of its texels, channels, greatest value. */
#define STORE(FORMAT, CHANNELS, MOST)                                                           \
    FILTER("store " FORMAT,                                                                     \
           "#define FORMAT " FORMAT "\n#define CHANNELS " CHANNELS "\n#define MOST " MOST "\n", \
           "store")
#define CONVOLVE(NAME, REAL, REAL2) \
    FILTER(NAME, "#define REAL " REAL "\n#define REAL2 " REAL2 "\n", "convolve")
#define FFT(RADIX) FILTER("fft", "#define RADIX " RADIX "u\n", "fft")

const struct gl_program gl_program_list[GL_N_PROGRAMS] = {
    [GL_P_PREPARE] = FILTER("prepare", "prepare"),
    [GL_P_BRIDGE] = FILTER("bridge", "#define BRIDGE\n", "prepare"),
    [GL_P_WEIGH] = FILTER("weigh", "weights", "#define WEIGH\n", "pad"),
    [GL_P_COLUMNS] = FILTER("columns", "#define COLUMNS\n", "convolve"),
    [GL_P_PAD] = FILTER("pad", "weights", "pad"),
    [GL_P_CONVOLVE] = CONVOLVE("convolve", "float", "vec2"),
    [GL_P_CONVOLVE_DOUBLE] = CONVOLVE("convolve in double", "double", "dvec2"),
    [GL_P_ENDS] = FILTER("ends", "weights", "ends"),
    [GL_P_ADD_ENDS] = FILTER("add_ends", "#define ADD\n", "ends"),
    [GL_P_STAGE] = FILTER("stage", "stage"),
    [GL_P_MULTIPLY] = FILTER("multiply", "#define MULTIPLY\n", "stage"),
    [GL_P_FFT_2] = FFT("2"),
    [GL_P_FFT_4] = FFT("4"),
    [GL_P_FFT_6] = FFT("6"),
    [GL_P_FFT_8] = FFT("8"),
    [GL_P_FFT_10] = FFT("10"),
    [GL_P_FFT_12] = FFT("12"),
    [GL_P_FFT_16] = FFT("16"),
    [GL_P_FFT_20] = FFT("20"),
    [GL_P_FFT_24] = FFT("24"),
    [GL_P_FFT_32] = FFT("32"),
    [GL_P_STORE] = FILTER("store", "store"),
    [GL_P_STORE_PLAIN] = FILTER("store plain", FROM_PLAIN, "store"),
    [GL_P_STORE_R32] = STORE("r32f", "1", "3.0e38"),
    [GL_P_STORE_RG32] = STORE("rg32f", "2", "3.0e38"),
    [GL_P_STORE_R16] = STORE("r16f", "1", "65504.0"),
    [GL_P_STORE_RG16] = STORE("rg16f", "2", "65504.0"),
    [GL_P_STORE_RGBA16] = STORE("rgba16f", "4", "65504.0"),
    [GL_P_BORDER] = FILTER("border", "#define BORDER_ROWS\n", "store"),
    [GL_P_ZERO] = {"zero", NULL, 0, {"#define ZERO\n", "voxels"}},
    [GL_P_SCALE] = {"scale", NULL, 0, {"#define SCALE\n", "voxels"}},
    [GL_P_UNPACK] = {"unpack", NULL, 0, {"#define UNPACK\n", "voxels"}},
    [GL_P_FOUND] = {"found", NULL, 0, {"#define FOUND\n", "voxels"}},
    [GL_P_MIP] = {"mip", NULL, 0, {"mip"}},
    [GL_P_MATRIX_PLAIN] = VIEWS(GL_VIEW_SHAPES, "matrix", ANY_VIEW FROM_PLAIN, ""),
    [GL_P_MATRIX_GATHER] = VIEWS(GL_WINDOW_SHAPES, "matrix by gathers", ANY_VIEW, ""),
    [GL_P_MATRIX_FAST] = VIEWS(GL_VIEW_SHAPES, "matrix fast", ANY_VIEW, "#define FAST\n"),
    [GL_P_COLUMN_PLAIN] = VIEWS(GL_VIEW_SHAPES, "column", ALONG_Z FROM_PLAIN, ""),
    [GL_P_COLUMN_GATHER] = VIEWS(GL_WINDOW_SHAPES, "column by gathers", ALONG_Z, ""),
    [GL_P_COLUMN_FAST] = VIEWS(GL_VIEW_SHAPES, "column fast", ALONG_Z, "#define FAST\n"),
    [GL_P_ROT90_FAST] = ORBITS("rot90", "4", "", orbit_shapes),
    [GL_P_ROT90_EXACT] = ORBITS("rot90 exact", "4", "#define EXACT\n", load_shapes),
    [GL_P_ROT180_FAST] = ORBITS("rot180", "2", "", orbit_shapes),
    [GL_P_ROT180_EXACT] = ORBITS("rot180 exact", "2", "#define EXACT\n", load_shapes),
    [GL_P_PLANES_LINEAR] = PLANES("planes", "0"),
    [GL_P_PLANES_NEAREST] = PLANES("planes nearest", "1"),
    [GL_P_PLANES_CUBIC] = PLANES("planes cubic", "2"),
};

void gl_shape_text(const struct gl_shape *s, char out[GL_SHAPE_TEXT])
{
    snprintf(out, GL_SHAPE_TEXT,
             "#define X %d\n#define Y %d\n#define LAYERS %d\n#define SLICES %d\n#define WARP %d\n"
             "#define WIDTH %d\n#define HEIGHT %d\n#define KEEP %d\n",
             s->x, s->y, s->layers, s->slices, s->warp, s->width, s->height, s->keep);
}
