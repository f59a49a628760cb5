/* Checks views and volumes in the memory of a device: the bits of a run between files, without
 * access by the host, which would end the test. */
#include "recon/slabs.h"

#include <pthread.h>
#include <stdatomic.h>

/* A scan, its samples in memory that looks like that of device mock:0, room for a volume beside
 * them, and the volume as it should be. */
struct fixture {
    struct fbp_scan scan;
    struct fbp_array_info info;
    float *views, *volume, *right;
    size_t n_voxels, n[3];
};

static float *volume_of(const struct fbp_scan *scan, const struct fbp_recon_params *params)
{
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(scan, params);
    return run_to_memory(plan, NULL, NULL);
}

static int set_up(void **state)
{
    static struct fixture f;

    without_cache(state);
    f.scan = make_scan();
    memcpy(f.n, f.scan.volume.n, sizeof f.n);
    f.n_voxels = grid_size(&f.scan.volume);
    fbp_source *source = open_source(f.scan.projections, NULL);
    f.info = *fbp_source_info(source);
    fbp_source_close(&source);
    f.info.struct_size = sizeof f.info;
    f.views = read_array(f.scan.projections);
    f.volume = malloc(f.n_voxels * sizeof *f.volume);
    assert_non_null(f.volume);
    f.right = volume_of(&f.scan, fbp_recon_params(.device = "cpu"));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->views);
    free(f->volume);
    free(f->right);
    drop_scan(&f->scan);
    return 0;
}

/* *like: views of that sort, which must outlive the plan. */
static fbp_plan *plan_for(const struct fixture *f, const struct fbp_recon_params *given,
                          const struct fbp_array_info *info, fbp_source **like)
{
    struct fbp_recon_params p = *given;

    OK(fbp_source_memory(like, NULL, info));
    p.input.source = *like;
    return create_plan(&f->scan, &p);
}

/* From device memory into device memory; *copied: bytes between that and the host's. */
static void run(struct fixture *f, const struct fbp_recon_params *p, const void *views,
                const struct fbp_array_info *info, struct fbp_report *report, uint64_t *copied)
{
    const uint64_t before = fbp_mock_copied;
    fbp_source *source, *like;
    fbp_plan *plan = plan_for(f, p, info, &like);
    fbp_sink *sink;

    memset(f->volume, 0xff, f->n_voxels * sizeof *f->volume);
    OK(fbp_source_device_memory(&source, fbp_mock_device_memory((void *)(uintptr_t)views), info,
                                "mock", NULL));
    for (int time = 0; time < 2; time++) {
        OK(fbp_sink_device_memory(&sink, fbp_mock_device_memory(f->volume), FBP_F32, f->n, "mock",
                                  NULL));
        OK(fbp_plan_run_to(plan, source, sink, report));
        fbp_sink_close(&sink);
    }
    *copied = fbp_mock_copied - before;
    fbp_source_close(&source);
    fbp_plan_destroy(&plan);
    fbp_source_close(&like);
}

static void check(const struct fixture *f, const float *right, const char *what)
{
    if (memcmp(f->volume, right, f->n_voxels * sizeof *right) != 0)
        fail_msg("%s: another volume", what);
}

