/* Stripes along the angles of a sinogram: the methods by what they must do, whatever the data.
 * With arguments IN OUT VIEWS COLUMNS TEXT: one sinogram of floats from file to file, for
 * comparisons with other programs (tests/peers/algotom.sh). */
#include "base/base.h"
#include "prep/prep.h"
#include "test.h"

static struct fbp_stripes stripes_of(const char *text, size_t n_views, size_t n_columns)
{
    struct fbp_corrections c = {.struct_size = sizeof c};
    struct fbp_stripes s;

    OK(fbp_corrections_rings(&c, text));
    fbp_stripes_of(&c, n_views, n_columns, &s);
    return s;
}

static void take_away(const char *text, size_t nv, size_t nc, float *sinogram, size_t stride)
{
    const struct fbp_stripes s = stripes_of(text, nv, nc);
    void *scratch;

    OK(fbp_alloc(&scratch, fbp_stripes_bytes(&s), "scratch"));
    memset(scratch, 0xff, fbp_stripes_bytes(&s)); /* NaN, should it be read */
    fbp_stripes_remove(&s, sinogram, stride, scratch);
    fbp_free(scratch);
}

/* A smooth object, the same in all columns but for where it is. */
static double object(size_t k, size_t c, size_t nv, size_t nc)
{
    const double angle = 3.1415926 * (double)k / (double)nv;
    const double t = ((double)c - (double)nc / 2) / (double)nc - 0.2 * sin(angle);

    return 2 * exp(-t * t * 30);
}

static double noise(size_t i)
{
    const uint32_t h = (uint32_t)(i + 1) * 2654435761u;
    return (double)((h ^ h >> 15) * 2246822519u >> 8) / (double)(1u << 24) - 0.5;
}

/* Filters whose squares add up to 1, orthogonal to their own even shifts, with N vanishing moments
 * of the other half. */
TEST(wavelets_are_daubechies)
{
    for (unsigned N = 1; N <= FBP_DAUBECHIES_MOST; N++) {
        const double tolerance = N > 10 ? 1e-10 : 1e-13;
        double h[2 * FBP_DAUBECHIES_MOST], sum = 0;
        fbp_daubechies(N, h);
        for (size_t i = 0; i < 2 * N; i++)
            sum += h[i];
        assert_true(fabs(sum - sqrt(2)) < tolerance);
        for (size_t shift = 0; shift < N; shift++) {
            double product = 0;
            for (size_t i = 2 * shift; i < 2 * N; i++)
                product += h[i] * h[i - 2 * shift];
            assert_true(fabs(product - (shift == 0)) < tolerance);
        }
        for (unsigned m = 0; m < N && m < 8; m++) {
            double moment = 0, size = 0;
            for (size_t i = 0; i < 2 * N; i++) {
                const double term = pow((double)i / (2 * N), m) * h[i];
                moment += i % 2 ? -term : term;
                size += fabs(term);
            }
            assert_true(fabs(moment) < 1e-13 * size);
        }
    }
}

/* Of an object that all columns see alike, sorting takes a stripe away entirely and leaves the rest
 * as it is, in whatever order the views are. */
TEST(sorting_takes_the_middle)
{
    enum { NV = 90, NC = 40 };
    AUTO_FREE float *s = not_null(malloc(NV * NC * sizeof *s));

    for (size_t i = 0; i < NV * NC; i++)
        s[i] = (float)((i / NC * 37 + i % NC * 11) % NV) + (i % NC == 17 ? 0.25f : 0);
    take_away("sorting:5", NV, NC, s, NC);
    for (size_t i = 0; i < NV * NC; i++)
        assert_true(s[i] == (float)((i / NC * 37 + i % NC * 11) % NV));
}

