/* Checks the TIFF reader: every type, codec, byte order and layout, folders, damaged files, and
 * refusals with a reason. */
#include "unit/tiff_files.h"

#include "array/file/bytes.h"

#include <pthread.h>
#include <sys/stat.h>

enum { NX = 37, NY = 29, NZ = 3, PAGE = NX * NY, N = PAGE * NZ };

#define STEM   FBP_TEST_DIR "/io_tiff"
#define FILE_  STEM ".tif"
#define FOLDER STEM "_views"

static const struct {
    enum fbp_type type;
    uint16_t bits, format;
} types[] = {
    {FBP_U8, 8, SAMPLEFORMAT_UINT},     {FBP_I8, 8, SAMPLEFORMAT_INT},
    {FBP_U16, 16, SAMPLEFORMAT_UINT},   {FBP_I16, 16, SAMPLEFORMAT_INT},
    {FBP_U32, 32, SAMPLEFORMAT_UINT},   {FBP_I32, 32, SAMPLEFORMAT_INT},
    {FBP_F32, 32, SAMPLEFORMAT_IEEEFP}, {FBP_F64, 64, SAMPLEFORMAT_IEEEFP},
};

enum { N_TYPES = sizeof types / sizeof *types };

/* Numbers that use all bytes of their type, as they are stored and as float. */
static void fill(enum fbp_type type, void *samples, float *values)
{
    const size_t size = fbp_type_size(type);
    for (size_t i = 0; i < N; i++) {
        const double x = type == FBP_F32 || type == FBP_F64 ? (double)i * 1.7e-3 - 2 : 0;
        const float f = (float)x;
        const uint32_t bits = (uint32_t)(i / 5) * 2654435761u;
        char *to = (char *)samples + i * size;
        memcpy(to,
               type == FBP_F64   ? (const void *)&x
               : type == FBP_F32 ? (const void *)&f
                                 : &bits,
               size);
    }
    fbp_to_float(type, 0, 0, samples, N, values);
}

static void check(const char *path, enum fbp_type type, size_t nz, const float *values)
{
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    const struct fbp_array_info *i = fbp_source_info(src);
    static float out[N];
    assert_true(i->n[0] == NX && i->n[1] == NY && i->n[2] == nz && i->type == type);
    assert_int_equal(i->row_order, FBP_ROWS_TOP_DOWN);
    OK(fbp_source_read(src, 0, nz, 0, NY, FBP_F32, out));
    assert_memory_equal(out, values, nz * PAGE * sizeof *out);
    for (size_t z = nz; z-- > 0;) /* backwards, parts of bands */
        for (size_t y = 0; y < NY; y += 9) {
            const size_t n = NY - y < 9 ? NY - y : 9;
            OK(fbp_source_read(src, z, 1, y, n, FBP_F32, out));
            assert_memory_equal(out, values + z * PAGE + y * NX, n * NX * sizeof *out);
        }
}

TEST(every_type_and_codec)
{
    static const uint16_t codecs[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS,
                                      COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD};
    static const char *const modes[] = {"wl", "wb", "w8l", "w8b"};
    static const struct {
        uint32_t rows, tile;
    } shapes[] = {{0, 0}, {8, 0}, {1, 0}, {0, 16}};
    static double samples[N];
    static float values[N];
    for (size_t i = 0; i < N_TYPES * 5 * 4 * 4 * 2; i++) {
        const size_t type = i % N_TYPES, codec = i / N_TYPES % 5, mode = i / N_TYPES / 5 % 4;
        const size_t shape = i / N_TYPES / 20 % 4;
        struct tiff_way w = {.mode = modes[mode],
                             .bits = types[type].bits,
                             .format = types[type].format,
                             .compression = codecs[codec],
                             .rows = shapes[shape].rows,
                             .tile = shapes[shape].tile};
        if (!TIFFIsCODECConfigured(w.compression))
            continue;
        if (i >= N_TYPES * 80) { /* and once more by differences */
            /* libtiff 4.5 writes differences of floats wrongly in foreign order */
            if (codec == 0 || codec == 2 || (types[type].format == SAMPLEFORMAT_IEEEFP && mode % 2))
                continue;
            w.predictor =
                w.format == SAMPLEFORMAT_IEEEFP ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL;
        }
        fill(types[type].type, samples, values);
        put_tiff(FILE_, &w, NX, NY, NZ, samples);
        check(FILE_, types[type].type, NZ, values);
    }
}

