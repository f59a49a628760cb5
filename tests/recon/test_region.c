/*
 * A region of interest: voxels inside have the bits that they have without one, the others one
 * value, on every device and with every kernel; and what is not wanted is not computed.
 */
#include "recon/side.h"

#include "bench/papers/ino2010/measure.h"
#include "devices/mock/mock.h"

enum { N_REGIONS = 7 };

/* Devices that keep no filtered views, and those that do. */
static const struct fbp_rates none = {0}, card = {1e-12, 1e-10, 1e-12, 1e-10, .share = 1};

/* A region in words, or as a mask; and which voxels of the grid that is. */
struct region {
    char text[200];
    float *mask;          /* of the whole grid, 1 or 0 */
    unsigned char *value; /* of the mask's type, as a source has it */
    fbp_source *source;
};

static double draw_mm(unsigned *state, double from, double to)
{
    return round(1e3 * (from + (to - from) * (draw(state) % 1000) / 999)) / 1e3;
}

/* Some ball, cylinder or box that reaches into the grid's middle. */
static void draw_shape(unsigned *state, const struct fbp_grid *g, struct region *r)
{
    const double half = 0.5 * g->voxel_mm[0] * (double)g->n[0];
    const double *c = g->centre_mm, x = draw_mm(state, c[0] - half / 2, c[0] + half / 2),
                 y = draw_mm(state, c[1] - half / 2, c[1] + half / 2),
                 z = draw_mm(state, c[2] - half / 2, c[2] + half / 2),
                 radius = draw_mm(state, half / 4, half);
    const unsigned sort = draw(state) % 4;
    double p[3];

    if (sort == 0)
        sprintf(r->text, "cylinder:%.3f", radius);
    else if (sort == 1)
        sprintf(r->text, "cylinder:%.3f,%.3f,%.3f", x, y, radius);
    else if (sort == 2)
        sprintf(r->text, "ball:%.3f,%.3f,%.3f,%.3f", x, y, z, radius);
    else
        sprintf(r->text, "box:%.3f:%.3f,%.3f:,:%.3f", x - radius, x, y, z);
    for (size_t i = 0; i < grid_size(g); i++) {
        const size_t at[3] = {i % g->n[0], i / g->n[0] % g->n[1], i / g->n[0] / g->n[1]};
        for (int a = 0; a < 3; a++)
            p[a] = fbp_grid_coordinate(g, a, (double)at[a]);
        const double d[3] = {p[0] - (sort ? x : 0), p[1] - (sort ? y : 0), p[2] - z};
        const bool round =
            d[0] * d[0] + d[1] * d[1] + (sort == 2 ? d[2] * d[2] : 0) <= radius * radius;
        r->mask[i] = sort < 3 ? round
                              : p[0] >= atof(strchr(r->text, ':') + 1) && p[0] <= x && p[1] >= y &&
                                    p[2] <= z;
    }
}

/* A few small blocks anywhere, as an array of bytes in memory. */
static void draw_mask(unsigned *state, const struct fbp_grid *g, struct region *r)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {g->n[0], g->n[1], g->n[2]}, .type = FBP_U8};
    size_t box[3][2];

    r->value = calloc(grid_size(g), 1);
    assert_non_null(r->value);
    for (int block = 0; block < 3; block++) {
        draw_box(state, g->n, box);
        for (int a = 0; a < 3; a++)
            if (box[a][1] == 0 || box[a][1] > box[a][0] + g->n[a] / 2)
                box[a][1] = box[a][0] + 1;
        for (size_t z = box[2][0]; z < box[2][1]; z++)
            for (size_t y = box[1][0]; y < box[1][1]; y++)
                for (size_t x = box[0][0]; x < box[0][1]; x++)
                    r->value[(z * g->n[1] + y) * g->n[0] + x] = (unsigned char)(1 + block);
    }
    for (size_t i = 0; i < grid_size(g); i++)
        r->mask[i] = r->value[i] != 0;
    OK(fbp_source_memory(&r->source, r->value, &info));
}

