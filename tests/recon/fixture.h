/** @file fixture.h  Scans, runs and comparisons for the tests of recon, prop, check and fault:
 * simulate, reconstruct, read the values. */
#ifndef FBP_TESTS_FIXTURE_H
#define FBP_TESTS_FIXTURE_H

#include "geometry/view.h"
#include "phantom/shapes.h"
#include "test.h"

#define PI 3.14159265358979323846

/** A path under the test directory ($FBP_TEST_DIR where tests are run elsewhere than they were
 *  built) that no other running test uses; malloc'ed. */
static inline char *temporary(const char *name)
{
    const char *folder = getenv("FBP_TEST_DIR") ? getenv("FBP_TEST_DIR") : FBP_TEST_DIR;
    char *path = not_null(malloc(strlen(folder) + strlen(name) + 32));
    sprintf(path, "%s/%d-%s", folder, (int)getpid(), name);
    return path;
}

/** Can this device ("name", or "name:0,1") compute here?  If not, says why: what would run on it is
 *  left out. */
static inline bool usable(const char *device)
{
    static bool told;
    struct fbp_device_info d[64] = {{.struct_size = sizeof *d}};
    const size_t n = fbp_devices(d, 64), length = strcspn(device, ":");

    for (size_t i = 0; i < n && i < 64; i++)
        if (strncmp(d[i].name, device, length) == 0 && strchr(":", d[i].name[length])) {
            if (!d[i].reason[0])
                return true;
            if (!told)
                print_message("%.*s is left out: %s\n", (int)length, device, d[i].reason);
            told = true;
        }
    return strncmp(device, "mock", 4) == 0; /* several of them, too */
}

static inline size_t grid_size(const struct fbp_grid *g)
{
    return g->n[0] * g->n[1] * g->n[2];
}

/** Simulate the scan's projections into a temporary file that scan->projections names. */
static inline void simulate(struct fbp_scan *scan, const struct fbp_phantom *phantom)
{
    static int n_scans; /* a test may hold several */

    AUTO_FREE char *name = printed("%d-projections.mha", n_scans++);
    scan->projections = temporary(name);
    OK(fbp_phantom_simulate(phantom, scan, scan->projections,
                            fbp_simulate_params(.seed = 1, .n_threads = 2)));
}

/** Simulate a head of this half width, whose water is 0.02/mm. */
static inline void simulate_head(struct fbp_scan *scan, double half_mm)
{
    CLEANUP(fbp_phantom_clear)
    struct fbp_phantom phantom = create_phantom("shepp-logan", half_mm, 0.02);
    simulate(scan, &phantom);
}

/** Remove the files of a scan that tests have made, and free it. */
static inline void drop_scan(struct fbp_scan *scan)
{
    char *const files[] = {scan->projections, scan->dark, scan->flat, scan->bad_pixels};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i])
            remove(files[i]);
    fbp_scan_clear(scan);
}

/** Before the declaration of a local scan: it is dropped where its block ends. */
#define AUTO_DROP CLEANUP(drop_scan)

static inline void remove_local(char **path)
{
    remove(*path);
    free(*path);
}

/** Before the declaration of the path of a file: both are removed where its block ends. */
#define AUTO_REMOVE CLEANUP(remove_local)

/** All values of an array; free() them. */
static inline float *read_array(const char *path)
{
    CLEANUP(fbp_source_close) fbp_source *source = open_source(path, NULL);
    const size_t *n = fbp_source_info(source)->n;
    float *out = not_null(malloc(n[0] * n[1] * n[2] * sizeof *out));
    OK(fbp_source_read(source, 0, n[2], 0, n[1], FBP_F32, out));
    return out;
}

/** Write an array [nz][ny][nx] into a temporary file; its path, malloc'ed. */
static inline char *write_array(const char *name, size_t nx, size_t ny, size_t nz,
                                const float *values)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {nx, ny, nz}};
    char *path = temporary(name);

    save_array(path, &info, NULL, values);
    return path;
}

/** New samples [view][row][column] for a scan. */
static inline void replace_samples(struct fbp_scan *scan, const float *p)
{
    remove(scan->projections);
    free(scan->projections);
    scan->projections =
        write_array("samples.mha", scan->panel.n_columns, scan->panel.n_rows, scan->n_views, p);
}

/** Line integrals p[view][row][column] become intensities that a detector would measure; those of
 *  dead pixels, where mask[row][column] is not 0, are 0.  The scan gets dark, flat and, unless it
 * is NULL, the mask. */
