/* Compares the methods of ring removal on simulated errors of the detector, of eight kinds: offsets
 * of all or of 20 pixels, factors of line integrals of 1 % and 5 %, dead pixels, offsets in half of
 * the views, noisy pixels, and groups of 10 to 15 pixels.  Beams are parallel, with more and with
 * fewer angles than columns, and a fan.  Prints the table of bench/results/accuracy.md, and checks
 * that `offsets` and `fluctuating` have smaller errors than the other methods where they should,
 * and that no method changes a scan without rings. */
#include "recon/fixture.h"

enum { COLUMNS = 256, MOST_VIEWS = 480, PICTURE = 256, N_KINDS = 9, N_METHODS = 7 };

static const char *const kinds[N_KINDS] = {"all pixels",  "20 pixels", "response 1%",
                                           "response 5%", "dead",      "partial",
                                           "fluctuating", "wide",      "none"};
static const char *const methods[N_METHODS] = {"none",    "sorting",    "sorting:51", "wavelet",
                                               "offsets", "offsets:15", "fluctuating"};

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
    const double r = sqrt(-2 * log(uniform(seed)));

    return r * cos(2 * PI * uniform(seed));
}

/* A slice of an object that is off the axis, with 40 smaller ones inside, and noise of 0.005. */
static struct fbp_scan object(bool parallel, size_t n_views)
{
    enum { SMALL = 40 };
    struct fbp_ellipsoid items[SMALL + 1] = {{{6, -4, 0}, {95, 85, 60}, 10, 0.02}};
    struct fbp_phantom phantom = {.n = SMALL + 1, .items = items};
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = parallel ? FBP_PARALLEL : FBP_CONE,
                            .n_views = n_views,
                            .panel = {COLUMNS, 1},
                            .volume = {{PICTURE, PICTURE, 1}, {1, 1, 1}, {0, 0, 0}}};
    uint64_t seed = 3;

    for (size_t i = 1; i <= SMALL; i++) {
        const double r = 70 * sqrt(uniform(&seed)), angle = 2 * PI * uniform(&seed);
        const double a = 3 + 11 * uniform(&seed), b = a * (0.4 + 0.6 * uniform(&seed));
        items[i] = (struct fbp_ellipsoid){{r * cos(angle) + 6, r * sin(angle) - 4, 0},
                                          {a, b, 40},
                                          180 * uniform(&seed),
                                          i % 3 ? 0.01 : -0.01};
    }
    add_views(&scan, &(struct orbit){.step_deg = (parallel ? 180.0 : 360.0) / (double)n_views,
                                     .pitch_mm = {parallel ? 1 : 1.7, 1}});
    simulate(&scan, &phantom);
    AUTO_FREE float *p = read_array(scan.projections);
    for (size_t i = 0; i < n_views * COLUMNS; i++)
        p[i] += (float)(0.005 * normal(&seed));
    replace_samples(&scan, p);
    return scan;
}

/* Add the errors of one kind of rings to line integrals p[view][column]. */
static void spoil(size_t kind, size_t nv, float *p)
{
    static const size_t many[N_KINDS] = {COLUMNS, 20, COLUMNS, COLUMNS, 8, 12, 10, 4, 0};
    bool used[COLUMNS] = {false};
    uint64_t seed = 11;

    for (size_t i = 0; i < many[kind]; i++) {
        size_t column = i, width = kind == 7 ? 10 + (size_t)(6 * uniform(&seed)) : 1;
        while (many[kind] < COLUMNS && (column == i || used[column]))
            column = COLUMNS / 8 + (size_t)(uniform(&seed) * (COLUMNS * 0.75 - (double)width));
        const double sign = uniform(&seed) < 0.5 ? -1 : 1, size = 0.05 + 0.1 * uniform(&seed);
        const double drawn = normal(&seed), level = 3 * uniform(&seed);
        const size_t first = (size_t)((double)nv * uniform(&seed) / 2);
        for (size_t c = column; c < column + width; c++) {
            used[c] = true;
            for (size_t k = 0; k < nv; k++) {
                float *x = p + k * COLUMNS + c;
                const double errors[N_KINDS] = {0.02 * drawn,
                                                sign * size,
                                                0.01 * drawn * (double)*x,
                                                0.05 * drawn * (double)*x,
                                                level - (double)*x,
                                                k >= first && k < first + nv / 2 ? sign * size : 0,
                                                kind == 6 ? 0.3 * normal(&seed) : 0,
                                                sign * (0.05 + size) / 2};
                *x += (float)errors[kind];
            }
        }
    }
}

