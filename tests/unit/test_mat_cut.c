/* Reads of matio that end early: what it does not give is never taken for what is not there.  This
 * program's own fread() stands in for the C library's in matio, too, and one call after another
 * ends at the file's end, behind half of what was asked for, or one byte before its end. */
#include "unit/mat_files.h"

#include "base/contain.h"
#include "fbp/geometry_file.h"
#include "fbp/scan.h"

#include <math.h>

#define CUT FBP_TEST_DIR "/mat_cut.mat"

#undef fread_unlocked /* a macro, and a function */

/* The n-th call of fread() is cut, from 1; 0: none. */
static long cut_at, calls;
static int how;

enum { ALL, HALF, LAST_BYTE, WAYS };

#define SEEN __attribute__((visibility("default")))
SEEN size_t fread(void *out, size_t size, size_t n, FILE *f);
SEEN size_t __fread_chk(void *out, size_t room, size_t size, size_t n, FILE *f);

size_t fread(void *out, size_t size, size_t n, FILE *f)
{
    const size_t bytes = size * n;
    const size_t some = how == ALL ? 0 : how == HALF ? bytes / 2 : bytes - (bytes > 0);

    if (++calls != cut_at)
        return fread_unlocked(out, size, n, f);
    const size_t got = fread_unlocked(out, 1, some, f);
    (void)!fseek(f, 0, SEEK_END);
    (void)!fgetc(f); /* the end of the file is found, as after a read that ends there */
    return size > 0 ? got / size : 0;
}

/* The same, where a compiler knows how much room there is. */
size_t __fread_chk(void *out, size_t room, size_t size, size_t n, FILE *f)
{
    assert_true(size * n <= room);
    return fread(out, size, n, f);
}

/* What a file holds for its reader, as a number; 0: it was refused, with a sentence. */
typedef uint64_t look_fn(void);

static uint64_t add(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

static uint64_t of_array(uint64_t h, const char *path)
{
    fbp_source *src = NULL;
    float values[600] = {0};

    if (fbp_source_open(&src, path, NULL) != FBP_OK)
        return 0;
    const struct fbp_array_info *i = fbp_source_info(src);
    const size_t n = i->n[0] * i->n[1] * i->n[2];
    h = add(h, i->n, sizeof i->n);
    h = add(h, i->unit, sizeof i->unit);
    h = add(h, i->spacing_mm, sizeof i->spacing_mm);
    h = add(h, &i->scale, sizeof i->scale);
    assert_true(n <= sizeof values / sizeof *values);
    if (fbp_source_read(src, 0, i->n[2], 0, i->n[1], values) == FBP_OK)
        h = add(h, values, n * sizeof *values);
    else
        h = 0;
    fbp_source_close(&src);
    return h;
}

static uint64_t look_at_array(void)
{
    return of_array(1, CUT ":a");
}

static uint64_t look_at_volume(void)
{
    return of_array(1, CUT);
}

static uint64_t look_at_scan(void)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    uint64_t h = 1;

    if (fbp_scan_load(&scan, CUT) != FBP_OK)
        return 0;
    h = add(h, scan.views, scan.n_views * sizeof *scan.views);
    h = add(h, &scan.volume, sizeof scan.volume);
    h = add(h, &scan.n_assumed, sizeof scan.n_assumed);
    h = of_array(h, scan.projections);
    fbp_scan_clear(&scan);
    return h;
}

static uint64_t look_at_geometry(void)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    uint64_t h = 1;

    if (fbp_geometry_load(&scan, CUT, NULL, NULL) != FBP_OK)
        return 0;
    h = add(h, scan.views, scan.n_views * sizeof *scan.views);
    fbp_scan_clear(&scan);
    return h;
}

/* Every read is cut in every way: the same, or a sentence that names the file. */
static void cut_every_read(const char *what, look_fn *look)
{
    long n_calls = 0, refused = 0;

    cut_at = calls = 0;
    const uint64_t whole = look();
    if (whole == 0)
        fail_msg("%s: %s", what, fbp_message());
    n_calls = calls;
    assert_true(n_calls > 3);
    for (how = 0; how < WAYS; how++)
        for (cut_at = 1; cut_at <= n_calls; cut_at++) {
            calls = 0;
            const uint64_t h = look();
            if (h != 0 && h != whole)
                fail_msg("%s: read %ld of %ld is cut (way %d), and something else is read", what,
                         cut_at, n_calls, how);
            if (h == 0 && (!strstr(fbp_message(), CUT) || !strchr(fbp_message(), ' ')))
                fail_msg("%s: read %ld: \"%s\"", what, cut_at, fbp_message());
            refused += h == 0;
        }
    cut_at = 0;
    assert_true(refused > 0); /* reads that mattered were among them */
}