static inline void count_photons(struct fbp_scan *scan, float *p, const float *mask)
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows, n = nc * nr;
    AUTO_FREE float *dark = calloc(n, sizeof *dark), *flat = calloc(n, sizeof *flat);

    assert_true(dark && flat);
    for (size_t i = 0; i < n; i++) {
        dark[i] = (float)(100 + i % 7);
        flat[i] = (float)(50000 + 13 * (i % 101));
    }
    for (size_t i = 0; i < n * scan->n_views; i++)
        p[i] =
            mask && mask[i % n] > 0 ? 0 : dark[i % n] + (flat[i % n] - dark[i % n]) * expf(-p[i]);
    scan->dark = write_array("dark.mha", nc, nr, 1, dark);
    scan->flat = write_array("flat.mha", nc, nr, 1, flat);
    scan->bad_pixels = mask ? write_array("mask.mha", nc, nr, 1, mask) : NULL;
}

/** Reconstruct into a file; the status of the plan or of its run. */
static inline fbp_status reconstruct_to(const struct fbp_scan *scan,
                                        const struct fbp_recon_params *params, const char *output,
                                        struct fbp_report *report)
{
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
    const fbp_status st = fbp_plan_create(&plan, scan, params);

    return st == FBP_OK ? fbp_plan_run(plan, output, report) : st;
}

/** What a run gives in memory; source NULL: that of the plan, report may be NULL.  free() it. */
static inline float *run_to_memory(fbp_plan *plan, fbp_source *source, struct fbp_report *report)
{
    const struct fbp_grid *g = &fbp_plan_info(plan)->volume;
    float *out = not_null(malloc(grid_size(g) * sizeof *out));
    fbp_sink *sink;

    memset(out, 0xff, grid_size(g) * sizeof *out);
    OK(fbp_sink_memory(&sink, out, FBP_F32, g->n));
    OK(fbp_plan_run_to(plan, source, sink, report));
    fbp_sink_close(&sink);
    return out;
}

/** Reconstruct; values [z][y][x], free() them. */
static inline float *reconstruct(const struct fbp_scan *scan, const struct fbp_recon_params *params)
{
    AUTO_REMOVE char *path = temporary("volume.mha");

    OK(reconstruct_to(scan, params, path, NULL));
    return read_array(path);
}

/** Hash of the volume that a reconstruction gives. */
static inline uint64_t reconstruct_hash(const struct fbp_scan *scan,
                                        const struct fbp_recon_params *params)
{
    struct fbp_report report = {.struct_size = sizeof report};

    OK(reconstruct_to(scan, params, "hash:", &report));
    return report.hash;
}

/* Checks that the divisions of the work in splits[n], their threads, batches and slabs, give the
 * same bits as the plan's own division. */
static inline void check_divisions(const struct fbp_scan *scan,
                                   const struct fbp_recon_params *params,
                                   const struct fbp_recon_params *splits, size_t n)
{
    const uint64_t whole = reconstruct_hash(scan, params);

    for (size_t i = 0; i < n; i++) {
        struct fbp_recon_params p = *params;
        p.n_threads = splits[i].n_threads;
        p.tuning.batch_views = splits[i].tuning.batch_views;
        p.tuning.slab_slices = splits[i].tuning.slab_slices;
        if (reconstruct_hash(scan, &p) != whole)
            fail_msg("%d threads, batches of %zu, slabs of %zu: other values", p.n_threads,
                     p.tuning.batch_views, p.tuning.slab_slices);
    }
}

static inline double *even_angles(size_t n, double start_deg, double step_deg)
{
    double *out = not_null(malloc(n * sizeof *out));
    for (size_t i = 0; i < n; i++)
        out[i] = (start_deg + step_deg * (double)i) * PI / 180;
    return out;
}

/** The path of a source about the axis. */
struct orbit {
    double start_deg, step_deg; /**< first angle; step, 0: a full circle */
    double sod_mm, sdd_mm;      /**< distances; 0: 750 and 1200 */
    double pitch_mm[2];         /**< pixel pitch of columns and rows */
    double offset_mm;           /**< shift of the panel along its rows; default 0 */
    bool c_arm;                 /**< whether the source wobbles as a C-arm does */
};

