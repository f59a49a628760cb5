/* Checks the NRRD reader and writer: types, byte orders, encodings, detached samples,
 * orientation, and refusals with a reason. */
#include "unit/io_util.h"

#include <zlib.h>

enum { NX = 5, NY = 4, NZ = 3, SLICE = NX * NY, N = SLICE * NZ };

#define STEM  FBP_TEST_DIR "/io_nrrd"
#define FILE_ STEM ".nrrd"
#define NHDR  STEM ".nhdr"

#define SHAPE "dimension: 3\nsizes: 5 4 3\n"
#define HEAD  "NRRD0004\n" SHAPE "type: uchar\nencoding: raw\n"

static unsigned char bytes[N];

static int fill(void **state)
{
    for (size_t i = 0; i < N; i++)
        bytes[i] = (unsigned char)(i * 7 + 1);
    return 0;
}

static void assert_holds_bytes(const char *path)
{
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    const size_t n[3] = {NX, NY, NZ};
    float out[N];

    assert_memory_equal(fbp_source_info(src)->n, n, sizeof n);
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out));
    for (size_t i = 0; i < N; i++)
        assert_true(out[i] == (float)bytes[i]);
    OK(fbp_source_read(src, 1, 2, 2, 1, FBP_F32, out)); /* back, and a part */
    assert_true(out[1] == (float)bytes[SLICE + 2 * NX + 1]);
    assert_true(out[NX] == (float)bytes[2 * SLICE + 2 * NX]);
}

/* gzip's frame around n bytes; *packed bytes in out. */
static void gzip(const void *in, size_t n, unsigned char *out, size_t max, size_t *packed)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)in,
                  .avail_in = (uInt)n,
                  .next_out = out,
                  .avail_out = (uInt)max};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *packed = max - z.avail_out;
    deflateEnd(&z);
}

static const struct named {
    const char *name;
    enum fbp_type type;
} types[] = {{"signed char", FBP_I8},
             {"int8", FBP_I8},
             {"int8_t", FBP_I8},
             {"uchar", FBP_U8},
             {"unsigned char", FBP_U8},
             {"uint8", FBP_U8},
             {"uint8_t", FBP_U8},
             {"short", FBP_I16},
             {"short int", FBP_I16},
             {"signed short", FBP_I16},
             {"int16", FBP_I16},
             {"signed short int", FBP_I16},
             {"int16_t", FBP_I16},
             {"ushort", FBP_U16},
             {"unsigned short", FBP_U16},
             {"unsigned short int", FBP_U16},
             {"uint16", FBP_U16},
             {"uint16_t", FBP_U16},
             {"int", FBP_I32},
             {"signed int", FBP_I32},
             {"int32", FBP_I32},
             {"int32_t", FBP_I32},
             {"uint", FBP_U32},
             {"unsigned int", FBP_U32},
             {"uint32", FBP_U32},
             {"uint32_t", FBP_U32},
             {"float", FBP_F32},
             {"double", FBP_F64}};

/* Little endian 0x01020304, or as many bytes of it as there are; 1.25 and -2.5 of the real types.
 */
static void put_sample(const struct named *t, bool big)
{
    static const float f = 1.25f;
    static const double d = -2.5;
    const size_t size = fbp_type_size(t->type);
    unsigned char sample[8] = {4, 3, 2, 1};
    char header[300];

    if (t->type == FBP_F32)
        memcpy(sample, &f, sizeof f);
    if (t->type == FBP_F64)
        memcpy(sample, &d, sizeof d);
    for (size_t k = 0; big && k < size / 2; k++) {
        const unsigned char c = sample[k];
        sample[k] = sample[size - 1 - k];
        sample[size - 1 - k] = c;
    }
    snprintf(header, sizeof header,
             "NRRD0005\n# a comment\r\ntype: %s\ndimension: 2\nsizes: 1 1\nendian: %s\n"
             "key:=value\na field of some other program that is longer than all of those "
             "of NRRD: 1\n"
             "encoding: raw\n\n",
             t->name, big ? "big" : "little");
    put_array(FILE_, header, sample, size);
}

static double sample_of(const struct named *t)
{
    static const double integers[] = {0, 4, 0x0304, 0, 0x01020304};

    if (t->type == FBP_F32)
        return 1.25;
    return t->type == FBP_F64 ? -2.5 : (double)(float)integers[fbp_type_size(t->type)];
}

