/* Checks the NIfTI-1 and NIfTI-2 reader and writer: types, byte orders, scales, pairs of files,
 * gzip, orientation, and refusals with a reason. */
#include "unit/nifti_files.h"

#include <zlib.h>

#define STEM FBP_TEST_DIR "/io_nifti"
#define NII  STEM ".nii"

static void assert_values(const char *path, double scale, double offset)
{
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    const size_t n[3] = {NX, NY, NZ};
    float out[N];

    assert_memory_equal(fbp_source_info(src)->n, n, sizeof n);
    assert_string_equal(fbp_source_info(src)->format, "nifti");
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out));
    for (size_t i = 0; i < N; i++)
        assert_true(out[i] == (float)(scale * (double)(int16_t)(i * 300) + offset));
}

static void gz_file(const char *path, const void *data, size_t n)
{
    gzFile f = gzopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(gzwrite(f, data, (unsigned)n), n);
    assert_int_equal(gzclose(f), Z_OK);
}

TEST(versions_orders_and_files)
{
    struct image im;

    for (int version = 1; version <= 2; version++)
        for (int big = 0; big < 2; big++) {
            const size_t length = version == 1 ? 348 : 540;
            make(&im, version, big);
            put_file(NII, im.b, im.n);
            assert_values(NII, 1, 0);
            gz_file(STEM ".nii.gz", im.b, im.n);
            assert_values(STEM ".nii.gz", 1, 0);
            im.b[version == 1 ? 345 : 5] = 'i';
            put_real(&im, 108, 108, 0);
            if (version == 2)
                put_int(&im, 0, 0, 168, 8, 0);
            unlink(STEM ".img");
            put_file(STEM ".hdr", im.b, length);
            gz_file(STEM ".img.gz", im.b + samples_at(&im), 2 * N);
            assert_values(STEM ".hdr", 1, 0);
            assert_values(STEM ".img.gz", 1, 0);
            put_file(STEM ".img", im.b + samples_at(&im), 2 * N);
            assert_values(STEM ".hdr", 1, 0);
            assert_values(STEM ".img", 1, 0);
        }
}

/* bgzip, pigz -i and `cat a.gz b.gz` write members one after another; zcat reads them, too. */
TEST(several_members)
{
    static const size_t cuts[] = {1, 200, 347, 352, 400};
    struct image im;
    char *file[3];
    size_t n[3], all = 0;

    make(&im, 1, false);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        char whole[4096];
        gz_file(STEM "_0.gz", im.b, cuts[i]);
        gz_file(STEM "_1.gz", im.b + cuts[i], im.n - cuts[i]);
        gz_file(STEM "_2.gz", "", 0); /* bgzip's end */
        all = 0;
        for (int k = 0; k < 3; k++) {
            AUTO_FREE char *name = printed(STEM "_%d.gz", k);
            file[k] = get_file(name, &n[k]);
            assert_true(all + n[k] + 100 < sizeof whole);
            memcpy(whole + all, file[k], n[k]);
            all += n[k];
            free(file[k]);
        }
        put_file(STEM ".nii.gz", whole, all);
        assert_values(STEM ".nii.gz", 1, 0);
        memset(whole + all, 0, 100); /* to the end of a block */
        put_file(STEM ".nii.gz", whole, all + 100);
        assert_values(STEM ".nii.gz", 1, 0);
        if (cuts[i] < 352)
            continue;
        fbp_source *src = NULL;
        float out[N];
        put_file(STEM ".nii.gz", whole, n[0]); /* the first member alone */
        fbp_status st = fbp_source_open(&src, STEM ".nii.gz", NULL);
        for (size_t z = 0; st == FBP_OK && z < fbp_source_info(src)->n[2]; z++)
            st = fbp_source_read(src, z, 1, 0, fbp_source_info(src)->n[1], FBP_F32, out);
        assert_fails(st, FBP_ERR_INVALID, "the compressed samples end after");
        fbp_source_close(&src);
        whole[n[0] + n[1] - 6] ^= 1; /* the checksum of the second */
        put_file(STEM ".nii.gz", whole, all);
        src = open_source(STEM ".nii.gz", NULL);
        st = FBP_OK;
        for (size_t z = 0; st == FBP_OK && z < fbp_source_info(src)->n[2]; z++)
            st = fbp_source_read(src, z, 1, 0, fbp_source_info(src)->n[1], FBP_F32, out);
        assert_fails(st, FBP_ERR_INVALID, "checksum of the compressed samples is wrong");
        fbp_source_close(&src);
    }
}

