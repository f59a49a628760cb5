/* CUDA kernel "hierarchical" without a device: its threads run on the host (cuda_host.h).  Values
 * are compared with direct sums of smooth views in double; every division into slabs, boxes and
 * batches, and a region, must give the same bits. */
#include "recon/fixture.h"

#include "cuda/hierarchical_host.h"

#include "backend/gpu/tables.h"
#include "backend/module.h"
#include "backend/slab.h"
#include "backend/views.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

enum { COLUMNS = 64, ROWS = 48 };

struct geometry {
    const char *name;
    const struct cuda_kernel *kernel;
    size_t n_views, n[3];
    double arc_deg, shift_mm, z_mm;
    const char *region;
    size_t rows;   /* 0: ROWS */
    double nearer; /* part of its distance by which the source approaches during the scan */
};

/* Voxels [x0, x1) x [y0, y1) x [z0, z1), in slabs of `slices` slices and batches of `views` views
 * of each symmetric part. */
struct division {
    size_t box[3][2], slices, views;
};

/* Filtered views, which change slowly from sample to sample. */
static double view_at(size_t k, double u, double v)
{
    return sin(0.1 * u + 0.06 * v + (double)(k % 5)) + 0.5 * cos(0.08 * v - 0.03 * u) + 0.3;
}

static fbp_status put(void *user, size_t at, const void *data, size_t bytes)
{
    memcpy((char *)user + at, data, bytes);
    return FBP_OK;
}

static size_t row_bytes(void)
{
    return 200000;
}

static bool no_fft(void)
{
    return false;
}

static unsigned long long views_of(const struct fbp_job *job, const struct fbp_batch *b)
{
    const size_t t = job->selection.symmetric_views, nc = job->padded.panel.n_columns;
    const unsigned long long out = host_texture_make(nc, b->n_rows, b->n_views / t, t);

    for (size_t k = 0; k < b->n_views; k++)
        for (size_t r = 0; r < b->n_rows; r++)
            for (size_t c = 0; c < nc; c++)
                host_texture_put(
                    out, c, r, k % (b->n_views / t), k / (b->n_views / t),
                    (float)view_at(fbp_batch_view(job, b, k), (double)c, (double)(b->row0 + r)));
    return out;
}

/* Copy a slab from the kernel's layout to the whole volume. */
static void fetch(const struct fbp_job *job, const struct fbp_slab *s, const float *volume,
                  float *out)
{
    const size_t t = job->selection.symmetric_views, *n = job->grid.n;
    struct gpu_domain d = {.nx = (int)s->nx, .ny = (int)s->ny};

    if (t == 4)
        gpu_find_domain(job, s, &d);
    for (size_t i = 0; i < s->nz * (size_t)d.nx * (size_t)d.ny; i++) {
        const size_t z = s->z0 + i / ((size_t)d.nx * (size_t)d.ny);
        const double x_ref = (double)((n[0] - 1) / 2), y_ref = (double)((n[1] - 1) / 2);
        double x = (double)s->x0 + d.x0 + (double)(i % (size_t)d.nx) - x_ref,
               y = (double)s->y0 + d.y0 + (double)(i / (size_t)d.nx % (size_t)d.ny) - y_ref;
        for (size_t lane = 0; lane < t; lane++) {
            const double before = x;
            out[(z * n[1] + (size_t)(y + y_ref)) * n[0] + (size_t)(x + x_ref)] =
                volume[i * t + lane];
            x = d.s * y + d.ex;
            y = -d.s * before + d.ey;
        }
    }
}

