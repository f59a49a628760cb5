/* Checks the preparation of samples (dark, flat, logarithm, bad pixels) against numbers
 * calculated by hand. */
#include "unit/io_util.h"

#include "pipeline/run.h"
#include "prep/prep.h"

enum { NC = 4, NR = 3, N = NC * NR };

#define DARK FBP_TEST_DIR "/prep_dark.npy"
#define FLAT FBP_TEST_DIR "/prep_flat.npy"
#define MASK FBP_TEST_DIR "/prep_mask.npy"
#define PROJ FBP_TEST_DIR "/prep_proj.npy"

static char dark_path[] = DARK, flat_path[] = FLAT, mask_path[] = MASK;

static void put(const char *path, size_t nc, size_t nr, size_t nz, const float *v)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {nc, nr, nz}};
    save_array(path, &info, NULL, v);
}

static struct fbp_scan scan_of(size_t nc, size_t nr)
{
    return (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                             .panel = {.n_columns = nc, .n_rows = nr}};
}

static struct fbp_prep prep_of(const struct fbp_scan *scan, bool top_down)
{
    struct fbp_prep p;
    OK(fbp_prep_create(&p, scan, top_down));
    return p;
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) < 2e-6 * (1 + fabs(b))))
        fail_msg("%.9g, not %.9g", a, b);
}

static void values(float *v, double start, double step)
{
    for (int i = 0; i < N; i++)
        v[i] = (float)(start + step * i);
}

TEST(i0_alone)
{
    struct fbp_scan scan = scan_of(NC, NR);
    struct fbp_prep_counts counts = {0};
    float row[NC] = {1000, 500, 1, 2000};
    scan.i0 = 1000;
    CLEANUP(fbp_prep_clear) struct fbp_prep p = prep_of(&scan, false);
    assert_true(p.intensity && !p.dark && !p.gain && p.n_bridges == 0 && p.margin_rows == 0);
    fbp_prep_row(&p, 1, row, &counts);
    assert_near(row[0], 0);
    assert_near(row[1], log(2));
    assert_near(row[2], log(1000));
    assert_near(row[3], -log(2));
    assert_true(counts.clipped == 0 && counts.not_finite == 0);
}

/* Line integrals are left alone but for what is not finite. */
TEST(line_integrals)
{
    struct fbp_scan scan = scan_of(NC, NR);
    struct fbp_prep_counts counts = {0};
    float row[NC] = {-1, 0, NAN, 1e30f};
    CLEANUP(fbp_prep_clear) struct fbp_prep p = prep_of(&scan, true);
    assert_false(p.intensity);
    fbp_prep_row(&p, 0, row, &counts);
    assert_true(row[0] == -1 && row[1] == 0 && row[2] == 5e29f && row[3] == 1e30f);
    assert_true(counts.clipped == 0 && counts.not_finite == 1);
}

/* All four ways to say what unattenuated means, and either order of rows. */
TEST(dark_flat_i0)
{
    float dark[2 * N], flat[3 * N];
    values(dark, 10, 1); /* mean 15 + i */
    values(dark + N, 20, 1);
    values(flat, 1000, 10); /* mean 2000 + 10 i */
    values(flat + N, 2000, 20);
    values(flat + 2 * N, 3000, 0);
    put(DARK, NC, NR, 2, dark);
    put(FLAT, NC, NR, 3, flat);
    for (int what = 1; what < 8; what++)
        for (int top_down = 0; top_down < 2; top_down++) {
            struct fbp_scan scan = scan_of(NC, NR);
            struct fbp_prep_counts counts = {0};
            const bool has_dark = what & 1, has_flat = what & 2, has_i0 = what & 4;
            scan.dark = has_dark ? dark_path : NULL;
            scan.flat = has_flat ? flat_path : NULL;
            scan.i0 = has_i0 ? 5000 : 0;
            if (what == 1) {
                struct fbp_prep none;
                assert_fails(fbp_prep_create(&none, &scan, top_down), FBP_ERR_INVALID,
                             "\"flat\" or \"i0\"");
                continue;
            }
            CLEANUP(fbp_prep_clear) struct fbp_prep p = prep_of(&scan, top_down);
            for (size_t r = 0; r < NR; r++) {
                float row[NC] = {100, 200, 300, 400};
                fbp_prep_row(&p, r, row, &counts);
                for (size_t c = 0; c < NC; c++) {
                    const double i = (double)((top_down ? NR - 1 - r : r) * NC + c);
                    const double d = has_dark ? 15 + i : 0;
                    const double b = has_flat ? 2000 + 10 * i : 5000;
                    assert_near(row[c], -log((100 * (double)(c + 1) - d) / (b - d)));
                }
            }
            assert_true(counts.clipped == 0 && counts.not_finite == 0 && p.n_bridges == 0);
        }
}

