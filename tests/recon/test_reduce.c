/* Checks --every and --bin: the bits of arrays that were thinned and averaged by hand, and the
 * right values. */
#include "geometry/view.h"
#include "recon/fixture.h"

enum { VIEWS = 37, COLUMNS = 53, ROWS = 46, FLATS = 2 };

/* A scan of counts as a detector would store them, headerless, rows downwards or upwards. */
struct counts {
    struct fbp_scan scan;
    uint16_t *views, *dark, *flat;
    unsigned char *mask; /* [row][column] as stored, 1 = bad */
    size_t n;            /* pixels */
};

static unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static char *write_bytes(const char *name, const void *data, size_t bytes)
{
    char *path = temporary(name);

    put_file(path, data, bytes);
    return path;
}

static void make_counts(struct counts *c, enum fbp_row_order order, bool some_bad)
{
    *c = (struct counts){.n = COLUMNS * ROWS};
    c->scan = (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                                .n_views = VIEWS,
                                .panel = {COLUMNS, ROWS},
                                .row_order = order};
    c->views = malloc(VIEWS * c->n * sizeof *c->views);
    c->dark = malloc(FLATS * c->n * sizeof *c->dark);
    c->flat = malloc(FLATS * c->n * sizeof *c->flat);
    c->mask = calloc(c->n, 1);
    assert_true(c->views && c->dark && c->flat && c->mask);
    /* Darks and flats are multiples of 2520, so that means of up to ten of them are whole numbers.
     */
    unsigned state = 3;
    for (size_t i = 0; i < VIEWS * c->n; i++)
        c->views[i] = (uint16_t)(9000 + draw(&state) % 40000);
    for (size_t i = 0; i < FLATS * c->n; i++) {
        c->dark[i] = (uint16_t)(2520 * (draw(&state) % 3));
        c->flat[i] = (uint16_t)(2520 * (18 + draw(&state) % 8));
    }
    for (size_t i = 0; some_bad && i < c->n; i++)
        c->mask[i] = draw(&state) % 10 == 0 || (i % COLUMNS < 9 && i / COLUMNS < 9);
    for (size_t k = 0; some_bad && k < FLATS; k++) /* a dead pixel that no mask knows */
        c->flat[k * c->n + 20 * COLUMNS + 30] = c->dark[k * c->n + 20 * COLUMNS + 30];
    add_views(&c->scan, &(struct orbit){.start_deg = 5, .pitch_mm = {8, 7}});
    c->scan.raw = (struct fbp_raw){.type = FBP_U16, .n = {COLUMNS, ROWS, VIEWS}};
    c->scan.projections = write_bytes("counts.raw", c->views, VIEWS * c->n * 2);
    c->scan.dark = write_bytes("dark.raw", c->dark, FLATS * c->n * 2);
    c->scan.flat = write_bytes("flat.raw", c->flat, FLATS * c->n * 2);
    AUTO_FREE float *mask = not_null(calloc(c->n, sizeof *mask));
    for (size_t i = 0; i < c->n; i++)
        mask[i] = c->mask[i];
    if (some_bad)
        c->scan.bad_pixels = write_array("mask.mha", COLUMNS, ROWS, 1, mask);
    c->scan.volume = (struct fbp_grid){{31, 29, 33}, {6, 6, 6}, {2, -1, 3}};
}

static void drop_counts(struct counts *c)
{
    drop_scan(&c->scan);
    free(c->views);
    free(c->dark);
    free(c->flat);
    free(c->mask);
}

/* Is a stored pixel left out of means? */
static bool is_bad(const struct counts *c, size_t i)
{
    double dark = 0, flat = 0;

    for (size_t k = 0; k < FLATS; k++) {
        dark += c->dark[k * c->n + i];
        flat += c->flat[k * c->n + i];
    }
    return c->mask[i] || flat <= dark;
}

/* The mean of n images of a block, of pixels that are not bad; *good: how many are. */
static double block_mean(const struct counts *c, const uint16_t *images, size_t n, size_t row0,
                         size_t column0, size_t bin, size_t *good)
{
    double sum = 0;

    *good = 0;
    for (size_t r = row0; r < row0 + bin; r++)
        for (size_t i = r * COLUMNS + column0; i < r * COLUMNS + column0 + bin; i++)
            if (!is_bad(c, i)) {
                double mean = 0;
                for (size_t k = 0; k < n; k++)
                    mean += images[k * c->n + i] / (double)n;
                sum += mean;
                ++*good;
            }
    return *good ? sum / (double)*good : 0;
}

/* First row of a block as stored: of rows that are left over, as many as fit in half are below. */
static size_t first_row(enum fbp_row_order order, size_t bin)
{
    const size_t rest = ROWS % bin, below = rest / 2;
    return order == FBP_ROWS_TOP_DOWN ? rest - below : below;
}