/* The median of a window by its definition, ends mirrored; of even size the upper one. */
static float median_at(const float *ranks, size_t nc, size_t c, size_t size)
{
    float w[64];

    for (size_t i = 0; i < size; i++) {
        ptrdiff_t at = (ptrdiff_t)(c + i) - (ptrdiff_t)(size / 2);
        while (at < 0 || at >= (ptrdiff_t)nc)
            at = at < 0 ? -1 - at : 2 * (ptrdiff_t)nc - 1 - at;
        w[i] = ranks[at];
    }
    for (size_t i = 0; i < size; i++)
        for (size_t j = i + 1; j < size; j++)
            if (w[j] < w[i]) {
                const float x = w[i];
                w[i] = w[j];
                w[j] = x;
            }
    return w[size / 2];
}

TEST(sorting_is_its_definition)
{
    enum { NV = 70, NC = 33 };
    static const size_t sizes[] = {3, 8, 21, 33};
    AUTO_FREE float *s = malloc(NV * NC * sizeof *s), *out = malloc(NV * NC * sizeof *out);

    assert_true(s && out);
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        for (size_t i = 0; i < NV * NC; i++)
            out[i] = s[i] = (float)(object(i / NC, i % NC, NV, NC) + noise(i) - 0.4);
        AUTO_FREE char *text = printed("sorting:%zu", sizes[t]);
        take_away(text, NV, NC, out, NC);
        for (size_t i = 0; i < NV * NC; i++) {
            float rank[NC];
            size_t at = 0; /* how many of its column are less */
            for (size_t k = 0; k < NV; k++)
                at += s[k * NC + i % NC] < s[i];
            for (size_t c = 0; c < NC; c++) { /* the one of each column that has as many */
                size_t k = 0;
                for (; k < NV; k++) {
                    size_t less = 0;
                    for (size_t l = 0; l < NV; l++)
                        less += s[l * NC + c] < s[k * NC + c];
                    if (less == at)
                        break;
                }
                assert_true(k < NV);
                rank[c] = s[k * NC + c];
            }
            assert_true(out[i] == median_at(rank, NC, i % NC, sizes[t]));
        }
    }
}

/* What is removed of object and stripes together is what is removed of both; and of stripes that
 * are as high as they are narrow, nearly all. */
TEST(wavelets_are_linear)
{
    enum { NV = 181, NC = 128 };
    static const char *const texts[] = {"wavelet", "wavelet:3,2,db5", "wavelet:4,1,db1",
                                        "wavelet:2,0.5,db20"};
    AUTO_FREE float *a = malloc(NV * NC * sizeof *a), *b = malloc(NV * NC * sizeof *b);
    AUTO_FREE float *both = malloc(NV * NC * sizeof *both);

    assert_true(a && b && both);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        double change = 0, left = 0, was = 0;
        for (size_t i = 0; i < NV * NC; i++) {
            a[i] = (float)object(i / NC, i % NC, NV, NC);
            b[i] = (float)(0.2 * noise(i % NC));
            both[i] = a[i] + b[i];
            was += pow((double)b[i], 2);
        }
        take_away(texts[t], NV, NC, a, NC);
        take_away(texts[t], NV, NC, b, NC);
        take_away(texts[t], NV, NC, both, NC);
        for (size_t i = 0; i < NV * NC; i++) {
            assert_true(fabsf(both[i] - a[i] - b[i]) < 2e-6f);
            change = fmax(change, fabs((double)a[i] - object(i / NC, i % NC, NV, NC)));
            left += pow((double)b[i], 2);
        }
        print_message("%s: %.3f of the stripes stays, the object changes by %.3f of 2\n", texts[t],
                      sqrt(left / was), change);
        const double levels = (double)stripes_of(texts[t], NV, NC).levels;
        assert_true(sqrt(left / was) < 1.35 * pow(2, -levels / 2));
    }
}

