/* Checks PNG and SVG pictures of volumes: orientation, the numbers in a drawing, and that a
 * failure leaves no file. */
#include "array/array.h"
#include "array/file/outfile.h"
#include "base/math.h"

#include <signal.h>
#include <sys/resource.h>

#include "picture/draw.h"
#include "unit/one_array.h"
#include "unit/png_image.h"

#define VOLUME FBP_TEST_DIR "/picture.mha"
#define PNG    FBP_TEST_DIR "/picture.png"
#define SVG    FBP_TEST_DIR "/picture.svg"

static void write_volume(const size_t n[3], const double mm[3], const float *data)
{
    assert_true(volume_write(VOLUME, n, mm, data));
}

/* 3 x 4 x 5 voxels, one bright in each middle slice, off the centre. */
TEST(axes_point_right_and_up)
{
    float v[5][4][3] = {{{0}}};
    v[2][3][0] = 3; /* xy slice z = 2: left, top */
    v[4][2][2] = 2; /* xz slice y = 2: right, top */
    v[0][3][1] = 1; /* yz slice x = 1: right, bottom */
    write_volume((size_t[]){3, 4, 5}, (double[]){1, 1, 1}, &v[0][0][0]);
    OK(fbp_picture_write(VOLUME, PNG, fbp_picture_params(.lo = 0, .hi = 3)));

    struct image im = decode(PNG, PNG_FORMAT_GRAY);
    const size_t k = 52; /* ceil(256 / 5) */
    assert_int_equal(im.h, 5 * k);
    assert_int_equal(im.w, (3 + 3 + 4) * k + 8);
    for (size_t i = 0; i < 3 + 3 + 4; i++)
        for (size_t j = 0; j < 5; j++) { /* columns; rows from the top */
            const size_t panel = i < 3 ? 0 : i < 6 ? 1 : 2;
            const size_t c = i - 3 * panel, lift = panel == 0 ? k / 2 : 0;
            if (panel == 0 && j == 4)
                continue;
            const int expected = panel == 0   ? 255 * (c == 0 && j == 0)
                                 : panel == 1 ? 170 * (c == 2 && j == 0)
                                              : 85 * (c == 3 && j == 4);
            const size_t x = i * k + 4 * panel + k / 2, y = lift + j * k + k / 2;
            assert_int_equal(im.samples[y * im.w + x], expected);
        }
    free(im.samples);
}

TEST(projections_show_everything)
{
    float v[5][4][3] = {{{0}}};
    v[4][3][2] = 3;
    write_volume((size_t[]){3, 4, 5}, (double[]){1, 1, 1}, &v[0][0][0]);
    OK(fbp_picture_write(VOLUME, PNG, fbp_picture_params(.mip = true)));
    struct image im = decode(PNG, PNG_FORMAT_GRAY);
    size_t white = 0;
    for (size_t i = 0; i < im.w * im.h; i++)
        white += im.samples[i] == 255;
    assert_int_equal(white, 3 * 52 * 52);
    free(im.samples);
}

/* Slices of 300 x 2 x 4 voxels of 1 x 10 x 5 mm: heights are drawn to scale. */
TEST(voxels_to_scale)
{
    AUTO_FREE float *v = not_null(calloc(300 * 2 * 4, sizeof *v));
    write_volume((size_t[]){300, 2, 4}, (double[]){1, 10, 5}, v);
    OK(fbp_picture_write(VOLUME, PNG, NULL));
    struct image im = decode(PNG, PNG_FORMAT_GRAY);
    assert_int_equal(im.w, 300 + 300 + 20 + 8);
    assert_int_equal(im.h, 20);
    free(im.samples);
}

/* Pixels that fall together are averaged, the short last bin too. */
TEST(large_volumes_are_reduced)
{
    enum { N = 2501 };
    AUTO_FREE float *v = not_null(calloc(N, sizeof *v));
    for (int i = 0; i < N; i++)
        v[i] = (float)(i % 3); /* three a bin: 1 everywhere */
    write_volume((size_t[]){N, 1, 1}, (double[]){1, 1, 1}, v);
    OK(fbp_picture_write(VOLUME, PNG, fbp_picture_params(.lo = 0, .hi = 2)));
    struct image im = decode(PNG, PNG_FORMAT_GRAY);
    assert_int_equal(im.w, 834); /* one slice is one panel */
    for (size_t x = 0; x < 833; x++)
        assert_int_equal(im.samples[x], 128);
    assert_int_equal(im.samples[833], 64); /* (0 + 1) / 2 of 2 */
    free(im.samples);
}

