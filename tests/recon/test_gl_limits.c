/* What a renderer's buffers, textures and storage blocks hold is known when a plan is made: then
 * slabs and batches are smaller, with the same bits, or there is a sentence and no plan.  The
 * limits are set low here. */
#include "recon/planted.h"

struct result {
    uint64_t hash;
    size_t n_slabs, slab_slices, batch_views;
};

static struct result run(const struct fbp_scan *scan, const char *kernel)
{
    struct fbp_report r = {.struct_size = sizeof r};

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan = create_plan(scan, fbp_recon_params(.device = "gl", .tuning.kernel = kernel));
    OK(fbp_plan_run(plan, "hash:", &r));
    const struct fbp_plan_summary *i = fbp_plan_info(plan);
    const struct result out = {r.hash, i->n_slabs, i->slab_slices, i->batch_views};
    return out;
}

/* A limit is set, and batches or slabs become smaller: the same bits. */
TEST_WITH(layers_divide_the_views, NULL, lift)
{
    AUTO_DROP struct fbp_scan scan = make_head(44, 44, 27, 3);
    const struct result whole = run(&scan, "matrix");

    assert_true(whole.n_slabs == 1 && whole.batch_views > 8);
    plant->layers = 11;
    plant->apply();
    const struct result few = run(&scan, "matrix");
    assert_true(few.hash == whole.hash);
    assert_int_equal(few.batch_views, 8);
}

TEST_WITH(textures_divide_the_views, NULL, lift)
{
    AUTO_DROP struct fbp_scan scan = make_head(44, 44, 27, 3);
    const struct result whole = run(&scan, "matrix");

    plant->texture_bytes = 100000; /* 16 views, of 64 rows each */
    plant->apply();
    const struct result few = run(&scan, "matrix");
    assert_true(few.hash == whole.hash);
    assert_int_equal(few.batch_views, 16);
}

TEST_WITH(buffers_divide_the_volume, NULL, lift)
{
    AUTO_DROP struct fbp_scan scan = make_head(44, 44, 64, 3);
    const struct result whole = run(&scan, "column-plain");

    assert_int_equal(whole.n_slabs, 1);
    plant->buffer_bytes = 500000; /* of 950000 */
    plant->apply();
    const struct result some = run(&scan, "column-plain");
    assert_true(some.hash == whole.hash);
    assert_true(some.n_slabs >= 2 && some.slab_slices * 64 * 62 * sizeof(float) <= 500000);
}

/* A storage block holds an image, but no view with zeros around it: fewer of its rows. */
TEST_WITH(blocks_divide_the_volume, NULL, lift)
{
    AUTO_DROP struct fbp_scan scan = make_head(44, 44, 64, 3);
    const struct result whole = run(&scan, "column-plain");

    plant->block_bytes = 8600;
    plant->apply();
    const struct result some = run(&scan, "column-plain");
    assert_true(some.hash == whole.hash);
    assert_true(some.n_slabs > whole.n_slabs);
}

static void refused(const struct fbp_scan *scan, const char *kernel, const char *sentence)
{
    fbp_plan *plan;

    plant->apply();
    if (fbp_plan_create(&plan, scan, fbp_recon_params(.device = "gl", .tuning.kernel = kernel)) !=
            FBP_ERR_UNSUPPORTED ||
        strncmp(fbp_message(), "device: ", 8) != 0 || !strstr(fbp_message(), sentence) ||
        !strstr(fbp_message(), "; use --device cpu"))
        fail_msg("\"%s\" is not \"%s\"", fbp_message(), sentence);
    lift(NULL);
}

/* What cannot be divided any more. */
TEST_WITH(too_little_is_said_before_anything_is_done, NULL, lift)
{
    AUTO_DROP struct fbp_scan scan = make_head(44, 44, 64, 3);

    plant->texture_bytes = 2000;
    refused(&scan, "matrix", "a batch of filtered views needs ");
    plant->layers = 7;
    refused(&scan, "matrix", " x 8, but ");
    plant->buffer_bytes = 30000;
    refused(&scan, "matrix", "the buffers of the filter needs ");
    plant->block_bytes = 4096;
    refused(&scan, "matrix", "an image of the detector needs ");
}

/* Slices of orbits are fetched layer by layer. */
TEST_WITH(orbits_are_left_where_layers_are_too_large, NULL, lift)
{
    AUTO_DROP struct fbp_scan scan = make_head(44, 44, 64, 3);
    fbp_plan *plan;

    scan.volume = (struct fbp_grid){{64, 64, 60}, {3, 3, 3}, {0, 0, 0}};
    for (int i = 0; i < 4; i++) {
        const bool small = i % 2;
        plant->block_bytes = small ? 16000 : 0;
        plant->apply();
        OK(fbp_plan_create(
            &plan, &scan,
            fbp_recon_params(.device = "gl",
                             .precision = i < 2 ? FBP_PRECISION_HALF : FBP_PRECISION_EXACT)));
        assert_int_equal(strncmp(fbp_plan_info(plan)->kernel, "rot", 3) == 0, !small);
        fbp_plan_destroy(&plan);
    }
}

int main(int argc, char **argv)
{
    if (!usable("gl"))
        return 77;
    find_plant();
    return run_file_tests(argc, argv, NULL, NULL);
}