static void of_arrays(void **state)
{
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        const enum matio_compression with = packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE;
        VALUES(double);
        VALUES(uint16_t);
        char text[] = "an instrument";
        size_t n[2] = {1, sizeof text - 1};
        mat_t *file = Mat_CreateVer(CUT, NULL, MAT_FT_MAT5);
        put(file, array("before", MAT_C_UINT16, MAT_T_UINT16, values_uint16_t), with);
        put(file, Mat_VarCreate("text", MAT_C_CHAR, MAT_T_UTF8, 2, n, text, 0), with);
        put(file, array("a", MAT_C_DOUBLE, MAT_T_DOUBLE, values_double), with);
        put(file, array("b", MAT_C_DOUBLE, MAT_T_DOUBLE, values_double), with);
        Mat_Close(file);
        cut_every_read(packed ? "array, packed" : "array", look_at_array);
    }
}

/* Unit, spacing and the order of its axes stand in variables beside it. */
static void of_volumes(void **state)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {3, 4, 5}, .spacing_mm = {1, 2, 3}, .unit = "1/mm"};
    float values[60];
    fbp_sink *sink;

    (void)state;
    for (int i = 0; i < 60; i++)
        values[i] = (float)i;
    remove(CUT);
    assert_int_equal(fbp_sink_open(&sink, CUT, &info, NULL), FBP_OK);
    assert_int_equal(fbp_sink_write(sink, 0, 5, values), FBP_OK);
    assert_int_equal(fbp_sink_finish(sink), FBP_OK);
    fbp_sink_close(&sink);
    cut_every_read("volume", look_at_volume);
}

static void of_scans(void **state)
{
    struct prj prj = prj_usual();
    struct fbp_view views[4];
    float values[24];
    fbp_sink *sink;

    (void)state;
    put_prj(CUT, &prj);
    cut_every_read("prj.mat", look_at_scan);
    for (int i = 0; i < 24; i++)
        values[i] = (float)i;
    for (size_t k = 0; k < 4; k++)
        fbp_plane_view((const double[3]){k == 0, k == 1, k == 2 ? 1 : k == 3}, 1, -2.5, 6,
                       &views[k]);
    const struct fbp_scan scan = {.struct_size = sizeof scan,
                                  .kind = FBP_PLANES,
                                  .n_views = 4,
                                  .panel = {6, 1},
                                  .views = views,
                                  .volume = {{4, 4, 4}, {1, 1, 1}, {0, 0, 0}}};
    remove(CUT);
    assert_int_equal(fbp_scan_sink_prj(&sink, CUT, &scan, 1, NULL), FBP_OK);
    assert_int_equal(fbp_sink_write(sink, 0, 4, values), FBP_OK);
    assert_int_equal(fbp_sink_finish(sink), FBP_OK);
    fbp_sink_close(&sink);
    cut_every_read("own prj.mat", look_at_scan);
    for (int packed = 0; packed < 2; packed++) {
        put_struct(CUT, 400, VIEWS, packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE);
        cut_every_read(packed ? "struct of a scan, packed" : "struct of a scan", look_at_scan);
    }
}

static void of_geometries(void **state)
{
    (void)state;
    for (int columns = 0; columns < 2; columns++) {
        put_tigre(CUT, columns);
        cut_every_read(columns ? "TIGRE, packed" : "TIGRE", look_at_geometry);
    }
}

/* A file that ends too early, wherever that is. */
static void of_files(void **state)
{
    struct prj prj = prj_usual();
    static unsigned char bytes[4000];

    (void)state;
    put_prj(CUT, &prj);
    FILE *f = fopen(CUT, "rb");
    size_t n = 0;
    for (int c; n < sizeof bytes && (c = fgetc(f)) != EOF; n++)
        bytes[n] = (unsigned char)c;
    fclose(f);
    for (size_t end = 0; end < n; end++) {
        f = fopen(CUT, "wb");
        assert_int_equal(fwrite(bytes, 1, end, f), end);
        fclose(f);
        if (look_at_scan() != 0)
            fail_msg("of %zu bytes %zu are taken for a scan", n, end);
        if (!strstr(fbp_message(), CUT))
            fail_msg("of %zu bytes %zu: \"%s\"", n, end, fbp_message());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_arrays), cmocka_unit_test(of_volumes),    cmocka_unit_test(of_scans),
        cmocka_unit_test(of_files),  cmocka_unit_test(of_geometries),
    };

    fbp_contain_inside(true);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