/** New views for a scan whose kind, number of views and panel are known. */
static inline void add_views(struct fbp_scan *scan, const struct orbit *o)
{
    const size_t n = scan->n_views;
    const double sod = o->sod_mm > 0 ? o->sod_mm : 750, sdd = o->sdd_mm > 0 ? o->sdd_mm : 1200;
    double *angles =
        even_angles(n, o->start_deg, o->step_deg != 0 ? o->step_deg : 360.0 / (double)n);
    const struct fbp_circle circle =
        circle_of(n, angles, sod, sdd, .kind = scan->kind,
                  .pitch_mm = {o->pitch_mm[0], o->pitch_mm[1]}, .offset_mm = {o->offset_mm, 0});

    scan->views = calloc(n, sizeof *scan->views);
    assert_non_null(scan->views);
    if (o->c_arm)
        OK(fbp_c_arm_views(&circle, &scan->panel, scan->views));
    else
        OK(fbp_circle_views(&circle, scan->views));
    free(angles);
}

/** A scan of a head of this half width. */
static inline struct fbp_scan head_scan(size_t n_views, size_t n_columns, size_t n_rows,
                                        const struct orbit *o, struct fbp_grid volume,
                                        double half_mm)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = n_views,
                            .panel = {n_columns, n_rows},
                            .volume = volume};

    add_views(&scan, o);
    simulate_head(&scan, half_mm);
    return scan;
}

/** A full circle in J1's geometry (512 pixels of 0.8 mm) with `n` columns and rows instead. */
static inline struct fbp_scan circle_scan(size_t n_views, size_t n, double start_deg)
{
    const double pitch = 409.6 / (double)n;
    struct fbp_scan scan = {.struct_size = sizeof scan, .n_views = n_views, .panel = {n, n}};

    add_views(&scan, &(struct orbit){.start_deg = start_deg, .pitch_mm = {pitch, pitch}});
    return scan;
}

/** The centre [mm] of voxel i of a volume. */
static inline void voxel_at(const struct fbp_grid *g, size_t i, double x[3])
{
    x[0] = fbp_grid_coordinate(g, 0, (double)(i % g->n[0]));
    x[1] = fbp_grid_coordinate(g, 1, (double)(i / g->n[0] % g->n[1]));
    x[2] = fbp_grid_coordinate(g, 2, (double)(i / g->n[0] / g->n[1]));
}

/** Mean over the voxels of a ball; there are more than 30. */
static inline double mean_in_ball(const struct fbp_grid *g, const float *volume,
                                  const double centre[3], double radius_mm)
{
    double sum = 0, n = 0;

    for (size_t i = 0; i < grid_size(g); i++) {
        double x[3];
        voxel_at(g, i, x);
        if (hypot(hypot(x[0] - centre[0], x[1] - centre[1]), x[2] - centre[2]) <= radius_mm) {
            sum += (double)volume[i];
            n++;
        }
    }
    assert_true(n > 30);
    return sum / n;
}

/** Root of the mean square of a - b. */
static inline double rms_between(const float *a, const float *b, size_t n)
{
    double square = 0;

    for (size_t i = 0; i < n; i++)
        square += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(square / (double)n);
}

/** PSNR of a against b, peak = max |b|; 999 when equal; NaN stays NaN. */
static inline double psnr_db(const float *a, const float *b, size_t n)
{
    double sum = 0, peak = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = (double)a[i] - (double)b[i];
        sum += d * d;
        peak = fmax(peak, fabs((double)b[i]));
    }
    return sum == 0 ? 999 : 20 * log10(peak / sqrt(sum / (double)n));
}

/** The box r of a volume of n voxels has the bits of the whole volume; a value takes `size` bytes.
 */
static inline void assert_box(const char *what, size_t size, const void *box, const void *whole,
                              const size_t n[3], const size_t r[3][2])
{
    const size_t row = (r[0][1] - r[0][0]) * size;
    const char *at = box;

    for (size_t z = r[2][0]; z < r[2][1]; z++)
        for (size_t y = r[1][0]; y < r[1][1]; y++, at += row)
            if (memcmp(at, (const char *)whole + ((z * n[1] + y) * n[0] + r[0][0]) * size, row) !=
                0)
                fail_msg("%s: %zu:%zu,%zu:%zu,%zu:%zu: row y = %zu, z = %zu is not the volume's",
                         what, r[0][0], r[0][1], r[1][0], r[1][1], r[2][0], r[2][1], y, z);
}

#endif /* FBP_TESTS_FIXTURE_H */
