/*
 * Odd harmonics vanish with n and -n together; there are (L+1)(L+2)/2 even ones up to degree L, and
 * each gives one linear equation for the weights.  The least correction is a sum of the equations'
 * rows: they are made orthogonal, one after another, and each adds what its equation lacks.
 */
#include "weight/harmonics.h"

#include "base/mem.h"
#include "base/stop.h"
#include "base/vec.h"

#include <string.h>

static const size_t MOST_DEGREE = 32;

/* Of the length of a row, below which it counts as a sum of those before it. */
static const double DEPENDENT = 1e-8;

/* What an equation may be off by, of 2 pi. */
static const double EXACT = 1e-10;

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
            if (!(fabs(sum) <= EXACT * 2 * FBP_PI))
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