/* A headerless file may be called .img, whatever lies beside it. */
TEST(not_ours)
{
    const struct fbp_raw raw = {FBP_I16, {NX, NY, NZ}, false, 0};
    const char *const beside[] = {"ENVI\n", NULL};
    fbp_source *src = NULL;
    struct image im;

    make(&im, 1, false);
    unlink(STEM ".img.gz");
    put_file(STEM ".img", im.b + 352, 2 * N);
    for (size_t i = 0; i < 2; i++) {
        unlink(STEM ".hdr");
        if (beside[i])
            put_file(STEM ".hdr", beside[i], strlen(beside[i]));
        src = open_source(STEM ".img", &raw);
        assert_string_equal(fbp_source_info(src)->format, "raw");
        fbp_source_close(&src);
        assert_int_equal(fbp_source_open(&src, STEM ".img", NULL), FBP_ERR_UNSUPPORTED);
    }
}

TEST(types)
{
    static const struct {
        int code;
        enum fbp_type type;
    } cases[] = {{2, FBP_U8},    {256, FBP_I8}, {4, FBP_I16},  {512, FBP_U16},
                 {768, FBP_U32}, {8, FBP_I32},  {16, FBP_F32}, {64, FBP_F64}};
    struct image im;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t size = fbp_type_size(cases[i].type);
        float out[NX] = {1, 1, 1, 1, 1};
        make(&im, 1, false);
        put_int(&im, 70, 2, 12, 2, cases[i].code);
        put_int(&im, 72, 2, 14, 2, (int64_t)(8 * size));
        memset(im.b + 352, 0, 8 * N);
        put_file(NII, im.b, 352 + size * N);
        fbp_source *src = open_source(NII, NULL);
        assert_int_equal(fbp_source_info(src)->type, cases[i].type);
        OK(fbp_source_read(src, NZ - 1, 1, NY - 1, 1, FBP_F32, out));
        assert_true(out[0] == 0 && out[NX - 1] == 0);
        fbp_source_close(&src);
        put_file(NII, im.b, 352 + size * N - 1);
        assert_int_not_equal(fbp_source_open(&src, NII, NULL), FBP_OK);
        assert_says("truncated");
    }
}

TEST(scales)
{
    static const double cases[][4] = {/* slope, inter; as they count */
                                      {0.5, -3, 0.5, -3},
                                      {1, 0, 1, 0},
                                      {1, 10, 1, 10},
                                      {0, 10, 1, 0},
                                      {NAN, NAN, 1, 0}};
    struct image im;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(&im, 1, i % 2);
        put_real(&im, 112, 176, cases[i][0]);
        put_real(&im, 116, 184, cases[i][1]);
        put_file(NII, im.b, im.n);
        assert_values(NII, cases[i][2], cases[i][3]);
    }
}

static void assert_place(double sx, double sy, double sz, double ox, double oy, double oz)
{
    const double spacing[3] = {sx, sy, sz}, origin[3] = {ox, oy, oz};
    CLEANUP(fbp_source_close) fbp_source *src = open_source(NII, NULL);
    const struct fbp_array_info *info = fbp_source_info(src);

    assert_true(info->has_spacing);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(info->spacing_mm[i] - spacing[i]) < 1e-6 * spacing[i]);
        assert_true(fabs(info->origin_mm[i] - origin[i]) < 1e-5);
    }
}

TEST(where_it_lies)
{
    static const double turned[3][4] = {{-1, 0, 0, 7}, {0, 0, 4, 8}, {0, 2, 0, 9}};
    struct image im;

    for (int version = 1; version <= 2; version++) {
        make(&im, version, version == 2);
        put_file(NII, im.b, im.n);
        assert_place(0.5, 1, 2, 0, 0, 0);
        put_int(&im, 123, 1, 500, 4, 1); /* metres */
        put_file(NII, im.b, im.n);
        assert_place(500, 1000, 2000, 0, 0, 0);
        put_int(&im, 123, 1, 500, 4, 3); /* micrometres */
        put_file(NII, im.b, im.n);
        assert_place(0.5e-3, 1e-3, 2e-3, 0, 0, 0);
        put_int(&im, 123, 1, 500, 4, 2);
        put_int(&im, 252, 2, 344, 4, 1); /* q-form: turned about z by 180 degrees */
        put_real(&im, 264, 368, 1);
        put_real(&im, 268, 376, 3);
        put_real(&im, 272, 384, 4);
        put_real(&im, 276, 392, 5);
        put_file(NII, im.b, im.n);
        assert_place(0.5, 1, 2, -3, -4, 5);
        put_int(&im, 254, 2, 348, 4, 1); /* the s-form comes first */
        for (size_t i = 0; i < 3; i++)
            put_srow(&im, i, turned[i]);
        put_file(NII, im.b, im.n);
        assert_place(1, 2, 4, -7, 9, 8);
    }
    make(&im, 1, false);
    for (size_t i = 1; i < 4; i++)
        put_pixdim(&im, i, 0);
    put_file(NII, im.b, im.n);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(NII, NULL);
    assert_false(fbp_source_info(src)->has_spacing);
}

