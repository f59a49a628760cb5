/*
 * Plane integrals (EPR imaging) through the pipeline with a backend of this file's own: views,
 * matrices and rows are those of the kind.  Nothing of plan/ and run/ knows what a view is, or
 * which slots a backend leaves out; if that changes, this stops linking or computing.
 */
#include "recon/fixture.h"

#include "backend/device.h"
#include "base/base.h"
#include "geometry/kind.h"
#include "geometry/view.h"
#include "pipeline/run.h"

enum { SAMPLES = 33, DIRECTIONS = 21, N = 12 };

struct fbp_device {
    const struct fbp_job *job;
};

/* Direction k of a spiral on the sphere. */
static void direction(size_t k, double out[3])
{
    const double z = 1 - (2 * (double)k + 1) / DIRECTIONS, phi = 2.4 * (double)k;
    out[0] = sqrt(1 - z * z) * cos(phi);
    out[1] = sqrt(1 - z * z) * sin(phi);
    out[2] = z;
}

static const struct fbp_panel panel = {SAMPLES, 1};
static struct fbp_view view[DIRECTIONS];
static const struct fbp_views views = {FBP_PLANES, DIRECTIONS, {SAMPLES, 1}, view};

static void make_views(void)
{
    double n[3];

    for (size_t k = 0; k < DIRECTIONS; k++) {
        direction(k, n);
        fbp_plane_view(n, 1, -SAMPLES / 2, SAMPLES, &view[k]);
    }
}

static float nearest(const float *profile, const double P[12], const double x[3])
{
    const double at = floor(P[0] * x[0] + P[1] * x[1] + P[2] * x[2] + P[3] + 0.5);
    return at >= 0 && at < SAMPLES ? profile[(size_t)at] : 0;
}

static void rows_of_the_kind(const struct fbp_job *job, size_t k0, size_t k1, size_t z0, size_t z1,
                             size_t *r0, size_t *r1)
{
    OK(fbp_geometry_rows(views, k0, k1, &job->grid, z0, z1, r0, r1));
}

static size_t filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return n_views * n_rows * job->panel.n_columns * sizeof(float);
}

static size_t slice_bytes(const struct fbp_job *job)
{
    return job->grid.n[0] * job->grid.n[1] * sizeof(float);
}

static size_t volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return slab->nz * slice_bytes(job);
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    FBP_TRY(fbp_calloc((void **)out, 1, sizeof **out, "device"));
    (*out)->job = job;
    return FBP_OK;
}

static void close_device(fbp_device **dev)
{
    free(*dev);
    *dev = NULL;
}

/* Any filter will do: the second difference, the heart of the 3-D inversion. */
static fbp_status filter(fbp_device *dev, const struct fbp_batch *b, void *raw, void *filtered)
{
    for (size_t k = 0; k < b->n_views; k++) {
        const float *in = (const float *)raw + k * SAMPLES;
        float *out = (float *)filtered + k * SAMPLES;
        for (size_t i = 0; i < SAMPLES; i++)
            out[i] = -2 * in[i] + (i > 0 ? in[i - 1] : 0) + (i + 1 < SAMPLES ? in[i + 1] : 0);
    }
    return FBP_OK;
}

static fbp_status clear(fbp_device *dev, const struct fbp_slab *slab, void *volume)
{
    memset(volume, 0, volume_bytes(dev->job, slab));
    return FBP_OK;
}

static void add(const struct fbp_grid *g, const float *profile, size_t k, size_t z0, size_t z1,
                float *out)
{
    double P[12];

    OK(fbp_view_to_matrix(&view[k], FBP_PLANES, &panel, P));
    for (size_t z = z0; z < z1; z++)
        for (size_t y = 0; y < g->n[1]; y++)
            for (size_t x = 0; x < g->n[0]; x++) {
                const double at[3] = {fbp_grid_coordinate(g, 0, (double)x),
                                      fbp_grid_coordinate(g, 1, (double)y),
                                      fbp_grid_coordinate(g, 2, (double)z)};
                *out++ += nearest(profile, P, at);
            }
}

static fbp_status backproject(fbp_device *dev, const struct fbp_batch *b, const void *filtered,
                              const struct fbp_slab *slab, size_t z0, size_t z1, void *volume)
{
    const struct fbp_grid *g = &dev->job->grid;

    for (size_t k = 0; k < b->n_views; k++)
        add(g, (const float *)filtered + k * SAMPLES, b->view0 + k, z0, z1,
            (float *)volume + (z0 - slab->z0) * g->n[0] * g->n[1]);
    return FBP_OK;
}

static fbp_status fetch(fbp_device *dev, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host)
{
    const size_t slice = slice_bytes(dev->job);
    memcpy(host, (const char *)volume + (z0 - slab->z0) * slice, (z1 - z0) * slice);
    return FBP_OK;
}

/* The least that a backend must bring. */
static const struct fbp_backend least = {
    .name = "planes",
    .filtered_bytes = filtered_bytes,
    .volume_bytes = volume_bytes,
    .can.group_views = 4,
    .open = open_device,
    .close = close_device,
    .filter = filter,
    .clear = clear,
    .backproject = backproject,
    .fetch = fetch,
};