/* Root of the mean square of a - b within 110 mm of the axis. */
static double difference(const float *a, const float *b)
{
    double sum = 0, n = 0;

    for (size_t i = 0; i < (size_t)PICTURE * PICTURE; i++) {
        const double middle = (PICTURE - 1) / 2.0;
        if (hypot((double)(i % PICTURE) - middle, (double)(i / PICTURE) - middle) > 110)
            continue;
        sum += pow((double)a[i] - (double)b[i], 2);
        n++;
    }
    return sqrt(sum / n);
}

/* Errors [1e-5/mm] of all methods for all kinds. */
static void measure(bool parallel, size_t n_views, double e[N_METHODS][N_KINDS])
{
    AUTO_DROP struct fbp_scan scan = object(parallel, n_views);
    AUTO_FREE float *clean = read_array(scan.projections);
    AUTO_FREE float *right = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    AUTO_FREE float *p = not_null(malloc(n_views * COLUMNS * sizeof *p));

    for (size_t kind = 0; kind < N_KINDS; kind++) {
        memcpy(p, clean, n_views * COLUMNS * sizeof *p);
        spoil(kind, n_views, p);
        replace_samples(&scan, p);
        for (size_t m = 0; m < N_METHODS; m++) {
            struct fbp_corrections c = {.struct_size = sizeof c};
            OK(fbp_corrections_rings(&c, methods[m]));
            OK(fbp_scan_correct(&scan, &c));
            AUTO_FREE float *volume = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
            e[m][kind] = 1e5 * difference(volume, right);
        }
    }
    print_message("%s beam, %zu angles, %d columns; errors in 1e-5/mm:\n",
                  parallel ? "parallel" : "fan", n_views, COLUMNS);
    print_message("%-12s", "");
    for (size_t kind = 0; kind < N_KINDS; kind++)
        print_message("%12s", kinds[kind]);
    for (size_t m = 0; m < N_METHODS; m++) {
        print_message("\n%-12s", methods[m]);
        for (size_t kind = 0; kind < N_KINDS; kind++)
            print_message("%12.1f", e[m][kind]);
    }
    print_message("\n");
}

enum { OLD_METHODS = 4, OFFSETS = 4, FLUCTUATING = 6 };

TEST(methods_and_kinds)
{
    static const struct {
        bool parallel;
        size_t n_views;
    } scans[] = {{true, MOST_VIEWS}, {true, 120}, {false, MOST_VIEWS}};

    for (size_t i = 0; i < sizeof scans / sizeof *scans; i++) {
        double e[N_METHODS][N_KINDS];
        measure(scans[i].parallel, scans[i].n_views, e);
        for (size_t m = 0; m < OLD_METHODS; m++) {
            for (size_t kind = 0; kind < 3; kind++) /* errors of all angles, also of few angles */
                assert_true(e[OFFSETS][kind] < 0.7 * e[m][kind]);
            for (size_t kind = 4; kind < 7; kind += 2) /* dead, fluctuating */
                assert_true(e[FLUCTUATING][kind] < 0.5 * e[m][kind]);
        }
        for (size_t m = 0; m < N_METHODS; m++)
            assert_true(e[m][N_KINDS - 1] == 0); /* no rings are found */
    }
}

TEST_MAIN(NULL, NULL)