static char *join_images(const struct counts *c, const char *name, const uint16_t *images,
                         size_t n_out, size_t every, size_t of, size_t bin)
{
    const size_t nc = COLUMNS / bin, nr = ROWS / bin, first = COLUMNS % bin / 2;
    AUTO_FREE float *out = not_null(malloc(n_out * nc * nr * sizeof *out));
    size_t good;

    for (size_t k = 0, i = 0; k < n_out; k++)
        for (size_t r = 0; r < nr; r++)
            for (size_t col = 0; col < nc; col++, i++)
                out[i] = (float)block_mean(c, images + k * every * c->n, of,
                                           first_row(c->scan.row_order, bin) + r * bin,
                                           first + col * bin, bin, &good);
    return write_array(name, nc, nr, n_out, out);
}

static char *join_mask(const struct counts *c, size_t bin)
{
    const size_t nc = COLUMNS / bin, nr = ROWS / bin;
    AUTO_FREE float *out = not_null(calloc(nc * nr, sizeof *out));

    for (size_t i = 0; i < nc * nr; i++) {
        size_t good;
        (void)block_mean(c, c->dark, 1, first_row(c->scan.row_order, bin) + i / nc * bin,
                         COLUMNS % bin / 2 + i % nc * bin, bin, &good);
        out[i] = good == 0;
    }
    return write_array("joined-mask.mha", nc, nr, 1, out);
}

/* The scan of arrays that are joined here; it takes the views of the one that is reduced. */
static struct fbp_scan by_hand(const struct counts *c, const struct fbp_scan *reduced, size_t every,
                               size_t bin)
{
    struct fbp_scan out = {.struct_size = sizeof out,
                           .n_views = (VIEWS + every - 1) / every,
                           .panel = {COLUMNS / bin, ROWS / bin},
                           .row_order = c->scan.row_order,
                           .volume = c->scan.volume};

    out.views = malloc(out.n_views * sizeof *out.views);
    assert_non_null(out.views);
    memcpy(out.views, reduced->views, out.n_views * sizeof *out.views);
    out.projections = join_images(c, "joined.mha", c->views, out.n_views, every, 1, bin);
    out.dark = join_images(c, "joined-dark.mha", c->dark, 1, 1, FLATS, bin);
    out.flat = join_images(c, "joined-flat.mha", c->flat, 1, 1, FLATS, bin);
    if (c->scan.bad_pixels)
        out.bad_pixels = join_mask(c, bin);
    return out;
}

/* Where the middle of each pixel lies, from where those lay that it is made of. */
static void assert_places(const struct fbp_scan *reduced, const struct fbp_scan *whole,
                          size_t every, size_t bin)
{
    const size_t first[] = {COLUMNS % bin / 2, ROWS % bin / 2};

    for (size_t k = 0; k < reduced->n_views; k++)
        for (size_t r = 0; r < reduced->panel.n_rows; r += 3)
            for (size_t c = 0; c < reduced->panel.n_columns; c += 5) {
                const double half = ((double)bin - 1) / 2;
                double is[3], was[3];
                fbp_view_pixel(&reduced->views[k], &reduced->panel, (double)c, (double)r, is);
                fbp_view_pixel(&whole->views[k * every], &whole->panel,
                               (double)(first[0] + c * bin) + half,
                               (double)(first[1] + r * bin) + half, was);
                for (int i = 0; i < 3; i++)
                    assert_true(fabs(is[i] - was[i]) < 1e-9);
            }
}

static void check_against_hand(enum fbp_row_order order, bool some_bad, size_t every, size_t bin)
{
    static const struct fbp_recon_params splits[] = {
        {.device = "cpu", .n_threads = 5, .tuning.slab_slices = 4, .tuning.batch_views = 8},
        {.device = "mock", .n_threads = 2, .tuning.slab_slices = 9},
        {.device = "mock:0,1", .n_threads = 3},
    };
    struct counts c;

    make_counts(&c, order, some_bad);
    struct fbp_scan reduced = c.scan; /* shares all but its views */
    reduced.views = malloc(VIEWS * sizeof *reduced.views);
    assert_non_null(reduced.views);
    memcpy(reduced.views, c.scan.views, VIEWS * sizeof *reduced.views);
    OK(fbp_scan_reduce(&reduced, every, bin));
    assert_places(&reduced, &c.scan, every, bin);
    AUTO_DROP struct fbp_scan hand = by_hand(&c, &reduced, every, bin);
    const uint64_t right = reconstruct_hash(&hand, fbp_recon_params(.device = "cpu"));
    if (reconstruct_hash(&reduced, fbp_recon_params(.device = "cpu")) != right)
        fail_msg("every %zu, bin %zu, row order %d: other bits than by hand", every, bin, order);
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        struct fbp_recon_params p = splits[i];
        p.struct_size = sizeof p;
        assert_true(reconstruct_hash(&reduced, &p) == right);
    }
    free(reduced.views);
    drop_counts(&c);
}

