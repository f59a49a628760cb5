/* Checks projections that are stored as sinograms, [row][view][column]: in one file of several
 * formats, with one file per sinogram, compressed, as counts with dark and flat, reduced, and with
 * the top row first.  The volumes have the bits of those from the same samples stored as views. */
#include "recon/fixture.h"
#include "scan/file/scan.h"

enum { VIEWS = 70, NC = 40, NR = 22, N = VIEWS * NR * NC };

static struct fbp_scan make_scan(void)
{
    return head_scan(VIEWS, NC, NR, &(struct orbit){.pitch_mm = {3, 3}},
                     (struct fbp_grid){{24, 24, 9}, {3, 3, 3}, {0, 0, 0}}, 30);
}

/* Store samples p[view][row][column] as sinograms in a file, or a pattern of NR files. */
static void store(const char *path, const float *p, bool compress)
{
    const bool many = strchr(path, '%');
    const struct fbp_sink_params params = {.struct_size = sizeof params, .compress = compress};
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {NC, VIEWS, many ? 1 : NR}, .type = FBP_F32};
    AUTO_FREE float *sinograms = not_null(malloc(N * sizeof *sinograms));

    for (size_t i = 0; i < N; i++)
        sinograms[(i / NC % NR * VIEWS + i / NC / NR) * NC + i % NC] = p[i];
    if (!many)
        save_array(path, &info, &params, sinograms);
    for (size_t r = 0; many && r < NR; r++) {
        AUTO_FREE char *file = printed("%.*s%02zu.npy", (int)(strchr(path, '%') - path), path, r);
        save_array(file, &info, &params, sinograms + r * VIEWS * NC);
    }
}

static uint64_t hash_of(const struct fbp_scan *scan, int n_threads, size_t slab)
{
    return reconstruct_hash(scan, fbp_recon_params(.device = "cpu", .n_threads = n_threads,
                                                   .tuning.slab_slices = slab));
}

TEST(volumes_are_equal)
{
    static const struct {
        const char *name;
        bool compress;
    } files[] = {{"s.npy", false}, {"s.mha", false}, {"s.nrrd", true},
                 {"s.tif", false}, {"s.h5", false},  {"s_%02d.npy 0 21", false}};

    for (int counts = 0; counts < 2; counts++) {
        AUTO_DROP struct fbp_scan scan = make_scan();
        AUTO_FREE float *p = read_array(scan.projections);
        if (counts)
            count_photons(&scan, p, NULL);
        replace_samples(&scan, p);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            AUTO_FREE char *path = temporary(files[i].name), *views = scan.projections;
            scan.row_order = i % 2 ? FBP_ROWS_TOP_DOWN : FBP_ROWS_BOTTOM_UP;
            const uint64_t right = hash_of(&scan, 2, 0);
            store(path, p, files[i].compress);
            scan.projections = path;
            scan.sinograms = true;
            assert_true(hash_of(&scan, 2, 0) == right);
            assert_true(hash_of(&scan, 1, 4) == right);

            struct fbp_scan fewer = {.struct_size = sizeof fewer};
            OK(fbp_scan_copy(&fewer, &scan));
            OK(fbp_scan_reduce(&fewer, 3, 2));
            const uint64_t reduced = hash_of(&fewer, 2, 0);
            fewer.sinograms = false;
            free(fewer.projections);
            fewer.projections = strdup(views);
            assert_true(hash_of(&fewer, 2, 0) == reduced);
            fbp_scan_clear(&fewer);

            for (size_t r = 0; r < NR && strchr(path, '%'); r++) {
                AUTO_FREE char *file =
                    printed("%.*s%02zu.npy", (int)(strchr(path, '%') - path), path, r);
                remove(file);
            }
            remove(path);
            scan.sinograms = false;
            scan.projections = views;
            views = NULL;
        }
    }
}

/* A few samples of any view, and more views than are read together. */
TEST(samples)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *p = read_array(scan.projections);
    AUTO_REMOVE char *path = temporary("t.npy");
    float got[VIEWS * 3 * NC];

    store(path, p, false);
    CLEANUP(fbp_source_close) fbp_source *source = NULL;
    struct fbp_scan stored = {.projections = path, .sinograms = true};
    OK(fbp_scan_open_views(&source, &stored));
    assert_int_equal(fbp_source_info(source)->n[1], NR);
    assert_int_equal(fbp_source_info(source)->n[2], VIEWS);
    OK(fbp_source_read(source, 1, VIEWS - 1, 5, 3, FBP_F32, got));
    for (size_t k = 1; k < VIEWS; k++)
        assert_memory_equal(got + (k - 1) * 3 * NC, p + (k * NR + 5) * NC, 3 * NC * sizeof *p);
    assert_fails(fbp_source_read(source, VIEWS, 1, 0, 1, FBP_F32, got), FBP_ERR_INVALID, "slices");
}

TEST_MAIN(NULL, NULL)
