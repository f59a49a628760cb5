/* Checks that a plan respects the limits of a renderer's buffers, textures and storage blocks by
 * smaller slabs and batches with the same bits, or is refused. */
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

/* Limits of layers and of the size of a texture divide the views, those of buffers and of storage
 * blocks the volume: the same bits. */
TEST_WITH(limits_divide_the_work, NULL, lift)
{
    static const struct {
        const char *kernel;
        size_t side;
        struct gl_fault_injection plant;
        size_t batch_views; /* 0: slabs become smaller */
    } rows[] = {
        {"matrix", 27, {.layers = 11}, 8},
        {"matrix", 27, {.texture_bytes = 100000}, 16},     /* 16 views, of 64 rows each */
        {"column-plain", 64, {.buffer_bytes = 500000}, 0}, /* of 950000 */
        /* A storage block holds two images, but no two views with zeros around them: fewer of their
         * rows. */
        {"column-plain", 64, {.block_bytes = 17200}, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO_DROP struct fbp_scan scan = make_head(44, 44, rows[i].side, 3);
        void (*apply)(void) = plant->apply;
        lift(NULL);
        const struct result whole = run(&scan, rows[i].kernel);
        assert_true(whole.n_slabs == 1 && whole.batch_views > rows[i].batch_views);
        *plant = rows[i].plant;
        plant->apply = apply;
        apply();
        const struct result less = run(&scan, rows[i].kernel);
        assert_int_equal(plant->n_driver, 0); /* also copies larger than a block: by a program */
        assert_true(less.hash == whole.hash);
        if (rows[i].batch_views)
            assert_int_equal(less.batch_views, rows[i].batch_views);
        else
            assert_true(less.n_slabs > 1);
        if (rows[i].plant.buffer_bytes)
            assert_true(less.slab_slices * 64 * 62 * sizeof(float) <= rows[i].plant.buffer_bytes);
    }
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
    refused(&scan, "matrix", ", too few for a batch of filtered views (");
    plant->layers = 7;
    refused(&scan, "matrix", " x 8, but ");
    plant->buffer_bytes = 30000;
    refused(&scan, "matrix", ", too few for the buffers of the filter (");
    plant->block_bytes = 4096;
    refused(&scan, "matrix", ", too few for an image of the detector (");

    /* rows of four symmetric views are filtered at once */
    AUTO_DROP struct fbp_scan wide =
        head_scan(4, 600, 2, &(struct orbit){.pitch_mm = {1, 6}},
                  (struct fbp_grid){{20, 20, 2}, {9, 9, 9}, {0, 0, 0}}, 90);
    plant->block_bytes = 16000;
    refused(&wide, "rot90", ", too few for rows of the filter (");
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
