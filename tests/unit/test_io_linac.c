/* Checks the readers of projections of linear accelerators (.his, .hnc, .hnd, .xim), with an
 * encoder that is written for the test. */
#include "unit/foreign_files.h"
#include "unit/linac_samples.h"

static void same_samples(const char *name, const int32_t *p, size_t n, size_t from, double scale,
                         double offset)
{
    CLEANUP(fbp_source_close) fbp_source *source = open_source(in_folder(name), NULL);
    const struct fbp_array_info *info = fbp_source_info(source);
    float rows[N];

    assert_int_equal(info->n[0], W);
    assert_int_equal(info->n[1], H);
    assert_int_equal(info->n[2], n / N);
    OK(fbp_source_read(source, from / N, 1, from % N / W, H - from % N / W, FBP_F32, rows));
    for (size_t i = 0; i < N - from % N; i++)
        assert_true(rows[i] == (float)(scale * p[from + i] + offset));
}

TEST(compressed_samples_are_those_that_were_encoded)
{
    static const struct xim values = {0.0388, 30, 0, 0, 1000};
    int32_t p[N];

    for (int k = 0; k < 10; k++) {
        samples_of(p, k);
        put_bytes("a.hnd", make_hnd(p, W, H, 0.388, 12));
        same_samples("a.hnd", p, N, 0, 1, 0);
        same_samples("a.hnd", p, N, 3 * W, 1, 0); /* later rows only */
        put_bytes("a.xim", make_xim(p, W, H, &values));
        same_samples("a.xim", p, N, 0, 1, 0);
    }
}

TEST(other_samples_are_those_in_the_file)
{
    int32_t p[2 * N];

    for (int i = 0; i < 2 * N; i++)
        p[i] = 65535 - 937 * i;
    put_bytes("a.hnc", make_hnc(p, W, H, 0.388, 12));
    same_samples("a.hnc", p, N, 0, 1, 0);
    put_bytes("a.his", make_his(p, W, H, 2));
    same_samples("a.his", p, 2 * N, 0, -1, 65536);
    same_samples("a.his", p, 2 * N, N + W, -1, 65536);
}

TEST(the_panel_is_centred_on_the_origin)
{
    int32_t p[N];

    samples_of(p, 1);
    put_bytes("a.hnd", make_hnd(p, W, H, 0.388, 12));
    put_bytes("a.his", make_his(p, W, H, 1));
    CLEANUP(fbp_source_close) fbp_source *hnd = open_source(in_folder("a.hnd"), NULL);
    CLEANUP(fbp_source_close) fbp_source *his = open_source(in_folder("a.his"), NULL);
    assert_true(fabs(fbp_source_info(hnd)->spacing_mm[1] - 0.388) < 1e-12);
    assert_true(fabs(fbp_source_info(hnd)->origin_mm[0] + 3 * 0.388) < 1e-12);
    assert_true(fabs(fbp_source_info(his)->spacing_mm[0] - 409.6 / W) < 1e-12);
    assert_true(fabs(fbp_source_info(his)->origin_mm[1] + 2 * 409.6 / H) < 1e-12);
}

/* Opening or reading fails with a message that has the name and `part`. */
static void refuses_array(const char *name, const char *part)
{
    CLEANUP(fbp_source_close) fbp_source *source = NULL;
    float *row = not_null(malloc(1 << 20));
    fbp_status st = fbp_source_open(&source, in_folder(name), NULL);

    if (st == FBP_OK)
        st = fbp_source_read(source, 0, 1, fbp_source_info(source)->n[1] - 1, 1, FBP_F32, row);
    free(row);
    if (st == FBP_OK)
        fail_msg("%s was taken, expected \"%s\"", name, part);
    assert_contains(fbp_message(), name);
    assert_contains(fbp_message(), part);
}

/* Beginnings of the file are refused. */
static void refuses_shorter(const char *name, const struct bytes *b, size_t least)
{
    for (size_t n = 0; n < least; n += n + 80 < least ? 37 : 1) {
        put_file(in_folder(name), (const char *)b->p, n);
        refuses_array(name, "");
    }
}

TEST(truncated_files_are_refused)
{
    static const struct xim values = {0.0388, 30, 0, 0, 1000};
    int32_t p[N];

    samples_of(p, 2);
    struct bytes hnd = make_hnd(p, W, H, 1, 2), hnc = make_hnc(p, W, H, 1, 2),
                 xim = make_xim(p, W, H, &values), his = make_his(p, W, H, 1);
    refuses_shorter("t.hnd", &hnd, hnd.n);
    refuses_shorter("t.hnc", &hnc, hnc.n);
    refuses_shorter("t.xim", &xim, xim.n);
    refuses_shorter("t.his", &his, his.n);
    free(hnd.p);
    free(hnc.p);
    free(xim.p);
    free(his.p);
}

/* Replace n bytes of a file at byte `at`, and expect `part`. */
static void spoil(const char *name, struct bytes b, size_t at, const void *data, size_t n,
                  const char *part)
{
    set_bytes(&b, at, data, n);
    put_bytes(name, b);
    refuses_array(name, part);
}

TEST(wrong_headers_are_refused)
{
    static const struct xim values = {0.0388, 30, 0, 0, 1000};
    const uint32_t zero = 0, huge = 0xffffffff, wide = 65536;
    const double infinite = INFINITY;
    const unsigned char eight = 0xff;
    int32_t p[N];

    samples_of(p, 2);
#define HND make_hnd(p, W, H, 1, 2)
#define XIM make_xim(p, W, H, &values)
#define HIS make_his(p, W, H, 1)
    spoil("w.hnd", HND, 0, "GE", 2, "does not begin with VARIAN");
    spoil("w.hnd", HND, 120, &zero, 4, "contains no image");
    spoil("w.hnd", HND, 124, &zero, 4, "contains no image");
    spoil("w.hnd", HND, 120, &huge, 4, "too short for 4294967295 x 5 samples");
    spoil("w.hnd", HND, 124, &wide, 4, "too short for 7 x 65536 samples");
    spoil("w.hnd", HND, 352, &infinite, 8, "spacing");
    spoil("w.hnd", HND, 1024, &eight, 1, "compressed samples end at pixel 8");
    spoil("w.xim", XIM, 28, &zero, 4, "compression 0 is not supported");
    spoil("w.xim", XIM, 12, &zero, 4, "contains no image");
    spoil("w.xim", XIM, 16, &huge, 4, "too short for 7 x 4294967295 samples");
    spoil("w.xim", XIM, 32, &huge, 4, "w.xim");
    spoil("w.xim", XIM, 36 + 7, &huge, 4, "w.xim");
    spoil("w.his", HIS, 16, &zero, 2, "columns 1 to 0");
    spoil("w.his", HIS, 20, &zero, 2, "has 0 images");
    spoil("w.his", HIS, 18, &huge, 2, "truncated");
    spoil("w.his", HIS, 32, &zero, 2, "type 0");
#undef HND
#undef XIM
#undef HIS
}

TEST_MAIN(make_files, drop_files)