static uint16_t counts[N];
static float values_of[N];

static int fill_counts(void **state)
{
    fill(FBP_U16, counts, values_of);
    return 0;
}

/* Rows, scale, unit and place where the file says them. */
TEST(orientation_and_description)
{
    struct tiff_way w = {.orientation = ORIENTATION_BOTLEFT};
    put_tiff(FILE_, &w, NX, NY, NZ, counts);
    fbp_source *src = open_source(FILE_, NULL);
    assert_int_equal(fbp_source_info(src)->row_order, FBP_ROWS_BOTTOM_UP);
    fbp_source_close(&src);

    w = (struct tiff_way){.description =
                              "{\"fbp\": 1, \"type\": \"uint16\", \"size\": [37, 29, 3], \"rows\": "
                              "\"bottom-up\", \"unit\": \"HU\", \"scale\": 0.5, \"offset\": -1000, "
                              "\"spacing_mm\": [1, 2, 3], \"origin_mm\": [4, 5, 6]}"};
    for (int compressed = 0; compressed < 2; compressed++) {
        w.compression = compressed ? COMPRESSION_LZW : COMPRESSION_NONE;
        put_tiff(FILE_, &w, NX, NY, NZ, counts);
        src = open_source(FILE_, NULL);
        const struct fbp_array_info *i = fbp_source_info(src);
        assert_string_equal(i->unit, "HU");
        assert_int_equal(i->row_order, FBP_ROWS_BOTTOM_UP);
        assert_true(i->has_spacing && i->spacing_mm[2] == 3 && i->origin_mm[0] == 4);
        float out[PAGE];
        OK(fbp_source_read(src, 1, 1, 0, NY, FBP_F32, out));
        for (size_t k = 0; k < PAGE; k++)
            assert_true(out[k] == values_of[PAGE + k] * 0.5f - 1000);
        fbp_source_close(&src);
    }
    w.description = "{\"fbp\": 1, \"type\": \"uint8\", \"size\": [37, 29, 3], \"scale\": 2}";
    put_tiff(FILE_, &w, NX, NY, NZ, counts); /* of another file: not believed */
    check(FILE_, FBP_U16, NZ, values_of);
}

/* The bits of each byte turned round, of any type, packed or not. */
TEST(order_of_bits)
{
    static const uint16_t codecs[] = {COMPRESSION_NONE, COMPRESSION_LZW};
    for (int wide = 0; wide < 2; wide++)
        for (size_t c = 0; c < 2; c++) {
            const struct tiff_way w = {.compression = codecs[c], .bits = wide ? 16 : 8};
            TIFF *t = not_null(TIFFOpen(FILE_, "wl"));
            put_tags(t, &w, NX, NY);
            TIFFSetField(t, TIFFTAG_FILLORDER, FILLORDER_LSB2MSB);
            uint8_t narrow[PAGE];
            for (size_t i = 0; i < PAGE; i++)
                narrow[i] = (uint8_t)(i % 251);
            put_strips(t, NY, NX * (wide ? 2 : 1), NY,
                       wide ? (const char *)counts : (char *)narrow);
            assert_true(TIFFWriteDirectory(t));
            TIFFClose(t);
            float values[PAGE];
            for (size_t i = 0; i < PAGE; i++)
                values[i] = wide ? values_of[i] : (float)narrow[i];
            check(FILE_, wide ? FBP_U16 : FBP_U8, 1, values);
        }
}

