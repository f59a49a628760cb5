/* The kernels of OpenGL, and the choice of one for a job. */
#include "backend/gl/kernel.h"

#include "backend/gl/limits.h"
#include "backend/gpu/gpu_kernel.h"

#include <string.h>

/* Do textures of every renderer hold the views? */
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

static bool orbits_fit(const struct fbp_job *job)
{
    return fits_textures(job) && gl_binds_slices(job);
}

static bool columns_fit(const struct fbp_job *job)
{
    return gpu_columns_pay(job) && fits_textures(job);
}

/* Shared memory of a group that windows cannot use: facts about the views of a pass, and a row of
 * the filter. */
enum { BESIDE_WINDOWS = 1024 };

static bool shape_fits(enum gl_program_id program, int shape, size_t shared_bytes)
{
    const struct gl_shape *s = &gl_program_list[program].shapes[shape];
    const size_t bytes = 2 * (size_t)s->width * (size_t)s->height * sizeof(float);

    return bytes == 0 || bytes + BESIDE_WINDOWS <= shared_bytes;
}

int gl_shape_within(const struct gl_kernel *kernel, int shape, size_t shared_bytes)
{
    return shape_fits(kernel->program, shape, shared_bytes) ? shape : 0;
}

static int take(const int *from, int n, int *out)
{
    memcpy(out, from, (size_t)n * sizeof *from);
    return n;
}

/* Candidates for kernels of single views; the order was measured on an H200. */
static int shapes(const struct fbp_job *job, size_t n_slices, int *out)
{
    static const int thin[] = {2, 0}, few[] = {4, 1, 2, 0}, many[] = {4, 1, 2, 3};

    (void)job;
    return n_slices <= 4 ? take(thin, 2, out) : take(n_slices <= 8 ? few : many, 4, out);
}

/* Is there a renderer in hardware, and does every one have enough shared memory for the windows of
 * a shape?  The shared memory of renderers in software is no faster than other memory. */
static bool windows_pay(int shape)
{
    bool pay = false;

    for (int i = 0; i < gl_renderers_listed(); i++) {
        const struct gl_renderer *r = gl_renderer_at(i);
        if (r->reason[0] || r->software)
            continue;
        if (!shape_fits(GL_P_MATRIX_GATHER, shape, (size_t)r->shared_bytes))
            return false;
        pay = true;
    }
    return pay;
}

/* Candidates with windows, or by gathers, which are faster if windows are large. */
static int shapes_windowed(const struct fbp_job *job, size_t n_slices, int *out)
{
    static const int gathers[] = {1, 2, 4, 3};
    static const int deep[] = {5, 7, 6, 1}, flat[] = {6, 7, 5, 1}, large[] = {1, 8, 2, 4};
    const bool columns = gpu_kernel_of(job)->symmetry & FBP_SYM_COLUMN;
    const double pixels = gpu_pixels_a_voxel(job);

    if (n_slices <= 8)
        return shapes(job, n_slices, out);
    if (pixels < 1.3 && windows_pay(5))
        return take(columns || job->region ? flat : deep, 4, out);
    return take(pixels < 2.8 && windows_pay(8) ? large : gathers, 4, out);
}

/* Shapes of two layers are faster if samples of two voxel lines lie far apart. */
static int shapes_of_orbits(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    static const int thin[] = {1, 0, 3}, apart[] = {4, 3, 1, 2, 0}, near[] = {1, 4, 2, 3, 0};
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const bool wide = k->channels * k->bits == 64;

    if (n_slices <= 4)
        return take(thin, 3, out);
    return take(wide && gpu_texels_a_column(k, job) * gpu_columns_a_voxel(job) > 1.6 ? apart : near,
                5, out);
}

static int shapes_of_loads(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    static const int thin[] = {2, 0}, four[] = {2, 0, 4, 1}, two[] = {4, 2, 3, 0};
    const struct gpu_kernel *k = gpu_kernel_of(job);

    if (n_slices <= 4)
        return take(thin, 2, out);
    return take(k->turns == 4 ? four : two, 4, out);
}

/* Does the shared memory hold a window? */
static bool planes_fit(const struct fbp_job *job)
{
    static const int box[3] = {GPU_PLANES_EDGE, GPU_PLANES_EDGE, GPU_PLANES_EDGE};

    return gpu_planes_usable(job) && gpu_planes_window(job, box, GL_PLANES_TAPS) <= GL_PLANES_ROOM;
}

/* Small volumes need small groups to fill the device. */
static int shapes_of_planes(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    const size_t *n = job->grid.n;

    (void)n_slices;
    out[0] = n[0] * n[1] * n[2] > (size_t)1 << 20;
    return 1;
}

enum gl_program_id gl_program_of(const struct gl_kernel *k, const struct fbp_job *job)
{
    return (enum gl_program_id)((int)k->program + (k->gpu.planes ? (int)job->interpolation : 0));
}