static float *backproject(const struct fbp_job *job, const struct division *div)
{
    const struct cuda_kernel *kernel = (const struct cuda_kernel *)job->selection.entry;
    const struct gpu_filter_capabilities offer = {row_bytes, no_fft};
    const size_t t = job->selection.symmetric_views, part = fbp_part_views(job);
    float *out = not_null(calloc(grid_size(&job->grid), sizeof *out));
    struct fbp_view_groups *groups = NULL;
    struct gpu_principal *principal = NULL;
    struct gpu_tables tables;

    gpu_tables_lay_out(job, &offer, &tables);
    AUTO_FREE char *memory = not_null(calloc(tables.bytes, 1));
    OK(gpu_tables_write(job, &tables, put, memory));
    OK(gpu_view_groups(job, &groups));
    OK(gpu_find_principal(job, "host", &principal));
    for (size_t i = 0; i < groups->n; i++)
        gpu_view_group_of(job, groups, i, principal,
                          (struct gpu_view_group *)(void *)(memory + tables.view_groups) + i);
    const size_t columns = gpu_image_columns(&groups->division), n_images = gpu_images_of(job);
    const unsigned long long at = host_texture_make(columns, GPU_IMAGE_ROWS, n_images, t);
    struct cuda_views images = {
        .n_groups = n_images, .n_rows = GPU_IMAGE_ROWS, .surface = at, .texture = at};
    const struct cuda_decimation decimation = {.groups = groups,
                                               .views = (const void *)(memory + tables.view_groups),
                                               .list = (void *)(memory + tables.images),
                                               .images = &images,
                                               .columns = (int)columns,
                                               .slices =
                                                   (int)gpu_image_slices(job, &groups->division)};

    for (size_t z = div->box[2][0]; z < div->box[2][1]; z += div->slices) {
        const size_t end = z + div->slices < div->box[2][1] ? z + div->slices : div->box[2][1];
        const struct fbp_slab slab = {.x0 = div->box[0][0],
                                      .nx = div->box[0][1] - div->box[0][0],
                                      .y0 = div->box[1][0],
                                      .ny = div->box[1][1] - div->box[1][0],
                                      .z0 = z,
                                      .nz = end - z};
        AUTO_FREE float *volume =
            not_null(calloc(gpu_volume_size(&kernel->gpu, job, &slab), sizeof *volume));
        for (size_t k = 0; k < part; k += div->views) {
            const size_t n = part - k < div->views ? part - k : div->views;
            const struct fbp_batch batch = fbp_work_batch_of(job, &slab, k, n * t);
            if (batch.n_rows == 0)
                continue;
            const struct cuda_views views = {.n_groups = n,
                                             .n_rows = batch.n_rows,
                                             .texture = views_of(job, &batch),
                                             .texels = 1,
                                             .scale = 1};
            struct cuda_bp bp = {.job = job,
                                 .batch = &batch,
                                 .views = &views,
                                 .grid = gpu_grid_of(job, &slab, z, end),
                                 .volume = volume,
                                 .slab = &slab,
                                 .decimation = &decimation};
            if (job->requested.region)
                bp.grid.wanted = (const void *)(memory + tables.wanted);
            assert_int_equal(kernel->backproject(&bp), cudaSuccess);
            host_texture_free(views.texture);
        }
        fetch(job, &slab, volume, out);
    }
    host_texture_free(at);
    gpu_host->view_groups_free(&groups);
    free(principal);
    return out;
}

/* Rms difference from direct sums, relative to their rms, at some voxels that all views show. */
static double error_of(const struct fbp_job *job, const float *got)
{
    const size_t *n = job->grid.n;
    double error = 0, sum = 0;

    for (size_t i = 0; i < grid_size(&job->grid); i += 17) {
        const size_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        double x[3], direct = 0;
        bool seen = true;
        for (int j = 0; j < 3; j++)
            x[j] = fbp_grid_coordinate(&job->grid, j, (double)at[j]);
        for (size_t k = 0; k < job->n_views && seen; k++) {
            const double *m = job->matrices[k];
            const double w = fbp_dot(m + 8, x) + m[11];
            const double u = (fbp_dot(m, x) + m[3]) / w, v = (fbp_dot(m + 4, x) + m[7]) / w;
            seen = u > 2 && u < COLUMNS - 3 && v > 2 && v < (double)job->panel.n_rows - 3;
            direct += view_at(k, u, v) / (w * w);
        }
        if (!seen)
            continue;
        error += (got[i] - direct) * (got[i] - direct);
        sum += direct * direct;
    }
    assert_true(sum > 0);
    return sqrt(error / sum);
}

static void with_job(const struct geometry *g, void (*f)(const struct geometry *, struct fbp_job *))
{
    struct fbp_job_tables tables;
    AUTO_FREE double *angles = even_angles(g->n_views, 3, g->arc_deg / (double)g->n_views);
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = FBP_CONE,
                            .n_views = g->n_views,
                            .panel = {COLUMNS, g->rows ? g->rows : ROWS},
                            .volume = {{g->n[0], g->n[1], g->n[2]}, {1, 1, 1}, {0, 0, g->z_mm}}};
    AUTO_FREE double *sod = not_null(malloc(g->n_views * sizeof *sod));
    for (size_t k = 0; k < g->n_views; k++)
        sod[k] = 300 * (1 - g->nearer * (double)k / (double)g->n_views);
    struct fbp_circle circle = circle_of(g->n_views, angles, 300, 480, .pitch_mm = {3.2, 3.2},
                                         .offset_mm = {g->shift_mm, 0});
    circle.sod_mm = sod;
    circle.n_sod = g->n_views;

    gpu_host = fbp_module_library();
    scan.views = not_null(calloc(g->n_views, sizeof *scan.views));
    OK(fbp_circle_views(&circle, scan.views));
    OK(fbp_job_create(&tables, &scan, fbp_recon_params(.n_threads = 1, .region.shape = g->region),
                      false));
    tables.job.precision = FBP_PRECISION_HALF;
    assert_true(gpu_kernel_suits(&g->kernel->gpu, &tables.job));
    gpu_kernel_select(&g->kernel->gpu, "host", &tables.job);
    f(g, &tables.job);
    fbp_job_clear(&tables);
    fbp_scan_clear(&scan);
}

