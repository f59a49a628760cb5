/* A device is handed boxes of slices as slabs: each voxel gets the bits that it has in the whole
 * volume, and kernels that compute whole slices only are not handed any. */
#include "recon/boxes.h"

#include "backend/device.h"
#include "backend/mock/mock.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "backend/statistics.h"
#include "base/status.h"
#include "plan/job.h"
#include "plan/work.h"

enum { N_BOXES = 12 };

/* A device that holds all views of a case, filtered. */
struct side {
    const struct fbp_backend *backend;
    struct fbp_scan scan;
    struct fbp_job_tables tables;
    fbp_device *dev;
    struct fbp_batch batch;
    void *filtered, *volume;
};

static fbp_status settle(const struct side *s)
{
    for (int i = 0; i < FBP_N_STAGES; i++)
        FBP_TRY(fbp_device_settle(s->backend, s->dev, (enum fbp_stage)i));
    return FBP_OK;
}

static void arrange(struct side *s, const struct scan_case *c)
{
    const struct fbp_recon_params params = {.struct_size = sizeof params,
                                            .kernel = c->kernel,
                                            .precision = c->precision,
                                            .n_threads = 2,
                                            .mu_water = c->views % 2 ? 0.02 : 0};
    char name[8] = "", why[300];

    sscanf(c->device, "%7[a-z]", name);
    *s = (struct side){.backend = fbp_backend_find(name), .scan = make_scan(c)};
    assert_true(fbp_backend_count(&s->backend, why, sizeof why) > 0);
    OK(fbp_job_create(&s->tables, &s->scan, &params, false));
    OK(fbp_job_arrange(&s->tables.job, s->backend));
}

/* All views as the whole volume needs them: what they hold does not matter. */
static void filter_views(struct side *s)
{
    const struct fbp_job *job = &s->tables.job;
    const size_t n = fbp_raw_samples(job, &s->batch);
    const struct fbp_buffer raw = {FBP_FOR_RAW, n * sizeof(float), s->batch.n_views,
                                   s->batch.load_rows};
    float *host = malloc(n * sizeof *host);
    void *device = NULL;

    assert_non_null(host);
    for (size_t i = 0; i < n; i++)
        host[i] = (float)(i * 2654435761u % 1000) * 1e-3f;
    OK(s->backend->alloc(s->dev, &raw, &device));
    if (s->backend->own_memory)
        OK(s->backend->upload(s->dev, device, host, n));
    else
        memcpy(device, host, n * sizeof *host);
    OK(settle(s));
    OK(s->backend->filter(s->dev, &s->batch, device, s->filtered));
    OK(settle(s));
    fbp_device_put(s->backend, s->dev, FBP_FOR_RAW, device);
    free(host);
}

static void open_side(struct side *s)
{
    const struct fbp_job *job = &s->tables.job;
    const size_t n = job->n_views;
    const struct fbp_work work = {.group_views = n, .n_batches = 1, .batch_views = n};
    const struct fbp_slab all = fbp_slab_whole(job, 0, fbp_layers(job));

    s->batch = fbp_work_batch(&work, job, &all, 0);
    s->batch.kept = true;
    OK(s->backend->open(&s->dev, 0, job));
    const size_t bytes = s->backend->filtered_bytes(job, n, s->batch.n_rows);
    OK(s->backend->alloc(s->dev, &(struct fbp_buffer){FBP_FOR_FILTERED, bytes, n, s->batch.n_rows},
                         &s->filtered));
    OK(s->backend->alloc(
        s->dev, &(struct fbp_buffer){FBP_FOR_VOLUME, s->backend->volume_bytes(job, &all), 0, 0},
        &s->volume));
    filter_views(s);
}

static void close_side(struct side *s)
{
    if (s->dev) {
        OK(settle(s));
        fbp_device_put(s->backend, s->dev, FBP_FOR_FILTERED, s->filtered);
        fbp_device_put(s->backend, s->dev, FBP_FOR_VOLUME, s->volume);
        s->backend->close(&s->dev);
    }
    fbp_job_clear(&s->tables);
    drop_scan(&s->scan);
}

/* The slab's slices of both halves, in their order along z, into out; *first: which the first one
 * is; returns how many there are.  Layers in two steps. */
static size_t reconstruct_slab(struct side *s, const struct fbp_slab *slab, float *out,
                               size_t *first)
{
    const struct fbp_job *job = &s->tables.job;
    const size_t end = slab->z0 + slab->nz, middle = slab->z0 + slab->nz / 2;
    size_t n = 0;

    OK(s->backend->clear(s->dev, slab, s->volume));
    if (middle > slab->z0)
        OK(s->backend->backproject(s->dev, &s->batch, s->filtered, slab, slab->z0, middle,
                                   s->volume));
    OK(s->backend->backproject(s->dev, &s->batch, s->filtered, slab, middle, end, s->volume));
    OK(settle(s));
    for (size_t half = fbp_halves(job); half-- > 0;) {
        size_t z0, z1;
        fbp_layer_range(job, half, slab->z0, end, &z0, &z1);
        if (z0 == z1)
            continue;
        OK(s->backend->fetch(s->dev, slab, z0, z1, s->volume, out + n * fbp_slab_slice(slab)));
        OK(settle(s));
        *first = n == 0 ? z0 : *first;
        n += z1 - z0;
    }
    return n;
}