/* However the work is divided; of views only the rows that are looked at come to the host. */
TEST(nothing_leaves_the_device)
{
    struct fixture *f = *state;
    const uint64_t row = f->info.n[0] * sizeof(float), looks = 8 * f->info.n[2] * row;
    uint64_t copied;

    for (int way = 0; way < WAYS; way++)
        for (size_t slices = 0; slices <= 7; slices += 7) {
            fbp_mock_faults = (struct fbp_mock_faults){.rates = *ways[way]};
            run(f,
                fbp_recon_params(.device = "mock:0", .tuning.slab_slices = slices,
                                 .tuning.batch_views = slices ? 8 : 0),
                f->views, &f->info, NULL, &copied);
            check(f, f->right, "on the device");
            assert_true(copied <= 2 * looks);
        }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* A box, of which the device computes more than is asked for, comes through the host. */
TEST(boxes_are_right)
{
    struct fixture *f = *state;
    const struct fixture whole = *f;
    const size_t n[3] = {30, 29, 20};
    uint64_t copied;

    memcpy(f->n, n, sizeof n);
    f->n_voxels = n[0] * n[1] * n[2];
    run(f, fbp_recon_params(.device = "mock:0", .box = {{5, 35}, {3, 32}, {11, 31}}), f->views,
        &f->info, NULL, &copied);
    assert_box("a box", sizeof *f->volume, f->volume, f->right, whole.n,
               (const size_t[3][2]){{5, 35}, {3, 32}, {11, 31}});
    *f = whole;
}

/* Counts stay counts. */
TEST(counts_are_copied_as_they_are)
{
    struct fixture *f = *state;
    const size_t n = f->info.n[0] * f->info.n[1] * f->info.n[2];
    struct fbp_array_info info = f->info;
    AUTO_FREE uint16_t *counts = malloc(n * sizeof *counts);
    uint64_t copied;
    char *path = temporary("counts.mha"), *const floats = f->scan.projections;

    assert_non_null(counts);
    for (size_t i = 0; i < n; i++)
        counts[i] = (uint16_t)(60000 * exp(-(double)f->views[i]));
    info.type = FBP_U16;
    fbp_sink *sink = create_sink(
        path, &info,
        &(struct fbp_sink_params){
            .struct_size = sizeof(struct fbp_sink_params), .type = FBP_U16, .range = {0, 65535}});
    for (size_t i = 0; i < n; i++)
        f->views[i] = counts[i];
    OK(fbp_sink_write(sink, 0, info.n[2], FBP_F32, f->views));
    OK(fbp_sink_finish(sink));
    fbp_sink_close(&sink);
    f->scan.projections = path;
    f->scan.i0 = 60000;
    AUTO_FREE float *right = volume_of(&f->scan, fbp_recon_params(.device = "cpu"));
    run(f, fbp_recon_params(.device = "mock:0"), counts, &info, NULL, &copied);
    check(f, right, "counts");
    assert_true(copied <= 16 * info.n[2] * info.n[0] * sizeof *counts);
    f->scan.i0 = 0;
    f->scan.projections = floats;
    free(f->views);
    f->views = read_array(floats);
    remove(path);
    free(path);
}

/* Other devices, rows that run down, a volume that the host has to finish. */
TEST(elsewhere_it_is_copied)
{
    static const char *const devices[] = {"mock:1", "mock:0,1", "mock:all", "cpu", "ref"};
    struct fixture *f = *state;
    struct fbp_array_info down = f->info;
    const size_t row = f->info.n[0], rows = f->info.n[1];
    uint64_t copied;

    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        AUTO_FREE float *right = volume_of(&f->scan, fbp_recon_params(.device = devices[i]));
        run(f, fbp_recon_params(.device = devices[i], .tuning.slab_slices = 9), f->views, &f->info,
            NULL, &copied);
        check(f, right, devices[i]);
        assert_true(copied >= 2 * f->n_voxels / 4 * sizeof(float) || i == 1 || i == 2);
    }

    AUTO_FREE float *turned = not_null(malloc(row * rows * f->info.n[2] * sizeof *turned));
    for (size_t k = 0; k < f->info.n[2] * rows; k++)
        memcpy(turned + k * row, f->views + (k / rows * rows + rows - 1 - k % rows) * row,
               row * sizeof *turned);
    down.row_order =
        f->info.row_order == FBP_ROWS_TOP_DOWN ? FBP_ROWS_BOTTOM_UP : FBP_ROWS_TOP_DOWN;
    run(f, fbp_recon_params(.device = "mock:0"), turned, &down, NULL, &copied);
    check(f, f->right, "rows that run down");

    const struct fbp_recon_params masked = {.struct_size = sizeof masked,
                                            .device = "mock:0",
                                            .output.fill = true,
                                            .output.fill_value = -7,
                                            .region.shape = "ball:0,0,0,60"};
    AUTO_FREE float *right = volume_of(&f->scan, &masked);
    run(f, &masked, f->views, &f->info, NULL, &copied);
    check(f, right, "with a mask");
}

/* What the run says of volume and views is what it says of those in files. */
TEST(reports_are_the_same)
{
    struct fixture *f = *state;
    struct fbp_report far = {.struct_size = sizeof far}, file = far;
    uint64_t copied;

    for (size_t k = 3; k < 6; k++) /* dead views */
        for (size_t i = 0; i < f->info.n[0] * f->info.n[1]; i++)
            f->views[k * f->info.n[0] * f->info.n[1] + i] = 0.5F;
    run(f, fbp_recon_params(.device = "mock:0"), f->views, &f->info, &far, &copied);
    fbp_plan *plan = create_plan(&f->scan, fbp_recon_params(.device = "mock:0"));
    fbp_source *source = memory_source(f->views, &f->info);
    free(run_to_memory(plan, source, &file));
    fbp_source_close(&source);
    fbp_plan_destroy(&plan);
    assert_int_equal(far.dead_views, 3);
    assert_int_equal(file.dead_views, 3);
    assert_int_equal(far.truncated_views, file.truncated_views);
    assert_int_equal(far.exposure_views, file.exposure_views);
    if (far.min != file.min || far.max != file.max || far.mean != file.mean)
        fail_msg("values %g to %g, mean %g; of the same in files %g to %g, %g", far.min, far.max,
                 far.mean, file.min, file.max, file.mean);
    free(f->views);
    f->views = read_array(f->scan.projections);
}