/* Whatever else is in the views beside a row's samples; and how the samples lie. */
TEST(rows_are_alone)
{
    enum { NV = 64, NC = 30, STRIDE = 3 * NC };
    static const char *const texts[] = {"sorting", "wavelet", "offsets", "fluctuating"};
    AUTO_FREE float *tight = malloc(NV * NC * sizeof *tight),
                    *wide = malloc(NV * STRIDE * sizeof *wide);

    assert_true(tight && wide);
    for (size_t t = 0; t < 4; t++) {
        for (size_t i = 0; i < NV * STRIDE; i++)
            wide[i] = NAN;
        for (size_t i = 0; i < NV * NC; i++)
            tight[i] = wide[i / NC * STRIDE + i % NC] = (float)noise(i);
        take_away(texts[t], NV, NC, tight, NC);
        take_away(texts[t], NV, NC, wide, STRIDE);
        for (size_t i = 0; i < NV * STRIDE; i++)
            assert_true(i % STRIDE >= NC ? isnan(wide[i])
                                         : wide[i] == tight[i / STRIDE * NC + i % STRIDE]);
    }
}

/* Offsets of an object that has none are those of the normal equations, which are solved here by
 * elimination of the full matrix. */
TEST(offsets_are_their_definition)
{
    enum { NV = 17, NC = 24, SIZE = 11 };
    AUTO_FREE float *s = not_null(malloc(NV * NC * sizeof *s));
    double gain[NC], a[NC][NC + 1] = {{0}};

    for (size_t c = 0; c < NC; c++)
        gain[c] = noise(c);
    for (size_t i = 0; i < NV * NC; i++) /* a slope that changes with the angle */
        s[i] = (float)(gain[i % NC] + ((double)(i / NC) - 8) * (double)(i % NC) / 4);
    for (size_t c = 0; c < NC; c++)
        a[c][c] = pow(3.141592653589793 / SIZE, 4);
    for (size_t c = 0; c + 2 < NC; c++) {
        static const double d[] = {1, -2, 1};
        const double m = gain[c] - 2 * gain[c + 1] + gain[c + 2];
        for (size_t i = 0; i < 3; i++) {
            for (size_t j = 0; j < 3; j++)
                a[c + i][c + j] += d[i] * d[j];
            a[c + i][NC] += d[i] * m;
        }
    }
    for (size_t c = 0; c < NC; c++)
        for (size_t r = 0; r < NC; r++) {
            const double times = a[r][c] / a[c][c];
            for (size_t i = c; r != c && i <= NC; i++)
                a[r][i] -= times * a[c][i];
        }
    take_away("offsets:11", NV, NC, s, NC);
    for (size_t i = 0; i < NV * NC; i++) {
        const size_t c = i % NC;
        const double right = gain[c] - a[c][NC] / a[c][c] + ((double)(i / NC) - 8) * (double)c / 4;
        assert_true(fabs((double)s[i] - right) < 2e-5);
    }
}

/* Columns that fluctuate, or are constant beside others that are not, are interpolated. */
TEST(fluctuating_columns_are_interpolated)
{
    enum { NV = 200, NC = 64 };
    AUTO_FREE float *s = malloc(NV * NC * sizeof *s), *right = malloc(NV * NC * sizeof *right);
    static const size_t columns[] = {0, 20, 21, 40};
    double worst = 0;

    assert_true(s && right);
    for (size_t i = 0; i < NV * NC; i++)
        s[i] = right[i] = (float)(object(i / NC, i % NC, NV, NC) + 0.01 * noise(i));
    for (size_t k = 0; k < NV; k++)
        for (size_t c = 0; c < 4; c++)
            s[k * NC + columns[c]] = columns[c] == 40 ? 1 : (float)noise(k * 7 + c) + 1;
    take_away("fluctuating", NV, NC, s, NC);
    for (size_t i = 0; i < NV * NC; i++)
        worst = fmax(worst, fabs((double)s[i] - (double)right[i]));
    print_message("fluctuating columns: greatest error %.3f\n", worst);
    assert_true(worst < 0.08);
    for (size_t k = 0; k < NV; k++) /* all columns fluctuate: none is interpolated */
        for (size_t c = 0; c < NC; c++)
            s[k * NC + c] = (float)noise(k * NC + c);
    take_away("fluctuating", NV, NC, s, NC);
    assert_true(isfinite(s[NV * NC - 1]));
}

