/*
 * The variants of S3 as kernels of the pipeline.  Filtered views and the slab lie in buffers, as
 * for other kernels.  A few views at a time are copied into textures, at the rows that they have on
 * the panel, and one group of slices after another into targets of whole slices and back, all
 * within the device.  Groups begin at multiples of their number of slices, counted from slice 0 of
 * the grid.  A voxel's bits therefore do not depend on batches, slabs and boxes.
 */
#include "bench/gl/s3_kernel.h"

#include "backend/gl/gl.h"
#include "backend/gpu/gpu_kernel.h"
#include "backend/module.h"
#include "bench/gl/s3_draw.h"

#include <stdlib.h>
#include <string.h>

enum { UNITS = 5 }; /* of textures, that are used */

struct gl_s3_kernel {
    struct fbp_s3_way way;
    struct fbp_s3_time time; /* which nobody asks for */
    struct gl_s3_run run;
    struct gl_s3_stack sums;          /* of a group */
    struct gl_s3_stack views, slices; /* four, before they are packed, and after */
    struct gl_s3_adder adder;
    bool opened; /* the adder */
};

static size_t view_floats(const struct fbp_job *job)
{
    return job->padded.panel.n_columns * job->panel.n_rows;
}

/* Views whose textures are filled at once: at most 256 MiB, in whole texels of any variant, so that
 * no bit depends on it. */
static size_t views_at_once(const struct fbp_job *job)
{
    const size_t least = (size_t)GL_S3_FOUR * GL_S3_TEXELS, most = (size_t)256 << 20;
    const size_t fit = most / (view_floats(job) * sizeof(float)) / least * least;

    return fit < least ? least : fit < GPU_PASS ? fit : GPU_PASS;
}

/* A kernel and its variant. */
struct kernel {
    struct gl_kernel gl; /* first member, so that job->selection.own points to both */
    struct fbp_s3_way way;
};

static const struct fbp_s3_way *way_of(const struct fbp_job *job)
{
    return &((const struct kernel *)job->selection.entry)->way;
}

static size_t bytes_of(const struct fbp_job *job)
{
    const struct fbp_s3_way *way = way_of(job);
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    const size_t view = view_floats(job), n = views_at_once(job);
    const size_t slice = job->grid.n[0] * job->grid.n[1];
    const size_t packed = gl_s3_texel(v) == GL_S3_FOUR ? GL_S3_FOUR : 0;
    const size_t views = (way->half ? n / 2 : n) + packed;
    const size_t slices = v->slices + (gl_s3_packs_slices(v) ? GL_S3_FOUR : 0);
    const size_t tests = job->requested.region ? 2 : 0; /* depth and stencil, and what is wanted */

    return (views * view + (slices + tests) * slice) * sizeof(float);
}

/* Where any of slices [z0, z0 + n) is wanted, of a job with a region. */
static void any_of(const struct gl_s3_run *r, size_t z0, size_t n, uint8_t *out)
{
    const size_t *size = r->job->grid.n;

    memset(out, 0, size[0] * size[1]);
    for (size_t z = z0; z < z0 + n; z++)
        for (size_t y = 0; y < size[1]; y++) {
            size_t n_runs;
            const struct fbp_interval *runs =
                fbp_region_row(r->job->requested.region, y, z, &n_runs);
            for (size_t i = 0; i < n_runs; i++)
                memset(out + y * size[0] + runs[i].first, 255, runs[i].end - runs[i].first);
        }
}

static fbp_status open_stacks(struct gl_s3_kernel *k)
{
    struct gl_s3_run *r = &k->run;
    const struct fbp_s3_variant *v = r->variant;
    const size_t *n = r->job->grid.n;
    const size_t texel = gl_s3_texel(v), layers = gl_s3_pieces(views_at_once(r->job), texel);

    FBP_TRY((k->way.half ? gl_s3_stack_make_half : gl_s3_stack_make)(&r->stack, r->limits, texel,
                                                                     r->panel, layers, "views"));
    gl_s3_stack_filter(&r->stack, !k->way.exact);
    FBP_TRY(gl_s3_stack_make(&k->sums, r->limits, gl_s3_volume_channels(v), n,
                             gl_s3_volume_layers(v, v->slices), "slices"));
    if (texel == GL_S3_FOUR)
        FBP_TRY(gl_s3_stack_make(&k->views, r->limits, 1, r->panel, GL_S3_FOUR, "views"));
    if (gl_s3_packs_slices(v))
        FBP_TRY(gl_s3_stack_make(&k->slices, r->limits, 1, n, GL_S3_FOUR, "slices"));
    return FBP_OK;
}