TEST(bits_are_those_of_arrays_joined_by_hand)
{
    static const size_t cases[][2] = {{1, 2}, {1, 3}, {4, 1}, {3, 4}, {2, 3}, {36, 2}, {1, 4}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int down = 0; down < 2; down++)
            check_against_hand(down ? FBP_ROWS_TOP_DOWN : FBP_ROWS_BOTTOM_UP,
                               cases[i][1] <= 3 && (i % 2 || cases[i][1] == 3), cases[i][0],
                               cases[i][1]);
}

/* Views that are left out change the bits like a file without them, also when views are binned. */
TEST(selected_views_are_those_of_a_file_that_lacks_the_others)
{
    for (size_t bin = 1; bin <= 2; bin++) {
        struct counts c;
        size_t n = 0;

        make_counts(&c, FBP_ROWS_TOP_DOWN, true);
        c.scan.angular_weights = FBP_ANGULAR_AUTO;
        AUTO_CLEAR struct fbp_scan all = {.struct_size = sizeof all};
        AUTO_CLEAR struct fbp_scan selected = {.struct_size = sizeof selected};
        OK(fbp_scan_copy(&all, &c.scan));
        OK(fbp_scan_select(&c.scan, "0:9,11:", NULL));
        OK(fbp_scan_select(&c.scan, NULL, "3,30:33"));
        assert_int_equal(c.scan.n_views, VIEWS - 6);
        assert_int_equal(c.scan.stored_views, VIEWS);
        OK(fbp_scan_reduce(&c.scan, 1, bin));
        OK(fbp_scan_copy(&selected, &c.scan));
        const uint64_t right = reconstruct_hash(&selected, fbp_recon_params(.device = "cpu"));
        assert_true(reconstruct_hash(&c.scan, fbp_recon_params(.device = "mock", .n_threads = 2,
                                                               .tuning.slab_slices = 9)) == right);

        /* The same scan with an array that lacks these views. */
        AUTO_FREE float *some = not_null(malloc(VIEWS * c.n * sizeof *some));
        for (size_t k = 0; k < VIEWS; k++) {
            if (k == 3 || k == 9 || k == 10 || (k >= 30 && k < 33))
                continue;
            for (size_t i = 0; i < c.n; i++)
                some[n * c.n + i] = c.views[k * c.n + i];
            all.views[n++] = all.views[k];
        }
        all.n_views = n;
        free(all.projections);
        all.projections = write_array("some.mha", COLUMNS, ROWS, n, some);
        OK(fbp_scan_reduce(&all, 1, bin));
        assert_true(reconstruct_hash(&all, fbp_recon_params(.device = "cpu")) == right);
        remove(all.projections);
        drop_counts(&c);
    }
}

/* One row: blocks of columns. */
TEST(a_fan_keeps_its_row)
{
    AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan, .n_views = 10, .panel = {27, 1}};
    double was[3], is[3];

    add_views(&scan, &(struct orbit){.pitch_mm = {1, 3}});
    fbp_view_pixel(&scan.views[6], &scan.panel, 1 + 4 * 2 + 1.5, 0, was);
    OK(fbp_scan_reduce(&scan, 3, 4));
    assert_int_equal(scan.panel.n_columns, 6);
    assert_int_equal(scan.panel.n_rows, 1);
    assert_int_equal(scan.n_views, 4);
    fbp_view_pixel(&scan.views[2], &scan.panel, 2, 0, is);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(is[i] - was[i]) < 1e-9);
    assert_true(fabs(hypot(hypot(scan.views[0].v[0], scan.views[0].v[1]), scan.views[0].v[2]) - 3) <
                1e-12);
}

/* A ball beside the axis, seen with an odd panel on a circle and on a C-arm's way (matrices). */
TEST(a_ball_keeps_its_mean)
{
    static struct fbp_ellipsoid ball = {{25, -18, 9}, {30, 30, 30}, 0, 0.02};

    for (int c_arm = 0; c_arm < 2; c_arm++)
        for (size_t bin = 1; bin <= 4; bin++) {
            AUTO_DROP struct fbp_scan scan = {
                .struct_size = sizeof scan,
                .n_views = 361,
                .panel = {203, 155},
                .volume = {{48, 48, 48}, {1.25, 1.25, 1.25}, {25, -18, 9}}};
            struct fbp_phantom phantom = {.items = &ball, .n = 1};
            add_views(&scan, &(struct orbit){.pitch_mm = {1, 1}, .c_arm = c_arm});
            simulate(&scan, &phantom);
            OK(fbp_scan_reduce(&scan, bin == 1 ? 3 : 1, bin));
            AUTO_FREE float *v = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
            const double error = mean_in_ball(&scan.volume, v, ball.centre_mm, 20) / 0.02 - 1;
            print_message("%s, bin %zu: %+.4f %%\n", c_arm ? "C-arm" : "circle", bin, 100 * error);
            assert_true(fabs(error) < (c_arm ? 1e-3 : 5e-4));
        }
}

