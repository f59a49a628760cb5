/* Checks the readers of MetaImage, NPY and raw files: every element type and byte order, and any
 * range of slices and rows. */
#include "unit/io_util.h"

#include <pthread.h>
#include <zlib.h>

enum { NX = 5, NY = 3, NZ = 4, N = NX * NY * NZ, MAX_BYTES = N * 8 };

#define MHA FBP_TEST_DIR "/io_source.mha"
#define MHD FBP_TEST_DIR "/io_source.mhd"
#define DAT FBP_TEST_DIR "/io_source.dat"
#define NPY FBP_TEST_DIR "/io_source.npy"

static const struct {
    enum fbp_type type;
    const char *met, *npy;
    double lo, hi; /* exact in float */
} types[] = {
    {FBP_U8, "MET_UCHAR", "u1", 0, 255},
    {FBP_I8, "MET_CHAR", "i1", -128, 127},
    {FBP_U16, "MET_USHORT", "u2", 0, 65535},
    {FBP_I16, "MET_SHORT", "i2", -32768, 32767},
    {FBP_U32, "MET_UINT", "u4", 0, 4294967040.0},
    {FBP_I32, "MET_INT", "i4", -2147483648.0, 2147483520.0},
    {FBP_F32, "MET_FLOAT", "f4", -3e38, 0x1p-140},
    {FBP_F64, "MET_DOUBLE", "f8", -1e30, 0x1p-20},
};

enum { N_TYPES = sizeof types / sizeof *types };

#define STORE(T)                          \
    do {                                  \
        const T y = (T)x;                 \
        memcpy(out, &y, size = sizeof y); \
    } while (0)

static size_t store(enum fbp_type type, double x, bool big, unsigned char *out)
{
    size_t size = 0;
    switch (type) {
    case FBP_U8:
        STORE(uint8_t);
        break;
    case FBP_I8:
        STORE(int8_t);
        break;
    case FBP_U16:
        STORE(uint16_t);
        break;
    case FBP_I16:
        STORE(int16_t);
        break;
    case FBP_U32:
        STORE(uint32_t);
        break;
    case FBP_I32:
        STORE(int32_t);
        break;
    case FBP_F32:
        STORE(float);
        break;
    case FBP_F64:
        STORE(double);
        break;
    case FBP_TYPE_NONE:
        break;
    }
    for (size_t i = 0; big && i < size / 2; i++) {
        const unsigned char c = out[i];
        out[i] = out[size - 1 - i];
        out[size - 1 - i] = c;
    }
    return size;
}

/* Both ends of the type, then small numbers that are all different. */
static size_t samples(size_t t, bool big, unsigned char *bytes, float *expected)
{
    size_t at = 0;
    for (size_t i = 0; i < N; i++) {
        const double x = i == 0 ? types[t].lo : i == 1 ? types[t].hi : (double)i;
        at += store(types[t].type, x, big, bytes + at);
        expected[i] = (float)x;
    }
    return at;
}

static void check_file(const char *path, const struct fbp_raw *raw, size_t t, const char *format,
                       const float *expected)
{
    fbp_source *src = open_source(path, raw);
    const struct fbp_array_info *info = fbp_source_info(src);
    assert_int_equal(info->n[0], NX);
    assert_int_equal(info->n[1], NY);
    assert_int_equal(info->n[2], NZ);
    assert_int_equal(info->type, types[t].type);
    assert_int_equal(info->row_order, FBP_ROWS_BOTTOM_UP);
    assert_string_equal(info->format, format);
    /* Every range of slices and rows. */
    float out[N + 1];
    for (size_t z0 = 0; z0 <= NZ; z0++)
        for (size_t nz = 0; nz <= NZ - z0; nz++)
            for (size_t r0 = 0; r0 <= NY; r0++)
                for (size_t nr = 0; nr <= NY - r0; nr++) {
                    out[nz * nr * NX] = 77;
                    OK(fbp_source_read(src, z0, nz, r0, nr, FBP_F32, out));
                    for (size_t z = 0; z < nz; z++)
                        assert_memory_equal(out + z * nr * NX, expected + ((z0 + z) * NY + r0) * NX,
                                            nr * NX * sizeof *out);
                    assert_true(out[nz * nr * NX] == 77);
                }
    assert_int_equal(fbp_source_read(src, 0, NZ + 1, 0, NY, FBP_F32, out), FBP_ERR_INVALID);
    assert_int_equal(fbp_source_read(src, NZ + 1, 0, 0, NY, FBP_F32, out), FBP_ERR_INVALID);
    assert_int_equal(fbp_source_read(src, 1, (size_t)-1, 0, NY, FBP_F32, out), FBP_ERR_INVALID);
    assert_int_equal(fbp_source_read(src, 0, 1, 1, (size_t)-1, FBP_F32, out), FBP_ERR_INVALID);
    assert_fails(fbp_source_read(src, 0, 1, NY, 1, FBP_F32, out), FBP_ERR_INVALID, "not inside");
    fbp_source_close(&src);
    assert_null(src);
}

