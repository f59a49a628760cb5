/* Checks the PNG reader: greyscale of all depths, stacks, damaged files, and refusals with a
 * reason. */
#include "unit/png_files.h"

#include <sys/stat.h>

#define STEM  FBP_TEST_DIR "/io_png"
#define FILE_ STEM ".png"

static void check(fbp_source *src, size_t nz, int bits)
{
    const struct fbp_array_info *i = fbp_source_info(src);
    float out[PAGE];
    assert_true(i->n[0] == NX && i->n[1] == NY && i->n[2] == nz);
    assert_int_equal(i->type, bits == 16 ? FBP_U16 : FBP_U8);
    assert_int_equal(i->row_order, FBP_ROWS_TOP_DOWN);
    for (size_t k = nz; k-- > 0;)
        for (size_t y = 0; y < NY; y += 5) /* on, and back to the start */
            for (int again = 0; again < 2; again++) {
                const size_t y0 = again ? 0 : y, n = NY - y0 < 5 ? NY - y0 : 5;
                OK(fbp_source_read(src, k, 1, y0, n, FBP_F32, out));
                for (size_t j = 0; j < n * NX; j++)
                    assert_true(out[j] == (float)value(k, y0 * NX + j, bits));
            }
    fbp_source_close(&src);
}

TEST(every_depth)
{
    static const int depths[] = {1, 2, 4, 8, 16};
    for (size_t i = 0; i < 5; i++) {
        const struct way w = {.bits = depths[i]};
        put_png(FILE_, &w, 0);
        check(open_source(FILE_, NULL), 1, depths[i]);
    }
}

TEST(folder_and_pattern)
{
    const struct way w = {.bits = 16}, other = {.bits = 8};
    mkdir(STEM "_views", 0777);
    put_png(STEM "_views/v_9.png", &w, 0);
    put_png(STEM "_views/v_10.png", &w, 1);
    put_png(STEM "_views/v_11.png", &w, 2);
    check(open_source(STEM "_views", NULL), NZ, 16);
    check(open_source(STEM "_views/v_%d.png 9 11", NULL), NZ, 16);
    put_png(STEM "_views/v_10.png", &other, 1);
    fbp_source *src;
    assert_fails(fbp_source_open(&src, STEM "_views", NULL), FBP_ERR_INVALID,
                 "v_10.png: contains 23 x 17 x 1 uint8, but the first file 23 x 17 x 1 uint16");
}

TEST(description)
{
    const struct way w = {.bits = 8,
                          .description = "{\"fbp\": 1, \"type\": \"uint8\", \"size\": [23, 17, 9], "
                                         "\"rows\": \"bottom-up\", \"unit\": \"1/mm\", "
                                         "\"scale\": 0.25, \"offset\": 1}"};
    float out[PAGE];
    put_png(FILE_, &w, 0);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(FILE_, NULL);
    assert_int_equal(fbp_source_info(src)->row_order, FBP_ROWS_BOTTOM_UP);
    assert_string_equal(fbp_source_info(src)->unit, "1/mm");
    OK(fbp_source_read(src, 0, 1, 0, NY, FBP_F32, out));
    for (size_t j = 0; j < PAGE; j++)
        assert_true(out[j] == (float)value(0, j, 8) / 4 + 1);
}

TEST(refused_with_a_remedy)
{
    static const struct {
        struct way way;
        const char *says;
    } cases[] = {
        {{8, PNG_COLOR_TYPE_RGB, 0, NULL}, "PNG: the image is in colour; save it as greyscale"},
        {{16, PNG_COLOR_TYPE_GRAY_ALPHA, 0, NULL},
         "PNG: the image is greyscale with transparency; save"},
        {{8, PNG_COLOR_TYPE_PALETTE, 0, NULL}, "PNG: the image is coloured by a palette; save"},
        {{8, PNG_COLOR_TYPE_GRAY, 1, NULL}, "PNG: the image is interlaced; save it without"},
    };
    fbp_source *src;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_png(FILE_, &cases[i].way, 0);
        assert_fails(fbp_source_open(&src, FILE_, NULL), FBP_ERR_UNSUPPORTED, cases[i].says);
    }
    assert_int_equal(fbp_source_follow(&src, FILE_, NULL, 1), FBP_ERR_UNSUPPORTED);
}

TEST(damaged)
{
    const struct way w = {.bits = 16};
    float out[PAGE];
    size_t n;
    put_png(FILE_, &w, 0);
    AUTO_FREE char *whole = get_file(FILE_, &n);
    for (size_t k = 0; k < n; k++) {
        fbp_source *src;
        put_file(FILE_, whole, k);
        assert_int_not_equal(fbp_source_open(&src, FILE_, NULL), FBP_OK);
        assert_true(fbp_message()[0]);
    }
    for (size_t k = 8; k < n; k++) { /* checksums find a changed byte, or zlib does */
        CLEANUP(fbp_source_close) fbp_source *src = NULL;
        whole[k] ^= 0x41;
        put_file(FILE_, whole, n);
        whole[k] ^= 0x41;
        if (fbp_source_open(&src, FILE_, NULL) != FBP_OK)
            continue;
        const size_t *m = fbp_source_info(src)->n;
        if (m[0] == NX && m[1] == NY && fbp_source_read(src, 0, 1, 0, NY, FBP_F32, out) == FBP_OK)
            for (size_t j = 0; j < PAGE; j++)
                assert_true(out[j] == (float)value(0, j, 16));
    }
}

TEST_MAIN(NULL, NULL)