#define PLAIN         .views_bytes = gpu_plain_bytes
#define TEXTURE(BITS) .channels = 1, .bits = (BITS)
#define WINDOWED      .n_shapes = GL_WINDOW_SHAPES, .candidates = shapes_windowed
#define WITHOUT       .n_shapes = GL_VIEW_SHAPES, .candidates = shapes
#define KERNEL(NAME, PRECISION, USABLE, SYMMETRY, PROGRAM, ...) \
    {                                                           \
        .gpu = {.name = (NAME),                                 \
                .precision = FBP_PRECISION_##PRECISION,         \
                .turns = 1,                                     \
                .usable = (USABLE),                             \
                .symmetry = (SYMMETRY),                         \
                __VA_ARGS__},                                   \
        .program = GL_P_##PROGRAM                               \
    }

/* Kernels of orbits of T columns, from textures. */
#define ORBITS(NAME, PRECISION, SYMMETRY, PROGRAM, T, BITS) \
    {                                                       \
        .gpu = {.name = (NAME),                             \
                .precision = FBP_PRECISION_##PRECISION,     \
                .turns = (T),                               \
                .usable = orbits_fit,                       \
                .symmetry = (SYMMETRY),                     \
                .channels = (T),                            \
                .bits = (BITS),                             \
                .halves_columns = true,                     \
                .volume_size = gpu_orbit_volume_size,       \
                .n_shapes = GL_ORBIT_SHAPES,                \
                .candidates = shapes_of_orbits},            \
        .program = GL_P_##PROGRAM##_FAST                    \
    }

/* Kernels of orbits in fp32, from plain memory. */
#define LOADS(NAME, SYMMETRY, PROGRAM, T)             \
    {                                                 \
        .gpu = {.name = (NAME),                       \
                .precision = FBP_PRECISION_EXACT,     \
                .turns = (T),                         \
                .usable = gl_binds_slices,            \
                .symmetry = (SYMMETRY),               \
                .volume_size = gpu_orbit_volume_size, \
                .n_shapes = GL_ORBIT_SHAPES,          \
                .candidates = shapes_of_loads,        \
                PLAIN},                               \
        .program = GL_P_##PROGRAM##_EXACT             \
    }

/* Fastest first.  column-plain and matrix-plain exist for comparisons. */
static const struct gl_kernel kernels[] = {
    {.gpu = {.name = "planes",
             .precision = FBP_PRECISION_EXACT,
             .turns = 1,
             .usable = planes_fit,
             .planes = true,
             .n_shapes = GL_PLANE_SHAPES,
             .candidates = shapes_of_planes,
             PLAIN},
     .program = GL_P_PLANES_LINEAR},
    ORBITS("rot90", HALF, FBP_SYM_ROT90, ROT90, 4, 16),
    LOADS("rot90", FBP_SYM_ROT90, ROT90, 4),
    ORBITS("rot180", HALF, FBP_SYM_ROT180, ROT180, 2, 16),
    ORBITS("rot180", FAST, FBP_SYM_ROT180, ROT180, 2, 32),
    LOADS("rot180", FBP_SYM_ROT180, ROT180, 2),
    KERNEL("column", HALF, columns_fit, FBP_SYM_COLUMN, COLUMN_FAST, TEXTURE(16), WITHOUT,
           .halves_columns = true),
    KERNEL("matrix", HALF, fits_textures, 0, MATRIX_FAST, TEXTURE(16), WITHOUT,
           .halves_columns = true),
    KERNEL("column", EXACT, fits_textures, FBP_SYM_COLUMN, COLUMN_GATHER, TEXTURE(32), WINDOWED),
    KERNEL("matrix", FAST, fits_textures, 0, MATRIX_FAST, TEXTURE(32), WITHOUT,
           .halves_columns = true),
    KERNEL("matrix", EXACT, fits_textures, 0, MATRIX_GATHER, TEXTURE(32), WINDOWED),
    KERNEL("column", EXACT, NULL, FBP_SYM_COLUMN, COLUMN_PLAIN, PLAIN, WITHOUT),
    KERNEL("matrix", EXACT, NULL, 0, MATRIX_PLAIN, PLAIN, WITHOUT), /* takes any job */
    KERNEL("column-plain", EXACT, NULL, FBP_SYM_COLUMN, COLUMN_PLAIN, PLAIN, WITHOUT,
           .by_name = true),
    KERNEL("matrix-plain", EXACT, NULL, 0, MATRIX_PLAIN, PLAIN, WITHOUT, .by_name = true),
};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* The default is exact, because the rounding of texture units differs between vendors. */
static enum fbp_precision precision_of(const struct fbp_job *job)
{
    return job->precision == FBP_PRECISION_DEFAULT ? FBP_PRECISION_EXACT : job->precision;
}

const struct gpu_kernel *const *gl_kernels_by_name;

const struct gpu_kernel *gl_kernel_find(const struct fbp_job *job, const char *name)
{
    struct fbp_job asked = *job;

    asked.precision = precision_of(job);
    for (size_t i = 0; i < N_KERNELS; i++) {
        const struct gpu_kernel *k = &kernels[i].gpu;
        if ((name ? strcmp(name, k->name) == 0 : !k->by_name) && gpu_kernel_suits(k, &asked))
            return k;
    }
    return name && gl_kernels_by_name ? gpu_kernel_find(gl_kernels_by_name, &asked, name) : NULL;
}
