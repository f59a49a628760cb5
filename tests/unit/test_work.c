/* Checks the division of the work into slabs and batches: each slice and view once, within every
 * limit of memory, or a message with the memory that is needed. */
#include "unit/job_util.h"

#include "devices/mock/mock.h"
#include "pipeline/division.h"

#include "backend/views.h"

static struct fbp_work_request request(const struct case_ *c, uint64_t limit)
{
    return (struct fbp_work_request){.job = &c->tables.job,
                                     .backend = fbp_backend_find("cpu"),
                                     .n_workers = 1,
                                     .base_bytes = 8 << 20,
                                     .memory_limit = limit};
}

/* Slabs tile the slices, batches the views; rows of a batch are those its slab needs. */
static void check_cover(const struct fbp_work *w, const struct fbp_job *job, size_t group)
{
    size_t z = 0;

    for (size_t i = 0; i < w->n_slabs; i++) {
        const struct fbp_slab slab = fbp_work_slab(w, job, i);
        size_t view = 0;
        assert_int_equal(slab.z0, z);
        assert_true(slab.nz > 0 && slab.nz <= w->slab_slices);
        z += slab.nz;
        for (size_t b = 0; b < w->n_batches; b++) {
            const struct fbp_batch batch = fbp_work_batch(w, job, &slab, b);
            size_t r0, r1;
            assert_int_equal(batch.view0, view);
            assert_int_equal(batch.view0 % group, 0);
            assert_true(batch.n_views > 0);
            view += batch.n_views;
            job->rows(job, batch.view0, view, slab.z0, z, &r0, &r1);
            assert_int_equal(batch.n_rows, r1 - r0);
            assert_true(batch.n_rows <= w->filter_rows && batch.load_rows <= w->load_rows);
        }
        assert_int_equal(view, job->n_views);
    }
    assert_int_equal(z, job->grid.n[2]);
}

TEST(covers_everything_within_the_limit)
{
    static const uint64_t limits[] = {40 << 20, 64 << 20, 100 << 20, 150 << 20, (uint64_t)1 << 34};
    struct case_ c;
    size_t slabs = (size_t)-1;

    setup(&c, 2, 361, 384, (struct fbp_grid){{256, 256, 251}, {1, 1, 1}, {0, 0, 0}});
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct fbp_work_request rq = request(&c, limits[i]);
        struct fbp_work w;
        OK(fbp_work_divide(&rq, &w));
        assert_true(w.memory_bytes <= limits[i]);
        assert_true(w.n_slabs <= slabs); /* more memory, never more slabs */
        slabs = w.n_slabs;
        check_cover(&w, &c.tables.job, rq.backend->can.group_views);
    }
    assert_int_equal(slabs, 1);
    drop(&c);
}

TEST(honours_wishes)
{
    struct case_ c;

    setup(&c, 2, 13, 32, (struct fbp_grid){{20, 21, 22}, {4, 4, 4}, {0, 0, 9}});
    for (size_t slices = 1; slices <= 23; slices++)
        for (size_t batch = 1; batch <= 20; batch += 3)
            for (size_t workers = 1; workers <= 4; workers++) {
                struct fbp_work_request rq = request(&c, 1 << 30);
                struct fbp_work w;
                rq.slab_slices = slices;
                rq.batch_views = batch;
                rq.n_workers = workers;
                OK(fbp_work_divide(&rq, &w));
                assert_true(w.slab_slices <= slices);
                assert_true(w.n_slabs >= workers);
                check_cover(&w, &c.tables.job, rq.backend->can.group_views);
            }
    drop(&c);
}

/* Every slice of the volume gets every view once and in order, is cleared before and finished
 * after; each view is read once a worker if filtered views are kept. */
