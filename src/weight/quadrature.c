/* Quadrature weights of directions on the sphere, by even harmonics and by rings. */
#include "weight/quadrature.h"

#include "geometry/directions.h"

#include "base/mem.h"
#include "base/range.h"
#include "base/sort.h"
#include "base/stop.h"
#include "base/vec.h"

#include <stdio.h>
#include <string.h>

/* What the sum of weights may be off from 2 pi by, as a part of it. */
static const double EXACT = 1e-12;

/* What a unit vector's length may be off by. */
static const double UNIT = 1e-6;

/* With what the additions lose (Kahan). */
static double sum_of(const double *weights, size_t n)
{
    double sum = 0, lost = 0;

    for (size_t i = 0; i < n; i++) {
        const double more = weights[i] - lost, next = sum + more;
        lost = (next - sum) - more;
        sum = next;
    }
    return sum;
}

static fbp_status check_directions(const double (*direction)[3], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(fbp_norm(direction[i]) - 1) <= UNIT))
            return fbp_fail(FBP_ERR_INVALID,
                            "directions: number %zu is (%g, %g, %g), of length %.6g: give unit "
                            "vectors",
                            i, direction[i][0], direction[i][1], direction[i][2],
                            fbp_norm(direction[i]));
    return FBP_OK;
}

static fbp_status take_given(const double *given, size_t n, double *weights)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (!(given[i] >= 0 && given[i] <= 4 * FBP_PI))
            return fbp_fail(FBP_ERR_INVALID,
                            "weights: number %zu is %g: expected solid angles, from 0 to 4 pi, "
                            "with the sum 2 pi",
                            i, given[i]);
        sum += weights[i] = given[i];
    }
    if (!(sum > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "weights: all %zu are 0: give solid angles, with the sum 2 pi", n);
    return FBP_OK;
}

/* Bands, if they are wanted and there are rings; otherwise facts->used stays AUTO. */
static fbp_status try_bands(const double (*direction)[3], size_t n, enum fbp_quadrature wanted,
                            double *weights, struct fbp_quadrature_facts *facts)
{
    struct fbp_ring_bands rings;

    if (wanted != FBP_QUADRATURE_AUTO && wanted != FBP_QUADRATURE_BANDS)
        return FBP_OK;
    FBP_TRY(fbp_bands_of(direction, n, weights, &rings));
    if (rings.n == 0 && wanted == FBP_QUADRATURE_BANDS)
        return fbp_fail(FBP_ERR_INVALID,
                        "weights: bands need directions in even rings about x, y or z, which these "
                        "%zu are not: use auto, voronoi or harmonics",
                        n);
    if (rings.n == 0)
        return FBP_OK;
    facts->used = FBP_QUADRATURE_BANDS;
    facts->pole = rings.pole;
    facts->n_rings = rings.n;
    return FBP_OK;
}

static fbp_status by_cells(const double (*direction)[3], size_t n, enum fbp_quadrature wanted,
                           double *weights, struct fbp_quadrature_facts *facts)
{
    struct fbp_sphere sphere;

    FBP_TRY(fbp_sphere_cells(direction, n, weights, &sphere));
    facts->used = FBP_QUADRATURE_VORONOI;
    if (wanted != FBP_QUADRATURE_HARMONICS)
        return FBP_OK;
    facts->used = FBP_QUADRATURE_HARMONICS;
    return fbp_harmonics_correct(direction, n, weights, &facts->degree);
}

/* Weights that this library makes add up, or it made a mistake. */
static fbp_status check_sum(const struct fbp_quadrature_facts *facts)
{
    const double off = facts->sum / (2 * FBP_PI) - 1;

    if (facts->used == FBP_QUADRATURE_GIVEN || fabs(off) <= EXACT)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "weights: %s: their sum is 2 pi (1 %+.1e): use other weights, and report this",
                    fbp_quadrature_name(facts->used), off);
}

fbp_status fbp_quadrature_of(const double (*direction)[3], size_t n, enum fbp_quadrature wanted,
                             const double *given, double *weights,
                             struct fbp_quadrature_facts *facts)
{
    *facts = (struct fbp_quadrature_facts){.used = FBP_QUADRATURE_AUTO};
    FBP_TRY(fbp_check_choice("quadrature", (long)wanted, FBP_QUADRATURE_GIVEN));
    FBP_TRY(fbp_check_range(&fbp_range_views, "directions: their number", (double)n));
    FBP_TRY(check_directions(direction, n));
    if (wanted == FBP_QUADRATURE_GIVEN) {
        FBP_TRY(take_given(given, n, weights));
        facts->used = wanted;
    }
    FBP_TRY(try_bands(direction, n, wanted, weights, facts));
    if (facts->used == FBP_QUADRATURE_AUTO)
        FBP_TRY(by_cells(direction, n, wanted, weights, facts));
    facts->sum = sum_of(weights, n);
    return check_sum(facts);
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
    FBP_GIVEN(direction, weights);
    struct fbp_quadrature_facts facts;

