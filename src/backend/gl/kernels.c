/* OpenGL's kernels, and which of them a job gets. */
#include "backend/gl/kernel.h"

#include "backend/experiments.h"
#include "backend/gl/egl.h"
#include "backend/gpu/gpu_plain.h"

#include <string.h>

/* Does every renderer's texture hold the views? */
static bool fits_textures(const struct fbp_job *job)
{
    for (int i = 0; i < gl_renderers_listed(); i++) {
        const struct gl_renderer *r = gl_renderer_at(i);
        if (!r->reason[0] && ((size_t)r->texture_size < 2 * job->wide.n_columns + 1 ||
                              (size_t)r->texture_size < 2 * job->wide.n_rows))
            return false;
    }
    return true;
}

static bool columns_fit(const struct fbp_job *job)
{
    return gpu_columns_pay(job) && fits_textures(job);
}

/* Many slices a thread share what a view's column costs; few of them want less of the group. */
static int shapes(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    static const int thin[] = {0, 2}, few[] = {1, 0, 2}, many[] = {1, 3, 2, 0};
    const int n = n_slices <= 4 ? 2 : n_slices <= 8 ? 3 : 4;

    (void)job;
    memcpy(out, n == 2 ? thin : n == 3 ? few : many, (size_t)n * sizeof *out);
    return n;
}

/* A texel is wide, and so are sums. */
static int shapes_of_orbits(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    static const int few[] = {2, 0}, many[] = {2, 0, 1};
    const int n = n_slices <= 4 ? 2 : 3;

    (void)job;
    memcpy(out, n == 2 ? few : many, (size_t)n * sizeof *out);
    return n;
}

#define PLAIN         .views_bytes = gpu_plain_bytes
#define TEXTURE(BITS) .channels = 1, .bits = (BITS)
#define KERNEL(NAME, PRECISION, USABLE, SYMMETRY, PROGRAM, ...) \
    {                                                           \
        .gpu = {.name = (NAME),                                 \
                .precision = FBP_PRECISION_##PRECISION,         \
                .turns = 1,                                     \
                .usable = (USABLE),                             \
                .symmetry = (SYMMETRY),                         \
                .n_shapes = GL_SHAPES,                          \
                .candidates = shapes,                           \
                __VA_ARGS__},                                   \
        .program = GL_P_##PROGRAM##_0                           \
    }

/* Of orbits: T turns, the mirror or not. */
#define ORBITS(NAME, PRECISION, SYMMETRY, PROGRAM, T, MIRRORED, BITS) \
    {                                                                 \
        .gpu = {.name = (NAME),                                       \
                .precision = FBP_PRECISION_##PRECISION,               \
                .turns = (T),                                         \
                .mirrored = (MIRRORED),                               \
                .usable = fits_textures,                              \
                .symmetry = (SYMMETRY),                               \
                .channels = (T) * ((MIRRORED) ? 2 : 1),               \
                .bits = (BITS),                                       \
                .halves_columns = true,                               \
                .volume_size = gpu_orbit_volume_size,                 \
                .n_shapes = GL_SHAPES,                                \
                .candidates = shapes_of_orbits},                      \
        .program = GL_P_##PROGRAM##_0                                 \
    }

/* The variants of S3: the texture units interpolate, or a shader does. */
#define DRAWN(NAME, VARIANT)                                     \
    {.gpu = {.name = (NAME),                                     \
             .precision = FBP_PRECISION_FAST,                    \
             .turns = 1,                                         \
             .by_name = true,                                    \
             .usable = fits_textures,                            \
             .symmetry = FBP_SYM_COLUMN,                         \
             PLAIN},                                             \
     .draws = &(const struct fbp_s3_way){.variant = (VARIANT)}}, \
    {                                                            \
        .gpu = {.name = (NAME),                                  \
                .precision = FBP_PRECISION_EXACT,                \
                .turns = 1,                                      \
                .by_name = true,                                 \
                .usable = fits_textures,                         \
                .symmetry = FBP_SYM_COLUMN,                      \
                PLAIN},                                          \
        .draws = &(const struct fbp_s3_way)                      \
        {                                                        \
            .variant = (VARIANT), .exact = true                  \
        }                                                        \
    }

/* Fastest first; those that have other names for the same are there to be compared with. */
static const struct gl_kernel kernels[] = {
    ORBITS("rot90", HALF, FBP_SYM_ROT90, ROT90, 4, false, 16),
    ORBITS("rot180+mirror", HALF, FBP_SYM_ROT180 | FBP_SYM_MIRROR, ROT180_MIRROR, 2, true, 16),
    ORBITS("rot180", HALF, FBP_SYM_ROT180, ROT180, 2, false, 16),
    ORBITS("mirror", HALF, FBP_SYM_MIRROR, MIRROR, 1, true, 16),
    ORBITS("rot180", FAST, FBP_SYM_ROT180, ROT180, 2, false, 32),
    KERNEL("column", HALF, columns_fit, FBP_SYM_COLUMN, COLUMN_FAST, TEXTURE(16),
           .halves_columns = true),
    KERNEL("matrix", HALF, fits_textures, 0, MATRIX_FAST, TEXTURE(16), .halves_columns = true),
    KERNEL("column", EXACT, fits_textures, FBP_SYM_COLUMN, COLUMN_GATHER, TEXTURE(32)),
    KERNEL("matrix", FAST, fits_textures, 0, MATRIX_FAST, TEXTURE(32), .halves_columns = true),
    KERNEL("matrix", EXACT, fits_textures, 0, MATRIX_GATHER, TEXTURE(32)),
    KERNEL("column", EXACT, NULL, FBP_SYM_COLUMN, COLUMN, PLAIN),
    KERNEL("matrix", EXACT, NULL, 0, MATRIX, PLAIN), /* takes any job */
    KERNEL("column-plain", EXACT, NULL, FBP_SYM_COLUMN, COLUMN, PLAIN, .by_name = true),
    KERNEL("matrix-plain", EXACT, NULL, 0, MATRIX, PLAIN, .by_name = true),
    DRAWN("s3-a", 0),
    DRAWN("s3-b", 1),
    DRAWN("s3-c", 2),
    DRAWN("s3-d", 3),
    DRAWN("s3-e", 4),
    DRAWN("s3-f", 6),
};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

const struct gpu_kernel *gl_kernel_find(const struct fbp_job *job, const char *name)
{
    for (size_t i = 0; i < N_KERNELS; i++) {
        const struct gpu_kernel *k = &kernels[i].gpu;
        if ((name ? strcmp(name, k->name) == 0 : !k->by_name) && gpu_kernel_suits(k, job))
            return k;
    }
    return NULL;
}