static struct region draw_region(unsigned *state, const struct fbp_grid *g)
{
    struct region r = {.mask = calloc(grid_size(g), sizeof *r.mask)};

    assert_non_null(r.mask);
    (draw(state) % 3 ? draw_shape : draw_mask)(state, g, &r);
    return r;
}

static void drop_region(struct region *r)
{
    fbp_source_close(&r->source);
    free(r->mask);
    free(r->value);
}

/* What a run gave: the wanted voxels of the box as in `whole`, the others `outside`. */
static void check_volume(const char *what, const struct fbp_plan_summary *info,
                         const struct region *r, const float *whole, const float *v, float outside,
                         const struct fbp_report *report)
{
    const size_t *n = info->whole.n, (*b)[2] = info->box;
    double least = INFINITY, most = -INFINITY, sum = 0, size = 0;
    size_t i = 0, inside = 0;

    for (size_t z = b[2][0]; z < b[2][1]; z++)
        for (size_t y = b[1][0]; y < b[1][1]; y++)
            for (size_t x = b[0][0]; x < b[0][1]; x++, i++) {
                const size_t at = (z * n[1] + y) * n[0] + x;
                const bool wanted = r->mask[at] != 0;
                if (memcmp(&v[i], wanted ? &whole[at] : &outside, sizeof *v) != 0)
                    fail_msg("%s, %s: voxel %zu %zu %zu (%s) is %g, in the whole volume %g", what,
                             r->text, x, y, z, wanted ? "inside" : "outside", (double)v[i],
                             (double)whole[at]);
                if (!wanted)
                    continue;
                inside++;
                sum += (double)v[i];
                size = fmax(size, fabs((double)v[i]));
                least = fmin(least, (double)v[i]);
                most = fmax(most, (double)v[i]);
            }
    assert_int_equal(info->region_voxels, inside);
    assert_true(report->min == least && report->max == most);
    assert_true(fabs(report->mean - sum / (double)inside) <= 1e-6 * size);
}

/* Is anything of the region in the box? */
static bool meets(const struct region *r, const size_t n[3], const size_t roi[3][2])
{
    for (size_t z = roi[2][0]; z < (roi[2][1] ? roi[2][1] : n[2]); z++)
        for (size_t y = roi[1][0]; y < (roi[1][1] ? roi[1][1] : n[1]); y++)
            for (size_t x = roi[0][0]; x < (roi[0][1] ? roi[0][1] : n[0]); x++)
                if (r->mask[(z * n[1] + y) * n[0] + x] != 0)
                    return true;
    return false;
}

static void check_region(const struct scan_case *c, const struct fbp_scan *scan,
                         struct fbp_recon_params p, const float *whole, unsigned *seed)
{
    struct region r = draw_region(seed, &c->grid);
    struct fbp_report report = {.struct_size = sizeof report};
    struct fbp_progress told = {0};
    fbp_plan *plan;

    p.region.shape = r.source ? NULL : r.text;
    p.region.mask = r.source;
    draw_division(seed, &p);
    p.n_threads = 1 + (int)(draw(seed) % 2);
    p.callbacks.progress = watch;
    p.callbacks.user = &told;
    fbp_mock_faults.rates = draw(seed) % 2 ? card : none;
    if (draw(seed) % 2)
        draw_box(seed, c->grid.n, p.box);
    if (!meets(&r, c->grid.n, (const size_t(*)[2])p.box)) {
        assert_fails(fbp_plan_create(&plan, scan, &p), FBP_ERR_INVALID, "contains no voxel of the");
        drop_region(&r);
        return;
    }
    OK(fbp_plan_create(&plan, scan, &p));
    const struct fbp_plan_summary *info = fbp_plan_info(plan);
    assert_string_equal(info->kernel, c->kernel);
    AUTO_FREE float *v = run_plan(plan, draw(seed) % 2, &report);
    check_volume(c->kernel, info, &r, whole, v, p.mu_water > 0 ? -1000 : 0, &report);
    assert_int_equal(info->updates, info->region_voxels * scan->n_views);
    assert_true(told.done == info->updates && told.total == info->updates);
    fbp_plan_destroy(&plan);
    drop_region(&r);
}

