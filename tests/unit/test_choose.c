/* Checks that --device auto selects the first device that may be used without a request and can
 * compute the job, and that fbp_backend_complete() fills the functions that a backend leaves out.
 */
#include "backend/device.h"
#include "devices/mock/mock.h"
#include "geometry/view.h"
#include "pipeline/job.h"
#include "test.h"

extern const struct fbp_backend fbp_backend_mock, fbp_backend_cpu;

static struct {
    bool there;
    int in_software; /* devices with a lower index */
} plant;

static bool unasked(int index)
{
    return index < 0 ? plant.there : index >= plant.in_software;
}

static struct fbp_backend pretended;
static unsigned n_loaded;

static const struct fbp_backend *load(char *why, size_t n)
{
    (void)why, (void)n;
    n_loaded++;
    return &pretended;
}

static const struct fbp_backend module = {
    .name = "mock", .discovery.load = load, .discovery.auto_selectable = unasked};
static const struct fbp_backend *const list[] = {&module, &fbp_backend_cpu, NULL};

static int start(void **state)
{
    pretended = fbp_backend_mock;
    pretended.hidden = false;
    pretended.discovery.auto_selectable = unasked;
    plant.there = true;
    plant.in_software = 0;
    n_loaded = 0;
    return 0;
}

TEST_WITH(the_first_in_hardware, start, NULL)
{
    int index = 7;

    assert_string_equal(fbp_device_first(list, &index)->name, "mock");
    assert_int_equal(index, 0);
    plant.in_software = 1;
    assert_string_equal(fbp_device_first(list, &index)->name, "mock");
    assert_int_equal(index, 1);
    plant.in_software = 1000;
    assert_string_equal(fbp_device_first(list, &index)->name, "cpu");
    assert_int_equal(index, 0);
}

TEST_WITH(not_even_loaded, start, NULL)
{
    int index = 7;

    plant.there = false;
    assert_string_equal(fbp_device_first(list, &index)->name, "cpu");
    assert_int_equal(n_loaded, 0);
}

/* A scan of three directions for a job that the mock cannot do, or for one that it can. */
static void make_job(struct fbp_job_tables *tables, enum fbp_interpolation how)
{
    static double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static struct fbp_view views[3];
    const struct fbp_scan scan = {.struct_size = sizeof scan,
                                  .kind = FBP_PLANES,
                                  .n_views = 3,
                                  .panel = {16, 1},
                                  .views = views};

    for (size_t k = 0; k < 3; k++)
        fbp_plane_view(axes[k], 1, -7.5, 16, &views[k]);
    OK(fbp_job_create(tables, &scan, fbp_recon_params(.epr.interpolation = how), false));
}

/* What cannot do the job is not taken, unless nothing can. */
TEST_WITH(only_what_can_do_it, start, NULL)
{
    static const struct fbp_backend *const no_other[] = {&module, NULL};
    struct fbp_job_tables tables;
    char line[800];

    for (int how = FBP_INTERPOLATION_LINEAR; how <= FBP_INTERPOLATION_LAST; how++) {
        const bool linear = how == FBP_INTERPOLATION_LINEAR;
        const struct fbp_backend *backend = fbp_backend_find("mock"), *alone = backend;
        int index = 1;
        make_job(&tables, (enum fbp_interpolation)how);
        fbp_device_capable(list, &tables.job, &backend, &index, line, sizeof line);
        assert_string_equal(backend->name, linear ? "mock" : "cpu");
        assert_int_equal(index, linear ? 1 : 0);
        assert_int_equal(line[0] == '\0', linear);
        if (!linear)
            assert_contains(line,
                            "device: cpu is used, because mock does not support this task: inter");
        fbp_device_capable(no_other, &tables.job, &alone, &index, line, sizeof line);
        assert_string_equal(alone->name, "mock");
        assert_string_equal(line, "");
        assert_string_equal(fbp_message(), "");
        fbp_job_clear(&tables);
    }
}

/* Callers ask for no slot before they call it. */
TEST(left_out_slots_are_filled)
{
    static const struct fbp_backend least = {.name = "least"};
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

TEST_MAIN(NULL, NULL)