static void read_memory_of(struct counts *c, fbp_source **out)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {COLUMNS, ROWS, VIEWS},
                                        .type = FBP_U16,
                                        .row_order = FBP_ROWS_TOP_DOWN};
    OK(fbp_source_memory(out, c->views, &info));
}

/* Views in memory, and a compressed file, which is read in order. */
TEST(any_source_is_reduced)
{
    struct fbp_recon_params p = {
        .struct_size = sizeof p, .device = "cpu", .tuning.kernel = "matrix"};
    struct counts c;

    make_counts(&c, FBP_ROWS_TOP_DOWN, true);
    OK(fbp_scan_reduce(&c.scan, 2, 3));
    const uint64_t right = reconstruct_hash(&c.scan, &p);
    read_memory_of(&c, &p.input.source);
    assert_true(reconstruct_hash(&c.scan, &p) == right);
    fbp_source_close(&p.input.source);

    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {COLUMNS, ROWS, VIEWS}};
    AUTO_FREE float *values = not_null(malloc(VIEWS * c.n * sizeof *values));
    char *path = temporary("packed.mha");
    for (size_t i = 0; i < VIEWS * c.n; i++)
        values[i] = c.views[i];
    struct fbp_sink_params packed = {.struct_size = sizeof packed, .compress = true};
    save_array(path, &info, &packed, values);
    remove(c.scan.projections);
    free(c.scan.projections);
    c.scan.projections = path;
    assert_true(reconstruct_hash(&c.scan, &p) == right);
    drop_counts(&c);
}

/* What is asked of the files: a quarter of the views; the volume that is left open has larger
 * voxels. */
TEST(plans_count_what_is_read)
{
    struct fbp_plan_summary all, part;
    struct counts c;

    make_counts(&c, FBP_ROWS_BOTTOM_UP, false);
    c.scan.volume = (struct fbp_grid){0};
    fbp_plan *plan = create_plan(&c.scan, fbp_recon_params(.device = "cpu"));
    all = *fbp_plan_info(plan);
    fbp_plan_destroy(&plan);
    OK(fbp_scan_reduce(&c.scan, 4, 2));
    OK(fbp_plan_create(&plan, &c.scan, fbp_recon_params(.device = "cpu")));
    part = *fbp_plan_info(plan);
    fbp_plan_destroy(&plan);
    assert_true(part.input_bytes < all.input_bytes * 3 / 10);
    assert_true(part.input_bytes > all.input_bytes / 6);
    assert_true(fabs(part.volume.voxel_mm[0] - 2 * all.volume.voxel_mm[0]) < 0.01);
    drop_counts(&c);
}

static void refused(struct fbp_scan *scan, size_t every, size_t bin, const char *why)
{
    assert_fails(fbp_scan_reduce(scan, every, bin), FBP_ERR_INVALID, why);
}

TEST(what_cannot_be_is_refused)
{
    struct counts c;

    make_counts(&c, FBP_ROWS_BOTTOM_UP, false);
    refused(&c.scan, 0, 1, "every: found 0");
    refused(&c.scan, VIEWS + 1, 1, "expected 1 to 37, the number of views");
    refused(&c.scan, 1, 0, "bin: found 0");
    refused(&c.scan, 1, COLUMNS + 1, "expected 1 to 53, the number of detector columns");
    refused(&c.scan, SIZE_MAX, 1, "expected 1 to 37, the number of views");
    refused(&c.scan, 1, SIZE_MAX, "expected 1 to 53, the number of detector columns");
    c.scan.filtered = true;
    refused(&c.scan, 2, 1, "filtered views cannot be skipped");
    assert_fails(fbp_scan_select(&c.scan, NULL, "1"), FBP_ERR_INVALID, "the weights of filtered");
    OK(fbp_scan_reduce(&c.scan, 1, 1));
    c.scan.filtered = false;
    OK(fbp_scan_reduce(&c.scan, 2, 2));
    refused(&c.scan, 2, 1, "already skipped or binned");
    assert_fails(fbp_scan_select(&c.scan, "1", NULL), FBP_ERR_INVALID, "already skipped or binned");
    assert_int_equal(fbp_scan_save(&c.scan, "never.json", NULL), FBP_ERR_UNSUPPORTED);
    drop_counts(&c);
}

TEST_MAIN(NULL, NULL)