static void check_regions(const struct scan_case *c, const struct fbp_scan *scan,
                          struct fbp_recon_params p, const float *whole, unsigned *seed)
{
    for (int k = 0; k < N_REGIONS; k++)
        check_region(c, scan, p, whole, seed);
}

TEST(regions_have_the_volumes_bits)
{
    compare_parts(check_regions, false, 5);
}

/* The number of voxels that a device changed in a slab of all slices. */
static size_t count_touched(struct side *s, size_t *wanted)
{
    const struct fbp_job *job = &s->tables.job;
    const struct fbp_slab all = fbp_slab_whole(job, 0, job->grid.n[2]);
    const size_t n = grid_size(&job->grid);
    AUTO_FREE float *v = not_null(malloc(n * sizeof *v));
    size_t touched = 0;

    reconstruct_slab(s, &all, v);
    for (size_t i = 0; i < n; i++)
        touched += v[i] != (float)job->shift;
    *wanted = (size_t)fbp_region_count(job->requested.region, 0, job->grid.n[2]);
    return touched;
}

/* A small ball beside the axis: of the voxels around it, devices of the host touch those of its
 * orbits, at most one for each lane of a kernel, or of its cubes, up to eight times as many for so
 * small a ball; GPUs touch blocks, and not most of the volume. */
TEST(nothing_else_is_computed)
{
    fbp_mock_faults = (struct fbp_mock_faults){0};
    for (size_t i = 0; i < N_CASES; i++) {
        const struct scan_case *c = &cases[i];
        struct side s;
        size_t wanted;
        if (!can_compute(c))
            continue;
        arrange_region(&s, c, "ball:32,20,28,14");
        const struct fbp_job *job = &s.tables.job;
        const bool cubes = strcmp(c->kernel, "planes") == 0;
        const size_t lanes = cubes ? 8 : job->selection.symmetric_views;
        const bool blocks = c->device[0] == 'g' || strncmp(c->device, "cuda", 4) == 0;
        open_side(&s);
        const size_t touched = count_touched(&s, &wanted), all = grid_size(&job->grid);
        const size_t most = blocks ? all * 3 / 4 : lanes * wanted;
        if (wanted == 0 || touched > most || touched * 2 < wanted)
            fail_msg("%s %s: %zu voxels are touched, %zu wanted, %zu lanes", c->device, c->kernel,
                     touched, wanted, lanes);
        close_side(&s);
    }
}

static void no_slab(const struct fbp_job *job, const size_t box[3][2], fbp_status status,
                    const char *sentence)
{
    struct fbp_slab slab;

    fbp_message_clear();
    assert_fails(s2_slab_of(job, box, &slab), status, sentence);
}

/* Boxes of slices as slabs: kernels that compute whole slices are not handed any. */
TEST(slabs_that_are_not_are_refused)
{
    for (size_t i = 0; i < N_CASES; i++) {
        struct side s;
        if (!can_compute(&cases[i]))
            continue;
        arrange_region(&s, &cases[i], NULL);
        const struct fbp_job *job = &s.tables.job;
        const size_t nx = job->grid.n[0], ny = job->grid.n[1], nz = job->grid.n[2];
        struct fbp_slab slab;
        no_slab(job, (const size_t[3][2]){{3, 3}, {0, ny}, {0, 1}}, FBP_ERR_INVALID,
                "box: voxels 3:3 along x");
        no_slab(job, (const size_t[3][2]){{0, nx}, {0, ny + 1}, {0, 1}}, FBP_ERR_INVALID,
                "along y are no range of the volume, which has 0:");
        no_slab(job, (const size_t[3][2]){{0, nx}, {0, ny}, {1, nz + 1}}, FBP_ERR_INVALID,
                "box: voxels 1:");
        OK(s2_slab_of(job, (const size_t[3][2]){{0, nx}, {0, ny}, {1, 3}}, &slab));
        if (!cases[i].boxes)
            no_slab(job, (const size_t[3][2]){{0, nx}, {2, ny}, {0, 1}}, FBP_ERR_UNSUPPORTED,
                    "computes only whole slices");
        close_side(&s);
    }
}