static void check_tasks(const struct fbp_work *w, const struct fbp_job *job)
{
    AUTO_FREE size_t *next = not_null(calloc(job->grid.n[2], sizeof *next)),
                     *finished = not_null(calloc(job->grid.n[2], 1 * sizeof *finished));
    size_t read = 0;

    for (size_t i = 0; i < w->n_slabs; i++) {
        const struct fbp_slab slab = fbp_work_slab(w, job, i);
        const bool first = i < w->n_workers;
        AUTO_FREE struct fbp_task *tasks = not_null(calloc(w->n_batches + 1, sizeof *tasks));
        const size_t n = fbp_work_tasks(w, job, &slab, first, NULL);
        assert_true(n <= w->n_batches + 1);
        assert_int_equal(fbp_work_tasks(w, job, &slab, first, tasks), n);
        for (size_t k = 0; k < n; k++) {
            const struct fbp_task *t = &tasks[k];
            assert_int_equal(t->first, k == 0);
            assert_true(t->step > 0 && t->z0 >= slab.z0 && t->z1 <= slab.z0 + slab.nz);
            read += t->loads ? t->batch.n_views : 0;
            for (size_t z = t->z0; z < t->z1; z++) {
                assert_int_equal(next[z], t->batch.view0);
                assert_true(!finished[z]);
                next[z] += t->batch.n_views;
                finished[z] = t->final;
            }
            if (t->batch.resident) {
                assert_int_equal(t->batch.position, t->batch.view0);
                assert_int_equal(t->batch.n_rows, w->filter_rows);
            }
        }
    }
    for (size_t z = 0; z < job->grid.n[2]; z++)
        assert_true(next[z] == job->n_views && finished[z]);
    assert_int_equal(read, job->n_views * (w->kept ? w->n_workers : w->n_slabs));
}

/* As of a card on a bus: a sample is uploaded in 0.07 ns, filtered in 0.02. */
static const struct fbp_rates card = {.upload = 1 / 54e9,
                                      .fetch = 1 / 54e9,
                                      .filter = 1 / 50e9,
                                      .update = 1e-9 / 1000,
                                      .call = 10e-6,
                                      .share = 1};

static struct fbp_work divide_mock(const struct case_ *c, struct fbp_rates rates, uint64_t limit,
                                   size_t n_workers)
{
    struct fbp_work_request rq = request(c, (uint64_t)1 << 40);
    struct fbp_work w;

    fbp_mock_faults.rates = rates;
    rq.backend = fbp_backend_find("mock");
    rq.n_workers = n_workers;
    rq.device_limit = limit;
    OK(fbp_work_divide(&rq, &w));
    fbp_mock_faults.rates = (struct fbp_rates){0};
    assert_true(limit == 0 || w.device_bytes <= limit);
    check_tasks(&w, &c->tables.job);
    return w;
}

TEST(filtered_views_are_kept_where_that_is_quicker)
{
    struct fbp_rates slow_bus = card, fast_bus = card;
    struct case_ c;
    struct fbp_work w;

    setup(&c, 2, 180, 256, (struct fbp_grid){{256, 256, 256}, {.8, .8, .8}, {0, 0, 0}});
    w = divide_mock(&c, (struct fbp_rates){0}, 0, 1); /* nothing known: the fewest slabs */
    assert_true(!w.kept && w.n_slabs == 1 && w.seconds == 0);
    w = divide_mock(&c, card, 0, 1); /* bound by backprojection: fetches overlap it */
    assert_true(w.kept && w.n_slabs == 1 && w.streamed < 256);
    assert_true(w.view_reads <= 1);
    slow_bus.upload *= 10; /* bound by uploads: slices in the lower half finish earlier */
    w = divide_mock(&c, slow_bus, 0, 1);
    assert_true(!w.kept && w.n_slabs == 2);
    fast_bus.upload /= 1000;
    w = divide_mock(&c, fast_bus, 0, 3);
    assert_true(w.kept && w.n_slabs == 3);
    drop(&c);
}

/* What a buffer of a device holds, whatever its memory: smaller slabs and batches, or a sentence.
 */