/* The caller's queue still writes the views, and reads the volume, when the run is called. */
struct caller {
    atomic_bool busy;
    float *to;
    const float *from;
    size_t n;
};

static void *work(void *user)
{
    struct caller *c = user;

    usleep(50000);
    memcpy(c->to, c->from, c->n * sizeof *c->to);
    atomic_store(&c->busy, false);
    return NULL;
}

/* Of a plan for views that lie on a device, or (NULL) in the host's memory. */
static size_t batches_of(const struct fbp_scan *scan, const struct fbp_array_info *info,
                         const char *device, const void *far)
{
    fbp_source *source;

    if (far)
        OK(fbp_source_device_memory(&source, far, info, "mock", NULL));
    else
        OK(fbp_source_memory(&source, NULL, info));
    fbp_plan *plan = create_plan(scan, fbp_recon_params(.device = device, .input.source = source));
    const size_t n = fbp_plan_info(plan)->n_batches;
    fbp_plan_destroy(&plan);
    fbp_source_close(&source);
    return n;
}

/* Views that the device has are taken in few batches; those that it gets from the host are not. */
TEST(batches_know_who_reads)
{
    const struct fixture *f = *state;
    const void *far = fbp_mock_device_memory(f->views);
    struct fbp_corrections c = {.struct_size = sizeof c};
    struct fbp_array_info down = f->info;
    AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan};

    assert_true(batches_of(&f->scan, &f->info, "mock:0", far) <
                batches_of(&f->scan, &f->info, "mock:0", NULL));
    for (int i = 0; i < 2; i++) {
        const char *other = i ? "mock:1" : "cpu";
        assert_int_equal(batches_of(&f->scan, &f->info, other, far),
                         batches_of(&f->scan, &f->info, other, NULL));
    }
    down.row_order = FBP_ROWS_TOP_DOWN;
    assert_int_equal(batches_of(&f->scan, &down, "mock:0", far),
                     batches_of(&f->scan, &down, "mock:0", NULL));
    OK(fbp_scan_copy(&scan, &f->scan));
    OK(fbp_corrections_rings(&c, "sorting:5"));
    OK(fbp_scan_correct(&scan, &c));
    assert_int_equal(batches_of(&scan, &f->info, "mock:0", far),
                     batches_of(&scan, &f->info, "mock:0", NULL));
}

TEST(the_callers_queue_is_awaited)
{
    struct fixture *f = *state;
    const size_t n = f->info.n[0] * f->info.n[1] * f->info.n[2];
    AUTO_FREE float *late = calloc(n, sizeof *late);
    struct caller c = {.busy = true, .to = late, .from = f->views, .n = n};
    CLEANUP(fbp_source_close) fbp_source *source = NULL, *like = NULL;
    fbp_plan *plan = plan_for(f, fbp_recon_params(.device = "mock:0"), &f->info, &like);
    fbp_sink *sink;
    pthread_t thread;

    assert_non_null(late);
    OK(fbp_source_device_memory(&source, fbp_mock_device_memory(late), &f->info, "mock", &c.busy));
    OK(fbp_sink_device_memory(&sink, fbp_mock_device_memory(f->volume), FBP_F32, f->n, "mock",
                              &c.busy));
    assert_int_equal(pthread_create(&thread, NULL, work, &c), 0);
    OK(fbp_plan_run_to(plan, source, sink, NULL));
    pthread_join(thread, NULL);
    check(f, f->right, "after the caller's queue");

    AUTO_FREE char *path = temporary("awaited.mha"); /* a run into a file waits, too */
    fbp_plan_destroy(&plan);
    OK(fbp_plan_create(&plan, &f->scan,
                       fbp_recon_params(.device = "mock:0", .input.source = source)));
    memset(late, 0, n * sizeof *late);
    atomic_store(&c.busy, true);
    assert_int_equal(pthread_create(&thread, NULL, work, &c), 0);
    OK(fbp_plan_run(plan, path, NULL));
    pthread_join(thread, NULL);
    AUTO_FREE float *volume = read_array(path);
    assert_memory_equal(volume, f->right, f->n_voxels * sizeof *volume);
    remove(path);

    memset(late, 0, n * sizeof *late); /* whoever reads it waits, too */
    atomic_store(&c.busy, true);
    assert_int_equal(pthread_create(&thread, NULL, work, &c), 0);
    AUTO_FREE float *read = not_null(malloc(n * sizeof *read));
    OK(fbp_source_read(source, 0, f->info.n[2], 0, f->info.n[1], FBP_F32, read));
    pthread_join(thread, NULL);
    assert_memory_equal(read, f->views, n * sizeof *read);
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
}