static const struct scan_case plain = {
    .views = 52, .columns = 48, .rows = 40, .grid = {{40, 40, 36}, {4, 4, 4}, {0, 0, 0}}};

static struct fbp_plan_summary plan_of(const struct fbp_scan *scan, const char *region)
{
    struct fbp_plan_summary out;

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan = create_plan(
        scan, fbp_recon_params(.device = "cpu", .n_threads = 2, .region.shape = region));
    out = *fbp_plan_info(plan);
    return out;
}

/* Rows that only other slices need are not read, and the plan says so. */
TEST(the_plan_knows_what_is_saved)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&plain);
    const struct fbp_plan_summary all = plan_of(&scan, NULL),
                                  low = plan_of(&scan, "box:-20:20,:,-24:-8"),
                                  pole = plan_of(&scan, "cylinder:79");

    assert_true(all.region_voxels == 0 && all.region_saves_updates == 0);
    /* centres at 2 mm + 4 mm k */
    assert_int_equal(low.region_voxels, 10 * 40 * 4);
    assert_true(low.region_slices[0] == 12 && low.region_slices[1] == 16);
    assert_int_equal(low.updates, low.region_voxels * scan.n_views);
    assert_true(low.view_reads < 0.6 * all.view_reads);
    assert_true(fabs(low.region_saves_updates - (1 - 10. * 40 * 4 / (40. * 40 * 36))) < 1e-12);
    assert_true(low.region_saves_rows > 0.4 && low.region_saves_rows < 1);
    assert_true(pole.region_slices[0] == 0 && pole.region_slices[1] == 36);
    assert_true(pole.region_saves_rows == 0 && pole.view_reads == all.view_reads);
    assert_true(fabs(pole.region_saves_updates - (1 - PI / 4 * 79 * 79 / 6400)) < 0.01);
    assert_true(low.memory_bytes < all.memory_bytes);
}

/* Counts the rows that are read of a scan, in view 0. */
struct counted {
    fbp_source *file;
    size_t rows;
};

static int read_counted(void *user, size_t k0, size_t n, size_t r0, size_t n_rows, void *out,
                        char *why, size_t n_why)
{
    struct counted *c = user;

    c->rows += k0 == 0 ? n_rows : 0;
    return fbp_source_read(c->file, k0, n, r0, n_rows, FBP_F32, out) != FBP_OK;
}

static fbp_source *open_counted(const struct fbp_scan *scan, struct counted *c)
{
    const struct fbp_source_functions functions = {
        .struct_size = sizeof functions, .read = read_counted, .user = c};
    fbp_source *out;

    *c = (struct counted){0};
    OK(fbp_source_open(&c->file, scan->projections, NULL));
    OK(fbp_source_callback(&out, &functions, fbp_source_info(c->file)));
    return out;
}

/* Two thin parts far from each other: slabs between them are neither read for nor computed. */
TEST(slabs_between_two_parts_are_skipped)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&plain);
    const size_t n = grid_size(&scan.volume);
    const struct fbp_array_info of_mask = {
        .struct_size = sizeof of_mask, .n = {40, 40, 36}, .type = FBP_U8};
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "cpu",
                                 .tuning.kernel = "matrix",
                                 .tuning.slab_slices = 3};
    AUTO_FREE unsigned char *x = not_null(calloc(n, 1));

    for (size_t i = 0; i < 1600; i += 3)
        x[3 * 1600 + i] = x[31 * 1600 + i] = 1;
    for (int gap = 1; gap >= 0; gap--) { /* then one voxel a slab */
        static size_t rows[2];
        struct counted c;
        for (size_t z = 5; z < 30 && !gap; z += 3)
            x[z * 1600 + 820] = 1;
        AUTO_FREE float *whole = reconstruct(&scan, &p);
        OK(fbp_source_memory(&p.region.mask, x, &of_mask));
        p.input.source = open_counted(&scan, &c);
        AUTO_FREE float *v = reconstruct(&scan, &p);
        for (size_t i = 0; i < n; i++)
            assert_true(v[i] == (x[i] ? whole[i] : 0));
        fbp_source_close(&p.region.mask);
        fbp_source_close(&p.input.source);
        fbp_source_close(&c.file);
        rows[gap] = c.rows;
        if (gap == 0 && !(rows[1] * 3 < rows[0]))
            fail_msg("%zu rows are read, without a gap %zu", rows[1], rows[0]);
    }
}