static void check_statistics(const struct side *s, const float *x, size_t n)
{
    struct fbp_statistics found, right = FBP_NO_STATISTICS;

    if (!s->backend->has_statistics)
        return;
    OK(s->backend->statistics(s->dev, &found));
    fbp_statistics_add(&right, x, n);
    assert_true(found.min == right.min && found.max == right.max);
    assert_true(fabs(found.sum - right.sum) <=
                1e-5 * (double)n * fmax(fabs(right.max), fabs(right.min)));
}

/* A box of layers whose slices are side by side: as a rule, mirrored ones are not. */
static void draw_slab(unsigned *seed, const struct fbp_job *job, size_t box[3][2])
{
    const size_t n[3] = {job->grid.n[0], job->grid.n[1], fbp_layers(job)};

    draw_box(seed, n, box);
    for (int i = 0; i < 3; i++)
        if (box[i][1] == 0)
            box[i][1] = n[i];
    if (job->mirrored)
        box[2][0] = 0;
}

static void check_boxes(struct side *s, const struct scan_case *c, unsigned *seed)
{
    const struct fbp_job *job = &s->tables.job;
    const struct fbp_slab all = fbp_slab_whole(job, 0, fbp_layers(job));
    float *whole = malloc(grid_size(&job->grid) * sizeof *whole);
    float *part = malloc(grid_size(&job->grid) * sizeof *part);
    size_t first;

    assert_true(whole && part);
    assert_int_equal(reconstruct_slab(s, &all, whole, &first), job->grid.n[2]);
    check_statistics(s, whole, grid_size(&job->grid));
    for (int i = 0; i < N_BOXES; i++) {
        size_t box[3][2];
        struct fbp_slab slab;
        draw_slab(seed, job, box);
        OK(fbp_slab_box(job, (const size_t(*)[2])box, &slab));
        assert_true(s->backend->volume_bytes(job, &slab) <= s->backend->volume_bytes(job, &all));
        const size_t n = reconstruct_slab(s, &slab, part, &first);
        check_statistics(s, part, n * fbp_slab_slice(&slab));
        box[2][0] = first;
        box[2][1] = first + n;
        assert_box(c->kernel, part, whole, job->grid.n, (const size_t(*)[2])box);
    }
    free(whole);
    free(part);
}

static void boxes_have_the_volumes_bits(void **state)
{
    unsigned seed = 3;

    (void)state;
    fbp_mock_plant = (struct fbp_mock_plant){0};
    for (size_t i = 0; i < N_CASES; i++) {
        struct side s;
        if (!cases[i].boxes || !can_compute(&cases[i]))
            continue;
        arrange(&s, &cases[i]);
        assert_true(s.tables.job.boxes);
        open_side(&s);
        check_boxes(&s, &cases[i], &seed);
        close_side(&s);
    }
}

static void refused(const struct fbp_job *job, const size_t box[3][2], fbp_status status,
                    const char *sentence)
{
    struct fbp_slab slab;

    fbp_message_clear();
    assert_int_equal(fbp_slab_box(job, box, &slab), status);
    if (!strstr(fbp_message(), sentence))
        fail_msg("\"%s\" does not say \"%s\"", fbp_message(), sentence);
}

static void boxes_that_are_not_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        struct side s;
        if (!can_compute(&cases[i]))
            continue;
        arrange(&s, &cases[i]);
        const struct fbp_job *job = &s.tables.job;
        const size_t nx = job->grid.n[0], ny = job->grid.n[1], nl = fbp_layers(job);
        struct fbp_slab slab;
        refused(job, (const size_t[3][2]){{3, 3}, {0, ny}, {0, 1}}, FBP_ERR_INVALID,
                "slab: voxels 3:3 along x");
        refused(job, (const size_t[3][2]){{0, nx}, {0, ny + 1}, {0, 1}}, FBP_ERR_INVALID,
                "along y: there are 0:");
        refused(job, (const size_t[3][2]){{0, nx}, {0, ny}, {1, nl + 1}}, FBP_ERR_INVALID,
                job->mirrored ? "slab: layers 1:" : "slab: voxels 1:");
        OK(fbp_slab_box(job, (const size_t[3][2]){{0, nx}, {0, ny}, {1, 3}}, &slab));
        if (!cases[i].boxes)
            refused(job, (const size_t[3][2]){{0, nx}, {2, ny}, {0, 1}}, FBP_ERR_UNSUPPORTED,
                    "computes whole slices");
        close_side(&s);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_have_the_volumes_bits),
        cmocka_unit_test(boxes_that_are_not_are_refused),
    };

    return run_chosen_tests(tests, argc, argv);
}
