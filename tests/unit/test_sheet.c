/* Checks contact sheets, their letters and curves, and the picture of a volume that is still
 * open. */
#include "base/base.h"
#include "picture/draw.h"

#include "unit/png_image.h"

#define PNG FBP_TEST_DIR "/sheet.png"
#define SVG FBP_TEST_DIR "/curve.svg"

static const uint8_t *pixel(const struct image *im, size_t x, size_t y)
{
    return im->samples + 3 * (y * im->w + x);
}

/* Four values of a picture become blocks of 64 pixels; up is up; the window is common to all. */
TEST(pictures_are_beside_each_other)
{
    const float a[2][2] = {{0, 1}, {2, 4}}, b[2][2] = {{NAN, 4}, {4, INFINITY}};
    const struct fbp_tile tiles[] = {{&a[0][0], "a", false}, {&b[0][0], "b", true}};
    const struct fbp_sheet_params p = {.n = {2, 2}};

    OK(fbp_sheet_write(PNG, tiles, 2, &p));
    struct image im = decode(PNG, PNG_FORMAT_RGB);
    assert_int_equal(im.w, 12 + 2 * (128 + 12));
    assert_int_equal(pixel(&im, 12, 12)[0], 128);            /* a, top left: 2 */
    assert_int_equal(pixel(&im, 12 + 127, 12)[0], 255);      /* top right: 4 */
    assert_int_equal(pixel(&im, 12, 12 + 127)[0], 0);        /* bottom left: 0 */
    assert_int_equal(pixel(&im, 12 + 127, 12 + 127)[0], 64); /* bottom right: 1 */
    assert_int_equal(pixel(&im, 152, 12 + 127)[0], 0);       /* b, bottom left: NaN */
    assert_int_equal(pixel(&im, 152 + 127, 12 + 127)[0], 255);
    /* b is framed in colour, a is not. */
    assert_int_not_equal(pixel(&im, 152 - 1, 20)[0], pixel(&im, 152 - 1, 20)[2]);
    assert_int_equal(pixel(&im, 12 - 1, 20)[0], pixel(&im, 12 - 1, 20)[2]);
    free(im.samples);
}

/* Labels and titles that are wider than a picture make room for themselves. */
TEST(nothing_is_cut)
{
    const float v[4] = {0, 1, 2, 4};
    const struct fbp_tile tiles[] = {{v, "thirty letters of one label...", false}, {v, "b", false}};
    struct fbp_sheet_params p = {.n = {2, 2}};

    OK(fbp_sheet_write(PNG, tiles, 2, &p));
    struct image im = decode(PNG, PNG_FORMAT_RGB);
    assert_int_equal(im.w, 12 + 2 * (30 * 6 + 12));
    free(im.samples);
    p.title = "a title of seventy letters, which no sheet of one small picture holds.";
    OK(fbp_sheet_write(PNG, tiles + 1, 1, &p));
    im = decode(PNG, PNG_FORMAT_RGB);
    assert_in_range(im.w, 12 + 70 * 6, 12 + 70 * 12 + 12);
    free(im.samples);
}

TEST(a_folder_that_is_missing_is_no_sheet)
{
    const struct fbp_sheet_params p = {.n = {2, 2}};

    assert_int_equal(fbp_sheet_write(FBP_TEST_DIR "/missing/s.png",
                                     (struct fbp_tile[]){{(float[4]){0}, "x", false}}, 1, &p),
                     FBP_ERR_IO);
}

/* Dots of "T", beyond the canvas none, whole letters only before `end`. */
TEST(letters_have_dots)
{
    uint8_t rgb[8][13][3] = {{{0}}};
    const struct fbp_canvas canvas = {&rgb[0][0][0], 13, 8};
    const uint8_t white[3] = {255, 255, 255};

    fbp_font_write(&canvas, 1, 0, 12, 1, white, "tT");
    for (size_t x = 1; x < 6; x++)
        assert_int_equal(rgb[0][x][0], 255);
    assert_int_equal(rgb[6][3][1], 255);
    assert_int_equal(rgb[6][2][1], 0);
    assert_int_equal(rgb[0][7][2], 255);
    memset(rgb, 0, sizeof rgb);
    fbp_font_write(&canvas, 1, 0, 11, 1, white, "TT");
    assert_int_equal(rgb[0][7][2], 0);
    fbp_font_write(&canvas, 10, 5, 100, 1, white, "T");
    assert_int_equal(rgb[5][12][0], 255);
}

static char *read_text(const char *path)
{
    static char text[20000];
    FILE *f = not_null(fopen(path, "rb"));

    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

TEST(curves_have_points_and_the_best)
{
    const double x[] = {1, 2, 3}, y[] = {4, 1, NAN};
    struct fbp_curve c = {
        .title = "t", .x_name = "x", .y_name = "y", .x = x, .y = y, .n = 3, .best = 1.5};
    size_t points = 0;

    OK(fbp_curve_svg(&c, SVG));
    const char *text = read_text(SVG);
    assert_contains(text, "class=\"best\"");
    for (const char *at = text; (at = strstr(at, "class=\"point\"")) != NULL; at++)
        points++;
    assert_int_equal(points, 2);
    c.best = NAN;
    c.n = 1;
    OK(fbp_curve_svg(&c, SVG));
    assert_null(strstr(read_text(SVG), "class=\"best\""));
    unlink(SVG);
    c.n = 0;
    assert_int_equal(fbp_curve_svg(&c, SVG), FBP_ERR_INVALID);
    assert_int_not_equal(access(SVG, F_OK), 0);
}

/* The window that was chosen is told. */
TEST(a_volume_in_memory_is_drawn)
{
    float v[40 * 40];
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {40, 40, 1}, .type = FBP_F32};
    double shown[2] = {0};

    for (int i = 0; i < 40 * 40; i++)
        v[i] = (float)i;
    fbp_source *source = memory_source(v, &info);
    OK(fbp_picture_write("memory", PNG, fbp_picture_params(.source = source, .shown = shown)));
    fbp_source_close(&source);
    assert_true(shown[0] >= 1 && shown[0] <= 4 && shown[1] >= 1595 && shown[1] <= 1598);
    struct image im = decode(PNG, PNG_FORMAT_RGB);
    assert_int_equal(im.w, 280); /* one panel */
    assert_true(pixel(&im, 0, 0)[0] > 200 && pixel(&im, 0, 279)[0] < 20);
    free(im.samples);
}

TEST_MAIN(NULL, NULL)