/* --mask's value around the region, too; and what some views do not see stays masked in it. */
TEST(a_mask_and_a_region_go_together)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&plain);
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "cpu",
                                 .output.fill = true,
                                 .output.fill_value = -7,
                                 .tuning.slab_slices = 5};
    const size_t n = grid_size(&scan.volume);

    AUTO_FREE float *masked = reconstruct(&scan, &p);
    p.region.shape = "box:-40:,:60,-60:24";
    AUTO_FREE float *v = reconstruct(&scan, &p);
    for (size_t i = 0; i < n; i++) {
        const struct fbp_grid *g = &scan.volume;
        const double x = fbp_grid_coordinate(g, 0, (double)(i % 40)),
                     y = fbp_grid_coordinate(g, 1, (double)(i / 40 % 40)),
                     z = fbp_grid_coordinate(g, 2, (double)(i / 1600));
        const bool inside = x >= -40 && y <= 60 && z >= -60 && z <= 24;
        assert_true(v[i] == (inside ? masked[i] : -7));
    }
    assert_true(v[0] == -7);
}

static char *write_mask(const char *name, const struct fbp_grid *g, double shift, const float *x)
{
    struct fbp_array_info info = {.struct_size = sizeof info, .type = FBP_U8, .has_spacing = true};
    const struct fbp_sink_params params = {
        .struct_size = sizeof params, .type = FBP_U8, .range = {0, 255}};
    char *path = temporary(name);

    for (int i = 0; i < 3; i++) {
        info.n[i] = g->n[i];
        info.spacing_mm[i] = g->voxel_mm[i];
        info.origin_mm[i] = fbp_grid_coordinate(g, i, 0) + (i == 1 ? shift : 0);
    }
    save_array(path, &info, &params, x);
    return path;
}

static void refused(const struct fbp_scan *scan, const struct fbp_recon_params *p,
                    const char *sentence)
{
    fbp_plan *plan;

    assert_int_equal(fbp_plan_create(&plan, scan, p), FBP_ERR_INVALID);
    assert_null(plan);
    assert_says(sentence);
}

/* A file with the volume's place; one of another place; of another size; with NaN; without a 1. */
TEST(masks_of_files)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&plain);
    const size_t n = grid_size(&scan.volume);
    struct fbp_grid small = scan.volume;
    AUTO_FREE float *x = not_null(calloc(n, sizeof *x));
    struct fbp_recon_params p = {.struct_size = sizeof p, .device = "cpu"};

    char *empty = write_mask("empty.mha", &scan.volume, 0, x);
    x[20 * 1600 + 17 * 40 + 3] = 200;
    small.n[2]--;
    char *good = write_mask("good.nrrd", &scan.volume, 0, x);
    char *shifted = write_mask("shifted.mha", &scan.volume, 2, x);
    char *other = write_mask("other.mha", &small, 0, x);
    x[18] = NAN;
    char *nan = write_array("nan.npy", 40, 40, 36, x);
    AUTO_FREE float *whole = reconstruct(&scan, &p);
    p.region.shape = good;
    AUTO_FREE float *v = reconstruct(&scan, &p);
    for (size_t i = 0; i < n; i++)
        assert_true(v[i] == (x[i] == 200 ? whole[i] : 0));
    p.region.shape = empty;
    refused(&scan, &p, "empty.mha contains no voxel of the volume, which extends over x -78 to 78");
    p.region.shape = shifted;
    refused(&scan, &p,
            "the mask extends from -76 to 80 mm along y, but the volume from -78 to 78 mm");
    p.region.shape = other;
    refused(&scan, &p,
            "other.mha has 40 x 40 x 35 voxels, but the whole volume, without --roi or --slice, "
            "has 40 x 40 x 36");
    p.region.shape = nan;
    refused(&scan, &p, "nan.npy: voxel (18, 0, 0) of the mask is NaN");
    char *const files[] = {empty, good, shifted, other, nan};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        remove(files[i]);
        free(files[i]);
    }
}

