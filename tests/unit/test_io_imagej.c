/* Checks the ImageJ description of TIFF volumes: what is written, also beyond 4 GiB, and what is
 * read. */
#include "unit/tiff_files.h"
#include "unit/tiff_header.h"

#include "array/array.h"
#include "array/format/tiff.h"

#include <fcntl.h>

#define FILE_ FBP_TEST_DIR "/io_imagej.tif"

enum { NX = 5, NY = 4, NZ = 3, N = NX * NY * NZ };

static const struct fbp_array_info some = {.struct_size = sizeof some,
                                           .n = {NX, NY, NZ},
                                           .type = FBP_F32,
                                           .unit = "1/mm",
                                           .row_order = FBP_ROWS_BOTTOM_UP,
                                           .spacing_mm = {0.1, 0.3, 0.25},
                                           .origin_mm = {-0.2, -0.45, 10}};

/* The header that a sink would write before the samples, and the room for them, of which the disk
 * holds nothing. */
static uint64_t put_sparse(const struct fbp_array_info *info)
{
    const uint64_t bytes = (uint64_t)info->n[0] * info->n[1] * info->n[2] * 4;
    struct fbp_layout layout = {0};
    const int fd = open(FILE_, O_RDWR | O_CREAT | O_TRUNC, 0666);

    assert_true(fd >= 0);
    OK(fbp_tiff_layout(FILE_, info, 0, &layout));
    const uint64_t at = layout.header_bytes;
    put_header(&layout, info, fd, FILE_);
    assert_int_equal(ftruncate(fd, (off_t)(at + bytes)), 0);
    close(fd);
    return at;
}

/* What libtiff finds on the first page. */
static void assert_described(size_t slices, bool integers)
{
    TIFF *t = not_null(TIFFOpen(FILE_, "r"));
    float x = 0, y = 0;
    uint16_t unit = 0, orientation = 0;
    char *text = NULL, line[40];

    assert_true(TIFFGetField(t, TIFFTAG_IMAGEDESCRIPTION, &text));
    TIFFGetField(t, TIFFTAG_XRESOLUTION, &x);
    TIFFGetField(t, TIFFTAG_YRESOLUTION, &y);
    TIFFGetField(t, TIFFTAG_RESOLUTIONUNIT, &unit);
    TIFFGetField(t, TIFFTAG_ORIENTATION, &orientation);
    assert_true(x == 10.f && y == 10.f / 3); /* pixels a mm */
    assert_int_equal(unit, RESUNIT_NONE);
    assert_int_equal(orientation, ORIENTATION_TOPLEFT);
    assert_memory_equal(text, "ImageJ=1.", 9);
    snprintf(line, sizeof line, "\nimages=%zu\nslices=%zu\n", slices, slices);
    assert_contains(text, line);
    assert_contains(text, "\nunit=mm\nspacing=0.25\nxorigin=2\nyorigin=1.5\nzorigin=-40\n");
    assert_int_equal(strstr(text, "\ncf=0\nc0=-1\nc1=0.5\n") != NULL, integers);
    assert_contains(text, "\nvunit=1/mm\nfbp={\"fbp\": 1,");
    TIFFClose(t);
}

static void assert_place(const double spacing[3], const double origin[3], const char *unit)
{
    CLEANUP(fbp_source_close) fbp_source *src = open_source(FILE_, NULL);
    const struct fbp_array_info *i = fbp_source_info(src);

    assert_true(i->has_spacing);
    assert_string_equal(i->unit, unit);
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(i->spacing_mm[k] - spacing[k]) <= 1e-6 * spacing[k]);
        assert_true(fabs(i->origin_mm[k] - origin[k]) <= 1e-6);
    }
}

TEST(written)
{
    struct fbp_array_info counts = some;

    (void)put_sparse(&some);
    assert_described(NZ, false);
    assert_place(some.spacing_mm, some.origin_mm, "1/mm");
    counts.scale = 0.5;
    counts.offset = -1;
    (void)put_sparse(&counts);
    assert_described(NZ, true);
}

