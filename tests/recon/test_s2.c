/*
 * S2: boxes of whole columns by several devices.  Whatever the boxes, the devices, and whether
 * copies overlap, the volume has the same bits, and those of an ordinary reconstruction; what does
 * not fit, or fails, is said in a sentence.
 */
#include "bench/common/chart.h"
#include "bench/papers/ino2010/measure.h"
#include "bench/papers/ino2010/s2.h"
#include "devices/mock/mock.h"
#include "recon/fixture.h"

#include <dirent.h>
#include <sys/stat.h>

/* Odd sizes: boxes, launches, pieces and shares of views all have a last, partial one. */
static struct fbp_scan make_scan(size_t n_views)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = n_views,
                            .panel = {67, 53},
                            .volume = {{37, 31, 29}, {5, 5, 5}, {1.5, -2, 3}}};

    add_views(&scan, &(struct orbit){.start_deg = 7, .pitch_mm = {6, 6}});
    return scan;
}

static fbp_s2 *open_s2(const struct fbp_scan *scan, const struct fbp_s2_params *given)
{
    struct fbp_s2_params p = *given;
    fbp_s2 *s = NULL;

    p.n_threads = 2;
    OK(fbp_s2_open(&s, scan, &p));
    return s;
}

static uint64_t run_once(fbp_s2 *s, size_t n_devices, bool streams)
{
    const struct fbp_s2_plan *p = fbp_s2_about(s);
    struct fbp_s2_time t;

    OK(fbp_s2_run(s, n_devices, streams, &t));
    assert_int_equal(t.n_devices, n_devices);
    assert_true(t.sent == (1 + p->subvolumes) * p->views_bytes); /* to be filtered, and for boxes */
    assert_true(t.link > 0 && (streams || (t.layout > 0 && t.layout < t.download)));
    assert_true(t.total > t.init && t.init > 0);
    assert_true(streams ? isnan(t.filter) && isnan(t.backproject)
                        : t.filter > 0 && t.backproject > 0 && t.fetch > 0 && t.readback > 0);
    return t.hash;
}

/* Every number of devices that there are, with and without streams. */
static uint64_t run_all(const struct fbp_scan *scan, const struct fbp_s2_params *p, uint64_t wanted)
{
    fbp_s2 *s = open_s2(scan, p);

    for (size_t n = fbp_s2_about(s)->n_devices; n > 0; n /= 2)
        for (int streams = 0; streams < 2; streams++) {
            const uint64_t hash = run_once(s, n, streams != 0);
            wanted = wanted ? wanted : hash;
            if (hash != wanted)
                fail_msg("%s: B = %zu, C = %zu, streams %d: other bits", p->device, p->subvolumes,
                         n, streams);
        }
    fbp_s2_close(&s);
    return wanted;
}

static void same_bits(const char *device, const char *kernel, double least_db)
{
    static const size_t boxes[] = {4, 6, 7, 64};
    AUTO_DROP struct fbp_scan scan = make_scan(43);
    struct fbp_s2_params p = {.device = device, .kernel = kernel, .most_devices = 1};
    uint64_t hash = run_all(&scan, &p, 0);

    p.most_devices = 4;
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        p.subvolumes = boxes[i];
        (void)run_all(&scan, &p, hash);
    }
    fbp_s2 *s = open_s2(&scan, &p);
    struct fbp_s2_error e;
    (void)run_once(s, 1, true);
    OK(fbp_s2_compare(s, &e));
    print_message("%s, %s: %zu of %zu differ, by %.2g; %.1f dB\n", p.device,
                  fbp_s2_about(s)->kernel, e.n_different, e.n_voxels, e.plain_max, e.psnr_db);
    assert_int_equal(e.n_slices, 2);
    assert_int_equal(e.n_voxels, 2 * 37 * 31);
    assert_true(e.psnr_db > least_db && e.rmse < e.max);
    if (strcmp(p.device, "ref") == 0) /* filtered rows are rounded to float */
        assert_true(e.plain_max < 1e-6 * 0.02);
    else if (strcmp(fbp_s2_about(s)->kernel, "s2") != 0)
        assert_int_equal(e.n_different, 0);
    else /* the texture of fewer rows has other coordinates, in their last digits */
        assert_true(e.plain_max < 1e-3 * 0.02);
    fbp_s2_close(&s);
}

TEST(boxes_devices_and_streams)
{
    same_bits("cpu", "column", 100);
    same_bits("cpu", "matrix", 100);
    same_bits("mock", NULL, 100);
    same_bits("ref", NULL, 140);
    if (usable("gl")) {
        same_bits("gl", NULL, 100);
        same_bits("gl:0,0", NULL, 100);
    }
    if (usable("cuda")) {
        same_bits("cuda", NULL, 55);
        same_bits("cuda", "matrix", 55);
    }
}

