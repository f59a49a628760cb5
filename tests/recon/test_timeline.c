/* Checks timelines of runs (SVG): one bar per batch, one lane per stage, and no bar that ends
 * before it begins. */
#include "recon/fixture.h"

#include "devices/mock/mock.h"
#include "pipeline/plan.h"

enum { VIEWS = 40, BATCH = 8, LANES = 7 };

static const char *const lanes[LANES] = {"host",        "read",  "upload", "filter",
                                         "backproject", "fetch", "write"};

static struct fbp_scan make_scan(void)
{
    struct fbp_scan scan = circle_scan(VIEWS, 24, 0);

    scan.volume = (struct fbp_grid){{16, 16, 12}, {12, 12, 12}, {0, 0, 0}};
    simulate_head(&scan, 90);
    return scan;
}

/* Bars a lane; the times of each are in order, and those of a lane's batches increase. */
static void read_bars(const char *path, size_t count[LANES], double last_end[LANES])
{
    char line[1000];
    FILE *f = not_null(fopen(path, "r"));

    while (fgets(line, sizeof line, f)) {
        const char *bar = strstr(line, "class=\"bar\""), *title = strstr(line, "<title>");
        double begin, end;
        char lane[40];
        if (!bar)
            continue;
        assert_non_null(title);
        assert_int_equal(sscanf(title, "<title>%39[a-z]:", lane), 1);
        const char *times = strstr(title, " ms</title>"), *at = times;
        assert_non_null(times);
        while (*at != ',')
            at--;
        assert_int_equal(sscanf(at, ", %lf to %lf ms", &begin, &end), 2);
        assert_true(begin >= 0 && end >= begin);
        for (size_t i = 0; i < LANES; i++)
            if (strcmp(lane, lanes[i]) == 0) {
                count[i]++;
                assert_true(end >= last_end[i]);
                last_end[i] = end;
            }
    }
    fclose(f);
}

/* Draws two runs.  expected: bars per lane; NULL: a device whose queues keep their own time, with a
 * bar per batch in the lanes of uploads and of the filter, and at least one in the others. */
static void draws(const char *device, const size_t *expected)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_REMOVE char *svg = temporary("timeline.svg"), *volume = temporary("timeline.mha");
    struct fbp_report report = {.struct_size = sizeof report};

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan =
        create_plan(&scan, fbp_recon_params(.device = device, .tuning.batch_views = BATCH));
    fbp_plan_timeline(plan, svg);
    for (int run = 0; run < 2; run++) {
        size_t count[LANES] = {0};
        double end[LANES] = {0};
        OK(fbp_plan_run(plan, expected ? volume : "null:", &report));
        read_bars(svg, count, end);
        for (size_t i = expected ? 0 : 1; i < LANES; i++) {
            if (expected ? count[i] != expected[i] : count[i] == 0)
                fail_msg("%s: %zu bars of %s", device, count[i], lanes[i]);
            assert_true(end[i] <= 1e3 * report.total + (expected ? 1e-3 : 0.5));
        }
        assert_true(expected || (count[2] == VIEWS / BATCH && count[3] == VIEWS / BATCH));
    }
}

/* Five batches; 12 slices are one block, fetched and written once. */
TEST(a_bar_a_batch_and_a_lane_a_stage)
{
    draws("cpu", (size_t[LANES]){2, 5, 0, 5, 5, 1, 1});
    draws("mock", (size_t[LANES]){2, 5, 5, 5, 5, 1, 1});
}

TEST(a_failing_folder_is_an_error)
{
    AUTO_DROP struct fbp_scan scan = make_scan();

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "cpu"));
    fbp_plan_timeline(plan, "/no/such/folder/t.svg");
    assert_fails(fbp_plan_run(plan, "null:", NULL), FBP_ERR_IO, "/no/such/folder/t.svg");
}

TEST(cuda_draws)
{
    if (!usable("cuda"))
        skip();
    draws("cuda", NULL);
}

TEST(gl_draws)
{
    if (!usable("gl"))
        skip();
    draws("gl", NULL);
}

TEST_MAIN(NULL, NULL)