/* One directory, the samples of all slices behind it. */
TEST(imagej_run)
{
    const struct tiff_way w = {.description = "ImageJ=1.53t\nimages=3\nslices=3\n"};
    size_t n;
    put_tiff(FILE_, &w, NX, NY, 1, counts);
    check(FILE_, FBP_U16, 1, values_of); /* as long as the others are not there */
    /* One tall page, its directory changed to that of the first third. */
    const struct tiff_way tall = {.description = w.description, .rows = NY};
    put_tiff(FILE_, &tall, NX, NY * NZ, 1, counts);
    AUTO_FREE char *whole = get_file(FILE_, &n);
    for (size_t k = 0; k + 12 <= n; k++) { /* ImageLength, RowsPerStrip: NY * NZ to NY */
        const uint16_t tag = (uint16_t)((unsigned char)whole[k] | (unsigned char)whole[k + 1] << 8);
        if (k >= n - 400 && (tag == 257 || tag == 278) && whole[k + 8] == NY * NZ)
            whole[k + 8] = NY;
    }
    put_file(FILE_, whole, n);
    check(FILE_, FBP_U16, NZ, values_of);
}

/* One directory before the samples, as ImageJ and tifffile write it: tag, type, count, value. */
static size_t put_directory(unsigned char *out, const char *description)
{
    const uint32_t n = (uint32_t)strlen(description) + 1, text = 8 + 2 + 9 * 12 + 4;
    const uint32_t tags[9][4] = {{256, 4, 1, NX},       {257, 4, 1, NY}, {258, 3, 1, 16},
                                 {259, 3, 1, 1},        {262, 3, 1, 1},  {270, 2, n, text},
                                 {273, 4, 1, text + n}, {278, 4, 1, NY}, {279, 4, 1, PAGE * 2}};
    memcpy(out, "II*\0\x08\0\0\0\x09\0", 10);
    for (int i = 0; i < 9; i++) {
        const uint16_t head[2] = {(uint16_t)tags[i][0], (uint16_t)tags[i][1]};
        memcpy(out + 10 + 12 * i, head, 4);
        memcpy(out + 14 + 12 * i, tags[i] + 2, 8);
    }
    memset(out + text - 4, 0, 4);
    memcpy(out + text, description, n);
    return text + n;
}

/* All the slices that the description tells of, or none. */
TEST(one_directory)
{
    static const char *const told[] = {"ImageJ=1.54f\nimages=3\nslices=3\nloop=false\n",
                                       "{\"shape\": [3, 29, 37], \"truncated\": true}",
                                       "{\"shape\": [1, 3, 1, 29, 37, 1], \"truncated\": true}"};
    static unsigned char file[500 + sizeof counts];
    fbp_source *src;
    for (size_t i = 0; i < 3; i++) {
        const size_t n = put_directory(file, told[i]);
        memcpy(file + n, counts, sizeof counts);
        put_file(FILE_, file, n + sizeof counts);
        check(FILE_, FBP_U16, NZ, values_of);
        for (size_t has = 1; has < 3; has++) {
            put_file(FILE_, file, n + has * PAGE * 2 + 5);
            assert_fails(fbp_source_open(&src, FILE_, NULL), FBP_ERR_INVALID,
                         "states 3 slices, but the file has space for ");
            assert_says(has == 1 ? "1; the file is truncated" : "2; the file is truncated");
        }
    }
    const size_t n = put_directory(file, "{\"shape\": [3, 29, 37]}"); /* a page of such a stack */
    memcpy(file + n, counts, sizeof counts);
    put_file(FILE_, file, n + PAGE * 2);
    check(FILE_, FBP_U16, 1, values_of);
}

static void put_views(const char *folder)
{
    const struct tiff_way ways[] = {
        {.rows = 4}, {.mode = "wb"}, {.compression = COMPRESSION_LZW, .tile = 16}};
    char name[400];
    mkdir(folder, 0777);
    for (size_t k = 0; k < NZ; k++) { /* view_9, view_10, view_11 */
        snprintf(name, sizeof name, "%s/view_%zu.tif", folder, k + 9);
        put_tiff(name, &ways[k], NX, NY, 1, counts + k * PAGE);
    }
}