    fbp_message_clear();
    if (words && n_words > 0)
        words[0] = '\0';
    FBP_TRY(fbp_quadrature_of(direction, n, quadrature, weights, weights, &facts));
    if (words)
        fbp_quadrature_describe(&facts, words, n_words);
    return FBP_OK;
}

/*
 * Rings of directions, found in the directions themselves: their order does not matter, nor on
 * which side of the equator they were measured.
 */

/* Angles of one ring differ by less, as files with few digits have them [rad]. */
static const double ALIKE = 1e-5;

/* What a ring may be off from its even place, and a direction in it, as part of a step. */
static const double EVEN = 1e-3;

/* A direction on the upper half about the pole. */
struct place {
    double theta, phi;
    size_t i;
};

/* Rings of places that are sorted by theta. */
struct bands {
    struct place *place;
    size_t count;
    size_t *first; /* of each ring, and one beyond the last */
    size_t n;
    double step;
    bool pole, equator; /* is there a ring on it? */
};

static int by_phi(const void *a, const void *b)
{
    const double x = ((const struct place *)a)->phi, y = ((const struct place *)b)->phi;

    return (x > y) - (x < y);
}

/* The axis that stands for each of x, y and z (fbp/directions.h, enum fbp_pole). */
static void look_along(enum fbp_pole pole, const double n[3], struct place *out)
{
    static const int axis[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};
    const double side = n[axis[pole][2]] < 0 ? -1 : 1;
    const double x = side * n[axis[pole][0]], y = side * n[axis[pole][1]];

    out->theta = atan2(hypot(x, y), side * n[axis[pole][2]]);
    out->phi = atan2(y, x);
}

static void find_rings(struct bands *b)
{
    qsort(b->place, b->count, sizeof *b->place, fbp_by_value);
    b->n = 0;
    for (size_t i = 0; i < b->count; i++)
        if (i == 0 || b->place[i].theta - b->place[b->first[b->n - 1]].theta > ALIKE)
            b->first[b->n++] = i;
    b->first[b->n] = b->count;
}

static double ring_theta(const struct bands *b, size_t ring)
{
    return b->place[b->first[ring]].theta;
}

/* From pole to equator the rings are whole steps apart, and at either end there is one, or half a
 * step to it. */
static bool are_even(struct bands *b)
{
    if (b->n < 2)
        return false;
    b->pole = ring_theta(b, 0) < ALIKE;
    b->equator = ring_theta(b, b->n - 1) > FBP_PI / 2 - ALIKE;
    const double start = b->pole ? 0 : 0.5, end = b->equator ? 0 : 0.5;
    b->step = FBP_PI / 2 / ((double)b->n - 1 + start + end);
    for (size_t k = 0; k < b->n; k++)
        if (!(fabs(ring_theta(b, k) - ((double)k + start) * b->step) < EVEN * b->step))
            return false;
    return true;
}

/* From one angle to another, -half … half of the period. */
static double apart(double from, double to, double period)
{
    return remainder(to - from, period);
}

/* Are the directions of a ring even in phi, each as often as the others?  On the equator those half
 * a turn apart are one. */
static bool ring_is_even(const struct bands *b, size_t ring)
{
    struct place *p = b->place + b->first[ring];
    const size_t n = b->first[ring + 1] - b->first[ring];
    const bool on_equator = b->equator && ring + 1 == b->n;
    const double period = on_equator ? FBP_PI : 2 * FBP_PI;
    size_t different = 0;

    if (b->pole && ring == 0)
        return true;
    for (size_t i = 0; on_equator && i < n; i++)
        p[i].phi = p[i].phi < 0 ? p[i].phi + FBP_PI : p[i].phi;
    qsort(p, n, sizeof *p, by_phi);
    for (size_t i = 0; i < n; i++)
        different += fabs(apart(p[i].phi, p[(i + 1) % n].phi, period)) > ALIKE;
    if (different == 0) /* one direction, once or several times */
        return false;
    const double step = period / (double)different;
    for (size_t i = 0; i < n; i++) {
        const double to = p[(i + n / different) % n].phi - step;
        if (!(fabs(apart(p[i].phi, to, period)) < EVEN * step))
            return false;
    }
    return n % different == 0;
}

