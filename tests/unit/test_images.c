/* Checks that dark, flat and bad-pixel images from memory give the same preparation as those from
 * files. */
#include "unit/io_util.h"

#include "base/cache.h"
#include "prep/prep.h"
#include "scan/file/scan.h"

enum { NC = 6, NR = 5, N = NC * NR, MOST = 3 };

static char dark_path[] = FBP_TEST_DIR "/images_dark.npy";
static char flat_path[] = FBP_TEST_DIR "/images_flat.npy";
static char mask_path[] = FBP_TEST_DIR "/images_mask.npy";

static struct fbp_scan scan_of_panel(void)
{
    return (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                             .kind = FBP_CONE,
                             .panel = {.n_columns = NC, .n_rows = NR}};
}

static const struct fbp_array_info *info_of(size_t n)
{
    static struct fbp_array_info info;

    info = (struct fbp_array_info){.struct_size = sizeof info, .n = {NC, NR, n}, .type = FBP_F32};
    return &info;
}

static fbp_status use(struct fbp_scan *scan, enum fbp_image which, size_t n, const float *v)
{
    CLEANUP(fbp_source_close) fbp_source *source = memory_source(v, info_of(n));
    return fbp_scan_use_image(scan, which, source);
}

static uint64_t hash_of(const struct fbp_scan *scan, bool top_down)
{
    struct fbp_prep p;

    OK(fbp_prep_create(&p, scan, top_down));
    const uint64_t h = fbp_prep_hash(0, &p);
    fbp_prep_clear(&p);
    return h;
}

struct pictures {
    float dark[MOST * N], flat[MOST * N], mask[N];
};

/* `which`: bits of enum fbp_image. */
static void from_files_and_memory(struct fbp_scan *file, struct fbp_scan *memory, int which)
{
    static struct pictures p;
    float *const samples[] = {p.dark, p.flat, p.mask};
    char *const paths[] = {dark_path, flat_path, mask_path};
    char **const names[] = {&file->dark, &file->flat, &file->bad_pixels};
    const size_t n[] = {2, MOST, 1};

    for (size_t i = 0; i < MOST * N; i++) {
        p.dark[i] = 10 + 0.37f * (float)(i * i % 17);
        p.flat[i] = 1000 + 3.1f * (float)(i * i % 23);
    }
    memset(p.mask, 0, sizeof p.mask);
    p.mask[8] = p.mask[27] = 1;
    file->i0 = memory->i0 = 5000;
    for (int i = 0; i < 3; i++)
        if (which & 1 << i) {
            save_array(paths[i], info_of(n[i]), NULL, samples[i]);
            *names[i] = paths[i];
            OK(use(memory, (enum fbp_image)i, n[i], samples[i]));
        }
}

TEST(the_bits_of_files)
{
    for (int which = 1; which < 8; which++) {
        struct fbp_scan file = scan_of_panel(), memory = scan_of_panel(), copy = scan_of_panel();
        from_files_and_memory(&file, &memory, which);
        OK(fbp_scan_copy(&copy, &memory));
        assert_true(hash_of(&file, false) != hash_of(&file, true));
        for (int top_down = 0; top_down < 2; top_down++) {
            assert_true(hash_of(&memory, top_down) == hash_of(&file, top_down));
            assert_true(hash_of(&copy, top_down) == hash_of(&file, top_down));
        }
        fbp_scan_clear(&copy);
        fbp_scan_clear(&memory);
    }
}

/* Of larger pixels, too, and they are set from stored ones before and after. */
TEST(reduced)
{
    for (int before = 0; before < 2; before++) {
        AUTO_CLEAR struct fbp_scan file = scan_of_panel(), memory = scan_of_panel();
        for (struct fbp_scan *s = &file; s; s = s == &file ? &memory : NULL) {
            s->n_views = 4;
            s->views = calloc(4, sizeof *s->views);
            assert_non_null(s->views);
        }
        if (before)
            from_files_and_memory(&file, &memory, 7);
        OK(fbp_scan_reduce(&file, 1, 2));
        OK(fbp_scan_reduce(&memory, 1, 2));
        if (!before)
            from_files_and_memory(&file, &memory, 7);
        assert_true(hash_of(&memory, true) == hash_of(&file, true));
        file.dark = file.flat = file.bad_pixels = NULL; /* not on the heap */
    }
}

/* One replaces the other, a file's name or a picture. */
TEST(replaced)
{
    AUTO_CLEAR struct fbp_scan scan = scan_of_panel();
    float one[N] = {0};

    assert_false(fbp_scan_is_intensity(&scan));
    scan.flat = strdup("none.npy");
    OK(use(&scan, FBP_IMAGE_FLAT, 1, one));
    assert_null(scan.flat);
    assert_true(fbp_scan_is_intensity(&scan));
    assert_true(fbp_scan_image(&scan, FBP_IMAGE_FLAT)[3] == 0);
    one[3] = 7;
    OK(use(&scan, FBP_IMAGE_FLAT, 1, one));
    assert_true(fbp_scan_image(&scan, FBP_IMAGE_FLAT)[3] == 7);
    OK(fbp_scan_use_image(&scan, FBP_IMAGE_FLAT, NULL));
    assert_false(fbp_scan_is_intensity(&scan));
    assert_false(fbp_prep_is_needed(&scan));
    OK(use(&scan, FBP_IMAGE_BAD_PIXELS, 1, one));
    assert_true(fbp_prep_is_needed(&scan) && !fbp_scan_is_intensity(&scan));
}

TEST(refused)
{
    AUTO_CLEAR struct fbp_scan scan = scan_of_panel();
    struct fbp_prep p;
    const float one[N + NC] = {0};
    struct fbp_array_info info = *info_of(1);

    info.n[1]++;
    fbp_source *source = memory_source(one, &info);
    assert_fails(fbp_scan_use_image(&scan, FBP_IMAGE_DARK, source), FBP_ERR_INVALID,
                 "dark: the image has 6 columns and 6 rows, but the views have 6 and 5");
    assert_fails(fbp_scan_use_image(&scan, (enum fbp_image)3, source), FBP_ERR_INVALID, "which");
    fbp_source_close(&source);
    assert_null(scan.images);
    OK(use(&scan, FBP_IMAGE_FLAT, 1, one));
    scan.panel.n_rows++;
    assert_fails(fbp_prep_create(&p, &scan, false), FBP_ERR_INVALID, "flat: ");
    scan.projections = strdup("views.npy");
    assert_fails(fbp_scan_save(&scan, FBP_TEST_DIR "/images.json", NULL), FBP_ERR_UNSUPPORTED,
                 "flat is an image in memory");
}

TEST_MAIN(NULL, NULL)