TEST(buffers_are_held)
{
    const struct fbp_rates none = {0};
    struct case_ c;

    setup(&c, 2, 180, 256, (struct fbp_grid){{256, 256, 256}, {.8, .8, .8}, {0, 0, 0}});
    for (int known = 0; known < 2; known++) {
        fbp_mock_faults = (struct fbp_mock_faults){.most_bytes = {[FBP_FOR_VOLUME] = 9 << 20}};
        struct fbp_work w = divide_mock(&c, known ? card : none, 0, 1);
        assert_true(w.volume_bytes <= 9 << 20 && w.n_slabs >= 8);
        fbp_mock_faults = (struct fbp_mock_faults){.most_bytes = {[FBP_FOR_RAW] = 5 << 20}};
        w = divide_mock(&c, known ? card : none, 0, 1);
        assert_true(w.raw_device_bytes <= 5 << 20);
        fbp_mock_faults = (struct fbp_mock_faults){.most_bytes = {[FBP_FOR_FILTERED] = 5 << 20}};
        w = divide_mock(&c, known ? card : none, 0, 1);
        assert_true(w.filtered_bytes <= 5 << 20 && !w.kept);
    }
    struct fbp_work_request rq = request(&c, (uint64_t)1 << 40);
    rq.backend = fbp_backend_find("mock");
    rq.device_limit = 1 << 30;
    for (int i = 0; i < 4; i++) {
        struct fbp_work w;
        fbp_mock_faults = (struct fbp_mock_faults){.no_tables = i == 3};
        if (i < 3)
            fbp_mock_faults.most_bytes[i] = 1000;
        assert_int_equal(fbp_work_divide(&rq, &w), FBP_ERR_UNSUPPORTED);
        assert_string_equal(fbp_message(), "device: mock device 0 is full, as requested by a test; "
                                           "use --device cpu");
    }
    fbp_mock_faults = (struct fbp_mock_faults){.no_tables = false};
    drop(&c);
}

/* S1's volume beyond the card's memory: views are uploaded once, slabs pass through two buffers. */
TEST(volumes_stream_past_kept_views)
{
    struct case_ c;
    struct fbp_work w;

    setup(&c, 2, 90, 128, (struct fbp_grid){{256, 256, 256}, {.8, .8, .8}, {0, 0, 0}});
    w = divide_mock(&c, card, 40 << 20, 1);
    assert_true(w.kept && w.n_slabs > 2 && w.n_volumes == 2);
    assert_true(w.view_reads <= 1);
    w = divide_mock(&c, card, 40 << 20, 2);
    assert_true(w.kept && w.n_slabs >= 2);
    w = divide_mock(&c, card, 8 << 20, 1); /* not all views fit: rows of each slab are uploaded */
    assert_true(!w.kept && w.n_slabs > 2);
    drop(&c);
}

/* A kernel that computes 64 slices together finishes multiples of them, and the time that a call
 * takes per voxel makes updates batch by batch dear. */
TEST(slices_that_are_computed_together)
{
    struct fbp_rates touching = card;
    struct case_ c;

    touching.voxel = 1e-9;
    setup(&c, 2, 180, 256, (struct fbp_grid){{256, 256, 448}, {.8, .8, .8}, {0, 0, 0}});
    struct fbp_work w = divide_mock(&c, card, 0, 1);
    assert_true(w.finish_slices % 64 != 0);
    const struct fbp_work often = divide_mock(&c, touching, 0, 1);
    assert_true(often.seconds > w.seconds);
    c.tables.job.selection.depth = 64;
    w = divide_mock(&c, card, 0, 1);
    assert_int_equal(w.finish_slices % 64, 0);
    drop(&c);
}

/* Voxels of slices [z0, z1) that are on the panel, over all views; counted one by one. */
static double cost_of(const struct fbp_job *job, size_t z0, size_t z1)
{
    const struct fbp_grid *g = &job->grid;
    double n = 0;

    for (size_t k = 0; k < job->n_views; k++)
        for (size_t i = 0; i < (z1 - z0) * g->n[0] * g->n[1]; i++) {
            const double *m = job->matrices[k];
            const double x = fbp_grid_coordinate(g, 0, (double)(i % g->n[0]));
            const double y = fbp_grid_coordinate(g, 1, (double)(i / g->n[0] % g->n[1]));
            const double z = fbp_grid_coordinate(g, 2, (double)(z0 + i / (g->n[0] * g->n[1])));
            const double v =
                (m[4] * x + m[5] * y + m[6] * z + m[7]) / (m[8] * x + m[9] * y + m[10] * z + m[11]);
            n += v > -1 && v < (double)job->panel.n_rows ? 1 : 0.3;
        }
    return n;
}