static void mha_text(char *out, size_t size, size_t t, bool big, bool packed, const char *file)
{
    snprintf(out, size,
             "ObjectType = Image\r\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = %s\n"
             "CompressedData = %s\nOffset = 1 -2.5 3e1\nElementSpacing = .5 2 4\n"
             "DimSize = %d %d %d\nElementType = %s\nElementDataFile = %s\n",
             big ? "True" : "False", packed ? "True" : "False", NX, NY, NZ, types[t].met, file);
}

TEST(metaimage)
{
    unsigned char bytes[MAX_BYTES], z[2 * MAX_BYTES];
    float expected[N];
    char head[512];
    for (size_t t = 0; t < N_TYPES; t++)
        for (int big = 0; big < 2; big++) {
            const size_t n = samples(t, big, bytes, expected);
            uLongf nz = sizeof z;
            assert_int_equal(compress(z, &nz, bytes, n), Z_OK);
            mha_text(head, sizeof head, t, big, false, "LOCAL");
            put_array(MHA, head, bytes, n);
            check_file(MHA, NULL, t, "mha", expected);
            mha_text(head, sizeof head, t, big, true, "LOCAL");
            put_array(MHA, head, z, nz);
            check_file(MHA, NULL, t, "mha", expected);
            mha_text(head, sizeof head, t, big, false, "io_source.dat");
            put_file(MHD, head, strlen(head));
            put_file(DAT, bytes, n);
            check_file(MHD, NULL, t, "mhd", expected);
            mha_text(head, sizeof head, t, big, true, "io_source.dat");
            put_file(MHD, head, strlen(head));
            put_file(DAT, z, nz);
            check_file(MHD, NULL, t, "mhd", expected);
        }
}

TEST(npy)
{
    unsigned char bytes[MAX_BYTES], file[512 + MAX_BYTES];
    float expected[N];
    for (size_t t = 0; t < N_TYPES; t++)
        for (unsigned char version = 1; version <= 3; version++)
            for (int big = 0; big < 2; big++) {
                const size_t n = samples(t, big, bytes, expected), at = version == 1 ? 10 : 12;
                const char order = types[t].npy[1] == '1' ? '|' : big ? '>' : '<';
                memcpy(file, "\x93NUMPY", 6);
                memset(file + 6, 0, 6);
                file[6] = version;
                const int h = snprintf((char *)file + at, 256,
                                       "{\"shape\": (%d, %d,%d,) , 'descr':'%c%s', "
                                       "'fortran_order': False, }\n",
                                       NZ, NY, NX, order, types[t].npy);
                file[8] = (unsigned char)h;
                memcpy(file + at + h, bytes, n);
                put_file(NPY, file, at + (size_t)h + n);
                check_file(NPY, NULL, t, "npy", expected);
            }
}