TEST(other_memory_is_refused)
{
    struct fixture *f = *state;
    fbp_source *source;
    fbp_sink *sink;
    void *far = fbp_mock_device_memory(f->volume);

    assert_int_equal(fbp_device_of_memory("mock", far, 4), 0);
    assert_int_equal(fbp_device_of_memory("mock", f->volume, 4), -1);
    assert_int_equal(fbp_device_of_memory("mock", NULL, 4), -1);
    assert_int_equal(fbp_device_of_memory("abacus", far, 4), -1);
    assert_int_equal(fbp_device_of_memory("cpu", f->volume, 4), -1);
    assert_fails(fbp_source_device_memory(&source, f->views, &f->info, "mock", NULL),
                 FBP_ERR_INVALID, "not in the memory of a single mock device");
    assert_null(source);
    assert_fails(fbp_source_device_memory(&source, NULL, &f->info, "mock", NULL), FBP_ERR_INVALID,
                 "not in the memory of a single mock device");
    assert_fails(fbp_source_device_memory(&source, far, &f->info, "abacus", NULL),
                 FBP_ERR_UNSUPPORTED, "\"abacus\" is unknown, or not part of this build");
    assert_fails(fbp_source_device_memory(&source, f->views, &f->info, "cpu", NULL),
                 FBP_ERR_INVALID, "not in the memory of a single cpu device");
    assert_fails(fbp_sink_device_memory(&sink, far, FBP_U8, f->n, "mock", NULL), FBP_ERR_INVALID,
                 "samples of type uint8");
    assert_fails(fbp_sink_device_memory(&sink, f->volume, FBP_F32, f->n, "mock", NULL),
                 FBP_ERR_INVALID, "not in the memory of a single mock device");
    assert_null(sink);
}

static void *finish(void *user)
{
    usleep(20000);
    atomic_store((atomic_bool *)user, false);
    return NULL;
}

/* Queues for those whose memory is another library's: given to it, and waited for here. */
TEST(queues_are_waited_for)
{
    struct fixture *f = *state;
    const size_t n = f->info.n[0] * f->info.n[1] * f->info.n[2];
    AUTO_FREE float *read = not_null(malloc(n * sizeof *read));
    void *queue[2];
    fbp_source *source;
    pthread_t thread;

    OK(fbp_device_queue_create(&queue[0], "mock", 0));
    OK(fbp_device_queue_create(&queue[1], "mock", 0));
    assert_ptr_not_equal(queue[0], queue[1]);
    OK(fbp_device_queue_wait("mock", queue[0])); /* nothing is in it */
    OK(fbp_device_queue_wait("mock", NULL));
    OK(fbp_source_device_memory(&source, fbp_mock_device_memory(f->views), &f->info, "mock",
                                queue[1]));
    for (int k = 0; k < 2; k++) {
        atomic_store((atomic_bool *)queue[k], true);
        assert_int_equal(pthread_create(&thread, NULL, finish, queue[k]), 0);
        if (k == 0)
            OK(fbp_device_queue_wait("mock", queue[k]));
        else
            OK(fbp_source_read(source, 0, f->info.n[2], 0, f->info.n[1], FBP_F32, read));
        assert_false(atomic_load((atomic_bool *)queue[k]));
        pthread_join(thread, NULL);
    }
    assert_memory_equal(read, f->views, n * sizeof *read);
    fbp_source_close(&source);
    fbp_device_queue_destroy("mock", queue[0]);
    fbp_device_queue_destroy("mock", queue[1]);
    fbp_device_queue_destroy("mock", NULL);
    assert_fails(fbp_device_queue_create(&queue[0], "cpu", 0), FBP_ERR_UNSUPPORTED,
                 "cpu has no queues");
    assert_null(queue[0]);
    assert_fails(fbp_device_queue_wait("abacus", NULL), FBP_ERR_UNSUPPORTED,
                 "\"abacus\" is unknown, or not part of this build");
}

/* The last one: the scan is another afterwards.  Means of pixels are made of what is copied. */
TEST(reduced_scans_are_read)
{
    struct fixture *f = *state;
    uint64_t copied;

    OK(fbp_scan_reduce(&f->scan, 2, 3));
    AUTO_FREE float *right = volume_of(&f->scan, fbp_recon_params(.device = "mock:0"));
    run(f, fbp_recon_params(.device = "mock:0"), f->views, &f->info, NULL, &copied);
    check(f, right, "a reduced scan");
    assert_true(copied > 0);
}

TEST_MAIN(set_up, tear_down)