/* One field wrong; at2 is 0, as all are NIfTI-1. */
TEST(refused)
{
    static const struct {
        size_t at, size;
        int64_t value;
        const char *says;
    } cases[] = {
        {40, 2, 0, "damaged"},
        {40, 2, 8, "damaged"},
        {40, 2, 1, "one axis"},
        {42, 2, 0, "damaged"},
        {44, 2, -4, "damaged"},
        {46, 2, 300, "truncated"},
        {70, 2, 32, "COMPLEX64"},
        {70, 2, 128, "save the file as"},
        {70, 2, 1024, "INT64"},
        {70, 2, 9999, "not supported"},
        {72, 2, 8, "16"},
        {108, 4, 0, "vox_offset"},
        {108, 4, 0x7f800000, "vox_offset"},
        {108, 4, 0x44000001, "vox_offset"},
        {108, 4, 0x50000000, "truncated"},
        {344, 4, 0, "Analyze"},
        {344, 4, 0x0031696e, "second file of the pair"},
    };
    struct image im;

    unlink(STEM ".img");
    unlink(STEM ".img.gz");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int gz = 0; gz < 2; gz++) {
            const char *path = gz ? STEM ".nii.gz" : NII;
            CLEANUP(fbp_source_close) fbp_source *src = NULL;
            make(&im, 1, false);
            put(&im, cases[i].at, &cases[i].value, cases[i].size);
            (gz ? gz_file : put_file)(path, im.b, im.n);
            fbp_status st = fbp_source_open(&src, path, NULL);
            if (st == FBP_OK && gz) { /* a stream's length shows when it is read */
                float out[300 * SLICE];
                const size_t *n = fbp_source_info(src)->n;
                assert_true(strcmp(cases[i].says, "truncated") == 0);
                st = fbp_source_read(src, 0, n[2], 0, n[1], FBP_F32, out);
            } else {
                assert_says(cases[i].says[0] == '1' ? "bits" : cases[i].says);
            }
            assert_int_not_equal(st, FBP_OK);
            assert_says(gz ? "io_nifti.nii.gz: " : "io_nifti.nii: ");
        }
}