static fbp_status open_all(struct gl_s3_kernel *k)
{
    FBP_TRY(gl_s3_run_open(&k->run, views_at_once(k->run.job)));
    FBP_TRY(gl_s3_run_programs(&k->run));
    if (k->way.half)
        FBP_TRY(gl_s3_pack_program(&k->run, true, &k->run.pack_half));
    FBP_TRY(open_stacks(k));
    k->opened = true;
    return gl_s3_adder_open(&k->adder, &k->run, &k->sums);
}

static fbp_status open_kernel(void **out, const struct fbp_job *job,
                              const struct gl_renderer *renderer)
{
    const struct fbp_s3_way *way = way_of(job);
    struct gl_s3_kernel *k = calloc(1, sizeof *k);

    *out = k;
    if (!k)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *k);
    k->way = *way;
    k->way.pack_on_device = k->way.unpack_on_device = true;
    if (job->requested.region)
        k->way.kill = FBP_S3_STENCIL;
    k->run = (struct gl_s3_run){.job = job,
                                .limits = renderer,
                                .way = &k->way,
                                .variant = gl_s3_variant(way->variant),
                                .any = any_of,
                                .time = &k->time,
                                .panel = {job->padded.panel.n_columns, job->panel.n_rows}};
    return open_all(k);
}

static void close_kernel(void **state)
{
    struct gl_s3_kernel *k = *state;

    if (!k)
        return;
    if (k->opened)
        gl_s3_adder_close(&k->adder);
    gl_s3_run_close(&k->run);
    gl_s3_stack_clear(&k->sums);
    gl_s3_stack_clear(&k->views);
    gl_s3_stack_clear(&k->slices);
    free(k);
    *state = NULL;
}

/* Byte `at` of a part, as copies between textures and the bound buffer take it. */
static void *place_in(const struct gl_part *part, size_t at)
{
    return (void *)(uintptr_t)(part->at + at);
}

/* A rectangle of floats from a place on, `stride` from row to row, into a layer. */
static void copy_in(const struct gl_s3_stack *to, size_t layer, const size_t first[2],
                    const size_t size[2], size_t stride, const void *place)
{
    const int l = gl_s3_stack_bind(to, layer, 0);

    glPixelStorei(GL_UNPACK_ROW_LENGTH, (GLint)stride);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, (GLint)first[0], (GLint)first[1], l, (GLsizei)size[0],
                    (GLsizei)size[1], 1, GL_RED, GL_FLOAT, place);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
}

/* Views [first, first + n) of the batch as the variant's texels. */
static void load_views(struct gl_s3_kernel *k, const struct gl_bp *bp, size_t first, size_t n)
{
    const struct gpu_plain in = gpu_plain_of(k->run.job, bp->batch->n_rows);
    const size_t border = GPU_BORDER * (size_t)in.stride + GPU_BORDER;
    const size_t rows[2] = {0, bp->batch->row0};
    const size_t size[2] = {k->run.panel[0], bp->batch->n_rows};
    const bool packs = gl_s3_texel(k->run.variant) == GL_S3_FOUR;

    for (size_t i = 0; i < n; i++) {
        const size_t at = ((first + i) * in.group + border) * sizeof(float);
        const size_t place = i % GL_S3_FOUR;
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, bp->views.buffer->name);
        copy_in(packs ? &k->views : &k->run.stack, packs ? place : i, rows, size, in.stride,
                place_in(&bp->views, at));
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        if (packs && (place + 1 == GL_S3_FOUR || i + 1 == n))
            gl_s3_pack(&k->run, &k->views, place + 1, &k->run.stack, i / GL_S3_FOUR);
    }
}

