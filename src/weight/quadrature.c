/* Quadrature weights of directions on the sphere, by one of these methods: bands of evenly spaced
 * rings, areas of Voronoi cells, exact integration of even spherical harmonics, given weights.  For
 * plane integrals (EPR imaging). fbp_quadrature_weights() is public.
 * Used by: cli/geometry_check.c, pipeline/epr_rings.c, weight.c. */
#include "weight/weight.h"

#include "geometry/directions.h"

#include "base/math.h"
#include "base/threads.h"

#include <stdio.h>
#include <string.h>

/* Greatest accepted relative deviation of the sum of weights from 2 pi. */
static const double EXACT = 1e-12;

/* Greatest accepted deviation of a unit vector's length from 1. */
static const double UNIT = 1e-6;

/* Tolerances of rings, for files with few digits.  ALIKE: difference of polar angles in a ring
 * [rad].  EVEN: distance of a ring, or of a direction in it, from its evenly spaced position
 * [steps]. */
static const double ALIKE = 1e-5, EVEN = 1e-3;

/* Compute the weights of directions in rings about x, y or z, evenly spaced in theta from pole to
 * equator, each evenly spaced in phi: the area of the ring's band, between the middles to its
 * neighbours, divided by its number of directions.  *n_rings: on one half of the sphere; 0: there
 * are no such rings. */
static fbp_status bands_of(const double (*direction)[3], size_t count, double *weights,
                           enum fbp_pole *found, size_t *n_rings)
{
    struct fbp_rings rings;

    *n_rings = 0;
    for (enum fbp_pole pole = FBP_POLE_Z; pole <= FBP_POLE_Y && *n_rings == 0; pole++) {
        FBP_TRY(fbp_rings_about(direction, count, pole, ALIKE, EVEN, &rings));
        const size_t n = rings.n;
        const struct fbp_ring *ring = rings.ring, *last = n > 0 ? ring + n - 1 : ring;
        const double start = ring->at_pole ? 0 : 0.5, end = last->at_equator ? 0 : 0.5;
        const double step = FBP_PI / 2 / ((double)n - 1 + start + end);
        /* a ring of one direction and its antipode determines no step of azimuth */
        bool even = n >= 2 && !(last->at_equator && last->n_phi < 4);
        for (size_t k = 0; even && k < n; k++)
            even = fabs(ring[k].theta - ((double)k + start) * step) < EVEN * step;
        for (size_t k = 0; even && k < n; k++) {
            const double middle = ((double)k + start) * step;
            const double lo = fmax(0, middle - step / 2), hi = fmin(FBP_PI / 2, middle + step / 2);
            const double band = 4 * FBP_PI * sin((lo + hi) / 2) * sin((hi - lo) / 2);
            const size_t directions = ring[k].at_equator ? ring[k].n / 2 : ring[k].n;
            for (size_t i = ring[k].first; i < ring[k].first + ring[k].n; i++)
                weights[rings.member[i].view] = band / (double)directions;
        }
        *found = pole;
        *n_rings = even ? n : 0;
        fbp_rings_clear(&rings);
    }
    return FBP_OK;
}

/*
 * Harmonics.  Odd ones vanish for the sum of n and -n; there are (L+1)(L+2)/2 even ones up to
 * degree L, and each gives one linear equation for the weights.  The least correction is a sum of
 * the equations' rows: they are made orthogonal, one after another, and each adds the missing part
 * of its equation.
 */

static const size_t MOST_DEGREE = 32;

/* If the orthogonalisation shortens the row of an equation to less than this part of its length,
 * the row counts as a sum of the previous rows. */
static const double DEPENDENT = 1e-8;

/* Greatest error of a harmonic's integral over the half sphere, as a part of 2 pi. */
static const double HARMONICS_EXACT = 1e-10;

struct equations {
    const double (*direction)[3];
    size_t count, degree;
    double *row; /* [n][count], orthonormal */
    size_t n;
};

/* Compute the real spherical harmonic of degree l and order m at unit vector n; m < 0 is the one
 * with sin(|m| phi).  The integral of its square over the sphere is 1. */
