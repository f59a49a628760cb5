#include "weight/quadrature.h"

#include "base/mem.h"
#include "base/range.h"
#include "base/vec.h"
#include "geometry/directions.h"
#include "weight/bands.h"
#include "weight/harmonics.h"

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
    struct fbp_rings rings;

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