/* A volume taller than the panel sees: workers get slabs of the same cost, outer ones are taller.
 */
TEST(slabs_have_the_same_cost)
{
    for (size_t workers = 2; workers <= 5; workers++) {
        struct case_ c;
        struct fbp_work w;
        double least = INFINITY, most = 0;
        setup(&c, 2, 24, 32, (struct fbp_grid){{24, 24, 240}, {6, 6, 2}, {0, 0, 0}});
        struct fbp_work_request rq = request(&c, (uint64_t)1 << 40);
        rq.n_workers = workers;
        OK(fbp_work_divide(&rq, &w));
        check_cover(&w, &c.tables.job, 8);
        assert_true(w.weighed && w.n_slabs == workers);
        for (size_t i = 0; i < w.n_slabs; i++) {
            const struct fbp_slab s = fbp_work_slab(&w, &c.tables.job, i);
            const double cost = cost_of(&c.tables.job, s.z0, s.z0 + s.nz);
            least = fmin(least, cost);
            most = fmax(most, cost);
        }
        if (!(most < 1.1 * least))
            fail_msg("%zu workers: costs from %g to %g", workers, least, most);
        const double even = cost_of(&c.tables.job, 0, 240 / workers) / most;
        if (workers > 2) /* else both slabs are the same */
            assert_true(even > 1.15 || even < 0.85);
        /* No memory for a larger one: the same number of slices. */
        rq.memory_limit = w.memory_bytes - 1;
        OK(fbp_work_divide(&rq, &w));
        check_cover(&w, &c.tables.job, 8);
        assert_true(w.memory_bytes <= rq.memory_limit);
        drop(&c);
    }
}

/* Views that are followed come in single groups, in buffers that hold more. */
TEST(follows_by_groups)
{
    struct case_ c;
    struct fbp_work w;

    setup(&c, 2, 53, 32, (struct fbp_grid){{20, 21, 22}, {4, 4, 4}, {0, 0, 9}});
    struct fbp_work_request rq = request(&c, 1 << 30);
    rq.follow = true;
    rq.slab_slices = 7;
    OK(fbp_work_divide(&rq, &w));
    check_cover(&w, &c.tables.job, rq.backend->can.group_views);
    assert_int_equal(w.n_batches, 7);
    for (size_t b = 0; b < w.n_batches; b++) {
        size_t view0, n;
        fbp_work_views(&w, &c.tables.job, b, &view0, &n);
        assert_int_equal(view0, 8 * b);
        assert_int_equal(n, b < 6 ? 8 : 5);
    }
    assert_int_equal(w.batch_views, 32);
    drop(&c);
}

/* Nothing overlaps: batches differ by a group at most, and slabs are finished whole. */
TEST(even_batches_for_measuring)
{
    struct case_ c;

    setup(&c, 2, 361, 64, (struct fbp_grid){{256, 256, 251}, {1, 1, 1}, {0, 0, 0}});
    for (size_t batch = 8; batch <= 400; batch += 40) {
        struct fbp_work_request rq = request(&c, (uint64_t)1 << 34);
        size_t least = (size_t)-1, most = 0, view0, n;
        struct fbp_work w;
        rq.batch_views = batch;
        rq.even = true;
        OK(fbp_work_divide(&rq, &w));
        assert_int_equal(w.finish_slices, w.slab_slices);
        assert_int_equal(w.n_batches, (368 + w.batch_views - 1) / w.batch_views);
        for (size_t b = 0; b + 1 < w.n_batches; b++) {
            fbp_work_views(&w, &c.tables.job, b, &view0, &n);
            least = n < least ? n : least;
            most = n > most ? n : most;
        }
        assert_true(w.n_batches == 1 || most - least <= w.group_views);
        check_cover(&w, &c.tables.job, w.group_views);
    }
    drop(&c);
}