TEST(texts_are_read)
{
    static const char *const wrong[] = {"",
                                        "sort",
                                        "sorting:",
                                        "sorting:0",
                                        "sorting:x",
                                        "sorting:3,4",
                                        "wavelet:",
                                        "wavelet:0",
                                        "wavelet:1,",
                                        "wavelet:1,0",
                                        "wavelet:1,-1",
                                        "wavelet:1,2,9",
                                        "wavelet:1,2,db",
                                        "none:1",
                                        "wavelet:1,2,db9,",
                                        "wavelet:1.5",
                                        "sorting:1e99",
                                        "wavelet:5,nan",
                                        "offsets:0",
                                        "offsets:9,1",
                                        "fluctuating:",
                                        "fluctuating1"};
    struct fbp_corrections c = {.struct_size = sizeof c};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (fbp_corrections_rings(&c, wrong[i]) != FBP_ERR_INVALID)
            fail_msg("\"%s\" is taken", wrong[i]);
        assert_says("expected none, sorting");
        assert_true(c.rings == FBP_RINGS_NONE && c.ring_size == 0 && c.ring_levels == 0);
    }
    OK(fbp_corrections_rings(&c, "wavelet:4,2.5,db7"));
    assert_true(c.rings == FBP_RINGS_WAVELET && c.ring_levels == 4 && c.ring_wavelet == 7 &&
                c.ring_sigma == 2.5);
    OK(fbp_corrections_rings(&c, "sorting:31"));
    assert_true(c.rings == FBP_RINGS_SORTING && c.ring_size == 31 && c.ring_levels == 0);
    OK(fbp_corrections_rings(&c, "none"));
    assert_true(c.rings == FBP_RINGS_NONE && c.ring_size == 0);
    OK(fbp_corrections_rings(&c, "offsets"));
    assert_true(c.rings == FBP_RINGS_OFFSETS && c.ring_size == 0);
    OK(fbp_corrections_rings(&c, "fluctuating:15"));
    assert_true(c.rings == FBP_RINGS_FLUCTUATING && c.ring_size == 15);
}

/* As many levels as a side of 16 is left; a window that fits narrow detectors. */
TEST(defaults_fit_the_size)
{
    assert_true(stripes_of("wavelet", 1000, 2000).levels == 5);
    assert_true(stripes_of("wavelet:9", 1000, 2000).levels == 6);
    assert_true(stripes_of("wavelet", 16, 2000).levels == 0);
    assert_true(stripes_of("wavelet", 30, 2000).levels == 1);
    assert_true(stripes_of("sorting", 100, 2000).size == 21);
    assert_true(stripes_of("sorting", 100, 20).size == 19);
    assert_true(stripes_of("sorting", 100, 9).size == 9);
    assert_true(stripes_of("offsets", 100, 2000).size == 9);
    assert_true(stripes_of("fluctuating", 100, 8).size == 7);
}

static int convert(char **argv)
{
    const size_t nv = strtoul(argv[3], NULL, 10), nc = strtoul(argv[4], NULL, 10);
    AUTO_FREE float *s = malloc(nv * nc * sizeof *s);
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    int rc = 1;

    if (s && in && out && fread(s, sizeof *s, nv * nc, in) == nv * nc) {
        take_away(argv[5], nv, nc, s, nc);
        rc = fwrite(s, sizeof *s, nv * nc, out) != nv * nc;
    }
    if (in)
        (void)fclose(in);
    if (out && fclose(out) != 0)
        rc = 1;
    return rc;
}

int main(int argc, char **argv)
{
    return argc == 6 ? convert(argv) : run_file_tests(argc, argv, NULL, NULL);
}