static void clear_folder(const char *folder)
{
    AUTO_FREE char *command = printed("rm -rf %s", folder);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): a constant
}

TEST(folders_and_patterns)
{
    fbp_source *src;
    clear_folder(FOLDER);
    put_views(FOLDER);
    check(FOLDER "/view_%d.tif 9 11", FBP_U16, NZ, values_of);
    check(FOLDER, FBP_U16, NZ, values_of);
    put_file(FOLDER "/.view_8.tif", "x", 1);
    put_file(FOLDER "/log.txt", "x", 1);
    put_file(FOLDER "/volume.mha", "x", 1);
    mkdir(FOLDER "/darks", 0777);
    check(FOLDER "/", FBP_U16, NZ, values_of);
    src = open_source(FOLDER, NULL);
    const char *taken = fbp_source_info(src)->taken;
    assert_contains(taken, ": 3 tiff files, view_9.tif to view_11.tif; 2 other");
    assert_contains(taken, "darks (a folder)");
    assert_null(strstr(taken, "gaps"));
    fbp_source_close(&src);

    /* a folder in a view's place is no view, and none is to be missed */
    mkdir(FOLDER "/view_12.tif", 0777);
    assert_fails(fbp_source_open(&src, FOLDER, NULL), FBP_ERR_IO, "view_12.tif: is a folder");
    rmdir(FOLDER "/view_12.tif");

    /* a view that is not there would shift those behind it; what is no view is not missed */
    assert_int_equal(symlink("gone.txt", FOLDER "/note.txt"), 0);
    check(FOLDER, FBP_U16, NZ, values_of);
    assert_int_equal(symlink("gone.tif", FOLDER "/view_10b.tif"), 0);
    assert_fails(fbp_source_open(&src, FOLDER, NULL), FBP_ERR_IO,
                 "view_10b.tif: the status of this file, one of the views or slices, cannot be "
                 "read: No such file");
    assert_int_equal(unlink(FOLDER "/view_10b.tif"), 0);
    assert_int_equal(unlink(FOLDER "/note.txt"), 0);

    const struct tiff_way plain = {.rows = NY};
    put_tiff(FOLDER "/view_13.tif", &plain, NX, NY, 1, counts);
    src = open_source(FOLDER, NULL);
    assert_contains(fbp_source_info(src)->taken, "view_13.tif, with gaps in their numbers");
    fbp_source_close(&src);
    put_tiff(FOLDER "/view_13.tif", &plain, NY, NX, 1, counts);
    assert_fails(fbp_source_open(&src, FOLDER, NULL), FBP_ERR_INVALID,
                 "view_13.tif: contains 29 x 37 x 1 uint16, but the first file 37 x 29 x 1 uint16");
    put_tiff(FOLDER "/view_13.tif", &plain, NX, NY, 2, counts);
    assert_fails(fbp_source_open(&src, FOLDER, NULL), FBP_ERR_INVALID,
                 "view_13.tif: contains 37 x 29 x 2 uint16");

    clear_folder(FOLDER);
    mkdir(FOLDER, 0777);
    assert_fails(fbp_source_open(&src, FOLDER, NULL), FBP_ERR_INVALID,
                 "found 0 files, none of which is an array");
    put_file(FOLDER "/a.tif", "x", 1);
    put_file(FOLDER "/a.npy", "x", 1);
    assert_fails(fbp_source_open(&src, FOLDER, NULL), FBP_ERR_INVALID,
                 "select the views by a pattern");
}