TEST(raw)
{
    unsigned char bytes[7 + MAX_BYTES] = "header";
    float expected[N];
    for (size_t t = 0; t < N_TYPES; t++)
        for (int big = 0; big < 2; big++) {
            struct fbp_raw r = {types[t].type, {NX, NY, NZ}, big, 7};
            const size_t n = samples(t, big, bytes + 7, expected);
            put_file(DAT, bytes, 7 + n);
            check_file(DAT, &r, t, "raw", expected);
            r.n[2] = 0; /* as many as there are */
            check_file(DAT, &r, t, "raw", expected);
            fbp_source *src = NULL;
            r.n[2] = NZ + 1;
            assert_int_equal(fbp_source_open(&src, DAT, &r), FBP_ERR_INVALID);
            assert_null(src);
            assert_says("correct type, shape or header_bytes");
            r = (struct fbp_raw){types[t].type, {NX, NY, NZ}, big, 6};
            assert_int_equal(fbp_source_open(&src, DAT, &r), FBP_ERR_INVALID);
        }
}

/* Spacing by either key, a header of two dimensions, samples at the end or behind a header. */
TEST(metaimage_keys)
{
    const float v[2] = {3, 4};
    put_array(MHA,
              "NDims = 3\nDimSize = 2 1 1\nElementSpacing = .5 2 4\nOrigin = 1 -2.5 3e1\n"
              "Unit = 1/mm\nAnatomicalOrientation = RAI\nElementType = MET_FLOAT\n"
              "ElementDataFile = LOCAL\n",
              v, sizeof v);
    fbp_source *src = open_source(MHA, NULL);
    const struct fbp_array_info *info = fbp_source_info(src);
    assert_true(info->has_spacing);
    assert_true(info->spacing_mm[0] == .5 && info->spacing_mm[1] == 2 && info->spacing_mm[2] == 4);
    assert_true(info->origin_mm[0] == 1 && info->origin_mm[1] == -2.5 && info->origin_mm[2] == 30);
    assert_string_equal(info->unit, "1/mm");
    fbp_source_close(&src);

    put_array(MHA,
              "NDims = 2\nDimSize = 1 2\nElementSize = 3 4\nElementType = MET_FLOAT\n"
              "Unit = a very long name of a unit\nHeaderSize = -1\nElementDataFile = LOCAL\n"
              "something before the samples",
              v, sizeof v);
    src = open_source(MHA, NULL);
    info = fbp_source_info(src);
    assert_true(info->n[0] == 1 && info->n[1] == 2 && info->n[2] == 1);
    assert_true(info->spacing_mm[0] == 3 && info->spacing_mm[1] == 4 && info->spacing_mm[2] == 1);
    assert_string_equal(info->unit, "");
    float out[2];
    OK(fbp_source_read(src, 0, 1, 0, 2, FBP_F32, out));
    assert_memory_equal(out, v, sizeof v);
    fbp_source_close(&src);

    put_array(MHA,
              "NDims = 5\nDimSize = 1 1 2 1 1\nElementSpacing = 1 2 3 4 5\nOffset = 6 7 8 9 0\n"
              "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
              v, sizeof v);
    src = open_source(MHA, NULL);
    info = fbp_source_info(src);
    assert_true(info->n[0] == 1 && info->n[1] == 1 && info->n[2] == 2);
    assert_true(info->spacing_mm[2] == 3 && info->origin_mm[2] == 8);
    OK(fbp_source_read(src, 0, 2, 0, 1, FBP_F32, out));
    assert_memory_equal(out, v, sizeof v);
    fbp_source_close(&src);

    put_array(DAT, "abc", v, sizeof v);
    put_array(MHD,
              "NDims = 2\nDimSize = 2 1\nElementType = MET_FLOAT\nHeaderSize = 3\n"
              "ElementDataFile = io_source.dat",
              "", 0);
    src = open_source(MHD, NULL);
    assert_false(fbp_source_info(src)->has_spacing);
    OK(fbp_source_read(src, 0, 1, 0, 1, FBP_F32, out));
    assert_memory_equal(out, v, sizeof v);
    fbp_source_close(&src);
}

/* A grid that is turned has its origin along its own axes, as in NRRD and NIfTI: consecutive
 * numbers of the matrix are the direction of one axis. */