/* Rows of a packed file that were left behind have to be unpacked again. */
static fbp_status read_counting(fbp_source *src, size_t slice, size_t row0, size_t n, void *out)
{
    size_t *next = src->state;

    assert_int_equal(slice * src->info.n[1] + row0, *next);
    *next += n;
    for (size_t i = 0; i < n * src->info.n[0]; i++)
        ((float *)out)[i] = (float)(row0 + i / src->info.n[0]);
    return FBP_OK;
}

static void draw_counting(const size_t n[3], enum fbp_row_order order, bool mip)
{
    size_t next = 0;
    fbp_source src = {.info = {.n = {n[0], n[1], n[2]}, .type = FBP_F32, .row_order = order},
                      .read = read_counting,
                      .in_order = true,
                      .state = &next};
    const struct fbp_picture_params params = {
        .struct_size = sizeof params, .mip = mip, .lo = 0, .hi = (double)n[1] - 1, .source = &src};

    OK(fbp_picture_write("rows", PNG, &params));
    assert_int_equal(next, n[1] * n[2]);
}

TEST(packed_rows_are_read_once_and_in_order)
{
    static const enum fbp_row_order orders[] = {FBP_ROWS_TOP_DOWN, FBP_ROWS_BOTTOM_UP};

    for (int i = 0; i < 2; i++) {
        for (int mip = 0; mip < 2; mip++) /* rows so long that they come in pieces */
            draw_counting((size_t[]){100000, 25, 2}, orders[i], mip);
        draw_counting((size_t[]){2, 2, 1}, orders[i], false);
        struct image im = decode(PNG, PNG_FORMAT_GRAY);
        assert_int_equal(im.samples[0], i == 0 ? 0 : 255); /* the top */
        assert_int_equal(im.samples[im.w * im.h - 1], i == 0 ? 255 : 0);
        free(im.samples);
    }
}

TEST(views_that_fail)
{
    float v[8] = {0};
    write_volume((size_t[]){2, 2, 2}, (double[]){1, 1, 1}, v);
    assert_fails(
        fbp_picture_write(VOLUME, PNG, fbp_picture_params(.at_slice = true, .slice = {0, 2})),
        FBP_ERR_INVALID, "slice y = 2");
    assert_int_equal(fbp_picture_write(VOLUME, PNG, fbp_picture_params(.lo = 2, .hi = 1)),
                     FBP_ERR_INVALID);
    assert_int_equal(fbp_picture_write(FBP_TEST_DIR "/missing.mha", PNG, NULL), FBP_ERR_IO);
    assert_fails(fbp_picture_write(VOLUME, FBP_TEST_DIR "/no/such/folder.png", NULL), FBP_ERR_IO,
                 "cannot create");
}