TEST(clipped)
{
    struct fbp_scan scan = scan_of(NC, NR);
    struct fbp_prep_counts counts = {0};
    float row[NC] = {0, -5, 2e-3f, 0.9e-3f};
    scan.i0 = 1000;
    CLEANUP(fbp_prep_clear) struct fbp_prep p = prep_of(&scan, false);
    fbp_prep_row(&p, 0, row, &counts);
    assert_near(row[0], -log(1e-6));
    assert_near(row[1], -log(1e-6));
    assert_near(row[2], -log(2e-6));
    assert_near(row[3], -log(1e-6));
    assert_int_equal(counts.clipped, 3);
    assert_int_equal(counts.not_finite, 0);
}

/* Both ends, the middle, a whole row; as intensities and as line integrals. */
TEST(not_finite)
{
    enum { W = 8 };
    static const float nan = NAN, inf = INFINITY;
    struct fbp_scan scan = scan_of(W, 1);
    struct fbp_prep_counts counts = {0};
    struct fbp_prep p = prep_of(&scan, false);
    float a[W] = {nan, -inf, 2, inf, nan, 8, 9, nan};
    const float wanted[W] = {2, 2, 2, 4, 6, 8, 9, 9};
    fbp_prep_row(&p, 0, a, &counts);
    for (size_t i = 0; i < W; i++)
        assert_near(a[i], wanted[i]);
    assert_int_equal(counts.not_finite, 5);
    float all[W] = {nan, inf, -inf, nan, nan, nan, nan, nan};
    fbp_prep_row(&p, 0, all, &counts);
    for (size_t i = 0; i < W; i++)
        assert_true(all[i] == 0);
    assert_int_equal(counts.not_finite, 5 + W);
    float one[W] = {nan, nan, nan, nan, nan, nan, nan, 3};
    fbp_prep_row(&p, 0, one, &counts);
    for (size_t i = 0; i < W; i++)
        assert_true(one[i] == 3);
    fbp_prep_clear(&p);

    counts = (struct fbp_prep_counts){0};
    scan.i0 = 1;
    p = prep_of(&scan, false);
    float t[W] = {nan, inf, 1, -inf, 0.25f, inf, nan, 0.5f};
    const double halvings[W] = {0, 0, 0, 1, 2, 5. / 3, 4. / 3, 1};
    fbp_prep_row(&p, 0, t, &counts);
    for (size_t i = 0; i < W; i++)
        assert_near(t[i], halvings[i] * log(2));
    assert_int_equal(counts.not_finite, 5);
    assert_int_equal(counts.clipped, 0);
    fbp_prep_clear(&p);
}

/* A mask of w x h from a picture, its top row first; '#' = bad. */
static struct fbp_prep masked(size_t w, size_t h, const char *picture)
{
    float m[64];
    assert_true(w * h <= 64 && strlen(picture) == w * h);
    for (size_t i = 0; i < w * h; i++)
        m[i] = picture[i] == '#' ? 7 : 0;
    put(MASK, w, h, 1, m);
    struct fbp_scan scan = scan_of(w, h);
    scan.bad_pixels = mask_path;
    return prep_of(&scan, true);
}

/* The sample x = column + 100 row + column * row is put everywhere good; what becomes of (c, r)? */
static double bridged(const struct fbp_prep *p, size_t c, size_t r)
{
    const size_t w = p->panel.n_columns, h = p->panel.n_rows;
    float v[64] = {0}, reference[64];
    for (size_t i = 0; i < w * h; i++)
        v[i] = (float)(i % w + 100 * (i / w) + i % w * (i / w));
    for (size_t k = 0; k < p->n_bridges; k++)
        v[p->bridges[k].pixel] = NAN;
    memcpy(reference, v, sizeof v);
    fbp_prep_bridge(p, 0, 0, h, v);
    for (size_t i = 0; i < w * h; i++)
        if (isnan(reference[i]))
            assert_true(isfinite(v[i]));
        else
            assert_true(v[i] == reference[i]);
    return (double)v[r * w + c];
}

TEST(isolated_pixels)
{
    CLEANUP(fbp_prep_clear)
    struct fbp_prep p = masked(5, 3,
                               "....."
                               "..#.."
                               "#....");
    assert_int_equal(p.n_bridges, 2);
    assert_int_equal(p.margin_rows, 0);
    assert_near(bridged(&p, 2, 1), 2 + 100 + 2); /* linear along the row */
    assert_near(bridged(&p, 0, 0), 1);           /* the corner: its only neighbour */
}