/* Views that lie on the device need no small batches; slabs are still handed over in parts. */
TEST(views_on_the_device_come_at_once)
{
    struct case_ c;

    setup(&c, 2, 360, 64, (struct fbp_grid){{256, 256, 256}, {1, 1, 1}, {0, 0, 0}});
    struct fbp_work_request rq = request(&c, (uint64_t)1 << 34);
    struct fbp_work w;

    rq.on_device = true;
    OK(fbp_work_divide(&rq, &w));
    assert_int_equal(w.n_batches, 2);
    assert_true(w.finish_slices < w.slab_slices);
    check_cover(&w, &c.tables.job, w.group_views);
    rq.batch_views = 64; /* what is asked for counts, and batches are level */
    OK(fbp_work_divide(&rq, &w));
    assert_int_equal(w.n_batches, 6);
    check_cover(&w, &c.tables.job, w.group_views);
    rq.batch_views = 0;
    rq.memory_limit = (uint64_t)1 << 26; /* less memory, smaller batches or slabs */
    OK(fbp_work_divide(&rq, &w));
    assert_true(w.n_batches > 1 || w.n_slabs > 1);
    check_cover(&w, &c.tables.job, w.group_views);
    drop(&c);
}

/* A device that runs one command at a time gets 32 groups of symmetric views per batch, but at most
 * 128 MiB; its time is the sum of the times of its copies and computations. */
TEST(serial_devices)
{
    static const size_t views[] = {32, 64, 0, 96}; /* [symmetric views - 1]; 93 are 128 MiB */
    struct fbp_rates rates = {.upload = 1e-9, .fetch = 1e-9, .filter = 1e-9, .update = 5e-9};
    struct fbp_backend serial = *fbp_backend_find("mock");
    struct fbp_predicted apart, one;
    struct fbp_work w;
    struct case_ c;

    serial.can.serial = true;
    setup(&c, 2, 128, 600, (struct fbp_grid){{64, 64, 64}, {4, 4, 4}, {0, 0, 0}});
    struct fbp_work_request rq = request(&c, (uint64_t)1 << 34);
    rq.backend = &serial;
    for (size_t n = 4; n > 0; n /= 2) {
        c.tables.job.selection.symmetric_views = n;
        OK(fbp_work_divide(&rq, &w));
        assert_int_equal(w.batch_views, views[n - 1]);
    }
    rq.rates = rates;
    assert_true(fbp_work_rates(&rq).serial);
    OK(fbp_predict(NULL, &rates, &c.tables.job, &w, &apart, NULL));
    rates.serial = true;
    OK(fbp_predict(NULL, &rates, &c.tables.job, &w, &one, NULL));
    assert_true(one.total > 1.2 * apart.total && fabs(one.upload / apart.upload - 1) < 1e-9);
    assert_true(fabs((one.upload + one.filter + one.backproject + one.fetch) / one.total - 1) <
                1e-9);
    drop(&c);
}

/* Each call of backproject() takes the time of rates.slices additional slices. */
TEST(calls_with_additional_slices)
{
    struct fbp_rates rates = {.upload = 1e-9, .fetch = 1e-9, .filter = 1e-9, .update = 5e-9};
    struct fbp_predicted without, with;
    struct fbp_work w;
    struct case_ c;

    setup(&c, 2, 128, 600, (struct fbp_grid){{64, 64, 64}, {4, 4, 4}, {0, 0, 0}});
    const struct fbp_work_request rq = request(&c, (uint64_t)1 << 34);
    OK(fbp_work_divide(&rq, &w));
    OK(fbp_predict(NULL, &rates, &c.tables.job, &w, &without, NULL));
    rates.slices = 8;
    OK(fbp_predict(NULL, &rates, &c.tables.job, &w, &with, NULL));
    /* all but the last batch update the 64 slices of the slab in one call, the last in several */
    assert_int_equal(w.n_slabs, 1);
    const double ratio = with.backproject / without.backproject;
    print_message("%zu batches: time x %.3f\n", w.n_batches, ratio);
    assert_true(ratio > 1 + 8.0 / 64 && ratio < 1.3);
    drop(&c);
}