/* As on a full disk, libpng hears that not all bytes were written. */
TEST(full_disk)
{
    const struct rlimit small = {4096, RLIM_INFINITY};
    static uint8_t grey[300 * 300];
    struct rlimit was;

    unsigned seed = 1;
    for (size_t i = 0; i < sizeof grey; i++)
        grey[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
    (void)unlink(FBP_TEST_DIR "/full.png");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    fbp_message_clear();
    const fbp_status st = fbp_png_write(FBP_TEST_DIR "/full.png", 300, 300, 1, grey);
    setrlimit(RLIMIT_FSIZE, &was);
    assert_fails(st, FBP_ERR_IO, "full.png: cannot write: a file of");
    assert_true(access(FBP_TEST_DIR "/full.png", F_OK) != 0);
}

static char *slurp(const char *path)
{
    static char buf[1 << 18];
    FILE *f = not_null(fopen(path, "r"));
    buf[fread(buf, 1, sizeof buf - 1, f)] = 0;
    fclose(f);
    return buf;
}

/* Every tag that is opened is closed, in order; attributes are quoted. */
static void assert_well_formed(const char *xml)
{
    char open[32][16];
    int depth = 0;

    for (const char *at = strchr(xml, '<'); at; at = strchr(at + 1, '<')) {
        const char *end = not_null(strchr(at, '>'));
        int quotes = 0, n = 0;
        for (const char *c = at; c < end; c++)
            quotes += *c == '"';
        assert_int_equal(quotes % 2, 0);
        if (at[1] == '?')
            continue;
        const char *name = at + 1 + (at[1] == '/');
        n = (int)strcspn(name, " />");
        assert_true(n > 0 && n < 16);
        if (at[1] == '/') {
            assert_true(depth-- > 0);
            assert_int_equal(strncmp(open[depth], name, (size_t)n), 0);
        } else if (end[-1] != '/') {
            assert_true(depth < 32);
            snprintf(open[depth++], sizeof open[0], "%.*s", n, name);
        }
    }
    assert_int_equal(depth, 0);
}

TEST(drawing_of_a_scan)
{
    struct fbp_view views[3];
    const struct fbp_panel panel = {311, 207};
    const struct fbp_grid grid = {{101, 102, 103}, {.5, .5, .75}, {0, 0, 0}};
    const struct fbp_geometry_facts facts = {.struct_size = sizeof facts,
                                             .sod_mm = {743, 745},
                                             .sdd_mm = {1201, 1201},
                                             .magnification = 1.615,
                                             .direction = 1,
                                             .arc_rad = FBP_PI,
                                             .coverage = FBP_COVERAGE_PARTIAL,
                                             .fov_radius_mm = 77,
                                             .fov_half_height_mm = {-41, 42}};

    for (int k = 0; k < 3; k++) {
        const double c = cos(.5 + k), s = sin(.5 + k);
        views[k] = (struct fbp_view){
            {744 * c, 744 * s, 0}, {-457 * c, -457 * s, 0}, {-s, c, 0}, {0, 0, 1}};
    }
    OK(fbp_geometry_svg((struct fbp_views){FBP_CONE, 3, panel, views}, &grid, &facts, SVG));
    const char *svg = slurp(SVG);
    assert_well_formed(svg);
    static const char *const words[] = {
        "743 to 745 mm", "1201 mm",        "3 over 180&#176;", "partial",      "28.6479&#176;",
        "118.648&#176;", "311 &#215; 207", "101 &#215; 102",   "radius 77 mm", " mm</text>"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_contains(svg, words[i]);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf\""));
    assert_null(strstr(svg, "<script"));

    for (int k = 0; k < 3; k++)
        fbp_normalise(views[k].s);
    OK(fbp_geometry_svg((struct fbp_views){FBP_PARALLEL, 3, panel, views}, NULL, &facts, SVG));
    svg = slurp(SVG);
    assert_well_formed(svg);
    assert_null(strstr(svg, "SOD"));
    assert_null(strstr(svg, "nan"));

    /* The length of s does not matter for parallel rays. */
    AUTO_FREE char *of_unit = strdup(svg);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            views[k].s[i] *= 4;
    OK(fbp_geometry_svg((struct fbp_views){FBP_PARALLEL, 3, panel, views}, NULL, &facts, SVG));
    assert_string_equal(slurp(SVG), of_unit);
}

TEST(drawings_that_fail)
{
    const struct fbp_view view = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const struct fbp_panel panel = {1, 1};
    const struct fbp_geometry_facts facts = {.struct_size = sizeof facts};

    assert_int_equal(
        fbp_geometry_svg((struct fbp_views){FBP_CONE, 0, panel, &view}, NULL, &facts, SVG),
        FBP_ERR_INVALID);
    assert_int_equal(
        fbp_geometry_svg((struct fbp_views){FBP_PLANES, 0, panel, &view}, NULL, &facts, SVG),
        FBP_ERR_INVALID);
    assert_int_equal(fbp_geometry_svg((struct fbp_views){FBP_CONE, 1, panel, &view}, NULL, &facts,
                                      FBP_TEST_DIR "/no/such/folder.svg"),
                     FBP_ERR_IO);
}

TEST_MAIN(NULL, NULL)