/* BigTIFF, with a directory for each slice: all readers find all of them. */
TEST(beyond_4_gib)
{
    struct fbp_array_info large = some;
    const float value = 1.5f;
    unsigned char magic[4];
    float row[1024];

    large.n[0] = large.n[1] = 1024;
    large.n[2] = 1100;
    const uint64_t page = 4ull << 20, at = put_sparse(&large);
    const int fd = open(FILE_, O_RDWR);
    assert_true(pread(fd, magic, 4, 0) == 4);
    assert_memory_equal(magic, "II+\0", 4);
    assert_int_equal(pwrite(fd, &value, 4, (off_t)(at + 1099 * page + 4096 * 7 + 4 * 9)), 4);
    close(fd);
    assert_described(1100, false);
    TIFF *t = TIFFOpen(FILE_, "r");
    assert_int_equal(TIFFNumberOfDirectories(t), 1100);
    TIFFClose(t);
    assert_place(large.spacing_mm, large.origin_mm, "1/mm");
    CLEANUP(fbp_source_close) fbp_source *src = open_source(FILE_, NULL);
    assert_int_equal(fbp_source_info(src)->n[2], 1100);
    assert_int_equal(fbp_source_info(src)->row_order, FBP_ROWS_BOTTOM_UP);
    OK(fbp_source_read(src, 1099, 1, 7, 1, FBP_F32, row));
    assert_true(row[8] == 0 && row[9] == value);
    unlink(FILE_);
}

/* As ImageJ saves what it has opened, and as others write it: without our line. */
TEST(others)
{
    static const char ending[] = "loop=false\n";
    static const struct {
        const char *text;
        float x, y;
        double spacing[3], origin[3]; /* 0: none */
        double scale;
        const char *unit;
    } cases[] = {
        {"unit=mm\nspacing=0.25\nxorigin=2\nyorigin=1.5\n",
         10,
         4,
         {.1, .25, .25},
         {-.2, -.375, 0},
         0,
         ""},
        {"unit=micron\nspacing=-3\ncf=0\nc0=-1\nc1=0.5\nvunit=HU\n",
         2,
         2,
         {5e-4, 5e-4, 3e-3},
         {0},
         0.5,
         "HU"},
        {"unit=\\u00B5m\nspacing=1\ncf=3\nc0=-1\nc1=0.5\n", 1, 1, {1e-3, 1e-3, 1e-3}, {0}, 0, ""},
        {"unit=pixel\nspacing=1\n", 1, 1, {0}, {0}, 0, ""},
        {"unit=mm\nspacing=1\n", 0, 0, {0}, {0}, 0, ""},
        {"spacing=1\n", 10, 10, {0}, {0}, 0, ""},
        {"unit=mm\nspacing=0\n", 1, 1, {0}, {0}, 0, ""},
        {"unit=mm\nspacing=nan\nxorigin=inf\n", 1, 1, {1, 1, 1}, {0}, 0, ""},
        {"unit=mm\nspacing=2\nfbp={\"fbp\": 1, \"type\": \"uint8\", \"scale\": 3}\n",
         1,
         1,
         {1, 1, 2},
         {0},
         0,
         ""}, /* of another file: not believed */
    };
    char text[400];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "ImageJ=1.53t\nimages=3\nslices=3\n%s%s", cases[i].text,
                 ending);
        static const uint16_t counts[N] = {7};
        const struct tiff_way w = {.description = text};
        TIFF *t = not_null(TIFFOpen(FILE_, "wl"));
        for (size_t k = 0; k < NZ; k++) {
            put_tags(t, &w, NX, NY);
            if (cases[i].x > 0) {
                TIFFSetField(t, TIFFTAG_XRESOLUTION, cases[i].x);
                TIFFSetField(t, TIFFTAG_YRESOLUTION, cases[i].y);
            }
            put_strips(t, NY, NX * 2, NY, (const char *)counts + k * NX * NY * 2);
            assert_true(TIFFWriteDirectory(t));
        }
        TIFFClose(t);
        fbp_source *src = open_source(FILE_, NULL);
        const struct fbp_array_info info = *fbp_source_info(src);
        fbp_source_close(&src);
        assert_int_equal(info.n[2], NZ);
        assert_int_equal(info.row_order, FBP_ROWS_TOP_DOWN);
        assert_true(info.scale == cases[i].scale);
        assert_int_equal(info.has_spacing, cases[i].spacing[0] > 0);
        if (info.has_spacing)
            assert_place(cases[i].spacing, cases[i].origin, cases[i].unit);
    }
}

TEST_MAIN(NULL, NULL)