/* The slices of a group that are there, and where they begin in the volume. */
struct group {
    size_t z0, first, end;
};

static void *place_of(const struct gl_bp *bp, size_t z)
{
    const size_t slice = bp->slab->nx * bp->slab->ny;

    return place_in(&bp->volume, (z - (size_t)bp->grid.z0) * slice * sizeof(float));
}

/* Slices that are the channels of target t are loaded and stored together; otherwise one is. */
static struct group part_of(const struct group *g, size_t t, size_t each)
{
    const size_t z0 = g->z0 + t * each, end = z0 + each;

    return (struct group){z0, g->first > z0 ? g->first : z0, g->end < end ? g->end : end};
}

static void load_sums(struct gl_s3_kernel *k, const struct gl_bp *bp, const struct group *g)
{
    const size_t first[2] = {bp->slab->x0, bp->slab->y0}, size[2] = {bp->slab->nx, bp->slab->ny};
    const bool packs = gl_s3_packs_slices(k->run.variant);

    for (size_t t = 0; t < k->adder.targets; t++) {
        const struct group p = part_of(g, t, packs ? GL_S3_FOUR : 1);
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, bp->volume.buffer->name);
        for (size_t z = p.first; z < p.end; z++)
            copy_in(packs ? &k->slices : &k->sums, packs ? z - p.z0 : t, first, size, size[0],
                    place_of(bp, z));
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        if (packs && p.first < p.end)
            gl_s3_pack(&k->run, &k->slices, GL_S3_FOUR, &k->sums, t);
    }
}

static void store_sums(struct gl_s3_kernel *k, const struct gl_bp *bp, const struct group *g)
{
    const bool packs = gl_s3_packs_slices(k->run.variant);

    for (size_t t = 0; t < k->adder.targets; t++) {
        const struct group p = part_of(g, t, packs ? GL_S3_FOUR : 1);
        if (packs && p.first < p.end)
            gl_s3_volume_apart(&k->run, &k->sums, t, &k->slices);
        glBindBuffer(GL_PIXEL_PACK_BUFFER, bp->volume.buffer->name);
        for (size_t z = p.first; z < p.end; z++) {
            gl_s3_stack_target(packs ? &k->slices : &k->sums, packs ? z - p.z0 : t, 1,
                               k->run.plain);
            glReadBuffer(GL_COLOR_ATTACHMENT0);
            glReadPixels((GLint)bp->slab->x0, (GLint)bp->slab->y0, (GLsizei)bp->slab->nx,
                         (GLsizei)bp->slab->ny, GL_RED, GL_FLOAT, place_of(bp, z));
        }
        glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    }
}

/* What the textures hold, to all slices. */
static fbp_status add_views(struct gl_s3_kernel *k, const struct gl_bp *bp)
{
    const size_t each = k->run.variant->slices, nz = k->run.job->grid.n[2];
    const size_t begin = (size_t)bp->grid.z0, end = begin + (size_t)bp->grid.nz;

    for (size_t z = begin / each * each; z < end; z += each) {
        const size_t last = z + each < nz ? z + each : nz;
        const struct group g = {z, z < begin ? begin : z, last < end ? last : end};
        load_sums(k, bp, &g);
        gl_s3_add(&k->adder, 0, z, last - z, false);
        store_sums(k, bp, &g);
    }
    return gl_check("the backprojection");
}

/* Reset what other programs of this context leave behind, and wait for what they write. */
static void begin_batch(struct gl_s3_kernel *k, const struct gl_bp *bp)
{
    const struct fbp_slab *slab = bp->slab;

    for (GLuint i = 0; i < UNITS; i++)
        glBindSampler(i, 0);
    glBindVertexArray(k->run.vertices);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glMemoryBarrier(GL_PIXEL_BUFFER_BARRIER_BIT);
    k->adder.box[0][0] = slab->x0;
    k->adder.box[0][1] = slab->x0 + slab->nx;
    k->adder.box[1][0] = slab->y0;
    k->adder.box[1][1] = slab->y0 + slab->ny;
}