TEST(types_and_orders)
{
    for (size_t i = 0; i < 2 * sizeof types / sizeof *types; i++) {
        const struct named *t = &types[i / 2];
        float out = 0;
        put_sample(t, i % 2 == 1);
        CLEANUP(fbp_source_close) fbp_source *src = open_source(FILE_, NULL);
        assert_int_equal(fbp_source_info(src)->type, t->type);
        assert_string_equal(fbp_source_info(src)->format, "nrrd");
        assert_false(fbp_source_info(src)->has_spacing);
        OK(fbp_source_read(src, 0, 1, 0, 1, FBP_F32, &out));
        assert_true((double)out == sample_of(t));
    }
}

TEST(encodings_and_skips)
{
    unsigned char before[N + 3], packed[400], lines[500] = "one\ntwo\n";
    size_t n = 0;

    memcpy(before, "abc", 3);
    memcpy(before + 3, bytes, N);
    put_array(FILE_, HEAD "\n", bytes, N);
    assert_holds_bytes(FILE_);
    put_array(FILE_, HEAD "byte skip: 3\n\n", before, N + 3);
    assert_holds_bytes(FILE_);
    put_array(FILE_, HEAD "byteskip: -1\n\n", before, N + 3);
    assert_holds_bytes(FILE_);
    put_array(FILE_, HEAD "line skip: 1\nbyte skip: 3\n\nnot a sample\n", before, N + 3);
    assert_holds_bytes(FILE_);
    gzip(bytes, N, packed, sizeof packed, &n);
    put_array(FILE_, "NRRD0004\r\n" SHAPE "type: uchar\nencoding: gz\r\n\r\n", packed, n);
    assert_holds_bytes(FILE_);
    gzip(before, N + 3, packed, sizeof packed, &n); /* bytes of the stream, lines of the file */
    memcpy(lines + 8, packed, n);
    put_array(FILE_, "NRRD0004\n" SHAPE "type: uchar\nencoding: gzip\nlineskip: 2\nbyteskip: 3\n\n",
              lines, n + 8);
    assert_holds_bytes(FILE_);
}

TEST(file_beside)
{
    put_file(STEM ".bin", bytes, N);
    put_array(NHDR, HEAD "data file: io_nrrd.bin\n", "", 0);
    assert_holds_bytes(NHDR);
}

TEST(where_it_lies)
{
    static const struct {
        const char *text;
        bool given;
        double spacing[3], origin[3];
    } cases[] = {
        {"spacings: 0.5 1 2\n", true, {0.5, 1, 2}, {0, 0, 0}},
        {"spacings: 0.5 1 2\naxis mins: 1 2 3\ncenters: cell node ???\n",
         true,
         {0.5, 1, 2},
         {1.25, 2, 3}},
        {"spacings: 0.5 1 2\nunits: \"m\" \"mm\" \"um\"\n", true, {500, 1, 2e-3}, {0, 0, 0}},
        {"spacings: 0.5 nan 2\n", false, {1, 1, 1}, {0, 0, 0}},
        {"spacings: 0.5 1 2\nunits: \"mm\" \"mm\" \"s\"\n", false, {1, 1, 1}, {0, 0, 0}},
        {"space: left-posterior-superior\nspace directions: (0.1,0,0) (0,0.2,0) (0,0,0.3)\n"
         "space origin: (-1,-2.5,3)\n",
         true,
         {0.1, 0.2, 0.3},
         {-1, -2.5, 3}},
        /* mirrored and turned: spacing and origin along the grid's own axes */
        {"space: RAS\nspace directions: (-1,0,0) (0,0,2) (0,4,0)\nspace origin: (7,8,9)\n",
         true,
         {1, 2, 4},
         {-7, 9, 8}},
        {"space dimension: 3\nspace directions: (0.6,0.8,0) (-0.8,0.6,0) (0,0,1)\n"
         "space units: \"cm\" \"cm\" \"cm\"\nspace origin: (1,1,1)\n",
         true,
         {10, 10, 10},
         {14, -2, 10}},
        {"space dimension: 3\nspace directions: (1,0,0) (0,1,0) none\n",
         false,
         {1, 1, 1},
         {0, 0, 0}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_FREE char *header = printed(HEAD "sample units: \"HU\"\n%s\n", cases[i].text);
        put_array(FILE_, header, bytes, N);
        CLEANUP(fbp_source_close) fbp_source *src = open_source(FILE_, NULL);
        const struct fbp_array_info *info = fbp_source_info(src);
        assert_int_equal(info->has_spacing, cases[i].given);
        assert_string_equal(info->unit, "HU");
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(info->spacing_mm[k] - cases[i].spacing[k]) < 1e-12);
            assert_true(fabs(info->origin_mm[k] - cases[i].origin[k]) < 1e-12);
        }
    }
}

