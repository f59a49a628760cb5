/* Checks the weights of half rotations of parallel and nearly parallel beams: the mean of a disk
 * is right for any angles of the views. */
#include "geometry_util.h"

#include "geometry/kind.h"
#include "geometry/view.h"
#include "test.h"
#include "weight/weight.h"

#define DEG (FBP_PI / 180)
enum { COLUMNS = 128, MOST = 250 };

struct disk {
    double x, y, radius;
};

static double ramp_tap(size_t n)
{
    const double x = FBP_PI * (double)n;
    return n == 0 ? 0.25 : n % 2 ? -1 / (x * x) : 0;
}

/* A pixel's reading: the mean chord over its width. */
static double chord(const struct scan *scan, const struct fbp_view *view, size_t column,
                    const struct disk *d)
{
    enum { RAYS = 4 };
    double sum = 0;

    for (int i = 0; i < RAYS; i++) {
        double p[3], dir[3];
        fbp_view_pixel(view, &scan->panel, (double)column + (i + 0.5) / RAYS - 0.5, 0, p);
        fbp_axpy(view->s, scan->kind == FBP_CONE ? -1 : 0, p, dir);
        fbp_normalise(dir);
        const double across = (p[0] - d->x) * dir[1] - (p[1] - d->y) * dir[0];
        sum += 2 * sqrt(fmax(d->radius * d->radius - across * across, 0)) / RAYS;
    }
    return sum;
}

/* Adds what a filtered row gives to the points of a grid within 0.8 radii; how many there are. */
static size_t add_row(const double *row, const double P[12], const struct disk *d, double *sum)
{
    const double step = d->radius / 20;
    size_t n = 0;

    for (int iy = -16; iy <= 16; iy++)
        for (int ix = -16; ix <= 16; ix++) {
            const double x[3] = {d->x + ix * step, d->y + iy * step, 0};
            if (ix * ix + iy * iy > 16 * 16)
                continue;
            const double w = fbp_dot(P + 8, x) + P[11], c = (fbp_dot(P, x) + P[3]) / w;
            const size_t at = (size_t)c;
            const double part = c - (double)at;
            *sum += P[11] * P[11] / (w * w) * ((1 - part) * row[at] + part * row[at + 1]);
            n++;
        }
    return n;
}

static double disk_mean(const struct scan *scan, const struct fbp_view *views,
                        const struct fbp_weights *w, const struct disk *d)
{
    double row[COLUMNS], filtered[COLUMNS], P[12], sum = 0;
    size_t n = 0;

    for (size_t k = 0; k < scan->n; k++) {
        fbp_weights_row(w, k, 0, row);
        for (size_t c = 0; c < COLUMNS; c++)
            row[c] *= chord(scan, &views[k], c, d);
        for (size_t c = 0; c < COLUMNS; c++) {
            filtered[c] = 0;
            for (size_t i = 0; i < COLUMNS; i++)
                filtered[c] += ramp_tap(i > c ? i - c : c - i) * row[i];
        }
        OK(fbp_view_to_matrix(&views[k], scan->kind, &scan->panel, P));
        n = add_row(filtered, P, d, &sum);
    }
    return sum / (double)n;
}

/* A panel as wide as 128 mm at the axis; fan 0: parallel. */
static struct scan scan_of(double fan_deg, size_t n)
{
    struct scan scan = {.n = n, .arc_deg = 360, .pitch = {1, 1}, .panel = {COLUMNS, 1}};

    if (fan_deg == 0) {
        scan.kind = FBP_PARALLEL;
        return scan;
    }
    scan.sod = COLUMNS / 2.0 / tan(fan_deg / 2 * DEG);
    scan.sdd = scan.sod + 80;
    scan.pitch[0] = scan.sdd / scan.sod;
    return scan;
}

static const struct disk disks[] = {{25, 10, 15}, {-10, 38, 12}};
enum { DISKS = 2 };