/* A batch is never more than a buffer of filtered views can hold, whoever asks for it. */
TEST(batches_fit_their_buffers)
{
    const size_t most = fbp_backend_find("mock")->can.max_resident_views;
    struct case_ c;
    struct fbp_work_request rq;
    struct fbp_work w;

    setup(&c, 2, most + 100, 8, (struct fbp_grid){{8, 8, 8}, {4, 4, 4}, {0, 0, 0}});
    for (int even = 0; even < 2; even++) {
        rq = request(&c, (uint64_t)1 << 34);
        rq.backend = fbp_backend_find("mock");
        rq.batch_views = 65536;
        rq.even = even != 0;
        OK(fbp_work_divide(&rq, &w));
        assert_int_equal(w.batch_views, most);
        check_cover(&w, &c.tables.job, w.group_views);
    }
    rq.backend = fbp_backend_find("cpu"); /* which sets no limit */
    OK(fbp_work_divide(&rq, &w));
    assert_true(w.batch_views >= most + 100);
    drop(&c);
}

/* What threads take that convert slices for the output: those that write for a device, or the cores
 * that share the slices of a block. */
TEST(who_converts_slices_counts)
{
    static const struct {
        const char *backend;
        size_t n, workers;
        int threads, cores;
        uint64_t converters;
    } cases[] = {{"mock", 512, 1, 8, 4, 8}, {"mock", 512, 3, 8, 4, 24}, {"mock", 512, 2, 20, 4, 16},
                 {"cpu", 512, 1, 8, 4, 4},  {"cpu", 512, 1, 8, 64, 8},  {"cpu", 2048, 1, 8, 64, 1},
                 {"cpu", 512, 1, 8, 0, 1}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t n = cases[i].n;
        struct case_ c;
        struct fbp_work w, floats;
        setup(&c, 2, 2, 24, (struct fbp_grid){{n, n, 16}, {.2, .2, .2}, {0, 0, 0}});
        c.tables.job.n_threads = cases[i].threads;
        struct fbp_work_request rq = request(&c, (uint64_t)1 << 40);
        rq.backend = fbp_backend_find(cases[i].backend);
        rq.n_workers = cases[i].workers;
        rq.n_cores = cases[i].cores;
        rq.slab_slices = 8;
        OK(fbp_work_divide(&rq, &floats));
        rq.writer_bytes = 3 << 20;
        OK(fbp_work_divide(&rq, &w));
        assert_int_equal(w.memory_bytes - floats.memory_bytes, cases[i].converters * (3 << 20));
        rq.memory_limit = w.memory_bytes - 1;
        OK(fbp_work_divide(&rq, &w));
        assert_true(w.memory_bytes <= rq.memory_limit);
        drop(&c);
    }
}

TEST(says_what_is_needed)
{
    struct fbp_work_request rq;
    struct fbp_work w;
    struct case_ c;

    setup(&c, 2, 90, 512, (struct fbp_grid){{512, 512, 512}, {.5, .5, .5}, {0, 0, 0}});
    rq = request(&c, 20 << 20);
    assert_fails(fbp_work_divide(&rq, &w), FBP_ERR_NOMEM, "--memory");
    assert_says("20.0 MiB");
    fbp_message_clear();
    rq = request(&c, (uint64_t)1 << 40);
    rq.backend = fbp_backend_find("mock");
    rq.device_limit = 1 << 20;
    assert_fails(fbp_work_divide(&rq, &w), FBP_ERR_NOMEM, "--device-memory");
    rq.device_limit = 64 << 20;
    OK(fbp_work_divide(&rq, &w));
    assert_true(w.device_bytes <= rq.device_limit && w.n_slabs > 1);
    drop(&c);
}