TEST(metaimage_turned)
{
    static const struct {
        const char *matrix;
        double origin[3];
    } cases[] = {{"1 0 0 0 1 0 0 0 1", {1, 2, 3}},
                 {"-1 0 0 0 -1 0 0 0 1", {-1, -2, 3}},
                 {"0 1 0 -1 0 0 0 0 1", {2, -1, 3}},
                 {"0.6 0.8 0 -0.8 0.6 0 0 0 1", {2.2, 0.4, 3}}};
    const float v[2] = {3, 4};
    char head[300];
    fbp_source *src;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(head, sizeof head,
                 "NDims = 3\nDimSize = 2 1 1\nElementSpacing = .5 2 4\nOffset = 1 2 3\n"
                 "TransformMatrix = %s\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
                 cases[i].matrix);
        put_array(MHA, head, v, sizeof v);
        src = open_source(MHA, NULL);
        const struct fbp_array_info *info = fbp_source_info(src);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(info->spacing_mm[k] - (double[]){.5, 2, 4}[k]) < 1e-12);
            assert_true(fabs(info->origin_mm[k] - cases[i].origin[k]) < 1e-12);
        }
        fbp_source_close(&src);
    }
    put_array(MHA,
              "NDims = 3\nDimSize = 2 1 1\nElementSpacing = .5 2 4\nTransformMatrix = 1 0 0 1\n"
              "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
              v, sizeof v);
    assert_fails(fbp_source_open(&src, MHA, NULL), FBP_ERR_INVALID, "TransformMatrix of 4 numbers");
}

/* A float would not hold these integers: the offset is added before they become one. */
TEST(scaled_integers_lose_nothing)
{
    const uint32_t v[4] = {4294967295, 4294967294, 4294967293, 4294967040};
    float out[4];

    for (int packed = 0; packed < 2; packed++) {
        unsigned char bytes[sizeof v + 64];
        uLongf n = sizeof bytes;
        if (packed)
            assert_int_equal(compress(bytes, &n, (const void *)v, sizeof v), Z_OK);
        put_array(MHA,
                  packed ? "NDims = 2\nDimSize = 2 2\nElementType = MET_UINT\n"
                           "CompressedData = True\nElementToIntensityFunctionSlope = 2\n"
                           "ElementToIntensityFunctionOffset = -8589934590\n"
                           "ElementDataFile = LOCAL\n"
                         : "NDims = 2\nDimSize = 2 2\nElementType = MET_UINT\n"
                           "ElementToIntensityFunctionSlope = 2\n"
                           "ElementToIntensityFunctionOffset = -8589934590\n"
                           "ElementDataFile = LOCAL\n",
                  packed ? (const void *)bytes : v, packed ? n : sizeof v);
        CLEANUP(fbp_source_close) fbp_source *src = open_source(MHA, NULL);
        OK(fbp_source_read(src, 0, 1, 0, 2, FBP_F32, out));
        assert_true(out[0] == 0 && out[1] == -2 && out[2] == -4 && out[3] == -510);
    }
}

/* The format is known by what the file holds, whatever it is called. */
TEST(content_before_name)
{
    const float v[2] = {3, 4};
    put_array(NPY, "NDims = 2\nDimSize = 1 2\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
              v, sizeof v);
    fbp_source *src = open_source(NPY, NULL);
    assert_string_equal(fbp_source_info(src)->format, "mha");
    fbp_source_close(&src);
    put_file(FBP_TEST_DIR "/io_source.c", "int main(void);\n", 16);
    assert_fails(fbp_source_open(&src, FBP_TEST_DIR "/io_source.c", NULL), FBP_ERR_UNSUPPORTED,
                 "unknown array format");
}

enum { BIG_X = 200, BIG_Y = 50, BIG_Z = 40, THREADS = 4 };

struct reader {
    pthread_t thread;
    fbp_source *src;
    unsigned seed;
    bool good;
};

static uint16_t big_value(size_t i)
{
    return (uint16_t)(i * 2654435761u >> 7);
}