/* The largest deviation [%] of a disk's mean from that of a full turn in fine steps. */
static double deviation(const struct scan *scan, const double *angles, enum fbp_coverage *coverage)
{
    AUTO_FREE struct fbp_view *views = angles ? scan_views_at(scan, angles) : scan_views(scan);
    static double fine[DISKS]; /* of the scan without angles of its own */
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    CLEANUP(fbp_weights_destroy) struct fbp_weights *w = NULL;
    double worst = 0;

    OK(fbp_views_facts(views_of(scan, views), NULL, &facts));
    OK(fbp_weights_create(&w, views_of(scan, views), &facts, FBP_ANGULAR_AUTO));
    for (int i = 0; i < DISKS; i++) {
        const double mean = disk_mean(scan, views, w, &disks[i]);
        if (!angles)
            fine[i] = mean;
        const double off = (mean / fine[i] - 1) * 100;
        worst = fabs(off) > fabs(worst) ? off : worst;
    }
    if (coverage)
        *coverage = facts.coverage;
    return worst;
}

static const char *const families[] = {
    "even",
    "both ends",
    "even over more",
    "golden, half turn",
    "golden, full turn",
    "golden",
    "interlaced",
    "jittered",
    "duplicates",
    "random",
    "random, full turn",
};
enum { FAMILIES = sizeof families / sizeof *families };

/* Angle k of n over `half` degrees, half a turn and the fan, or `span`, which is more. */
static double angle_of(int family, size_t k, size_t n, double half, double span)
{
    const double golden = (sqrt(5) - 1) / 2, part = (double)k / (double)n;

    switch (family) {
    case 0:
        return half * part;
    case 1:
        return half * (double)k / (double)(n - 1);
    case 2:
        return span * part;
    case 3:
        return fmod((double)k * golden, 1) * half;
    case 4:
        return fmod((double)k * golden, 1) * 360;
    case 5:
        return fmod((double)k * golden, 1) * span;
    case 6:
        return half * (double)((8 * k + 8 * k / n) % n) / (double)n;
    case 7:
        return half * part + uniform(-0.5, 0.5) * half / (double)n;
    case 8:
        return half * (double)(k / 2 * 2) / (double)n;
    case 9:
        return uniform(0, span);
    default:
        return uniform(0, 360);
    }
}

/* Random sets may have a gap that is called one: these are counted, and not measured. */
static void check_family(int family, double fan_deg, int *limited, double *worst)
{
    static const size_t counts[] = {30, 37, 60, 97};
    static const double spans[] = {180, 187, 200, 270, 181.3, 193};
    double angles[MOST];

    for (int i = 0; i < 6; i++) {
        const struct scan scan = scan_of(fan_deg, counts[i % 4]);
        const double start = uniform(0, 360);
        enum fbp_coverage coverage;
        for (size_t k = 0; k < scan.n; k++) {
            const double a =
                angle_of(family, k, scan.n, 180 + fan_deg, fmin(spans[i] + fan_deg, 360));
            angles[k] = (start + (i % 2 ? -a : a)) * DEG;
        }
        const double off = deviation(&scan, angles, &coverage);
        if (coverage == FBP_COVERAGE_PARTIAL) {
            ++*limited;
            assert_true(family >= 9);
            continue;
        }
        /* drawn at random: the fan's own 1/w^2 is added up in uneven steps */
        if (!(fabs(off) < (family >= 9 && fan_deg > 2 ? 0.2 : 0.05)))
            fail_msg("%s, fan %g, %zu views: %+.4f %%", families[family], fan_deg, scan.n, off);
        *worst = fmax(*worst, fabs(off));
    }
}

TEST(disks_keep_their_mean)
{
    static const double fans[] = {0, 0.01, 0.1, 1, 5};
    int limited = 0;

    random_state = 12;
    for (size_t f = 0; f < sizeof fans / sizeof *fans; f++) {
        struct scan fine = scan_of(fans[f], 720);
        deviation(&fine, NULL, NULL);
        for (int family = 0; family < FAMILIES; family++) {
            double worst = 0;
            check_family(family, fans[f], &limited, &worst);
            print_message("fan %4g deg, %-18s within %.4f %%\n", fans[f], families[family], worst);
        }
    }
    print_message("%d random sets of 60 have a gap that is called one\n", limited);
    assert_true(limited < 6);
}

