/* The backprojection kernels of the OpenGL backend, the choice of a kernel (gl_kernel_find()) and
 * of its shapes (compiled variants) for a job, and checks of a job against the limits of
 * renderers: sizes of buffers, textures and storage blocks.
 * Used by: backproject.c, entry.c, memory.c. */
#include "backend/gl/gl.h"

#include <stdio.h>
#include <string.h>

/* Limits. */

/* Bytes of shared memory for a row of the filter on every usable renderer. Software renderers,
 * which have little, count only if there is no hardware. */
static size_t row_bytes(void)
{
    int least = 0;

    for (int i = 0; i < gl_renderers_listed(); i++) {
        const struct gl_renderer *r = gl_renderer_at(i);
        if (!r->reason[0] && r->software == gl_renderer_at(0)->software &&
            (least == 0 || r->shared_bytes < least))
            least = r->shared_bytes;
    }
    return least > GL_ROW_RESERVE ? (size_t)least - GL_ROW_RESERVE : 0;
}

static bool has_fft(void)
{
    return true;
}

const struct gpu_filter_capabilities gl_filter_capabilities = {row_bytes, has_fft};

/* Write to `why` that `where` holds fewer bytes (`has`) than `what` has (`needs`); return false. */
static bool refuse(char *why, size_t n, const struct gl_renderer *r, const char *what,
                   const char *where, uint64_t needs, uint64_t has)
{
    snprintf(why, n,
             "%s of %.60s holds at most %llu bytes, too few for %s (%llu bytes); use --device cpu "
             "or another GPU",
             where, r->name, (unsigned long long)has, what, (unsigned long long)needs);
    return false;
}

/* Greatest number of bytes of a buffer that can be bound as one storage block, at any offset. */
static uint64_t room_of(const struct gl_renderer *r)
{
    return r->block_bytes > r->alignment ? r->block_bytes - r->alignment : 0;
}

static bool block_holds(const struct gl_renderer *r, const char *what, uint64_t bytes, char *why,
                        size_t n)
{
    return bytes <= room_of(r) || refuse(why, n, r, what, "a storage block", bytes, room_of(r));
}

bool gl_holds(int index, const struct fbp_job *job, const struct fbp_buffer *b, char *why, size_t n)
{
    const struct gl_renderer *r = gl_renderer_at(index);

    if (!b) { /* check the sizes of the job's tables, each of which is bound as a whole */
        const struct fbp_prep *p = job->filtering.prep;
        const bool weighs = !job->input.filtered,
                   products = weighs && gpu_host->weights_separable(job->filtering.weights);
        const uint64_t image = job->panel.n_rows * job->panel.n_columns * sizeof(float);
        const uint64_t lines = job->n_views * job->panel.n_columns * sizeof(float);
        const struct fbp_pad *pad = job->filtering.pad;
        struct gpu_tables t;
        gpu_tables_lay_out(job, &gl_filter_capabilities, &t);
        const struct {
            const char *what;
            uint64_t bytes;
        } all[] = {
            {"an image of the detector", p->dark || p->gain || products ? image : 0},
            {"a table of weights", products || job->facts.per_ray ? lines : 0},
            {"a table of weights", weighs ? job->n_views * sizeof(struct fbp_ray_view) : 0},
            {"a table of bad pixels", p->n_bridges * sizeof(struct gpu_bridge)},
            {"rows of the filter",
             (size_t)job->selection.symmetric_views * t.row_length * 2 * sizeof(float)},
            {"a table of padding",
             pad ? (size_t)2 * pad->rule.n_lengths * pad->n_columns * sizeof(float) : 0},
            {"a table of rows",
             fbp_row_bitmap_words(job->n_views, job->panel.n_rows) * sizeof(unsigned)},
            {"a table of voxel classes",
             GPU_STATISTICS_BLOCKS * sizeof(struct gpu_block_statistics)},
            {"a table of the region",
             job->requested.region
                 ? gpu_cells(job->grid.n[0]) * gpu_cells(job->grid.n[1]) * sizeof(struct gpu_wanted)
                 : 0},
        };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (!block_holds(r, all[i].what, all[i].bytes, why, n))
                return false;
        return t.bytes <= r->buffer_bytes ||
               refuse(why, n, r, "the buffers of the filter", "a buffer", t.bytes, r->buffer_bytes);
    }
    const size_t rows = b->n_rows ? b->n_rows : 1;
    if (b->purpose == FBP_FOR_FILTERED && gpu_kernel_of(job)->channels) {
        const struct gl_texture t = gl_texture_of(job, gl_groups_of(job, b->n_views), rows);
        const uint64_t bytes = gl_filtered_bytes(job, b->n_views, rows);
        if (t.width > (size_t)r->texture_size || t.height > (size_t)r->texture_size ||
            t.layers > (size_t)r->layers) {
            snprintf(why, n,
                     "the views need a texture of %zu x %zu x %zu, but %.60s supports at most %d x "
                     "%d x %d; use --device cpu or another GPU",
                     t.width, t.height, t.layers, r->name, r->texture_size, r->texture_size,
                     r->layers);
            return false;
        }
        return bytes <= r->texture_bytes || refuse(why, n, r, fbp_purpose_name(b->purpose),
                                                   "a texture", bytes, r->texture_bytes);
    }
    if (b->bytes > r->buffer_bytes)
        return refuse(why, n, r, fbp_purpose_name(b->purpose), "a buffer", b->bytes,
                      r->buffer_bytes);
    if (b->purpose == FBP_FOR_VOLUME)
        return true;
    /* A storage block must hold at least two views in plain memory: both rows of a pair. */
    const bool raw = b->purpose == FBP_FOR_RAW;
    return block_holds(r, raw ? "two views" : "two filtered views",
                       2 * (raw ? rows * job->padded.panel.n_columns * sizeof(float)
                                : gpu_kernel_of(job)->views_bytes(job, 1, rows)),
                       why, n);
}