static fbp_status add_batch(void *state, const struct gpu_principal *principal,
                            const struct gl_bp *bp)
{
    struct gl_s3_kernel *k = state;
    struct gl_s3_run *r = &k->run;
    const size_t most = views_at_once(r->job);
    fbp_status st = FBP_OK;

    begin_batch(k, bp);
    for (size_t i = 0; st == FBP_OK && i < bp->batch->n_views; i += most) {
        const size_t left = bp->batch->n_views - i, n = left < most ? left : most;
        struct gpu_pass pass;
        gpu_make_pass(r->job, principal, bp->batch->view0 + i, n, 0, &pass);
        memcpy(r->numbers, pass.view, n * sizeof *r->numbers);
        r->n_views = n;
        r->n_layers = gl_s3_pieces(n, gl_s3_texel(r->variant));
        load_views(k, bp, i, n);
        st = add_views(k, bp);
    }
    return st;
}

/* Do textures of every renderer hold the views, and slices? */
static bool drawings_fit(const struct fbp_job *job)
{
    for (int i = 0; i < gl_renderers_listed(); i++) {
        const struct gl_renderer *r = gl_renderer_at(i);
        const size_t side = (size_t)r->texture_size;
        if (!r->reason[0] &&
            (side < job->grid.n[0] || side < job->grid.n[1] ||
             side < 2 * job->padded.panel.n_columns + 1 || side < 2 * job->padded.panel.n_rows))
            return false;
    }
    return true;
}

static const struct gl_custom drawing = {bytes_of, open_kernel, close_kernel, add_batch};

/* The variants of S3: texture units interpolate between samples in fp32 or fp16, or a shader does.
 */
#define DRAWN_AS(NAME, SYMMETRY, PRECISION, BITS, ...)         \
    {                                                          \
        .gl = {.gpu = {.name = (NAME),                         \
                       .precision = FBP_PRECISION_##PRECISION, \
                       .symmetric_views = 1,                   \
                       .by_name = true,                        \
                       .usable = drawings_fit,                 \
                       .symmetry = (SYMMETRY),                 \
                       .bits = (BITS),                         \
                       .views_bytes = gpu_plain_bytes},        \
               .custom = &drawing},                            \
        .way = {                                               \
            __VA_ARGS__                                        \
        }                                                      \
    }
#define DRAWN(NAME, SYMMETRY, VARIANT)                       \
    DRAWN_AS(NAME, SYMMETRY, FAST, 0, .variant = (VARIANT)), \
        DRAWN_AS(NAME, SYMMETRY, EXACT, 0, .variant = (VARIANT), .exact = true)
#define DRAWN_HALF(NAME, SYMMETRY, VARIANT) \
    DRAWN_AS(NAME, SYMMETRY, HALF, 16, .variant = (VARIANT), .half = true)

static const struct kernel kernels[] = {
    DRAWN("s3-a", FBP_SYM_COLUMN, 0),
    DRAWN("s3-b", FBP_SYM_COLUMN, 1),
    DRAWN_HALF("s3-c", FBP_SYM_COLUMN, 2),
    DRAWN("s3-c", FBP_SYM_COLUMN, 2),
    DRAWN_HALF("s3-d", FBP_SYM_COLUMN, 3),
    DRAWN("s3-d", FBP_SYM_COLUMN, 3),
    DRAWN_HALF("s3-e", FBP_SYM_COLUMN, 4),
    DRAWN("s3-e", FBP_SYM_COLUMN, 4),
    DRAWN_HALF("s3-f", FBP_SYM_COLUMN, 6),
    DRAWN("s3-f", FBP_SYM_COLUMN, 6),
    DRAWN_HALF("s3-g", FBP_SYM_COLUMN, 7),
    DRAWN("s3-g", FBP_SYM_COLUMN, 7),
    DRAWN_HALF("s3-m", 0, 8),
    DRAWN("s3-m", 0, 8),
};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

void gl_s3_add_kernels(void)
{
    static const struct gpu_kernel *all[N_KERNELS + 1];

    for (size_t i = 0; i < N_KERNELS; i++)
        all[i] = &kernels[i].gl.gpu;
    gl_kernels_by_name = all;
}