static void write_profiles(const char *path, float profiles[DIRECTIONS][SAMPLES])
{
    const struct fbp_sink_params params = {.struct_size = sizeof params};
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {SAMPLES, 1, DIRECTIONS}, .spacing_mm = {1, 1, 1}};

    for (size_t k = 0; k < DIRECTIONS; k++)
        for (size_t i = 0; i < SAMPLES; i++)
            profiles[k][i] = (float)((k * 37 + i * 11) % 17);
    save_array(path, &info, &params, profiles[0]);
}

/* What the pipeline must give, in one loop. */
static void expect(float profiles[DIRECTIONS][SAMPLES], const struct fbp_job *job, float *out)
{
    float filtered[DIRECTIONS][SAMPLES];
    const struct fbp_batch all = {.n_views = DIRECTIONS, .n_rows = 1, .load_rows = 1};

    (void)filter(NULL, &all, profiles, filtered);
    memset(out, 0, N * slice_bytes(job));
    for (size_t k = 0; k < DIRECTIONS; k++)
        add(&job->grid, filtered[k], k, 0, N, out);
}

/* Callers ask for no slot before they call it. */
TEST(left_out_slots_are_filled)
{
    struct fbp_backend b;

    fbp_backend_complete(&least, &b);
    assert_true(b.discovery.count && b.discovery.describe && b.choose && b.remark && b.fixed_bytes);
    assert_true(b.rates && b.memory.host_alloc && b.memory.host_release && b.memory.reaches &&
                b.memory.alloc && b.memory.release);
    assert_true(b.memory.upload && b.statistics && b.event.record && b.event.stage_wait &&
                b.event.host_wait && b.event.timestamp && b.event.seconds);
    assert_true(b.repair.set_bitmap && b.repair.counts);
    assert_true(b.in_host && !b.can.own_memory && !b.can.statistics);
    for (const struct fbp_backend *const *at = fbp_backends; *at; at++) {
        fbp_backend_complete(*at, &b);
        assert_int_equal(b.can.own_memory, (*at)->memory.alloc != NULL);
        assert_true(b.event.record && b.event.timestamp && b.repair.counts && b.rates);
    }
    assert_ptr_equal(fbp_backend_find("cpu"), fbp_backend_find("cpu"));
    assert_true(fbp_backend_find("mock")->can.own_memory && fbp_backend_find("mock")->in_host);
}

static struct fbp_backend planes;

/* One rank of `work`, which begins with its own share of the slabs; the last one finishes. */
static void run_rank(const struct fbp_job *job, const struct fbp_work *work, size_t rank,
                     const char *in, const char *out)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {N, N, N}, .spacing_mm = {1, 1, 1}};
    const struct fbp_sink_params keep = {
        .struct_size = sizeof keep, .fingerprint = 42, .resume = true};
    struct fbp_report report = {.struct_size = sizeof report};
    static const int device = 0;

    CLEANUP(fbp_source_close) fbp_source *source = open_source(in, NULL);
    CLEANUP(fbp_sink_close) fbp_sink *sink = create_sink(out, &info, &keep);
    OK(fbp_run(&(struct fbp_run_request){.job = job,
                                         .backend = &planes,
                                         .work = work,
                                         .source = source,
                                         .sink = sink,
                                         .devices = &device,
                                         .n_devices = 1,
                                         .first_worker = rank},
               &report));
    assert_true(fbp_sink_has(sink, 2 * rank, 2));
    if (rank == 2)
        OK(fbp_sink_finish(sink));
}

/* Three ranks, one after another, each with its share of the slabs of one plan. */
static void run_ranks(const struct fbp_job *job, const char *in, const char *out)
{
    const struct fbp_work_request rq = {.job = job,
                                        .backend = &planes,
                                        .n_workers = 3,
                                        .memory_limit = 1 << 30,
                                        .batch_views = 8,
                                        .slab_slices = 2};
    struct fbp_work work;

    OK(fbp_work_divide(&rq, &work));
    assert_int_equal(work.n_slabs, N / 2);
    for (size_t rank = 0; rank < 3; rank++)
        run_rank(job, &work, rank, in, out);
}

TEST(planes_plug_in)
{
    static float profiles[DIRECTIONS][SAMPLES], wanted[N * N * N];
    const struct fbp_prep prep = {.panel = {SAMPLES, 1}};
    const struct fbp_job job = {.kind = FBP_PLANES,
                                .selection.symmetric_views = 1,
                                .n_views = DIRECTIONS,
                                .panel = {SAMPLES, 1},
                                .padded.panel = {SAMPLES, 1},
                                .grid = {{N, N, N}, {1, 1, 1}, {0, 0, 0}},
                                .filtering.prep = &prep,
                                .views = view,
                                .rows = rows_of_the_kind,
                                .n_threads = 1};
    AUTO_REMOVE char *in = temporary("profiles.mha"), *out = temporary("planes.mha");

    make_views();
    fbp_backend_complete(&least, &planes);
    write_profiles(in, profiles);
    expect(profiles, &job, wanted);
    run_ranks(&job, in, out);
    AUTO_FREE float *got = read_array(out);
    assert_memory_equal(got, wanted, sizeof wanted);
}

TEST_MAIN(NULL, NULL)