static uint64_t lower(uint64_t own, uint64_t wanted)
{
    return wanted > 0 && wanted < own ? wanted : own;
}

/* Lower the limits of renderers for tests.  The first call stores the original limits, so a later
 * call can replace lowered limits by higher ones. */
void gl_inject_limits(void)
{
    static struct gl_renderer own[GL_MOST_RENDERERS];
    static bool known;

    for (int i = 0; i < gl_renderers_listed(); i++) {
        struct gl_renderer *r = (struct gl_renderer *)(uintptr_t)gl_renderer_at(i);
        if (!known)
            own[i] = *r;
        r->block_bytes = lower(own[i].block_bytes, gl_fault_injection.block_bytes);
        r->buffer_bytes = lower(own[i].buffer_bytes, gl_fault_injection.buffer_bytes);
        r->texture_bytes = lower(own[i].texture_bytes, gl_fault_injection.texture_bytes);
        r->layers = (int)lower((uint64_t)own[i].layers, (uint64_t)gl_fault_injection.layers);
        r->software = own[i].software && !gl_fault_injection.hardware;
    }
    known = true;
}

/* Kernels. */

/* Returns whether textures of every usable renderer can hold a view with two texels per column, and
 * with its number of rows rounded up to a power of two. */
static bool fits_textures(const struct fbp_job *job)
{
    for (int i = 0; i < gl_renderers_listed(); i++) {
        const struct gl_renderer *r = gl_renderer_at(i);
        if (!r->reason[0] && ((size_t)r->texture_size < 2 * job->padded.panel.n_columns + 1 ||
                              (size_t)r->texture_size < 2 * job->padded.panel.n_rows))
            return false;
    }
    return true;
}

/* Returns whether all renderers can bind a slice of symmetric voxels as a storage block. */
static bool binds_slices(const struct fbp_job *job)
{
    const size_t *n = job->grid.n;
    const uint64_t slice = (n[0] + 2) * (n[1] + 2) * sizeof(float);

    for (int i = 0; i < gl_renderers_listed(); i++)
        if (!gl_renderer_at(i)->reason[0] && slice > room_of(gl_renderer_at(i)))
            return false;
    return true;
}

static bool symmetric_fit(const struct fbp_job *job)
{
    return fits_textures(job) && binds_slices(job);
}

static bool columns_fit(const struct fbp_job *job)
{
    return gpu_column_texture_pays(job) && fits_textures(job);
}

/* Bytes of a work group's shared memory that contain the positions and sizes of the windows of
 * views, and are therefore not available for the samples of the windows. */
enum { WINDOWS_RESERVE = 1024 };