TEST(refused)
{
    static const struct {
        const char *header, *says;
    } cases[] = {
        {"NRRD0004\n" SHAPE "type: uchar\nencoding: raw", "truncated"},
        {"NRRD0004\n" SHAPE "type: uchar\nencoding: raw\nnonsense\n\n", "nonsense"},
        {"NRRD0004\ndimension: 3\nsizes: 5 4\ntype: uchar\nencoding: raw\n\n", "damaged"},
        {"NRRD0004\ndimension: 3\nsizes: 5 4 -3\ntype: uchar\nencoding: raw\n\n", "sizes"},
        {"NRRD0004\ndimension: 3\nsizes: 5 4 0\ntype: uchar\nencoding: raw\n\n", "io_nrrd"},
        {"NRRD0004\ndimension: 3\nsizes: 5 4 300\ntype: uchar\nencoding: raw\n\n", "truncated"},
        {"NRRD0004\ndimension: 3\nsizes: 4294967296 4294967296 4294967296\ntype: uchar\n"
         "encoding: raw\n\n",
         "io_nrrd"},
        {"NRRD0004\ndimension: 4\nsizes: 2 5 2 3\ntype: uchar\nencoding: raw\n\n", "component"},
        {HEAD "kinds: RGB-color domain domain\n\n", "component"},
        {"NRRD0004\n" SHAPE "type: int64\nencoding: raw\n\n", "save it as int8"},
        {"NRRD0004\n" SHAPE "type: block\nencoding: raw\n\n", "save it as int8"},
        {"NRRD0004\n" SHAPE "type: uchar\nencoding: ascii\n\n", "raw or gzip"},
        {"NRRD0004\n" SHAPE "type: uchar\nencoding: bzip2\n\n", "raw or gzip"},
        {"NRRD0004\n" SHAPE "type: short\nencoding: raw\n\n", "endian"},
        {"NRRD0004\n" SHAPE "type: uchar\nencoding: gzip\nbyte skip: -1\n\n", "byte skip"},
        {"NRRD0004\n" SHAPE "type: uchar\nencoding: gzip\nbyte skip: 9223372036854775807\n\n", ""},
        {HEAD "byte skip: 9223372036854775807\n\n", "truncated"},
        {HEAD "byte skip: -2\n\n", "byteskip"},
        {HEAD "line skip: 100\n\n", "line skip"},
        {HEAD "spacings: 1 0 1\n\n", "not positive"},
        {HEAD "spacings: 1 1\n\n", "spacings"},
        {HEAD "spacings: 1 one 1\n\n", "one"},
        {HEAD "space dimension: 3\nspace directions: (1,0,0) (1,1,0) (0,0,1)\n\n", "orthogonal"},
        {HEAD "space dimension: 3\nspace directions: (1,0,0) (0,0,0) (0,0,1)\n\n", "spacing"},
        {HEAD "space dimension: 3\nspace directions: (1,0) (0,1) (0,1)\n\n", "spacedirections"},
        {HEAD "space dimension: 3\nspace directions: (1,0,0) (0,1,0\n\n", "spacedirections"},
        {HEAD "space: left-posterior-superior-time\n\n", "space"},
        {HEAD "data file: missing.raw\n", "missing.raw"},
        {HEAD "data file: io_nrrd_%03d.raw 4 8 2\n", "several files"},
        {HEAD "data file: LIST\na\nb\nc\n", "several files"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fbp_source *src = NULL;
        put_array(FILE_, cases[i].header, bytes, N);
        if (strstr(cases[i].header, "data file") || !strstr(cases[i].header, "\n\n"))
            put_array(FILE_, cases[i].header, "", 0);
        if (fbp_source_open(&src, FILE_, NULL) == FBP_OK)
            fail_msg("taken: %s", cases[i].header);
        assert_null(src);
        assert_says(cases[i].says);
        assert_says("io_nrrd.nrrd: ");
    }
}

TEST(damaged_stream)
{
    unsigned char packed[400];
    fbp_source *src;
    float out[N];
    size_t n = 0;

    gzip(bytes, N, packed, sizeof packed, &n);
    put_array(FILE_, "NRRD0004\n" SHAPE "type: uchar\nencoding: gzip\n\n", packed, n - 20);
    src = open_source(FILE_, NULL);
    assert_fails(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out), FBP_ERR_INVALID, "truncated");
    fbp_source_close(&src);
}

TEST_MAIN(fill, NULL)