/* Headerless files of a folder, as raw describes them. */
TEST(folder_of_raw_files)
{
    const struct fbp_raw raw = {FBP_U16, {NX, NY, 0}, false, 0};
    char name[400];
    clear_folder(FOLDER);
    mkdir(FOLDER, 0777);
    for (size_t k = 0; k < NZ; k++) {
        snprintf(name, sizeof name, FOLDER "/%zu.img", k + 99);
        put_file(name, counts + k * PAGE, PAGE * sizeof *counts);
    }
    fbp_source *src = open_source(FOLDER, &raw);
    static float out[N];
    assert_int_equal(fbp_source_info(src)->n[2], NZ);
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out));
    assert_memory_equal(out, values_of, sizeof out);
    fbp_source_close(&src);
    assert_fails(fbp_source_open(&src, FOLDER, NULL), FBP_ERR_INVALID,
                 "describe headerless files with \"raw\"");
}

TEST(outputs_spare_folders)
{
    static const struct {
        const char *output;
        bool refused;
    } cases[] = {{FOLDER "/view_9.tif", true},
                 {FOLDER "/new.tif", true},
                 {FOLDER "/slice_%04d.tif", true},
                 {FOLDER "/volume.mha", false},
                 {STEM "_new.tif", false}};
    const char *const keep[] = {FOLDER};
    const struct fbp_sink_params params = {.struct_size = sizeof params, .keep = keep, .n_keep = 1};
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {1, 1, 1}};
    clear_folder(FOLDER);
    put_views(FOLDER);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fbp_sink *sink = NULL;
        const fbp_status st = fbp_sink_open(&sink, cases[i].output, &info, &params);
        if (st != (cases[i].refused ? FBP_ERR_INVALID : FBP_OK))
            fail_msg("%s: %d, %s", cases[i].output, (int)st, fbp_message());
        if (cases[i].refused)
            assert_says("would overwrite");
        fbp_sink_close(&sink);
    }
}

TEST(refused_with_a_remedy)
{
    static const struct {
        struct tiff_way way;
        const char *says;
    } cases[] = {
        {{.photometric = PHOTOMETRIC_RGB, .samples = 3, .bits = 8}, "is in colour (RGB); save"},
        {{.photometric = PHOTOMETRIC_PALETTE, .bits = 8}, "has a palette of colours; save"},
        {{.samples = 2, .bits = 8}, "has 2 samples per pixel; save"},
        {{.photometric = PHOTOMETRIC_LOGL}, "photometric interpretation 32844; save"},
        {{.bits = 64}, "samples of 64 bits in format 1; save"},
        {{.format = SAMPLEFORMAT_IEEEFP}, "samples of 16 bits in format 3; save"},
        {{.bits = 64, .format = SAMPLEFORMAT_COMPLEXIEEEFP}, "64 bits in format 6; save"},
        {{.orientation = ORIENTATION_TOPRIGHT}, "mirrored or turned (Orientation 2); save"},
        {{.orientation = ORIENTATION_LEFTBOT}, "mirrored or turned (Orientation 8); save"},
        {{.bits = 8, .compression = COMPRESSION_JPEG}, "is compressed by JPEG (7)"},
    };
    static double samples[N];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fbp_source *src;
        if (cases[i].way.compression && !TIFFIsCODECConfigured(cases[i].way.compression))
            continue;
        put_tiff(FILE_, &cases[i].way, 16, 16, 1, samples);
        if (fbp_source_open(&src, FILE_, NULL) != FBP_ERR_UNSUPPORTED)
            fail_msg("%s: %s", cases[i].says, fbp_message());
        assert_says(cases[i].says);
        assert_says(FILE_ ": TIFF page 0 ");
    }
}