static bool shape_fits(enum gl_program_id program, int shape, size_t shared_bytes)
{
    const struct gl_shape *s = &gl_program_list[program].shapes[shape];
    const size_t bytes = 2 * (size_t)s->width * (size_t)s->height * sizeof(float);

    return bytes == 0 || bytes + WINDOWS_RESERVE <= shared_bytes;
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

/* Candidate shapes of kernels that add single views, fastest first on an H200. */
static int shapes(const struct fbp_job *job, size_t n_slices, int *out)
{
    static const int thin[] = {2, 0}, few[] = {4, 1, 2, 0}, many[] = {4, 1, 2, 3};

    (void)job;
    return n_slices <= 4 ? take(thin, 2, out) : take(n_slices <= 8 ? few : many, 4, out);
}

/* Returns whether windows (copies, in shared memory, of the samples of a view that a work group
 * needs) make a kernel faster: there is a hardware renderer, and every hardware renderer has enough
 * shared memory for the shape.  In software, shared memory is not faster than other memory. */
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

/* Candidate shapes (compiled variants) of windowed kernels.  Some of them read views through
 * windows in shared memory if the launch has more than 8 slices, windows are small enough (few
 * pixels per voxel), and windows_pay(); the others read textures directly. */
static int shapes_windowed(const struct fbp_job *job, size_t n_slices, int *out)
{
    static const int gathers[] = {1, 2, 4, 3};
    static const int deep[] = {5, 7, 6, 1}, flat[] = {6, 7, 5, 1}, large[] = {1, 8, 2, 4};
    const bool columns = gpu_kernel_of(job)->symmetry & FBP_SYM_COLUMN;
    const double pixels = gpu_pixels_per_voxel(job);

    if (n_slices <= 8)
        return shapes(job, n_slices, out);
    if (pixels < 1.3 && windows_pay(5))
        return take(columns || job->requested.region ? flat : deep, 4, out);
    return take(pixels < 2.8 && windows_pay(8) ? large : gathers, 4, out);
}

/* Candidate shapes of kernels of symmetric voxels that read textures. With 64 bits per texel, two
 * layers of threads are faster if voxels project more than 1.6 texels apart. */
static int shapes_of_symmetric(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    static const int thin[] = {1, 0, 3}, apart[] = {4, 3, 1, 2, 0}, near[] = {1, 4, 2, 3, 0};
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const bool wide = k->channels * k->bits == 64;

    if (n_slices <= 4)
        return take(thin, 3, out);
    return take(wide && gpu_texels_per_column(k, job) * gpu_columns_per_voxel(job) > 1.6 ? apart
                                                                                         : near,
                5, out);
}

/* Candidate shapes (compiled variants) of kernels of symmetric voxels that read plain memory. */
static int shapes_of_loads(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    static const int thin[] = {2, 0}, four[] = {2, 0, 4, 1}, two[] = {4, 2, 3, 0};
    const struct gpu_kernel *k = gpu_kernel_of(job);

    if (n_slices <= 4)
        return take(thin, 2, out);
    return take(k->symmetric_views == 4 ? four : two, 4, out);
}

/* Returns whether the kernel for plane integrals can compute the job: all views are plane
 * integrals, and the samples that a cube of voxels needs of a view fit in shared memory. */
static bool planes_fit(const struct fbp_job *job)
{
    static const int box[3] = {GPU_PLANES_EDGE, GPU_PLANES_EDGE, GPU_PLANES_EDGE};

    return gpu_planes_usable(job) && gpu_planes_window(job, box, GL_PLANES_TAPS) <= GL_PLANES_ROOM;
}

/* Candidate shape of the kernel for plane integrals: 0, with small work groups, for up to 2^20
 * voxels, for which few large groups would not fill the device; else 1. */
static int shapes_of_planes(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    const size_t *n = job->grid.n;

    (void)n_slices;
    out[0] = n[0] * n[1] * n[2] > (size_t)1 << 20;
    return 1;
}

enum gl_program_id gl_program_of(const struct gl_kernel *k, const struct fbp_job *job)
{
    return (enum gl_program_id)((int)k->program +
                                (k->gpu.planes ? (int)job->epr.interpolation : 0));
}

/* Storage of filtered views: PLAIN: in plain memory; TEXTURE: in textures, from which the kernel
 * loads single samples; SAMPLED: in textures, interpolated by the texture units. */
#define PLAIN                   .views_bytes = gpu_plain_bytes
#define TEXTURE(CHANNELS, BITS) .channels = (CHANNELS), .bits = (BITS)
#define SAMPLED(CHANNELS, BITS) TEXTURE(CHANNELS, BITS), .halves_columns = true
/* SINGLE: the kernel adds one view at a time; WINDOWED: one view at a time, through windows in
 * shared memory; SYMMETRIC: T symmetric views at a time, to T symmetric voxel columns. */
#define WINDOWED .symmetric_views = 1, .n_shapes = GL_WINDOW_SHAPES, .candidates = shapes_windowed
#define SINGLE   .symmetric_views = 1, .n_shapes = GL_VIEW_SHAPES, .candidates = shapes
#define SYMMETRIC(T, CANDIDATES)                                      \
    .symmetric_views = (T), .volume_size = gpu_symmetric_volume_size, \
    .n_shapes = GL_SYMMETRIC_SHAPES, .candidates = (CANDIDATES)
#define KERNEL(NAME, PRECISION, USABLE, SYMMETRY, PROGRAM, ...) \
    {                                                           \
        .gpu = {.name = (NAME),                                 \
                .precision = FBP_PRECISION_##PRECISION,         \
                .usable = (USABLE),                             \
                .symmetry = (SYMMETRY),                         \
                __VA_ARGS__},                                   \
        .program = GL_P_##PROGRAM                               \
    }

/* All kernels, fastest first; "column-plain" and "matrix-plain" are only selected by name. */
static const struct gl_kernel kernels[] = {
    KERNEL("planes", EXACT, planes_fit, 0, PLANES_LINEAR, .symmetric_views = 1, .planes = true,
           .n_shapes = GL_PLANE_SHAPES, .candidates = shapes_of_planes, PLAIN),
    KERNEL("rot90", HALF, symmetric_fit, FBP_SYM_ROT90, ROT90_FAST,
           SYMMETRIC(4, shapes_of_symmetric), SAMPLED(4, 16)),
    KERNEL("rot90", EXACT, binds_slices, FBP_SYM_ROT90, ROT90_EXACT, SYMMETRIC(4, shapes_of_loads),
           PLAIN),
    KERNEL("rot180", HALF, symmetric_fit, FBP_SYM_ROT180, ROT180_FAST,
           SYMMETRIC(2, shapes_of_symmetric), SAMPLED(2, 16)),
    KERNEL("rot180", FAST, symmetric_fit, FBP_SYM_ROT180, ROT180_FAST,
           SYMMETRIC(2, shapes_of_symmetric), SAMPLED(2, 32)),
    KERNEL("rot180", EXACT, binds_slices, FBP_SYM_ROT180, ROT180_EXACT,
           SYMMETRIC(2, shapes_of_loads), PLAIN),
    KERNEL("column", HALF, columns_fit, FBP_SYM_COLUMN, COLUMN_FAST, SINGLE, SAMPLED(1, 16)),
    KERNEL("matrix", HALF, fits_textures, 0, MATRIX_FAST, SINGLE, SAMPLED(1, 16)),
    KERNEL("column", EXACT, fits_textures, FBP_SYM_COLUMN, COLUMN_GATHER, WINDOWED, TEXTURE(1, 32)),
    KERNEL("matrix", FAST, fits_textures, 0, MATRIX_FAST, SINGLE, SAMPLED(1, 32)),
    KERNEL("matrix", EXACT, fits_textures, 0, MATRIX_GATHER, WINDOWED, TEXTURE(1, 32)),
    KERNEL("column", EXACT, NULL, FBP_SYM_COLUMN, COLUMN_PLAIN, SINGLE, PLAIN),
    KERNEL("matrix", EXACT, NULL, 0, MATRIX_PLAIN, SINGLE, PLAIN), /* usable for any job */
    KERNEL("column-plain", EXACT, NULL, FBP_SYM_COLUMN, COLUMN_PLAIN, SINGLE, PLAIN,
           .by_name = true),
    KERNEL("matrix-plain", EXACT, NULL, 0, MATRIX_PLAIN, SINGLE, PLAIN, .by_name = true),
};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

const struct gpu_kernel *gl_kernel_find(const struct fbp_job *job, const char *name)
{
    struct fbp_job asked = *job;

    /* The default is exact: the rounding of texture units differs between vendors. */
    if (job->precision == FBP_PRECISION_DEFAULT)
        asked.precision = FBP_PRECISION_EXACT;
    for (size_t i = 0; i < N_KERNELS; i++) {
        const struct gpu_kernel *k = &kernels[i].gpu;
        if ((name ? strcmp(name, k->name) == 0 : !k->by_name) && gpu_kernel_suits(k, &asked))
            return k;
    }
    return NULL;
}