TEST(dead_column)
{
    CLEANUP(fbp_prep_clear)
    struct fbp_prep p = masked(5, 3,
                               "##..#"
                               "##..#"
                               "##..#");
    assert_int_equal(p.n_bridges, 9);
    assert_int_equal(p.margin_rows, 0);
    assert_near(bridged(&p, 0, 1), 2 + 100 + 2);
    assert_near(bridged(&p, 1, 2), 2 + 200 + 4);
    assert_near(bridged(&p, 4, 0), 3);
}

TEST(dead_rows)
{
    CLEANUP(fbp_prep_clear)
    struct fbp_prep p = masked(3, 5,
                               "###"
                               "..."
                               "###"
                               "###"
                               "...");
    assert_int_equal(p.n_bridges, 9);
    assert_int_equal(p.margin_rows, 2);
    assert_near(bridged(&p, 1, 1), (2 * 1. + 1 * (1 + 300 + 3)) / 3); /* by inverse distance */
    assert_near(bridged(&p, 1, 2), (1 * 1. + 2 * (1 + 300 + 3)) / 3);
    assert_near(bridged(&p, 2, 4), 2 + 300 + 6);
}

/* Good pixels in its row more than three columns away are joined by those of its column. */
TEST(wide_gap)
{
    CLEANUP(fbp_prep_clear)
    struct fbp_prep p = masked(9, 3,
                               "........."
                               ".#######."
                               ".........");
    assert_int_equal(p.margin_rows, 1);
    const double left = 100, right = 8 + 100 + 8, below = 4, above = 4 + 200 + 8;
    assert_near(bridged(&p, 4, 1), (left / 4 + right / 4 + below + above) / (0.25 + 0.25 + 2));
    assert_near(bridged(&p, 3, 1), (left / 3 + right / 5) / (1. / 3 + 1. / 5));
}