TEST(pages_must_be_alike)
{
    TIFF *t = TIFFOpen(FILE_, "wl");
    const struct tiff_way w = {.rows = NY};
    for (uint32_t k = 0; k < 2; k++) {
        put_tags(t, &w, NX, NY - k);
        put_strips(t, NY - k, NX * 2, NY, (const char *)counts);
        assert_true(TIFFWriteDirectory(t));
    }
    TIFFClose(t);
    fbp_source *src;
    assert_fails(fbp_source_open(&src, FILE_, NULL), FBP_ERR_INVALID,
                 "page 1 is 37 x 28 uint16, but the first page is 37 x 29 uint16; save all pages");
    t = TIFFOpen(FILE_, "wl");
    for (uint32_t k = 0; k < 2; k++) {
        const struct tiff_way turned = {.rows = NY, .orientation = (uint16_t)(k ? 4 : 1)};
        put_tags(t, &turned, NX, NY);
        put_strips(t, NY, NX * 2, NY, (const char *)counts);
        assert_true(TIFFWriteDirectory(t));
    }
    TIFFClose(t);
    assert_fails(fbp_source_open(&src, FILE_, NULL), FBP_ERR_INVALID,
                 "page 1 has row 0 at the bottom (Orientation 4), but the first page at the top");
    for (uint32_t k = 0; k < 2; k++) {
        const struct tiff_way turned = {.orientation = (uint16_t)(k ? 4 : 1)};
        put_tiff(k ? STEM "_o1.tif" : STEM "_o0.tif", &turned, NX, NY, 1, counts);
    }
    assert_fails(fbp_source_open(&src, STEM "_o%d.tif 0 1", NULL), FBP_ERR_INVALID,
                 "_o1.tif: has row 0 at the bottom, but the first file has it at the top");
    assert_int_equal(fbp_source_open(&src, STEM "_missing.tif", NULL), FBP_ERR_IO);
    assert_fails(fbp_source_follow(&src, FILE_, NULL, 1), FBP_ERR_UNSUPPORTED,
                 "--follow cannot read a growing TIFF file");
    assert_int_equal(fbp_source_follow(&src, FOLDER, NULL, 1), FBP_ERR_UNSUPPORTED);
}

/* Cut anywhere, or any byte changed: refused with a message, or read; libtiff says nothing. */
TEST(damaged)
{
    static const unsigned char with[] = {0, 1, 0x7f, 0xff};
    const struct tiff_way ways[] = {
        {.rows = 8},
        {.compression = COMPRESSION_LZW, .rows = 8, .predictor = 2},
        {.compression = COMPRESSION_ADOBE_DEFLATE, .tile = 16, .mode = "w8b"}};
    static float out[N];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        size_t n;
        put_tiff(FILE_, &ways[i], NX, NY, 2, counts);
        AUTO_FREE char *whole = get_file(FILE_, &n);
        for (size_t k = 0; k < 2 * n; k += k < n ? 7 : 1) {
            CLEANUP(fbp_source_close) fbp_source *src = NULL;
            const char was = whole[k % n];
            if (k >= n && k - n > 60 && k - n < n - 500)
                continue; /* samples */
            whole[k % n] = k < n ? was : (char)with[k % sizeof with];
            put_file(FILE_, whole, k < n ? k : n);
            whole[k % n] = was;
            fbp_status st = fbp_source_open(&src, FILE_, NULL);
            if (st != FBP_OK) {
                assert_null(src);
                assert_true(fbp_message()[0]);
                assert_null(strstr(fbp_message(), "close other programs"));
                continue;
            }
            const size_t *m = fbp_source_info(src)->n;
            assert_true(k >= n); /* never of a file that was cut */
            if (m[0] * m[1] * m[2] <= N)
                st = fbp_source_read(src, 0, m[2], 0, m[1], FBP_F32, out);
            assert_true(st == FBP_OK || fbp_message()[0]);
        }
    }
}

/* A directory without entries, or with none that a reader needs, is damage, not want of memory. */
TEST(empty_directories)
{
    static const char none[] = "II*\0\x08\0\0\0\0\0\0\0\0\0",
                      others[] = "II*\0\x08\0\0\0\x01\0\x31\x01\x02\0\x04\0\0\0abc\0\0\0\0\0";
    const struct {
        const char *bytes;
        size_t n;
    } cases[] = {{none, sizeof none - 1}, {others, sizeof others - 1}};

    for (size_t i = 0; i < 2; i++) {
        fbp_source *src;
        put_file(FILE_, cases[i].bytes, cases[i].n);
        assert_fails(fbp_source_open(&src, FILE_, NULL), FBP_ERR_INVALID,
                     "the directory at byte 8 describes no image; the file is damaged");
    }
}