/* Queues that run late: marks alone keep the order. */
TEST(late_queues)
{
    AUTO_DROP struct fbp_scan scan = make_scan(43);
    const struct fbp_s2_params p = {.device = "mock", .subvolumes = 9};
    const uint64_t hash = run_all(&scan, &p, 0);

    for (unsigned slow = 0; slow <= FBP_N_STAGES; slow++) {
        fbp_mock_faults = (struct fbp_mock_faults){.delay_us = 100, .slow_stage = slow};
        fbp_s2 *s = open_s2(&scan, &p);
        assert_int_equal(run_once(s, 2, true), hash);
        fbp_s2_close(&s);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* A device that fails, anywhere: one sentence, and the next run is as if nothing had been. */
TEST(a_device_fails)
{
    AUTO_DROP struct fbp_scan scan = make_scan(43);
    const struct fbp_s2_params p = {.device = "mock", .subvolumes = 4};
    fbp_s2 *s = open_s2(&scan, &p);
    const uint64_t hash = run_once(s, 2, true), before = fbp_mock_failures;

    for (uint64_t n = 1; n < 400; n += n < 40 ? 3 : 37)
        for (int commands = 0; commands < 2; commands++) {
            struct fbp_s2_time t;
            const uint64_t failed = fbp_mock_failures;
            fbp_mock_faults = (struct fbp_mock_faults){0};
            (commands ? fbp_mock_faults.fail_command : fbp_mock_faults.fail_call)[n % 2] = n;
            const fbp_status st = fbp_s2_run(s, 2, n % 3 != 0, &t);
            if (st == FBP_OK) {
                assert_int_equal(t.hash, hash);
                assert_int_equal(fbp_mock_failures, failed);
                continue;
            }
            assert_fails(st, FBP_ERR_DEVICE, "fails, as requested by a test");
        }
    assert_true(fbp_mock_failures > before + 10);
    fbp_mock_faults = (struct fbp_mock_faults){.no_memory = true};
    struct fbp_s2_time t;
    assert_int_equal(fbp_s2_run(s, 2, true, &t), FBP_ERR_NOMEM);
    fbp_mock_faults = (struct fbp_mock_faults){0};
    struct fbp_s2_error e;
    assert_int_equal(fbp_s2_compare(s, &e), FBP_ERR_INVALID);
    assert_int_equal(run_once(s, 2, true), hash);
    fbp_s2_close(&s);
}

/* Each transfer is needed: one that is forgotten does not pass.  43 views are six launches of 8. */
TEST(a_forgotten_transfer_is_noticed)
{
    AUTO_DROP struct fbp_scan scan = make_scan(43);
    fbp_s2 *s = open_s2(&scan, &(struct fbp_s2_params){.device = "mock", .subvolumes = 4});
    struct fbp_s2_time t;

    for (uint64_t n = 1; n <= 4 * 6; n++) {
        fbp_mock_faults = (struct fbp_mock_faults){.drop_upload = n};
        assert_int_equal(fbp_s2_run(s, 1, true, &t), FBP_ERR_DEVICE);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
    fbp_s2_close(&s);
}

/* A volume that the host's memory does not hold beside the views. */
TEST(a_volume_in_a_file)
{
    AUTO_DROP struct fbp_scan scan = make_scan(43);
    AUTO_FREE char *folder = temporary("s2-folder");
    struct fbp_s2_params p = {.device = "mock", .subvolumes = 6, .folder = folder};
    const uint64_t hash = run_all(&scan, &p, 0);
    fbp_s2 *s = open_s2(&scan, &p);
    struct fbp_s2_error e;

    assert_true(mkdir(folder, 0700) == 0);
    assert_false(fbp_s2_about(s)->in_file);
    p.memory_bytes = fbp_s2_about(s)->host_bytes;
    fbp_s2_close(&s);
    (void)run_all(&scan, &p, hash);
    p.memory_bytes--;
    (void)run_all(&scan, &p, hash);
    s = open_s2(&scan, &p);
    assert_true(fbp_s2_about(s)->in_file);
    assert_int_equal(fbp_s2_about(s)->split[0], 1); /* boxes of whole rows */
    assert_true(fbp_s2_about(s)->host_bytes <= p.memory_bytes);
    assert_int_equal(run_once(s, 4, true), hash);
    OK(fbp_s2_compare(s, &e));
    assert_int_equal(e.n_different, 0);
    assert_int_equal(files_in(folder), 0); /* it has no name */
    struct fbp_s2_time t;
    OK(fbp_s2_reconstruct(s, 4, &t));
    assert_true(isnan(t.total)); /* there is no memory for its volume */
    p.memory_bytes = fbp_s2_about(s)->host_bytes - 1;
    fbp_s2_close(&s);
    assert_fails(fbp_s2_open(&s, &scan, &p), FBP_ERR_NOMEM, "raise --memory");
    assert_true(rmdir(folder) == 0);
    p.memory_bytes++;
    s = open_s2(&scan, &p);
    assert_fails(fbp_s2_run(s, 1, true, &t), FBP_ERR_IO, "--dir");
    fbp_s2_close(&s);
}

/* As many boxes as a device's memory asks for, which really is enough. */
TEST(boxes_from_free_memory)
{
    AUTO_DROP struct fbp_scan scan = make_scan(43);
    struct fbp_s2_params p = {.device = "mock", .most_devices = 2, .n_threads = 2};
    fbp_s2 *s = open_s2(&scan, &p);
    struct fbp_s2_plan plan = *fbp_s2_about(s);
    const uint64_t hash = run_once(s, 2, true);
    size_t before = plan.subvolumes;

    fbp_s2_close(&s);
    assert_int_equal(before, 2);
    assert_false(plan.given);
    for (;;) {
        p.device_memory_bytes = plan.device_bytes - 1;
        if (fbp_s2_open(&s, &scan, &p) != FBP_OK)
            break;
        plan = *fbp_s2_about(s);
        assert_true(plan.device_bytes <= p.device_memory_bytes);
        assert_true(plan.subvolumes > before || plan.volumes == 1);
        before = plan.subvolumes;
        assert_int_equal(run_once(s, 2, true), hash);
        fbp_s2_close(&s);
    }
    assert_true(before >= 256);
    assert_says("of a device's memory");
}

/* The ordinary reconstruction computes the same head, with another filter, on as many devices. */
TEST(an_ordinary_reconstruction_is_timed)
{
    AUTO_DROP struct fbp_scan scan = make_scan(43);
    fbp_s2 *s = open_s2(&scan, &(struct fbp_s2_params){.device = "mock", .subvolumes = 4});
    const size_t n = (size_t)37 * 31 * 29;
    struct fbp_s2_error e;
    struct fbp_s2_time t;

    (void)run_once(s, 2, true);
    OK(fbp_s2_compare(s, &e));
    float *ours = not_null(malloc(n * sizeof *ours));
    memcpy(ours, s->volume.voxels, n * sizeof *ours);
    memset(s->volume.voxels, 0, n * sizeof *ours);
    OK(fbp_s2_reconstruct(s, 2, &t));
    assert_true(t.n_devices == 2 && t.init > 0 && t.total > t.init);
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(s->volume.voxels[i] - ours[i]) < 0.02F * 0.02F))
            fail_msg("voxel %zu: %g instead of %g", i, (double)s->volume.voxels[i],
                     (double)ours[i]);
    assert_int_equal(fbp_s2_compare(s, &e), FBP_ERR_INVALID); /* it is not the last run's volume */
    free(ours);
    fbp_s2_close(&s);
}

static void refused(const struct fbp_scan *scan, struct fbp_s2_params p, fbp_status st,
                    const char *why)
{
    fbp_s2 *s;

    assert_int_equal(fbp_s2_open(&s, scan, &p), st);
    assert_null(s);
    assert_says(why);
}

TEST(what_is_refused)
{
    struct fbp_scan scan = make_scan(43);
    struct fbp_s2_time t;

    refused(&scan, (struct fbp_s2_params){.device = "mock", .subvolumes = 3}, FBP_ERR_INVALID,
            "too few for 4 devices");
    refused(&scan, (struct fbp_s2_params){.device = "mock", .subvolumes = 1009}, FBP_ERR_INVALID,
            "cannot be cut into 1009");
    refused(&scan, (struct fbp_s2_params){.device = "mock", .subvolumes = 1 << 20}, FBP_ERR_INVALID,
            "more than the 37 x 31 columns");
    refused(&scan, (struct fbp_s2_params){.device = "warp"}, FBP_ERR_UNSUPPORTED,
            "not part of this build");
    refused(&scan, (struct fbp_s2_params){.device = "mock:7"}, FBP_ERR_INVALID, "indices");
    refused(&scan, (struct fbp_s2_params){.device = "cpu", .kernel = "s2"}, FBP_ERR_UNSUPPORTED,
            "cpu has no \"s2\"");
    refused(&scan,
            (struct fbp_s2_params){.device = "mock", .subvolumes = 4, .device_memory_bytes = 1000},
            FBP_ERR_NOMEM, "use more subvolumes");
    fbp_s2 *s = open_s2(&scan, &(struct fbp_s2_params){.device = "cpu"});
    assert_int_equal(fbp_s2_run(s, 2, true, &t), FBP_ERR_INVALID);
    assert_int_equal(fbp_s2_run(s, 0, true, &t), FBP_ERR_INVALID);
    fbp_s2_close(&s);
    scan.volume.n[0] = scan.volume.n[1] = 36; /* symmetric */
    memset(scan.volume.centre_mm, 0, sizeof scan.volume.centre_mm);
    drop_scan(&scan);
    scan = circle_scan(40, 24, 0);
    refused(&scan, (struct fbp_s2_params){.device = "cpu", .kernel = "rot90"}, FBP_ERR_UNSUPPORTED,
            "symmetric voxels");
    drop_scan(&scan);
}

static uint64_t bytes_of_box(const void *user, size_t nx, size_t ny)
{
    return nx * ny * *(const size_t *)user * sizeof(float);
}

/* Every column is in one box, for any number of boxes that there can be. */
TEST(boxes_cover_the_volume)
{
    static unsigned char seen[13 * 17];
    const size_t nz = 5;
    struct s2_needs needs = {
        .n = {13, 17, nz}, .n_devices = 1, .box_bytes = bytes_of_box, .user = &nz};
    size_t n_found = 0;

    for (needs.wanted = 1; needs.wanted <= 13 * 17; needs.wanted++)
        for (int in_file = 0; in_file < 2; in_file++) {
            struct fbp_s2_plan p = {.n = {13, 17, nz}};
            needs.in_file = in_file != 0;
            if (s2_divide(&needs, &p) != FBP_OK)
                continue;
            n_found++;
            memset(seen, 0, sizeof seen);
            for (size_t b = 0; b < p.subvolumes; b++) {
                const struct fbp_slab box = s2_box(&p, b);
                assert_true(box.nx <= p.box[0] && box.ny <= p.box[1] && box.nx * box.ny > 0);
                assert_true(box.z0 == 0 && box.nz == nz);
                for (size_t y = box.y0; y < box.y0 + box.ny; y++)
                    for (size_t x = box.x0; x < box.x0 + box.nx; x++)
                        assert_int_equal(seen[y * 13 + x]++, 0);
            }
            for (size_t i = 0; i < sizeof seen; i++)
                assert_int_equal(seen[i], 1);
        }
    assert_true(n_found > 100);
}

/* The paper's cases: 4 as 2 x 2, 64 as 8 x 8; of a file as few along x as can be. */
TEST(boxes_of_the_paper)
{
    const size_t nz = 2048;
    struct s2_needs needs = {.n = {2048, 2048, nz},
                             .n_devices = 4,
                             .wanted = 64,
                             .box_bytes = bytes_of_box,
                             .user = &nz,
                             .device_limit = (uint64_t)4 << 30};
    struct fbp_s2_plan p = {.n = {2048, 2048, nz}};

    OK(s2_divide(&needs, &p));
    assert_true(p.split[0] == 8 && p.split[1] == 8 && p.volumes == 2 && p.given);
    assert_true(p.box_bytes == (uint64_t)512 << 20);
    needs.in_file = true;
    OK(s2_divide(&needs, &p));
    assert_true(p.split[0] == 1 && p.split[1] == 64);
    needs.wanted = 0;
    p.given = false;
    OK(s2_divide(&needs, &p)); /* 32 GiB, one box of 4 GiB at a time */
    assert_true(p.subvolumes == 8 && p.volumes == 1 && !p.given);
    needs.n_devices = 16; /* each has one box: there is no next one */
    needs.device_limit = (uint64_t)100 << 30;
    OK(s2_divide(&needs, &p));
    assert_true(p.subvolumes == 16 && p.volumes == 1);
}

TEST(charts_are_drawn)
{
    static const double x[] = {1, 2, 4}, now[] = {10, NAN, 30}, published[] = {1, 2, 4};
    const struct bench_series series[] = {{.name = "now", .x = x, .y = now, .n = 3},
                                          {"published", x, published, 3, true, false, 1}};
    const struct bench_chart charts[2] = {
        {"views/s", "C", true, true, true, true, series, 2},
        {.title = "speed-up", .x_name = "C", .series = series, .n = 2}};
    const struct bench_chart none[2] = {
        {.title = "nothing", .log_y = true, .ticks_at_points = true}, {.title = "nothing"}};
    char *path = temporary("s2.svg"), text[20000];

    OK(bench_chart_draw(path, "Fig. 3", charts, 2));
    FILE *f = not_null(fopen(path, "r"));
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    (void)fclose(f);
    size_t points = 0;
    for (const char *at = text; (at = strstr(at, "class=\"point\"")); at++)
        points++;
    assert_int_equal(points, 2 * 5);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_contains(text, "</svg>");
    OK(bench_chart_draw(path, "Fig. 3", none, 2));
    assert_int_equal(bench_chart_draw("/nowhere/s2.svg", "Fig. 3", charts, 2), FBP_ERR_IO);
    (void)remove(path);
    free(path);
}

TEST_MAIN(NULL, NULL)