TEST(words_that_are_none_are_refused)
{
    static const char *const wrong[][2] = {
        {"cylinder:", "does not have one or three numbers: expected cylinder:R"},
        {"cylinder:1,2", "does not have one or three numbers"},
        {"cylinder:1,2,3,4", "does not have one or three numbers"},
        {"cylinder:0", "is empty, because its radius is not above 0"},
        {"cylinder:-5", "is empty, because its radius is not above 0"},
        {"cylinder:nan", "does not have one or three numbers"},
        {"cylinder:1e300", "does not have one or three numbers"},
        {"ball:1,2,3", "does not have four numbers: expected ball:X,Y,Z,R"},
        {"ball:1,2,3,4mm", "does not have four numbers"},
        {"ball:nan,2,3,4", "does not have four numbers"},
        {"ball:1,2,3,inf", "does not have four numbers"},
        {"ball:0,0,500,20", "contains no voxel of the volume"},
        {"box:1:2,3:4", "does not have three pairs of numbers"},
        {"box:1:2,3:4,5:6,7:8", "does not have three pairs of numbers"},
        {"box:1,2,3", "does not have three pairs of numbers"},
        {"box:2:1,:,:", "is empty, because an end lies below its beginning"},
        {"box:0:1,:,:", "contains no voxel of the volume"}, /* between two of them */
        {"sphere:1,2,3,4",
         "is neither a shape nor a mask file; expected cylinder:R, ball:X,Y,Z,R or box:"},
        {"", "is neither a shape"},
    };
    AUTO_DROP struct fbp_scan scan = make_scan(&plain);
    struct fbp_recon_params p = {.struct_size = sizeof p, .device = "cpu"};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        p.region.shape = wrong[i][0];
        refused(&scan, &p, wrong[i][1]);
    }
    p.region.shape = "cylinder:50";
    p.output.type = FBP_U8;
    p.output.range[0] = 0.01;
    p.output.range[1] = 0.05;
    refused(&scan, &p, "output: 0, the value outside the region, is not in the range 0.01 to");
}

/* Stop after the first slab. */
static int stop(void *user, const struct fbp_progress *p)
{
    return p->slabs_done > 0;
}

/* What was interrupted goes on where it stopped, and not with another region.  The same voxels in
 * other words are the same region. */
TEST(a_region_is_resumed)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&plain);
    AUTO_REMOVE char *path = temporary("resumed.mha");
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "cpu",
                                 .tuning.slab_slices = 4,
                                 .region.shape = "ball:10,0,0,50",
                                 .callbacks.progress = stop};
    struct fbp_report report = {.struct_size = sizeof report};

    assert_int_equal(reconstruct_to(&scan, &p, path, NULL), FBP_ERR_CANCELLED);
    p.callbacks.progress = NULL;
    p.output.resume = true;
    const char *const others[] = {NULL, "ball:10,0,0,54", "cylinder:10,0,50"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        p.region.shape = others[i];
        assert_int_not_equal(reconstruct_to(&scan, &p, path, NULL), FBP_OK);
    }
    p.region.shape = "ball:10.0,0,0,5e1";
    fbp_plan *plan = create_plan(&scan, &p);
    OK(fbp_plan_run(plan, path, &report));
    assert_true(report.slabs_resumed > 0);
    fbp_plan_destroy(&plan);
    AUTO_FREE float *resumed = read_array(path);
    p.output.resume = false;
    AUTO_FREE float *right = reconstruct(&scan, &p);
    assert_memory_equal(resumed, right, grid_size(&scan.volume) * sizeof *right);
}

TEST_MAIN(NULL, NULL)