TEST(more_axes)
{
    static const double sheared[3][4] = {{1, 1, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    fbp_source *src = NULL;
    struct image im;

    make(&im, 1, false);
    put_dim(&im, 0, 5);
    put_dim(&im, 4, 1);
    put_dim(&im, 5, 1);
    put_file(NII, im.b, im.n);
    assert_values(NII, 1, 0);
    put_dim(&im, 3, 1);
    put_dim(&im, 5, 3);
    put_file(NII, im.b, im.n);
    assert_fails(fbp_source_open(&src, NII, NULL), FBP_ERR_UNSUPPORTED, "one volume");
    make(&im, 1, false);
    put_int(&im, 254, 2, 348, 4, 1);
    for (size_t i = 0; i < 3; i++)
        put_srow(&im, i, sheared[i]);
    put_file(NII, im.b, im.n);
    assert_fails(fbp_source_open(&src, NII, NULL), FBP_ERR_UNSUPPORTED, "orthogonal");
    for (size_t n = 1; n < 352; n += 13) { /* cut anywhere */
        put_file(NII, im.b, n);
        assert_int_not_equal(fbp_source_open(&src, NII, NULL), FBP_OK);
        assert_null(src);
    }
}

/* Values to the last bit; spacing and origin as floats, which the header holds. */
TEST(round_trip)
{
    static const char *const paths[] = {STEM "_a.nii", STEM "_b.nii.gz"};
    const struct fbp_array_info wanted = {.struct_size = sizeof wanted,
                                          .n = {NX, NY, NZ},
                                          .spacing_mm = {0.1, 1. / 3, 2},
                                          .origin_mm = {-1e-3, 5, 1e5 / 3},
                                          .unit = "1/mm"};
    float volume[N], out[N];
    fbp_sink *s = NULL;

    for (size_t i = 0; i < N; i++)
        volume[i] = sinf((float)i);
    for (size_t i = 0; i < 2; i++) {
        unlink(paths[i]);
        const struct fbp_sink_params p = {
            .struct_size = sizeof p, .fingerprint = 7, .resume = true};
        OK(fbp_sink_open(&s, paths[i], &wanted, &p));
        OK(fbp_sink_write(s, 2, 1, FBP_F32, volume + 2 * SLICE));
        fbp_sink_close(&s); /* interrupted */
        assert_false(is_there(paths[i]));
        OK(fbp_sink_open(&s, paths[i], &wanted, &p));
        assert_true(fbp_sink_has(s, 2, 1));
        OK(fbp_sink_write(s, 0, 2, FBP_F32, volume));
        OK(fbp_sink_finish(s));
        fbp_sink_close(&s);
        CLEANUP(fbp_source_close) fbp_source *src = open_source(paths[i], NULL);
        const struct fbp_array_info *info = fbp_source_info(src);
        assert_memory_equal(info->n, wanted.n, sizeof info->n);
        assert_string_equal(info->unit, "1/mm");
        for (int k = 0; k < 3; k++) {
            assert_true(info->spacing_mm[k] == (double)(float)wanted.spacing_mm[k]);
            assert_true(info->origin_mm[k] == (double)(float)wanted.origin_mm[k]);
        }
        OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out));
        assert_memory_equal(out, volume, sizeof out);
    }
    struct fbp_array_info large = wanted;
    large.n[0] = 32768;
    assert_fails(fbp_sink_open(&s, NII, &large, NULL), FBP_ERR_INVALID, "32767");
}

/* The world's x and y are those of MetaImage with the opposite sign, in both forms; a file of older
 * releases, which kept the sign, has the same spacing and origin along its own axes. */
TEST(right_and_front)
{
    static const double older[3][4] = {{0.5, 0, 0, -7}, {0, 1, 0, 8}, {0, 0, 2, 9}};
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {NX, NY, NZ},
                                        .spacing_mm = {0.5, 1, 2},
                                        .origin_mm = {-7, 8, 9}};
    static const float srow[12] = {-0.5f, 0, 0, 7, 0, -1, 0, -8, 0, 0, 2, 9};
    static const float form[6] = {0, 0, 1, 7, -8, 9}; /* half a turn about z */
    float volume[N] = {0};
    struct image im;

    save_array(NII, &info, NULL, volume);
    FILE *f = not_null(fopen(NII, "rb"));
    assert_int_equal(fread(im.b, 1, 352, f), 352);
    fclose(f);
    assert_memory_equal(im.b + 256, form, sizeof form);
    assert_memory_equal(im.b + 280, srow, sizeof srow);
    assert_place(0.5, 1, 2, -7, 8, 9);
    make(&im, 1, false);
    put_int(&im, 254, 2, 348, 4, 1);
    for (size_t i = 0; i < 3; i++)
        put_srow(&im, i, older[i]);
    put_file(NII, im.b, im.n);
    assert_place(0.5, 1, 2, -7, 8, 9);
}

/* Integers with the slope that the header holds as a float. */
TEST(integers)
{
    static const enum fbp_type kinds[] = {FBP_U8, FBP_U16};
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NX, NY, NZ}};
    float volume[N], out[N];

    for (size_t i = 0; i < N; i++)
        volume[i] = (float)i / N;
    for (size_t t = 0; t < 2; t++) {
        const struct fbp_sink_params p = {
            .struct_size = sizeof p, .type = kinds[t], .range = {-0.25, 1}};
        const double top = t ? 65535 : 255;
        save_array(NII, &info, &p, volume);
        CLEANUP(fbp_source_close) fbp_source *src = open_source(NII, NULL);
        assert_int_equal(fbp_source_info(src)->type, kinds[t]);
        assert_false(fbp_source_info(src)->has_spacing);
        assert_true(fbp_source_info(src)->scale == (double)(float)(1.25 / top));
        assert_true(fbp_source_info(src)->offset == -0.25);
        OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, out));
        for (size_t i = 0; i < N; i++)
            assert_true(fabs((double)(out[i] - volume[i])) <= 0.625 / top + 1e-6);
    }
}

TEST_MAIN(NULL, NULL)