static bool rings_are_even(struct bands *b)
{
    if (!are_even(b))
        return false;
    for (size_t k = 0; k < b->n; k++)
        if (!ring_is_even(b, k))
            return false;
    return true;
}

static void weigh(const struct bands *b, double *weights)
{
    const double start = b->pole ? 0 : 0.5;

    for (size_t k = 0; k < b->n; k++) {
        const double middle = ((double)k + start) * b->step;
        const double lo = fmax(0, middle - b->step / 2);
        const double hi = fmin(FBP_PI / 2, middle + b->step / 2);
        const double band = 4 * FBP_PI * sin((lo + hi) / 2) * sin((hi - lo) / 2);
        for (size_t i = b->first[k]; i < b->first[k + 1]; i++)
            weights[b->place[i].i] = band / (double)(b->first[k + 1] - b->first[k]);
    }
}

fbp_status fbp_bands_of(const double (*direction)[3], size_t count, double *weights,
                        struct fbp_ring_bands *out)
{
    struct bands b = {.count = count};
    fbp_status st;

    *out = (struct fbp_ring_bands){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&b.place, count, sizeof *b.place, "rings"));
    FBP_TRY_GOTO(fbp_calloc((void **)&b.first, count + 1, sizeof *b.first, "rings"));
    for (int pole = FBP_POLE_Z; pole <= FBP_POLE_Y && out->n == 0; pole++) {
        for (size_t i = 0; i < count; i++) {
            look_along((enum fbp_pole)pole, direction[i], &b.place[i]);
            b.place[i].i = i;
        }
        find_rings(&b);
        if (rings_are_even(&b)) {
            weigh(&b, weights);
            *out = (struct fbp_ring_bands){(enum fbp_pole)pole, b.n};
        }
    }
fail:
    free(b.place);
    free(b.first);
    return st;
}

/*
 * Odd harmonics vanish with n and -n together; there are (L+1)(L+2)/2 even ones up to degree L, and
 * each gives one linear equation for the weights.  The least correction is a sum of the equations'
 * rows: they are made orthogonal, one after another, and each adds what its equation lacks.
 */

static const size_t MOST_DEGREE = 32;

/* Of the length of a row, below which it counts as a sum of those before it. */
static const double DEPENDENT = 1e-8;

/* What an equation may be off by, of 2 pi. */
static const double HARMONICS_EXACT = 1e-10;

struct equations {
    const double (*direction)[3];
    size_t count, degree;
    double *row; /* [n][count], orthonormal */
    size_t n;
};

/* Associated Legendre functions over the sine's power, for cos theta = z: P(l, m) of fixed m by
 * l, with norms so that squares of harmonics have integral 1 over the sphere. */
static double legendre(size_t l, size_t m, double z, double sine)
{
    double below = 0, p = sqrt(1 / (4 * FBP_PI));

    for (size_t k = 1; k <= m; k++)
        p *= -sqrt((2 * (double)k + 1) / (2 * (double)k)) * sine;
    for (size_t k = m + 1; k <= l; k++) {
        const double a = (double)k, b = (double)m;
        const double up = sqrt((4 * a * a - 1) / (a * a - b * b));
        const double back = sqrt(((a - 1) * (a - 1) - b * b) / (4 * (a - 1) * (a - 1) - 1));
        const double next = up * (z * p - back * below);
        below = p;
        p = next;
    }
    return p;
}

/* Harmonic l, m; m < 0 is the sine. */
static double harmonic(size_t l, long m, const double n[3])
{
    const double sine = hypot(n[0], n[1]), phi = atan2(n[1], n[0]);
    const size_t order = (size_t)labs(m);
    const double p = legendre(l, order, n[2], sine) * (m ? sqrt(2) : 1);

    return m < 0 ? p * sin((double)order * phi) : p * cos((double)order * phi);
}

static double product(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Of harmonics of degree l over the half sphere. */
static double integral_of(size_t l)
{
    return l == 0 ? sqrt(FBP_PI) : 0;
}

/* One equation more, of harmonic l, m; those before it are met and stay so. */
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

/* Do the weights integrate all of it, and is none negative? */
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

static fbp_status solve(struct equations *e, double *weights)
{
    e->n = 0;
    for (size_t l = 0; l <= e->degree; l += 2)
        for (long m = -(long)l; m <= (long)l; m++) {
            FBP_TRY(fbp_go_on());
            add_row(e, l, m, weights);
        }
    return FBP_OK;
}

static size_t equations_to(size_t degree)
{
    return (degree + 1) * (degree + 2) / 2;
}

fbp_status fbp_harmonics_correct(const double (*direction)[3], size_t count, double *weights,
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
        FBP_TRY_GOTO(solve(&e, weights));
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