TEST(too_many_bad)
{
    const float all[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    float one[N];
    struct fbp_scan scan = scan_of(NC, NR);
    struct fbp_prep p;
    scan.bad_pixels = mask_path;
    put(MASK, NC, NR, 1, all);
    assert_fails(fbp_prep_create(&p, &scan, false), FBP_ERR_INVALID, "every pixel");
    memcpy(one, all, sizeof one);
    one[0] = 0; /* the pixels that see it are bridged, others cannot be */
    put(MASK, NC, NR, 1, one);
    assert_fails(fbp_prep_create(&p, &scan, false), FBP_ERR_INVALID,
                 "no good pixel in its row or column");
    memset(one, 0, sizeof one);
    one[3] = NAN; /* no good pixel either */
    put(MASK, NC, NR, 1, one);
    p = prep_of(&scan, false);
    assert_true(p.n_bridges == 1 && p.bridges[0].pixel == 3);
    fbp_prep_clear(&p);
    put(MASK, NC, NR + 1, 1, (float[N + NC]){0});
    assert_fails(fbp_prep_create(&p, &scan, false), FBP_ERR_INVALID, MASK);
}

/* Flats that are not above their dark are bad pixels; those and masked ones are never clipped. */
TEST(bad_flats)
{
    const float dark[N] = {10, 10, 10, 10}, mask[N] = {0, 0, 0, 0, 0, 0, 1};
    float flat[N];
    struct fbp_scan scan = scan_of(NC, NR);
    for (size_t i = 0; i < N; i++)
        flat[i] = 110;
    flat[1] = 10;
    flat[3] = 5;
    flat[4] = NAN;
    flat[11] = INFINITY;
    put(DARK, NC, NR, 1, dark);
    put(FLAT, NC, NR, 1, flat);
    put(MASK, NC, NR, 1, mask);
    scan.dark = dark_path;
    scan.flat = flat_path;
    scan.bad_pixels = mask_path;
    CLEANUP(fbp_prep_clear) struct fbp_prep p = prep_of(&scan, false);
    const size_t wanted[5] = {1, 3, 4, 6, 11};
    assert_int_equal(p.n_bridges, 5);
    for (size_t k = 0; k < 5; k++)
        assert_int_equal(p.bridges[k].pixel, wanted[k]);

    float v[N];
    struct fbp_prep_counts counts = {0};
    for (size_t i = 0; i < N; i++)
        v[i] = i < NC ? 60 : 55; /* transmission one half */
    v[1] = v[4] = v[6] = -1e6f;  /* whatever dead pixels say */
    v[3] = 1e6f;
    for (size_t r = 0; r < NR; r++)
        fbp_prep_row(&p, r, v + r * NC, &counts);
    fbp_prep_bridge(&p, 0, 0, NR, v);
    for (size_t i = 0; i < N; i++)
        assert_near(v[i], log(2));
    assert_int_equal(counts.clipped, 0);
    assert_int_equal(counts.not_finite, 0);
}

/* The same where one number stands for the flat. */
TEST(mask_and_i0)
{
    const float mask[N] = {0, 1};
    struct fbp_scan scan = scan_of(NC, NR);
    struct fbp_prep_counts counts = {0};
    float v[NC] = {50, -1, 25, 100};
    put(MASK, NC, NR, 1, mask);
    scan.i0 = 100;
    scan.bad_pixels = mask_path;
    CLEANUP(fbp_prep_clear) struct fbp_prep p = prep_of(&scan, false);
    fbp_prep_row(&p, 0, v, &counts);
    fbp_prep_bridge(&p, 0, 0, 1, v);
    assert_near(v[0], log(2));
    assert_near(v[1], 1.5 * log(2));
    assert_near(v[2], 2 * log(2));
    assert_near(v[3], 0);
    assert_int_equal(counts.clipped, 0);
}

/* The negative logarithms of transmissions equal the line integrals, also of repaired and
 * interpolated samples. */
TEST(transmissions)
{
    const float mask[N] = {0, 1, 0, 0, 0, 0, 0, 0, 1};
    const float counted[N] = {900, 5, 300, 2000, NAN, 400, INFINITY, 70, 3, -50, -INFINITY, 800};
    struct fbp_scan scan = scan_of(NC, NR);
    struct fbp_prep_counts counts = {0}, others = {0};
    float dark[N], flat[N], p[N], t[N];
    values(dark, 10, 1);
    values(flat, 1000, 10);
    put(DARK, NC, NR, 1, dark);
    put(FLAT, NC, NR, 1, flat);
    put(MASK, NC, NR, 1, mask);
    scan.dark = dark_path;
    scan.flat = flat_path;
    scan.bad_pixels = mask_path;
    CLEANUP(fbp_prep_clear) struct fbp_prep prep = prep_of(&scan, false);
    assert_int_equal(prep.n_bridges, 2);
    memcpy(p, counted, sizeof p);
    memcpy(t, counted, sizeof t);
    for (size_t r = 0; r < NR; r++) {
        fbp_prep_row(&prep, r, p + r * NC, &counts);
        fbp_prep_transmissions(&prep, r, t + r * NC, &others);
    }
    fbp_prep_bridge(&prep, 0, 0, NR, p);
    fbp_prep_bridge_transmissions(&prep, t);
    for (int i = 0; i < N; i++)
        assert_near(-log(t[i]), p[i]);
    assert_true(counts.not_finite == 3 && counts.clipped == 1);
    assert_memory_equal(&counts, &others, sizeof counts);
}

/* Part of a view: rows that were not asked for are neither read nor written. */
TEST(bridge_part)
{
    CLEANUP(fbp_prep_clear)
    struct fbp_prep p = masked(3, 5,
                               "..#"
                               "###"
                               "..."
                               "..#"
                               "#..");
    float v[9] = {1, 2, 3, NAN, NAN, NAN, 4, 5, NAN}; /* rows 2 to 4 */
    fbp_prep_bridge(&p, 2, 3, 4, v);
    assert_near(v[3], (1 + 4) / 2.);
    assert_near(v[4], (2 + 5) / 2.);
    assert_near(v[5], 3); /* above it is no good one */
    assert_true(isnan(v[8]) && v[2] == 3);
}

TEST(loading)
{
    enum { VIEWS = 3 };
    float all[VIEWS * N], out[VIEWS * N + 1];
    const struct fbp_job job = {
        .panel = {.n_columns = NC, .n_rows = NR}, .n_views = VIEWS, .selection.symmetric_views = 1};
    for (size_t i = 0; i < VIEWS * N; i++)
        all[i] = (float)i;
    put(PROJ, NC, NR, VIEWS, all);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(PROJ, NULL);
    for (int top_down = 0; top_down < 2; top_down++)
        for (size_t v0 = 0; v0 < VIEWS; v0++)
            for (size_t nv = 1; nv <= VIEWS - v0; nv++)
                for (size_t r0 = 0; r0 <= NR; r0++)
                    for (size_t nr = 0; nr <= NR - r0; nr++) {
                        const struct fbp_batch b = {
                            .view0 = v0, .n_views = nv, .load_row0 = r0, .load_rows = nr};
                        out[nv * nr * NC] = -1;
                        OK(fbp_load(src, top_down, &job, &b, NULL, NULL, out));
                        for (size_t i = 0; i < nv * nr * NC; i++) {
                            const size_t r = r0 + i / NC % nr;
                            const size_t stored = top_down ? NR - 1 - r : r;
                            assert_true(out[i] ==
                                        all[((v0 + i / NC / nr) * NR + stored) * NC + i % NC]);
                        }
                        assert_true(out[nv * nr * NC] == -1);
                    }
}

TEST_MAIN(NULL, NULL)