TEST(sizes_and_voxels_complete_each_other)
{
    struct case_ c;
    struct fbp_grid g;

    setup(&c, 2, 90, 64, (struct fbp_grid){{64, 64, 32}, {4, 4, 8}, {1, 2, 3}});
    OK(fbp_grid_resolve(&(struct fbp_grid){.n = {128, 32, 32}}, &c.scan, &g));
    assert_true(g.n[0] == 128 && g.voxel_mm[0] == 2 && g.voxel_mm[1] == 8 && g.voxel_mm[2] == 8);
    OK(fbp_grid_resolve(&(struct fbp_grid){.voxel_mm = {2, 2, 2}}, &c.scan, &g));
    assert_true(g.n[0] == 128 && g.n[1] == 128 && g.n[2] == 128 && g.centre_mm[2] == 3);
    OK(fbp_grid_resolve(&(struct fbp_grid){.n = {10, 11, 12}, .voxel_mm = {1, 1, 1}}, &c.scan, &g));
    assert_true(g.n[2] == 12 && g.voxel_mm[2] == 1 && g.centre_mm[0] == 1 && g.centre_mm[2] == 3);
    drop(&c);
}

/* A centre of the parameters replaces that of the scan's volume, and gives the same volume as if
 * the scan had it. */
TEST(parameters_give_the_centre)
{
    enum { VIEWS = 12, SIDE = 24, N = 10, VOXELS = N * N * N };
    static float views[VIEWS * SIDE * SIDE], volume[2][VOXELS];
    struct fbp_grid wanted = {.centre_mm = {7, 0, -5}}, g;
    AUTO_DROP struct fbp_scan scan = circle_scan(VIEWS, SIDE, 0);

    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        views[i] = (float)(i * 31 % 17);
    scan.volume = (struct fbp_grid){{N, N, N}, {4, 4, 4}, {1, 2, 3}};
    OK(fbp_grid_resolve(&wanted, &scan, &g));
    assert_true(g.n[0] == N && g.centre_mm[0] == 7 && g.centre_mm[1] == 0 && g.centre_mm[2] == -5);
    OK(fbp_reconstruct(&scan, fbp_recon_params(.volume = wanted, .device = "cpu"), FBP_F32, views,
                       volume[0], NULL));
    memcpy(scan.volume.centre_mm, wanted.centre_mm, sizeof wanted.centre_mm);
    OK(fbp_reconstruct(&scan, fbp_recon_params(.device = "cpu"), FBP_F32, views, volume[1], NULL));
    assert_memory_equal(volume[0], volume[1], sizeof *volume);
    wanted.centre_mm[1] = NAN;
    assert_fails(
        fbp_reconstruct(&scan, fbp_recon_params(.volume = wanted), FBP_F32, views, volume[0], NULL),
        FBP_ERR_INVALID, "volume.centre_mm[1]");
}

/* Two blocks that are fetched, and beside them a slice for each thread that writes; fewer in little
 * memory. */
TEST(each_writer_has_a_slice)
{
    static const struct {
        size_t n;
        int threads;
        uint64_t share; /* of the memory that is needed with many blocks */
        size_t blocks;
    } cases[] = {{512, 8, 64, 3},  {1024, 8, 64, 6}, {2048, 8, 64, 10}, {2048, 20, 64, 10},
                 {2048, 3, 64, 5}, {2048, 1, 64, 3}, {2048, 8, 1, 3}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t n = cases[i].n;
        struct case_ c;
        struct fbp_work w;
        setup(&c, 2, 2, 24, (struct fbp_grid){{n, n, 16}, {.2, .2, .2}, {0, 0, 0}});
        c.tables.job.n_threads = cases[i].threads;
        struct fbp_work_request rq = request(&c, (uint64_t)1 << 40);
        rq.backend = fbp_backend_find("mock");
        OK(fbp_work_divide(&rq, &w));
        rq.memory_limit = cases[i].share * w.memory_bytes;
        OK(fbp_work_divide(&rq, &w));
        assert_int_equal(w.n_blocks, cases[i].blocks);
        assert_true(w.memory_bytes <= rq.memory_limit);
        drop(&c);
    }
}

TEST_MAIN(NULL, NULL)