/* Voxels in [first, end) of each column: a box of a division, or a region. */
static void check_same(const struct fbp_job *job, const struct division *d, const float *got,
                       const float *all, const char *what)
{
    const size_t *n = job->grid.n;

    for (size_t i = 0; i < grid_size(&job->grid); i++) {
        const size_t x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];
        const struct fbp_region *region = job->requested.region;
        if (x < d->box[0][0] || x >= d->box[0][1] || y < d->box[1][0] || y >= d->box[1][1] ||
            z < d->box[2][0] || z >= d->box[2][1] ||
            (region &&
             (z < region->columns[y * n[0] + x].first || z >= region->columns[y * n[0] + x].end)))
            continue;
        if (memcmp(&got[i], &all[i], sizeof *got) != 0)
            fail_msg("%s: voxel %zu, %zu, %zu: %g instead of %g", what, x, y, z, (double)got[i],
                     (double)all[i]);
    }
}

/* Values are those of direct sums; voxels of a division or a region have the bits of the whole
 * volume. */
static void check(const struct geometry *g, struct fbp_job *job)
{
    const struct fbp_region *region = job->requested.region;
    const size_t *n = g->n;
    const struct division whole = {{{0, n[0]}, {0, n[1]}, {0, n[2]}}, n[2], g->n_views};
    const struct division slabs = {{{0, n[0]}, {0, n[1]}, {0, n[2]}}, 5, 64};
    const struct division box = {{{5, n[0]}, {25, n[1] - 1}, {1, n[2]}}, 16, 128};

    job->requested.region = NULL;
    AUTO_FREE float *all = backproject(job, &whole);
    if (!g->rows) {
        const double error = error_of(job, all);
        print_message("%s: error %.3f %%\n", g->name, 100 * error);
        assert_true(error < 0.003);
    }
    if (region) {
        job->requested.region = region;
        AUTO_FREE float *got = backproject(job, &whole);
        check_same(job, &whole, got, all, "region");
        assert_true(memcmp(got, all, grid_size(&job->grid) * sizeof *got) != 0); /* others */
    } else if (n[2] > slabs.slices) {
        AUTO_FREE float *got = backproject(job, &slabs);
        check_same(job, &slabs, got, all, "slabs");
        if (!job->selection.boxes)
            return;
        AUTO_FREE float *part = backproject(job, &box);
        check_same(job, &box, part, all, "box");
    }
}

#define ROT90  .kernel = &cuda_kernel_HIERARCHICAL_ROT90
#define SINGLE .kernel = &cuda_kernel_HIERARCHICAL

TEST(values_divisions_and_regions)
{
    static const struct geometry cases[] = {
        {"quarter turns, blocks beyond the volume", ROT90, 520, {65, 65, 12}, 360},
        {"clockwise, odd side, offset panel, region",
         ROT90,
         520,
         {47, 47, 16},
         -360,
         8,
         .region = "ball:9,3,2,6"},
        {"volume taller than the field of view", ROT90, 516, {44, 44, 30}, 360, .rows = 16},
        {"single views, last group of 11", SINGLE, 331, {45, 33, 17}, 360},
        {"short scan, above the source's plane, region",
         SINGLE,
         450,
         {33, 35, 20},
         230,
         .z_mm = 7,
         .region = "ball:9,3,9,6"},
        {"single views, few rows", SINGLE, 331, {45, 41, 30}, 360, .rows = 16},
        {"source that approaches", SINGLE, 520, {45, 41, 17}, 360, .nearer = 0.25},
        {"a slice", SINGLE, 331, {40, 33, 1}, 360}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        with_job(&cases[i], check);
}

TEST_MAIN(NULL, NULL)
