/* Checks that projections that change during a run end it with a message that names the file, and
 * leave nothing that --resume could continue. */
#include "geometry/view.h"
#include "recon/fixture.h"

#include <sys/stat.h>

enum { VIEWS = 24, SIDE = 16 };

struct plot {
    const char *file;
    int calls;
};

/* In the first call the file is written to; views have been read by then, and will be: of sixteen
 * slabs, so that no reader is done before the first is, however busy the machine. */
static int spoil(void *user, const struct fbp_progress *now)
{
    struct plot *plot = user;

    if (plot->calls++ == 0) {
        FILE *f = not_null(fopen(plot->file, "a"));
        fputc('x', f);
        fclose(f);
    }
    return 0;
}

static bool is_there(const char *path, const char *end)
{
    char name[4200];

    snprintf(name, sizeof name, "%s%s", path, end);
    return access(name, F_OK) == 0;
}

static void run(const char *output)
{
    AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan};
    struct plot plot = {0};

    scan = (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                             .kind = FBP_PARALLEL,
                             .n_views = VIEWS,
                             .panel = {SIDE, SIDE},
                             .row_order = FBP_ROWS_BOTTOM_UP,
                             .volume = {.n = {SIDE, SIDE, SIDE}, .voxel_mm = {1, 1, 1}}};
    add_views(&scan, &(struct orbit){.step_deg = 180. / VIEWS, .pitch_mm = {1, 1}});
    simulate_head(&scan, 8);
    plot.file = scan.projections;
    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan = create_plan(
        &scan, fbp_recon_params(.device = "cpu", .callbacks.progress = spoil,
                                .callbacks.user = &plot, .tuning.slab_slices = 1, .n_threads = 1));
    assert_fails(fbp_plan_run(plan, output, NULL), FBP_ERR_IO, scan.projections);
    assert_says("changed its size while it was read");
    assert_false(is_there(output, "") || is_there(output, ".part") ||
                 is_there(output, ".part.log"));
    OK(fbp_plan_run(plan, output, NULL)); /* as it is now, and stays, it can be read */
    unlink(scan.projections);
    unlink(output);
}

TEST(is_an_error)
{
    AUTO_FREE char *output = temporary("changed.mha");

    run(output);
}

TEST_MAIN(NULL, NULL)