/* A size that libtiff refuses to allocate is damage, not want of memory: here as many strips as the
 * file has room for, whose table takes more bytes than the file. */
TEST(too_many_strips)
{
    enum { STRIPS = 17000000, AT = 200 };
    const uint32_t entries[][3] = {{TIFFTAG_IMAGEWIDTH, 1, 1},
                                   {TIFFTAG_IMAGELENGTH, 1, STRIPS},
                                   {TIFFTAG_BITSPERSAMPLE, 1, 8},
                                   {TIFFTAG_COMPRESSION, 1, COMPRESSION_LZW},
                                   {TIFFTAG_PHOTOMETRIC, 1, PHOTOMETRIC_MINISBLACK},
                                   {TIFFTAG_STRIPOFFSETS, STRIPS, AT},
                                   {TIFFTAG_ROWSPERSTRIP, 1, 1},
                                   {TIFFTAG_STRIPBYTECOUNTS, STRIPS, AT}};
    const size_t n = sizeof entries / sizeof *entries;
    unsigned char head[AT] = "II*\0\x08\0\0";
    fbp_source *src;

    if (TIFFLIB_VERSION < 20221213) /* older versions have no such limit */
        skip();
    head[8] = (unsigned char)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 12; k++) { /* tag, type LONG, count, value: little-endian */
            const uint32_t value = k < 2 ? entries[i][0] : k < 4 ? 4 : entries[i][k < 8 ? 1 : 2];
            head[10 + 12 * i + k] = (unsigned char)(value >> 8 * (k < 4 ? k % 2 : k % 4));
        }
    put_file(FILE_, head, sizeof head);
    assert_int_equal(truncate(FILE_, AT + (off_t)STRIPS * 4), 0);
    assert_fails(fbp_source_open(&src, FILE_, NULL), FBP_ERR_INVALID, "the file may be damaged");
    remove(FILE_);
}

struct reader {
    pthread_t thread;
    fbp_source *src;
    unsigned seed;
    bool good;
};

static void *read_at_random(void *arg)
{
    struct reader *r = arg;
    float out[PAGE];
    r->good = true;
    for (int k = 0; k < 300 && r->good; k++) {
        r->seed = r->seed * 1664525u + 1013904223u;
        const size_t z = (r->seed >> 8) % NZ, y = (r->seed >> 20) % NY;
        r->good = fbp_source_read(r->src, z, 1, y, NY - y, FBP_F32, out) == FBP_OK &&
                  memcmp(out, values_of + z * PAGE + y * NX, (NY - y) * NX * sizeof *out) == 0;
    }
    return NULL;
}

TEST(several_threads)
{
    const struct tiff_way w = {.compression = COMPRESSION_LZW, .rows = 5};
    clear_folder(FOLDER);
    put_views(FOLDER);
    put_tiff(FILE_, &w, NX, NY, NZ, counts);
    for (int folder = 0; folder < 2; folder++) {
        struct reader r[4];
        CLEANUP(fbp_source_close) fbp_source *src = open_source(folder ? FOLDER : FILE_, NULL);
        for (unsigned i = 0; i < 4; i++) {
            r[i] = (struct reader){.src = src, .seed = i + 1};
            assert_int_equal(pthread_create(&r[i].thread, NULL, read_at_random, &r[i]), 0);
        }
        for (unsigned i = 0; i < 4; i++) {
            pthread_join(r[i].thread, NULL);
            assert_true(r[i].good);
        }
    }
}

int main(int argc, char **argv)
{
    TIFFSetErrorHandler(NULL); /* of the files that are written here */
    TIFFSetWarningHandler(NULL);
    return run_file_tests(argc, argv, fill_counts, NULL);
}