static double harmonic(size_t l, long m, const double n[3])
{
    const double sine = hypot(n[0], n[1]), phi = atan2(n[1], n[0]), z = n[2];
    const size_t order = (size_t)labs(m);
    double below = 0, p = sqrt(1 / (4 * FBP_PI));

    for (size_t k = 1; k <= order; k++)
        p *= -sqrt((2 * (double)k + 1) / (2 * (double)k)) * sine;
    for (size_t k = order + 1; k <= l; k++) {
        const double a = (double)k, b = (double)order;
        const double up = sqrt((4 * a * a - 1) / (a * a - b * b));
        const double back = sqrt(((a - 1) * (a - 1) - b * b) / (4 * (a - 1) * (a - 1) - 1));
        const double next = up * (z * p - back * below);
        below = p;
        p = next;
    }
    p *= m ? sqrt(2) : 1;
    return m < 0 ? p * sin((double)order * phi) : p * cos((double)order * phi);
}

static double product(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Get the integral of a harmonic of even degree l over the half sphere. */
static double integral_of(size_t l)
{
    return l == 0 ? sqrt(FBP_PI) : 0;
}

/* Change the weights so that they integrate harmonic l, m exactly; earlier ones remain exact. */
static void add_row(struct equations *e, size_t l, long m, double *weights)
{
    double *row = e->row + e->n * e->count;

    for (size_t i = 0; i < e->count; i++)
        row[i] = harmonic(l, m, e->direction[i]);
    const double lack = integral_of(l) - product(row, weights, e->count);
    const double whole = sqrt(product(row, row, e->count));
    for (int again = 0; again < 2; again++)
        for (size_t j = 0; j < e->n; j++) {
            const double part = product(row, e->row + j * e->count, e->count);
            for (size_t i = 0; i < e->count; i++)
                row[i] -= part * e->row[j * e->count + i];
        }
    const double left = sqrt(product(row, row, e->count));
    if (!(left > DEPENDENT * whole))
        return;
    for (size_t i = 0; i < e->count; i++) {
        row[i] /= left;
        weights[i] += lack / left * row[i];
    }
    e->n++;
}

/* True if the weights integrate all even harmonics up to e->degree, and no weight is negative. */
static bool is_good(const struct equations *e, const double *weights)
{
    for (size_t i = 0; i < e->count; i++)
        if (!(weights[i] >= 0))
            return false;
    for (size_t l = 0; l <= e->degree; l += 2)
        for (long m = -(long)l; m <= (long)l; m++) {
            double sum = -integral_of(l);
            for (size_t i = 0; i < e->count; i++)
                sum += weights[i] * harmonic(l, m, e->direction[i]);
            if (!(fabs(sum) <= HARMONICS_EXACT * 2 * FBP_PI))
                return false;
        }
    return true;
}

static size_t equations_to(size_t degree)
{
    return (degree + 1) * (degree + 2) / 2;
}

/* Change weights[count] as little as possible (least squares) so that they integrate all even
 * harmonics up to *degree exactly over the half sphere, with no weight below 0.  *degree: the
 * greatest for which that succeeds, up to MOST_DEGREE; the harmonics are at most 3/4 as many as the
 * directions. */
static fbp_status correct_harmonics(const double (*direction)[3], size_t count, double *weights,
                                    size_t *degree)
{
    struct equations e = {.direction = direction, .count = count};
    double *start = NULL;
    size_t cells = 0;
    fbp_status st;

    while (e.degree < MOST_DEGREE && 4 * equations_to(e.degree + 2) <= 3 * count)
        e.degree += 2;
    FBP_TRY(fbp_mul(equations_to(e.degree), count, "harmonics", &cells));
    FBP_TRY_GOTO(fbp_calloc((void **)&e.row, cells, sizeof *e.row, "harmonics"));
    FBP_TRY_GOTO(fbp_calloc((void **)&start, count, sizeof *start, "harmonics"));
    memcpy(start, weights, count * sizeof *start);
    for (;; e.degree -= 2) {
        e.n = 0;
        for (size_t l = 0; l <= e.degree; l += 2)
            for (long m = -(long)l; m <= (long)l; m++) {
                FBP_TRY_GOTO(fbp_check_cancelled());
                add_row(&e, l, m, weights);
            }
        if (e.degree == 0 || is_good(&e, weights))
            break;
        memcpy(weights, start, count * sizeof *start);
    }
    *degree = e.degree;
fail:
    free(e.row);
    free(start);
    return st;
}

fbp_status fbp_quadrature_of(const double (*direction)[3], size_t n, enum fbp_quadrature wanted,
                             const double *given, double *weights,
                             struct fbp_quadrature_facts *facts)
{
    struct fbp_sphere sphere;
    double sum = 0, lost = 0;

    *facts = (struct fbp_quadrature_facts){.used = FBP_QUADRATURE_AUTO};
    FBP_TRY(fbp_check_choice("quadrature", (long)wanted, FBP_QUADRATURE_GIVEN));
    FBP_TRY(fbp_check_range(&fbp_range_views, "directions: their number", (double)n));
    for (size_t i = 0; i < n; i++) {
        const double length = fbp_norm(direction[i]);
        if (!(fabs(length - 1) <= UNIT))
            return FBP_INVALID(
                "directions: number %zu is (%g, %g, %g), of length %.6g; give unit vectors", i,
                direction[i][0], direction[i][1], direction[i][2], length);
    }
    if (wanted == FBP_QUADRATURE_GIVEN) {
        double all = 0;
        for (size_t i = 0; i < n; i++) {
            if (!(given[i] >= 0 && given[i] <= 4 * FBP_PI))
                return FBP_INVALID(
                    "weights: number %zu is %g, expected a solid angle from 0 to 4 pi; "
                    "correct it",
                    i, given[i]);
            all += weights[i] = given[i];
        }
        if (!(all > 0))
            return FBP_INVALID(
                "weights: all %zu weights are 0; give solid angles, with the sum 2 pi", n);
        facts->used = wanted;
    }
    if (wanted == FBP_QUADRATURE_AUTO || wanted == FBP_QUADRATURE_BANDS) {
        FBP_TRY(bands_of(direction, n, weights, &facts->pole, &facts->n_rings));
        if (facts->n_rings > 0)
            facts->used = FBP_QUADRATURE_BANDS;
        else if (wanted == FBP_QUADRATURE_BANDS)
            return FBP_INVALID(
                "weights: the method bands needs evenly spaced rings about x, y or z, "
                "but these %zu directions form none; use auto, voronoi or harmonics",
                n);
    }
    if (facts->used == FBP_QUADRATURE_AUTO) {
        FBP_TRY(fbp_sphere_cells(direction, n, weights, &sphere));
        facts->used = FBP_QUADRATURE_VORONOI;
        if (wanted == FBP_QUADRATURE_HARMONICS) {
            facts->used = FBP_QUADRATURE_HARMONICS;
            FBP_TRY(correct_harmonics(direction, n, weights, &facts->degree));
        }
    }
    for (size_t i = 0; i < n; i++) { /* with what the additions lose (Kahan) */
        const double more = weights[i] - lost, next = sum + more;
        lost = (next - sum) - more;
        sum = next;
    }
    facts->sum = sum;
    const double off = sum / (2 * FBP_PI) - 1;
    if (facts->used == FBP_QUADRATURE_GIVEN || fabs(off) <= EXACT)
        return FBP_OK;
    return FBP_INVALID("weights: %s: the sum is 2 pi (1 %+.1e) instead of 2 pi; use other weights, "
                       "and report this error",
                       fbp_quadrature_name(facts->used), off);
}

void fbp_quadrature_describe(const struct fbp_quadrature_facts *f, char *buf, size_t n)
{
    char which[80];

    switch (f->used) {
    case FBP_QUADRATURE_BANDS:
        snprintf(which, sizeof which, "exact bands of %zu rings about %s", f->n_rings,
                 fbp_pole_name(f->pole));
        break;
    case FBP_QUADRATURE_HARMONICS:
        snprintf(which, sizeof which, "exact for harmonics up to degree %zu", f->degree);
        break;
    case FBP_QUADRATURE_GIVEN:
        snprintf(which, sizeof which, "as given");
        break;
    default:
        snprintf(which, sizeof which, "areas of Voronoi cells");
    }
    const double off = f->sum / (2 * FBP_PI) - 1;
    if (fabs(off) <= EXACT)
        snprintf(buf, n, "%s, sum 2 pi (%+.0e)", which, off);
    else
        snprintf(buf, n, "%s, sum %.6g of 2 pi", which, 1 + off);
}

fbp_status fbp_quadrature_weights(const double (*direction)[3], size_t n,
                                  enum fbp_quadrature quadrature, double *weights, char *words,
                                  size_t n_words)
{
    FBP_REQUIRE(direction, weights);
    struct fbp_quadrature_facts facts;

    fbp_message_clear();
    if (words && n_words > 0)
        words[0] = '\0';
    FBP_TRY(fbp_quadrature_of(direction, n, quadrature, weights, weights, &facts));
    if (words)
        fbp_quadrature_describe(&facts, words, n_words);
    return FBP_OK;
}