static void *read_at_random(void *user)
{
    struct reader *r = user;
    AUTO_FREE float *out = malloc(sizeof(float) * BIG_X * BIG_Y);
    r->good = out != NULL;
    for (int k = 0; r->good && k < 60; k++) {
        r->seed = r->seed * 1664525u + 1013904223u;
        const size_t z = (r->seed >> 8) % BIG_Z, row = (r->seed >> 20) % BIG_Y;
        r->good &= fbp_source_read(r->src, z, 1, row, BIG_Y - row, FBP_F32, out) == FBP_OK;
        for (size_t i = 0; r->good && i < BIG_X * (BIG_Y - row); i++)
            r->good &= out[i] == (float)big_value((z * BIG_Y + row) * BIG_X + i);
    }
    return NULL;
}

/* One zlib stream, longer than any buffer of the reader, and several who read it at once. */
TEST(threads_share_a_stream)
{
    const size_t n = (size_t)BIG_X * BIG_Y * BIG_Z;
    AUTO_FREE uint16_t *v = malloc(n * sizeof *v);
    uLongf nz = compressBound(n * sizeof *v);
    AUTO_FREE unsigned char *z = malloc(nz);
    struct reader r[THREADS];
    char head[300];
    assert_true(v && z);
    for (size_t i = 0; i < n; i++)
        v[i] = big_value(i);
    assert_int_equal(compress2(z, &nz, (unsigned char *)v, n * sizeof *v, 1), Z_OK);
    snprintf(head, sizeof head,
             "NDims = 3\nDimSize = %d %d %d\nCompressedData = True\nCompressedDataSize = %lu\n"
             "ElementType = MET_USHORT\nElementDataFile = LOCAL\n",
             BIG_X, BIG_Y, BIG_Z, nz);
    put_array(MHA, head, z, nz);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(MHA, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        r[i] = (struct reader){.src = src, .seed = i + 1};
        assert_int_equal(pthread_create(&r[i].thread, NULL, read_at_random, &r[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(r[i].thread, NULL);
        assert_true(r[i].good);
    }
}

/* One picture is a table of views of one row where its name says so; complex numbers are two. */
TEST(tables_are_views)
{
    static const struct {
        const char *descr, *shape;
        size_t bytes;
        const char *says; /* NULL: it is read */
    } rows[] = {{"<f4", "(4, 3)", 48, NULL},
                {"<c8", "(4, 3)", 96, NULL},
                {"<f4", "(4, 1, 3)", 48, "\"?sinogram\" needs one complete, uncompressed image"},
                {"<c16", "(4, 3)", 180, "the file has"}};
    static float v[48];

    for (int i = 0; i < 48; i++)
        v[i] = (float)i;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char head[129];
        CLEANUP(fbp_source_close) fbp_source *src = NULL;
        float out[12];
        const bool complex = rows[i].descr[1] == 'c';
        memset(head, ' ', sizeof head);
        const int n =
            snprintf(head + 10, 110, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                     rows[i].descr, rows[i].shape);
        head[10 + n] = ' ';
        memcpy(head, "\x93NUMPY\x01\0\x76\0", 10);
        head[127] = '\n';
        FILE *f = fopen(NPY, "w");
        assert_int_equal(fwrite(head, 1, 128, f), 128);
        assert_int_equal(fwrite(v, 1, rows[i].bytes, f), rows[i].bytes);
        assert_int_equal(fclose(f), 0);
        const fbp_status st = fbp_source_open(&src, NPY "?sinogram", NULL);
        if (rows[i].says) {
            assert_int_not_equal(st, FBP_OK);
            assert_says(rows[i].says);
            continue;
        }
        OK(st);
        const size_t *size = fbp_source_info(src)->n;
        assert_true(size[0] == 3 && size[1] == 1 && size[2] == 4);
        OK(fbp_source_read(src, 0, 4, 0, 1, FBP_F32, out));
        for (int k = 0; k < 12; k++)
            assert_true(out[k] == (float)(complex ? 2 * k : k));
    }
}

TEST_MAIN(NULL, NULL)