/* Step times weight, over all views, in any column: 2 pi, as if there were no steps. */
TEST(weights_of_few_views_add_up)
{
    double angles[MOST];

    for (int i = 0; i < 200; i++) {
        const double fan = uniform(0, 6), half = 180 + fan;
        struct scan scan = scan_of(fan, 30 + (size_t)uniform(0, 30));
        for (size_t k = 0; k < scan.n; k++)
            angles[k] = half * ((double)k + uniform(-0.5, 0.5)) / (double)scan.n * DEG;
        AUTO_FREE struct fbp_view *views = scan_views_at(&scan, angles);
        struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
        CLEANUP(fbp_weights_destroy) struct fbp_weights *w = NULL;
        OK(fbp_views_facts(views_of(&scan, views), NULL, &facts));
        assert_int_equal(facts.coverage, FBP_COVERAGE_SHORT);
        OK(fbp_weights_create(&w, views_of(&scan, views), &facts, FBP_ANGULAR_AUTO));
        for (int c = 0; c < COLUMNS; c += 9) {
            double sum = 0;
            for (size_t k = 0; k < scan.n; k++)
                sum += fbp_weights_step(w, k) * fbp_weights_redundancy(w, k, c, 0);
            check_near(sum, 2 * FBP_PI, 1e-11);
        }
    }
}

/* From parallel over ever wider fans, and from ramps of few steps to long ones: no jump. */
TEST(no_jump_between_the_forms)
{
    double angles[MOST], least = 1, most = -1;

    for (double fan = 0; fan < 12; fan = fan < 0.02 ? fan + 0.01 : fan * 1.3) {
        struct scan fine = scan_of(fan, 720), scan = scan_of(fan, 72);
        deviation(&fine, NULL, NULL);
        for (size_t k = 0; k < scan.n; k++)
            angles[k] = (180 + fan) * (double)k / (double)scan.n * DEG;
        const double off = deviation(&scan, angles, NULL);
        least = fmin(least, off);
        most = fmax(most, off);
    }
    print_message("fans of 0 to 12 degrees: %+.4f to %+.4f %%\n", least, most);
    assert_true(most - least < 0.05);
    const struct scan fine = scan_of(5, 720), scan = scan_of(5, 72);
    deviation(&fine, NULL, NULL);
    least = 1, most = -1;
    for (double arc = 185; arc < 230; arc += 1.7) {
        for (size_t k = 0; k < scan.n; k++)
            angles[k] = arc * (double)k / (double)scan.n * DEG;
        const double off = deviation(&scan, angles, NULL);
        least = fmin(least, off);
        most = fmax(most, off);
    }
    print_message("arcs of 185 to 230 degrees: %+.4f to %+.4f %%\n", least, most);
    assert_true(most - least < 0.05);
}

/* Opposite views of a parallel beam are one: it does not matter at which of both they stand. */
TEST(parallel_views_count_modulo_half_a_turn)
{
    const struct scan scan = scan_of(0, 97);
    double angles[2][MOST], row[2][COLUMNS];
    struct fbp_geometry_facts facts[2] = {{.struct_size = sizeof *facts},
                                          {.struct_size = sizeof *facts}};
    struct fbp_weights *w[2];
    struct fbp_view *views[2];

    for (size_t k = 0; k < scan.n; k++) {
        angles[0][k] = uniform(0, 180) * DEG;
        angles[1][k] = angles[0][k] + (k % 3 ? FBP_PI : 0);
    }
    for (int i = 0; i < 2; i++) {
        views[i] = scan_views_at(&scan, angles[i]);
        OK(fbp_views_facts(views_of(&scan, views[i]), NULL, &facts[i]));
        OK(fbp_weights_create(&w[i], views_of(&scan, views[i]), &facts[i], FBP_ANGULAR_AUTO));
    }
    for (size_t k = 0; k < scan.n; k++) {
        for (int i = 0; i < 2; i++)
            fbp_weights_row(w[i], k, 0, row[i]);
        check_near(row[0][5] / row[1][5], 1, 1e-9);
    }
    for (int i = 0; i < 2; i++) {
        fbp_weights_destroy(&w[i]);
        free(views[i]);
    }
}

TEST_MAIN(NULL, NULL)
