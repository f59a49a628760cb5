/* Scans for the tests of geometry and weights.  Include after cmocka.h. */
#ifndef FBP_TEST_GEOMETRY_UTIL_H
#define FBP_TEST_GEOMETRY_UTIL_H

#include "base/math.h"
#include "fbp/geometry.h"
#include "geometry/view.h"
#include "test.h"

#define check_near(a, b, tol)                                              \
    do {                                                                   \
        const double a_ = (a), b_ = (b), tol_ = (tol);                     \
        if (!(fabs(a_ - b_) <= tol_))                                      \
            fail_msg("%s = %.17g, not %.17g within %g", #a, a_, b_, tol_); \
    } while (0)

/* Three coordinates; variadic because a compound literal has commas of its own. */
#define check_near3(a, ...) check_vectors(#a, a, __VA_ARGS__)

static inline void check_vectors(const char *what, const double a[3], const double b[3], double tol)
{
    for (int i = 0; i < 3; i++)
        if (!(fabs(a[i] - b[i]) <= tol))
            fail_msg("%s[%d] = %.17g, not %.17g within %g", what, i, a[i], b[i], tol);
}

/* Views that a format has given back: the same to 1e-10 mm, and how close. */
static inline void came_back(const char *format, const struct fbp_view *a, const struct fbp_view *b,
                             size_t n)
{
    double worst = 0;

    for (size_t i = 0; i < 12 * n; i++) {
        const struct fbp_view *x = &a[i / 12], *y = &b[i / 12];
        const double *const from[] = {x->s, x->d, x->u, x->v}, *const to[] = {y->s, y->d, y->u,
                                                                              y->v};
        const double d = from[i / 3 % 4][i % 3] - to[i / 3 % 4][i % 3];
        worst = isnan(d) ? INFINITY : fmax(worst, fabs(d));
    }
    print_message("%s: comes back within %.1e mm\n", format, worst);
    if (!(worst < 1e-10))
        fail_msg("%s: comes back within %g mm only", format, worst);
}

static uint64_t random_state = 1;

static inline double uniform(double lo, double hi)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(random_state >> 11) * 0x1p-53;
}

/* Source 600 mm off, panel about 500 mm behind the iso-centre, turned, skewed, shifted. */
static inline struct fbp_view random_view(enum fbp_kind kind)
{
    struct fbp_view view;
    const double angle = uniform(-4, 4), sod = uniform(500, 700), sdd = uniform(900, 1300);
    const struct fbp_circle circle =
        circle_of(1, &angle, sod, sdd, .kind = kind, .pitch_mm = {uniform(0.3, 2), uniform(0.3, 2)},
                  .offset_mm = {uniform(-30, 30), uniform(-30, 30)},
                  .tilt_rad = {uniform(-0.2, 0.2), uniform(-0.2, 0.2), uniform(-0.2, 0.2)},
                  .skew_rad = uniform(-0.1, 0.1));
    if (fbp_circle_views(&circle, &view) != FBP_OK)
        abort();
    if (kind == FBP_CONE)
        for (int i = 0; i < 3; i++)
            view.s[i] += uniform(-3, 3);
    return view;
}

/* A circular scan in a few words; turned clockwise if arc_deg is negative. */
struct scan {
    enum fbp_kind kind;
    size_t n;
    double start_deg, arc_deg;
    bool inclusive; /* the last view stands at the end of the arc */
    double sod, sdd, pitch[2], offset[2], tilt_deg[3];
    struct fbp_panel panel;
};

static inline struct fbp_views views_of(const struct scan *scan, const struct fbp_view *views)
{
    return (struct fbp_views){scan->kind, scan->n, scan->panel, views};
}

static inline struct fbp_view *scan_views_at(const struct scan *scan, const double *angles_rad)
{
    struct fbp_view *views = calloc(scan->n, sizeof *views);
    const struct fbp_circle circle =
        circle_of(scan->n, angles_rad, scan->sod, scan->sdd, .kind = scan->kind,
                  .pitch_mm = {scan->pitch[0], scan->pitch[1]},
                  .offset_mm = {scan->offset[0], scan->offset[1]},
                  .tilt_rad = {scan->tilt_deg[0] * FBP_PI / 180, scan->tilt_deg[1] * FBP_PI / 180,
                               scan->tilt_deg[2] * FBP_PI / 180});
    if (!views || fbp_circle_views(&circle, views) != FBP_OK)
        abort();
    return views;
}

static inline struct fbp_view *scan_views(const struct scan *scan)
{
    AUTO_FREE double *angles = calloc(scan->n, sizeof *angles);
    if (!angles)
        abort();
    for (size_t k = 0; k < scan->n; k++)
        angles[k] = (scan->start_deg +
                     scan->arc_deg * (double)k / (double)(scan->n - (scan->inclusive ? 1 : 0))) *
                    FBP_PI / 180;
    return scan_views_at(scan, angles);
}

#endif /* FBP_TEST_GEOMETRY_UTIL_H */
